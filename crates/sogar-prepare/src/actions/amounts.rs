//! How far a shift moves a number (SPEC §4): amounts that people can say and make.
//!
//! - *Range.* Default steps divide half of the distance between the 5 % and 95 % quantiles, so that an outlier does not dominate
//!   them. If the two are equal, it is the distance between smallest and largest value; a configured range that is shorter counts
//!   instead.
//! - *Rounding.* An amount has at most two significant digits and is a multiple of the feature's own granularity: the largest of
//!   1, 2 and 5 times a power of ten of which all differences of values are multiples.
//! - *Reach.* A shift that nobody in the reference table can make in full is left out ([`super::all_edits`]): "decrease by 6" is
//!   no advice to people who have at most 5.
//!
//! With `numbers = "bins"` amounts are multiples of the width of a bin, as in the published experiments.

use sogar_table::binarize::Binning;
use sogar_table::config::{Config, FeatureConfig, NumberRule};
use sogar_table::feature::{Distributions, Kind, Ordered};

use super::budget::{STEPS, step_sizes};

/// The amounts of a feature's shifts, ascending, for this number of default sizes.
pub(super) fn amounts(
    table: &dyn Distributions,
    feature: usize,
    bins: &Binning,
    settings: Option<&FeatureConfig>,
    config: &Config,
    sizes: Option<u32>,
) -> Vec<f64> {
    let listed = settings.and_then(|settings| settings.steps.clone());
    let sizes = sizes.or(config.limits.steps).unwrap_or(STEPS);
    let steps = listed.clone().unwrap_or_else(|| step_sizes(bins.count, sizes));
    let plain = steps.iter().map(|&step| f64::from(step) * bins.width);
    let kind = &table.features()[feature].kind;
    let mut amounts: Vec<f64> =
        if config.numbers.unwrap_or_default() == NumberRule::Bins || matches!(kind, Kind::Ordinal { .. }) {
            plain.collect()
        } else {
            let values = table.distribution(feature);
            let grain = Grain::of(&values, matches!(kind, Kind::Integer));
            match listed {
                Some(_) => plain.map(|amount| grain.rounded(amount)).collect(),
                None => {
                    let [low, high] =
                        settings.and_then(|settings| settings.range).unwrap_or([bins.min, bins.max]);
                    let spread = spread(&values).unwrap_or(bins.max - bins.min).min(high - low);
                    let part = |i: u32| f64::from(i) * spread / (2.0 * f64::from(sizes.max(1)));
                    (1..=sizes).map(|i| grain.rounded(part(i))).collect()
                }
            }
        };
    amounts.sort_by(f64::total_cmp);
    amounts.dedup();
    amounts
}

/// The distance between the 5 % and 95 % quantiles, unless it is 0.
fn spread(values: &Ordered) -> Option<f64> {
    let spread = values.quantile(0.95)? - values.quantile(0.05)?;
    (spread > 0.0).then_some(spread)
}

/// The granularity of a feature: `digit · 10^exponent`; none if its values have more than six decimals.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Grain {
    digit: u32,
    exponent: i32,
    /// Whether it is known.
    known: bool,
}

/// The most decimals that are looked at.
const DECIMALS: i32 = 6;
/// Whole numbers up to here are exact, and their differences too.
const EXACT: f64 = 4_503_599_627_370_496.0;

impl Grain {
    fn of(values: &Ordered, whole: bool) -> Grain {
        let unknown = Grain { digit: 1, exponent: if whole { 0 } else { i32::MIN }, known: false };
        // The fewest decimals with which every value can be written.
        let scaled = |value: f64, decimals: i32| {
            let scaled = (value * 10f64.powi(decimals)).round();
            (scaled.abs() < EXACT && scaled / 10f64.powi(decimals) == value).then_some(scaled)
        };
        let decimals = (0..=DECIMALS)
            .find(|&decimals| values.iter().all(|(value, _)| scaled(value, decimals).is_some()));
        let Some(decimals) = decimals else { return unknown };
        let Some((first, _)) = values.ends() else { return unknown };
        let start = scaled(first, decimals).unwrap_or(0.0);
        let mut common = 0u64;
        for (value, _) in values.iter() {
            common = gcd(common, (scaled(value, decimals).unwrap_or(start) - start).abs() as u64);
        }
        if common == 0 {
            return unknown;
        }
        let mut best = Grain { digit: 1, exponent: -decimals, known: true };
        for exponent in 0..16u32 {
            for digit in [1, 2, 5] {
                if common.is_multiple_of(u64::from(digit) * 10u64.pow(exponent)) {
                    best = Grain { digit, exponent: exponent.cast_signed() - decimals, known: true };
                }
            }
        }
        best
    }

