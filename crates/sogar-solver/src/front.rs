//! Pareto fronts over (cost, loss), each point with the choice that attains it.
//!
//! Dominance is exact: integers, no tolerance. If several trees attain the same point, a total order picks the witness: fewest
//! leaves, then the first split, then the first point of the left child, then of the right one; among leaves the first action.
//! The minimum of a total order does not depend on the order in which candidates arrive, so neither threads nor caches can change
//! a witness.
//!
//! Two properties of witnesses follow (SPEC §6). *No split has two leaves with the same action*: the parent as a leaf
//! with that action attains the same point with fewer leaves. *No edit of a leaf's action leaves every row of
//! the leaf unchanged*: the action without that edit has the same cost and flips on the leaf and comes earlier in the order of actions.

use std::sync::Arc;

use crate::leaf::LeafPoint;

/// A pair of totals over the affected rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Total cost.
    pub cost: u64,
    /// Number of rows that are not flipped.
    pub loss: u64,
}

impl Point {
    /// Whether this point is at least as good in both objectives and better in one.
    pub fn dominates(&self, other: &Point) -> bool {
        self.cost <= other.cost && self.loss <= other.loss && self != other
    }
}

/// A witness tree. Indices are positions in the problem's splits and actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeNode {
    /// All rows here get this action.
    Leaf {
        /// The action.
        action: u32,
    },
    /// Rows that pass the split's test go left.
    Split {
        /// The split.
        split: u32,
        /// Rows that pass.
        left: Box<TreeNode>,
        /// Rows that fail.
        right: Box<TreeNode>,
    },
}

impl TreeNode {
    /// Number of leaves.
    pub fn leaves(&self) -> u32 {
        match self {
            TreeNode::Leaf { .. } => 1,
            TreeNode::Split { left, right, .. } => left.leaves() + right.leaves(),
        }
    }

    /// Number of tests on the longest path to a leaf.
    pub fn depth(&self) -> u32 {
        match self {
            TreeNode::Leaf { .. } => 0,
            TreeNode::Split { left, right, .. } => 1 + left.depth().max(right.depth()),
        }
    }
}

/// A point of the final front with its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// Total cost.
    pub cost: u64,
    /// Number of rows that are not flipped.
    pub loss: u64,
    /// A tree that attains both.
    pub tree: TreeNode,
}

/// The non-dominated ones among some points: cost ascending, loss strictly descending.
pub fn non_dominated(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_unstable();
    let mut least = u64::MAX;
    points.retain(|point| {
        let better = point.loss < least;
        least = least.min(point.loss);
        better
    });
    points
}

/// `branch` of an entry that is a leaf; `left` is then the action.
pub(crate) const LEAF: u32 = u32::MAX;

/// A point of a subproblem's front and how it is attained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub cost: u64,
    pub loss: u32,
    pub leaves: u32,
    /// Position in [`Front::branches`], or [`LEAF`].
    pub branch: u32,
    /// Position in the left child's front, or the action.
    pub left: u32,
    /// Position in the right child's front.
    pub right: u32,
}

impl Entry {
    /// A leaf with an action.
    pub fn leaf(point: LeafPoint) -> Entry {
        Entry { cost: point.cost, loss: point.loss, leaves: 1, branch: LEAF, left: point.action, right: 0 }
    }
}

/// A split that some entry of a front uses, with its children's fronts: trees can be read off without a cache.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub split: u32,
    pub left: Arc<Front>,
    pub right: Arc<Front>,
}

/// The front of a subproblem: cost ascending, loss strictly descending.
///
/// Most fronts of a search are those of leaves, and their entries say nothing but an action, so they take half the room.
#[derive(Debug, Clone, Default)]
pub(crate) struct Front {
    /// The points of a leaf; there are no entries then.
    pub leaf: Box<[LeafPoint]>,
    pub entries: Vec<Entry>,
    pub branches: Vec<Branch>,
}

