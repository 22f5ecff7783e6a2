//! The structure of the actions: which ones differ only in their last edit.

use crate::actions::count_actions;
use crate::outcomes::OutcomeQuery;
use crate::outcomes::index::Children;

/// What is known about the actions before any row.
pub(super) struct Plan {
    pub most_edits: usize,
    /// `None` if the actions are not all sets of at most `most_edits` edits in order; then they are evaluated one by one.
    pub tree: Option<Children>,
}

impl Plan {
    pub fn new(query: &OutcomeQuery<'_>) -> Plan {
        let most_edits = query.actions.iter().map(<[u32]>::len).max().unwrap_or(0);
        Plan { most_edits, tree: tree(query, most_edits) }
    }
}

fn tree(query: &OutcomeQuery<'_>, most_edits: usize) -> Option<Children> {
    let most = u32::try_from(most_edits).ok()?;
    if count_actions(query.edits, most) != query.actions.len() as u128 {
        return None;
    }
    let children = Children::new(query, most_edits);
    let mut numbered = (0..).zip(query.actions.iter());
    numbered.all(|(action, list)| children.find(list) == Some(action)).then_some(children)
}