    /// The nearest amount of at most two significant digits that is a multiple of the granularity, and at least one of it.
    fn rounded(self, amount: f64) -> f64 {
        if !(amount > 0.0 && amount.is_finite()) {
            return amount;
        }
        let place = amount.log10().floor() as i32 - 1;
        // In units of 10^place, or of the granularity where that is coarser. A power of ten above it is a multiple of it.
        let (digit, exponent) = match self.known || self.exponent == 0 {
            true if self.exponent >= place => (f64::from(self.digit), self.exponent),
            _ => (1.0, place),
        };
        let unit = |count: f64| match exponent {
            below @ ..0 => count * digit / 10f64.powi(-below),
            above => count * digit * 10f64.powi(above),
        };
        let count = (amount / unit(1.0)).round().max(1.0);
        unit(count)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round() -> Config {
        Config { numbers: Some(NumberRule::Round), ..Config::default() }
    }
    use sogar_table::feature::{Feature, FeatureTable};

    fn table(kind: Kind, values: Vec<f64>) -> FeatureTable {
        let feature = Feature::new("x", kind);
        FeatureTable { features: vec![feature], rows: values.len(), values: vec![values], weights: None }
    }

    fn of(kind: Kind, values: Vec<f64>, config: &Config) -> Vec<f64> {
        let table = table(kind, values);
        let bins = sogar_table::binarize::binning(&table, 0, config).unwrap().unwrap();
        amounts(&table, 0, &bins, config.features.get("x"), config, None)
    }

    #[test]
    fn amounts_have_two_digits_and_the_granularity_of_the_feature() {
        let incomes: Vec<f64> = (0..=200).map(|i| 1000.0 + 37.0 * f64::from(i)).collect();
        assert_eq!(of(Kind::Integer, incomes, &round()), [670.0, 1300.0, 2000.0, 2700.0, 3300.0]);
        let hundreds: Vec<f64> = (0..=60).map(|i| 100.0 * f64::from(i)).collect();
        assert_eq!(of(Kind::Integer, hundreds, &round()), [500.0, 1100.0, 1600.0, 2200.0, 2700.0]);
        let cents: Vec<f64> = (0..=310).map(|i| f64::from(i) / 100.0).collect();
        assert_eq!(of(Kind::Real, cents, &round()), [0.28, 0.56, 0.84, 1.1, 1.4]);
        let halves: Vec<f64> = (0..=31).map(|i| f64::from(i) / 2.0).collect();
        assert_eq!(of(Kind::Real, halves, &round()), [1.5, 3.0, 4.0, 5.5, 7.0]);
        let small: Vec<f64> = (0..=5).map(f64::from).collect();
        assert_eq!(of(Kind::Integer, small, &round()), [1.0, 2.0]);
    }

    #[test]
    fn an_outlier_does_not_set_the_steps() {
        let mut values: Vec<f64> = (0..1000).map(|i| f64::from(i % 100)).collect();
        let usual = of(Kind::Integer, values.clone(), &round());
        values.push(1e9);
        assert_eq!(of(Kind::Integer, values, &round()), usual);
    }

    #[test]
    fn no_shift_is_larger_than_any_row_could_move() {
        let values: Vec<f64> = (0..=4).map(f64::from).chain([4.0; 20]).collect();
        for (range, steps, most) in
            [(None, vec![1, 2, 3, 4, 6, 9], 4.0), (Some([2.0, 4.0]), vec![1, 2, 3], 2.0)]
        {
            let mut config = round();
            let settings = FeatureConfig { range, steps: Some(steps), ..FeatureConfig::default() };
            config.features.insert("x".into(), settings);
            let edits = crate::actions::all_edits(&table(Kind::Integer, values.clone()), &config).unwrap();
            let amounts = edits.iter().filter_map(|edit| match edit.change {
                crate::actions::Change::Shift { by, .. } => Some(by.abs()),
                _ => None,
            });
            assert_eq!(amounts.fold(0.0, f64::max), most);
        }
    }

    #[test]
    fn bins_keep_the_rule_of_the_published_experiments() {
        let values: Vec<f64> = (0..=155).map(|i| f64::from(i) * 1.111).collect();
        let config = Config { numbers: Some(NumberRule::Bins), ..Config::default() };
        let table = table(Kind::Real, values);
        let bins = sogar_table::binarize::binning(&table, 0, &config).unwrap().unwrap();
        let found = amounts(&table, 0, &bins, None, &config, None);
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0].map(|step| step * bins.width));
    }
}
