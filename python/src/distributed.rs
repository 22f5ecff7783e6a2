//! Runs in parts, for processes that share nothing but bytes: what `sogar/_dask.py` hands to Dask.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sogar::CancelToken;
use sogar::evaluate::{HeldOut, Population, of_sums, sums};
use sogar::feature::Weights;
use sogar::outcomes::Outcomes;
use sogar::pipeline::{Gathered, Prepared, Search, actions_in_use};
use sogar::summary::{Status, WeightRef};
use sogar_solver::{BitTable, LeafShard, ProblemSkeleton, Solution, WorkerError, WorkerSolver};

use crate::errors::{OrRaise, json};
use crate::front::Front;
use crate::problem::Problem;
use crate::running::run_detached;
use crate::table::Table;

fn failed(error: WorkerError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

fn skeleton_of(bytes: &[u8]) -> PyResult<ProblemSkeleton> {
    ProblemSkeleton::from_bytes(bytes)
        .map_err(|why| PyValueError::new_err(format!("this is no problem: {why}")))
}

/// Outcomes of blocks of rows, one after the other. Every block but the last has a multiple of 64 rows.
fn joined<B: AsRef<[u8]>>(
    blocks: &[B],
    actions: usize,
    rows: usize,
    ids: Option<&[u32]>,
) -> PyResult<BitTable> {
    let fault = || PyValueError::new_err("the blocks of outcomes do not fit the problem");
    let ids: Vec<usize> = match ids {
        Some(ids) => ids.iter().map(|&id| id as usize).collect(),
        None => (0..actions).collect(),
    };
    let mut flips = BitTable::new(ids.len(), rows);
    let mut start = 0;
    for block in blocks {
        let block = block.as_ref();
        let width = block.len() / 8 / actions.max(1);
        if block.len() != 8 * width * actions || start + width > flips.words_per_set() {
            return Err(fault());
        }
        for (position, &id) in ids.iter().enumerate() {
            let words = block.get(8 * width * id..8 * width * (id + 1)).ok_or_else(fault)?;
            let to = &mut flips.set_mut(position)[start..start + width];
            for (word, bytes) in to.iter_mut().zip(words.as_chunks::<8>().0) {
                *word = u64::from_le_bytes(*bytes);
            }
        }
        start += width;
    }
    if start == flips.words_per_set() { Ok(flips) } else { Err(fault()) }
}

/// Whom some actions flip, of a problem whose outcomes are given in blocks: for each of them a bit for every row.
#[pyfunction]
pub fn flips_of<'py>(
    py: Python<'py>,
    skeleton: PyBackedBytes,
    blocks: Vec<PyBackedBytes>,
    ids: Vec<u32>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = run_detached(py, move || {
        let skeleton = skeleton_of(&skeleton)?;
        let flips = joined(&blocks, skeleton.actions().len(), skeleton.rows(), Some(&ids))?;
        let words = (0..ids.len()).flat_map(|set| flips.set(set).to_vec());
        PyResult::Ok(words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    })??;
    Ok(PyBytes::new(py, &bytes))
}

/// Solves parts of a search: leaves first, then cuts of all rows.
#[pyclass(frozen, module = "sogar._native")]
pub struct WorkerSearch {
    solver: Arc<WorkerSolver>,
}

#[pymethods]
impl WorkerSearch {
    /// A problem without outcomes, and the outcomes in blocks of rows.
    #[new]
    fn new(
        py: Python<'_>,
        skeleton: PyBackedBytes,
        blocks: Vec<PyBackedBytes>,
        threads: usize,
        memory: usize,
    ) -> PyResult<Self> {
        let solver = run_detached(py, move || {
            let skeleton = skeleton_of(&skeleton)?;
            let flips = joined(&blocks, skeleton.actions().len(), skeleton.rows(), None)?;
            drop(blocks);
            let problem =
                skeleton.problem(flips).map_err(|cause| PyValueError::new_err(cause.to_string()))?;
            WorkerSolver::start(problem, threads, memory)
                .map_err(|cause| PyRuntimeError::new_err(format!("threads could not be started: {cause}")))
        })??;
        Ok(WorkerSearch { solver: Arc::new(solver) })
    }

    /// The front of everybody as one leaf, for a `FrontMerger`; and how many cuts there are.
    fn root<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, usize)> {
        let solver = self.solver.clone();
        let (root, count) =
            run_detached(py, move || Ok((solver.root()?, solver.count()?)))?.map_err(failed)?;
        Ok((PyBytes::new(py, &root), count))
    }

    /// A share of the leaves below the cuts from `start` to before `stop`.
    fn leaves<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: usize,
        part: usize,
        of: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let solver = self.solver.clone();
        let found =
            run_detached(py, move || solver.leaves(start..stop, LeafShard { part, of }))?.map_err(failed)?;
        Ok(PyBytes::new(py, &found))
    }

    /// Learns leaves that others found.
    fn learn(&self, py: Python<'_>, leaves: PyBackedBytes) -> PyResult<()> {
        let solver = self.solver.clone();
        run_detached(py, move || solver.learn(leaves.to_vec()))?.map_err(failed)
    }

    /// Solves the cuts from `start` to before `stop`.
    fn cuts<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let solver = self.solver.clone();
        let found = run_detached(py, move || solver.cuts(start..stop))?.map_err(failed)?;
        Ok(found.iter().map(|cut| PyBytes::new(py, cut)).collect())
    }

    /// Ends whatever is being solved.
    fn cancel(&self) {
        self.solver.cancel();
    }
}

