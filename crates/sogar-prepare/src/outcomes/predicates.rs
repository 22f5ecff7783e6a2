//! Predicates: the distinct conditions of model leaves on a unit.
//!
//! Thousands of leaves share a few hundred conditions such as `30 < age <= 41`. For a row, each is evaluated once: does the row
//! meet it, and which edits change that? The leaves then only look up the answers.

use std::collections::BTreeMap;

use super::linked_features::LinkedFeatures;

/// The intervals of some features that meet a predicate.
pub(super) type Conditions = Vec<(usize, Vec<u64>)>;

/// All predicates of a model.
#[derive(Default)]
pub(super) struct Predicates {
    predicates: Vec<Predicate>,
    /// The words of all sets of intervals.
    words: Vec<u64>,
    numbers: BTreeMap<(Option<usize>, Conditions), u32>,
}

struct Predicate {
    /// `None` if no edit changes the features.
    unit: Option<usize>,
    /// For each feature, where its set of intervals begins among the words.
    conditions: Vec<(usize, usize)>,
}

/// More edits than any action has, and small enough to add up without overflow.
const NEVER: u32 = 1 << 16;

/// Whether a row meets every predicate, and which edits change that.
#[derive(Default)]
pub(super) struct PredicateValues {
    /// 0 if the row meets it, 1 if an edit is needed, [`NEVER`] if none helps.
    pub unmet: Vec<u32>,
    /// Edits that change whether it does: `turning[starts[predicate]..starts[predicate + 1]]`, ascending.
    starts: Vec<u32>,
    turning: Vec<u32>,
    /// Per unit, the edits that move some feature to another interval.
    moving: Vec<Vec<u32>>,
}

impl PredicateValues {
    /// The edits that change whether the row meets a predicate.
    #[inline]
    pub fn turning(&self, predicate: u32) -> &[u32] {
        let predicate = predicate as usize;
        &self.turning[self.starts[predicate] as usize..self.starts[predicate + 1] as usize]
    }
}

impl Predicates {
    /// The number of the predicate with these conditions, features ascending, on a unit.
    pub fn number(&mut self, unit: Option<usize>, conditions: Conditions) -> u32 {
        let next = self.predicates.len() as u32;
        let (predicates, words) = (&mut self.predicates, &mut self.words);
        *self.numbers.entry((unit, conditions)).or_insert_with_key(|(unit, conditions)| {
            let starts = conditions.iter().map(|(feature, set)| {
                words.extend_from_slice(set);
                (*feature, words.len() - set.len())
            });
            predicates.push(Predicate { unit: *unit, conditions: starts.collect() });
            next
        })
    }

    /// Evaluates every predicate on a row: `interval_of[feature]` is its interval, `edited[edit]` the intervals of the touched
    /// features after the edit.
    pub fn evaluate(
        &self,
        linked: &LinkedFeatures,
        interval_of: &[usize],
        edited: &[Vec<(usize, usize)>],
        out: &mut PredicateValues,
    ) {
        out.unmet.clear();
        out.starts.clear();
        out.turning.clear();
        out.moving.resize_with(linked.edits.len(), Vec::new);
        for (moving, edits) in out.moving.iter_mut().zip(&linked.edits) {
            moving.clear();
            let moves = |edit: u32| {
                edited[edit as usize].iter().any(|&(feature, interval)| interval_of[feature] != interval)
            };
            moving.extend(edits.iter().copied().filter(|&edit| moves(edit)));
        }
        for predicate in &self.predicates {
            out.starts.push(out.turning.len() as u32);
            let passes =
                predicate.conditions.iter().all(|&(feature, start)| self.has(start, interval_of[feature]));
            let edits = predicate.unit.map_or(&[][..], |unit| &out.moving[unit]);
            let start = out.turning.len();
            for &edit in edits {
                let after = match (&predicate.conditions[..], &edited[edit as usize][..]) {
                    // One feature, which the edit changes: the common case.
                    (&[(feature, start)], &[(touched, interval)]) if feature == touched => {
                        self.has(start, interval)
                    }
                    (conditions, touched) => conditions.iter().all(|&(feature, start)| {
                        let moved = touched.iter().find(|(touched, _)| *touched == feature);
                        self.has(start, moved.map_or(interval_of[feature], |(_, interval)| *interval))
                    }),
                };
                if after != passes {
                    out.turning.push(edit);
                }
            }
            out.unmet.push(match (passes, out.turning.len() > start) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => NEVER,
            });
        }
        out.starts.push(out.turning.len() as u32);
    }

    #[inline]
    fn has(&self, start: usize, interval: usize) -> bool {
        self.words[start + interval / 64] >> (interval % 64) & 1 == 1
    }
}
