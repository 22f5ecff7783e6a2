//! A sum of decision trees, as LightGBM, XGBoost and forests are: the shape that the fast outcome computation
//! (`outcomes.rs`) understands.
//!
//! Evaluation follows the libraries' own arithmetic step by step: leaf values are added in tree order, in
//! double precision, and probabilities are formed by the same formulas in the same order. A row at a
//! threshold, or at the decision boundary, then gets the very label that the library gives it.

/// Values this close to zero are zero to LightGBM: its single-precision constant 1e-35, widened.
pub const ZERO_BAND: f64 = 1e-35_f32 as f64;

/// An ensemble with one or more outputs (one per class where there are more than two).
#[derive(Debug, Clone, PartialEq)]
pub struct TreeEnsemble {
    /// The trees in the library's summation order; tree `t` adds to output `t % outputs`.
    pub trees: Vec<Tree>,
    /// Number of outputs.
    pub outputs: usize,
    /// Start value of each output.
    pub base: Vec<f64>,
    /// The sum of each output is divided by this (1, or the number of rounds for averaged forests).
    pub divisor: f64,
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
}

/// How the outputs become a label; probabilities are computed as the library does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Label 1 iff `1 / (1 + exp(-slope · output)) > threshold`.
    Sigmoid {
        /// LightGBM's `sigmoid` parameter.
        slope: f64,
        /// Decision threshold on the probability.
        threshold: f64,
    },
    /// Label 1 iff `output > threshold`.
    Raw {
        /// Decision threshold on the raw output.
        threshold: f64,
    },
    /// The class with the largest softmax probability, the first on ties.
    Softmax,
    /// The class with the largest `1 / (1 + exp(-slope · output))`, the first on ties.
    OneVsAll {
        /// LightGBM's `sigmoid` parameter.
        slope: f64,
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
        }
    }
}

impl Tree {
    /// The leaf that a row reaches.
    #[inline]
    pub fn leaf_of(&self, row: &[f64]) -> usize {
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
    /// Writes the final outputs of a row (after the divisor) into `out`, which has one place an output.
    pub fn outputs_of(&self, row: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.base);
        for round in self.trees.chunks(self.outputs) {
            for (output, tree) in out.iter_mut().zip(round) {
                *output += tree.value_of(row);
            }
        }
        // x / 1.0 is x, bit by bit.
        for output in out.iter_mut() {
            *output /= self.divisor;
        }
    }

    /// Number of leaves of all trees.
    pub fn leaf_count(&self) -> usize {
        self.trees.iter().map(|tree| tree.leaves.len()).sum()
    }
}

/// The logistic function in the libraries' order of operations.
#[inline]
fn sigmoid(slope: f64, output: f64) -> f64 {
    1.0 / (1.0 + (-slope * output).exp())
}

/// The softmax probabilities, in the library's order of operations and without storing them.
fn softmax(outputs: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for output in outputs {
        sum += (output - largest).exp();
    }
    outputs.iter().map(move |output| (output - largest).exp() / sum)
}

/// Index and value of the largest number, the first on ties.
fn first_largest(values: impl Iterator<Item = f64>) -> (u32, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, value) in (0u32..).zip(values) {
        if value > best.1 {
            best = (index, value);
        }
    }
    best
}

impl Decision {
    /// The label of a row with these outputs (after the divisor).
    pub fn label(&self, outputs: &[f64]) -> u32 {
        match *self {
            Decision::Sigmoid { slope, threshold } => u32::from(sigmoid(slope, outputs[0]) > threshold),
            Decision::Raw { threshold } => u32::from(outputs[0] > threshold),
            Decision::Softmax => first_largest(softmax(outputs)).0,
            Decision::OneVsAll { slope } => first_largest(outputs.iter().map(|&o| sigmoid(slope, o))).0,
        }
    }

    /// The score of a row with these outputs: the probability of class 1 (two classes) or of the predicted
    /// class; the raw output where there are no probabilities.
    pub fn score(&self, outputs: &[f64]) -> f64 {
        let of_class_1 = outputs.len() == 2;
        match *self {
            Decision::Sigmoid { slope, .. } => sigmoid(slope, outputs[0]),
            Decision::Raw { .. } => outputs[0],
            Decision::Softmax if of_class_1 => softmax(outputs).last().unwrap_or(f64::NAN),
            Decision::Softmax => first_largest(softmax(outputs)).1,
            Decision::OneVsAll { slope } if of_class_1 => sigmoid(slope, outputs[1]),
            Decision::OneVsAll { slope } => first_largest(outputs.iter().map(|&o| sigmoid(slope, o))).1,
        }
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
    fn ties_go_to_the_first_class_and_to_label_0() {
        assert_eq!(Decision::Sigmoid { slope: 1.0, threshold: 0.5 }.label(&[0.0]), 0);
        assert_eq!(Decision::Sigmoid { slope: 1.0, threshold: 0.5 }.label(&[1e-10]), 1);
        assert_eq!(Decision::Softmax.label(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(Decision::OneVsAll { slope: 2.0 }.label(&[-1.0, -1.0]), 0);
        // Different outputs whose probabilities round to the same number are a tie as well.
        assert_eq!(Decision::OneVsAll { slope: 1.0 }.label(&[800.0, 900.0]), 0);
    }

    #[test]
    fn the_score_is_of_class_1_or_of_the_predicted_class() {
        assert_eq!(Decision::Softmax.score(&[0.0, 0.0]), 0.5);
        assert_eq!(Decision::Softmax.score(&[0.0, 0.0, 0.0]), 1.0 / 3.0);
        assert_eq!(Decision::OneVsAll { slope: 1.0 }.score(&[5.0, 0.0]), 0.5);
        assert_eq!(Decision::Raw { threshold: 2.0 }.score(&[7.0]), 7.0);
    }
}
