//! From outputs with an error to exact labels.

use super::kernel::{Block, CELLS};
use crate::model::NetworkDecision;
use crate::model::network::logit;
use crate::population::is_desired;

/// Decides for blocks of cells whether their labels are desired ones.
pub(super) struct Judge {
    kind: Kind,
    desired: Vec<bool>,
}

enum Kind {
    /// One output; label 1 iff it is above `at`. Within `slack` of `at`, rounding decides.
    Above { at: f64, slack: f64 },
    /// Two outputs; label 1 iff the second's lead is above `at`.
    Ahead { at: f64, slack: f64 },
    /// The largest output wins.
    Largest,
}

/// The verdicts on the cells of a block, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The label is a desired one, unless `unsure`.
    pub flips: u64,
    /// The outputs are too close to call.
    pub unsure: u64,
}

impl Judge {
    pub fn new(decision: NetworkDecision, desired: &[bool], outputs: usize) -> Judge {
        let rounding = f64::EPSILON / 2.0;
        let kind = match decision {
            NetworkDecision::Raw { threshold } => Kind::Above { at: threshold, slack: 0.0 },
            NetworkDecision::Sigmoid { threshold } => {
                let (at, slack) = logit(threshold, rounding);
                Kind::Above { at, slack }
            }
            NetworkDecision::SoftmaxAbove { threshold } => {
                let (at, slack) = logit(threshold, rounding);
                Kind::Ahead { at, slack }
            }
            NetworkDecision::Softmax => Kind::Largest,
        };
        let mut desired = desired.to_vec();
        desired.resize(outputs.max(2), false);
        Judge { kind, desired }
    }

    /// Whether a label is desired.
    pub fn is_desired(&self, label: u32) -> bool {
        is_desired(&self.desired, label)
    }

    /// Judges all cells of a block whose outputs are known up to its error.
    pub fn judge(&self, block: &Block) -> Verdict {
        let error = |cell: usize| f64::from(block.error.0[cell]);
        let output = |unit: usize, cell: usize| f64::from(block.units[unit].0[cell]);
        match self.kind {
            Kind::Above { at, slack } => self.compare(|cell| (output(0, cell) - at, error(cell) + slack)),
            Kind::Ahead { at, slack } => {
                self.compare(|cell| ((output(1, cell) - output(0, cell)) - at, 2.0 * error(cell) + slack))
            }
            Kind::Largest => self.compare_classes(block),
        }
    }

    /// `margin(cell)`: the distance above the threshold, and its uncertainty. Comparisons with NaN fail, so NaN is unsure.
    fn compare(&self, margin: impl Fn(usize) -> (f64, f64)) -> Verdict {
        let (mut above, mut below) = (0, 0);
        for cell in 0..CELLS {
            let (margin, band) = margin(cell);
            above |= u64::from(margin > band) << cell;
            below |= u64::from(margin < -band) << cell;
        }
        let flips = if self.desired[1] { above } else { 0 } | if self.desired[0] { below } else { 0 };
        Verdict { flips, unsure: !(above | below) }
    }

    fn compare_classes(&self, block: &Block) -> Verdict {
        let (mut above, mut below) = (0, 0);
        for cell in 0..CELLS {
            let (mut wanted, mut other, mut sound) = (f32::NEG_INFINITY, f32::NEG_INFINITY, true);
            for (unit, &desired) in block.units.iter().zip(&self.desired) {
                let output = unit.0[cell];
                sound &= output.is_finite();
                let best = if desired { &mut wanted } else { &mut other };
                *best = best.max(output);
            }
            let lead = f64::from(wanted) - f64::from(other);
            let band = 2.0 * f64::from(block.error.0[cell]);
            above |= u64::from(sound && lead > band) << cell;
            below |= u64::from(sound && lead < -band) << cell;
        }
        Verdict { flips: above, unsure: !(above | below) }
    }
}
