//! Boxes of actions: groups by the features that they change, and about how far.
//!
//! A pair of edits is a poor group where features have many edits: nearly every person is flipped by *some* action that contains the pair. Actions that
//! change the same three features by similar amounts flip similar people for similar costs, so groups of them have tight bounds.
//!
//! A *family* is a list of edits of which no two are ever together in an action: the values of a category, or the steps of a number in one direction. It is
//! a *chain* if each edit costs every row at least as much as the edit before it. Both properties are checked, edit by edit and row by row. A *box* holds the
//! actions with one edit of each of one, two or three families, in a range of ranks each.
//!
//! **Why a box may be skipped.** Let `S` be the rows of a leaf, and `R` the range of one family. An action of the box has some edit `e` in `R`, and costs at least
//! what `e` costs on every row, hence at least `Σ_S e`, hence at least `min over R of Σ_S`. In a chain that minimum is the first edit's, whatever `S` is. Over
//! several families the largest of these minima is a bound if costs combine by maximum, and their sum is one if costs add up. Where the first edits of several
//! ranges bound the action row by row (chains, and ranges of one edit), the action costs at least what these edits cost together, which is larger. It flips no row
//! outside the union of the flips in the box. So cost and union are a bound as [`super`] needs it, and what is skipped is strictly dominated.
//!
//! Boxes are halved along their longest side down to a few actions, which are then evaluated one by one. Useless actions ([`super::dominated_actions`]) are in no box,
//! and ranges reach only as far as the actions in it.

use std::collections::HashMap;

use rayon::prelude::*;

use super::groups::{Groups, NONE};
use crate::bits::BitTable;
use crate::problem::Problem;

/// Boxes of at most this many actions are not divided.
const SMALL: usize = 8;
/// Families of a box.
const SIDES: usize = 3;
/// Problems with fewer useful actions have no boxes.
const FEWEST: u64 = 1000;
/// Divisions above a box at most: every one halves a side of less than 2^16 ranks.
pub(super) const DEEPEST: usize = SIDES * 16;

/// A box, with all boxes inside it right behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// Per side the edits of which every action of the box costs at least the cheapest, in [`Boxes::ranges`]; no edits beyond its last side.
    pub sides: [u32; SIDES],
    /// Boxes around this one.
    pub depth: u32,
    /// The next box that is not inside this one.
    pub after: u32,
    /// Its actions, in [`Boxes::actions`].
    pub first: u32,
    pub end: u32,
}

impl Node {
    /// Whether its actions are looked at one by one.
    #[inline(always)]
    pub fn is_small(&self, at: usize) -> bool {
        self.after as usize == at + 1
    }
}

/// All boxes of a problem.
#[derive(Debug)]
pub(super) struct Boxes {
    /// Each box before those inside it.
    pub nodes: Vec<Node>,
    /// Per box the rows that some action of it flips.
    pub unions: BitTable,
    /// The useful actions, box by box.
    pub actions: Vec<BoxedAction>,
    /// The edits, family by family.
    edits: Vec<u32>,
    /// Ranges of `edits`; the first is empty.
    ranges: Vec<(u32, u32)>,
}

/// An action of a box.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoxedAction {
    pub action: u32,
    /// Its edits, filled up with the number of edits in the problem.
    pub edits: [u32; SIDES],
}

/// When boxes are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxesOfActions {
    /// Not at all.
    Never,
    /// Where there are many actions to a box.
    WhereItPays,
    /// Whenever it can be done, for tests.
    Always,
}

/// An action as places in families.
#[derive(Debug, Clone, Copy)]
struct Placed {
    /// (family, rank), by family; [`NONE`] beyond its edits.
    places: [(u32, u32); SIDES],
    action: u32,
}

impl Placed {
    fn families(&self) -> [u32; SIDES] {
        self.places.map(|(family, _)| family)
    }
}

