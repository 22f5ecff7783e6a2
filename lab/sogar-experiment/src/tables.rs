//! Results of an experiment, aggregated over folds: as rows, and from them as CSV, JSON and Markdown.

mod groups;
mod markdown;
mod variants;
mod verdicts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sogar::error::Result;
use sogar::files::write_atomically;

use super::cell::Cell;
use super::name::Name;
use super::paper::{Published, published};
use super::result::{CellResult, Figures};
use super::statistics::MeanSd;
use super::store::Store;
use sogar_baselines::contract::FitStatus;
use sogar_baselines::methods::Method;

/// Means of cost, loss and the rest over folds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Means {
    /// Cost.
    pub cost: MeanSd,
    /// Loss.
    pub loss: MeanSd,
    /// Invalidity.
    pub invalidity: MeanSd,
    /// Groups.
    pub groups: MeanSd,
    /// Share of people whose proposal changes nothing.
    pub unchanged: MeanSd,
    /// People turned down.
    pub affected: MeanSd,
}

impl Means {
    fn of(figures: &[Figures]) -> Option<Means> {
        let over = |read: fn(&Figures) -> f64| MeanSd::of(&figures.iter().map(read).collect::<Vec<_>>());
        Some(Means {
            cost: over(|figures| figures.cost)?,
            loss: over(Figures::loss)?,
            invalidity: over(Figures::invalidity)?,
            groups: over(|figures| figures.parts as f64)?,
            unchanged: over(|figures| figures.unchanged as f64 / figures.rows.max(1) as f64)?,
            affected: over(|figures| figures.rows as f64)?,
        })
    }
}

/// One method under one setting, on one data set with one classifier: all of its folds.
#[derive(Debug, Clone)]
pub struct Row {
    /// The protocol.
    pub protocol: String,
    /// The data set.
    pub dataset: &'static str,
    /// The kind of classifier.
    pub model: &'static str,
    /// The method.
    pub method: &'static Method,
    /// The setting; empty: the usual one.
    pub setting: String,
    /// The key of the first fold's cell: rows of two protocols may be the same.
    key: String,
    /// Requested folds.
    pub asked: usize,
    /// Results by fold.
    pub results: BTreeMap<u32, CellResult>,
    /// On the rows that were learned from.
    pub train: Option<Means>,
    /// On the rows held out.
    pub held_out: Option<Means>,
    /// What was published.
    pub paper: Option<Published>,
}

impl Row {
    fn new(name: Name, cell: &Cell) -> Row {
        let paper = cell.method.published().and_then(|method| {
            let experiment =
                if name == Name::Choice || name == Name::Hypotheses { "table1" } else { name.name() };
            published(experiment, cell.data.name, cell.model.kind, method, &cell.setting.label)
        });
        Row {
            protocol: cell.protocol.clone(),
            dataset: cell.data.name,
            model: cell.model.kind,
            method: cell.method,
            setting: cell.setting.label.clone(),
            key: cell.key(false),
            asked: 0,
            results: BTreeMap::new(),
            train: None,
            held_out: None,
            paper,
        }
    }

    fn is_of(&self, cell: &Cell) -> bool {
        (self.protocol.as_str(), self.dataset, self.model, self.method.name, self.setting.as_str())
            == (
                cell.protocol.as_str(),
                cell.data.name,
                cell.model.kind,
                cell.method.name,
                cell.setting.label.as_str(),
            )
    }

    /// Folds with figures.
    pub fn folds(&self) -> usize {
        self.results.values().filter(|result| result.train.is_some()).count()
    }

    /// Folds that a time limit ended.
    pub fn cut(&self) -> usize {
        self.results.values().filter(|result| result.status == FitStatus::TimeLimit).count()
    }

