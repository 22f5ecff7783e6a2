//! The trees of a front as one table of nodes: equal subtrees are stored once.
//!
//! Neighbouring points often differ in a single leaf, so a front of thousands of trees has few nodes per tree.

use std::collections::BTreeMap;

use sogar_front::summary::{FrontFile, Node};

/// The trees of a front.
#[derive(Debug, Default)]
pub struct NodeTable {
    /// The nodes, children before parents; see [`super::data::Data::nodes`].
    pub nodes: Vec<Vec<u64>>,
    /// Each point's tree.
    pub roots: Vec<usize>,
    known: BTreeMap<Vec<u64>, usize>,
}

impl NodeTable {
    /// Stores all trees. `leaf` returns what to store of a leaf, given its point and its number from the left.
    pub fn new(front: &FrontFile, leaf: impl Fn(usize, usize, &Node) -> Vec<u64>) -> NodeTable {
        let mut table = NodeTable::default();
        for (point, at) in front.points.iter().enumerate() {
            let mut leaves = 0;
            let mut stored = |node: &Node| {
                leaves += 1;
                leaf(point, leaves - 1, node)
            };
            let root = table.add(&at.tree, &mut stored);
            table.roots.push(root);
        }
        table
    }

    fn add(&mut self, node: &Node, leaf: &mut impl FnMut(&Node) -> Vec<u64>) -> usize {
        let stored = match node {
            Node::Leaf { .. } => leaf(node),
            Node::Split { split, left, right } => {
                let left = self.add(left, leaf);
                let right = self.add(right, leaf);
                vec![*split as u64, left as u64, right as u64]
            }
        };
        // Nodes of different kinds have different lengths, so equal entries are equal nodes.
        *self.known.entry(stored).or_insert_with_key(|stored| {
            self.nodes.push(stored.clone());
            self.nodes.len() - 1
        })
    }
}
