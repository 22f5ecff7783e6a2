//! Which sets of edits one model leaf contributes to.

use super::index::ActionIndex;

/// A unit on the way to a model leaf, as seen from one row.
pub(super) struct PathUnit {
    /// Whether the row itself fails the leaf's conditions here, so that an edit must repair it.
    pub violated: bool,
    /// Edits that change the answer: a range of [`Scratch::turning`].
    pub turning: std::ops::Range<usize>,
}

/// Adds one model leaf's value to the terms of every set of edits that it contributes to. Units come in the order of
/// their edits.
pub(super) struct Walk<'a> {
    pub index: &'a ActionIndex,
    pub turning: &'a [u32],
    pub most: usize,
}

impl Walk<'_> {
    /// `violated` units of `path` are still to be repaired by an edit; `action` is what was chosen so far, `last` its
    /// last edit, and `self.most` more edits may be added.
    pub fn add(
        &self,
        path: &[PathUnit],
        value: f64,
        violated: usize,
        action: u32,
        last: Option<u32>,
        terms: &mut [f64],
    ) {
        let from = last.map_or(0, |last| self.index.after[last as usize]);
        // The children of `action` are consecutive: child = first + (edit - from).
        let first = self.index.first_child[action as usize];
        let deeper = Walk { most: self.most - 1, ..*self };
        for (position, unit) in path.iter().enumerate() {
            let left = violated - usize::from(unit.violated);
            let value = if unit.violated { value } else { -value };
            let turning = &self.turning[unit.turning.clone()];
            if left == 0 {
                for &edit in turning {
                    terms[(first + edit - from) as usize] += value;
                }
            }
            if left < self.most && self.most > 1 {
                for &edit in turning {
                    deeper.add(&path[position + 1..], value, left, first + edit - from, Some(edit), terms);
                }
            }
            if unit.violated {
                return; // it can't be left out
            }
        }
    }
}

/// The same where links tie features together: units then do not follow the order of edits.
pub(super) struct LinkedWalk<'a> {
    pub index: &'a ActionIndex,
    pub turning: &'a [u32],
    pub most: usize,
}

impl LinkedWalk<'_> {
    pub fn add(
        &self,
        path: &[PathUnit],
        value: f64,
        violated: usize,
        chosen: &mut Vec<u32>,
        terms: &mut [f64],
    ) {
        for (position, unit) in path.iter().enumerate() {
            let left = violated - usize::from(unit.violated);
            let value = if unit.violated { value } else { -value };
            if left < self.most - chosen.len() {
                for &edit in &self.turning[unit.turning.clone()] {
                    chosen.push(edit);
                    if left == 0 {
                        let mut sorted = chosen.clone();
                        sorted.sort_unstable();
                        terms[self.index.of(&sorted) as usize] += value;
                    }
                    if chosen.len() < self.most {
                        self.add(&path[position + 1..], value, left, chosen, terms);
                    }
                    chosen.pop();
                }
            }
            if unit.violated {
                return;
            }
        }
    }
}
