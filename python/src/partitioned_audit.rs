//! The audit of a table in partitions: the leader, and the tasks for one partition.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sogar::audit::{
    Holdout, PartitionedAudit, ReachFound, RemoteResults, audit_with, columns_for_leader, part,
    reach_of_part, reach_of_reference,
};
use sogar::outcomes::is_scored;
use sogar::summary::FrontFile;
use sogar::{CancelToken, Result};

use crate::errors::{OrRaise, json};
use crate::front::Front;
use crate::people::{Asked, Side, held_out};
use crate::problem::Problem;
use crate::running::{Reports, run_detached, run_interruptible};
use crate::table::Table;

/// Leads an audit with other processes: of a held-out table in parts, or with their search for people out of reach.
#[pyclass(frozen, module = "sogar._native")]
pub struct AuditLeader {
    problem: Py<Problem>,
    front: Arc<FrontFile>,
    asked: Asked,
    side: Side,
    holdout: Mutex<Option<PartitionedAudit>>,
    reach: Mutex<Option<ReachFound>>,
}

impl AuditLeader {
    fn holdout(&self) -> MutexGuard<'_, Option<PartitionedAudit>> {
        self.holdout.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a closure on the held-out people, once their columns are known.
    fn with<T>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut PartitionedAudit) -> Result<T> + Send,
    ) -> PyResult<T>
    where
        T: Send,
    {
        let done = py.detach(|| self.holdout().as_mut().map(act));
        done.ok_or_else(|| PyValueError::new_err("nothing is known of the held-out table yet"))?.or_raise(py)
    }
}

#[pymethods]
impl AuditLeader {
    /// The front, and the settings of `audit`.
    #[new]
    #[pyo3(signature = (problem, front, groups, *, columns=None, label=None, conditions=vec![], draws=None, min_group=None, unreachable=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        problem: Py<Problem>,
        front: &Front,
        groups: Vec<String>,
        columns: Option<&Table>,
        label: Option<String>,
        conditions: Vec<String>,
        draws: Option<usize>,
        min_group: Option<usize>,
        unreachable: Option<bool>,
    ) -> PyResult<Self> {
        let (prepared, side) = {
            let problem = problem.get();
            (problem.prepared.clone(), Side::new(&problem.reference, columns))
        };
        let asked =
            Asked::new(&prepared, &groups, label, &conditions, draws, min_group, unreachable).or_raise(py)?;
        Ok(AuditLeader {
            problem,
            front: front.inner.clone(),
            asked,
            side,
            holdout: Mutex::default(),
            reach: Mutex::default(),
        })
    }

    /// Names of the columns that are needed of the whole held-out table, as far as it has them.
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let (prepared, side, asked) =
            (self.problem.get().prepared.clone(), self.side.clone(), self.asked.clone());
        let work = move || columns_for_leader(&prepared, &side.joined()?, &asked.request);
        run_detached(py, work)?.map_err(|error| self.problem.get().exception(py, &error))
    }

    /// Takes these columns, and values that the table does not have.
    #[pyo3(signature = (table, more=None))]
    fn see(&self, py: Python<'_>, table: &Table, more: Option<&Table>) -> PyResult<()> {
        let (prepared, side, asked) =
            (self.problem.get().prepared.clone(), self.side.clone(), self.asked.clone());
        let (front, other) = (self.front.clone(), Side::new(&table.inner, more));
        let work = move || {
            let (reference, columns) = (side.joined()?, other.joined()?);
            PartitionedAudit::new(&front, &prepared, &reference, &other.table, &columns, &asked.request)
        };
        let seen = run_detached(py, work)?.map_err(|error| self.problem.get().exception(py, &error))?;
        *self.holdout() = Some(seen);
        Ok(())
    }

    /// The message for the part with the rows from `start` to before `stop`.
    fn places<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Bound<'py, PyBytes>> {
        let places = self.with(py, |holdout| holdout.places(start..stop))?;
        Ok(PyBytes::new(py, &places))
    }

    /// Adds the next part, which has this many rows; empty bytes for a part without rows.
    fn add(&self, py: Python<'_>, rows: usize, part: PyBackedBytes) -> PyResult<()> {
        self.with(py, |holdout| holdout.add(rows, &part))
    }

    /// Whether to search the parts for people out of reach; known after all parts were added.
    fn is_searched(&self, py: Python<'_>) -> PyResult<bool> {
        let prepared = self.problem.get().prepared.clone();
        let asked = self.asked.request.unreachable;
        self.with(py, |holdout| Ok(asked && holdout.is_searched(&prepared)))
    }

    /// Adds the people out of reach of the next part; empty bytes for a part without rows.
    fn add_reach(&self, py: Python<'_>, part: PyBackedBytes) -> PyResult<()> {
        self.with(py, |holdout| holdout.add_reach(&part))
    }

    /// Adds the people out of reach of the next block of the reference table.
    fn add_reference(&self, py: Python<'_>, people: usize, block: PyBackedBytes) -> PyResult<()> {
        let mut reach = self.reach.lock().unwrap_or_else(PoisonError::into_inner);
        reach.get_or_insert_default().add(&block, people).or_raise(py)
    }

    /// Whether other processes may look for people out of reach in the reference table. A called model scores rows here, where
    /// their number is known.
    #[getter]
    fn searches_reference(&self) -> bool {
        self.asked.request.unreachable && !is_scored(&*self.problem.get().prepared.model().predictor)
    }

    /// The audit and the verdicts on its conditions, as JSON; with a held-out table in this process, if there are no parts.
    #[pyo3(signature = (holdout=None, holdout_columns=None, *, progress=None))]
    fn finish(
        &self,
        py: Python<'_>,
        holdout: Option<&Table>,
        holdout_columns: Option<&Table>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(String, String)> {
        let other = holdout.map(|table| Side::new(&table.inner, holdout_columns));
        let divided = self.holdout().take();
        let reach = self.reach.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (prepared, side, asked) =
            (self.problem.get().prepared.clone(), self.side.clone(), self.asked.clone());
        let (cancel, reports) = (CancelToken::new(), Arc::new(Reports::default()));
        let (front, token, reporter) = (self.front.clone(), cancel.clone(), reports.clone());
        let work = move || {
            let reference = side.joined()?;
            let here = held_out(&prepared, other.as_ref())?;
            let others = match (divided, &here) {
                (Some(divided), _) => Some(Holdout::Partitioned(Box::new(divided))),
                (None, here) => here.as_ref().map(|(held_out, table)| Holdout::Here(held_out, table)),
            };
            let (request, found) = (&asked.request, RemoteResults { holdout: others, reach });
            asked
                .with_verdicts(audit_with(&front, &prepared, &reference, found, request, &*reporter, &token)?)
        };
        let (found, interrupt) = run_interruptible(py, &cancel, &reports, progress.as_ref(), work)?;
        if let Some(interrupt) = interrupt {
            return Err(interrupt);
        }
        let (audited, verdicts) = found.map_err(|error| self.problem.get().exception(py, &error))?;
        Ok((json(&audited)?, json(&verdicts)?))
    }
}

