//! Bins and splits (SPEC §3): how numbers are cut, and which tests a tree may use.
//!
//! Everything here is a function of the reference table; the affected rows only decide which of the resulting splits are useful.

use sogar_solver::RowSet;

use crate::config::{BinRule, Config};
use crate::feature::{Distributions, Feature, FeatureTable, Kind, Ordered, format_number};
use sogar_base::error::Result;

/// Bins of an ordered feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Binning {
    /// Inner edges, ascending: the thresholds of `x ≤ edge`.
    pub edges: Vec<f64>,
    /// Number of bins, the unit of steps.
    pub count: u32,
    /// Width of a step of one bin.
    pub width: f64,
    /// Smallest value in the reference table.
    pub min: f64,
    /// Largest value in the reference table.
    pub max: f64,
}

/// The test of a split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test {
    /// `x ≤ edge` (for ordinals: the level's index). A missing number fails, and so does a special code.
    AtMost(f64),
    /// `x =` the level with this index.
    Equals(usize),
    /// `x =` this special code of a number.
    Is(f64),
}

/// A yes/no test of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// The feature's position.
    pub feature: usize,
    /// The test.
    pub test: Test,
}

impl Split {
    /// Whether a value of its feature passes.
    pub fn passes(&self, features: &[Feature], value: f64) -> bool {
        match self.test {
            Test::AtMost(edge) => value <= edge && !features[self.feature].is_code(value),
            Test::Equals(level) => value == level as f64,
            Test::Is(code) => value == code,
        }
    }

    /// The test in words, e.g. `age <= 34.5`.
    pub fn text(&self, features: &[Feature]) -> String {
        let feature = &features[self.feature];
        match self.test {
            Test::AtMost(edge) => match feature.levels().get(edge as usize) {
                Some(level) => format!("{} <= {level}", feature.name),
                None => format!("{} <= {}", feature.name, format_number(edge)),
            },
            Test::Equals(level) => format!("{} = {}", feature.name, level_name(feature, level)),
            Test::Is(code) => format!("{} = {}", feature.name, format_number(code)),
        }
    }
}

/// The name of a level.
pub fn level_name(feature: &Feature, level: usize) -> &str {
    feature.levels().get(level).map_or("(unseen)", String::as_str)
}

/// The bins of a feature; `None` if it is not ordered or has fewer than two distinct values.
pub fn binning(table: &dyn Distributions, feature: usize, config: &Config) -> Result<Option<Binning>> {
    let description = &table.features()[feature];
    if !description.is_ordered() {
        return Ok(None);
    }
    let values = table.distribution(feature);
    let Some((min, max)) = values.ends().filter(|(min, max)| min != max) else { return Ok(None) };
    let asked = config.features.get(&description.name).and_then(|f| f.bins.as_ref()).unwrap_or(&config.bins);
    let asked = asked.rule().map_err(|error| error.column(&description.name))?;
    let wanted = match &asked {
        BinRule::EqualWidth(count) | BinRule::Quantile(count) => *count,
        BinRule::Auto => freedman_diaconis(&values, table.weight_unit()),
        BinRule::All | BinRule::Edges(_) => DEFAULT_BINS,
    };
    let wanted = wanted.min(u32::try_from(values.distinct()).unwrap_or(u32::MAX));
    let whole = !matches!(description.kind, Kind::Real);
    let (count, width) = if whole {
        let width = ((max - min) / f64::from(wanted)).ceil();
        (((max - min) / width).ceil() as u32, width)
    } else {
        (wanted, (max - min) / f64::from(wanted))
    };
    let edges = match asked {
        BinRule::Edges(edges) => edges,
        BinRule::All => {
            let below = values.values().split_last().map_or(&[][..], |(_, below)| below);
            below.iter().map(|value| if whole { value + 0.5 } else { *value }).collect()
        }
        BinRule::Quantile(parts) => {
            let mut edges: Vec<f64> =
                (1..parts).filter_map(|i| values.quantile(f64::from(i) / f64::from(parts))).collect();
            edges.dedup();
            edges
        }
        _ if whole => (1..count).map(|i| min + f64::from(i) * width - 0.5).collect(),
        _ => (1..count).map(|i| min + (max - min) * (f64::from(i) / f64::from(count))).collect(),
    };
    Ok(Some(Binning { edges, count, width, min, max }))
}

/// Every split of the reference table in the order of SPEC §3.
pub fn all_splits(table: &dyn Distributions, config: &Config) -> Result<Vec<Split>> {
    let mut splits = Vec::new();
    for (feature, description) in table.features().iter().enumerate() {
        if config.features.get(&description.name).is_some_and(|settings| !settings.is_split()) {
            continue;
        }
        let tests: Vec<Test> = match &description.kind {
            Kind::Real | Kind::Integer => {
                let bins = binning(table, feature, config)?;
                let edges = bins.map_or(Vec::new(), |bins| bins.edges);
                let codes = description.codes.iter().map(|&code| Test::Is(code));
                edges.into_iter().map(Test::AtMost).chain(codes).collect()
            }
            Kind::Ordinal { levels } => (1..levels.len()).map(|i| Test::AtMost((i - 1) as f64)).collect(),
            Kind::Categorical { levels, .. } => (0..levels.len()).map(Test::Equals).collect(),
            Kind::Binary { .. } => vec![Test::Equals(1)],
        };
        splits.extend(tests.into_iter().map(|test| Split { feature, test }));
    }
    Ok(splits)
}

