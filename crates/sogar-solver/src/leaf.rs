//! The front of one leaf: which actions are not dominated on a set of rows.
//!
//! A problem has up to hundreds of thousands of actions and a search needs the front of up to millions of leaf sets, so
//! looking at every action each time is out of the question. Actions are sets of edits, and costs never fall when an edit is added. So for
//! a set of edits `g` (one edit, or a pair), every action that contains `g` costs at least what `g` costs on the rows
//! `S`, and flips at most `|S ∩ U|`, `U` being the union of the flips of all such actions, made once per problem. If the front found so far
//! dominates that *corner*, none of them matters: `g` is dead. An action of three edits is looked at
//! only if all of its pairs are alive, with the largest of their bounds; its flips are counted only if that is not
//! dominated, and its cost is summed only if its loss is not ruled out either.
//!
//! **Why skipping is sound, ties included.** Let `q = (c, l)` be a corner, so every action `a` of the group has
//! `C(a) ≥ c` and `L(a) ≥ l`, and let `p` be a known point. A group is skipped only if `p` is strictly cheaper than `c` and has
//! no more loss than `l` ([`lanes::MinCostByLoss`]): then every `a` is strictly dominated by `p`. A single action is left out ([`front::LeafFront::rules_out`]) also if `p` equals its corner and `p`'s action
//! comes first: it is then dominated, or equal with a larger number. Costs are compared without their lowest bits where totals are
//! large; a number that is larger without its lowest bits is larger with them, so "strictly cheaper" still holds. The result
//! is therefore a function of `S` alone: for every non-dominated point the smallest action that attains it, whatever was inserted
//! first (so warm starts are free to guess).

mod batch8;
mod boxed;
mod boxes;
mod clusters;
pub(crate) mod columns;
mod corners;
mod dominated_actions;
mod front;
mod groups;
pub(crate) mod lanes;
mod longer;
mod members;
mod parts;
mod side_dominance;
mod tiles;
mod unstructured;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::bits::RowSet;
use crate::front::Front;
use crate::problem::Problem;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Simd, Token};
use crate::solver::Switches;
use crate::stop::{Stop, StopReason};
use batch8::{Batch, Setting};
use boxes::Boxes;
pub use boxes::BoxesOfActions;
use clusters::Clusters;
use columns::Columns;
use groups::Groups;
use lanes::LANES;
use members::Members;
pub use parts::PartsOfActions;
use side_dominance::SideDominance;
use tiles::{TiledContext, Tiles};

/// A non-dominated action of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafPoint {
    /// Total cost over the leaf's rows.
    pub cost: u64,
    /// Rows of the leaf that are not flipped.
    pub loss: u32,
    /// The smallest action with these totals.
    pub action: u32,
}

/// A leaf to evaluate.
#[derive(Debug, Clone, Copy)]
pub struct LeafRequest<'a> {
    /// Its rows, at least one.
    pub set: &'a RowSet,
    /// Sides of splits that hold for all of its rows, as `2 · split`, plus 1 for the side that fails the test. The list may be incomplete;
    /// each entry must be true.
    pub sides: &'a [u32],
    /// Actions that are likely to be good (the parent's front): a hint that never changes a result.
    pub warm: &'a [u32],
}

/// Evaluates leaves. Another backend may replace [`GroupedLeaves`] if it gives the same integers.
pub trait LeafEvaluation: Send + Sync {
    /// Prepares for many subsets of `members`.
    fn among<'a>(&'a self, members: &RowSet) -> Box<dyn LeafContext + 'a>;

    /// Called before many leaves are evaluated.
    fn prepare(&self, _stop: &Stop) {}

    /// What was counted so far.
    fn work(&self) -> LeafWork {
        LeafWork::default()
    }
}

/// Evaluates subsets of some rows.
pub trait LeafContext: Send + Sync {
    /// For each request the non-dominated actions: cost ascending, loss strictly descending; for equal points the
    /// smallest action. Requests that are near each other should be alike.
    fn leaf_fronts(
        &self,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason>;

    /// A context for the leaves of all trees of two levels and more on `set`, itself a subset of this context's rows; `None` if this one
    /// serves them as well.
    fn compact_rows<'a>(&'a self, set: &RowSet) -> Option<Box<dyn LeafContext + 'a>>;

