//! What every edit costs every member of a row set, laid out for sums over subsets.
//!
//! No cost of an action is stored: the largest (or the sum) of its edits' costs is formed where it is needed. Costs stand
//! in 16 bits where they fit, so that one register holds 32 rows, else in 32 bits.
//!
//! Costs that need 32 bits are kept a second time without their lowest bits, in 16: sums of these *rough* costs, moved back up, are at most
//! the true ones ([`Columns::at_least`]), off by less than a unit of the last bit kept for each row. They are as fast as those of small costs
//! and rule out nearly all of what exact sums would, so that exact ones are made for few. (The largest of rough costs is the rough largest cost:
//! dropping bits keeps the order.)

use super::lanes::LANES;
use crate::problem::{Combine, Problem};
use crate::simd::Simd;

/// Costs of the members, edit after edit, padded with zeros to whole words of rows.
pub(crate) struct Columns {
    values: Values,
    /// Costs per edit: 64 for each word of a set of members.
    length: usize,
    combine: Combine,
}

enum Values {
    /// Every cost is below 2^15 and every total below 2^32, which the 16-bit sums need.
    Short(Vec<u16>),
    /// The costs, and the same without their lowest bits.
    Long { exact: Vec<u32>, rough: Vec<u16>, dropped: u32, narrow_totals: bool },
}

impl Columns {
    /// Brings the costs of the members (ascending rows) together, edit by edit.
    pub fn new(problem: &Problem, members: &[u32], words: usize) -> Self {
        let edits: Vec<&[u32]> = (0..problem.edits).map(|edit| problem.edit_cost(edit)).collect();
        Columns::of(problem, &edits, members, words)
    }

    /// The same for other columns of costs, none above the problem's largest cost.
    pub fn of(problem: &Problem, columns: &[&[u32]], members: &[u32], words: usize) -> Self {
        let length = words * 64;
        let values = match problem.max_cost() < 1 << 15 && problem.scale() == 0 {
            true => Values::Short(gather(columns, members, length, |cost| cost as u16)),
            false => {
                let fits = |dropped: &u32| {
                    let most = u64::from(problem.max_cost() >> dropped);
                    most < 1 << 15 && most * (length as u64) < 1 << 32
                };
                let dropped = (0..32).find(fits).unwrap_or(31);
                Values::Long {
                    exact: gather(columns, members, length, |cost| cost),
                    rough: gather(columns, members, length, |cost| (cost >> dropped) as u16),
                    dropped,
                    narrow_totals: problem.scale() == 0,
                }
            }
        };
        Columns { values, length, combine: problem.combine }
    }

    /// Whether [`Columns::at_least`] gives exact totals.
    #[inline(always)]
    pub fn is_exact(&self) -> bool {
        matches!(self.values, Values::Short(_))
    }

    /// Total cost over a set of members of an action with these edits.
    #[inline(never)]
    pub fn total<K: Simd>(&self, simd: K, set: &[u64], edits: &[u32]) -> u64 {
        match &self.values {
            Values::Short(values) => self.combined(simd, set, edits, values, false),
            Values::Long { exact, narrow_totals, .. } => {
                self.combined(simd, set, edits, exact, *narrow_totals)
            }
        }
    }

    /// The total, or a little less where that is quicker.
    #[inline(never)]
    pub fn at_least<K: Simd>(&self, simd: K, set: &[u64], edits: &[u32]) -> u64 {
        match &self.values {
            Values::Short(values) => self.combined(simd, set, edits, values, false),
            Values::Long { rough, dropped, .. } => self.combined(simd, set, edits, rough, false) << dropped,
        }
    }

    /// The same for eight sets at once, which is quicker than one by one from three of them on.
    #[inline(never)]
    pub fn all_at_least<K: Simd>(&self, simd: K, sets: &[Masks], edits: &[u32]) -> [u64; LANES] {
        let (values, dropped) = match &self.values {
            Values::Short(values) => (values, 0),
            Values::Long { rough, dropped, .. } => (rough, *dropped),
        };
        let column = |edit: u32| &values[edit as usize * self.length..(edit as usize + 1) * self.length];
        let narrow = match (self.combine, edits) {
            (_, [a]) => eight_sums(simd, sets, [column(*a)]),
            (Combine::Max, [a, b]) => eight_sums(simd, sets, [column(*a), column(*b)]),
            (Combine::Max, [a, b, c]) => eight_sums(simd, sets, [column(*a), column(*b), column(*c)]),
            _ => {
                let mut sums = [0u64; LANES];
                for (lane, sum) in sums.iter_mut().enumerate() {
                    let rows = (0..sets.len() * ROWS).filter(|row| sets[row / ROWS].0[lane][row % ROWS] != 0);
                    let costs = |row: usize| edits.iter().map(move |&edit| u64::from(column(edit)[row]));
                    *sum = match self.combine {
                        Combine::Max => rows.map(|row| costs(row).max().unwrap_or(0)).sum(),
                        Combine::Sum => rows.map(|row| costs(row).sum::<u64>()).sum(),
                    };
                }
                return sums.map(|sum| sum << dropped);
            }
        };
        let mut sums = [0; LANES];
        for lane in 0..LANES {
            sums[lane] = u64::from(narrow[lane]) << dropped;
        }
        sums
    }

