//! One leaf among a parent's members, all actions of a group at once.
//!
//! Where sets are short (small populations, or few actions), counting the flips of *all* children of an action over
//! consecutive words is cheaper than asking which of them are worth counting. The bounds are those of [`super::evaluate`]; what survives them is offered
//! to the same front.

use super::evaluate::Scratch;
use super::groups::{Block, Groups, NONE};
use super::known::Known;
use super::local::{LANES, Local, Plane, chunks, count_chunk};
use super::{LeafPoint, LeafWork};
use crate::bits::{RowSet, count_and};
use crate::problem::{Combine, Problem};

/// An edit or a pair that no useful action contains.
const DEAD: u32 = u32::MAX;

/// Buffers of one thread, reused from leaf to leaf.
#[derive(Default)]
pub(super) struct Buffers {
    set: Vec<u64>,
    positions: Vec<u32>,
    /// edits × rows of the leaf
    columns: Vec<u32>,
    edit_cost: Vec<u64>,
    /// Lower bounds on the cost of whatever contains a pair, without their lowest bits, by `a * edits + b`, a < b.
    pair_cost: Vec<u32>,
    pairs: Vec<(u32, u32, u64, u32)>,
    /// Children that flip enough: position and flips.
    survivors: Vec<(u32, u32)>,
}

/// The non-dominated actions on a subset of the parent.
#[inline(always)]
pub(super) fn evaluate<const KERNEL: u8>(
    problem: &Problem,
    groups: &Groups,
    local: &Local<'_>,
    set: &RowSet,
    warm: &[u32],
    scratch: &mut Scratch,
) -> Vec<LeafPoint> {
    let Scratch { known, planar, work, .. } = scratch;
    local.subset::<KERNEL>(set, &mut planar.set);
    planar.gather(local, groups.edits);
    let size = planar.positions.len() as u32;
    known.reset(size, problem.scale());
    work.sets += 1;
    let mut leaf = Leaf { problem, groups, local, size, known, buffers: planar, work };
    for &action in warm {
        leaf.work.losses += 1;
        let loss = size - count_and(set.words(), problem.flips_of(action as usize));
        let floor = leaf.floor(problem.edits_of(action as usize));
        leaf.offer(action, loss, floor);
    }
    leaf.try_singles();
    if groups.longest > 1 {
        leaf.try_pairs::<KERNEL>();
    }
    if groups.longest > 2 {
        leaf.try_longer::<KERNEL>();
    }
    known.points.clone()
}

impl Buffers {
    /// Brings the leaf's costs together and sums them per edit.
    #[inline(always)]
    fn gather(&mut self, local: &Local<'_>, edits: usize) {
        self.positions.clear();
        for (i, &word) in self.set.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                self.positions.push(i as u32 * 64 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        self.columns.clear();
        self.edit_cost.clear();
        for edit in 0..edits {
            let (start, column) = (self.columns.len(), local.column(edit));
            self.columns.extend(self.positions.iter().map(|&row| column[row as usize]));
            self.edit_cost.push(self.columns[start..].iter().map(|&cost| u64::from(cost)).sum());
        }
    }
}

struct Leaf<'a, 'b> {
    problem: &'a Problem,
    groups: &'a Groups,
    local: &'a Local<'b>,
    size: u32,
    known: &'a mut Known,
    buffers: &'a mut Buffers,
    work: &'a mut LeafWork,
}

/// Calls `found(child, count)` for every child that flips at least `least` rows of the set, eight children at a time.
#[inline(always)]
fn count_planes<const KERNEL: u8>(
    set: &[u64],
    planes: &[Plane],
    least: u64,
    mut found: impl FnMut(u32, u32),
) {
    for (chunk, planes) in planes.chunks_exact(set.len()).enumerate() {
        let (mut enough, counts) = count_chunk::<KERNEL>(set, planes, least);
        while enough != 0 {
            let lane = enough.trailing_zeros();
            enough &= enough - 1;
            found((chunk * LANES) as u32 + lane, counts[lane as usize] as u32);
        }
    }
}

impl Leaf<'_, '_> {
    /// Cost of an action over the leaf's rows.
    #[inline(always)]
    fn cost(&mut self, edits: &[u32]) -> u64 {
        let rows = self.size as usize;
        let buffers = &*self.buffers;
        let column = |edit: u32| &buffers.columns[edit as usize * rows..(edit as usize + 1) * rows];
        match (self.problem.combine, edits) {
            (Combine::Sum, _) | (Combine::Max, [] | [_]) => {
                edits.iter().map(|&edit| buffers.edit_cost[edit as usize]).sum()
            }
            (Combine::Max, [a, b]) => {
                self.work.costs += 1;
                column(*a).iter().zip(column(*b)).map(|(&a, &b)| u64::from(a.max(b))).sum()
            }
            (Combine::Max, [a, b, c]) => {
                self.work.costs += 1;
                let ab = column(*a).iter().zip(column(*b));
                ab.zip(column(*c)).map(|((&a, &b), &c)| u64::from(a.max(b).max(c))).sum()
            }
            (Combine::Max, _) => {
                self.work.costs += 1;
                (0..rows).map(|row| edits.iter().map(|&e| u64::from(column(e)[row])).max().unwrap_or(0)).sum()
            }
        }
    }

