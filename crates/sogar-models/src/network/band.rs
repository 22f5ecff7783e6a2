//! How close a row is to the decision boundary, and how large the error of other runtimes may be.
//!
//! **The band.** Let a runtime evaluate in single precision (`u = 2^-24`) in any order. A sum of `n` products and a bias has an
//! error of at most `γ·(|W|·|h| + |b|)` with `γ = (n + 2)·u / (1 − (n + 2)·u)`, in any order and with or without fused
//! multiply-adds. With `h` known up to `e` (Euclidean norm), the next layer's sums are known up to
//! `‖W‖·e + γ·(‖|W|‖·(‖h‖ + e) + ‖b‖)`, and an activation multiplies that by its slope and adds its own rounding. The last
//! layer's error is a bound for each output. The rounding of a final logistic function or softmax is translated to the outputs by
//! its slope at the threshold. The error of our own double precision is below a millionth of each term; rounding every constant
//! up covers it.

use super::norms::LayerNorms;
use super::{Activation, DenseNetwork, NetworkDecision};
use crate::Rows;
use sogar_base::error::Result;

/// Half the distance from 1 to the next single-precision number.
pub const UNIT: f64 = 1.0 / (1u64 << 24) as f64;

/// How close a row is to another label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closeness {
    /// The distance of the outputs from the decision boundary: the output (or the difference of two) minus the threshold; with
    /// several classes the lead of the largest output.
    pub margin: f64,
    /// The error that any single-precision runtime may have in it.
    pub band: f64,
}

impl Closeness {
    /// Whether another runtime may give another label; also true for NaN margins.
    pub fn is_close(&self) -> bool {
        self.margin.is_nan() || self.band.is_nan() || self.margin.abs() <= self.band
    }
}

/// The error bound's constants for an activation.
#[derive(Debug, Clone, Copy)]
pub struct ActivationBound {
    /// Steepest slope.
    pub slope: f64,
    /// Rounding of its result in single precision, relative …
    pub relative: f64,
    /// … and absolute.
    pub absolute: f64,
}

impl Activation {
    /// The error of its computed value.
    pub fn bound(self) -> ActivationBound {
        let (slope, relative, absolute) = match self {
            Activation::Identity | Activation::Relu => (1.0, 0.0, 0.0),
            Activation::LeakyRelu { slope } => (f64::from(slope).abs().max(1.0), 2.0 * UNIT, 0.0),
            // Sixteen units in the last place of 1 cover the approximations in use.
            Activation::Sigmoid => (0.25, 0.0, 16.0 * UNIT),
            Activation::Tanh => (1.0, 0.0, 16.0 * UNIT),
        };
        ActivationBound { slope, relative, absolute }
    }
}

/// `γ` for sums of `terms` products and a bias in single precision.
pub fn gamma(terms: usize) -> f64 {
    let share = (terms as f64 + 2.0) * UNIT;
    if share < 0.5 { share / (1.0 - share) } else { f64::INFINITY }
}

/// `γ` for sums of `terms` terms in double precision.
pub fn gamma_double(terms: usize) -> f64 {
    (terms as f64 + 2.0) * f64::EPSILON
}

/// Where the output's logistic function reaches a threshold, and the radius in which rounding may decide, for arithmetic with
/// `unit` as half the distance from 1 to the next number.
pub fn logit(threshold: f64, unit: f64) -> (f64, f64) {
    if threshold < 0.0 {
        return (f64::NEG_INFINITY, 0.0);
    }
    if threshold >= 1.0 {
        return (f64::INFINITY, 0.0);
    }
    // exp overflows where a probability is below the smallest number: an output of -88 or -709.
    let flat = if unit < 1e-10 { 700.0 } else { 80.0 };
    let at = if threshold == 0.0 { -709.0 } else { (threshold / (1.0 - threshold)).ln() };
    // p has an error of a few units relative to itself, and of a few units relative to 1; its slope is p·(1 − p).
    let rounding = 32.0 * unit * (1.0 / (1.0 - threshold) + at.abs() + 1.0);
    let beyond = if at.abs() > flat { at.abs() - flat + 20.0 } else { 0.0 };
    (at, rounding + beyond)
}

