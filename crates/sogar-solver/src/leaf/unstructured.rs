//! Up to eight leaves at once where actions have no structure: cluster by cluster (see [`super::clusters`]).

use super::batch8::{Batch, Setting, bits, runs_of_equal_hints, scaled};
use super::clusters::Clusters;
use super::columns::Columns;
use super::lanes::U32x8;
use super::{LeafPoint, LeafRequest};
use crate::simd::Simd;

impl Batch {
    /// Evaluates at most eight leaves, cluster by cluster, or action by action if there are no clusters (given with their least costs); their points
    /// are left in `fronts`.
    #[inline(always)]
    pub fn evaluate_unstructured<K: Simd>(
        &mut self,
        simd: K,
        on: Setting<'_>,
        clusters: Option<(&Clusters, &Columns)>,
        requests: &[LeafRequest<'_>],
    ) {
        self.start(simd, on, requests);
        let Some((clusters, least_costs)) = clusters else {
            for action in 1..on.problem.actions() as u32 {
                self.try_unstructured(simd, on, action, U32x8::all(0), self.lanes);
            }
            return;
        };
        for (lanes, warm) in runs_of_equal_hints(requests) {
            for &action in warm {
                self.try_unstructured(simd, on, action, U32x8::all(0), lanes);
            }
        }
        for (position, large) in clusters.large.iter().enumerate() {
            let (alive, _) = self.corner(simd, on, clusters, least_costs, position, self.lanes);
            if alive == 0 {
                continue;
            }
            for part in large.parts.clone() {
                let position = clusters.large.len() + part;
                let (alive, least) = self.corner(simd, on, clusters, least_costs, position, alive);
                if alive != 0 {
                    for &action in &clusters.order[clusters.small[part].members.clone()] {
                        self.try_unstructured(simd, on, action, least, alive);
                    }
                }
            }
        }
    }

    /// The lanes in which the corner of a cluster is not dominated, and its (scaled) costs there.
    #[inline(always)]
    fn corner<K: Simd>(
        &mut self,
        simd: K,
        on: Setting<'_>,
        clusters: &Clusters,
        least_costs: &Columns,
        position: usize,
        lanes: u32,
    ) -> (u32, U32x8) {
        self.work.groups += u64::from(lanes.count_ones());
        let mut packed = std::mem::take(&mut self.packed);
        let union = on.members.packed_now(simd, clusters.unions.set(position), &mut packed);
        let losses = self.losses(simd, union, lanes);
        self.packed = packed;
        let costs = self.all_at_least(simd, least_costs, lanes, &[position as u32]);
        let costs = scaled(costs, on.problem.scale());
        (lanes & self.open(simd, on, costs, losses), costs)
    }

    /// An action of one edit of whose cost only a (scaled) lower bound is known yet.
    #[inline(always)]
    fn try_unstructured<K: Simd>(&mut self, simd: K, on: Setting<'_>, action: u32, least: U32x8, lanes: u32) {
        self.work.losses += u64::from(lanes.count_ones());
        let losses = self.losses(simd, on.members.flips(simd, action), lanes);
        let open = lanes & self.open(simd, on, least, losses);
        if open == 0 {
            return;
        }
        let edits = on.problem.edits_of(action as usize);
        self.work.costs += u64::from(open.count_ones());
        let (losses, costs) = (losses.lanes(), self.all_at_least(simd, on.columns, open, edits));
        for lane in bits(open) {
            let mut cost = costs[lane];
            if self.fronts[lane].rules_out(cost, losses[lane], action) {
                continue;
            }
            if !on.columns.is_exact() {
                cost = self.total(simd, on.columns, lane, edits);
            }
            if self.fronts[lane].insert(LeafPoint { cost, loss: losses[lane], action }) {
                self.min_cost.lower(lane, (cost >> on.problem.scale()) as u32, losses[lane]);
            }
        }
    }
}
