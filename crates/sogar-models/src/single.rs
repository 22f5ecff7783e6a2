//! Tests of values that a library rounds to single precision first.
//!
//! XGBoost and most ONNX graphs narrow every input to `f32` and compare there. Rounding is monotone, so such a test is a test of
//! the `f64` itself with another threshold, and later code need not know about it.

/// The largest `x` whose rounding to single precision is below `threshold`: `(x as f32) < threshold` iff `x` is at most this.
/// `None` if no value passes.
pub fn largest_below(threshold: f32) -> Option<f64> {
    if threshold.is_nan() || threshold == f32::NEG_INFINITY {
        return None;
    }
    // Zeroes of either sign are equal: continue with the positive one.
    let threshold = if threshold == 0.0 { 0.0 } else { threshold };
    let below = threshold.next_down();
    // Numbers below the midpoint of two neighbours round to the lower one; the midpoint itself may do so.
    let middle = midpoint(below, threshold);
    Some(if (middle as f32) < threshold { middle } else { middle.next_down() })
}

/// The largest `x` with `(x as f32) <= threshold`; `None` if no value passes.
pub fn largest_at_most(threshold: f32) -> Option<f64> {
    match threshold {
        _ if threshold.is_nan() => None,
        f32::INFINITY => Some(f64::INFINITY),
        _ => largest_below(threshold.next_up()),
    }
}

/// The midpoint of two neighbouring numbers, exact in double precision. For rounding, the neighbour of the largest finite number
/// is the next power of two.
fn midpoint(low: f32, high: f32) -> f64 {
    let widened = |value: f32| match value {
        f32::INFINITY => 2f64.powi(128),
        f32::NEG_INFINITY => -2f64.powi(128),
        _ => f64::from(value),
    };
    (widened(low) + widened(high)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interesting() -> Vec<f32> {
        let mut values =
            vec![0.0, f32::MIN_POSITIVE, f32::from_bits(1), f32::from_bits(2), 1.0, 0.1, 0.3, 2.0];
        values.extend([3.0, 16_777_216.0, 16_777_218.0, 1e30, f32::MAX, f32::INFINITY]);
        for value in values.clone() {
            values.extend([-value, value.next_up(), value.next_down(), -value.next_up(), -value.next_down()]);
        }
        values.retain(|value| !value.is_nan());
        values
    }

    #[test]
    fn a_narrowed_comparison_equals_one_with_the_moved_threshold() {
        for threshold in interesting() {
            let (below, at_most) = (largest_below(threshold), largest_at_most(threshold));
            let edges = [below, at_most].into_iter().flatten().flat_map(|x| [x.next_down(), x, x.next_up()]);
            let values = interesting().into_iter().map(f64::from).chain(edges);
            for value in values.chain([f64::MAX, f64::MIN, 3.5e38, -3.5e38, 1e-60, -1e-60]) {
                let narrowed = value as f32;
                assert_eq!(below.is_some_and(|t| value <= t), narrowed < threshold, "{value} < {threshold}");
                assert_eq!(
                    at_most.is_some_and(|t| value <= t),
                    narrowed <= threshold,
                    "{value} <= {threshold}"
                );
            }
        }
    }

    #[test]
    fn a_threshold_that_is_no_number_lets_nothing_pass() {
        assert_eq!(largest_below(f32::NAN), None);
        assert_eq!(largest_at_most(f32::NAN), None);
        assert_eq!(largest_below(f32::NEG_INFINITY), None);
    }
}
