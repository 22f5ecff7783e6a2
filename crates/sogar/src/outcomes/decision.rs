//! From margins that carry a rounding error to labels that don't.
//!
//! The fast path knows every output of a tree ensemble up to a proven error `e`. [`Judge::judge`] answers only
//! where that error cannot matter; everywhere else the caller asks the model itself.

use crate::model::{Decision, TreeEnsemble};

/// Decides whether approximate outputs mean a desired label.
pub(super) struct Judge {
    kind: Kind,
    desired: Vec<bool>,
}

/// An output above `high` or below `low` is certain.
#[derive(Clone, Copy)]
pub(super) struct Threshold {
    pub low: f64,
    pub high: f64,
    /// Whether the label above the threshold is the desired one.
    pub desired_above: bool,
}

enum Kind {
    /// One output; label 1 iff it is above `at`. Within `slack` of it rounding decides.
    Above { at: f64, slack: f64 },
    /// One output per class, the largest wins. `flat`: above this value probabilities round to 1 and tie.
    Largest { flat: f64 },
}

impl Judge {
    /// `None` for decisions whose threshold cannot be moved to the outputs.
    pub fn new(ensemble: &TreeEnsemble, desired: &[bool]) -> Option<Judge> {
        let kind = match ensemble.decision {
            Decision::Raw { threshold } => Kind::Above { at: threshold, slack: 0.0 },
            Decision::Sigmoid { slope, threshold } => {
                if !(slope > 0.0 && threshold > 0.0 && threshold < 1.0) {
                    return None;
                }
                // p = 1 / (1 + exp(-slope · output)) is above the threshold iff the output is above `at`. The computed p and the
                // computed `at` are off by a few units in the last place; divided by dp/d output at the
                // threshold that is at most `slack` in the output.
                let at = (threshold / (1.0 - threshold)).ln() / slope;
                let steepness = slope * threshold * (1.0 - threshold);
                Kind::Above { at, slack: 16.0 * f64::EPSILON * (1.0 / steepness + at.abs()) }
            }
            Decision::Softmax => Kind::Largest { flat: f64::INFINITY },
            // 1 / (1 + exp(-z)) differs from 1 by more than rounding while z < 30.
            Decision::OneVsAll { slope } if slope > 0.0 => Kind::Largest { flat: 30.0 / slope },
            Decision::OneVsAll { .. } => return None,
        };
        Some(Judge { kind, desired: desired.to_vec() })
    }

    /// For one output against a threshold: where it is certain, given the error of the output.
    pub fn threshold(&self, error: f64) -> Option<Threshold> {
        match self.kind {
            Kind::Above { at, slack } => Some(Threshold {
                low: at - (error + slack),
                high: at + (error + slack),
                desired_above: self.desired[1],
            }),
            Kind::Largest { .. } => None,
        }
    }

    /// Whether outputs that are known up to `error` mean a desired label; `None` where the error could matter.
    #[inline]
    pub fn judge(&self, outputs: impl Iterator<Item = f64>, error: f64) -> Option<bool> {
        match self.kind {
            Kind::Above { at, slack } => {
                let output = outputs.last()?;
                let above = output - at;
                // NaN outputs compare false and are left to the model.
                if above > error + slack {
                    Some(self.desired[1])
                } else if above < -(error + slack) {
                    Some(self.desired[0])
                } else {
                    None
                }
            }
            Kind::Largest { flat } => {
                let (mut wanted, mut other) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
                for (output, &desired) in outputs.zip(&self.desired) {
                    let best = if desired { &mut wanted } else { &mut other };
                    *best = best.max(output);
                }
                // exp and division round too, by a few units in the last place of values below 1.
                let slack = 2.0 * error + 64.0 * f64::EPSILON * (1.0 + wanted.abs().min(other.abs()));
                let close = (wanted - other).abs() <= slack || wanted.min(other) > flat;
                (!close && !wanted.is_nan() && !other.is_nan()).then_some(wanted > other)
            }
        }
    }
}
