//! Lower bounds: what no summary can do better than.
//!
//! **Individual bound.** Let `m(x)` be the cost of the cheapest action that flips row `x`. A tree with loss `L` flips
//! `n − L` rows, and a flipped row costs at least its `m(x)`, the others at least 0; so the tree costs at least the sum of the `n − L`
//! smallest `m(x)`. The points (that sum, L) for all attainable `L` bound every front from below, whatever the depth.
//! Rows that no action flips ("unreachable") have no `m(x)` and stay in the loss of every tree.

use std::ops::Range;

use rayon::prelude::*;

use crate::bits::Kernel;
use crate::front::Point;
use crate::problem::{Combine, Problem};

/// The cost of the cheapest flipping action per row; `None` for unreachable rows.
pub fn cheapest_flips(problem: &Problem) -> Vec<Option<u64>> {
    let actions = problem.actions();
    let chunk = actions.div_ceil(4 * rayon::current_num_threads().max(1)).max(1);
    let starts: Vec<usize> = (0..actions).step_by(chunk).collect();
    let kernel = Kernel::best();
    starts
        .into_par_iter()
        .map(|start| cheapest_among(problem, start..(start + chunk).min(actions), kernel))
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

/// The cheapest flip per row among some actions, `u64::MAX` where there is none.
fn cheapest_among(problem: &Problem, actions: Range<usize>, kernel: Kernel) -> Vec<u64> {
    if problem.combine == Combine::Sum {
        // Sums need more than 32 bits; such costs are rare, so the loop is plain.
        let mut cheapest = vec![u64::MAX; problem.rows()];
        for action in actions {
            for (row, cheapest) in
                cheapest.iter_mut().enumerate().filter(|(row, _)| problem.flips(action, *row))
            {
                *cheapest = (*cheapest).min(problem.cost(action, row));
            }
        }
        return cheapest;
    }
    let mut cheapest = vec![u32::MAX; problem.rows()];
    let mut found = vec![0u64; problem.flips_of(0).len()];
    for action in actions {
        let flips = problem.flips_of(action);
        found.iter_mut().zip(flips).for_each(|(found, flips)| *found |= flips);
        let columns: Vec<&[u32]> =
            problem.edits_of(action).iter().map(|&edit| problem.edit_cost(edit as usize)).collect();
        match kernel {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernel::best` found the instructions on this processor.
            Kernel::Avx512 => unsafe { lower_avx512(&mut cheapest, &columns, flips) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernel::Avx2 => unsafe { lower_avx2(&mut cheapest, &columns, flips) },
            _ => lower(&mut cheapest, &columns, flips),
        }
    }
    let reached = |row: usize| found[row / 64] >> (row % 64) & 1 == 1;
    cheapest
        .iter()
        .enumerate()
        .map(|(row, &cost)| if reached(row) { u64::from(cost) } else { u64::MAX })
        .collect()
}

/// Lowers the cheapest cost of flipped rows to the largest of the columns, without a branch per row.
#[inline(always)]
fn lower(cheapest: &mut [u32], columns: &[&[u32]], flips: &[u64]) {
    let halves = flips.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]);
    for ((block, cheapest), half) in cheapest.chunks_mut(32).enumerate().zip(halves) {
        if half == 0 {
            continue;
        }
        let mut costs = [0u32; 32];
        for column in columns {
            let column = &column[block * 32..block * 32 + cheapest.len()];
            costs.iter_mut().zip(column).for_each(|(cost, &more)| *cost = (*cost).max(more));
        }
        for (i, (cheapest, &cost)) in cheapest.iter_mut().zip(&costs).enumerate() {
            // All ones where the row is not flipped.
            let never = (half >> i & 1).wrapping_sub(1);
            *cheapest = (*cheapest).min(cost | never);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lower_avx2(cheapest: &mut [u32], columns: &[&[u32]], flips: &[u64]) {
    lower(cheapest, columns, flips);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn lower_avx512(cheapest: &mut [u32], columns: &[&[u32]], flips: &[u64]) {
    lower(cheapest, columns, flips);
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
