//! What a front means for people: groups (an audit), one person (an explanation), and a page to share (a report).

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use sogar::audit::{
    Audit, AuditRequest, BiasAuditRequest, Condition, GapLimit, Grouping, MIN_GROUP, RateKind, ScanRequest,
    Verdict, audit as audit_front, bias_audit as audit_bias,
};
use sogar::evaluate::HeldOut;
use sogar::explain::{
    Codes, Explainer, Explanation as Explained, LetterFields, Messages, Person, ReasonSettings, letter_html,
    sections,
};
use sogar::files::write_atomically;
use sogar::outcomes::is_scored;
use sogar::pipeline::{Prepared, Reporter};
use sogar::report::{Opened, ReportRequest, gather, markdown, page, static_page};
use sogar::select::By;
use sogar::{CancelToken, Error, ErrorKind, Result};

use crate::errors::{OrRaise, json};
use crate::front::Front;
use crate::problem::Problem;
use crate::running::{Reports, run_detached, run_interruptible};
use crate::table::Table;

/// A table, and values of its people that it does not have.
#[derive(Clone)]
pub struct Side {
    /// The table.
    pub table: Arc<sogar::table::Table>,
    more: Option<Arc<sogar::table::Table>>,
}

impl Side {
    /// A table, and additional columns.
    pub fn new(table: &Arc<sogar::table::Table>, more: Option<&Table>) -> Side {
        Side { table: table.clone(), more: more.map(|more| more.inner.clone()) }
    }

    /// One table of both. An additional column replaces the table's own.
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

/// Held-out people, ready for the audit.
pub fn held_out(prepared: &Prepared, side: Option<&Side>) -> Result<Option<(HeldOut, sogar::table::Table)>> {
    side.map(|side| Ok((HeldOut::new(prepared, &side.table)?, side.joined()?))).transpose()
}

/// Whether to look for people out of reach: as requested; by default yes, unless the model must score every edited row.
fn reach(prepared: &Prepared, asked: Option<bool>) -> bool {
    asked.unwrap_or_else(|| !is_scored(&*prepared.model().predictor))
}

/// A scan: features, the most terms, the measure, the point and the number of shuffles.
pub type ScanSettings = (Vec<String>, Option<usize>, Option<String>, Option<usize>, Option<usize>);

fn scan_request(scan: Option<ScanSettings>) -> Result<Option<ScanRequest>> {
    let Some((features, max_terms, measure, point, permutations)) = scan else { return Ok(None) };
    let usual = ScanRequest::default();
    Ok(Some(ScanRequest {
        features,
        max_terms: max_terms.unwrap_or(usual.max_terms),
        measure: measure.map_or(Ok(usual.measure), |measure| measure.parse())?,
        point,
        permutations: permutations.unwrap_or(usual.permutations),
    }))
}

/// The settings of an audit, and its conditions.
#[derive(Clone)]
pub struct Asked {
    /// The request.
    pub request: AuditRequest,
    conditions: Vec<Condition>,
}

impl Asked {
    /// Parses groups and conditions; the rest has defaults.
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
        let mut request = AuditRequest {
            groups: groups.iter().map(|text| text.parse()).collect::<Result<Vec<Grouping>>>()?,
            label,
            draws: draws.unwrap_or(usual.draws),
            seed: prepared.config().seed,
            min_group: min_group.unwrap_or(usual.min_group),
            unreachable: reach(prepared, unreachable),
            ..usual
        };
        conditions.iter().for_each(|condition| request.include(condition));
        Ok(Asked { request, conditions })
    }

    /// Adds further measures and a scan.
    fn with(mut self, measures: &[String], scan: Option<ScanSettings>) -> Result<Asked> {
        for measure in measures {
            let measure = measure.parse()?;
            if !self.request.measures.contains(&measure) {
                self.request.measures.push(measure);
            }
        }
        self.request.scan = scan_request(scan)?;
        Ok(self)
    }

