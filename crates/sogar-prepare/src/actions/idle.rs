//! Features that no action changes because the model does not use them (SPEC §4).
//!
//! An edit of such a feature changes no outcome and costs something, so an action without it is never worse: the front is the
//! same. If a link or a rule gives the edit a meaning, it stays. A column that a model lists counts as used even if no tree tests
//! it.

use super::Edit;
use crate::encode::Encoder;
use sogar_table::config::{Config, FeatureConfig};
use sogar_table::feature::Feature;
use sogar_table::rules::Rule;

/// Which features have no edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idle(Vec<bool>);

impl Idle {
    /// Those that are not columns of the model and take part in no link or rule.
    pub fn new(features: &[Feature], encoder: &Encoder, config: &Config, rules: &[Rule]) -> Idle {
        let linked = |name: &String| config.links.iter().any(|link| link.from == *name || link.to == *name);
        let ruled = |index: usize| rules.iter().any(|rule| rule.features().any(|feature| feature == index));
        let idle = |(index, feature): (usize, &Feature)| {
            !encoder.uses(index) && !linked(&feature.name) && !ruled(index)
        };
        Idle(features.iter().enumerate().map(idle).collect())
    }

    /// The edits of other features.
    pub fn others(&self, mut edits: Vec<Edit>) -> Vec<Edit> {
        edits.retain(|edit| !self.0[edit.feature]);
        edits
    }

    /// A notice for the user, if there are any.
    pub fn notice(&self, features: &[Feature], config: &Config) -> Option<String> {
        let idle: Vec<&Feature> =
            features.iter().zip(&self.0).filter(|(_, idle)| **idle).map(|(feature, _)| feature).collect();
        let splits =
            |feature: &&Feature| config.features.get(&feature.name).is_none_or(FeatureConfig::is_split);
        let split: Vec<&Feature> = idle.iter().copied().filter(splits).collect();
        let names = |features: &[&Feature]| {
            features.iter().map(|feature| format!("`{}`", feature.name)).collect::<Vec<_>>().join(", ")
        };
        let them = if idle.len() == 1 { "it" } else { "them" };
        let trees = match split.len() {
            0 => String::new(),
            all if all == idle.len() => format!(", though trees may split on {them}"),
            _ => format!(", though trees may split on {}", names(&split)),
        };
        let text = || format!("the model does not use {}: no action changes {them}{trees}", names(&idle));
        (!idle.is_empty()).then(text)
    }
}
