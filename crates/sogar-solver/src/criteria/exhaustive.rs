//! The oracle for several criteria: slow, obvious, and independent of the search.

use super::{GroupPoint, Grouping};
use crate::front::TreeNode;
use crate::problem::Problem;

/// The front by plain recursion, as [`crate::exhaustive::front`] makes it. For small problems.
pub fn front(problem: &Problem, grouping: &Grouping) -> Vec<GroupPoint> {
    let all: Vec<usize> = (0..problem.rows()).collect();
    recurse(problem, grouping, &all, problem.limits().max_depth, problem.limits().max_leaves)
}

/// Every vector of totals that a tree within the limits attains, dominated or not. For tiny problems only.
pub fn attained(problem: &Problem, grouping: &Grouping) -> Vec<GroupPoint> {
    let all: Vec<usize> = (0..problem.rows()).collect();
    let limits = problem.limits();
    let mut points = every(problem, grouping, &all, limits.max_depth, limits.max_leaves);
    points.sort_unstable();
    points.dedup();
    points
}

fn recurse(
    problem: &Problem,
    grouping: &Grouping,
    rows: &[usize],
    depth: u32,
    leaves: u32,
) -> Vec<GroupPoint> {
    non_dominated(combined(problem, grouping, rows, depth, leaves, &recurse))
}

fn every(problem: &Problem, grouping: &Grouping, rows: &[usize], depth: u32, leaves: u32) -> Vec<GroupPoint> {
    let mut points = combined(problem, grouping, rows, depth, leaves, &every);
    points.sort_unstable();
    points.dedup();
    points
}

type Below<'a> = &'a dyn Fn(&Problem, &Grouping, &[usize], u32, u32) -> Vec<GroupPoint>;

fn combined(
    problem: &Problem,
    grouping: &Grouping,
    rows: &[usize],
    depth: u32,
    leaves: u32,
    below: Below<'_>,
) -> Vec<GroupPoint> {
    let mut points: Vec<GroupPoint> =
        (0..problem.actions()).map(|action| of_leaf(problem, grouping, rows, action)).collect();
    let size = |part: &[usize]| part.iter().map(|&row| u64::from(problem.weight(row))).sum::<u64>();
    for split in 0..if depth > 0 { problem.splits() } else { 0 } {
        let (left, right): (Vec<usize>, Vec<usize>) =
            rows.iter().partition(|&&row| problem.split(split).contains(row));
        if size(&left).min(size(&right)) < u64::from(problem.limits().min_leaf) {
            continue;
        }
        for left_leaves in 1..leaves {
            for a in below(problem, grouping, &left, depth - 1, left_leaves) {
                for b in below(problem, grouping, &right, depth - 1, leaves - left_leaves) {
                    let losses = a.losses.iter().zip(&b.losses).map(|(a, b)| a + b).collect();
                    points.push(GroupPoint { cost: a.cost + b.cost, losses });
                }
            }
        }
    }
    points
}

fn of_leaf(problem: &Problem, grouping: &Grouping, rows: &[usize], action: usize) -> GroupPoint {
    let mut point = GroupPoint { cost: 0, losses: vec![0; grouping.groups()] };
    for &row in rows {
        let weight = u64::from(problem.weight(row));
        point.cost += weight * problem.cost(action, row);
        point.losses[grouping.group_of(row)] += weight * u64::from(!problem.flips(action, row));
    }
    point
}

/// Sends every row through a tree.
pub fn apply(problem: &Problem, grouping: &Grouping, tree: &TreeNode) -> GroupPoint {
    let mut total = GroupPoint { cost: 0, losses: vec![0; grouping.groups()] };
    for row in 0..problem.rows() {
        let mut node = tree;
        let action = loop {
            match node {
                TreeNode::Leaf { action } => break *action as usize,
                TreeNode::Split { split, left, right } => {
                    node = if problem.split(*split as usize).contains(row) { left } else { right };
                }
            }
        };
        let own = of_leaf(problem, grouping, &[row], action);
        total.cost += own.cost;
        total.losses.iter_mut().zip(own.losses).for_each(|(total, own)| *total += own);
    }
    total
}

/// The points that no other dominates, without duplicates.
pub fn non_dominated(points: Vec<GroupPoint>) -> Vec<GroupPoint> {
    let mut kept: Vec<GroupPoint> =
        points.iter().filter(|one| !points.iter().any(|other| other.dominates(one))).cloned().collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}
