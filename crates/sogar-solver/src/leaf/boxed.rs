//! Up to eight leaves at once, box by box (see [`super::boxes`]).

use super::LeafRequest;
use super::batch8::{Batch, Setting, join, scaled};
use super::boxes::{BoxedAction, Boxes, DEEPEST};
use super::groups::NONE;
use super::lanes::{DEAD, U32x8};
use crate::problem::Combine;
use crate::simd::Simd;

/// Words of sets that are counted without a look at how many it can be.
const SHORT: usize = 16;

/// What is known of a box in which some leaf may need something.
#[derive(Clone, Copy)]
struct Open {
    /// The leaves.
    lanes: u32,
    /// The edits whose joint cost is in `least`.
    corner: [u32; 3],
    /// What its actions cost at least (scaled), and what they may cost before a point that was known when the box was looked at
    /// strictly dominates them.
    least: U32x8,
    most: U32x8,
}

impl Batch {
    /// Evaluates at most eight leaves; their points are left in `fronts`.
    #[inline(always)]
    pub fn evaluate_boxes<K: Simd>(
        &mut self,
        simd: K,
        on: Setting<'_>,
        boxes: &Boxes,
        requests: &[LeafRequest<'_>],
    ) {
        self.start(simd, on, requests);
        self.sum_singles(simd, on);
        self.try_hints(simd, on, requests);
        self.sum_ranges(simd, boxes);
        let (least, most) = (U32x8::all(0), U32x8::all(DEAD - 1));
        let outside = Open { lanes: self.lanes, corner: [NONE; 3], least, most };
        let mut around = [outside; DEEPEST + 1];
        let mut at = 0;
        while let Some(node) = boxes.nodes.get(at) {
            let (depth, after) = (node.depth as usize, node.after as usize);
            let Some(found) = self.open_box(simd, on, boxes, at, around[depth]) else {
                at = after;
                continue;
            };
            if node.is_small(at) {
                for &boxed in &boxes.actions[node.first as usize..node.end as usize] {
                    self.try_boxed(simd, on, boxed, found);
                }
                at = after;
            } else {
                around[depth + 1] = found;
                at += 1;
            }
        }
    }

    /// A box inside another, if it is not dominated in every leaf: first by what is known without a look at its rows, then with its
    /// union, then with the joint cost of the edits that bound it row by row.
    #[inline(always)]
    fn open_box<K: Simd>(
        &mut self,
        simd: K,
        on: Setting<'_>,
        boxes: &Boxes,
        at: usize,
        around: Open,
    ) -> Option<Open> {
        let node = boxes.nodes[at];
        let [a, b, c] = node.sides.map(|side| self.range_cost[side as usize]);
        let least = around.least.max(simd, join(simd, on, join(simd, on, a, b), c));
        let lanes = around.lanes & least.at_most(simd, around.most);
        if lanes == 0 {
            return None;
        }
        // Of a leaf no more are flipped than of all members. (Short sets are counted as quickly.)
        if self.sets.len() > SHORT {
            let most = U32x8::all(on.members.box_size(simd, boxes, at));
            let missed = self.sizes.max(simd, most).minus(simd, most);
            if lanes & self.open(simd, on, least, missed) == 0 {
                return None;
            }
        }
        if node.end - node.first == 1 {
            return Some(Open { lanes, least, ..around }); // the action's own flips are the union
        }
        self.work.groups += u64::from(lanes.count_ones());
        let losses = self.losses(simd, on.members.box_union(simd, boxes, at), lanes);
        let most = self.most(simd, on, losses);
        let lanes = lanes & least.at_most(simd, most);
        if lanes == 0 {
            return None;
        }
        let (mut corner, mut known) = ([NONE; 3], 0);
        for side in boxes.sides(node) {
            if let [edit] = side {
                corner[known] = *edit;
                known += 1;
            }
        }
        if on.problem.combine == Combine::Sum || known < 2 || corner == around.corner {
            return Some(Open { lanes, corner, least, most });
        }
        let costs = self.all_at_least(simd, on.columns, lanes, &corner[..known]);
        let least = least.max(simd, scaled(costs, on.problem.scale()));
        let lanes = lanes & least.at_most(simd, most);
        (lanes != 0).then_some(Open { lanes, corner, least, most })
    }

    /// What an edit of each range costs at least (scaled).
    #[inline(always)]
    fn sum_ranges<K: Simd>(&mut self, simd: K, boxes: &Boxes) {
        self.range_cost.clear();
        for range in boxes.ranges() {
            let Some((first, others)) = range.split_first() else {
                self.range_cost.push(U32x8::all(0));
                continue;
            };
            let mut cheapest = self.edit_cost[*first as usize];
            for &edit in others {
                cheapest = cheapest.min(simd, self.edit_cost[edit as usize]);
            }
            self.range_cost.push(cheapest);
        }
    }

    /// An action of a box.
    #[inline(always)]
    fn try_boxed<K: Simd>(&mut self, simd: K, on: Setting<'_>, boxed: BoxedAction, inside: Open) {
        let [a, b, c] = boxed.edits.map(|edit| self.edit_cost[edit as usize]);
        let least = inside.least.max(simd, join(simd, on, join(simd, on, a, b), c));
        let lanes = inside.lanes & least.at_most(simd, inside.most);
        if lanes != 0 {
            self.try_action(simd, on, boxed.action, least, lanes);
        }
    }
}
