//! Outcomes that earlier runs of this process computed, for programs in which one run follows another with slightly different settings.
//!
//! **What still holds.** Whether an action flips a row depends on the row's values, the model (with its encoding, threshold and further
//! models), the desired classes, the edits of the action and the rules. It does not depend on other actions, on costs and their weights,
//! on splits, or on limits of trees. So a table of outcomes is stored under a key of the former, with the list of its edits, and each
//! action is found again by the edits that it consists of:
//!
//! | change | outcomes |
//! |---|---|
//! | weights of costs, kind of cost, splits, depth, leaves, smallest leaf | all hold; rows may have another order |
//! | fewer edits (immutable, protected, direction, targets, forbidden transitions), fewer edits per action | a part of the table holds |
//! | more edits | those of known actions hold; a model that is called scores the others alone |
//! | table, model, threshold, desired classes, rules, kinds and codes of features | nothing holds |
//!
//! A sum of trees or a network gives the outcomes of all actions of a row together, so these are computed anew if some are missing.
//!
//! Rows are told apart by their position in the reference table: a change of splits changes the order of rows in a problem.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use sogar_solver::{Actions, BitTable};

use super::Outcomes;
use crate::actions::Edit;

/// Outcomes of earlier runs, the latest first.
pub struct OutcomeMemory {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Vec<Known>,
    last: Reuse,
}

/// What the memory did for the last run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reuse {
    /// Actions whose outcomes were known.
    pub known: usize,
    /// Actions of the run.
    pub actions: usize,
    /// About how many seconds it took to compute the known ones.
    pub seconds_saved: f64,
}

struct Known {
    key: String,
    places: Vec<usize>,
    edits: Vec<Edit>,
    numbers: HashMap<Box<[u32]>, usize>,
    flips: BitTable,
    seconds: f64,
}

/// What a run asks for.
pub struct Asked<'a> {
    /// Everything that outcomes depend on, except the rows' order and the actions.
    pub key: &'a str,
    /// The rows as positions in the reference table, in the order of the problem.
    pub places: &'a [usize],
    /// All edits.
    pub edits: &'a [Edit],
    /// The actions, as lists of these edits.
    pub actions: &'a Actions,
}

/// What is known of the actions that a run asks for.
pub struct Recalled {
    /// The outcomes of all actions; those that are missing flip nobody.
    pub flips: BitTable,
    /// The actions that are missing.
    pub missing: Vec<usize>,
    /// About how many seconds it took to compute the known ones.
    pub seconds: f64,
}

