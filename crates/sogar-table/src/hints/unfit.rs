//! Columns that are not features: ids, row numbers, dates, free text, constants, the label itself.
//!
//! Distinct numbers alone do not make an id (an income may be distinct in every row); the name or the order must say so. Mostly
//! distinct strings do: no group of people shares one of the values.

use super::{dates, words};
use crate::table::{Cells, Column, MISSING};

/// Words in names of columns that number people or things.
const IDS: &[&str] = &["id", "ids", "identifier", "uuid", "guid"];
/// Words that do so at the end of a name.
const NUMBERING: &[&str] = &["index", "key", "no", "nr", "num", "number"];
/// What such a word begins with if it is written in one with what it numbers: `custid`, `pidnum`, `caseno`.
const NUMBERED: &[&str] = &[
    "acc",
    "account",
    "app",
    "applicant",
    "application",
    "booking",
    "case",
    "client",
    "cust",
    "customer",
    "emp",
    "employee",
    "fam",
    "family",
    "hh",
    "household",
    "loan",
    "member",
    "order",
    "p",
    "pat",
    "patient",
    "person",
    "policy",
    "record",
    "resp",
    "respondent",
    "row",
    "s",
    "student",
    "subj",
    "subject",
    "u",
    "user",
];
/// Fewer values than this show nothing.
const FEW: u64 = 20;
/// This many consecutive numbers are not a measurement.
const MANY: usize = 100;
/// Strings longer than this on average are free text.
const LONG: u64 = 25;

/// Why a column is not a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// All rows have the same value.
    Constant,
    /// It identifies rows or people.
    Id,
    /// It is a date or a time.
    Date,
    /// Nearly every row has its own text.
    FreeText,
    /// It holds the outcome that the model predicts.
    Label,
}

impl Unfit {
    /// The kind of column, in words that follow its name.
    pub fn text(self) -> &'static str {
        match self {
            Unfit::Constant => "has the same value in all rows",
            Unfit::Id => "looks like an id",
            Unfit::Date => "looks like a date",
            Unfit::FreeText => "looks like free text",
            Unfit::Label => "looks like the label, which the model does not use",
        }
    }
}

/// Why a column is not a feature, if its name and values say so. `rows` is the number of rows of each cell (empty: one), and
/// `first` whether the column is the table's first.
pub fn unfit(column: &Column, rows: &[u64], first: bool, missing: &[String]) -> Option<Unfit> {
    let words = words(&column.name);
    match &column.cells {
        Cells::Numbers(numbers) => {
            if numbers.iter().all(|number| *number == numbers[0]) {
                return Some(Unfit::Constant);
            }
            of_numbers(numbers, rows, first, &words)
        }
        Cells::Text { codes, levels } => {
            let mut counts = vec![0u64; levels.len()];
            for (cell, &code) in codes.iter().enumerate().filter(|(_, code)| **code != MISSING) {
                counts[code as usize] += rows.get(cell).copied().unwrap_or(1);
            }
            let gaps = codes.contains(&MISSING) || levels.iter().any(|level| missing.contains(level));
            let known = levels.iter().zip(counts).filter(|(level, _)| !missing.contains(level));
            of_texts(&known.collect::<Vec<_>>(), gaps)
        }
    }
}

fn of_numbers(numbers: &[f64], rows: &[u64], first: bool, words: &[String]) -> Option<Unfit> {
    if dates::are_dates(numbers, words) {
        return Some(Unfit::Date);
    }
    let whole = |number: &f64| number.fract() == 0.0;
    if !numbers.iter().filter(|number| !number.is_nan()).all(whole) {
        return None;
    }
    let has_id = words.iter().any(|word| is_id(word));
    let unnamed = words.first().is_none_or(|word| word == "unnamed");
    let named = has_id || unnamed || words.last().is_some_and(|word| NUMBERING.contains(&word.as_str()));
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|number| !number.is_nan()).collect();
    let ascending = sorted.len() == numbers.len() && sorted.is_sorted_by(|a, b| a < b);
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    let all: u64 = if rows.is_empty() { numbers.len() as u64 } else { rows.iter().sum() };
    let distinct = sorted.len() as u64;
    if distinct < all {
        // Several rows per person: only a plain `id` counts.
        return (has_id && all >= FEW && distinct * 2 > all).then_some(Unfit::Id);
    }
    let (low, high) = (*sorted.first()?, *sorted.last()?);
    let consecutive = high - low + 1.0 == distinct as f64;
    let numbered = consecutive && (distinct as usize >= MANY || (ascending && distinct >= FEW));
    let in_order = ascending && first && distinct as usize >= MANY;
    ((named && all > 2) || numbered || in_order).then_some(Unfit::Id)
}

/// Whether a word says that a number identifies something.
fn is_id(word: &str) -> bool {
    let thing = |end: &str| word.strip_suffix(end).is_some_and(|thing| NUMBERED.contains(&thing));
    IDS.contains(&word) || ["id", "no", "nr", "num", "idnum", "idno"].into_iter().any(thing)
}