impl DenseNetwork {
    /// For each row, its distance from the decision boundary and the error that any single-precision runtime may have: labels of
    /// other runtimes agree with [`DenseNetwork::predict`] except where [`Closeness::is_close`].
    pub fn closeness(&self, rows: Rows<'_>) -> Result<Vec<Closeness>> {
        let norms: Vec<LayerNorms> = self.layers.iter().map(LayerNorms::of).collect();
        self.each_row(rows, |evaluation, row| {
            let mut error = 0.0;
            for (number, (layer, norms)) in self.layers.iter().zip(&norms).enumerate() {
                let (size, gamma) = (evaluation.norm(number, row), gamma(layer.inputs));
                let bound = layer.activation.bound();
                let last = number + 1 == self.layers.len();
                let (weights, absolute, bias, count) = match last {
                    true => (norms.widest_row, norms.widest_row, norms.largest_bias, 1.0),
                    false => (norms.weights, norms.absolute, norms.bias, layer.outputs as f64),
                };
                let sums = weights * error + gamma * (absolute * (size + error) + bias);
                let next = match last {
                    true => evaluation.outputs(row).iter().fold(0.0, |most: f64, out| most.max(out.abs())),
                    false => evaluation.norm(number + 1, row),
                };
                error = bound.slope * sums + bound.relative * (next + sums) + bound.absolute * count.sqrt();
            }
            self.decision.closeness(evaluation.outputs(row), error * (1.0 + 1e-5))
        })
    }
}

impl NetworkDecision {
    /// Closeness for outputs that may each have the error `error` in another runtime.
    fn closeness(&self, outputs: &[f64], error: f64) -> Closeness {
        let against = |output: f64, (at, rounding): (f64, f64), error: f64| Closeness {
            margin: output - at,
            band: error + rounding,
        };
        match (*self, outputs) {
            (NetworkDecision::Raw { threshold }, [output]) => {
                against(*output, (threshold, UNIT * threshold.abs()), error)
            }
            (NetworkDecision::Sigmoid { threshold }, [output]) => {
                against(*output, logit(threshold, UNIT), error)
            }
            (NetworkDecision::SoftmaxAbove { threshold }, [zero, one]) => {
                against(one - zero, logit(threshold, UNIT), 2.0 * error)
            }
            _ => {
                let mut sorted = outputs.to_vec();
                sorted.sort_by(|a, b| b.total_cmp(a));
                let margin = match sorted.as_slice() {
                    [first, second, ..] => first - second,
                    _ => f64::NAN,
                };
                Closeness { margin, band: 2.0 * error + 64.0 * UNIT }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_move_to_the_output_with_the_rounding_of_the_logistic_function() {
        for threshold in [0.0, 5e-324, 1e-300, 1e-9, 0.3, 0.5, 0.9, 1.0 - 1e-12, 1.0 - f64::EPSILON] {
            let (at, rounding) = logit(threshold, f64::EPSILON / 2.0);
            let decision = NetworkDecision::Sigmoid { threshold };
            for far in [1.0, 3.0, 1e3] {
                assert_eq!(decision.label(&[at + rounding * (1.0 + 1e-9) * far]), 1, "{threshold}");
                assert_eq!(decision.label(&[at - rounding * (1.0 + 1e-9) * far]), 0, "{threshold}");
            }
        }
        assert_eq!(logit(-0.1, UNIT).0, f64::NEG_INFINITY);
        assert_eq!(logit(1.0, UNIT).0, f64::INFINITY);
    }

    #[test]
    fn what_is_not_a_number_is_close() {
        assert!(Closeness { margin: f64::NAN, band: 0.1 }.is_close());
        assert!(Closeness { margin: 1.0, band: f64::NAN }.is_close());
        assert!(!Closeness { margin: -1.0, band: 0.1 }.is_close());
    }
}
