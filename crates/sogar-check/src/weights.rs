//! Scalarisations: for each of 100 weightings drawn from the seed, the smallest w · C + (1 − w) · L of all trees, in whole
//! numbers.
//!
//! One best pair per weighting replaces the front of a row set, so this goes deeper than the search for fronts. It sees only the
//! convex part of a front, so it does not replace that search.
//!
//! Trees are grouped by their first test, in a drawn order. If time does not suffice for all trees of a depth, those with the
//! first tests of a sample have still been covered completely. Results for a row set are kept for the next first test and the
//! next depth.

use std::collections::BTreeMap;

use rayon::prelude::*;
use sogar_solver::RowSet;

use super::hull::Hull;
use super::leaves::Leaves;
use super::plain::{LeafFronts, Pair, Plain};
use super::sample::Draw;

/// How many weightings.
pub(super) const WEIGHTS: usize = 100;
/// Weights are multiples of one divided by this.
const SHARES: usize = 1 << 16;
/// The stream of draws for weights, and for the order of first tests.
const STREAM: u64 = 1 << 32;

/// A weighting of cost and loss, scaled to whole numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight {
    cost: u128,
    loss: u128,
    share: usize,
}

impl Weight {
    /// The weightings of a seed; with w = ½, a `unit` of cost weighs as much as a person whose outcome does not change.
    pub(super) fn drawn(seed: u64, unit: u64) -> Vec<Weight> {
        let mut draw = Draw::new(seed, STREAM);
        let weight = |share: usize| Weight {
            cost: share as u128,
            loss: (SHARES - share) as u128 * u128::from(unit),
            share,
        };
        (0..WEIGHTS).map(|_| weight(1 + draw.below(SHARES - 1))).collect()
    }

    /// The weighted sum, scaled by the unit of cost and the number of shares. It cannot overflow: rows are numbered with 32 bits,
    /// so neither term exceeds 2^(16 + 64 + 32).
    pub(super) fn value(self, (cost, loss): Pair) -> u128 {
        self.cost * u128::from(cost) + self.loss * loss as u128
    }

    /// The weight of the cost, for display.
    pub(super) fn of_cost(self) -> f64 {
        self.share as f64 / SHARES as f64
    }
}

/// The best pair of a row set by each weighting.
pub(super) type Best = Vec<Pair>;

/// The same for each number of leaves that is kept; see [`Leaves`].
type ByLeaves = Vec<Best>;

/// What was covered, and the best pairs.
#[derive(Debug, Clone)]
pub(super) struct Reached {
    /// All trees of at most this depth …
    pub depth: usize,
    /// … and those one level deeper that begin with this many of the splits.
    pub first_tests: usize,
    /// The best of them by each weighting.
    pub best: Best,
}

/// The search, with its results for row sets.
pub(super) struct Scalarisations<'a> {
    plain: &'a Plain<'a>,
    weights: Vec<Weight>,
    splits: Vec<usize>,
    depth: usize,
    /// Leaf fronts from another search.
    known: &'a LeafFronts,
    /// Single leaves.
    leaves: BTreeMap<RowSet, Best>,
    /// By the allowed depth of a set's trees, minus one.
    trees: Vec<BTreeMap<RowSet, ByLeaves>>,
    /// Bytes that may still be used.
    room: usize,
}

impl<'a> Scalarisations<'a> {
    /// `depth` is the largest depth of a tree, `room` the memory for results of row sets.
    pub(super) fn new(
        plain: &'a Plain<'a>,
        weights: Vec<Weight>,
        known: &'a LeafFronts,
        seed: u64,
        room: usize,
    ) -> Self {
        let problem = plain.problem();
        let depth = problem.limits().max_depth as usize;
        let mut splits: Vec<usize> = (0..problem.splits()).collect();
        let mut draw = Draw::new(seed, STREAM + 1);
        for last in (1..splits.len()).rev() {
            splits.swap(last, draw.below(last + 1));
        }
        let trees = (1..depth).map(|_| BTreeMap::new()).collect();
        Scalarisations { plain, weights, splits, depth, known, leaves: BTreeMap::new(), trees, room }
    }

    /// Goes from depth `from` (at least 1) to the problem's depth, and returns its results when time or memory ends; `None` if
    /// there are none. Calls `progress` with the depth and the number of its finished first tests.
    pub(super) fn search(&mut self, from: usize, progress: impl Fn(usize, usize)) -> Option<Reached> {
        let root = self.plain.root();
        self.add_leaves(std::slice::from_ref(&root))?;
        let best = self.leaves.get(&root)?.clone();
        let mut reached = Reached { depth: from.saturating_sub(1), first_tests: 0, best };
        for depth in from..=self.depth {
            for (done, split) in self.splits.clone().into_iter().enumerate() {
                progress(depth, done);
                let Some(found) = self.beginning_with(split, depth) else {
                    return (depth > from || done > 0).then_some(reached);
                };
                self.improve(&mut reached.best, &found);
                reached.first_tests = done + 1;
            }
            (reached.depth, reached.first_tests) = (depth, 0);
        }
        Some(reached)
    }

