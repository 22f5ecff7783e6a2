//! Runs the missing cells and stores the results.
//!
//! Cells of one fold and classifier share tables and model, and slow outcomes as well: these are stored in a folder until the
//! last of these cells is done. An interrupted cell is not stored.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sogar::CancelToken;
use sogar::audit::{Audit, AuditRequest, MeasureName, audit};
use sogar::error::{Error, ErrorKind, Result};
use sogar::evaluate::{HeldOut, evaluate as evaluate_front};
use sogar::feature::format_number;
use sogar::model::{LoadedModel, load};
use sogar::pipeline::{Prepared, Reporter};
use sogar::summary::FrontFile;
use sogar::table::{Cells, Column, Table};

use super::cell::Cell;
use super::inputs::Paper;
use super::result::{CellResult, Figures, GroupFigures, GroupMeasure, GroupScore, Search, rounded, thinned};
use super::statistics::MeanSd;
use super::store::Store;
use sogar_baselines::contest::{Contest, Entry};
use sogar_baselines::contract::{Assigned, FitStatus};
use sogar_baselines::evaluate::evaluate;

/// The method that stored outcomes report.
const KEPT: &str = "kept from an earlier run";

/// Receives the progress of an experiment.
pub trait Listener {
    /// A cell begins; `done` of `all` cells to run are finished.
    fn begins(&self, cell: &Cell, done: usize, all: usize);
    /// A cell is finished and stored.
    fn finished(&self, cell: &Cell, result: &CellResult);
}

/// Runs cells.
pub struct Runner<'a> {
    /// Tables and models.
    pub paper: &'a Paper,
    /// Where outcomes are kept that several cells share.
    pub folder: PathBuf,
    /// Threads; `None`: all. A setting's own number takes precedence.
    pub threads: Option<u32>,
    /// Whether the machine has nothing else to do.
    pub timed: bool,
    /// Ends the experiment with what is finished.
    pub cancel: &'a CancelToken,
}

/// What cells of one fold and classifier share.
struct Shared {
    train: Table,
    test: Table,
    model: LoadedModel,
    inputs: String,
}

/// A cell that was run again.
pub struct Repeated<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Where it differs from the stored result; `None`: nowhere.
    pub difference: Option<String>,
}

