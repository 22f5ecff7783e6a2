//! Lower bounds that no summary beats.
//!
//! **Individual bound.** Let `m(x)` be the cost of the cheapest action that flips row `x`. A tree with loss `L` flips `n − L`
//! rows; a flipped row costs at least its `m(x)`, the others at least 0. So the tree costs at least the sum of the `n − L`
//! smallest `m(x)`. The points (that sum, L) for all attainable `L` bound every front from below, at any depth. Rows that no
//! action flips ("unreachable") have no `m(x)` and stay in the loss of every tree. A row of weight `w` counts as `w` rows of the
//! same `m(x)`. If that would be too many points, rows are taken whole: a tree that flips more than the `k` cheapest rows costs
//! at least as much as these, no matter what else it flips, so (their cost, the loss with the next row flipped whole) is still a
//! bound.
//!
//! **Quick bound.** `m(x)` needs every action. A lower bound on it does not: an action that flips `x` is either a single edit, or
//! contains a pair of edits `p` with `x ∈ U(p)`, the union of the flips of everything that contains `p`, and costs at least as
//! much as the two edits of `p` together cost `x`. So the smallest of these costs over single edits that flip `x` and pairs with
//! `x ∈ U(p)` is at most `m(x)` ([`crate::leaf::GroupedLeaves::cheapest_at_least`]), and the individual bound made from it is
//! sound too. Both need only useful actions: for `x`, an earlier action does what a dropped action does, and costs no more
//! ([`crate::leaf`]'s `useful`). A search that is stopped before every `m(x)` is known falls back on this bound.

use std::ops::Range;

use rayon::prelude::*;

use crate::front::{Point, non_dominated};
use crate::problem::{Combine, Problem};
use crate::simd::{Kernel, Token};

/// The cost of the cheapest flipping action per row; `None` for unreachable rows.
pub fn cheapest_flips(problem: &Problem) -> Vec<Option<u64>> {
    cheapest_flips_unless(problem, &|| false).unwrap_or_default()
}

/// The same, but stops on `stop` (checked every few milliseconds).
pub(crate) fn cheapest_flips_unless(
    problem: &Problem,
    stop: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Option<u64>>> {
    let actions = problem.actions();
    // About as many cells as take a few milliseconds.
    let chunk = ((1 << 24) / problem.rows().max(1)).clamp(1, actions);
    let starts: Vec<usize> = (0..actions).step_by(chunk).collect();
    let token = Kernel::best().token();
    starts
        .into_par_iter()
        .map(|start| (!stop()).then(|| cheapest_among(problem, start..(start + chunk).min(actions), token)))
        .try_reduce(
            || vec![u64::MAX; problem.rows()],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).min(b));
                Some(a)
            },
        )
        .map(|costs| costs.into_iter().map(|cost| (cost != u64::MAX).then_some(cost)).collect())
}

/// The cheapest flip per row among some actions, `u64::MAX` if there is none.
fn cheapest_among(problem: &Problem, actions: Range<usize>, token: Token) -> Vec<u64> {
    let groups = actions.map(|action| (problem.edits_of(action), problem.flips_of(action)));
    cheapest_of(problem, groups, token)
}

/// The lowest cost per row among groups of edits, each with the rows that it may flip; `u64::MAX` if there is none.
pub(crate) fn cheapest_of<'a>(
    problem: &Problem,
    groups: impl Iterator<Item = (&'a [u32], &'a [u64])>,
    token: Token,
) -> Vec<u64> {
    if problem.combine == Combine::Sum {
        // Sums need more than 32 bits; such costs are rare, so the loop is plain.
        let mut cheapest = vec![u64::MAX; problem.rows()];
        for (edits, flips) in groups {
            for (row, cheapest) in
                cheapest.iter_mut().enumerate().filter(|(row, _)| flips[row / 64] >> (row % 64) & 1 == 1)
            {
                let cost = edits.iter().map(|&edit| u64::from(problem.edit_cost(edit as usize)[row])).sum();
                *cheapest = (*cheapest).min(cost);
            }
        }
        return cheapest;
    }
    let mut cheapest = vec![u32::MAX; problem.rows()];
    let mut found = vec![0u64; problem.flips_of(0).len()];
    for (edits, flips) in groups {
        found.iter_mut().zip(flips).for_each(|(found, flips)| *found |= flips);
        let columns: Vec<&[u32]> = edits.iter().map(|&edit| problem.edit_cost(edit as usize)).collect();
        match token {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the processor has these instructions.
            Token::Avx512(_) => unsafe { lower_avx512(&mut cheapest, &columns, flips) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Token::Avx2(_) => unsafe { lower_avx2(&mut cheapest, &columns, flips) },
            Token::Portable(_) => lower(&mut cheapest, &columns, flips),
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
            // All ones if the row is not flipped.
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

/// The individual bound as a front: cost ascending, loss strictly descending. `weight` is the weight of a row.
pub fn individual_bound(cheapest: &[Option<u64>], weight: impl Fn(usize) -> u64) -> Vec<Point> {
    let row = |(row, cost): (usize, &Option<u64>)| cost.map(|cost| (cost, weight(row)));
    let all = (0..cheapest.len()).map(&weight).sum();
    bound_of(all, cheapest.iter().enumerate().filter_map(row).collect())
}

/// The individual bound of a problem from its rows' cheapest flips.
pub(crate) fn individual_bound_of(problem: &Problem, cheapest: &[Option<u64>]) -> Vec<Point> {
    individual_bound(cheapest, |row| u64::from(problem.weight(row)))
}

/// Beyond this many rows, by weight, rows are taken whole.
const MOST_POINTS: u64 = 1 << 22;

/// The bound of rows given as (cost of one, how many); `loss` is the number of all rows, unreachable ones included.
fn bound_of(mut loss: u64, mut rows: Vec<(u64, u64)>) -> Vec<Point> {
    rows.sort_unstable();
    let coarse = loss > MOST_POINTS;
    let mut points = vec![Point { cost: 0, loss }];
    let mut cost = 0;
    for (one, weight) in rows {
        if coarse || one == 0 {
            // A tree that flips more than the previous rows costs at least as much as they do, no matter how much more it flips.
            points.push(Point { cost, loss: loss - weight });
            loss -= weight;
            cost += one * weight;
            continue;
        }
        for _ in 0..weight {
            cost += one;
            loss -= 1;
            points.push(Point { cost, loss });
        }
    }
    non_dominated(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_flipped_from_the_cheapest_on() {
        let points = |list: &[(u64, u64)]| -> Vec<Point> {
            list.iter().map(|&(cost, loss)| Point { cost, loss }).collect()
        };
        let cheapest = [Some(3), None, Some(0), Some(1), Some(0)];
        assert_eq!(individual_bound(&cheapest, |_| 1), points(&[(0, 3), (1, 2), (4, 1)]));
        assert_eq!(bound_of(5, vec![(2, 2), (0, 1), (1, 1)]), points(&[(0, 4), (1, 3), (3, 2), (5, 1)]));
        // Beyond the limit a row is one step, entered from the cost before it.
        let many = MOST_POINTS + 10;
        let expected = points(&[(0, 11), (2 * (many - 11), 10)]);
        assert_eq!(bound_of(many, vec![(2, many - 11), (3, 1)])[..2], expected);
    }
}
