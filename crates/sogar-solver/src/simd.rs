//! The instruction sets of the hot loops, and tokens that prove that the processor has them.
//!
//! A hot loop is written once, generic over a token `K: Simd`, and compiled once for each. [`Avx2`] and [`Avx512`] can only be
//! created here, after detection, so their holders may use the instructions: no safe code can run a loop on a processor that
//! lacks them. Tokens have no size; passing them costs nothing.

/// The instruction sets of the hot loops. Results are the same integers with each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Only what the target guarantees.
    Portable,
    /// x86-64 with AVX2 and POPCNT.
    Avx2,
    /// x86-64 with AVX-512 and its population counts.
    Avx512,
}

impl Kernel {
    /// The best one of this processor.
    pub fn best() -> Kernel {
        Kernel::Avx512.available()
    }

    /// This kernel, or the best lesser one of this processor.
    pub fn available(self) -> Kernel {
        match self.token() {
            Token::Portable(_) => Kernel::Portable,
            #[cfg(target_arch = "x86_64")]
            Token::Avx2(_) => Kernel::Avx2,
            #[cfg(target_arch = "x86_64")]
            Token::Avx512(_) => Kernel::Avx512,
        }
    }

    /// The proof for this kernel, or for the best lesser one of this processor.
    pub(crate) fn token(self) -> Token {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni")
                && is_x86_feature_detected!("avx512vpopcntdq");
            match self {
                Kernel::Avx512 if avx2 && avx512 => return Token::Avx512(Avx512(())),
                Kernel::Avx512 | Kernel::Avx2 if avx2 => return Token::Avx2(Avx2(())),
                _ => {}
            }
        }
        Token::Portable(Portable)
    }
}

/// Proof that this processor has the instructions of a kernel. The constants are known at compile time, so nothing of the other
/// kernels remains in a loop.
///
/// # Safety
///
/// A value of the type must exist only if the processor has the instructions that the constants name.
pub(crate) unsafe trait Simd: Copy + Send + Sync {
    /// AVX2, POPCNT, BMI1, BMI2 and LZCNT.
    const AVX2: bool;
    /// AVX-512 F, BW, DQ, VL, VNNI and VPOPCNTDQ, and all of [`Simd::AVX2`].
    const AVX512: bool;
}

/// What every processor of the target has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

/// The instructions of [`Simd::AVX2`].
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

/// The instructions of [`Simd::AVX512`].
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(());

// SAFETY: it needs nothing.
unsafe impl Simd for Portable {
    const AVX2: bool = false;
    const AVX512: bool = false;
}

// SAFETY: its field is private, and `Kernel::token` creates one only if the instructions were detected.
#[cfg(target_arch = "x86_64")]
unsafe impl Simd for Avx2 {
    const AVX2: bool = true;
    const AVX512: bool = false;
}

// SAFETY: as above.
#[cfg(target_arch = "x86_64")]
unsafe impl Simd for Avx512 {
    const AVX2: bool = true;
    const AVX512: bool = true;
}

/// A proof for one of the kernels, to be matched once before a hot loop.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Token {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Evaluates an expression with every token of this processor, for tests.
#[cfg(test)]
macro_rules! with_every_token {
    ($simd:ident => $check:expr) => {
        for kernel in
            [$crate::simd::Kernel::Portable, $crate::simd::Kernel::Avx2, $crate::simd::Kernel::Avx512]
        {
            match kernel.token() {
                $crate::simd::Token::Portable($simd) => $check,
                #[cfg(target_arch = "x86_64")]
                $crate::simd::Token::Avx2($simd) => $check,
                #[cfg(target_arch = "x86_64")]
                $crate::simd::Token::Avx512($simd) => $check,
            }
        }
    };
}
#[cfg(test)]
pub(crate) use with_every_token;
