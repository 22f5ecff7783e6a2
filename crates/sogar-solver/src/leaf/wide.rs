//! The problem as seen from one set of rows, for sets too long for planes: actions are looked at one by one, so only
//! what a leaf asks for is brought together, when it first asks.

use std::sync::OnceLock;

use super::groups::Groups;
use super::local::compress;
use crate::bits::{AVX512, RowSet, words_for};
use crate::problem::{Combine, Problem};

/// The members of a set.
pub(super) struct Wide<'a> {
    problem: &'a Problem,
    groups: &'a Groups,
    /// `None`: all rows, so that nothing needs to be moved.
    members: Option<RowSet>,
    /// Words of a set of members.
    words: usize,
    /// edits × (words · 64): costs of the members, padded with zeros. In 16 bits where every cost is below 2^15,
    /// which the sums need.
    columns: Columns,
    edit_unions: Vec<OnceLock<Box<[u64]>>>,
    pair_unions: Vec<OnceLock<Box<[u64]>>>,
    flips: Vec<OnceLock<Box<[u64]>>>,
}

enum Columns {
    Short(Vec<u16>),
    Long(Vec<u32>),
}

/// Gathers the members' costs, edit after edit.
fn gather<T: Copy + Default>(
    problem: &Problem,
    list: &[u32],
    length: usize,
    narrow: impl Fn(u32) -> T,
) -> Vec<T> {
    let mut columns = vec![T::default(); problem.edits * length];
    for (edit, column) in columns.chunks_exact_mut(length.max(1)).enumerate() {
        let costs = problem.edit_cost(edit);
        column.iter_mut().zip(list).for_each(|(cost, &row)| *cost = narrow(costs[row as usize]));
    }
    columns
}

impl<'a> Wide<'a> {
    pub fn new(problem: &'a Problem, groups: &'a Groups, members: &RowSet) -> Self {
        let rows = members.count();
        let words = words_for(rows);
        let list: Vec<u32> = members.iter().map(|row| row as u32).collect();
        let columns = match problem.dearest() < 1 << 15 {
            true => Columns::Short(gather(problem, &list, words * 64, |cost| cost as u16)),
            false => Columns::Long(gather(problem, &list, words * 64, |cost| cost)),
        };
        let members = (rows < problem.rows).then(|| members.clone());
        let lazy = |count: usize| match members {
            Some(_) => (0..count).map(|_| OnceLock::new()).collect(),
            None => Vec::new(),
        };
        Wide {
            problem,
            groups,
            words,
            columns,
            edit_unions: lazy(groups.edits),
            pair_unions: lazy(groups.pair_action.len()),
            flips: lazy(problem.actions()),
            members,
        }
    }

    /// A subset of the members.
    #[inline(always)]
    pub fn subset<const KERNEL: u8>(&self, set: &RowSet, out: &mut Vec<u64>) {
        out.clear();
        match &self.members {
            None => out.extend_from_slice(set.words()),
            Some(members) => {
                out.resize(self.words, 0);
                compress::<KERNEL>(set.words(), members.words(), out);
            }
        }
    }

