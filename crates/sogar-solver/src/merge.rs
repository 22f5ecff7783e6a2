//! Rows that nothing tells apart become one row that counts for all of them.
//!
//! Two rows are alike if every split treats them alike, every edit costs them the same, and every action flips both or
//! neither. Then every tree leads them to the same leaf, with the same cost and outcome: a problem in which one of them
//! stands for both, with the sum of their weights, has the same trees with the same totals and the same sizes of leaves. So its
//! front is the same, witnesses included (they are chosen by totals, leaves, splits and actions alone), and so is its bound.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::bits::{BitTable, RowSet};
use crate::problem::{Problem, ProblemParts};

/// The share of rows that must go before merging pays: the flips of all actions have to be copied.
const WORTH: usize = 8;

/// The same problem with fewer rows, if enough of them are alike.
pub(crate) fn merge(problem: &Problem) -> Option<Problem> {
    let first = first_alike(problem);
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
    // Every part was valid before, so this never fails; if it did, the problem would be searched as it is.
    Problem::new(parts).ok()
}

fn contains(words: &[u64], row: usize) -> bool {
    words[row / 64] >> (row % 64) & 1 == 1
}

/// For every row the first row that is like it: itself, if there is none before.
fn first_alike(problem: &Problem) -> Vec<u32> {
    // Splits and costs are quickly compared, and tell nearly all rows apart that differ in anything.
    let mut hashes = vec![0u64; problem.rows];
    let mut mix = |row: usize, value: u64| {
        hashes[row] = (hashes[row].rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    };
    for split in &problem.splits {
        (0..problem.rows).for_each(|row| mix(row, u64::from(contains(split.words(), row))));
    }
    for edit in 0..problem.edits {
        problem.edit_cost(edit).iter().enumerate().for_each(|(row, &cost)| mix(row, u64::from(cost) + 2));
    }
    let mut groups: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
    for (row, &hash) in hashes.iter().enumerate() {
        groups.entry(hash).or_default().push(row as u32);
    }
    let mut first: Vec<u32> = (0..problem.rows as u32).collect();
    let groups: Vec<Vec<u32>> = groups.into_values().filter(|group| group.len() > 1).collect();
    let found: Vec<Vec<(u32, u32)>> = groups.par_iter().map(|group| alike_in(problem, group)).collect();
    for (row, like) in found.into_iter().flatten() {
        first[row as usize] = like;
    }
    first
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
