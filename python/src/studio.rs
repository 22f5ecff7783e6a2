//! The studio: a server in a thread of this process.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sogar::CancelToken;
use sogar::config::Config;
use sogar_studio::{Given, ModelOf, Server, Session, TableOf, open_browser};

use crate::errors::OrRaise;
use crate::model::Model;
use crate::running::run_detached;
use crate::settings::parsed;
use crate::table::Table;

/// How long a signal may go unnoticed.
const TICK: Duration = Duration::from_millis(25);

/// A studio that runs.
#[pyclass(frozen, module = "sogar._native")]
pub struct Studio {
    /// The address to open.
    #[pyo3(get)]
    address: String,
    cancel: CancelToken,
    thread: Mutex<Option<JoinHandle<sogar::Result<()>>>>,
}

impl Studio {
    fn finished(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

#[pymethods]
impl Studio {
    /// Starts a studio for a table and a model. `config` is a whole configuration; without it, the studio starts from what
    /// `init_config` would write. `classes` are the names of the model's classes.
    #[new]
    #[pyo3(signature = (table, model, *, config=None, folder=PathBuf::new(), classes=Vec::new()))]
    fn new(
        py: Python<'_>,
        table: &Table,
        model: &Model,
        config: Option<&str>,
        folder: PathBuf,
        classes: Vec<String>,
    ) -> PyResult<Studio> {
        let complete = config.is_some();
        let mut config = config.map_or_else(|| Ok(Config::default()), |config| parsed(py, config))?;
        if config.model.classes.is_empty() {
            config.model.classes = classes;
        }
        let given = Given {
            table: Some(TableOf::Opened(table.inner.clone())),
            model: Some(ModelOf::Opened(model.inner.clone())),
            config,
            complete,
            folder,
        };
        let started = run_detached(py, move || {
            let session = Session::new(given)?;
            session.open()?;
            Server::new(session)
        })?;
        let server = started.map_err(|error| model.raised.exception(py, &error))?;
        let (address, cancel) = (server.address(), CancelToken::new());
        let told = cancel.clone();
        let thread = std::thread::Builder::new()
            .name("sogar-studio".to_owned())
            .spawn(move || server.serve(&told))
            .map_err(|cause| PyRuntimeError::new_err(format!("a thread could not be started: {cause}")))?;
        Ok(Studio { address, cancel, thread: Mutex::new(Some(thread)) })
    }

    /// Whether it still answers.
    #[getter]
    fn running(&self) -> bool {
        !self.finished()
    }

    /// Waits until it is ended on the page, or by Ctrl-C.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        while !self.finished() {
            py.check_signals()?;
            py.detach(|| std::thread::sleep(TICK));
        }
        self.close(py)
    }

    /// Ends it: stops the search and the server.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.cancel.cancel();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        match thread.map(|thread| py.detach(|| thread.join())) {
            Some(Ok(result)) => result.or_raise(py),
            Some(Err(_)) => Err(PyRuntimeError::new_err("an internal error of sogar; please report it")),
            None => Ok(()),
        }
    }

    /// Opens the page in a browser, without waiting for it.
    fn open(&self) {
        let address = self.address.clone();
        std::thread::spawn(move || open_browser(&address));
    }
}
