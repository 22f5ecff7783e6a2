//! Sets of items that many rows of the reference table meet together: the conditions and targets of rules.
//!
//! Found size by size: a frequent set is the union of two frequent sets that differ in their last item. Sets of one size are in
//! lexicographic order of their items, so that bisection finds a set.

use rayon::prelude::*;
use sogar_solver::bits::{BitTable, count_and};
use sogar_solver::stop::{Stop, StopReason};

use super::items::Items;

/// Sets whose extensions one task searches.
const TASK: usize = 128;

/// Tasks between two checks of the clock.
const TASKS: usize = 64;

/// The frequent sets, short ones first.
#[derive(Debug, Clone, Default)]
pub(super) struct Itemsets {
    /// Sets of one item, of two, …: their items one after the other.
    by_size: Vec<Vec<u32>>,
    /// Number of the first set of each size, and finally the number of all.
    first: Vec<usize>,
}

/// Why not all sets were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Incomplete {
    Stopped(StopReason),
    /// There are more than fit; the longest are left out.
    TooMany,
}

impl Itemsets {
    /// All sets of at most `longest` items, one per feature, that at least `least` rows meet; `met` has the rows that meet each
    /// item. If there are more than `most`, only the sizes that fit.
    pub fn frequent(
        items: &Items,
        met: &BitTable,
        least: usize,
        longest: usize,
        most: usize,
        stop: &Stop,
    ) -> (Itemsets, Option<Incomplete>) {
        let mut found = Itemsets { by_size: Vec::new(), first: vec![0] };
        let mut incomplete = None;
        let mut level: Vec<u32> = (0..items.list.len() as u32).collect();
        for size in 1..=longest {
            if size > 1 {
                let room = most.saturating_sub(found.len());
                let shorter = &found.by_size[size - 2];
                let longer = Longer { items, met, least, shorter, size: size - 1 };
                match longer.all(room, stop) {
                    Ok(sets) => level = sets,
                    Err(why) => incomplete = Some(why),
                }
                if incomplete.is_some() {
                    break;
                }
            }
            let count = level.len() / size;
            if count == 0 {
                break;
            }
            found.first.push(found.len() + count);
            found.by_size.push(std::mem::take(&mut level));
        }
        (found, incomplete)
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// The items of a set, ascending.
    pub fn get(&self, set: usize) -> &[u32] {
        let size = self.first.partition_point(|&first| first <= set);
        let at = (set - self.first[size - 1]) * size;
        &self.by_size[size - 1][at..at + size]
    }

    /// The number of the set with these items, if it is frequent.
    pub fn find(&self, items: &[u32]) -> Option<usize> {
        let size = items.len();
        let sets = self.by_size.get(size.checked_sub(1)?)?;
        let (mut low, mut high) = (0, sets.len() / size);
        while low < high {
            let middle = low + (high - low) / 2;
            match sets[middle * size..(middle + 1) * size].cmp(items) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(self.first[size - 1] + middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The numbers of the sets of at most `size` items.
    pub fn up_to(&self, size: usize) -> std::ops::Range<usize> {
        0..self.first[size.min(self.by_size.len())]
    }
}

/// Finds the frequent sets with one more item.
struct Longer<'a> {
    items: &'a Items,
    met: &'a BitTable,
    least: usize,
    shorter: &'a [u32],
    size: usize,
}

impl Longer<'_> {
    fn all(&self, most: usize, stop: &Stop) -> Result<Vec<u32>, Incomplete> {
        let count = self.shorter.len() / self.size;
        let mut sets = Vec::new();
        let tasks: Vec<usize> = (0..count).step_by(TASK).collect();
        for tasks in tasks.chunks(TASKS) {
            stop.check().map_err(Incomplete::Stopped)?;
            let found = tasks.par_iter().map(|&start| self.some(start..(start + TASK).min(count)));
            for found in found.collect::<Vec<_>>() {
                sets.extend_from_slice(&found);
            }
            if sets.len() / (self.size + 1) > most {
                return Err(Incomplete::TooMany);
            }
        }
        Ok(sets)
    }

    fn set(&self, set: usize) -> &[u32] {
        &self.shorter[set * self.size..(set + 1) * self.size]
    }

    fn some(&self, sets: std::ops::Range<usize>) -> Vec<u32> {
        let mut found = Vec::new();
        let mut rows = Vec::new();
        let count = self.shorter.len() / self.size;
        for number in sets {
            let set = self.set(number);
            let (last, start) = (set[self.size - 1] as usize, &set[..self.size - 1]);
            let siblings = (number + 1..count).map(|other| self.set(other));
            let siblings = siblings.take_while(|other| &other[..self.size - 1] == start);
            rows.clear();
            for other in siblings.map(|other| other[self.size - 1]) {
                if self.items.list[other as usize].feature == self.items.list[last].feature {
                    continue;
                }
                if rows.is_empty() {
                    cover(self.met, set, &mut rows);
                }
                if count_and(&rows, self.met.set(other as usize)) as usize >= self.least {
                    found.extend_from_slice(set);
                    found.push(other);
                }
            }
        }
        found
    }
}

/// The rows that meet all items of a set.
pub(super) fn cover(met: &BitTable, items: &[u32], rows: &mut Vec<u64>) {
    rows.clear();
    rows.resize(met.words_per_set(), u64::MAX);
    for &item in items {
        for (rows, met) in rows.iter_mut().zip(met.set(item as usize)) {
            *rows &= met;
        }
    }
}
