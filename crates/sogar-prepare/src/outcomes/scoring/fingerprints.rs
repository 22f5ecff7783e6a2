//! Maps by fingerprint: known answers, and the number of distinct queries, both in bounded memory.
//!
//! One half of a fingerprint is the key. It is used as its own hash, because it already looks random. The other half is stored
//! beside it, so that all 128 bits are compared.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Uses the key as its own hash.
#[derive(Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

pub(super) type Halves = HashMap<u64, u64, BuildHasherDefault<AsItIs>>;

fn halves(fingerprint: u128) -> (u64, u64) {
    (fingerprint as u64, (fingerprint >> 64) as u64)
}

/// Upper bound of the bytes per entry, free slots and growth included.
const ENTRY: u64 = 60;

/// Known answers. When the cache is full, all of them are dropped: a repeated query is then scored again.
pub(super) struct AnswerCache {
    /// The lowest bit of the second half is the answer.
    answers: Halves,
    most: usize,
}

impl AnswerCache {
    /// Uses at most this many bytes of memory (but stores some thousand answers in any case).
    pub fn new(memory: u64) -> AnswerCache {
        let most = usize::try_from(memory / ENTRY).unwrap_or(usize::MAX).max(4096);
        AnswerCache { answers: Halves::default(), most }
    }

    #[inline]
    pub fn get(&self, fingerprint: u128) -> Option<bool> {
        let (key, rest) = halves(fingerprint);
        let &found = self.answers.get(&key)?;
        (found | 1 == rest | 1).then_some(found & 1 == 1)
    }

    pub fn insert(&mut self, fingerprint: u128, answer: bool) {
        if self.answers.len() >= self.most {
            self.answers.clear();
        }
        let (key, rest) = halves(fingerprint);
        self.answers.insert(key, rest & !1 | u64::from(answer));
    }
}

/// Counts distinct fingerprints: exactly up to a size, and from a sample beyond it.
///
/// The sample is of the *distinct* ones, not of all: those whose second half ends in `level` zeros, a share of 2^-level of them
/// regardless of how often each occurs. The level rises when there are too many, so it depends only on the set.
pub(super) struct Distinct {
    seen: Halves,
    level: u32,
    most: usize,
}

/// The size of the sample: a standard error of 1 / √most, so 0.2 %.
const SAMPLE: usize = 1 << 18;

impl Default for Distinct {
    fn default() -> Self {
        Distinct { seen: Halves::default(), level: 0, most: SAMPLE }
    }
}

impl Distinct {
    #[inline]
    pub fn insert(&mut self, fingerprint: u128) {
        let (key, rest) = halves(fingerprint);
        if rest.trailing_zeros() >= self.level {
            self.seen.insert(key, rest);
            self.thin_out();
        }
    }

    /// The union of both sets.
    pub fn merge(mut self, other: Distinct) -> Distinct {
        self.level = self.level.max(other.level);
        self.seen.extend(other.seen);
        let level = self.level;
        self.seen.retain(|_, rest| rest.trailing_zeros() >= level);
        self.thin_out();
        self
    }

    fn thin_out(&mut self) {
        while self.seen.len() > self.most && self.level < 64 {
            self.level += 1;
            let level = self.level;
            self.seen.retain(|_, rest| rest.trailing_zeros() >= level);
        }
    }

    /// How many there are, and whether that is exact.
    pub fn count(&self) -> (u64, bool) {
        ((self.seen.len() as u64) << self.level.min(40), self.level == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fingerprints that look random.
    fn fingerprint(i: u64) -> u128 {
        let mut z = u128::from(i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        z = (z ^ (z >> 61)).wrapping_mul(0xBF58_476D_1CE4_E5B9_94D0_49BB_1331_11EB);
        z ^ (z >> 63)
    }

    #[test]
    fn answers_are_remembered_within_their_memory() {
        let mut known = AnswerCache::new(60 * 5000);
        for i in 0..20_000 {
            known.insert(fingerprint(i), i % 3 == 0);
            assert_eq!(known.get(fingerprint(i)), Some(i % 3 == 0));
            assert!(known.answers.len() <= 5000);
        }
        assert_eq!(known.get(fingerprint(0)), None, "dropped, because there is no room");
        assert_eq!(known.get(fingerprint(19_999) ^ 1 << 100), None, "all bits count");
    }

    #[test]
    fn small_sets_are_counted_exactly_and_large_ones_closely() {
        let count = |distinct: u64| {
            let mut counted = Distinct { most: 4096, ..Distinct::default() };
            for i in (0..distinct).chain(0..distinct) {
                counted.insert(fingerprint(i));
            }
            counted.count()
        };
        assert_eq!(count(0), (0, true));
        assert_eq!(count(4096), (4096, true));
        let (about, exact) = count(300_000);
        assert!(!exact && (285_000..315_000).contains(&about), "{about}");
    }

    #[test]
    fn counting_in_parts_gives_the_same_number() {
        let part = |range: std::ops::Range<u64>| {
            let mut counted = Distinct { most: 1000, ..Distinct::default() };
            range.for_each(|i| counted.insert(fingerprint(i)));
            counted
        };
        let whole = part(0..50_000).count();
        let merged = part(0..900).merge(part(500..30_000)).merge(part(20_000..50_000));
        assert_eq!(merged.count(), whole);
    }
}
