//! How the actions hang together: which ones differ in their last edit only.

use crate::actions::count_actions;
use crate::outcomes::Question;
use crate::outcomes::index::Children;

/// What is known of the actions before any row is looked at.
pub(super) struct Plan {
    pub most_edits: usize,
    /// `None` if the actions are not all sets of at most `most_edits` edits in order; then they are evaluated one by one.
    pub tree: Option<Children>,
}

impl Plan {
    pub fn new(question: &Question<'_>) -> Plan {
        let most_edits = question.actions.iter().map(<[u32]>::len).max().unwrap_or(0);
        Plan { most_edits, tree: tree(question, most_edits) }
    }
}

fn tree(question: &Question<'_>, most_edits: usize) -> Option<Children> {
    let most = u32::try_from(most_edits).ok()?;
    if count_actions(question.edits, most) != question.actions.len() as u128 {
        return None;
    }
    let children = Children::new(question, most_edits);
    let mut numbered = (0..).zip(question.actions.iter());
    numbered.all(|(action, list)| children.find(list) == Some(action)).then_some(children)
}
