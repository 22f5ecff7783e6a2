//! A plain search for the exact front, written only for this verifier: level by level over distinct row sets, without the
//! solver's groups, memo, bounds or fronts.
//!
//! It lists every row set that some tree of depth k can put into a leaf once ([`Plain::level`]), computes the front of
//! single-leaf trees of each ([`Plain::leaf`]), and then follows the recursion of SPEC §6 upwards from the deepest level
//! ([`Plain::front`]).
//!
//! The only shortcut is in [`Plain::leaf_into`]. On every row, an action costs at least as much as each of its edits (costs never
//! fall when an edit is added), so over a set its cost is at least the largest sum of one of them. And it flips only rows that
//! *some* action with that edit, or with all its edits except the last, flips. If the [`ParetoSet`] so far rules that corner out,
//! the action cannot add anything, and its own sum is not computed. Actions that differ only in their last edit are neighbours,
//! and are ruled out together if that corner is covered without the last edit.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sogar_solver::{Combine, Problem, RowSet};

use super::leaves::Leaves;
use super::stairs::{Staircase, Steps, Sums};

/// Total cost and number of rows that are not flipped (by weight, if rows have weights).
pub(super) type Pair = (u64, usize);

/// Fronts of one row set, by the allowed number of leaves of its tree; see [`Leaves`].
type ByLeaves = Vec<Vec<Pair>>;

/// The results of a leaf's actions so far.
pub(super) trait ParetoSet {
    /// Whether no pair with at least this cost and at least this loss would add anything.
    fn rules_out(&self, cost: u64, loss: usize) -> bool;

    /// Adds a pair.
    fn add(&mut self, cost: u64, loss: usize);
}

/// The problem with the bounds of single edits.
pub(super) struct Plain<'a> {
    problem: &'a Problem,
    combine: Combine,
    /// For each edit the rows that some action with it flips.
    reach: Vec<Vec<u64>>,
    /// All actions, in runs that differ only in the last edit.
    runs: Vec<Run>,
    /// The weight of each row; `None` if every row counts once.
    weights: Option<Vec<u32>>,
    /// When the search gives up; `None`: never.
    deadline: Option<Instant>,
}

