//! Outcomes in a run: stored ones if there are any, otherwise computed. Refuses too many scorings before it starts.

use std::time::Instant;

use sogar_solver::{Actions, BitTable, Problem};

use super::Search;
use crate::checkpoint::{Checkpoint, rows_at_once};
use crate::device::Compute;
use sogar_base::error::Result;
use sogar_prepare::limits::Size;
use sogar_prepare::outcomes::blocks::in_blocks;
use sogar_prepare::outcomes::cache::{Cache, KeyOf};
use sogar_prepare::outcomes::mapped::table_in_file;
use sogar_prepare::outcomes::memory::{Asked, OutcomeMemory, Recalled, Reuse};
use sogar_prepare::outcomes::{
    OutcomeQuery, Outcomes, Watch, by_scoring, count_scorings, is_scored, outcomes, outcomes_on,
};
use sogar_prepare::prepared::{ProblemPopulation, Reporter};

/// Rows whose outcomes of all actions are in memory at a time, a multiple of 64.
const ROWS_AT_ONCE: usize = 1 << 14;

impl Search<'_> {
    /// The outcomes of all actions, from an earlier run of this process, from the cache, or computed; `None` if stopped.
    pub(super) fn outcomes(
        &self,
        query: OutcomeQuery<'_>,
        watch: &Watch<'_>,
        checkpoint: Option<&Checkpoint>,
        reporter: &dyn Reporter,
        compute: Option<&Compute<'_>>,
    ) -> Result<Option<Outcomes>> {
        let find = || self.stored_or_computed(query, watch, checkpoint, reporter, compute);
        match self.outcome_memory() {
            Some(memory) => self.remembered(memory, query, watch, reporter, find),
            None => find(),
        }
    }

    /// Outcomes that the memory has; only those that it lacks are computed, which for trees and networks are all.
    fn remembered(
        &self,
        memory: &OutcomeMemory,
        query: OutcomeQuery<'_>,
        watch: &Watch<'_>,
        reporter: &dyn Reporter,
        find: impl FnOnce() -> Result<Option<Outcomes>>,
    ) -> Result<Option<Outcomes>> {
        let places: Vec<usize> = query.rows.iter().map(|&row| self.place(row)).collect();
        let key = self.memory_key(query.rows);
        let asked = Asked { key: &key, places: &places, edits: query.edits, actions: query.actions };
        let actions = query.actions.len();
        let recalled = memory.recall(&asked);
        let usable = |recalled: &Recalled| recalled.missing.is_empty() || is_scored(query.predictor);
        let Some(mut recalled) = recalled.filter(usable) else {
            memory.note(Reuse { known: 0, actions, seconds_saved: 0.0 });
            let start = Instant::now();
            let found = find()?;
            if let Some(found) = &found {
                memory.keep(&asked, found, start.elapsed().as_secs_f64());
            }
            return Ok(found);
        };
        let known = actions - recalled.missing.len();
        memory.note(Reuse { known, actions, seconds_saved: recalled.seconds });
        let mut settled = 0;
        if !recalled.missing.is_empty() {
            let start = Instant::now();
            let few: Actions = recalled.missing.iter().map(|&action| query.actions.get(action)).collect();
            let query = OutcomeQuery { actions: &few, ..query };
            self.refuse_scorings(&query, watch, reporter)?;
            let Some(found) = by_scoring(query, watch)? else { return Ok(None) };
            for (few, &action) in recalled.missing.iter().enumerate() {
                recalled.flips.set_mut(action).copy_from_slice(found.flips.set(few));
            }
            settled = found.settled;
            let all = Outcomes { flips: recalled.flips, method: found.method, settled, kept: None };
            memory.keep(&asked, &all, recalled.seconds + start.elapsed().as_secs_f64());
            recalled.flips = all.flips;
        }
        (watch.progress)(query.rows.len(), query.rows.len());
        let method = "known from an earlier run of this session";
        Ok(Some(Outcomes { flips: recalled.flips, method, settled, kept: None }))
    }

    fn stored_or_computed(
        &self,
        query: OutcomeQuery<'_>,
        watch: &Watch<'_>,
        checkpoint: Option<&Checkpoint>,
        reporter: &dyn Reporter,
        compute: Option<&Compute<'_>>,
    ) -> Result<Option<Outcomes>> {
        let cache = self.outcomes_cache().map(|folder| (Cache::new(folder), self.outcomes_key(query.rows)));
        let (actions, rows) = (query.actions.len(), query.rows.len());
        if let Some((cache, key)) = &cache {
            match cache.load(key, actions, rows) {
                Ok(Some(mut found)) => {
                    return Ok(self.verify_drawn(&query, &mut found, watch, reporter)?.then_some(found));
                }
                Ok(None) => {}
                Err(error) => reporter.warning(&format!("{error}; the outcomes are computed anew")),
            }
        }
        if query.scored_models() > 0 {
            let Some(scorings) = count_scorings(&query, watch.stop) else { return Ok(None) };
            let scorings = scorings.times(query.scored_models());
            self.size().refuse_if_too_many(scorings, self.config().limits.max_scorings)?;
            reporter.scorings(scorings);
        }
        let cells = compute.and_then(|compute| compute.cells(&query));
        let find = |query: OutcomeQuery<'_>, watch: &Watch<'_>| outcomes_on(query, watch, cells.as_deref());
        let mut found = match checkpoint {
            Some(checkpoint) => {
                let kept = Some((checkpoint, reporter));
                let table = BitTable::new(actions, rows);
                in_blocks(query, rows_at_once(rows), watch, table, None, |block, query, watch| {
                    kept_or(kept, block, query, || find(query, watch))
                })?
            }
            None => find(query, watch)?,
        };
        drop(cells);
        if let Some(found) = &mut found
            && !self.verify_drawn(&query, found, watch, reporter)?
        {
            return Ok(None);
        }
        if let (Some((cache, key)), Some(found)) = (&cache, &found)
            && let Err(error) = cache.store(key, rows, found)
        {
            reporter.warning(&format!("the outcomes could not be kept for later runs: {error}"));
        }
        Ok(found)
    }

    /// The outcomes of all actions, computed for a block of rows at a time and stored in a file; `None` if stopped.
    pub(super) fn outcomes_in_file(
        &self,
        query: OutcomeQuery<'_>,
        blocks: usize,
        watch: &Watch<'_>,
        checkpoint: Option<&Checkpoint>,
        reporter: &dyn Reporter,
    ) -> Result<Option<Outcomes>> {
        if query.scored_models() > 0
            && let Some(scorings) = count_scorings(&query, watch.stop)
        {
            self.size().refuse_if_too_many(
                scorings.times(query.scored_models()),
                self.config().limits.max_scorings,
            )?;
        }
        let rows = query.rows.len();
        let table = table_in_file(query.actions.len(), rows)?;
        // Stored blocks must be the same in the next run, regardless of its memory.
        let at_once = if checkpoint.is_some() { rows_at_once(rows) } else { blocks };
        let kept = checkpoint.map(|checkpoint| (checkpoint, reporter));
        let found = in_blocks(query, at_once, watch, table, None, |block, query, watch| {
            kept_or(kept, block, query, || outcomes(query, watch))
        })?;
        let Some(mut found) = found else { return Ok(None) };
        Ok(self.verify_drawn(&query, &mut found, watch, reporter)?.then_some(found))
    }

    /// The outcomes of few actions, those called `ids` among `all` of them, on many people; `None` if stopped.
    pub(super) fn outcomes_of_few(
        &self,
        query: OutcomeQuery<'_>,
        all: &Actions,
        ids: &[u32],
        watch: &Watch<'_>,
    ) -> Result<Option<Outcomes>> {
        few_outcomes(query, all, ids, watch, &self.size(), self.config().limits.max_scorings)
    }

    /// Everything that a run depends on, except the costs, which may come from a function.
    pub(super) fn run_key(&self, people: &ProblemPopulation) -> String {
        let mut key = KeyOf::new()
            .and("outcomes", self.outcomes_key(&people.rows))
            .and("configuration", serde_json::to_vec(&self.config().recorded()).unwrap_or_default())
            .and("limits", format!("{:?}", self.limits()))
            .and("min leaf", people.min_leaf.to_string());
        for split in &people.splits {
            key = key.and_words("split", split.words());
        }
        key.key()
    }

    /// Everything that outcomes depend on, after all settings were applied.
    pub(super) fn outcomes_key(&self, rows: &[usize]) -> String {
        self.key_of_rows(rows)
            .and("edits", format!("{:?}", self.edits()))
            .and("max edits", self.limits().max_edits.to_string())
            .key()
    }

    /// The same for any actions on rows in any order.
    fn memory_key(&self, rows: &[usize]) -> String {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable_by_key(|&row| self.place(row));
        self.key_of_rows(&sorted).key()
    }

    /// Everything that the outcomes of rows depend on, except the actions.
    fn key_of_rows(&self, rows: &[usize]) -> KeyOf {
        let info = self.model().predictor.info();
        let affected: Vec<u8> = rows.iter().flat_map(|&row| (self.place(row) as u64).to_le_bytes()).collect();
        let mut key = KeyOf::new()
            .and("table", self.table_hash())
            .and("model", &self.model().hash)
            .and("model info", format!("{info:?}"))
            .and("predictions", self.predictions_hash())
            .and("features", format!("{:?}", self.table().features))
            .and("encoder", format!("{:?}", self.encoder()))
            .and("affected", affected)
            .and("desired", format!("{:?}", self.classes().desired))
            .and("rules", format!("{:?}", self.rules()));
        if let Some(required) = self.requirements() {
            key = key.and("agree", required.agree.to_string());
            if let Some(plausibility) = required.limiting_plausibility() {
                key = key
                    .and("plausibility", &plausibility.hash)
                    .and("floor", plausibility.floor.to_le_bytes());
            }
            for other in &required.others {
                key = key
                    .and("other model", &other.hash)
                    .and("other model info", format!("{:?}", other.predictor.info()))
                    .and("other encoder", format!("{:?}", other.encoder));
            }
        }
        for values in &self.table().values {
            let theirs: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
            key = key.and_numbers("values", &theirs);
        }
        key
    }
}

