//! The tests of CET's trees: five thresholds per number, one test per category.

use sogar::describe::{spoken, spoken_number};
use sogar::feature::{Feature, Kind};
use sogar::pipeline::Prepared;

use crate::cart::Axis;

/// A yes/no test of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SplitRule {
    pub feature: usize,
    pub test: Test,
}

/// The condition on the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Test {
    /// The value is below this threshold. A missing number is not.
    Below(f64),
    /// The value is this level.
    Is(usize),
}

impl SplitRule {
    /// Whether a value passes.
    pub fn passes(&self, value: f64) -> bool {
        match self.test {
            Test::Below(threshold) => value < threshold,
            Test::Is(level) => value == level as f64,
        }
    }

    /// What is known about a person who passed, or did not, in words.
    pub fn text(&self, features: &[Feature], passed: bool) -> String {
        let feature = &features[self.feature];
        let what = match (&feature.kind, self.test) {
            (Kind::Binary { .. }, Test::Is(level)) => {
                let level = if passed { level } else { 1 - level.min(1) };
                spoken(&feature.value_text(level as f64))
            }
            (_, Test::Is(level)) => {
                let not = if passed { "" } else { "not " };
                format!("{not}{}", spoken(&feature.value_text(level as f64)))
            }
            (Kind::Real, Test::Below(threshold)) => {
                format!("{} {}", if passed { "below" } else { "at least" }, spoken_number(threshold))
            }
            // The last whole value, or level, that passes, or the first one that does not.
            (_, Test::Below(threshold)) if passed => {
                format!("at most {}", spoken(&feature.value_text(threshold - 1.0)))
            }
            (_, Test::Below(threshold)) => format!("at least {}", spoken(&feature.value_text(threshold))),
        };
        format!("`{}` is {what}", feature.name)
    }
}

/// All tests, features in table order: for numbers the thresholds at `bins + 1` equispaced percentiles, whole if the values are,
/// otherwise rounded to four decimals; for levels one each. Tests with the same result for everyone are left out, and those of
/// features that trees may not split on.
pub(super) fn all_rules(prepared: &Prepared, bins: usize) -> Vec<SplitRule> {
    let reference = prepared.table();
    let mut rules = Vec::new();
    for (feature, (description, values)) in reference.features.iter().zip(&reference.values).enumerate() {
        if prepared.config().features.get(&description.name).is_some_and(|settings| !settings.is_split()) {
            continue;
        }
        let tests: Vec<Test> = match Axis::of(description) {
            Axis::Ordered => {
                let whole = !matches!(description.kind, Kind::Real);
                thresholds(values, bins, whole).into_iter().map(Test::Below).collect()
            }
            Axis::Levels(levels) => levels.map(Test::Is).collect(),
        };
        let asked = tests.into_iter().map(|test| SplitRule { feature, test });
        rules.extend(asked.filter(|rule| {
            let passing = values.iter().filter(|&&value| rule.passes(value)).count();
            passing > 0 && passing < values.len()
        }));
    }
    rules
}

fn thresholds(values: &[f64], bins: usize, whole: bool) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let mut thresholds: Vec<f64> = (0..=bins)
        .map(|bin| {
            let place = last as f64 * bin as f64 / bins as f64;
            let (below, part) = (place.floor() as usize, place.fract());
            let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
            let threshold = if part == 0.0 { low } else { low + part * (high - low) };
            if whole { threshold.trunc() } else { (threshold * 1e4).round() / 1e4 }
        })
        // Numbers near the end of the range of floats have no fourth decimal.
        .filter(|threshold| threshold.is_finite())
        .collect();
    thresholds.dedup();
    thresholds
}

#[cfg(test)]
mod tests {
    use crate::testing::prepared;

    use super::*;

    fn texts(table: &str, config: &str) -> Vec<String> {
        let prepared = prepared(table, config, |row| row[0] >= 5.0);
        let features = &prepared.table().features;
        all_rules(&prepared, 5).iter().map(|rule| rule.text(features, true)).collect()
    }

    #[test]
    fn thresholds_are_percentiles_that_tell_people_apart() {
        let prepared = prepared("x\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "", |row| row[0] >= 5.0);
        let rules = all_rules(&prepared, 5);
        let below = [2.0, 4.0, 6.0, 8.0, 10.0].map(|t| SplitRule { feature: 0, test: Test::Below(t) });
        assert_eq!(rules, below, "1 lets nobody pass");
        assert!(rules[0].passes(1.0) && !rules[0].passes(2.0) && !rules[0].passes(f64::NAN));
        let features = &prepared.table().features;
        assert_eq!(rules[1].text(features, true), "`x` is at most 3");
        assert_eq!(rules[1].text(features, false), "`x` is at least 4");
    }

    #[test]
    fn real_thresholds_have_four_decimals() {
        let rules = texts("x\n0\n1\n2\n9.00009\n", "");
        // Places 0.6, 1.2, 1.8 and 2.4 among four values: 2 + 0.4 · 7.00009 is 4.800036. Everybody is below 9.0001.
        assert_eq!(rules, ["0.6", "1.2", "1.8", "4.8"].map(|t| format!("`x` is below {t}")));
    }

    #[test]
    fn levels_are_asked_one_by_one_and_constants_not_at_all() {
        let table = "x,k,b,c,o\n1,3,no,u,low\n9,3,yes,v,high\n8,3,no,w,mid\n";
        let config = "[features]\nx.split = false\no = { kind = \"ordinal\", levels = [\"low\", \"mid\", \"high\"] }\n";
        let rules = texts(table, config);
        let wanted =
            ["`b` is yes", "`c` is u", "`c` is v", "`c` is w", "`o` is at most low", "`o` is at most mid"];
        assert_eq!(rules, wanted);
    }

    #[test]
    fn the_other_answer_has_words_too() {
        let table = "x,b,c,r,o\n1,no,u,0.5,low\n9,yes,v,1.5,high\n8,no,w,2,mid\n";
        let config = "[features]\no = { kind = \"ordinal\", levels = [\"low\", \"mid\", \"high\"] }\n";
        let prepared = prepared(table, config, |row| row[0] >= 5.0);
        let features = &prepared.table().features;
        let not = |feature, test| SplitRule { feature, test }.text(features, false);
        assert_eq!(not(1, Test::Is(1)), "`b` is no");
        assert_eq!(not(2, Test::Is(0)), "`c` is not u");
        assert_eq!(not(3, Test::Below(1.25)), "`r` is at least 1.25");
        assert_eq!(not(4, Test::Below(1.0)), "`o` is at least mid");
    }
}