    /// A context for so many subsets of `set`, itself a subset of this context's rows; `None` if this one serves them as well.
    fn compact_rows_for<'a>(&'a self, _set: &RowSet, _leaves: usize) -> Option<Box<dyn LeafContext + 'a>> {
        None
    }
}

/// Another place where leaves are evaluated, such as a graphics processor.
pub trait LeafBackend: Sync {
    /// Prepares for a problem. `cpu` evaluates the same leaves, for what the backend can't or need not do.
    fn leaves<'a>(&'a self, problem: &'a Problem, cpu: &'a GroupedLeaves<'a>)
    -> Box<dyn LeafEvaluation + 'a>;
}

/// The front of a leaf, given every action that may be on it with its totals, in any order.
pub fn front_of(mut points: Vec<LeafPoint>) -> Vec<LeafPoint> {
    points.sort_unstable_by_key(|point| (point.cost, point.loss, point.action));
    let mut least = u64::MAX;
    points.retain(|point| {
        let better = u64::from(point.loss) < least;
        least = least.min(u64::from(point.loss));
        better
    });
    points
}

/// How much a leaf evaluation had to look at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeafWork {
    /// Leaf sets evaluated.
    pub sets: u64,
    /// Groups of actions tested with one popcount.
    pub groups: u64,
    /// Actions whose flips were counted.
    pub losses: u64,
    /// Actions whose cost was summed.
    pub costs: u64,
}

/// Turns a leaf's points into a front.
pub(crate) fn leaf_front(points: &[LeafPoint]) -> Front {
    Front { leaf: points.into(), ..Front::default() }
}

/// When the rows of a set are brought together before its subsets are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactRows {
    /// Not at all.
    Never,
    /// For large sets with many subsets.
    WhereItPays,
    /// Whenever it can be done, for tests.
    Always,
}

/// Leaf sets after which it is known whether clusters help.
const TRIAL: u64 = 9;

/// The CPU evaluation over groups of actions.
pub struct GroupedLeaves<'a> {
    problem: &'a Problem,
    groups: Groups,
    /// For actions whose edits are ordered.
    boxes: Option<Boxes>,
    /// For actions without structure: all of them at once, or in clusters.
    tiles: Option<Tiles>,
    clusters: Option<Clusters>,
    token: Token,
    bounds: bool,
    reduce: bool,
    compact_rows: CompactRows,
    warm_start: bool,
    parts: PartsOfActions,
    counted: [AtomicU64; 4],
    /// Once it is known.
    sides: OnceLock<SideDominance>,
    /// Buffers that are not in use.
    idle: Mutex<Vec<Batch>>,
}

impl<'a> GroupedLeaves<'a> {
    /// Builds the groups. The switches change the speed, never the result.
    pub fn new(problem: &'a Problem, switches: Switches) -> Self {
        let Switches { kernel, bounds, compact_rows, reduce, .. } = switches;
        let tiles = if switches.tiles { Tiles::new(problem) } else { None };
        let clusters = if bounds && tiles.is_none() { Clusters::new(problem) } else { None };
        let groups = Groups::new(problem, reduce && clusters.is_none() && tiles.is_none());
        let boxes = if bounds { Boxes::new(problem, &groups, switches.boxes) } else { None };
        GroupedLeaves {
            problem,
            groups,
            boxes,
            tiles,
            clusters,
            token: kernel.token(),
            bounds,
            reduce,
            compact_rows,
            warm_start: switches.warm_start,
            parts: switches.parts,
            counted: Default::default(),
            sides: OnceLock::new(),
            idle: Mutex::default(),
        }
    }

    /// Per action whether it can matter to any leaf: an earlier one does at least as much for no more elsewhere.
    pub fn useful(&self) -> &[bool] {
        &self.groups.useful
    }

    /// Whether clusters have spared a third of the work so far; on matrices without likeness they cost more than they spare. `now` is
    /// work that is not counted yet. (A sum takes about
    /// twice as long as a count.)
    fn clusters_help(&self, now: LeafWork) -> bool {
        let before = self.work();
        let (sets, groups) = (before.sets + now.sets, before.groups + now.groups);
        let (losses, costs) = (before.losses + now.losses, before.costs + now.costs);
        sets < TRIAL || losses + 2 * (costs + groups) < 2 * sets * self.problem.actions() as u64
    }

