//! Plain matrices, as `solve_matrix` takes them: every action has a cost and an outcome of its own on every row.

use sogar_solver::{BitTable, Combine, Limits, Problem, ProblemError, ProblemParts, RowSet};

/// The size of a matrix.
#[derive(Debug, Clone, Copy)]
pub struct Matrix {
    pub name: &'static str,
    rows: usize,
    splits: usize,
    actions: usize,
}

/// Dense random problems of several sizes, and one as large as the example of `sogar demo`.
pub const MATRICES: [Matrix; 4] = [
    Matrix { name: "matrix-150", rows: 150, splits: 60, actions: 4000 },
    Matrix { name: "matrix-600", rows: 600, splits: 40, actions: 2000 },
    Matrix { name: "matrix-900", rows: 900, splits: 24, actions: 500 },
    Matrix { name: "matrix-demo", rows: 331, splits: 60, actions: 90_745 },
];

impl Matrix {
    /// The problem: actions that flip more tend to cost more.
    pub fn problem(self, max_depth: u32, min_leaf: Option<u32>) -> Result<Problem, ProblemError> {
        let Matrix { rows, splits, actions, .. } = self;
        let mut state = 1u64;
        let mut below = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let mut flips = BitTable::new(actions + 1, rows);
        let mut edit_costs = Vec::with_capacity(actions);
        for action in 1..=actions {
            let share = 100 + below(700);
            for row in 0..rows {
                if below(1000) < share {
                    flips.set_mut(action)[row / 64] |= 1 << (row % 64);
                }
            }
            edit_costs.push((0..rows).map(|_| 1 + below(20 + share) as u32).collect());
        }
        Problem::new(ProblemParts {
            rows,
            splits: (0..splits).map(|_| RowSet::from_fn(rows, |_| below(2) == 0)).collect(),
            edit_costs,
            combine: Combine::Max,
            actions: std::iter::once(vec![]).chain((0..actions as u32).map(|edit| vec![edit])).collect(),
            flips,
            weights: Vec::new(),
            limits: Limits {
                max_depth,
                max_leaves: 1 << max_depth.min(20),
                min_leaf: min_leaf.unwrap_or((rows / 20).max(1) as u32),
            },
        })
    }
}
