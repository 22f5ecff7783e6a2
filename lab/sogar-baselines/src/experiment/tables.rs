//! Results of an experiment, folds brought together: as rows, and from them as CSV, JSON and Markdown.

mod groups;
mod markdown;
mod verdicts;

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use sogar::error::{Error, ErrorKind, Result};
use sogar::files::write_atomically;

use super::cell::{Cell, CellResult, GroupFigures, Search};
use super::name::{Name, cost_name};
use super::paper::{Published, published};
use super::statistics::MeanSd;
use crate::contract::FitStatus;
use crate::evaluate::Score;

/// Mean cost, loss and invalidity over folds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Cost.
    pub cost: MeanSd,
    /// Loss.
    pub loss: MeanSd,
    /// Invalidity.
    pub invalidity: MeanSd,
    /// Share of people with a proposal.
    pub coverage: MeanSd,
    /// Groups.
    pub groups: MeanSd,
    /// Changed features a person.
    pub sparsity: MeanSd,
}

impl Figures {
    fn of(scores: &[Score]) -> Option<Figures> {
        let over = |read: fn(&Score) -> f64| MeanSd::of(&scores.iter().map(read).collect::<Vec<_>>());
        Some(Figures {
            cost: over(|score| score.cost)?,
            loss: over(|score| score.loss)?,
            invalidity: over(|score| score.invalidity)?,
            coverage: over(|score| score.coverage)?,
            groups: over(|score| score.parts as f64)?,
            sparsity: over(|score| score.sparsity)?,
        })
    }
}

/// One method under one setting, on one data set with one classifier: all of its folds.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The data set.
    pub dataset: &'static str,
    /// The classifier.
    pub model: &'static str,
    /// The recourse cost.
    pub cost: &'static str,
    /// The method.
    pub method: &'static str,
    /// The setting; empty: the usual one.
    pub setting: String,
    /// Folds that were asked for.
    pub asked: usize,
    /// Folds that have a result.
    pub folds: usize,
    /// Folds that were ended by a time limit.
    pub cut: usize,
    /// Why folds have none, each reason once.
    pub reasons: Vec<String>,
    /// On the rows that were learned from.
    pub train: Option<Figures>,
    /// On the rows held out.
    pub held_out: Option<Figures>,
    /// Seconds.
    pub seconds: Option<MeanSd>,
    /// Of these, seconds of sogar's search.
    pub seconds_search: Option<MeanSd>,
    /// Summaries on sogar's front.
    pub points: Option<MeanSd>,
    /// Mean distance between train and held-out rows along sogar's front.
    pub distance: Option<MeanSd>,
    /// What was published.
    #[serde(skip)]
    pub paper: Option<Published>,
    /// Groups of people along sogar's front, fold by fold.
    #[serde(skip)]
    pub audits: Vec<Vec<GroupFigures>>,
}

/// The results of an experiment.
pub struct Tables {
    name: Name,
    rows: Vec<Row>,
}

