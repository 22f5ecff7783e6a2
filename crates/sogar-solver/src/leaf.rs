//! The front of one leaf: which actions are not dominated on a set of rows.
//!
//! A problem has up to hundreds of thousands of actions and a search needs the front of up to millions of leaf sets, so
//! looking at every action each time is out of the question. Actions are sets of edits, and they form a
//! trie: the parent of `{e1, e2, e3}` is `{e1, e2}`. Costs never fall from parent to child. For a
//! node of the trie let `U` be the union of the flips of everything below it. On the rows `S`, whatever lies
//! below costs at least what the node costs and flips at most `|S ∩ U|`: if the front found so far dominates that
//! corner, the whole subtree is skipped after one popcount (DESIGN §2.3).
//!
//! **Why skipping is sound, ties included.** Let `q = (c, l)` be a corner, so every action `a` of the group has
//! `C(a) ≥ c` and `L(a) ≥ l`, and let `p` be a known point with `p ≤ q` in both objectives. If `p ≠ q`, every `a` is strictly dominated by
//! `p` (an `a` equal to `p` would give `p = a ≥ q ≥ p`, hence `p = q`). If `p = q`, an `a` is either strictly dominated
//! or equal to `p`; then it matters only as a witness with a smaller action number, so the group is
//! skipped only if `p`'s action comes before all of the group's. The result is therefore a function of `S` alone: for every
//! non-dominated point the smallest action that attains it, whatever was inserted first (so warm starts are free to guess).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::bits::{BitTable, RowSet, count_and};
use crate::front::{Entry, Front, LEAF};
use crate::problem::{Combine, Problem};
use crate::stop::{Stop, StopReason};

/// Row sets whose leaf fronts are wanted together, usually the children of one set.
#[derive(Debug, Clone, Copy)]
pub struct LeafBatch<'a> {
    /// The row sets, none of them empty.
    pub sets: &'a [RowSet],
    /// Actions that are likely to be good on them (the parent's front). A hint: it never changes a result.
    pub warm: &'a [u32],
}

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

/// Evaluates leaves. Another backend may replace [`TrieLeaves`] if it gives the same integers.
pub trait LeafEvaluation: Send + Sync {
    /// For each row set of the batch the non-dominated actions, cost ascending, loss strictly descending; for equal
    /// points the smallest action.
    fn leaf_fronts(&self, batch: LeafBatch<'_>, stop: &Stop) -> Result<Vec<Vec<LeafPoint>>, StopReason>;

    /// What was counted so far.
    fn work(&self) -> LeafWork {
        LeafWork::default()
    }
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

/// The CPU evaluation over the trie of actions.
#[derive(Debug)]
pub struct TrieLeaves<'a> {
    problem: &'a Problem,
    /// Children of action `a` are the actions `children[a].0..children[a].1`.
    children: Vec<(u32, u32)>,
    /// Position of `a`'s union in `unions`, or `NO_UNION` for actions without children.
    union_of: Vec<u32>,
    unions: BitTable,
    groups: AtomicU64,
    losses: AtomicU64,
    costs: AtomicU64,
    sets: AtomicU64,
}

const NO_UNION: u32 = u32::MAX;

impl<'a> TrieLeaves<'a> {
    /// Builds the trie and the unions of flips.
    pub fn new(problem: &'a Problem) -> Self {
        let actions = problem.actions();
        let mut children = vec![(0, 0); actions];
        let mut parents = vec![0u32; actions];
        for (action, parent) in problem.parents().into_iter().enumerate().skip(1) {
            parents[action] = parent;
            let range = &mut children[parent as usize];
            if range.1 == 0 {
                range.0 = action as u32;
            }
            range.1 = action as u32 + 1;
        }
        let mut union_of = vec![NO_UNION; actions];
        let mut inner = 0;
        for action in 1..actions {
            if children[action].1 != 0 {
                union_of[action] = inner;
                inner += 1;
            }
        }
        let mut unions = BitTable::new(inner as usize, problem.rows());
        // Longer actions first: a union takes in its children's flips and unions.
        for action in (1..actions).rev() {
            let owner = parents[action] as usize;
            if owner == 0 {
                continue;
            }
            let mut below = problem.flips_of(action).to_vec();
            if union_of[action] != NO_UNION {
                for (word, more) in below.iter_mut().zip(unions.set(union_of[action] as usize)) {
                    *word |= more;
                }
            }
            for (word, more) in unions.set_mut(union_of[owner] as usize).iter_mut().zip(&below) {
                *word |= more;
            }
        }
        TrieLeaves {
            problem,
            children,
            union_of,
            unions,
            groups: AtomicU64::new(0),
            losses: AtomicU64::new(0),
            costs: AtomicU64::new(0),
            sets: AtomicU64::new(0),
        }
    }

