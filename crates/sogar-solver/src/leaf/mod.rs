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
//! `C(a) ≥ c` and `L(a) ≥ l`, and let `p` be a known point with `p ≤ q` in both objectives. If `p ≠ q`, every `a` is strictly dominated by
//! `p` (an `a` equal to `p` would give `p = a ≥ q ≥ p`, hence `p = q`). If `p = q`, an `a` is either strictly dominated
//! or equal to `p`; then it matters only as a witness with a smaller action number, so the group is
//! skipped only if `p`'s action comes before all of the group's. The result is therefore a function of `S` alone: for every
//! non-dominated point the smallest action that attains it, whatever was inserted first (so warm starts are free to guess).

mod evaluate;
mod groups;
mod known;
mod local;
mod planar;
mod wide;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::bits::{AVX2, AVX512, Kernel, PORTABLE, RowSet};
use crate::front::{Entry, Front, LEAF};
use crate::problem::Problem;
use crate::stop::{Stop, StopReason};
use evaluate::Scratch;
use groups::Groups;
use local::Local;
use wide::Wide;

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

/// Evaluates leaves. Another backend may replace [`GroupedLeaves`] if it gives the same integers.
pub trait LeafEvaluation: Send + Sync {
    /// Prepares for many subsets of `members`.
    fn among<'a>(&'a self, members: &RowSet) -> Box<dyn LeafContext + 'a>;

    /// What was counted so far.
    fn work(&self) -> LeafWork {
        LeafWork::default()
    }
}

/// Evaluates subsets of some rows.
pub trait LeafContext: Send + Sync {
    /// For each row set, none of them empty, the non-dominated actions: cost ascending, loss strictly descending; for
    /// equal points the smallest action. `warm` are actions that are likely to be good (the parent's front): a
    /// hint that never changes a result.
    fn leaf_fronts(
        &self,
        sets: &[RowSet],
        warm: &[u32],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason>;

    /// A context for `expected` subsets of `set`, itself a subset of this context's rows; `None` if this one serves
    /// them as well.
    fn narrow<'a>(&'a self, set: &RowSet, expected: usize) -> Option<Box<dyn LeafContext + 'a>>;
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
    let entries = points
        .iter()
        .map(|p| Entry { cost: p.cost, loss: p.loss, leaves: 1, branch: LEAF, left: p.action, right: 0 })
        .collect();
    Front { entries, branches: Vec::new() }
}

/// The CPU evaluation over groups of actions.
#[derive(Debug)]
pub struct GroupedLeaves<'a> {
    problem: &'a Problem,
    groups: Groups,
    kernel: Kernel,
    planes: bool,
    counted: [AtomicU64; 4],
}

impl<'a> GroupedLeaves<'a> {
    /// Builds the groups. `kernel` and `planes` (whether subsets may be evaluated in planes) change the speed, never
    /// the result.
    pub fn new(problem: &'a Problem, kernel: Kernel, planes: bool) -> Self {
        let groups = Groups::new(problem);
        GroupedLeaves { problem, groups, kernel: kernel.available(), planes, counted: Default::default() }
    }
}

/// Subsets of some rows, with the members' part of the problem laid out where that pays.
struct GroupedContext<'a> {
    owner: &'a GroupedLeaves<'a>,
    members: usize,
    layout: Layout<'a>,
}

enum Layout<'a> {
    Planes(Local<'a>),
    OneByOne(Wide<'a>),
}

impl<'a> GroupedContext<'a> {
    #[inline(always)]
    fn new<const KERNEL: u8>(owner: &'a GroupedLeaves<'a>, members: &RowSet) -> Self {
        let (problem, groups) = (owner.problem, &owner.groups);
        let count = members.count();
        let planar = owner.planes
            && groups.regular
            && crate::bits::words_for(count) * problem.actions() <= Local::MOST_WORDS;
        let layout = match planar {
            true => Layout::Planes(Local::new::<KERNEL>(problem, groups, members)),
            false => Layout::OneByOne(Wide::new(problem, groups, members)),
        };
        GroupedContext { owner, members: count, layout }
    }

    #[inline(always)]
    fn evaluate<const KERNEL: u8>(
        &self,
        sets: &[RowSet],
        warm: &[u32],
        stop: &Stop,
        scratch: &mut Scratch,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let (problem, groups) = (self.owner.problem, &self.owner.groups);
        let mut fronts = Vec::with_capacity(sets.len());
        for set in sets {
            stop.check()?;
            fronts.push(match &self.layout {
                Layout::Planes(local) => {
                    planar::evaluate::<KERNEL>(problem, groups, local, set, warm, scratch)
                }
                Layout::OneByOne(wide) => {
                    evaluate::evaluate::<KERNEL>(problem, groups, wide, set, warm, scratch)
                }
            });
        }
        Ok(fronts)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,lzcnt,popcnt")]
    fn evaluate_avx512(
        &self,
        sets: &[RowSet],
        warm: &[u32],
        stop: &Stop,
        scratch: &mut Scratch,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        self.evaluate::<AVX512>(sets, warm, stop, scratch)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn evaluate_avx2(
        &self,
        sets: &[RowSet],
        warm: &[u32],
        stop: &Stop,
        scratch: &mut Scratch,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        self.evaluate::<AVX2>(sets, warm, stop, scratch)
    }
}

impl LeafContext for GroupedContext<'_> {
    fn leaf_fronts(
        &self,
        sets: &[RowSet],
        warm: &[u32],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let mut scratch = Scratch::new();
        let fronts = match self.owner.kernel {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernel::available` has made sure that the processor has these instructions.
            Kernel::Avx512 => unsafe { self.evaluate_avx512(sets, warm, stop, &mut scratch) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernel::Avx2 => unsafe { self.evaluate_avx2(sets, warm, stop, &mut scratch) },
            _ => self.evaluate::<PORTABLE>(sets, warm, stop, &mut scratch),
        };
        let LeafWork { sets, groups, losses, costs } = scratch.work;
        for (total, more) in self.owner.counted.iter().zip([sets, groups, losses, costs]) {
            total.fetch_add(more, Ordering::Relaxed);
        }
        fronts
    }

    fn narrow<'a>(&'a self, set: &RowSet, expected: usize) -> Option<Box<dyn LeafContext + 'a>> {
        // Bringing the members together costs about as much as this many leaves save (measured, not critical).
        let worth = match self.layout {
            Layout::Planes(_) => 64,
            Layout::OneByOne(_) => 6,
        };
        (expected >= worth && set.count() * 4 < self.members * 3).then(|| self.owner.among(set))
    }
}

impl LeafEvaluation for GroupedLeaves<'_> {
    fn among<'a>(&'a self, members: &RowSet) -> Box<dyn LeafContext + 'a> {
        Box::new(match self.kernel {
            Kernel::Portable => GroupedContext::new::<PORTABLE>(self, members),
            _ => GroupedContext::new::<AVX2>(self, members),
        })
    }

    fn work(&self) -> LeafWork {
        let [sets, groups, losses, costs] = [0, 1, 2, 3].map(|i| self.counted[i].load(Ordering::Relaxed));
        LeafWork { sets, groups, losses, costs }
    }
}
