//! How numbers, levels and outcomes are written in sentences.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::markup::visible;

/// The shortest form of a number without loss; whole numbers without a decimal point.
///
/// ```
/// use sogar_base::text::format_number;
/// assert_eq!(format_number(3.0), "3");
/// assert_eq!(format_number(0.1 + 0.2), "0.30000000000000004");
/// assert_eq!(format_number(1e300), "1e300");
/// ```
pub fn format_number(number: f64) -> String {
    let number = number + 0.0; // -0 is 0
    let size = number.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) && number.is_finite() {
        format!("{number:e}")
    } else {
        format!("{number}")
    }
}

/// From here on, an `f64` cannot represent every whole number.
const FIRST_INEXACT: f64 = 9_007_199_254_740_992.0;

/// The number in a text, unless other numbers have the same `f64`.
pub fn exact_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.abs() < FIRST_INEXACT)
}

/// A whole number in groups of three digits: 1,234,567.
pub fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

/// Names of desired outcomes, for a sentence: as the configuration calls them, otherwise as the model does.
pub fn hoped_for(desired: &[String], names: &BTreeMap<String, String>) -> String {
    let name = |class: &String| match names.get(class) {
        Some(name) => format!("“{}”", visible(name)),
        None => format!("`{}`", visible(class)),
    };
    desired.iter().map(name).collect::<Vec<_>>().join(" or ")
}

/// The name of a value in a sentence: in quotes “…” if it has blanks or other characters that do not read as one word.
///
/// ```
/// use sogar_base::text::spoken;
/// assert_eq!(spoken("Exec-managerial"), "Exec-managerial");
/// assert_eq!(spoken("car (used)"), "“car (used)”");
/// assert_eq!(spoken("not Female"), "not Female");
/// ```
pub fn spoken(level: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    // A decimal point does not make a number look odd.
    let number = level.parse::<f64>().is_ok_and(f64::is_finite);
    let word = level.strip_prefix("not ").unwrap_or(level);
    if number || (!word.is_empty() && word.chars().all(plain)) {
        level.to_owned()
    } else {
        format!("“{level}”")
    }
}

/// An amount in a sentence: as [`spoken_number`], with commas between thousands where there are five digits or more. Numbers of four
/// digits, such as years, stay together.
///
/// ```
/// use sogar_base::text::spoken_amount;
/// assert_eq!(["1998", "12,579", "-12,345.5"], [1998.0, 12_579.0, -12_345.5].map(spoken_amount));
/// ```
pub fn spoken_amount(number: f64) -> String {
    let plain = spoken_number(number);
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain.as_str()), |digits| ("-", digits));
    match number.abs() < 10_000.0 || digits.contains('e') {
        true => plain,
        false => format!("{sign}{}", grouped(digits)),
    }
}

/// A number in a sentence: whole numbers unchanged, others to six digits (files have the exact ones).
///
/// ```
/// use sogar_base::text::spoken_number;
/// assert_eq!(spoken_number(0.1 + 0.2), "0.3");
/// assert_eq!(spoken_number(1_234_567.0), "1234567");
/// ```
pub fn spoken_number(number: f64) -> String {
    let rounded = if number.fract() == 0.0 { None } else { format!("{number:.5e}").parse().ok() };
    format_number(rounded.unwrap_or(number))
}
