//! The instruction sets of this processor, detected once and passed to the numeric loops.
//!
//! [`Avx2`] and [`Avx512`] can only be created here, after detection. Their holders may use the instructions: no safe code can
//! run a loop on a processor that lacks them.

/// A detected instruction set of this processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// What every processor of the target has.
    Plain,
    /// 256-bit vectors with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Proof that this processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

/// Proof that this processor has AVX2, FMA and AVX-512 F, BW and VL.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx512(());

impl Instructions {
    /// The widest.
    pub fn best() -> Instructions {
        Instructions::all().last().copied().unwrap_or(Instructions::Plain)
    }

    /// All of this processor's, the plain ones first.
    pub fn all() -> Vec<Instructions> {
        let mut found = vec![Instructions::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                found.push(Instructions::Avx2(Avx2(())));
                let wide = is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl");
                if wide {
                    found.push(Instructions::Avx512(Avx512(())));
                }
            }
        }
        found
    }
}
