//! Which actions can matter on one side of a split.
//!
//! An action that matters to all rows may be useless among fewer of them: a rival flips all of those that it flips (an earlier action that
//! costs no row more, [`super::dominated_actions`]). The argument made there for all rows holds on a set `S` as it stands: on every subset of
//! `S` the rival costs no more, loses no more and comes first, so no leaf front names the action. If the rival is left out itself, here
//! or on more rows, then for an earlier one that does as much on `S`; numbers only get smaller, so that this ends at an
//! action that stays.
//!
//! A leaf lies on one side of each split above it, and what is useless on any of these sides is useless on the leaf. So it is found
//! once per side of each split, before many leaves are evaluated; a leaf takes the intersection of two or three such sets of actions.
//! Typically half of the actions are left, hardly more than if the leaf's own rows had been looked at.

use rayon::prelude::*;

use super::dominated_actions::{Trie, cheaper_edits, rivals};
use super::groups::{Groups, NONE};
use crate::bits::BitTable;
use crate::problem::Problem;
use crate::stop::Stop;

/// Per side of a split (`2 · split`, plus 1 for the rows that fail it), what can matter to its subsets, by [`Groups`]' places.
#[derive(Debug)]
pub(super) struct SideDominance {
    matters: BitTable,
}

impl SideDominance {
    /// Finds out for all useful actions; `None` if stopped.
    pub fn new(problem: &Problem, groups: &Groups, stop: &Stop) -> Option<Self> {
        let (trie, cheaper) = (Trie::new(problem), cheaper_edits(problem));
        let rows = Rows::new(problem);
        let actions: Vec<u32> = listed(groups).collect();
        let chunks: Vec<Vec<u64>> = actions
            .par_chunks(256)
            .map(|actions| {
                stop.check().ok()?;
                let mut found = vec![0; actions.len() * rows.words];
                for (&action, needed) in actions.iter().zip(found.chunks_exact_mut(rows.words)) {
                    if action != NONE && groups.useful[action as usize] {
                        let rivals = rivals(problem, &trie, &cheaper, action);
                        rows.find_where_needed(problem, action, &rivals, needed);
                    }
                }
                Some(found)
            })
            .collect::<Option<_>>()?;
        let mut needed = chunks.concat();
        needed.resize(groups.places() * rows.words, 0);
        // What contains an edit or a pair matters where one of its actions does.
        let (of_actions, of_groups) = needed.split_at_mut(actions.len() * rows.words);
        for (&action, own) in actions.iter().zip(of_actions.chunks_exact(rows.words)) {
            let edits = if action == NONE { &[][..] } else { problem.edits_of(action as usize) };
            for (i, &a) in edits.iter().enumerate() {
                let pairs =
                    edits[i + 1..].iter().map(|&b| groups.pair[a as usize * groups.edits + b as usize]);
                let pairs = pairs.filter(|&pair| pair != NONE).map(|pair| groups.place_with_pair(pair));
                for group in pairs.chain([groups.place_with_edit(a as usize)]) {
                    let at = (group - actions.len()) * rows.words;
                    of_groups[at..at + rows.words].iter_mut().zip(own).for_each(|(all, own)| *all |= own);
                }
            }
        }
        Some(SideDominance { matters: turned(&needed, rows.words, rows.sides) })
    }

    /// What can matter on a side, by place.
    #[inline(always)]
    pub fn on(&self, side: u32) -> &[u64] {
        self.matters.set(side as usize)
    }
}

/// The actions at the places of children, pairs and single edits, in this order.
fn listed(groups: &Groups) -> impl Iterator<Item = u32> {
    let children = groups.children.iter().map(|child| child.action);
    children.chain(groups.pair_action.iter().copied()).chain(groups.single.iter().copied())
}

/// Per row the sides that it is on, as bits.
struct Rows {
    sides: usize,
    /// Words of a set of sides; at least one.
    words: usize,
    on: Vec<u64>,
    /// The order in which words of rows are looked at: neighbours are alike, so they are kept apart.
    order: Vec<usize>,
}

impl Rows {
    fn new(problem: &Problem) -> Self {
        let sides = 2 * problem.splits.len();
        let words = sides.div_ceil(64).max(1);
        let mut on = vec![0; problem.rows * words];
        for (row, on) in on.chunks_exact_mut(words).enumerate() {
            for (split, passing) in problem.splits.iter().enumerate() {
                let side = 2 * split + usize::from(!passing.contains(row));
                on[side / 64] |= 1 << (side % 64);
            }
        }
        let mut order: Vec<usize> = (0..problem.rows.div_ceil(64)).collect();
        // (Those of one cache line are not.)
        order.sort_by_key(|word| (word / 8).reverse_bits());
        Rows { sides, words, on, order }
    }

    /// The sides on which no rival flips all rows that the action flips.
    fn find_where_needed(&self, problem: &Problem, action: u32, rivals: &[u32], needed: &mut [u64]) {
        (0..self.sides).for_each(|side| needed[side / 64] |= 1 << (side % 64));
        let flips = problem.flips_of(action as usize);
        let mut found = vec![0; self.words];
        for &rival in rivals {
            found.fill(0);
            self.find_missed(flips, problem.flips_of(rival as usize), needed, &mut found);
            needed.iter_mut().zip(&found).for_each(|(needed, found)| *needed &= found);
        }
    }

