//! The dynamic programme over subsets of rows.
//!
//! `T(S, d, m)` is the front of all trees of depth ≤ d with ≤ m leaves on the rows `S`:
//! the leaf's own front together with `T(left, d−1, m1) ⊕ T(right, d−1, m2)` for every split and every `m1 + m2 = m`
//! (SPEC §6). Different paths lead to the same `S`, so fronts are remembered by row set ([`crate::memo`]).
//!
//! The root is solved for depth 0, 1, 2, … in turn. Each finished depth is a valid front, so a search that is stopped has
//! something to give, and what it learned at one depth is remembered for the next.
//!
//! Results do not depend on threads: candidates are compared by a total order ([`crate::front`]), and only
//! whole, finished fronts enter the memo. A subproblem that was interrupted returns an error and leaves no trace.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::bits::{Kernel, RowSet, count_and};
use crate::bound::{cheapest_flips, individual_bound};
use crate::front::{Branch, Collector, Front, Point, Solution};
use crate::leaf::{GroupedLeaves, LeafContext, LeafEvaluation, LeafWork, leaf_front};
use crate::memo::{Memo, Task};
use crate::problem::{Limits, Problem};
use crate::stop::{CancelToken, Observer, Progress, Stop, StopReason};

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Every tree within the limits was taken into account.
    Complete,
    /// The time limit came first.
    TimeLimit,
    /// The search was cancelled.
    Cancelled,
}

/// Counters of a search; they may differ from run to run where the front does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Distinct leaf sets that were evaluated and remembered.
    pub leaf_sets: u64,
    /// What the leaf evaluation looked at.
    pub leaf_work: LeafWork,
    /// Bytes of remembered fronts.
    pub memo_bytes: usize,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The front: cost ascending, loss strictly descending. If the status is not `Complete`, every point is still
    /// attained by its tree and none dominates another.
    pub front: Vec<Solution>,
    /// Why the search ended.
    pub status: Status,
    /// No tree lies below this front; equal to the front's points when complete.
    pub bound: Vec<Point>,
    /// Counters.
    pub stats: Stats,
}

/// Parts of the search that can be switched off one by one. Each changes the speed, none the result: the tests
/// hold every combination against the exhaustive solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// The instruction set of the hot loops (a lesser one where the processor lacks it).
    pub kernel: Kernel,
    /// Leaves of small populations in planes.
    pub planes: bool,
    /// Leaves start with their parent's front.
    pub warm_start: bool,
    /// Fronts of row sets are remembered.
    pub memo: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Switches { kernel: Kernel::best(), planes: true, warm_start: true, memo: true }
    }
}

/// Settings of a search.
#[derive(Debug, Clone)]
pub struct SolverBuilder {
    switches: Switches,
    threads: usize,
    time_limit: Option<Duration>,
    memory_limit: usize,
    cancel: CancelToken,
}

/// A search with its own threads.
#[derive(Debug)]
pub struct Solver {
    settings: SolverBuilder,
    pool: rayon::ThreadPool,
}

impl Solver {
    /// Default settings: all cores, no time limit, no memory limit.
    pub fn builder() -> SolverBuilder {
        SolverBuilder {
            switches: Switches::default(),
            threads: 0,
            time_limit: None,
            memory_limit: usize::MAX,
            cancel: CancelToken::new(),
        }
    }

    /// Finds the front.
    pub fn solve(&self, problem: &Problem, observer: &dyn Observer) -> Outcome {
        let deadline = self.settings.time_limit.and_then(|limit| Instant::now().checked_add(limit));
        let stop = Stop { deadline, cancel: self.settings.cancel.clone() };
        self.pool.install(|| {
            let Switches { kernel, planes, .. } = self.settings.switches;
            let leaves = GroupedLeaves::new(problem, kernel, planes);
            self.solve_with(problem, &leaves, stop, observer)
        })
    }

