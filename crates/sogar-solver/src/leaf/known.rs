//! The non-dominated points found so far on one leaf, with a test for dominance that costs one look-up.

use super::LeafPoint;

/// Buckets of the staircase: small enough to stay in the first cache, fine enough to be decisive.
const MOST_BUCKETS: usize = 512;

/// Points with cost ascending and loss strictly descending, and a staircase over them.
///
/// `stairs[b]` is the lowest cost among points whose loss is at most the *smallest* loss of bucket `b`, so
/// `stairs[bucket(l)] < c` proves that a point with loss ≤ l and cost < c exists. With one loss per bucket (small
/// leaves) the staircase decides everything but ties; else the few corners that it lets through are looked up among the points.
pub(super) struct Known {
    pub points: Vec<LeafPoint>,
    stairs: Vec<u64>,
    /// The stairs without their lowest `scale` bits: a look-up of half the size for [`Known::may_matter`].
    quick: Vec<u32>,
    shift: u32,
    scale: u32,
}

impl Known {
    pub fn new() -> Self {
        Known { points: Vec::new(), stairs: Vec::new(), quick: Vec::new(), shift: 0, scale: 0 }
    }

    /// Starts anew for a leaf of `size` rows, with the identity: no cost, nobody flipped.
    /// Costs are compared quickly without their lowest `scale` bits, which must leave them below 2^32 − 1.
    pub fn reset(&mut self, size: u32, scale: u32) {
        self.scale = scale;
        self.shift = 0;
        while (size >> self.shift) as usize >= MOST_BUCKETS {
            self.shift += 1;
        }
        self.stairs.clear();
        self.stairs.resize((size >> self.shift) as usize + 2, u64::MAX);
        self.quick.clear();
        self.quick.resize(self.stairs.len(), u32::MAX - 1);
        self.points.clear();
        self.put(LeafPoint { cost: 0, loss: size, action: 0 }, 0, 0);
    }

    /// Whether no action numbered `first` or later with at least this cost and loss can change the result: some
    /// known point is at least as good, and if it is equal, its action comes first (see the module's argument).
    #[inline(always)]
    pub fn rules_out(&self, cost: u64, loss: u32, first: u32) -> bool {
        let stair = self.stairs[(loss >> self.shift) as usize];
        stair < cost || ((stair == cost || self.shift > 0) && self.look_up(cost, loss, first))
    }

    /// A first test for many at once: false only if a known point strictly dominates everything that costs at least
    /// `cost` (without its lowest bits) and has at least this loss. `u32::MAX` as cost stands for "dead".
    #[inline(always)]
    pub fn may_matter(&self, cost: u32, loss: u32) -> bool {
        self.quick[(loss >> self.shift) as usize] >= cost
    }

    /// The largest loss that an action costing at least `cost` may have without being strictly dominated: one less
    /// than that of the best cheaper point (or everybody, `size`, if no point is cheaper).
    #[inline(always)]
    pub fn most_loss(&self, cost: u64, size: u32) -> u32 {
        // Points are few and a scan from the dear end is short: most questions are about dear actions.
        let cheaper = self.points.partition_point(|point| point.cost < cost);
        cheaper.checked_sub(1).map_or(size, |i| self.points[i].loss.saturating_sub(1))
    }

    /// The exact answer: the known point with the least loss among those not dearer decides.
    #[inline(never)]
    fn look_up(&self, cost: u64, loss: u32, first: u32) -> bool {
        let after = self.points.partition_point(|point| point.cost <= cost);
        let Some(point) = after.checked_sub(1).map(|i| &self.points[i]) else { return false };
        point.loss < loss || (point.loss == loss && (point.cost < cost || point.action <= first))
    }

    /// Takes in a point unless it is dominated.
    pub fn insert(&mut self, new: LeafPoint) {
        if self.rules_out(new.cost, new.loss, new.action) {
            return;
        }
        let start = self.points.partition_point(|point| point.cost < new.cost);
        let dominated = self.points[start..].iter().take_while(|point| point.loss >= new.loss).count();
        self.put(new, start, dominated);
    }

    fn put(&mut self, new: LeafPoint, start: usize, dominated: usize) {
        self.points.splice(start..start + dominated, [new]);
        // The first bucket all of whose losses are at least the new point's.
        let mut bucket = ((u64::from(new.loss) + (1 << self.shift) - 1) >> self.shift) as usize;
        while let Some(stair) = self.stairs.get_mut(bucket).filter(|stair| **stair > new.cost) {
            *stair = new.cost;
            self.quick[bucket] = (new.cost >> self.scale) as u32;
            bucket += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_staircase_agrees_with_the_points() {
        for size in [5, 100, 511, 512, 5000] {
            let mut known = Known::new();
            known.reset(size, 2);
            let mut state = u64::from(size);
            for action in 1..200 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (cost, loss) = (state >> 33 & 1023, (state >> 45) as u32 % (size + 1));
                if !known.may_matter((cost >> 2) as u32, loss) {
                    assert!(known.points.iter().any(|p| p.cost < cost && p.loss <= loss), "size {size}");
                }
                for first in [0, action] {
                    let plain = known.points.iter().any(|p| {
                        p.cost <= cost
                            && p.loss <= loss
                            && ((p.cost, p.loss) != (cost, loss) || p.action <= first)
                    });
                    assert_eq!(known.rules_out(cost, loss, first), plain, "size {size}");
                }
                known.insert(LeafPoint { cost, loss, action });
                assert!(known.points.windows(2).all(|w| w[0].cost < w[1].cost && w[0].loss > w[1].loss));
            }
        }
    }
}
