//! The engine's errors as Python exceptions: the same messages, in the classes of `sogar._errors`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sogar::{Error, ErrorKind};

/// The exception for an error of the engine.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("sogar._errors")?.getattr("of_kind")?;
        let made =
            class.call1((name(error.kind()), error.to_string(), error.remedy().unwrap_or_default()))?;
        Ok(PyErr::from_value(made))
    };
    make().unwrap_or_else(|failed| failed)
}

/// Turns the engine's results into Python's.
pub trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for sogar::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}

/// A value of the engine as JSON.
pub fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|cause| PyRuntimeError::new_err(cause.to_string()))
}

fn name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Table => "table",
        ErrorKind::Config => "config",
        ErrorKind::Model => "model",
        ErrorKind::Population => "population",
        ErrorKind::Memory => "memory",
        ErrorKind::Scorings => "scorings",
        ErrorKind::Output => "output",
        ErrorKind::ResultFile => "result_file",
        ErrorKind::Checkpoint => "checkpoint",
        _ => "usage",
    }
}
