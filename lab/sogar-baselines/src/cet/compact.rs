//! Sums of trees laid out for many rows at a time: the surrogates score ten thousand neighbours of everyone.
//!
//! Descending one tree is a chain of dependent loads and unpredictable branches. Here eight rows descend side by side, a step is
//! arithmetic instead of a branch, and a leaf is a node that leads to itself. Outputs are added up in the model's own order, so
//! predictions are the model's own, to the last bit.

use sogar::model::{Prediction, Test, TreeEnsemble};

/// Rows that descend a tree side by side.
const LANES: usize = 8;

/// A tree ensemble whose tests are all plain comparisons.
pub(super) struct CompactTrees<'a> {
    ensemble: &'a TreeEnsemble,
    nodes: Vec<Node>,
    /// The first node of each tree.
    roots: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Node {
    /// For an inner node: rows with more go to the second child. For a leaf: its value.
    number: f64,
    column: u32,
    children: [u32; 2],
}

impl<'a> CompactTrees<'a> {
    /// `None` if a test is of another kind, or treats zeros as missing.
    pub fn new(ensemble: &'a TreeEnsemble) -> Option<CompactTrees<'a>> {
        let (mut nodes, mut roots) = (Vec::new(), Vec::new());
        for tree in &ensemble.trees {
            let start = nodes.len() as u32;
            let first_leaf = start + tree.nodes.len() as u32;
            // Children are numbers of nodes, or of leaves, counted backwards from −1.
            let place = |child: i32| {
                if child < 0 { first_leaf + !child as u32 } else { start + child as u32 }
            };
            roots.push(if tree.nodes.is_empty() { first_leaf } else { start });
            for node in &tree.nodes {
                let Test::AtMost { threshold, missing, .. } = node.test else { return None };
                if missing == sogar::model::Missing::ZeroIsMissing {
                    return None;
                }
                let children = [place(node.left), place(node.right)];
                nodes.push(Node { number: threshold, column: node.column as u32, children });
            }
            for (leaf, &number) in (first_leaf..).zip(&tree.leaves) {
                nodes.push(Node { number, column: 0, children: [leaf; 2] });
            }
        }
        Some(CompactTrees { ensemble, nodes, roots })
    }

    /// The model's predictions for these rows of its columns; `None` if a value is missing.
    pub fn predictions(&self, rows: &[f64], columns: usize) -> Option<Vec<Prediction>> {
        if columns == 0 || rows.iter().any(|value| value.is_nan()) {
            return None;
        }
        let (ensemble, outputs) = (self.ensemble, self.ensemble.outputs);
        let arithmetic = ensemble.arithmetic;
        let count = rows.len() / columns;
        let mut sums = vec![0.0; count * outputs];
        if !ensemble.base_last {
            sums.chunks_exact_mut(outputs).for_each(|sums| sums.copy_from_slice(&ensemble.base));
        }
        for (number, &root) in self.roots.iter().enumerate() {
            let output = number % outputs;
            let together = sums.chunks_mut(outputs * LANES).zip(rows.chunks(columns * LANES));
            for (sums, rows) in together {
                let ends = self.ends(root, rows, columns);
                for (sums, end) in sums.chunks_exact_mut(outputs).zip(ends) {
                    sums[output] = arithmetic.add(sums[output], self.nodes[end as usize].number);
                }
            }
        }
        let predict = |sums: &mut [f64]| {
            for (sum, &base) in sums.iter_mut().zip(&ensemble.base) {
                if ensemble.base_last {
                    *sum = arithmetic.add(*sum, base);
                }
                *sum = arithmetic.divide(*sum, ensemble.divisor);
            }
            ensemble.prediction(sums)
        };
        Some(sums.chunks_exact_mut(outputs).map(predict).collect())
    }

    /// The leaves of one tree for up to eight rows.
    fn ends(&self, root: u32, rows: &[f64], columns: usize) -> [u32; LANES] {
        let mut at = [root; LANES];
        let count = rows.len() / columns;
        loop {
            let mut moved = 0;
            for (at, row) in at[..count].iter_mut().zip(rows.chunks_exact(columns)) {
                let node = &self.nodes[*at as usize];
                let next = node.children[usize::from(row[node.column as usize] > node.number)];
                moved |= next ^ *at;
                *at = next;
            }
            if moved == 0 {
                return at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sogar::model::{Arithmetic, Decision, Missing, Tree};

    use super::*;

    fn test(threshold: f64, missing: Missing) -> Test {
        Test::AtMost { threshold, missing, default_left: true }
    }

    /// Three trees over two columns, the last one a single leaf.
    fn ensemble(outputs: usize, missing: Missing) -> TreeEnsemble {
        let node = |column, threshold, left, right| sogar::model::Node {
            column,
            test: test(threshold, missing),
            left,
            right,
        };
        let small = Tree { nodes: vec![node(1, 2.0, !0, !1)], leaves: vec![0.1, -0.7], covers: vec![] };
        let nodes = vec![node(0, 1.5, 1, !2), node(1, 0.5, !0, !1)];
        let large = Tree { nodes, leaves: vec![0.3, -0.2, 0.9], covers: vec![] };
        TreeEnsemble {
            trees: vec![small, large, Tree { nodes: vec![], leaves: vec![0.05], covers: vec![] }],
            outputs,
            base: vec![0.25; outputs],
            base_last: outputs > 1,
            divisor: 3.0,
            arithmetic: if outputs > 1 { Arithmetic::Single } else { Arithmetic::Double },
            decision: if outputs > 1 {
                Decision::Softmax
            } else {
                Decision::Sigmoid { slope: 1.0, threshold: 0.5 }
            },
        }
    }

    #[test]
    fn predictions_are_the_models_own() {
        // More rows than go side by side, some of them at thresholds.
        let rows: Vec<f64> = (0..42).map(|i| f64::from(i % 7) * 0.5).collect();
        for outputs in [1, 3] {
            let ensemble = ensemble(outputs, Missing::NaNIsMissing);
            let own: Vec<Prediction> = rows
                .chunks_exact(2)
                .map(|row| {
                    let mut out = vec![0.0; outputs];
                    ensemble.outputs_of(row, &mut out);
                    ensemble.prediction(&out)
                })
                .collect();
            let trees = CompactTrees::new(&ensemble).unwrap();
            assert_eq!(trees.predictions(&rows, 2).unwrap(), own);
            assert_eq!(trees.predictions(&rows[..6], 2).unwrap(), own[..3]);
            assert_eq!(trees.predictions(&[], 2).unwrap(), []);
            assert!(trees.predictions(&[1.0, f64::NAN], 2).is_none());
        }
    }

    #[test]
    fn other_tests_are_left_to_the_model() {
        assert!(CompactTrees::new(&ensemble(1, Missing::ZeroIsMissing)).is_none());
        let mut other = ensemble(1, Missing::AsZero);
        other.trees[0].nodes[0].test = Test::InSet { words: vec![1] };
        assert!(CompactTrees::new(&other).is_none());
    }
}
