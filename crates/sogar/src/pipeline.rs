//! The whole way from a table and a model to a front, one stage after the other.
//!
//! [`Prepared`] is everything before the expensive part: features, affected rows, splits, edits, costs. It is cheap
//! to make, and says how large the problem is; [`Prepared::solve`] then computes outcomes and searches.

mod asking;
mod blocks;
mod distributed;
mod prepare;
mod result;
mod sample;
mod streamed;
mod verify;
mod warnings;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use sogar_solver::{
    Actions, CancelToken, Limits, Observer, Point, Problem, ProblemParts, RowSet, Shape, Solver, Stop,
};

use crate::actions::{Edit, Idle, all_actions};
use crate::binarize::Split;
use crate::checkpoint::{Checkpoint, CheckpointSettings, KeptCuts};
use crate::config::Config;
use crate::cost::{CostModel, edit_costs};
use crate::device::{Compute, Device};
use crate::encode::Encoder;
use crate::error::{Error, ErrorKind, Result};
use crate::feature::FeatureTable;
use crate::limits::{
    MemoryEstimate, PlaceOfFlips, Size, TimeEstimate, TreeLimits, amount, memory_limit, time,
};
use crate::model::LoadedModel;
use crate::outcomes::{Kept, Outcomes, Question, Scorings, Watch};
use crate::population::Classes;
use crate::rules::Rule;
use crate::summary::{EvaluatedPoint, FrontFile, Status, means};
use asking::costs_key;
pub use distributed::{Gathered, actions_in_use};
use result::Describe;
pub use verify::{DRAWS, VERIFIED_ROWS};
pub use warnings::Voice;

/// Everything that is known before outcomes are computed.
pub struct Prepared {
    /// The configuration.
    pub config: Config,
    /// Where files named in the configuration are looked for.
    pub folder: PathBuf,
    /// The reference table's path and hash.
    pub table_path: PathBuf,
    /// SHA-256 of the reference table.
    pub table_hash: String,
    /// The model.
    pub model: LoadedModel,
    /// The reference table through its features: all of its rows, or those that matter if it was read part by part.
    pub table: FeatureTable,
    /// The size of the reference table.
    pub reference: ReferenceSize,
    /// From features to model columns.
    pub encoder: Encoder,
    /// Classes and which are desired.
    pub classes: Classes,
    /// The affected rows (of `table`), in the order in which the problem has them: like next to like.
    pub affected: Vec<usize>,
    /// Where the rows of `table` stand in the reference table; `None`: at the same place.
    places: Option<Vec<usize>>,
    /// Positions in `affected`, in the order of the table.
    by_row: Vec<usize>,
    /// Splits that cut the affected rows, with the rows that pass.
    pub splits: Vec<(Split, RowSet)>,
    /// All edits.
    pub edits: Vec<Edit>,
    /// Number of actions, the identity included.
    pub action_count: u128,
    /// The cost.
    pub cost: CostModel,
    /// Conditions that actions must not break.
    pub rules: Vec<Rule>,
    /// Features that have no edits because the model does not use them.
    pub idle: Idle,
    /// Limits of trees and actions.
    pub limits: TreeLimits,
    /// What the user should know.
    pub notices: Vec<String>,
    /// A folder in which outcomes are kept between runs; none unless it is set.
    pub outcomes_cache: Option<PathBuf>,
    /// A folder in which what is finished of the run is kept; none unless it is set.
    pub checkpoint: Option<CheckpointSettings>,
    /// How long the model took for a row of the table.
    seconds_per_row: f64,
    /// Rows about which a model that has to be asked is asked again, to verify outcomes that were kept; 0 believes them.
    pub verify_cache: u64,
    /// What the model said of the whole table, hashed: its content where a file's hash says nothing about it.
    predictions_hash: String,
}

/// The size of the reference table, whether or not its rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceSize {
    /// Number of rows.
    pub rows: usize,
    /// How much they count, in units of weight: their number, unless some count more than others.
    pub people: u64,
}

/// Is told how a run goes. All methods may be called from other threads.
pub trait Reporter: Sync {
    /// Outcomes of `done` of `all` rows are known.
    fn outcomes(&self, done: usize, all: usize);
    /// The search has come this far.
    fn search(&self, progress: sogar_solver::Progress);
    /// The front became better: all of its points now, cost ascending. A search that is stopped gives at least these.
    fn improved(&self, _front: &[EvaluatedPoint]) {}
    /// A check has come this far.
    fn checking(&self, _what: &str, _done: usize, _all: usize) {}
    /// The model is about to be asked about this many rows.
    fn scorings(&self, _scorings: Scorings) {}
    /// Something that the user may want to know.
    fn notice(&self, _text: &str) {}
    /// Something is not as it should be, though the run goes on.
    fn warning(&self, _text: &str) {}
}