impl Front {
    /// Approximate heap size.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.leaf)
            + self.entries.len() * size_of::<Entry>()
            + self.branches.len() * size_of::<Branch>()
            + size_of::<Self>()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.leaf.len() + self.entries.len()
    }

    /// An entry.
    pub fn get(&self, position: usize) -> Entry {
        match self.leaf.get(position) {
            Some(&point) => Entry::leaf(point),
            None => self.entries[position - self.leaf.len()],
        }
    }

    /// All entries, cost ascending.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.leaf.iter().copied().map(Entry::leaf).chain(self.entries.iter().copied())
    }

    /// The points, cost ascending.
    pub fn points(&self) -> Vec<Point> {
        self.iter().map(|entry| Point { cost: entry.cost, loss: u64::from(entry.loss) }).collect()
    }

    /// The witness tree of an entry.
    pub fn tree(&self, position: usize) -> TreeNode {
        let entry = self.get(position);
        if entry.branch == LEAF {
            return TreeNode::Leaf { action: entry.left };
        }
        let branch = &self.branches[entry.branch as usize];
        TreeNode::Split {
            split: branch.split,
            left: Box::new(branch.left.tree(entry.left as usize)),
            right: Box::new(branch.right.tree(entry.right as usize)),
        }
    }

    /// Every entry with its tree.
    pub fn solutions(&self) -> Vec<Solution> {
        self.iter()
            .enumerate()
            .map(|(i, entry)| Solution { cost: entry.cost, loss: u64::from(entry.loss), tree: self.tree(i) })
            .collect()
    }

    /// The non-dominated points of two fronts over the same rows; `self` wins ties.
    pub fn union(&self, other: &Front) -> Front {
        let shift = self.branches.len() as u32;
        let moved = other.iter().map(|entry| Entry {
            branch: if entry.branch == LEAF { LEAF } else { entry.branch + shift },
            ..entry
        });
        let mut all: Vec<Entry> = self.iter().chain(moved).collect();
        all.sort_by_key(|entry| (entry.cost, entry.loss)); // stable: `self` first among equals
        let mut entries: Vec<Entry> = Vec::new();
        for entry in all {
            if entries.last().is_none_or(|last| entry.loss < last.loss) {
                entries.push(entry);
            }
        }
        let branches = self.branches.iter().chain(&other.branches).cloned().collect();
        Front { entries, branches, ..Front::default() }
    }
}

/// What sums need of an entry.
trait Summand {
    fn cost(&self) -> u64;
    fn loss(&self) -> u32;
    fn leaves(&self) -> u32;
}

impl Summand for LeafPoint {
    fn cost(&self) -> u64 {
        self.cost
    }
    fn loss(&self) -> u32 {
        self.loss
    }
    fn leaves(&self) -> u32 {
        1
    }
}

impl Summand for Entry {
    fn cost(&self) -> u64 {
        self.cost
    }
    fn loss(&self) -> u32 {
        self.loss
    }
    fn leaves(&self) -> u32 {
        self.leaves
    }
}

/// Lowers the best entry for every loss to the sums of a point on the left and one on the right.
fn lower_to_sums<A: Summand, B: Summand>(best: &mut [Entry], key: u32, left: &[A], right: &[B]) {
    for (i, a) in left.iter().enumerate() {
        let row = &mut best[a.loss() as usize..];
        for (j, b) in right.iter().enumerate() {
            let slot = &mut row[b.loss() as usize];
            let cost = a.cost() + b.cost();
            if cost > slot.cost {
                continue;
            }
            let candidate = Entry {
                cost,
                loss: a.loss() + b.loss(),
                leaves: a.leaves() + b.leaves(),
                branch: key,
                left: i as u32,
                right: j as u32,
            };
            if better(&candidate, slot) {
                *slot = candidate;
            }
        }
    }
}

/// Collects candidates for one subproblem: for every non-dominated point the first by (leaves, split, left, right).
///
/// `branch` of the entries in here is the key under which a pair of children was added (keys ascend with the splits; [`LEAF`]
/// never ties with a split on leaves), until [`Collector::finish`] turns it into a position among the branches in use.
#[derive(Debug)]
pub(crate) struct Collector {
    found: Found,
}

/// The best entries, stored in one of two ways with the same result.
#[derive(Debug)]
enum Found {
    /// The best entry for every loss: the fastest way for few losses.
    ByLoss(Vec<Entry>),
    /// A front and later entries. For large populations and large weights.
    Sparse(SparseFront),
}

/// Beyond this many losses, a slot for each is too much.
const MOST_LOSSES: usize = 1 << 18;

