//! Whether a configuration makes sense by itself: numbers in range, settings that do not contradict each other.
//!
//! What would give a wrong or endless run is an error; what merely has no effect is a notice.

use std::collections::{BTreeMap, BTreeSet};

use super::{Config, CostKind, EditStyle, FeatureConfig, KindName, Limits, parse_bytes};
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result, suggest};
use crate::feature::format_number;
use crate::table::Table;

const DEEPEST: u32 = 10;
const MOST_EDITS: u32 = 6;
const MOST_THREADS: u32 = 1024;

fn fault(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message)
}

impl Config {
    /// Checks the configuration, against a table too if one is given; gives notices of what has no effect.
    pub fn check(&self, table: Option<&Table>) -> Result<Vec<String>> {
        let mut notices = Vec::new();
        self.read_options()?;
        self.bins.rule()?;
        self.limits.check()?;
        self.check_model(&mut notices)?;
        self.check_cost(&mut notices)?;
        for (name, setting) in &self.features {
            check_feature(name, setting, &mut notices)?;
        }
        self.check_links()?;
        if let Some(table) = table {
            self.check_against(table, &mut notices)?;
        }
        Ok(notices)
    }

    fn check_model(&self, notices: &mut Vec<String>) -> Result<()> {
        if let Some(threshold) = self.model.threshold {
            if !threshold.is_finite() {
                return Err(fault("model.threshold must be a finite number"));
            }
            if !(0.0..=1.0).contains(&threshold) {
                notices.push(format!(
                    "model.threshold = {} is not a probability; that is right only for a model of raw scores",
                    format_number(threshold)
                ));
            }
        }
        self.check_command(notices)?;
        for (list, what) in [(&self.model.classes, "model.classes"), (&self.data.desired, "data.desired")] {
            if let Some(twice) = first_twice(list) {
                return Err(fault(format!("{what} lists `{twice}` twice")));
            }
        }
        if self.model.classes.len() == 1 {
            return Err(fault("model.classes lists one class; a classifier has at least two"));
        }
        if !self.model.classes.is_empty()
            && let Some(unknown) = self.data.desired.iter().find(|name| !self.model.classes.contains(name))
        {
            return Err(fault(format!("data.desired: `{unknown}` is not in model.classes"))
                .help(suggest(unknown, self.model.classes.iter().map(String::as_str))));
        }
        if let Some(label) = self.data.label.as_ref().filter(|label| self.data.ignore.contains(label)) {
            notices.push(format!("`{label}` is the label, so that ignoring it has no effect"));
        }
        if let Some(weight) = &self.data.weight {
            let other = match () {
                () if self.data.label.as_ref() == Some(weight) => "the label",
                () if self.data.ignore.contains(weight) => "ignored",
                () if self.features.contains_key(weight) => "a feature with settings of its own",
                () => return Ok(()),
            };
            return Err(fault(format!("data.weight: `{weight}` is {other} too"))
                .help("a column is one of the two: name another one, or take it out of the other setting"));
        }
        Ok(())
    }