/// The splits that divide the affected rows in two, with the rows that pass. Of splits that divide them alike, only the first is
/// kept.
pub fn useful_splits(splits: &[Split], table: &FeatureTable, affected: &[usize]) -> Vec<(Split, RowSet)> {
    let mut seen = std::collections::BTreeSet::new();
    let mut useful = Vec::new();
    let everybody = RowSet::full(affected.len());
    for &split in splits {
        let column = &table.values[split.feature];
        let passing =
            RowSet::from_fn(affected.len(), |&i| split.passes(&table.features, column[affected[i]]));
        let failing = everybody.and_not(&passing);
        let side = if passing.contains(0) { &passing } else { &failing };
        if passing.count() > 0 && failing.count() > 0 && seen.insert(side.clone()) {
            useful.push((split, passing));
        }
    }
    useful
}

const DEFAULT_BINS: u32 = 10;

/// Freedman–Diaconis: bins of width 2·IQR·N^(−1/3), at least 10 and at most 50; 50 if the IQR is 0. N is the number of people,
/// each of whom counts `unit`.
fn freedman_diaconis(values: &Ordered, unit: u64) -> u32 {
    let quartile = |share: f64| values.quantile(share).unwrap_or(0.0);
    let spread = quartile(0.75) - quartile(0.25);
    if spread <= 0.0 {
        return 50;
    }
    let width = 2.0 * spread / (values.count() as f64 / unit as f64).cbrt();
    let range = values.ends().map_or(0.0, |(min, max)| max - min);
    ((range / width).ceil() as u32).clamp(10, 50)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Bins;

    fn table(kind: Kind, values: Vec<f64>) -> FeatureTable {
        let feature = Feature::new("x", kind);
        FeatureTable { features: vec![feature], rows: values.len(), values: vec![values], weights: None }
    }

    fn bins_of(kind: Kind, values: Vec<f64>, bins: Bins) -> Binning {
        let config = Config { bins, ..Config::default() };
        binning(&table(kind, values), 0, &config).unwrap().unwrap()
    }

    #[test]
    fn real_bins_are_of_equal_width() {
        let bins = bins_of(Kind::Real, (0..=100).map(|i| f64::from(i) / 10.0).collect(), Bins::Count(4));
        assert_eq!((bins.count, bins.width), (4, 2.5));
        assert_eq!(bins.edges, [2.5, 5.0, 7.5]);
    }

    #[test]
    fn integer_bins_have_whole_widths_and_half_edges() {
        // range 73, 10 bins: w = ceil(7.3) = 8, B = ceil(73 / 8) = 10
        let bins = bins_of(Kind::Integer, (17..=90).map(f64::from).collect(), Bins::Count(10));
        assert_eq!((bins.count, bins.width), (10, 8.0));
        assert_eq!(bins.edges.first(), Some(&24.5));
        assert_eq!(bins.edges.len(), 9);
        // range 3 with 4 distinct values: w = 1, B = 3
        let bins = bins_of(Kind::Integer, vec![1.0, 2.0, 3.0, 4.0], Bins::Count(10));
        assert_eq!((bins.count, bins.width, bins.edges), (3, 1.0, vec![1.5, 2.5]));
    }

    #[test]
    fn auto_bins_follow_freedman_and_diaconis_within_their_limits() {
        let spread: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(bins_of(Kind::Real, spread, Bins::Named("auto".into())).count, 10);
        let mut peaked = vec![0.5; 990];
        peaked.extend((0..100).map(f64::from));
        assert_eq!(bins_of(Kind::Real, peaked, Bins::Named("auto".into())).count, 50);
    }

    #[test]
    fn quantiles_and_edges_serve_splits_only() {
        let values: Vec<f64> = (0..=100).map(f64::from).collect();
        let bins = bins_of(Kind::Real, values.clone(), Bins::Named("quantile:4".into()));
        assert_eq!((bins.edges, bins.width), (vec![25.0, 50.0, 75.0], 25.0));
        let bins = bins_of(Kind::Real, values, Bins::Edges(vec![1.0, 99.0]));
        assert_eq!((bins.edges, bins.width), (vec![1.0, 99.0], 10.0));
        let values = vec![3.0, 0.0, 20.0, 3.0, f64::NAN, 0.5];
        let bins = bins_of(Kind::Real, values, Bins::Named("all".into()));
        assert_eq!((bins.edges, bins.width), (vec![0.0, 0.5, 3.0], 5.0), "an edge behind every value");
        let bins = bins_of(Kind::Integer, vec![3.0, 0.0, 20.0], Bins::Named("all".into()));
        assert_eq!(bins.edges, [0.5, 3.5]);
    }

    #[test]
    fn splits_that_cut_alike_or_not_at_all_are_dropped() {
        let mut two = table(Kind::Integer, vec![1.0, 2.0, 3.0, 4.0]);
        two.features.push(Feature::new("y", Kind::Binary { levels: vec!["no".into(), "yes".into()] }));
        two.values.push(vec![1.0, 1.0, 0.0, 0.0]);
        let splits = all_splits(&two, &Config::default()).unwrap();
        assert_eq!(splits.len(), 3);
        // y = yes cuts rows 1..=3 as x <= 2.5 does; x <= 1.5 does not cut them.
        let useful = useful_splits(&splits, &two, &[1, 2, 3]);
        assert_eq!(useful.iter().map(|(s, _)| s.text(&two.features)).collect::<Vec<_>>(), ["x <= 2.5"]);
    }

    #[test]
    fn missing_numbers_fail_every_threshold() {
        let features = table(Kind::Real, vec![1.0, 2.0]).features;
        assert!(!Split { feature: 0, test: Test::AtMost(f64::MAX) }.passes(&features, f64::NAN));
    }
}
