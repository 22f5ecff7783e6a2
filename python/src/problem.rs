//! A prepared problem: table, model and configuration brought together, ready to be solved and to be asked about other
//! people afterwards.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sogar::checkpoint::{CheckpointSettings, DEFAULT_LIMIT};
use sogar::config::{Config, parse_bytes};
use sogar::evaluate::{HeldOut, evaluate};
use sogar::model::LoadedModel;
use sogar::pipeline::{Prepared, Search, VERIFIED_ROWS, Voice};
use sogar::table::{is_parquet, open_source};
use sogar::{CancelToken, Error};

use crate::errors::{OrRaise, json};
use crate::front::Front;
use crate::functions::{PythonCost, Raised};
use crate::model::Model;
use crate::routing::{Route, edited_columns, route};
use crate::running::{Reports, run_detached, run_interruptible};
use crate::settings::parsed;
use crate::table::Table;

/// A prepared problem of the engine.
#[pyclass(frozen, module = "sogar._native")]
pub struct Problem {
    /// The problem.
    pub prepared: Arc<Prepared>,
    /// The reference table. It has no cells where rows were left in their file.
    pub reference: Arc<sogar::table::Table>,
    raised: Raised,
    file: Option<File>,
}

/// The file of a problem of which only the affected rows are in memory, and what it takes to have all of them there.
struct File {
    path: PathBuf,
    config: Config,
    folder: PathBuf,
    model: LoadedModel,
    cost: Option<Arc<PythonCost>>,
    everybody: OnceLock<Py<Problem>>,
}

impl Problem {
    /// The exception for an error of the engine.
    pub fn exception(&self, py: Python<'_>, error: &Error) -> PyErr {
        self.raised.exception(py, error)
    }

    fn route(&self, py: Python<'_>, front: &Front, point: usize, table: &Table) -> PyResult<Route> {
        front.point(point)?;
        let (prepared, front, table) = (self.prepared.clone(), front.inner.clone(), table.inner.clone());
        run_detached(py, move || route(&prepared, &front, point, &table))?
            .map_err(|error| self.exception(py, &error))
    }
}

/// Where a run keeps its outcomes, and what is finished of it.
fn keep_in_folders(
    py: Python<'_>,
    prepared: &mut Prepared,
    outcomes_cache: Option<PathBuf>,
    checkpoint: Option<PathBuf>,
    checkpoint_limit: Option<&str>,
    verify_cache: Option<u64>,
) -> PyResult<()> {
    prepared.outcomes_cache = outcomes_cache;
    prepared.verify_cache = verify_cache.unwrap_or(VERIFIED_ROWS);
    let limit = checkpoint_limit.map_or(Ok(DEFAULT_LIMIT), parse_bytes).or_raise(py)?;
    prepared.checkpoint = checkpoint.map(|folder| CheckpointSettings { folder, limit });
    Ok(())
}

