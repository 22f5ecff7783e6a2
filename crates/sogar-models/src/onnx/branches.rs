//! Converts the nodes of an ONNX tree.
//!
//! ONNX has six comparisons, lets several nodes share a child, and writes "one of these categories" as a row of equalities with
//! one common branch. Here everything becomes `x <= threshold` or membership in ranges, on the plain column: the effect of a
//! scaler is moved into the threshold ([`Scaling`]), exactly.

use super::budget::Budget;
use super::damaged;
use super::value::{Column, Columns};
use crate::ensemble::{Missing, Node, Test};
use crate::scaling::{Operation, Scaling, Step};
use crate::single;
use sogar_base::error::Result;

/// The comparison of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    AtMost,
    Below,
    AtLeast,
    Above,
    Equal,
    NotEqual,
}

/// Where a branch leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Branch(usize),
    Leaf(usize),
}

/// An inner node of the file.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    pub mode: Mode,
    pub column: usize,
    pub value: f64,
    /// Whether a missing value counts as passing.
    pub missing_holds: bool,
    pub holds: Place,
    pub fails: Place,
}

/// A tree without its values: nodes, and for each leaf the file's leaf.
#[derive(Debug, Clone)]
pub(super) struct TreeShape {
    pub nodes: Vec<Node>,
    pub leaves: Vec<usize>,
}

