//! Corners of edits and pairs of eight leaves, in 16 bits: four of them are compared for all leaves with one instruction each.
//!
//! Of a group of actions with a common part two numbers are kept per leaf: what they cost at `least`, and the `most` that they may
//! cost before a known point strictly dominates them ([`super::lanes::MinCostByLoss::limit`] of their least loss). An action that
//! contains several parts costs at least the largest `least` of them, and loses at least as much as each part allows, so that it may
//! cost no more than the smallest `most`: it is dominated if the one is above the other.
//!
//! **Sixteen bits are enough.** Both numbers lose the same low bits, and what is still too large becomes the same largest number. Neither
//! changes the order of two numbers, it can only make them equal, and equal numbers rule nothing out.

use super::lanes::{LANES, U32x8};
use crate::simd::Simd;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as arch;

/// One number of 16 bits for each of eight leaves.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(super) struct U16x8([u16; LANES]);

/// The cost where nothing useful has the part: above every `most`.
const DEAD: U16x8 = U16x8([u16::MAX; LANES]);
/// The largest number that is not dead.
const LARGEST: u32 = u16::MAX as u32 - 1;
/// Corners that are compared at once.
const FOUR: usize = 4;

/// A corner in eight leaves.
#[derive(Clone, Copy)]
pub(super) struct Corner {
    pub least: U16x8,
    pub most: U16x8,
}

/// Rows of corners, one for each edit.
#[derive(Default)]
pub(super) struct Corners {
    least: Vec<U16x8>,
    most: Vec<U16x8>,
    /// Edits in a row, with dead ones up to a multiple of four.
    width: usize,
    /// Bits that numbers lose.
    shift: u32,
}

impl Corners {
    /// Forgets all corners. Costs up to about `largest` are told apart.
    pub fn reset(&mut self, rows: usize, edits: usize, largest: u32) {
        self.width = edits.next_multiple_of(FOUR);
        self.shift = 0;
        while largest >> self.shift > LARGEST {
            self.shift += 1;
        }
        self.least.clear();
        self.least.resize(rows * self.width, DEAD);
        self.most.resize(rows * self.width, DEAD);
    }

    /// A corner that is alive in some lanes.
    #[inline(always)]
    pub fn corner<K: Simd>(&self, simd: K, least: U32x8, most: U32x8, alive: u32) -> Corner {
        let least = least.shifted_down(simd, self.shift).min(simd, U32x8::all(LARGEST));
        let most = most.shifted_down(simd, self.shift).min(simd, U32x8::all(LARGEST));
        Corner { least: narrow(simd, least.only_in(simd, alive)), most: narrow(simd, most) }
    }

    #[inline(always)]
    pub fn set(&mut self, row: usize, edit: usize, corner: Corner) {
        self.least[row * self.width + edit] = corner.least;
        self.most[row * self.width + edit] = corner.most;
    }

    /// What a part costs at least, or a little less.
    #[inline(always)]
    pub fn least<K: Simd>(&self, simd: K, row: usize, edit: usize) -> U32x8 {
        wide(simd, self.least[row * self.width + edit]).shifted_up(simd, self.shift)
    }

    /// Calls `found` with every edit above `after` that may be added to something with corner `known`, and the lanes: those in which the
    /// corners of the edit in all `rows` and `known` do not rule it out together. `plus`: costs add up, so that it costs at least
    /// `known` and what is in the row of `plus`.
    #[inline(always)]
    pub fn each_open<K: Simd, const N: usize>(
        &self,
        simd: K,
        after: usize,
        known: Corner,
        rows: [usize; N],
        plus: Option<&Corners>,
        found: &mut Vec<(u32, u32)>,
    ) {
        found.clear();
        let mut at = (after + 1) / FOUR * FOUR;
        while at < self.width {
            let here = rows.map(|row| row * self.width + at);
            let plus = plus.map(|plus| &plus.least[at..]);
            let mut open = self.four_open(simd, known, here, plus);
            if at <= after {
                open &= u32::MAX << (LANES * (after + 1 - at));
            }
            while open != 0 {
                let place = open.trailing_zeros() / LANES as u32;
                let lanes = open >> (LANES as u32 * place) & 0xff;
                open &= !(0xff << (LANES as u32 * place));
                found.push((at as u32 + place, lanes));
            }
            at += FOUR;
        }
    }

