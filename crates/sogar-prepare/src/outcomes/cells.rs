//! Cells: the few values of a feature that a tree ensemble can tell apart.
//!
//! The trees test a number against finitely many thresholds, so its values fall into finitely many intervals on each of which every
//! test answers alike; missing is one more cell. A feature with levels has one cell per level and one for
//! "none of them". A leaf's conditions on a feature are then a set of cells.

use crate::encode::Encoder;
use crate::model::ensemble::Missing;
use crate::model::single::largest_below;
use crate::model::{Test, TreeEnsemble};
use sogar_table::feature::Feature;

/// The cells of one feature.
#[derive(Debug, Clone)]
pub(super) enum Cells {
    /// Cell `i` holds the values in `(breaks[i − 1], breaks[i]]`, the last one whatever is above; then "missing".
    Number { breaks: Vec<f64> },
    /// One cell per level, and one for a category that the reference table does not have.
    Levels { count: usize },
}

impl Cells {
    /// The cells of every feature.
    pub fn of_features(ensemble: &TreeEnsemble, encoder: &Encoder, features: &[Feature]) -> Vec<Cells> {
        let mut cells: Vec<Cells> = features
            .iter()
            .map(|feature| match feature.is_numeric() {
                true => Cells::Number { breaks: Vec::new() },
                false => Cells::Levels { count: feature.levels().len() },
            })
            .collect();
        for node in ensemble.trees.iter().flat_map(|tree| &tree.nodes) {
            let feature = encoder.columns[node.column].feature;
            if let Cells::Number { breaks } = &mut cells[feature] {
                add_breaks(&node.test, breaks);
            }
        }
        for cells in &mut cells {
            if let Cells::Number { breaks } = cells {
                breaks.sort_by(f64::total_cmp);
                breaks.dedup();
            }
        }
        cells
    }

    /// Number of cells.
    pub fn count(&self) -> usize {
        match self {
            Cells::Number { breaks } => breaks.len() + 2,
            Cells::Levels { count } => count + 1,
        }
    }

    /// The cell of a value.
    pub fn cell(&self, value: f64) -> usize {
        match self {
            Cells::Number { breaks } if value.is_nan() => breaks.len() + 1,
            Cells::Number { breaks } => breaks.partition_point(|&edge| edge < value),
            Cells::Levels { count } if value.is_nan() => *count,
            Cells::Levels { count } => (value as usize).min(*count),
        }
    }

    /// A value in a cell.
    pub fn value(&self, cell: usize) -> f64 {
        match self {
            Cells::Number { breaks } => match breaks.get(cell) {
                Some(&edge) => edge,
                None if cell == breaks.len() => breaks.last().map_or(0.0, |edge| edge.next_up()),
                None => f64::NAN,
            },
            Cells::Levels { .. } => cell as f64,
        }
    }
}

/// Adds every value `b` such that the test may answer differently for values `≤ b` and `> b`.
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
