//! Vectors of single-precision numbers: the few operations of the matrix kernel, for each instruction set.
//!
//! The kernel is written once over [`Lanes`] and inlined into one function per instruction set, in which the
//! compiler may use those instructions.

/// A vector, one number for each of some cells.
///
/// # Safety
///
/// A [`Lanes::Proof`] must exist only if the processor has the instructions of the type. Every method needs these instructions;
/// pointers must be valid for [`Lanes::WIDTH`] numbers.
#[allow(clippy::missing_safety_doc)]
pub(super) unsafe trait Lanes: Copy {
    /// Shows that the processor has the instructions.
    type Proof: Copy;
    /// Numbers in a vector.
    const WIDTH: usize;
    unsafe fn splat(value: f32) -> Self;
    unsafe fn load(from: *const f32) -> Self;
    unsafe fn store(self, to: *mut f32);
    /// `self + a · b`, rounded once or twice.
    unsafe fn plus(self, a: Self, b: Self) -> Self;
    /// `max(self, 0)`; NaN stays NaN.
    unsafe fn positive(self) -> Self;
    /// `slope · self` where negative; NaN stays NaN.
    unsafe fn leaky(self, slope: f32) -> Self;
}

/// What every target has: four numbers, which compilers put into one register.
// SAFETY: it needs no instructions of its own.
unsafe impl Lanes for [f32; 4] {
    type Proof = ();
    const WIDTH: usize = 4;
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        [value; 4]
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's pointer is valid for four numbers, and an array of them has their alignment.
        unsafe { from.cast::<[f32; 4]>().read() }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as above.
        unsafe { to.cast::<[f32; 4]>().write(self) }
    }
    #[inline(always)]
    unsafe fn plus(self, a: Self, b: Self) -> Self {
        #[cfg(target_arch = "aarch64")]
        return std::array::from_fn(|i| a[i].mul_add(b[i], self[i]));
        #[cfg(not(target_arch = "aarch64"))]
        std::array::from_fn(|i| self[i] + a[i] * b[i])
    }
    #[inline(always)]
    unsafe fn positive(self) -> Self {
        self.map(|value| if value < 0.0 { 0.0 } else { value })
    }
    #[inline(always)]
    unsafe fn leaky(self, slope: f32) -> Self {
        self.map(|value| if value < 0.0 { slope * value } else { value })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Lanes;
    use crate::model::network::{Avx2, Avx512};

    // SAFETY: the proof is of AVX2 and FMA.
    unsafe impl Lanes for __m256 {
        type Proof = Avx2;
        const WIDTH: usize = 8;
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: the caller has the instructions.
            unsafe { _mm256_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller has the instructions and a valid pointer.
            unsafe { _mm256_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: as above.
            unsafe { _mm256_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn plus(self, a: Self, b: Self) -> Self {
            // SAFETY: the caller has the instructions.
            unsafe { _mm256_fmadd_ps(a, b, self) }
        }
        #[inline(always)]
        unsafe fn positive(self) -> Self {
            // SAFETY: as above. The result is the second operand if either is NaN.
            unsafe { _mm256_max_ps(_mm256_setzero_ps(), self) }
        }
        #[inline(always)]
        unsafe fn leaky(self, slope: f32) -> Self {
            // SAFETY: as above. The sign bit chooses; a number's sign is that of the comparison, and -0 stays 0.
            unsafe { _mm256_blendv_ps(self, _mm256_mul_ps(self, _mm256_set1_ps(slope)), self) }
        }
    }

    // SAFETY: the proof is of AVX-512 F.
    unsafe impl Lanes for __m512 {
        type Proof = Avx512;
        const WIDTH: usize = 16;
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: the caller has the instructions.
            unsafe { _mm512_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller has the instructions and a valid pointer.
            unsafe { _mm512_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: as above.
            unsafe { _mm512_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn plus(self, a: Self, b: Self) -> Self {
            // SAFETY: the caller has the instructions.
            unsafe { _mm512_fmadd_ps(a, b, self) }
        }
        #[inline(always)]
        unsafe fn positive(self) -> Self {
            // SAFETY: as above. The result is the second operand if either is NaN.
            unsafe { _mm512_max_ps(_mm512_setzero_ps(), self) }
        }
        #[inline(always)]
        unsafe fn leaky(self, slope: f32) -> Self {
            // SAFETY: as above.
            unsafe {
                let negative = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self, _mm512_setzero_ps());
                _mm512_mask_mul_ps(self, negative, self, _mm512_set1_ps(slope))
            }
        }
    }
}
