//! Computes outcomes for some rows at a time and collects them in one table.

use sogar_solver::BitTable;

use crate::outcomes::{OutcomeQuery, Outcomes, StoredOutcomes, Watch};
use sogar_base::error::Result;

/// The outcomes of a query, computed by `find` for `at_once` rows at a time (a multiple of 64) and written into `flips`: all
/// actions, or those of `only` in that order. `find` gets the number of the block. `None` if stopped.
pub fn in_blocks(
    query: OutcomeQuery<'_>,
    at_once: usize,
    watch: &Watch<'_>,
    mut flips: BitTable,
    only: Option<&[u32]>,
    mut find: impl FnMut(usize, OutcomeQuery<'_>, &Watch<'_>) -> Result<Option<Outcomes>>,
) -> Result<Option<Outcomes>> {
    let rows = query.rows.len();
    let (mut settled, mut method, mut kept) = (0, "", None);
    for (block, part) in query.rows.chunks(at_once).enumerate() {
        let start = block * at_once;
        let progress = |done, _| (watch.progress)(start + done, rows);
        let watch = Watch { progress: &progress, stop: watch.stop };
        let Some(found) = find(block, OutcomeQuery { rows: part, ..query }, &watch)? else { return Ok(None) };
        for position in 0..flips.sets() {
            let words = found.flips.set(only.map_or(position, |only| only[position] as usize));
            flips.set_mut(position)[start / 64..start / 64 + words.len()].copy_from_slice(words);
        }
        settled += found.settled;
        method = found.method;
        // Stored blocks come before all others.
        kept = found.kept.map(|kept| StoredOutcomes { rows: start + kept.rows, ..kept }).or(kept);
    }
    Ok(Some(Outcomes { flips, settled, method, kept }))
}
