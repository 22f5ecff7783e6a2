//! Features: what people see and change, built from a table's columns (SPEC §2).
//!
//! A feature is one column, or a group of one-hot columns that encode one categorical feature. For every kind, a feature's value
//! is one `f64` per row: the number itself, or the index of a level. So all later code (bins, edits, costs, outcomes) needs no
//! special cases.

mod apply;
pub mod codes;
mod column;
mod infer;
mod labels;
mod look;
mod one_hot;
mod ordered;
mod reference;
mod shown;
mod texts;
mod weights;

pub use infer::Inferred;
pub use infer::declare_shown;
pub use labels::{Labels, label_names, label_values};
pub use one_hot::truth;
pub use ordered::Ordered;
pub use reference::{Distributions, Reference};
pub use shown::Shown;
pub use weights::{Scale, Weights};

use serde::{Deserialize, Serialize};

pub use sogar_base::text::{exact_number, format_number};

use sogar_base::error::{Error, ErrorKind, Result, suggest};

/// The name of the category of empty cells if no token was declared for them.
pub const MISSING_LEVEL: &str = "(missing)";

/// A feature's kind, with its levels in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// A real number.
    Real,
    /// A number that is whole in every row.
    Integer,
    /// Named levels in order; the value is the level's index.
    Ordinal {
        /// The levels, lowest first.
        levels: Vec<String>,
    },
    /// Named categories in byte order; the value is the category's index. If rows of the table lack the value, `missing` is the
    /// index of the category for that.
    Categorical {
        /// The categories.
        levels: Vec<String>,
        /// Index of the category that means "missing".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<usize>,
    },
    /// Exactly two values, the smaller first (0 < 1, false < true, no < yes, otherwise byte order); the value is 0 or 1.
    Binary {
        /// The two values as written in the table.
        levels: Vec<String>,
    },
}

/// Where a table has a feature's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Columns {
    /// One column of that name.
    One(String),
    /// 0/1 (or true/false) columns of which at most one is 1 in every row; `OneHot[i]` is the column of level `i`. The level
    /// without a column is that of rows in which none is 1: its column was left out (`drop_first`).
    OneHot(Vec<Option<String>>),
}

impl Columns {
    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (one, several) = match self {
            Columns::One(name) => (Some(name), &[][..]),
            Columns::OneHot(names) => (None, names.as_slice()),
        };
        one.into_iter().chain(several.iter().flatten()).map(String::as_str)
    }
}

/// A feature of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// Its kind.
    #[serde(flatten)]
    pub kind: Kind,
    /// The columns behind it.
    pub columns: Columns,
    /// Values of a number that are not amounts, such as −9 for "refused to answer".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<f64>,
    /// Its words in sentences.
    #[serde(flatten, default)]
    pub shown: Shown,
}

impl Feature {
    /// A feature of one column of the same name, without special codes.
    pub fn new(name: impl Into<String>, kind: Kind) -> Feature {
        let name = name.into();
        let columns = Columns::One(name.clone());
        Feature { name, kind, columns, codes: Vec::new(), shown: Shown::default() }
    }

    /// The named levels; empty for numbers.
    pub fn levels(&self) -> &[String] {
        match &self.kind {
            Kind::Real | Kind::Integer => &[],
            Kind::Ordinal { levels } | Kind::Categorical { levels, .. } | Kind::Binary { levels } => levels,
        }
    }

    /// The position of a level by its name; `1` and `1.0` are the same level. Blanks around a name count, except for the category
    /// that means "missing".
    pub fn level_index(&self, level: &str) -> Option<usize> {
        level_index(self.levels(), level)
            .or_else(|| self.missing_level().filter(|&missing| self.levels()[missing].trim() == level.trim()))
    }

    /// The index of the category that means "missing", if there is one.
    pub fn missing_level(&self) -> Option<usize> {
        match &self.kind {
            Kind::Categorical { missing, .. } => *missing,
            _ => None,
        }
    }

