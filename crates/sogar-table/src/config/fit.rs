//! Checks a configuration against a table: names that exist, levels that occur, settings that suit a feature's kind.

use super::{Config, EditStyle, FeatureConfig};
use crate::feature::{Feature, FeatureTable, Kind, Labels, label_values};
use crate::hints::Unfit;
use crate::rules::Rule;
use crate::table::Table;
use sogar_base::error::{Error, ErrorKind, Faults, Result, suggest};

impl Config {
    /// The part of [`Config::check`] that needs the table.
    pub(super) fn check_against(&self, table: &Table, notices: &mut Vec<String>, faults: &mut Faults) {
        // A missing label is reported together with other missing names.
        if self.data.label.as_ref().is_some_and(|label| table.column(label).is_some())
            && let Some(labels) = faults.take(label_values(table, self))
        {
            faults.take(self.check_label(labels.as_ref()));
        }
        match FeatureTable::inferred(table, self) {
            Ok((features, seen)) => {
                notices.extend(seen.notices);
                faults.take(self.check_features(&features.features, notices));
                self.clone().leave_aside(&features.features, &seen.unfit, notices);
            }
            Err(error) => {
                faults.add(error);
                // If only names of columns and features are wrong, other errors can still be found.
                let known = self.with_known_names(table);
                if known != *self
                    && let Ok((features, _)) = FeatureTable::infer(table, &known)
                {
                    faults.take(known.check_features(&features.features, notices));
                }
            }
        }
    }

    /// The configuration without settings of columns that a table does not have.
    fn with_known_names(&self, table: &Table) -> Config {
        let is_there = |name: &String| table.column(name).is_some();
        let mut known = self.clone();
        known.data.label = known.data.label.filter(is_there);
        known.data.weight = known.data.weight.filter(is_there);
        known.data.ignore.retain(is_there);
        known.features.retain(|name, setting| is_there(name) || !setting.columns.is_empty());
        known
    }

    /// Checks settings of features against the features themselves.
    pub fn check_features(&self, features: &[Feature], notices: &mut Vec<String>) -> Result<()> {
        let mut faults = Faults::default();
        for feature in features {
            if let Some(setting) = self.features.get(&feature.name) {
                suits(feature, setting, notices, &mut faults);
            }
        }
        for link in &self.links {
            for name in [&link.from, &link.to] {
                let Some(feature) = faults.take(crate::feature::feature_index(features, name)) else {
                    continue;
                };
                if !features[feature].is_ordered() {
                    let message = format!(
                        "link `{}` to `{}`: `{name}` is not a number, so it cannot be shifted",
                        link.from, link.to
                    );
                    faults.add(Error::new(ErrorKind::Config, message));
                }
            }
            if self.features.get(&link.to).is_some_and(|setting| setting.protected == Some(true)) {
                let message = format!(
                    "link `{}` to `{}`: the second is protected, so nothing may move it",
                    link.from, link.to
                );
                faults.add(Error::new(ErrorKind::Config, message).help("take out the link, or `protected`"));
            }
            if self.features.get(&link.from).is_some_and(FeatureConfig::is_fixed) {
                notices.push(format!(
                    "link `{}` to `{}`: the first is immutable, so the link has no effect",
                    link.from, link.to
                ));
            }
        }
        for rule in &self.rules {
            faults.take(Rule::parse(rule, features));
        }
        faults.finish()
    }

    /// Columns that do not look like features (ids, dates, free text, …) are neither changed nor split on, unless their own
    /// settings say so. The configuration records what is left out, with a notice.
    pub fn leave_aside(&mut self, features: &[Feature], unfit: &[(usize, Unfit)], notices: &mut Vec<String>) {
        for &(feature, why) in unfit {
            let name = &features[feature].name;
            let linked = self.links.iter().any(|link| link.from == *name);
            let setting = self.features.get(name).cloned().unwrap_or_default();
            let declared = setting.kind.is_some() || !setting.levels.is_empty() || setting.bins.is_some();
            let edited = declared
                || linked
                || setting.direction.is_some()
                || setting.range.is_some()
                || setting.steps.is_some()
                || setting.targets.is_some()
                || !setting.forbid.is_empty()
                || setting.edits.is_some()
                || setting.weight.is_some();
            let fix = setting.protected != Some(true) && setting.immutable.is_none() && !edited;
            let hide = setting.protected != Some(true) && setting.split.is_none() && !declared;
            if !fix && !hide {
                continue;
            }
            let what = match (fix, hide) {
                (true, true) => "neither changed nor split on",
                (true, false) => "not changed",
                _ => "not split on",
            };
            notices.push(format!(
                "`{name}` {}: it is {what} (`immutable = false` and `split = true` under [features.{name}] would use it)",
                why.text()
            ));
            let setting = self.features.entry(name.clone()).or_default();
            if fix {
                setting.immutable = Some(true);
            }
            if hide {
                setting.split = Some(false);
            }
        }
    }

