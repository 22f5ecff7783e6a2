//! Eight leaves at a time: one lane of a register each.
//!
//! Counting the flips of one action on eight leaf sets is one pass over the action's words; comparing eight bounds with what
//! is known of eight leaves is one look-up each. Everything here exists for AVX-512 and in plain Rust, with the same
//! results.

use crate::simd::Simd;

/// Leaves that are evaluated side by side.
pub(crate) const LANES: usize = 8;

/// One number for each of eight leaves. On x86-64 it is a register's type, so that the AVX-512 code never takes it apart;
/// elsewhere, and for the other kernels, it is an array.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct U32x8(Register);

#[cfg(target_arch = "x86_64")]
type Register = std::arch::x86_64::__m256i;
#[cfg(not(target_arch = "x86_64"))]
type Register = [u32; LANES];

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as arch;

/// An operation in AVX-512, in AVX2 where the compiler needs telling (`wide`: in the same words as AVX-512), or lane by lane.
macro_rules! lanewise {
    ($kernel:ident, wide: $wide:expr, $plain:expr) => {{
        #[cfg(target_arch = "x86_64")]
        if $kernel::AVX2 {
            // SAFETY: the token proves that the processor has AVX2; pointers are argued for where they are used.
            return unsafe { $wide };
        }
        $plain
    }};
    ($kernel:ident, $avx512:expr, avx2: $avx2:expr, $plain:expr) => {{
        #[cfg(target_arch = "x86_64")]
        if $kernel::AVX2 && !$kernel::AVX512 {
            // SAFETY: as above.
            return unsafe { $avx2 };
        }
        lanewise!($kernel, $avx512, $plain)
    }};
    ($kernel:ident, $avx512:expr, $plain:expr) => {{
        #[cfg(target_arch = "x86_64")]
        if $kernel::AVX512 {
            // SAFETY: the token proves that the processor has AVX-512; pointers are argued for where they are used.
            return unsafe { $avx512 };
        }
        $plain
    }};
}

impl U32x8 {
    /// The numbers, lane by lane.
    #[inline(always)]
    pub fn of(lanes: [u32; LANES]) -> U32x8 {
        // SAFETY: both are 32 bytes without padding, and every pattern of bits is valid for both.
        U32x8(unsafe { std::mem::transmute::<[u32; LANES], Register>(lanes) })
    }

    #[inline(always)]
    pub fn all(number: u32) -> U32x8 {
        U32x8::of([number; LANES])
    }

    #[inline(always)]
    pub fn lanes(self) -> [u32; LANES] {
        // SAFETY: as in `of`.
        unsafe { std::mem::transmute::<Register, [u32; LANES]>(self.0) }
    }