impl Boxes {
    /// The boxes of the useful actions; `None` if actions are longer than a box has sides, or if boxes are not worth it.
    pub fn new(problem: &Problem, groups: &Groups, when: BoxesOfActions) -> Option<Boxes> {
        if when == BoxesOfActions::Never || !(2..=SIDES).contains(&groups.longest) {
            return None;
        }
        let families = Families::new(problem, groups);
        let mut place = vec![(NONE, NONE); problem.edits()];
        for (family, (start, end, _)) in (0..).zip(&families.ranges) {
            let edits = &families.edits[*start as usize..*end as usize];
            (0..).zip(edits).for_each(|(rank, &edit)| place[edit as usize] = (family, rank));
        }
        let useful = (1..problem.actions()).filter(|&action| groups.useful[action]);
        let mut placed: Vec<Placed> = useful
            .map(|action| {
                let mut places = [(NONE, NONE); SIDES];
                let edits = problem.edits_of(action).iter();
                places.iter_mut().zip(edits).for_each(|(own, &edit)| *own = place[edit as usize]);
                places.sort_unstable();
                Placed { places, action: action as u32 }
            })
            .collect();
        placed.par_sort_unstable_by_key(|action| (action.families(), action.action));
        let outer: Vec<&mut [Placed]> = placed.chunk_by_mut(|a, b| a.families() == b.families()).collect();
        if when == BoxesOfActions::WhereItPays && !worth_it(groups, outer.len()) {
            return None;
        }
        // From cheap to expensive, so that fronts grow from below.
        let totals: Vec<u64> = (0..problem.edits() as u32).map(|edit| total_cost(problem, edit)).collect();
        let mut made: Vec<(u64, Vec<NodeWithSides>, Vec<u32>)> = outer
            .into_par_iter()
            .map(|actions| {
                let (mut nodes, mut order) = (Vec::new(), Vec::with_capacity(actions.len()));
                divide(&families, actions, 0, &mut nodes, &mut order);
                let sides = nodes.first().map_or(&[][..], |(_, sides)| sides);
                let sides = sides.iter().filter(|(start, end)| start < end);
                let cheapest = sides.map(|side| totals[families.edits[side.0 as usize] as usize]);
                (cheapest.max().unwrap_or(0), nodes, order)
            })
            .collect();
        made.sort_by_key(|(cost, _, order)| (*cost, order.first().copied()));
        let (mut nodes, mut actions) = (Vec::new(), Vec::with_capacity(groups.useful_actions as usize));
        let (mut ranges, mut number_of) = (vec![(0, 0)], HashMap::from([((0, 0), 0)]));
        for (_, own, order) in made {
            let (shift, start) = (nodes.len() as u32, actions.len() as u32);
            nodes.extend(own.into_iter().map(|(node, sides)| Node {
                sides: sides.map(|side| {
                    *number_of.entry(side).or_insert_with(|| {
                        ranges.push(side);
                        ranges.len() as u32 - 1
                    })
                }),
                after: node.after + shift,
                first: node.first + start,
                end: node.end + start,
                ..node
            }));
            actions.extend(order.into_iter().map(|action| {
                let mut edits = [problem.edits() as u32; SIDES];
                let own = problem.edits_of(action as usize);
                edits[..own.len()].copy_from_slice(own);
                BoxedAction { action, edits }
            }));
        }
        let unions = unions(problem, &nodes, &actions);
        Some(Boxes { nodes, unions, actions, edits: families.edits, ranges })
    }

    /// The edits of all ranges that sides of boxes have; the first range is empty.
    #[inline(always)]
    pub fn ranges(&self) -> impl Iterator<Item = &[u32]> {
        self.ranges.iter().map(|&(start, end)| &self.edits[start as usize..end as usize])
    }

    /// Per side of a box the edits of which its actions cost at least the cheapest.
    #[inline(always)]
    pub fn sides(&self, node: Node) -> impl Iterator<Item = &[u32]> {
        let sides = node.sides.into_iter().filter(|&side| side > 0).map(|side| self.ranges[side as usize]);
        sides.map(|(start, end)| &self.edits[start as usize..end as usize])
    }
}

