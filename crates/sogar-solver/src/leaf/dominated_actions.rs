//! Which actions can matter at all.
//!
//! Many edits flip no row, or no row that a cheaper edit does not flip too; actions that contain them never matter.
//! An action `a` is left out if an action `b` that comes *before* it flips every row that `a` flips and costs no
//! row more than `a` does. Two kinds of `b` are tried:
//!
//! * `a` without some of its edits: costs never fall when an edit is added;
//! * `a` with an edit `e` replaced by an `f` that costs no row more than `e`: the maximum, or the sum, over the edits
//!   cannot be more either.
//!
//! **Why this is sound, ties included.** On every set of rows `S`, `C(b) ≤ C(a)` and `L(b) ≤ L(a)`. So if `a` attains a
//! non-dominated point of `S`, `b` attains the same point with a smaller number, and the leaf front, which has the smallest action of
//! each point, does not name `a`. The same holds for `b`, and numbers only get smaller: after finitely many steps one ends at an
//! action that was not left out. Hence no leaf front of any set changes.

use rayon::prelude::*;

use crate::problem::Problem;

/// With more edits than this, which of them are cheaper than others is not worked out.
const MOST_EDITS: usize = 2048;

/// The children of every action, for finding actions by their edits.
pub(super) struct Trie<'a> {
    problem: &'a Problem,
    /// The first child and the one after the last; equal if there are none.
    children: Vec<(u32, u32)>,
}

impl<'a> Trie<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        let mut children = vec![(0, 0); problem.actions()];
        for (action, parent) in problem.parents().into_iter().enumerate().skip(1) {
            let range: &mut (u32, u32) = &mut children[parent as usize];
            if range.1 == 0 {
                range.0 = action as u32;
            }
            range.1 = action as u32 + 1;
        }
        Trie { problem, children }
    }

    /// The actions that have one edit more than this one, at the end.
    pub fn children(&self, action: u32) -> std::ops::Range<u32> {
        let (first, end) = self.children[action as usize];
        first..end
    }

    /// The last edit of an action that is not the identity.
    pub fn last(&self, action: u32) -> u32 {
        self.problem.edits_of(action as usize).last().copied().unwrap_or(0)
    }

    /// The action with these edits, ascending.
    fn find(&self, edits: impl Iterator<Item = u32>) -> Option<u32> {
        let mut action = 0;
        for edit in edits {
            let children = self.children(action);
            if children.is_empty() {
                return None;
            }
            // Mostly the children end in consecutive edits, so that the place is known.
            let guess = children.start + edit.checked_sub(self.last(children.start))?;
            action = match children.contains(&guess) && self.last(guess) == edit {
                true => guess,
                false => {
                    let (mut low, mut high) = (children.start, children.end);
                    while low < high {
                        let middle = low + (high - low) / 2;
                        match self.last(middle) < edit {
                            true => low = middle + 1,
                            false => high = middle,
                        }
                    }
                    if low == children.end || self.last(low) != edit {
                        return None;
                    }
                    low
                }
            };
        }
        Some(action)
    }
}

/// For every action whether it can matter.
pub(super) fn useful_actions(problem: &Problem, trie: &Trie<'_>) -> Vec<bool> {
    let cheaper = cheaper_edits(problem);
    (0..problem.actions() as u32)
        .into_par_iter()
        .map(|action| is_useful(problem, trie, &cheaper, action))
        .collect()
}

fn is_useful(problem: &Problem, trie: &Trie<'_>, cheaper: &[Vec<u32>], action: u32) -> bool {
    let flips = problem.flips_of(action as usize);
    let does_as_much =
        |other: u32| problem.flips_of(other as usize).iter().zip(flips).all(|(other, own)| own & !other == 0);
    !any_rival(problem, trie, cheaper, action, does_as_much)
}

/// Whether some action that comes before this one and costs no row more passes a test; the likeliest are tried first.
fn any_rival(
    problem: &Problem,
    trie: &Trie<'_>,
    cheaper: &[Vec<u32>],
    action: u32,
    mut test: impl FnMut(u32) -> bool,
) -> bool {
    let edits = problem.edits_of(action as usize);
    if edits.is_empty() {
        return false;
    }
    let mut passes = |other: u32| other < action && test(other);
    // Without one edit, without two, …: the actions nearest to this one are the likeliest. (An action of more than a few edits
    // has too many subsets to try them all.)
    let longer: Vec<u32>;
    let parts: &[u32] = match edits.len() {
        1 => &[0],
        2 => &[1, 2, 0],
        3 => &[3, 5, 6, 1, 2, 4, 0],
        many => {
            let mut all: Vec<u32> = (0..(1 << many.min(6)) - 1).collect();
            all.sort_unstable_by_key(|kept| std::cmp::Reverse(kept.count_ones()));
            longer = all;
            &longer
        }
    };
    let kept = |part: u32| {
        edits.iter().enumerate().filter(move |(i, _)| *i >= 6 || part >> i & 1 == 1).map(|(_, &edit)| edit)
    };
    if parts.iter().any(|&part| trie.find(kept(part)).is_some_and(&mut passes)) {
        return true;
    }
    let mut changed = Vec::with_capacity(edits.len());
    for (i, &edit) in edits.iter().enumerate() {
        for &other in cheaper.get(edit as usize).map_or(&[][..], Vec::as_slice) {
            if edits.contains(&other) {
                continue;
            }
            changed.clear();
            changed.extend_from_slice(edits);
            changed[i] = other;
            changed.sort_unstable();
            if trie.find(changed.iter().copied()).is_some_and(&mut passes) {
                return true;
            }
        }
    }
    false
}

