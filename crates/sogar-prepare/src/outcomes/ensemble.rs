//! Outcomes of a tree ensemble without re-scoring.
//!
//! Around a row `x`, the margin under a set of edits is a sum over the subsets `U` of the edited *units* of terms `g_U`
//! (inclusion–exclusion anchored at `x`): a model leaf with value `w` adds `w · Π_{j∈U}(in'_j − in_j) · Π_{j∉U} in_j` to `g_U`,
//! where `in_j` says whether `x` meets the leaf's conditions on unit `j`, and `in'_j` whether the edited value does. So one pass
//! over the leaves of the model fills a table of terms, indexed like the actions, and every action's margin then takes at most
//! 2^k additions, most of them from sequential memory.
//!
//! A *unit* is a set of features that no edit changes in part: a feature, or features tied by links. One-hot columns already are
//! one feature. Actions with two edits in one unit are scored instead of decomposed (only chains of links make them).
//!
//! **Error.** A margin is the sum of at most `K = 2^k · leaves + 1` numbers whose absolute values add up to at most
//! `A = 2^k · Σ|w| + |base|`, in double precision in some order; the same holds, with fewer terms, for the library's own sum. Each is within
//! `K·ε·A` of the true sum (ε = 2^-52, twice the unit round-off, covers the rounding of `w / divisor` and of higher order), so
//! the two differ by at most `2·K·ε·A`, plus what the library loses where it adds in single precision ([`rounding`]).
//! Outcomes whose margin is within that of the threshold are settled by the model itself.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use sogar_solver::{BitTable, Stop};

use super::decision::{Judge, Threshold};
use super::index::ActionIndex;
use super::kernel::{Kernel, transpose};
use super::leaves::Leaves;
use super::linked_features::{LinkedFeatures, linked_features};
use super::predicates::PredicateValues;
use super::value_intervals::ValueIntervals;
use super::walk::{LinkedWalk, PathUnit, Walk};
use super::{OutcomeQuery, Outcomes, Watch, plausible, rounding, scoring};
use crate::model::{Rows, TreeEnsemble};
use crate::plausibility::Plausibility;
use crate::population::is_desired;
use sogar_base::error::Result;

/// Everything about the model and the actions that does not depend on the row.
pub(super) struct Decomposition<'a> {
    query: &'a OutcomeQuery<'a>,
    judge: Judge,
    intervals: Vec<ValueIntervals>,
    outputs: usize,
    base: Vec<f64>,
    leaves: Leaves,
    linked: LinkedFeatures,
    index: ActionIndex,
    /// Whether a unit has edits of several features.
    tied: bool,
    /// Actions with two edits in one unit.
    scored: Vec<u32>,
    /// Largest possible difference between our margin and the library's.
    error: f64,
    most_edits: usize,
    kernel: Kernel,
    /// Set if the sum is a path length: what it is compared with depends on the row.
    plausibility: Option<&'a Plausibility>,
}

/// Bytes of outcomes that wait to be written.
const ROOM_FOR_WORDS: usize = 16 << 20;

/// What one thread needs for one row.
struct Scratch {
    interval_of: Vec<usize>,
    /// Per edit: the intervals of the features that it touches, after the edit.
    edited: Vec<Vec<(usize, usize)>>,
    /// `terms[output][action]`: g_U, then turned into margins.
    terms: Vec<Vec<f64>>,
    margins: Vec<Vec<f64>>,
    predicate_values: PredicateValues,
    path: Vec<PathUnit>,
    /// The edits of all path units, one after the other.
    turning: Vec<u32>,
    /// Outcomes of the row that is being computed, a bit per action.
    above: Vec<u64>,
    /// Outcomes of the rows of a block, one row after the other.
    by_row: Vec<u64>,
    close: Vec<u32>,
}

