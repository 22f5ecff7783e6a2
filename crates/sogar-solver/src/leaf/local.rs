//! The problem as seen from one set of rows: costs and flips of its members only, laid out for its subsets.
//!
//! Many subsets of the same members are evaluated, so it pays to bring the members together first: fewer words per
//! set, and costs in sequence. Flips are kept in *planes*: of eight children of one action (which are
//! consecutive) word 0 of all of them, then word 1, and so on. Counting the flips of eight actions on a subset is then
//! one pass over consecutive memory without any horizontal step. Planes are made when a leaf first asks for them.

use std::sync::OnceLock;

use super::groups::{Groups, NONE};
use crate::bits::{AVX512, PORTABLE, RowSet, words_for};
use crate::problem::Problem;

/// Children that are counted together; the last ones of a block are padded with empty sets.
pub(super) const LANES: usize = 8;

/// One word of each of them, on one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Plane(pub [u64; LANES]);

/// The members of a set.
pub(super) struct Local<'a> {
    problem: &'a Problem,
    groups: &'a Groups,
    members: RowSet,
    /// Number of members.
    pub rows: usize,
    /// Words of a set of members.
    pub words: usize,
    /// edits × members
    columns: Vec<u32>,
    /// Per edit the flips of everything that contains it: edits × words.
    pub edit_unions: Vec<u64>,
    /// Flips of single edits: edits × words.
    pub singles: Vec<u64>,
    /// Per action with children: for every eight of them `words` planes of their own flips; then, for children that
    /// are pairs, the same of the flips of everything that contains the pair.
    planes: Vec<OnceLock<Box<[Plane]>>>,
}

impl<'a> Local<'a> {
    /// How many words the planes may take in all before looking at actions one by one is better.
    pub const MOST_WORDS: usize = 1 << 20;

    #[inline(always)]
    pub fn new<const KERNEL: u8>(problem: &'a Problem, groups: &'a Groups, members: &RowSet) -> Self {
        let rows = members.count();
        let words = words_for(rows);
        let list: Vec<u32> = members.iter().map(|row| row as u32).collect();
        let mut columns = Vec::with_capacity(problem.edits * rows);
        for edit in 0..problem.edits {
            let column = problem.edit_cost(edit);
            columns.extend(list.iter().map(|&row| column[row as usize]));
        }
        let mut edit_unions = vec![0; problem.edits * words];
        let mut singles = vec![0; problem.edits * words];
        for edit in 0..problem.edits {
            let at = edit * words..(edit + 1) * words;
            compress::<KERNEL>(groups.edit_unions.set(edit), members.words(), &mut edit_unions[at.clone()]);
            if groups.single[edit] != NONE {
                compress::<KERNEL>(
                    problem.flips_of(groups.single[edit] as usize),
                    members.words(),
                    &mut singles[at],
                );
            }
        }
        let planes = (0..groups.blocks.len()).map(|_| OnceLock::new()).collect();
        Local {
            problem,
            groups,
            members: members.clone(),
            rows,
            words,
            columns,
            edit_unions,
            singles,
            planes,
        }
    }

    /// The cost of an edit on every member.
    #[inline(always)]
    pub fn column(&self, edit: usize) -> &[u32] {
        &self.columns[edit * self.rows..(edit + 1) * self.rows]
    }

    /// A subset of the members.
    #[inline(always)]
    pub fn subset<const KERNEL: u8>(&self, set: &RowSet, out: &mut Vec<u64>) {
        out.clear();
        out.resize(self.words, 0);
        compress::<KERNEL>(set.words(), self.members.words(), out);
    }

    /// The planes of a block of children: `chunks(count) × words` of their own flips, then as many of unions.
    #[inline(always)]
    pub fn planes<const KERNEL: u8>(&self, block: u32) -> &[Plane] {
        match self.planes[block as usize].get() {
            Some(planes) => planes,
            None => self.make_planes::<KERNEL>(block),
        }
    }