    /// The register, for code of one processor.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn register(self) -> Register {
        self.0
    }

    #[inline(always)]
    pub fn shifted_down<K: Simd>(self, _simd: K, bits: u32) -> U32x8 {
        lanewise!(
            K,
            wide: U32x8(arch::_mm256_srl_epi32(self.0, arch::_mm_cvtsi32_si128(bits as i32))),
            self.zip(U32x8::all(bits), |number, bits| number >> bits)
        )
    }

    #[inline(always)]
    pub fn shifted_up<K: Simd>(self, _simd: K, bits: u32) -> U32x8 {
        lanewise!(
            K,
            wide: U32x8(arch::_mm256_sll_epi32(self.0, arch::_mm_cvtsi32_si128(bits as i32))),
            self.zip(U32x8::all(bits), |number, bits| number << bits)
        )
    }

    #[inline(always)]
    fn zip(self, other: U32x8, f: impl Fn(u32, u32) -> u32) -> U32x8 {
        let (a, b) = (self.lanes(), other.lanes());
        U32x8::of(std::array::from_fn(|lane| f(a[lane], b[lane])))
    }

    #[inline(always)]
    pub fn max<K: Simd>(self, _simd: K, other: U32x8) -> U32x8 {
        lanewise!(
            K,
            wide: U32x8(arch::_mm256_max_epu32(self.0, other.0)),
            self.zip(other, u32::max)
        )
    }

    #[inline(always)]
    pub fn min<K: Simd>(self, _simd: K, other: U32x8) -> U32x8 {
        lanewise!(
            K,
            wide: U32x8(arch::_mm256_min_epu32(self.0, other.0)),
            self.zip(other, u32::min)
        )
    }

    /// The sum, or the largest number where it would be larger.
    #[inline(always)]
    pub fn plus<K: Simd>(self, _simd: K, other: U32x8) -> U32x8 {
        lanewise!(
            K,
            {
                let sum = arch::_mm256_add_epi32(self.0, other.0);
                let over = arch::_mm256_cmplt_epu32_mask(sum, self.0);
                U32x8(arch::_mm256_mask_mov_epi32(sum, over, arch::_mm256_set1_epi32(-1)))
            },
            avx2: {
                // Where a sum is not the larger of itself and a summand, it has gone over.
                let sum = arch::_mm256_add_epi32(self.0, other.0);
                let fits = arch::_mm256_cmpeq_epi32(arch::_mm256_max_epu32(sum, self.0), sum);
                let over = arch::_mm256_xor_si256(fits, arch::_mm256_set1_epi32(-1));
                U32x8(arch::_mm256_or_si256(sum, over))
            },
            self.zip(other, u32::saturating_add)
        )
    }

    #[inline(always)]
    pub fn minus<K: Simd>(self, _simd: K, other: U32x8) -> U32x8 {
        lanewise!(
            K,
            wide: U32x8(arch::_mm256_sub_epi32(self.0, other.0)),
            self.zip(other, u32::wrapping_sub)
        )
    }

    /// The lanes in which this is at most the other, as bits.
    #[inline(always)]
    pub fn at_most<K: Simd>(self, _simd: K, other: U32x8) -> u32 {
        lanewise!(
            K,
            u32::from(arch::_mm256_cmple_epu32_mask(self.0, other.0)),
            avx2: {
                let at_most = arch::_mm256_cmpeq_epi32(arch::_mm256_min_epu32(self.0, other.0), self.0);
                arch::_mm256_movemask_ps(arch::_mm256_castsi256_ps(at_most)) as u32
            },
            {
                let (a, b) = (self.lanes(), other.lanes());
                (0..LANES).map(|lane| u32::from(a[lane] <= b[lane]) << lane).sum()
            }
        )
    }

    /// This in the given lanes, 0 in the others.
    #[inline(always)]
    pub fn or_zero<K: Simd>(self, simd: K, lanes: u32) -> U32x8 {
        let dead = U32x8::all(0).only_in(simd, lanes);
        lanewise!(K, wide: U32x8(arch::_mm256_andnot_si256(dead.0, self.0)), self.zip(dead, |own, dead| own & !dead))
    }

    /// This in the given lanes, [`DEAD`] in the others.
    #[inline(always)]
    pub fn only_in<K: Simd>(self, _simd: K, lanes: u32) -> U32x8 {
        lanewise!(
            K,
            U32x8(arch::_mm256_mask_mov_epi32(arch::_mm256_set1_epi32(-1), lanes as u8, self.0)),
            avx2: {
                let bits = arch::_mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                let lanes = arch::_mm256_and_si256(arch::_mm256_set1_epi32(lanes as i32), bits);
                let others = arch::_mm256_cmpeq_epi32(lanes, arch::_mm256_setzero_si256());
                U32x8(arch::_mm256_or_si256(self.0, others))
            },
            {
                let own = self.lanes();
                U32x8::of(std::array::from_fn(|lane| if lanes >> lane & 1 == 1 { own[lane] } else { DEAD }))
            }
        )
    }
}

/// The cost of a group without useful actions: more than every other cost.
pub(super) const DEAD: u32 = u32::MAX;

/// One word of each of eight sets, on one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Words(pub [u64; LANES]);

/// For each of 64 bits the lanes whose word has it.
#[inline(always)]
pub(super) fn lanes_of_bits<K: Simd>(_simd: K, words: [u64; LANES]) -> [u8; 64] {
    lanewise!(
        K,
        {
            let mut lanes = arch::_mm512_setzero_si512();
            for (lane, &word) in words.iter().enumerate() {
                let here = arch::_mm512_maskz_set1_epi8(word, (1u8 << lane) as i8);
                lanes = arch::_mm512_or_si512(lanes, here);
            }
            std::mem::transmute::<arch::__m512i, [u8; 64]>(lanes)
        },
        {
            let mut lanes = [0; 64];
            for (i, eight) in lanes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                // Bytes of eight words, as an 8 × 8 matrix of bits that is turned over along its diagonal.
                let mut bits = u64::from_le_bytes(words.map(|word| (word >> (8 * i)) as u8));
                for (shift, mask) in
                    [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
                {
                    let differ = (bits ^ bits >> shift) & mask;
                    bits ^= differ ^ differ << shift;
                }
                *eight = bits.to_le_bytes();
            }
            lanes
        }
    )
}

