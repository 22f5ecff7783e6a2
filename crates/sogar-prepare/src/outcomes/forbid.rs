//! Rules that an action must not break (SPEC §5).

use std::collections::BTreeMap;

use sogar_solver::BitTable;
use sogar_table::rules::Rule;

use super::OutcomeQuery;

/// Removes the flips of actions that break a rule. Only edits of the rule's own features can break it, so rows are checked once
/// per combination of such edits, not once per action.
pub fn forbid(query: OutcomeQuery<'_>, flips: &mut BitTable) {
    for rule in query.rules {
        let concerns = |edit: u32| {
            query.edits[edit as usize].touched().any(|touched| rule.features().any(|own| own == touched))
        };
        let mut broken: BTreeMap<Vec<u32>, Vec<u64>> = BTreeMap::new();
        for action in 1..query.actions.len() {
            let edits: Vec<u32> =
                query.actions.get(action).iter().copied().filter(|&edit| concerns(edit)).collect();
            if edits.is_empty() {
                continue;
            }
            let rows = broken.entry(edits).or_insert_with_key(|edits| breaking_rows(query, rule, edits));
            for (word, broken) in flips.set_mut(action).iter_mut().zip(rows) {
                *word &= !*broken;
            }
        }
    }
}

fn breaking_rows(query: OutcomeQuery<'_>, rule: &Rule, edits: &[u32]) -> Vec<u64> {
    let mut words = vec![0u64; query.rows.len().div_ceil(64)];
    for (position, &row) in query.rows.iter().enumerate() {
        let before = query.table.row(row);
        let mut after = before.clone();
        query.apply_edits(edits, &mut after);
        if rule.broken_by(&before, &after) {
            words[position / 64] |= 1 << (position % 64);
        }
    }
    words
}