    /// What an action costs at least, from its single edits.
    #[inline(always)]
    fn floor(&self, edits: &[u32]) -> u64 {
        let costs = edits.iter().map(|&edit| self.buffers.edit_cost[edit as usize]);
        match self.problem.combine {
            Combine::Max => costs.max().unwrap_or(0),
            Combine::Sum => costs.sum(),
        }
    }

    /// Offers an action with its loss and a lower bound on its cost: the cost is summed only if that does not rule
    /// it out. Gives the best lower bound now known.
    #[inline(always)]
    fn offer(&mut self, action: u32, loss: u32, floor: u64) -> u64 {
        if self.known.rules_out(floor, loss, action) {
            return floor;
        }
        let cost = self.cost(self.problem.edits_of(action as usize));
        self.known.insert(LeafPoint { cost, loss, action });
        cost
    }

    #[inline(always)]
    fn scaled(&self, cost: u64) -> u32 {
        (cost >> self.problem.scale()) as u32
    }

    /// Single edits.
    #[inline(always)]
    fn try_singles(&mut self) {
        let words = self.local.words;
        for edit in 0..self.groups.edits {
            self.work.losses += 1;
            let flips = &self.local.singles[edit * words..(edit + 1) * words];
            let loss = self.size - count_and(&self.buffers.set, flips);
            self.offer(self.groups.single[edit], loss, self.buffers.edit_cost[edit]);
        }
    }

    /// Pairs, and which of them something useful may contain.
    #[inline(always)]
    fn try_pairs<const KERNEL: u8>(&mut self) {
        let (groups, edits, words) = (self.groups, self.groups.edits, self.local.words);
        self.buffers.pair_cost.clear();
        self.buffers.pair_cost.resize(edits * edits, DEAD);
        self.buffers.pairs.clear();
        for a in 0..edits {
            let block = groups.block_of[groups.single[a] as usize];
            if block == NONE {
                continue;
            }
            let a_cost = self.buffers.edit_cost[a];
            self.work.groups += 1;
            let union = &self.local.edit_unions[a * words..(a + 1) * words];
            let least = self.size - count_and(&self.buffers.set, union);
            if self.known.rules_out(a_cost, least, groups.edit_first[a]) {
                continue;
            }
            let Block { first, count, from, .. } = groups.blocks[block as usize];
            let (own, unions) = self.local.planes::<KERNEL>(block).split_at(words * chunks(count));
            let Buffers { set, survivors, .. } = &mut *self.buffers;
            let needed = u64::from(self.size - self.known.most_loss(a_cost, self.size));
            survivors.clear();
            count_planes::<KERNEL>(set, unions, needed, |child, flips| survivors.push((child, flips)));
            self.work.groups += u64::from(count);
            for position in 0..self.buffers.survivors.len() {
                let (child, flips) = self.buffers.survivors[position];
                if child >= count {
                    break; // padding
                }
                let (action, b) = (first + child, (from + child) as usize);
                let least = self.size - flips;
                let floor = self.join(a_cost, self.buffers.edit_cost[b]);
                if self.known.rules_out(floor, least, action) {
                    continue;
                }
                self.work.losses += 1;
                let planes = &own[child as usize / LANES * words..];
                let lane = child as usize % LANES;
                let flips: u32 = self
                    .buffers
                    .set
                    .iter()
                    .zip(planes)
                    .map(|(m, plane)| (m & plane.0[lane]).count_ones())
                    .sum();
                let cost = self.offer(action, self.size - flips, floor);
                self.buffers.pair_cost[a * edits + b] = self.scaled(cost);
                self.buffers.pairs.push((a as u32, b as u32, cost, least));
            }
        }
    }