const NONE: Entry =
    Entry { cost: u64::MAX, loss: 0, leaves: u32::MAX, branch: LEAF, left: LEAF, right: LEAF };

/// The order of entries of equal loss.
#[inline(always)]
fn order(entry: &Entry) -> (u64, u32, u32, u32, u32) {
    (entry.cost, entry.leaves, entry.branch, entry.left, entry.right)
}

#[inline]
fn better(a: &Entry, b: &Entry) -> bool {
    order(a) < order(b)
}

/// Non-dominated entries, and some that may be non-dominated.
#[derive(Debug, Default)]
struct SparseFront {
    /// Loss ascending, cost strictly descending.
    front: Vec<Entry>,
    /// Added since the front was built, and not dominated by it.
    fresh: Vec<Entry>,
}

impl SparseFront {
    /// Whether the front dominates an entry with this cost and loss, or has an equal point that wins the tie.
    #[inline(always)]
    fn rules_out(&self, entry: &Entry) -> bool {
        // The last of the entries without more loss is the cheapest.
        let after = self.front.partition_point(|known| known.loss <= entry.loss);
        after.checked_sub(1).is_some_and(|last| {
            let known = &self.front[last];
            if known.loss == entry.loss { !better(entry, known) } else { known.cost <= entry.cost }
        })
    }

    #[inline(always)]
    fn add(&mut self, entry: Entry) {
        if !self.rules_out(&entry) {
            self.fresh.push(entry);
            if self.fresh.len() > self.front.len().max(1 << 12) {
                self.settle();
            }
        }
    }

    /// Merges the fresh entries into the front.
    fn settle(&mut self) {
        self.front.append(&mut self.fresh);
        self.front.sort_unstable_by_key(|entry| (entry.loss, order(entry)));
        let mut cheapest = u64::MAX;
        self.front.retain(|entry| {
            let better = entry.cost < cheapest;
            cheapest = cheapest.min(entry.cost);
            better
        });
    }
}

impl Collector {
    /// An empty collector for a subproblem of `rows` rows, by weight.
    pub fn new(rows: usize) -> Self {
        Collector::with_limit(rows, MOST_LOSSES)
    }

    fn with_limit(rows: usize, most_losses: usize) -> Self {
        let found = if rows < most_losses {
            Found::ByLoss(vec![NONE; rows + 1])
        } else {
            Found::Sparse(SparseFront::default())
        };
        Collector { found }
    }

    /// Adds the entries of a leaf's front.
    pub fn add_leaf(&mut self, front: &Front) {
        match &mut self.found {
            Found::ByLoss(best) => {
                for entry in front.iter() {
                    let slot = &mut best[entry.loss as usize];
                    if better(&entry, slot) {
                        *slot = entry;
                    }
                }
            }
            Found::Sparse(sparse) => front.iter().for_each(|entry| sparse.add(entry)),
        }
    }

    /// Adds every sum of a point of `left` and a point of `right`, two children of the set.
    pub fn add_split(&mut self, key: u32, left: &Front, right: &Front) {
        let sum = |(i, a): (usize, Entry), (j, b): (usize, Entry)| Entry {
            cost: a.cost + b.cost,
            loss: a.loss + b.loss,
            leaves: a.leaves + b.leaves,
            branch: key,
            left: i as u32,
            right: j as u32,
        };
        match &mut self.found {
            Found::ByLoss(best) => match (left.leaf.is_empty(), right.leaf.is_empty()) {
                (false, false) => lower_to_sums(best, key, &left.leaf, &right.leaf),
                (false, true) => lower_to_sums(best, key, &left.leaf, &right.entries),
                (true, false) => lower_to_sums(best, key, &left.entries, &right.leaf),
                (true, true) => lower_to_sums(best, key, &left.entries, &right.entries),
            },
            Found::Sparse(sparse) => {
                for a in left.iter().enumerate() {
                    for b in right.iter().enumerate() {
                        sparse.add(sum(a, b));
                    }
                }
            }
        }
    }