    fn evaluate(&self, set: &RowSet, warm: &[u32]) -> Vec<LeafPoint> {
        let problem = self.problem;
        let rows: Vec<u32> = set.iter().map(|row| row as u32).collect();
        let size = rows.len() as u32;
        let singles: Vec<u64> = (0..problem.edits)
            .map(|edit| {
                let column = problem.edit_cost(edit);
                rows.iter().map(|&row| u64::from(column[row as usize])).sum()
            })
            .collect();
        let mut leaf = Leaf {
            evaluation: self,
            set: set.words(),
            rows: &rows,
            singles: &singles,
            work: LeafWork::default(),
        };
        let mut known = Known::new(size);
        for &action in warm {
            leaf.try_action(action, leaf.floor(action), &mut known);
        }
        // Level by level: the front is nearly final when the many groups of long actions come up for their test.
        let mut open: Vec<(u32, u64)> = Vec::new();
        for action in self.children[0].0..self.children[0].1 {
            let cost = leaf.try_action(action, leaf.floor(action), &mut known);
            if self.union_of[action as usize] != NO_UNION {
                open.push((action, cost));
            }
        }
        while !open.is_empty() {
            let mut next = Vec::new();
            for (parent, cost) in open {
                leaf.try_group(parent, cost, &mut known, &mut next);
            }
            open = next;
        }
        self.groups.fetch_add(leaf.work.groups, Ordering::Relaxed);
        self.losses.fetch_add(leaf.work.losses, Ordering::Relaxed);
        self.costs.fetch_add(leaf.work.costs, Ordering::Relaxed);
        self.sets.fetch_add(1, Ordering::Relaxed);
        known.points
    }
}

impl LeafEvaluation for TrieLeaves<'_> {
    fn leaf_fronts(&self, batch: LeafBatch<'_>, stop: &Stop) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        batch
            .sets
            .iter()
            .map(|set| {
                stop.check()?;
                Ok(self.evaluate(set, batch.warm))
            })
            .collect()
    }

    fn work(&self) -> LeafWork {
        LeafWork {
            sets: self.sets.load(Ordering::Relaxed),
            groups: self.groups.load(Ordering::Relaxed),
            losses: self.losses.load(Ordering::Relaxed),
            costs: self.costs.load(Ordering::Relaxed),
        }
    }
}

/// One leaf set under evaluation.
struct Leaf<'a> {
    evaluation: &'a TrieLeaves<'a>,
    set: &'a [u64],
    rows: &'a [u32],
    /// Cost of each single edit over the leaf's rows.
    singles: &'a [u64],
    work: LeafWork,
}