#[pymethods]
impl Problem {
    /// Goes through all stages up to the problem's size. `folder` is where files named in the configuration are; `cost` is
    /// a callable where the configuration says that the cost is a function.
    #[new]
    #[pyo3(signature = (table, model, config, folder=PathBuf::new(), cost=None, outcomes_cache=None, checkpoint=None, checkpoint_limit=None, verify_cache=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        table: &Table,
        model: &Model,
        config: &str,
        folder: PathBuf,
        cost: Option<Py<PyAny>>,
        outcomes_cache: Option<PathBuf>,
        checkpoint: Option<PathBuf>,
        checkpoint_limit: Option<&str>,
        verify_cache: Option<u64>,
    ) -> PyResult<Problem> {
        let config = parsed(py, config)?;
        let (reference, loaded, raised) = (table.inner.clone(), model.inner.clone(), model.raised.clone());
        let shared = reference.clone();
        let prepared = run_detached(py, move || Prepared::new(config, &folder, &shared, loaded, None))?;
        let mut prepared = prepared.map_err(|error| raised.exception(py, &error))?;
        if let Some(function) = cost {
            prepared.cost.set_function(Arc::new(PythonCost { function, raised: raised.clone() }));
        }
        keep_in_folders(py, &mut prepared, outcomes_cache, checkpoint, checkpoint_limit, verify_cache)?;
        Ok(Problem { prepared: Arc::new(prepared), reference, raised, file: None })
    }

    /// The same from a Parquet file or folder, of whose rows only the affected ones are kept. Whoever is about everybody has to ask
    /// for [`Problem::everybody`].
    #[staticmethod]
    #[pyo3(signature = (path, model, config, folder=PathBuf::new(), cost=None, outcomes_cache=None, checkpoint=None, checkpoint_limit=None, verify_cache=None))]
    #[allow(clippy::too_many_arguments)]
    fn of_file(
        py: Python<'_>,
        path: PathBuf,
        model: &Model,
        config: &str,
        folder: PathBuf,
        cost: Option<Py<PyAny>>,
        outcomes_cache: Option<PathBuf>,
        checkpoint: Option<PathBuf>,
        checkpoint_limit: Option<&str>,
        verify_cache: Option<u64>,
    ) -> PyResult<Problem> {
        let config = parsed(py, config)?;
        let raised = model.raised.clone();
        let cost = cost.map(|function| Arc::new(PythonCost { function, raised: raised.clone() }));
        let (model, everybody) = (model.inner.clone(), OnceLock::new());
        let file = File { path, config, folder, model, cost, everybody };
        let (path, config, folder, model) =
            (file.path.clone(), file.config.clone(), file.folder.clone(), file.model.clone());
        let made = run_detached(py, move || {
            let source = open_source(&path, &config.read_options()?)?;
            let prepared = Prepared::streamed(config, &folder, &*source, model, None)?;
            Ok((prepared, source.header().clone()))
        })?;
        let (mut prepared, header) = made.map_err(|error| raised.exception(py, &error))?;
        if let Some(function) = &file.cost {
            prepared.cost.set_function(function.clone());
        }
        keep_in_folders(py, &mut prepared, outcomes_cache, checkpoint, checkpoint_limit, verify_cache)?;
        Ok(Problem { prepared: Arc::new(prepared), reference: Arc::new(header), raised, file: Some(file) })
    }

    /// The problem with all rows of its table in memory: itself, unless it was made of a file, which is then read.
    fn everybody(this: Bound<'_, Self>) -> PyResult<Py<Problem>> {
        let (py, problem) = (this.py(), this.get());
        let Some(file) = &problem.file else { return Ok(this.clone().unbind()) };
        if let Some(made) = file.everybody.get() {
            return Ok(made.clone_ref(py));
        }
        let (path, config, folder, model) =
            (file.path.clone(), file.config.clone(), file.folder.clone(), file.model.clone());
        let made = run_detached(py, move || {
            let table = sogar::table::Table::read(&path, &config.read_options()?)?;
            Ok((Prepared::new(config, &folder, &table, model, None)?, table))
        })?;
        let (mut prepared, table) = made.map_err(|error| problem.exception(py, &error))?;
        if let Some(function) = &file.cost {
            prepared.cost.set_function(function.clone());
        }
        let (prepared, reference) = (Arc::new(prepared), Arc::new(table));
        let whole = Problem { prepared, reference, raised: problem.raised.clone(), file: None };
        let whole = Py::new(py, whole)?;
        Ok(file.everybody.get_or_init(|| whole).clone_ref(py))
    }

    /// Names of the columns of the reference table.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.reference.names().collect()
    }

    /// What the user should know.
    #[getter]
    fn notices(&self) -> Vec<String> {
        self.prepared.notices.clone()
    }

    /// What to say before a run that may take more than a minute.
    #[getter]
    fn long_run(&self) -> Option<String> {
        self.prepared.long_run(|setting| format!("`{setting}`"))
    }

    /// What the user should decide. A configuration file has decided about personal features.
    fn warnings(&self, configured: bool) -> Vec<String> {
        self.prepared.warnings(Voice::Python, configured)
    }

    /// Sizes: rows, affected, searched (those in the sample, if there is one), splits, edits, actions.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (prepared, sizes) = (&self.prepared, PyDict::new(py));
        sizes.set_item("rows", prepared.reference.rows)?;
        sizes.set_item("affected", prepared.affected.len())?;
        sizes.set_item("searched", prepared.sample().unwrap_or(prepared.affected.len()))?;
        sizes.set_item("splits", prepared.splits.len())?;
        sizes.set_item("edits", prepared.edits.len())?;
        sizes.set_item("actions", prepared.action_count)?;
        Ok(sizes)
    }

    /// Hashes of the table and the model.
    #[getter]
    fn hashes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let hashes = PyDict::new(py);
        hashes.set_item("table", &self.prepared.table_hash)?;
        hashes.set_item("model", &self.prepared.model.hash)?;
        Ok(hashes)
    }

    /// The features, as JSON.
    #[getter]
    fn features(&self) -> PyResult<String> {
        json(&self.prepared.table.features)
    }

    /// Finds the front. Gives it with the warnings on the way and, if the search was ended by Ctrl-C, that exception; the
    /// front then has what was found so far. `progress` is called with stage, how much is done, of how much, a remark.
    #[pyo3(signature = (progress=None))]
    fn solve(
        &self,
        py: Python<'_>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Front, Vec<String>, Option<Py<PyAny>>)> {
        let (cancel, reports) = (CancelToken::new(), Arc::new(Reports::default()));
        let (prepared, token, reporter) = (self.prepared.clone(), cancel.clone(), reports.clone());
        let work = move || Search(&prepared).solve(&*reporter, &token);
        let (front, interrupt) = run_interruptible(py, &cancel, &reports, progress.as_ref(), work)?;
        let front = match (front, interrupt.as_ref()) {
            (Ok(front), _) => front,
            (Err(error), None) => return Err(self.exception(py, &error)),
            (Err(_), Some(interrupt)) => return Err(interrupt.clone_ref(py)),
        };
        let interrupt = interrupt.map(|error| error.into_value(py).into_any());
        Ok((front.into(), reports.warnings(), interrupt))
    }

    /// The front on other rows: notices, and the evaluation as JSON.
    fn evaluate(&self, py: Python<'_>, front: &Front, table: &Table) -> PyResult<(Vec<String>, String)> {
        let (prepared, front, table) = (self.prepared.clone(), front.inner.clone(), table.inner.clone());
        let found = run_detached(py, move || {
            let held_out = HeldOut::new(&prepared, &table)?;
            let evaluation = evaluate(&front, &prepared, &held_out)?;
            Ok((held_out.notices, evaluation))
        })?;
        let (notices, evaluation) = found.map_err(|error| self.exception(py, &error))?;
        Ok((notices, json(&evaluation)?))
    }

    /// For every row of a table the position, among the front's actions, of what the point's tree advises; −1 for rows that
    /// the model does not turn down.
    fn assign<'py>(
        &self,
        py: Python<'py>,
        front: &Front,
        point: usize,
        table: &Table,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let route = self.route(py, front, point, table)?;
        Ok(PyArray1::from_iter(py, route.actions()))
    }

    /// What the advised edits change in a table: for every column with a change its name, the rows, and the new cells
    /// (numbers, or texts and `None`).
    fn edited<'py>(
        &self,
        py: Python<'py>,
        front: &Front,
        point: usize,
        table: &Table,
    ) -> PyResult<Bound<'py, PyList>> {
        let route = self.route(py, front, point, table)?;
        let columns = edited_columns(&self.prepared, &front.inner, &route).or_raise(py)?;
        let list = PyList::empty(py);
        for column in columns {
            list.append(column.into_python(py)?)?;
        }
        Ok(list)
    }
}

/// Whether a table is in Parquet, and need not be in memory as a whole.
#[pyfunction]
#[pyo3(name = "is_parquet")]
pub fn is_parquet_table(py: Python<'_>, path: PathBuf) -> PyResult<bool> {
    is_parquet(&path).or_raise(py)
}
