//! A prepared problem: table, model and configuration, ready to be solved and then applied to other people.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sogar::audit::searched_groups;
use sogar::checkpoint::{CheckpointSettings, DEFAULT_LIMIT};
use sogar::config::{Config, parse_bytes};
use sogar::evaluate::{HeldOut, evaluate};
use sogar::model::LoadedModel;
use sogar::pipeline::{Prepared, Search, VERIFIED_ROWS, Voice};
use sogar::table::{Partitions, TableSource, is_parquet, open_source};
use sogar::{CancelToken, Error, ErrorKind};

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
    /// The reference table. It has no cells if rows stayed in their file.
    pub reference: Arc<sogar::table::Table>,
    raised: Raised,
    origin: Option<Origin>,
}

/// Where the rows of a problem are of which only the affected ones are in memory.
enum Elsewhere {
    /// In a file.
    File(PathBuf),
    /// In partitions: an object with the methods `fetch` and `gathered`.
    Partitions(Py<PyAny>),
}

/// The origin of such a problem, and what it takes to have all rows in memory.
struct Origin {
    rows: Elsewhere,
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

/// What a problem is made with, beside rows and a model: a dictionary in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    config: String,
    /// Has the files named in the configuration.
    #[pyo3(default)]
    folder: PathBuf,
    /// A callable if the configuration says that the cost is a function.
    #[pyo3(default)]
    cost: Option<Py<PyAny>>,
    #[pyo3(default)]
    outcomes_cache: Option<PathBuf>,
    #[pyo3(default)]
    checkpoint: Option<PathBuf>,
    #[pyo3(default)]
    checkpoint_limit: Option<String>,
    #[pyo3(default)]
    verify_cache: Option<u64>,
}

/// Where a run stores its outcomes and its finished work.
fn keep_in_folders(py: Python<'_>, prepared: &mut Prepared, settings: Settings) -> PyResult<()> {
    prepared.set_outcomes_cache(settings.outcomes_cache);
    prepared.set_verify_cache(settings.verify_cache.unwrap_or(VERIFIED_ROWS));
    let limit = settings.checkpoint_limit.as_deref().map_or(Ok(DEFAULT_LIMIT), parse_bytes).or_raise(py)?;
    prepared.set_checkpoint(settings.checkpoint.map(|folder| CheckpointSettings { folder, limit }));
    Ok(())
}

/// Opens a source of rows and has a problem prepared from it.
type Opener =
    Box<dyn FnOnce(&dyn Fn(&dyn TableSource) -> sogar::Result<Streamed>) -> sogar::Result<Streamed> + Send>;
/// A problem of affected rows, and the header of its table.
type Streamed = (Prepared, sogar::table::Table);

/// A problem of which only the affected rows come to this process.
fn streamed(
    py: Python<'_>,
    rows: Elsewhere,
    open: Opener,
    model: &Model,
    mut settings: Settings,
) -> PyResult<Problem> {
    let (config, folder) = (parsed(py, &settings.config)?, settings.folder.clone());
    let raised = model.raised.clone();
    let cost = settings.cost.take().map(|function| Arc::new(PythonCost { function, raised: raised.clone() }));
    let (model, everybody) = (model.inner.clone(), OnceLock::new());
    let origin = Origin { rows, config, folder, model, cost, everybody };
    let (config, folder, model) = (origin.config.clone(), origin.folder.clone(), origin.model.clone());
    let made = run_detached(py, move || {
        open(&|source: &dyn TableSource| {
            let prepared = Prepared::streamed(config.clone(), &folder, source, model.clone(), None)?;
            Ok((prepared, source.header().clone()))
        })
    })?;
    let (mut prepared, header) = made.map_err(|error| raised.exception(py, &error))?;
    if let Some(function) = &origin.cost {
        prepared.set_cost_function(function.clone());
    }
    keep_in_folders(py, &mut prepared, settings)?;
    let (prepared, reference) = (Arc::new(prepared), Arc::new(header));
    Ok(Problem { prepared, reference, raised, origin: Some(origin) })
}