/// Whether boxes rule out more than pairs of edits do (measured, not critical).
fn worth_it(groups: &Groups, outer: usize) -> bool {
    groups.useful_actions >= FEWEST && groups.useful_actions >= 4 * outer as u64
}

/// The chains of all edits that some useful action has.
fn chains(problem: &Problem, groups: &Groups) -> Vec<Vec<u32>> {
    let edits = groups.edits;
    let together = |a: u32, b: u32| groups.pair[a as usize * edits + b as usize] != NONE;
    let in_use = |edit: &u32| {
        let row = *edit as usize * edits;
        groups.single[*edit as usize] != NONE
            || groups.pair[row..row + edits].iter().any(|&pair| pair != NONE)
    };
    let mut order: Vec<u32> = (0..edits as u32).filter(in_use).collect();
    order.sort_by_cached_key(|&edit| (total_cost(problem, edit), edit));
    let mut chains: Vec<Vec<u32>> = Vec::new();
    for edit in order {
        let own = problem.edit_cost(edit as usize);
        let fits = |chain: &Vec<u32>| {
            let last = chain.last().map_or(own, |&last| problem.edit_cost(last as usize));
            chain.len() < usize::from(u16::MAX)
                && chain.iter().all(|&other| !together(edit, other))
                && last.iter().zip(own).all(|(last, own)| last <= own)
        };
        // The neighbour in number, if there is one, is the likeliest to do the same thing a little less.
        let near = |chain: &Vec<u32>| chain.last().map_or(u32::MAX, |&last| last.abs_diff(edit));
        match chains.iter_mut().filter(|chain| fits(chain)).min_by_key(|chain| near(chain)) {
            Some(chain) => chain.push(edit),
            None => chains.push(vec![edit]),
        }
    }
    chains
}

/// The edits in families.
#[derive(Debug)]
struct Families {
    edits: Vec<u32>,
    /// The part of `edits` that each family has, and whether it is a chain.
    ranges: Vec<(u32, u32, bool)>,
}

impl Families {
    /// Chains, and the other edits in families of which no two are ever together, from cheap to expensive.
    fn new(problem: &Problem, groups: &Groups) -> Families {
        let (mut lists, rest): (Vec<Vec<u32>>, _) =
            chains(problem, groups).into_iter().partition(|chain| chain.len() > 1);
        let ordered = lists.len();
        let mut rest: Vec<u32> = rest.into_iter().flatten().collect();
        rest.sort_unstable();
        for edit in rest {
            let apart = |other: &u32| groups.pair[edit as usize * groups.edits + *other as usize] == NONE;
            // Neighbours in number are likely to be values of the same feature.
            match lists[ordered..].iter_mut().rev().find(|list| list.iter().all(apart)) {
                Some(list) => list.push(edit),
                None => lists.push(vec![edit]),
            }
        }
        lists[ordered..]
            .iter_mut()
            .for_each(|list| list.sort_by_cached_key(|&edit| (total_cost(problem, edit), edit)));
        let mut families = Families { edits: Vec::new(), ranges: Vec::new() };
        for (at, list) in lists.iter().enumerate() {
            let start = families.edits.len() as u32;
            families.edits.extend(list);
            families.ranges.push((start, families.edits.len() as u32, at < ordered));
        }
        families
    }
}

fn total_cost(problem: &Problem, edit: u32) -> u64 {
    problem.edit_cost(edit as usize).iter().map(|&cost| u64::from(cost)).sum()
}

/// A part of the families' edits; beyond the last side of a box an empty one.
type Range = (u32, u32);

/// A box whose sides have no numbers yet.
type NodeWithSides = (Node, [Range; SIDES]);