    /// An audit with the verdicts on its conditions.
    pub fn with_verdicts(&self, audited: Audit) -> Result<(Audit, Vec<Verdict>)> {
        let verdicts =
            self.conditions.iter().map(|condition| condition.judge(&audited)).collect::<Result<_>>()?;
        Ok((audited, verdicts))
    }
}

/// Audits a front across groups; returns the audit and the verdicts on its conditions, as JSON.
#[pyfunction]
#[pyo3(signature = (problem, front, groups, *, columns=None, label=None, holdout=None, holdout_columns=None, conditions=vec![], draws=None, min_group=None, unreachable=None, measures=vec![], scan=None, progress=None))]
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
    measures: Vec<String>,
    scan: Option<ScanSettings>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let prepared = problem.prepared.clone();
    let asked = Asked::new(&prepared, &groups, label, &conditions, draws, min_group, unreachable)
        .and_then(|asked| asked.with(&measures, scan))
        .or_raise(py)?;
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

/// The table of a bias audit, as JSON and as Markdown. Of the held-out people if there are any.
#[pyfunction]
#[pyo3(signature = (problem, front, groups, *, columns=None, holdout=None, holdout_columns=None, scoring=false, source=None, in_use_since=None))]
#[allow(clippy::too_many_arguments)]
pub fn bias_audit(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    groups: Vec<String>,
    columns: Option<&Table>,
    holdout: Option<&Table>,
    holdout_columns: Option<&Table>,
    scoring: bool,
    source: Option<String>,
    in_use_since: Option<String>,
) -> PyResult<(String, String)> {
    let request = BiasAuditRequest {
        groups: groups.iter().map(|text| text.parse()).collect::<Result<_>>().or_raise(py)?,
        rate: if scoring { RateKind::Scoring } else { RateKind::Selection },
        source,
        in_use_since,
    };
    let (prepared, front) = (problem.prepared.clone(), front.inner.clone());
    let side = Side::new(&problem.reference, columns);
    let other = holdout.map(|table| Side::new(&table.inner, holdout_columns));
    let found = run_detached(py, move || {
        let (reference, held_out) = (side.joined()?, held_out(&prepared, other.as_ref())?);
        let people = held_out
            .as_ref()
            .map_or((&reference, prepared.table()), |(held_out, table)| (table, held_out.table()));
        audit_bias(&front, &prepared, &reference, people, &request)
    })?;
    let found = found.map_err(|error| problem.exception(py, &error))?;
    Ok((json(&found)?, found.markdown()))
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
    let request = GapLimit::request([&limit].into_iter(), min_group.unwrap_or(MIN_GROUP));
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

    /// A letter to the person as one page of HTML, also written to a file if one is named; and warnings.
    #[pyo3(signature = (path, fields, language=None, messages=None))]
    fn letter(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        fields: Vec<(String, String)>,
        language: Option<&str>,
        messages: Option<PathBuf>,
    ) -> PyResult<(String, Vec<String>)> {
        let write = || -> Result<(String, Vec<String>)> {
            let mut own = LetterFields::default();
            for (name, text) in &fields {
                own.set(name, text)?;
            }
            let (messages, mut warnings) = match messages {
                Some(path) => Messages::read(&path)?,
                None => (Messages::built_in(language.unwrap_or("en"))?, Vec::new()),
            };
            warnings.extend(own.warnings());
            warnings.extend(messages.unnamed(&self.inner));
            let page = letter_html(&self.inner, &own, &messages)?;
            if let Some(path) = path {
                write_atomically(&path, |out| out.write_all(page.as_bytes()))?;
            }
            Ok((page, warnings))
        };
        write().or_raise(py)
    }
}

