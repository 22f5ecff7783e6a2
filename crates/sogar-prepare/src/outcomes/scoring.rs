//! Outcomes by scoring edited rows, for models whose structure is not known.
//!
//! Each distinct row is scored once ([`inputs`]), in batches of the size and concurrency that the model allows. Before that,
//! [`count`] counts the distinct rows, so that a model that takes a second for each of a million rows can be refused before the
//! first call.

mod block;
mod fingerprints;
mod inputs;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use rayon::prelude::*;
use sogar_solver::{BitTable, Stop};

use super::{OutcomeQuery, Outcomes, Watch};
use crate::model::Rows;
use crate::population::is_desired;
use sogar_base::error::{Error, ErrorKind, Result};

pub(super) use block::score;

use fingerprints::{AnswerCache, AsItIs, Distinct};
use inputs::Inputs;

/// Limit of pairs of a row and an action that wait for an answer.
const MOST_WAITING: usize = 1 << 22;
/// Rows that one task counts.
const ROWS_PER_TASK: usize = 16;

/// How many rows a model would have to score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scorings {
    /// Distinct edited rows, as the model sees them.
    pub distinct: u64,
    /// Whether `distinct` is exact; otherwise it is an estimate from a sample, with a standard error of 0.2 %.
    pub exact: bool,
    /// Pairs of a row and an action.
    pub pairs: u64,
}

impl Scorings {
    /// The same rows, scored by this many models.
    #[must_use]
    pub fn times(self, models: u64) -> Scorings {
        let Scorings { distinct, exact, pairs } = self;
        Scorings { distinct: distinct.saturating_mul(models), exact, pairs: pairs.saturating_mul(models) }
    }
}

/// Counts the distinct edited rows; `None` if stopped.
pub fn count(query: &OutcomeQuery<'_>, stop: &Stop) -> Option<Scorings> {
    let inputs = Inputs::new(query);
    let counted = query
        .rows
        .par_chunks(ROWS_PER_TASK)
        .fold(Distinct::default, |mut distinct, rows| {
            for &row in rows.iter().take_while(|_| stop.check().is_ok()) {
                let row = inputs.of_row(row);
                for action in 1..query.actions.len() {
                    distinct.insert(inputs.fingerprint(&row, action));
                }
            }
            distinct
        })
        .reduce(Distinct::default, Distinct::merge);
    let (distinct, exact) = counted.count();
    let pairs = query.rows.len() as u64 * (query.actions.len() as u64).saturating_sub(1);
    stop.check().is_ok().then_some(Scorings { distinct: distinct.min(pairs), exact, pairs })
}

/// Scores all rows and actions. `memory` is for caching answers, in bytes.
pub(super) fn score_all(
    query: &OutcomeQuery<'_>,
    watch: &Watch<'_>,
    memory: u64,
) -> Result<Option<Outcomes>> {
    let inputs = Inputs::new(query);
    let mut queue = ScoringQueue::new(&inputs, query, memory);
    for (position, &row) in query.rows.iter().enumerate() {
        let row = inputs.of_row(row);
        for action in 1..query.actions.len() {
            queue.add(position, action, inputs.fingerprint(&row, action));
            if queue.is_full() {
                if watch.stop.check().is_err() {
                    return Ok(None);
                }
                if !queue.ask_unless_stopped(watch)? {
                    return Ok(None);
                }
                (watch.progress)(position, query.rows.len());
            }
        }
    }
    if watch.stop.check().is_err() || !queue.ask_unless_stopped(watch)? {
        return Ok(None);
    }
    (watch.progress)(query.rows.len(), query.rows.len());
    let method = "every different edited row scored by the model";
    Ok(Some(Outcomes { flips: queue.flips, method, settled: 0, kept: None }))
}