impl OutcomeMemory {
    /// A memory of at most this many bytes.
    pub fn new(limit: usize) -> OutcomeMemory {
        OutcomeMemory { limit, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the memory did for the last run.
    pub fn last(&self) -> Reuse {
        self.state().last
    }

    /// Notes what the memory did for a run.
    pub fn note(&self, reuse: Reuse) {
        self.state().last = reuse;
    }

    /// The table with the fewest missing actions; `None` if no action is known.
    pub fn recall(&self, asked: &Asked<'_>) -> Option<Recalled> {
        let state = self.state();
        let found = state.known.iter().filter_map(|known| {
            let order = known.order(asked)?;
            Some((known.numbers_of(asked), known, order))
        });
        let missing = |numbers: &[Option<usize>]| numbers.iter().filter(|number| number.is_none()).count();
        let (numbers, known, order) = found.min_by_key(|(numbers, ..)| missing(numbers))?;
        let known_actions = numbers.len() - missing(&numbers);
        // The identity is in every table, and says nothing.
        if known_actions <= 1 && numbers.len() > 1 {
            return None;
        }
        Some(Recalled {
            flips: known.table(&numbers, &order),
            missing: (0..numbers.len()).filter(|&action| numbers[action].is_none()).collect(),
            seconds: known.seconds * known_actions as f64 / known.flips.sets().max(1) as f64,
        })
    }

    /// Stores the outcomes of a run, and forgets the oldest ones beyond the limit.
    pub fn keep(&self, asked: &Asked<'_>, outcomes: &Outcomes, seconds: f64) {
        let bytes = size(&outcomes.flips);
        if bytes > self.limit || outcomes.flips.is_elsewhere() {
            return;
        }
        let known = Known {
            key: asked.key.to_owned(),
            places: asked.places.to_vec(),
            edits: asked.edits.to_vec(),
            numbers: asked.actions.iter().enumerate().map(|(number, edits)| (edits.into(), number)).collect(),
            flips: outcomes.flips.clone(),
            seconds,
        };
        let mut state = self.state();
        state.known.insert(0, known);
        let mut left = self.limit;
        state.known.retain(|known| {
            let fits = size(&known.flips) <= left;
            left = left.saturating_sub(size(&known.flips));
            fits
        });
    }
}

fn size(flips: &BitTable) -> usize {
    flips.sets() * flips.words_per_set() * size_of::<u64>()
}

impl Known {
    /// For each row of the problem its position here; `None` if these are outcomes of something else.
    fn order(&self, asked: &Asked<'_>) -> Option<Vec<usize>> {
        if self.key != asked.key || self.places.len() != asked.places.len() {
            return None;
        }
        let mut sorted: Vec<(usize, usize)> =
            self.places.iter().enumerate().map(|(at, &place)| (place, at)).collect();
        sorted.sort_unstable();
        let find = |place: &usize| {
            let found = sorted.binary_search_by_key(place, |&(place, _)| place).ok()?;
            Some(sorted[found].1)
        };
        asked.places.iter().map(find).collect()
    }

    /// The number of each action here, if it is known.
    fn numbers_of(&self, asked: &Asked<'_>) -> Vec<Option<usize>> {
        let edits: Vec<Option<u32>> = asked
            .edits
            .iter()
            .map(|edit| self.edits.iter().position(|known| known == edit).map(|at| at as u32))
            .collect();
        let mut here = Vec::new();
        let mut number = |action: &[u32]| {
            here.clear();
            for &edit in action {
                here.push(edits[edit as usize]?);
            }
            here.sort_unstable();
            self.numbers.get(here.as_slice()).copied()
        };
        asked.actions.iter().map(&mut number).collect()
    }

    /// The outcomes of these actions on the rows in this order.
    fn table(&self, numbers: &[Option<usize>], order: &[usize]) -> BitTable {
        let mut flips = BitTable::new(numbers.len(), order.len());
        let words = flips.words_per_set();
        if words == 0 {
            return flips;
        }
        let same_order = order.iter().enumerate().all(|(at, &here)| at == here);
        flips.words_mut().par_chunks_mut(words).zip(numbers).for_each(|(into, number)| {
            let Some(number) = *number else { return };
            let from = self.flips.set(number);
            if same_order {
                into.copy_from_slice(from);
            } else if from.iter().any(|&word| word != 0) {
                for (at, &here) in order.iter().enumerate() {
                    into[at / 64] |= (from[here / 64] >> (here % 64) & 1) << (at % 64);
                }
            }
        });
        flips
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{Change, all_actions};

    const ROWS: usize = 130;

    fn edits(amounts: &[(usize, f64)]) -> Vec<Edit> {
        let edit = |&(feature, by): &(usize, f64)| Edit {
            feature,
            change: Change::shift(by, 0.0, 9.0),
            followers: Vec::new(),
        };
        amounts.iter().map(edit).collect()
    }

    /// Any function of a row and the contents of an action.
    fn flips(place: usize, action: &[&Edit]) -> bool {
        let mut sum = place;
        for edit in action {
            let Change::Shift { by, .. } = edit.change else { continue };
            sum = sum * 31 + edit.feature * 7 + by as usize;
        }
        !action.is_empty() && sum % 3 == 1
    }

    fn computed(places: &[usize], edits: &[Edit], actions: &Actions) -> Outcomes {
        let mut table = BitTable::new(actions.len(), places.len());
        for (number, action) in actions.iter().enumerate() {
            let action: Vec<&Edit> = action.iter().map(|&edit| &edits[edit as usize]).collect();
            for (at, &place) in places.iter().enumerate() {
                table.set_mut(number)[at / 64] |= u64::from(flips(place, &action)) << (at % 64);
            }
        }
        Outcomes { flips: table, method: "test", settled: 0, kept: None }
    }

    #[test]
    fn known_actions_are_found_among_other_edits_in_another_order_of_rows() {
        let memory = OutcomeMemory::new(1 << 20);
        let places: Vec<usize> = (0..ROWS).map(|row| row * 5).collect();
        let all = edits(&[(0, 1.0), (0, 2.0), (1, 1.0), (2, 4.0)]);
        let actions = all_actions(&all, 3);
        let asked = Asked { key: "a", places: &places, edits: &all, actions: &actions };
        assert!(memory.recall(&asked).is_none());
        memory.keep(&asked, &computed(&places, &all, &actions), 2.0);

        let turned: Vec<usize> = places.iter().rev().copied().collect();
        for (wanted, most, missing) in [
            (edits(&[(0, 1.0), (0, 2.0), (1, 1.0), (2, 4.0)]), 3, false),
            (edits(&[(0, 2.0), (2, 4.0)]), 2, false),
            (edits(&[(1, 1.0)]), 1, false),
            (edits(&[(0, 2.0), (1, 3.0), (2, 4.0)]), 2, true),
        ] {
            for places in [&places, &turned] {
                let actions = all_actions(&wanted, most);
                let asked = Asked { key: "a", places, edits: &wanted, actions: &actions };
                let found = memory.recall(&asked).unwrap();
                let truth = computed(places, &wanted, &actions);
                assert_eq!(!found.missing.is_empty(), missing);
                for action in (0..actions.len()).filter(|action| !found.missing.contains(action)) {
                    assert_eq!(found.flips.set(action), truth.flips.set(action), "{action}");
                }
                assert!(found.seconds <= 2.0);
            }
        }
    }

    #[test]
    fn outcomes_of_something_else_are_not_used() {
        let memory = OutcomeMemory::new(1 << 20);
        let (places, others): (Vec<usize>, Vec<usize>) = ((0..ROWS).collect(), (1..=ROWS).collect());
        let all = edits(&[(0, 1.0), (1, 1.0)]);
        let actions = all_actions(&all, 2);
        let asked = Asked { key: "a", places: &places, edits: &all, actions: &actions };
        memory.keep(&asked, &computed(&places, &all, &actions), 1.0);
        assert!(memory.recall(&Asked { key: "b", ..asked }).is_none());
        let asked = Asked { key: "a", places: &places, edits: &all, actions: &actions };
        assert!(memory.recall(&Asked { places: &others, ..asked }).is_none());
        let unknown = edits(&[(0, 3.0)]);
        let actions = all_actions(&unknown, 1);
        assert!(
            memory.recall(&Asked { key: "a", places: &places, edits: &unknown, actions: &actions }).is_none()
        );
    }

    #[test]
    fn the_oldest_outcomes_are_forgotten_first() {
        let places: Vec<usize> = (0..ROWS).collect();
        let all = edits(&[(0, 1.0), (1, 1.0)]);
        let actions = all_actions(&all, 2);
        let outcomes = computed(&places, &all, &actions);
        let memory = OutcomeMemory::new(2 * size(&outcomes.flips));
        let asked = |key| Asked { key, places: &places, edits: &all, actions: &actions };
        for key in ["a", "b", "c"] {
            memory.keep(&asked(key), &outcomes, 1.0);
        }
        let known = ["a", "b", "c"].map(|key| memory.recall(&asked(key)).is_some());
        assert_eq!(known, [false, true, true]);
    }
}
