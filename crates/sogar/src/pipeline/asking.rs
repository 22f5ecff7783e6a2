//! Outcomes in a run: kept ones where there are any, else computed, with a refusal before a model is asked too much.

use sogar_solver::{Actions, BitTable, Problem};

use super::{People, Prepared, Reporter};
use crate::checkpoint::{Checkpoint, rows_at_once};
use crate::device::Compute;
use crate::error::Result;
use crate::files::sha256_hex;
use crate::model::Prediction;
use crate::outcomes::cache::{Cache, Found, KeyOf};
use crate::outcomes::mapped::table_in_file;
use crate::outcomes::{
    CellDevice, Outcomes, Question, Watch, by_scoring, count_scorings, is_scored, outcomes, outcomes_on,
};

/// Rows whose outcomes of all actions are held at a time, a multiple of 64.
const ROWS_AT_ONCE: usize = 1 << 14;

impl Prepared {
    /// The outcomes of all actions, from the cache where it has them; `None` if stopped.
    pub(super) fn outcomes(
        &self,
        question: Question<'_>,
        watch: &Watch<'_>,
        checkpoint: Option<&Checkpoint>,
        reporter: &dyn Reporter,
        compute: Option<&Compute<'_>>,
    ) -> Result<Option<Outcomes>> {
        let folder = self.outcomes_cache.as_ref();
        let cache = folder.map(|folder| (Cache::new(folder), self.outcomes_key(question.rows)));
        let (actions, rows) = (question.actions.len(), question.rows.len());
        if let Some((cache, key)) = &cache {
            match cache.load(key, actions, rows) {
                Found::Outcomes(found) => return Ok(Some(found)),
                Found::Nothing => {}
                Found::Unusable(why) => reporter.warning(&why),
            }
        }
        if is_scored(question.predictor) {
            let Some(scorings) = count_scorings(&question, watch.stop) else { return Ok(None) };
            self.size().refuse_if_too_many(scorings, self.config.limits.max_scorings)?;
            reporter.scorings(scorings);
        }
        let cells = compute.and_then(|compute| compute.cells(&question));
        let found = match checkpoint {
            Some(checkpoint) => outcomes_in_blocks(question, watch, checkpoint, reporter, cells.as_deref())?,
            None => outcomes_on(question, watch, cells.as_deref())?,
        };
        drop(cells);
        if let (Some((cache, key)), Some(found)) = (&cache, &found)
            && let Err(error) = cache.store(key, rows, found)
        {
            reporter.warning(&format!("the outcomes could not be kept for later runs: {error}"));
        }
        Ok(found)
    }

    /// The outcomes of all actions, found for some rows at a time and kept in a file; `None` if stopped.
    pub(super) fn outcomes_in_file(
        &self,
        question: Question<'_>,
        rows_at_once: usize,
        watch: &Watch<'_>,
    ) -> Result<Option<Outcomes>> {
        let rows = question.rows.len();
        if is_scored(question.predictor)
            && let Some(scorings) = count_scorings(&question, watch.stop)
        {
            self.size().refuse_if_too_many(scorings, self.config.limits.max_scorings)?;
        }
        let (mut settled, mut method) = (0, "");
        let mut flips = table_in_file(question.actions.len(), rows)?;
        for (block, part) in question.rows.chunks(rows_at_once).enumerate() {
            let start = block * rows_at_once;
            let progress = |done, _| (watch.progress)(start + done, rows);
            let watch = Watch { progress: &progress, stop: watch.stop };
            let Some(found) = outcomes(Question { rows: part, ..question }, &watch)? else { return Ok(None) };
            for action in 0..found.flips.sets() {
                let words = found.flips.set(action);
                flips.set_mut(action)[start / 64..start / 64 + words.len()].copy_from_slice(words);
            }
            settled += found.settled;
            method = found.method;
        }
        Ok(Some(Outcomes { flips, settled, method }))
    }

    /// The outcomes of few actions, those called `ids` among `all` of them, on many people; `None` if stopped. Sums of trees give
    /// all actions of a row for the price of a few, so these are found for some rows at a time, and the few are kept.
    pub(super) fn outcomes_of_few(
        &self,
        question: Question<'_>,
        all: &Actions,
        ids: &[u32],
        watch: &Watch<'_>,
    ) -> Result<Option<Outcomes>> {
        if question.predictor.tree_ensemble().is_none() {
            if let Some(scorings) = count_scorings(&question, watch.stop) {
                self.size().refuse_if_too_many(scorings, self.config.limits.max_scorings)?;
            }
            return by_scoring(question, watch);
        }
        let rows = question.rows.len();
        let (mut flips, mut settled, mut method) = (BitTable::new(ids.len(), rows), 0, "");
        for (block, part) in question.rows.chunks(ROWS_AT_ONCE).enumerate() {
            let start = block * ROWS_AT_ONCE;
            let progress = |done, _| (watch.progress)(start + done, rows);
            let watch = Watch { progress: &progress, stop: watch.stop };
            let question = Question { rows: part, actions: all, ..question };
            let Some(found) = outcomes(question, &watch)? else { return Ok(None) };
            for (position, &id) in ids.iter().enumerate() {
                let words = found.flips.set(id as usize);
                flips.set_mut(position)[start / 64..start / 64 + words.len()].copy_from_slice(words);
            }
            settled += found.settled;
            method = found.method;
        }
        Ok(Some(Outcomes { flips, settled, method }))
    }

