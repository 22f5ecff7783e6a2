//! Runs shared by processes that exchange only bytes: the tasks of `sogar/_dask.py`.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sogar::CancelToken;
use sogar::evaluate::{HeldOut, PointSums, Population, of_sums, sums};
use sogar::feature::Weights;
use sogar::outcomes::Outcomes;
use sogar::pipeline::{Gathered, Prepared, Search, actions_in_use};
use sogar::summary::{Status, WeightRef};
use sogar_solver::{BitTable, LeafShard, ProblemSkeleton, Solution, WorkerError, WorkerSolver};

use crate::errors::{OrRaise, json};
use crate::front::Front;
use crate::model::Model;
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

/// Outcomes of blocks of rows, one after the other. Every block except the last has a multiple of 64 rows.
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

/// Whom some actions flip, from outcomes in blocks: for each action a bit per row.
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

    /// The front of the root as one leaf, for a `FrontMerger`; and the number of cuts.
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

    /// Learns leaves from other workers.
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

    /// Stops the current work.
    fn cancel(&self) {
        self.solver.cancel();
    }
}

/// Merges cuts from all workers into one front.
#[pyclass(frozen, module = "sogar._native")]
pub struct FrontMerger {
    skeleton: ProblemSkeleton,
    inner: Mutex<Option<sogar_solver::FrontMerger>>,
    solutions: Mutex<Vec<Solution>>,
}

#[pymethods]
impl FrontMerger {
    /// A problem without outcomes, and the front of the root as one leaf.
    #[new]
    fn new(skeleton: PyBackedBytes, root: PyBackedBytes) -> PyResult<Self> {
        let skeleton = skeleton_of(&skeleton)?;
        let inner = sogar_solver::FrontMerger::new(skeleton.dims(), &root)
            .map_err(|why| PyValueError::new_err(format!("this is no front: {why}")))?;
        Ok(FrontMerger { skeleton, inner: Mutex::new(Some(inner)), solutions: Mutex::default() })
    }

    /// Adds a cut; returns the number of points so far.
    fn add(&self, py: Python<'_>, cut: PyBackedBytes) -> PyResult<usize> {
        py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(inner) = inner.as_mut() else { return Ok(0) };
            inner.add(&cut).map_err(|why| PyValueError::new_err(format!("this is no cut: {why}")))?;
            Ok(inner.points().len())
        })
    }

    /// Finishes; returns the numbers of the actions whose outcomes the result needs.
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

/// A hash of everything that outcomes depend on.
#[pyfunction]
pub fn outcomes_identity(problem: &Problem) -> String {
    Search(&problem.prepared).outcomes_identity()
}

/// The search's problem without outcomes, as bytes.
#[pyfunction]
pub fn problem_skeleton<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyBytes>> {
    let prepared = problem.prepared.clone();
    let skeleton =
        run_detached(py, move || Search(&prepared).skeleton().map(|skeleton| skeleton.to_bytes()))?;
    Ok(PyBytes::new(py, &skeleton.map_err(|error| problem.exception(py, &error))?))
}

/// The run's outcomes as a task for other processes.
#[pyfunction]
pub fn outcome_task<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyBytes>> {
    let prepared = problem.prepared.clone();
    let task = run_detached(py, move || Search(&prepared).outcome_task())?;
    Ok(PyBytes::new(py, &task.map_err(|error| problem.exception(py, &error))?))
}

/// Outcomes of a run that another process leads, with this process's own model.
#[pyclass(frozen, module = "sogar._native")]
pub struct OutcomeTask {
    inner: Arc<sogar::pipeline::OutcomeTask>,
}

#[pymethods]
impl OutcomeTask {
    /// What `outcome_task` gave, and the model that the run has.
    #[new]
    fn new(py: Python<'_>, task: PyBackedBytes, model: &Model) -> PyResult<Self> {
        let model = model.inner.clone();
        let opened = run_detached(py, move || sogar::pipeline::OutcomeTask::open(&task, model))?;
        Ok(OutcomeTask { inner: Arc::new(opened.or_raise(py)?) })
    }

    /// As `outcomes_block`.
    fn of_block<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Block<'py>> {
        let task = self.inner.clone();
        let found =
            run_detached(py, move || Ok(task.of_block(start..stop, &CancelToken::new())?.map(block_of)))?;
        in_python(py, found.or_raise(py)?)
    }

    /// As `everybody_block`.
    fn on_everybody<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: usize,
        ids: Vec<u32>,
    ) -> PyResult<Block<'py>> {
        let task = self.inner.clone();
        let found = run_detached(py, move || {
            Ok(task.on_everybody(start..stop, &ids, &CancelToken::new())?.map(block_of))
        })?;
        in_python(py, found.or_raise(py)?)
    }
}

/// Outcomes as bytes, and how many the model itself had to settle.
type Block<'py> = (Bound<'py, PyBytes>, u64);

