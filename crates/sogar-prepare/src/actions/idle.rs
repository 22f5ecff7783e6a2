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

    /// A notice about those that trees may split on, if there are any. Others were named when they were left aside.
    pub fn notice(&self, features: &[Feature], config: &Config) -> Option<String> {
        let is_split =
            |feature: &Feature| config.features.get(&feature.name).is_none_or(FeatureConfig::is_split);
        let names: Vec<String> = features
            .iter()
            .zip(&self.0)
            .filter(|(feature, idle)| **idle && is_split(feature))
            .map(|(feature, _)| format!("`{}`", feature.name))
            .collect();
        (!names.is_empty()).then(|| {
            let them = if names.len() == 1 { "it" } else { "them" };
            format!(
                "the model does not use {}: no action changes {them}, though trees may split on {them}",
                names.join(", ")
            )
        })
    }
}
