//! The logistic function and the hyperbolic tangent in single precision, without branches, so that compilers vectorise loops over
//! them. No operation is fused: every instruction set gives the same bits.
//!
//! The error bound relies on results within `16·2^-24` of the true ones; the tests check every 251st number.

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub(super) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (1.0 + exp(2.0 * x))
}

/// `exp(x)` for `|x| <= 87`, and its value at the border beyond. NaN stays NaN.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding this leaves a whole number in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = if x > 87.0 { 87.0 } else { x };
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let power = shifted - ROUND;
    let rest = x - power * LN_2_HIGH - power * LN_2_LOW;
    // The series of exp on [-ln 2 / 2, ln 2 / 2], to the seventh power.
    let mut sum = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * rest + coefficient;
    }
    let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    sum * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_within_the_error_that_the_bound_counts_on() {
        let allowed = 16.0 / f64::from(1u32 << 24);
        let mut worst = 0.0f64;
        for bits in (0..=f32::INFINITY.to_bits()).step_by(251) {
            for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
                let exact = f64::from(x);
                worst = worst.max((f64::from(logistic(x)) - 1.0 / (1.0 + (-exact).exp())).abs());
                worst = worst.max((f64::from(tanh(x)) - exact.tanh()).abs());
            }
        }
        assert!(worst <= allowed / 2.0, "{worst:e}");
        assert!(logistic(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
    }
}