    #[inline(never)]
    fn make_planes<const KERNEL: u8>(&self, block: u32) -> &[Plane] {
        self.planes[block as usize].get_or_init(|| {
            let block = self.groups.blocks[block as usize];
            let own = self.words * chunks(block.count);
            let unions = block.level == 2;
            let mut planes = vec![Plane([0; LANES]); own * if unions { 2 } else { 1 }];
            let mut one = vec![0; self.words];
            for child in 0..block.count as usize {
                let mut put = |flips: &[u64], at: usize| {
                    one.fill(0);
                    compress::<KERNEL>(flips, self.members.words(), &mut one);
                    for (word, &value) in one.iter().enumerate() {
                        planes[at + child / LANES * self.words + word].0[child % LANES] = value;
                    }
                };
                let action = block.first as usize + child;
                put(self.problem.flips_of(action), 0);
                if unions {
                    let list = self.problem.edits_of(action);
                    let pair = self.groups.pair[list[0] as usize * self.groups.edits + list[1] as usize];
                    put(self.groups.pair_unions.set(pair as usize), own);
                }
            }
            planes.into_boxed_slice()
        })
    }
}

/// How many times eight children hold this many.
#[inline(always)]
pub(super) fn chunks(children: u32) -> usize {
    (children as usize).div_ceil(LANES)
}

/// Picks the bits of `set` at the positions of `members` and packs them together.
#[inline(always)]
pub(super) fn compress<const KERNEL: u8>(set: &[u64], members: &[u64], out: &mut [u64]) {
    let (mut word, mut bit) = (0, 0);
    for (&set, &members) in set.iter().zip(members) {
        if members == 0 {
            continue;
        }
        let packed = pack::<KERNEL>(set, members);
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

/// Flips of eight children within a set: which of them have at least `least`, and all counts.
#[inline(always)]
pub(super) fn count_chunk<const KERNEL: u8>(
    set: &[u64],
    planes: &[Plane],
    least: u64,
) -> (u32, [u64; LANES]) {
    #[cfg(target_arch = "x86_64")]
    if KERNEL == AVX512 {
        use std::arch::x86_64::{
            _mm512_add_epi64, _mm512_and_si512, _mm512_cmpge_epu64_mask, _mm512_load_si512,
            _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
        };
        let mut counts = [0u64; LANES];
        // SAFETY: this kernel runs only where AVX-512 and its population counts were detected. A plane is 64 bytes,
        // aligned to 64, and `counts` is 64 bytes long.
        let enough = unsafe {
            let mut sums = _mm512_setzero_si512();
            for (&members, plane) in set.iter().zip(planes) {
                let flips = _mm512_load_si512(plane.0.as_ptr().cast());
                let both = _mm512_and_si512(flips, _mm512_set1_epi64(members as i64));
                sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(both));
            }
            _mm512_storeu_si512(counts.as_mut_ptr().cast(), sums);
            _mm512_cmpge_epu64_mask(sums, _mm512_set1_epi64(least as i64))
        };
        return (u32::from(enough), counts);
    }
    let mut counts = [0u64; LANES];
    for (&members, Plane(flips)) in set.iter().zip(planes) {
        for (count, flips) in counts.iter_mut().zip(flips) {
            *count += u64::from((members & flips).count_ones());
        }
    }
    let enough = counts.iter().enumerate().map(|(lane, &count)| u32::from(count >= least) << lane).sum();
    (enough, counts)
}

/// The bits of `value` where `mask` is set, moved to the low end.
#[inline(always)]
fn pack<const KERNEL: u8>(value: u64, mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if KERNEL != PORTABLE {
        // SAFETY: the other kernels run only where BMI2 was detected.
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

    #[test]
    fn members_are_packed_in_order() {
        for rows in [1, 64, 65, 130, 200] {
            let members = RowSet::from_fn(rows, |row| row % 3 != 1);
            let set = RowSet::from_fn(rows, |row| row % 5 < 2);
            let mut out = vec![0; words_for(members.count())];
            compress::<PORTABLE>(set.words(), members.words(), &mut out);
            let expected = RowSet::from_rows(
                members.count(),
                members
                    .iter()
                    .enumerate()
                    .filter(|(_, row)| set.contains(*row))
                    .map(|(position, _)| position),
            );
            assert_eq!(out, expected.words(), "{rows} rows");
        }
    }
}