/// Explains a point of a front to one person: a row of the reference table, or an object of column and value in JSON.
#[pyfunction]
#[pyo3(signature = (problem, front, point, *, row=None, person=None, reasons=None, codes=None))]
#[allow(clippy::too_many_arguments)]
pub fn explain(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    point: usize,
    row: Option<usize>,
    person: Option<String>,
    reasons: Option<usize>,
    codes: Option<PathBuf>,
) -> PyResult<Explanation> {
    let (prepared, front) = (problem.prepared.clone(), front.inner.clone());
    let found = run_detached(py, move || {
        let person = match (row, person) {
            (Some(row), _) => Person::of_row(&prepared, row)?,
            (None, person) => {
                Person::from_json(&prepared, person.unwrap_or_default().as_bytes(), "this person")?
            }
        };
        let mut settings = ReasonSettings::default();
        settings.most = reasons.unwrap_or(settings.most);
        if let Some(path) = &codes {
            settings.codes = Codes::read(path, &prepared.table().features)?;
        }
        let explainer = Explainer::new(&front, &prepared, settings)?;
        let mut found = explainer.explain_all(&[person], point, &mut |_, _| {})?;
        found.pop().ok_or_else(|| Error::new(ErrorKind::Usage, "nobody is explained"))
    })?;
    Ok(Explanation { inner: found.map_err(|error| problem.exception(py, &error))? })
}

/// For each group of a point, a person after the advice and the real people nearest to it, as JSON.
#[pyfunction]
pub fn neighbours(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    point: usize,
    count: usize,
) -> PyResult<String> {
    let (prepared, front) = (problem.prepared.clone(), front.inner.clone());
    let found = run_detached(py, move || {
        sogar::neighbours::neighbours(&front, prepared.table(), prepared.affected(), &[point], count)
    })?;
    json(&found.map_err(|error| problem.exception(py, &error))?.swap_remove(0))
}

/// The cheapest changes of single people that differ in what they change, as JSON: a list for each person. People are rows of
/// the reference table, or objects of column and value in JSON.
#[pyfunction]
#[pyo3(signature = (problem, front, ways, *, rows=None, people=None, progress=None))]
pub fn counterfactuals(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    ways: usize,
    rows: Option<Vec<usize>>,
    people: Option<Vec<String>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (prepared, front) = (problem.prepared.clone(), front.inner.clone());
    let (cancel, reports) = (CancelToken::new(), Arc::new(Reports::default()));
    let reporter = reports.clone();
    let work = move || {
        let people: Vec<Person> = match (rows, people) {
            (Some(rows), _) => {
                rows.iter().map(|&row| Person::of_row(&prepared, row)).collect::<Result<_>>()?
            }
            (None, people) => people
                .unwrap_or_default()
                .iter()
                .enumerate()
                .map(|(row, text)| Person::from_json(&prepared, text.as_bytes(), &format!("row {row}")))
                .collect::<Result<_>>()?,
        };
        let explainer = Explainer::new(&front, &prepared, ReasonSettings::default())?;
        explainer.counterfactuals(&people, ways, &mut |done, all| reporter.checking("people", done, all))
    };
    let (found, interrupt) = run_interruptible(py, &cancel, &reports, progress.as_ref(), work)?;
    if let Some(interrupt) = interrupt {
        return Err(interrupt);
    }
    json(&found.map_err(|error| problem.exception(py, &error))?)
}

/// Writes a report: one HTML file. Without a problem it shows only what the front provides. Returns its size in bytes, and
/// warnings.
#[pyfunction]
#[pyo3(signature = (front, problem, path, *, groups, by, columns=None, label=None, holdout=None, holdout_columns=None, title=None, min_n=None, include_rows=false, unreachable=None, draws=None, scan=None, kind="interactive", progress=None))]
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
    scan: Option<ScanSettings>,
    kind: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(usize, Vec<String>)> {
    let kind = kind.to_owned();
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
        price: None,
        scan: scan_request(scan).or_raise(py)?,
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
        if token.is_cancelled() {
            return Ok(None);
        }
        Ok(Some(match kind.as_str() {
            "static" => static_page(&data),
            "md" => markdown(&front, &data),
            _ => page(&data)?,
        }))
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
