//! The dynamic programme of [`crate::search`] with more criteria.
//!
//! Cost and the loss of every group are sums over rows, so a tree's totals are the sums of its parts' totals, and a part that is dominated makes a
//! dominated tree: `T(S, d, m)` is built from the non-dominated trees of both sides as before. The root is solved for depth
//! 0, 1, 2, … in turn, and each finished depth is what a stopped search gives.
//!
//! A set's front of the previous depth, where it is known, bounds what its cuts must reach ([`super::ceiling`]). It only drops what it
//! strictly dominates; every point of the result, and every tie, comes from a cut.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::collector::Collector;
use super::front::{Branch, Front};
use super::grid::Epsilon;
use super::leaf::{Leaves, Request};
use super::memo::Memo;
use crate::front::{Point, non_dominated};
use crate::memo::Task;
use crate::problem::Problem;
use crate::search::{shared_tasks, task};
use crate::stop::{Observer, Progress, Stop, StopReason};
use crate::subset::{Cut, Subset, cuts};

/// Cells of the table that bounds a set's cuts: of all rows, and of a part of them.
const CELLS_OF_ALL: usize = 1 << 17;
const CELLS: usize = 1 << 12;

/// What a search is made of.
pub(crate) struct Search<'a, const G: usize> {
    pub problem: &'a Problem,
    pub leaves: Leaves<'a, G>,
    pub epsilon: Epsilon,
    pub stop: Stop,
    pub memo: Memo<'a, G>,
}

/// What was collected of a set's cuts.
type Collected<const G: usize> = (Collector<G>, Vec<(u32, Branch<G>)>);