    /// Absorbs another collector for the same subproblem; returns whether anything became cheaper.
    pub fn absorb(&mut self, other: &Collector) -> bool {
        match (&mut self.found, &other.found) {
            (Found::ByLoss(best), Found::ByLoss(others)) => {
                let mut cheaper = false;
                for (slot, entry) in best.iter_mut().zip(others) {
                    if better(entry, slot) {
                        cheaper |= entry.cost < slot.cost;
                        *slot = *entry;
                    }
                }
                cheaper
            }
            (Found::Sparse(sparse), Found::Sparse(others)) => {
                let points = |sparse: &SparseFront| -> Vec<(u64, u32)> {
                    sparse.front.iter().map(|entry| (entry.cost, entry.loss)).collect()
                };
                sparse.settle();
                let before = points(sparse);
                for entry in others.front.iter().chain(&others.fresh) {
                    sparse.add(*entry);
                }
                sparse.settle();
                points(sparse) != before
            }
            // Both are for the same subproblem, so of one kind.
            _ => false,
        }
    }

    /// The non-dominated entries of everything added, loss ascending.
    fn non_dominated(&mut self) -> Vec<Entry> {
        match &mut self.found {
            Found::ByLoss(best) => {
                // From the smallest loss upwards, a point is non-dominated iff it is cheaper than all before it.
                let mut cheapest = u64::MAX;
                let cheaper = |entry: &&Entry| {
                    let better = entry.cost < cheapest;
                    cheapest = cheapest.min(entry.cost);
                    better
                };
                best.iter().filter(cheaper).copied().collect()
            }
            Found::Sparse(sparse) => {
                sparse.settle();
                sparse.front.clone()
            }
        }
    }

    /// The points of the front so far: cost ascending, loss strictly descending.
    pub fn points(&mut self) -> Vec<Point> {
        let entries = self.non_dominated();
        entries.iter().rev().map(|entry| Point { cost: entry.cost, loss: u64::from(entry.loss) }).collect()
    }

    /// The front of everything added. `branches` are the added pairs with their keys, ascending.
    pub fn finish(&mut self, branches: &[(u32, Branch)]) -> Front {
        let mut front = Front { entries: self.non_dominated(), ..Front::default() };
        front.entries.reverse();
        let mut used: Vec<u32> =
            front.entries.iter().map(|entry| entry.branch).filter(|&key| key != LEAF).collect();
        used.sort_unstable();
        used.dedup();
        for entry in &mut front.entries {
            if entry.branch != LEAF {
                entry.branch = used.partition_point(|&key| key < entry.branch) as u32;
            }
        }
        front.branches = branches
            .iter()
            .filter(|(key, _)| used.binary_search(key).is_ok())
            .map(|(_, b)| b.clone())
            .collect();
        // Millions of fronts are remembered.
        front.entries.shrink_to_fit();
        front.branches.shrink_to_fit();
        front
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(state: &mut u64, losses: u32) -> Front {
        let mut draw = |end: u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) % end
        };
        let mut entries: Vec<Entry> = (0..60)
            .map(|action| Entry {
                cost: draw(40),
                loss: draw(u64::from(losses)) as u32,
                leaves: 1 + draw(3) as u32,
                branch: LEAF,
                left: action,
                right: 0,
            })
            .collect();
        entries.sort_by_key(|entry| (entry.loss, order(entry)));
        let mut cheapest = u64::MAX;
        entries.retain(|entry| {
            let better = entry.cost < cheapest;
            cheapest = cheapest.min(entry.cost);
            better
        });
        entries.reverse();
        Front { entries, ..Front::default() }
    }

    #[test]
    fn a_place_for_every_loss_and_stairs_find_the_same_entries() {
        let mut state = 3;
        for _ in 0..200 {
            let (rows, half) = (80, 40);
            let leaf = front(&mut state, rows + 1);
            let pairs: Vec<(Front, Front)> =
                (0..5).map(|_| (front(&mut state, half), front(&mut state, half))).collect();
            let collect = |most_losses: usize| {
                let mut all = Collector::with_limit(rows as usize, most_losses);
                all.add_leaf(&leaf);
                let mut reports = Vec::new();
                for (key, (left, right)) in (0..).zip(&pairs) {
                    let mut own = Collector::with_limit(rows as usize, most_losses);
                    own.add_split(key, left, right);
                    let before = all.points();
                    let better = all.absorb(&own);
                    assert!(better || all.points() == before, "an improvement was not reported");
                    reports.push(all.points());
                }
                (all.non_dominated(), reports)
            };
            assert_eq!(collect(usize::MAX), collect(0));
        }
    }
}
