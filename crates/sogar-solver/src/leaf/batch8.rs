//! Up to eight leaves at once, from single edits to pairs to longer actions, each step only for what the step before left
//! alive in some leaf.
//!
//! All leaves test a group of actions before the next group, so each part of the problem is
//! read once for all of them (on large populations memory, not arithmetic, sets the pace), and the tests of eight leaves
//! are one instruction each. Leaves that lie near each other in the search tend to want the same actions.

use super::columns::{Columns, Masks};
use super::corners::Corners;
use super::front::LeafFront;
use super::groups::{Groups, NONE};
use super::lanes::{DEAD, LANES, MinCostByLoss, U32x8, Words, count, lanes_of_bits};
use super::members::Members;
use super::parts::Parts;
use super::side_dominance::SideDominance;
use super::{LeafPoint, LeafRequest, LeafWork};
use crate::problem::{Combine, Problem};
use crate::simd::Simd;

/// What all leaves of a context share.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub problem: &'a Problem,
    pub groups: &'a Groups,
    pub columns: &'a Columns,
    pub members: &'a Members<'a>,
    /// Off: every action is evaluated. For tests.
    pub bounds: bool,
    /// Actions must flip more than each of their parts.
    pub parts: bool,
    /// What can matter on the sides of splits, where that is known.
    pub sides: Option<&'a SideDominance>,
    /// Actions on the fronts of the leaves before, which are likely to be alike: a hint.
    pub recent: &'a [u32],
}

/// Eight leaves while they are evaluated; buffers are reused from batch to batch.
pub(super) struct Batch {
    /// The leaves' rows among the context's members, leaf by leaf and word by word.
    pub(super) rows: [Vec<u64>; LANES],
    pub(super) sets: Vec<Words>,
    masks: Vec<Masks>,
    /// With weights: the leaves' rows per bit of a weight, in both layouts.
    weighted: Vec<Weighted>,
    /// How many rows the sets have, by weight.
    pub(super) sizes: U32x8,
    /// The lanes in use.
    pub(super) lanes: u32,
    pub fronts: [LeafFront; LANES],
    pub(super) min_cost: MinCostByLoss,
    /// Per place of the groups: the lanes in which it can matter; and the same as a set of places for each lane.
    pub(super) matter: Vec<u8>,
    matter_by_lane: [Vec<u64>; LANES],
    /// Per edit: its cost over each leaf, and the same scaled to 32 bits; at the end nothing, for no edit.
    single_cost: Vec<[u64; LANES]>,
    pub(super) edit_cost: Vec<U32x8>,
    /// Per range of edits that boxes have: the cheapest of them, scaled.
    pub(super) range_cost: Vec<U32x8>,
    /// Per edit: the least loss of anything that contains it, and in which leaves it may be part of something useful.
    edit_loss: Vec<U32x8>,
    edit_alive: Vec<u32>,
    edit_corners: Corners,
    /// With actions of more than three edits, per pair `a < b` at `a * edits + b`: the least cost (scaled) of actions that contain it.
    pub(super) pair_cost: Vec<U32x8>,
    pair_corners: Corners,
    alive_pairs: Vec<AlivePair>,
    /// Edits to add to a group, and the lanes in which that is worth a look.
    added: Vec<(u32, u32)>,
    pub(super) packed: Vec<u64>,
    pub(super) parts: Parts,
    pub work: LeafWork,
}

/// The rows of eight leaves whose weight has a bit.
#[derive(Default)]
struct Weighted {
    rows: [Vec<u64>; LANES],
    sets: Vec<Words>,
}

/// A pair of edits that may be part of something useful.
#[derive(Clone, Copy)]
struct AlivePair {
    a: u32,
    b: u32,
    /// The block of the actions that begin with it, or [`NONE`].
    block: u32,
    /// What these cost (scaled) at least, and [`DEAD`] where the pair is not alive; and their least loss.
    cost: U32x8,
    loss: U32x8,
}

