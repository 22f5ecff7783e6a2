//! Reason codes: a CSV with the columns `feature`, `direction`, `code`, `text`.
//!
//! `direction` is `low` or `high` (below or above the median of those whom the model accepts), `missing`, a category or special code, or
//! `any`. The most specific row counts. `text` may be empty; then the text of the messages is used. A row about something that
//! the table does not have is an error: its code would never be given.

use std::collections::BTreeMap;
use std::path::Path;

use super::list::{List, fault, fault_of};
use sogar_base::error::{Result, suggest};
use sogar_base::files::read_bytes;
use sogar_table::feature::{Feature, feature_index};

/// How a person's value is against them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Below the median of those whom the model accepts.
    Low,
    /// Above it.
    High,
    /// Missing.
    Missing,
    /// This category or special code.
    Value(String),
}

impl Direction {
    /// The name in a list of codes.
    pub fn name(&self) -> &str {
        match self {
            Direction::Low => "low",
            Direction::High => "high",
            Direction::Missing => "missing",
            Direction::Value(value) => value,
        }
    }
}

/// A code and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The code.
    pub code: String,
    /// Its text, if the list has one.
    pub text: Option<String>,
}

/// The codes of a user's list, by feature and direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Codes(BTreeMap<(String, Option<Direction>), Code>);

const COLUMNS: [&str; 4] = ["feature", "direction", "code", "text"];

impl Codes {
    /// Reads a list.
    pub fn read(path: &Path, features: &[Feature]) -> Result<Codes> {
        Codes::parse(&read_bytes(path)?, features).map_err(|error| error.file(path))
    }

    fn parse(bytes: &[u8], features: &[Feature]) -> Result<Codes> {
        let list = List::read(bytes, "reason codes")?;
        let place =
            |name| list.place(name, "a list of reason codes has the columns feature, direction, code, text");
        let (feature, direction) = (place("feature")?, place("direction")?);
        let (code, text) = (place("code")?, place("text")?);
        if let Some(unknown) = list.names.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
            return Err(fault(format!("`{unknown}` is not a column of a list of reason codes"), 1)
                .help(suggest(unknown, COLUMNS)));
        }
        let mut codes = BTreeMap::new();
        for (line, row) in list.rows {
            let cell = |place: usize| row.get(place).unwrap_or_default();
            let index =
                feature_index(features, cell(feature)).map_err(|error| fault_of(&error, line, "feature"))?;
            let towards = towards(&features[index], cell(direction))
                .map_err(|(message, help)| fault(message, line).column("direction").help(help))?;
            if cell(code).is_empty() {
                return Err(fault("the code is empty".into(), line).column("code"));
            }
            if let Some(tag) = markup_in(cell(text)) {
                return Err(fault(format!("the text has markup, `{tag}`"), line)
                    .column("text")
                    .help("write plain text: letters show it literally"));
            }
            let text = Some(cell(text).to_owned()).filter(|text| !text.is_empty());
            let entry = Code { code: cell(code).to_owned(), text };
            if codes.insert((features[index].name.clone(), towards), entry).is_some() {
                let (feature, direction) = (cell(feature), cell(direction));
                return Err(fault(format!("`{feature}` has a second row for `{direction}`"), line)
                    .help("keep one of the two rows"));
            }
        }
        Ok(Codes(codes))
    }

    /// The code of a feature in a direction, otherwise of the feature in any direction.
    pub fn find(&self, feature: &str, direction: Option<&Direction>) -> Option<&Code> {
        let key = |direction: Option<&Direction>| (feature.to_owned(), direction.cloned());
        self.0.get(&key(direction)).or_else(|| self.0.get(&key(None)))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The direction of a row, or what is wrong with it and what to do.
fn towards(feature: &Feature, text: &str) -> std::result::Result<Option<Direction>, (String, String)> {
    let level = |text: &str| feature.level_index(text).map(|level| feature.levels()[level].clone());
    Ok(match text {
        "any" | "" => None,
        "missing" => Some(Direction::Missing),
        "low" if feature.is_ordered() => Some(Direction::Low),
        "high" if feature.is_ordered() => Some(Direction::High),
        value if !feature.is_ordered() && level(value).is_some() => level(value).map(Direction::Value),
        code if feature.codes.iter().any(|known| sogar_table::feature::format_number(*known) == code) => {
            Some(Direction::Value(code.to_owned()))
        }
        other => {
            let known: Vec<&str> = match feature.is_ordered() {
                true => vec!["low", "high", "missing", "any"],
                false => feature.levels().iter().map(String::as_str).chain(["missing", "any"]).collect(),
            };
            let help = suggest(other, known);
            return Err((format!("`{other}` is not a direction of `{}`", feature.name), help));
        }
    })
}

/// The first thing in a text that looks like markup.
pub(super) fn markup_in(text: &str) -> Option<String> {
    let opens = |(at, _): &(usize, &str)| {
        text[at + 1..].starts_with(|next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'))
    };
    let (at, _) = text.match_indices('<').find(opens)?;
    Some(text[at..].chars().take(12).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sogar_table::feature::{Columns, Kind};

    fn features() -> Vec<Feature> {
        let feature = |name: &str, kind: Kind| Feature {
            name: name.into(),
            kind,
            columns: Columns::One(name.into()),
            codes: Vec::new(),
            shown: Default::default(),
        };
        let levels = vec!["clerk".to_owned(), "none".to_owned()];
        vec![feature("income", Kind::Integer), feature("job", Kind::Categorical { levels, missing: None })]
    }

    fn parse(text: &str) -> Result<Codes> {
        Codes::parse(text.as_bytes(), &features())
    }

    #[test]
    fn the_most_specific_row_counts() {
        let codes = parse(
            "feature,direction,code,text\nincome,low,R1,Income too low\nincome,any,R2,\njob,none,R3,No job\n",
        )
        .unwrap();
        let of = |feature, direction: Option<Direction>| {
            codes.find(feature, direction.as_ref()).map(|code| code.code.as_str())
        };
        assert_eq!(of("income", Some(Direction::Low)), Some("R1"));
        assert_eq!(of("income", Some(Direction::High)), Some("R2"));
        assert_eq!(of("income", None), Some("R2"));
        assert_eq!(of("job", Some(Direction::Value("none".into()))), Some("R3"));
        assert_eq!(of("job", Some(Direction::Value("clerk".into()))), None);
    }

    #[test]
    fn defects_of_a_list_are_named() {
        for (text, wanted) in [
            ("feature,direction,code\nincome,low,R1\n", "there is no column `text`"),
            ("feature,direction,code,text,more\nincome,low,R1,,\n", "`more` is not a column"),
            ("feature,direction,code,text\nincom,low,R1,\n", "there is no feature `incom`"),
            ("feature,direction,code,text\nincome,lower,R1,\n", "`lower` is not a direction of `income`"),
            ("feature,direction,code,text\njob,low,R1,\n", "`low` is not a direction of `job`"),
            ("feature,direction,code,text\nincome,low,,\n", "the code is empty"),
            ("feature,direction,code,text\nincome,low,R1,\nincome,low,R2,\n", "a second row for `low`"),
            (
                "feature,direction,code,text\nincome,low,R1,a <b>bold</b> claim\n",
                "the text has markup, `<b>bold</b> ",
            ),
            ("feature,direction,code,text\nincome,low\n", "not a list of reason codes"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains(wanted), "{text}: {error}");
        }
        assert!(parse("feature,direction,code,text\nincome,low,R1,income < 500\n").is_ok());
    }
}