impl Leaf<'_> {
    /// What the action costs at least: the dearest of its edits (Σ max ≥ max Σ), or exactly the sum of them.
    fn floor(&self, action: u32) -> u64 {
        let costs =
            self.evaluation.problem.edits_of(action as usize).iter().map(|&edit| self.singles[edit as usize]);
        match self.evaluation.problem.combine {
            Combine::Max => costs.max().unwrap_or(0),
            Combine::Sum => costs.sum(),
        }
    }

    /// Offers an action that costs at least `floor`; the cost is summed only if its loss does not rule it out.
    /// Returns the best known lower bound on its cost.
    fn try_action(&mut self, action: u32, floor: u64, known: &mut Known) -> u64 {
        let problem = self.evaluation.problem;
        self.work.losses += 1;
        let loss = self.rows.len() as u32 - count_and(self.set, problem.flips_of(action as usize));
        if known.rules_out(floor, loss, action) {
            return floor;
        }
        let edits = problem.edits_of(action as usize);
        let cost = match (problem.combine, edits) {
            (Combine::Sum, _) | (Combine::Max, [] | [_]) => floor,
            (Combine::Max, [a, b]) => {
                let (a, b) = (problem.edit_cost(*a as usize), problem.edit_cost(*b as usize));
                self.work.costs += 1;
                self.rows.iter().map(|&r| u64::from(a[r as usize].max(b[r as usize]))).sum()
            }
            (Combine::Max, [a, b, c]) => {
                let (a, b) = (problem.edit_cost(*a as usize), problem.edit_cost(*b as usize));
                let c = problem.edit_cost(*c as usize);
                self.work.costs += 1;
                let dearest = |r: usize| a[r].max(b[r]).max(c[r]);
                self.rows.iter().map(|&r| u64::from(dearest(r as usize))).sum()
            }
            (Combine::Max, _) => {
                self.work.costs += 1;
                self.rows.iter().map(|&row| problem.cost(action as usize, row as usize)).sum()
            }
        };
        known.insert(LeafPoint { cost, loss, action });
        cost
    }

    /// Tries everything one level below `parent`, which costs at least `cost`; children with descendants go to `next`.
    fn try_group(&mut self, parent: u32, cost: u64, known: &mut Known, next: &mut Vec<(u32, u64)>) {
        let evaluation = self.evaluation;
        let (first, end) = evaluation.children[parent as usize];
        let size = self.rows.len() as u32;
        // The cheapest test first: if even flipping everybody at this cost is dominated, no popcount is needed.
        if known.rules_out(cost, 0, first) {
            return;
        }
        self.work.groups += 1;
        let union = evaluation.unions.set(evaluation.union_of[parent as usize] as usize);
        let least_loss = size - count_and(self.set, union);
        if known.rules_out(cost, least_loss, first) {
            return;
        }
        for action in first..end {
            let edits = evaluation.problem.edits_of(action as usize);
            let last = edits.last().map_or(0, |&edit| self.singles[edit as usize]);
            let floor = match evaluation.problem.combine {
                Combine::Max => cost.max(last),
                Combine::Sum => cost + last,
            };
            // Everything below the child is in the parent's union too.
            if known.rules_out(floor, least_loss, action) {
                continue;
            }
            let cost = self.try_action(action, floor, known);
            if evaluation.union_of[action as usize] != NO_UNION {
                next.push((action, cost));
            }
        }
    }
}

/// The non-dominated points found so far on one leaf, cost ascending and loss strictly descending.
struct Known {
    points: Vec<LeafPoint>,
}

impl Known {
    /// Starts with the identity: no cost, nobody flipped.
    fn new(size: u32) -> Self {
        Known { points: vec![LeafPoint { cost: 0, loss: size, action: 0 }] }
    }

    /// Whether no action numbered `first` or later with at least this cost and loss can change the result (see the
    /// module's argument). The known point with the least loss among those not dearer decides.
    #[inline]
    fn rules_out(&self, cost: u64, loss: u32, first: u32) -> bool {
        let after = self.points.partition_point(|point| point.cost <= cost);
        let Some(point) = after.checked_sub(1).map(|i| &self.points[i]) else {
            return false;
        };
        point.loss < loss || (point.loss == loss && (point.cost < cost || point.action <= first))
    }

    fn insert(&mut self, new: LeafPoint) {
        if self.rules_out(new.cost, new.loss, new.action) {
            return;
        }
        let start = self.points.partition_point(|point| point.cost < new.cost);
        let dominated = self.points[start..].iter().take_while(|point| point.loss >= new.loss).count();
        self.points.splice(start..start + dominated, [new]);
    }
}
