//! A run shared by several processes: what a process needs to take part, and how the parts become a result file.
//!
//! The leader of a run has a [`Prepared`](sogar_prepare::prepared::Prepared). The others build the same one from the same table,
//! model and configuration ([`Search::outcomes_identity`] proves it), compute outcomes of some rows
//! ([`Search::outcomes_of_block`]), and search on the [`ProblemSkeleton`](sogar_solver::ProblemSkeleton) with all outcomes. The
//! leader needs only the outcomes of the actions that the front uses. A sample is searched in the same way; then the others
//! compute these few actions on all people ([`Search::outcomes_on_everybody`]).

use std::ops::Range;

use sogar_solver::{
    Actions, BitTable, CancelToken, Limits, Outcome, Point, ProblemParts, ProblemSkeleton, Solution, Stats,
    Stop,
};

use super::result::Describe;
use super::sample::{Candidates, renamed, used};
use super::{Search, Searched};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::summary::{FrontFile, Status};
use sogar_prepare::actions::all_actions;
use sogar_prepare::cost::edit_costs;
use sogar_prepare::limits::{MemoryEstimate, Size, memory_limit};
use sogar_prepare::outcomes::{Outcomes, Watch, count_scorings, is_scored, outcomes};

/// Results from other processes.
pub struct Gathered {
    /// The front; actions are numbered among all actions.
    pub solutions: Vec<Solution>,
    /// Numbers of the actions whose flips are given, ascending ([`actions_in_use`]).
    pub ids: Vec<u32>,
    /// Whom each of them flips among all affected people; `None` if the run was stopped before all outcomes were known.
    pub flips: Option<BitTable>,
    /// Outcomes that the model itself had to settle.
    pub settled: u64,
    /// How the run ended.
    pub status: Status,
    /// A bound that no summary beats, if the run was stopped and the bound is known.
    pub bound: Option<Vec<Point>>,
    /// Seconds that outcomes took.
    pub seconds_outcomes: f64,
    /// Seconds that the search took.
    pub seconds_search: f64,
}

/// The numbers of the actions that trees use, with all their prefixes.
pub fn actions_in_use(solutions: &[Solution], all: &Actions) -> Vec<u32> {
    used(solutions, all).0
}

impl Search<'_> {
    /// A hash of everything that outcomes depend on.
    pub fn outcomes_identity(&self) -> String {
        self.outcomes_key(&self.searched_rows())
    }

    /// The search's problem without outcomes. Refuses a problem that exceeds the memory limit or the limit of scorings.
    pub fn skeleton(&self) -> Result<ProblemSkeleton> {
        let people = self.searched();
        let size = Size { rows: people.rows.len(), ..self.size() };
        // The other processes hold the flips.
        let estimate = MemoryEstimate { flips: 0, ..self.memory_estimate(size) };
        size.refuse_if_too_large(estimate, memory_limit(&self.config().limits)?)?;
        let actions = all_actions(self.edits(), self.limits().max_edits);
        if is_scored(&*self.model().predictor)
            && let Some(scorings) =
                count_scorings(&self.outcome_query(&people.rows, &actions), &Stop::default())
        {
            size.refuse_if_too_many(scorings, self.config().limits.max_scorings)?;
        }
        let edit_costs = edit_costs(self.cost(), self.edits(), self.table(), &people.rows)?;
        Ok(ProblemSkeleton::new(ProblemParts {
            rows: people.rows.len(),
            splits: people.splits,
            edit_costs,
            combine: self.cost().combine(),
            actions,
            flips: BitTable::new(0, 0),
            weights: self.weights(&people.rows),
            limits: Limits {
                max_depth: self.limits().max_depth,
                max_leaves: self.limits().max_leaves,
                min_leaf: people.min_leaf,
            },
        }))
    }

    /// The outcomes of all actions on the searched people at some positions; `None` if cancelled.
    pub fn outcomes_of_block(&self, block: Range<usize>, cancel: &CancelToken) -> Result<Option<Outcomes>> {
        let searched = self.searched_rows();
        let rows = searched.get(block).ok_or_else(no_such_rows)?;
        let actions = all_actions(self.edits(), self.limits().max_edits);
        self.with_threads(|| {
            let stop = Stop::from(cancel);
            outcomes(self.outcome_query(rows, &actions), &Watch { progress: &|_, _| (), stop: &stop })
        })
    }

    /// The outcomes of a few actions, by their numbers among all ([`actions_in_use`]), on the affected rows at some positions; `None` if
    /// cancelled.
    pub fn outcomes_on_everybody(
        &self,
        block: Range<usize>,
        ids: &[u32],
        cancel: &CancelToken,
    ) -> Result<Option<Outcomes>> {
        let rows = self.problem_rows().get(block).ok_or_else(no_such_rows)?;
        let all = all_actions(self.edits(), self.limits().max_edits);
        let few = chosen(&all, ids)?;
        self.with_threads(|| {
            let watch = Watch { progress: &|_, _| (), stop: &Stop::from(cancel) };
            self.outcomes_of_few(self.outcome_query(rows, &few), &all, ids, &watch)
        })
    }

    /// The result file from results of other processes.
    pub fn gathered(&self, found: Gathered) -> Result<FrontFile> {
        let Gathered { solutions, ids, flips, settled, status, bound, seconds_outcomes, seconds_search } =
            found;
        let all = all_actions(self.edits(), self.limits().max_edits);
        let known = flips.is_some();
        let method = "in blocks of rows, by other processes";
        let outcomes = flips.map(|flips| Outcomes { flips, settled, method, kept: None });
        let few = chosen(&all, &ids)?;
        let made =
            self.problem_over(&self.everybody(), few, |_, _| Ok(outcomes), &(), &CancelToken::new())?;
        let outcome = Outcome {
            front: Vec::new(),
            status: sogar_solver::SearchStatus::Complete,
            bound: bound.unwrap_or_default(),
            stats: Stats::default(),
        };
        let has_bound = !outcome.bound.is_empty();
        let searched =
            Searched { made, outcome, status, device: "cpu".to_owned(), seconds_outcomes, seconds_search };
        if !known {
            return self.with_plausibility(FrontFile { bound: None, ..self.nothing_known(searched) });
        }
        if self.sample().is_some() {
            let sample = self.searched();
            let bound = searched.bound().filter(|_| has_bound);
            return self.with_plausibility(self.on_everybody(
                Candidates { sample: &sample, found: solutions, ids: &ids, actions: all.len(), bound },
                searched,
            ));
        }
        let rename = |one: Solution| Solution { tree: renamed(&one.tree, &ids), ..one };
        let solutions = solutions.into_iter().map(rename).collect();
        let mut file = self.file(&searched, solutions, &ids, &mut Describe::default());
        file.counts.actions = all.len();
        file.bound = file.bound.filter(|_| has_bound);
        self.with_plausibility(file)
    }
}

/// Some of all actions, by their numbers.
pub(super) fn chosen(all: &Actions, ids: &[u32]) -> Result<Actions> {
    if ids.iter().any(|&id| id as usize >= all.len()) || !ids.is_sorted() {
        return Err(Error::new(ErrorKind::Usage, "there is no action of that number"));
    }
    Ok(ids.iter().map(|&id| all.get(id as usize)).collect())
}

pub(super) fn no_such_rows() -> Error {
    Error::new(ErrorKind::Usage, "there are no affected rows at these positions")
}
