//! A front: reads the result file and answers queries.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};
use sogar::describe::{
    conditions, held_out_text, joined, plausibility_text, point_json, rules_text, tree_dot, tree_text,
};
use sogar::markup::visible;
use sogar::select::{By, select};
use sogar::summary::{FrontFile, Node, PointRef};

use crate::errors::{OrRaise, json as to_json};
use crate::functions::sums;

/// A front of the engine.
#[pyclass(frozen, module = "sogar._native")]
pub struct Front {
    /// The result file.
    pub inner: Arc<FrontFile>,
}

impl From<FrontFile> for Front {
    fn from(front: FrontFile) -> Front {
        Front { inner: Arc::new(front) }
    }
}

impl Front {
    /// The point of that number.
    pub fn point(&self, point: usize) -> PyResult<&PointRef> {
        let points = &self.inner.points;
        points.get(point).ok_or_else(|| {
            let last = points.len() - 1;
            PyIndexError::new_err(format!("the front has no point {point}: points are numbered 0 to {last}"))
        })
    }

    fn tree(&self, node: &Node) -> Value {
        match node {
            Node::Leaf { action, rows, flipped, cost_sum } => {
                let about = &self.inner.actions[*action];
                json!({
                    "action": { "position": action, "id": about.id, "text": about.text, "edits": about.edits },
                    "rows": rows, "flipped": flipped, "cost_sum": cost_sum,
                })
            }
            Node::Split { split, left, right } => {
                let question = joined(&conditions(&self.inner, &[(*split, true)]));
                let (left, right) = (self.tree(left), self.tree(right));
                json!({ "split": self.inner.splits[*split], "question": visible(&question), "left": left, "right": right })
            }
        }
    }
}

#[pymethods]
impl Front {
    /// Reads and checks the bytes of a result file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Front> {
        Ok(py.detach(|| FrontFile::parse(data)).or_raise(py)?.into())
    }

    /// Reads and checks a result file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Front> {
        Ok(py.detach(|| FrontFile::read(&path)).or_raise(py)?.into())
    }

    /// The bytes of the result file, as the command line writes it.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let text = py.detach(|| to_json(&*self.inner))? + "\n";
        Ok(PyBytes::new(py, text.as_bytes()))
    }

    /// Writes the result file atomically.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.write(&path)).or_raise(py)
    }

    /// Everything except the points, the actions' flips and the affected rows, as JSON.
    fn about(&self) -> PyResult<String> {
        let front = &*self.inner;
        let population = &front.population;
        to_json(&json!({
            "status": front.status, "config": front.config, "table": front.table, "model": front.model, "also": front.also,
            "population": {
                "rows": population.rows, "affected": population.affected,
                "classes": population.classes, "desired": population.desired,
            },
            "features": front.features, "counts": front.counts, "cost": front.cost, "limits": front.limits,
            "weight": front.weight, "bound": front.bound, "holdout": front.holdout, "fairness": front.fairness,
            "plausibility": front.plausibility,
            "run": front.run,
        }))
    }

    /// The actions in use, in the order of the front, as JSON: `id`, `text`, `edits`, `flipped`.
    fn actions(&self) -> PyResult<String> {
        let affected = self.inner.population.affected;
        let actions: Vec<Value> = self
            .inner
            .actions
            .iter()
            .map(|action| {
                let flags = action.flips.flags(affected).unwrap_or_default();
                let flipped = flags.into_iter().filter(|&flag| flag).count();
                json!({ "id": action.id, "text": action.text, "edits": action.edits, "flipped": flipped })
            })
            .collect();
        to_json(&actions)
    }

    /// The points as columns.
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let points = &self.inner.points;
        let columns = PyDict::new(py);
        let floats = |value: fn(&PointRef) -> f64| PyArray1::from_iter(py, points.iter().map(value));
        let whole = |value: fn(&PointRef) -> i64| PyArray1::from_iter(py, points.iter().map(value));
        columns.set_item("cost", floats(|point| point.cost))?;
        columns.set_item("loss", floats(|point| point.loss))?;
        columns.set_item("invalidity", floats(|point| point.invalidity))?;
        columns.set_item("cost_sum", sums(py, points.iter().map(|point| point.cost_sum)))?;
        columns.set_item("loss_count", sums(py, points.iter().map(|point| point.loss_count)))?;
        columns.set_item("leaves", whole(|point| i64::from(point.leaves)))?;
        columns.set_item("depth", whole(|point| i64::from(point.depth)))?;
        Ok(columns)
    }

    /// How the search ended.
    #[getter]
    fn status(&self) -> &'static str {
        self.inner.status.name()
    }

    /// For a stopped run: how far the front can be from complete.
    #[getter]
    fn certified_gap(&self) -> Option<f64> {
        self.inner.certified_gap()
    }

    /// Which rows of the table are affected.
    fn affected_rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let population = &self.inner.population;
        PyArray1::from_vec(py, population.affected_rows.flags(population.rows).unwrap_or_default())
    }

    /// Which affected rows the action at this position flips.
    fn flips<'py>(&self, py: Python<'py>, action: usize) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let action =
            self.inner.actions.get(action).ok_or_else(|| {
                PyIndexError::new_err(format!("the front has no action at position {action}"))
            })?;
        Ok(PyArray1::from_vec(py, action.flips.flags(self.inner.population.affected).unwrap_or_default()))
    }

    /// The number of the point that a criterion chooses.
    fn select(&self, py: Python<'_>, by: &str) -> PyResult<usize> {
        let by: By = by.parse().or_raise(py)?;
        select(&self.inner, by).or_raise(py)
    }

    /// A point with its rules in words, as JSON (that of `sogar show --json`).
    fn summary(&self, point: usize) -> PyResult<String> {
        self.point(point)?;
        to_json(&point_json(&self.inner, point))
    }

    /// A point's tree with splits and actions written out, as JSON.
    fn tree_json(&self, point: usize) -> PyResult<String> {
        to_json(&self.tree(&self.point(point)?.tree))
    }

    /// A point's tree as indented text.
    fn tree_text(&self, point: usize) -> PyResult<String> {
        Ok(tree_text(&self.inner, &self.point(point)?.tree))
    }

    /// How usual the people are for whom a point works, group by group; empty if the front does not know.
    fn plausibility_text(&self, point: usize) -> PyResult<String> {
        self.point(point)?;
        Ok(plausibility_text(&self.inner, point))
    }

    /// How a point does on the held-out people of the front, with intervals; empty without any.
    fn held_out_text(&self, point: usize) -> PyResult<String> {
        self.point(point)?;
        Ok(held_out_text(&self.inner, point))
    }

    /// A point's tree as sentences.
    fn rules_text(&self, point: usize) -> PyResult<String> {
        Ok(rules_text(&self.inner, &self.point(point)?.tree))
    }

    /// A point's tree for Graphviz.
    fn dot(&self, point: usize) -> PyResult<String> {
        Ok(tree_dot(&self.inner, &self.point(point)?.tree))
    }

    fn __len__(&self) -> usize {
        self.inner.points.len()
    }
}