fn of_texts(known: &[(&String, u64)], gaps: bool) -> Option<Unfit> {
    let all: u64 = known.iter().map(|(_, count)| count).sum();
    if known.len() == 1 && !gaps {
        return Some(Unfit::Constant);
    }
    let dated: u64 = known.iter().filter(|(level, _)| dates::is_date(level)).map(|(_, count)| count).sum();
    if all > 0 && dated * 10 >= all * 9 {
        return Some(Unfit::Date);
    }
    if all < FEW || known.len() as u64 * 2 <= all {
        return None;
    }
    let letters: u64 = known.iter().map(|(level, _)| level.chars().count() as u64).sum();
    let written = letters > LONG * known.len() as u64;
    Some(if written { Unfit::FreeText } else { Unfit::Id })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_numbers(name: &str, values: impl IntoIterator<Item = f64>) -> Option<Unfit> {
        unfit(&Column::numbers(name, values.into_iter().collect()), &[], false, &[])
    }

    fn of_texts(values: impl IntoIterator<Item = String>) -> Option<Unfit> {
        let values: Vec<String> = values.into_iter().collect();
        unfit(&Column::text("x", values.iter().map(|value| Some(value.as_str()))), &[], false, &["?".into()])
    }

    #[test]
    fn ids_are_named_or_run_on() {
        let scattered = || (0..200u32).map(|i| f64::from(i * 7919 % 10_007));
        assert_eq!(of_numbers("income", scattered()), None, "distinct numbers are normal");
        assert_eq!(of_numbers("customer_id", scattered()), Some(Unfit::Id));
        assert_eq!(of_numbers("EmployeeNumber", scattered()), Some(Unfit::Id));
        assert_eq!(of_numbers("Unnamed: 0", scattered()), Some(Unfit::Id));
        for name in ["pidnum", "custid", "caseno", "row_num", "hhid", "rownum"] {
            assert_eq!(of_numbers(name, scattered()), Some(Unfit::Id), "{name}");
        }
        for name in ["paid", "bid", "acid", "recid", "covid", "piano"] {
            assert_eq!(of_numbers(name, scattered()), None, "{name}");
        }
        assert_eq!(of_numbers("paid", (0..200).map(|i| f64::from(i % 7))), None);
        assert_eq!(of_numbers("x", (1..=30).map(f64::from)), Some(Unfit::Id), "row numbers");
        assert_eq!(of_numbers("x", (1..=10).map(f64::from)), None, "too few to tell");
        assert_eq!(
            of_numbers("x", (0..101u32).map(|i| f64::from(i * 37 % 101))),
            Some(Unfit::Id),
            "shuffled"
        );
        assert_eq!(of_numbers("x", (0..150).map(|i| f64::from(i) + 0.5)), None);
        assert_eq!(
            of_numbers("person_id", (0..100).map(|i| f64::from(i / 2 * 3))),
            None,
            "half of them are pairs"
        );
        assert_eq!(of_numbers("person_id", (0..100).map(|i| f64::from(i * 2 / 3 * 5))), Some(Unfit::Id));
        let sorted = Column::numbers("x", (0..150).map(|i| f64::from(i * i)).collect());
        assert_eq!(unfit(&sorted, &[], true, &[]), Some(Unfit::Id));
        assert_eq!(unfit(&sorted, &[], false, &[]), None);
    }

    #[test]
    fn texts_of_their_own_are_ids_or_free_text() {
        assert_eq!(of_texts((0..40).map(|i| format!("A-{i}"))), Some(Unfit::Id));
        assert_eq!(of_texts((0..40).map(|i| format!("A-{}", i / 2))), None);
        assert_eq!(
            of_texts((0..40).map(|i| format!("called on day {i} and wanted to know more"))),
            Some(Unfit::FreeText)
        );
        assert_eq!(of_texts((0..10).map(|i| format!("A-{i}"))), None, "too few to tell");
        assert_eq!(of_texts((0..40).map(|i| ["clerk", "cook", "smith"][i % 3].to_owned())), None);
        assert_eq!(of_texts((0..40).map(|_| "same".to_owned())), Some(Unfit::Constant));
        assert_eq!(of_texts(["a", "?"].map(String::from)), None, "a gap is a value too");
    }

    #[test]
    fn dates_are_recognised_however_often_they_repeat() {
        assert_eq!(of_texts((0..60).map(|i| format!("2021-03-{:02}", i % 28 + 1))), Some(Unfit::Date));
        assert_eq!(of_texts((0..60).map(|i| if i < 10 { "n/a".into() } else { "2021-03-01".into() })), None);
        assert_eq!(
            of_numbers("issue_date", (0..60).map(|i| 20_210_301.0 + f64::from(i % 28))),
            Some(Unfit::Date)
        );
        assert_eq!(of_numbers("income", (0..60).map(|i| 20_210_301.0 + f64::from(i % 28))), None);
    }

    #[test]
    fn repeated_values_count_as_often_as_rows_have_them() {
        let column = Column::text("x", [Some("a"), Some("b"), None]);
        assert_eq!(unfit(&column, &[30, 10, 5], false, &[]), None);
        let column = Column::numbers("id", vec![1.0, 2.0, 3.0]);
        assert_eq!(unfit(&column, &[1, 1, 1], false, &[]), Some(Unfit::Id));
        assert_eq!(unfit(&column, &[1, 1, 9], false, &[]), None);
    }
}