/// Fails unless following branches always ends at a leaf.
pub(super) fn check_ends(branches: &[Branch]) -> Result<()> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; branches.len()];
    let mut open = Vec::new();
    for root in 0..branches.len() {
        if state[root] != NEW {
            continue;
        }
        open.push((root, 0));
        while let Some((at, next)) = open.pop() {
            state[at] = OPEN;
            let child = match next {
                0 => branches[at].holds,
                1 => branches[at].fails,
                _ => {
                    state[at] = DONE;
                    continue;
                }
            };
            open.push((at, next + 1));
            if let Place::Branch(child) = child {
                match state[child] {
                    NEW => open.push((child, 0)),
                    OPEN => return Err(damaged("the branches of a tree go round in a circle")),
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// The tree below `root`. Shared branches are copied within the budget.
pub(super) fn shape(
    root: Place,
    branches: &[Branch],
    columns: &Columns,
    budget: &mut Budget,
) -> Result<TreeShape> {
    let mut shape = TreeShape { nodes: Vec::new(), leaves: Vec::new() };
    let mut open: Vec<(Place, Option<(usize, bool)>)> = vec![(root, None)];
    while let Some((place, parent)) = open.pop() {
        budget.take(1, 4)?;
        let own = match place {
            Place::Leaf(leaf) => {
                shape.leaves.push(leaf);
                !(shape.leaves.len() as i32 - 1)
            }
            Place::Branch(at) => {
                let own = shape.nodes.len();
                let (node, left, right) = node(at, branches, columns, budget)?;
                shape.nodes.push(node);
                open.push((right, Some((own, false))));
                open.push((left, Some((own, true))));
                own as i32
            }
        };
        if let Some((parent, is_left)) = parent
            && let Some(parent) = shape.nodes.get_mut(parent)
        {
            *(if is_left { &mut parent.left } else { &mut parent.right }) = own;
        }
    }
    Ok(shape)
}

/// One node with the places of its left and right child.
fn node(
    at: usize,
    branches: &[Branch],
    columns: &Columns,
    budget: &mut Budget,
) -> Result<(Node, Place, Place)> {
    let branch = &branches[at];
    let column = columns.list.get(branch.column).ok_or_else(|| {
        let (wanted, there) = (branch.column, columns.list.len());
        damaged(format!("a tree tests column {wanted} of {there}"))
    })?;
    if branch.value.is_nan() {
        return Err(damaged("a threshold is not a number"));
    }
    let bound = if columns.single { f64::from(branch.value as f32) } else { branch.value };
    let test = match branch.mode {
        Mode::AtMost | Mode::Above => at_most(column, bound, columns.single),
        Mode::Below | Mode::AtLeast => at_most(column, before(bound, columns.single), columns.single),
        Mode::Equal | Mode::NotEqual => return equality(at, branches, column, columns.single, budget),
    };
    // The other three comparisons are the negations of these.
    let negated = matches!(branch.mode, Mode::Above | Mode::AtLeast);
    let holds_on_left = negated == test.negated;
    let missing_holds = missing_holds(branch, column, columns.single);
    let (left, right) = sides(holds_on_left, branch.holds, branch.fails);
    let test = match test.at {
        Some(threshold) => Test::AtMost {
            threshold,
            missing: Missing::NaNIsMissing,
            default_left: missing_holds == holds_on_left,
        },
        None => Test::Within { ranges: Vec::new(), default_left: missing_holds == holds_on_left },
    };
    Ok((Node { column: column.index, test, left: 0, right: 0 }, left, right))
}

/// Equality with this branch's number, or with one of the numbers of all branches that follow on failure, test the same column,
/// and lead to the same place.
fn equality(
    at: usize,
    branches: &[Branch],
    column: &Column,
    single: bool,
    budget: &mut Budget,
) -> Result<(Node, Place, Place)> {
    let first = &branches[at];
    let mut ranges = Vec::new();
    let mut last = first;
    loop {
        budget.take(1, 2)?;
        let bound = if single { f64::from(last.value as f32) } else { last.value };
        if last.value.is_nan() {
            return Err(damaged("a category is not a number"));
        }
        let (low, high) = (at_most(column, before(bound, single), single), at_most(column, bound, single));
        let (low, high) = if low.negated { (high.at, low.at) } else { (low.at, high.at) };
        // If no value equals the bound, there is no range.
        if let Some(high) = high {
            let low = low.unwrap_or(f64::NEG_INFINITY);
            if low < high {
                ranges.push((low, high));
            }
        }
        match last.fails {
            Place::Branch(next)
                if first.mode == Mode::Equal
                    && branches[next].mode == Mode::Equal
                    && branches[next].column == first.column
                    && branches[next].missing_holds == first.missing_holds
                    && branches[next].holds == first.holds =>
            {
                last = &branches[next];
            }
            _ => break,
        }
    }
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranges.dedup();
    let holds_on_left = first.mode == Mode::Equal;
    let default_left = missing_holds(first, column, single) == holds_on_left;
    let (left, right) = sides(holds_on_left, first.holds, last.fails);
    Ok((
        Node { column: column.index, test: Test::Within { ranges, default_left }, left: 0, right: 0 },
        left,
        right,
    ))
}

fn sides(holds_on_left: bool, holds: Place, fails: Place) -> (Place, Place) {
    if holds_on_left { (holds, fails) } else { (fails, holds) }
}

/// Whether a missing value counts as passing. An imputer may have replaced it by a number.
fn missing_holds(branch: &Branch, column: &Column, single: bool) -> bool {
    let value = column.scaling.apply(f64::NAN);
    let bound = if single { f64::from(branch.value as f32) } else { branch.value };
    match branch.mode {
        _ if value.is_nan() => branch.missing_holds || branch.mode == Mode::NotEqual,
        Mode::AtMost => value <= bound,
        Mode::Below => value < bound,
        Mode::AtLeast => value >= bound,
        Mode::Above => value > bound,
        Mode::Equal => value == bound,
        Mode::NotEqual => value != bound,
    }
}

/// `scaled x <= bound` as a test of x: it holds iff `x <= at` (never if there is no `at`), or iff not.
struct AtMost {
    at: Option<f64>,
    negated: bool,
}

fn at_most(column: &Column, bound: f64, single: bool) -> AtMost {
    const ROUND: Step = Step { operation: Operation::Round, single: true };
    let scaling: &Scaling = &column.scaling;
    // Most columns are only rounded: that threshold needs no search.
    let at = if single && scaling.steps == [ROUND] {
        single::largest_at_most(bound as f32)
    } else {
        scaling.largest_at_most(bound)
    };
    AtMost { at, negated: !scaling.rises() }
}

/// The largest number below `bound` in the precision of the comparison.
fn before(bound: f64, single: bool) -> f64 {
    if single { f64::from((bound as f32).next_down()) } else { bound.next_down() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Mode; 6] =
        [Mode::AtMost, Mode::Below, Mode::AtLeast, Mode::Above, Mode::Equal, Mode::NotEqual];

    fn branch(mode: Mode, value: f64, holds: Place, fails: Place) -> Branch {
        Branch { mode, column: 0, value, missing_holds: false, holds, fails }
    }

    fn columns(operations: &[Operation]) -> Columns {
        let steps = operations.iter().map(|&operation| Step::new(operation, true).unwrap()).collect();
        Columns { list: vec![Column { index: 0, scaling: Scaling { steps } }], single: true }
    }

    /// The file's leaf for a value.
    fn leaf(shape: &TreeShape, value: f64) -> usize {
        let tree =
            crate::Tree { nodes: shape.nodes.clone(), leaves: vec![0.0; shape.leaves.len()], covers: vec![] };
        shape.leaves[tree.leaf_of(&[value])]
    }

    #[test]
    fn every_comparison_is_kept_with_and_without_scaling() {
        let scalings = [
            columns(&[Operation::Round]),
            columns(&[Operation::Round, Operation::Add(-1.5), Operation::Multiply(0.3)]),
            columns(&[Operation::Round, Operation::Add(0.1), Operation::Divide(-0.7)]),
            columns(&[Operation::FillMissing(0.25), Operation::Round]),
        ];
        for columns in &scalings {
            for mode in MODES {
                for missing in [false, true] {
                    let bound = columns.list[0].scaling.apply(0.25) as f32;
                    let mut test = branch(mode, f64::from(bound), Place::Leaf(1), Place::Leaf(0));
                    test.missing_holds = missing;
                    let shape = shape(Place::Branch(0), &[test], columns, &mut Budget::of(0)).unwrap();
                    let around = f64::from(0.25f32.next_up());
                    let mut values =
                        vec![0.25, 0.25f64.next_up(), 0.25f64.next_down(), around, f64::NAN, 1e300];
                    values.extend([
                        -around,
                        -1e300,
                        0.0,
                        5.0,
                        f64::INFINITY,
                        f64::NEG_INFINITY,
                        0.2499,
                        0.2501,
                    ]);
                    for value in values {
                        let scaled = columns.list[0].scaling.apply(value) as f32;
                        let expected = match mode {
                            _ if scaled.is_nan() && missing => true,
                            Mode::AtMost => scaled <= bound,
                            Mode::Below => scaled < bound,
                            Mode::AtLeast => scaled >= bound,
                            Mode::Above => scaled > bound,
                            Mode::Equal => scaled == bound,
                            Mode::NotEqual => scaled != bound,
                        };
                        assert_eq!(
                            leaf(&shape, value),
                            usize::from(expected),
                            "{mode:?} {value} {columns:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_of_equalities_with_one_branch_is_one_node() {
        let next = |at| Place::Branch(at);
        let list = [
            branch(Mode::Equal, 3.0, Place::Leaf(1), next(1)),
            branch(Mode::Equal, 1.0, Place::Leaf(1), next(2)),
            branch(Mode::Equal, 7.0, Place::Leaf(1), Place::Leaf(0)),
        ];
        let shape = shape(next(0), &list, &columns(&[Operation::Round]), &mut Budget::of(0)).unwrap();
        assert_eq!(shape.nodes.len(), 1);
        for (value, expected) in [(1.0, 1), (2.0, 0), (3.0, 1), (7.0, 1), (8.0, 0), (f64::NAN, 0), (-1.0, 0)]
        {
            assert_eq!(leaf(&shape, value), expected, "{value}");
        }
    }

    #[test]
    fn circles_and_explosions_are_refused() {
        let circle = [
            branch(Mode::AtMost, 0.0, Place::Branch(1), Place::Leaf(0)),
            branch(Mode::AtMost, 0.0, Place::Leaf(0), Place::Branch(0)),
        ];
        assert!(check_ends(&circle).unwrap_err().to_string().contains("circle"));
        // Every level leads twice to the next: 2^60 leaves in 60 nodes.
        let mut tower: Vec<Branch> =
            (1..60).map(|next| branch(Mode::AtMost, 0.0, Place::Branch(next), Place::Branch(next))).collect();
        tower.push(branch(Mode::AtMost, 0.0, Place::Leaf(0), Place::Leaf(0)));
        check_ends(&tower).unwrap();
        assert!(shape(Place::Branch(0), &tower, &columns(&[]), &mut Budget::of(0)).is_err());
        let mut broken = branch(Mode::AtMost, f64::NAN, Place::Leaf(0), Place::Leaf(1));
        assert!(
            shape(Place::Branch(0), std::slice::from_ref(&broken), &columns(&[]), &mut Budget::of(0))
                .is_err()
        );
        (broken.value, broken.column) = (0.0, 5);
        assert!(shape(Place::Branch(0), &[broken], &columns(&[]), &mut Budget::of(0)).is_err());
    }
}