impl<'a> Decomposition<'a> {
    /// `None` if the decomposition does not apply (the caller then scores).
    pub fn new(ensemble: &TreeEnsemble, query: &'a OutcomeQuery<'a>) -> Option<Self> {
        let judge = Judge::new(ensemble, query.desired)?;
        let features = &query.table.features;
        let intervals = ValueIntervals::of_features(ensemble, query.encoder, features);
        let linked = linked_features(query);
        let most_edits = query.actions.iter().last().map_or(0, <[u32]>::len);
        let feature = |edit: u32| query.edits[edit as usize].feature;
        let unit_of_edit = |edit: u32| linked.of_feature[feature(edit)];
        let tied = linked.edits.iter().any(|own| own.iter().any(|&edit| feature(edit) != feature(own[0])));
        let scored = (1..query.actions.len() as u32)
            .filter(|&action| {
                let list = query.actions.get(action as usize);
                list.iter()
                    .enumerate()
                    .any(|(i, &a)| list[..i].iter().any(|&b| unit_of_edit(a) == unit_of_edit(b)))
            })
            .collect();
        let mut base: Vec<f64> = ensemble.base.iter().map(|base| base / ensemble.divisor).collect();
        let leaves = Leaves::of(ensemble, query.encoder, &intervals, &linked, &mut base);
        let subsets = 2f64.powi(most_edits as i32);
        let terms = subsets * leaves.list.len() as f64 + 8.0;
        let weight: f64 = leaves.list.iter().map(|leaf| leaf.value.abs()).sum();
        let largest_base = base.iter().fold(0.0f64, |largest, base| largest.max(base.abs()));
        let error =
            2.0 * terms * f64::EPSILON * (subsets * weight + largest_base) + rounding::of_library(ensemble);
        error.is_finite().then(|| Decomposition {
            judge,
            outputs: ensemble.outputs,
            base,
            leaves,
            linked,
            index: ActionIndex::new(query, most_edits),
            tied,
            scored,
            error,
            kernel: Kernel::best(),
            most_edits,
            intervals,
            query,
            plausibility: None,
        })
    }

    /// The same for path lengths of a forest: an outcome says whether the edited row is plausible enough. `None` if sums could be
    /// rounded, or the decomposition does not apply.
    pub fn of_path_lengths(
        trees: &TreeEnsemble,
        query: &'a OutcomeQuery<'a>,
        plausibility: &'a Plausibility,
    ) -> Option<Self> {
        let found = Decomposition::new(trees, query)?;
        let weight: f64 = found.leaves.list.iter().map(|leaf| leaf.value.abs()).sum();
        // Every sum on the way is a whole number of at most this size.
        (2f64.powi(found.most_edits as i32) * weight < 2f64.powi(53))
            .then_some(Decomposition { plausibility: Some(plausibility), ..found })
    }

    /// All outcomes, 64 rows to a word of every action's flip set.
    pub fn outcomes(&self, watch: &Watch<'_>) -> Result<Option<Outcomes>> {
        self.outcomes_of(self.query.rows, watch)
    }

    /// The same for some of the rows.
    pub fn outcomes_of(&self, rows: &[usize], watch: &Watch<'_>) -> Result<Option<Outcomes>> {
        let query = self.query;
        let mut flips = BitTable::new(query.actions.len(), rows.len());
        let mut settled = 0;
        let mut done = 0;
        let blocks: Vec<&[usize]> = rows.chunks(64).collect();
        let pool = Mutex::new(Vec::new());
        // Enough blocks at a time that threads seldom wait for each other, few enough for the memory of unwritten words.
        let bytes = 8 * query.actions.len();
        let at_once = (ROOM_FOR_WORDS / bytes).max(2 * rayon::current_num_threads());
        for (group, some) in blocks.chunks(at_once).enumerate() {
            let words: Vec<(Vec<u64>, u64)> = some
                .par_iter()
                .with_max_len(1)
                .map(|rows| self.block_with(&pool, rows, watch.stop))
                .collect::<Result<_>>()?;
            if watch.stop.check().is_err() {
                return Ok(None); // some blocks may be incomplete
            }
            let first = group * at_once;
            let per_set = flips.words_per_set();
            // 64 sets at a time: what is read and what is written stays in the cache.
            flips.words_mut().par_chunks_mut(64 * per_set).enumerate().for_each(|(part, sets)| {
                let count = sets.len() / per_set;
                for (block, (words, _)) in words.iter().enumerate() {
                    for (set, &word) in words[64 * part..64 * part + count].iter().enumerate() {
                        sets[set * per_set + first + block] = word;
                    }
                }
            });
            settled += words.iter().map(|(_, close)| close).sum::<u64>();
            done += some.iter().map(|rows| rows.len()).sum::<usize>();
            (watch.progress)(done, rows.len());
        }
        Ok(Some(Outcomes { flips, method: "tree ensemble, decomposed around each row", settled, kept: None }))
    }

