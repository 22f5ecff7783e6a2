//! From a network's outputs to a label and a score.

use super::{DenseNetwork, NetworkDecision};
use crate::Prediction;

impl NetworkDecision {
    /// The decision threshold, if there is one.
    pub fn threshold(&self) -> Option<f64> {
        match *self {
            NetworkDecision::Sigmoid { threshold }
            | NetworkDecision::Raw { threshold }
            | NetworkDecision::SoftmaxAbove { threshold } => Some(threshold),
            NetworkDecision::Softmax => None,
        }
    }

    /// The label of these outputs. NaN is above nothing: class 0.
    pub fn label(&self, outputs: &[f64]) -> u32 {
        match *self {
            NetworkDecision::Raw { threshold } => u32::from(first(outputs) > threshold),
            NetworkDecision::Sigmoid { threshold } => u32::from(logistic(first(outputs)) > threshold),
            NetworkDecision::SoftmaxAbove { threshold } => u32::from(logistic(lead(outputs)) > threshold),
            NetworkDecision::Softmax => largest(outputs) as u32,
        }
    }

    /// The score behind the label: the probability of class 1 (two classes) or of the predicted class; the output itself if there
    /// are no probabilities.
    pub fn score(&self, outputs: &[f64]) -> f64 {
        match *self {
            NetworkDecision::Raw { .. } => first(outputs),
            NetworkDecision::Sigmoid { .. } => logistic(first(outputs)),
            NetworkDecision::SoftmaxAbove { .. } => logistic(lead(outputs)),
            NetworkDecision::Softmax if outputs.len() == 2 => logistic(lead(outputs)),
            NetworkDecision::Softmax => {
                let top = outputs.get(largest(outputs)).copied().unwrap_or(f64::NAN);
                1.0 / outputs.iter().map(|output| (output - top).exp()).sum::<f64>()
            }
        }
    }
}

impl DenseNetwork {
    pub(super) fn prediction(&self, outputs: &[f64]) -> Prediction {
        Prediction { label: self.decision.label(outputs), score: self.decision.score(outputs) }
    }
}

fn first(outputs: &[f64]) -> f64 {
    outputs.first().copied().unwrap_or(f64::NAN)
}

/// The lead of class 1 over class 0.
fn lead(outputs: &[f64]) -> f64 {
    match outputs {
        [zero, one, ..] => one - zero,
        _ => f64::NAN,
    }
}

/// The first of the largest.
fn largest(outputs: &[f64]) -> usize {
    let better = |best: usize, class: usize| if outputs[class] > outputs[best] { class } else { best };
    (1..outputs.len()).fold(0, better)
}

/// `1 / (1 + exp(-x))`.
pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_class_and_to_label_0() {
        assert_eq!(NetworkDecision::Softmax.label(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(NetworkDecision::Sigmoid { threshold: 0.5 }.label(&[0.0]), 0);
        assert_eq!(NetworkDecision::Sigmoid { threshold: 0.5 }.label(&[1e-10]), 1);
        assert_eq!(NetworkDecision::Raw { threshold: 2.0 }.label(&[2.0]), 0);
        assert_eq!(NetworkDecision::SoftmaxAbove { threshold: 0.5 }.label(&[3.0, 3.0]), 0);
        assert_eq!(NetworkDecision::SoftmaxAbove { threshold: 0.4 }.label(&[3.0, 3.0]), 1);
    }

    #[test]
    fn outputs_that_are_not_numbers_are_class_0() {
        let all = [
            NetworkDecision::Softmax,
            NetworkDecision::SoftmaxAbove { threshold: 0.1 },
            NetworkDecision::Sigmoid { threshold: -1.0 },
            NetworkDecision::Raw { threshold: -1.0 },
        ];
        for decision in all {
            assert_eq!(decision.label(&[f64::NAN, f64::NAN]), 0);
            assert!(decision.score(&[f64::NAN, f64::NAN]).is_nan());
        }
    }

    #[test]
    fn the_score_is_of_class_1_or_of_the_predicted_class() {
        assert_eq!(NetworkDecision::Softmax.score(&[0.0, 0.0]), 0.5);
        assert_eq!(NetworkDecision::Softmax.score(&[0.0, 0.0, 0.0]), 1.0 / 3.0);
        assert_eq!(NetworkDecision::Softmax.score(&[1e5, 0.0]), 0.0);
        assert_eq!(NetworkDecision::Raw { threshold: 2.0 }.score(&[7.0]), 7.0);
        assert_eq!(NetworkDecision::Sigmoid { threshold: 0.3 }.score(&[0.0]), 0.5);
    }
}