/// Actions that differ only in their last edit.
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
        let weights: Vec<u32> = (0..problem.rows()).map(|row| problem.weight(row)).collect();
        let weights = weights.iter().any(|&weight| weight != 1).then_some(weights);
        Plain { problem, combine, reach, runs, weights, deadline }
    }

    /// The weight of a set.
    fn size(&self, set: &RowSet) -> usize {
        self.common(set.words(), set.words())
    }

    /// The weight of the rows in both sets, added row by row if weights differ.
    fn common(&self, a: &[u64], b: &[u64]) -> usize {
        let both = a.iter().zip(b).map(|(a, b)| a & b);
        match &self.weights {
            None => both.map(|word| word.count_ones() as usize).sum(),
            Some(weights) => both
                .zip(weights.chunks(64))
                .map(|(mut word, weights)| {
                    let mut sum = 0;
                    while word != 0 {
                        sum += weights[word.trailing_zeros() as usize] as usize;
                        word &= word - 1;
                    }
                    sum
                })
                .sum(),
        }
    }

    /// The weight of a row.
    fn weight(&self, row: usize) -> u64 {
        self.weights.as_ref().map_or(1, |weights| u64::from(weights[row]))
    }

    pub(super) fn late(&self) -> bool {
        self.time_left().is_zero()
    }

    /// Sets another deadline; `None`: never.
    pub(super) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// The problem that is searched.
    pub(super) fn problem(&self) -> &'a Problem {
        self.problem
    }

    pub(super) fn time_left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }

    /// The set of all rows: the only one at level 0.
    pub(super) fn root(&self) -> RowSet {
        RowSet::full(self.problem.rows())
    }

    /// The two sides of a split of a set, unless one of them is too small for a leaf.
    pub(super) fn sides(&self, set: &RowSet, split: usize) -> Option<(RowSet, RowSet)> {
        let passing = self.problem.split(split);
        let (left, right) = (set.and(passing), set.and_not(passing));
        let least = self.problem.limits().min_leaf as usize;
        (self.size(&left) >= least && self.size(&right) >= least).then_some((left, right))
    }

    /// The distinct sets that one more split makes of these; `None` if there are more than `most`, or time is up.
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

    /// Adds the leaf fronts of those sets that have none yet; `false` if time is up.
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
        if self.weights.is_some() {
            let mut kept = Steps::default();
            self.leaf_into(set, &mut kept);
            return kept.front();
        }
        let mut kept = Staircase::new(set.count());
        self.leaf_into(set, &mut kept);
        kept.front()
    }

    /// Adds every action of a single leaf, or rules it out.
    pub(super) fn leaf_into(&self, set: &RowSet, kept: &mut impl ParetoSet) {
        let members: Vec<usize> = set.iter().collect();
        let size = self.size(set);
        let edits = self.reach.len();
        let sums: Vec<u64> = (0..edits)
            .map(|edit| {
                let costs = self.problem.edit_cost(edit);
                members.iter().map(|&row| self.weight(row) * u64::from(costs[row])).sum()
            })
            .collect();
        let reached: Vec<usize> = self.reach.iter().map(|rows| self.common(set.words(), rows)).collect();
        let at_least = |edits: &[u32]| {
            let sums = edits.iter().map(|&edit| sums[edit as usize]);
            match self.combine {
                Combine::Max => sums.max().unwrap_or(0),
                Combine::Sum => sums.sum(),
            }
        };
        for run in &self.runs {
            let shared = start(self.problem.edits_of(run.actions.start));
            let cost_at_least = at_least(shared);
            let flips_at_most = shared.iter().map(|&edit| reached[edit as usize]).min().unwrap_or(size);
            if kept.rules_out(cost_at_least, size - flips_at_most) {
                continue;
            }
            let flips_at_most = self.common(set.words(), &run.reach);
            if kept.rules_out(cost_at_least, size - flips_at_most) {
                continue;
            }
            for action in run.actions.clone() {
                let own = self.problem.edits_of(action);
                let cost_at_least = at_least(own);
                let flips_at_most = own.last().map_or(0, |&last| reached[last as usize]).min(flips_at_most);
                if kept.rules_out(cost_at_least, size - flips_at_most) {
                    continue;
                }
                let loss = size - self.common(set.words(), self.problem.flips_of(action));
                if kept.rules_out(cost_at_least, loss) {
                    continue;
                }
                let cost = match (self.combine, own) {
                    (Combine::Sum, _) | (_, [] | [_]) => cost_at_least, // the bound is the cost itself
                    (Combine::Max, edits) => self.largest_costs(edits, &members),
                };
                kept.add(cost, loss);
            }
        }
    }

    /// The sum over rows of the most expensive of some edits.
    fn largest_costs(&self, edits: &[u32], rows: &[usize]) -> u64 {
        let columns: Vec<&[u32]> = edits.iter().map(|&edit| self.problem.edit_cost(edit as usize)).collect();
        let max_cost = |row: usize| columns.iter().map(|column| column[row]).max().unwrap_or(0);
        rows.iter().map(|&row| self.weight(row) * u64::from(max_cost(row))).sum()
    }

    /// The exact front of all trees of at most depth `levels.len() - 1` over these splits. `levels[k]` are the sets behind k
    /// splits, and all of them must have leaf fronts. `None` if time is up.
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

    /// The fronts of one set: a leaf, or a split with the children's fronts in `below`.
    fn subtrees(
        &self,
        set: &RowSet,
        limits: Leaves,
        splits: &[usize],
        leaf: &[Pair],
        below: &BTreeMap<&RowSet, ByLeaves>,
    ) -> ByLeaves {
        let new = || if self.weights.is_some() { Sums::sparse() } else { Sums::dense(set.count()) };
        let mut best: Vec<Sums> = (0..limits.count()).map(|_| new()).collect();
        for best in &mut best {
            best.join(leaf, &[(0, 0)]);
        }
        if let Some(child) = limits.child() {
            for (left, right) in splits.iter().filter_map(|&split| self.sides(set, split)) {
                let (Some(left), Some(right)) = (below.get(&left), below.get(&right)) else { continue };
                for (best, leaves) in best.iter_mut().zip(limits.fewest..=limits.most) {
                    for (on_left, on_right) in child.shares(leaves) {
                        best.join(&left[on_left], &right[on_right]);
                    }
                }
            }
        }
        best.into_iter().map(Sums::front).collect()
    }
}

/// An action's edits without the last.
fn start(edits: &[u32]) -> &[u32] {
    edits.split_last().map_or(edits, |(_, start)| start)
}

fn add_rows(rows: &mut [u64], more: &[u64]) {
    rows.iter_mut().zip(more).for_each(|(rows, more)| *rows |= more);
}
