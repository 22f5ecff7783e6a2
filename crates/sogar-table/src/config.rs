//! `sogar.toml`: all settings of a table, its features and the search.
//!
//! Command-line flags and Python arguments override the file. Unknown keys are errors with a suggestion. The JSON Schema that the
//! CLI prints comes from these types.
//!
//! This module has only the types; `read.rs` reads them, `check.rs` checks them by themselves, and `fit.rs` checks them against a
//! table.

mod amounts;
mod bins;
mod check;
mod command;
mod device;
mod fairness;
mod fit;
mod plausibility;
mod presets;
mod read;
mod recorded;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use amounts::parse_bytes;
pub use bins::BinRule;
pub use command::words;
pub use device::Device;
pub use fairness::{FairnessConfig, FairnessGoal, Share};
pub use plausibility::PlausibilityConfig;
pub use presets::{Preset, presets};

use read::{OneOrMany, one_or_many, optional_one_or_many};

/// The whole configuration. Every field has a default; an empty file is valid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How the table is read and what its label is.
    pub data: DataConfig,
    /// How the model's answers are interpreted.
    pub model: ModelConfig,
    /// Settings per feature, by name.
    pub features: BTreeMap<String, FeatureConfig>,
    /// Features that move together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Conditions such as `years_in_role <= years_at_company` that an action must not break.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Bins of every numeric feature that does not set its own.
    pub bins: Bins,
    /// How far shifts move a number: `round` (default), or `bins` as in the published experiments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberRule>,
    /// The recourse cost.
    pub cost: CostConfig,
    /// Limits of trees, actions and resources.
    pub limits: Limits,
    /// What the search does about groups of people.
    #[serde(skip_serializing_if = "FairnessConfig::is_empty")]
    pub fairness: FairnessConfig,
    /// How usual edited rows must be.
    #[serde(skip_serializing_if = "PlausibilityConfig::is_empty")]
    pub plausibility: PlausibilityConfig,
    /// Seed of everything random (sampling, bootstrap); the search itself is deterministic.
    pub seed: u64,
}

/// How the table is read and what its label is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DataConfig {
    /// The column with the true label; it is not a feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The label values that count as the desired outcome (default: class 1).
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany")]
    pub desired: Vec<String>,
    /// The column that says how many people each row stands for; it is not a feature. Whole numbers, or up to six decimals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// Columns that are neither features nor label (ids, …).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Strings that mean "missing", besides the empty cell.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany")]
    pub missing: Vec<String>,
    /// Whether to strip blanks (spaces, tabs, no-break spaces, …) from cells (default: false). Headers, numbers and `missing` are
    /// always compared without them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trim: bool,
    /// Numbers that are not amounts, such as −9 for "refused to answer", in every numeric column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<f64>,
    /// CSV delimiter, one character (default: found from the header).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// The decimal sign of numbers in text: `"."` (default) or `","`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<String>,
    /// Whether 0/1 columns with a common prefix that sum to 1 become one categorical feature (default: true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infer_one_hot: Option<bool>,
}

/// How the model's answers are interpreted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    /// Class names in the order of the model's class indices. Default: the label column's values in order (as scikit-learn sorts
    /// them), otherwise `0`, `1`, ….
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany")]
    pub classes: Vec<String>,
    /// Decision threshold of a score model (default: the library's own).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// A command as the model, instead of a file: it gets rows as CSV and prints one answer per line. No shell is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What the command prints (default: scores).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<AnswerKind>,
    /// Time limit of the command for a batch of rows, in seconds (default: 600).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Rows per batch of the command (default: 100,000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Commands that may run at the same time (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Of several models (`--also`), how many must accept before an action works, the first always among them: a number, or
    /// `"all"` (default).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agree: Option<Agree>,
    /// The table columns of model columns: `columns."model column" = "table column or feature[=level]"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// Names of the classes in sentences: `outcomes.bad = "declined"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outcomes: BTreeMap<String, String>,
}

/// How many of several models must accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Agree {
    /// This many, the first among them.
    Count(u32),
    /// `"all"`.
    Named(String),
}

/// What a command prints for a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// A number; class 1 iff it is above the threshold (default 0.5).
    #[default]
    Scores,
    /// The name of a class.
    Labels,
}

impl AnswerKind {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            AnswerKind::Scores => "scores",
            AnswerKind::Labels => "labels",
        }
    }

    /// The name of one answer.
    pub fn one(self) -> &'static str {
        match self {
            AnswerKind::Scores => "score",
            AnswerKind::Labels => "label",
        }
    }
}

