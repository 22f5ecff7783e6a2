//! One problem, measured in its own process, so that the peak memory is its own.
//!
//! The order matters: first the runs of sogar, then the peak is read, and only then come the list of leaf sets and the plain program, which need more
//! memory than sogar itself.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sogar::limits::memory_limit;
use sogar::pipeline::Prepared;
use sogar::{CancelToken, Error, ErrorKind, Progress, Result};
use sogar_solver::{Observer, Outcome, Point, Problem, RowSet, SearchStatus, Solver};

use super::against::{Against, run_other};
use super::anytime::{Anytime, anytime};
use super::ceiling::{Ceiling, ceiling};
use super::failed;
use super::gpu::{OnGpu, on_gpu};
use super::lattice::{Lattice, root};
use super::matrices::MATRICES;
use super::plain::{BLOCK, Plain, shuffle};
use super::problems::{Case, Places};
use super::stopwatch::Stopwatch;

/// Limit of bytes for the list of leaf sets and their fronts.
const MAX_BYTES: usize = 4_000_000_000;
/// A run that takes this many seconds is not repeated.
const LONG: f64 = 20.0;
/// Leaf sets whose fronts are compared with the search's own, if the plain program does not evaluate all of them.
const CHECKED_SETS: usize = 4;
const SEED: u64 = 20_261_115;

/// What to measure of a case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    pub case: Case,
    pub places: Places,
    pub runs: usize,
    /// Seconds for the plain program.
    pub budget: f64,
    /// Seconds after which a search stops.
    pub time_limit: Option<f64>,
    pub part: Part,
    /// Another build of sogar.
    pub against: Option<std::path::PathBuf>,
}

/// Which measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// Times of sogar alone.
    Alone,
    /// And the plain program.
    WithPlain,
    /// How a search gets better while it runs.
    Anytime,
    /// What pruning could save.
    Ceiling,
}

/// What was measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Measurement {
    pub case: Case,
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
    /// What was guessed before the run, for outcomes and search.
    pub guess: Option<[f64; 2]>,
    /// Every run, in order.
    pub runs: Vec<Seconds>,
    /// The search again on a GPU, if one is built in and found.
    pub on_gpu: Option<OnGpu>,
    /// The plain program; `None` if there are too many leaf sets to list, or weights.
    pub plain: Option<Comparison>,
    pub against: Option<Against>,
    pub anytime: Option<Anytime>,
    pub ceiling: Option<Ceiling>,
}

/// The times of one run of sogar.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Seconds {
    pub outcomes: f64,
    /// From the start of the search to the first front that it could give.
    pub first: f64,
    pub search: f64,
}

/// The plain program beside it, one thread each.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// The search on one thread, and how many of its leaf sets it evaluated.
    pub search: f64,
    pub searched: u64,
    pub complete: bool,
    /// Distinct leaf sets, listed without the search.
    pub leaf_sets: u64,
    /// Actions that no other one dominates.
    pub actions: usize,
    /// Leaf sets and tiles of actions that were timed; the rest is extrapolated.
    pub timed_sets: usize,
    pub timed_tiles: f64,
    pub seconds: f64,
    /// Whether fronts were equal: that of the root if all was evaluated, else those of some leaf sets.
    pub equal: bool,
}

/// A problem without or with a table.
pub enum Subject {
    Table(Box<Prepared>),
    Matrix(Case),
}

impl Subject {
    fn new(task: &Task) -> Result<Subject> {
        let Case { name, depth, variation } = &task.case;
        if MATRICES.iter().any(|matrix| matrix.name == name) {
            return Ok(Subject::Matrix(task.case.clone()));
        }
        let files = task.places.files(name);
        let files = files.ok_or_else(|| Error::new(ErrorKind::Usage, format!("{name} has no files")))?;
        Ok(Subject::Table(Box::new(files.prepare(*depth, task.time_limit, variation)?)))
    }