    /// Triples of alive pairs.
    #[inline(always)]
    fn try_longer<const KERNEL: u8>(&mut self) {
        let (groups, edits) = (self.groups, self.groups.edits);
        for position in 0..self.buffers.pairs.len() {
            let (a, b, cost, least) = self.buffers.pairs[position];
            let at = a as usize * edits + b as usize;
            let block = groups.block_of[groups.pair_action[groups.pair[at] as usize] as usize];
            if block == NONE {
                continue;
            }
            // The front has grown since the pair was looked at.
            let most_loss = self.known.most_loss(cost, self.size);
            if least > most_loss {
                continue;
            }
            let Block { first, count, from, .. } = groups.blocks[block as usize];
            let from = from as usize;
            let planes = self.local.planes::<KERNEL>(block);
            let Buffers { set, survivors, .. } = &mut *self.buffers;
            survivors.clear();
            let needed = u64::from(self.size - most_loss);
            count_planes::<KERNEL>(set, planes, needed, |child, flips| survivors.push((child, flips)));
            self.work.losses += u64::from(count);
            let scaled = self.scaled(cost);
            for position in 0..self.buffers.survivors.len() {
                let (child, flips) = self.buffers.survivors[position];
                if child >= count {
                    break; // padding
                }
                let c = from + child as usize;
                let pair_cost = &self.buffers.pair_cost;
                let bound =
                    scaled.max(pair_cost[a as usize * edits + c]).max(pair_cost[b as usize * edits + c]);
                let loss = self.size - flips;
                if self.known.may_matter(bound, loss) {
                    let floor = self.floor(&[a, b, c as u32]).max(cost);
                    self.offer(first + child, loss, floor);
                }
            }
            if groups.longest > 3 {
                for child in 0..count {
                    let c = from + child as usize;
                    let pair_cost = &self.buffers.pair_cost;
                    let bound =
                        scaled.max(pair_cost[a as usize * edits + c]).max(pair_cost[b as usize * edits + c]);
                    if bound != DEAD {
                        self.try_beyond::<KERNEL>(first + child, &[a, b, c as u32], bound);
                    }
                }
            }
        }
    }

    /// Four and more edits: an action is looked at if all of its pairs are alive.
    #[inline(never)]
    fn try_beyond<const KERNEL: u8>(&mut self, action: u32, list: &[u32], bound: u32) {
        let mut open = vec![(action, list.to_vec(), bound)];
        while let Some((action, list, bound)) = open.pop() {
            let block = self.groups.block_of[action as usize];
            if block == NONE || !self.known.may_matter(bound, 0) {
                continue;
            }
            let Block { first, count, from, .. } = self.groups.blocks[block as usize];
            let planes = self.local.planes::<KERNEL>(block);
            let mut flips = vec![0; chunks(count) * LANES];
            count_planes::<KERNEL>(&self.buffers.set, planes, 0, |child, count| {
                flips[child as usize] = count
            });
            self.work.losses += u64::from(count);
            for child in 0..count {
                let edit = from + child;
                let pair =
                    |&known: &u32| self.buffers.pair_cost[known as usize * self.groups.edits + edit as usize];
                let bound = list.iter().map(pair).fold(bound, u32::max);
                let loss = self.size - flips[child as usize];
                let mut longer = list.clone();
                longer.push(edit);
                if self.known.may_matter(bound, loss) {
                    let floor = self.floor(&longer);
                    self.offer(first + child, loss, floor);
                }
                if bound != DEAD {
                    open.push((first + child, longer, bound));
                }
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
}
