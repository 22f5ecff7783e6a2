//! Seeded random numbers, the same on every machine.

/// A stream of numbers from a seed (SplitMix64).
pub struct Draw(u64);

impl Draw {
    /// The stream of that number; streams of one seed are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        Draw(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % end
    }
}