    fn check_command(&self, notices: &mut Vec<String>) -> Result<()> {
        let model = &self.model;
        match &model.command {
            Some(command) => drop(crate::model::command::words(command)?),
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
        // Longer than a year is as good as for ever, and fits every clock.
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

    fn check_links(&self) -> Result<()> {
        let mut follows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for link in &self.links {
            let name = format!("link `{}` to `{}`", link.from, link.to);
            if !link.factor.is_finite() {
                return Err(fault(format!("{name}: the factor must be a finite number")));
            }
            let others = follows.entry(&link.from).or_default();
            if others.contains(&link.to.as_str()) {
                return Err(fault(format!("{name} is there twice")));
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
                        return Err(fault(message).help("remove one of the links of the circle"));
                    }
                    if reached.insert(*other) {
                        open.push(other);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Limits {
    /// Whether the limits can be kept by any run.
    pub fn check(&self) -> Result<()> {
        let within = |key: &str, value: Option<u32>, least: u32, most: u32| match value {
            Some(value) if !(least..=most).contains(&value) => {
                let range = if most == u32::MAX {
                    format!("at least {least}")
                } else {
                    format!("from {least} to {most}")
                };
                Err(fault(format!("limits.{key} = {value}, but it must be {range}")))
            }
            _ => Ok(()),
        };
        within("max_depth", self.max_depth, 0, DEEPEST)?;
        within("max_leaves", self.max_leaves, 1, 1 << DEEPEST)?;
        within("min_leaf", self.min_leaf, 1, u32::MAX)?;
        within("max_edits", self.max_edits, 1, MOST_EDITS)?;
        within("sample", self.sample, 1, u32::MAX)?;
        within("threads", self.threads, 1, MOST_THREADS)?;
        if self.max_scorings == Some(0) {
            return Err(fault("limits.max_scorings = 0, but it must be at least 1"));
        }
        for (name, limit) in
            [("time_limit", self.time_limit), ("outcomes_time_limit", self.outcomes_time_limit)]
        {
            if limit.is_some_and(|seconds| !(seconds > 0.0 && seconds.is_finite())) {
                return Err(fault(format!("limits.{name} must be a positive number of seconds"))
                    .help("leave it out for no limit"));
            }
        }
        if let Some(device) = &self.device {
            device.parse::<Device>().map_err(|error| {
                fault(format!("limits.device: {error}")).help(error.remedy().unwrap_or_default())
            })?;
        }
        if let Some(memory) = &self.memory_limit {
            parse_bytes(memory).map_err(|error| {
                fault(format!("limits.memory_limit: {error}"))
                    .help(error.remedy().unwrap_or_default().to_owned())
            })?;
        }
        Ok(())
    }
}

fn first_twice(list: &[String]) -> Option<&String> {
    let mut seen = BTreeSet::new();
    list.iter().find(|item| !seen.insert(*item))
}

fn check_feature(name: &str, setting: &FeatureConfig, notices: &mut Vec<String>) -> Result<()> {
    let fault = |message: String| fault(format!("features.{name}: {message}"));
    if let Some([low, high]) = setting.range
        && !(low.is_finite() && high.is_finite() && low < high)
    {
        let (low, high) = (format_number(low), format_number(high));
        return Err(fault(format!("range = [{low}, {high}] must be two finite numbers, the smaller first")));
    }
    if let Some(steps) = &setting.steps {
        if steps.is_empty() {
            return Err(fault("steps is empty".into()).help("to forbid changes write immutable = true"));
        }
        if steps.contains(&0) {
            return Err(fault("a step of 0 bins changes nothing; steps count from 1".into()));
        }
    }
    if let Some(bins) = &setting.bins {
        bins.rule()
            .map_err(|error| fault(error.to_string()).help(error.remedy().unwrap_or_default().to_owned()))?;
    }
    if setting.weight.is_some_and(|weight| !(weight >= 0.0 && weight.is_finite())) {
        return Err(fault("weight must be a finite number that is not negative".into()));
    }
    for (list, what) in
        [(&setting.levels, "levels"), (setting.targets.as_ref().unwrap_or(&Vec::new()), "targets")]
    {
        if let Some(twice) = first_twice(list) {
            return Err(fault(format!("{what} lists `{twice}` twice")));
        }
    }
    if setting.targets.as_ref().is_some_and(Vec::is_empty) {
        return Err(fault("targets is empty".into()).help("to forbid changes write immutable = true"));
    }
    if !setting.columns.is_empty() && !matches!(setting.kind, None | Some(KindName::Categorical)) {
        return Err(fault("a feature of one-hot columns is categorical".into()));
    }
    if setting.columns.is_empty() && !setting.levels.is_empty() {
        match setting.kind {
            None | Some(KindName::Ordinal) if setting.levels.len() < 2 => {
                return Err(fault("an ordinal feature needs at least two levels".into()));
            }
            None | Some(KindName::Ordinal) => {}
            Some(_) => notices.push(format!("features.{name}: levels only matter to ordinal features")),
        }
    }
    if setting.immutable == Some(true) {
        let idle = [
            ("direction", setting.direction.is_some()),
            ("range", setting.range.is_some()),
            ("steps", setting.steps.is_some()),
            ("targets", setting.targets.is_some()),
            ("forbid", !setting.forbid.is_empty()),
            ("edits", setting.edits.is_some()),
            ("weight", setting.weight.is_some()),
        ];
        for (key, _) in idle.iter().filter(|(_, set)| *set) {
            notices.push(format!("features.{name}: {key} has no effect on an immutable feature"));
        }
    }
    if setting.edits == Some(EditStyle::Flip) && (setting.targets.is_some() || !setting.forbid.is_empty()) {
        notices.push(format!(
            "features.{name}: a flip goes to the other value, whatever targets and forbid say"
        ));
    }
    Ok(())
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
