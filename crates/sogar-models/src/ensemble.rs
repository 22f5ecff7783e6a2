//! A sum of decision trees, such as LightGBM, XGBoost and forests: the form that the fast outcome computation
//! (`outcomes/ensemble.rs`) needs.
//!
//! Evaluation follows the libraries' own arithmetic step by step: leaf values are added in tree order, in the library's
//! precision, and probabilities are computed by the same formulas in the same order. So a row at a threshold, or at the decision
//! boundary, gets exactly the library's label.

use std::sync::Arc;

use super::Prediction;
use super::decision::{Arithmetic, Decision};

/// Values this close to zero are zero to LightGBM: its single-precision constant 1e-35, widened.
pub(crate) const ZERO_BAND: f64 = 1e-35_f32 as f64;

/// An ensemble with one or more outputs (one per class if there are more than two).
#[derive(Debug, Clone, PartialEq)]
pub struct TreeEnsemble {
    /// The trees in the library's summation order; tree `t` adds to output `t % outputs`.
    pub trees: Vec<Tree>,
    /// Number of outputs.
    pub outputs: usize,
    /// A constant that is added to each output.
    pub base: Vec<f64>,
    /// Whether the constant is added after the trees (ONNX runtimes) instead of before them.
    pub base_last: bool,
    /// The sum of each output is divided by this (1, or the number of rounds for averaged forests).
    pub divisor: f64,
    /// The precision of the library's sums.
    pub arithmetic: Arithmetic,
    /// How outputs become a label.
    pub decision: Decision,
}

/// One tree. A tree without inner nodes is a single leaf.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Inner nodes; node 0 is the root. Children are indices: `>= 0` a node, `< 0` leaf `!child`.
    pub nodes: Vec<Node>,
    /// Leaf values.
    pub leaves: Vec<f64>,
    /// How many rows (or how much weight) of the training data reached each leaf, for contributions; empty if unknown.
    pub covers: Vec<f64>,
}

/// An inner node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The model column that is tested.
    pub column: usize,
    /// The test.
    pub test: Test,
    /// Child for rows that pass.
    pub left: i32,
    /// Child for rows that fail.
    pub right: i32,
}

/// What a numeric test does with a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// NaN counts as 0.
    AsZero,
    /// NaN and values within ±1e-35 of zero take the default side.
    ZeroIsMissing,
    /// NaN takes the default side.
    NaNIsMissing,
}

/// A node's test.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// `x <= threshold`.
    AtMost {
        /// The threshold.
        threshold: f64,
        /// Treatment of missing values.
        missing: Missing,
        /// Whether a missing value goes left.
        default_left: bool,
    },
    /// The value's whole part, if not negative and not missing, is in the set (bit `v` of the words).
    InSet {
        /// The set as 32-bit words.
        words: Vec<u32>,
    },
    /// XGBoost's test of a category: the value, narrowed to single precision, is negative or its whole part is none of these.
    NoneOf {
        /// The categories, ascending; shared by the trees of a model whose leaves are vectors.
        categories: Arc<[u32]>,
        /// Whether a missing value goes left.
        default_left: bool,
    },
    /// The value lies in one of these ranges `low < x <= high` (equality with one of several numbers, for values that are rounded
    /// first).
    Within {
        /// The ranges, ascending and disjoint.
        ranges: Vec<(f64, f64)>,
        /// Whether a missing value goes left.
        default_left: bool,
    },
}

impl Test {
    /// Whether a row with this value goes left.
    #[inline]
    pub fn passes(&self, value: f64) -> bool {
        match self {
            Test::AtMost { threshold, missing, default_left } => {
                let (value, is_missing) = match missing {
                    Missing::AsZero => (if value.is_nan() { 0.0 } else { value }, false),
                    Missing::ZeroIsMissing => (value, value.is_nan() || value.abs() <= ZERO_BAND),
                    Missing::NaNIsMissing => (value, value.is_nan()),
                };
                if is_missing { *default_left } else { value <= *threshold }
            }
            // Above -1 the whole part is not negative: the library truncates towards zero.
            Test::InSet { words } => {
                value > -1.0 && value < 2_147_483_648.0 && {
                    let bit = value as usize;
                    words.get(bit / 32).is_some_and(|word| word >> (bit % 32) & 1 == 1)
                }
            }
            Test::NoneOf { categories, default_left } => {
                let value = value as f32;
                if value.is_nan() {
                    *default_left
                } else {
                    value < 0.0 || categories.binary_search(&(value as u32)).is_err()
                }
            }
            Test::Within { default_left, .. } if value.is_nan() => *default_left,
            Test::Within { ranges, .. } => {
                let after = ranges.partition_point(|&(_, high)| high < value);
                ranges.get(after).is_some_and(|&(low, _)| low < value)
            }
        }
    }
}

impl Tree {
    /// The leaf that a row reaches.
    #[inline]
    pub(crate) fn leaf_of(&self, row: &[f64]) -> usize {
        let mut at: i32 = if self.nodes.is_empty() { !0 } else { 0 };
        while at >= 0 {
            let node = &self.nodes[at as usize];
            at = if node.test.passes(row[node.column]) { node.left } else { node.right };
        }
        !at as usize
    }

    /// The value that this tree adds for a row.
    #[inline]
    pub fn value_of(&self, row: &[f64]) -> f64 {
        self.leaves[self.leaf_of(row)]
    }
}

impl TreeEnsemble {
    /// The plain sum of trees with one output, class 1 above 0.
    pub fn sum_of(trees: Vec<Tree>) -> TreeEnsemble {
        TreeEnsemble {
            trees,
            outputs: 1,
            base: vec![0.0],
            base_last: false,
            divisor: 1.0,
            arithmetic: Arithmetic::Double,
            decision: Decision::Raw { threshold: 0.0 },
        }
    }

