//! From margins with a rounding error to exact labels.
//!
//! The fast path knows every output of a tree ensemble up to a proven error `e`. [`Judge::judge`] answers only where that error
//! cannot matter; elsewhere the caller evaluates the model itself.

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
    /// One output; label 1 iff it is above `at`. Within `slack` of `at`, rounding decides.
    Above { at: f64, slack: f64 },
    /// One output per class, the largest wins.
    Largest(Compared),
}

/// What is compared if the largest wins.
enum Compared {
    /// The outputs.
    Outputs,
    /// Their exponentials; `epsilon` is the precision.
    Exponentials { epsilon: f64 },
    /// Their logistic functions.
    Sigmoids { slope: f64, epsilon: f64 },
}

/// A probability threshold closer to 0 or 1 than this many units of the precision is left to the model.
const EXTREME_THRESHOLD: f64 = 64.0;

impl Judge {
    /// `None` for decisions whose threshold cannot be translated to the outputs.
    pub fn new(ensemble: &TreeEnsemble, desired: &[bool]) -> Option<Judge> {
        let epsilon = ensemble.arithmetic.epsilon();
        let kind = match ensemble.decision {
            Decision::Raw { threshold } => Kind::Above { at: threshold, slack: 0.0 },
            Decision::Margin { above, .. } => Kind::Above { at: above, slack: 0.0 },
            Decision::Sigmoid { slope, threshold } => {
                let extreme = EXTREME_THRESHOLD * epsilon;
                if !(slope > 0.0 && threshold > extreme && threshold < 1.0 - extreme) {
                    return None;
                }
                // p = 1 / (1 + exp(-slope · output)) is above the threshold iff the output is above `at`. The computed p and the
                // computed `at` are off by a few units in the last place; divided by dp/d output at the
                // threshold that is at most `slack` in the output.
                let at = (threshold / (1.0 - threshold)).ln() / slope;
                let steepness = slope * threshold * (1.0 - threshold);
                Kind::Above { at, slack: 16.0 * epsilon * (1.0 / steepness + at.abs()) }
            }
            Decision::Largest { .. } => Kind::Largest(Compared::Outputs),
            Decision::Softmax => Kind::Largest(Compared::Exponentials { epsilon }),
            Decision::OneVsAll { slope } if slope > 0.0 => {
                Kind::Largest(Compared::Sigmoids { slope, epsilon })
            }
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
            Kind::Largest(_) => None,
        }
    }

    /// Whether outputs with this `error` mean a desired label; `None` if the error could matter.
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
            Kind::Largest(ref compared) => {
                let (mut wanted, mut other) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
                for (output, &desired) in outputs.zip(&self.desired) {
                    let best = if desired { &mut wanted } else { &mut other };
                    *best = best.max(output);
                }
                let close = (wanted - other).abs() <= 2.0 * error + compared.slack(wanted, other);
                (!close && !wanted.is_nan() && !other.is_nan()).then_some(wanted > other)
            }
        }
    }
}

impl Compared {
    /// How far apart two outputs must be so that the values computed from them differ in the same direction.
    fn slack(&self, a: f64, b: f64) -> f64 {
        let nearest = 1.0 + a.abs().min(b.abs());
        match *self {
            Compared::Outputs => 0.0,
            // exp and division round by a few units in the last place of values below 1.
            Compared::Exponentials { epsilon } => 64.0 * epsilon * nearest,
            // p = 1 / (1 + exp(-z)) rises by the share 1 - p = 1 / (1 + exp(z)) of itself per unit of z, so the
            // flatter, the more of z it takes to move p by a few units in the last place.
            Compared::Sigmoids { slope, epsilon } => {
                let flatness = 1.0 + (slope * a.min(b)).exp();
                64.0 * epsilon * (nearest + flatness / slope)
            }
        }
    }
}
