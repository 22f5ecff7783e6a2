//! One problem, measured in a process of its own, so that its peak memory is its own too.
//!
//! The order matters: the runs of sogar first, then the peak is read, and only then come the list of leaf sets, the
//! reference kernel's tables and the checks, which need more memory than sogar itself.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sogar::config::Config;
use sogar::limits::memory_limit;
use sogar::pipeline::Prepared;
use sogar::table::Table;
use sogar::{CancelToken, Error, ErrorKind, Progress, Result, model};
use sogar_solver::front::non_dominated;
use sogar_solver::{BitTable, Observer, Outcome, Point, Problem, ProblemParts, RowSet, SearchStatus, Solver};

use super::gpu::{OnGpu, on_gpu};
use super::leaf_sets::leaf_sets;
use super::problems::folder;
use super::reference_kernel::{Order, ReferenceKernel, Timing, shuffle};
use super::variation::Variation;

/// Bytes that the list of leaf sets, and each of the reference kernel's tables, may take.
const MAX_BYTES: usize = 4_000_000_000;
/// Cells that the plain check of fronts may look at.
const CHECKED_CELLS: usize = 2_000_000_000;
/// Leaf sets whose fronts are checked, if that is not more than [`CHECKED_CELLS`].
const CHECKED_SETS: usize = 20;
const SEED: u64 = 20_261_115;

/// What to measure.
#[derive(Debug, Clone, clap::Args)]
pub struct Task {
    /// Name of the preset
    pub name: String,
    /// Directory that scripts/paper_models.py wrote
    #[arg(long)]
    pub paper: PathBuf,
    /// Largest depth of a tree
    #[arg(long)]
    pub depth: u32,
    /// Runs of sogar
    #[arg(long)]
    pub runs: usize,
    /// Seconds for the reference kernel, in each order
    #[arg(long)]
    pub budget: f64,
    /// Seconds after which a search stops
    #[arg(long)]
    pub time_limit: Option<f64>,
    /// Without the reference kernel
    #[arg(long)]
    pub alone: bool,
    #[command(flatten)]
    pub variation: Variation,
}

/// What was measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Measurement {
    pub name: String,
    pub depth: u32,
    pub min_leaf: u32,
    pub rows: usize,
    pub splits: usize,
    pub actions: usize,
    pub complete: bool,
    pub points: usize,
    pub threads: usize,
    /// Leaf sets that the search evaluated.
    pub searched: u64,
    /// Actions whose flips were counted, over all leaf sets.
    pub losses_counted: u64,
    pub peak_bytes: u64,
    /// Every run, in order.
    pub runs: Vec<Seconds>,
    /// The search once more on a GPU, where one is built in and found.
    pub on_gpu: Option<OnGpu>,
    /// Distinct leaf sets and what the reference kernel takes for them; `None` where they are too many to list.
    pub reference_kernel: Option<Comparison>,
}

/// The times of one run of sogar.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Seconds {
    pub outcomes: f64,
    /// From the start of the search to the first front that it could give.
    pub first: f64,
    pub search: f64,
}

/// The reference kernel beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// Distinct leaf sets, listed without the search.
    pub leaf_sets: u64,
    /// Their sizes added up.
    pub total_rows: u64,
    /// Actions that had a place in the tables.
    pub actions: usize,
    pub one_by_one: Sample,
    pub together: Sample,
    /// Leaf sets whose front was compared with that of plain loops, and how many differed.
    pub checked: usize,
    pub differing: usize,
}

/// What was timed, and what all leaf sets and actions take at that speed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Sample {
    pub sets: usize,
    pub rows: u64,
    pub additions_per_second: f64,
    pub seconds: f64,
}

/// Measures one problem.
pub fn measure(task: &Task) -> Result<Measurement> {
    let folder = folder(&task.name, &task.paper);
    let prepared = prepare(task, &folder)?;
    let mut runs = Vec::new();
    let mut last = None;
    for _ in 0..task.runs.max(1) {
        drop(last.take()); // two problems at a time would double the peak
        let (problem, outcome, seconds) = run(&prepared)?;
        runs.push(seconds);
        last = Some((problem, outcome));
    }
    let Some((problem, outcome)) = last else {
        return Err(Error::new(ErrorKind::Usage, "no run was asked for"));
    };
    let peak_bytes = peak_bytes();
    Ok(Measurement {
        name: task.name.clone(),
        depth: task.depth,
        min_leaf: problem.limits().min_leaf,
        rows: problem.rows(),
        splits: problem.splits(),
        actions: problem.actions(),
        complete: outcome.status == SearchStatus::Complete,
        points: outcome.front.len(),
        threads: prepared.threads(),
        searched: outcome.stats.leaf_sets,
        losses_counted: outcome.stats.leaf_work.losses,
        peak_bytes,
        on_gpu: if task.alone { None } else { on_gpu(&problem, &outcome, prepared.threads(), task.budget) },
        runs,
        reference_kernel: if task.alone { None } else { compare(&problem, &prepared, task) },
    })
}

fn prepare(task: &Task, folder: &Path) -> Result<Prepared> {
    let mut config = Config::preset(&task.name)?;
    task.variation.change(&mut config);
    config.limits.max_depth = Some(task.depth);
    config.limits.max_leaves = None; // as many as the depth allows
    config.limits.time_limit = task.time_limit;
    let table = Table::read(&folder.join("train.csv"), &config.read_options()?)?;
    let model = model::load(&folder.join("model.txt"), config.model.threshold)?;
    let mut prepared = Prepared::new(config, folder, &table, model, None)?;
    task.variation.apply(&mut prepared)?;
    Ok(prepared)
}