    /// The sides of the rows that are in `flips` and not in `rival`; at least those among `wanted`.
    fn find_missed(&self, flips: &[u64], rival: &[u64], wanted: &[u64], found: &mut [u64]) {
        for &word in &self.order {
            let mut missed = flips[word] & !rival[word];
            if missed == 0 {
                continue;
            }
            while missed != 0 {
                let row = word * 64 + missed.trailing_zeros() as usize;
                missed &= missed - 1;
                let on = &self.on[row * self.words..(row + 1) * self.words];
                found.iter_mut().zip(on).for_each(|(found, on)| *found |= on);
            }
            if wanted.iter().zip(&*found).all(|(wanted, found)| wanted & !found == 0) {
                return;
            }
        }
    }
}

/// Sets of sides, so many words for each place, as sets of places for each side.
fn turned(places: &[u64], words: usize, sides: usize) -> BitTable {
    let mut table = BitTable::new(sides, places.len() / words);
    for side in 0..sides {
        for (word, places) in table.set_mut(side).iter_mut().zip(places.chunks(64 * words)) {
            let bits = places.chunks_exact(words).map(|place| place[side / 64] >> (side % 64) & 1);
            *word = bits.enumerate().fold(0, |word, (i, bit)| word | bit << i);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::RowSet;
    use crate::problem::{Actions, Combine, Limits, ProblemParts};

    /// Some rows and splits, and all sets of up to three of some edits, with costs and flips of little variety.
    fn random(state: &mut u64) -> Problem {
        let mut random = |below: u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) % below
        };
        let (rows, edits) = (random(150) as usize + 1, random(4) as u32 + 2);
        let mut lists: Vec<Vec<u32>> = vec![vec![]];
        for bits in 1u32..1 << edits {
            if bits.count_ones() <= 3 {
                lists.push((0..edits).filter(|edit| bits >> edit & 1 == 1).collect());
            }
        }
        lists.sort_by_key(|list| (list.len(), list.clone()));
        let splits = (0..random(40)).map(|_| {
            let share = random(9) + 1;
            RowSet::from_rows(rows, (0..rows).filter(|_| random(10) < share).collect::<Vec<_>>())
        });
        let splits = splits.collect();
        let sets: Vec<RowSet> = lists
            .iter()
            .map(|list| {
                RowSet::from_rows(
                    rows,
                    (0..rows).filter(|_| !list.is_empty() && random(12) == 0).collect::<Vec<_>>(),
                )
            })
            .collect();
        Problem::new(ProblemParts {
            rows,
            splits,
            edit_costs: (0..edits).map(|_| (0..rows).map(|_| random(3) as u32).collect()).collect(),
            combine: Combine::Max,
            actions: lists.iter().collect::<Actions>(),
            flips: BitTable::from_sets(rows, &sets),
            weights: Vec::new(),
            limits: Limits { max_depth: 1, max_leaves: 2, min_leaf: 1 },
        })
        .unwrap()
    }

    #[test]
    fn what_is_left_out_on_a_side_has_an_earlier_rival_there() {
        let (mut state, mut left_out) = (5, 0);
        for _ in 0..200 {
            let problem = random(&mut state);
            let groups = Groups::new(&problem, true);
            let sides = SideDominance::new(&problem, &groups, &Stop::default()).unwrap();
            let all = RowSet::full(problem.rows);
            for side in 0..2 * problem.splits.len() {
                let split = &problem.splits[side / 2];
                let rows = if side % 2 == 0 { split.clone() } else { all.and_not(split) };
                let matters = |place: usize| sides.on(side as u32)[place / 64] >> (place % 64) & 1 == 1;
                for (place, action) in listed(&groups).enumerate().filter(|(_, action)| *action != NONE) {
                    let has_rival = (0..action as usize).any(|rival| {
                        let costs_no_more =
                            |row| problem.cost(rival, row) <= problem.cost(action as usize, row);
                        (0..problem.rows).all(costs_no_more)
                            && rows
                                .iter()
                                .all(|row| problem.flips(rival, row) || !problem.flips(action as usize, row))
                    });
                    assert!(matters(place) || has_rival);
                    left_out += u32::from(!matters(place));
                    if matters(place) {
                        let edits = problem.edits_of(action as usize);
                        assert!(edits.iter().all(|&edit| matters(groups.place_with_edit(edit as usize))));
                        for (i, &a) in edits.iter().enumerate() {
                            let pair = |b: u32| groups.pair[a as usize * groups.edits + b as usize];
                            assert!(edits[i + 1..].iter().all(|&b| matters(groups.place_with_pair(pair(b)))));
                        }
                    }
                }
            }
        }
        assert!(left_out > 1000, "{left_out}");
    }

    #[test]
    fn a_cancelled_computation_gives_nothing() {
        let problem = random(&mut 11);
        let groups = Groups::new(&problem, true);
        let cancel = crate::stop::CancelToken::new();
        cancel.cancel();
        assert!(SideDominance::new(&problem, &groups, &Stop::from(&cancel)).is_none());
    }
}
