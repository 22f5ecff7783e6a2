//! The problem as seen from one set of rows: costs and flips of its members only, laid out for its subsets.
//!
//! Many subsets of the same members are evaluated, so it pays to bring the members together first: fewer words per
//! set, and costs in sequence. Flips are kept in *planes*: for the children of one action, which
//! are consecutive, word 0 of all of them, then word 1, and so on. Counting the flips of all children on a subset is
//! then a loop over consecutive words without any horizontal step. Planes are made when a leaf first asks for them.

use std::sync::OnceLock;

use super::groups::{Groups, NONE};
use crate::bits::{RowSet, words_for};
use crate::problem::Problem;

/// Children that are counted together; planes are padded to a multiple of it.
pub(super) const LANES: usize = 8;

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
    /// Per action with children: `words` planes of the children's own flips, then, for children that are pairs,
    /// `words` planes of the flips of everything that contains the pair.
    planes: Vec<OnceLock<Box<[u64]>>>,
}

impl<'a> Local<'a> {
    /// How many words the planes may take in all before looking at actions one by one is better.
    pub const MOST_WORDS: usize = 1 << 20;

    #[inline(always)]
    pub fn new<const PEXT: bool>(problem: &'a Problem, groups: &'a Groups, members: &RowSet) -> Self {
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
            compress::<PEXT>(groups.edit_unions.set(edit), members.words(), &mut edit_unions[at.clone()]);
            if groups.single[edit] != NONE {
                compress::<PEXT>(
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
    pub fn subset<const PEXT: bool>(&self, set: &RowSet, out: &mut Vec<u64>) {
        out.clear();
        out.resize(self.words, 0);
        compress::<PEXT>(set.words(), self.members.words(), out);
    }

    /// The planes of a block of children, each of `padded(count)` words.
    #[inline(always)]
    pub fn planes<const PEXT: bool>(&self, block: u32) -> &[u64] {
        match self.planes[block as usize].get() {
            Some(planes) => planes,
            None => self.make_planes::<PEXT>(block),
        }
    }

    #[inline(never)]
    fn make_planes<const PEXT: bool>(&self, block: u32) -> &[u64] {
        self.planes[block as usize].get_or_init(|| {
            let block = self.groups.blocks[block as usize];
            let width = padded(block.count as usize);
            let unions = block.level == 2;
            let mut planes = vec![0; self.words * width * if unions { 2 } else { 1 }];
            let mut one = vec![0; self.words];
            for child in 0..block.count as usize {
                let mut put = |flips: &[u64], at: usize| {
                    one.fill(0);
                    compress::<PEXT>(flips, self.members.words(), &mut one);
                    for (word, &value) in one.iter().enumerate() {
                        planes[at + word * width + child] = value;
                    }
                };
                let action = block.first as usize + child;
                put(self.problem.flips_of(action), 0);
                if unions {
                    let list = self.problem.edits_of(action);
                    let pair = self.groups.pair[list[0] as usize * self.groups.edits + list[1] as usize];
                    put(self.groups.pair_unions.set(pair as usize), self.words * width);
                }
            }
            planes.into_boxed_slice()
        })
    }
}

/// The width of a plane for that many children.
#[inline(always)]
pub(super) fn padded(children: usize) -> usize {
    children.next_multiple_of(LANES)
}

/// Picks the bits of `set` at the positions of `members` and packs them together.
#[inline(always)]
fn compress<const PEXT: bool>(set: &[u64], members: &[u64], out: &mut [u64]) {
    let (mut word, mut bit) = (0, 0);
    for (&set, &members) in set.iter().zip(members) {
        if members == 0 {
            continue;
        }
        let packed = pack::<PEXT>(set, members);
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

/// The bits of `value` where `mask` is set, moved to the low end. `PEXT`: the processor has an instruction for it.
#[inline(always)]
fn pack<const PEXT: bool>(value: u64, mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if PEXT {
        // SAFETY: the kernels that set `PEXT` run only where BMI2 was detected.
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
            compress::<false>(set.words(), members.words(), &mut out);
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
