//! A table's own columns as model columns, for models outside this process.
//!
//! A model that was read from a file expects the numbers that it was trained on. A command or a Python function has its own
//! preprocessing, so it gets the columns as they are in the table: numbers as numbers, categories by name, an empty cell for a
//! missing value.

use std::borrow::Cow;
use std::collections::HashMap;

use super::ModelInfo;
use sogar_table::feature::{Columns, Feature, MISSING_LEVEL, format_number, truth};
use sogar_table::table::{Cells, Table};

/// The columns behind a table's features, in the table's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readable {
    names: Vec<String>,
    /// The texts of codes; empty for numbers.
    texts: Vec<Vec<String>>,
}

impl Readable {
    /// The columns of these features, in the order in which the table has them.
    pub fn new(features: &[Feature], table: &Table) -> Readable {
        let order: HashMap<&str, usize> =
            table.names().enumerate().map(|(position, name)| (name, position)).collect();
        let mut columns: Vec<(String, Vec<String>)> = Vec::new();
        for feature in features {
            match &feature.columns {
                Columns::One(name) => columns.push((name.clone(), feature.levels().to_vec())),
                Columns::OneHot(_) => {
                    columns
                        .extend(feature.columns.names().map(|name| (name.to_owned(), truths(name, table))));
                }
            }
        }
        columns.sort_by_cached_key(|(name, _)| order.get(name.as_str()).copied());
        let (names, texts) = columns.into_iter().unzip();
        Readable { names, texts }
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The text of a cell for the model's value of its column: a number, or the text of a code; empty if the value is missing (or
    /// a category that is not in the reference table).
    pub fn cell(&self, column: usize, value: f64) -> Cow<'_, str> {
        match self.texts.get(column).map_or(&[][..], Vec::as_slice) {
            _ if value.is_nan() => Cow::Borrowed(""),
            [] => Cow::Owned(format_number(value)),
            texts => match texts.get(value as usize).map(String::as_str) {
                Some(MISSING_LEVEL) | None => Cow::Borrowed(""),
                Some(text) => Cow::Borrowed(text),
            },
        }
    }

    /// The description of a model that takes these columns, whose categories are codes into [`Readable::cell`]'s texts.
    pub fn info(&self, format: &str, description: String, classes: u32, threshold: Option<f64>) -> ModelInfo {
        ModelInfo {
            format: format.to_owned(),
            description,
            columns: self.names.clone(),
            categories: self.texts.clone(),
            unplaced_categories: Vec::new(),
            classes,
            class_names: Vec::new(),
            threshold,
        }
    }
}

/// How a table spells false and true in a one-hot column; empty if it has 0 and 1.
fn truths(column: &str, table: &Table) -> Vec<String> {
    let Some(Cells::Text { levels, .. }) = table.column(column).map(|column| &column.cells) else {
        return Vec::new();
    };
    let known = |wanted: bool| levels.iter().find(|level| truth(level) == Some(wanted));
    // If a column lacks one of the two, it is spelled like the other.
    let like = |other: &String, text: &str| match other.chars().collect::<Vec<_>>()[..] {
        [first, second, ..] if first.is_uppercase() && second.is_uppercase() => text.to_uppercase(),
        [first, ..] if first.is_uppercase() => format!("{}{}", text[..1].to_uppercase(), &text[1..]),
        _ => text.to_owned(),
    };
    let of = |wanted: bool, text: &str| match (known(wanted), known(!wanted)) {
        (Some(own), _) => own.clone(),
        (None, Some(other)) => like(other, text),
        (None, None) => text.to_owned(),
    };
    vec![of(false, "false"), of(true, "true")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Encoder;
    use sogar_table::config::ModelConfig;
    use sogar_table::feature::{FeatureTable, Kind};
    use sogar_table::table::Column;

    #[test]
    fn a_row_is_shown_as_the_table_has_it() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let features = vec![
            Feature::new("age", Kind::Real),
            Feature::new("owner", Kind::Binary { levels: texts(&["no", "yes"]) }),
            Feature {
                columns: Columns::OneHot(vec![Some("city_Rome".into()), Some("city_Oslo".into())]),
                ..Feature::new("city", Kind::Categorical { levels: texts(&["Rome", "Oslo"]), missing: None })
            },
            Feature::new(
                "job",
                Kind::Categorical { levels: texts(&[MISSING_LEVEL, "clerk, 2nd"]), missing: Some(0) },
            ),
            Feature::new("rank", Kind::Ordinal { levels: texts(&["low", "high"]) }),
        ];
        let order = ["rank", "age", "owner", "city_Rome", "city_Oslo", "job"];
        let column = |name: &str| match name {
            "city_Rome" => Column::text(name, [Some("False")]),
            _ => Column::numbers(name, vec![0.0]),
        };
        let table = Table::from_columns("", order.map(column).to_vec()).unwrap();
        let readable = Readable::new(&features, &table);
        assert_eq!(readable.names(), order);
        let info = readable.info("command", String::new(), 2, None);
        let (encoder, _) = Encoder::match_columns(&info, &features, &ModelConfig::default()).unwrap();
        let values =
            vec![vec![1.5, f64::NAN], vec![1.0, 2.0], vec![1.0, 2.0], vec![1.0, 0.0], vec![1.0, 0.0]];
        let encoded =
            encoder.encode_rows(&FeatureTable { features, values, rows: 2, weights: None }, &[0, 1]);
        let shown: Vec<Cow<'_, str>> =
            encoded.iter().enumerate().map(|(i, &value)| readable.cell(i % 6, value)).collect();
        assert_eq!(shown[..6], ["high", "1.5", "yes", "False", "1", "clerk, 2nd"]);
        assert_eq!(shown[6..], ["low", "", "", "False", "0", ""]);
    }
}