    #[inline(always)]
    fn combined<K: Simd, T: Cost>(
        &self,
        simd: K,
        set: &[u64],
        edits: &[u32],
        values: &[T],
        narrow: bool,
    ) -> u64 {
        let column = |edit: u32| &values[edit as usize * self.length..(edit as usize + 1) * self.length];
        match (self.combine, edits) {
            (_, []) => 0,
            (_, [a]) => T::sum(simd, set, [column(*a)], narrow),
            (Combine::Max, [a, b]) => T::sum(simd, set, [column(*a), column(*b)], narrow),
            (Combine::Max, [a, b, c]) => T::sum(simd, set, [column(*a), column(*b), column(*c)], narrow),
            (Combine::Max, _) => {
                let largest = |row: usize| {
                    let costs = edits.iter().map(|&edit| column(edit)[row].into());
                    costs.max().unwrap_or(0)
                };
                plain_sum(set, [largest])
            }
            (Combine::Sum, _) => edits.iter().map(|&edit| T::sum(simd, set, [column(edit)], narrow)).sum(),
        }
    }
}

/// Rows of which eight sets are told together.
const ROWS: usize = 32;

/// 32 rows of eight sets: 1 for a member, 0 for others.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Masks([[u16; ROWS]; LANES]);

impl Masks {
    /// Eight sets, given word by word.
    #[inline(always)]
    pub fn of(words: &[super::lanes::Words], masks: &mut Vec<Masks>) {
        masks.clear();
        for words in words {
            for half in 0..64 / ROWS {
                let mut members = Masks([[0; ROWS]; LANES]);
                for (lane, word) in members.0.iter_mut().zip(words.0) {
                    let bits = (word >> (ROWS * half)) as u32;
                    for (row, member) in lane.iter_mut().enumerate() {
                        *member = (bits >> row & 1) as u16;
                    }
                }
                masks.push(members);
            }
        }
    }
}

/// For each of eight sets the sum of the largest of some columns' costs; these are below 2^15, and totals fit 32 bits.
#[inline(always)]
fn eight_sums<K: Simd, const N: usize>(_simd: K, sets: &[Masks], columns: [&[u16]; N]) -> [u32; LANES] {
    assert!(columns.iter().all(|column| column.len() == sets.len() * ROWS));
    #[cfg(target_arch = "x86_64")]
    if K::AVX512 {
        // SAFETY: the token proves that the processor has the instructions; the lengths are asserted above.
        return unsafe { eight_sums_avx512(sets, columns) };
    }
    #[cfg(target_arch = "x86_64")]
    if K::AVX2 {
        // SAFETY: as above.
        return unsafe { eight_sums_avx2(sets, columns) };
    }
    let mut sums = [0; LANES];
    for (i, masks) in sets.iter().enumerate() {
        for row in 0..ROWS {
            let cost = columns.iter().map(|column| column[i * ROWS + row]).max().unwrap_or(0);
            sums.iter_mut().zip(&masks.0).for_each(|(sum, mask)| *sum += u32::from(cost * mask[row]));
        }
    }
    sums
}

/// Every column has 32 costs per element of `sets`. One instruction multiplies 32 costs by a set's 0 or 1 and adds
/// neighbours to 16 sums.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
unsafe fn eight_sums_avx512<const N: usize>(sets: &[Masks], columns: [&[u16]; N]) -> [u32; LANES] {
    use std::arch::x86_64::{
        _mm256_add_epi32, _mm512_castsi512_si256, _mm512_dpwssd_epi32, _mm512_extracti64x4_epi64,
        _mm512_load_si512, _mm512_loadu_si512, _mm512_max_epu16, _mm512_setzero_si512,
    };
    let mut sums = [_mm512_setzero_si512(); LANES];
    for (i, masks) in sets.iter().enumerate() {
        let mut largest = _mm512_setzero_si512();
        for column in columns {
            // SAFETY: 32 costs from row 32·i on are inside every column, as the caller has made sure.
            let costs = unsafe { _mm512_loadu_si512(column.as_ptr().add(i * ROWS).cast()) };
            largest = _mm512_max_epu16(largest, costs);
        }
        // One by one, so that every sum stays in a register.
        macro_rules! add {
            ($($lane:literal)*) => {$(
                // SAFETY: a mask is 64 bytes, aligned to 64.
                let mask = unsafe { _mm512_load_si512(masks.0[$lane].as_ptr().cast()) };
                sums[$lane] = _mm512_dpwssd_epi32(sums[$lane], largest, mask);
            )*};
        }
        add!(0 1 2 3 4 5 6 7);
    }
    macro_rules! halves {
        ($($lane:literal)*) => {[$(
            _mm256_add_epi32(
                _mm512_castsi512_si256(sums[$lane]),
                _mm512_extracti64x4_epi64::<1>(sums[$lane]),
            )
        ),*]};
    }
    sum_each(halves!(0 1 2 3 4 5 6 7))
}