    /// Checks the desired outcomes against the label's values.
    pub fn check_label(&self, labels: Option<&Labels>) -> Result<()> {
        let Some(labels) = labels else { return Ok(()) };
        // Without class names, the label's values are the class names; 0 and 1 of a score model are always valid.
        if !self.model.classes.is_empty() {
            return Ok(());
        }
        let mut faults = Faults::default();
        for desired in self.data.desired.iter().filter(|desired| !labels.values.contains(desired)) {
            let message = format!("data.desired: `{desired}` is not a value of the label");
            let help = suggest(desired, labels.values.iter().map(String::as_str));
            faults.add(Error::new(ErrorKind::Config, message).help(help));
        }
        if labels.values.len() > 1 && labels.values.iter().all(|value| self.data.desired.contains(value)) {
            faults.add(
                Error::new(ErrorKind::Config, "data.desired lists every value of the label")
                    .help("list only the outcomes that people hope for"),
            );
        }
        faults.finish()
    }
}

/// Whether the settings suit a feature of this kind.
fn suits(feature: &Feature, setting: &FeatureConfig, notices: &mut Vec<String>, faults: &mut Faults) {
    let name = &feature.name;
    let fault = |message: String| Error::new(ErrorKind::Config, format!("features.{name}: {message}"));
    let kind = match feature.kind {
        Kind::Real | Kind::Integer => "numeric",
        Kind::Ordinal { .. } => "ordinal",
        Kind::Categorical { .. } => "categorical",
        Kind::Binary { .. } => "binary",
    };
    if !feature.is_ordered() {
        let help = "limit it with `targets` or `forbid`, or set kind = \"numeric\" or \"ordinal\"";
        for (key, set) in [
            ("direction", setting.direction.is_some()),
            ("range", setting.range.is_some()),
            ("steps", setting.steps.is_some()),
        ] {
            if set {
                faults.add(fault(format!("{key} makes no sense for a {kind} feature")).help(help));
            }
        }
    }
    if setting.codes.as_ref().is_some_and(|codes| !codes.is_empty()) && !feature.is_numeric() {
        faults.add(fault(format!("codes makes no sense for a {kind} feature")).help(
            "its values are categories already; a text that means \"missing\" is listed under `missing`",
        ));
    }
    if let Some(end) = setting.range.iter().flatten().find(|end| feature.is_code(**end)) {
        let end = crate::feature::format_number(*end);
        faults.add(
            fault(format!("range ends on the special code {end}"))
                .help("a code is no amount: end the range on a value that people can have"),
        );
    }
    if setting.range.is_some() && feature.is_ordered() && !feature.is_numeric() {
        faults.add(fault("range makes no sense for an ordinal feature".into()));
    }
    if setting.bins.is_some() && !feature.is_ordered() {
        notices.push(format!("features.{name}: bins has no effect on a {kind} feature"));
    }
    if feature.is_ordered() {
        for (key, set) in [
            ("targets", setting.targets.is_some() && !feature.is_numeric()),
            ("forbid", !setting.forbid.is_empty()),
            ("edits", setting.edits.is_some()),
        ] {
            if set {
                let help = "limit it with `direction`, `range` or `steps`, or set kind = \"categorical\"";
                faults.add(fault(format!("{key} makes no sense for a {kind} feature")).help(help));
            }
        }
    }
    if feature.is_numeric() {
        check_targets(setting, feature, &fault, faults);
    }
    if setting.edits == Some(EditStyle::Flip) && !matches!(feature.kind, Kind::Binary { .. }) {
        faults.add(fault(format!("a {kind} feature cannot be flipped")).help("only binary features can"));
    }
    let named = setting.targets.iter().flatten().map(|level| ("targets", level));
    let named = named.chain(setting.forbid.iter().flatten().map(|level| ("forbid", level)));
    for (key, level) in named.filter(|_| !feature.is_ordered()) {
        if feature.level_index(level).is_none() {
            faults.add(
                fault(format!("{key} names `{level}`, which is not one of its values"))
                    .help(suggest(level, feature.levels().iter().map(String::as_str))),
            );
        }
    }
    if let Some([same, _]) = setting.forbid.iter().find(|[from, to]| from == to) {
        notices.push(format!("features.{name}: forbid names `{same}` to itself, which is no change anyway"));
    }
}

