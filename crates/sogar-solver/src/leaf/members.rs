//! The problem as seen from one set of rows.
//!
//! Many subsets of the same members are evaluated, so it pays to bring the members together: fewer words per set. Only
//! what a leaf asks for is packed, when it first asks.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::boxes::Boxes;
use super::groups::Groups;
use crate::bits::{RowSet, words_for};
use crate::problem::Problem;
use crate::simd::Simd;

/// A set that is packed on first use.
type Packed = OnceLock<Box<[u64]>>;

/// Sets per block of a table of packed ones.
const BLOCK: usize = 32;

/// The members of a set.
pub(super) struct Members<'a> {
    problem: &'a Problem,
    groups: &'a Groups,
    /// `None`: all rows, so that nothing needs to be moved.
    members: Option<RowSet>,
    /// Words of a set of members.
    words: usize,
    /// Per bit of a weight the members that have it.
    weights: Vec<Packed>,
    edit_unions: Vec<Packed>,
    pair_unions: Vec<Packed>,
    /// Flips of actions, in blocks: a table with a place for each action would be larger than what is ever packed.
    flips: Vec<Blocked>,
    box_unions: Vec<Blocked>,
    /// Per box how many members are in its union, plus one; 0 where that is not known yet.
    box_sizes: Vec<AtomicU32>,
}

/// A block of packed sets.
type Blocked = OnceLock<Box<[Packed]>>;

impl<'a> Members<'a> {
    pub fn new(problem: &'a Problem, groups: &'a Groups, boxes: usize, members: &RowSet) -> Self {
        let rows = members.count();
        let words = words_for(rows);
        let members = (rows < problem.rows).then(|| members.clone());
        let lazy = |count: usize| match members {
            Some(_) => (0..count).map(|_| OnceLock::new()).collect(),
            None => Vec::new(),
        };
        let blocks = |count: usize| match members {
            Some(_) => (0..count.div_ceil(BLOCK)).map(|_| OnceLock::new()).collect(),
            None => Vec::new(),
        };
        // Boxes need no pairs.
        let pairs = if boxes == 0 { groups.pair_action.len() } else { 0 };
        Members {
            problem,
            groups,
            words,
            weights: lazy(problem.weights.as_ref().map_or(0, |weights| weights.planes().len())),
            edit_unions: lazy(groups.edits),
            pair_unions: lazy(pairs),
            flips: blocks(problem.actions()),
            box_unions: blocks(boxes),
            box_sizes: (0..boxes).map(|_| AtomicU32::new(0)).collect(),
            members,
        }
    }

    /// Words of a set of members.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Bits of a weight; 0 if every row counts once.
    #[inline(always)]
    pub fn weight_bits(&self) -> usize {
        self.problem.weights.as_ref().map_or(0, |weights| weights.planes().len())
    }

    /// The members whose weight has a bit.
    #[inline(always)]
    pub fn with_weight_bit<K: Simd>(&self, simd: K, bit: usize) -> &[u64] {
        match &self.problem.weights {
            Some(weights) => self.packed(simd, &self.weights, bit, weights.planes()[bit].words()),
            None => &[],
        }
    }

    /// A subset of the members.
    #[inline(always)]
    pub fn subset<K: Simd>(&self, simd: K, set: &RowSet, out: &mut Vec<u64>) {
        out.clear();
        match &self.members {
            None => out.extend_from_slice(set.words()),
            Some(members) => {
                out.resize(self.words, 0);
                compress(simd, set.words(), members.words(), out);
            }
        }
    }