    #[inline(always)]
    fn packed<'b, const KERNEL: u8>(
        &'b self,
        slots: &'b [OnceLock<Box<[u64]>>],
        at: usize,
        all: &'b [u64],
    ) -> &'b [u64] {
        let Some(members) = &self.members else { return all };
        match slots[at].get() {
            Some(words) => words,
            None => pack_once::<KERNEL>(&slots[at], self.words, all, members),
        }
    }

    /// The members that an action flips.
    #[inline(always)]
    pub fn flips<const KERNEL: u8>(&self, action: u32) -> &[u64] {
        self.packed::<KERNEL>(&self.flips, action as usize, self.problem.flips_of(action as usize))
    }

    /// The members that anything with this edit flips.
    #[inline(always)]
    pub fn edit_union<const KERNEL: u8>(&self, edit: usize) -> &[u64] {
        self.packed::<KERNEL>(&self.edit_unions, edit, self.groups.edit_unions.set(edit))
    }

    /// The members that anything with this pair flips.
    #[inline(always)]
    pub fn pair_union<const KERNEL: u8>(&self, pair: u32) -> &[u64] {
        self.packed::<KERNEL>(&self.pair_unions, pair as usize, self.groups.pair_unions.set(pair as usize))
    }

    /// Where an edit's costs stand in the columns.
    #[inline(always)]
    fn range(&self, edit: u32) -> std::ops::Range<usize> {
        edit as usize * self.words * 64..(edit as usize + 1) * self.words * 64
    }

    /// Total cost over a set of members of an action with these edits.
    #[inline(always)]
    pub fn cost<const KERNEL: u8>(&self, set: &[u64], edits: &[u32]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if KERNEL == AVX512
            && self.problem.scale() == 0
            && self.problem.combine == Combine::Max
            && let Columns::Short(columns) = &self.columns
        {
            let column = |edit: &u32| &columns[self.range(*edit)];
            // SAFETY: this kernel runs only where AVX-512 was detected.
            match edits {
                [] => return 0,
                [a] => return unsafe { masked_sum(set, [column(a)]) },
                [a, b] => return unsafe { masked_sum(set, [column(a), column(b)]) },
                [a, b, c] => return unsafe { masked_sum(set, [column(a), column(b), column(c)]) },
                _ => {}
            }
        }
        match &self.columns {
            Columns::Short(columns) => self.plain_cost(set, edits, |at| u64::from(columns[at])),
            Columns::Long(columns) => self.plain_cost(set, edits, |at| u64::from(columns[at])),
        }
    }

    #[inline(always)]
    fn plain_cost(&self, set: &[u64], edits: &[u32], cost: impl Fn(usize) -> u64) -> u64 {
        let mut total = 0;
        for (i, &word) in set.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let row = i * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let costs = edits.iter().map(|&edit| cost(edit as usize * self.words * 64 + row));
                total += match self.problem.combine {
                    Combine::Max => costs.max().unwrap_or(0),
                    Combine::Sum => costs.sum(),
                };
            }
        }
        total
    }
}

#[inline(never)]
fn pack_once<'b, const KERNEL: u8>(
    slot: &'b OnceLock<Box<[u64]>>,
    words: usize,
    all: &[u64],
    members: &RowSet,
) -> &'b [u64] {
    slot.get_or_init(|| {
        let mut packed = vec![0; words];
        compress::<KERNEL>(all, members.words(), &mut packed);
        packed.into()
    })
}

/// Σ over the set of the largest of the columns. Costs are below 2^15 and totals fit 32 bits; every column has 64
/// costs per word of the set.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn masked_sum<const N: usize>(set: &[u64], columns: [&[u16]; N]) -> u64 {
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maskz_mov_epi16, _mm512_max_epu16,
        _mm512_reduce_add_epi32, _mm512_set1_epi16, _mm512_setzero_si512,
    };
    assert!(columns.iter().all(|column| column.len() == set.len() * 64));
    let ones = _mm512_set1_epi16(1);
    let mut sums = [_mm512_setzero_si512(); 2];
    for (i, &word) in set.iter().enumerate() {
        if word == 0 {
            continue;
        }
        for (half, sum) in sums.iter_mut().enumerate() {
            let mut dearest = _mm512_setzero_si512();
            for column in columns {
                // SAFETY: 32 costs from row i·64 + half·32 on are inside the column, as asserted above.
                let costs = unsafe { _mm512_loadu_si512(column.as_ptr().add(i * 64 + half * 32).cast()) };
                dearest = _mm512_max_epu16(dearest, costs);
            }
            let members = _mm512_maskz_mov_epi16((word >> (32 * half)) as u32, dearest);
            // Neighbours are added as signed 16-bit numbers into 32 bits: exact below 2^15.
            *sum = _mm512_add_epi32(*sum, _mm512_madd_epi16(members, ones));
        }
    }
    u64::from(_mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1])) as u32)
}
