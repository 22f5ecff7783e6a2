//! The classifier's own fairness: whom it turns down, before any recourse.
//!
//! Two ratios of rates are in use, and they can differ widely. The *adverse-rate ratio* compares how often groups are turned
//! down. The *selection-rate ratio*, that of the four-fifths rule, compares how often they are not. Both are screening figures,
//! not verdicts.

use sogar_base::error::Result;
use sogar_base::statistics::{CONFIDENCE, Interval, difference_of_rates, ratio_of_rates};
use sogar_prepare::prepared::Prepared;
use sogar_table::feature::{exact_number, label_values};
use sogar_table::table::Table;

use super::grouping::Groups;

/// Whether each row has a desired true label; `None` if the label is unknown.
pub(super) type Truth = Vec<Option<bool>>;

/// The true labels of a table, if known; otherwise a note.
pub(super) fn truth(
    prepared: &Prepared,
    table: &Table,
    label: Option<&str>,
) -> Result<std::result::Result<Truth, String>> {
    let mut config = prepared.config().clone();
    if let Some(label) = label {
        config.data.label = Some(label.to_owned());
    }
    let Some(name) = config.data.label.clone() else {
        return Ok(Err("True positive rates need true labels: name their column with --label.".to_owned()));
    };
    let named = if label.is_some() { table.require(&name).map(Some)? } else { table.column(&name) };
    if named.is_none() {
        return Ok(Err(format!(
            "True positive rates need true labels, and `{name}` is not a column of this table."
        )));
    }
    let Some(labels) = label_values(table, &config)? else { return Ok(Err(String::new())) };
    let classes = prepared.classes();
    let class_of = |value: &String| classes.names.iter().position(|name| same(name, value));
    let mut class: Vec<Option<usize>> = labels.values.iter().map(class_of).collect();
    let numbered = classes.names.iter().enumerate().all(|(class, name)| *name == class.to_string());
    if class.iter().all(Option::is_none) && numbered && class.len() == classes.names.len() {
        // The model's classes had no names when the front was made: the sorted labels are their names.
        class = (0..class.len()).map(Some).collect();
    }
    let desired: Vec<Option<bool>> =
        class.into_iter().map(|class| class.map(|class| classes.desired[class])).collect();
    if desired.iter().all(Option::is_none) {
        let known = classes.names.join(", ");
        return Ok(Err(format!(
            "True positive rates need true labels, but no value of `{name}` is a class of the model ({known})."
        )));
    }
    Ok(Ok(labels.of_row.iter().map(|value| value.and_then(|value| desired[value as usize])).collect()))
}

/// `1` and `1.0` are the same label.
fn same(a: &str, b: &str) -> bool {
    a == b || exact_number(a).is_some_and(|a| exact_number(b) == Some(a))
}

/// The share of the people with a known true label for whom the model agrees; `None` if there are none.
pub(super) fn agreement(truth: &Truth, affected: &[usize], weight: impl Fn(usize) -> u64) -> Option<f64> {
    let mut turned_down = vec![false; truth.len()];
    affected.iter().for_each(|&row| turned_down[row] = true);
    let (mut same, mut all) = (0, 0);
    for (row, label) in truth.iter().enumerate().filter_map(|(row, label)| Some((row, (*label)?))) {
        all += weight(row);
        same += weight(row) * u64::from(label != turned_down[row]);
    }
    (all > 0).then(|| same as f64 / all as f64)
}

/// Counts of one group, in units of weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub rows: u64,
    pub affected: u64,
    /// People with a desired true label.
    pub positives: u64,
    /// Those of them who are not turned down.
    pub found: u64,
}

impl Count {
    pub fn adverse_rate(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.affected as f64 / self.rows as f64)
    }

    pub fn selection_rate(&self) -> Option<f64> {
        (self.rows > 0).then(|| (self.rows - self.affected) as f64 / self.rows as f64)
    }

    pub fn tpr(&self) -> Option<f64> {
        (self.positives > 0).then(|| self.found as f64 / self.positives as f64)
    }
}

/// Counts every group of a table.
pub(super) fn count(
    groups: &Groups,
    affected: &[usize],
    truth: Option<&Truth>,
    weight: impl Fn(usize) -> u64,
) -> Vec<Count> {
    let mut counts = vec![Count::default(); groups.names.len()];
    let mut turned_down = vec![false; groups.of_row.len()];
    for &row in affected {
        turned_down[row] = true;
    }
    for (row, &group) in groups.of_row.iter().enumerate() {
        let count = &mut counts[group as usize];
        let weight = weight(row);
        count.rows += weight;
        count.affected += weight * u64::from(turned_down[row]);
        if truth.and_then(|truth| truth[row]) == Some(true) {
            count.positives += weight;
            count.found += weight * u64::from(!turned_down[row]);
        }
    }
    counts
}

/// A rate: how many of how many people.
pub(super) type Rate = (f64, f64);

/// The interval of [`ratio`]. Intervals of the ratios of all pairs hold together (Bonferroni); the lowest over the highest rate is
/// the smallest of these ratios, so it lies between the smallest of the lower and the smallest of the upper ends.
pub(super) fn ratio_interval(rates: &[Rate]) -> Option<Interval> {
    let pairs = of_pairs(rates, ratio_of_rates)?;
    let ends = pairs.iter().flat_map(|pair| [*pair, Interval { low: 1.0 / pair.high, high: 1.0 / pair.low }]);
    let smallest = |end: fn(&Interval) -> f64| ends.clone().map(|pair| end(&pair)).fold(1.0, f64::min);
    Some(Interval { low: smallest(|pair| pair.low), high: smallest(|pair| pair.high) })
}

