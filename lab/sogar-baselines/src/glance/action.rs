//! The step from one (average) person to another, which others can take as well.

use sogar::actions::{Change, Edit};

use crate::moves::Moves;

/// Amounts to add to numbers, and categories to set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Action {
    edits: Vec<(usize, Amount)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Amount {
    Add(f64),
    Set(f64),
}

impl Action {
    /// The step from a centroid to its counterfactual.
    pub fn between(centroid: &[f64], counterfactual: &[f64], moves: &Moves<'_>) -> Action {
        let mut edits = Vec::new();
        for (feature, (&from, &to)) in centroid.iter().zip(counterfactual).enumerate() {
            // A missing number cannot be added to.
            if from == to || to.is_nan() || (moves.is_ordered(feature) && from.is_nan()) {
                continue;
            }
            let amount = if moves.is_ordered(feature) { Amount::Add(to - from) } else { Amount::Set(to) };
            edits.push((feature, amount));
        }
        Action { edits }
    }

    /// The person after the action, as far as they may do it; `after` starts as a copy of `before`.
    pub fn apply(&self, moves: &Moves<'_>, before: &[f64], after: &mut [f64]) {
        for &(feature, amount) in &self.edits {
            after[feature] = match amount {
                Amount::Add(by) => moves.shifted(feature, before[feature], by),
                Amount::Set(to) => moves.set(feature, before[feature], to),
            };
        }
    }

    /// The edits in words. Whole numbers move by whole amounts, even if the centroid is not whole.
    pub fn words(&self, moves: &Moves<'_>) -> Vec<String> {
        let change = |&(feature, amount): &(usize, Amount)| match amount {
            Amount::Add(by) => {
                let by = if moves.is_whole(feature) { (by + 0.5).floor() } else { by };
                let change = Change::shift(by, f64::NEG_INFINITY, f64::INFINITY);
                (by != 0.0).then_some((feature, change))
            }
            Amount::Set(to) => Some((feature, Change::Set { to: to as usize, not_from: Vec::new() })),
        };
        let text = |(feature, change)| Edit { feature, change, followers: Vec::new() }.text(moves.features);
        self.edits.iter().filter_map(change).map(text).collect()
    }
}