/// Nobody listens.
impl Reporter for () {
    fn outcomes(&self, _: usize, _: usize) {}
    fn search(&self, _: sogar_solver::Progress) {}
}

/// Passes on what the solver says, in means instead of sums.
struct SearchObserver<'a> {
    reporter: &'a dyn Reporter,
    unit: u64,
    people: u64,
}

impl Observer for SearchObserver<'_> {
    fn progress(&self, progress: sogar_solver::Progress) {
        self.reporter.search(progress);
    }

    fn improved(&self, front: &[Point]) {
        let front: Vec<EvaluatedPoint> =
            front.iter().map(|point| means(point.cost, point.loss, self.unit, self.people)).collect();
        self.reporter.improved(&front);
    }
}

/// A solver problem with what is needed to read its answer.
pub struct SolverProblem {
    /// The problem.
    pub problem: Problem,
    /// Its actions as lists of edits.
    pub actions: Actions,
    /// Outcomes that the model itself had to settle.
    pub settled: u64,
    /// How outcomes were found.
    pub method: &'static str,
    /// Whether outcomes were computed for all actions; if stopped, only the identity is left.
    pub finished: bool,
    /// Where outcomes come from, if an earlier run kept them.
    pub kept: Option<Kept>,
}

impl Prepared {
    /// Number of threads that the run will use.
    pub fn threads(&self) -> usize {
        match self.config.limits.threads {
            Some(threads @ 1..) => threads as usize,
            _ => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        }
    }

    /// The device that was asked for.
    pub fn device(&self) -> Result<Device> {
        self.config.limits.device.as_deref().map_or(Ok(Device::Auto), str::parse)
    }

    /// Computes costs and outcomes. Refuses, before allocating, what would not fit into the memory limit.
    pub fn problem(&self, reporter: &dyn Reporter, cancel: &CancelToken) -> Result<SolverProblem> {
        self.problem_of(&self.everybody(), None, reporter, cancel, None)
    }

    /// All affected people.
    fn everybody(&self) -> People {
        People {
            rows: self.affected.clone(),
            splits: self.splits.iter().map(|(_, rows)| rows.clone()).collect(),
            min_leaf: self.min_leaf(),
        }
    }

    /// Where a row of `table` stands in the reference table.
    pub fn place(&self, row: usize) -> usize {
        self.places.as_ref().map_or(row, |places| places[row])
    }

    /// How much the affected rows count, in units of weight: their number, unless some count more than others.
    pub fn affected_people(&self) -> u64 {
        self.table.people_among(&self.affected)
    }

    /// The least that a leaf's rows must count, in units of weight.
    pub fn min_leaf(&self) -> u32 {
        // At most the weight of all affected rows, which fits.
        u32::try_from(u64::from(self.limits.min_leaf) * self.table.weight_unit()).unwrap_or(u32::MAX)
    }

    /// How much each of some rows counts; nothing where every row counts once.
    fn weights(&self, rows: &[usize]) -> Vec<u32> {
        match &self.table.weights {
            None => Vec::new(),
            Some(weights) => rows.iter().map(|&row| weights.of_row(row)).collect(),
        }
    }

    /// Those at some positions (ascending) of the affected rows.
    fn people(&self, positions: &[usize], min_leaf: u32) -> People {
        let among = |all: &RowSet| RowSet::from_fn(positions.len(), |&at| all.contains(positions[at]));
        People {
            rows: positions.iter().map(|&position| self.affected[position]).collect(),
            splits: self.splits.iter().map(|(_, rows)| among(rows)).collect(),
            min_leaf,
        }
    }

    /// The problem of some people and all actions.
    fn problem_of(
        &self,
        people: &People,
        checkpoint: Option<&Checkpoint>,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
        compute: Option<&Compute<'_>>,
    ) -> Result<SolverProblem> {
        let size = Size { rows: people.rows.len(), ..self.size() };
        let estimate = self.memory_estimate(size);
        let place = size.place_of_flips(estimate, memory_limit(&self.config.limits)?)?;
        let actions = all_actions(&self.edits, self.limits.max_edits);
        let find = |question: Question<'_>, watch: &Watch<'_>| match place {
            PlaceOfFlips::Memory => self.outcomes(question, watch, checkpoint, reporter, compute),
            PlaceOfFlips::File { rows_at_once } => {
                reporter.warning(&format!(
                    "whom each action flips takes {}, more than the memory limit leaves: it is kept in a temporary file, and the \
                     search is slower for it",
                    amount(estimate.flips)
                ));
                self.outcomes_in_file(question, rows_at_once, watch, checkpoint, reporter)
            }
        };
        self.problem_over(people, actions, find, reporter, cancel)
    }

