//! The search: from a [`Prepared`] problem to its exact front.
//!
//! [`Search::solve`] gets outcomes (stored ones if there are any: [`checkpoint`], and a cache), searches with `sogar-solver` on
//! the CPU or a [`device`], verifies stored outcomes against the model, and describes the result. `sample.rs` searches on a
//! sample, `distributed.rs` shares a search among processes. [`export`] writes the problem for other solvers.

mod by_group;
pub mod checkpoint;
pub mod device;
mod distributed;
pub mod export;
mod outcome_source;
mod outcome_task;
mod result;
mod sample;
mod verify;

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::text::grouped;
use sogar_front::summary::{EvaluatedPoint, FrontFile, Status, certified_gap, means};
use sogar_prepare::limits::{LONG, PlaceOfFlips, Remaining, Size, is_long, memory_limit};
use sogar_prepare::outcomes::{OutcomeQuery, Watch};
use sogar_prepare::prepared::{Prepared, ProblemPopulation, Reporter, SolverProblem, seconds};
use sogar_solver::{CancelToken, Observer, Point, ProblemDims, Solver};

use crate::checkpoint::{Checkpoint, KeptCuts};
use crate::device::Compute;
pub use distributed::{Gathered, actions_in_use};
use outcome_source::costs_key;
pub use outcome_task::OutcomeTask;
use result::Describe;
pub use verify::DRAWS;

/// A prepared problem to search: `Search(&prepared).solve(…)`.
#[derive(Clone, Copy)]
pub struct Search<'a>(pub &'a Prepared);

impl Deref for Search<'_> {
    type Target = Prepared;

    fn deref(&self) -> &Prepared {
        self.0
    }
}

/// Forwards the solver's progress, with means instead of sums and the time that is left. Announces a long search as soon as its first seconds tell.
struct SearchObserver<'a> {
    reporter: &'a dyn Reporter,
    unit: u64,
    people: u64,
    prepared: &'a Prepared,
    remaining: Remaining,
    /// When the first leaf was known.
    start: OnceLock<Instant>,
    announced: AtomicBool,
    sides: Mutex<Sides>,
}

/// What was found and the bound that no summary beats, for a reporter that wants the gap between them.
#[derive(Default)]
struct Sides {
    found: Vec<[u64; 2]>,
    bound: Vec<[u64; 2]>,
}

impl<'a> SearchObserver<'a> {
    /// For a search that begins now, of so many people.
    fn new(prepared: &'a Prepared, reporter: &'a dyn Reporter, people: usize) -> SearchObserver<'a> {
        let guess = prepared.time_estimate().total();
        SearchObserver {
            reporter,
            unit: prepared.cost().unit(),
            people: people as u64,
            prepared,
            remaining: prepared.remaining(),
            start: OnceLock::new(),
            announced: AtomicBool::new(guess >= LONG),
            sides: Mutex::default(),
        }
    }

    fn tell_gap(&self, change: impl FnOnce(&mut Sides)) {
        if !self.wants_bound() {
            return;
        }
        let mut sides = self.sides.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut sides);
        if !sides.found.is_empty()
            && !sides.bound.is_empty()
            && let Some(gap) = certified_gap(&sides.found, &sides.bound, self.people)
        {
            self.reporter.gap(gap);
        }
    }
}

fn pairs(front: &[Point]) -> Vec<[u64; 2]> {
    front.iter().map(|point| [point.cost, point.loss]).collect()
}

impl Observer for SearchObserver<'_> {
    fn progress(&self, progress: sogar_solver::Progress) {
        let elapsed = self.start.get_or_init(Instant::now).elapsed().as_secs_f64();
        let left = self.remaining.seconds(&progress, elapsed);
        self.reporter.search(progress, left);
        if let Some(left) = left.filter(|&left| is_long(progress.depth, elapsed, left))
            && !self.announced.swap(true, Ordering::Relaxed)
        {
            let spelled = |name: &str| self.reporter.setting(name);
            self.reporter.announce(&self.prepared.long_search(left, progress.leaf_sets, spelled));
        }
    }

    fn wants_bound(&self) -> bool {
        // A bound for a sample is none for everybody.
        self.reporter.wants_gap() && self.prepared.sample().is_none()
    }

    fn bound(&self, front: &[Point]) {
        self.tell_gap(|sides| sides.bound = pairs(front));
    }

    fn improved(&self, front: &[Point]) {
        self.tell_gap(|sides| sides.found = pairs(front));
        let front: Vec<EvaluatedPoint> =
            front.iter().map(|point| means(point.cost, point.loss, self.unit, self.people)).collect();
        self.reporter.improved(&front);
    }
}

