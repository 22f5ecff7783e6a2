//! One leaf: from single edits to pairs to longer actions, each step only for what the step before left alive.

use super::groups::{Groups, NONE};
use super::known::Known;
use super::wide::Wide;
use super::{LeafPoint, LeafWork};
use crate::bits::{RowSet, count_and};
use crate::problem::{Combine, Problem};

/// Buffers of one thread, reused from leaf to leaf.
pub(super) struct Scratch {
    pub planar: super::planar::Buffers,
    pub known: Known,
    set: Vec<u64>,
    /// Per edit: its cost over the leaf's rows, and the least loss of anything that contains it.
    edit_cost: Vec<u64>,
    edit_loss: Vec<u32>,
    /// Edits that some useful action may contain.
    alive: Vec<u32>,
    /// Per pair of edits, by `a * edits + b` with a < b: the same two bounds; valid where `partners` says so.
    pair_cost: Vec<u64>,
    pair_loss: Vec<u32>,
    /// Row `a`: a bitset of the edits b > a for which the pair is alive.
    partners: Vec<u64>,
    alive_pairs: Vec<(u32, u32)>,
    pub work: LeafWork,
}

impl Scratch {
    pub fn new() -> Self {
        Scratch {
            planar: super::planar::Buffers::default(),
            known: Known::new(),
            set: Vec::new(),
            edit_cost: Vec::new(),
            edit_loss: Vec::new(),
            alive: Vec::new(),
            pair_cost: Vec::new(),
            pair_loss: Vec::new(),
            partners: Vec::new(),
            alive_pairs: Vec::new(),
            work: LeafWork::default(),
        }
    }
}

/// The non-dominated actions on a row set. Inlined into one copy per instruction set.
#[inline(always)]
pub(super) fn evaluate<const KERNEL: u8>(
    problem: &Problem,
    groups: &Groups,
    wide: &Wide<'_>,
    set: &RowSet,
    warm: &[u32],
    scratch: &mut Scratch,
) -> Vec<LeafPoint> {
    wide.subset::<KERNEL>(set, &mut scratch.set);
    let size = scratch.set.iter().map(|word| word.count_ones()).sum();
    scratch.known.reset(size, problem.scale());
    scratch.work.sets += 1;
    let mut leaf = Leaf { problem, groups, wide, size, scratch };
    leaf.sum_singles::<KERNEL>();
    for &action in warm {
        let floor = leaf.floor(action);
        leaf.try_action::<KERNEL>(action, floor);
    }
    leaf.try_singles::<KERNEL>();
    if groups.longest > 1 {
        leaf.try_pairs::<KERNEL>();
    }
    if groups.longest > 2 {
        leaf.try_longer::<KERNEL>();
    }
    leaf.scratch.known.points.clone()
}

struct Leaf<'a> {
    problem: &'a Problem,
    groups: &'a Groups,
    wide: &'a Wide<'a>,
    size: u32,
    scratch: &'a mut Scratch,
}

