//! One search shared by processes that exchange only bytes.
//!
//! All processes get the same problem and start a [`WorkerSolver`]. First they evaluate the leaves in shares
//! ([`WorkerSolver::leaves`]). Then they learn the others' leaves ([`WorkerSolver::learn`]) and solve some cuts of all rows
//! ([`WorkerSolver::cuts`]). A [`FrontMerger`] merges these into one front, the same to the byte as that of a search in one
//! process: cuts are independent of each other, and positions decide between two equal trees, which the bytes keep
//! ([`crate::cut_codec`]).
//!
//! The search borrows the problem, so both live on a thread that waits for jobs; it can receive several jobs at a time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, mpsc};

use crate::cut_codec::{FinishedCut, ProblemDims};
use crate::front::{Branch, Collector, Front, Point, Solution};
use crate::leaf::{GroupedLeaves, LeafContext, LeafEvaluation, LeafPoint, leaf_front};
use crate::leaf_prefetch::{LeafShard, Leaves};
use crate::memo::{Memo, Task};
use crate::merge::merge;
use crate::problem::Problem;
use crate::search::{Search, task};
use crate::solver::Switches;
use crate::stop::{CancelToken, Stop, StopReason};
use crate::subset::{Cut, Subset, cuts};
use crate::varint::{DecodeError, Reader, put};

/// A job of a shared search.
type Job = Box<dyn for<'a, 'b> FnOnce(&'a Session<'b>) + Send>;

/// Solves parts of a search.
#[derive(Debug)]
pub struct WorkerSolver {
    jobs: mpsc::Sender<Job>,
    cancel: CancelToken,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// It was cancelled.
    #[error("the search was cancelled")]
    Cancelled,
    /// Bytes from others are invalid.
    #[error("what another process found can't be used: {0}")]
    Record(#[from] DecodeError),
    /// The thread is gone.
    #[error("the search ended unexpectedly")]
    Gone,
}

impl From<StopReason> for WorkerError {
    fn from(_: StopReason) -> Self {
        WorkerError::Cancelled
    }
}

/// A search that waits for jobs.
struct Session<'a> {
    search: Search<'a>,
    context: Box<dyn LeafContext + 'a>,
    all: Subset,
    leaf: Arc<Front>,
    cuts: Vec<Cut>,
    task: Task,
    pool: &'a rayon::ThreadPool,
}

