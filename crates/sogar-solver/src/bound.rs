//! Lower bounds: what no summary can do better than.
//!
//! **Individual bound.** Let `m(x)` be the cost of the cheapest action that flips row `x`. A tree with loss `L` flips
//! `n − L` rows, and a flipped row costs at least its `m(x)`, the others at least 0; so the tree costs at least the sum of the `n − L`
//! smallest `m(x)`. The points (that sum, L) for all attainable `L` bound every front from below, whatever the depth.
//! Rows that no action flips ("unreachable") have no `m(x)` and stay in the loss of every tree.

use rayon::prelude::*;

use crate::front::Point;
use crate::problem::Problem;

/// The cost of the cheapest flipping action per row; `None` for unreachable rows.
pub fn cheapest_flips(problem: &Problem) -> Vec<Option<u64>> {
    let chunk = problem.actions().div_ceil(64).max(1);
    let starts: Vec<usize> = (0..problem.actions()).step_by(chunk).collect();
    starts
        .into_par_iter()
        .map(|start| {
            let mut cheapest = vec![u64::MAX; problem.rows()];
            for action in start..(start + chunk).min(problem.actions()) {
                for (i, &word) in problem.flips_of(action).iter().enumerate() {
                    let mut rest = word;
                    while rest != 0 {
                        let row = i * 64 + rest.trailing_zeros() as usize;
                        rest &= rest - 1;
                        cheapest[row] = cheapest[row].min(problem.cost(action, row));
                    }
                }
            }
            cheapest
        })
        .reduce(
            || vec![u64::MAX; problem.rows()],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).min(b));
                a
            },
        )
        .into_iter()
        .map(|cost| (cost != u64::MAX).then_some(cost))
        .collect()
}

/// The individual bound as a front: cost ascending, loss strictly descending.
pub fn individual_bound(cheapest: &[Option<u64>]) -> Vec<Point> {
    let mut costs: Vec<u64> = cheapest.iter().flatten().copied().collect();
    costs.sort_unstable();
    let mut points = vec![Point { cost: 0, loss: cheapest.len() as u64 }];
    let (mut cost, mut loss) = (0, cheapest.len() as u64);
    for more in costs {
        cost += more;
        loss -= 1;
        if more == 0 {
            points.pop(); // a free flip dominates the point before it
        }
        points.push(Point { cost, loss });
    }
    points
}
