//! The one way of people through the trees of a front: a single person, or sets of rows. Results, evaluations, audits, explanations, reports,
//! Python and the laboratory use it; only the verifier (`sogar-check`) has its own.

use sogar_base::error::Result;
use sogar_solver::RowSet;
use sogar_table::binarize::Split;
use sogar_table::feature::{Feature, FeatureTable};

use crate::summary::{FrontFile, Node};

/// The splits of a front as tests on values.
pub struct Router<'a> {
    features: &'a [Feature],
    splits: Vec<Split>,
}

impl<'a> Router<'a> {
    /// The splits of a front on these features.
    pub fn new(front: &FrontFile, features: &'a [Feature]) -> Result<Router<'a>> {
        let splits = front.splits.iter().map(|split| split.split(features)).collect::<Result<_>>()?;
        Ok(Router { features, splits })
    }

    /// Whether a person with these values passes a split, given by its position.
    pub fn passes(&self, split: usize, value_of: impl Fn(usize) -> f64) -> bool {
        let split = &self.splits[split];
        split.passes(self.features, value_of(split.feature))
    }

    /// The leaf of a person, given the value of each feature, and its number from the left.
    pub fn leaf<'t>(&self, tree: &'t Node, value_of: impl Fn(usize) -> f64) -> (usize, &'t Node) {
        tree.route(|split| self.passes(split, &value_of))
    }

    /// For each split, which of these rows of a table pass, by position among `rows`.
    pub fn passing(&self, table: &FeatureTable, rows: &[usize]) -> Vec<RowSet> {
        let passes = |split: &Split| {
            let column = &table.values[split.feature];
            RowSet::from_fn(rows.len(), |&position| split.passes(self.features, column[rows[position]]))
        };
        self.splits.iter().map(passes).collect()
    }
}

/// The leaves of a tree from left to right, each with its action's position in the front and its people. `passing` is
/// [`Router::passing`] of these people.
pub fn leaves(tree: &Node, passing: &[RowSet], people: RowSet) -> Vec<(usize, RowSet)> {
    let (mut open, mut leaves) = (vec![(tree, people)], Vec::new());
    while let Some((node, people)) = open.pop() {
        match node {
            Node::Leaf { action, .. } => leaves.push((*action, people)),
            Node::Split { split, left, right } => {
                open.push((right, people.and_not(&passing[*split])));
                open.push((left, people.and(&passing[*split])));
            }
        }
    }
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_and_single_people_reach_the_same_leaves() {
        let leaf = |action| Box::new(Node::Leaf { action, rows: 0, flipped: 0, cost_sum: 0 });
        let inner = Node::Split { split: 1, left: leaf(2), right: leaf(0) };
        let tree = Node::Split { split: 0, left: Box::new(inner), right: leaf(1) };
        let passing = [RowSet::from_fn(6, |at| at % 2 == 0), RowSet::from_fn(6, |&at| at < 3)];
        let found = leaves(&tree, &passing, RowSet::full(6));
        assert_eq!(found.iter().map(|(action, _)| *action).collect::<Vec<_>>(), [2, 0, 1]);
        for person in 0..6 {
            let (number, leaf) = tree.route(|split| passing[split].contains(person));
            assert!(found[number].1.contains(person) && found[number].0 == leaf.action());
        }
    }
}