    /// Why folds have no figures, each reason once.
    pub fn reasons(&self) -> Vec<&str> {
        let mut reasons: Vec<&str> = Vec::new();
        for result in self.results.values() {
            if let FitStatus::NoResult { reason } = &result.status
                && !reasons.contains(&reason.as_str())
            {
                reasons.push(reason);
            }
        }
        reasons
    }

    /// A figure of the results that have it, over folds.
    fn over(&self, read: impl Fn(&CellResult) -> Option<f64>) -> Option<MeanSd> {
        MeanSd::of(&self.results.values().filter_map(read).collect::<Vec<_>>())
    }

    /// Seconds, where the machine had nothing else to do.
    fn seconds(&self) -> Option<MeanSd> {
        self.over(|result| result.train.filter(|_| result.timed).map(|_| result.seconds))
    }

    fn seconds_search(&self) -> Option<MeanSd> {
        self.over(|result| result.search.filter(|_| result.timed).map(|search| search.seconds_search))
    }

    /// Summaries on sogar's front.
    fn points(&self) -> Option<MeanSd> {
        self.over(|result| result.search.map(|search| search.points as f64))
    }

    /// Mean distance between train and held-out rows along sogar's front.
    fn distance(&self) -> Option<MeanSd> {
        self.over(|result| result.search.map(|search| search.mean_distance))
    }
}

/// The results of an experiment.
pub struct Tables {
    name: Name,
    rows: Vec<Row>,
}

