//! The people of each group in each leaf, and how many of them the leaf's action flips.
//!
//! Cells about few people are left out, and all of a group whose number of affected people is. Subtraction from the total of the
//! leaf or the group would reveal a single gap, or few people in several gaps, so in each leaf, and for each group in each tree, the
//! smallest of the other cells is left out too. That protects the tables as shown; it is not a proof against readers who combine
//! many trees.

use std::collections::BTreeMap;

use sogar_solver::RowSet;

use sogar_audit::audit::RoutedPeople;
use sogar_front::summary::{FrontFile, Node};

/// The leaves of a front's trees, by group.
pub struct Compositions {
    /// For each distinct leaf, per grouping, per group.
    leaves: Vec<Vec<Vec<GroupCount>>>,
    /// For each point the leaves of its tree, from the left, by position in `leaves`.
    of_point: Vec<Vec<usize>>,
}

/// Counts in units of weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct GroupCount {
    rows: u64,
    flipped: u64,
    /// All of the leaf, or all of the group: not secret, because these totals are shown.
    told: bool,
    hidden: bool,
}

impl Compositions {
    /// Counts, and hides cells about fewer than `min_n` people, and of groups that are not `shown` (per grouping, per group).
    pub fn new(
        front: &FrontFile,
        people: &RoutedPeople,
        members: &[Vec<RowSet>],
        shown: &[Vec<bool>],
        min_n: usize,
    ) -> Compositions {
        let mut found = Compositions { leaves: Vec::new(), of_point: Vec::with_capacity(front.points.len()) };
        // A leaf is identified by its path and its action; equal counts then share a slot.
        let mut by_path: BTreeMap<(Vec<(usize, bool)>, usize), usize> = BTreeMap::new();
        for point in &front.points {
            let rules = point.tree.rules();
            let known: Vec<Option<usize>> = rules
                .iter()
                .map(|(tests, leaf)| by_path.get(&(tests.clone(), action_of(leaf))).copied())
                .collect();
            let places = match known.iter().copied().collect::<Option<Vec<usize>>>() {
                Some(places) => places,
                None => {
                    let sets = people.leaves(&point.tree);
                    let mut places = Vec::with_capacity(sets.len());
                    for (((tests, _), (action, set)), known) in rules.into_iter().zip(&sets).zip(known) {
                        places.push(known.unwrap_or_else(|| {
                            found.leaves.push(count(people, members, shown, *action, set, min_n));
                            by_path.insert((tests, *action), found.leaves.len() - 1);
                            found.leaves.len() - 1
                        }));
                    }
                    places
                }
            };
            found.of_point.push(places);
        }
        found.hide(min_n as u64 * people.person);
        found.merge();
        found
    }

    /// The position of a point's leaf, counted from the left, in [`shown`](Compositions::shown).
    pub fn of_leaf(&self, point: usize, leaf: usize) -> usize {
        self.of_point[point][leaf]
    }

    /// The leaves for the page.
    pub fn shown(&self) -> Vec<Vec<Vec<Option<[u64; 2]>>>> {
        let cell = |cell: &GroupCount| (!cell.hidden).then_some([cell.rows, cell.flipped]);
        let grouping = |groups: &Vec<GroupCount>| groups.iter().map(cell).collect();
        self.leaves.iter().map(|leaf| leaf.iter().map(grouping).collect()).collect()
    }

    fn hide(&mut self, min_n: u64) {
        for cell in self.leaves.iter_mut().flatten().flatten() {
            cell.hidden |= cell.rows > 0 && cell.rows < min_n && !cell.told;
        }
        // Hiding one cell may leave another one alone; each round hides at least one, so the loop ends.
        while self.hide_beside_lone_cells(min_n) {}
    }

