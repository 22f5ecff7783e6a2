//! Actions of four and more edits, of up to eight leaves at once (see [`super::batch8`]).

use super::batch8::{Batch, Setting};
use super::groups::{Child, NONE};
use super::lanes::{DEAD, U32x8};
use crate::problem::Combine;
use crate::simd::Simd;

impl Batch {
    /// Four and more edits, out of line: rare, and not worth a copy in the loop over triples. An action is looked at if all
    /// of its pairs are alive.
    #[inline(never)]
    pub(super) fn try_longer<K: Simd>(&mut self, simd: K, on: Setting<'_>, action: u32, least: U32x8) {
        let mut rest = vec![(action, least)];
        while let Some((action, least)) = rest.pop() {
            let block = on.groups.block_of[action as usize];
            if block == NONE {
                continue;
            }
            let list = on.problem.edits_of(action as usize);
            for (place, Child { action: child, last }) in on.groups.block(block) {
                let last = last as usize;
                let mut costs = list.iter().fold(least, |cost, &e| {
                    cost.max(simd, self.pair_cost[e as usize * on.groups.edits + last])
                });
                let alive = self.lanes & self.open(simd, on, costs, U32x8::all(0));
                let alive = alive & costs.at_most(simd, U32x8::all(DEAD - 1));
                if alive == 0 {
                    continue;
                }
                if on.problem.combine == Combine::Sum {
                    costs = costs.max(simd, least.plus(simd, self.edit_cost[last]));
                }
                let here = alive & u32::from(self.matter[place]);
                if here != 0 && on.groups.useful[child as usize] {
                    costs = self.try_action(simd, on, child, costs, here);
                }
                rest.push((child, costs.only_in(simd, alive)));
            }
        }
    }
}
