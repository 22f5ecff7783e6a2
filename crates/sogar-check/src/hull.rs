//! The convex part of a leaf's front: the part that weighted sums of cost and loss can see.
//!
//! A corner (cost, loss) is ruled out if a mixture of two known pairs is at most that corner: for every weighting, one of the two
//! is then no worse than anything beyond the corner. That rules out more than dominance does, and makes leaves cheaper.

use super::plain::{Pair, ParetoSet, Plain};
use sogar_solver::RowSet;

/// The lower left convex hull of the pairs added so far: loss ascending, cost descending, no three on a line.
#[derive(Debug, Default)]
pub(super) struct Hull(Vec<Pair>);

impl Hull {
    /// The hull of a single leaf's front.
    pub(super) fn of_leaf(plain: &Plain<'_>, set: &RowSet) -> Hull {
        let mut hull = Hull::default();
        plain.leaf_into(set, &mut hull);
        hull
    }

    /// The hull of some pairs.
    pub(super) fn of(pairs: &[Pair]) -> Hull {
        let mut hull = Hull::default();
        pairs.iter().for_each(|&(cost, loss)| hull.add(cost, loss));
        hull
    }

    /// Its corners.
    pub(super) fn pairs(&self) -> &[Pair] {
        &self.0
    }
}

impl ParetoSet for Hull {
    fn rules_out(&self, cost: u64, loss: usize) -> bool {
        let after = self.0.partition_point(|pair| pair.1 <= loss);
        let Some(&(costly, few)) = after.checked_sub(1).and_then(|last| self.0.get(last)) else {
            return false;
        };
        if costly <= cost {
            return true;
        }
        match self.0.get(after) {
            None => false,
            // At this loss, is the edge to the next corner at most as expensive?
            Some(&(cheap, many)) => {
                let product = |a: u64, b: usize| u128::from(a) * b as u128;
                cheap < costly && product(costly - cost, many - few) <= product(costly - cheap, loss - few)
            }
        }
    }

    fn add(&mut self, cost: u64, loss: usize) {
        if self.rules_out(cost, loss) {
            return;
        }
        self.0.push((cost, loss));
        self.0.sort_unstable_by_key(|&(cost, loss)| (loss, cost));
        let mut hull: Vec<Pair> = Vec::with_capacity(self.0.len());
        for &pair in &self.0 {
            if hull.last().is_some_and(|last| last.0 <= pair.0) {
                continue; // dominated
            }
            while let [.., a, b] = hull[..] {
                // b stays if it lies below the line from a to the new pair
                let product = |x: u64, y: usize| u128::from(x) * y as u128;
                if product(a.0 - b.0, pair.1 - a.1) > product(a.0 - pair.0, b.1 - a.1) {
                    break;
                }
                hull.pop();
            }
            hull.push(pair);
        }
        self.0 = hull;
    }
}
