//! Classifies a written cell, and collects the distinct strings of a column.
//!
//! A cell alone has no meaning: `NA` is a category in a column of text and a gap in a column of numbers. So a cell is classified
//! first, and the column decides.

use std::collections::HashMap;

use super::{Cells, MISSING};

/// The class of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    /// Only blanks.
    Empty,
    /// A declared string for "missing".
    Token,
    /// A word such as `NA` that means "missing" if the other cells are numbers.
    Gap,
    /// A finite number.
    Number(f64),
    /// A number that is not finite (`inf`, `1e999`).
    Infinite,
    /// Anything else.
    Text,
}

/// Words for a missing number that need no declaration. (`nan` in any case is parsed as a number.)
const GAPS: &[&str] = &["NA", "N/A", "null", "NULL"];

/// Whether a text is a declared string for "missing"; surrounding blanks do not count.
pub fn is_token(tokens: &[String], text: &str) -> bool {
    !tokens.is_empty() && tokens.iter().any(|token| token.trim() == text.trim())
}

/// Classifies a cell, ignoring surrounding blanks. The decimal sign is a point, or a comma.
pub(super) fn classify(cell: &str, missing: &[String], decimal_comma: bool) -> Cell {
    let cell = cell.trim();
    let Some(first) = cell.bytes().next() else { return Cell::Empty };
    if is_token(missing, cell) {
        return Cell::Token;
    }
    // The first letter rules out most strings before the number parser runs.
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.' | b',' | b'i' | b'I' | b'n' | b'N')) {
        return Cell::Text;
    }
    if GAPS.contains(&cell) {
        return Cell::Gap;
    }
    let number = match decimal_comma {
        false => cell.parse::<f64>(),
        true if cell.contains('.') => return Cell::Text, // a thousands separator, or another decimal sign
        true => cell.replacen(',', ".", 1).parse(),
    };
    match number {
        Ok(number) if number.is_finite() => Cell::Number(number + 0.0), // -0 is 0
        Ok(number) if number.is_nan() => Cell::Gap,
        Ok(_) => Cell::Infinite,
        Err(_) => Cell::Text,
    }
}

/// A text column being built: each distinct string is stored once.
#[derive(Debug, Default)]
pub(super) struct Texts {
    codes: Vec<u32>,
    known: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Texts {
    /// An empty column with room for `rows` cells.
    pub(super) fn with_capacity(rows: usize) -> Self {
        Texts { codes: Vec::with_capacity(rows), ..Texts::default() }
    }

    /// How many cells there are.
    #[cfg(feature = "parquet")]
    pub(super) fn rows(&self) -> usize {
        self.codes.len()
    }

    /// Adds a cell; `None` is missing.
    pub(super) fn push(&mut self, cell: Option<&str>) {
        let Some(cell) = cell else { return self.codes.push(MISSING) };
        let code = match self.known.get(cell) {
            Some(code) => *code,
            None => {
                let code = self.texts.len() as u32;
                self.known.insert(cell.to_owned(), code);
                self.texts.push(cell.to_owned());
                code
            }
        };
        self.codes.push(code);
    }

    /// The column, its levels in byte order.
    pub(super) fn finish(self) -> Cells {
        let mut order: Vec<u32> = (0..self.texts.len() as u32).collect();
        order.sort_by(|a, b| self.texts[*a as usize].cmp(&self.texts[*b as usize]));
        let mut place = vec![0; order.len()];
        for (position, code) in order.iter().enumerate() {
            place[*code as usize] = position as u32;
        }
        let codes = self
            .codes
            .into_iter()
            .map(|code| if code == MISSING { MISSING } else { place[code as usize] })
            .collect();
        let mut levels = self.texts;
        levels.sort();
        Cells::Text { codes, levels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_classified() {
        let missing = ["?".to_owned(), "-1".to_owned()];
        let cell = |text: &str| classify(text, &missing, false);
        assert_eq!(cell(""), Cell::Empty);
        assert_eq!(cell("?"), Cell::Token);
        assert_eq!(cell("-1"), Cell::Token);
        for gap in ["NA", "N/A", "NaN", "nan", "null", "NULL"] {
            assert_eq!(cell(gap), Cell::Gap, "{gap}");
        }
        for (text, number) in [("12", 12.0), ("-1.5e3", -1500.0), ("+.5", 0.5), ("7.", 7.0)] {
            assert_eq!(cell(text), Cell::Number(number));
        }
        for text in ["inf", "-Infinity", "1e999"] {
            assert_eq!(cell(text), Cell::Infinite, "{text}");
        }
        for text in ["1,5", "12 DM", "no", "1_000", "<1", "0x10"] {
            assert_eq!(cell(text), Cell::Text, "{text}");
        }
    }

    #[test]
    fn a_decimal_comma_is_understood_where_it_is_declared() {
        let cell = |text: &str| classify(text, &["-9,9".to_owned()], true);
        for (text, number) in [("1,5", 1.5), ("-0,25", -0.25), (",5", 0.5), ("12", 12.0), ("1,5e3", 1500.0)] {
            assert_eq!(cell(text), Cell::Number(number), "{text}");
        }
        for text in ["1.5", "1.234,5", "1,234,567", "1,2.3", ","] {
            assert_eq!(cell(text), Cell::Text, "{text}");
        }
        assert_eq!(cell("-9,9"), Cell::Token);
        assert_eq!(cell("NA"), Cell::Gap);
    }

    #[test]
    fn minus_zero_is_zero() {
        let Cell::Number(number) = classify("-0", &[], false) else { panic!("a number") };
        assert!(number.is_sign_positive());
    }

    #[test]
    fn levels_are_distinct_and_in_byte_order() {
        let mut texts = Texts::default();
        for cell in [Some("b"), None, Some("a"), Some("b"), Some("Z")] {
            texts.push(cell);
        }
        let levels = ["Z", "a", "b"].map(String::from).to_vec();
        assert_eq!(texts.finish(), Cells::Text { codes: vec![2, MISSING, 1, 2, 0], levels });
    }
}
