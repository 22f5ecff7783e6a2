//! The problems to measure: where their tables and models are, and which of them `make bench` takes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sogar::config::{Config, presets};
use sogar::pipeline::Prepared;
use sogar::table::Table;
use sogar::{Result, model};

use super::matrices::MATRICES;
use super::variation::Variation;

/// Where tables and models are.
#[derive(Debug, Clone, Serialize, Deserialize, clap::Args)]
pub struct Places {
    /// Directory that scripts/paper_models.py wrote: [readable-]NAME/fold1/{train.csv,model.txt}
    #[arg(long, default_value = "target/paper")]
    pub paper: PathBuf,
    /// Directory that scripts/bench_tables.py wrote: NAME/{table.csv,model.txt,sogar.toml}
    #[arg(long, default_value = "target/generated")]
    pub generated: PathBuf,
    /// Directory of the example that `sogar demo` solves
    #[arg(long, default_value = "examples/german")]
    pub demo: PathBuf,
}

/// The files of a problem.
pub struct Files {
    pub folder: PathBuf,
    pub table: PathBuf,
    pub model: PathBuf,
    /// A preset, or else a configuration in the folder.
    pub preset: Option<String>,
}

impl Places {
    /// The files of a problem; `None` if they are missing.
    pub fn files(&self, name: &str) -> Option<Files> {
        let preset = presets().iter().any(|preset| preset.name == name).then(|| name.to_owned());
        let (folder, table) = match (&preset, name.strip_prefix("paper-")) {
            (Some(_), Some(name)) => (self.paper.join(name).join("fold1"), "train.csv"),
            (Some(_), None) => (self.paper.join(format!("readable-{name}")).join("fold1"), "train.csv"),
            (None, _) if name == "demo" => (self.demo.clone(), "german.csv"),
            (None, _) => (self.generated.join(name), "table.csv"),
        };
        let model =
            ["model.txt", "model.json"].iter().map(|name| folder.join(name)).find(|path| path.is_file())?;
        let table = folder.join(table);
        table.is_file().then_some(Files { folder, table, model, preset })
    }
}

impl Files {
    /// The configuration as the files have it.
    pub fn config(&self) -> Result<Config> {
        match &self.preset {
            Some(name) => Config::preset(name),
            None => Config::read(&self.folder.join("sogar.toml")),
        }
    }

    /// The problem, up to outcomes.
    pub fn prepare(&self, depth: u32, time_limit: Option<f64>, variation: &Variation) -> Result<Prepared> {
        let mut config = self.config()?;
        variation.change(&mut config)?;
        config.limits.max_depth = Some(depth);
        config.limits.max_leaves = None; // as many as the depth allows
        config.limits.time_limit = time_limit;
        let table = Table::read(&self.table, &config.read_options()?)?;
        let model = model::load(&self.model, config.model.threshold)?;
        let mut prepared = Prepared::new(config, &self.folder, &table, model, None)?;
        variation.apply(&mut prepared)?;
        Ok(prepared)
    }
}

/// A problem at a depth.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    pub name: String,
    pub depth: u32,
    pub variation: Variation,
}

impl Case {
    pub fn new(name: &str, depth: u32) -> Case {
        Case { name: name.to_owned(), depth, variation: Variation::default() }
    }

    fn cost(mut self, cost: &str) -> Case {
        self.variation.cost = Some(cost.to_owned());
        self
    }

    fn min_leaf(mut self, rows: u32) -> Case {
        self.variation.min_leaf = Some(rows);
        self
    }

    /// Name, depth and variation in a few words.
    pub fn text(&self) -> String {
        let more = self.variation.text();
        format!("{}, depth {}{}{more}", self.name, self.depth, if more.is_empty() { "" } else { ", " })
    }
}

