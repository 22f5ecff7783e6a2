//! Running the cells that are not there yet, and keeping what comes out.
//!
//! Cells of one fold and classifier share tables and model, and where outcomes take long also these: they are kept in a
//! folder until the last of these cells is done. A cell that was interrupted is not kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sogar::CancelToken;
use sogar::audit::{Audit, AuditRequest, MeasureName, audit};
use sogar::error::{Error, ErrorKind, Result};
use sogar::evaluate::{HeldOut, evaluate};
use sogar::model::{LoadedModel, load};
use sogar::pipeline::{Prepared, Reporter};
use sogar::summary::FrontFile;
use sogar::table::Table;

use super::cell::{Cell, CellResult, GroupFigures, GroupMeasure, Search};
use super::inputs::Paper;
use super::statistics::MeanSd;
use crate::contest::{Contest, Entry};
use crate::contract::FitStatus;

/// What outcomes that were kept say about how they were found.
const KEPT: &str = "kept from an earlier run";

/// Is told how an experiment goes.
pub trait Listener {
    /// A cell begins; `done` of `all` that have to be run are finished.
    fn begins(&self, cell: &Cell, done: usize, all: usize);
    /// A cell is finished and kept.
    fn finished(&self, cell: &Cell, result: &CellResult);
}

/// Runs cells.
pub struct Runner<'a> {
    /// Tables and models.
    pub paper: &'a Paper,
    /// Where results are kept.
    pub folder: PathBuf,
    /// Threads; `None`: all. A setting's own number goes first.
    pub threads: Option<u32>,
    /// Ends the experiment with what is finished.
    pub cancel: &'a CancelToken,
}

/// What cells of one fold and classifier share.
struct Shared {
    train: Table,
    test: Table,
    model: LoadedModel,
}

impl Runner<'_> {
    /// Where the results of cells are.
    pub fn cells(&self) -> PathBuf {
        self.folder.join("cells")
    }

    /// What is kept of these cells, in their order.
    pub fn kept(&self, cells: &[Cell]) -> Result<Vec<Option<CellResult>>> {
        let folder = self.cells();
        cells.iter().map(|cell| cell.kept(&folder, self.paper)).collect()
    }

    /// Runs the cells that are not there yet; says whether all of them are there now.
    pub fn run(&self, cells: &[Cell], listener: &dyn Listener, reporter: &dyn Reporter) -> Result<bool> {
        let kept = self.kept(cells)?;
        let missing: Vec<&Cell> =
            cells.iter().zip(&kept).filter(|(_, kept)| kept.is_none()).map(|(cell, _)| cell).collect();
        let (mut done, all) = (0, missing.len());
        let group = |cell: &Cell| (cell.fold, cell.data.name, cell.model.name);
        for cells in missing.chunk_by(|one, other| group(one) == group(other)) {
            let shared = self.open(cells[0])?;
            let outcomes = Outcomes::of(cells, &self.folder);
            for cell in cells {
                if self.cancel.is_cancelled() {
                    return Ok(false);
                }
                // Cells share results: an earlier one of this list may have been the same but for its limit.
                if cell.kept(&self.cells(), self.paper)?.is_some() {
                    done += 1;
                    continue;
                }
                listener.begins(cell, done, all);
                let result = self.cell(cell, &shared, outcomes.as_ref(), reporter)?;
                if result.status == FitStatus::Cancelled || self.cancel.is_cancelled() {
                    return Ok(false);
                }
                cell.keep(&result, &self.cells(), self.paper)?;
                done += 1;
                listener.finished(cell, &result);
            }
            if let Some(outcomes) = &outcomes {
                outcomes.forget();
            }
        }
        Ok(true)
    }

    fn open(&self, cell: &Cell) -> Result<Shared> {
        let files = self.paper.files(&cell.data, &cell.model, cell.fold)?;
        let options = cell.config()?.read_options()?;
        Ok(Shared {
            train: Table::read(&files.train, &options)?,
            test: Table::read(&files.test, &options)?,
            model: load(&files.model, None)?,
        })
    }

    fn cell(
        &self,
        cell: &Cell,
        shared: &Shared,
        outcomes: Option<&Outcomes>,
        reporter: &dyn Reporter,
    ) -> Result<CellResult> {
        let mut config = cell.config()?;
        config.limits.threads = config.limits.threads.or(self.threads);
        // What an experiment does not vary is the same everywhere.
        config.limits.device.get_or_insert_with(|| "cpu".to_owned());
        let mut prepared = Prepared::new(config, Path::new(""), &shared.train, shared.model.clone(), None)?;
        prepared.outcomes_cache = outcomes.map(|outcomes| outcomes.folder.clone());
        let held_out = HeldOut::new(&prepared, &shared.test)?;
        let contest = Contest {
            prepared: &prepared,
            held_out: Some(&held_out),
            seed: cell.seed,
            time_limit: cell.time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok()),
            cancel: self.cancel,
        };
        let entry = contest.run(cell.method, reporter);
        let mut result = CellResult {
            status: entry.status.clone(),
            seconds: entry.seconds,
            threads: prepared.threads(),
            date: sogar::clock::utc_now(),
            score: entry.score,
            held_out: entry.held_out,
            search: None,
            audit: None,
        };
        if let Entry { front: Some(front), .. } = &entry {
            let seconds_outcomes = match outcomes {
                Some(outcomes) => outcomes.seconds(front)?,
                None => front.run.seconds_outcomes,
            };
            result.seconds += seconds_outcomes - front.run.seconds_outcomes;
            let there = evaluate(front, &prepared, &held_out)?;
            result.search = Some(Search {
                points: front.points.len(),
                actions: front.counts.actions,
                leaf_sets: front.run.leaf_sets,
                seconds_outcomes,
                seconds_search: front.run.seconds_search,
                mean_distance: there.mean_distance,
                sd_distance: there.sd_distance,
            });
            if let (true, Some(group)) = (cell.audited, cell.data.group) {
                let request =
                    AuditRequest { groups: vec![group.parse()?], draws: 0, ..AuditRequest::default() };
                let holdout = Some((&held_out, &shared.test));
                let found = audit(front, &prepared, &shared.train, holdout, &request, reporter, self.cancel)?;
                result.audit = Some(figures(&found));
            }
        }
        Ok(result)
    }
}