    /// Adds to what was counted so far.
    fn count(&self, LeafWork { sets, groups, losses, costs }: LeafWork) {
        for (total, more) in self.counted.iter().zip([sets, groups, losses, costs]) {
            total.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Per row a lower bound on the cost of its cheapest flip, without a look at every action (the quick bound of
    /// [`crate::bound`]); `None` for unreachable rows.
    pub fn cheapest_at_least(&self) -> Vec<Option<u64>> {
        let (problem, groups) = (self.problem, &self.groups);
        let singles = groups.single.iter().filter(|&&action| action != groups::NONE);
        let singles =
            singles.map(|&action| (problem.edits_of(action as usize), problem.flips_of(action as usize)));
        let pairs: Vec<([u32; 2], u32)> = (0..groups.pair.len())
            .map(|at| ([(at / groups.edits) as u32, (at % groups.edits) as u32], groups.pair[at]))
            .filter(|([a, b], pair)| a < b && *pair != groups::NONE)
            .collect();
        let pairs = pairs.iter().map(|(edits, pair)| (&edits[..], groups.pair_unions.set(*pair as usize)));
        let cheapest = crate::bound::cheapest_of(problem, singles.chain(pairs), self.token);
        cheapest.into_iter().map(|cost| (cost != u64::MAX).then_some(cost)).collect()
    }
}

/// Subsets of some rows, with the members' part of the problem brought together where that pays.
struct GroupedContext<'a> {
    owner: &'a GroupedLeaves<'a>,
    size: usize,
    columns: Columns,
    /// The least costs of clusters.
    cluster_columns: Option<Columns>,
    members: Members<'a>,
}

impl<'a> GroupedContext<'a> {
    fn new(owner: &'a GroupedLeaves<'a>, rows: &RowSet) -> Self {
        let (problem, groups) = (owner.problem, &owner.groups);
        let boxes = owner.boxes.as_ref().map_or(0, |boxes| boxes.nodes.len());
        let members = Members::new(problem, groups, boxes, rows);
        let list: Vec<u32> = rows.iter().map(|row| row as u32).collect();
        let cluster_columns = owner.clusters.as_ref().map(|clusters| {
            let columns: Vec<&[u32]> = clusters.least_costs.iter().map(Vec::as_slice).collect();
            Columns::of(problem, &columns, &list, members.words())
        });
        GroupedContext {
            owner,
            size: list.len(),
            columns: Columns::new(problem, &list, members.words()),
            cluster_columns,
            members,
        }
    }

    #[inline(always)]
    fn evaluate<K: Simd>(
        &self,
        simd: K,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
        batch: &mut Batch,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let on = Setting {
            problem: self.owner.problem,
            groups: &self.owner.groups,
            columns: &self.columns,
            members: &self.members,
            bounds: self.owner.bounds,
            parts: self.owner.bounds
                && match self.owner.parts {
                    PartsOfActions::Never => false,
                    PartsOfActions::WhereItPays => self.size > 1024,
                    PartsOfActions::Always => true,
                },
            sides: self.owner.sides.get(),
            recent: &[],
        };
        let mut recent: Vec<u32> = Vec::new();
        let mut fronts = Vec::with_capacity(requests.len());
        for requests in requests.chunks(LANES) {
            stop.check()?;
            let on = Setting { recent: &recent, ..on };
            match (&self.owner.clusters, &self.cluster_columns, &self.owner.boxes) {
                (Some(clusters), Some(columns), _) => {
                    let clusters = self.owner.clusters_help(batch.work).then_some((clusters, columns));
                    batch.evaluate_unstructured(simd, on, clusters, requests);
                }
                (_, _, Some(boxes)) => batch.evaluate_boxes(simd, on, boxes, requests),
                _ => batch.evaluate(simd, on, requests),
            }
            let found = &batch.fronts[..requests.len()];
            fronts.extend(found.iter().map(|front| front.points.clone()));
            if self.owner.warm_start {
                recent.clear();
                recent.extend(found.iter().flat_map(|front| front.points.iter().map(|point| point.action)));
                recent.sort_unstable();
                recent.dedup();
            }
        }
        Ok(fronts)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,lzcnt,popcnt")]
    fn evaluate_avx512(
        &self,
        simd: Avx512,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
        batch: &mut Batch,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        self.evaluate(simd, requests, stop, batch)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn evaluate_avx2(
        &self,
        simd: Avx2,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
        batch: &mut Batch,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        self.evaluate(simd, requests, stop, batch)
    }
}

impl LeafContext for GroupedContext<'_> {
    fn leaf_fronts(
        &self,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let idle = || self.owner.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = idle().pop().unwrap_or_else(Batch::new);
        let fronts = match self.owner.token {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the processor has these instructions.
            Token::Avx512(simd) => unsafe { self.evaluate_avx512(simd, requests, stop, &mut batch) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Token::Avx2(simd) => unsafe { self.evaluate_avx2(simd, requests, stop, &mut batch) },
            Token::Portable(simd) => self.evaluate(simd, requests, stop, &mut batch),
        };
        self.owner.count(std::mem::take(&mut batch.work));
        idle().push(batch);
        fronts
    }

    fn compact_rows<'a>(&'a self, set: &RowSet) -> Option<Box<dyn LeafContext + 'a>> {
        let worth = match self.owner.compact_rows {
            CompactRows::Never => false,
            CompactRows::Always => set.count() < self.size,
            // Short sets gain nothing.
            CompactRows::WhereItPays => {
                let few_columns = self.owner.clusters.is_none();
                self.owner.problem.rows > 1024 && few_columns && set.count() * 4 < self.size * 3
            }
        };
        worth.then(|| self.owner.among(set))
    }

    fn compact_rows_for<'a>(&'a self, set: &RowSet, leaves: usize) -> Option<Box<dyn LeafContext + 'a>> {
        let worth = match self.owner.compact_rows {
            CompactRows::Never => false,
            CompactRows::Always => self.owner.boxes.is_some() && set.count() < self.size,
            // The outermost boxes are looked at for every leaf, so that they are soon worth packing.
            CompactRows::WhereItPays => {
                let many = self.owner.boxes.is_some() && self.size > 1024 && leaves >= 2 * LANES;
                many && set.count() * 4 < self.size * 3
            }
        };
        worth.then(|| self.owner.among(set))
    }
}

