//! Fronts over one cost and the loss of every group, each point with the choice that attains it.
//!
//! The order of [`crate::front`] carries over: among trees of the same totals, fewest leaves, then the first split, then the first
//! point of the left child, then of the right one; among leaves the first action. A minimum of a total order does not depend on what arrived first.

use std::sync::Arc;

use crate::front::{LEAF, TreeNode};

/// Totals over some rows: cost, and the rows of each group that are not flipped. Unused groups have no loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Totals<const G: usize> {
    pub cost: u64,
    pub losses: [u32; G],
}

impl<const G: usize> Totals<G> {
    pub const LEAST: Totals<G> = Totals { cost: 0, losses: [0; G] };
    pub const MOST: Totals<G> = Totals { cost: u64::MAX, losses: [u32::MAX; G] };

    /// Whether these are at most the others in every criterion.
    #[inline(always)]
    pub fn at_most(&self, other: &Self) -> bool {
        self.cost <= other.cost && self.losses.iter().zip(&other.losses).all(|(a, b)| a <= b)
    }

    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Totals {
            cost: self.cost + other.cost,
            losses: std::array::from_fn(|group| self.losses[group] + other.losses[group]),
        }
    }

    /// The smaller of both in every criterion.
    #[inline(always)]
    pub fn lower(&self, other: &Self) -> Self {
        Totals {
            cost: self.cost.min(other.cost),
            losses: std::array::from_fn(|group| self.losses[group].min(other.losses[group])),
        }
    }
}

/// A point of a subproblem's front and how it is attained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry<const G: usize> {
    pub totals: Totals<G>,
    pub leaves: u32,
    /// Position in [`Front::branches`], or [`LEAF`].
    pub branch: u32,
    /// Position in the left child's front, or the action.
    pub left: u32,
    /// Position in the right child's front.
    pub right: u32,
}

/// A split that some entry uses, with its children's fronts.
#[derive(Debug, Clone)]
pub(crate) struct Branch<const G: usize> {
    pub split: u32,
    pub left: Arc<Front<G>>,
    pub right: Arc<Front<G>>,
}

/// The front of a subproblem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Front<const G: usize> {
    /// By cost, then by the losses of the groups.
    pub entries: Vec<Entry<G>>,
    /// The entries that stand for all (see [`super::grid`]), neighbours near each other.
    pub order: Vec<u32>,
    pub branches: Vec<Branch<G>>,
}

impl<const G: usize> Front<G> {
    /// Approximate heap size.
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry<G>>()
            + self.order.len() * size_of::<u32>()
            + self.branches.len() * size_of::<Branch<G>>()
            + size_of::<Self>()
    }

    /// The witness tree of an entry.
    pub fn tree(&self, position: usize) -> TreeNode {
        let entry = &self.entries[position];
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

    /// The non-dominated points of two fronts over the same rows; `self` wins ties.
    pub fn union(&self, other: &Front<G>) -> Front<G> {
        let shift = self.branches.len() as u32;
        let moved = other.entries.iter().map(|entry| Entry {
            branch: if entry.branch == LEAF { LEAF } else { entry.branch + shift },
            ..*entry
        });
        let mut entries: Vec<Entry<G>> = self.entries.iter().copied().chain(moved).collect();
        entries.sort_by_key(|entry| entry.totals); // stable: `self` first among equals
        keep_non_dominated(&mut entries);
        let branches = self.branches.iter().chain(&other.branches).cloned().collect();
        Front { order: (0..entries.len() as u32).collect(), entries, branches }
    }
}