impl<const G: usize> Search<'_, G> {
    /// The front of all rows, and why it may be partial.
    pub fn run(&self, observer: &dyn Observer) -> (Front<G>, Option<StopReason>) {
        let limits = self.problem.limits;
        let all = Subset::all(self.problem);
        // The least that a stopped search gives, deadline or not.
        let leaf = self.leaves.fronts(&[Request { set: &all, warm: &[] }], &Stop::default());
        let leaf = Arc::new(leaf.ok().and_then(|mut fronts| fronts.pop()).unwrap_or_default());
        let mut best = Arc::new(self.thinned(&all, &leaf));
        observer.improved(&projection(&best));
        if !self.problem.flips_anyone() {
            return (Arc::unwrap_or_clone(best), None);
        }
        let last = task(limits, all.size, limits.max_depth, limits.max_leaves);
        for depth in 1..=last.depth {
            let this = task(limits, all.size, depth, limits.max_leaves);
            let (front, reason) = self.branch_all(&all, this, &leaf, &best, observer);
            if reason.is_some() {
                return (best.union(&front), reason);
            }
            best = Arc::new(front);
            observer.improved(&projection(&best));
        }
        (Arc::unwrap_or_clone(best), None)
    }

    /// The front of a leaf by itself.
    fn thinned(&self, set: &Subset, leaf: &Front<G>) -> Front<G> {
        let mut collector = Collector::new(self.leaves.sizes(&set.rows), 1);
        collector.add_leaf(leaf);
        self.finish(set, &mut collector, &[])
    }

    fn finish(&self, set: &Subset, collector: &mut Collector<G>, branches: &[(u32, Branch<G>)]) -> Front<G> {
        let slack = self.epsilon.slack(&self.leaves.sizes(&set.rows), self.problem.limits.max_depth);
        collector.finish(branches, &slack)
    }

    /// What is worse than a known tree of less depth need not be collected. (A thinned front may lack the points that would take the place
    /// of what is dropped.)
    fn bound_by(&self, collector: &mut Collector<G>, known: &Front<G>) {
        if self.epsilon.millionths == 0 {
            known.entries.iter().for_each(|entry| collector.ceiling.lower(&entry.totals));
            collector.ceiling.spread();
        }
    }

    /// `T(set, task)`.
    fn solve(&self, set: &Subset, task: Task, leaf: &Arc<Front<G>>) -> Result<Arc<Front<G>>, StopReason> {
        if task.depth == 0 {
            return Ok(Arc::clone(leaf));
        }
        if let Some(front) = self.memo.get(set, task) {
            return Ok(front);
        }
        self.stop.check()?;
        let cuts = cuts(self.problem, set);
        let leaves = self.leaf_fronts(&cuts, leaf)?;
        let mut collector = Collector::new(self.leaves.sizes(&set.rows), CELLS);
        collector.add_leaf(leaf);
        if task.depth > 1
            && let Some(known) = self.memo.get(set, Task::FIRST)
        {
            self.bound_by(&mut collector, &known);
        }
        let mut branches = Vec::new();
        for (position, (cut, leaves)) in cuts.iter().zip(leaves.chunks(2)).enumerate() {
            for (key, branch) in self.solve_cut(position, cut, task, leaves)? {
                collector.add_split(key, &branch.left, &branch.right);
                branches.push((key, branch));
            }
        }
        let front = Arc::new(self.finish(set, &mut collector, &branches));
        self.memo.insert(set, task, &front);
        Ok(front)
    }

    /// The cuts of all rows, side by side on all threads. If the search is stopped, the front is that of the finished cuts, with the reason.
    fn branch_all(
        &self,
        all: &Subset,
        task: Task,
        leaf: &Arc<Front<G>>,
        known: &Front<G>,
        observer: &dyn Observer,
    ) -> (Front<G>, Option<StopReason>) {
        let cuts = cuts(self.problem, all);
        let report = |splits_done: usize| {
            let leaf_sets = self.memo.leaf_sets();
            observer.progress(Progress {
                depth: task.depth,
                splits_done,
                splits_total: cuts.len(),
                leaf_sets,
            });
        };
        report(0);
        let mut collector = Collector::new(self.leaves.sizes(&all.rows), CELLS_OF_ALL);
        collector.add_leaf(leaf);
        self.bound_by(&mut collector, known);
        let collected: Mutex<Collected<G>> = Mutex::new((collector, Vec::new()));
        let lock = || collected.lock().unwrap_or_else(PoisonError::into_inner);
        let done = AtomicUsize::new(0);
        let work = |position: usize, leaves: &[Arc<Front<G>>]| -> Result<(), StopReason> {
            let branches = self.solve_cut(position, &cuts[position], task, leaves)?;
            let mut own = lock().0.beside();
            for (key, branch) in &branches {
                own.add_split(*key, &branch.left, &branch.right);
            }
            let mut all = lock();
            all.0.absorb(own);
            all.1.extend(branches);
            drop(all);
            report(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(())
        };
        let chunk = cuts.len().div_ceil(4 * rayon::current_num_threads()).max(1);
        let leaves: Result<Vec<Vec<Arc<Front<G>>>>, StopReason> =
            cuts.par_chunks(chunk).map(|cuts| self.leaf_fronts(cuts, leaf)).collect();
        let reason = leaves.and_then(|leaves| {
            let leaves: Vec<Arc<Front<G>>> = leaves.into_iter().flatten().collect();
            let pairs: Vec<(usize, &[Arc<Front<G>>])> = leaves.chunks(2).enumerate().collect();
            // One at a time: neighbouring cuts take equally long, and share much of their work.
            pairs.par_iter().with_max_len(1).try_for_each(|(position, leaves)| work(*position, leaves))
        });
        let (mut collector, mut branches) =
            std::mem::replace(&mut *lock(), (Collector::new([0; G], 1), Vec::new()));
        branches.sort_unstable_by_key(|(key, _)| *key);
        (self.finish(all, &mut collector, &branches), reason.err())
    }

    /// The children's fronts of one cut, for every way to share the leaves between them, as in [`crate::search`]; `leaves` are the children's leaf fronts.
    fn solve_cut(
        &self,
        position: usize,
        cut: &Cut,
        task: Task,
        leaves: &[Arc<Front<G>>],
    ) -> Result<Vec<(u32, Branch<G>)>, StopReason> {
        let [left_leaf, right_leaf] = leaves else { return Ok(Vec::new()) };
        let mut branches = Vec::new();
        for (key, left, right) in shared_tasks(self.problem.limits, position, cut, task) {
            let left = self.solve(&cut.left, left, left_leaf)?;
            let right = self.solve(&cut.right, right, right_leaf)?;
            branches.push((key, Branch { split: cut.split, left, right }));
        }
        Ok(branches)
    }

    /// The leaf fronts of both sides of each cut, in order; remembered ones where there are.
    fn leaf_fronts(&self, cuts: &[Cut], parent: &Front<G>) -> Result<Vec<Arc<Front<G>>>, StopReason> {
        let sides: Vec<&Subset> = cuts.iter().flat_map(|cut| [&cut.left, &cut.right]).collect();
        let mut fronts: Vec<Option<Arc<Front<G>>>> =
            sides.iter().map(|set| self.memo.get(set, Task::LEAF)).collect();
        let warm: Vec<u32> = parent.entries.iter().map(|entry| entry.left).collect();
        // Left sides together, then right sides: neighbouring edges of a feature make leaves that are alike.
        let mut wanted: Vec<usize> = (0..sides.len()).filter(|&at| fronts[at].is_none()).collect();
        wanted.sort_by_key(|at| at % 2);
        let requests: Vec<Request<'_>> =
            wanted.iter().map(|&at| Request { set: sides[at], warm: &warm }).collect();
        for (&at, front) in wanted.iter().zip(self.leaves.fronts(&requests, &self.stop)?) {
            let front = Arc::new(front);
            self.memo.insert(sides[at], Task::LEAF, &front);
            fronts[at] = Some(front);
        }
        Ok(fronts.into_iter().flatten().collect())
    }
}

/// The front over cost and the loss of all groups together.
fn projection<const G: usize>(front: &Front<G>) -> Vec<Point> {
    let loss = |losses: &[u32; G]| losses.iter().map(|&loss| u64::from(loss)).sum();
    let points =
        front.entries.iter().map(|entry| Point { cost: entry.totals.cost, loss: loss(&entry.totals.losses) });
    non_dominated(points.collect())
}
