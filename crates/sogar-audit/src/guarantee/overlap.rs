//! Calibration rows that the fitted table also has: people whom search or training saw prove nothing.
//!
//! Tables with few values have equal rows of different people. How many to expect, the fitted table says itself: the share of its
//! rows that have a duplicate in it is about the chance that a new row of the same population has one there.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Serialize;
use sogar_base::binomial::at_least;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::statistics::clopper_pearson;
use sogar_front::describe::grouped;
use sogar_table::feature::FeatureTable;

/// A table without overlap is refused by mistake about this often.
const LEVEL: f64 = 0.001;

/// Rows of one table that another one has too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Overlap {
    /// Calibration rows whose features equal those of a fitted row.
    pub equal: usize,
    /// Calibration rows.
    pub rows: usize,
    /// Fitted rows whose features equal those of another fitted row.
    pub duplicates: usize,
    /// Fitted rows.
    pub fitted: usize,
}

impl Overlap {
    /// Refuses a table with more equal rows than the fitted table's own duplicates explain.
    pub(super) fn refuse(&self) -> Result<()> {
        let Overlap { equal, rows, duplicates, fitted } = *self;
        let rate = clopper_pearson(duplicates as f64, fitted as f64, 1.0 - 2.0 * LEVEL).high;
        if at_least(equal as u64, rows as u64, rate) > LEVEL {
            return Ok(());
        }
        let message = format!(
            "{} of {} calibration rows equal rows of the fitted table, of which only {} of {} have a duplicate there",
            grouped(equal),
            grouped(rows),
            grouped(duplicates),
            grouped(fitted)
        );
        Err(Error::new(ErrorKind::Usage, message)
            .help("give people whom neither the search nor the training of the model has seen"))
    }
}

/// Compares the features of two rows.
fn compare(one: (&FeatureTable, usize), other: (&FeatureTable, usize)) -> Ordering {
    // Adding 0 makes both zeros one.
    let pairs = one.0.values.iter().zip(&other.0.values);
    let different = |(a, b): (&Vec<f64>, &Vec<f64>)| (a[one.1] + 0.0).total_cmp(&(b[other.1] + 0.0));
    pairs.map(different).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// How many rows of `table` equal a row of `fitted`, and how many rows of `fitted` equal another one.
pub(super) fn overlap(fitted: &FeatureTable, table: &FeatureTable) -> Overlap {
    let mut order: Vec<usize> = (0..fitted.rows).collect();
    order.sort_unstable_by(|&a, &b| compare((fitted, a), (fitted, b)));
    let runs = order.chunk_by(|&a, &b| compare((fitted, a), (fitted, b)).is_eq());
    let duplicates = runs.map(<[usize]>::len).filter(|&rows| rows > 1).sum();
    let is_known = |&row: &usize| order.binary_search_by(|&at| compare((fitted, at), (table, row))).is_ok();
    let equal = (0..table.rows).filter(is_known).count();
    Overlap { equal, rows: table.rows, duplicates, fitted: fitted.rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_refused_and_the_duplicates_of_a_coarse_table_are_not() {
        let overlap = |equal, duplicates| Overlap { equal, rows: 500, duplicates, fitted: 1000 };
        assert!(overlap(0, 0).refuse().is_ok());
        assert!(overlap(2, 0).refuse().is_ok(), "one or two may be chance");
        assert!(overlap(20, 0).refuse().is_err());
        assert!(overlap(300, 600).refuse().is_ok());
        assert!(overlap(500, 600).refuse().is_err());
        assert!(overlap(500, 1000).refuse().is_ok());
    }
}