impl Leaf<'_> {
    #[inline(always)]
    fn sum_singles<const KERNEL: u8>(&mut self) {
        let Scratch { set, edit_cost, .. } = &mut *self.scratch;
        edit_cost.clear();
        edit_cost.extend((0..self.groups.edits as u32).map(|edit| self.wide.cost::<KERNEL>(set, &[edit])));
    }

    /// What an action costs at least: the dearest of its edits (Σ max ≥ max Σ), or exactly the sum of them.
    #[inline(always)]
    fn floor(&self, action: u32) -> u64 {
        let costs =
            self.problem.edits_of(action as usize).iter().map(|&e| self.scratch.edit_cost[e as usize]);
        match self.problem.combine {
            Combine::Max => costs.max().unwrap_or(0),
            Combine::Sum => costs.sum(),
        }
    }

    /// Offers an action that costs at least `floor`; the cost is summed only if its loss does not rule it out.
    /// Gives the best lower bound on its cost that is now known.
    #[inline(always)]
    fn try_action<const KERNEL: u8>(&mut self, action: u32, floor: u64) -> u64 {
        self.scratch.work.losses += 1;
        let loss = self.size - count_and(&self.scratch.set, self.wide.flips::<KERNEL>(action));
        if self.scratch.known.rules_out(floor, loss, action) {
            return floor;
        }
        let cost = self.cost::<KERNEL>(action, floor);
        self.scratch.known.insert(LeafPoint { cost, loss, action });
        cost
    }

    /// The exact cost, where `floor` is the bound from single edits.
    #[inline(always)]
    fn cost<const KERNEL: u8>(&mut self, action: u32, floor: u64) -> u64 {
        match (self.problem.combine, self.problem.edits_of(action as usize)) {
            (Combine::Sum, _) | (Combine::Max, [] | [_]) => floor,
            (Combine::Max, edits) => {
                self.scratch.work.costs += 1;
                self.wide.cost::<KERNEL>(&self.scratch.set, edits)
            }
        }
    }

    /// Single edits, and which edits can be part of anything useful at all.
    #[inline(always)]
    fn try_singles<const KERNEL: u8>(&mut self) {
        let groups = self.groups;
        self.scratch.alive.clear();
        self.scratch.edit_loss.clear();
        for edit in 0..groups.edits {
            let cost = self.scratch.edit_cost[edit];
            self.scratch.work.groups += 1;
            let least = self.size - count_and(&self.scratch.set, self.wide.edit_union::<KERNEL>(edit));
            self.scratch.edit_loss.push(least);
            if self.scratch.known.rules_out(cost, least, groups.edit_first[edit]) {
                continue;
            }
            self.scratch.alive.push(edit as u32);
            if groups.single[edit] != NONE {
                self.try_action::<KERNEL>(groups.single[edit], cost);
            }
        }
    }

    #[inline(always)]
    fn join(&self, a: u64, b: u64) -> u64 {
        match self.problem.combine {
            Combine::Max => a.max(b),
            Combine::Sum => a + b,
        }
    }

    /// Pairs of alive edits: what contains both costs at least as much as they do and flips no more than the union of
    /// all such actions. First in O(1) from the single edits' bounds, then with the pair's own union.
    #[inline(always)]
    fn try_pairs<const KERNEL: u8>(&mut self) {
        let groups = self.groups;
        let edits = groups.edits;
        let words = edits.div_ceil(64);
        self.scratch.pair_cost.resize(edits * edits, 0);
        self.scratch.pair_loss.resize(edits * edits, 0);
        self.scratch.partners.clear();
        self.scratch.partners.resize(edits * words, 0);
        self.scratch.alive_pairs.clear();
        for i in 0..self.scratch.alive.len() {
            let a = self.scratch.alive[i] as usize;
            let (a_cost, a_loss) = (self.scratch.edit_cost[a], self.scratch.edit_loss[a]);
            for j in i + 1..self.scratch.alive.len() {
                let b = self.scratch.alive[j] as usize;
                let at = a * edits + b;
                let pair = groups.pair[at];
                if pair == NONE {
                    continue;
                }
                let cost = self.join(a_cost, self.scratch.edit_cost[b]);
                let least = a_loss.max(self.scratch.edit_loss[b]);
                let action = groups.pair_action[pair as usize];
                let first = groups.pair_first[pair as usize];
                if self.scratch.known.rules_out(cost, least, first) {
                    continue;
                }
                self.scratch.work.groups += 1;
                let least = self.size - count_and(&self.scratch.set, self.wide.pair_union::<KERNEL>(pair));
                if self.scratch.known.rules_out(cost, least, first) {
                    continue;
                }
                let cost = if action == NONE { cost } else { self.try_action::<KERNEL>(action, cost) };
                self.scratch.pair_cost[at] = cost;
                self.scratch.pair_loss[at] = least;
                self.scratch.partners[a * words + b / 64] |= 1 << (b % 64);
                self.scratch.alive_pairs.push((a as u32, b as u32));
            }
        }
    }

    /// Actions of three and more edits: all pairs in them must be alive.
    #[inline(always)]
    fn try_longer<const KERNEL: u8>(&mut self) {
        let groups = self.groups;
        let edits = groups.edits;
        let words = edits.div_ceil(64);
        let pairs = std::mem::take(&mut self.scratch.alive_pairs);
        let mut candidates = vec![0u64; words];
        for &(a, b) in &pairs {
            let at = a as usize * edits + b as usize;
            let (cost, least) = (self.scratch.pair_cost[at], self.scratch.pair_loss[at]);
            let pair = groups.pair_action[groups.pair[at] as usize];
            // The front has grown since the pair was looked at.
            if pair == NONE || self.scratch.known.rules_out(cost, least, pair) {
                continue;
            }
            let (row_a, row_b) = (a as usize * words, b as usize * words);
            let partners = &self.scratch.partners;
            let (with_a, with_b) = (&partners[row_a..row_a + words], &partners[row_b..row_b + words]);
            let mut any = 0;
            for (both, (a, b)) in candidates.iter_mut().zip(with_a.iter().zip(with_b)) {
                *both = a & b;
                any |= *both;
            }
            if any != 0 {
                self.extend::<KERNEL>(pair, &[a, b], cost, least, &candidates);
            }
        }
        self.scratch.alive_pairs = pairs;
    }

    /// Adds each candidate edit (all later than those in `list`) to an action.
    #[inline(always)]
    fn extend<const KERNEL: u8>(
        &mut self,
        action: u32,
        list: &[u32],
        cost: u64,
        least: u32,
        candidates: &[u64],
    ) {
        let groups = self.groups;
        let edits = groups.edits;
        for w in 0..candidates.len() {
            let mut rest = candidates[w];
            while rest != 0 {
                let edit = w as u32 * 64 + rest.trailing_zeros();
                rest &= rest - 1;
                let (mut cost, mut least) = match self.problem.combine {
                    Combine::Max => (cost, least),
                    Combine::Sum => (cost + self.scratch.edit_cost[edit as usize], least),
                };
                for &known in list {
                    let at = known as usize * edits + edit as usize;
                    cost = cost.max(self.scratch.pair_cost[at]);
                    least = least.max(self.scratch.pair_loss[at]);
                }
                if self.scratch.known.rules_out(cost, least, action) {
                    continue;
                }
                let child = groups.child(self.problem, action, edit);
                if child == NONE {
                    continue;
                }
                let cost = self.try_action::<KERNEL>(child, cost);
                if groups.children[child as usize].1 != 0 {
                    self.extend_longer::<KERNEL>(child, cost, least, candidates);
                }
            }
        }
    }

    /// Four and more edits, out of line: rare, and not worth a copy in the loop above.
    #[inline(never)]
    fn extend_longer<const KERNEL: u8>(&mut self, action: u32, cost: u64, least: u32, candidates: &[u64]) {
        let list = self.problem.edits_of(action as usize);
        let words = candidates.len();
        let Some(&last) = list.last() else { return };
        let row = last as usize * words;
        let narrowed: Vec<u64> =
            candidates.iter().zip(&self.scratch.partners[row..row + words]).map(|(a, b)| a & b).collect();
        if narrowed.iter().any(|&word| word != 0) {
            self.extend_out_of_line::<KERNEL>(action, list, cost, least, &narrowed);
        }
    }

    #[inline(never)]
    fn extend_out_of_line<const KERNEL: u8>(
        &mut self,
        action: u32,
        list: &[u32],
        cost: u64,
        least: u32,
        candidates: &[u64],
    ) {
        self.extend::<KERNEL>(action, list, cost, least, candidates);
    }
}
