//! The conditions that rules are made of: a feature lies in an interval, or has a level.
//!
//! Numbers and ordered levels are cut at percentiles of the reference table, so that all intervals have about equally many
//! people. Only conditions that enough rows of the reference table meet are kept: no rule can have another one.

use std::ops::Range;

use sogar::feature::{FeatureTable, Kind};
use sogar_solver::bits::BitTable;

/// How far below an interval's upper end a real number lands that enters from above.
const JUST_BELOW: f64 = 1e-6;

/// The test of an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Test {
    /// The value lies in `[lo, hi)`; an end may be infinite.
    Between { lo: f64, hi: f64 },
    /// The value is this level.
    Is(usize),
}

/// A condition on one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Item {
    pub feature: usize,
    pub test: Test,
}

impl Item {
    /// Whether a value meets the condition. Missing numbers and unknown levels meet none.
    pub fn holds(&self, value: f64) -> bool {
        match self.test {
            Test::Between { lo, hi } => lo <= value && value < hi,
            Test::Is(level) => value == level as f64,
        }
    }

    /// The value at which people enter: from below the lower end, from above just below the upper one.
    pub fn entry(&self, from_below: bool, whole: bool) -> Option<f64> {
        let entry = match self.test {
            Test::Is(level) => level as f64,
            Test::Between { lo, .. } if from_below => lo,
            Test::Between { hi, .. } if whole => hi - 1.0,
            Test::Between { lo, hi } => {
                let below = hi - JUST_BELOW;
                // Narrow intervals of tiny numbers, and large numbers that a millionth does not change.
                if below < hi { below.max(lo) } else { hi.next_down() }
            }
        };
        entry.is_finite().then_some(entry)
    }
}

/// The frequent items, by feature and from low to high.
#[derive(Debug, Clone)]
pub(super) struct Items {
    pub list: Vec<Item>,
    /// Per feature, its items.
    pub of_feature: Vec<Range<usize>>,
}

impl Items {
    /// The items that at least `least` rows of the reference table meet.
    pub fn frequent(reference: &FeatureTable, bins: usize, least: usize) -> Items {
        let mut items = Items { list: Vec::new(), of_feature: Vec::new() };
        for (feature, values) in reference.values.iter().enumerate() {
            let start = items.list.len();
            let description = &reference.features[feature];
            let (tests, counts) = if description.is_ordered() {
                intervals(&edges(values, !matches!(description.kind, Kind::Real), bins), values)
            } else {
                levels(description.levels().len(), values)
            };
            let frequent = tests.into_iter().zip(counts).filter(|&(_, count)| count >= least);
            items.list.extend(frequent.map(|(test, _)| Item { feature, test }));
            items.of_feature.push(start..items.list.len());
        }
        items
    }

    /// Which of some rows meet each item.
    pub fn met_by(
        &self,
        table: &FeatureTable,
        rows: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> BitTable {
        let mut met = BitTable::new(self.list.len(), rows.len());
        for (number, item) in self.list.iter().enumerate() {
            let values = &table.values[item.feature];
            let set = met.set_mut(number);
            for (position, row) in rows.clone().enumerate() {
                set[position / 64] |= u64::from(item.holds(values[row])) << (position % 64);
            }
        }
        met
    }
}

fn intervals(edges: &[f64], values: &[f64]) -> (Vec<Test>, Vec<usize>) {
    if edges.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let ends: Vec<f64> =
        [f64::NEG_INFINITY].into_iter().chain(edges.iter().copied()).chain([f64::INFINITY]).collect();
    let tests: Vec<Test> = ends.windows(2).map(|ends| Test::Between { lo: ends[0], hi: ends[1] }).collect();
    let mut counts = vec![0; tests.len()];
    for value in values.iter().filter(|value| !value.is_nan()) {
        counts[edges.partition_point(|edge| edge <= value)] += 1;
    }
    (tests, counts)
}

fn levels(count: usize, values: &[f64]) -> (Vec<Test>, Vec<usize>) {
    let mut counts = vec![0; count];
    for &value in values.iter().filter(|value| **value >= 0.0) {
        if let Some(count) = counts.get_mut(value as usize) {
            *count += 1;
        }
    }
    ((0..count).map(Test::Is).collect(), counts)
}

/// The edges of a feature: the distinct percentiles at `bins + 2` equispaced levels (whole numbers are truncated) between the
/// smallest and the largest value. If there is none, one more level is tried, and so on; constants have none at all.
pub(super) fn edges(values: &[f64], whole: bool, bins: usize) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    if min == max {
        return Vec::new();
    }
    // With this many levels every value and the middle between every two neighbours is one: further ones add nothing.
    let most = (bins + 2).max(2 * sorted.len());
    for levels in bins + 2..=most {
        let inner = |level: usize| percentile(&sorted, whole, level, levels - 1);
        // Percentiles ascend: the first above the smallest value decides whether there is an edge.
        let first = partition_point(levels, |level| inner(level) <= min);
        if first < levels && inner(first) < max {
            let mut edges: Vec<f64> = (first..levels).map(inner).take_while(|&edge| edge < max).collect();
            edges.dedup();
            return edges;
        }
    }
    Vec::new()
}

/// The value at `level` of `last` equal steps through the sorted values, interpolated. Written so that rounding does not miss a
/// whole number that the interpolation meets exactly.
fn percentile(sorted: &[f64], whole: bool, level: usize, last: usize) -> f64 {
    let place = (sorted.len() - 1) * level;
    let (at, rest) = (place / last, place % last);
    if rest == 0 {
        return sorted[at];
    }
    let (low, high) = (sorted[at], sorted[at + 1]);
    if whole {
        ((low * (last - rest) as f64 + high * rest as f64) / last as f64).trunc()
    } else {
        low + (high - low) * (rest as f64 / last as f64)
    }
}

/// The first number below `end` that does not satisfy a condition which holds for a first part of them.
fn partition_point(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
