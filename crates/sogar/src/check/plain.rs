//! A plain search for the exact front, written for this verifier alone: level by level over distinct row sets, without the solver's
//! groups, memo, bounds or fronts.
//!
//! Every row set that some tree of depth k can put into a leaf is listed once ([`Plain::level`]); each gets the front of its
//! single-leaf trees ([`Plain::leaf`]); and then the recursion of SPEC §6 is followed upwards from the deepest level
//! ([`Plain::front`]).
//!
//! The one economy is in [`Plain::leaf`]. An action costs on every row at least what each of its edits does (costs never fall when an
//! edit is added), so over a set its cost is at least the largest sum of one of them; and it flips only rows that *some* action
//! with that edit, or with the same edits but the last, flips. Where a pair (cost, loss) already found is at most that corner,
//! the action can add nothing, and its own sum is not made. Actions that differ in their last edit alone stand together, and are
//! ruled out together where that corner is covered without the last edit.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sogar_solver::{Combine, Problem, RowSet};

/// Total cost and number of rows that are not flipped.
pub(super) type Pair = (u64, usize);

/// Fronts of one row set, by the number of leaves that its tree may have; see [`Leaves`].
type ByLeaves = Vec<Vec<Pair>>;

/// The problem with what single edits say about it.
pub(super) struct Plain<'a> {
    problem: &'a Problem,
    combine: Combine,
    /// Per edit the rows that some action with it flips.
    reach: Vec<Vec<u64>>,
    /// All actions, in runs that differ in the last edit alone.
    runs: Vec<Run>,
    /// After this the search gives up; `None` is never.
    deadline: Option<Instant>,
}

/// Actions that differ in their last edit alone.
struct Run {
    actions: std::ops::Range<usize>,
    /// The rows that some of them flips.
    reach: Vec<u64>,
}

/// Fronts of single leaves.
pub(super) type LeafFronts = BTreeMap<RowSet, Vec<Pair>>;