    fn solve_with(
        &self,
        problem: &Problem,
        leaves: &dyn LeafEvaluation,
        stop: Stop,
        observer: &dyn Observer,
    ) -> Outcome {
        let Switches { warm_start, memo, .. } = self.settings.switches;
        let memo = Memo::new(if memo { self.settings.memory_limit } else { 0 });
        let search = Search { problem, leaves, stop, memo, warm_start };
        // A run with a deadline has its bound ready before the end: beside the search, or first if there is one thread.
        let limited = search.stop.deadline.is_some();
        let early = (limited && rayon::current_num_threads() == 1).then(|| cheapest_flips(problem));
        let ((front, reason), beside) = rayon::join(
            || search.run(observer),
            || (limited && early.is_none()).then(|| cheapest_flips(problem)),
        );
        let status = match reason {
            None => Status::Complete,
            Some(StopReason::TimeLimit) => Status::TimeLimit,
            Some(StopReason::Cancelled) => Status::Cancelled,
        };
        let front = front.solutions();
        let bound = match status {
            Status::Complete => front.iter().map(|s| Point { cost: s.cost, loss: s.loss }).collect(),
            _ => individual_bound(&early.or(beside).unwrap_or_else(|| cheapest_flips(problem))),
        };
        let stats = Stats {
            leaf_sets: search.memo.leaf_sets(),
            leaf_work: leaves.work(),
            memo_bytes: search.memo.bytes(),
        };
        Outcome { front, status, bound, stats }
    }
}

impl SolverBuilder {
    /// Number of threads; 0 takes all cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Stops the search after this time.
    #[must_use]
    pub fn time_limit(mut self, limit: Option<Duration>) -> Self {
        self.time_limit = limit;
        self
    }

    /// Bytes that remembered fronts may take; beyond that the search forgets instead of failing.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Lets somebody else end the search.
    #[must_use]
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }

    /// Switches parts of the search off, for tests and measurements.
    #[must_use]
    pub fn switches(mut self, switches: Switches) -> Self {
        self.switches = switches;
        self
    }

    /// Starts the threads.
    pub fn build(self) -> Result<Solver, rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .thread_name(|i| format!("sogar-search-{i}"))
            .build()?;
        Ok(Solver { settings: self, pool })
    }
}

/// One way to cut a row set in two.
struct Cut {
    split: u32,
    left: RowSet,
    right: RowSet,
    left_size: usize,
    right_size: usize,
}

struct Search<'a> {
    problem: &'a Problem,
    leaves: &'a dyn LeafEvaluation,
    stop: Stop,
    memo: Memo,
    warm_start: bool,
}