/// The same, 16 rows at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn eight_sums_avx2<const N: usize>(sets: &[Masks], columns: [&[u16]; N]) -> [u32; LANES] {
    use std::arch::x86_64::{
        _mm256_add_epi32, _mm256_load_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_max_epu16,
        _mm256_setzero_si256,
    };
    let mut sums = [_mm256_setzero_si256(); LANES];
    for (i, masks) in sets.iter().enumerate() {
        for half in [0, ROWS / 2] {
            let mut largest = _mm256_setzero_si256();
            for column in columns {
                // SAFETY: 16 costs from row 32·i + half on are inside every column, as the caller has made sure.
                let costs = unsafe { _mm256_loadu_si256(column.as_ptr().add(i * ROWS + half).cast()) };
                largest = _mm256_max_epu16(largest, costs);
            }
            macro_rules! add {
                ($($lane:literal)*) => {$(
                    // SAFETY: half a mask is 32 bytes, aligned to 32.
                    let mask = unsafe { _mm256_load_si256(masks.0[$lane].as_ptr().add(half).cast()) };
                    sums[$lane] = _mm256_add_epi32(sums[$lane], _mm256_madd_epi16(largest, mask));
                )*};
            }
            add!(0 1 2 3 4 5 6 7);
        }
    }
    sum_each(sums)
}

/// The sum of the eight numbers in each register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn sum_each(sums: [std::arch::x86_64::__m256i; LANES]) -> [u32; LANES] {
    use std::arch::x86_64::{_mm256_add_epi32, _mm256_hadd_epi32, _mm256_permute2x128_si256};
    let four = |a, b, c, d| _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    let [a, b, c, d, e, f, g, h] = sums;
    let (low, high) = (four(a, b, c, d), four(e, f, g, h));
    lanes_of(_mm256_add_epi32(
        _mm256_permute2x128_si256::<0x20>(low, high),
        _mm256_permute2x128_si256::<0x31>(low, high),
    ))
}

/// A cost in so many bits.
trait Cost: Copy + Into<u32> {
    /// Σ over a set of the largest of some columns' costs; `narrow`: it is known to fit 32 bits.
    fn sum<K: Simd, const N: usize>(simd: K, set: &[u64], columns: [&[Self]; N], narrow: bool) -> u64;
}

impl Cost for u16 {
    #[inline(always)]
    fn sum<K: Simd, const N: usize>(_simd: K, set: &[u64], columns: [&[u16]; N], _: bool) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if K::AVX512 {
            // SAFETY: the token proves that the processor has the kernel's instructions.
            return unsafe { short_sum(set, columns) };
        }
        #[cfg(target_arch = "x86_64")]
        if K::AVX2 {
            // SAFETY: as above.
            return unsafe { short_sum_avx2(set, columns) };
        }
        plain_sum(set, columns.map(|column| move |row: usize| u32::from(column[row])))
    }
}

impl Cost for u32 {
    #[inline(always)]
    fn sum<K: Simd, const N: usize>(_simd: K, set: &[u64], columns: [&[u32]; N], narrow: bool) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if K::AVX512 {
            // SAFETY: as above.
            return unsafe { long_sum(set, columns) };
        }
        #[cfg(target_arch = "x86_64")]
        if K::AVX2 {
            // SAFETY: as above.
            return unsafe { long_sum_avx2(set, columns, narrow) };
        }
        let _ = narrow;
        plain_sum(set, columns.map(|column| move |row: usize| column[row]))
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
            let mut largest =
                unsafe { _mm512_maskz_loadu_epi16(members, columns[0].as_ptr().add(at).cast()) };
            for column in &columns[1..] {
                // SAFETY: as above.
                let costs = unsafe { _mm512_loadu_si512(column.as_ptr().add(at).cast()) };
                largest = match N {
                    2 => std::arch::x86_64::_mm512_maskz_max_epu16(members, largest, costs),
                    _ => _mm512_max_epu16(largest, costs),
                };
            }
            if N > 2 {
                largest = std::arch::x86_64::_mm512_maskz_mov_epi16(members, largest);
            }
            // Neighbours are added as signed 16-bit numbers into 32 bits: exact below 2^15.
            *sum = _mm512_add_epi32(*sum, _mm512_madd_epi16(largest, ones));
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
            let mut largest = _mm512_setzero_si512();
            for column in columns {
                // SAFETY: 16 costs from row i·64 + quarter·16 on are inside the column, as asserted above.
                let costs = unsafe { _mm512_loadu_si512(column.as_ptr().add(i * 64 + quarter * 16).cast()) };
                largest = _mm512_max_epu32(largest, costs);
            }
            let members = _mm512_maskz_mov_epi32((word >> (16 * quarter)) as u16, largest);
            even = _mm512_add_epi64(even, _mm512_and_si512(members, low));
            odd = _mm512_add_epi64(odd, _mm512_srli_epi64::<32>(members));
        }
    }
    _mm512_reduce_add_epi64(_mm512_add_epi64(even, odd)) as u64
}

