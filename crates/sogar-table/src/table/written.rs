//! Numbers as people write them: with decimal commas, with thousands separators. They are recognised so that a message can name
//! the setting; they are parsed only if the user says so.

/// How a text writes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writing {
    /// As programs do: `1234.5`.
    Plain,
    /// `1,234`: a decimal comma or a thousands separator.
    Ambiguous,
    /// `1234,5`.
    DecimalComma,
    /// `1.234,5`, `1,234.5`, `1 234 567`, `1'234.5`.
    Thousands,
}

/// Characters that people use as thousands separators.
const SEPARATORS: [char; 7] = [',', '.', ' ', '\'', '’', '\u{a0}', '\u{202f}'];

impl Writing {
    /// How a text writes a number; `None` if it is not a number.
    pub fn of(text: &str) -> Option<Writing> {
        let text = text.trim();
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if text.parse::<f64>().is_ok_and(f64::is_finite) {
            return Some(Writing::Plain);
        }
        if let Some((whole, decimals)) = digits.split_once(',')
            && all_digits(decimals)
            && (whole.is_empty() || all_digits(whole))
        {
            let thousands = decimals.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
            return Some(if thousands { Writing::Ambiguous } else { Writing::DecimalComma });
        }
        let grouped = SEPARATORS.iter().any(|&separator| {
            let decimal = if separator == ',' { '.' } else { ',' };
            let in_thousands = |decimal: char| match digits.split_once(decimal) {
                Some((whole, decimals)) => all_digits(decimals) && thousands(whole, separator),
                None => thousands(digits, separator),
            };
            in_thousands(decimal) || (!matches!(separator, ',' | '.') && in_thousands('.'))
        });
        grouped.then_some(Writing::Thousands)
    }

    /// The most unusual spelling of a number in a column, with an example, if all of its strings are numbers.
    pub fn of_all<'a>(texts: impl Iterator<Item = &'a str>) -> Option<(Writing, &'a str)> {
        let mut oddest: Option<(Writing, &str)> = None;
        for text in texts {
            let writing = Writing::of(text)?;
            if oddest.is_none_or(|(known, _)| writing > known) {
                oddest = Some((writing, text));
            }
        }
        oddest
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Writing::Plain => "a number with a decimal point",
            Writing::Ambiguous => "a number with a decimal comma, or with a separator between thousands",
            Writing::DecimalComma => "a number with a decimal comma",
            Writing::Thousands => "a number with separators between thousands",
        }
    }

    /// The remedy.
    pub fn remedy(self) -> &'static str {
        match self {
            Writing::Plain => {
                "if it is one, write all numbers of the table with the sign that `decimal` under [data] says; if the point separates \
                 thousands, write the numbers without it"
            }
            Writing::DecimalComma => {
                "if it is one, set decimal = \",\" under [data] (--decimal \",\"; outside of CSV also kind = \"numeric\" for the feature)"
            }
            Writing::Thousands => "if it is one, write the numbers without these separators",
            Writing::Ambiguous => {
                "if it is a decimal comma, set decimal = \",\" under [data] (--decimal \",\"); if it separates thousands, write the \
                 numbers without it"
            }
        }
    }
}

/// The unit that follows or precedes the number in every text, such as `%` in `13.5%` or `months` in `36 months`.
pub fn shared_unit<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let unit = unit(texts.next()?)?;
    texts.all(|text| self::unit(text) == Some(unit)).then_some(unit)
}

fn unit(text: &str) -> Option<&str> {
    let text = text.trim();
    let in_number = |sign: char| sign.is_ascii_digit() || "+-.,".contains(sign);
    let after = text.trim_start_matches(in_number);
    let (number, unit) = if after.len() < text.len() {
        (&text[..text.len() - after.len()], after.trim())
    } else {
        let before = text.trim_end_matches(in_number);
        (&text[before.len()..], before.trim())
    };
    // A currency may come first; `A-17` and `area_408` are names.
    let is_name = |sign: char| {
        sign.is_ascii_digit()
            || (after.len() == text.len() && (sign.is_alphanumeric() || "_-:#/".contains(sign)))
    };
    (!unit.is_empty() && !unit.contains(is_name) && Writing::of(number).is_some()).then_some(unit)
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether digits form groups of three with this separator. A single point is a decimal point.
fn thousands(text: &str, separator: char) -> bool {
    let mut groups = text.split(separator);
    let first = groups.next().is_some_and(|first| first.len() <= 3 && all_digits(first));
    let mut count = 0;
    let others = groups.all(|group| {
        count += 1;
        group.len() == 3 && all_digits(group)
    });
    first && others && count > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_recognised_however_they_are_written() {
        for (texts, writing) in [
            (&["12", "-1.5", "+.5", "1e3"][..], Some(Writing::Plain)),
            (&["1,5", "-0,25", ",5", "1234,5", "0,125", "12,3456"], Some(Writing::DecimalComma)),
            (&["1,234", "-12,500"], Some(Writing::Ambiguous)),
            (
                &[
                    "1.234,5",
                    "1,234.5",
                    "1,234,567",
                    "1.234.567",
                    "1 234",
                    "1 234,50",
                    "1'234.50",
                    "12\u{a0}345,6",
                ],
                Some(Writing::Thousands),
            ),
            (&["", "a", "1,", "1,2,3", "12 34", "1.2.3", "1,5 %", "2020-01-01", "1,234.567,8", "inf"], None),
        ] {
            for text in texts {
                assert_eq!(Writing::of(text), writing, "{text}");
            }
        }
    }

    #[test]
    fn units_are_told_from_other_words_beside_numbers() {
        for (texts, unit) in [
            (&["13.5%", "4 %"][..], Some("%")),
            (&[" 36 months", "60 months "], Some("months")),
            (&["$1,200", "$ 15"], Some("$")),
            (&["900,00 EUR", "1.000,00 EUR"], Some("EUR")),
            (&["1 month", "2 months"], None),
            (&["A-17", "B-2"], None),
            (&["941xx", "100xx"], Some("xx")),
            (&["12", "15 %"], None),
            (&["area_408", "area_415"], None),
            (&["A-17", "A-18"], None),
            (&["2 of 3", ""], None),
            (&["%"], None),
            (&[], None),
        ] {
            assert_eq!(shared_unit(texts.iter().copied()), unit, "{texts:?}");
        }
    }

    #[test]
    fn a_column_is_one_of_numbers_if_all_of_its_texts_are() {
        let of = |texts: &[&'static str]| Writing::of_all(texts.iter().copied());
        assert_eq!(of(&["1,5", "2", "3,25"]), Some((Writing::DecimalComma, "1,5")));
        assert_eq!(of(&["1,234", "1,5"]), Some((Writing::DecimalComma, "1,5")));
        assert_eq!(of(&["1,5", "1.234,5"]), Some((Writing::Thousands, "1.234,5")));
        assert_eq!(of(&["1,5", "low"]), None);
        assert_eq!(of(&["1", "2"]), Some((Writing::Plain, "1")));
        assert_eq!(of(&[]), None);
    }
}
