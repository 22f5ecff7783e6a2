//! Special codes of a number: −9 for "refused to answer" is not an amount (SPEC §2).
//!
//! The model gets a code unchanged. A code fails every `x ≤ b` and has its own test `x = code`. No shift leaves or reaches it,
//! and it is not part of the distribution that determines ranges, bins and costs.

use std::collections::BTreeMap;

use super::{Distributions, Ordered};
use crate::config::{Config, FeatureConfig};
use sogar_base::text::format_number;

/// The values with codes as missing.
pub(super) fn without(values: &[f64], codes: &[f64]) -> Vec<f64> {
    values.iter().map(|value| if codes.contains(value) { f64::NAN } else { *value }).collect()
}

/// The codes of a column of numbers, ascending: its own, otherwise those of the table.
pub(super) fn of(setting: &FeatureConfig, config: &Config) -> Vec<f64> {
    let mut codes = setting.codes.as_ref().unwrap_or(&config.data.codes).clone();
    codes.iter_mut().for_each(|code| *code += 0.0); // -0 is 0
    codes.sort_by(f64::total_cmp);
    codes.dedup();
    codes
}

/// Smallest number of rows of a code, and largest number of codes in a column.
const LEAST_ROWS: u64 = 5;
const MOST_CODES: usize = 5;
/// Smallest number of other distinct values in the column: with few values, any may look apart.
const LEAST_VALUES: usize = 10;

/// Values that look like codes: a few whole numbers, negative or all nines, in many rows, at an end of the column and apart from
/// the rest.
///
/// Apart means: further from the next value than the interquartile range of the rest, or below zero if nothing else is.
pub fn suggested(values: &Ordered) -> Vec<f64> {
    let known: Vec<(f64, u64)> = values.iter().collect();
    let like_code = |&(value, rows): &(f64, u64)| {
        let nines = value > 0.0 && format!("{value}").chars().all(|digit| digit == '9');
        rows >= LEAST_ROWS && value.fract() == 0.0 && (value < 0.0 || nines)
    };
    let low = known.iter().take_while(|pair| like_code(pair)).count().min(MOST_CODES);
    let high = known.iter().rev().take_while(|pair| like_code(pair)).count().min(MOST_CODES);
    let mut found = Vec::new();
    for (from_below, most) in [(true, low), (false, high)] {
        // As many as are apart from the rest: both of -9, -8, 3, 4, …, none of -9, -8, -7, ….
        for count in (1..=most).rev() {
            let (codes, rest) = if from_below {
                known.split_at(count)
            } else {
                let (rest, codes) = known.split_at(known.len() - count);
                (codes, rest)
            };
            if rest.len() < LEAST_VALUES || rest.iter().all(|(value, _)| *value < 0.0) {
                continue;
            }
            let rest_values = Ordered::counted(
                rest.iter().map(|pair| pair.0).collect(),
                &rest.iter().map(|pair| pair.1).collect::<Vec<_>>(),
            );
            let quartile = |share: f64| rest_values.quantile(share).unwrap_or(0.0);
            let spread = quartile(0.75) - quartile(0.25);
            let (gap, next) = if from_below {
                (rest[0].0 - codes[count - 1].0, rest[0].0)
            } else {
                (codes[0].0 - rest[rest.len() - 1].0, rest[rest.len() - 1].0)
            };
            let below_zero = from_below && next >= 0.0;
            if below_zero || (gap > spread && gap > 0.0) {
                found.extend(codes.iter().map(|pair| pair.0));
                break;
            }
        }
    }
    found.sort_by(f64::total_cmp);
    found
}

/// Features with values that look like codes, by name.
pub fn suggestions(table: &dyn Distributions) -> BTreeMap<String, Vec<f64>> {
    let numeric = table.features().iter().enumerate().filter(|(_, feature)| feature.is_numeric());
    numeric
        .map(|(index, feature)| (feature.name.clone(), suggested(&table.distribution(index))))
        .filter(|(_, codes)| !codes.is_empty())
        .collect()
}

/// A notice for each list of values that look like codes and that no setting declares. `codes = []` says that they are amounts.
pub fn notices(table: &dyn Distributions, config: &Config) -> Vec<String> {
    let mut features: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let open = |name: &String| {
        let setting = config.features.get(name);
        config.data.codes.is_empty()
            && setting.is_none_or(|setting| setting.codes.is_none() && !setting.is_fixed())
    };
    for (name, codes) in suggestions(table).into_iter().filter(|(name, _)| open(name)) {
        let codes: Vec<String> = codes.iter().map(|code| format_number(*code)).collect();
        features.entry(codes.join(", ")).or_default().push(format!("`{name}`"));
    }
    let notice = |(codes, names): (String, Vec<String>)| {
        let names = names.join(", ");
        match codes.contains(',') {
            true => format!(
                "the values {codes} of {names} look like special codes, not amounts: `codes = [{codes}]` keeps advice away \
                 from them, `codes = []` says that they are amounts"
            ),
            false => format!(
                "the value {codes} of {names} looks like a special code, not an amount: `codes = [{codes}]` keeps advice \
                 away from it, `codes = []` says that it is an amount"
            ),
        }
    };
    features.into_iter().map(notice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(codes: &[f64], amounts: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut values: Vec<f64> = amounts.collect();
        for code in codes {
            values.extend([*code; 6]);
        }
        suggested(&Ordered::new(&values, None))
    }

    #[test]
    fn values_that_stand_apart_are_suggested() {
        let years = || (0..60).map(f64::from);
        assert_eq!(found(&[-7.0, -8.0, -9.0], years()), [-9.0, -8.0, -7.0]);
        assert_eq!(found(&[999.0], years()), [999.0]);
        assert_eq!(found(&[-9.0, 9999.0], years()), [-9.0, 9999.0]);
        assert_eq!(found(&[99.0], (0..300).map(|i| 20.0 + f64::from(i % 40))), [99.0]);
    }

    #[test]
    fn ordinary_columns_have_none() {
        let degrees = || (-20..40).map(f64::from);
        assert!(found(&[], degrees()).is_empty());
        assert!(found(&[-9.0, 9.0], degrees()).is_empty(), "within the range");
        assert!(
            found(&[-5.0], [0.0, 1.0, 2.0].into_iter().cycle().take(60)).is_empty(),
            "of few values any stands apart"
        );
        assert!(found(&[100.0], (0..60).map(f64::from)).is_empty(), "no sign of a code");
        assert!(found(&[], (0..200).map(|i| -1.0 - f64::from(i % 50))).is_empty(), "all are negative");
    }
}
