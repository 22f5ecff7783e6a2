//! Models: files that the engine reads, bytes of them, and Python callables.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sogar::feature::FeatureTable;
use sogar::files::sha256_hex;
use sogar::model::LoadedModel;
use sogar::predict::Matched;

use crate::errors::OrRaise;
use crate::functions::{Kind, ModelFunction, Raised, whole_numbers};
use crate::running::run_detached;
use crate::settings::parsed;
use crate::table::Table;

/// A model of the engine.
#[pyclass(frozen, module = "sogar._native")]
pub struct Model {
    /// The model.
    pub inner: LoadedModel,
    /// Where exceptions of a callable wait.
    pub raised: Raised,
}

#[pymethods]
impl Model {
    /// A model file, recognised by its content.
    #[staticmethod]
    #[pyo3(signature = (path, threshold=None))]
    fn load(py: Python<'_>, path: PathBuf, threshold: Option<f64>) -> PyResult<Model> {
        let inner = run_detached(py, move || sogar::model::load(&path, threshold))?.or_raise(py)?;
        Ok(Model { inner, raised: Raised::default() })
    }

    /// The bytes of a model file, recognised by their content. `name` is what messages call it.
    #[staticmethod]
    #[pyo3(signature = (data, name, threshold=None))]
    fn from_bytes(py: Python<'_>, data: Vec<u8>, name: PathBuf, threshold: Option<f64>) -> PyResult<Model> {
        let loaded = run_detached(py, move || {
            let predictor = sogar::model::from_bytes(&data, threshold).map_err(|error| error.file(&name))?;
            Ok(LoadedModel { predictor, path: name, hash: sha256_hex(&data) })
        })?;
        Ok(Model { inner: loaded.or_raise(py)?, raised: Raised::default() })
    }

    /// A callable. It gets blocks of rows, a two-dimensional array of floats with the columns and categories of `info` (codes for
    /// texts), and answers with an array of class numbers (64-bit integers) or of scores (64-bit floats; a column for each class if
    /// there are more than two).
    #[staticmethod]
    #[pyo3(signature = (function, table, config, *, answers, classes, threshold, batch, identity, name, description=String::new()))]
    #[allow(clippy::too_many_arguments)]
    fn from_function(
        py: Python<'_>,
        function: Py<PyAny>,
        table: &Table,
        config: &str,
        answers: &str,
        classes: u32,
        threshold: Option<f64>,
        batch: usize,
        identity: Vec<u8>,
        name: String,
        description: String,
    ) -> PyResult<Model> {
        let kind = match answers {
            "labels" => Kind::Labels,
            "scores" => Kind::Scores,
            other => {
                return Err(PyValueError::new_err(format!("a model answers labels or scores, not {other}")));
            }
        };
        let config = parsed(py, config)?;
        let (features, _) = FeatureTable::infer(&table.inner, &config).or_raise(py)?;
        let raised = Raised::default();
        let function = ModelFunction {
            function,
            kind,
            classes,
            threshold,
            batch: batch.max(1),
            identity,
            name,
            description,
        };
        Ok(Model { inner: function.open(&table.inner, &features, &raised), raised })
    }

    /// A sum of trees that was taken from a Python object (see `sogar/_models`).
    #[staticmethod]
    fn from_trees(py: Python<'_>, spec: &Bound<'_, PyDict>) -> PyResult<Model> {
        Ok(Model { inner: crate::trees::from_trees(py, spec)?, raised: Raised::default() })
    }

    /// Dense layers that were taken from a Python object (see `sogar/_models`).
    #[staticmethod]
    fn from_layers(py: Python<'_>, spec: &Bound<'_, PyDict>) -> PyResult<Model> {
        Ok(Model { inner: crate::layers::from_layers(py, spec)?, raised: Raised::default() })
    }

    /// Labels (class numbers) and scores of every row of a table.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        config: &str,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let config = parsed(py, config)?;
        let (table, model) = (table.inner.clone(), self.inner.clone());
        let predicted = run_detached(py, move || Matched::new(&config, &table, &model)?.predict(&model))?
            .map_err(|error| self.raised.exception(py, &error))?;
        let labels = whole_numbers(py, predicted.iter().map(|prediction| i64::from(prediction.label)));
        let scores: Vec<f64> = predicted.iter().map(|prediction| prediction.score).collect();
        Ok((labels.into_any(), numpy::PyArray1::from_vec(py, scores).into_any()))
    }

    /// What the model is: format, description, columns, categories, classes, class_names, threshold, hash.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (info, about) = (self.inner.predictor.info(), PyDict::new(py));
        about.set_item("format", &info.format)?;
        about.set_item("description", &info.description)?;
        about.set_item("columns", &info.columns)?;
        about.set_item("categories", &info.categories)?;
        about.set_item("classes", info.classes)?;
        about.set_item("class_names", &info.class_names)?;
        about.set_item("threshold", info.threshold)?;
        about.set_item("hash", &self.inner.hash)?;
        Ok(about)
    }

    /// The file, or what stands for it.
    #[getter]
    fn path(&self) -> &Path {
        &self.inner.path
    }
}
