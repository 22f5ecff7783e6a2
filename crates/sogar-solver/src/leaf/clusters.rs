//! Actions without structure: a plain table of costs, every action an edit of its own.
//!
//! There are no shared edits to group such actions by, so they are grouped by likeness: clusters of at most eight, and
//! clusters of clusters. Every action of a cluster costs a row at least the *least* cost that any of them has there, and
//! flips no row outside the union of their flips; so on every row set the sum of these least costs and the rows outside the union are a
//! corner that none of them lies below (the argument in [`super`] then holds word for word). Which actions are alike is a guess that
//! decides the speed alone.

use std::ops::Range;

use rayon::prelude::*;

use crate::bits::BitTable;
use crate::problem::Problem;

/// Actions in the smallest clusters.
const SMALL: usize = 8;
/// Small clusters are gathered in clusters of at most this many actions.
const LARGE: usize = 64;
/// Rows that are looked at to tell how alike two actions are.
const SAMPLED_ROWS: usize = 128;
/// Fewer actions than this are not worth it.
const FEWEST: usize = 64;

/// One cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Its actions, as positions in [`Clusters::order`].
    pub members: Range<usize>,
    /// The small clusters in it, as positions in [`Clusters::small`]; empty for a small one.
    pub parts: Range<usize>,
}

/// Clusters of two sizes, with their bounds.
#[derive(Debug)]
pub(super) struct Clusters {
    /// All actions but the identity, those of a cluster next to each other.
    pub order: Vec<u32>,
    pub large: Vec<Cluster>,
    pub small: Vec<Cluster>,
    /// Per cluster (large ones first) the least cost of its actions on every row, row after row.
    pub least_costs: Vec<Vec<u32>>,
    /// Per cluster (large ones first) the rows that some action of it flips.
    pub unions: BitTable,
}

impl Clusters {
    /// The clusters of a problem whose actions are single edits; `None` for other problems, and small ones.
    pub fn new(problem: &Problem) -> Option<Clusters> {
        let actions = problem.actions();
        if actions < FEWEST || problem.edits_of(actions - 1).len() > 1 {
            return None;
        }
        let mut order: Vec<u32> = (1..actions as u32).collect();
        let (mut large, mut small) = (Vec::new(), Vec::new());
        let (whole, samples) = (0..order.len(), Samples::new(problem));
        divide(&samples, &mut order, whole, LARGE, &mut |order, members| {
            let start = small.len();
            divide(&samples, order, members.clone(), SMALL, &mut |_, members| {
                small.push(Cluster { members, parts: 0..0 });
            });
            large.push(Cluster { members, parts: start..small.len() });
        });
        let mut unions = BitTable::new(large.len() + small.len(), problem.rows());
        let mut least_costs = Vec::with_capacity(large.len() + small.len());
        for (position, cluster) in large.iter().chain(&small).enumerate() {
            let mut least = vec![u32::MAX; problem.rows()];
            for &action in &order[cluster.members.clone()] {
                let union = unions.set_mut(position).iter_mut();
                union.zip(problem.flips_of(action as usize)).for_each(|(union, flips)| *union |= flips);
                let costs = problem.edit_cost(problem.edits_of(action as usize)[0] as usize);
                least.iter_mut().zip(costs).for_each(|(least, &cost)| *least = (*least).min(cost));
            }
            least_costs.push(least);
        }
        Some(Clusters { order, large, small, least_costs, unions })
    }
}

/// What is looked at to tell how alike actions are: some of their costs, in 15 bits, and outcomes.
struct Samples {
    rows: usize,
    costs: Vec<u16>,
    flips: Vec<[u64; SAMPLED_ROWS.div_ceil(64)]>,
    /// What an outcome counts.
    flip: u64,
}

impl Samples {
    fn new(problem: &Problem) -> Samples {
        let rows: Vec<usize> = (0..problem.rows()).step_by(problem.rows().div_ceil(SAMPLED_ROWS)).collect();
        let dropped = (u32::BITS - problem.max_cost().leading_zeros()).saturating_sub(15);
        let mut costs = vec![0; problem.actions() * rows.len()];
        let mut flips = vec![[0; SAMPLED_ROWS.div_ceil(64)]; problem.actions()];
        let each = costs.par_chunks_mut(rows.len()).zip(&mut flips).enumerate().skip(1);
        each.for_each(|(action, (costs, flips))| {
            let own = problem.edit_cost(problem.edits_of(action)[0] as usize);
            for (at, (cost, &row)) in costs.iter_mut().zip(&rows).enumerate() {
                *cost = (own[row] >> dropped) as u16;
                flips[at / 64] |= u64::from(problem.flips(action, row)) << (at % 64);
            }
        });
        Samples { rows: rows.len(), costs, flips, flip: u64::from(problem.max_cost() >> dropped).max(1) }
    }

    /// How different two actions are: in cost, relative to the largest cost, and in the rows that they flip.
    fn unlike(&self, a: u32, b: u32) -> u64 {
        let costs = |action: u32| &self.costs[action as usize * self.rows..(action as usize + 1) * self.rows];
        let distance: u32 =
            costs(a).iter().zip(costs(b)).map(|(&a, &b)| u32::from(a.max(b) - a.min(b))).sum();
        let flips = self.flips[a as usize].iter().zip(self.flips[b as usize]);
        let differ: u32 = flips.map(|(a, b)| (a ^ b).count_ones()).sum();
        u64::from(distance) + u64::from(differ) * self.flip
    }
}

/// Divides a range of actions in two, again and again, until the parts have at most `most` actions; calls `found` for each
/// part. Actions go to that of two unlike ones to which they are nearer.
fn divide(
    samples: &Samples,
    order: &mut [u32],
    range: Range<usize>,
    most: usize,
    found: &mut dyn FnMut(&mut [u32], Range<usize>),
) {
    let mut open = vec![range];
    while let Some(range) = open.pop() {
        if range.len() <= most {
            found(order, range);
            continue;
        }
        let part = &mut order[range.clone()];
        let farthest_from = |from: u32, part: &[u32]| {
            part.iter().copied().max_by_key(|&action| (samples.unlike(from, action), action)).unwrap_or(from)
        };
        let one = farthest_from(part[0], part);
        let other = farthest_from(one, part);
        let nearer = |action: u32| {
            samples.unlike(one, action).cast_signed() - samples.unlike(other, action).cast_signed()
        };
        let mut keyed: Vec<(i64, u32)> = part.iter().map(|&action| (nearer(action), action)).collect();
        // In the middle, so that the number of steps stays small whatever the distances are.
        let middle = range.start + range.len() / 2;
        keyed.select_nth_unstable(range.len() / 2);
        part.iter_mut().zip(keyed).for_each(|(place, (_, action))| *place = action);
        open.push(middle..range.end);
        open.push(range.start..middle);
    }
}
