//! Merges indistinguishable rows into one row that counts for all of them.
//!
//! Two rows are alike if every split treats them alike, every edit costs them the same, and every action flips both or neither.
//! Then every tree leads them to the same leaf, with the same cost and outcome: a problem in which one of them stands for both,
//! with the sum of their weights, has the same trees with the same totals and the same sizes of leaves. So its front is the same,
//! including witnesses (which depend only on totals, leaves, splits and actions), and so is its bound.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::bits::{BitTable, RowSet};
use crate::problem::{Problem, ProblemParts};
use crate::stop::Stop;

/// The share of rows that must go before merging pays: the flips of all actions must be copied.
const WORTH: usize = 8;

/// The same problem with fewer rows, if enough of them are alike. Also `None` if `stop` says so first.
pub(crate) fn merge(problem: &Problem, stop: &Stop) -> Option<Problem> {
    if problem.flips.is_elsewhere() {
        return None; // they are there because they are large: no copy
    }
    let first = first_alike(problem, stop)?;
    let kept: Vec<usize> = (0..problem.rows).filter(|&row| first[row] as usize == row).collect();
    if problem.rows - kept.len() < problem.rows.div_ceil(WORTH) {
        return None;
    }
    let mut weights = vec![0u32; problem.rows];
    for (row, &first) in first.iter().enumerate() {
        // The weight of all rows fits, so these do.
        weights[first as usize] += problem.weight(row);
    }
    let pick = |words: &[u64]| RowSet::from_fn(kept.len(), |&at| contains(words, kept[at]));
    let mut flips = BitTable::new(problem.actions(), kept.len());
    let per_set = flips.words_per_set();
    flips
        .words_mut()
        .par_chunks_mut(per_set)
        .enumerate()
        .for_each(|(action, words)| words.copy_from_slice(pick(problem.flips_of(action)).words()));
    let parts = ProblemParts {
        rows: kept.len(),
        splits: problem.splits.iter().map(|split| pick(split.words())).collect(),
        edit_costs: (0..problem.edits)
            .map(|edit| kept.iter().map(|&row| problem.edit_cost(edit)[row]).collect())
            .collect(),
        combine: problem.combine,
        actions: problem.actions.clone(),
        flips,
        weights: kept.iter().map(|&row| weights[row]).collect(),
        limits: problem.limits,
    };
    // Every part was valid before, so this never fails; if it did, the problem would be searched without merging.
    Problem::new(parts).ok()
}

fn contains(words: &[u64], row: usize) -> bool {
    words[row / 64] >> (row % 64) & 1 == 1
}