/// Makes one front of cuts that were solved anywhere.
#[pyclass(frozen, module = "sogar._native")]
pub struct FrontMerger {
    skeleton: ProblemSkeleton,
    inner: Mutex<Option<sogar_solver::FrontMerger>>,
    solutions: Mutex<Vec<Solution>>,
}

#[pymethods]
impl FrontMerger {
    /// A problem without outcomes, and the front of everybody as one leaf.
    #[new]
    fn new(skeleton: PyBackedBytes, root: PyBackedBytes) -> PyResult<Self> {
        let skeleton = skeleton_of(&skeleton)?;
        let inner = sogar_solver::FrontMerger::new(skeleton.dims(), &root)
            .map_err(|why| PyValueError::new_err(format!("this is no front: {why}")))?;
        Ok(FrontMerger { skeleton, inner: Mutex::new(Some(inner)), solutions: Mutex::default() })
    }

    /// Adds a cut; gives the number of points so far.
    fn add(&self, py: Python<'_>, cut: PyBackedBytes) -> PyResult<usize> {
        py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(inner) = inner.as_mut() else { return Ok(0) };
            inner.add(&cut).map_err(|why| PyValueError::new_err(format!("this is no cut: {why}")))?;
            Ok(inner.points().len())
        })
    }

    /// Ends it; gives the numbers of the actions whose outcomes the result needs.
    fn finish(&self, py: Python<'_>) -> Vec<u32> {
        py.detach(|| {
            let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
            let mut solutions = self.solutions.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(inner) = inner {
                *solutions = inner.finish();
            }
            actions_in_use(&solutions, self.skeleton.actions())
        })
    }
}

/// Stands for everything that outcomes depend on.
#[pyfunction]
pub fn outcomes_identity(problem: &Problem) -> String {
    Search(&problem.prepared).outcomes_identity()
}

/// All of the search's problem but the outcomes, as bytes.
#[pyfunction]
pub fn problem_skeleton<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyBytes>> {
    let prepared = problem.prepared.clone();
    let skeleton =
        run_detached(py, move || Search(&prepared).skeleton().map(|skeleton| skeleton.to_bytes()))?;
    Ok(PyBytes::new(py, &skeleton.map_err(|error| problem.exception(py, &error))?))
}

/// Outcomes as bytes, and how many the model itself had to settle.
type Block<'py> = (Bound<'py, PyBytes>, u64);

fn found_block<'py>(
    py: Python<'py>,
    problem: &Problem,
    find: impl FnOnce(&Prepared) -> sogar::Result<Option<Outcomes>> + Send + 'static,
) -> PyResult<Block<'py>> {
    let prepared = problem.prepared.clone();
    let found = run_detached(py, move || {
        Ok(find(&prepared)?.map(|found| {
            let words = (0..found.flips.sets()).flat_map(|action| found.flips.set(action));
            (words.flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>(), found.settled)
        }))
    })?;
    let found = found.map_err(|error| problem.exception(py, &error))?;
    let (bytes, settled) = found.ok_or_else(|| PyRuntimeError::new_err("the outcomes were cancelled"))?;
    Ok((PyBytes::new(py, &bytes), settled))
}

/// The outcomes of all actions on those who are searched at positions from `start` to before `stop`, as bytes; and how many
/// the model itself had to settle.
#[pyfunction]
pub fn outcomes_block<'py>(
    py: Python<'py>,
    problem: &Problem,
    start: usize,
    stop: usize,
) -> PyResult<Block<'py>> {
    found_block(py, problem, move |prepared| {
        Search(prepared).outcomes_of_block(start..stop, &CancelToken::new())
    })
}

/// The same of a few actions on all affected people.
#[pyfunction]
pub fn everybody_block<'py>(
    py: Python<'py>,
    problem: &Problem,
    start: usize,
    stop: usize,
    ids: Vec<u32>,
) -> PyResult<Block<'py>> {
    found_block(py, problem, move |prepared| {
        Search(prepared).outcomes_on_everybody(start..stop, &ids, &CancelToken::new())
    })
}

