//! A dense feed-forward network, as PyTorch, Keras and scikit-learn export them: the shape that the batched
//! outcome computation understands.

/// A chain of dense layers.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseNetwork {
    /// Number of inputs.
    pub inputs: usize,
    /// The layers, first to last; the last one's outputs decide.
    pub layers: Vec<Layer>,
    /// How the last layer's outputs become a label.
    pub decision: NetworkDecision,
}

/// `activation(weights · input + bias)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// `weights[output * inputs + input]`.
    pub weights: Vec<f32>,
    /// One a output.
    pub bias: Vec<f32>,
    /// Applied to every output.
    pub activation: Activation,
}

/// What a layer applies to each of its sums.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Activation {
    /// Nothing.
    Identity,
    /// `max(x, 0)`.
    Relu,
    /// `x` where positive, else `slope · x`.
    LeakyRelu {
        /// The slope below zero.
        slope: f32,
    },
    /// The logistic function.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
}

/// How the outputs before any final squashing become a label. A final sigmoid or softmax is part of the decision, not
/// a layer's activation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NetworkDecision {
    /// One output; label 1 iff its logistic function is above the threshold. The score is that probability.
    Sigmoid {
        /// Decision threshold on the probability.
        threshold: f64,
    },
    /// One output; label 1 iff it is above the threshold. The score is the output.
    Raw {
        /// Decision threshold on the output.
        threshold: f64,
    },
    /// One output a class; the largest wins, the first on ties. The score is a softmax probability.
    Softmax,
    /// Two outputs; label 1 iff the second's softmax probability is above the threshold.
    SoftmaxAbove {
        /// Decision threshold on the probability of class 1.
        threshold: f64,
    },
}