impl Tables {
    /// Brings folds together. Cells that have not been run are `None`.
    pub fn new(name: Name, cells: &[Cell], results: &[Option<CellResult>]) -> Tables {
        let mut order: Vec<(&Cell, Vec<Option<&CellResult>>)> = Vec::new();
        for (cell, result) in cells.iter().zip(results) {
            match order.iter_mut().find(|(known, _)| same_row(known, cell)) {
                Some((_, of)) => of.push(result.as_ref()),
                None => order.push((cell, vec![result.as_ref()])),
            }
        }
        Tables { name, rows: order.iter().map(|(cell, results)| row(name, cell, results)).collect() }
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Everything as JSON.
    pub fn json(&self) -> Result<Value> {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let mut value = serde_json::to_value(row)
                    .map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
                let paper = row.paper.map(|paper| {
                    json!({ "cost": paper.cost, "loss": paper.loss, "invalidity": paper.invalidity, "seconds": paper.seconds })
                });
                value["paper"] = json!(paper);
                value["audits"] = json!(row.audits);
                Ok(value)
            })
            .collect::<Result<_>>()?;
        Ok(json!({ "experiment": self.name.name(), "rows": rows }))
    }

    /// The rows as CSV, means and standard deviations in columns of their own.
    pub fn csv(&self) -> String {
        let measures = ["cost", "loss", "invalidity"];
        let mut text = String::from("dataset,model,cost_kind,method,setting,folds,cut");
        for table in ["train", "heldout"] {
            for measure in measures {
                text += &format!(",{table}_{measure},{table}_{measure}_sd");
            }
        }
        text += ",seconds,seconds_sd,seconds_search,points,distance,paper_cost,paper_loss,paper_invalidity,paper_seconds,reasons\n";
        let pair = |value: Option<MeanSd>| {
            let mean = value.map_or(String::new(), |value| format!("{:.6}", value.mean));
            let sd = value.and_then(|value| value.sd).map_or(String::new(), |sd| format!("{sd:.6}"));
            format!("{mean},{sd}")
        };
        let one = |value: Option<MeanSd>| value.map_or(String::new(), |value| format!("{:.6}", value.mean));
        for row in &self.rows {
            let Row { dataset, model, cost, method, setting, folds, cut, .. } = row;
            text += &format!("{dataset},{model},{cost},{method},{setting},{folds},{cut}");
            for figures in [row.train, row.held_out] {
                text += &format!(
                    ",{},{},{}",
                    pair(figures.map(|figures| figures.cost)),
                    pair(figures.map(|figures| figures.loss)),
                    pair(figures.map(|figures| figures.invalidity))
                );
            }
            let paper = row
                .paper
                .map_or(["", "", "", ""], |paper| [paper.cost, paper.loss, paper.invalidity, paper.seconds]);
            text += &format!(
                ",{},{},{},{},{},\"{}\"\n",
                pair(row.seconds),
                one(row.seconds_search),
                one(row.points),
                one(row.distance),
                paper.join(","),
                row.reasons.join("; ").replace('"', "\"\"")
            );
        }
        text
    }

    /// Writes `NAME.csv`, `NAME.json` and `NAME.md` into a folder, and says where.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let texts = [("csv", self.csv()), ("json", format!("{}\n", self.json()?)), ("md", self.markdown())];
        let mut paths = Vec::new();
        for (ending, text) in texts {
            let path = folder.join(format!("{}.{ending}", self.name.name()));
            write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// Whether two cells differ in their fold alone.
fn same_row(one: &Cell, other: &Cell) -> bool {
    one.data == other.data
        && one.model == other.model
        && one.cost == other.cost
        && one.method.name == other.method.name
        && one.setting.label == other.setting.label
}

fn row(name: Name, cell: &Cell, results: &[Option<&CellResult>]) -> Row {
    let there: Vec<&CellResult> = results.iter().copied().flatten().collect();
    let scored: Vec<&CellResult> = there.iter().copied().filter(|result| result.score.is_some()).collect();
    let train: Vec<Score> = scored.iter().filter_map(|result| result.score).collect();
    let held_out: Vec<Score> = scored.iter().filter_map(|result| result.held_out).collect();
    let mut reasons: Vec<String> = Vec::new();
    for result in &there {
        if let FitStatus::NoResult { reason } = &result.status
            && !reasons.contains(reason)
        {
            reasons.push(reason.clone());
        }
    }
    let searches: Vec<Search> = scored.iter().filter_map(|result| result.search).collect();
    let search = |read: fn(&Search) -> f64| MeanSd::of(&searches.iter().map(read).collect::<Vec<_>>());
    Row {
        dataset: cell.data.name,
        model: cell.model.name,
        cost: cost_name(cell.cost),
        method: cell.method.name,
        setting: cell.setting.label.clone(),
        asked: results.len(),
        folds: scored.len(),
        cut: there.iter().filter(|result| result.status == FitStatus::TimeLimit).count(),
        reasons,
        train: Figures::of(&train),
        held_out: Figures::of(&held_out),
        seconds: MeanSd::of(&scored.iter().map(|result| result.seconds).collect::<Vec<_>>()),
        seconds_search: search(|search| search.seconds_search),
        points: search(|search| search.points as f64),
        distance: search(|search| search.mean_distance),
        paper: published(name.name(), cell.data.name, cell.model.name, cell.method.name, &cell.setting.label),
        audits: there.iter().filter_map(|result| result.audit.clone()).collect(),
    }
}

#[cfg(test)]
mod tests;