/// Settings of one feature.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FeatureConfig {
    /// The kind, if it should not be inferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindName>,
    /// Levels of an ordinal feature, lowest first.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany")]
    pub levels: Vec<String>,
    /// The one-hot columns of this feature (levels are named by what follows the common prefix, or by `levels`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The category whose one-hot column was left out (`drop_first`): that of rows in which none of `columns` is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
    /// Numbers that are not amounts, such as −9 for "refused to answer" (default: those under `[data]`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codes: Option<Vec<f64>>,
    /// No action changes it (it may still be used for splits).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immutable: Option<bool>,
    /// No action changes it and no tree splits on it (age, sex, race, …). `false` explicitly allows both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protected: Option<bool>,
    /// Edits only increase or only decrease it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// `[lo, hi]` that edits stay within (default: the table's smallest and largest value).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Shift sizes in bins, rounded as `numbers` says (default: up to half of the usual range in `limits.steps` steps).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<u32>>,
    /// Bins for splits and the width of a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<Bins>,
    /// Categories that an edit may set (default: all except the missing one). For a number, values that edits may raise it to or
    /// bring it down to, besides shifts (default: none): `true` for the lower ends of its bins, `"quantiles"` for the deciles of the
    /// table, or a list of numbers.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_one_or_many")]
    #[schemars(with = "Option<OneOrMany>")]
    pub targets: Option<Vec<String>>,
    /// Transitions `[from, to]` that are not allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forbid: Vec<[String; 2]>,
    /// How categories are edited (default: `set`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<EditStyle>,
    /// Whether trees may split on it (default: true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<bool>,
    /// Its name in sentences, such as `monthly income` (default: the name of the column).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// The unit behind its numbers in sentences, such as `€`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Weight of its cost (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

impl FeatureConfig {
    /// Whether no action may change the feature.
    pub fn is_fixed(&self) -> bool {
        self.immutable == Some(true) || self.protected == Some(true)
    }

    /// Whether trees may split on the feature.
    pub fn is_split(&self) -> bool {
        self.split != Some(false) && self.protected != Some(true)
    }
}

/// Kinds by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KindName {
    /// A number; the values decide whether it is whole or real.
    Numeric,
    /// A real number even if all values are whole.
    Real,
    /// A whole number.
    Integer,
    /// Named levels in order.
    Ordinal,
    /// Named categories.
    Categorical,
    /// Exactly two values.
    Binary,
}

/// The directions that an edit may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Only increases.
    Increase,
    /// Only decreases.
    Decrease,
}

/// How the values of a categorical or binary feature are edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EditStyle {
    /// Sets a value, from any other.
    Set,
    /// Sets a value on rows at one other value.
    Swap,
    /// Sets the other of two values (binary features).
    Flip,
}

/// Bins of a numeric feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Bins {
    /// This many bins of equal width.
    Count(u32),
    /// `"auto"` (Freedman–Diaconis), `"all"` (an edge behind every value) or `"quantile:B"`.
    Named(String),
    /// Explicit inner edges.
    Edges(Vec<f64>),
}

/// How far shifts move a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NumberRule {
    /// Amounts of at most two significant digits, on the feature's own granularity, over a range that an outlier does not dominate.
    #[default]
    Round,
    /// Multiples of the width of a bin, as in the published experiments.
    Bins,
}

impl Default for Bins {
    fn default() -> Self {
        Bins::Count(10)
    }
}

/// `to` is shifted by `factor` times the change of `from` whenever an edit changes `from`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The feature that an edit changes.
    pub from: String,
    /// The feature that follows.
    pub to: String,
    /// The factor of its change.
    #[serde(default = "one")]
    pub factor: f64,
}

fn one() -> f64 {
    1.0
}

/// The recourse cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CostConfig {
    /// Which cost.
    pub kind: CostKind,
    /// With `kind = "table"`: a CSV with the columns `feature`, `from`, `to`, `cost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

/// The costs of SPEC §5.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CostKind {
    /// Maximum percentile shift (exact integers).
    #[default]
    Mps,
    /// The maximum percentile shift as the authors of CET compute it.
    Cet,
    /// Total log percentile shift.
    Logshift,
    /// Range-normalised L1 distance.
    L1,
    /// The user's table of prices.
    Table,
    /// A function of a row and an edit; only in the Python package.
    Function,
}

/// How many actions a run may have by default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ActionBudget {
    /// At most this many.
    Count(u64),
    /// `"all"`: no limit.
    Named(String),
}

/// Limits of trees, actions and resources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Largest depth of a tree (default 3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// Largest number of leaves (default: 2^depth).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_leaves: Option<u32>,
    /// Smallest number of affected rows in a leaf (default 50, or an eighth of the population if that is smaller).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_leaf: Option<u32>,
    /// Largest number of edits in an action (default 3, or fewer to fit the budget of actions).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_edits: Option<u32>,
    /// Number of sizes of shifts of a number without `steps` (default 5, or fewer to fit the budget of actions).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// The budget of actions, a number or `"all"` (default: 200000). It limits `steps` and `max_edits` unless they are set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<ActionBudget>,
    /// Search on a sample of this many affected rows, and evaluate what is found on all of them (default: search all).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<u32>,
    /// Limit of rows that a model may score, if every edited row must be scored (default: no limit).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_scorings: Option<u64>,
    /// Seconds after which the computation of outcomes stops: no action is known to work then (default: none).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes_time_limit: Option<f64>,
    /// Seconds after which the search stops with what it has; outcomes do not count (default: none).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// Memory that the run may use, e.g. `"4GB"` (default: three quarters of the machine's).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<String>,
    /// Threads (default: all cores).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Device for outcomes of networks and leaves: `"auto"`, `"cpu"`, `"gpu"` or `"gpu:N"` (default: auto, a GPU if it is
    /// faster). The result does not depend on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}