/// The same, 16 rows at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn short_sum_avx2<const N: usize>(set: &[u64], columns: [&[u16]; N]) -> u64 {
    use std::arch::x86_64::{
        _mm256_add_epi32, _mm256_and_si256, _mm256_cmpeq_epi16, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_max_epu16, _mm256_set1_epi16, _mm256_setr_epi16, _mm256_setzero_si256,
    };
    assert!(columns.iter().all(|column| column.len() == set.len() * 64));
    let ones = _mm256_set1_epi16(1);
    let bits =
        _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, i16::MIN);
    let mut sums = [_mm256_setzero_si256(); 2];
    for (i, &word) in set.iter().enumerate() {
        if word == 0 {
            continue;
        }
        for quarter in 0..4 {
            let at = i * 64 + quarter * 16;
            let members = _mm256_set1_epi16((word >> (16 * quarter)) as i16);
            let members = _mm256_cmpeq_epi16(_mm256_and_si256(members, bits), bits);
            let mut largest = _mm256_setzero_si256();
            for column in columns {
                // SAFETY: 16 costs from row `at` on are inside every column, as asserted above.
                let costs = unsafe { _mm256_loadu_si256(column.as_ptr().add(at).cast()) };
                largest = _mm256_max_epu16(largest, costs);
            }
            let costs = _mm256_and_si256(members, largest);
            sums[quarter % 2] = _mm256_add_epi32(sums[quarter % 2], _mm256_madd_epi16(costs, ones));
        }
    }
    total_of(_mm256_add_epi32(sums[0], sums[1]))
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn lanes_of(register: std::arch::x86_64::__m256i) -> [u32; 8] {
    // SAFETY: both are 32 bytes without padding, and every pattern of bits is valid for both.
    unsafe { std::mem::transmute::<std::arch::x86_64::__m256i, [u32; 8]>(register) }
}

/// The sum of eight numbers, which fits 32 bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn total_of(register: std::arch::x86_64::__m256i) -> u64 {
    let mut total = 0u32;
    for part in lanes_of(register) {
        total = total.wrapping_add(part);
    }
    u64::from(total)
}

/// 8 rows at a time, added in 32 bits if totals fit them, else in 64.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn long_sum_avx2<const N: usize>(set: &[u64], columns: [&[u32]; N], narrow: bool) -> u64 {
    use std::arch::x86_64::{
        _mm256_add_epi32, _mm256_add_epi64, _mm256_and_si256, _mm256_cmpeq_epi32, _mm256_loadu_si256,
        _mm256_max_epu32, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32, _mm256_setzero_si256,
        _mm256_srli_epi64,
    };
    assert!(columns.iter().all(|column| column.len() == set.len() * 64));
    let low = _mm256_set1_epi64x(0xffff_ffff);
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    for (i, &word) in set.iter().enumerate() {
        if word == 0 {
            continue;
        }
        for eighth in 0..8 {
            let members = _mm256_set1_epi32((word >> (8 * eighth)) as i32);
            let members = _mm256_cmpeq_epi32(_mm256_and_si256(members, bits), bits);
            let mut largest = _mm256_setzero_si256();
            for column in columns {
                // SAFETY: 8 costs from row i·64 + eighth·8 on are inside the column, as asserted above.
                let costs = unsafe { _mm256_loadu_si256(column.as_ptr().add(i * 64 + eighth * 8).cast()) };
                largest = _mm256_max_epu32(largest, costs);
            }
            let costs = _mm256_and_si256(members, largest);
            if narrow {
                even = _mm256_add_epi32(even, costs);
            } else {
                even = _mm256_add_epi64(even, _mm256_and_si256(costs, low));
                odd = _mm256_add_epi64(odd, _mm256_srli_epi64::<32>(costs));
            }
        }
    }
    if narrow {
        return total_of(even);
    }
    let parts = lanes_of(_mm256_add_epi64(even, odd));
    parts.as_chunks::<2>().0.iter().map(|[low, high]| u64::from(*low) | u64::from(*high) << 32).sum()
}
