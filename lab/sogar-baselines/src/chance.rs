//! Random numbers: a separate stream for every stage and every item of it, so that results depend only on the seed, not on the
//! order in which threads reach the items.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// The stream of an item of a stage. Streams of one seed are independent.
pub fn stream(seed: u64, stage: u64, item: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (place, number) in key.chunks_exact_mut(8).zip([seed, stage, item, 0]) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}
