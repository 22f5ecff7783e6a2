//! The solver: settings, threads, and what a search gives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::bound::{cheapest_flips_unless, individual_bound_of};
use crate::front::{Point, Solution};
use crate::leaf::{
    BoxesOfActions, CompactRows, GroupedLeaves, LeafBackend, LeafEvaluation, LeafWork, PartsOfActions,
};
use crate::memo::Memo;
use crate::merge::merge;
use crate::problem::Problem;
use crate::search::Search;
use crate::simd::Kernel;
use crate::stop::{CancelToken, Observer, Stop, StopReason};
use crate::subproblems::Subproblems;

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchStatus {
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
    pub status: SearchStatus,
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
    /// Rows that nothing tells apart are one row that counts for all of them.
    pub merge: bool,
    /// Actions that an earlier one dominates on every row are left out, and (with [`Switches::compact_rows`]) those that one dominates on a side of a
    /// split, for the leaves on that side.
    pub reduce: bool,
    /// Groups of actions that can't matter on a set of rows are skipped.
    pub bounds: bool,
    /// The rows of a large set are brought together before its subsets are evaluated; what matters on the sides of splits is worked out.
    pub compact_rows: CompactRows,
    /// Actions are grouped by the features that they change and how far, instead of by pairs of edits (needs [`Switches::bounds`]).
    pub boxes: BoxesOfActions,
    /// Actions that flip no more of a leaf than without one of their edits are left out there, before their cost is summed (needs [`Switches::bounds`]).
    pub parts: PartsOfActions,
    /// Actions without structure are summed in tiles, all of them, instead of grouped in clusters.
    pub tiles: bool,
    /// Leaves start with their parent's front.
    pub warm_start: bool,
    /// Fronts of row sets are remembered.
    pub memo: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Switches {
            kernel: Kernel::best(),
            merge: true,
            reduce: true,
            bounds: true,
            compact_rows: CompactRows::WhereItPays,
            boxes: BoxesOfActions::WhereItPays,
            parts: PartsOfActions::WhereItPays,
            tiles: true,
            warm_start: true,
            memo: true,
        }
    }
}

/// Settings of a search.
#[derive(Debug, Clone)]
pub struct SolverBuilder {
    pub(crate) switches: Switches,
    threads: usize,
    pool: Option<Arc<rayon::ThreadPool>>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) memory_limit: usize,
    pub(crate) cancel: CancelToken,
}

/// A search with its threads.
#[derive(Debug)]
pub struct Solver {
    pub(crate) settings: SolverBuilder,
    pub(crate) pool: Arc<rayon::ThreadPool>,
}

impl Solver {
    /// Default settings: all cores, no time limit, no memory limit.
    pub fn builder() -> SolverBuilder {
        SolverBuilder {
            switches: Switches::default(),
            threads: 0,
            pool: None,
            time_limit: None,
            memory_limit: usize::MAX,
            cancel: CancelToken::new(),
        }
    }

    /// Finds the front.
    pub fn solve(&self, problem: &Problem, observer: &dyn Observer) -> Outcome {
        self.solve_with(problem, observer, None, &())
    }

    /// The same, with leaves evaluated elsewhere if there is a `backend`; `kept` has subproblems that were finished before,
    /// and receives those that are finished now.
    pub fn solve_with(
        &self,
        problem: &Problem,
        observer: &dyn Observer,
        backend: Option<&dyn LeafBackend>,
        kept: &dyn Subproblems,
    ) -> Outcome {
        let deadline = self.settings.time_limit.and_then(|limit| Instant::now().checked_add(limit));
        let stop = Stop { deadline, cancel: self.settings.cancel.clone() };
        self.pool.install(|| {
            let merged = if self.settings.switches.merge { merge(problem, &stop) } else { None };
            let problem = merged.as_ref().unwrap_or(problem);
            let leaves = GroupedLeaves::new(problem, self.settings.switches);
            match backend.map(|backend| backend.leaves(problem, &leaves)) {
                Some(elsewhere) => self.search(problem, &leaves, &*elsewhere, stop, observer, kept),
                None => self.search(problem, &leaves, &leaves, stop, observer, kept),
            }
        })
    }

    fn search(
        &self,
        problem: &Problem,
        grouped: &GroupedLeaves<'_>,
        leaves: &dyn LeafEvaluation,
        stop: Stop,
        observer: &dyn Observer,
        kept: &dyn Subproblems,
    ) -> Outcome {
        let Switches { warm_start, memo, .. } = self.settings.switches;
        let memo = Memo::new(problem, if memo { self.settings.memory_limit } else { 0 });
        let search = Search { problem, leaves, stop, memo, warm_start };
        // A run with a deadline may need a bound when its time is over, so that is made beside the search.
        let limited = search.stop.deadline.is_some() || observer.wants_bound();
        let over = AtomicBool::new(false);
        let give_up = || over.load(Ordering::Relaxed) || search.stop.check().is_err();
        let ((front, reason), cheapest) = rayon::join(
            || {
                let found = search.run(observer, kept);
                over.store(true, Ordering::Relaxed);
                found
            },
            || {
                let cheapest = limited.then(|| cheapest_flips_unless(problem, &give_up)).flatten()?;
                if observer.wants_bound() {
                    observer.bound(&individual_bound_of(problem, &cheapest));
                }
                Some(cheapest)
            },
        );
        let status = match reason {
            None => SearchStatus::Complete,
            Some(StopReason::TimeLimit) => SearchStatus::TimeLimit,
            Some(StopReason::Cancelled) => SearchStatus::Cancelled,
        };
        let bound = match status {
            SearchStatus::Complete => front.points(),
            _ => individual_bound_of(problem, &cheapest.unwrap_or_else(|| grouped.cheapest_at_least())),
        };
        let solutions = front.solutions();
        let stats = Stats {
            leaf_sets: search.memo.leaf_sets(),
            leaf_work: leaves.work(),
            memo_bytes: search.memo.bytes(),
        };
        search.memo.free_beside(front);
        Outcome { front: solutions, status, bound, stats }
    }
}

impl SolverBuilder {
    /// Number of threads; 0 takes all cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Searches in this pool instead of starting threads; [`SolverBuilder::threads`] has no effect then. With many small problems, starting threads for each
    /// takes longer than the searches. A search that is started inside the pool stays there.
    #[must_use]
    pub fn pool(mut self, pool: Arc<rayon::ThreadPool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Stops the search after this time.
    #[must_use]
    pub fn time_limit(mut self, limit: Option<Duration>) -> Self {
        self.time_limit = limit;
        self
    }

    /// Bytes that remembered fronts may take; beyond that the search drops cached fronts instead of failing.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Lets another thread end the search.
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

    /// Starts the threads, unless it was given a pool.
    pub fn build(self) -> Result<Solver, rayon::ThreadPoolBuildError> {
        let pool = match &self.pool {
            Some(pool) => Arc::clone(pool),
            None => Arc::new(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(self.threads)
                    .thread_name(|i| format!("sogar-search-{i}"))
                    .build()?,
            ),
        };
        Ok(Solver { settings: self, pool })
    }
}