/// Neighbouring requests with the same hints: their lanes, and the hints.
pub(super) fn runs_of_equal_hints<'a>(
    requests: &'a [LeafRequest<'a>],
) -> impl Iterator<Item = (u32, &'a [u32])> {
    let mut start = 0;
    requests.chunk_by(|a, b| std::ptr::eq(a.warm, b.warm)).map(move |run| {
        let lanes = ((1 << run.len()) - 1) << start;
        start += run.len();
        (lanes, run[0].warm)
    })
}

/// The positions of the bits that are set.
#[inline(always)]
pub(super) fn bits(mut lanes: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = lanes.trailing_zeros() as usize;
        let any = lanes != 0;
        lanes &= lanes.wrapping_sub(1);
        any.then_some(lane)
    })
}

impl Batch {
    pub fn new() -> Self {
        Batch {
            rows: Default::default(),
            sets: Vec::new(),
            masks: Vec::new(),
            weighted: Vec::new(),
            sizes: U32x8::all(0),
            lanes: 0,
            fronts: std::array::from_fn(|_| LeafFront::new()),
            min_cost: MinCostByLoss::new(),
            matter: Vec::new(),
            matter_by_lane: Default::default(),
            single_cost: Vec::new(),
            edit_cost: Vec::new(),
            range_cost: Vec::new(),
            edit_loss: Vec::new(),
            edit_alive: Vec::new(),
            edit_corners: Corners::default(),
            pair_cost: Vec::new(),
            pair_corners: Corners::default(),
            alive_pairs: Vec::new(),
            added: Vec::new(),
            packed: Vec::new(),
            parts: Parts::default(),
            work: LeafWork::default(),
        }
    }

