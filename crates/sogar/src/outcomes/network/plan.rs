//! How the actions hang together: which ones differ in their last edit only, and which ones have edits that meet.

use crate::actions::count_actions;
use crate::outcomes::Question;
use crate::outcomes::index::ActionIndex;

/// What is known of the actions before any row is looked at.
pub(super) struct Plan {
    pub most_edits: usize,
    /// `None` if the actions are not all sets of at most `most_edits` edits in order; then all of them are `single`.
    pub tree: Option<Tree>,
    /// Actions that are evaluated one by one: edits of theirs reach the same feature, which links can make happen.
    pub single: Vec<u32>,
    meets: Vec<bool>,
    edits: usize,
}

/// For actions that have children: the child with `edit` is at `first + edit` (modulo 2^32), for edits from `from` on.
pub(super) struct Tree {
    pub first: Vec<u32>,
    pub from: Vec<u32>,
}

impl Plan {
    pub fn new(question: &Question<'_>) -> Plan {
        let edits = question.edits.len();
        let most_edits = question.actions.iter().map(<[u32]>::len).max().unwrap_or(0);
        let reaches = |edit: usize, feature| question.edits[edit].touched().any(|touched| touched == feature);
        let linked = question.edits.iter().any(|edit| !edit.followers.is_empty());
        let mut meets = Vec::new();
        if linked {
            for a in 0..edits {
                meets.extend((0..edits).map(|b| question.edits[a].touched().any(|f| reaches(b, f))));
            }
        }
        let mut plan =
            Plan { most_edits, tree: tree(question, most_edits), single: Vec::new(), meets, edits };
        let all = plan.tree.is_none();
        plan.single = (0..question.actions.len() as u32)
            .filter(|&action| {
                let list = question.actions.get(action as usize);
                let clash = |i: usize| list[..i].iter().any(|&other| plan.meet(other, list[i]));
                all || linked && (1..list.len()).any(clash)
            })
            .collect();
        plan
    }

    /// Whether two edits reach the same feature.
    pub fn meet(&self, a: u32, b: u32) -> bool {
        self.meets.get(a as usize * self.edits + b as usize).copied().unwrap_or(false)
    }
}

fn tree(question: &Question<'_>, most_edits: usize) -> Option<Tree> {
    let most = u32::try_from(most_edits).ok()?;
    if count_actions(question.edits, most) != question.actions.len() as u128 {
        return None;
    }
    let index = ActionIndex::new(question, most_edits);
    let in_place = |(action, list): (usize, &[u32])| index.of(list) as usize == action;
    if !question.actions.iter().enumerate().all(in_place) {
        return None;
    }
    let mut tree = Tree { first: Vec::new(), from: Vec::new() };
    for (action, list) in question.actions.iter().enumerate().take_while(|(_, list)| list.len() < most_edits)
    {
        let from = list.last().map_or(0, |&last| index.after[last as usize]);
        tree.first.push(index.first_child[action].wrapping_sub(from));
        tree.from.push(from);
    }
    Some(tree)
}
