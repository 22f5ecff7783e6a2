//! Actions that do no more on a leaf than without one of their edits.
//!
//! Let `b` be the action `a` without one edit. `b` costs no row more than `a` and has a smaller number, because shorter actions come first. So if `b` loses no more than `a` on
//! the rows of a leaf, `b` dominates `a` there or attains the same point with the smaller number, and the leaf's front does not name `a`. It needs no sum of costs to see that.
//!
//! Where many edits are nearly free (a value that costs everybody the same little), most of what the bounds leave over are actions that are good because of one or two of
//! their edits, with another one that helps nobody in the leaf. Losses of parts are counted once for up to eight leaves; many actions share them.

use super::batch8::{Batch, Setting};
use super::groups::{Groups, NONE};
use super::lanes::U32x8;
use crate::simd::Simd;

/// When actions are held against their parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartsOfActions {
    /// Not at all.
    Never,
    /// Where a sum of costs takes much longer than a count.
    WhereItPays,
    /// Always, for tests.
    Always,
}

/// The losses of single edits and pairs in up to eight leaves, as far as they were needed.
#[derive(Default)]
pub(super) struct Parts {
    /// Pairs, then single edits.
    losses: Vec<U32x8>,
    /// For which leaves each was counted: the value of `now` then.
    counted: Vec<u64>,
    now: u64,
}

impl Parts {
    /// Begins with other leaves.
    #[inline(always)]
    pub fn forget(&mut self, groups: &Groups) {
        self.now += 1;
        let parts = groups.pair_action.len() + groups.edits;
        if self.counted.len() != parts {
            self.counted.clear();
            self.counted.resize(parts, 0);
            self.losses.resize(parts, U32x8::all(0));
        }
    }
}

impl Batch {
    /// Those of `lanes` in which edits lose less than without any one of them.
    #[inline(always)]
    pub(super) fn better_than_parts<K: Simd>(
        &mut self,
        simd: K,
        on: Setting<'_>,
        edits: &[u32],
        losses: U32x8,
        mut lanes: u32,
    ) -> u32 {
        let (groups, pairs) = (on.groups, on.groups.pair_action.len());
        let of_pair = |a: u32, b: u32| match groups.pair[a as usize * groups.edits + b as usize] {
            NONE => (NONE, 0),
            pair => (groups.pair_action[pair as usize], pair as usize),
        };
        let of_single = |edit: u32| (groups.single[edit as usize], pairs + edit as usize);
        let parts = match *edits {
            [a, b] => [of_single(a), of_single(b), (NONE, 0)],
            [a, b, c] => [of_pair(a, b), of_pair(a, c), of_pair(b, c)],
            _ => return lanes,
        };
        for (action, place) in parts {
            if action == NONE {
                continue; // no action, or one that does no more than another
            }
            if self.parts.counted[place] != self.parts.now {
                self.parts.counted[place] = self.parts.now;
                self.parts.losses[place] = self.losses(simd, on.members.flips(simd, action), self.lanes);
            }
            lanes &= !self.parts.losses[place].at_most(simd, losses);
            if lanes == 0 {
                break;
            }
        }
        lanes
    }
}