    /// Writes the final outputs of a row (after the divisor) into `out`, one entry per output.
    pub fn outputs_of(&self, row: &[f64], out: &mut [f64]) {
        let arithmetic = self.arithmetic;
        if self.base_last {
            out.fill(0.0);
        } else {
            out.copy_from_slice(&self.base);
        }
        for round in self.trees.chunks(self.outputs) {
            for (output, tree) in out.iter_mut().zip(round) {
                *output = arithmetic.add(*output, tree.value_of(row));
            }
        }
        if self.base_last {
            for (output, &base) in out.iter_mut().zip(&self.base) {
                *output = arithmetic.add(*output, base);
            }
        }
        // x / 1.0 is x, bit by bit.
        for output in out.iter_mut() {
            *output = arithmetic.divide(*output, self.divisor);
        }
    }

    /// The prediction for a row with these outputs.
    pub fn prediction(&self, outputs: &[f64]) -> Prediction {
        let (decision, arithmetic) = (&self.decision, self.arithmetic);
        Prediction { label: decision.label(outputs, arithmetic), score: decision.score(outputs, arithmetic) }
    }

    /// Whether every output lies between 0 and 1 for any row, as the votes of a forest do.
    pub fn gives_shares(&self) -> bool {
        let ends = |tree: &Tree| {
            tree.leaves.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &leaf| {
                (low.min(leaf), high.max(leaf))
            })
        };
        (0..self.outputs).all(|output| {
            let (mut low, mut high) = (self.base[output], self.base[output]);
            for tree in self.trees.iter().skip(output).step_by(self.outputs) {
                let (least, most) = ends(tree);
                (low, high) = (low + least, high + most);
            }
            // Rounded sums of rounded shares.
            low >= -1e-5 * self.divisor && high <= (1.0 + 1e-5) * self.divisor
        })
    }

    /// Number of leaves of all trees.
    pub fn leaf_count(&self) -> usize {
        self.trees.iter().map(|tree| tree.leaves.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_most(threshold: f64, missing: Missing, default_left: bool) -> Test {
        Test::AtMost { threshold, missing, default_left }
    }

    #[test]
    fn a_value_at_the_threshold_passes_and_the_next_one_does_not() {
        let test = at_most(0.1, Missing::AsZero, false);
        assert!(test.passes(0.1) && test.passes(0.1f64.next_down()));
        assert!(!test.passes(0.1f64.next_up()));
    }

    #[test]
    fn missing_values_follow_the_missing_type() {
        for default_left in [false, true] {
            let zero = at_most(-1.0, Missing::ZeroIsMissing, default_left);
            let nan = at_most(-1.0, Missing::NaNIsMissing, default_left);
            for value in [f64::NAN, 0.0, -0.0, ZERO_BAND, -ZERO_BAND, 1e-300] {
                assert_eq!(zero.passes(value), default_left, "{value}");
            }
            assert!(!zero.passes(ZERO_BAND.next_up()));
            assert_eq!(nan.passes(f64::NAN), default_left);
            assert!(!nan.passes(0.0));
            assert!(!at_most(-1.0, Missing::AsZero, default_left).passes(f64::NAN));
            assert!(at_most(1.0, Missing::AsZero, default_left).passes(f64::NAN));
        }
    }

    #[test]
    fn sets_hold_whole_parts_and_nothing_negative_or_missing() {
        let test = Test::InSet { words: vec![1 | 1 << 31, 1 << 2] };
        for inside in [0.0, -0.5, 0.9, 31.0, 34.7] {
            assert!(test.passes(inside), "{inside}");
        }
        for outside in [1.0, -1.0, -31.0, 32.0, 64.0, 1e300, -1e300, f64::NAN, f64::INFINITY] {
            assert!(!test.passes(outside), "{outside}");
        }
    }

    #[test]
    fn categories_are_tested_in_single_precision_and_missing_ones_take_the_default_side() {
        for default_left in [false, true] {
            let test = Test::NoneOf { categories: vec![0, 31, 34].into(), default_left };
            assert_eq!(test.passes(f64::NAN), default_left);
            for inside in [0.0, -0.0, -1e-60, 0.9, 31.0, 34.7] {
                assert!(!test.passes(inside), "{inside}");
            }
            // 0.99999999999 is 1 in single precision.
            for outside in [1.0, 0.999_999_999_99, -0.5, -1.0, 32.0, 64.0, 1e300, -1e300, f64::INFINITY] {
                assert!(test.passes(outside), "{outside}");
            }
        }
    }

    #[test]
    fn sums_round_as_the_library_rounds_them() {
        let leaf = |value: f32| Tree { nodes: vec![], leaves: vec![f64::from(value)], covers: vec![] };
        let trees = vec![leaf(1e8), leaf(1.0), leaf(-1e8)];
        let mut ensemble = TreeEnsemble { base: vec![3.0], ..TreeEnsemble::sum_of(trees) };
        let output = |ensemble: &TreeEnsemble| {
            let mut out = [0.0];
            ensemble.outputs_of(&[], &mut out);
            out[0]
        };
        assert_eq!(output(&ensemble), 4.0);
        ensemble.arithmetic = Arithmetic::Single;
        assert_eq!(output(&ensemble), 0.0);
        ensemble.base_last = true;
        assert_eq!(output(&ensemble), 3.0);
        ensemble.divisor = 7.0;
        assert_eq!(output(&ensemble), f64::from(3f32 / 7.0));
    }
}
