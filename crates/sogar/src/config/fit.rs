//! Whether a configuration fits a table: names that exist, levels that occur, settings that suit a feature's kind.

use super::{Config, EditStyle, FeatureConfig};
use crate::error::{Error, ErrorKind, Result, suggest};
use crate::feature::{Feature, FeatureTable, Kind, Labels, label_values};
use crate::rules::Rule;
use crate::table::Table;

impl Config {
    /// The part of [`Config::check`] that needs the table.
    pub(super) fn check_against(&self, table: &Table, notices: &mut Vec<String>) -> Result<()> {
        self.check_label(label_values(table, self)?.as_ref())?;
        let (features, seen) = FeatureTable::infer(table, self)?;
        notices.extend(seen);
        self.check_features(&features.features, notices)
    }

    /// Checks what is said of features against the features themselves.
    pub fn check_features(&self, features: &[Feature], notices: &mut Vec<String>) -> Result<()> {
        for feature in features {
            if let Some(setting) = self.features.get(&feature.name) {
                suits(feature, setting, notices)?;
            }
        }
        for link in &self.links {
            for name in [&link.from, &link.to] {
                let feature = &features[crate::feature::feature_index(features, name)?];
                if !feature.is_ordered() {
                    let message = format!(
                        "link `{}` to `{}`: `{name}` is not a number, so it cannot be shifted",
                        link.from, link.to
                    );
                    return Err(Error::new(ErrorKind::Config, message));
                }
            }
            if self.features.get(&link.from).is_some_and(|setting| setting.immutable == Some(true)) {
                notices.push(format!(
                    "link `{}` to `{}`: the first is immutable, so the link has no effect",
                    link.from, link.to
                ));
            }
        }
        for rule in &self.rules {
            Rule::parse(rule, features)?;
        }
        Ok(())
    }

    /// Checks the outcomes that people hope for against the label's values.
    pub(crate) fn check_label(&self, labels: Option<&Labels>) -> Result<()> {
        let Some(labels) = labels else { return Ok(()) };
        // Without class names the label's values are the class names; a score model's 0 and 1 are always known.
        if !self.model.classes.is_empty() {
            return Ok(());
        }
        for desired in &self.data.desired {
            if !labels.values.contains(desired) {
                let message = format!("data.desired: `{desired}` is not a value of the label");
                let help = suggest(desired, labels.values.iter().map(String::as_str));
                return Err(Error::new(ErrorKind::Config, message).help(help));
            }
        }
        if labels.values.len() > 1 && labels.values.iter().all(|value| self.data.desired.contains(value)) {
            return Err(Error::new(ErrorKind::Config, "data.desired lists every value of the label")
                .help("list only the outcomes that people hope for"));
        }
        Ok(())
    }
}

/// Whether the settings make sense for a feature of this kind.
fn suits(feature: &Feature, setting: &FeatureConfig, notices: &mut Vec<String>) -> Result<()> {
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
                return Err(fault(format!("{key} makes no sense for a {kind} feature")).help(help));
            }
        }
    }
    if setting.range.is_some() && !feature.is_numeric() {
        return Err(fault("range makes no sense for an ordinal feature".into()));
    }
    if setting.bins.is_some() && !feature.is_ordered() {
        notices.push(format!("features.{name}: bins has no effect on a {kind} feature"));
    }
    if feature.is_ordered() {
        for (key, set) in [
            ("targets", setting.targets.is_some()),
            ("forbid", !setting.forbid.is_empty()),
            ("edits", setting.edits.is_some()),
        ] {
            if set {
                let help = "limit it with `direction`, `range` or `steps`, or set kind = \"categorical\"";
                return Err(fault(format!("{key} makes no sense for a {kind} feature")).help(help));
            }
        }
    }
    if setting.edits == Some(EditStyle::Flip) && !matches!(feature.kind, Kind::Binary { .. }) {
        return Err(fault(format!("a {kind} feature cannot be flipped")).help("only binary features can"));
    }
    let named = setting.targets.iter().flatten().map(|level| ("targets", level));
    for (key, level) in named.chain(setting.forbid.iter().flatten().map(|level| ("forbid", level))) {
        if feature.level_index(level).is_none() {
            return Err(fault(format!("{key} names `{level}`, which is not one of its values"))
                .help(suggest(level, feature.levels().iter().map(String::as_str))));
        }
    }
    if let Some([same, _]) = setting.forbid.iter().find(|[from, to]| from == to) {
        notices.push(format!("features.{name}: forbid names `{same}` to itself, which is no change anyway"));
    }
    Ok(())
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
        let fault = message("[features.credit]\nimmutable = true\n");
        assert!(fault.contains("is the label, the weight or ignored"), "{fault}");
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
        assert!(message("[features.age]\ntargets = [\"30\"]\n").contains("targets makes no sense"));
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