    /// Evaluates at most eight leaves; their points are left in `fronts`. Inlined into one copy per instruction set.
    #[inline(always)]
    pub fn evaluate<K: Simd>(&mut self, simd: K, on: Setting<'_>, requests: &[LeafRequest<'_>]) {
        self.start(simd, on, requests);
        self.find_what_matters(simd, on, requests);
        self.sum_singles(simd, on);
        self.try_hints(simd, on, requests);
        self.try_singles(simd, on);
        if on.groups.longest > 1 {
            self.try_pairs(simd, on);
        }
        if on.groups.longest > 2 {
            self.try_triples(simd, on);
        }
    }

    #[inline(always)]
    pub(super) fn start<K: Simd>(&mut self, simd: K, on: Setting<'_>, requests: &[LeafRequest<'_>]) {
        self.parts.forget(on.groups);
        self.sets.clear();
        self.sets.resize(on.members.words(), Words([0; LANES]));
        self.lanes = (1 << requests.len()) - 1;
        let mut sizes = [0; LANES];
        for (lane, request) in requests.iter().enumerate() {
            on.members.subset(simd, request.set, &mut self.rows[lane]);
            self.sets.iter_mut().zip(&self.rows[lane]).for_each(|(words, &word)| words.0[lane] = word);
            sizes[lane] = self.rows[lane].iter().map(|word| word.count_ones()).sum();
        }
        Masks::of(&self.sets, &mut self.masks);
        self.weighted.truncate(on.members.weight_bits());
        self.weighted.resize_with(on.members.weight_bits(), Weighted::default);
        if !self.weighted.is_empty() {
            sizes = self.weigh(simd, on);
        }
        self.sizes = U32x8::of(sizes);
        self.work.sets += requests.len() as u64;
        self.min_cost.reset(sizes.into_iter().max().unwrap_or(0));
        for (lane, &size) in sizes.iter().enumerate().take(requests.len()) {
            self.fronts[lane].reset(size);
            self.min_cost.lower(lane, 0, size);
        }
    }

    /// Lays out the sets per bit of a weight, and gives their sizes.
    #[inline(always)]
    fn weigh<K: Simd>(&mut self, simd: K, on: Setting<'_>) -> [u32; LANES] {
        let mut sizes = [0; LANES];
        for (bit, Weighted { rows, sets }) in self.weighted.iter_mut().enumerate() {
            let plane = on.members.with_weight_bit(simd, bit);
            sets.clear();
            sets.extend(self.sets.iter().zip(plane).map(|(words, &plane)| Words(words.0.map(|w| w & plane))));
            for words in sets.iter() {
                sizes.iter_mut().zip(words.0).for_each(|(size, word)| *size += word.count_ones() << bit);
            }
            for lane in bits(self.lanes) {
                rows[lane].clear();
                rows[lane].extend(self.rows[lane].iter().zip(plane).map(|(word, plane)| word & plane));
            }
        }
        sizes
    }

    /// The lanes in which each action, or anything with an edit or a pair, can matter: all of them, or those whose sides of splits say
    /// so.
    #[inline(always)]
    fn find_what_matters<K: Simd>(&mut self, simd: K, on: Setting<'_>, requests: &[LeafRequest<'_>]) {
        let words = on.groups.places().div_ceil(64);
        self.matter.resize(64 * words, u8::MAX);
        let Some(sides) = on.sides else { return };
        for (list, request) in self.matter_by_lane.iter_mut().zip(requests) {
            list.clear();
            list.resize(words, u64::MAX);
            for &side in request.sides {
                list.iter_mut().zip(sides.on(side)).for_each(|(list, side)| *list &= side);
            }
        }
        let lists = &self.matter_by_lane[..requests.len()];
        for (word, matter) in self.matter.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            let mut lanes = [0; LANES];
            lanes.iter_mut().zip(lists).for_each(|(lane, list)| *lane = list[word]);
            *matter = lanes_of_bits(simd, lanes);
        }
    }

    /// What edits cost together over a leaf, by weight.
    #[inline(always)]
    pub(super) fn total<K: Simd>(&self, simd: K, columns: &Columns, lane: usize, edits: &[u32]) -> u64 {
        if self.weighted.is_empty() {
            return columns.total(simd, &self.rows[lane], edits);
        }
        let bit = |weighted: &Weighted| columns.total(simd, &weighted.rows[lane], edits);
        (0u32..).zip(&self.weighted).map(|(place, weighted)| bit(weighted) << place).sum()
    }

    /// What an edit costs over every leaf, by weight.
    #[inline(always)]
    fn all_totals<K: Simd>(&self, simd: K, columns: &Columns, edit: u32) -> [u64; LANES] {
        let mut costs = [0; LANES];
        for lane in bits(self.lanes) {
            costs[lane] = self.total(simd, columns, lane, &[edit]);
        }
        costs
    }

    /// The total, or a little less.
    #[inline(always)]
    pub(super) fn at_least<K: Simd>(&self, simd: K, columns: &Columns, lane: usize, edits: &[u32]) -> u64 {
        if self.weighted.is_empty() {
            return columns.at_least(simd, &self.rows[lane], edits);
        }
        let bit = |weighted: &Weighted| columns.at_least(simd, &weighted.rows[lane], edits);
        (0u32..).zip(&self.weighted).map(|(place, weighted)| bit(weighted) << place).sum()
    }

    /// The same in several lanes; in the others it may be anything.
    #[inline(always)]
    pub(super) fn all_at_least<K: Simd>(
        &self,
        simd: K,
        columns: &Columns,
        lanes: u32,
        edits: &[u32],
    ) -> [u64; LANES] {
        if self.weighted.is_empty() && lanes.count_ones() > 2 {
            return columns.all_at_least(simd, &self.masks, edits);
        }
        let mut costs = [0; LANES];
        for lane in bits(lanes) {
            costs[lane] = self.at_least(simd, columns, lane, edits);
        }
        costs
    }

    /// The cost of every edit on every leaf, column by column.
    #[inline(always)]
    pub(super) fn sum_singles<K: Simd>(&mut self, simd: K, on: Setting<'_>) {
        self.single_cost.clear();
        self.edit_cost.clear();
        let scale = on.problem.scale();
        for edit in 0..on.groups.edits as u32 {
            let costs = match on.columns.is_exact() {
                true => self.all_at_least(simd, on.columns, self.lanes, &[edit]),
                // Few edits are in many actions, so that exact sums pay.
                false => self.all_totals(simd, on.columns, edit),
            };
            self.single_cost.push(costs);
            self.edit_cost.push(scaled(costs, scale));
        }
        self.edit_cost.push(U32x8::all(0));
    }

    /// The lanes in which actions with at least these costs and losses are not strictly dominated.
    #[inline(always)]
    pub(super) fn open<K: Simd>(&self, simd: K, on: Setting<'_>, costs: U32x8, losses: U32x8) -> u32 {
        match on.bounds {
            true => costs.at_most(simd, self.min_cost.limit(simd, losses)),
            false => u32::MAX,
        }
    }

    /// How many rows of each leaf in `lanes` are flipped, by weight (in the others it may be any number up to that).
    #[inline(always)]
    fn flipped<K: Simd>(&self, simd: K, flips: &[u64], lanes: u32) -> U32x8 {
        if !self.weighted.is_empty() {
            let mut totals = [0; LANES];
            for (bit, weighted) in self.weighted.iter().enumerate() {
                let counts = count(simd, &weighted.sets, flips).lanes();
                totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count << bit);
            }
            return U32x8::of(totals);
        }
        // A long set is read eight words at a time for one leaf, or one word for eight leaves.
        if self.sets.len() >= 16 && lanes.count_ones() <= 4 {
            let mut counts = [0; LANES];
            for lane in bits(lanes) {
                // (A loop, not an iterator: closures are not compiled for the kernel's instructions.)
                let rows = &self.rows[lane][..];
                let words = rows.len().min(flips.len());
                let mut count = 0;
                for i in 0..words {
                    count += (rows[i] & flips[i]).count_ones();
                }
                counts[lane] = count;
            }
            return U32x8::of(counts);
        }
        count(simd, &self.sets, flips)
    }

    /// The losses of an action, or the least losses of a group, given its flips; valid in `lanes`.
    #[inline(always)]
    pub(super) fn losses<K: Simd>(&self, simd: K, flips: &[u64], lanes: u32) -> U32x8 {
        let flipped = self.flipped(simd, flips, lanes);
        self.sizes.minus(simd, flipped)
    }

    /// A lower bound of an action's cost in a lane: its most expensive edit (Σ max ≥ max Σ), or the sum of its edits.
    #[inline(always)]
    fn floor(&self, on: Setting<'_>, edits: &[u32], lane: usize) -> u64 {
        let costs = edits.iter().map(|&edit| self.single_cost[edit as usize][lane]);
        match on.problem.combine {
            Combine::Max => costs.max().unwrap_or(0),
            Combine::Sum => costs.sum(),
        }
    }

    /// The same for all lanes, scaled.
    #[inline(always)]
    pub(super) fn floors<K: Simd>(&self, simd: K, on: Setting<'_>, edits: &[u32]) -> U32x8 {
        let mut floor = U32x8::all(0);
        for &edit in edits {
            floor = join(simd, on, floor, self.edit_cost[edit as usize]);
        }
        floor
    }

    /// Offers an action to the leaves in `lanes`, given its losses there and (scaled) what it costs at least: its cost
    /// is summed only where that does not rule it out. Gives the best (scaled) lower bounds now known.
    #[inline(always)]
    fn offer<K: Simd>(
        &mut self,
        simd: K,
        on: Setting<'_>,
        action: u32,
        losses: U32x8,
        least: U32x8,
        lanes: u32,
    ) -> U32x8 {
        let most = self.most(simd, on, losses);
        let mut left = lanes & least.at_most(simd, most);
        if left == 0 {
            return least;
        }
        let edits = on.problem.edits_of(action as usize);
        let (at_losses, scale) = (losses, on.problem.scale());
        let losses = losses.lanes();
        // Cheaper than every point that loses no more, it is not ruled out; at the same cost (without lowest bits) it may be.
        for lane in bits(left & most.at_most(simd, least)) {
            let floor = self.floor(on, edits, lane).max(u64::from(least.lanes()[lane]) << scale);
            left &= !(u32::from(self.fronts[lane].rules_out(floor, losses[lane], action)) << lane);
        }
        if on.parts && edits.len() > 1 && left != 0 {
            left &= self.better_than_parts(simd, on, edits, at_losses, left);
        }
        if left == 0 {
            return least;
        }
        // The sum of single costs is the cost of a sum, and of one edit; what is combined by maximum has to be summed.
        let summed = on.problem.combine == Combine::Max && edits.len() > 1;
        let mut costs = [0; LANES];
        if summed {
            self.work.costs += u64::from(left.count_ones());
            costs = self.all_at_least(simd, on.columns, left, edits);
        } else {
            for lane in bits(left) {
                costs[lane] = self.floor(on, edits, lane);
            }
        }
        let least = least.max(simd, scaled(costs, scale).or_zero(simd, left));
        let is_exact = on.columns.is_exact() || !summed;
        let mut known = least.lanes();
        for lane in bits(left & least.at_most(simd, most)) {
            let (mut cost, loss) = (costs[lane], losses[lane]);
            if !is_exact {
                if self.fronts[lane].rules_out(cost, loss, action) {
                    continue;
                }
                cost = self.total(simd, on.columns, lane, edits);
                known[lane] = (cost >> scale) as u32;
            }
            if self.fronts[lane].insert(LeafPoint { cost, loss, action }) {
                self.min_cost.lower(lane, known[lane], loss);
            }
        }
        U32x8::of(known)
    }

    /// Counts the flips of an action and offers it.
    #[inline(always)]
    pub(super) fn try_action<K: Simd>(
        &mut self,
        simd: K,
        on: Setting<'_>,
        action: u32,
        least: U32x8,
        lanes: u32,
    ) -> U32x8 {
        self.work.losses += u64::from(lanes.count_ones());
        let losses = self.losses(simd, on.members.flips(simd, action), lanes);
        self.offer(simd, on, action, losses, least, lanes)
    }

    /// The actions that are likely to be good come first.
    #[inline(always)]
    pub(super) fn try_hints<K: Simd>(&mut self, simd: K, on: Setting<'_>, requests: &[LeafRequest<'_>]) {
        let runs = runs_of_equal_hints(requests).chain([(self.lanes, on.recent)]);
        for (lanes, warm) in runs {
            for &action in warm {
                let least = self.floors(simd, on, on.problem.edits_of(action as usize));
                self.try_action(simd, on, action, least, lanes);
            }
        }
    }

    /// Single edits, and which edits can be part of anything useful at all.
    #[inline(always)]
    fn try_singles<K: Simd>(&mut self, simd: K, on: Setting<'_>) {
        self.edit_loss.clear();
        self.edit_alive.clear();
        for edit in 0..on.groups.edits {
            let costs = self.edit_cost[edit];
            self.work.groups += u64::from(self.lanes.count_ones());
            let losses = self.losses(simd, on.members.edit_union(simd, edit), self.lanes);
            let matters = u32::from(self.matter[on.groups.place_with_edit(edit)]);
            let alive = self.lanes & matters & self.open(simd, on, costs, losses);
            self.edit_loss.push(losses);
            self.edit_alive.push(alive);
            let alone = alive & u32::from(self.matter[on.groups.place_of_single(edit)]);
            if alone != 0 && on.groups.single[edit] != NONE {
                self.try_action(simd, on, on.groups.single[edit], costs, alone);
            }
        }
    }

    /// What actions with at least these losses may cost, scaled.
    #[inline(always)]
    pub(super) fn most<K: Simd>(&self, simd: K, on: Setting<'_>, losses: U32x8) -> U32x8 {
        match on.bounds {
            true => self.min_cost.limit(simd, losses),
            false => U32x8::all(DEAD - 1),
        }
    }

    /// Pairs of alive edits: what contains both costs at least as much as they do and flips no more than the union of
    /// all such actions. First from the single edits' bounds, then with the pair's own union.
    #[inline(always)]
    fn try_pairs<K: Simd>(&mut self, simd: K, on: Setting<'_>) {
        let edits = on.groups.edits;
        if on.groups.longest > 3 {
            self.pair_cost.clear();
            self.pair_cost.resize(edits * edits, U32x8::all(DEAD));
        }
        self.alive_pairs.clear();
        let mut singles = std::mem::take(&mut self.edit_corners);
        singles.reset(1, edits, self.twice_max_cost());
        for edit in 0..edits {
            let most = self.most(simd, on, self.edit_loss[edit]);
            singles.set(0, edit, singles.corner(simd, self.edit_cost[edit], most, self.edit_alive[edit]));
        }
        let mut added = std::mem::take(&mut self.added);
        let plus = (on.problem.combine == Combine::Sum).then_some(&singles);
        for a in 0..edits {
            if self.edit_alive[a] == 0 {
                continue;
            }
            // The fronts have grown since the edit was looked at.
            let most = self.most(simd, on, self.edit_loss[a]);
            let known = singles.corner(simd, self.edit_cost[a], most, self.edit_alive[a]);
            singles.each_open(simd, a, known, [0], plus, &mut added);
            for &(b, open) in &added {
                self.try_pair(simd, on, a, b as usize, open);
            }
        }
        self.added = added;
        self.edit_corners = singles;
    }

    /// Twice the cost of the most expensive edit, scaled.
    fn twice_max_cost(&self) -> u32 {
        let largest = self.edit_cost.iter().flat_map(|costs| costs.lanes()).max().unwrap_or(0);
        largest.saturating_mul(2)
    }

    /// A pair, which its edits' corners do not rule out in `open`.
    #[inline(always)]
    fn try_pair<K: Simd>(&mut self, simd: K, on: Setting<'_>, a: usize, b: usize, open: u32) {
        let (groups, edits) = (on.groups, on.groups.edits);
        let pair = groups.pair[a * edits + b];
        if pair == NONE {
            return;
        }
        let open = open & u32::from(self.matter[groups.place_with_pair(pair)]);
        if open == 0 {
            return;
        }
        let cost = join(simd, on, self.edit_cost[a], self.edit_cost[b]);
        self.work.groups += u64::from(open.count_ones());
        let loss = self.losses(simd, on.members.pair_union(simd, pair), open);
        let alive = open & self.open(simd, on, cost, loss);
        if alive == 0 {
            return;
        }
        let exactly = alive & u32::from(self.matter[groups.place_of_pair(pair)]);
        let cost = match groups.pair_action[pair as usize] {
            action if action != NONE && exactly != 0 => self.try_action(simd, on, action, cost, exactly),
            _ => cost,
        };
        let (cost, alive) = match on.problem.combine {
            // The joint cost is a better bound than the larger of the two costs.
            Combine::Max if groups.longest > 2 && on.bounds => {
                let both = self.all_at_least(simd, on.columns, alive, &[a as u32, b as u32]);
                let cost = cost.max(simd, scaled(both, on.problem.scale()));
                (cost, alive & self.open(simd, on, cost, loss))
            }
            _ => (cost, alive),
        };
        if alive == 0 {
            return;
        }
        let cost = cost.only_in(simd, alive);
        if groups.longest > 3 {
            self.pair_cost[a * edits + b] = cost;
        }
        let block = groups.pair_block[pair as usize];
        self.alive_pairs.push(AlivePair { a: a as u32, b: b as u32, block, cost, loss });
    }

    /// Actions of three edits: all pairs in them must be alive, and the most expensive pair must not cost too much for the loss
    /// that they allow. Longer ones from there.
    #[inline(always)]
    fn try_triples<K: Simd>(&mut self, simd: K, on: Setting<'_>) {
        let edits = on.groups.edits;
        let pairs = std::mem::take(&mut self.alive_pairs);
        let mut corners = std::mem::take(&mut self.pair_corners);
        corners.reset(edits, edits, self.twice_max_cost());
        for pair in &pairs {
            // The fronts have grown since the pair was looked at.
            let most = self.most(simd, on, pair.loss);
            let alive = pair.cost.at_most(simd, most);
            corners.set(pair.a as usize, pair.b as usize, corners.corner(simd, pair.cost, most, alive));
        }
        let singles = std::mem::take(&mut self.edit_corners);
        let plus = (on.problem.combine == Combine::Sum).then_some(&singles);
        let mut added = std::mem::take(&mut self.added);
        for pair in pairs.iter().filter(|pair| pair.block != NONE) {
            let most = self.most(simd, on, pair.loss);
            let alive = pair.cost.at_most(simd, most);
            if alive == 0 {
                continue;
            }
            let known = corners.corner(simd, pair.cost, most, alive);
            corners.each_open(
                simd,
                pair.b as usize,
                known,
                [pair.a as usize, pair.b as usize],
                plus,
                &mut added,
            );
            if !added.is_empty() {
                self.try_children(simd, on, pair, &corners, &added);
            }
        }
        self.added = added;
        self.edit_corners = singles;
        self.pair_corners = corners;
        self.alive_pairs = pairs;
    }

    /// The actions that are a pair and a third edit, for edits that the corners do not rule out in some lanes.
    #[inline(always)]
    fn try_children<K: Simd>(
        &mut self,
        simd: K,
        on: Setting<'_>,
        pair: &AlivePair,
        corners: &Corners,
        added: &[(u32, u32)],
    ) {
        for &(c, alive) in added {
            let Some(place) = on.groups.child_with(pair.block, c as usize) else { continue };
            let here = alive & u32::from(self.matter[place]);
            if here == 0 && on.groups.longest == 3 {
                continue;
            }
            let child = on.groups.children[place].action;
            let least_of = |edit: u32| corners.least(simd, edit as usize, c as usize);
            let mut least = pair.cost.max(simd, least_of(pair.a)).max(simd, least_of(pair.b));
            if on.problem.combine == Combine::Sum {
                least = least.max(simd, pair.cost.plus(simd, self.edit_cost[c as usize]));
            }
            if here != 0 && (on.groups.longest == 3 || on.groups.useful[child as usize]) {
                least = self.try_action(simd, on, child, least, here);
            }
            if on.groups.longest > 3 && on.groups.block_of[child as usize] != NONE {
                self.try_longer(simd, on, child, least.only_in(simd, alive));
            }
        }
    }
}

/// Totals without their lowest bits.
#[inline(always)]
pub(super) fn scaled(costs: [u64; LANES], scale: u32) -> U32x8 {
    let mut without = [0; LANES];
    for lane in 0..LANES {
        without[lane] = (costs[lane] >> scale) as u32;
    }
    U32x8::of(without)
}

/// What two edits cost at least together, scaled.
#[inline(always)]
pub(super) fn join<K: Simd>(simd: K, on: Setting<'_>, a: U32x8, b: U32x8) -> U32x8 {
    match on.problem.combine {
        Combine::Max => a.max(simd, b),
        Combine::Sum => a.plus(simd, b),
    }
}
