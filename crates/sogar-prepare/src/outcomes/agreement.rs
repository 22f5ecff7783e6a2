//! Flips that enough models agree on.
//!
//! For some rows at a time, the outcomes of each further model are computed as if it were the only one, and counted in *bit
//! planes*: plane `i` holds bit `i` of the number of models that accept, for all pairs of an action and a row, 64 to a word. A model
//! is added like a number with a carry from plane to plane. At the end the count is compared with the number that must agree, again
//! by planes, and the first model's flips lose what too few agree on. So `m` models take the time of `m` outcomes, and the memory
//! of one more plane for every doubling of their number, for the rows of a block.
//!
//! A row that is affected by the first model may be accepted by another one as it is. Its outcome under an action that changes
//! nothing of it is then left out by some ways of computing outcomes; the first model does not flip it either.

use sogar_solver::BitTable;

use super::{OutcomeQuery, Outcomes, Watch};
use crate::require::Requirements;
use sogar_base::error::Result;

/// Bytes of the planes of a block of rows.
pub(crate) const ROOM_FOR_PLANES: u64 = 256 << 20;

/// Number of planes for counts up to `models`.
fn planes(models: usize) -> usize {
    (usize::BITS - models.leading_zeros()) as usize
}

/// Rows in a block: a multiple of 64.
fn rows_at_once(actions: usize, models: usize) -> usize {
    let bytes_per_word = 8 * actions.max(1) as u64 * (planes(models) as u64 + 1);
    64 * usize::try_from(ROOM_FOR_PLANES / bytes_per_word).unwrap_or(1).max(1)
}

/// Removes the flips that too few of the further models agree on; `false` if stopped. `find` computes the outcomes of one model.
pub(super) fn require(
    query: OutcomeQuery<'_>,
    required: &Requirements,
    found: &mut Outcomes,
    watch: &Watch<'_>,
    find: impl Fn(OutcomeQuery<'_>, &Watch<'_>) -> Result<Option<Outcomes>>,
) -> Result<bool> {
    let (all, models) = (query.rows.len(), required.others.len());
    let at_once = rows_at_once(query.actions.len(), models);
    for (block, rows) in query.rows.chunks(at_once).enumerate() {
        let start = block * at_once;
        let mut count = Count::new(planes(models), query.actions.len(), rows.len());
        for (number, other) in required.others.iter().enumerate() {
            // The first model has had its share of the progress.
            let before = all + start * models + number * rows.len();
            let progress = |done: usize, _| (watch.progress)((before + done) / (models + 1), all);
            let watch = Watch { progress: &progress, stop: watch.stop };
            let query = OutcomeQuery {
                predictor: &*other.predictor,
                encoder: &other.encoder,
                rows,
                rules: &[],
                required: None,
                ..query
            };
            let Some(theirs) = find(query, &watch)? else { return Ok(false) };
            count.add(theirs.flips);
            found.settled += theirs.settled;
        }
        let words = rows.len().div_ceil(64);
        for action in 0..query.actions.len() {
            let flips = &mut found.flips.set_mut(action)[start / 64..start / 64 + words];
            flips
                .iter_mut()
                .enumerate()
                .for_each(|(word, flips)| *flips &= count.at_least(required.agree, action, word));
        }
    }
    Ok(true)
}

/// How many models accept, for every pair of an action and a row.
struct Count(Vec<BitTable>);

impl Count {
    fn new(planes: usize, actions: usize, rows: usize) -> Self {
        Count((0..planes).map(|_| BitTable::new(actions, rows)).collect())
    }

    /// Counts one more model.
    fn add(&mut self, mut carry: BitTable) {
        for plane in &mut self.0 {
            for action in 0..carry.sets() {
                for (sum, carry) in plane.set_mut(action).iter_mut().zip(carry.set_mut(action)) {
                    (*sum, *carry) = (*sum ^ *carry, *sum & *carry);
                }
            }
        }
    }

    /// The pairs of a word with a count of at least `least`: compares from the highest plane down.
    fn at_least(&self, least: usize, action: usize, word: usize) -> u64 {
        let (mut above, mut equal) = (0u64, u64::MAX);
        for (place, plane) in self.0.iter().enumerate().rev() {
            let bits = plane.set(action)[word];
            if least >> place & 1 == 1 {
                equal &= bits;
            } else {
                above |= equal & bits;
                equal &= !bits;
            }
        }
        above | equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_count_as_numbers_do() {
        let mut random = sogar_testing::Random(3);
        for models in 1..=9 {
            let (actions, rows) = (3, 130);
            let mut count = Count::new(planes(models), actions, rows);
            let mut counted = vec![0usize; actions * rows];
            for _ in 0..models {
                let mut flips = BitTable::new(actions, rows);
                for action in 0..actions {
                    for row in 0..rows {
                        if random.below(3) > 0 {
                            flips.set_mut(action)[row / 64] |= 1 << (row % 64);
                            counted[action * rows + row] += 1;
                        }
                    }
                }
                count.add(flips);
            }
            for least in 0..=models {
                for action in 0..actions {
                    for row in 0..rows {
                        let found = count.at_least(least, action, row / 64) >> (row % 64) & 1 == 1;
                        assert_eq!(found, counted[action * rows + row] >= least, "{models} models, {least}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_has_whole_words_and_fits() {
        assert_eq!(rows_at_once(usize::MAX >> 8, 3), 64);
        for (actions, models) in [(1, 1), (5_716, 3), (200_000, 20)] {
            let rows = rows_at_once(actions, models);
            assert!(
                rows.is_multiple_of(64)
                    && rows as u64 / 8 * actions as u64 * (planes(models) as u64 + 1) <= ROOM_FOR_PLANES
            );
        }
    }
}