/// What the cheapest action that works costs the rows of a block of outcomes, eight bytes each; all ones where none works.
#[pyfunction]
pub fn cheapest_block<'py>(
    py: Python<'py>,
    skeleton: PyBackedBytes,
    block: PyBackedBytes,
    start: usize,
    stop: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let found = run_detached(py, move || {
        let skeleton = skeleton_of(&skeleton)?;
        let flips = joined(&[block], skeleton.actions().len(), stop.saturating_sub(start), None)?;
        let cheapest = skeleton.cheapest_of_block(start..stop, flips);
        cheapest.ok_or_else(|| PyValueError::new_err("the outcomes do not fit the problem"))
    })??;
    let words = found.iter().flat_map(|cost| cost.unwrap_or(u64::MAX).to_le_bytes());
    Ok(PyBytes::new(py, &words.collect::<Vec<u8>>()))
}

/// The front of what was found elsewhere, with the flips of the actions in use in blocks of rows. Without `merger` nothing
/// is known but doing nothing. `cheapest` is what blocks say about it, for the bound of a run that was stopped.
#[pyfunction]
#[pyo3(signature = (problem, merger, ids, flips, *, settled, status, seconds_outcomes, seconds_search, cheapest=None))]
#[allow(clippy::too_many_arguments)]
pub fn gathered(
    py: Python<'_>,
    problem: &Problem,
    merger: Option<&FrontMerger>,
    ids: Vec<u32>,
    flips: Vec<PyBackedBytes>,
    settled: u64,
    status: &str,
    seconds_outcomes: f64,
    seconds_search: f64,
    cheapest: Option<Vec<PyBackedBytes>>,
) -> PyResult<Front> {
    let status = match status {
        "complete" => Status::Complete,
        "time_limit" => Status::TimeLimit,
        _ => Status::Cancelled,
    };
    let prepared = problem.prepared.clone();
    let (mut solutions, mut bound, mut known) = (Vec::new(), None, None);
    if let Some(merger) = merger {
        solutions = merger.solutions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known = Some(joined(&flips, ids.len(), prepared.affected.len(), None)?);
        bound = cheapest.and_then(|blocks| merger.skeleton.bound(&costs_of(&blocks)));
    }
    let ids = if known.is_some() { ids } else { vec![0] };
    let found =
        Gathered { solutions, ids, flips: known, settled, status, bound, seconds_outcomes, seconds_search };
    let front = run_detached(py, move || Search(&prepared).gathered(found))?;
    Ok(front.map_err(|error| problem.exception(py, &error))?.into())
}

/// What [`cheapest_block`] said about blocks, one after the other.
fn costs_of(blocks: &[PyBackedBytes]) -> Vec<Option<u64>> {
    let words = blocks.iter().flat_map(|block| block.as_chunks::<8>().0.to_vec());
    words.map(u64::from_le_bytes).map(|cost| (cost != u64::MAX).then_some(cost)).collect()
}

/// What every point of a front costs and loses on a part of a table, with its rows, how many of them are turned down, and what these
/// count together. `unit` is that of the whole table's weights.
#[pyfunction]
#[pyo3(signature = (problem, front, table, unit=None))]
#[allow(clippy::type_complexity)]
pub fn evaluate_part(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    table: &Table,
    unit: Option<u32>,
) -> PyResult<(usize, usize, u64, Vec<(u64, u64)>)> {
    let (prepared, front, table) = (problem.prepared.clone(), front.inner.clone(), table.inner.clone());
    let found = run_detached(py, move || {
        let part = HeldOut::part(&prepared, &table, unit)?;
        let (rows, affected) = (part.table().rows, part.affected());
        Ok((rows, affected.len(), part.table().people_among(affected), sums(&front, &prepared, &part)?))
    })?;
    found.map_err(|error| problem.exception(py, &error))
}

/// The unit of the weights in a column of a table, and what they add up to.
#[pyfunction]
pub fn weights_of(py: Python<'_>, table: &Table, column: &str) -> PyResult<(u32, u64)> {
    let weights = Weights::read(&table.inner, column).or_raise(py)?;
    Ok((weights.unit, weights.total()))
}

/// The evaluation of a front, as JSON, from the sums of all parts of a table. `people` is what those who are turned down count
/// together; `weight` are the column of weights, its unit, and the sum of all of them.
#[pyfunction]
#[pyo3(signature = (front, rows, affected, people, sums, weight=None))]
pub fn evaluation_of(
    front: &Front,
    rows: usize,
    affected: usize,
    people: u64,
    sums: Vec<(u64, u64)>,
    weight: Option<(String, u64, u64)>,
) -> PyResult<String> {
    if sums.len() != front.inner.points.len() || affected == 0 {
        return Err(PyValueError::new_err("there is nobody to evaluate the summaries on"));
    }
    let weight = weight.map(|(column, unit, total)| WeightRef { column, unit, total, affected: people });
    let on = Population { hash: String::new(), rows, affected, people, weight };
    json(&of_sums(&front.inner, on, &sums))
}
