//! The solver by itself: splits, costs and flips as matrices, without tables or models.

use std::sync::Arc;
use std::time::Duration;

use numpy::PyReadonlyArray2;
use numpy::ndarray::ArrayView1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sogar::{Error, ErrorKind};
use sogar_solver::{
    Actions, BitTable, CancelToken, Combine, Limits, Observer, Problem, ProblemParts, RowSet, SearchStatus,
    Solver, TreeNode,
};

use crate::errors::OrRaise;
use crate::functions::sums;
use crate::running::{Reports, run_interruptible};

/// Splits in rows × splits, costs and flips in actions × rows; with `actions` (lists of edits, padded with −1) costs are those of
/// edits. Returns the status, the points as two arrays, their trees as nested tuples (an action's row, or split, left, right; −1
/// is the identity), a lower bound for a stopped search, and the exception that stopped it.
#[pyfunction]
#[pyo3(signature = (splits, costs, flips, actions=None, summed=false, *, max_depth, max_leaves, min_leaf, time_limit, threads, weights=None, progress=None))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn solve_matrix<'py>(
    py: Python<'py>,
    splits: PyReadonlyArray2<'py, bool>,
    costs: PyReadonlyArray2<'py, u32>,
    flips: PyReadonlyArray2<'py, bool>,
    actions: Option<PyReadonlyArray2<'py, i64>>,
    summed: bool,
    max_depth: u32,
    max_leaves: u32,
    min_leaf: u32,
    time_limit: Option<f64>,
    threads: usize,
    weights: Option<Vec<u32>>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(
    &'static str,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Vec<Py<PyAny>>,
    Vec<(u64, u64)>,
    Option<Py<PyAny>>,
)> {
    let (splits, costs, flips) = (splits.as_array(), costs.as_array(), flips.as_array());
    let rows = splits.nrows();
    let flip_sets: Vec<RowSet> = std::iter::once(RowSet::empty(rows))
        .chain(flips.outer_iter().map(|flags| set(rows, flags.iter())))
        .collect();
    let lists: Vec<Vec<u32>> = match &actions {
        None => (0..u32::try_from(costs.nrows())?).map(|action| vec![action]).collect(),
        Some(actions) => {
            let edits = |list: ArrayView1<'_, i64>| {
                list.iter().filter_map(|&edit| u32::try_from(edit).ok()).collect()
            };
            actions.as_array().outer_iter().map(edits).collect()
        }
    };
    let actions: Actions = std::iter::once(Vec::new()).chain(lists).collect();
    let problem = Problem::new(ProblemParts {
        rows,
        splits: splits.columns().into_iter().map(|flags| set(rows, flags.iter())).collect(),
        edit_costs: costs.outer_iter().map(|costs| costs.to_vec()).collect(),
        combine: if summed { Combine::Sum } else { Combine::Max },
        actions,
        flips: BitTable::from_sets(rows, &flip_sets),
        weights: weights.unwrap_or_default(),
        limits: Limits { max_depth, max_leaves, min_leaf },
    })
    .map_err(|cause| Error::new(ErrorKind::Usage, cause.to_string()))
    .or_raise(py)?;
    let (cancel, reports) = (CancelToken::new(), Arc::new(Reports::default()));
    let solver = Solver::builder()
        .threads(threads)
        .time_limit(time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
        .cancel(cancel.clone())
        .build()
        .map_err(|cause| PyRuntimeError::new_err(format!("threads could not be started: {cause}")))?;
    let watched = reports.clone();
    let work = move || solver.solve(&problem, &Watching(&watched));
    let (outcome, interrupt) = run_interruptible(py, &cancel, &reports, progress.as_ref(), work)?;
    let status = match outcome.status {
        SearchStatus::Complete => "complete",
        SearchStatus::TimeLimit => "time_limit",
        _ => "cancelled",
    };
    let trees = outcome.front.iter().map(|point| tree(py, &point.tree)).collect::<PyResult<_>>()?;
    Ok((
        status,
        sums(py, outcome.front.iter().map(|point| point.cost)),
        sums(py, outcome.front.iter().map(|point| point.loss)),
        trees,
        outcome.bound.iter().map(|point| (point.cost, point.loss)).collect(),
        interrupt.map(|error| error.into_value(py).into_any()),
    ))
}

fn set<'a>(rows: usize, flags: impl Iterator<Item = &'a bool>) -> RowSet {
    RowSet::from_rows(rows, flags.enumerate().filter(|(_, flag)| **flag).map(|(row, _)| row))
}

fn tree(py: Python<'_>, node: &TreeNode) -> PyResult<Py<PyAny>> {
    Ok(match node {
        TreeNode::Leaf { action } => (i64::from(*action) - 1).into_pyobject(py)?.into_any().unbind(),
        TreeNode::Split { split, left, right } => {
            (*split, tree(py, left)?, tree(py, right)?).into_pyobject(py)?.into_any().unbind()
        }
    })
}

struct Watching<'a>(&'a Reports);

impl Observer for Watching<'_> {
    fn progress(&self, progress: sogar_solver::Progress) {
        sogar::pipeline::Reporter::search(self.0, progress, None);
    }
}