/// The earlier actions that cost no row more than this one, of those that are nearest to it: with one edit less, or another.
/// On any set of rows, one of them that flips all rows that the action flips there makes it useless.
pub(super) fn rivals(problem: &Problem, trie: &Trie<'_>, cheaper: &[Vec<u32>], action: u32) -> Vec<u32> {
    let near = problem.edits_of(action as usize).len().saturating_sub(1);
    let mut found = Vec::new();
    any_rival(problem, trie, cheaper, action, |other| {
        if problem.edits_of(other as usize).len() >= near {
            found.push(other);
        }
        false
    });
    found
}

/// For every edit those that cost no row more.
pub(super) fn cheaper_edits(problem: &Problem) -> Vec<Vec<u32>> {
    if problem.edits > MOST_EDITS {
        return Vec::new();
    }
    (0..problem.edits)
        .into_par_iter()
        .map(|edit| {
            let own = problem.edit_cost(edit);
            let costs_no_more = |other: &usize| {
                *other != edit && problem.edit_cost(*other).iter().zip(own).all(|(other, own)| other <= own)
            };
            (0..problem.edits).filter(costs_no_more).map(|other| other as u32).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{BitTable, RowSet};
    use crate::problem::{Actions, Combine, Limits, ProblemParts};

    /// Four rows; edit 0 is a smaller step of the same feature than edit 1, edit 2 is another feature.
    fn useful(lists: &[(&[u32], &[usize])], combine: Combine) -> Vec<bool> {
        let flips: Vec<RowSet> =
            lists.iter().map(|(_, rows)| RowSet::from_rows(4, rows.iter().copied())).collect();
        let problem = Problem::new(ProblemParts {
            rows: 4,
            splits: vec![],
            edit_costs: vec![vec![1, 1, 2, 0], vec![2, 1, 3, 0], vec![1, 2, 1, 5]],
            combine,
            actions: lists.iter().map(|(edits, _)| *edits).collect::<Actions>(),
            flips: BitTable::from_sets(4, &flips),
            weights: Vec::new(),
            limits: Limits { max_depth: 0, max_leaves: 1, min_leaf: 1 },
        })
        .unwrap();
        useful_actions(&problem, &Trie::new(&problem))
    }

    #[test]
    fn an_action_is_left_out_if_an_earlier_one_does_as_much_for_no_more() {
        for combine in [Combine::Max, Combine::Sum] {
            let found = useful(
                &[
                    (&[], &[]),
                    (&[0], &[0]),
                    (&[1], &[0]),       // a larger step for the same row
                    (&[2], &[]),        // for nobody
                    (&[0, 2], &[0]),    // only rows that [0] flips
                    (&[1, 2], &[0, 3]), // somebody new
                ],
                combine,
            );
            assert_eq!(found, [true, true, false, false, false, true]);
        }
    }

    #[test]
    fn a_later_action_leaves_nothing_out() {
        // [1] costs no row less than [0] and comes later, so both stay, whatever they flip.
        let found = useful(&[(&[], &[]), (&[0], &[0]), (&[1], &[0, 1])], Combine::Max);
        assert_eq!(found, [true; 3]);
    }

    #[test]
    fn an_action_that_costs_more_on_one_row_does_not_dominate() {
        // [2] is cheaper than [1] on two rows, but not on all.
        let found = useful(&[(&[], &[]), (&[1], &[0]), (&[2], &[0])], Combine::Max);
        assert_eq!(found, [true; 3]);
    }

    #[test]
    fn actions_are_found_by_their_edits() {
        let lists: Vec<Vec<u32>> = vec![vec![], vec![0], vec![2], vec![5], vec![0, 5], vec![2, 5]];
        let problem = Problem::new(ProblemParts {
            rows: 1,
            splits: vec![],
            edit_costs: vec![vec![1]; 6],
            combine: Combine::Max,
            actions: lists.iter().collect::<Actions>(),
            flips: BitTable::new(6, 1),
            weights: Vec::new(),
            limits: Limits { max_depth: 0, max_leaves: 1, min_leaf: 1 },
        })
        .unwrap();
        let trie = Trie::new(&problem);
        for (action, list) in lists.iter().enumerate() {
            assert_eq!(trie.find(list.iter().copied()), Some(action as u32));
        }
        for missing in [&[1][..], &[3], &[6], &[0, 2], &[2, 4], &[5, 6], &[0, 5, 6]] {
            assert_eq!(trie.find(missing.iter().copied()), None);
        }
    }
}
