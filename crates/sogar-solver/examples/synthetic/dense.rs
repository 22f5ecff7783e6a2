//! Plain matrices: every action has a cost and an outcome of its own on every row.

use sogar_solver::{BitTable, Combine, ProblemParts, RowSet};

use super::{Options, Random};

pub fn problem(options: &Options) -> ProblemParts {
    let (rows, splits) = (options.rows.unwrap_or(600), options.splits.unwrap_or(40));
    let actions = options.actions.unwrap_or(2000);
    let mut random = Random(options.seed);
    let mut flips = BitTable::new(actions + 1, rows);
    let mut edit_costs = Vec::with_capacity(actions);
    for action in 1..=actions {
        // Actions that flip more tend to cost more.
        let share = 100 + random.below(700);
        for row in 0..rows {
            if random.below(1000) < share {
                flips.set_mut(action)[row / 64] |= 1 << (row % 64);
            }
        }
        let most = 20 + share;
        edit_costs.push((0..rows).map(|_| ((1 + random.below(most)) * options.scale) as u32).collect());
    }
    ProblemParts {
        rows,
        splits: (0..splits).map(|_| RowSet::from_fn(rows, |_| random.below(2) == 0)).collect(),
        edit_costs,
        combine: Combine::Max,
        actions: std::iter::once(vec![]).chain((0..actions as u32).map(|edit| vec![edit])).collect(),
        flips,
        weights: Vec::new(),
        limits: options.limits(rows),
    }
}