impl<'a> Plain<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        edits: usize,
        combine: Combine,
        deadline: Option<Instant>,
    ) -> Self {
        let words = problem.flips_of(0).len();
        let mut reach = vec![vec![0u64; words]; edits];
        let mut runs: Vec<Run> = Vec::new();
        for action in 0..problem.actions() {
            let (own, flips) = (problem.edits_of(action), problem.flips_of(action));
            for &edit in own {
                add_rows(&mut reach[edit as usize], flips);
            }
            match runs.last_mut() {
                Some(run) if start(problem.edits_of(run.actions.start)) == start(own) && !own.is_empty() => {
                    run.actions.end += 1;
                    add_rows(&mut run.reach, flips);
                }
                _ => runs.push(Run { actions: action..action + 1, reach: flips.to_vec() }),
            }
        }
        Plain { problem, combine, reach, runs, deadline }
    }

    fn late(&self) -> bool {
        self.time_left().is_zero()
    }

    pub(super) fn time_left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }

    /// The set of all rows: the only one at level 0.
    pub(super) fn root(&self) -> RowSet {
        RowSet::full(self.problem.rows())
    }

    /// The two sides of a split of a set, unless one of them is too small for a leaf.
    fn sides(&self, set: &RowSet, split: usize) -> Option<(RowSet, RowSet)> {
        let passing = self.problem.split(split);
        let (left, right) = (set.and(passing), set.and_not(passing));
        let least = self.problem.limits().min_leaf as usize;
        (left.count() >= least && right.count() >= least).then_some((left, right))
    }

    /// The distinct sets that one more split makes of these; `None` if they are more than `most`, or the time is up.
    pub(super) fn level(&self, sets: &[RowSet], splits: &[usize], most: usize) -> Option<Vec<RowSet>> {
        let mut next = BTreeSet::new();
        for set in sets {
            for (left, right) in splits.iter().filter_map(|&split| self.sides(set, split)) {
                next.insert(left);
                next.insert(right);
            }
            if next.len() > most || self.late() {
                return None;
            }
        }
        Some(next.into_iter().collect())
    }

    /// Adds the leaf fronts of those sets that have none yet; `false` if the time is up.
    pub(super) fn add_leaves(&self, sets: &[RowSet], fronts: &mut LeafFronts) -> bool {
        let new: Vec<&RowSet> = sets.iter().filter(|set| !fronts.contains_key(set)).collect();
        let found: Vec<Option<(RowSet, Vec<Pair>)>> =
            new.par_iter().map(|set| (!self.late()).then(|| ((*set).clone(), self.leaf(set)))).collect();
        let all = found.iter().all(Option::is_some);
        fronts.extend(found.into_iter().flatten());
        all
    }

    /// The front of a single leaf: the non-dominated pairs of all actions.
    pub(super) fn leaf(&self, set: &RowSet) -> Vec<Pair> {
        let members: Vec<usize> = set.iter().collect();
        let size = members.len();
        let edits = self.reach.len();
        let sums: Vec<u64> = (0..edits)
            .map(|edit| {
                let costs = self.problem.edit_cost(edit);
                members.iter().map(|&row| u64::from(costs[row])).sum()
            })
            .collect();
        let reached: Vec<usize> = self.reach.iter().map(|rows| common(set.words(), rows)).collect();
        // cheapest[loss]: the least cost found so far with that loss or a smaller one
        let mut cheapest = vec![u64::MAX; size + 1];
        let at_least = |edits: &[u32]| {
            let sums = edits.iter().map(|&edit| sums[edit as usize]);
            match self.combine {
                Combine::Max => sums.max().unwrap_or(0),
                Combine::Sum => sums.sum(),
            }
        };
        for run in &self.runs {
            let flips_at_most = common(set.words(), &run.reach);
            if cheapest[size - flips_at_most] <= at_least(start(self.problem.edits_of(run.actions.start))) {
                continue;
            }
            for action in run.actions.clone() {
                let own = self.problem.edits_of(action);
                let cost_at_least = at_least(own);
                let flips_at_most = own.last().map_or(0, |&last| reached[last as usize]).min(flips_at_most);
                if cheapest[size - flips_at_most] <= cost_at_least {
                    continue;
                }
                let loss = size - common(set.words(), self.problem.flips_of(action));
                if cheapest[loss] <= cost_at_least {
                    continue;
                }
                let cost = match (self.combine, own) {
                    (Combine::Sum, _) | (_, [] | [_]) => cost_at_least, // the bound is the cost itself
                    (Combine::Max, edits) => self.largest_costs(edits, &members),
                };
                for slot in &mut cheapest[loss..] {
                    if *slot <= cost {
                        break;
                    }
                    *slot = cost;
                }
            }
        }
        stairs(&cheapest)
    }

    /// The sum over rows of the dearest of some edits.
    fn largest_costs(&self, edits: &[u32], rows: &[usize]) -> u64 {
        let columns: Vec<&[u32]> = edits.iter().map(|&edit| self.problem.edit_cost(edit as usize)).collect();
        let dearest = |row: usize| columns.iter().map(|column| column[row]).max().unwrap_or(0);
        rows.iter().map(|&row| u64::from(dearest(row))).sum()
    }

    /// The exact front of all trees of depth `levels.len() - 1` at most over these splits. `levels[k]` are the sets behind k splits,
    /// and all of them must have leaf fronts. `None` if the time is up.
    pub(super) fn front(
        &self,
        levels: &[Vec<RowSet>],
        splits: &[usize],
        leaf_fronts: &LeafFronts,
    ) -> Option<Vec<Pair>> {
        let mut below: BTreeMap<&RowSet, ByLeaves> = BTreeMap::new();
        for (remaining, sets) in levels.iter().rev().enumerate() {
            let limits = Leaves::new(self.problem.limits().max_leaves, levels.len() - 1, remaining);
            let fronts: Option<Vec<(&RowSet, ByLeaves)>> = sets
                .par_iter()
                .map(|set| {
                    if self.late() {
                        return None;
                    }
                    Some((set, self.subtrees(set, limits, splits, leaf_fronts.get(set)?, &below)))
                })
                .collect();
            below = fronts?.into_iter().collect();
        }
        below.into_values().next()?.pop()
    }

    /// The fronts of one set, a leaf or a split with the children's fronts in `below`.
    fn subtrees(
        &self,
        set: &RowSet,
        limits: Leaves,
        splits: &[usize],
        leaf: &[Pair],
        below: &BTreeMap<&RowSet, ByLeaves>,
    ) -> ByLeaves {
        let size = set.count();
        let mut best = vec![vec![u64::MAX; size + 1]; limits.most - limits.fewest + 1];
        for best in &mut best {
            leaf.iter().for_each(|&(cost, loss)| best[loss] = cost);
        }
        if let Some(child) = limits.child() {
            for (left, right) in splits.iter().filter_map(|&split| self.sides(set, split)) {
                let (Some(left), Some(right)) = (below.get(&left), below.get(&right)) else { continue };
                for (best, leaves) in best.iter_mut().zip(limits.fewest..=limits.most) {
                    let first = child.fewest.max(leaves.saturating_sub(child.most));
                    for on_left in first..=child.most.min(leaves.saturating_sub(child.fewest)) {
                        let on_right = (leaves - on_left).min(child.most);
                        join(best, &left[on_left - child.fewest], &right[on_right - child.fewest]);
                    }
                }
            }
        }
        best.iter().map(|best| stairs(&running_least(best))).collect()
    }
}