/// Appends the box of some actions of the same families with its sides, and the boxes inside it.
fn divide(
    families: &Families,
    actions: &mut [Placed],
    depth: u32,
    nodes: &mut Vec<NodeWithSides>,
    order: &mut Vec<u32>,
) {
    let used = actions[0].families().iter().filter(|&&family| family != NONE).count();
    let mut ranges = [(u32::MAX, 0); SIDES];
    for action in &*actions {
        for (range, (_, rank)) in ranges.iter_mut().zip(action.places).take(used) {
            *range = (range.0.min(rank), range.1.max(rank));
        }
    }
    let mut sides = [(0, 0); SIDES];
    for (side, own) in sides.iter_mut().enumerate().take(used) {
        let (start, _, is_chain) = families.ranges[actions[0].places[side].0 as usize];
        let (low, high) = ranges[side];
        *own = (start + low, start + if is_chain { low } else { high } + 1);
    }
    let (at, first) = (nodes.len(), order.len() as u32);
    nodes.push((Node { sides: [0; SIDES], depth, after: 0, first, end: 0 }, sides));
    let longest = (0..used).max_by_key(|&side| ranges[side].1 - ranges[side].0).unwrap_or(0);
    let (low, high) = ranges[longest];
    if actions.len() <= SMALL || low == high {
        order.extend(actions.iter().map(|action| action.action));
    } else {
        let middle = low + (high - low).div_ceil(2);
        actions.sort_by_key(|action| action.places[longest].1 >= middle);
        let cut = actions.partition_point(|action| action.places[longest].1 < middle);
        let (cheaper, rest) = actions.split_at_mut(cut);
        divide(families, cheaper, depth + 1, nodes, order);
        divide(families, rest, depth + 1, nodes, order);
    }
    nodes[at].0.after = nodes.len() as u32;
    nodes[at].0.end = order.len() as u32;
}