/// How many rows each of eight sets shares with one set.
#[inline(always)]
pub(crate) fn count<K: Simd>(_simd: K, sets: &[Words], flips: &[u64]) -> U32x8 {
    lanewise!(
        K,
        {
            let mut sums = arch::_mm512_setzero_si512();
            for (words, &flips) in sets.iter().zip(flips) {
                // `Words` is 64 bytes, aligned to 64.
                let members = arch::_mm512_load_si512(words.0.as_ptr().cast());
                let both = arch::_mm512_and_si512(members, arch::_mm512_set1_epi64(flips as i64));
                sums = arch::_mm512_add_epi64(sums, arch::_mm512_popcnt_epi64(both));
            }
            U32x8(arch::_mm512_cvtepi64_epi32(sums))
        },
        avx2: {
            // The bits of four bits, by look-up; bytes are added up before they could run over (8 for each of 31 words at most).
            let low = arch::_mm256_set1_epi8(15);
            let bits = arch::_mm256_setr_epi8(
                0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
            );
            let zero = arch::_mm256_setzero_si256();
            let (mut first, mut second) = (zero, zero);
            let length = sets.len().min(flips.len());
            let mut at = 0;
            while at < length {
                let end = (at + 31).min(length);
                let (mut a, mut b) = (zero, zero);
                while at < end {
                    let flips = arch::_mm256_set1_epi64x(*flips.get_unchecked(at) as i64);
                    let words = sets.get_unchecked(at).0.as_ptr();
                    let x = arch::_mm256_and_si256(arch::_mm256_load_si256(words.cast()), flips);
                    let y = arch::_mm256_and_si256(arch::_mm256_load_si256(words.add(4).cast()), flips);
                    let x_high = arch::_mm256_and_si256(arch::_mm256_srli_epi16::<4>(x), low);
                    let y_high = arch::_mm256_and_si256(arch::_mm256_srli_epi16::<4>(y), low);
                    let x_low = arch::_mm256_shuffle_epi8(bits, arch::_mm256_and_si256(x, low));
                    let y_low = arch::_mm256_shuffle_epi8(bits, arch::_mm256_and_si256(y, low));
                    a = arch::_mm256_add_epi8(a, arch::_mm256_add_epi8(x_low, arch::_mm256_shuffle_epi8(bits, x_high)));
                    b = arch::_mm256_add_epi8(b, arch::_mm256_add_epi8(y_low, arch::_mm256_shuffle_epi8(bits, y_high)));
                    at += 1;
                }
                first = arch::_mm256_add_epi64(first, arch::_mm256_sad_epu8(a, zero));
                second = arch::_mm256_add_epi64(second, arch::_mm256_sad_epu8(b, zero));
            }
            // The low halves of the eight sums, in order.
            let order = arch::_mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
            let first = arch::_mm256_permutevar8x32_epi32(first, order);
            let second = arch::_mm256_permutevar8x32_epi32(second, order);
            U32x8(arch::_mm256_blend_epi32::<0b1111_0000>(first, second))
        },
        {
            let mut counts = [0; LANES];
            for (words, &flips) in sets.iter().zip(flips) {
                for (count, word) in counts.iter_mut().zip(words.0) {
                    *count += (word & flips).count_ones();
                }
            }
            U32x8::of(counts)
        }
    )
}

/// Writes `value` into the first places, as many as `worse` holds for. Places are in order, so that they can be found by halving: the first
/// points of a leaf change most of its places.
#[inline(always)]
fn fill_while(places: &mut [u32], value: u32, worse: impl Fn(u32) -> bool) {
    if places.first().is_some_and(|&place| worse(place)) {
        let end = places.partition_point(|&place| worse(place));
        places[..end].fill(value);
    }
}

/// Losses that share a place in the min_cost: few enough places to stay in the cache, fine enough to be decisive.
const LOSS_PLACES: usize = 4096;

/// For eight leaves and every loss: what an action with at least this loss may cost before a known point
/// strictly dominates it.
///
/// A place holds the lowest known cost (without its lowest bits) among points whose loss is at most the *smallest* loss of
/// the place. An action with a loss of that place and a larger cost is therefore dominated.
pub(super) struct MinCostByLoss {
    /// `lane * length + (loss >> shift)`
    costs: Vec<u32>,
    length: usize,
    shift: u32,
}

impl MinCostByLoss {
    pub fn new() -> Self {
        MinCostByLoss { costs: Vec::new(), length: 0, shift: 0 }
    }

    /// Resets it for leaves of at most `size` rows: nothing is dominated.
    pub fn reset(&mut self, size: u32) {
        self.shift = 0;
        while (size >> self.shift) as usize >= LOSS_PLACES {
            self.shift += 1;
        }
        self.length = (size >> self.shift) as usize + 2;
        self.costs.clear();
        // One less than the cost of dead groups, which are never looked at.
        self.costs.resize(self.length * LANES, u32::MAX - 1);
    }

    /// Takes in a point of one leaf.
    #[inline(always)]
    pub fn lower(&mut self, lane: usize, cost: u32, loss: u32) {
        let costs = &mut self.costs[lane * self.length..(lane + 1) * self.length];
        // The first place all of whose losses are at least the point's.
        let first = ((u64::from(loss) + (1 << self.shift) - 1) >> self.shift) as usize;
        fill_while(&mut costs[first.min(self.length)..], cost, |place| place > cost);
    }

