//! Sums of trees from Python objects: scikit-learn's arrays, or another library's own file behind a pipeline.
//!
//! The Python side (`sogar/_models`) reads the objects; here the parts become a [`TreeEnsemble`], whose outcomes the engine
//! computes without scoring. The Python side compares its predictions with the object's own.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sogar::error::{Error, ErrorKind, Result};
use sogar::model::{
    Arithmetic, Decision, LoadedModel, Missing, ModelInfo, Node, Predictor, Test, Tree, TreeEnsemble,
    TreeModel, from_bytes, single,
};

use crate::derived::{Derived, moved, scaling};
use crate::errors::OrRaise;

/// A required entry of a dictionary.
pub fn entry<'py, T>(spec: &Bound<'py, PyDict>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    match spec.get_item(name)? {
        Some(value) => value.extract(),
        None => Err(PyKeyError::new_err(format!("`{name}` is missing"))),
    }
}

/// The model of a dictionary from `sogar/_models/_trees.py`.
pub fn from_trees(py: Python<'_>, spec: &Bound<'_, PyDict>) -> PyResult<LoadedModel> {
    let columns: Vec<String> = entry(spec, "columns")?;
    let derived: Vec<Bound<'_, PyDict>> = entry(spec, "derived")?;
    let derived = derived.iter().map(|column| read_derived(py, column)).collect::<PyResult<Vec<_>>>()?;
    if derived.iter().any(|column| column.column() >= columns.len()) {
        return fault("a column is derived from one that is not there").or_raise(py);
    }
    let (ensemble, classes) = match spec.get_item("library")? {
        Some(bytes) => {
            let bytes: Vec<u8> = bytes.extract()?;
            let model = from_bytes(&bytes, entry(spec, "threshold")?).or_raise(py)?;
            (library_ensemble(&*model, derived.len()).or_raise(py)?, model.info().classes)
        }
        None => (read_ensemble(py, spec)?, entry(spec, "classes")?),
    };
    let ensemble = py.detach(|| moved(&ensemble, &derived)).or_raise(py)?;
    let info = ModelInfo {
        format: entry(spec, "format")?,
        description: format!(
            "{} trees, {} leaves",
            ensemble.trees.len() / ensemble.outputs.max(1),
            leaves(&ensemble)
        ),
        columns,
        categories: entry(spec, "categories")?,
        unplaced_categories: Vec::new(),
        classes,
        class_names: Vec::new(),
        threshold: ensemble.decision.threshold(),
    };
    let path = PathBuf::from(entry::<String>(spec, "name")?);
    Ok(LoadedModel::new(Arc::new(TreeModel { info, ensemble }), path, entry::<String>(spec, "hash")?))
}

/// Leaves of all trees; copies for further outputs are not counted.
fn leaves(ensemble: &TreeEnsemble) -> usize {
    ensemble.leaf_count() / ensemble.outputs.max(1)
}

fn fault<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Model, message))
}

/// The trees of a library's file, whose columns are numbers.
fn library_ensemble(model: &dyn Predictor, columns: usize) -> Result<TreeEnsemble> {
    let info = model.info();
    if info.columns.len() != columns {
        let wanted = info.columns.len();
        return fault(format!("the model wants {wanted} columns, but its pipeline makes {columns}"));
    }
    if info.categories.iter().any(|list| !list.is_empty()) || !info.unplaced_categories.is_empty() {
        return fault("the model has lists of pandas categories behind a pipeline");
    }
    match model.tree_ensemble() {
        Some(ensemble) => Ok(ensemble.clone()),
        None => fault("the model is not a sum of trees"),
    }
}

fn read_derived(py: Python<'_>, spec: &Bound<'_, PyDict>) -> PyResult<Derived> {
    let column: usize = entry(spec, "column")?;
    if spec.contains("steps")? {
        let steps: Vec<(String, Vec<f64>)> = entry(spec, "steps")?;
        return Ok(Derived::Number { column, scaling: scaling(&steps).or_raise(py)? });
    }
    let values: Vec<f64> = entry(spec, "values")?;
    let other: f64 = entry(spec, "other")?;
    if !spec.contains("numbers")? {
        return Ok(Derived::Coded { column, values, other });
    }
    let numbers: Vec<f64> = entry(spec, "numbers")?;
    let values = numbers.into_iter().zip(values).collect();
    Ok(Derived::Listed { column, values, other, missing: entry(spec, "missing")? })
}

fn read_ensemble(py: Python<'_>, spec: &Bound<'_, PyDict>) -> PyResult<TreeEnsemble> {
    let rounded: bool = entry(spec, "single")?;
    let base: Vec<f64> = entry(spec, "base")?;
    let outputs = base.len();
    let dictionaries: Vec<Bound<'_, PyDict>> = entry(spec, "trees")?;
    let mut trees = Vec::with_capacity(dictionaries.len() * outputs);
    for tree in &dictionaries {
        trees.extend(read_tree(py, tree, rounded)?);
    }
    if outputs == 0 || trees.is_empty() || trees.len() % outputs != 0 {
        return fault("the trees do not fit the number of outputs").or_raise(py);
    }
    let threshold: Option<f64> = entry(spec, "threshold")?;
    let kind: String = entry(spec, "decision")?;
    let decision = match (kind.as_str(), threshold) {
        ("raw", Some(threshold)) if outputs == 1 => Decision::Raw { threshold },
        ("margin", Some(above)) if outputs == 1 => Decision::Margin { above, slope: entry(spec, "slope")? },
        ("sigmoid", Some(threshold)) if outputs == 1 => {
            Decision::Sigmoid { slope: entry(spec, "slope")?, threshold }
        }
        ("largest", None) if outputs > 1 => Decision::Largest { softmax_scores: false },
        ("softmax", None) if outputs > 1 => Decision::Largest { softmax_scores: true },
        _ => return fault(format!("there is no decision `{kind}` of {outputs} outputs")).or_raise(py),
    };
    let divisor = entry(spec, "divisor")?;
    Ok(TreeEnsemble {
        trees,
        outputs,
        base,
        base_last: false,
        divisor,
        arithmetic: Arithmetic::Double,
        decision,
    })
}

