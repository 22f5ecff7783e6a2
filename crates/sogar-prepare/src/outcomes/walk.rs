//! Which sets of edits one model leaf contributes to.

use super::index::Children;

/// A unit on the path to a model leaf, as seen from one row.
pub(super) struct PathUnit {
    /// Whether the row itself fails the leaf's conditions here, so that an edit must repair it.
    pub violated: bool,
    /// Edits that change the answer: a range of `Scratch::turning`.
    pub turning: std::ops::Range<usize>,
}

/// Adds one model leaf's value to the terms of every set of edits that it contributes to. Units come in the order of
/// their edits.
pub(super) struct Walk<'a> {
    pub children: &'a Children,
    pub turning: &'a [u32],
    pub most: usize,
}

impl Walk<'_> {
    /// `violated` units of `path` still need an edit; `action` is the set chosen so far, and at most `self.most` more edits may
    /// be added.
    pub fn add(&self, path: &[PathUnit], value: f64, violated: usize, action: u32, terms: &mut [f64]) {
        let offset = self.children.offsets[action as usize];
        let (range, change) = last_edits(path, value, violated);
        for &edit in &self.turning[range] {
            terms[offset.wrapping_add(edit) as usize] += change;
        }
        if self.most < 2 {
            return;
        }
        let deeper = Walk { most: self.most - 1, ..*self };
        for (position, unit) in path.iter().enumerate() {
            let left = violated - usize::from(unit.violated);
            let value = if unit.violated { value } else { -value };
            let rest = &path[position + 1..];
            if left < self.most && !rest.is_empty() {
                for &edit in &self.turning[unit.turning.clone()] {
                    let child = offset.wrapping_add(edit);
                    if deeper.most == 1 {
                        deeper.end(rest, value, left, child, terms);
                    } else {
                        deeper.add(rest, value, left, child, terms);
                    }
                }
            }
            if unit.violated {
                return; // it must be repaired
            }
        }
    }

    /// Like [`Walk::add`] with one more edit.
    #[inline]
    fn end(&self, path: &[PathUnit], value: f64, violated: usize, action: u32, terms: &mut [f64]) {
        let (range, change) = last_edits(path, value, violated);
        let offset = self.children.offsets[action as usize];
        for &edit in &self.turning[range] {
            terms[offset.wrapping_add(edit) as usize] += change;
        }
    }
}

/// The edits that complete a set in which `violated` units of the path still need an edit, and the change of the set's term: all
/// edits if there is no such unit, those of the unit if there is one.
#[inline]
fn last_edits(path: &[PathUnit], value: f64, violated: usize) -> (std::ops::Range<usize>, f64) {
    match (violated, path) {
        (0, [first, ..]) => (first.turning.start..path[path.len() - 1].turning.end, -value),
        (1, _) => match path.iter().find(|unit| unit.violated) {
            Some(unit) => (unit.turning.clone(), value),
            None => (0..0, 0.0),
        },
        _ => (0..0, 0.0),
    }
}

/// The same if links tie features with edits together: units then do not follow the order of edits.
pub(super) struct LinkedWalk<'a> {
    pub children: &'a Children,
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
                        // Edits of different units never clash.
                        if let Some(action) = self.children.find(&sorted) {
                            terms[action as usize] += value;
                        }
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