/// The interval of [`difference`], by the same argument: the largest of the differences of all pairs.
pub(super) fn difference_interval(rates: &[Rate]) -> Option<Interval> {
    let pairs = of_pairs(rates, difference_of_rates)?;
    let ends = pairs.iter().flat_map(|pair| [*pair, Interval { low: -pair.high, high: -pair.low }]);
    let largest = |end: fn(&Interval) -> f64| ends.clone().map(|pair| end(&pair)).fold(0.0, f64::max);
    Some(Interval { low: largest(|pair| pair.low), high: largest(|pair| pair.high) })
}

fn of_pairs(rates: &[Rate], interval: fn(Rate, Rate, f64) -> Interval) -> Option<Vec<Interval>> {
    let pairs = rates.len() * rates.len().saturating_sub(1) / 2;
    let confidence = 1.0 - (1.0 - CONFIDENCE) / pairs.max(1) as f64;
    let of_first = |first: usize| {
        (first + 1..rates.len()).map(move |second| interval(rates[first], rates[second], confidence))
    };
    (pairs > 0).then(|| (0..rates.len()).flat_map(of_first).collect())
}

/// Lowest over highest of some rates; `None` for fewer than two, or if all are 0.
pub(super) fn ratio(rates: impl Iterator<Item = f64>) -> Option<f64> {
    let (low, high) = extremes(rates)?;
    (high > 0.0).then(|| low / high)
}

/// Highest minus lowest of some rates; `None` for fewer than two.
pub(super) fn difference(rates: impl Iterator<Item = f64>) -> Option<f64> {
    extremes(rates).map(|(low, high)| high - low)
}

fn extremes(rates: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let rates: Vec<f64> = rates.collect();
    (rates.len() > 1).then(|| {
        rates
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &rate| (low.min(rate), high.max(rate)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_ratios_differ_and_need_two_groups() {
        // The sexes of Adult: 8,417 of 9,730 and 10,782 of 19,574 are turned down.
        let women = Count { rows: 9730, affected: 8417, ..Count::default() };
        let men = Count { rows: 19574, affected: 10782, ..Count::default() };
        let adverse = ratio([women, men].iter().filter_map(Count::adverse_rate)).unwrap();
        let selection = ratio([women, men].iter().filter_map(Count::selection_rate)).unwrap();
        assert_eq!(format!("{adverse:.2} {selection:.2}"), "0.64 0.30");
        assert_eq!(ratio([0.5].into_iter()), None);
        assert_eq!(ratio([0.0, 0.0].into_iter()), None);
        assert_eq!(difference([0.25, 0.75, 0.5].into_iter()), Some(0.5));
        assert_eq!(Count::default().adverse_rate(), None);
    }

    #[test]
    fn the_intervals_of_two_groups_are_those_of_their_pair_and_more_groups_widen_them() {
        let (women, men) = ((1313.0, 9730.0), (8792.0, 19574.0));
        let pair = ratio_of_rates(women, men, CONFIDENCE);
        for rates in [[women, men], [men, women]] {
            let found = ratio_interval(&rates).unwrap();
            assert!(
                (found.low - pair.low).abs() < 1e-9 && (found.high - pair.high).abs() < 1e-9,
                "{found:?}"
            );
        }
        let third = (4000.0, 10000.0);
        let wider = ratio_interval(&[women, third, men]).unwrap();
        assert!(wider.low < pair.low && wider.high > pair.high);
        let gap = difference_interval(&[(30.0, 100.0), (32.0, 100.0)]).unwrap();
        assert!(gap.low == 0.0 && gap.high > 0.02, "the largest difference is never below 0: {gap:?}");
        assert_eq!(ratio_interval(&[women]), None);
        assert!(ratio_interval(&[(0.0, 10.0), (0.0, 10.0)]).unwrap().high <= 1.0);
    }

    #[test]
    fn labels_that_are_the_other_way_round_show() {
        let truth = vec![Some(true), Some(true), None, Some(false)];
        assert_eq!(agreement(&truth, &[2, 3], |_| 1), Some(1.0));
        assert_eq!(agreement(&truth, &[0, 1], |_| 1), Some(0.0));
        assert_eq!(agreement(&truth, &[0, 3], |row| row as u64 + 1), Some(6.0 / 7.0));
        assert_eq!(agreement(&vec![None], &[], |_| 1), None);
    }

    #[test]
    fn people_are_counted_by_group_and_true_label() {
        let groups = Groups {
            name: "g".into(),
            names: vec!["a".into(), "b".into()],
            of_row: vec![0, 0, 0, 1],
            condition: false,
        };
        let truth = vec![Some(true), Some(true), None, Some(false)];
        let counts = count(&groups, &[1, 3], Some(&truth), |_| 1);
        assert_eq!(counts[0], Count { rows: 3, affected: 1, positives: 2, found: 1 });
        assert_eq!(counts[1], Count { rows: 1, affected: 1, positives: 0, found: 0 });
        assert_eq!((counts[0].tpr(), counts[1].tpr()), (Some(0.5), None));
        let counts = count(&groups, &[1, 3], Some(&truth), |row| row as u64 + 1);
        assert_eq!(counts[0], Count { rows: 6, affected: 2, positives: 3, found: 1 });
    }
}
