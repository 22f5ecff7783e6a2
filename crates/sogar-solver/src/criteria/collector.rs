//! Collects candidates for one subproblem.
//!
//! Nearly all sums of two fronts are dominated. Points of a front stand in blocks that are near each other ([`super::front::arrange`]); the least cost
//! and losses of a block are a corner that bounds it. If what is known already ([`Ceiling`]) strictly dominates the sum of two corners, it
//! strictly dominates the sum of every pair from the two blocks: none of them is on the front, and none ties with a point of it.

use super::ceiling::Ceiling;
use super::front::{BLOCK, Branch, Entry, Front, Totals, arrange, keep_non_dominated};
use super::grid::representatives;
use crate::front::LEAF;

/// Candidates beyond which they are filtered.
const MANY: usize = 1 << 13;

/// Candidates for one subproblem: for every non-dominated point the first by (leaves, split, left, right).
///
/// `branch` of the entries in here is the key under which a pair of children was added, until [`Collector::finish`] turns it into a position.
#[derive(Debug, Clone)]
pub(crate) struct Collector<const G: usize> {
    pub ceiling: Ceiling<G>,
    /// Weights of the groups' rows.
    sizes: [u32; G],
    entries: Vec<Entry<G>>,
    /// How many of the entries are known to be a front.
    settled: usize,
}

/// A front as the pairing sees it.
struct Blocks<const G: usize> {
    points: Vec<(Totals<G>, u32, u32)>,
    corners: Vec<Totals<G>>,
    /// Corners of blocks of blocks.
    outer: Vec<Totals<G>>,
}

impl<const G: usize> Blocks<G> {
    fn of(front: &Front<G>) -> Self {
        let point = |&at: &u32| {
            let entry = &front.entries[at as usize];
            (entry.totals, at, entry.leaves)
        };
        let points: Vec<(Totals<G>, u32, u32)> = front.order.iter().map(point).collect();
        let lowest = |low: Totals<G>, one: &Totals<G>| low.lower(one);
        let corner = |block: &[(Totals<G>, u32, u32)]| {
            block.iter().map(|(totals, _, _)| totals).fold(Totals::MOST, lowest)
        };
        let corners: Vec<Totals<G>> = points.chunks(BLOCK).map(corner).collect();
        let outer = corners.chunks(BLOCK).map(|block| block.iter().fold(Totals::MOST, lowest)).collect();
        Blocks { points, corners, outer }
    }

    fn corners_of(&self, outer: usize) -> std::ops::Range<usize> {
        outer * BLOCK..((outer + 1) * BLOCK).min(self.corners.len())
    }

    fn points_of(&self, block: usize) -> &[(Totals<G>, u32, u32)] {
        &self.points[block * BLOCK..((block + 1) * BLOCK).min(self.points.len())]
    }
}

impl<const G: usize> Collector<G> {
    /// An empty collector for a set of rows with these weights of groups.
    pub fn new(sizes: [u32; G], cells: usize) -> Self {
        Collector { ceiling: Ceiling::new(&sizes, cells), sizes, entries: Vec::new(), settled: 0 }
    }

    /// An empty collector that knows what another one has found.
    pub fn beside(&self) -> Self {
        Collector { ceiling: self.ceiling.clone(), sizes: self.sizes, entries: Vec::new(), settled: 0 }
    }

    /// Adds the entries of a leaf's front, all of them.
    pub fn add_leaf(&mut self, front: &Front<G>) {
        front.entries.iter().for_each(|entry| self.add(*entry));
        self.ceiling.spread();
    }

    #[inline(always)]
    fn add(&mut self, entry: Entry<G>) {
        if !self.ceiling.rules_out(&entry.totals) {
            self.ceiling.lower(&entry.totals);
            self.entries.push(entry);
        }
    }

    /// Adds every sum of a point of `left` and a point of `right`, two children of the set.
    pub fn add_split(&mut self, key: u32, left: &Front<G>, right: &Front<G>) {
        let (left, right) = (Blocks::of(left), Blocks::of(right));
        for (i, outer_left) in left.outer.iter().enumerate() {
            for (j, outer_right) in right.outer.iter().enumerate() {
                if self.ceiling.rules_out(&outer_left.plus(outer_right)) {
                    continue;
                }
                for a in left.corners_of(i) {
                    for b in right.corners_of(j) {
                        if !self.ceiling.rules_out(&left.corners[a].plus(&right.corners[b])) {
                            self.add_pairs(key, left.points_of(a), right.points_of(b));
                        }
                    }
                }
                if self.entries.len() > (2 * self.settled).max(MANY) {
                    self.settle();
                    self.ceiling.spread();
                }
            }
        }
        self.ceiling.spread();
    }

    #[inline(always)]
    fn add_pairs(&mut self, key: u32, left: &[(Totals<G>, u32, u32)], right: &[(Totals<G>, u32, u32)]) {
        for (a, i, left_leaves) in left {
            for (b, j, right_leaves) in right {
                let totals = a.plus(b);
                let leaves = left_leaves + right_leaves;
                self.add(Entry { totals, leaves, branch: key, left: *i, right: *j });
            }
        }
    }

    /// Absorbs another collector for the same subproblem.
    pub fn absorb(&mut self, other: Collector<G>) {
        other.entries.into_iter().for_each(|entry| self.add(entry));
        if self.entries.len() > (2 * self.settled).max(MANY) {
            self.settle();
        }
        self.ceiling.spread();
    }

    /// Drops what is dominated.
    fn settle(&mut self) {
        self.entries.sort_unstable();
        keep_non_dominated(&mut self.entries);
        self.settled = self.entries.len();
    }

    /// The front of everything added, thinned to cells of `slack`. `branches` are the added pairs with their keys, ascending.
    pub fn finish(&mut self, branches: &[(u32, Branch<G>)], slack: &Totals<G>) -> Front<G> {
        self.settle();
        let kept = representatives(&self.entries, slack);
        let mut entries: Vec<Entry<G>> = kept.iter().map(|&at| self.entries[at as usize]).collect();
        let mut used: Vec<u32> =
            entries.iter().map(|entry| entry.branch).filter(|&key| key != LEAF).collect();
        used.sort_unstable();
        used.dedup();
        for entry in entries.iter_mut().filter(|entry| entry.branch != LEAF) {
            entry.branch = used.partition_point(|&key| key < entry.branch) as u32;
        }
        let in_use = branches.iter().filter(|(key, _)| used.binary_search(key).is_ok());
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        let most_cost = entries.last().map_or(0, |entry| entry.totals.cost);
        arrange(&entries, &Totals { cost: most_cost, losses: self.sizes }, &mut order);
        Front { entries, order, branches: in_use.map(|(_, branch)| branch.clone()).collect() }
    }
}
