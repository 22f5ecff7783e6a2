//! The position of an action among all actions, and the runs of terms that sum to its children's margins.
//!
//! A *child* of an action has one more edit, after all of the action's own. Children are consecutive in the list of actions. So
//! are their last edits, except those that clash with an edit of the action (only links make edits clash): these divide them into
//! *segments*.

use std::collections::BTreeMap;
use std::ops::Range;

use super::OutcomeQuery;
use crate::actions::Clashes;

/// Consecutive edits that all make children of an action: the child with `edit` is at `offset + edit` (modulo 2^32).
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub from: u32,
    pub to: u32,
    pub offset: u32,
}

/// The children of the actions that may have some.
pub(super) struct Children {
    segments: Vec<Segment>,
    /// An action's segments are `segments[starts[action]..starts[action + 1]]`.
    starts: Vec<u32>,
    /// The offset of an action's first segment, which is the only one unless edits clash.
    pub offsets: Vec<u32>,
}

impl Children {
    pub fn new(query: &OutcomeQuery<'_>, most_edits: usize) -> Self {
        let edits = query.edits;
        let clashes = Clashes::new(edits);
        let mut own: BTreeMap<usize, Range<u32>> = BTreeMap::new();
        for (edit, description) in (0..).zip(edits) {
            own.entry(description.feature).or_insert(edit..edit).end = edit + 1;
        }
        let mut children = Children { segments: Vec::new(), starts: vec![0], offsets: Vec::new() };
        let mut next = 1u32;
        let mut holes: Vec<Range<u32>> = Vec::new();
        for list in query.actions.iter().take_while(|list| list.len() < most_edits) {
            let feature = |edit: &u32| edits[*edit as usize].feature;
            let clashing = list.iter().flat_map(|edit| clashes.of(feature(edit)));
            holes.clear();
            holes.extend(clashing.filter_map(|other| own.get(&other).cloned()));
            holes.sort_unstable_by_key(|hole| hole.start);
            holes.push(edits.len() as u32..edits.len() as u32);
            let mut from = list.last().and_then(|last| own.get(&feature(last))).map_or(0, |own| own.end);
            let first = children.segments.len();
            for hole in &holes {
                if hole.start > from {
                    children.segments.push(Segment { from, to: hole.start, offset: next.wrapping_sub(from) });
                    next += hole.start - from;
                }
                from = from.max(hole.end);
            }
            children.starts.push(children.segments.len() as u32);
            children.offsets.push(children.segments.get(first).map_or(0, |segment| segment.offset));
        }
        children
    }

    /// The number of actions that may have children: the first ones.
    pub fn parents(&self) -> usize {
        self.offsets.len()
    }

    /// The range of an action's segments.
    fn places(&self, action: usize) -> Range<usize> {
        match self.starts.get(action..action + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        }
    }

    /// The segments of an action's children.
    pub fn of(&self, action: u32) -> &[Segment] {
        &self.segments[self.places(action as usize)]
    }

    /// The position of the action with these edits.
    pub fn find(&self, edits: &[u32]) -> Option<u32> {
        edits.iter().try_fold(0, |action, &edit| child(self.of(action), edit))
    }
}

/// The child with `edit` of an action with these segments.
#[inline]
pub(super) fn child(segments: &[Segment], edit: u32) -> Option<u32> {
    let segment = segments.iter().find(|segment| edit < segment.to)?;
    (segment.from <= edit).then(|| segment.offset.wrapping_add(edit))
}

/// The children, with the runs of terms that their margins are sums of.
pub(super) struct ActionIndex {
    pub children: Children,
    /// For every segment: where the terms of the proper subsets of the action's edits, with each edit of the segment added,
    /// start. `runs[run_start[s]..run_start[s + 1]]`.
    runs: Vec<u32>,
    run_start: Vec<u32>,
}

impl ActionIndex {
    pub fn new(query: &OutcomeQuery<'_>, most_edits: usize) -> Self {
        let children = Children::new(query, most_edits);
        let mut index = ActionIndex { children, runs: Vec::new(), run_start: vec![0] };
        let mut chosen = Vec::new();
        for (action, list) in query.actions.iter().enumerate().take(index.children.parents()) {
            for place in index.children.places(action) {
                let first = index.children.segments[place].from;
                for subset in 0..(1u32 << list.len()) - 1 {
                    chosen.clear();
                    chosen.extend((0..list.len()).filter(|i| subset >> i & 1 == 1).map(|i| list[i]));
                    chosen.push(first);
                    // An edit that clashes with no edit of a set clashes with none of its subsets.
                    index.runs.push(index.children.find(&chosen).unwrap_or_default());
                }
                index.run_start.push(index.runs.len() as u32);
            }
        }
        index
    }

    /// The children of every action in order, by segment: the action's number, where the children are, and the runs of terms.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, Range<usize>, &[u32])> {
        (0..self.children.parents()).flat_map(move |action| {
            self.children.places(action).map(move |place| {
                let segment = self.children.segments[place];
                let first = segment.offset.wrapping_add(segment.from) as usize;
                let runs = self.run_start[place] as usize..self.run_start[place + 1] as usize;
                (action, first..first + (segment.to - segment.from) as usize, &self.runs[runs])
            })
        })
    }
}