/// Some columns of a partition, which only the caller owns.
fn fetched(
    partitions: &Py<PyAny>,
    raised: &Raised,
    number: usize,
    names: Option<&[&str]>,
) -> sogar::Result<Option<sogar::table::Table>> {
    let fetched = Python::attach(|py| {
        let found = partitions.bind(py).call_method1("fetch", (number, names.map(<[_]>::to_vec)))?;
        let table = found.extract::<Option<Py<Table>>>()?;
        PyResult::Ok(table.map(|table| table.get().inner.clone()))
    });
    // By now the table belongs to this side alone.
    fetched.map(|table| table.map(Arc::unwrap_or_clone)).map_err(|error| {
        let message = Python::attach(|py| {
            format!("partition {number} raised {}: {}", error.get_type(py), error.value(py))
        });
        raised.keep(error);
        Error::new(ErrorKind::Table, message)
    })
}

#[pymethods]
impl Problem {
    /// Runs all stages up to the problem's size.
    #[new]
    fn new(py: Python<'_>, table: &Table, model: &Model, mut settings: Settings) -> PyResult<Problem> {
        let (config, folder) = (parsed(py, &settings.config)?, settings.folder.clone());
        let (reference, loaded, raised) = (table.inner.clone(), model.inner.clone(), model.raised.clone());
        let shared = reference.clone();
        let prepared = run_detached(py, move || Prepared::new(config, &folder, &shared, loaded, None))?;
        let mut prepared = prepared.map_err(|error| raised.exception(py, &error))?;
        if let Some(function) = settings.cost.take() {
            prepared.set_cost_function(Arc::new(PythonCost { function, raised: raised.clone() }));
        }
        keep_in_folders(py, &mut prepared, settings)?;
        Ok(Problem { prepared: Arc::new(prepared), reference, raised, origin: None })
    }

    /// The same from a Parquet file or folder, of which only the affected rows are kept. Use [`Problem::everybody`] for work on
    /// all people.
    #[staticmethod]
    fn of_file(py: Python<'_>, path: PathBuf, model: &Model, settings: Settings) -> PyResult<Problem> {
        let options = parsed(py, &settings.config)?.read_options().or_raise(py)?;
        let opened = path.clone();
        let open: Opener = Box::new(move |prepare| prepare(&*open_source(&opened, &options)?));
        streamed(py, Elsewhere::File(path), open, model, settings)
    }

    /// The same from partitions, which are fetched one at a time: `partitions.fetch(number, names)` gives the columns of these names (or all)
    /// as a table, or `None` where there are no rows; `partitions.gathered()` gives the whole table, for [`Problem::everybody`].
    #[staticmethod]
    fn of_partitions(
        py: Python<'_>,
        partitions: Py<PyAny>,
        count: usize,
        model: &Model,
        settings: Settings,
    ) -> PyResult<Problem> {
        let (shared, raised) = (partitions.clone_ref(py), model.raised.clone());
        let open: Opener = Box::new(move |prepare| {
            let fetch = |number: usize, names: Option<&[&str]>| fetched(&shared, &raised, number, names);
            prepare(&Partitions::open("", count, &fetch)?)
        });
        streamed(py, Elsewhere::Partitions(partitions), open, model, settings)
    }

    /// The problem with all rows of its table in memory: itself, unless they are elsewhere, from where they are read.
    fn everybody(this: Bound<'_, Self>) -> PyResult<Py<Problem>> {
        let (py, problem) = (this.py(), this.get());
        let Some(origin) = &problem.origin else { return Ok(this.clone().unbind()) };
        if let Some(made) = origin.everybody.get() {
            return Ok(made.clone_ref(py));
        }
        let (config, folder, model) = (origin.config.clone(), origin.folder.clone(), origin.model.clone());
        let table = match &origin.rows {
            Elsewhere::File(path) => {
                let (path, options) = (path.clone(), config.read_options().or_raise(py)?);
                let read = run_detached(py, move || sogar::table::Table::read(&path, &options))?;
                Arc::new(read.map_err(|error| problem.exception(py, &error))?)
            }
            Elsewhere::Partitions(partitions) => {
                partitions.bind(py).call_method0("gathered")?.cast::<Table>()?.get().inner.clone()
            }
        };
        let reference = table.clone();
        let made = run_detached(py, move || Prepared::new(config, &folder, &table, model, None))?;
        let mut prepared = made.map_err(|error| problem.exception(py, &error))?;
        if let Some(function) = &origin.cost {
            prepared.set_cost_function(function.clone());
        }
        let prepared = Arc::new(prepared);
        let whole = Problem { prepared, reference, raised: problem.raised.clone(), origin: None };
        let whole = Py::new(py, whole)?;
        Ok(origin.everybody.get_or_init(|| whole).clone_ref(py))
    }

