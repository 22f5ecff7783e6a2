//! What a front means for people: groups of them (an audit), one of them (an explanation), and a page to share (a report).

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use sogar::audit::{Audit, AuditRequest, Condition, GapLimit, Grouping, Verdict, audit as audit_front};
use sogar::evaluate::HeldOut;
use sogar::explain::{
    Explanation as Explained, Letter, Person, explain as explain_person, letter_html, sections,
};
use sogar::files::write_atomically;
use sogar::outcomes::is_scored;
use sogar::pipeline::Prepared;
use sogar::report::{Opened, ReportRequest, gather, page};
use sogar::select::By;
use sogar::{CancelToken, Error, ErrorKind, Result};

use crate::errors::{OrRaise, json};
use crate::front::Front;
use crate::problem::Problem;
use crate::running::{Reports, run_detached, run_interruptible};
use crate::table::Table;

/// A table and what is known of its people beside it.
#[derive(Clone)]
pub struct Side {
    /// The table.
    pub table: Arc<sogar::table::Table>,
    more: Option<Arc<sogar::table::Table>>,
}

impl Side {
    /// A table, and columns beside it.
    pub fn new(table: &Arc<sogar::table::Table>, more: Option<&Table>) -> Side {
        Side { table: table.clone(), more: more.map(|more| more.inner.clone()) }
    }

    /// One table of both. A column that is known beside the table replaces the table's own.
    pub fn joined(&self) -> Result<sogar::table::Table> {
        let mut table = (*self.table).clone();
        let Some(more) = &self.more else { return Ok(table) };
        if more.rows != table.rows {
            let message = format!("there are {} of them, but the table has {} rows", more.rows, table.rows);
            let name = more.columns.first().map_or("", |column| column.name.as_str());
            return Err(Error::new(ErrorKind::Usage, message)
                .column(name)
                .help("give one value for every row"));
        }
        table.columns.retain(|column| more.column(&column.name).is_none());
        table.columns.extend(more.columns.iter().cloned());
        Ok(table)
    }
}

/// Held-out people, ready to be audited.
pub fn held_out(prepared: &Prepared, side: Option<&Side>) -> Result<Option<(HeldOut, sogar::table::Table)>> {
    side.map(|side| Ok((HeldOut::new(prepared, &side.table)?, side.joined()?))).transpose()
}

/// Whether to look for people out of reach: as asked for, by default unless the model would be asked about every edited row.
fn reach(prepared: &Prepared, asked: Option<bool>) -> bool {
    asked.unwrap_or_else(|| !is_scored(&*prepared.model.predictor))
}

/// What an audit is asked, and the conditions that it is held against.
#[derive(Clone)]
pub struct Asked {
    /// The request.
    pub request: AuditRequest,
    conditions: Vec<Condition>,
}

impl Asked {
    /// Reads groups and conditions; what is not said is as usual.
    pub fn new(
        prepared: &Prepared,
        groups: &[String],
        label: Option<String>,
        conditions: &[String],
        draws: Option<usize>,
        min_group: Option<usize>,
        unreachable: Option<bool>,
    ) -> Result<Asked> {
        let conditions: Vec<Condition> = conditions.iter().map(|text| text.parse()).collect::<Result<_>>()?;
        let usual = AuditRequest::default();
        let request = AuditRequest {
            groups: groups.iter().map(|text| text.parse()).collect::<Result<Vec<Grouping>>>()?,
            label,
            draws: draws.unwrap_or(usual.draws),
            seed: prepared.config.seed,
            min_group: min_group.unwrap_or(usual.min_group),
            unreachable: reach(prepared, unreachable) || conditions.iter().any(Condition::needs_unreachable),
        };
        Ok(Asked { request, conditions })
    }

    /// An audit beside what became of the conditions.
    pub fn with_verdicts(&self, audited: Audit) -> Result<(Audit, Vec<Verdict>)> {
        let verdicts =
            self.conditions.iter().map(|condition| condition.judge(&audited)).collect::<Result<_>>()?;
        Ok((audited, verdicts))
    }
}

