//! Configurations: in Python they are dictionaries, which cross the border as JSON.

use std::path::PathBuf;

use pyo3::prelude::*;
use sogar::config::Config;

use crate::errors::{OrRaise, json};

/// A `sogar.toml` as JSON.
#[pyfunction]
pub fn read_config(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let config = Config::read(&path).or_raise(py)?;
    config.check(None).map_err(|error| error.file(&path)).or_raise(py)?;
    json(&config)
}

/// A ready configuration, by its name, as JSON.
#[pyfunction]
pub fn preset(py: Python<'_>, name: &str) -> PyResult<String> {
    json(&Config::preset(name).or_raise(py)?)
}

/// Checks a configuration by itself; gives it as the engine would write it.
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
