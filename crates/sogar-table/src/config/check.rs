//! Checks a configuration by itself: numbers in range, settings that do not contradict each other.
//!
//! A setting that would give a wrong or endless run is an error; one that has no effect is a notice.

use std::collections::{BTreeMap, BTreeSet};

use super::Device;
use super::{Config, CostKind, EditStyle, FeatureConfig, KindName, Limits, parse_bytes};
use crate::feature::format_number;
use crate::table::Table;
use sogar_base::error::{Error, ErrorKind, Faults, Result, suggest};

const DEEPEST: u32 = 10;
const MOST_EDITS: u32 = 6;
const MOST_STEPS: u32 = 50;
const MOST_THREADS: u32 = 1024;

fn fault(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message)
}

impl Config {
    /// Checks the configuration, also against a table if given; returns notices about settings without effect.
    pub fn check(&self, table: Option<&Table>) -> Result<Vec<String>> {
        let (mut notices, mut faults) = (Vec::new(), Faults::default());
        faults.take(self.read_options());
        faults.take(self.bins.rule());
        faults.take(self.limits.check());
        faults.take(self.check_fairness());
        faults.take(self.plausibility.check());
        self.check_model(&mut notices, &mut faults);
        faults.take(self.check_command(&mut notices));
        faults.take(self.check_cost(&mut notices));
        for (name, setting) in &self.features {
            check_feature(name, setting, &mut notices, &mut faults);
        }
        faults.take(check_codes("data.codes", &self.data.codes));
        self.check_links(&mut faults);
        if let Some(table) = table {
            self.check_against(table, &mut notices, &mut faults);
        }
        faults.finish()?;
        Ok(notices)
    }

    fn check_model(&self, notices: &mut Vec<String>, faults: &mut Faults) {
        if let Some(threshold) = self.model.threshold {
            if !threshold.is_finite() {
                faults.add(fault("model.threshold must be a finite number"));
            } else if !(0.0..=1.0).contains(&threshold) {
                notices.push(format!(
                    "model.threshold = {} is not a probability; that is right only for a model of raw scores",
                    format_number(threshold)
                ));
            }
        }
        for (list, what) in [(&self.model.classes, "model.classes"), (&self.data.desired, "data.desired")] {
            if let Some(twice) = first_twice(list) {
                faults.add(fault(format!("{what} lists `{twice}` twice")));
            }
        }
        if self.model.classes.len() == 1 {
            faults.add(fault("model.classes lists one class; a classifier has at least two"));
        }
        if !self.model.classes.is_empty() {
            for unknown in self.data.desired.iter().filter(|name| !self.model.classes.contains(name)) {
                faults.add(
                    fault(format!("data.desired: `{unknown}` is not in model.classes"))
                        .help(suggest(unknown, self.model.classes.iter().map(String::as_str))),
                );
            }
        }
        if let Some(label) = self.data.label.as_ref().filter(|label| self.data.ignore.contains(label)) {
            notices.push(format!("`{label}` is the label, so that ignoring it has no effect"));
        }
        if let Some(weight) = &self.data.weight {
            let other = match () {
                () if self.data.label.as_ref() == Some(weight) => "the label",
                () if self.data.ignore.contains(weight) => "ignored",
                () if self.features.contains_key(weight) => "a feature with settings of its own",
                () => return,
            };
            faults.add(
                fault(format!("data.weight: `{weight}` is {other} too")).help(
                    "a column is one of the two: name another one, or take it out of the other setting",
                ),
            );
        }
    }

    fn check_command(&self, notices: &mut Vec<String>) -> Result<()> {
        let model = &self.model;
        match &model.command {
            Some(command) => drop(super::command::words(command)?),
            None => {
                let idle = [
                    ("answers", model.answers.is_some()),
                    ("timeout", model.timeout.is_some()),
                    ("batch", model.batch.is_some()),
                    ("jobs", model.jobs.is_some()),
                ];
                for (key, _) in idle.iter().filter(|(_, set)| *set) {
                    notices.push(format!("model.{key} has no effect without model.command"));
                }
            }
        }
        // More than a year is practically for ever, and fits every clock.
        if model.timeout.is_some_and(|seconds| !(seconds > 0.0 && seconds <= 3.2e7)) {
            return Err(fault("model.timeout must be a positive number of seconds"));
        }
        if model.batch == Some(0) {
            return Err(fault("model.batch = 0, but it must be at least 1"));
        }
        match model.jobs {
            Some(jobs) if !(1..=MOST_THREADS).contains(&jobs) => {
                Err(fault(format!("model.jobs = {jobs}, but it must be from 1 to {MOST_THREADS}")))
            }
            _ => Ok(()),
        }
    }

