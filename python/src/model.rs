//! Models: files that the engine reads, bytes of them, and Python callables.

use std::path::{Path, PathBuf};

use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sogar::feature::FeatureTable;
use sogar::files::sha256_hex;
use sogar::model::{LoadedModel, Rows};
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

    /// The same model with others that must agree with it.
    fn with_also(&self, also: Vec<PyRef<'_, Model>>) -> Model {
        let also = also.iter().map(|other| other.inner.clone()).collect();
        Model { inner: LoadedModel { also, ..self.inner.clone() }, raised: self.raised.clone() }
    }

    /// The same model with a function that says how usual rows are, as its score.
    fn with_plausibility(&self, measure: PyRef<'_, Model>) -> Model {
        let usual = Some(std::sync::Arc::new(measure.inner.clone()));
        Model { inner: LoadedModel { usual, ..self.inner.clone() }, raised: self.raised.clone() }
    }

    /// The bytes of a model file, recognised by their content. `name` is its name in messages.
    #[staticmethod]
    #[pyo3(signature = (data, name, threshold=None))]
    fn from_bytes(py: Python<'_>, data: Vec<u8>, name: PathBuf, threshold: Option<f64>) -> PyResult<Model> {
        let loaded = run_detached(py, move || {
            let predictor = sogar::model::from_bytes(&data, threshold).map_err(|error| error.file(&name))?;
            Ok(LoadedModel::new(predictor, name, sha256_hex(&data)))
        })?;
        Ok(Model { inner: loaded.or_raise(py)?, raised: Raised::default() })
    }

    /// A callable. It gets blocks of rows, a two-dimensional array of floats with the columns and categories of `info` (codes for
    /// strings), and returns an array of class numbers (64-bit integers) or of scores (64-bit floats; a column for each class if
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

    /// A sum of trees from a Python object (see `sogar/_models`).
    #[staticmethod]
    fn from_trees(py: Python<'_>, spec: &Bound<'_, PyDict>) -> PyResult<Model> {
        Ok(Model { inner: crate::trees::from_trees(py, spec)?, raised: Raised::default() })
    }

    /// Dense layers from a Python object (see `sogar/_models`).
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

    /// What each model column contributed to an output of a sum of trees, row by row, and what the trees expect of a row of which
    /// nothing is known, as the last column: path-dependent TreeSHAP. Rows are the model's own columns.
    #[pyo3(signature = (rows, output=0))]
    fn contributions<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        output: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let Some(trees) = self.inner.predictor.tree_ensemble() else {
            return Err(PyValueError::new_err("the model is not a sum of trees"));
        };
        let rows = rows.as_array();
        let columns = self.inner.predictor.info().columns.len();
        if rows.ncols() != columns || output >= trees.outputs {
            return Err(PyValueError::new_err(format!(
                "the model has {columns} columns, {} outputs",
                trees.outputs
            )));
        }
        let values: Vec<f64> = rows.iter().copied().collect();
        let found = py.detach(|| {
            let all = Rows { values: &values, columns };
            let covers = trees.covers().unwrap_or_else(|| trees.covers_of(all));
            let mut weights = vec![0.0; trees.outputs];
            weights[output] = 1.0;
            all.iter()
                .map(|row| {
                    let found = trees.contributions(&covers, row, &weights);
                    found.columns.into_iter().chain([found.expected]).collect::<Vec<f64>>()
                })
                .collect::<Vec<_>>()
        });
        Ok(PyArray2::from_vec2(py, &found)?)
    }

    /// The description of the model: format, description, columns, categories, classes, class_names, threshold, hash.
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

    /// The file, or its substitute.
    #[getter]
    fn path(&self) -> &Path {
        &self.inner.path
    }
}
