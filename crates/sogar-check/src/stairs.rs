//! Collects pairs that no other dominates.
//!
//! If every row counts once, a loss is a position in a short list, and a list of the smallest cost by loss suffices. With
//! weights, losses may be anything up to four billion; then the pairs themselves are kept, in order.

use super::plain::{Pair, ParetoSet};

/// The smallest cost found so far with each loss or a smaller one.
pub(super) struct Staircase(Vec<u64>);

impl Staircase {
    /// Nothing found yet; `most` is the largest loss.
    pub(super) fn new(most: usize) -> Self {
        Staircase(vec![u64::MAX; most + 1])
    }

    /// The pairs: cost ascending, loss descending.
    pub(super) fn front(&self) -> Vec<Pair> {
        stairs(self.0.iter().copied().enumerate())
    }
}

impl ParetoSet for Staircase {
    fn rules_out(&self, cost: u64, loss: usize) -> bool {
        self.0[loss] <= cost
    }

    fn add(&mut self, cost: u64, loss: usize) {
        for slot in &mut self.0[loss..] {
            if *slot <= cost {
                break;
            }
            *slot = cost;
        }
    }
}

/// The same as a list of pairs: loss ascending, cost descending.
#[derive(Default)]
pub(super) struct Steps(Vec<Pair>);

impl Steps {
    /// The pairs: cost ascending, loss descending.
    pub(super) fn front(mut self) -> Vec<Pair> {
        self.0.reverse();
        self.0
    }
}

impl ParetoSet for Steps {
    fn rules_out(&self, cost: u64, loss: usize) -> bool {
        let after = self.0.partition_point(|pair| pair.1 <= loss);
        after.checked_sub(1).is_some_and(|last| self.0[last].0 <= cost)
    }

    fn add(&mut self, cost: u64, loss: usize) {
        if self.rules_out(cost, loss) {
            return;
        }
        // Pairs with at least this loss that are not cheaper are removed: they are neighbours.
        let first = self.0.partition_point(|pair| pair.1 < loss);
        let worse = self.0[first..].iter().take_while(|pair| pair.0 >= cost).count();
        self.0.splice(first..first + worse, [(cost, loss)]);
    }
}

/// Sums of pairs of two fronts, whose front is needed in the end.
pub(super) enum Sums {
    /// The smallest cost by loss.
    Dense(Vec<u64>),
    /// The pairs, unordered, and the number at which dominated ones are removed.
    Sparse(Vec<Pair>, usize),
}

/// Smallest number of pairs at which dominated ones are removed.
const ROOM: usize = 1 << 16;

impl Sums {
    /// For losses up to `most`.
    pub(super) fn dense(most: usize) -> Self {
        Sums::Dense(vec![u64::MAX; most + 1])
    }

    /// For losses of any size.
    pub(super) fn sparse() -> Self {
        Sums::Sparse(Vec::new(), ROOM)
    }

    /// Adds all sums of a pair of `left` and a pair of `right`.
    pub(super) fn join(&mut self, left: &[Pair], right: &[Pair]) {
        match self {
            Sums::Dense(best) => {
                for &(cost, loss) in left {
                    let best = &mut best[loss..];
                    for &(more_cost, more_loss) in right {
                        let slot = &mut best[more_loss];
                        *slot = (*slot).min(cost + more_cost);
                    }
                }
            }
            Sums::Sparse(pairs, room) => {
                for &(cost, loss) in left {
                    pairs.extend(
                        right.iter().map(|&(more_cost, more_loss)| (cost + more_cost, loss + more_loss)),
                    );
                    if pairs.len() > *room {
                        *pairs = best_of(std::mem::take(pairs));
                        *room = ROOM.max(2 * pairs.len());
                    }
                }
            }
        }
    }

    /// The pairs that no other dominates: cost ascending, loss descending.
    pub(super) fn front(self) -> Vec<Pair> {
        match self {
            Sums::Dense(best) => stairs(best.into_iter().enumerate()),
            Sums::Sparse(pairs, _) => best_of(pairs),
        }
    }
}

fn best_of(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_unstable_by_key(|&(cost, loss)| (loss, cost));
    stairs(pairs.into_iter().map(|(cost, loss)| (loss, cost)))
}

/// The front among (loss, cost), by ascending loss: cost ascending, loss descending.
fn stairs(by_loss: impl Iterator<Item = (usize, u64)>) -> Vec<Pair> {
    let mut front: Vec<Pair> = Vec::new();
    for (loss, cost) in by_loss {
        if cost != u64::MAX && front.last().is_none_or(|last| cost < last.0) {
            front.push((cost, loss));
        }
    }
    front.reverse();
    front
}

#[cfg(test)]
mod tests {
    use super::*;
    use sogar_base::draw::Draw;

    #[test]
    fn lists_of_pairs_keep_what_staircases_keep() {
        let mut draw = Draw::new(3, 3);
        for _ in 0..200 {
            let (mut dense, mut sparse) = (Staircase::new(30), Steps::default());
            let pairs: Vec<Pair> = (0..20).map(|_| (draw.below(40) as u64, draw.below(31))).collect();
            for &(cost, loss) in &pairs {
                assert_eq!(dense.rules_out(cost, loss), sparse.rules_out(cost, loss));
                dense.add(cost, loss);
                sparse.add(cost, loss);
            }
            let front = dense.front();
            assert_eq!(front, sparse.front());
            let (mut dense, mut sparse) = (Sums::dense(60), Sums::sparse());
            dense.join(&front, &pairs);
            sparse.join(&front, &pairs);
            assert_eq!(dense.front(), sparse.front());
        }
    }
}
