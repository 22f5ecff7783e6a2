//! Fronts over cost and the loss of every group of people.
//!
//! Groups partition the rows. Their losses add up as cost does, so the dynamic programme stays exact with one criterion for each of them: the
//! result is every vector (cost, loss of group 1, loss of group 2, …) that a tree within the limits attains and no tree dominates. From it follow
//! trade-offs that need more than cost and total loss: a limit on the gap between groups, or the loss of the group that is worst off. (These are
//! no sums, so they cannot be searched for directly: a tree whose parts have large gaps may have a small one.)
//!
//! Modules: [`front`] → `ceiling` and `collector` (what is dominated) → `grid` (fronts that are too large) → `leaf` → `search`. The number of
//! groups is a constant of the compiled code, 2, 4 or 8; groups that are not used have no rows and no loss.

mod ceiling;
mod collector;
pub mod exhaustive;
mod front;
mod grid;
mod leaf;
mod memo;
mod search;

use std::time::Instant;

use thiserror::Error;

pub use grid::Epsilon;

use self::leaf::Leaves;
use self::memo::Memo;
use self::search::Search;
use crate::bits::RowSet;
use crate::front::TreeNode;
use crate::leaf::GroupedLeaves;
use crate::problem::Problem;
use crate::solver::{SearchStatus, Solver, Stats, Switches};
use crate::stop::{Observer, Stop, StopReason};

/// Most groups of a grouping.
pub const MOST_GROUPS: usize = 8;

/// Groups of rows: every row is in one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    of_row: Vec<u32>,
    sets: Vec<RowSet>,
}

/// Why some numbers are not a grouping.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GroupingError {
    /// Too many groups to be criteria of their own.
    #[error("{0} groups, but the search tells at most {MOST_GROUPS} apart")]
    TooMany(usize),
    /// A group without rows.
    #[error("group {0} has no rows")]
    Empty(usize),
}

impl Grouping {
    /// The groups of rows, numbered from 0.
    pub fn new(of_row: Vec<u32>) -> Result<Grouping, GroupingError> {
        let groups = of_row.iter().max().map_or(0, |&last| last as usize + 1);
        if groups > MOST_GROUPS {
            return Err(GroupingError::TooMany(groups));
        }
        let set = |group: u32| RowSet::from_fn(of_row.len(), |&row| of_row[row] == group);
        let sets: Vec<RowSet> = (0..groups as u32).map(set).collect();
        match sets.iter().position(|set| set.count() == 0) {
            Some(empty) => Err(GroupingError::Empty(empty)),
            None => Ok(Grouping { of_row, sets }),
        }
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.sets.len()
    }

    /// The group of a row.
    pub fn group_of(&self, row: usize) -> usize {
        self.of_row[row] as usize
    }

    /// The rows of a group.
    pub fn rows(&self, group: usize) -> &RowSet {
        &self.sets[group]
    }
}

/// Totals over the affected rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupPoint {
    /// Total cost.
    pub cost: u64,
    /// For each group the rows that are not flipped.
    pub losses: Vec<u64>,
}

impl GroupPoint {
    /// Whether this point is at least as good in every criterion and better in one.
    pub fn dominates(&self, other: &GroupPoint) -> bool {
        self.at_most(other) && self != other
    }

    /// Whether this point is at least as good in every criterion.
    pub fn at_most(&self, other: &GroupPoint) -> bool {
        self.cost <= other.cost && self.losses.iter().zip(&other.losses).all(|(a, b)| a <= b)
    }

    /// Rows of all groups that are not flipped.
    pub fn loss(&self) -> u64 {
        self.losses.iter().sum()
    }
}

/// What a search found.
pub struct GroupOutcome {
    /// The front, by cost and then by losses. If the status is not `Complete`, every point is still attained by its tree and none dominates
    /// another.
    pub points: Vec<GroupPoint>,
    /// Why the search ended.
    pub status: SearchStatus,
    /// Counters.
    pub stats: Stats,
    trees: Box<dyn Trees>,
}

trait Trees: Send + Sync {
    fn tree(&self, position: usize) -> TreeNode;
}

impl<const G: usize> Trees for front::Front<G> {
    fn tree(&self, position: usize) -> TreeNode {
        front::Front::tree(self, position)
    }
}

impl GroupOutcome {
    /// The tree of a point.
    pub fn tree(&self, position: usize) -> TreeNode {
        self.trees.tree(position)
    }
}

impl Solver {
    /// Finds the front over cost and the loss of every group, complete or to an accuracy of `epsilon`.
    pub fn solve_by_group(
        &self,
        problem: &Problem,
        grouping: &Grouping,
        epsilon: Epsilon,
        observer: &dyn Observer,
    ) -> GroupOutcome {
        let deadline = self.settings.time_limit.and_then(|limit| Instant::now().checked_add(limit));
        let stop = Stop { deadline, cancel: self.settings.cancel.clone() };
        let switches = self.settings.switches;
        let memory = if switches.memo { self.settings.memory_limit } else { 0 };
        self.pool.install(|| match grouping.groups() {
            0..=2 => search::<2>(problem, grouping, epsilon, switches, memory, stop, observer),
            3..=4 => search::<4>(problem, grouping, epsilon, switches, memory, stop, observer),
            _ => search::<8>(problem, grouping, epsilon, switches, memory, stop, observer),
        })
    }
}

fn search<const G: usize>(
    problem: &Problem,
    grouping: &Grouping,
    epsilon: Epsilon,
    switches: Switches,
    memory: usize,
    stop: Stop,
    observer: &dyn Observer,
) -> GroupOutcome {
    let token = switches.kernel.token();
    let useful = match switches.reduce {
        true => GroupedLeaves::new(problem, Switches { bounds: false, tiles: false, ..switches })
            .useful()
            .to_vec(),
        false => vec![true; problem.actions()],
    };
    let leaves = Leaves::<G>::new(problem, &grouping.sets, &useful, epsilon, token);
    let search = Search { problem, leaves, epsilon, stop, memo: Memo::new(problem, memory) };
    let (front, reason) = search.run(observer);
    let losses =
        |losses: &[u32; G]| losses[..grouping.groups()].iter().map(|&loss| u64::from(loss)).collect();
    let point = |entry: &front::Entry<G>| GroupPoint {
        cost: entry.totals.cost,
        losses: losses(&entry.totals.losses),
    };
    let stats = Stats {
        leaf_sets: search.memo.leaf_sets(),
        leaf_work: search.leaves.work(),
        memo_bytes: search.memo.bytes(),
    };
    GroupOutcome {
        points: front.entries.iter().map(point).collect(),
        status: match reason {
            None => SearchStatus::Complete,
            Some(StopReason::TimeLimit) => SearchStatus::TimeLimit,
            Some(StopReason::Cancelled) => SearchStatus::Cancelled,
        },
        stats,
        trees: Box::new(front),
    }
}