fn found_block<'py>(
    py: Python<'py>,
    problem: &Problem,
    find: impl FnOnce(&Prepared) -> sogar::Result<Option<Outcomes>> + Send + 'static,
) -> PyResult<Block<'py>> {
    let prepared = problem.prepared.clone();
    let found = run_detached(py, move || Ok(find(&prepared)?.map(block_of)))?;
    in_python(py, found.map_err(|error| problem.exception(py, &error))?)
}

fn block_of(found: Outcomes) -> (Vec<u8>, u64) {
    let words = (0..found.flips.sets()).flat_map(|action| found.flips.set(action));
    (words.flat_map(|word| word.to_le_bytes()).collect(), found.settled)
}

fn in_python(py: Python<'_>, found: Option<(Vec<u8>, u64)>) -> PyResult<Block<'_>> {
    let (bytes, settled) = found.ok_or_else(|| PyRuntimeError::new_err("the outcomes were cancelled"))?;
    Ok((PyBytes::new(py, &bytes), settled))
}

/// The outcomes of all actions on the searched people at positions from `start` to before `stop`, as bytes; and how many the
/// model itself had to settle.
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

/// The same for a few actions on all affected people.
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

/// The cost of the cheapest working action for the rows of a block of outcomes, eight bytes each; all ones if none works.
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

/// The front from results of the workers, with the flips of the actions in use in blocks of rows. Without `merger`, only "no
/// change" is known. `cheapest` has the results of [`cheapest_block`], for the bound of a stopped run.
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
        known = Some(joined(&flips, ids.len(), prepared.affected().len(), None)?);
        bound = cheapest.and_then(|blocks| merger.skeleton.bound(&costs_of(&blocks)));
    }
    let ids = if known.is_some() { ids } else { vec![0] };
    let found =
        Gathered { solutions, ids, flips: known, settled, status, bound, seconds_outcomes, seconds_search };
    let front = run_detached(py, move || Search(&prepared).gathered(found))?;
    Ok(front.map_err(|error| problem.exception(py, &error))?.into())
}

/// The results of [`cheapest_block`], one after the other.
fn costs_of(blocks: &[PyBackedBytes]) -> Vec<Option<u64>> {
    let words = blocks.iter().flat_map(|block| block.as_chunks::<8>().0.to_vec());
    words.map(u64::from_le_bytes).map(|cost| (cost != u64::MAX).then_some(cost)).collect()
}

/// The sums of every point of a front on a part of a table, with its rows, its affected rows, and the weight of these. The
/// numbers of a point add up over the parts.
/// `unit` is that of the whole table's weights.
#[pyfunction]
#[pyo3(signature = (problem, front, table, unit=None))]
#[allow(clippy::type_complexity)]
pub fn evaluate_part(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    table: &Table,
    unit: Option<u32>,
) -> PyResult<(usize, usize, u64, Vec<Vec<u128>>)> {
    let (prepared, front, table) = (problem.prepared.clone(), front.inner.clone(), table.inner.clone());
    let found = run_detached(py, move || {
        let part = HeldOut::part(&prepared, &table, unit)?;
        let (rows, affected) = (part.table().rows, part.affected());
        let sums = sums(&front, &prepared, &part)?.iter().map(PointSums::numbers).collect();
        Ok((rows, affected.len(), part.table().people_among(affected), sums))
    })?;
    found.map_err(|error| problem.exception(py, &error))
}

/// The unit of the weights in a column of a table, and their sum.
#[pyfunction]
pub fn weights_of(py: Python<'_>, table: &Table, column: &str) -> PyResult<(u32, u64)> {
    let weights = Weights::read(&table.inner, column).or_raise(py)?;
    Ok((weights.unit, weights.total()))
}

/// The evaluation of a front, as JSON, from the sums of all parts of a table. `people` is the weight of the affected people;
/// `weight` has the column of weights, its unit, and the sum of all of them.
#[pyfunction]
#[pyo3(signature = (front, rows, affected, people, sums, weight=None))]
pub fn evaluation_of(
    py: Python<'_>,
    front: &Front,
    rows: usize,
    affected: usize,
    people: u64,
    sums: Vec<Vec<u128>>,
    weight: Option<(String, u64, u64)>,
) -> PyResult<String> {
    let sums: Option<Vec<PointSums>> = sums.iter().map(|numbers| PointSums::of_numbers(numbers)).collect();
    let Some(sums) = sums.filter(|sums| sums.len() == front.inner.points.len() && affected > 0) else {
        return Err(PyValueError::new_err("there is nobody to evaluate the summaries on"));
    };
    let weight = weight.map(|(column, unit, total)| WeightRef { column, unit, total, affected: people });
    let on = Population { hash: String::new(), rows, affected, people, weight };
    json(&of_sums(&front.inner, on, &sums).with_intervals().or_raise(py)?)
}