    /// The lanes in which each of four corners, in all rows at `here`, is open: eight bits each.
    #[inline(always)]
    fn four_open<K: Simd, const N: usize>(
        &self,
        _simd: K,
        known: Corner,
        here: [usize; N],
        plus: Option<&[U16x8]>,
    ) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if K::AVX512 {
            let whole = |list: &[U16x8], at: usize| {
                let four = &list[at..at + FOUR];
                // SAFETY: four of 16 bytes each.
                unsafe { arch::_mm512_loadu_si512(four.as_ptr().cast()) }
            };
            // SAFETY: the token proves that the processor has the instructions.
            unsafe {
                let known_least = arch::_mm512_broadcast_i32x4(register(known.least));
                let mut least = known_least;
                let mut most = arch::_mm512_broadcast_i32x4(register(known.most));
                for at in here {
                    least = arch::_mm512_max_epu16(least, whole(&self.least, at));
                    most = arch::_mm512_min_epu16(most, whole(&self.most, at));
                }
                if let Some(plus) = plus {
                    let sum = arch::_mm512_adds_epu16(known_least, whole(plus, 0));
                    // A sum that is too large is as large as can be told apart, not dead.
                    let sum = arch::_mm512_min_epu16(sum, arch::_mm512_set1_epi16(LARGEST as i16));
                    least = arch::_mm512_max_epu16(least, sum);
                }
                return arch::_mm512_cmple_epu16_mask(least, most);
            }
        }
        let mut open = 0;
        for place in 0..FOUR {
            for lane in 0..LANES {
                let (mut least, mut most) = (known.least.0[lane], known.most.0[lane]);
                if let Some(plus) = plus {
                    least = least.max(least.saturating_add(plus[place].0[lane]).min(LARGEST as u16));
                }
                for at in here {
                    least = least.max(self.least[at + place].0[lane]);
                    most = most.min(self.most[at + place].0[lane]);
                }
                open |= u32::from(least <= most) << (LANES * place + lane);
            }
        }
        open
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn register(numbers: U16x8) -> arch::__m128i {
    // SAFETY: both are 16 bytes without padding, and every pattern of bits is valid for both.
    unsafe { std::mem::transmute::<U16x8, arch::__m128i>(numbers) }
}

/// Numbers in 16 bits; those that need more become the largest.
#[inline(always)]
fn narrow<K: Simd>(_simd: K, numbers: U32x8) -> U16x8 {
    #[cfg(target_arch = "x86_64")]
    if K::AVX512 {
        // SAFETY: the token proves that the processor has the instructions; both types are 16 bytes without padding.
        return unsafe {
            std::mem::transmute::<arch::__m128i, U16x8>(arch::_mm256_cvtusepi32_epi16(numbers.register()))
        };
    }
    U16x8(numbers.lanes().map(|number| number.min(u32::from(u16::MAX)) as u16))
}

#[inline(always)]
fn wide<K: Simd>(_simd: K, numbers: U16x8) -> U32x8 {
    let mut wide = [0; LANES];
    for (wide, number) in wide.iter_mut().zip(numbers.0) {
        *wide = u32::from(number);
    }
    U32x8::of(wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::with_every_token;

    /// Every corner that numbers of full width leave open is found, and with numbers that fit 16 bits no other one.
    #[test]
    fn nothing_open_is_missed() {
        let mut state = 1u64;
        let mut random = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % below
        };
        for case in 0..200 {
            let (edits, below) = (1 + case % 11, [40, 60_000, 1 << 30][case % 3]);
            let mut numbers = |count: usize| -> Vec<[u32; LANES]> {
                (0..count).map(|_| std::array::from_fn(|_| random(below))).collect()
            };
            let (least, most) = (numbers(2 * edits), numbers(2 * edits));
            let (single, known) = (numbers(edits), numbers(2));
            let alive: Vec<u32> = numbers(2 * edits).iter().map(|lanes| lanes[0] & 255).collect();
            with_every_token!(simd => {
                for sum in [false, true] {
                    let (mut pairs, mut singles) = (Corners::default(), Corners::default());
                    pairs.reset(2, edits, below / 2);
                    singles.reset(1, edits, below / 2);
                    let of = |i: usize| (U32x8::of(least[i]), U32x8::of(most[i]));
                    for (i, &alive) in alive.iter().enumerate() {
                        let corner = pairs.corner(simd, of(i).0, of(i).1, alive);
                        pairs.set(i / edits, i % edits, corner);
                    }
                    for (edit, &cost) in single.iter().enumerate() {
                        let corner = singles.corner(simd, U32x8::of(cost), U32x8::all(0), 255);
                        singles.set(0, edit, corner);
                    }
                    let corner = pairs.corner(simd, U32x8::of(known[0]), U32x8::of(known[1]), 255);
                    let mut found = Vec::new();
                    pairs.each_open(simd, edits / 3, corner, [0, 1], sum.then_some(&singles), &mut found);
                    for edit in 0..edits {
                        let lanes = found.iter().find(|f| f.0 as usize == edit).map_or(0, |f| f.1);
                        for lane in 0..LANES {
                            let mut low = known[0][lane];
                            if sum {
                                low += single[edit][lane];
                            }
                            let low = low.max(least[edit][lane]).max(least[edits + edit][lane]);
                            let high = known[1][lane].min(most[edit][lane]).min(most[edits + edit][lane]);
                            let both = (alive[edit] & alive[edits + edit]) >> lane & 1 == 1;
                            let open = both && edit > edits / 3 && low <= high;
                            let here = lanes >> lane & 1 == 1;
                            assert!(here || !open, "case {case}, edit {edit}, lane {lane}");
                            if below <= 40 {
                                assert_eq!(here, open, "case {case}, edit {edit}, lane {lane}");
                            }
                        }
                    }
                }
            });
        }
    }
}
