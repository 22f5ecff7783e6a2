//! Points of a front and their trees. [`Node::route`] is the one way of a person through a tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point of the front.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointRef {
    /// Mean cost over the affected rows.
    pub cost: f64,
    /// Share of the affected rows that are not flipped.
    pub loss: f64,
    /// Their sum.
    pub invalidity: f64,
    /// Total cost in units.
    pub cost_sum: u64,
    /// Number of rows that are not flipped (with weights: their weight, in units).
    pub loss_count: u64,
    /// Number of leaves.
    pub leaves: u32,
    /// Depth of the tree.
    pub depth: u32,
    /// The summary.
    pub tree: Node,
}

/// A node of a summary tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Node {
    /// Rows that pass the test go left, the others right.
    Split {
        /// Position in `splits`.
        split: usize,
        /// Rows that pass.
        left: Box<Node>,
        /// Rows that fail.
        right: Box<Node>,
    },
    /// All rows here get one action.
    Leaf {
        /// Position in `actions`.
        action: usize,
        /// Affected rows in this leaf.
        rows: u64,
        /// How many of them the action flips.
        flipped: u64,
        /// Total cost in units.
        cost_sum: u64,
    },
}

impl Node {
    /// The leaf of a person, given which splits they pass, and its number from the left.
    pub fn route(&self, mut passes: impl FnMut(usize) -> bool) -> (usize, &Node) {
        let (mut node, mut number) = (self, 0);
        while let Node::Split { split, left, right } = node {
            node = if passes(*split) {
                left
            } else {
                number += left.leaves() as usize;
                right
            };
        }
        (number, node)
    }

    /// The position of a leaf's action in the front's list; for a tree, that of its first leaf.
    pub fn action(&self) -> usize {
        match self {
            Node::Leaf { action, .. } => *action,
            Node::Split { left, .. } => left.action(),
        }
    }

    /// Number of leaves.
    pub fn leaves(&self) -> u32 {
        match self {
            Node::Leaf { .. } => 1,
            Node::Split { left, right, .. } => left.leaves() + right.leaves(),
        }
    }

    /// Total rows of all leaves, saturating.
    pub fn rows(&self) -> u64 {
        match self {
            Node::Leaf { rows, .. } => *rows,
            Node::Split { left, right, .. } => left.rows().saturating_add(right.rows()),
        }
    }

    /// Number of tests on the longest path to a leaf.
    pub fn depth(&self) -> u32 {
        match self {
            Node::Leaf { .. } => 0,
            Node::Split { left, right, .. } => 1 + left.depth().max(right.depth()),
        }
    }

    /// The leaves from left to right, each with the tests on its path: `(position in splits, passed)`.
    pub fn rules(&self) -> Vec<(Vec<(usize, bool)>, &Node)> {
        match self {
            Node::Leaf { .. } => vec![(Vec::new(), self)],
            Node::Split { split, left, right } => [(left, true), (right, false)]
                .into_iter()
                .flat_map(|(child, passed)| {
                    child.rules().into_iter().map(move |(mut tests, leaf)| {
                        tests.insert(0, (*split, passed));
                        (tests, leaf)
                    })
                })
                .collect(),
        }
    }
}
