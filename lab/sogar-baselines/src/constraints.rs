//! Which single changes the user allows.
//!
//! Sogar's edits obey the configuration by construction. The methods here propose their own values, so both a method that obeys
//! and the evaluator that counts violations need the inverse test: may this feature go from this value to that one?

use sogar::config::{Direction, FeatureConfig};
use sogar::feature::Feature;
use sogar::pipeline::Prepared;

/// The limits of the configuration on changes of single features.
#[derive(Debug)]
pub struct Constraints {
    features: Vec<Limits>,
    /// Linked features, as (edited, follower).
    links: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct Limits {
    immutable: bool,
    ordered: bool,
    direction: Option<Direction>,
    range: Option<[f64; 2]>,
    /// For each level, whether a change may set it.
    targets: Vec<bool>,
    forbidden: Vec<(usize, usize)>,
}

impl Limits {
    fn new(feature: &Feature, settings: &FeatureConfig) -> Limits {
        let targets = (0..feature.levels().len())
            .map(|level| match &settings.targets {
                Some(targets) => targets.iter().any(|name| feature.level_index(name) == Some(level)),
                None => feature.missing_level() != Some(level),
            })
            .collect();
        let pair = |[from, to]: &[String; 2]| Some((feature.level_index(from)?, feature.level_index(to)?));
        Limits {
            immutable: settings.is_fixed(),
            ordered: feature.is_ordered(),
            direction: settings.direction,
            range: settings.range,
            targets,
            forbidden: settings.forbid.iter().filter_map(pair).collect(),
        }
    }

    fn allows(&self, from: f64, to: f64) -> bool {
        if from == to {
            return true;
        }
        if self.immutable || from.is_nan() || to.is_nan() {
            return false;
        }
        if self.ordered {
            let in_direction = match self.direction {
                Some(Direction::Increase) => to > from,
                Some(Direction::Decrease) => to < from,
                None => true,
            };
            return in_direction && self.range.is_none_or(|[lo, hi]| (lo..=hi).contains(&to));
        }
        let is_target = self.targets.get(to as usize).copied().unwrap_or(false);
        is_target && !self.forbidden.iter().any(|&(u, v)| from == u as f64 && to == v as f64)
    }
}

impl Constraints {
    /// The constraints of a run.
    pub fn new(prepared: &Prepared) -> Constraints {
        let default = FeatureConfig::default();
        let settings = |name: &str| prepared.config().features.get(name).unwrap_or(&default);
        let features = prepared.table().features.iter();
        let place = |name: &str| prepared.table().features.iter().position(|feature| feature.name == name);
        let links = prepared.config().links.iter();
        Constraints {
            features: features.map(|feature| Limits::new(feature, settings(&feature.name))).collect(),
            links: links.filter_map(|link| Some((place(&link.from)?, place(&link.to)?))).collect(),
        }
    }

    /// Whether a person may go from one row of values to another. A feature that follows a changed one may change regardless of
    /// its own settings.
    pub fn allow(&self, before: &[f64], after: &[f64]) -> bool {
        let changed = |feature: usize| {
            before[feature] != after[feature] && !(before[feature].is_nan() && after[feature].is_nan())
        };
        let follows =
            |feature: usize| self.links.iter().any(|&(edited, to)| to == feature && changed(edited));
        (0..before.len()).all(|feature| {
            !changed(feature) || self.allows(feature, before[feature], after[feature]) || follows(feature)
        })
    }

    /// Whether a feature may go from one value to another. Staying is always allowed; leaving a missing number never.
    pub fn allows(&self, feature: usize, from: f64, to: f64) -> bool {
        self.features.get(feature).is_some_and(|limits| limits.allows(from, to))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::prepared;

    use super::*;

    #[test]
    fn every_limit_of_the_configuration_counts() {
        let config = r#"
            [features]
            fixed.immutable = true
            up.direction = "increase"
            down = { direction = "decrease", range = [2, 9] }
            job = { targets = ["b", "c"], forbid = [["a", "c"]] }
        "#;
        let table = "fixed,up,down,job\n1,1,1,a\n2,2,2,b\n3,3,3,c\n4,9,9,a\n";
        let constraints = Constraints::new(&prepared(table, config, |row| row[1] > 2.0));
        assert!(constraints.allows(0, 1.0, 1.0) && !constraints.allows(0, 1.0, 2.0));
        assert!(constraints.allows(1, 1.0, 2.0) && !constraints.allows(1, 2.0, 1.0));
        assert!(!constraints.allows(1, f64::NAN, 2.0));
        assert!(constraints.allows(2, 5.0, 2.0) && !constraints.allows(2, 5.0, 1.0));
        assert!(constraints.allows(3, 0.0, 1.0) && constraints.allows(3, 1.0, 2.0));
        assert!(!constraints.allows(3, 0.0, 2.0), "forbidden");
        assert!(!constraints.allows(3, 1.0, 0.0), "not a target");
        assert!(constraints.allows(3, 3.0, 2.0), "a category that nobody had may be left");
        assert!(!constraints.allows(9, 0.0, 1.0));
    }
}