    fn hide_beside_lone_cells(&mut self, min_n: u64) -> bool {
        let mut changed = false;
        for groups in self.leaves.iter_mut().flatten() {
            let cells: Vec<GroupCount> = groups.clone();
            if let Some(other) = beside_lone(&cells, min_n) {
                groups[other].hidden = true;
                changed = true;
            }
        }
        for places in &self.of_point {
            let shape: Vec<usize> = self.leaves[places[0]].iter().map(Vec::len).collect();
            for (grouping, &groups) in shape.iter().enumerate() {
                for group in 0..groups {
                    let cells: Vec<GroupCount> =
                        places.iter().map(|&leaf| self.leaves[leaf][grouping][group]).collect();
                    if let Some(other) = beside_lone(&cells, min_n) {
                        self.leaves[places[other]][grouping][group].hidden = true;
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    /// Merges leaves that look alike.
    fn merge(&mut self) {
        let mut known: BTreeMap<Vec<Vec<GroupCount>>, usize> = BTreeMap::new();
        let mut kept = Vec::new();
        let places: Vec<usize> = self
            .leaves
            .iter()
            .map(|leaf| {
                *known.entry(leaf.clone()).or_insert_with(|| {
                    kept.push(leaf.clone());
                    kept.len() - 1
                })
            })
            .collect();
        self.leaves = kept;
        for leaf in self.of_point.iter_mut().flatten() {
            *leaf = places[*leaf];
        }
    }
}

/// The cell to hide beside the only hidden one, or beside hidden ones that have few people together: the smallest of the others that
/// has people and is not a total.
fn beside_lone(cells: &[GroupCount], min_n: u64) -> Option<usize> {
    let hidden = || cells.iter().filter(|cell| cell.hidden);
    let together: u64 = hidden().map(|cell| cell.rows).sum();
    if hidden().count() != 1 && (together == 0 || together >= min_n) {
        return None;
    }
    let others = (0..cells.len()).filter(|&i| !cells[i].hidden && !cells[i].told && cells[i].rows > 0);
    others.min_by_key(|&i| cells[i].rows)
}

fn action_of(leaf: &Node) -> usize {
    match leaf {
        Node::Leaf { action, .. } => *action,
        Node::Split { .. } => usize::MAX,
    }
}

fn count(
    people: &RoutedPeople,
    members: &[Vec<RowSet>],
    shown: &[Vec<bool>],
    action: usize,
    leaf: &RowSet,
    min_n: usize,
) -> Vec<Vec<GroupCount>> {
    let (all, min_n) = (people.weight_of(leaf), min_n as u64 * people.person);
    let cell = |(group, &shown): (&RowSet, &bool)| {
        let here = leaf.and(group);
        let (rows, group) = (people.weight_of(&here), people.weight_of(group));
        GroupCount {
            rows,
            flipped: people.weight_of(&here.and(people.flips(action))),
            told: shown && rows >= min_n && (rows == all || rows == group),
            hidden: !shown && rows > 0,
        }
    };
    members.iter().zip(shown).map(|(groups, shown)| groups.iter().zip(shown).map(cell).collect()).collect()
}

/// Whether a leaf, counted from the left, is shown without figures: it has fewer than `min_n` people, or is the smallest leaf
/// beside the only such one, whose size subtraction would otherwise reveal.
pub fn is_small(front: &FrontFile, min_n: usize, point: usize, leaf: usize) -> bool {
    if front.limits.min_leaf as usize >= min_n {
        return false;
    }
    let person = front.people().unit;
    let rules = front.points[point].tree.rules();
    let cells: Vec<GroupCount> = rules
        .iter()
        .map(|(_, leaf)| match leaf {
            Node::Leaf { rows, .. } => {
                GroupCount { rows: *rows, flipped: 0, told: false, hidden: *rows < min_n as u64 * person }
            }
            Node::Split { .. } => GroupCount { rows: 0, flipped: 0, told: false, hidden: false },
        })
        .collect();
    cells[leaf].hidden || beside_lone(&cells, min_n as u64 * person) == Some(leaf)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(rows: u64, hidden: bool) -> GroupCount {
        GroupCount { rows, flipped: 0, told: false, hidden }
    }

    #[test]
    fn a_lone_small_cell_takes_the_next_smallest_with_it() {
        let cells = [cell(3, true), cell(40, false), cell(7, false), cell(0, false)];
        assert_eq!(beside_lone(&cells, 5), Some(2));
        // Hidden cells that have few people together are as good as one.
        assert_eq!(beside_lone(&[cell(1, true), cell(2, true), cell(9, false), cell(7, false)], 5), Some(3));
        assert_eq!(beside_lone(&[cell(3, true), cell(4, true), cell(7, false)], 5), None);
        assert_eq!(beside_lone(&[cell(30, false), cell(40, false)], 5), None);
        assert_eq!(beside_lone(&[cell(3, true), cell(0, false)], 5), None);
    }

    #[test]
    fn a_total_hides_nothing() {
        let total = GroupCount { told: true, ..cell(6, false) };
        assert_eq!(beside_lone(&[cell(3, true), total, cell(7, false)], 5), Some(2));
        assert_eq!(beside_lone(&[cell(3, true), total], 5), None);
    }

    #[test]
    fn hiding_goes_on_until_no_gap_can_be_filled_by_subtraction() {
        // Two leaves of one tree, two groups: hiding one cell hides all four.
        let leaf = |a: u64, b: u64| vec![vec![cell(a, false), cell(b, false)]];
        let mut found = Compositions { leaves: vec![leaf(3, 50), leaf(60, 70)], of_point: vec![vec![0, 1]] };
        found.hide(5);
        assert!(found.leaves.iter().flatten().flatten().all(|cell| cell.hidden));
        let mut found = Compositions { leaves: vec![leaf(30, 50), leaf(60, 0)], of_point: vec![vec![0, 1]] };
        found.hide(5);
        assert!(found.leaves.iter().flatten().flatten().all(|cell| !cell.hidden));
    }
}