/// An audit's figures along the front.
fn figures(audit: &Audit) -> Vec<GroupFigures> {
    let tables = [("train", Some(&audit.reference)), ("held-out", audit.holdout.as_ref())];
    let mut figures = Vec::new();
    for (table, population) in tables {
        for group in population.iter().flat_map(|population| &population.groupings).flat_map(|of| &of.groups)
        {
            let measures = group.measures.iter().flat_map(|measures| {
                MeasureName::ALL.map(|name| {
                    let found = measures.get(name);
                    let over_front = MeanSd::of_all(&found.values);
                    GroupMeasure {
                        measure: name.name().to_owned(),
                        mean: over_front.mean,
                        sd: over_front.sd.unwrap_or(0.0),
                        gap: found.mean_gap,
                        worse: found.share_worse,
                    }
                })
            });
            figures.push(GroupFigures {
                table: table.to_owned(),
                group: group.group.clone(),
                rows: group.rows as usize,
                affected: group.affected as usize,
                adverse_rate: group.adverse_rate,
                tpr: group.tpr,
                measures: measures.collect(),
            });
        }
    }
    figures
}

/// Outcomes that several cells share, with the time that they took when they were computed.
struct Outcomes {
    folder: PathBuf,
}

impl Outcomes {
    /// A folder for cells of one classifier, if keeping outcomes is worth it.
    fn of(cells: &[&Cell], folder: &Path) -> Option<Outcomes> {
        let searches = cells.iter().filter(|cell| cell.method.name == "sogar").count();
        let cell = cells.first().filter(|cell| cell.model.slow && searches > 1)?;
        let name = format!("{}-{}-fold{}", cell.data.name, cell.model.name, cell.fold);
        let folder = folder.join("outcomes").join(name);
        std::fs::create_dir_all(&folder).ok()?;
        Some(Outcomes { folder })
    }

    /// The seconds that a front's outcomes took, now or when they were computed first.
    fn seconds(&self, front: &FrontFile) -> Result<f64> {
        let path = self.folder.join("seconds.json");
        let known: Option<BTreeMap<String, f64>> =
            std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut known = known.unwrap_or_default();
        let key = format!(
            "{} edits, {} actions, {} threads",
            front.counts.edits, front.counts.actions, front.run.threads
        );
        if front.run.outcome_method == KEPT {
            return Ok(known.get(&key).copied().unwrap_or(front.run.seconds_outcomes));
        }
        known.insert(key, front.run.seconds_outcomes);
        let text = serde_json::to_string(&known)
            .map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
        sogar::files::write_atomically(&path, |out| writeln!(out, "{text}"))?;
        Ok(front.run.seconds_outcomes)
    }

    /// Removes what was kept; a folder that cannot be removed does no harm.
    fn forget(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