impl Search<'_> {
    /// The front of all rows, and why it may be partial.
    fn run(&self, observer: &dyn Observer) -> (Front, Option<StopReason>) {
        let limits = self.problem.limits;
        let all = RowSet::full(self.problem.rows);
        let size = self.problem.rows;
        // The root's own front is always computed, deadline or not: it is the least that a stopped search gives.
        let patient = Stop::default();
        let context = self.leaves.among(&all);
        let points = context.leaf_fronts(std::slice::from_ref(&all), &[], &patient).unwrap_or_default();
        let leaf = Arc::new(leaf_front(points.first().map_or(&[], Vec::as_slice)));
        self.memo.insert(&all, Task::LEAF, &leaf);
        let mut best = Arc::clone(&leaf);
        let last = task(limits, size, limits.max_depth, limits.max_leaves);
        for depth in 1..=last.depth {
            let this = task(limits, size, depth, limits.max_leaves);
            let total = AtomicUsize::new(0);
            let done = AtomicUsize::new(0);
            let report = |cuts: usize, finished: usize| {
                total.store(cuts, Ordering::Relaxed);
                let splits_done = done.fetch_add(finished, Ordering::Relaxed) + finished;
                observer.progress(Progress {
                    depth,
                    splits_done,
                    splits_total: cuts,
                    leaf_sets: self.memo.leaf_sets(),
                });
            };
            let (front, reason) = self.branch(&*context, &all, size, this, &leaf, &report);
            if reason.is_some() {
                return (best.union(&front), reason);
            }
            best = Arc::new(front);
        }
        (Arc::unwrap_or_clone(best), None)
    }

    /// `T(set, task)`.
    fn solve(
        &self,
        context: &dyn LeafContext,
        set: &RowSet,
        size: usize,
        task: Task,
        leaf: &Arc<Front>,
    ) -> Result<Arc<Front>, StopReason> {
        if task.depth == 0 {
            return Ok(Arc::clone(leaf));
        }
        if let Some(front) = self.memo.get(set, task) {
            return Ok(front);
        }
        // Two levels of leaves below this set are many.
        let own = if task.depth > 1 { context.narrow(set, usize::MAX) } else { None };
        let context = own.as_deref().unwrap_or(context);
        let (front, reason) = match task.depth {
            1 => (self.branch_once(context, set, size, leaf)?, None),
            _ => self.branch(context, set, size, task, leaf, &|_, _| ()),
        };
        if let Some(reason) = reason {
            return Err(reason);
        }
        let front = Arc::new(front);
        self.memo.insert(set, task, &front);
        Ok(front)
    }

    /// Depth 1: both children are leaves, so all their fronts are asked for at once.
    fn branch_once(
        &self,
        context: &dyn LeafContext,
        set: &RowSet,
        size: usize,
        leaf: &Arc<Front>,
    ) -> Result<Front, StopReason> {
        let cuts = self.cuts(set, size);
        let sets: Vec<&RowSet> = cuts.iter().flat_map(|cut| [&cut.left, &cut.right]).collect();
        let fronts = self.leaf_fronts(context, set, &sets, leaf)?;
        let mut collector = Collector::new(size);
        collector.add_leaf(leaf);
        let mut branches = Vec::with_capacity(cuts.len());
        for (key, (cut, pair)) in cuts.iter().zip(fronts.chunks_exact(2)).enumerate() {
            let (left, right) = (Arc::clone(&pair[0]), Arc::clone(&pair[1]));
            collector.add_split(key as u32, &left, &right);
            branches.push((key as u32, Branch { split: cut.split, left, right }));
        }
        Ok(collector.finish(&branches))
    }

    /// Depth 2 and more: the cuts side by side on all threads. If the search is stopped, the front is that of
    /// the cuts that were finished, with the reason; only the root has a use for that.
    fn branch(
        &self,
        context: &dyn LeafContext,
        set: &RowSet,
        size: usize,
        task: Task,
        leaf: &Arc<Front>,
        report: &(dyn Fn(usize, usize) + Sync),
    ) -> (Front, Option<StopReason>) {
        let cuts = self.cuts(set, size);
        report(cuts.len(), 0);
        let leaves = match self.leaves_of_cuts(context, set, &cuts, leaf) {
            Ok(leaves) => leaves,
            Err(reason) => return (Front::clone(leaf), Some(reason)),
        };
        let collected = Mutex::new(Collector::new(size));
        let lock = || collected.lock().unwrap_or_else(PoisonError::into_inner);
        lock().add_leaf(leaf);
        let results: Vec<Result<Vec<(u32, Branch)>, StopReason>> = cuts
            .par_iter()
            .zip(leaves.par_chunks_exact(2))
            .enumerate()
            .map(|(position, (cut, leaves))| {
                let branches = self.solve_cut(context, position, cut, task, [&leaves[0], &leaves[1]])?;
                let mut own = Collector::new(size);
                for (key, branch) in &branches {
                    own.add_split(*key, &branch.left, &branch.right);
                }
                lock().absorb(&own);
                report(cuts.len(), 1);
                Ok(branches)
            })
            .collect();
        let mut reason = None;
        let mut branches = Vec::new();
        for result in results {
            match result {
                Ok(more) => branches.extend(more),
                Err(why) => reason = Some(why),
            }
        }
        (lock().finish(&branches), reason)
    }

    /// The children's fronts of one cut, for every way to share the leaves between them. Keys ascend with the cut's
    /// position and then with the number of leaves on the left.
    fn solve_cut(
        &self,
        context: &dyn LeafContext,
        position: usize,
        cut: &Cut,
        task: Task,
        leaves: [&Arc<Front>; 2],
    ) -> Result<Vec<(u32, Branch)>, StopReason> {
        self.stop.check()?;
        let limits = self.problem.limits;
        let child = |size, max_leaves| self::task(limits, size, task.depth - 1, max_leaves);
        let most_left = child(cut.left_size, task.max_leaves - 1).max_leaves;
        let most_right = child(cut.right_size, task.max_leaves - 1).max_leaves;
        // Where both children can have all the leaves they have room for, one combination covers the others.
        let free = most_left + most_right <= task.max_leaves;
        let fewest_left = if free { most_left } else { task.max_leaves - most_right };
        let mut branches = Vec::new();
        for left_leaves in fewest_left..=most_left {
            let right_leaves = if free { most_right } else { task.max_leaves - left_leaves };
            let left =
                self.solve(context, &cut.left, cut.left_size, child(cut.left_size, left_leaves), leaves[0])?;
            let right = self.solve(
                context,
                &cut.right,
                cut.right_size,
                child(cut.right_size, right_leaves),
                leaves[1],
            )?;
            let key = position as u32 * task.max_leaves + left_leaves - 1;
            branches.push((key, Branch { split: cut.split, left, right }));
        }
        Ok(branches)
    }

    /// Leaf fronts of both children of every cut, in order, in a few large batches side by side.
    fn leaves_of_cuts(
        &self,
        context: &dyn LeafContext,
        set: &RowSet,
        cuts: &[Cut],
        leaf: &Front,
    ) -> Result<Vec<Arc<Front>>, StopReason> {
        let batch = cuts.len().div_ceil(rayon::current_num_threads()).max(16);
        let batches: Vec<Vec<Arc<Front>>> = cuts
            .par_chunks(batch)
            .map(|cuts| {
                let sets: Vec<&RowSet> = cuts.iter().flat_map(|cut| [&cut.left, &cut.right]).collect();
                self.leaf_fronts(context, set, &sets, leaf)
            })
            .collect::<Result<_, _>>()?;
        Ok(batches.concat())
    }

    /// Leaf fronts of some subsets of `parent`, remembered ones where there are.
    fn leaf_fronts(
        &self,
        context: &dyn LeafContext,
        parent: &RowSet,
        sets: &[&RowSet],
        leaf: &Front,
    ) -> Result<Vec<Arc<Front>>, StopReason> {
        let mut fronts: Vec<Option<Arc<Front>>> =
            sets.iter().map(|set| self.memo.get(set, Task::LEAF)).collect();
        let mut wanted: Vec<RowSet> = Vec::new();
        let mut positions: FxHashMap<&RowSet, usize> = FxHashMap::default();
        for (set, front) in sets.iter().zip(&fronts) {
            if front.is_none() && !positions.contains_key(set) {
                positions.insert(set, wanted.len());
                wanted.push((*set).clone());
            }
        }
        if !wanted.is_empty() {
            let own = context.narrow(parent, wanted.len());
            let context = own.as_deref().unwrap_or(context);
            let warm: Vec<u32> = match self.warm_start {
                true => leaf.entries.iter().map(|entry| entry.left).collect(),
                false => Vec::new(),
            };
            let fresh: Vec<Arc<Front>> = context
                .leaf_fronts(&wanted, &warm, &self.stop)?
                .iter()
                .map(|points| Arc::new(leaf_front(points)))
                .collect();
            for (set, front) in wanted.iter().zip(&fresh) {
                self.memo.insert(set, Task::LEAF, front);
            }
            for (set, front) in sets.iter().zip(&mut fronts) {
                if front.is_none() {
                    *front = positions.get(set).map(|&position| Arc::clone(&fresh[position]));
                }
            }
        }
        Ok(fronts.into_iter().flatten().collect())
    }

    /// Every way to cut `set` into two parts of at least `min_leaf` rows, each once: where several splits cut it alike,
    /// the first stands for them (the others give the same points and lose every tie).
    fn cuts(&self, set: &RowSet, size: usize) -> Vec<Cut> {
        let min_leaf = self.problem.limits.min_leaf as usize;
        let first = set.iter().next().unwrap_or(0);
        let mut cuts: Vec<Cut> = Vec::new();
        let mut seen: FxHashMap<RowSet, ()> = FxHashMap::default();
        for (split, rows) in self.problem.splits.iter().enumerate() {
            let left_size = count_and(set.words(), rows.words()) as usize;
            let right_size = size - left_size;
            if left_size < min_leaf || right_size < min_leaf {
                continue;
            }
            let (left, right) = (set.and(rows), set.and_not(rows));
            let side = if left.contains(first) { &left } else { &right };
            if seen.insert(side.clone(), ()).is_none() {
                cuts.push(Cut { split: split as u32, left, right, left_size, right_size });
            }
        }
        cuts
    }
}

/// What can really be asked of `size` rows: no more leaves than fit by size and depth, no more depth than the leaves
/// can use. Equal subproblems get equal tasks, so they are remembered once.
fn task(limits: Limits, size: usize, depth: u32, max_leaves: u32) -> Task {
    let by_depth = 1u32.checked_shl(depth).unwrap_or(u32::MAX);
    let by_size = u32::try_from(size / limits.min_leaf as usize).unwrap_or(u32::MAX);
    let max_leaves = max_leaves.min(by_depth).min(by_size).max(1);
    Task { depth: depth.min(max_leaves - 1), max_leaves }
}
