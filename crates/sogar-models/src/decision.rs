//! From the outputs of a tree ensemble to a label and a score, by the library's own formulas.
//!
//! Probabilities use the same operations in the same order and precision as the library: two outputs whose probabilities round to
//! the same number are a tie there, and so they are here.

/// The precision in which a library adds leaf values and forms probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arithmetic {
    /// Double precision (LightGBM).
    #[default]
    Double,
    /// Single precision (XGBoost, ONNX runtimes). Leaf values, start values and outputs are single-precision numbers, stored as
    /// `f64`.
    Single,
}

/// How the outputs become a label; probabilities are computed as the library does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Label 1 iff `1 / (1 + exp(-slope · output)) > threshold`.
    Sigmoid {
        /// LightGBM's `sigmoid` parameter.
        slope: f64,
        /// Decision threshold on the probability.
        threshold: f64,
    },
    /// Label 1 iff `output > threshold`.
    Raw {
        /// Decision threshold on the raw output.
        threshold: f64,
    },
    /// Label 1 iff the output is above `above`; the score is a probability, the logistic function of `slope · output` (ONNX
    /// runtimes and scikit-learn compare outputs and report probabilities).
    Margin {
        /// What the output is compared with: 0, or the largest number below it.
        above: f64,
        /// Multiplies the output in the probability.
        slope: f64,
    },
    /// The class with the largest softmax probability, the first on ties.
    Softmax,
    /// The class with the largest output, the first on ties.
    Largest {
        /// Whether scores are softmax probabilities rather than outputs.
        softmax_scores: bool,
    },
    /// The class with the largest `1 / (1 + exp(-slope · output))`, the first on ties.
    OneVsAll {
        /// LightGBM's `sigmoid` parameter.
        slope: f64,
    },
}

impl Arithmetic {
    /// `a + b`, rounded as the library rounds.
    #[inline]
    pub fn add(self, a: f64, b: f64) -> f64 {
        match self {
            Arithmetic::Double => a + b,
            Arithmetic::Single => f64::from(a as f32 + b as f32),
        }
    }

    /// `a / b`, rounded as the library rounds.
    #[inline]
    pub fn divide(self, a: f64, b: f64) -> f64 {
        match self {
            Arithmetic::Double => a / b,
            Arithmetic::Single => f64::from(a as f32 / b as f32),
        }
    }

    /// The distance from 1 to the next larger number.
    pub fn epsilon(self) -> f64 {
        match self {
            Arithmetic::Double => f64::EPSILON,
            Arithmetic::Single => f64::from(f32::EPSILON),
        }
    }

    /// The logistic function in the library's order of operations.
    #[inline]
    fn sigmoid(self, slope: f64, output: f64) -> f64 {
        /// XGBoost's guard against the overflow of `exp`.
        const LARGEST_EXPONENT: f32 = 88.7;
        match self {
            Arithmetic::Double => 1.0 / (1.0 + (-slope * output).exp()),
            Arithmetic::Single => {
                let exponent = (-(slope as f32) * output as f32).min(LARGEST_EXPONENT);
                f64::from(1.0 / (exponent.exp() + 1.0))
            }
        }
    }

    /// The softmax probabilities, in the library's order of operations and without storing them.
    fn softmax(self, outputs: &[f64]) -> impl Iterator<Item = f64> + '_ {
        let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let power = move |output: f64| match self {
            Arithmetic::Double => (output - largest).exp(),
            Arithmetic::Single => f64::from((output as f32 - largest as f32).exp()),
        };
        // The sum is in double precision either way; XGBoost rounds it once, before the division.
        let mut sum = 0.0;
        for &output in outputs {
            sum += power(output);
        }
        outputs.iter().map(move |&output| self.divide(power(output), sum))
    }
}

/// Index and value of the largest number, the first on ties.
fn first_largest(values: impl Iterator<Item = f64>) -> (u32, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, value) in (0u32..).zip(values) {
        if value > best.1 {
            best = (index, value);
        }
    }
    best
}

impl Decision {
    /// The label of a row with these outputs (after the divisor).
    pub fn label(&self, outputs: &[f64], arithmetic: Arithmetic) -> u32 {
        match *self {
            Decision::Sigmoid { slope, threshold } => {
                u32::from(arithmetic.sigmoid(slope, outputs[0]) > threshold)
            }
            Decision::Raw { threshold } => u32::from(outputs[0] > threshold),
            Decision::Margin { above, .. } => u32::from(outputs[0] > above),
            Decision::Softmax => first_largest(arithmetic.softmax(outputs)).0,
            Decision::Largest { .. } => first_largest(outputs.iter().copied()).0,
            Decision::OneVsAll { slope } => {
                first_largest(outputs.iter().map(|&output| arithmetic.sigmoid(slope, output))).0
            }
        }
    }