    /// The problem of some people and some actions, whose outcomes `find` finds.
    fn problem_over(
        &self,
        people: &People,
        mut actions: Actions,
        find: impl FnOnce(Question<'_>, &Watch<'_>) -> Result<Option<Outcomes>> + Send,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<SolverProblem> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads()).build().map_err(|cause| {
            Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}"))
        })?;
        let question = Question {
            predictor: &*self.model.predictor,
            encoder: &self.encoder,
            desired: &self.classes.desired,
            table: &self.table,
            rows: &people.rows,
            edits: &self.edits,
            actions: &actions,
            rules: &self.rules,
        };
        let progress = |done, all| reporter.outcomes(done, all);
        let limit = seconds(self.config.limits.outcomes_time_limit);
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let watch = Watch { progress: &progress, stop: &Stop { deadline, cancel: cancel.clone() } };
        let (costs, found) = pool.install(|| -> Result<_> {
            let costs = edit_costs(&self.cost, &self.edits, &self.table, &people.rows)?;
            Ok((costs, find(question, &watch)?))
        })?;
        let finished = found.is_some();
        let (flips, settled, method, kept) = match found {
            Some(found) => (found.flips, found.settled, found.method, found.kept),
            None => {
                // Stopped before the outcomes were known: all that can be vouched for is doing nothing.
                actions = Actions::default();
                actions.push(&[]);
                (sogar_solver::BitTable::new(1, people.rows.len()), 0, "stopped before they were known", None)
            }
        };
        let problem = Problem::new(ProblemParts {
            rows: people.rows.len(),
            splits: people.splits.clone(),
            edit_costs: costs,
            combine: self.cost.combine(),
            actions: actions.clone(),
            flips,
            weights: self.weights(&people.rows),
            limits: Limits {
                // Where nothing can be done but nothing, there is no tree to look for.
                max_depth: if finished { self.limits.max_depth } else { 0 },
                max_leaves: if finished { self.limits.max_leaves } else { 1 },
                min_leaf: people.min_leaf,
            },
        })
        .map_err(|cause| Error::new(ErrorKind::Population, cause.to_string()))?;
        Ok(SolverProblem { problem, actions, settled, method, finished, kept })
    }

    /// The size of the problem.
    pub fn size(&self) -> Size<'_> {
        Size {
            rows: self.affected.len(),
            edits: &self.edits,
            features: &self.table.features,
            actions: self.action_count,
            max_edits: self.limits.max_edits,
        }
    }

    /// The memory of a problem of this size, with what the table takes already.
    pub fn memory_estimate(&self, size: Size<'_>) -> MemoryEstimate {
        let outputs = self.model.predictor.tree_ensemble().map_or(1, |trees| trees.outputs);
        let estimate = size.memory(self.threads(), outputs);
        let held = self.table.bytes() + self.cost.bytes();
        MemoryEstimate { rest: estimate.rest.saturating_add(held as u128), ..estimate }
    }

    /// How long the run may take, by what was measured of others, and of this model if it is asked about every edited row.
    pub fn time_estimate(&self) -> TimeEstimate {
        let (all, threads, actions) = (self.affected.len(), self.threads(), self.action_count);
        let searched = self.sample().unwrap_or(all);
        let predictor = &self.model.predictor;
        let outcomes = match (predictor.tree_ensemble(), predictor.dense_network()) {
            (Some(_), _) => time::outcomes_of_trees(all, actions, threads),
            (None, Some(network)) => {
                let weights = network.layers.iter().map(|layer| layer.weights.len()).sum();
                time::outcomes_of_network(searched, actions, weights, threads)
            }
            (None, None) => time::outcomes_by_asking(searched, actions, self.seconds_per_row),
        };
        let depth = self.limits.max_depth;
        TimeEstimate { outcomes, search: time::search(searched, actions, self.splits.len(), depth, threads) }
    }

    /// What to say before a run that may take more than a minute: the guess, and what makes it shorter. `setting` spells the name of a
    /// setting as the user would write it.
    pub fn long_run(&self, setting: impl Fn(&str) -> String) -> Option<String> {
        let guess = self.time_estimate();
        let mut text = format!(
            "this may take {} (outcomes {}, search {}), by what other runs took",
            time::about(guess.total()),
            time::about(guess.outcomes),
            time::about(guess.search)
        );
        if self.sample().is_none() {
            let [sample, limit, edits, depth, actions] =
                ["sample", "time_limit", "max_edits", "max_depth", "actions"].map(setting);
            text += &format!(
                "; {sample}, {limit}, fewer edits ({edits}), a smaller budget of actions ({actions}) and less depth ({depth}) make it shorter"
            );
        }
        (guess.total() >= time::LONG).then_some(text)
    }

    /// Computes outcomes, searches, and describes the result.
    pub fn solve(&self, reporter: &dyn Reporter, cancel: &CancelToken) -> Result<FrontFile> {
        if self.sample().is_some() {
            return self.solve_on_sample(reporter, cancel);
        }
        let mut found = self.search(&self.everybody(), reporter, cancel)?;
        let solutions = std::mem::take(&mut found.outcome.front);
        let ids: Vec<u32> = (0..found.made.actions.len() as u32).collect();
        Ok(self.file(&found, solutions, &ids, &mut Describe::default()))
    }

    /// How many affected rows are searched, where they are not all.
    pub fn sample(&self) -> Option<usize> {
        self.config.limits.sample.map(|rows| rows as usize).filter(|&rows| rows < self.affected.len())
    }

    /// Outcomes and search for some people.
    fn search(&self, people: &People, reporter: &dyn Reporter, cancel: &CancelToken) -> Result<Searched> {
        let memory = memory_limit(&self.config.limits)?;
        let compute = Compute::new(self.device()?, reporter, self.threads(), memory);
        let start = Instant::now();
        let checkpoint = self.checkpoint.as_ref();
        let checkpoint =
            checkpoint.map(|settings| Checkpoint::open(settings, &self.run_key(people))).transpose()?;
        let made = self.problem_of(people, checkpoint.as_ref(), reporter, cancel, Some(&compute))?;
        let seconds_outcomes = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let estimate = self.memory_estimate(Size { rows: people.rows.len(), ..self.size() });
        let memory = usize::try_from(estimate.left_for_search(memory)).unwrap_or(usize::MAX);
        let solver = Solver::builder()
            .threads(self.threads())
            .time_limit(seconds(self.config.limits.time_limit))
            .memory_limit(memory)
            .cancel(cancel.clone())
            .build()
            .map_err(|cause| {
                Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}"))
            })?;
        let observer =
            SearchObserver { reporter, unit: self.cost.unit(), people: made.problem.size() as u64 };
        let (outcome, cuts) = match &checkpoint {
            Some(checkpoint) if made.finished => {
                let shape = Shape::of(&made.problem);
                let kept = KeptCuts::open(checkpoint, &costs_key(&made.problem), &shape, reporter)?;
                let outcome = compute.solve(&solver, &made.problem, &observer, &kept);
                kept.flush();
                (outcome, kept.earlier())
            }
            _ => (compute.solve(&solver, &made.problem, &observer, &()), None),
        };
        let status = match outcome.status {
            _ if !made.finished && !cancel.is_cancelled() => Status::TimeLimit,
            _ if !made.finished => Status::Cancelled,
            sogar_solver::Status::Complete => Status::Complete,
            sogar_solver::Status::TimeLimit => Status::TimeLimit,
            _ => Status::Cancelled,
        };
        let seconds_search = start.elapsed().as_secs_f64();
        let device = compute.label();
        let found = Searched { made, outcome, status, device, seconds_outcomes, seconds_search };
        self.verify_front(people, &found, cuts, reporter, cancel)?;
        Ok(found)
    }
}

/// Affected people whose problem is posed: all of them, or a sample.
struct People {
    /// Rows of the table, in the order in which the problem has them.
    rows: Vec<usize>,
    /// Who passes each split.
    splits: Vec<RowSet>,
    /// Fewest of them in a leaf, in units of weight.
    min_leaf: u32,
}

/// A search that is over.
struct Searched {
    made: SolverProblem,
    outcome: sogar_solver::Outcome,
    status: Status,
    /// What it was computed on.
    device: String,
    seconds_outcomes: f64,
    seconds_search: f64,
}

impl Searched {
    /// What no summary of the searched people can do better than, where the search was stopped and outcomes were known.
    fn bound(&self) -> Option<Vec<[u64; 2]>> {
        (self.status != Status::Complete && self.made.finished)
            .then(|| self.outcome.bound.iter().map(|point| [point.cost, point.loss]).collect())
    }
}

/// A limit as it is configured; one beyond all clocks is none.
fn seconds(limit: Option<f64>) -> Option<Duration> {
    limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}
