//! The leaves of a tree ensemble with their conditions, gathered once for all rows.

use super::linked_features::LinkedFeatures;
use super::predicates::{Conditions, Predicates};
use super::value_intervals::ValueIntervals;
use crate::encode::Encoder;
use crate::model::TreeEnsemble;

/// All leaves of a model that is not constant.
pub(super) struct Leaves {
    pub list: Vec<ModelLeaf>,
    pub predicates: Predicates,
    /// The predicates of all leaves, one leaf after the other.
    numbers: Vec<u32>,
}

/// A leaf: its value, the output that it adds to, and its predicates among those of all leaves.
pub(super) struct ModelLeaf {
    pub value: f64,
    pub output: usize,
    first_predicate: u32,
    /// Predicates on features that no edit changes come first; then one per unit, units ascending.
    first_unit: u32,
    end: u32,
}

impl Leaves {
    /// The leaves of an ensemble; trees that are a single leaf add to `base` instead.
    pub fn of(
        ensemble: &TreeEnsemble,
        encoder: &Encoder,
        intervals: &[ValueIntervals],
        linked: &LinkedFeatures,
        base: &mut [f64],
    ) -> Leaves {
        let mut leaves = Leaves { list: Vec::new(), predicates: Predicates::default(), numbers: Vec::new() };
        for (number, tree) in ensemble.trees.iter().enumerate() {
            let output = number % ensemble.outputs;
            if tree.nodes.is_empty() {
                if let Some(&value) = tree.leaves.first() {
                    base[output] += value / ensemble.divisor;
                }
                continue;
            }
            // The path to a node: per feature the intervals that all tests so far allow.
            let mut open: Vec<(i32, Conditions)> = vec![(0, Vec::new())];
            while let Some((node, path)) = open.pop() {
                if node < 0 {
                    leaves.add(tree.leaves[!node as usize] / ensemble.divisor, output, path, linked);
                    continue;
                }
                let node = &tree.nodes[node as usize];
                let source = &encoder.columns[node.column];
                let intervals = &intervals[source.feature];
                let mut passing = vec![0u64; intervals.count().div_ceil(64)];
                for interval in 0..intervals.count() {
                    if node.test.passes(source.value(intervals.value(interval))) {
                        passing[interval / 64] |= 1 << (interval % 64);
                    }
                }
                for (child, keep) in [(node.left, true), (node.right, false)] {
                    let mut path = path.clone();
                    let known = path.iter().position(|(feature, _)| *feature == source.feature);
                    let position = known.unwrap_or_else(|| {
                        path.push((source.feature, vec![u64::MAX; passing.len()]));
                        path.len() - 1
                    });
                    for (word, pass) in path[position].1.iter_mut().zip(&passing) {
                        *word &= if keep { *pass } else { !*pass };
                    }
                    open.push((child, path));
                }
            }
        }
        leaves
    }

    fn add(&mut self, value: f64, output: usize, mut path: Conditions, linked: &LinkedFeatures) {
        path.sort_by_key(|(feature, _)| (linked.of_feature[*feature], *feature));
        let first_predicate = self.numbers.len() as u32;
        let mut first_unit = first_predicate;
        let mut conditions = path.into_iter().peekable();
        while let Some(condition) = conditions.next() {
            let unit = linked.of_feature[condition.0];
            let mut predicate = vec![condition];
            if unit.is_some() {
                while let Some(more) = conditions.next_if(|(feature, _)| linked.of_feature[*feature] == unit)
                {
                    predicate.push(more);
                }
            }
            self.numbers.push(self.predicates.number(unit, predicate));
            first_unit += u32::from(unit.is_none());
        }
        self.list.push(ModelLeaf {
            value,
            output,
            first_predicate,
            first_unit,
            end: self.numbers.len() as u32,
        });
    }

    /// The predicates of a leaf on features that no edit changes, and those on units.
    #[inline]
    pub fn predicates_of(&self, leaf: &ModelLeaf) -> (&[u32], &[u32]) {
        let predicates = |from: u32, to: u32| &self.numbers[from as usize..to as usize];
        (predicates(leaf.first_predicate, leaf.first_unit), predicates(leaf.first_unit, leaf.end))
    }
}