    /// What actions with at least these losses may cost.
    #[inline(always)]
    pub fn limit<K: Simd>(&self, _simd: K, losses: U32x8) -> U32x8 {
        assert!(self.length > 0 && self.costs.len() == self.length * LANES);
        lanewise!(
            K,
            wide: {
                let within = arch::_mm256_srl_epi32(losses.0, arch::_mm_cvtsi32_si128(self.shift as i32));
                let within = arch::_mm256_min_epu32(within, arch::_mm256_set1_epi32(self.length as i32 - 1));
                let lanes = arch::_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
                let starts = arch::_mm256_mullo_epi32(lanes, arch::_mm256_set1_epi32(self.length as i32));
                let places = arch::_mm256_add_epi32(starts, within);
                // Every place is below `length`, so inside its lane's part of the vector, whose size is asserted above
                // and far below 2^31.
                U32x8(arch::_mm256_i32gather_epi32::<4>(self.costs.as_ptr().cast(), places))
            },
            {
                let losses = losses.lanes();
                U32x8::of(std::array::from_fn(|lane| {
                    let within = ((losses[lane] >> self.shift) as usize).min(self.length - 1);
                    self.costs[lane * self.length + within]
                }))
            }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Portable, with_every_token};

    #[test]
    fn stairs_hold_the_lowest_cost_of_points_with_no_more_loss() {
        for size in [5u32, 100, 4095, 4096, 30_000] {
            let mut min_cost = MinCostByLoss::new();
            min_cost.reset(size);
            let mut points: Vec<(usize, u32, u32)> = Vec::new();
            let mut state = u64::from(size);
            for _ in 0..300 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (lane, cost, loss) =
                    ((state >> 61) as usize, (state >> 33 & 1023) as u32, (state >> 40) as u32 % (size + 1));
                min_cost.lower(lane, cost, loss);
                points.push((lane, cost, loss));
                let limit = min_cost.limit(Portable, U32x8::all(loss)).lanes();
                for (lane, &limit) in limit.iter().enumerate() {
                    let exact = points
                        .iter()
                        .filter(|point| point.0 == lane && point.2 <= loss)
                        .map(|point| point.1)
                        .min()
                        .unwrap_or(u32::MAX - 1);
                    assert!(limit >= exact, "never lower than what is known");
                    assert!(size >= 4096 || limit == exact, "exact while every loss has a place");
                }
                with_every_token!(simd => {
                    assert_eq!(min_cost.limit(simd, U32x8::all(loss)).lanes(), limit);
                });
            }
        }
    }

    #[test]
    fn every_kernel_compares_and_adds_alike() {
        let mut state = 9u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Small numbers, and some beyond 31 bits.
            (state >> 33) as u32 % 4 + if state >> 62 == 0 { u32::MAX - 3 } else { 0 }
        };
        for _ in 0..500 {
            let (a, b) =
                (U32x8::of(std::array::from_fn(|_| random())), U32x8::of(std::array::from_fn(|_| random())));
            let lanes = random() & 255;
            let expected = each(Portable, a, b, lanes);
            with_every_token!(simd => assert_eq!(each(simd, a, b, lanes), expected));
        }
    }

    fn each<K: Simd>(simd: K, a: U32x8, b: U32x8, lanes: u32) -> ([[u32; LANES]; 5], u32) {
        let (max, min, plus) = (a.max(simd, b), a.min(simd, b), a.plus(simd, b));
        let (minus, only) = (a.minus(simd, b), a.only_in(simd, lanes));
        ([max, min, plus, minus, only].map(U32x8::lanes), a.at_most(simd, b))
    }

    #[test]
    fn bits_of_eight_words_are_turned_over() {
        let mut state = 3u64;
        for _ in 0..50 {
            let words: [u64; LANES] = std::array::from_fn(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state ^ state >> 31
            });
            let expected: [u8; 64] = std::array::from_fn(|bit| {
                (0..LANES).map(|lane| ((words[lane] >> bit & 1) as u8) << lane).sum()
            });
            with_every_token!(simd => assert_eq!(lanes_of_bits(simd, words), expected));
        }
    }

    #[test]
    fn counts_are_those_of_single_sets() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        for words in [1, 2, 5, 31, 33, 70] {
            let sets: Vec<Words> = (0..words).map(|_| Words(std::array::from_fn(|_| random()))).collect();
            let flips: Vec<u64> = (0..words).map(|_| random()).collect();
            let expected: [u32; LANES] = std::array::from_fn(|lane| {
                sets.iter().zip(&flips).map(|(words, flips)| (words.0[lane] & flips).count_ones()).sum()
            });
            with_every_token!(simd => assert_eq!(count(simd, &sets, &flips).lanes(), expected));
        }
    }
}
