//! What a user has to decide, and the defaults until they do.

use super::Prepared;
use sogar_base::text::{grouped, hoped_for};
use sogar_table::feature::Feature;
use sogar_table::hints::{is_bad_event, is_text, personal};

/// How messages name settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// Flags of the command line.
    CommandLine,
    /// Parameters in Python.
    Python,
}

impl Prepared {
    /// What to check before trusting the result. A user who wrote a configuration has already decided about personal features.
    pub fn warnings(&self, voice: Voice, configured: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        warnings.extend(self.assumed_outcome(voice));
        warnings.extend(self.opposite_label());
        if !configured {
            warnings.extend(self.personal_features(voice));
        }
        warnings
    }

    /// The assumed desired outcome, if it was not set.
    fn assumed_outcome(&self, voice: Voice) -> Option<String> {
        if !self.classes.is_assumed(&self.config) {
            return None;
        }
        let desired = self.classes.desired_names();
        let others: Vec<String> =
            self.classes.names.iter().filter(|name| !desired.contains(name)).cloned().collect();
        let unit = self.table.weight_unit() as f64;
        let people = |units: u64| grouped(units as f64 / unit);
        let affected = self.affected_people();
        let all = self.reference.people;
        let say = |names: &[String]| match voice {
            Voice::CommandLine => {
                let name = names.join(" ");
                format!(
                    "--desired {}",
                    shlex::try_quote(&name).map_or_else(|_| "…".into(), |name| name.to_string())
                )
            }
            Voice::Python => format!("desired={:?}", names.join(" ")),
        };
        let because = match &self.config.data.label {
            Some(label) if self.classes.desired.first() == Some(&true) => {
                format!(", because the label `{label}` sounds like something that nobody hopes for")
            }
            _ => String::new(),
        };
        let event = self.unused_event().map(|name| format!("; the column `{name}` sounds as if it were"));
        Some(format!(
            "nothing says which outcome people hope for: {} is assumed{because}. {} of {} people have it, and the {} others are \
             turned down. Say {} if that is right, and {} if {} is the good outcome{}",
            hoped_for(&desired, &self.config.model.outcomes),
            people(all - affected),
            people(all),
            people(affected),
            say(&desired),
            say(&others),
            hoped_for(&others, &self.config.model.outcomes),
            event.unwrap_or_default(),
        ))
    }

    /// A label that says the opposite of the model, whose classes are numbers.
    fn opposite_label(&self) -> Option<String> {
        let label = self.config.data.label.as_deref()?;
        let desired = hoped_for(&self.classes.desired_names(), &self.config.model.outcomes);
        self.opposite.map(|agreement| {
            format!(
                "the label `{label}` says the opposite of the model: they agree for {:.1} % of the people. {desired} is the model's class, not \
                 the label's value",
                100.0 * agreement
            )
        })
    }

    /// A column of 0 and 1 that the model does not use and whose name stands for something undesirable: perhaps the label.
    fn unused_event(&self) -> Option<&str> {
        let is_event = |(index, feature): &(usize, &Feature)| {
            !self.encoder.uses(*index) && is_bad_event(&feature.name) && !is_text(feature.levels())
        };
        self.table.features.iter().enumerate().find(is_event).map(|(_, feature)| feature.name.as_str())
    }

    /// Personal features that actions would change or groups would be described by, unless that was explicitly allowed.
    fn personal_features(&self, voice: Voice) -> Option<String> {
        let features = &self.table.features;
        let open = |feature: &usize| {
            let feature = &features[*feature];
            let said = self.config.features.get(&feature.name).and_then(|settings| settings.protected);
            said.is_none() && personal(&feature.name, feature.levels()).is_some_and(|found| found.clear)
        };
        let edited = |feature: usize| self.edits.iter().any(|edit| edit.feature == feature);
        let split = |feature: usize| self.splits.iter().any(|split| split.feature == feature);
        let found: Vec<usize> = (0..features.len()).filter(open).filter(|&f| edited(f) || split(f)).collect();
        let names = |wanted: &dyn Fn(usize) -> bool| {
            let names = found.iter().filter(|&&feature| wanted(feature));
            names.map(|&feature| format!("`{}`", features[feature].name)).collect::<Vec<_>>().join(", ")
        };
        let (changed, told) = (names(&edited), names(&split));
        let what = match (changed.is_empty(), told.is_empty()) {
            (true, true) => return None,
            (false, true) => format!("advice may change {changed}"),
            (true, false) => format!("groups may be described by {told}"),
            (false, false) if changed == told => {
                format!("advice may change {changed}, and groups may be described by them")
            }
            (false, false) => format!("advice may change {changed}, and groups may be described by {told}"),
        };
        let all = found.iter().map(|&feature| &features[feature].name);
        let stop = match voice {
            Voice::CommandLine => {
                let quoted = |name: &String| {
                    shlex::try_quote(name).map_or_else(|_| "…".into(), |name| name.to_string())
                };
                all.map(|name| format!("--protected {}", quoted(name))).collect::<Vec<_>>().join(" ")
            }
            Voice::Python => {
                format!("protected=[{}]", all.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "))
            }
        };
        Some(format!(
            "{what}, though people cannot change such things, and should not be judged by them: {stop} stops that \
             (`protected = false` in the feature's settings says that it is meant)"
        ))
    }
}
