//! Where an action stands among all actions, and which runs of terms its children's margins are sums of.

use super::Question;

/// Finds the number of an action from its edits: the children of an action are consecutive.
pub(super) struct ActionIndex {
    pub first_child: Vec<u32>,
    /// For every action with children: where the terms of the proper subsets of its edits, with each later edit added,
    /// start. `runs[run_start[a]..run_start[a + 1]]`.
    runs: Vec<u32>,
    run_start: Vec<u32>,
    /// The first edit of a later feature.
    pub after: Vec<u32>,
}

impl ActionIndex {
    pub fn new(question: &Question<'_>, most_edits: usize) -> Self {
        let edits = question.edits;
        let after: Vec<u32> = (0..edits.len())
            .map(|edit| {
                let own =
                    edits[edit..].iter().take_while(|other| other.feature == edits[edit].feature).count();
                (edit + own) as u32
            })
            .collect();
        let mut first_child = vec![0; question.actions.len()];
        let mut next = 1;
        for (action, list) in question.actions.iter().enumerate() {
            if list.len() < most_edits {
                first_child[action] = next;
                next += edits.len() as u32 - list.last().map_or(0, |&last| after[last as usize]);
            }
        }
        let mut index = ActionIndex { first_child, after, runs: Vec::new(), run_start: vec![0] };
        for list in question.actions.iter().take_while(|list| list.len() < most_edits) {
            let from = list.last().map_or(0, |&last| index.after[last as usize]);
            for subset in 0..(1u32 << list.len()) - 1 {
                let chosen: Vec<u32> =
                    (0..list.len()).filter(|i| subset >> i & 1 == 1).map(|i| list[i]).collect();
                let start = index.child(index.of(&chosen), chosen.last().copied(), from);
                index.runs.push(start);
            }
            index.run_start.push(index.runs.len() as u32);
        }
        index
    }

    /// Every action that has children, in order: its number, its first child, how many there are, and the runs of terms.
    pub fn blocks<'a>(
        &'a self,
        question: &'a Question<'_>,
    ) -> impl Iterator<Item = (usize, std::ops::Range<usize>, &'a [u32])> {
        let edits = question.edits.len();
        question.actions.iter().zip(self.run_start.windows(2)).enumerate().map(
            move |(action, (list, runs))| {
                let from = list.last().map_or(0, |&last| self.after[last as usize] as usize);
                let first = self.first_child[action] as usize;
                (action, first..first + edits - from, &self.runs[runs[0] as usize..runs[1] as usize])
            },
        )
    }

    /// The action `parent` with `edit` added, which comes after all of its edits; `last` is its last one.
    #[inline]
    pub fn child(&self, parent: u32, last: Option<u32>, edit: u32) -> u32 {
        let first = last.map_or(0, |last| self.after[last as usize]);
        self.first_child[parent as usize] + edit - first
    }

    pub fn of(&self, edits: &[u32]) -> u32 {
        let mut last = None;
        edits.iter().fold(0, |action, &edit| {
            let child = self.child(action, last, edit);
            last = Some(edit);
            child
        })
    }
}