    /// The best trees of at most this depth that begin with a test.
    fn beginning_with(&mut self, split: usize, depth: usize) -> Option<Best> {
        let root = self.plain.root();
        let Some((left, right)) = self.plain.sides(&root, split) else {
            return self.leaves.get(&root).cloned(); // such a tree has too small a leaf
        };
        // The sets without results, from the largest down.
        let mut levels: Vec<Vec<RowSet>> = vec![self.unknown(vec![left, right], depth - 1)];
        for below in (0..depth - 1).rev() {
            let sets = self.plain.level(levels.last()?, &self.splits, usize::MAX)?;
            levels.push(self.unknown(sets, below));
        }
        for (below, sets) in levels.iter().rev().enumerate() {
            self.add_leaves(sets)?;
            if below > 0 {
                self.add_trees(sets, below)?;
            }
        }
        self.subtrees(&root, depth, &[split]).pop()
    }

    /// The sets without results for trees of this depth.
    fn unknown(&self, sets: Vec<RowSet>, depth: usize) -> Vec<RowSet> {
        let known = |set: &RowSet| match depth.checked_sub(1) {
            None => self.leaves.contains_key(set),
            Some(position) => self.trees[position].contains_key(set),
        };
        sets.into_iter().filter(|set| !known(set)).collect()
    }

    /// Takes memory, if there is any left.
    fn take(&mut self, sets: usize, values: usize) -> Option<()> {
        let each = size_of_val(self.plain.root().words()) + values * WEIGHTS * size_of::<Pair>() + 64;
        self.room = self.room.checked_sub(sets.checked_mul(each)?)?;
        Some(())
    }

    fn add_leaves(&mut self, sets: &[RowSet]) -> Option<()> {
        let new: Vec<&RowSet> = sets.iter().filter(|set| !self.leaves.contains_key(set)).collect();
        self.take(new.len(), 1)?;
        let found: Vec<(RowSet, Best)> = new
            .into_par_iter()
            .map(|set| {
                if self.plain.late() {
                    return None;
                }
                let hull = match self.known.get(set) {
                    Some(front) => Hull::of(front),
                    None => Hull::of_leaf(self.plain, set),
                };
                let best =
                    |weight: &Weight| hull.pairs().iter().copied().min_by_key(|&pair| weight.value(pair));
                Some((set.clone(), self.weights.iter().map(best).collect::<Option<Best>>()?))
            })
            .collect::<Option<_>>()?;
        self.leaves.extend(found);
        Some(())
    }

    fn add_trees(&mut self, sets: &[RowSet], depth: usize) -> Option<()> {
        self.take(sets.len(), self.limits(depth).count())?;
        let found: Vec<(RowSet, ByLeaves)> = sets
            .par_iter()
            .map(|set| (!self.plain.late()).then(|| (set.clone(), self.subtrees(set, depth, &self.splits))))
            .collect::<Option<_>>()?;
        self.trees[depth - 1].extend(found);
        Some(())
    }

    fn limits(&self, depth: usize) -> Leaves {
        Leaves::new(self.plain.problem().limits().max_leaves, self.depth, depth)
    }

    /// The best trees of one set: a leaf, or a test with the results of its sides.
    fn subtrees(&self, set: &RowSet, depth: usize, splits: &[usize]) -> ByLeaves {
        let limits = self.limits(depth);
        let Some((leaf, child)) = self.leaves.get(set).zip(limits.child()) else { return Vec::new() };
        let mut best = vec![leaf.clone(); limits.count()];
        for (left, right) in splits.iter().filter_map(|&split| self.plain.sides(set, split)) {
            let (Some(left), Some(right)) = (self.known(&left, depth - 1), self.known(&right, depth - 1))
            else {
                continue;
            };
            for (best, leaves) in best.iter_mut().zip(limits.fewest..=limits.most) {
                for (on_left, on_right) in child.shares(leaves) {
                    let both = left[on_left].iter().zip(&right[on_right]);
                    let sums = both.map(|(left, right)| (left.0.saturating_add(right.0), left.1 + right.1));
                    self.improve_by(best, sums);
                }
            }
        }
        best
    }

    /// The results for a set's trees of this depth, by number of leaves.
    fn known(&self, set: &RowSet, depth: usize) -> Option<&[Best]> {
        match depth.checked_sub(1) {
            None => self.leaves.get(set).map(std::slice::from_ref),
            Some(position) => self.trees[position].get(set).map(Vec::as_slice),
        }
    }

    fn improve(&self, best: &mut Best, found: &[Pair]) {
        self.improve_by(best, found.iter().copied());
    }

    fn improve_by(&self, best: &mut Best, found: impl Iterator<Item = Pair>) {
        for ((best, found), weight) in best.iter_mut().zip(found).zip(&self.weights) {
            if weight.value(found) < weight.value(*best) {
                *best = found;
            }
        }
    }
}