/// Queries that wait for a full batch, and the answers so far.
struct ScoringQueue<'a> {
    inputs: &'a Inputs<'a>,
    query: &'a OutcomeQuery<'a>,
    flips: BitTable,
    known: AnswerCache,
    /// Queries by position of the row and action, with their fingerprints and, by fingerprint, their positions.
    questions: Vec<(u32, u32)>,
    fingerprints: Vec<u128>,
    position: HashMap<u64, u32, BuildHasherDefault<AsItIs>>,
    /// Pairs of row and action that wait for the answer to a query.
    waiting: Vec<(u32, u32, u32)>,
    batch: usize,
    /// Queries in all calls that may run at the same time.
    full: usize,
}

impl<'a> ScoringQueue<'a> {
    fn new(inputs: &'a Inputs<'a>, query: &'a OutcomeQuery<'a>, memory: u64) -> ScoringQueue<'a> {
        let batching = query.predictor.batching();
        // A few calls per thread, so that none is idle for long.
        let calls = batching.at_once.clamp(1, 4 * rayon::current_num_threads().max(1));
        let batch = batching.rows.clamp(1, MOST_WAITING);
        ScoringQueue {
            inputs,
            query,
            flips: BitTable::new(query.actions.len(), query.rows.len()),
            known: AnswerCache::new(memory),
            questions: Vec::new(),
            fingerprints: Vec::new(),
            position: HashMap::default(),
            waiting: Vec::new(),
            batch,
            full: batch.saturating_mul(calls).min(MOST_WAITING),
        }
    }

    fn is_full(&self) -> bool {
        self.questions.len() >= self.full || self.waiting.len() >= MOST_WAITING
    }

    fn set(&mut self, action: usize, position: usize) {
        self.flips.set_mut(action)[position / 64] |= 1 << (position % 64);
    }

    /// Adds the query for a row and an action, unless its answer is known.
    fn add(&mut self, position: usize, action: usize, fingerprint: u128) {
        if let Some(answer) = self.known.get(fingerprint) {
            if answer {
                self.set(action, position);
            }
            return;
        }
        let next = self.questions.len() as u32;
        let (row, action) = (position as u32, action as u32);
        let mut asked = *self.position.entry(fingerprint as u64).or_insert(next);
        if asked != next && self.fingerprints[asked as usize] != fingerprint {
            asked = next; // another query with the same first half: both are scored
        }
        if asked == next {
            self.questions.push((row, action));
            self.fingerprints.push(fingerprint);
        }
        self.waiting.push((row, action, asked));
    }

    /// Scores all waiting queries. `false` if the run was stopped meanwhile, and a model's command with it.
    fn ask_unless_stopped(&mut self, watch: &Watch<'_>) -> Result<bool> {
        match self.ask() {
            Err(_) if watch.stop.check().is_err() => Ok(false),
            asked => asked.map(|()| true),
        }
    }

    /// Scores all waiting queries.
    fn ask(&mut self) -> Result<()> {
        let (inputs, query) = (self.inputs, self.query);
        let columns = query.encoder.columns.len();
        let answers: Vec<Vec<bool>> = self
            .questions
            .par_chunks(self.batch)
            .map(|questions| {
                let mut block = Vec::with_capacity(questions.len() * columns);
                for &(row, action) in questions {
                    inputs.encode(query.rows[row as usize], action as usize, &mut block);
                }
                let predictions = query.predictor.predict(Rows { values: &block, columns })?;
                if predictions.len() != questions.len() {
                    let (got, want) = (predictions.len(), questions.len());
                    let message = format!("the model gave {got} predictions for {want} rows");
                    return Err(Error::new(ErrorKind::Model, message));
                }
                let desired = predictions.iter().map(|found| is_desired(query.desired, found.label));
                Ok(desired.collect())
            })
            .collect::<Result<_>>()?;
        let answers = answers.concat();
        for (row, action, asked) in std::mem::take(&mut self.waiting) {
            if answers[asked as usize] {
                self.set(action as usize, row as usize);
            }
        }
        for (&fingerprint, &answer) in self.fingerprints.iter().zip(&answers) {
            self.known.insert(fingerprint, answer);
        }
        self.questions.clear();
        self.fingerprints.clear();
        self.position.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
