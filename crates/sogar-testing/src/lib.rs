//! Shared by the tests of several crates: seeded numbers, and skips with a reason.

// A panic is how a test reports, and a skipped test prints why.
#![allow(clippy::panic, clippy::print_stderr)]

/// A small, fast generator (SplitMix64): a seed names the same problem on every machine.
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// A position in a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// A number from `low` to `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A number in [0, 1).
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number that is roughly normal.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

/// Prints why a test is skipped. `SOGAR_REQUIRE=data,gpu,avx512,browser` turns these skips into failures.
pub fn skipped(what: &str, why: &str) {
    let required = std::env::var("SOGAR_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == what), "SOGAR_REQUIRE names {what}, but: {why}");
    eprintln!("SKIPPED: {why}");
}