    /// Like [`Self::block`], with scratch memory from the pool if there is some: allocating this much takes time.
    fn block_with(&self, pool: &Mutex<Vec<Scratch>>, rows: &[usize], stop: &Stop) -> Result<(Vec<u64>, u64)> {
        let room = || pool.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = room().pop();
        let mut scratch = idle.unwrap_or_else(|| self.scratch());
        let words = self.block(rows, &mut scratch, stop);
        room().push(scratch);
        words
    }

    /// Scratch memory for the rows of one thread.
    fn scratch(&self) -> Scratch {
        let actions = self.query.actions.len();
        let per_row = actions.div_ceil(64);
        Scratch {
            interval_of: Vec::new(),
            edited: vec![Vec::new(); self.query.edits.len()],
            terms: vec![vec![0.0; actions]; self.outputs],
            margins: vec![vec![0.0; actions]; self.outputs],
            predicate_values: PredicateValues::default(),
            path: Vec::new(),
            turning: Vec::new(),
            above: vec![0; per_row],
            by_row: vec![0; 64 * per_row],
            close: Vec::new(),
        }
    }

    /// One word per action for up to 64 rows, and how many outcomes the model had to settle. Meaningless once stopped.
    fn block(&self, rows: &[usize], scratch: &mut Scratch, stop: &Stop) -> Result<(Vec<u64>, u64)> {
        let query = self.query;
        let actions = query.actions.len();
        let per_row = actions.div_ceil(64);
        let mut settled = 0;
        for (position, &row) in rows.iter().enumerate().take_while(|_| stop.check().is_ok()) {
            let values = query.table.row(row);
            self.look_up_cells(&values, scratch);
            self.collect_terms(scratch);
            scratch.close.clear();
            let threshold = match self.plausibility {
                // The term of no edits is the row's own path length.
                Some(plausibility) => {
                    let beyond = plausibility.beyond(scratch.terms[0][0]);
                    Some(Threshold { low: beyond.next_up(), high: beyond, desired_above: true })
                }
                None => self.judge.threshold(self.error),
            };
            match threshold {
                Some(threshold) => self.compare_margins(threshold, scratch),
                None => self.judge_margins(scratch),
            }
            let flips = &mut scratch.by_row[position * per_row..(position + 1) * per_row];
            flips.copy_from_slice(&scratch.above);
            self.settle(&values, &scratch.close, flips)?;
            settled += scratch.close.len() as u64;
        }
        scratch.by_row[rows.len() * per_row..].fill(0);
        let by_row = &scratch.by_row;
        let mut words = vec![0u64; actions];
        for (block, words) in words.chunks_mut(64).enumerate() {
            let mut square: [u64; 64] = std::array::from_fn(|row| by_row[row * per_row + block]);
            transpose(&mut square);
            words.copy_from_slice(&square[..words.len()]);
        }
        words[0] = 0; // the identity flips nobody
        let scored = match self.plausibility {
            Some(plausibility) => plausible::measure(query, plausibility, rows, &self.scored)?,
            None => scoring::score(query, rows, &self.scored)?,
        };
        for (&action, word) in self.scored.iter().zip(scored) {
            words[action as usize] = word;
        }
        Ok((words, settled))
    }

    /// One output against a threshold: compares margins while summing them.
    fn compare_margins(&self, threshold: Threshold, scratch: &mut Scratch) {
        let Threshold { low, high, desired_above } = threshold;
        let (terms, margins) = (&scratch.terms[0], &mut scratch.margins[0]);
        let (above, close) = (&mut scratch.above, &mut scratch.close);
        above.fill(0);
        margins[0] = terms[0];
        for (action, children, runs) in self.index.blocks() {
            let (parent, first) = (margins[action], children.start);
            let margins = &mut margins[children.clone()];
            self.kernel.sum(parent, &terms[children], terms, runs, margins);
            if self.kernel.compare(margins, low, high, first, above) {
                let unsure = |margin: f64| !(margin > high || margin < low);
                close.extend((0..margins.len()).filter(|&i| unsure(margins[i])).map(|i| (first + i) as u32));
            }
        }
        if !desired_above {
            above.iter_mut().for_each(|word| *word = !*word);
        }
    }