impl LeafEvaluation for GroupedLeaves<'_> {
    fn among<'a>(&'a self, members: &RowSet) -> Box<dyn LeafContext + 'a> {
        match &self.tiles {
            Some(tiles) => Box::new(TiledContext { owner: self, tiles }),
            None => Box::new(GroupedContext::new(self, members)),
        }
    }

    fn prepare(&self, stop: &Stop) {
        // There will be many times more sets than so far, and each of them saves some of the work; what it takes to save it grows
        // with the number of actions (measured, not critical).
        let sets = self.counted[0].load(Ordering::Relaxed);
        let worth = match self.compact_rows {
            CompactRows::Never => false,
            CompactRows::WhereItPays => 20 * sets > self.groups.useful_actions,
            CompactRows::Always => true,
        };
        if worth
            && self.reduce
            && self.clusters.is_none()
            && self.tiles.is_none()
            && self.boxes.is_none()
            && self.sides.get().is_none()
            && let Some(sides) = SideDominance::new(self.problem, &self.groups, stop)
        {
            let _ = self.sides.set(sides); // the same from every thread
        }
    }

    fn work(&self) -> LeafWork {
        let [sets, groups, losses, costs] = [0, 1, 2, 3].map(|i| self.counted[i].load(Ordering::Relaxed));
        LeafWork { sets, groups, losses, costs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_has_the_smallest_action_of_every_point() {
        let point = |cost, loss, action| LeafPoint { cost, loss, action };
        let points = vec![point(5, 1, 9), point(0, 4, 0), point(5, 1, 3), point(6, 1, 1), point(2, 4, 2)];
        assert_eq!(front_of(points), [point(0, 4, 0), point(5, 1, 3)]);
        assert_eq!(front_of(Vec::new()), []);
        assert_eq!(front_of(vec![point(0, u32::MAX, 0)]), [point(0, u32::MAX, 0)]);
    }
}
