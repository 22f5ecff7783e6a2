//! Configurations: dictionaries in Python, passed as JSON.

use std::path::PathBuf;

use pyo3::prelude::*;
use sogar::config::Config;
use sogar::init::starting_file;

use crate::errors::{OrRaise, json};
use crate::model::Model;
use crate::running::run_detached;
use crate::table::Table;

/// A `sogar.toml` as JSON.
#[pyfunction]
pub fn read_config(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let config = Config::read(&path).or_raise(py)?;
    config.check(None).map_err(|error| error.file(&path)).or_raise(py)?;
    json(&config)
}

/// A built-in configuration, by its name, as JSON.
#[pyfunction]
pub fn preset(py: Python<'_>, name: &str) -> PyResult<String> {
    json(&Config::preset(name).or_raise(py)?)
}

/// A commented file to start from, for a table, and for a model with classes of these names.
#[pyfunction]
#[pyo3(signature = (table, name, model=None, classes=Vec::new()))]
pub fn init_config(
    py: Python<'_>,
    table: &Table,
    name: &str,
    model: Option<&Model>,
    classes: Vec<String>,
) -> PyResult<String> {
    let (table, name, loaded) =
        (table.inner.clone(), name.to_owned(), model.map(|model| model.inner.clone()));
    let mut given = Config::default();
    given.model.classes = classes;
    let text = run_detached(py, move || starting_file(&table, &name, loaded.as_ref(), &given))?;
    match (text, model) {
        (Err(error), Some(model)) => Err(model.raised.exception(py, &error)),
        (text, _) => text.or_raise(py),
    }
}

/// Checks a configuration by itself; returns it as the engine would write it.
#[pyfunction]
pub fn check_config(py: Python<'_>, config: &str) -> PyResult<String> {
    json(&parsed(py, config)?)
}

/// The configuration in a JSON text, checked by itself.
pub fn parsed(py: Python<'_>, config: &str) -> PyResult<Config> {
    let config = Config::from_json(config).or_raise(py)?;
    config.check(None).or_raise(py)?;
    Ok(config)
}
