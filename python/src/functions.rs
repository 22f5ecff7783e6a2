//! Python callables inside the engine: a model that only its owner can run, and a cost function.
//!
//! The engine's threads call both, with the interpreter's lock for one block of rows or one edit at a time. Their exceptions
//! cannot pass through the engine, so they wait in [`Raised`] until the engine returns an error, and become its cause.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sogar::actions::Edit;
use sogar::cost::CostFunction;
use sogar::feature::{Feature, FeatureTable};
use sogar::model::readable::Readable;
use sogar::model::{Answers, Batching, Callback, LoadedModel, Rows};
use sogar::summary::EditRef;
use sogar::{Error, ErrorKind};

use crate::errors::exception;

/// The exception that a callable raised, if any. The first one counts.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception until the engine has come back.
    pub fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The exception for an error of the engine, with the raised one as its cause. Errors of this package, and exceptions that
    /// are not errors (Ctrl-C, the end of the program), stay unchanged.
    pub fn exception(&self, py: Python<'_>, error: &Error) -> PyErr {
        let own = |raised: &PyErr| {
            let class = py.import("sogar._errors").and_then(|errors| errors.getattr("SogarError"));
            class.is_ok_and(|class| raised.matches(py, class).unwrap_or(false))
        };
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(raised) if !raised.is_instance_of::<PyException>(py) || own(&raised) => raised,
            Some(raised) => {
                let outer = exception(py, error);
                outer.set_cause(py, Some(raised));
                outer
            }
            None => exception(py, error),
        }
    }
}

/// What a function returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Class numbers.
    Labels,
    /// Scores of class 1, or of all classes.
    Scores,
}

/// A callable as a model, with its description.
pub struct ModelFunction {
    /// Called with a block of rows: a two-dimensional array with a column for each of the table's columns.
    pub function: Py<PyAny>,
    /// What it returns.
    pub kind: Kind,
    /// Number of classes.
    pub classes: u32,
    /// Class 1 is above this score.
    pub threshold: Option<f64>,
    /// Largest number of rows per call.
    pub batch: usize,
    /// Identifies the model.
    pub identity: Vec<u8>,
    /// Its name in messages.
    pub name: String,
    /// One line on it.
    pub description: String,
}

impl ModelFunction {
    /// The model for a table, whose columns the callable will get.
    pub fn open(self, table: &sogar::table::Table, features: &FeatureTable, raised: &Raised) -> LoadedModel {
        let readable = Readable::new(&features.features, table);
        let info = readable.info("Python function", self.description, self.classes, self.threshold);
        let (function, kind, name, raised) = (self.function, self.kind, self.name.clone(), raised.clone());
        let model = Callback::new(info, move |rows| {
            Python::attach(|py| ask(py, &function, rows, kind)).map_err(|error| {
                let message = Python::attach(|py| {
                    format!("the model raised {}: {}", error.get_type(py), error.value(py))
                });
                raised.keep(error);
                Error::new(ErrorKind::Model, shortened(message)).file(&name)
            })
        });
        let batching = Batching { rows: self.batch, at_once: 1 };
        model.batching(batching).into_model(self.name, &self.identity)
    }
}

fn shortened(message: String) -> String {
    if message.chars().count() <= 500 {
        return message;
    }
    message.chars().take(500).chain(['…']).collect()
}

fn ask(py: Python<'_>, function: &Py<PyAny>, rows: Rows<'_>, kind: Kind) -> PyResult<Answers> {
    let count = rows.iter().len();
    let block = PyArray1::from_slice(py, rows.values).reshape([count, rows.columns])?;
    let answers = function.bind(py).call1((block,))?;
    Ok(match kind {
        Kind::Labels => {
            let labels: PyReadonlyArray1<'_, i64> = answers.extract()?;
            Answers::Labels(
                labels.as_array().iter().map(|&label| u32::try_from(label).unwrap_or(u32::MAX)).collect(),
            )
        }
        Kind::Scores => match answers.extract::<PyReadonlyArray1<'_, f64>>() {
            Ok(scores) => Answers::Scores(scores.as_array().iter().copied().collect()),
            Err(_) => {
                let scores: PyReadonlyArray2<'_, f64> = answers.extract()?;
                Answers::Scores(scores.as_array().iter().copied().collect())
            }
        },
    })
}

/// A callable as a cost: of a row (a dictionary of features and their values) and an edit of it (a dictionary).
pub struct PythonCost {
    /// The callable.
    pub function: Py<PyAny>,
    /// Where its exceptions wait.
    pub raised: Raised,
}

impl CostFunction for PythonCost {
    fn costs(
        &self,
        edit: &Edit,
        features: &[Feature],
        moves: &[(&[f64], &[f64])],
    ) -> sogar::Result<Vec<f64>> {
        Python::attach(|py| self.call(py, edit, features, moves)).map_err(|error| {
            let message = Python::attach(|py| {
                format!("the cost function raised {}: {}", error.get_type(py), error.value(py))
            });
            self.raised.keep(error);
            Error::new(ErrorKind::Config, shortened(message)).column(&features[edit.feature].name)
        })
    }
}

impl PythonCost {
    fn call(
        &self,
        py: Python<'_>,
        edit: &Edit,
        features: &[Feature],
        moves: &[(&[f64], &[f64])],
    ) -> PyResult<Vec<f64>> {
        let loads = py.import("json")?.getattr("loads")?;
        let described = crate::errors::json(&EditRef::new(edit, features))?;
        let described = loads.call1((described,))?;
        described.set_item("text", edit.text(features))?;
        let function = self.function.bind(py);
        moves
            .iter()
            .map(|(before, after)| {
                let row = PyDict::new(py);
                for (feature, &value) in features.iter().zip(*before) {
                    set_value(&row, feature, &feature.name, value)?;
                }
                let this = described.call_method0("copy")?;
                let this = this.cast::<PyDict>()?;
                let feature = &features[edit.feature];
                set_value(this, feature, "from", before[edit.feature])?;
                set_value(this, feature, "to", after[edit.feature])?;
                function.call1((row, this))?.extract()
            })
            .collect()
    }
}

/// Puts a feature's value into a dictionary in readable form: a number, a category's name, or `None`.
fn set_value(row: &Bound<'_, PyDict>, feature: &Feature, key: &str, value: f64) -> PyResult<()> {
    if feature.is_numeric() {
        return if value.is_nan() { row.set_item(key, ()) } else { row.set_item(key, value) };
    }
    match if value >= 0.0 { feature.levels().get(value as usize) } else { None } {
        Some(level) if feature.missing_level() != Some(value as usize) => row.set_item(key, level),
        _ => row.set_item(key, None::<()>),
    }
}

/// Sums as whole numbers: signed 64-bit, as in NumPy, unless one is too large.
pub fn sums<'py>(py: Python<'py>, values: impl Iterator<Item = u64>) -> Bound<'py, PyAny> {
    let values: Vec<u64> = values.collect();
    match values.iter().map(|&value| i64::try_from(value)).collect::<Result<Vec<i64>, _>>() {
        Ok(signed) => PyArray1::from_vec(py, signed).into_any(),
        Err(_) => PyArray1::from_vec(py, values).into_any(),
    }
}

/// An array of whole numbers for Python.
pub fn whole_numbers<'py>(py: Python<'py>, values: impl Iterator<Item = i64>) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_vec(py, values.collect())
}