/// Checks the targets of a number: `true`, `"quantiles"`, or numbers within its range.
fn check_targets(
    setting: &FeatureConfig,
    feature: &Feature,
    fault: &dyn Fn(String) -> Error,
    faults: &mut Faults,
) {
    let texts: Vec<&str> = setting.targets.iter().flatten().map(|text| text.trim()).collect();
    if matches!(texts.as_slice(), ["true" | "false" | "quantiles"]) {
        return;
    }
    for text in texts {
        let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite()) else {
            let help = "use true, \"quantiles\" or a list of numbers, such as [1000, 2000]";
            faults.add(fault(format!("targets: `{text}` is not a number")).help(help));
            continue;
        };
        if setting.range.is_some_and(|[lo, hi]| !(lo..=hi).contains(&value)) {
            faults.add(
                fault(format!("targets: {text} lies outside the range"))
                    .help("widen the range, or leave it out"),
            );
        }
        if feature.is_code(value) {
            let help = "a code is no amount: give a value that people can have";
            faults.add(fault(format!("targets: {text} is a special code")).help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, csv};
    use std::path::Path;

    const TABLE: &[u8] = b"age,job,tel,grade,years,credit\n\
        30,clerk,no,low,2.5,bad\n40,cook,yes,high,3.5,good\n50,smith,no,low,1.5,good\n";

    fn check(text: &str) -> Result<Vec<String>> {
        let text = format!("[data]\nlabel = \"credit\"\n{text}");
        let config = Config::parse(&text, Path::new("sogar.toml"))?;
        let table = csv::parse(TABLE, Path::new("t.csv"), &config.read_options()?)?;
        config.check(Some(&table))
    }

    fn message(text: &str) -> String {
        let error = check(text).unwrap_err();
        format!("{error} | {}", error.remedy().unwrap_or_default())
    }

    #[test]
    fn a_fitting_configuration_passes() {
        let text = "desired = [\"good\"]\n[features]\nage.direction = \"increase\"\njob.targets = [\"cook\"]\n\
                    tel.edits = \"flip\"\ngrade.levels = [\"low\", \"high\"]\n[[links]]\nfrom = \"age\"\n\
                    to = \"years\"\n";
        assert_eq!(check(text).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn names_that_do_not_exist_are_answered_with_the_nearest() {
        let fault = message("[features.agee]\nimmutable = true\n");
        assert!(fault.contains("[features.agee]") && fault.contains("did you mean `age`?"), "{fault}");
        let fault = message("ignore = [\"yers\"]\n");
        assert!(fault.contains("which data.ignore names | did you mean `years`?"), "{fault}");
        let fault = message("desired = [\"god\"]\n");
        assert!(fault.contains("`god` is not a value of the label | did you mean `good`?"), "{fault}");
        let fault = message("[features.job]\ntargets = [\"clark\"]\n");
        assert!(fault.contains("targets names `clark`") && fault.contains("`clerk`"), "{fault}");
        let fault = message("[features.job]\nforbid = [[\"cook\", \"smit\"]]\n");
        assert!(fault.contains("forbid names `smit`"), "{fault}");
        let fault = message("[[links]]\nfrom = \"age\"\nto = \"yeers\"\n");
        assert!(fault.contains("did you mean `years`?"), "{fault}");
        let notices = check("[features.credit]\nimmutable = true\n").unwrap();
        assert!(notices[0].contains("[features.credit] has no effect"), "{notices:?}");
    }

    #[test]
    fn all_faults_are_reported_at_once() {
        let fault = message(
            "desired = \"god\"\nignore = [\"yers\"]\n[features.jobb]\nimmutable = true\n[features.tel]\nsteps = [1]\n\
             [features.job]\ntargets = [\"clark\", \"coke\"]\n",
        );
        for part in ["`god` is not a value", "`yers`", "steps makes no sense", "`clark`", "`coke`"] {
            assert!(fault.contains(part), "{part}: {fault}");
        }
    }

    #[test]
    fn features_that_look_like_none_are_left_aside_unless_settings_ask_for_them() {
        let values = |of: fn(u32) -> f64| (0..60).map(of).collect::<Vec<f64>>();
        let columns = vec![
            Column::numbers("customer_id", values(|i| f64::from(i * 7919 % 10_007))),
            Column::numbers("income", values(|i| f64::from(i * 37 % 1000))),
        ];
        let table = Table::from_columns("", columns).unwrap();
        let aside = |text: &str| {
            let mut config = Config::parse(text, Path::new("sogar.toml")).unwrap();
            let (features, seen) = FeatureTable::inferred(&table, &config).unwrap();
            let mut notices = Vec::new();
            config.leave_aside(&features.features, &seen.unfit, &mut notices);
            let setting = config.features.get("customer_id").cloned().unwrap_or_default();
            assert!(!config.features.contains_key("income"));
            (setting.immutable, setting.split, notices.len())
        };
        assert_eq!(aside(""), (Some(true), Some(false), 1));
        assert_eq!(aside("[features.customer_id]\n"), (Some(true), Some(false), 1));
        assert_eq!(aside("[features.customer_id]\nsplit = true\n"), (Some(true), Some(true), 1));
        assert_eq!(aside("[features.customer_id]\nsteps = [1]\n"), (None, Some(false), 1));
        assert_eq!(aside("[features.customer_id]\nkind = \"integer\"\n"), (None, None, 0));
        assert_eq!(
            aside("[features.customer_id]\nimmutable = true\nsplit = false\n"),
            (Some(true), Some(false), 0)
        );
        let notices = Config::default().check(Some(&table)).unwrap();
        assert!(
            notices[0].contains("`customer_id` looks like an id: it is neither changed nor split on"),
            "{notices:?}"
        );
    }

    #[test]
    fn what_matches_only_after_trimming_is_said_to() {
        let text = |settings: &str| format!("[data]\nlabel = \"credit\"\n{settings}");
        let table = |config: &Config| {
            let bytes = b"age,job,credit\n30, clerk, bad\n40, cook, good\n50, smith, good\n";
            csv::parse(bytes, Path::new("t.csv"), &config.read_options().unwrap()).unwrap()
        };
        for settings in [
            "desired = [\"good\"]\n",
            "[features.job]\ntargets = [\"cook\"]\n",
            "[features.job]\nforbid = [[\" cook\", \"smith\"]]\n",
            "[features.job]\nlevels = [\"clerk\", \" cook\", \" smith\"]\n",
        ] {
            let config = Config::parse(&text(settings), Path::new("sogar.toml")).unwrap();
            let error = config.check(Some(&table(&config))).unwrap_err();
            let remedy = error.remedy().unwrap_or_default();
            assert!(
                remedy.contains("has spaces around it") && remedy.contains("`trim = true`"),
                "{error} | {remedy}"
            );
        }
        for settings in ["trim = true\ndesired = [\"good\"]\n", "desired = [\" good\"]\n"] {
            let config = Config::parse(&text(settings), Path::new("sogar.toml")).unwrap();
            assert!(config.check(Some(&table(&config))).is_ok(), "{settings}");
        }
    }

    #[test]
    fn settings_must_suit_the_kind() {
        let fault = message("[features.job]\ndirection = \"increase\"\n");
        assert!(fault.contains("direction makes no sense for a categorical feature"), "{fault}");
        assert!(message("[features.tel]\nsteps = [1]\n").contains("steps makes no sense for a binary"));
        assert!(
            message("[features.grade]\nlevels = [\"low\", \"high\"]\ntargets = [\"low\"]\n")
                .contains("targets makes no sense")
        );
        assert!(message("[features.age]\ntargets = [\"old\"]\n").contains("`old` is not a number"));
        assert!(
            message("[features.age]\nrange = [30, 40]\ntargets = [50]\n")
                .contains("50 lies outside the range")
        );
        assert!(message("[features.job]\nedits = \"flip\"\n").contains("cannot be flipped"));
        let ordinal = "[features.grade]\nlevels = [\"low\", \"high\"]\n";
        assert!(message(&format!("{ordinal}range = [0, 1]\n")).contains("range makes no sense"));
        assert!(message("[[links]]\nfrom = \"age\"\nto = \"job\"\n").contains("cannot be shifted"));
        assert!(message("desired = [\"good\", \"bad\"]\n").contains("every value of the label"));
    }

    #[test]
    fn rules_are_checked() {
        let text = |rule: &str| format!("[features.age]\nimmutable = true\n{rule}");
        assert!(check(&text("")).is_ok());
        let config = Config::parse("rules = [\"yers <= age\"]\n", Path::new("sogar.toml")).unwrap();
        let column = |name: &str| Column::numbers(name, vec![1.0, 2.0, 3.0]);
        let table = Table::from_columns("", vec![column("age"), column("years")]).unwrap();
        let error = config.check(Some(&table)).unwrap_err();
        assert!(error.to_string().starts_with("rule `yers <= age`: there is no feature `yers`"), "{error}");
        assert_eq!(error.remedy(), Some("did you mean `years`?"));
    }
}
