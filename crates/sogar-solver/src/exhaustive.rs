//! The oracle: slow, obvious, and independent of the search except for the problem's own accessors.
//!
//! [`front`] follows the recursion of SPEC §6 literally, without cache or bound. [`enumerate`] is plainer still: it lists every
//! single tree of a tiny problem, sends every row through it and keeps the non-dominated ones.

use crate::front::{Point, TreeNode};
use crate::problem::Problem;

/// The front by plain recursion. Exponential: for small problems.
pub fn front(problem: &Problem) -> Vec<Point> {
    let all: Vec<usize> = (0..problem.rows()).collect();
    recurse(problem, &all, problem.limits().max_depth, problem.limits().max_leaves)
}

fn weigh(problem: &Problem, rows: impl Iterator<Item = usize>) -> u64 {
    rows.map(|row| u64::from(problem.weight(row))).sum()
}

fn recurse(problem: &Problem, rows: &[usize], depth: u32, leaves: u32) -> Vec<Point> {
    let mut points: Vec<Point> = (0..problem.actions())
        .map(|action| Point {
            cost: rows.iter().map(|&row| u64::from(problem.weight(row)) * problem.cost(action, row)).sum(),
            loss: weigh(problem, rows.iter().copied().filter(|&row| !problem.flips(action, row))),
        })
        .collect();
    let min_leaf = u64::from(problem.limits().min_leaf);
    if depth > 0 {
        for split in 0..problem.splits() {
            let (left, right): (Vec<usize>, Vec<usize>) =
                rows.iter().partition(|&&row| problem.split(split).contains(row));
            let size = |part: &[usize]| weigh(problem, part.iter().copied());
            if size(&left) < min_leaf || size(&right) < min_leaf {
                continue;
            }
            for left_leaves in 1..leaves {
                for a in recurse(problem, &left, depth - 1, left_leaves) {
                    for b in recurse(problem, &right, depth - 1, leaves - left_leaves) {
                        points.push(Point { cost: a.cost + b.cost, loss: a.loss + b.loss });
                    }
                }
            }
        }
    }
    non_dominated(points)
}

/// The front by listing every tree within the limits. For tiny problems only.
pub fn enumerate(problem: &Problem) -> Vec<Point> {
    let limits = problem.limits();
    let points = trees(problem, limits.max_depth)
        .iter()
        .filter(|tree| tree.leaves() <= limits.max_leaves)
        .filter_map(|tree| {
            let (point, smallest) = apply(problem, tree);
            (smallest >= limits.min_leaf as usize).then_some(point)
        })
        .collect();
    non_dominated(points)
}

fn trees(problem: &Problem, depth: u32) -> Vec<TreeNode> {
    let mut all: Vec<TreeNode> =
        (0..problem.actions()).map(|action| TreeNode::Leaf { action: action as u32 }).collect();
    if depth > 0 {
        let below = trees(problem, depth - 1);
        for split in 0..problem.splits() {
            for left in &below {
                for right in &below {
                    all.push(TreeNode::Split {
                        split: split as u32,
                        left: Box::new(left.clone()),
                        right: Box::new(right.clone()),
                    });
                }
            }
        }
    }
    all
}

/// Sends every row through a tree: its point, and the size of its smallest leaf.
pub fn apply(problem: &Problem, tree: &TreeNode) -> (Point, usize) {
    let mut point = Point { cost: 0, loss: 0 };
    let mut sizes = vec![0; tree.leaves() as usize];
    for row in 0..problem.rows() {
        let (mut node, mut leaf) = (tree, 0);
        let action = loop {
            match node {
                TreeNode::Leaf { action } => break *action as usize,
                TreeNode::Split { split, left, right } => {
                    if problem.split(*split as usize).contains(row) {
                        node = left;
                    } else {
                        leaf += left.leaves() as usize;
                        node = right;
                    }
                }
            }
        };
        sizes[leaf] += problem.weight(row) as usize;
        point.cost += u64::from(problem.weight(row)) * problem.cost(action, row);
        point.loss += u64::from(problem.weight(row)) * u64::from(!problem.flips(action, row));
    }
    (point, sizes.into_iter().min().unwrap_or(0))
}

/// The points that no other dominates, cost ascending, without duplicates.
pub fn non_dominated(points: Vec<Point>) -> Vec<Point> {
    let mut kept: Vec<Point> =
        points.iter().filter(|point| !points.iter().any(|other| other.dominates(point))).copied().collect();
    kept.sort();
    kept.dedup();
    kept
}
