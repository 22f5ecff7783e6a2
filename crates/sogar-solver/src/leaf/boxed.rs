//! Up to eight leaves at once, box by box (see [`super::boxes`]).

use super::LeafRequest;
use super::batch8::{Batch, Setting, join, scaled};
use super::boxes::{Boxes, DEEPEST};
use super::groups::NONE;
use super::lanes::U32x8;
use crate::problem::Combine;
use crate::simd::Simd;

/// What is known of a box in which some leaf may need something.
#[derive(Clone, Copy)]
struct Open {
    /// The leaves.
    lanes: u32,
    /// The edits whose joint cost is in `least`.
    corner: [u32; 3],
    /// What its actions cost (scaled) and lose at least.
    least: U32x8,
    losses: U32x8,
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
        let outside =
            Open { lanes: self.lanes, corner: [NONE; 3], least: U32x8::all(0), losses: U32x8::all(0) };
        let mut around = [outside; DEEPEST + 1];
        let mut at = 0;
        while let Some(node) = boxes.nodes.get(at) {
            let (depth, after) = (node.depth as usize, node.after as usize);
            let Some(found) = self.open_box(simd, on, boxes, at, around[depth]) else {
                at = after;
                continue;
            };
            if node.is_small(at) {
                for &action in &boxes.actions[node.first as usize..node.end as usize] {
                    self.try_boxed(simd, on, action, found);
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
        let least = around.least.max(simd, self.least_of(simd, on, boxes, at));
        let lanes = around.lanes & self.open(simd, on, least, around.losses);
        if lanes == 0 {
            return None;
        }
        // Of a leaf no more are flipped than of all members.
        let most = U32x8::all(on.members.box_size(simd, boxes, at));
        let missed = self.sizes.max(simd, most).minus(simd, most);
        let lanes = lanes & self.open(simd, on, least, missed);
        if lanes == 0 {
            return None;
        }
        if node.end - node.first == 1 {
            return Some(Open { lanes, least, ..around }); // the action's own flips are the union
        }
        self.work.groups += u64::from(lanes.count_ones());
        let losses = self.losses(simd, on.members.box_union(simd, boxes, at), lanes);
        let lanes = lanes & self.open(simd, on, least, losses);
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
            return Some(Open { lanes, corner, least, losses });
        }
        let costs = self.all_at_least(simd, on.columns, lanes, &corner[..known]);
        let least = least.max(simd, scaled(costs, on.problem.scale()));
        let lanes = lanes & self.open(simd, on, least, losses);
        (lanes != 0).then_some(Open { lanes, corner, least, losses })
    }

    /// What the actions of a box cost at least (scaled), by the costs of single edits.
    #[inline(always)]
    fn least_of<K: Simd>(&self, simd: K, on: Setting<'_>, boxes: &Boxes, at: usize) -> U32x8 {
        let mut least = U32x8::all(0);
        for side in boxes.sides(boxes.nodes[at]) {
            let mut cheapest = self.edit_cost[side[0] as usize];
            for &edit in &side[1..] {
                cheapest = cheapest.min(simd, self.edit_cost[edit as usize]);
            }
            least = join(simd, on, least, cheapest);
        }
        least
    }

    /// An action of a box.
    #[inline(always)]
    fn try_boxed<K: Simd>(&mut self, simd: K, on: Setting<'_>, action: u32, inside: Open) {
        let edits = on.problem.edits_of(action as usize);
        let least = inside.least.max(simd, self.floors(simd, on, edits));
        let lanes = inside.lanes & self.open(simd, on, least, inside.losses);
        if lanes != 0 {
            self.try_action(simd, on, action, least, lanes);
        }
    }
}