    fn check_cost(&self, notices: &mut Vec<String>) -> Result<()> {
        match (self.cost.kind, &self.cost.table) {
            (CostKind::Table, None) => {
                Err(fault("cost.kind = \"table\" needs the file of costs")
                    .help("set cost.table to a CSV file"))
            }
            (CostKind::Table, Some(_)) | (_, None) => Ok(()),
            (_, Some(_)) => {
                notices.push("cost.table has no effect unless cost.kind = \"table\"".into());
                Ok(())
            }
        }
    }

    fn check_fairness(&self) -> Result<()> {
        match self.fairness.goal()? {
            Some(_) if self.limits.sample.is_some() => Err(fault(
                "fairness.max_gap and fairness.minimax need all affected people, but limits.sample is set",
            )
            .help("leave one of them out")),
            _ => Ok(()),
        }
    }

    fn check_links(&self, faults: &mut Faults) {
        let mut follows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for link in &self.links {
            let name = format!("link `{}` to `{}`", link.from, link.to);
            if !link.factor.is_finite() {
                faults.add(fault(format!("{name}: the factor must be a finite number")));
            }
            let others = follows.entry(&link.from).or_default();
            if others.contains(&link.to.as_str()) {
                faults.add(fault(format!("{name} is there twice")));
                continue;
            }
            others.push(&link.to);
        }
        for start in follows.keys() {
            let mut reached = BTreeSet::new();
            let mut open = vec![*start];
            while let Some(next) = open.pop() {
                for other in follows.get(next).into_iter().flatten() {
                    if other == start {
                        let message = format!("the links from `{start}` lead back to it");
                        faults.add(fault(message).help("remove one of the links of the circle"));
                        return;
                    }
                    if reached.insert(*other) {
                        open.push(other);
                    }
                }
            }
        }
    }
}

impl Limits {
    /// Whether any run can keep the limits.
    pub fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        for (key, value, least, most) in [
            ("max_depth", self.max_depth, 0, DEEPEST),
            ("max_leaves", self.max_leaves, 1, 1 << DEEPEST),
            ("min_leaf", self.min_leaf, 1, u32::MAX),
            ("max_edits", self.max_edits, 1, MOST_EDITS),
            ("steps", self.steps, 1, MOST_STEPS),
            ("sample", self.sample, 1, u32::MAX),
            ("threads", self.threads, 1, MOST_THREADS),
        ] {
            if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
                let range = match most {
                    u32::MAX => format!("at least {least}"),
                    most => format!("from {least} to {most}"),
                };
                faults.add(fault(format!("limits.{key} = {value}, but it must be {range}")));
            }
        }
        faults.take(self.actions.as_ref().map(super::ActionBudget::limit).transpose());
        if self.max_scorings == Some(0) {
            faults.add(fault("limits.max_scorings = 0, but it must be at least 1"));
        }
        for (name, limit) in
            [("time_limit", self.time_limit), ("outcomes_time_limit", self.outcomes_time_limit)]
        {
            if limit.is_some_and(|seconds| !(seconds > 0.0 && seconds.is_finite())) {
                faults.add(
                    fault(format!("limits.{name} must be a positive number of seconds"))
                        .help("leave it out for no limit"),
                );
            }
        }
        if let Some(device) = &self.device {
            faults.take(device.parse::<Device>().map_err(|error| {
                fault(format!("limits.device: {error}")).help(error.remedy().unwrap_or_default())
            }));
        }
        if let Some(memory) = &self.memory_limit {
            faults.take(parse_bytes(memory).map_err(|error| {
                fault(format!("limits.memory_limit: {error}"))
                    .help(error.remedy().unwrap_or_default().to_owned())
            }));
        }
        faults.finish()
    }
}

fn check_codes(what: &str, codes: &[f64]) -> Result<()> {
    match codes.iter().find(|code| !code.is_finite()) {
        Some(_) => Err(fault(format!("{what} must be finite numbers"))
            .help("texts that mean \"missing\" are listed under `missing`")),
        None => Ok(()),
    }
}

fn first_twice(list: &[String]) -> Option<&String> {
    let mut seen = BTreeSet::new();
    list.iter().find(|item| !seen.insert(*item))
}

