//! A cell of an experiment: one method on one fold of one data set with one classifier, under one setting. It is run
//! once; its result is a file of its own, named by a hash of everything that the result depends on.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use sogar::config::{Config, CostKind};
use sogar::error::{Error, ErrorKind, Result};
use sogar::files::{read_bytes, sha256_hex, write_atomically};

use super::inputs::{Classifier, DataSet, Paper};
use super::name::{Setting, cost_name};
use crate::contract::FitStatus;
use crate::evaluate::Score;
use crate::methods::Method;

/// Grows when the meaning of a result's fields changes.
const VERSION: u32 = 1;

/// One method on one fold.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The data set.
    pub data: DataSet,
    /// The classifier.
    pub model: Classifier,
    /// The fold, from 1.
    pub fold: u32,
    /// The recourse cost.
    pub cost: CostKind,
    /// The method.
    pub method: &'static Method,
    /// What is changed about the usual run.
    pub setting: Setting,
    /// Whether the front is audited by the data set's groups.
    pub audited: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// Seconds for a competing method; sogar's search has the setting's.
    pub time_limit: Option<f64>,
}

impl Cell {
    /// The configuration that the cell runs with, but for threads.
    pub fn config(&self) -> Result<Config> {
        let mut config = self.data.config()?;
        config.cost.kind = self.cost;
        config.seed = self.seed;
        self.setting.apply(&mut config);
        Ok(config)
    }

    /// Seconds that the method has; for sogar, its search.
    pub fn limit(&self) -> Option<f64> {
        if self.method.name == "sogar" { self.setting.time_limit } else { self.time_limit }
    }

    /// Where the cell's result is within a folder. What a method finishes by itself does not depend on how long it was
    /// given, so a limit belongs to the results of methods that were `cut` by it, and to those alone.
    pub fn file(&self, folder: &Path, paper: &Paper, cut: bool) -> Result<PathBuf> {
        let files = paper.files(&self.data, &self.model, self.fold)?;
        let mut config = self.config()?;
        config.limits.time_limit = None;
        let depends = json!({
            "version": VERSION,
            "train": paper.hash(&files.train)?,
            "test": paper.hash(&files.test)?,
            "model": paper.hash(&files.model)?,
            "config": config,
            "method": self.method.name,
            "revision": self.method.revision,
            "time_limit": self.limit().filter(|_| cut),
            "audited": self.audited.then_some(self.data.group),
        });
        let hash = sha256_hex(depends.to_string().as_bytes());
        let label: String =
            self.setting.label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let usual = Setting { time_limit: None, ..self.setting.clone() }.is_usual();
        let words = [
            self.data.name,
            self.model.name,
            &format!("fold{}", self.fold),
            cost_name(self.cost),
            self.method.name,
            if usual { "usual" } else { &label },
            &hash[..12],
        ];
        Ok(folder.join(format!("{}.json", words.join("-"))))
    }

    /// What is kept of the cell: what the method finished within the limit, else what it had when it was cut.
    pub fn kept(&self, folder: &Path, paper: &Paper) -> Result<Option<CellResult>> {
        let finished = CellResult::read(&self.file(folder, paper, false)?);
        let in_time =
            |result: &CellResult| self.limit().is_none_or(|limit| result.limited_seconds() <= limit);
        match finished.filter(in_time) {
            Some(result) => Ok(Some(result)),
            None if self.limit().is_some() => Ok(CellResult::read(&self.file(folder, paper, true)?)),
            None => Ok(None),
        }
    }

    /// Keeps what came out of the cell.
    pub fn keep(&self, result: &CellResult, folder: &Path, paper: &Paper) -> Result<()> {
        result.write(&self.file(folder, paper, result.status == FitStatus::TimeLimit)?)
    }

    /// The cell for people.
    pub fn title(&self) -> String {
        let label =
            if self.setting.label.is_empty() { String::new() } else { format!(" ({})", self.setting.label) };
        format!(
            "{} {} fold {} {} {}{label}",
            self.data.name,
            self.model.name,
            self.fold,
            cost_name(self.cost),
            self.method.name
        )
    }
}

/// What came out of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// How the method ended.
    pub status: FitStatus,
    /// Seconds from the prepared run to proposals for every affected row.
    pub seconds: f64,
    /// Threads.
    pub threads: usize,
    /// When it was run, in UTC.
    pub date: String,
    /// On the affected rows of the train table.
    pub score: Option<Score>,
    /// On those of the held-out table.
    pub held_out: Option<Score>,
    /// Of sogar's search.
    pub search: Option<Search>,
    /// Of sogar's front by groups.
    pub audit: Option<Vec<GroupFigures>>,
}

/// Figures of sogar's search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Summaries on the front.
    pub points: usize,
    /// Actions in all.
    pub actions: usize,
    /// Leaf sets evaluated.
    pub leaf_sets: u64,
    /// Seconds for outcomes.
    pub seconds_outcomes: f64,
    /// Seconds for the search.
    pub seconds_search: f64,
    /// Mean distance between a summary's (cost, loss) on train and on held-out rows.
    pub mean_distance: f64,
    /// Its standard deviation over the front.
    pub sd_distance: f64,
}

/// One group of people on one table, along the front.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupFigures {
    /// `train` or `held-out`.
    pub table: String,
    /// The group.
    pub group: String,
    /// Its rows.
    pub rows: usize,
    /// Those turned down.
    pub affected: usize,
    /// Share of its rows turned down.
    pub adverse_rate: Option<f64>,
    /// True positive rate of the classifier.
    pub tpr: Option<f64>,
    /// Cost, loss and invalidity.
    pub measures: Vec<GroupMeasure>,
}