/// Keeps the first entry of every non-dominated point. The entries are sorted.
///
/// No entry is dominated by a later one, so each is compared with those kept before it, all at most as expensive: only losses count.
pub(crate) fn keep_non_dominated<const G: usize>(entries: &mut Vec<Entry<G>>) {
    match G {
        2 => {
            // Of all kept entries with at most this loss in the first group, the least loss in the second.
            let mut firsts: Vec<u32> = entries.iter().map(|entry| entry.totals.losses[0]).collect();
            firsts.sort_unstable();
            firsts.dedup();
            let mut least = vec![u32::MAX; firsts.len() + 1];
            entries.retain(|entry| {
                let [first, second] = [entry.totals.losses[0], entry.totals.losses[1]];
                let place = firsts.partition_point(|&loss| loss <= first);
                // A tree of prefix minima (Fenwick).
                let mut at = place;
                while at > 0 {
                    if least[at] <= second {
                        return false;
                    }
                    at &= at - 1;
                }
                let mut at = place;
                while at < least.len() {
                    least[at] = least[at].min(second);
                    at += at & at.wrapping_neg();
                }
                true
            });
        }
        _ => {
            let mut kept: Vec<[u32; G]> = Vec::new();
            entries.retain(|entry| {
                let losses = entry.totals.losses;
                let dominated =
                    kept.iter().rev().any(|known| known.iter().zip(&losses).all(|(known, own)| known <= own));
                if !dominated {
                    kept.push(losses);
                }
                !dominated
            });
        }
    }
}

/// Entries of which one corner bounds all.
pub(crate) const BLOCK: usize = 8;

/// Reorders positions so that blocks of [`BLOCK`], and blocks of blocks, are near each other in every criterion: halves along the criterion that
/// spreads widest (relative to `scale`), again and again.
pub(crate) fn arrange<const G: usize>(entries: &[Entry<G>], scale: &Totals<G>, order: &mut [u32]) {
    if order.len() <= BLOCK {
        return;
    }
    let totals = |&at: &u32| entries[at as usize].totals;
    let low = order.iter().map(totals).fold(Totals::MOST, |low, one| low.lower(&one));
    let spread = |width: u64, scale: u64| width as f64 / scale.max(1) as f64;
    let mut widest =
        (spread(order.iter().map(|at| totals(at).cost).max().unwrap_or(0) - low.cost, scale.cost), 0);
    for group in 0..G {
        let most = order.iter().map(|at| totals(at).losses[group]).max().unwrap_or(0);
        let width = spread(u64::from(most - low.losses[group]), u64::from(scale.losses[group]));
        if width > widest.0 {
            widest = (width, group + 1);
        }
    }
    // Whole blocks on the left, so that no block has entries of both halves.
    let middle = (order.len() / 2).next_multiple_of(BLOCK);
    if middle >= order.len() {
        return;
    }
    let key = |at: &u32| match widest.1 {
        0 => (totals(at).cost, *at),
        group => (u64::from(totals(at).losses[group - 1]), *at),
    };
    order.select_nth_unstable_by_key(middle, key);
    let (left, right) = order.split_at_mut(middle);
    arrange(entries, scale, left);
    arrange(entries, scale, right);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sogar_testing::Random;

    fn entries<const G: usize>(random: &mut Random, count: u64, most: u64) -> Vec<Entry<G>> {
        (0..count)
            .map(|action| Entry {
                totals: Totals {
                    cost: random.below(most),
                    losses: std::array::from_fn(|_| random.below(most) as u32),
                },
                leaves: 1,
                branch: LEAF,
                left: action as u32,
                right: 0,
            })
            .collect()
    }

    fn check<const G: usize>(seed: u64) {
        let mut random = Random(seed);
        let (count, most) = (random.between(1, 60), random.between(1, 12));
        let all = entries::<G>(&mut random, count, most);
        let mut kept = all.clone();
        kept.sort_unstable();
        keep_non_dominated(&mut kept);
        let mut plain: Vec<Entry<G>> = all
            .iter()
            .filter(|one| {
                !all.iter().any(|other| {
                    other.totals.at_most(&one.totals) && (other.totals, other.left) < (one.totals, one.left)
                })
            })
            .copied()
            .collect();
        plain.sort_unstable();
        assert_eq!(kept, plain, "seed {seed}");
    }

    #[test]
    fn the_first_of_every_non_dominated_point_is_kept() {
        for seed in 0..300 {
            check::<2>(seed);
            check::<4>(seed);
        }
    }

    #[test]
    fn arranging_only_reorders() {
        let mut random = Random(7);
        for count in [0, 1, 8, 9, 63, 200] {
            let list = entries::<2>(&mut random, count, 50);
            let mut order: Vec<u32> = (0..list.len() as u32).collect();
            arrange(&list, &Totals { cost: 50, losses: [50; 2] }, &mut order);
            order.sort_unstable();
            assert_eq!(order, (0..list.len() as u32).collect::<Vec<_>>());
        }
    }
}
