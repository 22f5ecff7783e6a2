//! A leaf's best action with the model itself: for CET-exact, and for linear models.
//!
//! Sogar's own outcomes show which people each set of edits helps. They come for all sets of a size at once, so sizes are tried
//! one after the other, and before the next one, edits are dropped that alone cost as much as the best action so far.

use sogar::actions::{all_actions, count_actions};
use sogar::error::Result;
use sogar::outcomes::{OutcomeQuery, Watch, outcomes};
use sogar::pipeline::Prepared;
use sogar_solver::stop::Stop;

use super::leaf::Candidates;

/// People whose outcomes are stored at a time.
const ROWS: usize = 2048;
/// Sizes at which a leaf has more actions than this are skipped.
const MOST_ACTIONS: u128 = 1 << 24;

/// The edits of the best action; if stopped, of the best so far.
pub(super) fn best_action(
    prepared: &Prepared,
    candidates: &Candidates,
    rows: &[usize],
    max_edits: usize,
    stop: &Stop,
) -> Result<Vec<usize>> {
    let mut best = (candidates.objective(0, rows.len() as u64), Vec::new());
    for size in 1..=max_edits {
        let (useful, numbers) = candidates.below(best.0);
        let count = count_actions(&useful.edits, size as u32);
        if useful.edits.is_empty() || count > MOST_ACTIONS || stop.check().is_err() {
            break;
        }
        let actions = all_actions(&useful.edits, size as u32);
        let mut losses = vec![rows.len() as u64; actions.len()];
        for rows in rows.chunks(ROWS) {
            let query = OutcomeQuery {
                predictor: &*prepared.model().predictor,
                encoder: prepared.encoder(),
                desired: &prepared.classes().desired,
                table: prepared.table(),
                rows,
                edits: &useful.edits,
                actions: &actions,
                rules: prepared.rules(),
                required: None,
            };
            let watch = Watch { progress: &|_, _| (), stop };
            let Some(found) = outcomes(query, &watch)? else { return Ok(best.1) };
            for (action, loss) in losses.iter_mut().enumerate() {
                let flipped: u32 = found.flips.set(action).iter().map(|word| word.count_ones()).sum();
                *loss -= u64::from(flipped);
            }
        }
        for (action, &loss) in actions.iter().zip(&losses).filter(|(action, _)| action.len() == size) {
            let sums = action.iter().map(|&edit| useful.cost_sums[edit as usize]);
            let least = sums.fold(0, |sum, cost| useful.least_cost(sum, cost));
            if useful.objective(least, loss) >= best.0 {
                continue;
            }
            let edits: Vec<usize> = action.iter().map(|&edit| edit as usize).collect();
            let objective = useful.objective(useful.cost_of(&edits), loss);
            if objective < best.0 {
                best = (objective, edits.iter().map(|&edit| numbers[edit]).collect());
            }
        }
    }
    Ok(best.1)
}
