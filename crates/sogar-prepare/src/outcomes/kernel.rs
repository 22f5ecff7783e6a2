//! The two loops that run over every outcome: sums of runs of terms, and their comparison with the threshold.
//!
//! Compiled for AVX-512 and AVX2 beside the plain version and chosen at run time; all do the same additions in the same order,
//! element by element.

use crate::model::network::Instructions;

/// The loops for the instructions of this processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel(Instructions);

impl Kernel {
    pub fn best() -> Kernel {
        Kernel(Instructions::best())
    }

    /// `out[i] = base + own[i] + Σ run[i]` over the runs, which are at least as long as `own`.
    #[inline]
    pub fn sum(self, base: f64, own: &[f64], terms: &[f64], runs: &[u32], out: &mut [f64]) {
        match self.0 {
            Instructions::Plain => sum(base, own, terms, runs, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the processor has these instructions.
            Instructions::Avx2(_) => unsafe { sum_avx2(base, own, terms, runs, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Instructions::Avx512(_) => unsafe { sum_avx512(base, own, terms, runs, out) },
        }
    }

    /// Sets bit `start + i` of `above` where `values[i] > high`; true if some value is neither above `high` nor below `low`.
    #[inline]
    pub fn compare(self, values: &[f64], low: f64, high: f64, start: usize, above: &mut [u64]) -> bool {
        match self.0 {
            Instructions::Plain => compare(values, low, high, start, above),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the processor has these instructions.
            Instructions::Avx2(_) => unsafe { compare_avx2(values, low, high, start, above) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Instructions::Avx512(_) => unsafe { compare_avx512(values, low, high, start, above) },
        }
    }
}

#[inline(always)]
fn sum(base: f64, own: &[f64], terms: &[f64], runs: &[u32], out: &mut [f64]) {
    out.iter_mut().zip(own).for_each(|(out, own)| *out = base + own);
    for &run in runs {
        out.iter_mut().zip(&terms[run as usize..]).for_each(|(out, term)| *out += term);
    }
}

#[inline(always)]
fn compare(values: &[f64], low: f64, high: f64, start: usize, above: &mut [u64]) -> bool {
    let mut unsure = false;
    let (mut values, mut at) = (values, start);
    while !values.is_empty() {
        let (now, rest) = values.split_at(values.len().min(64 - at % 64));
        let mut word = 0u64;
        for (i, &value) in now.iter().enumerate() {
            word |= u64::from(value > high) << i;
            unsure |= !(value > high || value < low); // also for NaN
        }
        above[at / 64] |= word << (at % 64);
        at += now.len();
        values = rest;
    }
    unsure
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(base: f64, own: &[f64], terms: &[f64], runs: &[u32], out: &mut [f64]) {
    sum(base, own, terms, runs, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn sum_avx512(base: f64, own: &[f64], terms: &[f64], runs: &[u32], out: &mut [f64]) {
    sum(base, own, terms, runs, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn compare_avx2(values: &[f64], low: f64, high: f64, start: usize, above: &mut [u64]) -> bool {
    compare(values, low, high, start, above)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn compare_avx512(values: &[f64], low: f64, high: f64, start: usize, above: &mut [u64]) -> bool {
    use std::arch::x86_64::{_CMP_GT_OQ, _CMP_LT_OQ, _mm512_cmp_pd_mask, _mm512_loadu_pd, _mm512_set1_pd};
    let (eights, rest) = values.as_chunks::<8>();
    let (lows, highs) = (_mm512_set1_pd(low), _mm512_set1_pd(high));
    let mut sure = 0xFFu8;
    let mut at = start;
    for eight in eights {
        // SAFETY: eight doubles are read from an array of eight.
        let now = unsafe { _mm512_loadu_pd(eight.as_ptr()) };
        let over = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(now, highs);
        sure &= over | _mm512_cmp_pd_mask::<_CMP_LT_OQ>(now, lows);
        let (word, bit) = (at / 64, at % 64);
        above[word] |= u64::from(over) << bit;
        if bit > 56 {
            above[word + 1] |= u64::from(over) >> (64 - bit);
        }
        at += 8;
    }
    compare(rest, low, high, at, above) || sure != 0xFF
}

/// Transposes 64 words of 64 bits: bit `j` of word `i` becomes bit `i` of word `j`.
pub(super) fn transpose(words: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_FFFF_FFFFu64;
    while width > 0 {
        let mut i = 0;
        while i < 64 {
            let moved = (words[i] >> width ^ words[i + width]) & mask;
            words[i] ^= moved << width;
            words[i + width] ^= moved;
            i = (i + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_sums_and_compares_alike() {
        let terms: Vec<f64> = (0..500).map(|i| f64::from(i * 7919 % 1000) / 8.0 - 60.0).collect();
        for kernel in Instructions::all().into_iter().map(Kernel) {
            for (start, count) in [(0, 1), (5, 7), (60, 8), (61, 130), (3, 200)] {
                let mut out = vec![0.0; count];
                kernel.sum(0.5, &terms[..count], &terms, &[10, 200, 33], &mut out);
                let mut plain = vec![0.0; count];
                sum(0.5, &terms[..count], &terms, &[10, 200, 33], &mut plain);
                assert_eq!(out, plain);
                for (low, high) in [(-1.0, 1.0), (1e9, 1e9), (0.0, 0.0)] {
                    let (mut got, mut want) = (vec![0; 8], vec![0; 8]);
                    let unsure = kernel.compare(&out, low, high, start, &mut got);
                    assert_eq!(unsure, out.iter().any(|v| !(*v > high || *v < low)), "{kernel:?}");
                    for (i, value) in out.iter().enumerate() {
                        want[(start + i) / 64] |= u64::from(*value > high) << ((start + i) % 64);
                    }
                    assert_eq!(got, want, "{kernel:?} {start} {count}");
                }
            }
        }
    }

    #[test]
    fn transposing_swaps_rows_and_columns() {
        let mut words: [u64; 64] =
            std::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let before = words;
        transpose(&mut words);
        for (i, before) in before.iter().enumerate() {
            for (j, after) in words.iter().enumerate() {
                assert_eq!(after >> i & 1, before >> j & 1);
            }
        }
    }
}