/// A tree's nodes, before they are divided into inner nodes and leaves.
struct Arrays {
    left: Vec<i64>,
    right: Vec<i64>,
    column: Vec<i64>,
    threshold: Vec<f64>,
    missing_left: Vec<bool>,
    /// For each node its set of categories, -1 for none.
    set_of: Vec<i64>,
    /// Whether rows outside the set go left.
    outside_left: Vec<bool>,
    sets: Vec<Vec<u32>>,
}

/// One tree, with a copy for each further output.
fn read_tree(py: Python<'_>, spec: &Bound<'_, PyDict>, rounded: bool) -> PyResult<Vec<Tree>> {
    let integers = |name: &str| -> PyResult<Vec<i64>> {
        Ok(entry::<PyReadonlyArray1<'_, i64>>(spec, name)?.as_array().iter().copied().collect())
    };
    let flags = |name: &str| -> PyResult<Vec<bool>> {
        Ok(entry::<PyReadonlyArray1<'_, bool>>(spec, name)?.as_array().iter().copied().collect())
    };
    let threshold: PyReadonlyArray1<'_, f64> = entry(spec, "threshold")?;
    let values: PyReadonlyArray2<'_, f64> = entry(spec, "values")?;
    let covers: PyReadonlyArray1<'_, f64> = entry(spec, "covers")?;
    let covers: Vec<f64> = covers.as_array().iter().copied().collect();
    let arrays = Arrays {
        left: integers("left")?,
        right: integers("right")?,
        column: integers("column")?,
        threshold: threshold.as_array().iter().copied().collect(),
        missing_left: flags("missing_left")?,
        set_of: integers("set_of")?,
        outside_left: flags("outside_left")?,
        sets: entry(spec, "sets")?,
    };
    let (nodes, leaf_nodes) = arrays.nodes(rounded).or_raise(py)?;
    let values = values.as_array();
    if values.nrows() != arrays.left.len() {
        return fault("a tree has not as many values as nodes").or_raise(py);
    }
    let tree = |output: usize| Tree {
        nodes: nodes.clone(),
        leaves: leaf_nodes.iter().map(|&leaf| values[[leaf, output]]).collect(),
        covers: leaf_nodes.iter().filter_map(|&leaf| covers.get(leaf).copied()).collect(),
    };
    Ok((0..values.ncols()).map(tree).collect())
}

impl Arrays {
    /// The inner nodes, and which of the nodes are the leaves.
    fn nodes(&self, rounded: bool) -> Result<(Vec<Node>, Vec<usize>)> {
        let count = self.left.len();
        let lengths = [
            self.right.len(),
            self.column.len(),
            self.threshold.len(),
            self.missing_left.len(),
            self.set_of.len(),
            self.outside_left.len(),
        ];
        if count == 0 || lengths.iter().any(|&length| length != count) {
            return fault("the arrays of a tree differ in length, or are empty");
        }
        let mut places = Vec::with_capacity(count);
        let (mut inner, mut leaves) = (0i32, Vec::new());
        for node in 0..count {
            if self.left[node] < 0 {
                places.push(i32::try_from(leaves.len()).map_or(i32::MIN, |leaf| !leaf));
                leaves.push(node);
            } else {
                places.push(inner);
                inner += 1;
            }
        }
        // Children come after their parents, so every path ends.
        let child = |node: usize, child: i64| match usize::try_from(child) {
            Ok(child) if child > node && child < count => Ok(places[child]),
            _ => fault("the branches of a tree go round in a circle, or nowhere"),
        };
        let mut nodes = Vec::with_capacity(inner as usize);
        for node in (0..count).filter(|&node| self.left[node] >= 0) {
            let Ok(column) = usize::try_from(self.column[node]) else {
                return fault("a tree tests a column that is not there");
            };
            let (test, swapped) = self.test(node, rounded)?;
            let (left, right) = (child(node, self.left[node])?, child(node, self.right[node])?);
            let (left, right) = if swapped { (right, left) } else { (left, right) };
            nodes.push(Node { column, test, left, right });
        }
        Ok((nodes, leaves))
    }

    /// A node's test, and whether rows that pass it go right.
    fn test(&self, node: usize, rounded: bool) -> Result<(Test, bool)> {
        if let Ok(set) = usize::try_from(self.set_of[node]) {
            let Some(words) = self.sets.get(set) else {
                return fault("a tree tests for a set that is not there");
            };
            return Ok((Test::InSet { words: words.clone() }, self.outside_left[node]));
        }
        let threshold = self.threshold[node];
        let default_left = self.missing_left[node];
        let at = if rounded { single::largest_at_most(largest_single(threshold)) } else { Some(threshold) };
        Ok(match at {
            Some(threshold) if !threshold.is_nan() => {
                (Test::AtMost { threshold, missing: Missing::NaNIsMissing, default_left }, false)
            }
            _ => (Test::Within { ranges: Vec::new(), default_left }, false),
        })
    }
}

/// The largest single-precision number that is not above `bound`, for comparisons with rounded values.
fn largest_single(bound: f64) -> f32 {
    let rounded = bound as f32;
    if f64::from(rounded) > bound { rounded.next_down() } else { rounded }
}