impl Search<'_> {
    /// Computes outcomes, searches, and describes the result.
    pub fn solve(&self, reporter: &dyn Reporter, cancel: &CancelToken) -> Result<FrontFile> {
        if self.config().fairness.goal()?.is_some() {
            return Err(Error::new(
                ErrorKind::Usage,
                "fairness.max_gap and fairness.minimax need the groups of people",
            )
            .help("leave them out here; `sogar solve` and `Sogar.fit` know them"));
        }
        if self.sample().is_some() {
            return self.with_plausibility(self.solve_on_sample(reporter, cancel)?);
        }
        let mut found = self.search(&self.everybody(), reporter, cancel)?;
        let solutions = std::mem::take(&mut found.outcome.front);
        let ids: Vec<u32> = (0..found.made.actions.len() as u32).collect();
        self.with_plausibility(self.file(&found, solutions, &ids, &mut Describe::default()))
    }

    /// A finished front that says how usual edited rows are, if the configuration asks for it.
    fn with_plausibility(&self, mut front: FrontFile) -> Result<FrontFile> {
        front.plausibility = self.with_threads(|| front.plausibility_among(self))?;
        Ok(front)
    }

    /// The problem of all affected people, with outcomes from the cache if it has them.
    pub fn problem(&self, reporter: &dyn Reporter, cancel: &CancelToken) -> Result<SolverProblem> {
        self.with_outcomes(&self.everybody(), None, None, reporter, cancel)
    }

    fn with_outcomes(
        &self,
        people: &ProblemPopulation,
        checkpoint: Option<&Checkpoint>,
        compute: Option<&Compute<'_>>,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<SolverProblem> {
        let find = |query: OutcomeQuery<'_>, watch: &Watch<'_>, place| match place {
            PlaceOfFlips::Memory => self.outcomes(query, watch, checkpoint, reporter, compute),
            PlaceOfFlips::File { rows_at_once } => {
                self.outcomes_in_file(query, rows_at_once, watch, checkpoint, reporter)
            }
        };
        self.problem_of(people, find, reporter, cancel)
    }

    /// A front that is only "no change" has a reason that people can do something about.
    fn warn_if_nothing_works(&self, made: &SolverProblem, reporter: &dyn Reporter) {
        if made.finished && !made.problem.flips_anyone() {
            reporter.warning(&format!(
                "none of {} actions changes anybody's outcome, so there is no advice; more edits in an action ({}, {}) may help",
                grouped(made.actions.len() - 1),
                reporter.setting("max_edits"),
                reporter.setting("actions"),
            ));
        }
    }

    /// A solver within the limits of the configuration.
    fn solver(&self, people: &ProblemPopulation, cancel: &CancelToken) -> Result<Solver> {
        let memory = memory_limit(&self.config().limits)?;
        let estimate = self.memory_estimate(Size { rows: people.rows.len(), ..self.size() });
        let memory = usize::try_from(estimate.left_for_search(memory)).unwrap_or(usize::MAX);
        Solver::builder()
            .threads(self.threads())
            .time_limit(seconds(self.config().limits.time_limit))
            .memory_limit(memory)
            .cancel(cancel.clone())
            .build()
            .map_err(|cause| Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}")))
    }

    /// Outcomes and search for some people.
    fn search(
        &self,
        people: &ProblemPopulation,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<Searched> {
        let memory = memory_limit(&self.config().limits)?;
        let compute = Compute::new(self.device()?, reporter, self.threads(), memory);
        let start = Instant::now();
        let checkpoint = self
            .checkpoint()
            .map(|settings| Checkpoint::open(settings, &self.run_key(people)))
            .transpose()?;
        let made = self.with_outcomes(people, checkpoint.as_ref(), Some(&compute), reporter, cancel)?;
        let seconds_outcomes = start.elapsed().as_secs_f64();
        self.warn_if_nothing_works(&made, reporter);
        let start = Instant::now();
        let solver = self.solver(people, cancel)?;
        let observer = SearchObserver::new(self.0, reporter, made.problem.size());
        let (outcome, cuts) = match &checkpoint {
            Some(checkpoint) if made.finished => {
                let dims = ProblemDims::of(&made.problem);
                let kept = KeptCuts::open(checkpoint, &costs_key(&made.problem), &dims, reporter)?;
                let outcome = compute.solve(&solver, &made.problem, &observer, &kept);
                kept.flush();
                (outcome, kept.earlier())
            }
            _ => (compute.solve(&solver, &made.problem, &observer, &()), None),
        };
        let status = match outcome.status {
            _ if !made.finished && !cancel.is_cancelled() => Status::TimeLimit,
            _ if !made.finished => Status::Cancelled,
            sogar_solver::SearchStatus::Complete => Status::Complete,
            sogar_solver::SearchStatus::TimeLimit => Status::TimeLimit,
            _ => Status::Cancelled,
        };
        let seconds_search = start.elapsed().as_secs_f64();
        let device = compute.label();
        let found = Searched { made, outcome, status, device, seconds_outcomes, seconds_search };
        self.verify_front(people, &found, cuts, reporter, cancel)?;
        Ok(found)
    }
}

/// A finished search.
struct Searched {
    made: SolverProblem,
    outcome: sogar_solver::Outcome,
    status: Status,
    /// The device that computed it.
    device: String,
    seconds_outcomes: f64,
    seconds_search: f64,
}

impl Searched {
    /// A bound that no summary of the searched people beats, if the search was stopped and outcomes were known.
    fn bound(&self) -> Option<Vec<[u64; 2]>> {
        (self.status.is_early() && self.made.finished).then(|| pairs(&self.outcome.bound))
    }
}