/// Audits a front across groups; gives the audit, and what became of the conditions, as JSON.
#[pyfunction]
#[pyo3(signature = (problem, front, groups, *, columns=None, label=None, holdout=None, holdout_columns=None, conditions=vec![], draws=None, min_group=None, unreachable=None, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn audit(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    groups: Vec<String>,
    columns: Option<&Table>,
    label: Option<String>,
    holdout: Option<&Table>,
    holdout_columns: Option<&Table>,
    conditions: Vec<String>,
    draws: Option<usize>,
    min_group: Option<usize>,
    unreachable: Option<bool>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let prepared = problem.prepared.clone();
    let asked =
        Asked::new(&prepared, &groups, label, &conditions, draws, min_group, unreachable).or_raise(py)?;
    let side = Side::new(&problem.reference, columns);
    let other = holdout.map(|table| Side::new(&table.inner, holdout_columns));
    let (cancel, reports) = (CancelToken::new(), Arc::new(Reports::default()));
    let (token, reporter, front) = (cancel.clone(), reports.clone(), front.inner.clone());
    let work = move || {
        let held_out = held_out(&prepared, other.as_ref())?;
        let holdout = held_out.as_ref().map(|(held_out, table)| (held_out, table));
        let reference = side.joined()?;
        asked.with_verdicts(audit_front(
            &front,
            &prepared,
            &reference,
            holdout,
            &asked.request,
            &*reporter,
            &token,
        )?)
    };
    let (found, interrupt) = run_interruptible(py, &cancel, &reports, progress.as_ref(), work)?;
    if let Some(interrupt) = interrupt {
        return Err(interrupt);
    }
    let (audited, verdicts) = found.map_err(|error| problem.exception(py, &error))?;
    Ok((json(&audited)?, json(&verdicts)?))
}

/// Whether a criterion is a limit on a gap between groups.
#[pyfunction]
pub fn is_gap(by: &str) -> bool {
    GapLimit::is_meant(by)
}

/// The point with the lowest invalidity among those within a limit on a gap between groups.
#[pyfunction]
#[pyo3(signature = (problem, front, by, *, min_group=None))]
pub fn select_by_gap(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    by: &str,
    min_group: Option<usize>,
) -> PyResult<usize> {
    let limit: GapLimit = by.parse().or_raise(py)?;
    let usual = AuditRequest::default();
    let request = AuditRequest {
        groups: vec![limit.grouping().clone()],
        draws: 0,
        min_group: min_group.unwrap_or(usual.min_group),
        ..usual
    };
    let (prepared, reference, front) =
        (problem.prepared.clone(), problem.reference.clone(), front.inner.clone());
    let chosen = run_detached(py, move || {
        let audited = audit_front(&front, &prepared, &reference, None, &request, &(), &CancelToken::new())?;
        limit.select(&front, &audited)
    })?;
    chosen.map_err(|error| problem.exception(py, &error))
}

/// What a front means for one person.
#[pyclass(frozen, module = "sogar._native")]
pub struct Explanation {
    inner: Explained,
}

#[pymethods]
impl Explanation {
    /// The facts, as JSON.
    fn json(&self) -> PyResult<String> {
        json(&self.inner)
    }

    /// The facts in words, part by part: titles and texts.
    fn sections(&self) -> Vec<(String, String)> {
        sections(&self.inner)
    }

    /// A letter to the person as one page of HTML, also written to a file where one is named.
    #[pyo3(signature = (path=None, sender=None, to=None, date=None, subject=None))]
    fn letter(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        sender: Option<String>,
        to: Option<String>,
        date: Option<String>,
        subject: Option<String>,
    ) -> PyResult<String> {
        let page = letter_html(&self.inner, &Letter { from: sender, to, date, subject });
        if let Some(path) = path {
            write_atomically(&path, |out| out.write_all(page.as_bytes())).or_raise(py)?;
        }
        Ok(page)
    }
}