impl Runner<'_> {
    /// The cells without a result, in the order in which they are run. All files that they need are there.
    pub fn missing<'c>(&self, cells: &'c [Cell], store: &Store) -> Result<Vec<&'c Cell>> {
        let mut missing = Vec::new();
        for cell in cells {
            if store.current(cell, self.paper)?.is_none() {
                self.paper.files(&cell.data, cell.model, cell.fold)?;
                missing.push(cell);
            }
        }
        Ok(missing)
    }

    /// Runs the missing cells; returns whether all of them now have results.
    pub fn run(
        &self,
        cells: &[Cell],
        store: &mut Store,
        listener: &dyn Listener,
        reporter: &dyn Reporter,
    ) -> Result<bool> {
        let missing = self.missing(cells, store)?;
        let (mut done, all) = (0, missing.len());
        for cells in missing.chunk_by(|one, other| same_files(one, other)) {
            let shared = self.open(cells[0])?;
            let outcomes = Outcomes::of(cells, &self.folder);
            for cell in cells {
                if self.cancel.is_cancelled() {
                    return Ok(false);
                }
                // Cells share results: an earlier one of this list may have been the same except for its limit.
                if store.current(cell, self.paper)?.is_some() {
                    done += 1;
                    continue;
                }
                listener.begins(cell, done, all);
                let result = self.cell(cell, &shared, outcomes.as_ref(), reporter)?;
                if result.status == FitStatus::Cancelled || self.cancel.is_cancelled() {
                    return Ok(false);
                }
                done += 1;
                listener.finished(cell, &result);
                store.keep(cell, result)?;
            }
            if let Some(outcomes) = &outcomes {
                outcomes.forget();
            }
        }
        Ok(true)
    }

    /// Runs stored cells again and compares. Ends early after an interrupt.
    pub fn repeat<'c>(
        &self,
        cells: &[&'c Cell],
        store: &Store,
        listener: &dyn Listener,
        reporter: &dyn Reporter,
    ) -> Result<Vec<Repeated<'c>>> {
        let mut repeated = Vec::new();
        for (done, cell) in cells.iter().enumerate() {
            // What finished does not depend on a limit, and may take longer here or have taken longer elsewhere.
            let whole = cell.unlimited();
            let Some(stored) = store.get(&whole) else { continue };
            let shared = self.open(cell)?;
            listener.begins(cell, done, cells.len());
            let again = self.cell(&whole, &shared, None, reporter)?;
            if self.cancel.is_cancelled() {
                break;
            }
            listener.finished(cell, &again);
            repeated.push(Repeated { cell, difference: stored.difference(&again) });
        }
        Ok(repeated)
    }

    fn open(&self, cell: &Cell) -> Result<Shared> {
        let files = self.paper.files(&cell.data, cell.model, cell.fold)?;
        let options = cell.config().read_options()?;
        Ok(Shared {
            train: Table::read(&files.train, &options)?,
            test: Table::read(&files.test, &options)?,
            model: load(&files.model, None)?,
            inputs: self.paper.inputs(&cell.data, cell.model, cell.fold)?.unwrap_or_default(),
        })
    }

    fn cell(
        &self,
        cell: &Cell,
        shared: &Shared,
        outcomes: Option<&Outcomes>,
        reporter: &dyn Reporter,
    ) -> Result<CellResult> {
        let mut config = cell.config();
        config.limits.threads = config.limits.threads.or(self.threads);
        // What an experiment does not vary is the same everywhere.
        config.limits.device.get_or_insert_with(|| "cpu".to_owned());
        let mut prepared = Prepared::new(config, Path::new(""), &shared.train, shared.model.clone(), None)?;
        prepared.set_outcomes_cache(outcomes.map(|outcomes| outcomes.folder.clone()));
        let held_out = HeldOut::new(&prepared, &shared.test)?;
        let contest = Contest {
            prepared: &prepared,
            held_out: Some(&held_out),
            seed: cell.seed,
            time_limit: cell.time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok()),
            cancel: self.cancel,
        };
        let entry = contest.run(cell.method, reporter);
        let mut result = CellResult::new(cell, shared.inputs.clone(), entry.status.clone(), entry.seconds);
        (result.threads, result.timed) = (prepared.threads(), self.timed);
        result.train = entry.score.map(Figures::from);
        result.held_out = entry.held_out.map(Figures::from);
        if let Some(group) = &cell.data.group {
            result.groups = group_scores(&prepared, &held_out, [&shared.train, &shared.test], group, &entry)?;
        }
        if let Entry { front: Some(front), .. } = &entry {
            let seconds_outcomes = match outcomes {
                Some(outcomes) => outcomes.seconds(front)?,
                None => front.run.seconds_outcomes,
            };
            result.seconds = rounded(entry.seconds + seconds_outcomes - front.run.seconds_outcomes);
            let there = evaluate_front(front, &prepared, &held_out)?;
            result.search = Some(Search {
                points: front.points.len(),
                actions: front.counts.actions,
                seconds_outcomes: rounded(seconds_outcomes),
                seconds_search: rounded(front.run.seconds_search),
                mean_distance: rounded(there.mean_distance),
                sd_distance: rounded(there.sd_distance),
            });
            let curve = if cell.fold == 1 { thinned(front.points.len()) } else { Vec::new() };
            let point = |&place: &usize| {
                let (own, other) = (&front.points[place], &there.points[place]);
                [own.cost, own.loss, other.cost, other.loss].map(rounded)
            };
            result.front = curve.iter().map(point).collect();
            if let Some(group) = &cell.data.group {
                let request =
                    AuditRequest { groups: vec![group.parse()?], draws: 0, ..AuditRequest::default() };
                let holdout = Some((&held_out, &shared.test));
                let found = audit(front, &prepared, &shared.train, holdout, &request, reporter, self.cancel)?;
                result.audit = figures(&found, &curve);
            }
        }
        Ok(result)
    }
}

/// Whether two cells are about the same table and model, read in the same way.
fn same_files(one: &Cell, other: &Cell) -> bool {
    let files =
        |cell: &Cell| (cell.fold, cell.data.folder.clone(), cell.model.name, cell.data.config.data.clone());
    files(one) == files(other)
}

