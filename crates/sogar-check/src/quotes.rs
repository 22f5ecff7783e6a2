//! The verifier's own reader of a user's cost table: compares cells as values of the feature, so that `2.0` is 2.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Verdict, defect};
use sogar_base::files::read_bytes;
use sogar_table::feature::{FeatureTable, feature_index};

/// The cost of changes, by feature and by the values before and after; `None` is any value.
pub(super) struct Quotes(BTreeMap<(usize, Option<u64>, Option<u64>), f64>);

/// A lookup key: equal numbers have equal bits.
fn key(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

impl Quotes {
    pub(super) fn read(path: &Path, table: &FeatureTable) -> Verdict<Self> {
        let bytes = read_bytes(path)?;
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let fault = |cause: csv::Error| super::Defect(format!("{}: {cause}", path.display()));
        let header = reader.headers().map_err(fault)?.clone();
        let place = |name: &str| header.iter().position(|known| known.trim() == name);
        let (Some(feature), Some(from), Some(to), Some(cost)) =
            (place("feature"), place("from"), place("to"), place("cost"))
        else {
            return defect(format!("{}: a column is missing", path.display()));
        };
        let mut quotes = BTreeMap::new();
        for record in reader.records() {
            let record = record.map_err(fault)?;
            let cell = |column: usize| record.get(column).unwrap_or_default();
            let feature = feature_index(&table.features, cell(feature).trim())?;
            let known = &table.features[feature];
            let value = |text: &str| match text.trim() {
                "*" => Some(None),
                trimmed if known.is_numeric() => trimmed.parse().ok().map(|value| Some(key(value))),
                trimmed => {
                    let level = known.level_index(text).or_else(|| known.level_index(trimmed))?;
                    Some(Some(key(level as f64)))
                }
            };
            let line = || format!("{}: `{}`", path.display(), record.iter().collect::<Vec<_>>().join(","));
            let (Some(from), Some(to)) = (value(cell(from)), value(cell(to))) else {
                return defect(format!("{} has a value that the feature does not have", line()));
            };
            let Ok(cost) = cell(cost).trim().parse::<f64>() else {
                return defect(format!("{} has no cost", line()));
            };
            quotes.insert((feature, from, to), cost);
        }
        Ok(Quotes(quotes))
    }

    /// The cost of a change: by both values, otherwise by the value before, otherwise by the value after, otherwise by neither.
    pub(super) fn cost(&self, feature: usize, from: f64, to: f64) -> Option<f64> {
        let (from, to) = (Some(key(from)), Some(key(to)));
        [(from, to), (from, None), (None, to), (None, None)]
            .into_iter()
            .find_map(|(from, to)| self.0.get(&(feature, from, to)).copied())
    }
}