impl Tables {
    /// Aggregates the folds of these cells. Cells that have not been run are left out; where no method finished, the result with the
    /// longest limit stands for it. Only `timeouts` is about the limits themselves.
    pub fn new(name: Name, cells: &[Cell], store: &Store) -> Tables {
        let mut rows: Vec<Row> = Vec::new();
        for cell in cells {
            let place = rows.iter().position(|row| row.is_of(cell)).unwrap_or_else(|| {
                rows.push(Row::new(name, cell));
                rows.len() - 1
            });
            rows[place].asked += 1;
            let found = if name == Name::Timeouts { store.get(cell) } else { store.best(cell) };
            if let Some(result) = found {
                rows[place].results.insert(cell.fold, result.clone());
            }
        }
        for row in &mut rows {
            let figures = |read: fn(&CellResult) -> Option<Figures>| {
                Means::of(&row.results.values().filter_map(read).collect::<Vec<_>>())
            };
            (row.train, row.held_out) = (figures(train), figures(held_out));
        }
        Tables { name, rows }
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Everything as JSON.
    pub fn json(&self) -> Value {
        let pair = |value: Option<MeanSd>| value.map(|value| json!({ "mean": value.mean, "sd": value.sd }));
        let means = |means: Option<Means>| {
            means.map(|means| {
                json!({
                    "cost": pair(Some(means.cost)),
                    "loss": pair(Some(means.loss)),
                    "invalidity": pair(Some(means.invalidity)),
                    "groups": pair(Some(means.groups)),
                    "unchanged": pair(Some(means.unchanged)),
                    "affected": pair(Some(means.affected)),
                })
            })
        };
        let row = |row: &Row| {
            json!({
                "protocol": row.protocol, "dataset": row.dataset, "model": row.model, "method": row.method.name,
                "kind": row.method.kind.title(), "setting": row.setting, "asked": row.asked, "folds": row.folds(),
                "cut": row.cut(), "reasons": row.reasons(), "train": means(row.train), "held_out": means(row.held_out),
                "seconds": pair(row.seconds()), "points": pair(row.points()), "distance": pair(row.distance()),
                "paper": row.paper.map(|paper| json!({
                    "cost": paper.cost, "loss": paper.loss, "invalidity": paper.invalidity, "seconds": paper.seconds,
                })),
            })
        };
        json!({ "experiment": self.name.name(), "rows": self.rows.iter().map(row).collect::<Vec<_>>() })
    }

    /// The rows as CSV, with separate columns for means and standard deviations.
    pub fn csv(&self) -> String {
        let mut text = String::from("protocol,dataset,model,method,kind,setting,folds,cut");
        for table in ["train", "heldout"] {
            for measure in ["cost", "loss", "invalidity"] {
                text += &format!(",{table}_{measure},{table}_{measure}_sd");
            }
        }
        text += ",seconds,points,distance,paper_cost,paper_loss,paper_invalidity,paper_seconds,reasons\n";
        let pair = |value: Option<MeanSd>| {
            let mean = value.map_or(String::new(), |value| format!("{:.6}", value.mean));
            let sd = value.and_then(|value| value.sd).map_or(String::new(), |sd| format!("{sd:.6}"));
            format!("{mean},{sd}")
        };
        let one = |value: Option<MeanSd>| value.map_or(String::new(), |value| format!("{:.6}", value.mean));
        for row in &self.rows {
            let Row { protocol, dataset, model, method, setting, .. } = row;
            let (name, kind) = (method.name, method.kind.title());
            text += &format!(
                "{protocol},{dataset},{model},{name},{kind},{setting},{},{}",
                row.folds(),
                row.cut()
            );
            for means in [row.train, row.held_out] {
                text += &format!(
                    ",{},{},{}",
                    pair(means.map(|means| means.cost)),
                    pair(means.map(|means| means.loss)),
                    pair(means.map(|means| means.invalidity))
                );
            }
            let paper =
                row.paper.map_or([""; 4], |paper| [paper.cost, paper.loss, paper.invalidity, paper.seconds]);
            text += &format!(
                ",{},{},{},{},\"{}\"\n",
                one(row.seconds()),
                one(row.points()),
                one(row.distance()),
                paper.join(","),
                row.reasons().join("; ").replace('"', "\"\"")
            );
        }
        text
    }

    /// Writes `NAME.csv`, `NAME.json` and `NAME.md` into a folder, and returns their paths.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let texts = [("csv", self.csv()), ("json", format!("{}\n", self.json())), ("md", self.markdown())];
        let mut paths = Vec::new();
        for (ending, text) in texts {
            let path = folder.join(format!("{}.{ending}", self.name.name()));
            write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// Each item once, in the order of their first appearance.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// Which people a figure is about.
type Read = fn(&CellResult) -> Option<Figures>;

/// Those that a method learned from.
fn train(result: &CellResult) -> Option<Figures> {
    result.train
}

/// Those held out.
fn held_out(result: &CellResult) -> Option<Figures> {
    result.held_out
}

/// A figure of methods that they are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Cost.
    Cost,
    /// Loss.
    Loss,
    /// Their sum.
    Invalidity,
}

/// Mean cost, loss and invalidity of a row over the folds that another one has as well.
fn shared(row: &Row, other: &Row, read: Read) -> Option<([f64; 3], usize)> {
    let figures: Vec<[f64; 3]> = row
        .results
        .iter()
        .filter(|(fold, _)| other.results.get(fold).is_some_and(|result| read(result).is_some()))
        .filter_map(|(_, result)| read(result))
        .map(|figures| [figures.cost, figures.loss(), figures.invalidity()])
        .collect();
    let count = figures.len();
    let mean = |place: usize| figures.iter().map(|figures| figures[place]).sum::<f64>() / count.max(1) as f64;
    (count > 0).then(|| ([mean(0), mean(1), mean(2)], count))
}

/// Whether a row has a lower figure than another one, over the folds that both have; `None`: there are none.
fn is_lower(row: &Row, other: &Row, read: Read, figure: Figure) -> Option<bool> {
    let (own, _) = shared(row, other, read)?;
    let (others, _) = shared(other, row, read)?;
    Some(own[figure as usize] < others[figure as usize])
}

/// Whether two rows are about the same people and classifier.
fn same_table(one: &Row, other: &Row) -> bool {
    (&one.protocol, one.dataset, one.model) == (&other.protocol, other.dataset, other.model)
}

#[cfg(test)]
mod tests;