    #[inline(always)]
    fn packed<'b, K: Simd>(&'b self, simd: K, slots: &'b [Packed], at: usize, all: &'b [u64]) -> &'b [u64] {
        let Some(members) = &self.members else { return all };
        match slots[at].get() {
            Some(words) => words,
            None => pack_once(simd, &slots[at], self.words, all, members),
        }
    }

    /// The members that are in a set of all rows; packed into `out` if need be.
    #[inline(always)]
    pub fn packed_now<'b, K: Simd>(&self, simd: K, all: &'b [u64], out: &'b mut Vec<u64>) -> &'b [u64] {
        let Some(members) = &self.members else { return all };
        out.clear();
        out.resize(self.words, 0);
        compress(simd, all, members.words(), out);
        out
    }

    /// The members that an action flips.
    #[inline(always)]
    pub fn flips<K: Simd>(&self, simd: K, action: u32) -> &[u64] {
        let action = action as usize;
        self.packed_block(simd, &self.flips, action, self.problem.flips_of(action))
    }

    /// The members that anything in a box flips.
    #[inline(always)]
    pub fn box_union<'b, K: Simd>(&'b self, simd: K, boxes: &'b Boxes, at: usize) -> &'b [u64] {
        self.packed_block(simd, &self.box_unions, at, boxes.unions.set(at))
    }

    /// How many members anything in a box flips at most, by weight. Every leaf looks at most boxes, so each is counted once for all of them.
    #[inline(always)]
    pub fn box_size<K: Simd>(&self, simd: K, boxes: &Boxes, at: usize) -> u32 {
        match self.box_sizes[at].load(Ordering::Relaxed) {
            0 => self.count_box(simd, boxes, at),
            size => size - 1,
        }
    }

    #[inline(never)]
    fn count_box<K: Simd>(&self, simd: K, boxes: &Boxes, at: usize) -> u32 {
        let union = self.box_union(simd, boxes, at);
        let count = |words: &[u64]| -> u32 {
            let both = union.iter().zip(words);
            both.map(|(union, words)| (union & words).count_ones()).sum()
        };
        let size = match self.weight_bits() {
            0 => union.iter().map(|word| word.count_ones()).sum(),
            bits => (0..bits).map(|bit| count(self.with_weight_bit(simd, bit)) << bit).sum::<u32>(),
        };
        // (The weight of all rows is below 2^32 − 2.)
        self.box_sizes[at].store(size + 1, Ordering::Relaxed);
        size
    }

    #[inline(always)]
    fn packed_block<'b, K: Simd>(
        &'b self,
        simd: K,
        blocks: &'b [Blocked],
        at: usize,
        all: &'b [u64],
    ) -> &'b [u64] {
        if self.members.is_none() {
            return all;
        }
        let block = blocks[at / BLOCK].get_or_init(|| (0..BLOCK).map(|_| OnceLock::new()).collect());
        self.packed(simd, block, at % BLOCK, all)
    }

    /// The members that anything with this edit flips.
    #[inline(always)]
    pub fn edit_union<K: Simd>(&self, simd: K, edit: usize) -> &[u64] {
        self.packed(simd, &self.edit_unions, edit, self.groups.edit_unions.set(edit))
    }

    /// The members that anything with this pair flips.
    #[inline(always)]
    pub fn pair_union<K: Simd>(&self, simd: K, pair: u32) -> &[u64] {
        self.packed(simd, &self.pair_unions, pair as usize, self.groups.pair_unions.set(pair as usize))
    }
}

#[inline(never)]
fn pack_once<'b, K: Simd>(
    simd: K,
    slot: &'b Packed,
    words: usize,
    all: &[u64],
    members: &RowSet,
) -> &'b [u64] {
    slot.get_or_init(|| {
        let mut packed = vec![0; words];
        compress(simd, all, members.words(), &mut packed);
        packed.into()
    })
}

/// Picks the bits of `set` at the positions of `members` and packs them together.
#[inline(always)]
fn compress<K: Simd>(simd: K, set: &[u64], members: &[u64], out: &mut [u64]) {
    let (mut word, mut bit) = (0, 0);
    for (&set, &members) in set.iter().zip(members) {
        if members == 0 {
            continue;
        }
        let packed = pack(simd, set, members);
        let count = members.count_ones();
        out[word] |= packed << bit;
        let room = 64 - bit;
        if count >= room {
            word += 1;
            if count > room {
                out[word] |= packed >> room;
            }
            bit = count - room;
        } else {
            bit += count;
        }
    }
}

/// The bits of `value` where `mask` is set, moved to the low end.
#[inline(always)]
fn pack<K: Simd>(_simd: K, value: u64, mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if K::AVX2 {
        // SAFETY: the token proves that the processor has BMI2.
        return unsafe { std::arch::x86_64::_pext_u64(value, mask) };
    }
    let (mut rest, mut packed, mut position) = (mask, 0, 0);
    while rest != 0 {
        packed |= (value >> rest.trailing_zeros() & 1) << position;
        rest &= rest - 1;
        position += 1;
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::with_every_token;

    #[test]
    fn members_are_packed_in_order() {
        for rows in [1, 64, 65, 130, 200] {
            let members = RowSet::from_fn(rows, |row| row % 3 != 1);
            let set = RowSet::from_fn(rows, |row| row % 5 < 2);
            let expected = RowSet::from_rows(
                members.count(),
                members
                    .iter()
                    .enumerate()
                    .filter(|(_, row)| set.contains(*row))
                    .map(|(position, _)| position),
            );
            with_every_token!(simd => {
                let mut out = vec![0; words_for(members.count())];
                compress(simd, set.words(), members.words(), &mut out);
                assert_eq!(out, expected.words(), "{rows} rows");
            });
        }
    }
}