    /// Everything that a run depends on but the costs, which may come from a function.
    pub(super) fn run_key(&self, people: &People) -> String {
        let mut key = KeyOf::new()
            .and("outcomes", self.outcomes_key(&people.rows))
            .and("configuration", serde_json::to_vec(&self.recorded_config()).unwrap_or_default())
            .and("limits", format!("{:?}", self.limits))
            .and("min leaf", people.min_leaf.to_string());
        for split in &people.splits {
            key = key.and_words("split", split.words());
        }
        key.key()
    }

    /// Everything that outcomes depend on, as it stands after all settings were applied.
    pub(super) fn outcomes_key(&self, rows: &[usize]) -> String {
        let info = self.model.predictor.info();
        let affected: Vec<u8> = rows.iter().flat_map(|row| (*row as u64).to_le_bytes()).collect();
        let mut key = KeyOf::new()
            .and("table", &self.table_hash)
            .and("model", &self.model.hash)
            .and("model info", format!("{info:?}"))
            .and("predictions", &self.predictions_hash)
            .and("features", format!("{:?}", self.table.features))
            .and("encoder", format!("{:?}", self.encoder))
            .and("affected", affected)
            .and("desired", format!("{:?}", self.classes.desired))
            .and("edits", format!("{:?}", self.edits))
            .and("max edits", self.limits.max_edits.to_string())
            .and("rules", format!("{:?}", self.rules));
        for values in &self.table.values {
            key = key.and_numbers("values", values);
        }
        key.key()
    }
}

/// The outcomes block of rows by block of rows, each taken from the checkpoint or kept there; `None` if stopped.
fn outcomes_in_blocks(
    question: Question<'_>,
    watch: &Watch<'_>,
    checkpoint: &Checkpoint,
    reporter: &dyn Reporter,
    device: Option<&dyn CellDevice>,
) -> Result<Option<Outcomes>> {
    let (actions, rows) = (question.actions.len(), question.rows.len());
    let (mut flips, mut settled, mut method) = (BitTable::new(actions, rows), 0, "");
    let at_once = rows_at_once(rows);
    for (block, part) in question.rows.chunks(at_once).enumerate() {
        let start = block * at_once;
        let found = match checkpoint.outcomes(block, actions, part.len())? {
            Some(found) => found,
            None => {
                let progress = |done, _| (watch.progress)(start + done, rows);
                let watch = Watch { progress: &progress, stop: watch.stop };
                let Some(found) = outcomes_on(Question { rows: part, ..question }, &watch, device)? else {
                    return Ok(None);
                };
                checkpoint.keep_outcomes(block, part.len(), &found, reporter);
                found
            }
        };
        for action in 0..actions {
            let words = found.flips.set(action);
            flips.set_mut(action)[start / 64..start / 64 + words.len()].copy_from_slice(words);
        }
        settled += found.settled;
        method = found.method;
    }
    Ok(Some(Outcomes { flips, settled, method }))
}

/// A hash of what each edit costs each row, how edits combine, and how often rows count.
pub(super) fn costs_key(problem: &Problem) -> String {
    let mut key = KeyOf::new().and("combine", format!("{:?}", problem.combine()));
    for edit in 0..problem.edits() {
        let bytes: Vec<u8> = problem.edit_cost(edit).iter().flat_map(|cost| cost.to_le_bytes()).collect();
        key = key.and("costs", bytes);
    }
    let weights: Vec<u64> = (0..problem.rows()).map(|row| u64::from(problem.weight(row))).collect();
    key.and_words("weights", &weights).key()
}

/// A hash of labels and of scores to six digits, since the last ones may differ from machine to machine.
pub(super) fn hash_of_predictions(predictions: &[Prediction]) -> String {
    let mut text = String::new();
    for prediction in predictions {
        text += &format!("{} {:.5e}\n", prediction.label, prediction.score);
    }
    sha256_hex(text.as_bytes())
}
