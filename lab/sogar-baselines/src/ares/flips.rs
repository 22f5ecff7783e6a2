//! Which affected rows each proposal flips.
//!
//! The engine computes the outcomes of all sets of edits at once for models that it can read (trees, networks). That is far
//! faster than scoring, unless too many of these sets are irrelevant here. Any other model scores the people to whom some rule
//! would propose the change. Both ways give the same answers.

use sogar::actions::{all_actions, count_actions};
use sogar::error::Result;
use sogar::outcomes::{OutcomeQuery, Watch, is_scored, outcomes};
use sogar::pipeline::Prepared;
use sogar_solver::Actions;
use sogar_solver::bits::{self, BitTable};
use sogar_solver::stop::{Stop, StopReason};

use super::changes::Changes;
use super::moves::Moves;
use crate::black_box::{BlackBox, Moved};

/// Approximate number of outcomes that the engine computes in the time in which a sum of trees scores one row; …
const PER_QUESTION_TO_TREES: u64 = 300;

/// … and a network.
const PER_QUESTION_TO_NETWORK: u64 = 50;

/// Limit of bits of outcomes in the engine: 256 MB.
const MOST_OUTCOMES: u64 = 1 << 31;

/// The outcomes of proposals.
pub(super) struct Flips {
    /// For each action the affected rows that it flips; only rows to which some rule proposes it count.
    pub table: BitTable,
    /// The actions `0..known` have outcomes; if stopped, the others do not.
    pub known: usize,
    pub stopped: Option<StopReason>,
}

/// Computes the outcomes, until stopped.
pub(super) fn flips(prepared: &Prepared, moves: &Moves, changes: &Changes, stop: &Stop) -> Result<Flips> {
    let longest = changes.actions.iter().last().map_or(0, <[u32]>::len) as u32;
    let rows = prepared.problem_rows().len() as u64;
    let all = u64::try_from(count_actions(&moves.edits, longest)).unwrap_or(u64::MAX).saturating_mul(rows);
    let predictor = &*prepared.model().predictor;
    let worth =
        if predictor.tree_ensemble().is_some() { PER_QUESTION_TO_TREES } else { PER_QUESTION_TO_NETWORK };
    let few = all <= MOST_OUTCOMES && all <= changes.questions().saturating_mul(worth);
    if !few || is_scored(predictor) {
        return asked(prepared, moves, changes, stop);
    }
    // With a deadline, small changes come first: they are known soon, and better than nothing.
    let first = if stop.deadline.is_some() { 1 } else { longest };
    let mut flips = computed(prepared, moves, changes, first.min(longest), stop)?;
    for longer in first + 1..=longest {
        let next = computed(prepared, moves, changes, longer, stop)?;
        if next.stopped.is_some() {
            flips.stopped = next.stopped;
            break;
        }
        flips = next;
    }
    Ok(flips)
}

/// By the engine, for all sets of at most `longest` edits at once.
pub(super) fn computed(
    prepared: &Prepared,
    moves: &Moves,
    changes: &Changes,
    longest: u32,
    stop: &Stop,
) -> Result<Flips> {
    let all = all_actions(&moves.edits, longest);
    let short = changes.actions.iter().take_while(|edits| edits.len() <= longest as usize);
    let query = OutcomeQuery {
        predictor: &*prepared.model().predictor,
        encoder: prepared.encoder(),
        desired: &prepared.classes().desired,
        table: prepared.table(),
        rows: prepared.problem_rows(),
        edits: &moves.edits,
        actions: &all,
        rules: prepared.rules(),
        required: None,
    };
    let found = outcomes(query, &Watch { progress: &|_, _| {}, stop })?;
    let mut table = BitTable::new(changes.actions.len(), prepared.problem_rows().len());
    let Some(found) = found else { return Ok(Flips { table, known: 0, stopped: stop.check().err() }) };
    let mut known = 0;
    for (action, edits) in short.enumerate() {
        if let Some(place) = position(&all, edits) {
            table.set_mut(action).copy_from_slice(found.flips.set(place));
        }
        known = action + 1;
    }
    Ok(Flips { table, known, stopped: None })
}

/// The position of a set of edits among all of them, sorted by length, then by their edits.
fn position(all: &Actions, edits: &[u32]) -> Option<usize> {
    let (mut low, mut high) = (0, all.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let other = all.get(middle);
        match other.len().cmp(&edits.len()).then_with(|| other.cmp(edits)) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// By scoring everyone to whom a change would be proposed.
pub(super) fn asked(prepared: &Prepared, moves: &Moves, changes: &Changes, stop: &Stop) -> Result<Flips> {
    let people: Vec<Vec<f64>> =
        prepared.problem_rows().iter().map(|&row| prepared.table().row(row)).collect();
    let mut flips =
        Flips { table: BitTable::new(changes.actions.len(), people.len()), known: 0, stopped: None };
    let mut questions = Questions::new(prepared);
    // Rows wait for their answers in `questions`; an action is known once its last answer arrives.
    for (action, edits) in changes.actions.iter().enumerate() {
        let targets: Vec<(usize, f64)> = edits.iter().map(|&edit| moves.target(edit)).collect();
        for row in ones(&changes.asked[action]) {
            questions.add(&people[row], &targets, (action, row));
            if questions.full() {
                if let Err(reason) = stop.check() {
                    flips.stopped = Some(reason);
                    return Ok(flips);
                }
                questions
                    .answer(|&(action, row)| flips.table.set_mut(action)[row / 64] |= 1 << (row % 64))?;
                flips.known = action;
            }
        }
    }
    if let Err(reason) = stop.check() {
        flips.stopped = Some(reason);
        return Ok(flips);
    }
    questions.answer(|&(action, row)| flips.table.set_mut(action)[row / 64] |= 1 << (row % 64))?;
    flips.known = changes.actions.len();
    Ok(flips)
}

/// The members of a set of rows.
pub(super) fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(number, &word)| bits::ones(word).map(move |bit| number * 64 + bit))
}

/// Changed rows that wait for a full batch.
pub(super) struct Questions<'a, K> {
    black_box: BlackBox<'a>,
    moved: Moved,
    keys: Vec<K>,
    after: Vec<f64>,
    enough: usize,
}

impl<'a, K> Questions<'a, K> {
    pub fn new(prepared: &'a Prepared) -> Self {
        let black_box = BlackBox::new(prepared);
        let own = prepared.model().predictor.batching().at_once == usize::MAX;
        // A model in this process is fast: several batches keep all threads busy.
        let enough = black_box.rows_at_once() * if own { 8 } else { 1 };
        Questions { black_box, moved: Moved::default(), keys: Vec::new(), after: Vec::new(), enough }
    }

    /// Adds a changed person. `key` identifies the answer.
    pub fn add(&mut self, before: &[f64], to: &[(usize, f64)], key: K) {
        self.after.clear();
        self.after.extend_from_slice(before);
        for &(feature, value) in to {
            self.after[feature] = value;
        }
        self.moved.push(before, &self.after);
        self.keys.push(key);
    }

    /// Whether the batch is full.
    pub fn full(&self) -> bool {
        self.keys.len() >= self.enough
    }

    /// Scores the waiting rows, and reports those with the desired outcome.
    pub fn answer(&mut self, mut flipped: impl FnMut(&K)) -> Result<()> {
        if self.keys.is_empty() {
            return Ok(());
        }
        let answers = self.black_box.flips(&self.moved)?;
        for (key, _) in self.keys.iter().zip(answers).filter(|(_, flips)| *flips) {
            flipped(key);
        }
        self.keys.clear();
        self.moved.clear();
        Ok(())
    }
}
