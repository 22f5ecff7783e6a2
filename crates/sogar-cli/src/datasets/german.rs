//! The German Credit codes (`A11`, `A12`, …) and what they mean, after the description published with the data.
//!
//! A few meanings are shortened: `telephone` reads `yes` / `no` instead of "yes, registered under the customer's
//! name" / "none", and `property` leaves out "if not …". The label reads `good` / `bad` instead of 1 / 2.

use sogar::error::{Error, ErrorKind, Result};

/// The meanings of a coded column's codes.
type Codes = &'static [(&'static str, &'static str)];

/// Columns in the file's order, with their codes; a column without codes holds numbers.
pub(super) const COLUMNS: [(&str, Codes); 21] = [
    (
        "status",
        &[
            ("A11", "... < 0 DM"),
            ("A12", "0 <= ... < 200 DM"),
            ("A13", "... >= 200 DM / salary assignments for at least 1 year"),
            ("A14", "no checking account"),
        ],
    ),
    ("duration", &[]),
    (
        "credit_history",
        &[
            ("A30", "no credits taken/ all credits paid back duly"),
            ("A31", "all credits at this bank paid back duly"),
            ("A32", "existing credits paid back duly till now"),
            ("A33", "delay in paying off in the past"),
            ("A34", "critical account/ other credits existing (not at this bank)"),
        ],
    ),
    (
        "purpose",
        &[
            ("A40", "car (new)"),
            ("A41", "car (used)"),
            ("A42", "furniture/equipment"),
            ("A43", "radio/television"),
            ("A44", "domestic appliances"),
            ("A45", "repairs"),
            ("A46", "education"),
            ("A48", "retraining"),
            ("A49", "business"),
            ("A410", "others"),
        ],
    ),
    ("credit_amount", &[]),
    (
        "savings",
        &[
            ("A61", "... < 100 DM"),
            ("A62", "100 <= ... < 500 DM"),
            ("A63", "500 <= ... < 1000 DM"),
            ("A64", "... >= 1000 DM"),
            ("A65", "unknown/ no savings account"),
        ],
    ),
    (
        "present_employment",
        &[
            ("A71", "unemployed"),
            ("A72", "... < 1 year"),
            ("A73", "1 <= ... < 4 years"),
            ("A74", "4 <= ... < 7 years"),
            ("A75", "... >= 7 years"),
        ],
    ),
    ("installment_rate", &[]),
    (
        "status_sex",
        &[
            ("A91", "male : divorced/separated"),
            ("A92", "female : divorced/separated/married"),
            ("A93", "male : single"),
            ("A94", "male : married/widowed"),
        ],
    ),
    ("other_debtors", &[("A101", "none"), ("A102", "co-applicant"), ("A103", "guarantor")]),
    ("residence_since", &[]),
    (
        "property",
        &[
            ("A121", "real estate"),
            ("A122", "building society savings agreement / life insurance"),
            ("A123", "car or other"),
            ("A124", "unknown / no property"),
        ],
    ),
    ("age", &[]),
    ("installment_plans", &[("A141", "bank"), ("A142", "stores"), ("A143", "none")]),
    ("housing", &[("A151", "rent"), ("A152", "own"), ("A153", "for free")]),
    ("number_of_credits", &[]),
    (
        "job",
        &[
            ("A171", "unemployed/ unskilled - non-resident"),
            ("A172", "unskilled - resident"),
            ("A173", "skilled employee/ official"),
            ("A174", "management/ self-employed/ highly qualified employee/ officer"),
        ],
    ),
    ("people_liable_for", &[]),
    ("telephone", &[("A191", "no"), ("A192", "yes")]),
    ("foreign_worker", &[("A201", "yes"), ("A202", "no")]),
    ("credit", &[("1", "good"), ("2", "bad")]),
];

/// `german.data` as a readable CSV with a header.
pub(super) fn decode(original: &[u8]) -> Result<Vec<u8>> {
    let text = std::str::from_utf8(original)
        .map_err(|_| Error::new(ErrorKind::Table, "not a text file").help("expected UCI's `german.data`"))?;
    let mut table = String::with_capacity(4 * text.len());
    let header: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    push_line(&mut table, &header);
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let cells = decode_line(line).map_err(|error| error.row(index + 1))?;
        push_line(&mut table, &cells);
    }
    Ok(table.into_bytes())
}

fn decode_line(line: &str) -> Result<Vec<&str>> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    if fields.len() != COLUMNS.len() {
        return Err(Error::new(
            ErrorKind::Table,
            format!("{} fields, expected {}", fields.len(), COLUMNS.len()),
        )
        .help("expected UCI's `german.data`: blank-separated codes, no header"));
    }
    fields.into_iter().zip(&COLUMNS).map(|(field, (name, codes))| decode_cell(field, name, codes)).collect()
}

fn decode_cell<'a>(field: &'a str, column: &str, codes: Codes) -> Result<&'a str> {
    if codes.is_empty() {
        return match field.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Ok(field),
            false => Err(Error::new(ErrorKind::Table, format!("`{field}` is not a number")).column(column)),
        };
    }
    match codes.iter().find(|(code, _)| *code == field) {
        Some((_, meaning)) => Ok(meaning),
        None => Err(Error::new(ErrorKind::Table, format!("unknown code `{field}`")).column(column)),
    }
}

/// No meaning contains a comma or a quote, so joining gives valid CSV.
fn push_line(table: &mut String, cells: &[&str]) {
    table.push_str(&cells.join(","));
    table.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings_need_no_quotes() {
        for (name, codes) in &COLUMNS {
            assert!(!name.contains([',', '"']));
            assert!(codes.iter().all(|(_, meaning)| !meaning.contains([',', '"', '\n'])));
        }
    }

    #[test]
    fn an_unknown_code_is_an_error_with_its_place() {
        let error = decode(b"A99 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1")
            .unwrap_err();
        assert_eq!(error.to_string(), "line 1, column `status`: unknown code `A99`");
    }

    #[test]
    fn a_short_line_is_an_error_with_its_place() {
        let error = decode(b"\nA11 6\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2: 2 fields, expected 21");
    }

    #[test]
    fn text_in_a_numeric_column_is_an_error() {
        let error =
            decode(b"A11 six A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1")
                .unwrap_err();
        assert_eq!(error.to_string(), "line 1, column `duration`: `six` is not a number");
    }
}
