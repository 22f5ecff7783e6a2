//! Flips that end in a plausible row (SPEC §11).
//!
//! A path length of an isolation forest is a sum of trees, so it is decomposed around each row as a margin is, and compared with a number
//! that depends on the row. No matrix of numbers is stored: some rows at a time, a bit for each action. Path lengths are whole
//! numbers far below 2^53, so no sum is rounded. Any other measure scores the edited rows that flip.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::agreement::ROOM_FOR_PLANES;
use super::ensemble::Decomposition;
use super::{OutcomeQuery, Outcomes, Watch};
use crate::model::TreeEnsemble;
use crate::plausibility::{Measure, Plausibility};
use sogar_base::error::Result;

/// Removes the flips to rows that are not plausible enough; `false` if stopped.
pub(super) fn require(
    query: OutcomeQuery<'_>,
    plausibility: &Plausibility,
    found: &mut Outcomes,
    watch: &Watch<'_>,
) -> Result<bool> {
    match &plausibility.measure {
        Measure::Forest(_, trees) => by_trees(query, plausibility, trees, found, watch),
        Measure::Function(_) => by_measuring(query, plausibility, found, watch),
    }
}

fn by_trees(
    query: OutcomeQuery<'_>,
    plausibility: &Plausibility,
    trees: &TreeEnsemble,
    found: &mut Outcomes,
    watch: &Watch<'_>,
) -> Result<bool> {
    let query = OutcomeQuery { encoder: &plausibility.encoder, desired: &[false, true], ..query };
    let bytes_per_word = 8 * query.actions.len().max(1) as u64;
    let at_once = 64 * usize::try_from(ROOM_FOR_PLANES / bytes_per_word).unwrap_or(1).max(1);
    let Some(decomposition) = Decomposition::of_path_lengths(trees, &query, plausibility) else {
        return by_measuring(query, plausibility, found, watch);
    };
    for (block, rows) in query.rows.chunks(at_once).enumerate() {
        let quiet = Watch { progress: &|_, _| (), stop: watch.stop };
        let Some(plausible) = decomposition.outcomes_of(rows, &quiet)? else { return Ok(false) };
        let (first, words) = (block * at_once / 64, rows.len().div_ceil(64));
        for action in 1..query.actions.len() {
            let flips = &mut found.flips.set_mut(action)[first..first + words];
            flips
                .iter_mut()
                .zip(plausible.flips.set(action))
                .for_each(|(flips, plausible)| *flips &= plausible);
        }
    }
    Ok(true)
}

/// Rows whose edited versions wait to be measured together.
const ROWS_AT_ONCE: usize = 64;

/// Measures every distinct edited row that flips.
fn by_measuring(
    query: OutcomeQuery<'_>,
    plausibility: &Plausibility,
    found: &mut Outcomes,
    watch: &Watch<'_>,
) -> Result<bool> {
    for (word, rows) in query.rows.chunks(ROWS_AT_ONCE).enumerate() {
        if watch.stop.check().is_err() {
            return Ok(false);
        }
        let before: Vec<Vec<f64>> = rows.iter().map(|&row| query.table.row(row)).collect();
        let beyond: Vec<f64> =
            plausibility.measured(&before)?.into_iter().map(|own| plausibility.beyond(own)).collect();
        // The distinct edited rows by their bits, and which of them each pair of an action and a row leads to.
        let mut known: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
        let (mut edited, mut pairs) = (Vec::new(), Vec::new());
        for action in 1..query.actions.len() {
            let flips = found.flips.set(action)[word];
            for position in (0..rows.len()).filter(|position| flips >> position & 1 == 1) {
                let mut after = before[position].clone();
                query.apply(action as u32, &mut after);
                let key = after.iter().map(|value| value.to_bits()).collect();
                let place = *known.entry(key).or_insert_with(|| {
                    edited.push(after);
                    edited.len() - 1
                });
                pairs.push((action as u32, position as u32, place as u32));
            }
        }
        let numbers = match plausibility.measured(&edited) {
            Err(_) if watch.stop.check().is_err() => return Ok(false),
            numbers => numbers?,
        };
        for (action, position, place) in pairs {
            if numbers[place as usize] <= beyond[position as usize] {
                found.flips.set_mut(action as usize)[word] &= !(1 << position);
            }
        }
    }
    Ok(true)
}

/// One word for each of some actions: bit `i` says whether it leads `rows[i]` (at most 64 rows) to a plausible row.
pub(super) fn measure(
    query: &OutcomeQuery<'_>,
    plausibility: &Plausibility,
    rows: &[usize],
    actions: &[u32],
) -> Result<Vec<u64>> {
    let before: Vec<Vec<f64>> = rows.iter().map(|&row| query.table.row(row)).collect();
    let of_action = |&action: &u32| {
        let edited = before.iter().map(|row| {
            let mut after = row.clone();
            query.apply(action, &mut after);
            after
        });
        let holds = plausibility.hold(&before, &edited.collect::<Vec<_>>())?;
        Ok(holds.iter().enumerate().fold(0, |word, (i, &holds)| word | u64::from(holds) << i))
    };
    actions.par_iter().map(of_action).collect()
}
