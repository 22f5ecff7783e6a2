//! What an explanation consists of. This is what `sogar explain --json` prints.

use schemars::JsonSchema;
use serde::Serialize;

use sogar_front::summary::{EditRef, Status, Value, as_count};
use sogar_table::config::CostKind;

/// Everything that is said about one person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// Who it is.
    pub person: Who,
    /// What the model says of them.
    pub decision: Decision,
    /// The summary that is looked at.
    pub point: Point,
    /// The group of the summary that they belong to; none if the model gives them what they hope for.
    pub group: Option<Group>,
    /// What the summary suggests to that group, applied to them.
    pub suggestion: Option<Advice>,
    /// The cheapest action of all that would change their decision; none if there is no such action.
    pub cheapest: Option<Advice>,
    /// How many actions were tried for that.
    pub actions_tried: u64,
    /// The most edits that an action may have.
    pub max_edits: u32,
    /// Which cost.
    pub cost_kind: CostKind,
    /// Whether a cost is the share of people that a change moves somebody past (`mps` without weights).
    pub cost_is_percentile: bool,
    /// What no action changes.
    pub immutable: Vec<String>,
    /// The model.
    pub model: ModelName,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// A person by name and by their values.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Who {
    /// What messages call them, such as `row 12`.
    pub name: String,
    /// Their row in the reference table, counted from 1; none for somebody else.
    pub row: Option<usize>,
    /// Their values, one a feature.
    pub values: Vec<FeatureValue>,
}

/// A feature's value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FeatureValue {
    /// The feature.
    pub feature: String,
    /// The value; null if it is missing.
    pub value: Option<Value>,
    /// Whether no action changes it.
    pub immutable: bool,
}

/// What the model says of a person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Decision {
    /// The predicted class.
    pub label: String,
    /// Whether that is what people hope for.
    pub desired: bool,
    /// The score behind it (see `sogar predict`).
    pub score: f64,
    /// A score above this gives class 1, where the model has a threshold …
    pub threshold: Option<f64>,
    /// … which is this one.
    pub above_threshold: Option<String>,
    /// The classes that people hope for.
    pub hoped_for: Vec<String>,
}

/// A point of the front.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Its number, 0 being the cheapest.
    pub point: usize,
    /// How many points the front has.
    pub of: usize,
    /// Mean cost over all affected people.
    pub cost: f64,
    /// Share of them for whom it does not work.
    pub loss: f64,
    /// How the search ended.
    pub status: Status,
}

/// A group of a summary.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// Why the person belongs to it; nothing if the summary has one group only.
    pub because: Vec<Reason>,
    /// How many affected people of the reference table it has.
    #[serde(serialize_with = "as_count")]
    pub rows: f64,
    /// For how many of them the suggestion works.
    #[serde(serialize_with = "as_count")]
    pub flipped: f64,
    /// What it costs them on average.
    pub mean_cost: f64,
}

/// A condition that the person meets.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reason {
    /// The feature that it is about.
    pub feature: String,
    /// The condition in words.
    pub condition: String,
    /// The person's own value; null if it is missing.
    pub value: Option<Value>,
}

/// An action as it would be for this person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// The action in words.
    pub text: String,
    /// Its edits.
    pub edits: Vec<EditRef>,
    /// What changes, with concrete values.
    pub changes: Vec<Changed>,
    /// Whether it changes the decision.
    pub works: bool,
    /// The class that the model would then predict …
    pub label: String,
    /// … and its score.
    pub score: f64,
    /// What it costs this person …
    pub cost: f64,
    /// … and the same in units.
    pub cost_units: u64,
    /// Rules that it breaks, for which reason it does not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<String>,
}

/// A feature before and after.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Changed {
    /// The feature.
    pub feature: String,
    /// Their value; null if it is missing.
    pub from: Option<Value>,
    /// The value after the action.
    pub to: Option<Value>,
    /// Whether the two differ: somebody may be where the action leads already.
    pub changes: bool,
    /// The feature that this one moves along with, if it is not edited itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
}

/// The model by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelName {
    /// Its format.
    pub format: String,
    /// One line on its size.
    pub description: String,
    /// SHA-256 of its bytes.
    pub hash: String,
}

impl Explanation {
    /// The JSON Schema of an explanation.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Explanation).to_value()
    }

    /// What the person hopes for, in words.
    pub fn hoped_for(&self) -> String {
        self.decision.hoped_for.join(" or ")
    }
}
