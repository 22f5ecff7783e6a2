//! Features: what people see and change, made from a table's columns (SPEC §2).
//!
//! A feature is one column, or a group of one-hot columns that together are one categorical feature. Whatever the
//! kind, a feature's value is one `f64` a row: the number itself, or the index of a level. That keeps everything
//! behind this point (bins, edits, costs, outcomes) free of special cases.

use serde::{Deserialize, Serialize};

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
    /// Named categories in byte order; the value is the category's index. If rows of the table lack the value,
    /// `missing` is the index of the category that stands for that.
    Categorical {
        /// The categories.
        levels: Vec<String>,
        /// Index of the category that means "missing".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<usize>,
    },
    /// Exactly two values, the smaller first (0 < 1, false < true, no < yes, else byte order); the value is 0 or 1.
    Binary {
        /// The two values as written in the table.
        levels: Vec<String>,
    },
}

/// Where a feature's value is found in a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Columns {
    /// One column of that name.
    One(String),
    /// 0/1 columns of which exactly one is 1 in every row; `OneHot[i]` stands for level `i`.
    OneHot(Vec<String>),
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
}

impl Feature {
    /// The named levels; empty for numbers.
    pub fn levels(&self) -> &[String] {
        match &self.kind {
            Kind::Real | Kind::Integer => &[],
            Kind::Ordinal { levels } | Kind::Categorical { levels, .. } | Kind::Binary { levels } => levels,
        }
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

/// A table seen through its features.
///
/// `values[feature][row]`. A missing number is NaN. A category that the reference table never had (possible in
/// held-out rows) has the value `levels.len()`: it equals no category, and the model is told "none of them".
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureTable {
    /// The features in table order (a one-hot group stands where its first column stood).
    pub features: Vec<Feature>,
    /// One value per feature and row.
    pub values: Vec<Vec<f64>>,
    /// Number of rows.
    pub rows: usize,
}
