//! Scores people as they would be after a change: the one way from feature values to outcomes.
//!
//! Large queries are cut into batches that are scored in parallel, if the model allows it; the answers do not depend on the cut.

use rayon::prelude::*;
use sogar::error::{Error, ErrorKind, Result};
use sogar::model::{Prediction, Rows};
use sogar::pipeline::Prepared;

/// Rows per call of the model.
const BATCH: usize = 1024;

/// Values of rows to collect for one query: 32 MB.
const VALUES_AT_ONCE: usize = 4 << 20;

/// People before and after a change, as rows of feature values.
#[derive(Debug, Clone, Default)]
pub struct Moved {
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Moved {
    /// Adds a person.
    pub fn push(&mut self, before: &[f64], after: &[f64]) {
        self.before.extend_from_slice(before);
        self.after.extend_from_slice(after);
    }

    /// All people, before and after; `width` values per row.
    pub fn pairs(&self, width: usize) -> impl Iterator<Item = (&[f64], &[f64])> {
        let width = width.max(1);
        self.before.chunks_exact(width).zip(self.after.chunks_exact(width))
    }

    /// Removes everyone, and keeps the memory.
    pub fn clear(&mut self) {
        self.before.clear();
        self.after.clear();
    }
}

/// The model of a run, on rows of feature values.
pub struct BlackBox<'a> {
    prepared: &'a Prepared,
}

impl<'a> BlackBox<'a> {
    /// The model of a run.
    pub fn new(prepared: &'a Prepared) -> BlackBox<'a> {
        BlackBox { prepared }
    }

    /// Number of features: the width of a row.
    pub fn width(&self) -> usize {
        self.prepared.table().features.len()
    }

    /// How many rows to collect for one query: what the model prefers, within the memory limit.
    pub fn rows_at_once(&self) -> usize {
        let batching = self.prepared.model().predictor.batching();
        let rows = if batching.at_once == usize::MAX { BATCH } else { batching.rows.max(1) };
        rows.min(VALUES_AT_ONCE / self.width().max(1)).max(1)
    }

    /// Runs `ask`, which calls the model, on groups of items: in parallel if the model is part of this process, one after the
    /// other if it requires that. Results are in the order of the groups.
    pub fn in_groups<T, R, F>(&self, items: &[T], size: usize, ask: F) -> Result<Vec<R>>
    where
        T: Sync,
        R: Send,
        F: Fn(&[T]) -> Result<R> + Send + Sync,
    {
        let size = size.max(1);
        if self.prepared.model().predictor.batching().at_once == usize::MAX {
            items.par_chunks(size).map(ask).collect()
        } else {
            items.chunks(size).map(ask).collect()
        }
    }

    /// Whether the model accepts these rows (`width` values each, one row after the other).
    pub fn desired(&self, rows: &[f64]) -> Result<Vec<bool>> {
        let classes = self.prepared.classes();
        Ok(self.predictions(rows)?.iter().map(|prediction| classes.is_desired(prediction)).collect())
    }

    /// Whether these changes lead to a desired outcome without breaking one of the run's rules.
    pub fn flips(&self, moved: &Moved) -> Result<Vec<bool>> {
        let mut flips = self.desired(&moved.after)?;
        if !self.prepared.rules().is_empty() {
            for (flips, (before, after)) in flips.iter_mut().zip(moved.pairs(self.width())) {
                *flips &= !self.prepared.rules().iter().any(|rule| rule.broken_by(before, after));
            }
        }
        Ok(flips)
    }

    /// The model's predictions for these rows.
    pub fn predictions(&self, rows: &[f64]) -> Result<Vec<Prediction>> {
        let width = self.width();
        let batching = self.prepared.model().predictor.batching();
        // A model in this process is fast: small batches keep all threads busy. Others set their own size.
        let own = batching.at_once == usize::MAX;
        let batch = if own { BATCH } else { batching.rows.max(1) };
        let wave = batch.saturating_mul(width).saturating_mul(batching.at_once).min(rows.len().max(1));
        let mut predictions = Vec::with_capacity(rows.len() / width.max(1));
        for wave in rows.chunks(wave) {
            let batches = wave.par_chunks(batch * width).map(|rows| self.batch(rows, width));
            predictions.extend(batches.collect::<Result<Vec<_>>>()?.into_iter().flatten());
        }
        Ok(predictions)
    }

    fn batch(&self, rows: &[f64], width: usize) -> Result<Vec<Prediction>> {
        let encoder = self.prepared.encoder();
        let count = rows.len() / width;
        let mut block = Vec::with_capacity(count * encoder.columns.len());
        rows.chunks_exact(width).for_each(|row| encoder.encode_row(row, &mut block));
        let asked = Rows { values: &block, columns: encoder.columns.len() };
        let predictions = self.prepared.model().predictor.predict(asked)?;
        if predictions.len() == count {
            return Ok(predictions);
        }
        let got = predictions.len();
        Err(Error::new(ErrorKind::Model, format!("the model gave {got} predictions for {count} rows")))
    }
}