/// Cost and loss of the people of a part of a table along a front, as bytes; `places` is the leader's message about its rows.
#[pyfunction]
pub fn audit_part<'py>(
    py: Python<'py>,
    problem: &Problem,
    front: &Front,
    table: &Table,
    places: PyBackedBytes,
) -> PyResult<Bound<'py, PyBytes>> {
    let (prepared, front, table) = (problem.prepared.clone(), front.inner.clone(), table.inner.clone());
    let found = run_detached(py, move || part(&front, &prepared, &table, &places))?;
    Ok(PyBytes::new(py, &found.map_err(|error| problem.exception(py, &error))?))
}

/// Who is out of reach in a part of a table, as bytes.
#[pyfunction]
pub fn reach_part<'py>(py: Python<'py>, problem: &Problem, table: &Table) -> PyResult<Bound<'py, PyBytes>> {
    let (prepared, table) = (problem.prepared.clone(), table.inner.clone());
    let found = run_detached(py, move || reach_of_part(&prepared, &table))?;
    Ok(PyBytes::new(py, &found.map_err(|error| problem.exception(py, &error))?))
}

/// Who is out of reach among the affected people of the reference table from position `start` to before `stop`, as bytes.
#[pyfunction]
pub fn reach_block<'py>(
    py: Python<'py>,
    problem: &Problem,
    start: usize,
    stop: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let prepared = problem.prepared.clone();
    let found = run_detached(py, move || reach_of_reference(&prepared, start..stop))?;
    Ok(PyBytes::new(py, &found.map_err(|error| problem.exception(py, &error))?))
}