/// Outcomes and search as `sogar solve` runs them.
fn run(prepared: &Prepared) -> Result<(Problem, Outcome, Seconds)> {
    let start = Instant::now();
    let problem = prepared.problem(&(), &CancelToken::new())?.problem;
    let outcomes = start.elapsed().as_secs_f64();
    let limits = &prepared.config.limits;
    let memory = usize::try_from(memory_limit(limits)?).unwrap_or(usize::MAX);
    let solver = Solver::builder()
        .threads(prepared.threads())
        .time_limit(limits.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
        .memory_limit(memory / 2)
        .build()
        .map_err(|cause| Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}")))?;
    let first = FirstFront { start: Instant::now(), seconds: OnceLock::new() };
    let outcome = solver.solve(&problem, &first);
    let search = first.start.elapsed().as_secs_f64();
    let first = first.seconds.get().copied().unwrap_or(search);
    Ok((problem, outcome, Seconds { outcomes, first, search }))
}

/// Notes when the search first reports: the best summaries without a split are known by then.
struct FirstFront {
    start: Instant,
    seconds: OnceLock<f64>,
}

impl Observer for FirstFront {
    fn progress(&self, _: Progress) {
        self.seconds.get_or_init(|| self.start.elapsed().as_secs_f64());
    }
}

/// The same problem with its rows as they stand in the table: their order is part of sogar's method, and the reference kernel
/// shall not profit from it.
fn in_table_order(problem: &Problem, prepared: &Prepared) -> Option<Problem> {
    let mut order: Vec<usize> = (0..problem.rows()).collect();
    order.sort_unstable_by_key(|&position| prepared.affected[position]);
    let mut flips = BitTable::new(problem.actions(), problem.rows());
    for action in 0..problem.actions() {
        let words = flips.set_mut(action);
        for (row, &position) in order.iter().enumerate() {
            words[row / 64] |= u64::from(problem.flips(action, position)) << (row % 64);
        }
    }
    Problem::new(ProblemParts {
        rows: problem.rows(),
        splits: (0..problem.splits())
            .map(|split| RowSet::from_fn(problem.rows(), |&row| problem.split(split).contains(order[row])))
            .collect(),
        edit_costs: (0..prepared.edits.len())
            .map(|edit| order.iter().map(|&position| problem.edit_cost(edit)[position]).collect())
            .collect(),
        combine: prepared.cost.combine(),
        actions: (0..problem.actions()).map(|action| problem.edits_of(action).to_vec()).collect(),
        flips,
        weights: Vec::new(),
        limits: problem.limits(),
    })
    .ok()
}

fn compare(problem: &Problem, prepared: &Prepared, task: &Task) -> Option<Comparison> {
    let problem = &in_table_order(problem, prepared)?;
    let sets = leaf_sets(problem, MAX_BYTES)?;
    let reference_kernel = ReferenceKernel::new(problem, prepared.cost.combine(), MAX_BYTES)?;
    let total_rows: u64 = sets.iter().map(|set| set.count() as u64).sum();
    let budget = Duration::try_from_secs_f64(task.budget).ok()?;
    let whole = |timing: Timing| {
        let per_second = timing.additions as f64 / timing.time.as_secs_f64();
        let additions = 2.0 * total_rows as f64 * problem.actions() as f64;
        let all = timing.sets == sets.len() && reference_kernel.actions().len() == problem.actions();
        Sample {
            sets: timing.sets,
            rows: timing.rows,
            additions_per_second: per_second,
            seconds: if all { timing.time.as_secs_f64() } else { additions / per_second },
        }
    };
    let one_by_one = whole(reference_kernel.time(&sets, Order::OneByOne, budget, SEED));
    let together = whole(reference_kernel.time(&sets, Order::Together, budget, SEED));
    let (checked, differing) = check(problem, &reference_kernel, &sets);
    Some(Comparison {
        leaf_sets: sets.len() as u64,
        total_rows,
        actions: reference_kernel.actions().len(),
        one_by_one,
        together,
        checked,
        differing,
    })
}

/// Compares the reference kernel's fronts of some leaf sets with those of plain loops.
fn check(problem: &Problem, reference_kernel: &ReferenceKernel, sets: &[RowSet]) -> (usize, usize) {
    let mut some: Vec<&RowSet> = sets.iter().collect();
    shuffle(&mut some, SEED);
    let mut cells = CHECKED_CELLS;
    let (mut checked, mut differing) = (0, 0);
    for set in some.into_iter().take(CHECKED_SETS) {
        let rows: Vec<usize> = set.iter().collect();
        cells = match cells.checked_sub(rows.len() * reference_kernel.actions().len()) {
            Some(rest) => rest,
            None if checked > 0 => break,
            None => 0,
        };
        let sums = reference_kernel.actions().iter().map(|&action| Point {
            cost: rows.iter().map(|&row| problem.cost(action, row)).sum(),
            loss: rows.iter().filter(|&&row| !problem.flips(action, row)).count() as u64,
        });
        checked += 1;
        differing += usize::from(reference_kernel.front(set) != non_dominated(sums.collect()));
    }
    (checked, differing)
}

/// The most memory that this process has held; 0 where the system does not say.
fn peak_bytes() -> u64 {
    let told = std::fs::read_to_string("/proc/self/status").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    told.map_or(0, |kib| kib * 1024)
}
