//! What every edit costs every member of a row set, laid out for sums over subsets.
//!
//! No cost of an action is stored: the largest (or the sum) of its edits' costs is formed where it is needed. Costs stand
//! in 16 bits where they fit, so that one register holds 32 rows, else in 32 bits.

use crate::bits::AVX512;
use crate::problem::{Combine, Problem};

/// Costs of the members, edit after edit, padded with zeros to whole words of rows.
pub(super) struct Columns {
    values: Values,
    /// Costs per edit: 64 for each word of a set of members.
    length: usize,
    combine: Combine,
}

enum Values {
    /// Every cost is below 2^15 and every total below 2^32, which the 16-bit sums need.
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl Columns {
    /// Brings the costs of the members (ascending rows) together, edit by edit.
    pub fn new(problem: &Problem, members: &[u32], words: usize) -> Self {
        let edits: Vec<&[u32]> = (0..problem.edits).map(|edit| problem.edit_cost(edit)).collect();
        Columns::of(problem, &edits, members, words)
    }

    /// The same for other columns of costs, none of them above the problem's dearest.
    pub fn of(problem: &Problem, columns: &[&[u32]], members: &[u32], words: usize) -> Self {
        let length = words * 64;
        let values = match problem.dearest() < 1 << 15 && problem.scale() == 0 {
            true => Values::Short(gather(columns, members, length, |cost| cost as u16)),
            false => Values::Long(gather(columns, members, length, |cost| cost)),
        };
        Columns { values, length, combine: problem.combine }
    }

    /// Total cost over a set of members of an action with these edits.
    #[inline(always)]
    pub fn total<const KERNEL: u8>(&self, set: &[u64], edits: &[u32]) -> u64 {
        match (self.combine, edits) {
            (_, []) => 0,
            (_, [a]) => self.largest::<KERNEL, 1>(set, [*a]),
            (Combine::Max, [a, b]) => self.largest::<KERNEL, 2>(set, [*a, *b]),
            (Combine::Max, [a, b, c]) => self.largest::<KERNEL, 3>(set, [*a, *b, *c]),
            (Combine::Max, _) => self.largest_of_many(set, edits),
            (Combine::Sum, _) => edits.iter().map(|&edit| self.largest::<KERNEL, 1>(set, [edit])).sum(),
        }
    }

    /// Σ over the set of the largest of some edits' costs.
    #[inline(always)]
    fn largest<const KERNEL: u8, const N: usize>(&self, set: &[u64], edits: [u32; N]) -> u64 {
        let at = |edit: u32| edit as usize * self.length..(edit as usize + 1) * self.length;
        match &self.values {
            Values::Short(values) => {
                let columns = edits.map(|edit| &values[at(edit)]);
                #[cfg(target_arch = "x86_64")]
                if KERNEL == AVX512 {
                    // SAFETY: this kernel runs only where AVX-512 was detected.
                    return unsafe { short_sum(set, columns) };
                }
                plain_sum(set, columns.map(|column| move |row: usize| u32::from(column[row])))
            }
            Values::Long(values) => {
                let columns = edits.map(|edit| &values[at(edit)]);
                #[cfg(target_arch = "x86_64")]
                if KERNEL == AVX512 {
                    // SAFETY: as above.
                    return unsafe { long_sum(set, columns) };
                }
                plain_sum(set, columns.map(|column| move |row: usize| column[row]))
            }
        }
    }

    /// The same for any number of edits.
    #[inline(never)]
    fn largest_of_many(&self, set: &[u64], edits: &[u32]) -> u64 {
        let largest = |row: usize| {
            let at = |edit: &u32| *edit as usize * self.length + row;
            match &self.values {
                Values::Short(values) => edits.iter().map(|e| u32::from(values[at(e)])).max().unwrap_or(0),
                Values::Long(values) => edits.iter().map(|e| values[at(e)]).max().unwrap_or(0),
            }
        };
        plain_sum(set, [largest])
    }
}

/// Gathers the members' costs, column after column.
fn gather<T: Copy + Default>(
    columns: &[&[u32]],
    members: &[u32],
    length: usize,
    narrow: impl Fn(u32) -> T,
) -> Vec<T> {
    let mut gathered = vec![T::default(); columns.len() * length];
    for (costs, column) in columns.iter().zip(gathered.chunks_exact_mut(length.max(1))) {
        column.iter_mut().zip(members).for_each(|(cost, &row)| *cost = narrow(costs[row as usize]));
    }
    gathered
}

/// Row after row.
#[inline(always)]
fn plain_sum<const N: usize>(set: &[u64], costs: [impl Fn(usize) -> u32; N]) -> u64 {
    let mut total = 0;
    for (i, &word) in set.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            let row = i * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            total += u64::from(costs.iter().map(|cost| cost(row)).max().unwrap_or(0));
        }
    }
    total
}

/// 32 rows at a time. Costs are below 2^15 and totals fit 32 bits; every column has 64 costs per word of the set.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn short_sum<const N: usize>(set: &[u64], columns: [&[u16]; N]) -> u64 {
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maskz_loadu_epi16, _mm512_max_epu16,
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
            let at = i * 64 + half * 32;
            let members = (word >> (32 * half)) as u32;
            // SAFETY: 32 costs from row `at` on are inside every column, as asserted above.
            let mut dearest =
                unsafe { _mm512_maskz_loadu_epi16(members, columns[0].as_ptr().add(at).cast()) };
            for column in &columns[1..] {
                // SAFETY: as above.
                let costs = unsafe { _mm512_loadu_si512(column.as_ptr().add(at).cast()) };
                dearest = match N {
                    2 => std::arch::x86_64::_mm512_maskz_max_epu16(members, dearest, costs),
                    _ => _mm512_max_epu16(dearest, costs),
                };
            }
            if N > 2 {
                dearest = std::arch::x86_64::_mm512_maskz_mov_epi16(members, dearest);
            }
            // Neighbours are added as signed 16-bit numbers into 32 bits: exact below 2^15.
            *sum = _mm512_add_epi32(*sum, _mm512_madd_epi16(dearest, ones));
        }
    }
    u64::from(_mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1])) as u32)
}

/// 16 rows at a time, added in 64 bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn long_sum<const N: usize>(set: &[u64], columns: [&[u32]; N]) -> u64 {
    use std::arch::x86_64::{
        _mm512_add_epi64, _mm512_and_si512, _mm512_loadu_si512, _mm512_maskz_mov_epi32, _mm512_max_epu32,
        _mm512_reduce_add_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64,
    };
    assert!(columns.iter().all(|column| column.len() == set.len() * 64));
    let low = _mm512_set1_epi64(0xffff_ffff);
    let (mut even, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    for (i, &word) in set.iter().enumerate() {
        if word == 0 {
            continue;
        }
        for quarter in 0..4 {
            let mut dearest = _mm512_setzero_si512();
            for column in columns {
                // SAFETY: 16 costs from row i·64 + quarter·16 on are inside the column, as asserted above.
                let costs = unsafe { _mm512_loadu_si512(column.as_ptr().add(i * 64 + quarter * 16).cast()) };
                dearest = _mm512_max_epu32(dearest, costs);
            }
            let members = _mm512_maskz_mov_epi32((word >> (16 * quarter)) as u16, dearest);
            even = _mm512_add_epi64(even, _mm512_and_si512(members, low));
            odd = _mm512_add_epi64(odd, _mm512_srli_epi64::<32>(members));
        }
    }
    _mm512_reduce_add_epi64(_mm512_add_epi64(even, odd)) as u64
}