/// For every row the first row that is like it, possibly itself. `None` if stopped.
///
/// Hashes only suggest which rows to compare; rows are merged if they are alike in every split, cost and flip. Splits and costs
/// distinguish most rows cheaply; only rows that agree in them are also hashed over the flips of all actions, so that each needs
/// only a few comparisons.
fn first_alike(problem: &Problem, stop: &Stop) -> Option<Vec<u32>> {
    let mut hashes = vec![0u64; problem.rows];
    let mut mix = |row: usize, value: u64| {
        hashes[row] = (hashes[row].rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    };
    for split in &problem.splits {
        stop.check().ok()?;
        (0..problem.rows).for_each(|row| mix(row, u64::from(contains(split.words(), row))));
    }
    for edit in 0..problem.edits {
        stop.check().ok()?;
        problem.edit_cost(edit).iter().enumerate().for_each(|(row, &cost)| mix(row, u64::from(cost) + 2));
    }
    let (rows, groups) = in_company(&hashes);
    if rows.len() - groups < problem.rows.div_ceil(WORTH) {
        return None; // even with equal flips, too few rows would go
    }
    let blocks = rows.par_chunks(ROWS_AT_ONCE).map(|rows| flip_hashes(problem, rows, stop));
    let flips: Vec<Vec<u64>> = blocks.collect::<Option<_>>()?;
    for (&row, flips) in rows.iter().zip(flips.into_iter().flatten()) {
        hashes[row as usize] ^= flips;
    }
    let mut groups: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
    for row in rows {
        groups.entry(hashes[row as usize]).or_default().push(row);
    }
    let groups: Vec<Vec<u32>> = groups.into_values().collect();
    let found = groups.par_iter().map(|group| stop.check().ok().map(|()| alike_in(problem, group)));
    let found: Vec<Vec<(u32, u32)>> = found.collect::<Option<_>>()?;
    let mut first: Vec<u32> = (0..problem.rows as u32).collect();
    for (row, like) in found.into_iter().flatten() {
        first[row as usize] = like;
    }
    Some(first)
}

/// Rows whose flips are hashed together: few enough that their hashes stay in the cache.
const ROWS_AT_ONCE: usize = 1 << 11;

/// The rows that share their hash with another one, and the number of their groups.
fn in_company(hashes: &[u64]) -> (Vec<u32>, usize) {
    let mut count: FxHashMap<u64, u32> = FxHashMap::default();
    for &hash in hashes {
        *count.entry(hash).or_default() += 1;
    }
    let shared = |row: &u32| count.get(&hashes[*row as usize]).is_some_and(|&rows| rows > 1);
    let rows = (0..hashes.len() as u32).filter(shared).collect();
    (rows, count.values().filter(|&&rows| rows > 1).count())
}

/// A hash of the actions that flip each of some rows: the sum of a random number for every such action. `None` if stopped.
fn flip_hashes(problem: &Problem, rows: &[u32], stop: &Stop) -> Option<Vec<u64>> {
    let mut sums = vec![0u64; rows.len()];
    let mut state = 0u64;
    for action in 0..problem.actions() {
        if action % 1024 == 0 {
            stop.check().ok()?;
        }
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let number = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let flips = problem.flips_of(action);
        for (sum, &row) in sums.iter_mut().zip(rows) {
            let flipped = flips[row as usize / 64] >> (row % 64) & 1;
            *sum = sum.wrapping_add(number & flipped.wrapping_neg());
        }
    }
    Some(sums)
}

/// Rows of a group (ascending) that are like an earlier one of it, with the first such.
fn alike_in(problem: &Problem, group: &[u32]) -> Vec<(u32, u32)> {
    let mut kinds: Vec<u32> = Vec::new();
    let mut found = Vec::new();
    for &row in group {
        match kinds.iter().find(|&&kind| alike(problem, kind as usize, row as usize)) {
            Some(&kind) => found.push((row, kind)),
            None => kinds.push(row),
        }
    }
    found
}

fn alike(problem: &Problem, a: usize, b: usize) -> bool {
    let same = |words: &[u64]| contains(words, a) == contains(words, b);
    problem.splits.iter().all(|split| same(split.words()))
        && (0..problem.edits).all(|edit| problem.edit_cost(edit)[a] == problem.edit_cost(edit)[b])
        && (0..problem.actions()).all(|action| same(problem.flips_of(action)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Actions, Combine, Limits};

    /// Rows that splits and costs do not distinguish; `kinds` of them differ in the actions that flip them.
    fn problem(rows: usize, kinds: usize) -> Problem {
        let flips: Vec<RowSet> = std::iter::once(RowSet::empty(rows))
            .chain((0..10).map(|bit| RowSet::from_fn(rows, |row| (row % kinds) >> bit & 1 == 1)))
            .collect();
        Problem::new(ProblemParts {
            rows,
            splits: vec![RowSet::full(rows)],
            edit_costs: vec![vec![3; rows]; 10],
            combine: Combine::Max,
            actions: std::iter::once(vec![]).chain((0..10).map(|edit| vec![edit])).collect::<Actions>(),
            flips: BitTable::from_sets(rows, &flips),
            weights: Vec::new(),
            limits: Limits { max_depth: 0, max_leaves: 1, min_leaf: 1 },
        })
        .unwrap()
    }

    #[test]
    fn rows_that_only_flips_tell_apart_stay_apart() {
        let stop = Stop::default();
        let merged = merge(&problem(5000, 1000), &stop).unwrap();
        assert_eq!((merged.rows(), merged.size()), (1000, 5000));
        assert!((0..1000).all(|row| merged.weight(row) == 5));
        assert_eq!(merge(&problem(1000, 1000), &stop).map(|merged| merged.rows()), None);
        assert_eq!(merge(&problem(64, 1), &stop).map(|merged| merged.rows()), Some(1));
    }

    #[test]
    fn without_time_nothing_is_merged() {
        let stop = Stop::default();
        stop.cancel.cancel();
        assert!(merge(&problem(64, 1), &stop).is_none());
    }
}