/// Explains a point of a front to one person: a row of the reference table, or an object of column and value in JSON.
#[pyfunction]
#[pyo3(signature = (problem, front, point, *, row=None, person=None))]
pub fn explain(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    point: usize,
    row: Option<usize>,
    person: Option<String>,
) -> PyResult<Explanation> {
    let (prepared, front) = (problem.prepared.clone(), front.inner.clone());
    let found = run_detached(py, move || {
        let person = match (row, person) {
            (Some(row), _) => Person::of_row(&prepared, row)?,
            (None, person) => {
                Person::from_json(&prepared, person.unwrap_or_default().as_bytes(), "this person")?
            }
        };
        explain_person(&front, &prepared, &person, point)
    })?;
    Ok(Explanation { inner: found.map_err(|error| problem.exception(py, &error))? })
}

/// Writes a report: one HTML file. Without a problem it shows what the front alone can tell. Gives its size in bytes, and what there is to warn of.
#[pyfunction]
#[pyo3(signature = (front, problem, path, *, groups, by, columns=None, label=None, holdout=None, holdout_columns=None, title=None, min_n=None, include_rows=false, unreachable=None, draws=None, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn report(
    py: Python<'_>,
    front: &Front,
    problem: Option<&Problem>,
    path: PathBuf,
    groups: Vec<String>,
    by: Vec<String>,
    columns: Option<&Table>,
    label: Option<String>,
    holdout: Option<&Table>,
    holdout_columns: Option<&Table>,
    title: Option<String>,
    min_n: Option<usize>,
    include_rows: bool,
    unreachable: Option<bool>,
    draws: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(usize, Vec<String>)> {
    let usual = ReportRequest::default();
    let request = ReportRequest {
        title,
        groups: groups.iter().map(|text| text.parse()).collect::<Result<_>>().or_raise(py)?,
        label,
        picks: by.iter().map(|text| text.parse()).collect::<Result<Vec<By>>>().or_raise(py)?,
        min_n: min_n.unwrap_or(usual.min_n),
        include_rows,
        reach: problem.is_some_and(|problem| reach(&problem.prepared, unreachable)),
        draws: draws.unwrap_or(usual.draws),
        seed: front.inner.config.seed,
    };
    let side = problem.map(|problem| (problem.prepared.clone(), Side::new(&problem.reference, columns)));
    let other = holdout.map(|table| Side::new(&table.inner, holdout_columns));
    let (cancel, reports) = (CancelToken::new(), Arc::new(Reports::default()));
    let (token, reporter, front) = (cancel.clone(), reports.clone(), front.inner.clone());
    let work = move || -> Result<Option<String>> {
        let data = match &side {
            Some((prepared, side)) => {
                let (reference, held_out) = (side.joined()?, held_out(prepared, other.as_ref())?);
                let holdout = held_out.as_ref().map(|(held_out, table)| (held_out, table));
                let opened = Opened { prepared, reference: &reference, holdout };
                gather(&front, Some(opened), &request, &*reporter, &token)?
            }
            None => gather(&front, None, &request, &*reporter, &token)?,
        };
        if token.is_cancelled() { Ok(None) } else { page(&data).map(Some) }
    };
    let (found, interrupt) = run_interruptible(py, &cancel, &reports, progress.as_ref(), work)?;
    if let Some(interrupt) = interrupt {
        return Err(interrupt);
    }
    let text = match (found, problem) {
        (Ok(text), _) => text.unwrap_or_default(),
        (Err(error), Some(problem)) => return Err(problem.exception(py, &error)),
        (Err(error), None) => return Err(error).or_raise(py),
    };
    py.detach(|| write_atomically(&path, |out| out.write_all(text.as_bytes()))).or_raise(py)?;
    Ok((text.len(), reports.warnings()))
}