fn check_feature(name: &str, setting: &FeatureConfig, notices: &mut Vec<String>, faults: &mut Faults) {
    let fault = |message: String| fault(format!("features.{name}: {message}"));
    if let Some([low, high]) = setting.range
        && !(low.is_finite() && high.is_finite() && low < high)
    {
        let (low, high) = (format_number(low), format_number(high));
        faults.add(fault(format!("range = [{low}, {high}] must be two finite numbers, the smaller first")));
    }
    if let Some(codes) = &setting.codes {
        faults.take(check_codes(&format!("features.{name}: codes"), codes));
    }
    if let Some(steps) = &setting.steps {
        if steps.is_empty() {
            faults.add(fault("steps is empty".into()).help("to forbid changes write immutable = true"));
        }
        if steps.contains(&0) {
            faults.add(fault("a step of 0 bins changes nothing; steps count from 1".into()));
        }
    }
    if let Some(bins) = &setting.bins {
        let rule = bins.rule();
        faults.take(
            rule.map_err(|error| {
                fault(error.to_string()).help(error.remedy().unwrap_or_default().to_owned())
            }),
        );
    }
    for (key, text) in [("display", &setting.display), ("unit", &setting.unit)] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            faults.add(fault(format!("{key} is empty")).help("leave it out to use the name of the column"));
        }
    }
    if setting.weight.is_some_and(|weight| !(weight >= 0.0 && weight.is_finite())) {
        faults.add(fault("weight must be a finite number that is not negative".into()));
    }
    for (list, what) in
        [(&setting.levels, "levels"), (setting.targets.as_ref().unwrap_or(&Vec::new()), "targets")]
    {
        if let Some(twice) = first_twice(list) {
            faults.add(fault(format!("{what} lists `{twice}` twice")));
        }
    }
    if setting.targets.as_ref().is_some_and(Vec::is_empty) {
        faults.add(fault("targets is empty".into()).help("to forbid changes write immutable = true"));
    }
    if !setting.columns.is_empty() && !matches!(setting.kind, None | Some(KindName::Categorical)) {
        faults.add(fault("a feature of one-hot columns is categorical".into()));
    }
    if setting.columns.is_empty() && setting.dropped.is_some() {
        faults.add(
            fault("dropped names the category without a column, but there are no columns".into())
                .help("list the one-hot columns of the other categories: columns = [\"…\"]"),
        );
    }
    if setting.columns.is_empty() && !setting.levels.is_empty() {
        match setting.kind {
            None | Some(KindName::Ordinal) if setting.levels.len() < 2 => {
                faults.add(fault("an ordinal feature needs at least two levels".into()));
            }
            None | Some(KindName::Ordinal) => {}
            Some(_) => notices.push(format!("features.{name}: levels only matter to ordinal features")),
        }
    }
    let of_edits = [
        ("direction", setting.direction.is_some()),
        ("range", setting.range.is_some()),
        ("steps", setting.steps.is_some()),
        ("targets", setting.targets.is_some()),
        ("forbid", !setting.forbid.is_empty()),
        ("edits", setting.edits.is_some()),
    ];
    let of_edits = of_edits.iter().filter(|(_, set)| *set).map(|(key, _)| *key);
    if setting.protected == Some(true) {
        let contrary = [
            ("immutable = false", setting.immutable == Some(false)),
            ("split = true", setting.split == Some(true)),
        ];
        let contrary = contrary.iter().filter(|(_, set)| *set).map(|(key, _)| *key);
        let contrary: Vec<&str> = of_edits.chain(contrary).collect();
        if !contrary.is_empty() {
            faults.add(
                fault(format!(
                    "a protected feature is neither changed nor split on, but {} is set",
                    contrary.join(", ")
                ))
                .help("take `protected` out, or the rest"),
            );
        }
    } else if setting.immutable == Some(true) {
        for key in of_edits.chain(setting.weight.map(|_| "weight")) {
            notices.push(format!("features.{name}: {key} has no effect on an immutable feature"));
        }
    }
    if setting.edits == Some(EditStyle::Flip) && (setting.targets.is_some() || !setting.forbid.is_empty()) {
        notices.push(format!(
            "features.{name}: a flip goes to the other value, whatever targets and forbid say"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn check(text: &str) -> Result<Vec<String>> {
        Config::parse(text, Path::new("sogar.toml"))?.check(None)
    }

    fn message(text: &str) -> String {
        check(text).unwrap_err().to_string()
    }

    #[test]
    fn the_default_is_fine() {
        assert!(check("").unwrap().is_empty());
    }

    #[test]
    fn absurd_limits_are_refused() {
        for (setting, part) in [
            ("max_depth = 11", "max_depth = 11, but it must be from 0 to 10"),
            ("max_leaves = 0", "max_leaves = 0"),
            ("min_leaf = 0", "min_leaf = 0, but it must be at least 1"),
            ("max_edits = 7", "max_edits = 7, but it must be from 1 to 6"),
            ("max_edits = 0", "max_edits = 0"),
            ("threads = 0", "threads = 0"),
            ("time_limit = -1", "positive number of seconds"),
            ("outcomes_time_limit = 0", "limits.outcomes_time_limit must be a positive number of seconds"),
            ("time_limit = nan", "positive number of seconds"),
            ("time_limit = inf", "positive number of seconds"),
            ("memory_limit = \"lots\"", "`lots` is not an amount of memory"),
        ] {
            let fault = message(&format!("[limits]\n{setting}\n"));
            assert!(fault.contains(part), "{setting}: {fault}");
        }
        assert!(check("[limits]\nmax_depth = 0\nmemory_limit = \"2GiB\"\n").is_ok());
    }

    #[test]
    fn feature_settings_are_checked() {
        for (setting, part) in [
            ("range = [2, 1]", "range = [2, 1] must be two finite numbers"),
            ("range = [0, inf]", "must be two finite numbers"),
            ("steps = []", "steps is empty"),
            ("steps = [0]", "steps count from 1"),
            ("bins = \"fine\"", "bins = \"fine\" is not understood"),
            ("weight = -1", "weight must be"),
            ("weight = nan", "weight must be"),
            ("levels = [\"a\", \"a\"]", "lists `a` twice"),
            ("levels = [\"a\"]", "at least two levels"),
            ("targets = []", "targets is empty"),
        ] {
            let fault = message(&format!("[features.age]\n{setting}\n"));
            assert!(fault.starts_with("features.age: ") && fault.contains(part), "{setting}: {fault}");
        }
    }

    #[test]
    fn a_protected_feature_is_neither_changed_nor_split_on() {
        assert!(
            check("[features.age]\nprotected = true\nimmutable = true\nsplit = false\n").unwrap().is_empty()
        );
        let fault = message(
            "[features.age]\nprotected = true\ndirection = \"increase\"\nsteps = [1]\nsplit = true\n",
        );
        assert!(fault.contains("but direction, steps, split = true is set"), "{fault}");
        assert!(
            message("[features.age]\nprotected = true\nimmutable = false\n")
                .contains("immutable = false is set")
        );
        assert!(check("[features.age]\nprotected = false\nsplit = true\n").unwrap().is_empty());
    }

    #[test]
    fn all_faults_are_reported_at_once() {
        let fault =
            message("[limits]\nmax_depth = 11\nmin_leaf = 0\n[features.age]\nweight = -1\nsteps = []\n");
        for part in [
            "4 faults",
            "max_depth = 11",
            "min_leaf = 0",
            "features.age: weight",
            "features.age: steps is empty",
        ] {
            assert!(fault.contains(part), "{part}: {fault}");
        }
    }

    #[test]
    fn settings_without_effect_are_noticed() {
        let notices = check("[features.age]\nimmutable = true\nsteps = [1]\nweight = 2\n").unwrap();
        assert_eq!(notices.len(), 2);
        assert!(notices[0].contains("steps has no effect on an immutable feature"));
        assert!(check("[model]\nthreshold = 2\n").unwrap()[0].contains("not a probability"));
        assert!(check("[cost]\ntable = \"c.csv\"\n").unwrap()[0].contains("no effect"));
    }

    #[test]
    fn model_and_cost_settings_are_checked() {
        assert!(message("[model]\nthreshold = nan\n").contains("finite"));
        assert!(message("[model]\ncommand = \"  \"\n").contains("empty"));
        assert!(message("[model]\ncommand = \"sh -c 'x\"\n").contains("left open"));
        assert!(message("[model]\ntimeout = 0\n").contains("positive number of seconds"));
        assert!(message("[model]\nbatch = 0\n").contains("at least 1"));
        assert!(message("[model]\njobs = 0\n").contains("from 1 to"));
        assert!(check("[model]\nbatch = 5\n").unwrap()[0].contains("no effect without model.command"));
        assert!(message("[model]\nclasses = [\"a\"]\n").contains("at least two"));
        assert!(message("[data]\ndesired = [\"a\", \"a\"]\n").contains("twice"));
        let fault = message("[data]\ndesired = [\"god\"]\n[model]\nclasses = [\"good\", \"bad\"]\n");
        assert!(fault.contains("`god` is not in model.classes"), "{fault}");
        assert!(message("[cost]\nkind = \"table\"\n").contains("needs the file of costs"));
    }

    #[test]
    fn circles_of_links_are_refused() {
        let link = |from: &str, to: &str| format!("[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
        let circle = link("a", "b") + &link("b", "c") + &link("c", "a");
        assert!(message(&circle).contains("lead back to it"));
        assert!(message(&link("a", "a")).contains("lead back to it"));
        assert!(message(&(link("a", "b") + &link("a", "b"))).contains("twice"));
        assert!(check(&(link("a", "b") + &link("a", "c") + &link("b", "c"))).is_ok());
        assert!(message(&(link("a", "b") + "factor = nan\n")).contains("finite"));
    }
}