impl WorkerSolver {
    /// Prepares to solve parts of a problem with this many threads; cached fronts take at most `memory` bytes.
    pub fn start(problem: Problem, threads: usize, memory: usize) -> std::io::Result<WorkerSolver> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("sogar-part-{i}"))
            .build()
            .map_err(std::io::Error::other)?;
        let (jobs, received) = mpsc::channel::<Job>();
        let cancel = CancelToken::new();
        let stop = Stop::from(&cancel);
        std::thread::Builder::new().name("sogar-parts".into()).spawn(move || {
            let merged = pool.install(|| merge(&problem, &stop));
            let problem = merged.unwrap_or(problem);
            let leaves = pool.install(|| GroupedLeaves::new(&problem, Switches::default()));
            let search = Search {
                problem: &problem,
                leaves: &leaves,
                stop,
                memo: Memo::new(&problem, memory),
                warm_start: true,
            };
            let all = Subset::all(&problem);
            let context = pool.install(|| leaves.among(&all.rows));
            let leaf = search.root_leaf(&*context, &all);
            let limits = problem.limits;
            let task = task(limits, all.size, limits.max_depth, limits.max_leaves);
            let cuts = if task.depth == 0 { Vec::new() } else { cuts(&problem, &all) };
            let session = Session { search, context, all, leaf, cuts, task, pool: &pool };
            std::thread::scope(|scope| {
                for job in received {
                    let session = &session;
                    scope.spawn(move || job(session));
                }
            });
        })?;
        Ok(WorkerSolver { jobs, cancel })
    }

    fn ask<T: Send + 'static>(
        &self,
        answer: impl for<'a, 'b> FnOnce(&'a Session<'b>) -> Result<T, WorkerError> + Send + 'static,
    ) -> Result<T, WorkerError> {
        let (reply, answered) = mpsc::channel();
        let job: Job = Box::new(move |session| {
            let _ = reply.send(answer(session)); // the receiver may be gone
        });
        self.jobs.send(job).map_err(|_| WorkerError::Gone)?;
        answered.recv().map_err(|_| WorkerError::Gone)?
    }

    /// Stops the current work.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// The front of all rows as one leaf, as bytes for a [`FrontMerger`].
    pub fn root(&self) -> Result<Vec<u8>, WorkerError> {
        self.ask(|session| {
            let mut out = Vec::new();
            put(&mut out, session.leaf.len() as u64);
            for entry in session.leaf.iter() {
                [entry.cost, entry.loss.into(), entry.left.into()]
                    .iter()
                    .for_each(|&number| put(&mut out, number));
            }
            Ok(out)
        })
    }

    /// The number of cuts of all rows.
    pub fn count(&self) -> Result<usize, WorkerError> {
        self.ask(|session| Ok(session.cuts.len()))
    }

    /// A share of the leaves below some cuts of all rows, as bytes.
    pub fn leaves(&self, cuts: Range<usize>, shard: LeafShard) -> Result<Vec<u8>, WorkerError> {
        self.ask(move |session| {
            session.pool.install(|| {
                let mut leaves = Leaves::default();
                let root = (&session.all, &session.leaf);
                for cut in session.cuts.get(cuts).unwrap_or_default() {
                    let depth = session.task.depth;
                    session.search.leaves.prepare(&session.search.stop);
                    session.search.prefetch_leaves(
                        &*session.context,
                        root,
                        cut,
                        depth,
                        shard,
                        &mut leaves,
                    )?;
                }
                Ok(leaves.to_bytes())
            })
        })
    }

    /// Learns leaves from others. Invalid bytes are an error; what came before them is kept.
    pub fn learn(&self, leaves: Vec<u8>) -> Result<(), WorkerError> {
        self.ask(move |session| Ok(session.search.remember(&leaves)?))
    }

    /// Solves some cuts of all rows; each as bytes ([`FinishedCut::from_bytes`]).
    pub fn cuts(&self, cuts: Range<usize>) -> Result<Vec<Vec<u8>>, WorkerError> {
        self.ask(move |session| {
            let Session { search, context, all, leaf, task, .. } = session;
            let solve_one = |(position, cut): (usize, &Cut)| -> Result<Vec<u8>, WorkerError> {
                search.stop.check()?;
                let sides = vec![&cut.left, &cut.right];
                let leaves = search.leaf_fronts(&**context, &[(all, leaf, sides)])?;
                let solve = |side: usize, child: &Subset, task: Task| {
                    search.solve(&**context, child, task, &leaves[side])
                };
                let branches = search.solve_cut(position, cut, *task, solve)?;
                Ok(FinishedCut::new(task.depth, task.max_leaves, cut.split, &branches).to_bytes())
            };
            let chosen = session.cuts.get(cuts.clone()).unwrap_or_default();
            session.pool.install(|| (cuts.start..).zip(chosen).map(solve_one).collect())
        })
    }
}

/// Merges cuts from all processes, in any order, into one front.
#[derive(Debug)]
pub struct FrontMerger {
    dims: ProblemDims,
    collector: Collector,
    branches: BTreeMap<u32, Branch>,
}

impl FrontMerger {
    /// Starts with the front of all rows as one leaf ([`WorkerSolver::root`]).
    pub fn new(dims: ProblemDims, root: &[u8]) -> Result<FrontMerger, DecodeError> {
        let mut reader = Reader::new(root);
        let mut points = Vec::new();
        for _ in 0..reader.count()? {
            let (cost, loss) = (reader.number()?, reader.below(dims.size as u64 + 1)?);
            points.push(LeafPoint { cost, loss, action: reader.below(dims.actions as u64)? });
        }
        reader.end()?;
        let mut collector = Collector::new(dims.size);
        collector.add_leaf(&leaf_front(&points));
        Ok(FrontMerger { dims, collector, branches: BTreeMap::new() })
    }

    /// Adds a cut; returns whether it improved the front.
    pub fn add(&mut self, cut: &[u8]) -> Result<bool, DecodeError> {
        let cut = FinishedCut::from_bytes(&self.dims, cut)?;
        let mut own = Collector::new(self.dims.size);
        for (key, branch) in cut.branches(cut.split) {
            own.add_split(key, &branch.left, &branch.right);
            self.branches.insert(key, branch);
        }
        Ok(self.collector.absorb(&own))
    }

    /// The points of the front so far.
    pub fn points(&mut self) -> Vec<Point> {
        self.collector.points()
    }

    /// The front with its trees.
    pub fn finish(mut self) -> Vec<Solution> {
        let branches: Vec<(u32, Branch)> = self.branches.into_iter().collect();
        self.collector.finish(&branches).solutions()
    }
}