    /// A value of this feature in readable form.
    pub fn value_text(&self, value: f64) -> String {
        if self.is_numeric() {
            return format_number(value);
        }
        // A value that is not an index (NaN, or one past the end) is a gap or an unknown category.
        let level = if value >= 0.0 { self.levels().get(value as usize) } else { None };
        level.cloned().unwrap_or_else(|| if value.is_nan() { MISSING_LEVEL } else { "(unseen)" }.to_owned())
    }

    /// Whether a value is one of the special codes.
    pub fn is_code(&self, value: f64) -> bool {
        self.codes.contains(&value)
    }

    /// Whether the value is a number (real or whole).
    pub fn is_numeric(&self) -> bool {
        matches!(self.kind, Kind::Real | Kind::Integer)
    }

    /// Whether values are ordered, so that shifts make sense.
    pub fn is_ordered(&self) -> bool {
        matches!(self.kind, Kind::Real | Kind::Integer | Kind::Ordinal { .. })
    }

    /// Whether it is categorical with more than an order-free pair of values.
    pub fn is_categorical(&self) -> bool {
        matches!(self.kind, Kind::Categorical { .. })
    }
}

/// A table as features.
///
/// `values[feature][row]`. A missing number is NaN. A category that is not in the reference table (possible in held-out rows) has
/// the value `levels.len()`: it equals no category, and the model gets "none of them".
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureTable {
    /// The features in table order (a one-hot group is at the position of its first column).
    pub features: Vec<Feature>,
    /// One value per feature and row.
    pub values: Vec<Vec<f64>>,
    /// Number of rows.
    pub rows: usize,
    /// How many people each row stands for; `None`: one each.
    pub weights: Option<Weights>,
}

impl FeatureTable {
    /// The weight of a row, in units.
    pub fn weight(&self, row: usize) -> u32 {
        self.weights.as_ref().map_or(1, |weights| weights.of_row(row))
    }

    /// Units in the weight of one person: 1 unless weights have decimals.
    pub fn weight_unit(&self) -> u64 {
        self.weights.as_ref().map_or(1, |weights| u64::from(weights.unit))
    }

    /// The weight of all rows, in units: their number, unless some count more than others.
    pub fn people(&self) -> u64 {
        self.weights.as_ref().map_or(self.rows as u64, Weights::total)
    }

    /// The weight of some rows, in units.
    pub fn people_among(&self, rows: &[usize]) -> u64 {
        match &self.weights {
            None => rows.len() as u64,
            Some(weights) => rows.iter().map(|&row| u64::from(weights.of_row(row))).sum(),
        }
    }

    /// A feature's values in order, each with the weight of its rows; without special codes.
    pub fn ordered(&self, feature: usize) -> Ordered {
        let codes = &self.features[feature].codes;
        if codes.is_empty() {
            return Ordered::new(&self.values[feature], self.weights.as_ref());
        }
        Ordered::new(&codes::without(&self.values[feature], codes), self.weights.as_ref())
    }

    /// Memory of the values.
    pub fn bytes(&self) -> usize {
        let weights = if self.weights.is_some() { size_of::<u32>() } else { 0 };
        self.rows.saturating_mul(self.values.len() * size_of::<f64>() + weights)
    }

    /// The position of the feature of that name, or an error with a suggestion.
    pub fn feature_index(&self, name: &str) -> Result<usize> {
        feature_index(&self.features, name)
    }

    /// One row's values, one per feature.
    pub fn row(&self, row: usize) -> Vec<f64> {
        self.values.iter().map(|values| values[row]).collect()
    }
}

/// The position of a feature by its name, or an error with a suggestion.
pub fn feature_index(features: &[Feature], name: &str) -> Result<usize> {
    features.iter().position(|feature| feature.name == name).ok_or_else(|| {
        Error::new(ErrorKind::Config, format!("there is no feature `{name}`"))
            .help(suggest(name, features.iter().map(|feature| feature.name.as_str())))
    })
}

/// The position of a level, by its text or, if both are numbers, by its number.
fn level_index(levels: &[String], wanted: &str) -> Option<usize> {
    levels.iter().position(|level| level == wanted).or_else(|| {
        let number = exact_number(wanted)?;
        levels.iter().position(|level| exact_number(level) == Some(number))
    })
}

#[cfg(test)]
mod tests;
