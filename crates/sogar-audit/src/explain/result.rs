//! The result of an explanation, as `sogar explain --json` prints it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::reasons::PrincipalReason;
use super::text::words;
use sogar_base::markup::visible;
use sogar_front::describe::{Predicate, joined};
use sogar_front::summary::{EditRef, Status, Value, as_count};
use sogar_table::config::CostKind;
use sogar_table::feature::Feature;

/// Everything about one person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// Who it is.
    pub person: Who,
    /// The model's decision about them.
    pub decision: Decision,
    /// The summary that is explained.
    pub point: Point,
    /// The principal reasons for it, the strongest first; empty if the model gives them the desired outcome.
    pub reasons: Vec<PrincipalReason>,
    /// Their group in the summary; none if the model gives them the desired outcome.
    pub group: Option<Group>,
    /// The action of that group, applied to them.
    pub suggestion: Option<Advice>,
    /// The cheapest action that would change their decision; none if there is none.
    pub cheapest: Option<Advice>,
    /// How many actions were tried for that.
    pub actions_tried: u64,
    /// The largest number of edits in an action.
    pub max_edits: u32,
    /// Which cost.
    pub cost_kind: CostKind,
    /// Whether a cost is the share of people that a change moves a person past (`mps` without weights).
    pub cost_is_percentile: bool,
    /// What no action changes.
    pub immutable: Vec<String>,
    /// The model.
    pub model: ModelName,
    /// Notes for the reader, who runs the model; never in a letter.
    pub notes: Vec<String>,
    /// The features, for texts.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) features: Vec<Feature>,
    /// The names of protected features.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) protected: Vec<String>,
    /// Whether reasons were computed.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) reasons_known: bool,
    /// Whether an action must do more than change the model's answer.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) conditional: bool,
    /// The names of all classes.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) classes: Vec<String>,
    /// What the configuration calls the classes.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) outcomes: BTreeMap<String, String>,
}

/// A person by name and by their values.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Who {
    /// Their name in messages, such as `row 12`.
    pub name: String,
    /// Their row in the reference table, counted from 1; none for another person.
    pub row: Option<usize>,
    /// Their values, one per feature.
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

/// The model's decision about a person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Decision {
    /// The predicted class.
    pub label: String,
    /// Whether that is what people hope for.
    pub desired: bool,
    /// The score behind it (see `sogar predict`).
    pub score: f64,
    /// A score above this gives class 1, if the model has a threshold …
    pub threshold: Option<f64>,
    /// … which is this one.
    pub above_threshold: Option<String>,
    /// Whether the score is a probability.
    pub score_is_probability: bool,
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
    /// Why the person belongs to it; empty if the summary has only one group.
    pub because: Vec<Reason>,
    /// The same without words.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) predicates: Vec<(String, Predicate)>,
    /// Number of its affected people in the reference table.
    #[serde(serialize_with = "as_count")]
    pub rows: f64,
    /// For how many of them the action works.
    #[serde(serialize_with = "as_count")]
    pub flipped: f64,
    /// Its mean cost for them.
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

/// An action for this person.
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
    /// Rules that it breaks, so that it does not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<String>,
    /// Why it does not count although the model would change its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet: Option<Unmet>,
}

/// What a run requires of an action besides another answer of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unmet {
    /// Too few of several models would accept.
    Agreement,
    /// It describes somebody who is less usual than the run allows.
    Plausibility,
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
    /// Whether the two differ: a person may already have the new value.
    pub changes: bool,
    /// The feature that this one follows, if it is not edited itself.
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

impl Advice {
    /// What it changes.
    pub(super) fn moved(&self) -> impl Iterator<Item = &Changed> {
        self.changes.iter().filter(|change| change.changes)
    }

    /// Whether it asks for all that another asks for, or for more: the same categories, numbers moved as far or further.
    pub(super) fn includes(&self, other: &Advice) -> bool {
        let asked = |least: &Changed| {
            self.moved().filter(|own| own.feature == least.feature).any(|own| {
                match (&own.from, &own.to, &least.to) {
                    (Some(Value::Number(from)), Some(Value::Number(to)), Some(Value::Number(least))) => {
                        (to - least) * (least - from).signum() >= 0.0
                    }
                    _ => own.to == least.to,
                }
            })
        };
        other.moved().all(asked)
    }
}

impl Explanation {
    /// The JSON Schema of an explanation.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Explanation).to_value()
    }

    /// What the person hopes for, in words.
    pub fn hoped_for(&self) -> String {
        self.decision.hoped_for.iter().map(|class| self.outcome(class)).collect::<Vec<_>>().join(" or ")
    }

    /// A class as the configuration calls it.
    pub(super) fn outcome<'a>(&'a self, class: &'a str) -> &'a str {
        self.outcomes.get(class).map_or(class, String::as_str)
    }

    /// A feature by its name.
    pub(super) fn feature(&self, name: &str) -> Option<&Feature> {
        self.features.iter().find(|feature| feature.name == name)
    }

    /// A value with its unit, for people who know the table.
    pub(super) fn amount(&self, feature: &str, value: Option<&Value>) -> String {
        match self.feature(feature) {
            Some(feature) if value.is_some() => feature.with_unit(words(value)),
            _ => words(value),
        }
    }

    /// A feature's name in a sentence for people who know the table.
    pub(super) fn title(&self, name: &str) -> String {
        let display = self.feature(name).and_then(|feature| feature.shown.display.as_ref());
        visible(display.map_or(name, String::as_str))
    }

    /// Says whom to worry about: a protected feature among the reasons.
    pub(super) fn note_protected_reasons(&mut self) {
        let protected = self.reasons.iter().filter(|reason| reason.protected);
        let names: Vec<String> = protected.map(|reason| self.title(&reason.feature)).collect();
        let (is, it) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
        if !names.is_empty() {
            self.notes.push(format!(
                "{} {is} protected and among the principal reasons; a letter does not name {it}, so it would not name all reasons: have \
                 this decision reviewed before you send one",
                joined(&names)
            ));
        }
    }
}
