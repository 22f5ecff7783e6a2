//! The leaves of a tree ensemble with their conditions, gathered once for all rows.

use super::cells::Cells;
use super::gates::{Conditions, Gates};
use super::units::Units;
use crate::encode::Encoder;
use crate::model::TreeEnsemble;

/// All leaves of a model that is not constant.
pub(super) struct Leaves {
    pub list: Vec<ModelLeaf>,
    pub gates: Gates,
    /// The gates of all leaves, one leaf after the other.
    numbers: Vec<u32>,
}

/// A leaf: its value, the output that it adds to, and its gates among those of all leaves.
pub(super) struct ModelLeaf {
    pub value: f64,
    pub output: usize,
    first_gate: u32,
    /// Gates on features that no edit changes come first; then one a unit, units ascending.
    first_unit: u32,
    end: u32,
}

impl Leaves {
    /// The leaves of an ensemble; trees that are a single leaf add to `base` instead.
    pub fn of(
        ensemble: &TreeEnsemble,
        encoder: &Encoder,
        cells: &[Cells],
        units: &Units,
        base: &mut [f64],
    ) -> Leaves {
        let mut leaves = Leaves { list: Vec::new(), gates: Gates::default(), numbers: Vec::new() };
        for (number, tree) in ensemble.trees.iter().enumerate() {
            let output = number % ensemble.outputs;
            if tree.nodes.is_empty() {
                if let Some(&value) = tree.leaves.first() {
                    base[output] += value / ensemble.divisor;
                }
                continue;
            }
            // The way to a node: per feature the cells that every test so far lets through.
            let mut open: Vec<(i32, Conditions)> = vec![(0, Vec::new())];
            while let Some((node, path)) = open.pop() {
                if node < 0 {
                    leaves.add(tree.leaves[!node as usize] / ensemble.divisor, output, path, units);
                    continue;
                }
                let node = &tree.nodes[node as usize];
                let source = &encoder.columns[node.column];
                let cells = &cells[source.feature];
                let mut passing = vec![0u64; cells.count().div_ceil(64)];
                for cell in 0..cells.count() {
                    if node.test.passes(source.value(cells.value(cell))) {
                        passing[cell / 64] |= 1 << (cell % 64);
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

    fn add(&mut self, value: f64, output: usize, mut path: Conditions, units: &Units) {
        path.sort_by_key(|(feature, _)| (units.of_feature[*feature], *feature));
        let first_gate = self.numbers.len() as u32;
        let mut first_unit = first_gate;
        let mut conditions = path.into_iter().peekable();
        while let Some(condition) = conditions.next() {
            let unit = units.of_feature[condition.0];
            let mut gate = vec![condition];
            if unit.is_some() {
                while let Some(more) = conditions.next_if(|(feature, _)| units.of_feature[*feature] == unit) {
                    gate.push(more);
                }
            }
            self.numbers.push(self.gates.number(unit, gate));
            first_unit += u32::from(unit.is_none());
        }
        self.list.push(ModelLeaf { value, output, first_gate, first_unit, end: self.numbers.len() as u32 });
    }

    /// The gates of a leaf on features that no edit changes, and those on units.
    #[inline]
    pub fn gates_of(&self, leaf: &ModelLeaf) -> (&[u32], &[u32]) {
        let gates = |from: u32, to: u32| &self.numbers[from as usize..to as usize];
        (gates(leaf.first_gate, leaf.first_unit), gates(leaf.first_unit, leaf.end))
    }
}