/// The outcomes of few actions, those called `ids` among `all` of them, on many people; `None` if stopped. Sums of trees give all actions
/// of a row for the price of a few, so these are found for some rows at a time, and the few are kept.
pub(super) fn few_outcomes(
    query: OutcomeQuery<'_>,
    all: &Actions,
    ids: &[u32],
    watch: &Watch<'_>,
    size: &Size<'_>,
    max_scorings: Option<u64>,
) -> Result<Option<Outcomes>> {
    if query.predictor.tree_ensemble().is_none() {
        if let Some(scorings) = count_scorings(&query, watch.stop) {
            size.refuse_if_too_many(scorings.times(query.scored_models().max(1)), max_scorings)?;
        }
        return by_scoring(query, watch);
    }
    let table = BitTable::new(ids.len(), query.rows.len());
    let query = OutcomeQuery { actions: all, ..query };
    in_blocks(query, ROWS_AT_ONCE, watch, table, Some(ids), |_, query, watch| outcomes(query, watch))
}

/// A block of outcomes from the checkpoint, or computed and stored there; only computed if there is no checkpoint.
fn kept_or(
    kept: Option<(&Checkpoint, &dyn Reporter)>,
    block: usize,
    query: OutcomeQuery<'_>,
    find: impl FnOnce() -> Result<Option<Outcomes>>,
) -> Result<Option<Outcomes>> {
    let Some((checkpoint, reporter)) = kept else { return find() };
    let (actions, rows) = (query.actions.len(), query.rows.len());
    if let Some(kept) = checkpoint.outcomes(block, actions, rows)? {
        return Ok(Some(kept));
    }
    let found = find()?;
    if let Some(found) = &found {
        checkpoint.keep_outcomes(block, rows, found, reporter);
    }
    Ok(found)
}

/// A hash of the cost of each edit on each row, of how edits combine, and of the weights.
pub(super) fn costs_key(problem: &Problem) -> String {
    let mut key = KeyOf::new().and("combine", format!("{:?}", problem.combine()));
    for edit in 0..problem.edits() {
        let bytes: Vec<u8> = problem.edit_cost(edit).iter().flat_map(|cost| cost.to_le_bytes()).collect();
        key = key.and("costs", bytes);
    }
    let weights: Vec<u64> = (0..problem.rows()).map(|row| u64::from(problem.weight(row))).collect();
    key.and_words("weights", &weights).key()
}