    /// Several outputs: computes all margins, then judges each action.
    fn judge_margins(&self, scratch: &mut Scratch) {
        self.sum_margins(scratch);
        scratch.above.fill(0);
        for action in 1..self.query.actions.len() {
            match self.judge.judge(scratch.margins.iter().map(|margins| margins[action]), self.error) {
                Some(flips) => scratch.above[action / 64] |= u64::from(flips) << (action % 64),
                None => scratch.close.push(action as u32),
            }
        }
    }

    /// Has the model decide the outcomes that are too close to call.
    fn settle(&self, values: &[f64], close: &[u32], flips: &mut [u64]) -> Result<()> {
        let query = self.query;
        if close.is_empty() {
            return Ok(());
        }
        let columns = query.encoder.columns.len();
        let mut edited = values.to_vec();
        let mut block = Vec::with_capacity(close.len() * columns);
        for &action in close {
            edited.copy_from_slice(values);
            query.apply(action, &mut edited);
            query.encoder.encode_row(&edited, &mut block);
        }
        let predictions = query.predictor.predict(Rows { values: &block, columns })?;
        for (&action, prediction) in close.iter().zip(&predictions) {
            let desired = is_desired(query.desired, prediction.label);
            let (word, bit) = (&mut flips[action as usize / 64], action % 64);
            *word = *word & !(1 << bit) | u64::from(desired) << bit;
        }
        Ok(())
    }

    fn look_up_cells(&self, values: &[f64], scratch: &mut Scratch) {
        scratch.interval_of.clear();
        scratch
            .interval_of
            .extend(self.intervals.iter().zip(values).map(|(intervals, &value)| intervals.interval(value)));
        let mut edited = Vec::new();
        for (edit, intervals) in self.query.edits.iter().zip(&mut scratch.edited) {
            edited.clear();
            edited.extend_from_slice(values);
            edit.apply(&mut edited);
            intervals.clear();
            intervals.extend(
                edit.touched().map(|feature| (feature, self.intervals[feature].interval(edited[feature]))),
            );
        }
    }

    /// Fills `terms` with g_U for every action U.
    fn collect_terms(&self, scratch: &mut Scratch) {
        let Scratch { interval_of, edited, terms, predicate_values, path, turning, .. } = scratch;
        for (terms, base) in terms.iter_mut().zip(&self.base) {
            terms.fill(0.0);
            terms[0] = *base;
        }
        self.leaves.predicates.evaluate(&self.linked, interval_of, edited, predicate_values);
        for leaf in &self.leaves.list {
            let (fixed, predicates) = self.leaves.predicates_of(leaf);
            let unmet = |predicates: &[u32]| -> u64 {
                predicates
                    .iter()
                    .map(|&predicate| u64::from(predicate_values.unmet[predicate as usize]))
                    .sum()
            };
            let violations = unmet(fixed) + unmet(predicates);
            if violations > self.most_edits as u64 {
                continue;
            }
            path.clear();
            turning.clear();
            for &predicate in predicates {
                let edits = predicate_values.turning(predicate);
                if edits.is_empty() {
                    continue; // no edit here changes this leaf
                }
                let start = turning.len();
                turning.extend_from_slice(edits);
                path.push(PathUnit {
                    violated: predicate_values.unmet[predicate as usize] != 0,
                    turning: start..turning.len(),
                });
            }
            let terms = &mut terms[leaf.output];
            if violations == 0 {
                terms[0] += leaf.value;
            }
            if path.is_empty() || self.most_edits == 0 {
                continue;
            }
            let children = &self.index.children;
            if self.tied {
                let walk = LinkedWalk { children, turning, most: self.most_edits };
                walk.add(path, leaf.value, violations as usize, &mut Vec::new(), terms);
            } else {
                let walk = Walk { children, turning, most: self.most_edits };
                walk.add(path, leaf.value, violations as usize, 0, terms);
            }
        }
    }

    /// Turns terms into margins: a child's margin is its parent's plus the terms of all subsets with the new edit.
    fn sum_margins(&self, scratch: &mut Scratch) {
        for (terms, margins) in scratch.terms.iter().zip(&mut scratch.margins) {
            margins[0] = terms[0];
            for (action, children, runs) in self.index.blocks() {
                let parent = margins[action];
                self.kernel.sum(parent, &terms[children.clone()], terms, runs, &mut margins[children]);
            }
        }
    }
}
