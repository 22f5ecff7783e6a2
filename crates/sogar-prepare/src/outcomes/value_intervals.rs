//! Value intervals: the few values of a feature that a tree ensemble can tell apart.
//!
//! The trees test a number against finitely many thresholds, so its values fall into finitely many intervals, and every test has
//! the same result on an interval; missing is one more interval. A feature with levels has one interval per level and one for
//! "none of them". A leaf's conditions on a feature are then a set of intervals.

use crate::encode::Encoder;
use crate::model::Missing;
use crate::model::single::largest_below;
use crate::model::{Test, TreeEnsemble};
use sogar_table::feature::Feature;

/// The intervals of one feature.
#[derive(Debug, Clone)]
pub(super) enum ValueIntervals {
    /// Interval `i` holds the values in `(breaks[i − 1], breaks[i]]`, the last one everything above; then "missing".
    Number { breaks: Vec<f64> },
    /// One interval per level, and one for a category that the reference table does not have.
    Levels { count: usize },
}

impl ValueIntervals {
    /// The intervals of every feature.
    pub fn of_features(
        ensemble: &TreeEnsemble,
        encoder: &Encoder,
        features: &[Feature],
    ) -> Vec<ValueIntervals> {
        let mut intervals: Vec<ValueIntervals> = features
            .iter()
            .map(|feature| match feature.is_numeric() {
                true => ValueIntervals::Number { breaks: Vec::new() },
                false => ValueIntervals::Levels { count: feature.levels().len() },
            })
            .collect();
        for node in ensemble.trees.iter().flat_map(|tree| &tree.nodes) {
            let feature = encoder.columns[node.column].feature;
            if let ValueIntervals::Number { breaks } = &mut intervals[feature] {
                add_breaks(&node.test, breaks);
            }
        }
        for intervals in &mut intervals {
            if let ValueIntervals::Number { breaks } = intervals {
                breaks.sort_by(f64::total_cmp);
                breaks.dedup();
            }
        }
        intervals
    }

    /// Number of intervals.
    pub fn count(&self) -> usize {
        match self {
            ValueIntervals::Number { breaks } => breaks.len() + 2,
            ValueIntervals::Levels { count } => count + 1,
        }
    }

    /// The interval of a value.
    pub fn interval(&self, value: f64) -> usize {
        match self {
            ValueIntervals::Number { breaks } if value.is_nan() => breaks.len() + 1,
            ValueIntervals::Number { breaks } => breaks.partition_point(|&edge| edge < value),
            ValueIntervals::Levels { count } if value.is_nan() => *count,
            ValueIntervals::Levels { count } => (value as usize).min(*count),
        }
    }

    /// A value in an interval.
    pub fn value(&self, interval: usize) -> f64 {
        match self {
            ValueIntervals::Number { breaks } => match breaks.get(interval) {
                Some(&edge) => edge,
                None if interval == breaks.len() => breaks.last().map_or(0.0, |edge| edge.next_up()),
                None => f64::NAN,
            },
            ValueIntervals::Levels { .. } => interval as f64,
        }
    }
}

/// Adds every value `b` such that the test may differ between values `≤ b` and `> b`.
fn add_breaks(test: &Test, breaks: &mut Vec<f64>) {
    match test {
        Test::AtMost { threshold, missing, .. } => {
            breaks.push(*threshold);
            if *missing == Missing::ZeroIsMissing {
                // The library's ±1e-35 as a single-precision constant: zero, from either side.
                let zero = f64::from(1e-35f32);
                breaks.extend([(-zero).next_down(), zero]);
            }
        }
        Test::InSet { words } => {
            // Whole parts: (-1, 1) is category 0, [c, c + 1) category c.
            breaks.push(-1.0);
            breaks.extend((1..=words.len() * 32).map(|category| (category as f64).next_down()));
        }
        Test::Within { ranges, .. } => breaks.extend(ranges.iter().flat_map(|&(low, high)| [low, high])),
        Test::NoneOf { categories, .. } => {
            // Where each category begins and where it ends, in single precision.
            let edges = categories.iter().flat_map(|&category| [category, category.saturating_add(1)]);
            breaks.extend(edges.filter_map(|edge| largest_below(edge as f32)));
        }
    }
}