    /// Names of the columns of the reference table.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.reference.names().collect()
    }

    /// Notices for the user.
    #[getter]
    fn notices(&self) -> Vec<String> {
        self.prepared.notices().to_vec()
    }

    /// The notice before a run that may take more than a minute.
    #[getter]
    fn long_run(&self) -> Option<String> {
        self.prepared.long_run(|setting| format!("`{setting}`"))
    }

    /// What the user should decide. A configuration file has already decided about personal features.
    fn warnings(&self, configured: bool) -> Vec<String> {
        self.prepared.warnings(Voice::Python, configured)
    }

    /// Sizes: rows, affected, searched (those in the sample, if there is one), splits, edits, actions.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (prepared, sizes) = (&self.prepared, PyDict::new(py));
        sizes.set_item("rows", prepared.reference().rows)?;
        sizes.set_item("affected", prepared.affected().len())?;
        sizes.set_item("searched", prepared.sample().unwrap_or(prepared.affected().len()))?;
        sizes.set_item("splits", prepared.splits().len())?;
        sizes.set_item("edits", prepared.edits().len())?;
        sizes.set_item("actions", prepared.action_count())?;
        Ok(sizes)
    }

    /// Hashes of the table and the model.
    #[getter]
    fn hashes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let hashes = PyDict::new(py);
        hashes.set_item("table", self.prepared.table_hash())?;
        hashes.set_item("model", &self.prepared.model().hash)?;
        let others: Vec<&str> =
            self.prepared.other_models().iter().map(|other| other.hash.as_str()).collect();
        hashes.set_item("list of further models", others.join(" "))?;
        Ok(hashes)
    }

    /// The features, as JSON.
    #[getter]
    fn features(&self) -> PyResult<String> {
        json(&self.prepared.table().features)
    }

    /// Finds the front. Returns it with the warnings and, if Ctrl-C stopped the search, that exception; the front then has what
    /// was found so far. `progress` is called with the stage, how much is done, of how much, and a remark.
    #[pyo3(signature = (progress=None))]
    fn solve(
        &self,
        py: Python<'_>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Front, Vec<String>, Option<Py<PyAny>>)> {
        let (cancel, reports) = (CancelToken::new(), Arc::new(Reports::default()));
        let (prepared, token, reporter) = (self.prepared.clone(), cancel.clone(), reports.clone());
        let reference = self.reference.clone();
        let work = move || match searched_groups(&prepared, &reference)? {
            Some(groups) => Search(&prepared).solve_by_group(&groups, &*reporter, &token),
            None => Search(&prepared).solve(&*reporter, &token),
        };
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
        Ok((notices, json(&evaluation.with_intervals().or_raise(py)?)?))
    }

    /// For every row of a table the position, among the front's actions, of the action that the point's tree recommends; −1 for
    /// rows that the model does not turn down.
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

    /// What the recommended edits change in a table: for every column with a change its name, the rows, and the new cells
    /// (numbers, or strings and `None`).
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

/// Whether a table is Parquet, and need not be in memory as a whole.
#[pyfunction]
#[pyo3(name = "is_parquet")]
pub fn is_parquet_table(py: Python<'_>, path: PathBuf) -> PyResult<bool> {
    is_parquet(&path).or_raise(py)
}
