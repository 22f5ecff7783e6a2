//! A dense feed-forward network, as PyTorch, Keras and scikit-learn export them: the form that the batched outcome computation
//! needs.
//!
//! **A network's answer for a row** is defined here: inputs are narrowed to single precision (as the exporting libraries do),
//! weights are single precision, and everything from there is computed in double precision in one fixed order ([`evaluate`]). So
//! labels do not depend on the batch, the number of threads or the processor. The fast outcome computation works in single
//! precision and counts only where a proven error bound ([`norms`], [`band`]) shows that its label is this one.
//!
//! Other runtimes evaluate in single precision, in their own order. They can differ only for rows inside the band of
//! [`DenseNetwork::closeness`].

mod band;
mod decision;
mod evaluate;
mod instructions;
pub mod norms;
mod predictor;

pub use band::Closeness;
pub use band::{UNIT, gamma, gamma_double, logit};
pub use evaluate::{Evaluation, LANES};
pub use instructions::Instructions;
#[cfg(target_arch = "x86_64")]
pub use instructions::{Avx2, Avx512};
pub use predictor::NetworkModel;

use super::scaling::Scaling;
use sogar_base::error::{Error, ErrorKind, Result};

/// A chain of dense layers.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseNetwork {
    /// Number of inputs.
    pub inputs: usize,
    /// The scaling of each input; empty for none. See [`DenseNetwork::input`].
    pub scaling: Vec<Scaling>,
    /// The layers, first to last; the last one's outputs decide.
    pub layers: Vec<Layer>,
    /// How the last layer's outputs become a label.
    pub decision: NetworkDecision,
}

impl DenseNetwork {
    /// Fails unless the network can be evaluated: layers that fit each other, as many numbers as the shapes say, all of them
    /// finite, and a decision that fits the outputs.
    pub fn check(&self) -> Result<()> {
        let wrong = |message: String| {
            Err(Error::new(ErrorKind::Model, message).help(
                "the file is damaged, or was not written by a training library; export the model again",
            ))
        };
        let mut width = self.inputs;
        for (number, layer) in self.layers.iter().enumerate() {
            let number = number + 1;
            if layer.inputs != width {
                return wrong(format!("layer {number} takes {} values, but gets {width}", layer.inputs));
            }
            width = layer.outputs;
            let weights = layer.inputs.checked_mul(layer.outputs);
            if layer.inputs == 0 || layer.outputs == 0 || weights != Some(layer.weights.len()) {
                return wrong(format!(
                    "layer {number} is {} × {}, but has {} weights",
                    layer.outputs,
                    layer.inputs,
                    layer.weights.len()
                ));
            }
            if layer.bias.len() != layer.outputs {
                let (count, outputs) = (layer.bias.len(), layer.outputs);
                return wrong(format!("layer {number} has {outputs} outputs, but {count} biases"));
            }
            let slope = match layer.activation {
                Activation::LeakyRelu { slope } => slope,
                _ => 0.0,
            };
            let mut numbers = layer.weights.iter().chain(&layer.bias).chain([&slope]);
            if let Some(number_found) = numbers.find(|number| !number.is_finite()) {
                return wrong(format!("layer {number} has a weight that is {number_found}"));
            }
        }
        if self.layers.is_empty() {
            return wrong("the network has no layers".into());
        }
        if !self.scaling.is_empty() && self.scaling.len() != self.inputs {
            let (scaled, inputs) = (self.scaling.len(), self.inputs);
            return wrong(format!("the scaler has {scaled} columns, but the network has {inputs} inputs"));
        }
        match self.decision {
            NetworkDecision::Sigmoid { .. } | NetworkDecision::Raw { .. } if width != 1 => {
                return wrong(format!(
                    "one output is compared with the threshold, but the network has {width}"
                ));
            }
            NetworkDecision::SoftmaxAbove { .. } if width != 2 => {
                return wrong(format!(
                    "a threshold of two classes needs two outputs, but the network has {width}"
                ));
            }
            NetworkDecision::Softmax if width < 2 => {
                return wrong("the model takes the largest of several outputs, but there is only one".into());
            }
            _ => {}
        }
        match self.decision.threshold() {
            Some(threshold) if threshold.is_nan() => wrong("the threshold is not a number".into()),
            _ => Ok(()),
        }
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(self.inputs, |layer| layer.outputs)
    }

    /// Number of classes: the number of outputs, or two for a single output.
    pub fn classes(&self) -> u32 {
        self.outputs().max(2) as u32
    }

    /// The shape in words, e.g. `dense network 57-50-50-1, 5501 weights`.
    pub fn description(&self) -> String {
        let widths: Vec<String> = std::iter::once(self.inputs)
            .chain(self.layers.iter().map(|layer| layer.outputs))
            .map(|width| width.to_string())
            .collect();
        let weights: usize = self.layers.iter().map(|layer| layer.weights.len() + layer.bias.len()).sum();
        format!("dense network {}, {weights} weights", widths.join("-"))
    }

    /// The first layer's input for a column's value: scaled as in the exported graph, in single precision.
    #[inline]
    pub fn input(&self, column: usize, value: f64) -> f32 {
        match self.scaling.get(column) {
            Some(scaling) => scaling.apply(value) as f32,
            None => value as f32,
        }
    }
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
    /// One per output.
    pub bias: Vec<f32>,
    /// Applied to every output.
    pub activation: Activation,
}

/// The function that a layer applies to its sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// Nothing.
    Identity,
    /// `max(x, 0)`.
    Relu,
    /// `x` where positive, otherwise `slope · x`.
    LeakyRelu {
        /// The slope below zero.
        slope: f32,
    },
    /// The logistic function.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
}

/// How the outputs become a label. A final sigmoid or softmax is part of the decision, not a layer's activation.
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
    /// One output per class; the largest wins, the first on ties. The score is a softmax probability.
    Softmax,
    /// Two outputs; label 1 iff the second's softmax probability is above the threshold.
    SoftmaxAbove {
        /// Decision threshold on the probability of class 1.
        threshold: f64,
    },
}

#[cfg(test)]
mod tests;
