//! The numbers of actions in the order of SPEC §4, computed by counting instead of listing.
//!
//! An action has at most one edit of a feature, and moves no feature twice, links included (SPEC §4). Edits of one feature are
//! consecutive and move the same features, so whole groups of edits are compatible or not.

use std::collections::{BTreeMap, BTreeSet};

use sogar_prepare::actions::Edit;

/// The edits of one feature.
struct Group {
    /// The first of them, and their number.
    first: usize,
    count: usize,
    /// Later groups that move a feature which this one also moves.
    rivals: Vec<usize>,
}

/// Groups that can no longer be chosen.
type Blocked = BTreeSet<usize>;

/// Numbers actions.
pub(super) struct Numbering {
    groups: Vec<Group>,
    /// The number of ways to choose this many edits from a group on, with some groups blocked.
    known: BTreeMap<(usize, usize, Blocked), u128>,
}

/// Whether two edits move a feature in common.
pub(super) fn rivals(a: &Edit, b: &Edit) -> bool {
    a.touched().any(|feature| b.touched().any(|other| other == feature))
}

impl Numbering {
    pub(super) fn new(edits: &[Edit]) -> Self {
        let chunks: Vec<&[Edit]> = edits.chunk_by(|a, b| a.feature == b.feature).collect();
        let mut first = 0;
        let groups = chunks
            .iter()
            .enumerate()
            .map(|(at, own)| {
                let meets = |other: &[Edit]| own.iter().any(|a| other.iter().any(|b| rivals(a, b)));
                let rivals = (at + 1..chunks.len()).filter(|&behind| meets(chunks[behind])).collect();
                first += own.len();
                Group { first: first - own.len(), count: own.len(), rivals }
            })
            .collect();
        Numbering { groups, known: BTreeMap::new() }
    }

    /// Ways to choose `edits` edits among the groups from `from` on that are not blocked.
    fn ways(&mut self, edits: usize, from: usize, blocked: &Blocked) -> u128 {
        if edits == 0 {
            return 1;
        }
        if self.groups.len() - from < edits {
            return 0;
        }
        let blocked: Blocked = blocked.range(from..).copied().collect();
        let key = (edits, from, blocked);
        if let Some(&ways) = self.known.get(&key) {
            return ways;
        }
        let blocked = &key.2;
        let without = self.ways(edits, from + 1, blocked);
        let with = if blocked.contains(&from) {
            0
        } else {
            let (count, blocked) = (self.groups[from].count as u128, self.blocked_by(from, blocked));
            count.saturating_mul(self.ways(edits - 1, from + 1, &blocked))
        };
        let ways = without.saturating_add(with);
        self.known.insert(key, ways);
        ways
    }

    fn blocked_by(&self, group: usize, blocked: &Blocked) -> Blocked {
        blocked.iter().chain(&self.groups[group].rivals).copied().collect()
    }

    /// The number of actions of at most this many edits.
    pub(super) fn count(&mut self, most: u32) -> u128 {
        let sum = |sum: u128, edits: usize| sum.saturating_add(self.ways(edits, 0, &Blocked::new()));
        (0..=most as usize).fold(0, sum)
    }

    /// The number of the action with these edits, ascending, no two of which are rivals.
    pub(super) fn of(&mut self, action: &[u32]) -> u128 {
        let mut number = match action.len().checked_sub(1) {
            Some(shorter) => self.count(shorter as u32),
            None => 0,
        };
        let (mut from, mut blocked) = (0, Blocked::new());
        for (position, &edit) in action.iter().enumerate() {
            let rest = action.len() - position - 1;
            let own = self.groups.partition_point(|group| group.first <= edit as usize).saturating_sub(1);
            for group in (from..=own).filter(|group| !blocked.contains(group)).collect::<Vec<_>>() {
                let Group { first, count, .. } = self.groups[group];
                // The edits before it in its own group, and all edits of earlier groups.
                let before = if group == own { edit as usize - first } else { count };
                let behind = self.blocked_by(group, &blocked);
                let ways = self.ways(rest, group + 1, &behind);
                number = number.saturating_add(ways.saturating_mul(before as u128));
            }
            blocked = self.blocked_by(own, &blocked);
            from = own + 1;
        }
        number
    }
}
