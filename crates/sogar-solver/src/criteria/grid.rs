//! Fronts that are too large: one point stands for all in a cell of a grid.
//!
//! **What ε means.** For every tree within the limits there is a point on the final front whose mean cost is at most ε higher, and whose loss
//! in each group is at most an ε-th of the group larger. ε = 0 is the complete front.
//!
//! **Why it holds after all merges.** A tree of depth `d` passes `d + 1` levels: its leaves, and the sets of rows that its splits divide. On
//! each level, a set `S` is thinned once, with cells that hold totals which differ by at most `ε/(d+1) · |S|` (for a group: `· |S ∩ group|`;
//! for cost: `· |S| ·` the unit). Sets of one level are disjoint, so a level adds at most `ε/(d+1)` of all rows, and all levels at most ε. A
//! point that is dropped because it is dominated adds nothing. Cells are whole numbers: where a cell holds one total only, nothing is lost.
//!
//! The point of a cell is its first in the order of the front, so it depends on nothing but the front.

use rustc_hash::FxHashSet;

use super::front::{Entry, Totals};

/// The accuracy of a front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Epsilon {
    /// In millionths; 0: complete.
    pub millionths: u32,
    /// A cost of 1, in units of the problem's costs.
    pub unit: u64,
}

impl Epsilon {
    /// The complete front.
    pub const ZERO: Epsilon = Epsilon { millionths: 0, unit: 1 };

    /// How much totals of a set of rows may differ within a cell, if trees have this depth. `sizes` are the weights of its groups.
    pub(crate) fn slack<const G: usize>(self, sizes: &[u32; G], depth: u32) -> Totals<G> {
        let parts = 1_000_000 * (u128::from(depth) + 1);
        let share = |of: u128| of * u128::from(self.millionths) / parts;
        let all: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
        Totals {
            cost: u64::try_from(share(all * u128::from(self.unit))).unwrap_or(u64::MAX - 1),
            losses: sizes.map(|size| share(u128::from(size)) as u32),
        }
    }
}

/// The positions of the entries that stand for all.
pub(crate) fn representatives<const G: usize>(entries: &[Entry<G>], slack: &Totals<G>) -> Vec<u32> {
    let all = 0..entries.len() as u32;
    if *slack == Totals::LEAST {
        return all.collect();
    }
    let mut taken: FxHashSet<(u64, [u32; G])> = FxHashSet::default();
    all.filter(|&at| {
        let Totals { cost, losses } = entries[at as usize].totals;
        let cell = |group: usize| losses[group] / (slack.losses[group] + 1);
        taken.insert((cost / (slack.cost + 1), std::array::from_fn(cell)))
    })
    .collect()
}
