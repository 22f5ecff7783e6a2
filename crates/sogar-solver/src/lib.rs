//! The exact bi-objective tree search of sogar, without files, models or printing.
//!
//! The input is a [`Problem`]: the affected rows as positions `0..n`, candidate splits and flips as bitsets, and the
//! integer cost of every single edit on every row. The output is an [`Outcome`]: every non-dominated
//! pair (cost, loss) that a tree within the limits attains, each with a witness tree.
//!
//! ```
//! use sogar_solver::{BitTable, Combine, Limits, Problem, ProblemParts, RowSet, Solver};
//!
//! // Four people; one edit that costs 1 for the first two and 5 for the others, and flips everybody.
//! let parts = ProblemParts {
//!     rows: 4,
//!     splits: vec![RowSet::from_rows(4, [0, 1])],
//!     edit_costs: vec![vec![1, 1, 5, 5]],
//!     combine: Combine::Max,
//!     actions: [vec![], vec![0]].into_iter().collect(), // the identity, then the edit
//!     flips: BitTable::from_sets(4, &[RowSet::empty(4), RowSet::full(4)]),
//!     weights: Vec::new(),
//!     limits: Limits { max_depth: 1, max_leaves: 2, min_leaf: 1 },
//! };
//! let problem = Problem::new(parts)?;
//! let outcome = Solver::builder().threads(1).build()?.solve(&problem, &());
//! let points: Vec<(u64, u64)> = outcome.front.iter().map(|s| (s.cost, s.loss)).collect();
//! assert_eq!(points, [(0, 4), (2, 2), (12, 0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Modules, in the order in which a search uses them: [`problem`] → [`leaf`] (the front of one leaf) → `search` (the dynamic
//! programme over subsets) → [`front`]. [`bound`] and [`stop`] serve runs that end early, [`subproblems`] and [`cut_codec`] runs
//! that are killed, [`distributed`] and [`problem_skeleton`] runs that several processes share ([`varint`]: as bytes), and
//! [`exhaustive`] is the slow and obvious reference for the tests.

pub mod bits;
pub mod bound;
pub mod criteria;
pub mod cut_codec;
pub mod distributed;
pub mod exhaustive;
pub mod front;
pub mod leaf;
mod leaf_prefetch;
mod memo;
mod merge;
pub mod problem;
pub mod problem_skeleton;
mod search;
mod simd;
pub mod solver;
pub mod stop;
pub mod subproblems;
mod subset;
pub mod varint;
mod weight_planes;

pub use bits::{BitTable, RowSet, Words};
pub use criteria::{Epsilon, GroupOutcome, GroupPoint, Grouping, GroupingError};
pub use cut_codec::{FinishedCut, ProblemDims};
pub use distributed::{FrontMerger, WorkerError, WorkerSolver};
pub use front::{Point, Solution, TreeNode};
pub use leaf::{BoxesOfActions, CompactRows, PartsOfActions};
pub use leaf_prefetch::LeafShard;
pub use problem::{Actions, Combine, Limits, Problem, ProblemError, ProblemParts};
pub use problem_skeleton::ProblemSkeleton;
pub use simd::Kernel;
pub use solver::{Outcome, SearchStatus, Solver, SolverBuilder, Stats, Switches};
pub use stop::{CancelToken, Observer, Progress, Stop, StopReason};
pub use subproblems::Subproblems;
pub use varint::DecodeError;
