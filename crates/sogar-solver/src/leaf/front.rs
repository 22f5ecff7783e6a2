//! The non-dominated points found so far on one leaf.

use super::LeafPoint;

/// Points with cost ascending and loss strictly descending.
pub(super) struct LeafFront {
    pub points: Vec<LeafPoint>,
}

impl LeafFront {
    pub fn new() -> Self {
        LeafFront { points: Vec::new() }
    }

    /// Resets it for a leaf of `size` rows, with the identity: no cost, no row flipped.
    pub fn reset(&mut self, size: u32) {
        self.points.clear();
        self.points.push(LeafPoint { cost: 0, loss: size, action: 0 });
    }

    /// Whether no action numbered `first` or later with at least this cost and loss can change the result: some front
    /// point is at least as good, and if it is equal, its action comes first (see the argument in [`super`]).
    #[inline(always)]
    pub fn rules_out(&self, cost: u64, loss: u32, first: u32) -> bool {
        // Among the points that cost no more, the last has the least loss, so it decides.
        let after = self.points.partition_point(|point| point.cost <= cost);
        let Some(point) = after.checked_sub(1).map(|i| &self.points[i]) else { return false };
        point.loss < loss || (point.loss == loss && (point.cost < cost || point.action <= first))
    }

    /// Takes in a point; false if it is ruled out.
    pub fn insert(&mut self, new: LeafPoint) -> bool {
        if self.rules_out(new.cost, new.loss, new.action) {
            return false;
        }
        let start = self.points.partition_point(|point| point.cost < new.cost);
        let dominated = self.points[start..].iter().take_while(|point| point.loss >= new.loss).count();
        self.points.splice(start..start + dominated, [new]);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ruled_out_is_what_some_point_dominates() {
        for size in [5, 100, 5000] {
            let mut front = LeafFront::new();
            front.reset(size);
            let mut state = u64::from(size);
            for action in 1..200 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (cost, loss) = (state >> 33 & 1023, (state >> 45) as u32 % (size + 1));
                for first in [0, action] {
                    let plain = front.points.iter().any(|p| {
                        p.cost <= cost
                            && p.loss <= loss
                            && ((p.cost, p.loss) != (cost, loss) || p.action <= first)
                    });
                    assert_eq!(front.rules_out(cost, loss, first), plain, "size {size}");
                }
                front.insert(LeafPoint { cost, loss, action });
                assert!(front.points.windows(2).all(|w| w[0].cost < w[1].cost && w[0].loss > w[1].loss));
            }
        }
    }
}