/// For which numbers of leaves fronts are kept: for `most` alone where depth is the only limit, else from one leaf up.
#[derive(Debug, Clone, Copy)]
struct Leaves {
    fewest: usize,
    most: usize,
    remaining: usize,
    limit: u32,
    depth: usize,
}

impl Leaves {
    fn new(limit: u32, depth: usize, remaining: usize) -> Self {
        let by_depth = |depth: usize| 1usize.checked_shl(depth as u32).unwrap_or(usize::MAX);
        let most = by_depth(remaining).min(limit as usize).max(1);
        let fewest = if limit as usize >= by_depth(depth) { most } else { 1 };
        Leaves { fewest, most, remaining, limit, depth }
    }

    /// The same one level down.
    fn child(self) -> Option<Leaves> {
        let remaining = self.remaining.checked_sub(1)?;
        Some(Leaves::new(self.limit, self.depth, remaining))
    }
}

/// An action's edits but the last.
fn start(edits: &[u32]) -> &[u32] {
    edits.split_last().map_or(edits, |(_, start)| start)
}

fn add_rows(rows: &mut [u64], more: &[u64]) {
    rows.iter_mut().zip(more).for_each(|(rows, more)| *rows |= more);
}

/// Number of rows in both sets.
fn common(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones() as usize).sum()
}

/// All sums of a pair of `left` and a pair of `right` into `best[loss]`.
fn join(best: &mut [u64], left: &[Pair], right: &[Pair]) {
    for &(cost, loss) in left {
        let best = &mut best[loss..];
        for &(more_cost, more_loss) in right {
            let slot = &mut best[more_loss];
            *slot = (*slot).min(cost + more_cost);
        }
    }
}

/// `least[i]`: the smallest of the first i + 1.
fn running_least(values: &[u64]) -> Vec<u64> {
    let mut least = u64::MAX;
    values
        .iter()
        .map(|&value| {
            least = least.min(value);
            least
        })
        .collect()
}

/// The front in a falling staircase `cheapest[loss]`: cost ascending, loss descending.
fn stairs(cheapest: &[u64]) -> Vec<Pair> {
    let mut front: Vec<Pair> = Vec::new();
    for (loss, &cost) in cheapest.iter().enumerate() {
        if cost != u64::MAX && front.last().is_none_or(|last| cost < last.0) {
            front.push((cost, loss));
        }
    }
    front.reverse();
    front
}