    fn problem(&self) -> Result<Problem> {
        match self {
            Subject::Table(prepared) => Ok(prepared.problem(&(), &CancelToken::new())?.problem),
            Subject::Matrix(case) => {
                let matrix = MATRICES.iter().find(|matrix| matrix.name == case.name);
                let problem = matrix.map(|matrix| matrix.problem(case.depth, case.variation.min_leaf));
                let problem = problem.ok_or_else(|| failed("finding a matrix", &case.name))?;
                problem.map_err(|cause| failed("making a matrix", &cause))
            }
        }
    }

    fn threads(&self) -> usize {
        match self {
            Subject::Table(prepared) => prepared.threads(),
            Subject::Matrix(_) => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    fn guess(&self) -> Option<[f64; 2]> {
        match self {
            Subject::Table(prepared) => {
                let guess = prepared.time_estimate();
                Some([guess.outcomes, guess.search])
            }
            Subject::Matrix(_) => None,
        }
    }

    fn memory(&self) -> Result<usize> {
        match self {
            Subject::Table(prepared) => {
                let limit = memory_limit(&prepared.config().limits)?;
                Ok(usize::try_from(limit).unwrap_or(usize::MAX) / 2)
            }
            Subject::Matrix(_) => Ok(usize::MAX),
        }
    }
}

/// A solver as `sogar solve` makes it.
pub fn solver(threads: usize, memory: usize, seconds: Option<f64>) -> Result<Solver> {
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let builder = Solver::builder().threads(threads).memory_limit(memory).time_limit(limit);
    builder.build().map_err(|cause| failed("starting threads", &cause))
}

/// Measures one problem.
pub fn measure(task: &Task) -> Result<Measurement> {
    let subject = Subject::new(task)?;
    let (threads, memory) = (subject.threads(), subject.memory()?);
    let mut runs: Vec<Seconds> = Vec::new();
    let mut last = None;
    while runs.is_empty() || runs.len() < task.runs && runs.iter().all(|run| run.search < LONG) {
        drop(last.take()); // two problems at once would double the peak
        let start = Instant::now();
        let problem = subject.problem()?;
        let outcomes = start.elapsed().as_secs_f64();
        let first = FirstFront { start: Instant::now(), seconds: OnceLock::new() };
        let outcome = solver(threads, memory, task.time_limit)?.solve(&problem, &first);
        let search = first.start.elapsed().as_secs_f64();
        let first = first.seconds.get().copied().unwrap_or(search);
        runs.push(Seconds { outcomes, first, search });
        last = Some((problem, outcome));
    }
    let Some((problem, outcome)) = last else { return Err(failed("running", &"nothing ran")) };
    let peak_bytes = peak_bytes();
    let plain = match task.part {
        Part::WithPlain => compare(&problem, &outcome, memory, task)?,
        _ => None,
    };
    let against = match &task.against {
        Some(other) => run_other(other, task, &outcome)?,
        None => None,
    };
    Ok(Measurement {
        case: task.case.clone(),
        min_leaf: problem.limits().min_leaf,
        rows: problem.rows(),
        splits: problem.splits(),
        actions: problem.actions(),
        complete: outcome.status == SearchStatus::Complete,
        points: outcome.front.len(),
        threads,
        searched: outcome.stats.leaf_sets,
        losses_counted: outcome.stats.leaf_work.losses,
        peak_bytes,
        guess: subject.guess(),
        on_gpu: match task.part {
            Part::WithPlain => on_gpu(&problem, &outcome, threads, task.budget),
            _ => None,
        },
        runs,
        plain,
        against,
        anytime: match task.part {
            Part::Anytime => anytime(&problem, threads, memory, task.time_limit)?,
            _ => None,
        },
        ceiling: if task.part == Part::Ceiling { ceiling(&problem, &outcome) } else { None },
    })
}

/// Records the first report of the search: the best summaries without a split are known by then.
struct FirstFront {
    start: Instant,
    seconds: OnceLock<f64>,
}

impl Observer for FirstFront {
    fn progress(&self, _: Progress) {
        self.seconds.get_or_init(|| self.start.elapsed().as_secs_f64());
    }
}

/// The plain program and the search, both on one thread, by its running time.
fn compare(problem: &Problem, outcome: &Outcome, memory: usize, task: &Task) -> Result<Option<Comparison>> {
    let (Some(lattice), Some(plain)) = (Lattice::new(problem, MAX_BYTES), Plain::new(problem)) else {
        return Ok(None);
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = Arc::new(pool.map_err(|cause| failed("starting threads", &cause))?);
    let limit = task.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let builder = Solver::builder().pool(Arc::clone(&pool)).memory_limit(memory).time_limit(limit);
    let solver = builder.build().map_err(|cause| failed("starting threads", &cause))?;
    // In the pool's thread, whose running time counts.
    let (alone, search) = pool.install(|| {
        let watch = Stopwatch::start();
        (solver.solve(problem, &()), watch.seconds())
    });
    let total_rows: usize = lattice.sizes.iter().sum();
    // As many leaf sets as the budget allows, but at least some for every tile; fewer tiles if that is too much.
    const CELLS_PER_SECOND: f64 = 4e9;
    let mean_rows = total_rows as f64 / lattice.sets.len() as f64;
    let cells = |sets: f64| sets * mean_rows * plain.actions() as f64;
    let affordable = task.budget * CELLS_PER_SECOND;
    let all = cells(lattice.sets.len() as f64) <= affordable;
    let step = (cells(256.0) / affordable).ceil().max(1.0) as usize;
    let per_run = BLOCK.min(lattice.sets.len());
    let sets: Vec<&RowSet> = if all {
        lattice.sets.iter().collect()
    } else {
        // Neighbours are alike, so they are drawn in runs of 32.
        let mut runs: Vec<&[RowSet]> = lattice.sets.chunks(32).collect();
        shuffle(&mut runs, SEED);
        let most = (affordable * step as f64 / cells(1.0)).min(per_run as f64).max(32.0) as usize;
        runs.into_iter().flatten().take(most).collect()
    };
    let sets: Vec<RowSet> = sets.into_iter().cloned().collect();
    let found = plain.evaluate(&sets, if all { 1 } else { step });
    let rows: usize = sets.iter().map(RowSet::count).sum();
    let (laying_out, adding_up) = (found.laying_out, found.adding_up);
    let (seconds, equal) = if all {
        let (fronts, merging) = pool.install(|| {
            let watch = Stopwatch::start();
            (lattice.fronts(found.fronts), watch.seconds())
        });
        let points: Vec<Point> =
            outcome.front.iter().map(|solution| Point { cost: solution.cost, loss: solution.loss }).collect();
        let equal = outcome.status != SearchStatus::Complete || points == root(&fronts);
        (laying_out + adding_up + merging, equal)
    } else {
        // A tile is laid out once for every block of leaf sets.
        let tiles = plain.tiles() as f64 / found.tiles as f64;
        let blocks = lattice.sets.len().div_ceil(BLOCK) as f64;
        let some: Vec<RowSet> = sets.iter().take(CHECKED_SETS).cloned().collect();
        let own = Lattice::leaf_fronts_of(problem, &some);
        let equal = plain.evaluate(&some, 1).fronts == own;
        (laying_out * tiles * blocks + adding_up * tiles * total_rows as f64 / rows as f64, equal)
    };
    Ok(Some(Comparison {
        search,
        searched: alone.stats.leaf_sets,
        complete: alone.status == SearchStatus::Complete,
        leaf_sets: lattice.sets.len() as u64,
        actions: plain.actions(),
        timed_sets: sets.len(),
        timed_tiles: found.tiles as f64 / plain.tiles() as f64 / sets.len().div_ceil(BLOCK) as f64,
        seconds,
        equal,
    }))
}

/// The peak memory of this process; 0 if the system does not say.
fn peak_bytes() -> u64 {
    let told = std::fs::read_to_string("/proc/self/status").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    told.map_or(0, |kib| kib * 1024)
}