/// A measure of a group along the front.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupMeasure {
    /// `cost`, `loss` or `invalidity`.
    pub measure: String,
    /// Mean over the front.
    pub mean: f64,
    /// Standard deviation over the front.
    pub sd: f64,
    /// Mean gap to everyone else.
    pub gap: f64,
    /// Share of the front with a positive gap.
    pub worse: f64,
}

impl CellResult {
    /// The seconds that a limit is about: sogar's search, or all that a method did.
    pub fn limited_seconds(&self) -> f64 {
        self.search.map_or(self.seconds, |search| search.seconds_search)
    }

    /// Reads a result that was kept; `None` if there is none, or if it is damaged.
    fn read(path: &Path) -> Option<CellResult> {
        if !path.is_file() {
            return None;
        }
        serde_json::from_slice(&read_bytes(path).ok()?).ok()
    }

    /// The whole file or none.
    fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
        write_atomically(path, |out| writeln!(out, "{text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::inputs::{CLASSIFIERS, DATA_SETS};
    use super::super::name::Name;
    use super::*;

    fn paper() -> (tempfile::TempDir, Paper) {
        let folder = tempfile::tempdir().unwrap();
        let fold = folder.path().join("german/fold1");
        std::fs::create_dir_all(&fold).unwrap();
        for file in ["train.csv", "test.csv", "model.txt"] {
            std::fs::write(fold.join(file), file).unwrap();
        }
        let paper = Paper::new(folder.path());
        (folder, paper)
    }

    fn cell(method: &str) -> Cell {
        Cell {
            data: DATA_SETS[1],
            model: CLASSIFIERS[2],
            fold: 1,
            cost: CostKind::Mps,
            method: Method::named(method).unwrap(),
            setting: Setting::default(),
            audited: false,
            seed: 0,
            time_limit: None,
        }
    }

    #[test]
    fn the_file_is_another_one_as_soon_as_anything_differs() {
        let (folder, paper) = paper();
        let file = |cell: &Cell| cell.file(Path::new("cells"), &paper, false).unwrap();
        let usual = file(&cell("sogar"));
        assert!(usual.to_string_lossy().contains("german-lightgbm-fold1-mps-sogar-usual-"));
        assert_eq!(usual, file(&cell("sogar")));
        let depth = Name::Depth.settings(false).remove(0);
        let others = [
            cell("t-crex-0.9"),
            Cell { cost: CostKind::Cet, ..cell("sogar") },
            Cell { setting: depth, ..cell("sogar") },
            Cell { audited: true, ..cell("sogar") },
            Cell { seed: 1, ..cell("sogar") },
        ];
        let mut files: Vec<PathBuf> = others.iter().map(file).chain([usual.clone()]).collect();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), others.len() + 1);
        std::fs::write(folder.path().join("german/fold1/model.txt"), "another").unwrap();
        let fresh = Paper::new(folder.path());
        assert_ne!(usual, cell("sogar").file(Path::new("cells"), &fresh, false).unwrap());
    }

    #[test]
    fn the_usual_setting_of_an_experiment_is_the_usual_run() {
        let (_folder, paper) = paper();
        let file = |cell: &Cell| cell.file(Path::new(""), &paper, false).unwrap();
        for name in [Name::Timeouts, Name::Depth, Name::Sparsity, Name::Bins] {
            let usual =
                name.settings(false).into_iter().find(|setting| Some(setting.label.as_str()) == name.usual());
            assert_eq!(
                file(&Cell { setting: usual.unwrap(), ..cell("sogar") }),
                file(&cell("sogar")),
                "{name:?}"
            );
        }
    }

    fn result(status: FitStatus, seconds: f64) -> CellResult {
        CellResult {
            status,
            seconds,
            threads: 2,
            date: "2026-01-01".into(),
            score: None,
            held_out: None,
            search: None,
            audit: None,
        }
    }

    #[test]
    fn what_was_finished_in_time_serves_every_limit_and_what_was_cut_only_its_own() {
        let (folder, paper) = paper();
        let cells = folder.path();
        let within = |limit: Option<f64>| Cell { time_limit: limit, ..cell("t-crex-0.9") };
        let kept =
            |limit: Option<f64>| within(limit).kept(cells, &paper).unwrap().map(|result| result.seconds);
        within(Some(2.0)).keep(&result(FitStatus::TimeLimit, 2.1), cells, &paper).unwrap();
        assert_eq!((kept(Some(2.0)), kept(Some(9.0)), kept(None)), (Some(2.1), None, None));
        within(Some(9.0)).keep(&result(FitStatus::Complete, 5.0), cells, &paper).unwrap();
        assert_eq!((kept(Some(2.0)), kept(Some(7.0)), kept(None)), (Some(2.1), Some(5.0), Some(5.0)));
    }

    #[test]
    fn a_result_is_read_back_and_a_damaged_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cell.json");
        assert_eq!(CellResult::read(&path), None);
        let result = result(FitStatus::NoResult { reason: "a \"reason\"".into() }, 0.1);
        result.write(&path).unwrap();
        assert_eq!(CellResult::read(&path), Some(result));
        std::fs::write(&path, "{\"status\": \"comp").unwrap();
        assert_eq!(CellResult::read(&path), None);
    }
}
