//! What looks like a date: `2021-03-05`, `5.3.2021 14:00`, `03/05/21`, `Mar-2021`, `5 March 2021`, and 20210305 or 2021 in a column named as a date
//! or year.

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const YEARS: &[&str] = &["year", "yr", "jahr", "annee", "ano"];
const CALLED: &[&str] = &["date", "datum", "day", "fecha", "timestamp", "time", "datetime", "epoch"];

/// Whether a text is a date, with or without a time.
pub(super) fn is_date(text: &str) -> bool {
    let text = text.trim();
    let date = match text.split_once(['T', ' ']) {
        // A time, or the rest of `5 March 2021`.
        Some((date, time)) if time.contains(':') && date.ends_with(|sign: char| sign.is_ascii_digit()) => {
            // The time of `5 March 2021 14:00` follows the last space.
            if parts(date).len() < 2 { text.rsplit_once(' ').map_or(text, |(date, _)| date) } else { date }
        }
        _ => text,
    };
    let parts = parts(date);
    match parts[..] {
        [DatePart::Number(year, 4), DatePart::Number(month, 1..=2), DatePart::Number(day, 1..=2)] => {
            is_year(year) && is_month(month) && is_day(day)
        }
        [
            DatePart::Number(a, 1..=2),
            DatePart::Number(b, 1..=2),
            DatePart::Number(year, length @ (2 | 4)),
        ] => (length == 2 || is_year(year)) && is_day(a) && is_day(b) && (is_month(a) || is_month(b)),
        [DatePart::Number(year, 4), DatePart::Number(month, 2)] => is_year(year) && is_month(month),
        [DatePart::Number(month, 1..=2), DatePart::Number(year, 4)] => is_year(year) && is_month(month),
        [DatePart::Month, DatePart::Number(year, length @ (2 | 4))] => length == 2 || is_year(year),
        [DatePart::Number(day, 1..=2), DatePart::Month, DatePart::Number(..)]
        | [DatePart::Month, DatePart::Number(day, 1..=2), DatePart::Number(..)] => is_day(day),
        _ => false,
    }
}

/// Whether a column named as a date has numbers such as 20210305, or seconds since 1970, or one named as a year has those of the calendar.
pub(super) fn are_dates(numbers: &[f64], words: &[String]) -> bool {
    let called = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let mut known = numbers.iter().copied().filter(|number| !number.is_nan()).peekable();
    let dated = |number: f64| {
        let whole = number as u32;
        number.fract() == 0.0 && is_year(whole / 10_000) && is_month(whole / 100 % 100) && is_day(whole % 100)
    };
    let year = |number: f64| number.fract() == 0.0 && number > 0.0 && is_year(number as u32);
    let ticking = |number: f64| (3e8..4e9).contains(&number) || (3e11..4e12).contains(&number);
    if known.peek().is_none() {
        return false;
    }
    if called(YEARS) {
        return known.all(year);
    }
    if !called(CALLED) {
        return false;
    }
    numbers.iter().filter(|number| !number.is_nan()).all(|&number| dated(number))
        // Years with the day as a fraction: 2016.5.
        || called(&["date", "datum", "fecha"]) && known.clone().all(|number| is_year(number as u32) && number > 0.0)
        || known.all(ticking) && called(&["timestamp", "epoch", "datetime"])
}

#[derive(Clone, Copy)]
enum DatePart {
    /// A number and how many digits it has.
    Number(u32, usize),
    /// The name of a month.
    Month,
    Other,
}

/// The parts of a date, split at its separators.
fn parts(text: &str) -> Vec<DatePart> {
    let signs = |sign: char| matches!(sign, '-' | '/' | '.' | ' ' | ',');
    text.split(signs)
        .filter(|part| !part.is_empty())
        .take(4)
        .map(|part| match part.parse() {
            Ok(number) if part.bytes().all(|byte| byte.is_ascii_digit()) => {
                DatePart::Number(number, part.len())
            }
            _ => {
                let name = part.to_ascii_lowercase();
                let month = name.len() >= 3 && MONTHS.iter().any(|month| month.starts_with(&name));
                if month { DatePart::Month } else { DatePart::Other }
            }
        })
        .collect()
}

fn is_year(year: u32) -> bool {
    (1850..=2150).contains(&year)
}

fn is_month(month: u32) -> bool {
    (1..=12).contains(&month)
}

fn is_day(day: u32) -> bool {
    (1..=31).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_distinguished_from_other_texts() {
        for text in [
            "2021-03-05",
            "2021/03/05",
            "5.3.2021",
            "05.03.2021 14:00",
            "03/05/21",
            "12/31/2020",
            "2021-03",
            "03/2021",
            "Mar-2021",
            "Dec-11",
            "5 March 2021",
            "March 5, 2021",
            "2021-03-05T14:00:00Z",
            "2021-03-05 14:00:00.123",
            " 2021-03-05 ",
            "5 Mar 2021 14:00",
            "OCT-2021",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "",
            "clerk",
            "2021",
            "1.5",
            "1-2",
            "10.0.0.1",
            "1.2.3",
            "A-17",
            "2010-2015",
            "marble-20",
            "12:30",
            "3/4",
            "0-3",
            "-7",
            "99/99/99",
            "May",
            "2021-13-05",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn years_of_the_calendar_are_dates_and_counts_of_years_are_not() {
        let dates = |name: &str, numbers: &[f64]| are_dates(numbers, &crate::hints::words(name));
        assert!(dates("year", &[1980.0, 1987.0, f64::NAN]) && dates("Year_of_sale", &[2009.0]));
        assert!(!dates("year", &[1.0, 2.0, 3.0]) && !dates("YearsAtCompany", &[1980.0]));
        assert!(!dates("income", &[1980.0, 2001.0]) && !dates("year", &[f64::NAN]));
        assert!(dates("arrival_date_num", &[2016.5, 2017.25]) && !dates("daily_rate", &[2016.5]));
        assert!(!dates("yr_renovated", &[0.0, 1998.0]), "0 is a code, and the rest may be edited");
    }
}
