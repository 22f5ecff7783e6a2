//! The problem to search: costs and outcomes of some people.

use std::time::{Duration, Instant};

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_solver::{Actions, CancelToken, Limits, Problem, ProblemParts, Stop};

use super::{Prepared, ProblemPopulation, Reporter};
use crate::actions::all_actions;
use crate::cost::edit_costs;
use crate::limits::{PlaceOfFlips, Size, amount, memory_limit};
use crate::outcomes::blocks::in_blocks;
use crate::outcomes::mapped::table_in_file;
use crate::outcomes::{OutcomeQuery, Outcomes, StoredOutcomes, Watch, count_scorings, outcomes};

/// A solver problem with what is needed to read its solution.
pub struct SolverProblem {
    /// The problem.
    pub problem: Problem,
    /// Its actions as lists of edits.
    pub actions: Actions,
    /// Outcomes that the model itself had to settle.
    pub settled: u64,
    /// How outcomes were computed.
    pub method: &'static str,
    /// Whether outcomes of all actions are known; if stopped, only the identity is left.
    pub finished: bool,
    /// Where outcomes come from, if an earlier run stored them.
    pub kept: Option<StoredOutcomes>,
}

impl Prepared {
    /// The problem of all affected people, with outcomes computed now. Refuses, before allocating, what would exceed the memory
    /// limit.
    pub fn problem(&self, reporter: &dyn Reporter, cancel: &CancelToken) -> Result<SolverProblem> {
        self.computed(&self.everybody(), reporter, cancel)
    }

    /// The same for the people to search.
    pub fn searched_problem(&self, reporter: &dyn Reporter, cancel: &CancelToken) -> Result<SolverProblem> {
        self.computed(&self.searched(), reporter, cancel)
    }

    fn computed(
        &self,
        people: &ProblemPopulation,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<SolverProblem> {
        let find = |query: OutcomeQuery<'_>, watch: &Watch<'_>, place| {
            self.refuse_scorings(&query, watch, reporter)?;
            match place {
                PlaceOfFlips::Memory => outcomes(query, watch),
                PlaceOfFlips::File { rows_at_once } => {
                    let table = table_in_file(query.actions.len(), query.rows.len())?;
                    in_blocks(query, rows_at_once, watch, table, None, |_, query, watch| {
                        outcomes(query, watch)
                    })
                }
            }
        };
        self.problem_of(people, find, reporter, cancel)
    }

    /// Refuses to score more rows than the user allows.
    pub fn refuse_scorings(
        &self,
        query: &OutcomeQuery<'_>,
        watch: &Watch<'_>,
        reporter: &dyn Reporter,
    ) -> Result<()> {
        if query.scored_models() > 0
            && let Some(scorings) = count_scorings(query, watch.stop)
        {
            let scorings = scorings.times(query.scored_models());
            self.size().refuse_if_too_many(scorings, self.config.limits.max_scorings)?;
            reporter.scorings(scorings);
        }
        Ok(())
    }

    /// The problem of some people and all actions, with outcomes from `find`, in memory or in a file.
    pub fn problem_of(
        &self,
        people: &ProblemPopulation,
        find: impl FnOnce(OutcomeQuery<'_>, &Watch<'_>, PlaceOfFlips) -> Result<Option<Outcomes>> + Send,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<SolverProblem> {
        let size = Size { rows: people.rows.len(), ..self.size() };
        let estimate = self.memory_estimate(size);
        let place = size.place_of_flips(estimate, memory_limit(&self.config.limits)?)?;
        if let PlaceOfFlips::File { .. } = place {
            reporter.warning(&format!(
                "whom each action flips takes {}, more than the memory limit leaves: it is kept in a temporary file, and the \
                 search is slower for it",
                amount(estimate.flips)
            ));
        }
        let actions = all_actions(&self.edits, self.limits.max_edits);
        self.problem_over(people, actions, |query, watch| find(query, watch, place), reporter, cancel)
    }

    /// The problem of some people and some actions, with outcomes from `find`.
    pub fn problem_over(
        &self,
        people: &ProblemPopulation,
        mut actions: Actions,
        find: impl FnOnce(OutcomeQuery<'_>, &Watch<'_>) -> Result<Option<Outcomes>> + Send,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<SolverProblem> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads()).build().map_err(|cause| {
            Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}"))
        })?;
        let query = OutcomeQuery {
            predictor: &*self.model.predictor,
            encoder: &self.encoder,
            desired: &self.classes.desired,
            table: &self.table,
            rows: &people.rows,
            edits: &self.edits,
            actions: &actions,
            rules: &self.rules,
            required: self.requirements(),
        };
        let progress = |done, all| reporter.outcomes(done, all);
        let limit = seconds(self.config.limits.outcomes_time_limit);
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let watch = Watch { progress: &progress, stop: &Stop { deadline, cancel: cancel.clone() } };
        let (costs, found) = pool.install(|| -> Result<_> {
            let costs = edit_costs(&self.cost, &self.edits, &self.table, &people.rows)?;
            Ok((costs, find(query, &watch)?))
        })?;
        let finished = found.is_some();
        let (flips, settled, method, kept) = match found {
            Some(found) => (found.flips, found.settled, found.method, found.kept),
            None => {
                // Stopped before the outcomes were known: only "no change" is certain.
                actions = Actions::default();
                actions.push(&[]);
                (sogar_solver::BitTable::new(1, people.rows.len()), 0, "stopped before they were known", None)
            }
        };
        let problem = Problem::new(ProblemParts {
            rows: people.rows.len(),
            splits: people.splits.clone(),
            edit_costs: costs,
            combine: self.cost.combine(),
            actions: actions.clone(),
            flips,
            weights: self.weights(&people.rows),
            limits: Limits {
                // If "no change" is the only action, there is no tree to search for.
                max_depth: if finished { self.limits.max_depth } else { 0 },
                max_leaves: if finished { self.limits.max_leaves } else { 1 },
                min_leaf: people.min_leaf,
            },
        })
        .map_err(|cause| Error::new(ErrorKind::Population, cause.to_string()))?;
        Ok(SolverProblem { problem, actions, settled, method, finished, kept })
    }

    /// Runs work with as many threads as configured.
    pub fn with_threads<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads()).build().map_err(|cause| {
            Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}"))
        })?;
        pool.install(work)
    }

    /// The query: whom do some actions flip among some rows?
    pub fn outcome_query<'a>(&'a self, rows: &'a [usize], actions: &'a Actions) -> OutcomeQuery<'a> {
        OutcomeQuery {
            predictor: &*self.model.predictor,
            encoder: &self.encoder,
            desired: &self.classes.desired,
            table: &self.table,
            rows,
            edits: &self.edits,
            actions,
            rules: &self.rules,
            required: self.requirements(),
        }
    }
}

/// A configured limit; one that no clock can measure is no limit.
pub fn seconds(limit: Option<f64>) -> Option<Duration> {
    limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}