/// Per box the union of its actions' flips.
fn unions(problem: &Problem, nodes: &[Node], actions: &[BoxedAction]) -> BitTable {
    let mut unions = BitTable::new(nodes.len(), problem.rows());
    let words = unions.words_per_set();
    unions.words_mut().par_chunks_mut(words).enumerate().for_each(|(at, union)| {
        if nodes[at].is_small(at) {
            for boxed in &actions[nodes[at].first as usize..nodes[at].end as usize] {
                let flips = problem.flips_of(boxed.action as usize);
                union.iter_mut().zip(flips).for_each(|(union, flips)| *union |= flips);
            }
        }
    });
    // The boxes inside a box come behind it.
    for at in (0..nodes.len()).rev().filter(|&at| !nodes[at].is_small(at)) {
        let (one, other) = (at + 1, nodes[at + 1].after as usize);
        let (before, behind) = unions.words_mut().split_at_mut(one * words);
        let union = before[at * words..].iter_mut();
        let inside = behind[..words].iter().zip(&behind[(other - one) * words..]);
        union.zip(inside).for_each(|(union, (a, b))| *union = a | b);
    }
    unions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::RowSet;
    use crate::problem::{Actions, Combine, Limits, ProblemParts};

    /// Three features with four steps each, whose costs are ordered in all but the last, and everything that can be done with them.
    fn problem(seed: u64, rows: usize) -> Problem {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut edit_costs: Vec<Vec<u32>> = Vec::new();
        for edit in 0..12 {
            let mut costs: Vec<u32> = (0..rows).map(|_| random(4) as u32).collect();
            if edit % 4 > 0 && edit < 8 {
                costs.iter_mut().zip(&edit_costs[edit - 1]).for_each(|(cost, before)| *cost += before);
            }
            edit_costs.push(costs);
        }
        let mut lists: Vec<Vec<u32>> = vec![vec![]];
        for bits in 1u32..1 << 12 {
            if (0..3).all(|feature| (bits >> (4 * feature) & 15).count_ones() < 2) {
                lists.push((0..12).filter(|edit| bits >> edit & 1 == 1).collect());
            }
        }
        lists.sort_by_key(|list| (list.len(), list.clone()));
        let sets: Vec<RowSet> =
            lists.iter().map(|list| RowSet::from_fn(rows, |_| !list.is_empty() && random(5) == 0)).collect();
        Problem::new(ProblemParts {
            rows,
            splits: vec![],
            edit_costs,
            combine: Combine::Max,
            actions: lists.iter().collect::<Actions>(),
            flips: BitTable::from_sets(rows, &sets),
            weights: Vec::new(),
            limits: Limits { max_depth: 0, max_leaves: 1, min_leaf: 1 },
        })
        .unwrap()
    }

    #[test]
    fn no_action_is_cheaper_than_the_bound_of_its_boxes_or_flips_a_row_outside_their_unions() {
        for seed in 0..30 {
            let problem = problem(seed, 20 + seed as usize);
            let groups = Groups::new(&problem, seed % 2 == 0);
            let boxes = Boxes::new(&problem, &groups, BoxesOfActions::Always).unwrap();
            let families = Families::new(&problem, &groups);
            let families: Vec<&[u32]> = families
                .ranges
                .iter()
                .map(|range| &families.edits[range.0 as usize..range.1 as usize])
                .collect();
            let mut sorted: Vec<u32> = boxes.actions.iter().map(|boxed| boxed.action).collect();
            sorted.sort_unstable();
            let useful: Vec<u32> =
                (1..problem.actions() as u32).filter(|&action| groups.useful[action as usize]).collect();
            assert_eq!(sorted, useful, "every useful action is in one outermost box");
            for (at, node) in boxes.nodes.iter().enumerate() {
                let rows: Vec<usize> = (0..problem.rows()).filter(|row| (row + at) % 3 > 0).collect();
                let cost = |edit: &u32| -> u64 {
                    rows.iter().map(|&row| u64::from(problem.edit_cost(*edit as usize)[row])).sum()
                };
                for &BoxedAction { action, .. } in &boxes.actions[node.first as usize..node.end as usize] {
                    let (edits, flips) =
                        (problem.edits_of(action as usize), problem.flips_of(action as usize));
                    let union = boxes.unions.set(at);
                    assert!(flips.iter().zip(union).all(|(flips, union)| flips & !union == 0));
                    // Every side has an edit of the action that costs as much as the side's cheapest; where the side has one edit, on every row.
                    let mut left = edits.to_vec();
                    for side in boxes.sides(*node) {
                        let family = |edit: &u32| families.iter().position(|family| family.contains(edit));
                        let own = left.iter().position(|edit| family(edit) == family(&side[0])).unwrap();
                        let own = left.remove(own);
                        assert!(cost(&own) >= side.iter().map(cost).min().unwrap());
                        if let [first] = side {
                            let costs = problem
                                .edit_cost(own as usize)
                                .iter()
                                .zip(problem.edit_cost(*first as usize));
                            assert!(costs.into_iter().all(|(own, first)| own >= first));
                        }
                    }
                    assert!(left.is_empty());
                }
            }
            assert!(boxes.nodes.iter().enumerate().any(|(at, node)| !node.is_small(at)));
        }
    }

    #[test]
    fn edits_whose_costs_are_not_ordered_are_a_family_but_no_chain() {
        let problem = problem(3, 60);
        let groups = Groups::new(&problem, false);
        let mut chains = chains(&problem, &groups);
        chains.sort();
        assert_eq!(chains[..2], [vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
        assert_eq!(chains[2..], [vec![8], vec![9], vec![10], vec![11]]);
        let families = Families::new(&problem, &groups);
        assert_eq!(families.ranges.iter().map(|range| range.2).collect::<Vec<_>>(), [true, true, false]);
        let mut last = families.edits[families.ranges[2].0 as usize..families.ranges[2].1 as usize].to_vec();
        last.sort_unstable();
        assert_eq!(last, [8, 9, 10, 11]);
    }
}
