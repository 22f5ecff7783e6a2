//! A sum of decision trees, as LightGBM, XGBoost and forests are: the shape that the fast outcome computation
//! (`outcomes.rs`) understands.

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