/// What `make bench` measures: data sets, generated tables, costs, small groups, plain matrices.
pub fn all_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for depth in [2, 3] {
        for name in ["paper-german", "paper-attrition", "paper-bank", "paper-adult"] {
            cases.push(Case::new(name, depth));
        }
    }
    cases.extend([
        Case::new("demo", 3),
        Case::new("paper-german", 3).min_leaf(20),
        Case::new("paper-attrition", 3).min_leaf(20),
        Case::new("paper-attrition", 3).cost("cet").min_leaf(15),
        Case::new("paper-adult", 2).cost("cet"),
        Case::new("paper-adult", 3).cost("cet"),
        Case::new("paper-german", 4),
        Case::new("paper-bank", 4),
        Case::new("paper-adult", 4),
    ]);
    cases.extend(
        ["small", "numeric12", "numeric12-xgboost", "mixed-xgboost", "categories", "ties"]
            .map(|name| Case::new(name, 3)),
    );
    cases.extend(["mps", "cet", "logshift", "l1", "table"].map(|cost| Case::new("mixed", 3).cost(cost)));
    cases.extend(["cet", "l1"].map(|cost| Case::new("numeric12", 3).cost(cost)));
    cases.extend([
        Case::new("numeric12-large", 2),
        Case::new("numeric24", 2),
        Case::new("numeric24-large", 1),
        Case::new("numeric24", 3),
    ]);
    cases.extend(MATRICES.iter().map(|matrix| Case::new(matrix.name, 3)));
    cases.push(Case::new("matrix-demo", 0));
    cases
}

/// The cases among [`all_cases`] with these names (all, if there are none), or, if depths are given, these names at these depths with this variation.
pub fn plan(names: &[String], depths: &[u32], variation: &Variation, quick: bool) -> Vec<Case> {
    let wanted = |case: &Case| names.is_empty() || names.contains(&case.name);
    let mut known: Vec<Case> = all_cases().into_iter().filter(wanted).collect();
    if depths.is_empty() && *variation == Variation::default() {
        // A short look has every problem once, and not at its deepest.
        known.retain(|case| !quick || case.depth < 3 && case.variation == Variation::default());
        return known;
    }
    let mut names: Vec<String> = match names.is_empty() {
        true => known.into_iter().map(|case| case.name).collect(),
        false => names.to_vec(),
    };
    names.dedup();
    let depths = if depths.is_empty() { &[3] } else { depths };
    let case = |name: &String, depth| Case { name: name.clone(), depth, variation: variation.clone() };
    depths.iter().flat_map(|&depth| names.iter().map(move |name| case(name, depth))).collect()
}

/// Whether a name is that of a plain matrix, which needs no files.
pub fn is_matrix(name: &str) -> bool {
    MATRICES.iter().any(|matrix| matrix.name == name)
}

/// The folder that lacks files, for a message.
pub fn missing(places: &Places, name: &str) -> String {
    let place: &Path =
        if presets().iter().any(|preset| preset.name == name) { &places.paper } else { &places.generated };
    format!("SKIPPED: {name}, its table or model is missing in {}", place.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_problems_are_taken_as_listed_or_at_given_depths() {
        let names = ["paper-german".to_owned(), "numeric24".to_owned()];
        let listed = plan(&names, &[], &Variation::default(), false);
        assert_eq!(listed.iter().filter(|case| case.name == "numeric24").count(), 2);
        assert!(listed.iter().any(|case| case.variation.min_leaf == Some(20)));
        let at_4 = plan(&names, &[4], &Variation::default(), false);
        assert_eq!(at_4, names.each_ref().map(|name| Case::new(name, 4)));
        assert!(plan(&[], &[], &Variation::default(), true).iter().all(|case| case.depth < 3));
    }

    #[test]
    fn every_cost_and_every_kind_of_table_is_measured() {
        let cases = all_cases();
        for cost in ["mps", "cet", "logshift", "l1", "table"] {
            assert!(cases.iter().any(|case| case.variation.cost.as_deref() == Some(cost)), "{cost}");
        }
        let script =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/bench_tables.py"))
                .unwrap();
        for case in cases {
            let preset = presets().iter().any(|preset| preset.name == case.name);
            let generated = script.contains(&format!("    \"{}\": Shape(", case.name));
            assert!(preset || generated || is_matrix(&case.name) || case.name == "demo", "{}", case.name);
        }
    }

    #[test]
    fn presets_have_folders_of_their_own() {
        let places = Places { paper: "paper".into(), generated: "generated".into(), demo: "demo".into() };
        assert!(places.files("german").is_none() && places.files("numeric12").is_none());
        assert!(
            missing(&places, "german").contains("paper") && missing(&places, "ties").contains("generated")
        );
    }
}