    /// The score of a row with these outputs: the probability of class 1 (two classes) or of the predicted class; the raw output
    /// if there are no probabilities.
    pub fn score(&self, outputs: &[f64], arithmetic: Arithmetic) -> f64 {
        let label = || match outputs.len() {
            2 => 1,
            _ => self.label(outputs, arithmetic) as usize,
        };
        match *self {
            Decision::Sigmoid { slope, .. } => arithmetic.sigmoid(slope, outputs[0]),
            Decision::Raw { .. } => outputs[0],
            Decision::Margin { slope, .. } => arithmetic.sigmoid(slope, outputs[0]),
            Decision::Softmax | Decision::Largest { softmax_scores: true } => {
                arithmetic.softmax(outputs).nth(label()).unwrap_or(f64::NAN)
            }
            Decision::Largest { softmax_scores: false } => outputs[label()],
            Decision::OneVsAll { slope } => arithmetic.sigmoid(slope, outputs[label()]),
        }
    }

    /// The number with which the score of a two-class model is compared, if there is one.
    pub fn threshold(&self) -> Option<f64> {
        match *self {
            Decision::Sigmoid { threshold, .. } | Decision::Raw { threshold } => Some(threshold),
            Decision::Margin { .. } => Some(0.5),
            Decision::Softmax | Decision::Largest { .. } | Decision::OneVsAll { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Arithmetic; 2] = [Arithmetic::Double, Arithmetic::Single];

    #[test]
    fn ties_go_to_the_first_class_and_to_label_0() {
        for arithmetic in BOTH {
            let sigmoid = Decision::Sigmoid { slope: 1.0, threshold: 0.5 };
            assert_eq!(sigmoid.label(&[0.0], arithmetic), 0);
            assert_eq!(sigmoid.label(&[1e-6], arithmetic), 1);
            assert_eq!(Decision::Softmax.label(&[1.0, 3.0, 3.0], arithmetic), 1);
            assert_eq!(Decision::Largest { softmax_scores: false }.label(&[1.0, 3.0, 3.0], arithmetic), 1);
            assert_eq!(Decision::OneVsAll { slope: 2.0 }.label(&[-1.0, -1.0], arithmetic), 0);
            // Different outputs whose probabilities round to the same number are also a tie.
            assert_eq!(Decision::OneVsAll { slope: 1.0 }.label(&[800.0, 900.0], arithmetic), 0);
        }
    }

    #[test]
    fn probabilities_tie_where_the_precision_cannot_tell_them_apart() {
        let (close, outputs) = (Decision::Sigmoid { slope: 1.0, threshold: 0.5 }, [1e-9]);
        assert_eq!(close.label(&outputs, Arithmetic::Double), 1);
        assert_eq!(close.label(&outputs, Arithmetic::Single), 0);
        let nearly = [1e-9, 2e-9];
        assert_eq!(Decision::Softmax.label(&nearly, Arithmetic::Double), 1);
        assert_eq!(Decision::Softmax.label(&nearly, Arithmetic::Single), 0);
        assert_eq!(Decision::Largest { softmax_scores: true }.label(&nearly, Arithmetic::Single), 1);
    }

    #[test]
    fn the_score_is_of_class_1_or_of_the_predicted_class() {
        for arithmetic in BOTH {
            let third = arithmetic.divide(1.0, 3.0);
            assert_eq!(Decision::Softmax.score(&[0.0, 0.0], arithmetic), 0.5);
            assert_eq!(Decision::Softmax.score(&[0.0, 0.0, 0.0], arithmetic), third);
            assert_eq!(Decision::Largest { softmax_scores: true }.score(&[0.0; 3], arithmetic), third);
            assert_eq!(Decision::Largest { softmax_scores: false }.score(&[1.0, 7.0, 2.0], arithmetic), 7.0);
            assert_eq!(Decision::OneVsAll { slope: 1.0 }.score(&[5.0, 0.0], arithmetic), 0.5);
            assert_eq!(Decision::Raw { threshold: 2.0 }.score(&[7.0], arithmetic), 7.0);
        }
    }

    #[test]
    fn single_precision_probabilities_never_overflow() {
        let decision = Decision::Sigmoid { slope: 1.0, threshold: 0.5 };
        let score = decision.score(&[-1000.0], Arithmetic::Single);
        assert!(score > 0.0 && score < 1e-38, "{score}");
    }
}