/// The score of each group under a method's proposals.
fn group_scores(
    prepared: &Prepared,
    held_out: &HeldOut,
    tables: [&Table; 2],
    group: &str,
    entry: &Entry,
) -> Result<Vec<GroupScore>> {
    let people = [(prepared.table(), prepared.problem_rows()), (held_out.table(), held_out.affected())];
    let mut scores = Vec::new();
    for (number, (name, (table, rows))) in ["train", "held-out"].into_iter().zip(people).enumerate() {
        let proposals = &entry.proposals[number];
        if proposals.len() != rows.len() || entry.score.is_none() {
            continue;
        }
        let labels = labels(tables[number].require(group)?);
        let mut of_group: BTreeMap<&str, (Vec<usize>, Vec<Assigned>)> = BTreeMap::new();
        for (&row, proposal) in rows.iter().zip(proposals) {
            let (rows, own) = of_group.entry(labels[row].as_str()).or_default();
            rows.push(row);
            own.push(proposal.clone());
        }
        for (group, (rows, proposals)) in of_group {
            let score = evaluate(prepared, table, &rows, &proposals)?;
            let (rows, cost, loss) = (score.rows, rounded(score.cost), rounded(score.loss));
            scores.push(GroupScore { table: name.to_owned(), group: group.to_owned(), rows, cost, loss });
        }
    }
    Ok(scores)
}

/// The cells of a column as text.
fn labels(column: &Column) -> Vec<String> {
    match &column.cells {
        Cells::Numbers(values) => values.iter().map(|&value| format_number(value)).collect(),
        Cells::Text { codes, levels } => {
            codes.iter().map(|&code| levels.get(code as usize).cloned().unwrap_or_default()).collect()
        }
    }
}

/// An audit's figures along the front; `curve` has the points to keep of the reference table.
fn figures(audit: &Audit, curve: &[usize]) -> Vec<GroupFigures> {
    let tables = [("train", Some(&audit.reference)), ("held-out", audit.holdout.as_ref())];
    let mut figures = Vec::new();
    for (table, population) in tables {
        // The first grouping is the cell's; protected features follow.
        let asked = population.iter().flat_map(|population| population.groupings.first());
        for group in asked.flat_map(|of| &of.groups) {
            let measures = group.measures.iter().flat_map(|measures| {
                MeasureName::ALL.map(|name| {
                    let found = measures.get(name);
                    let over_front = MeanSd::of_all(&found.values);
                    GroupMeasure {
                        measure: name.name().to_owned(),
                        mean: rounded(over_front.mean),
                        sd: rounded(over_front.sd.unwrap_or(0.0)),
                        gap: rounded(found.mean_gap),
                        worse: rounded(found.share_worse),
                        curve: curve
                            .iter()
                            .filter(|_| table == "train")
                            .map(|&place| rounded(found.values[place]))
                            .collect(),
                    }
                })
            });
            figures.push(GroupFigures {
                table: table.to_owned(),
                group: group.group.clone(),
                rows: group.rows as usize,
                affected: group.affected as usize,
                adverse_rate: group.adverse_rate.map(rounded),
                tpr: group.tpr.map(rounded),
                measures: measures.collect(),
            });
        }
    }
    figures
}

/// Outcomes that several cells share, with the time of their computation.
struct Outcomes {
    folder: PathBuf,
}

impl Outcomes {
    /// A folder for cells of one classifier, if storing outcomes pays.
    fn of(cells: &[&Cell], folder: &Path) -> Option<Outcomes> {
        let searches = cells.iter().filter(|cell| cell.method.name == "sogar").count();
        let cell = cells.first().filter(|cell| cell.model.slow && searches > 1)?;
        let name = format!("{}-{}-fold{}", cell.data.folder, cell.model.name, cell.fold);
        let folder = folder.join("outcomes").join(name);
        std::fs::create_dir_all(&folder).ok()?;
        Some(Outcomes { folder })
    }

    /// The seconds of a front's outcomes, now or when they were first computed.
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

    /// Removes the stored outcomes; a folder that cannot be removed does no harm.
    fn forget(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
