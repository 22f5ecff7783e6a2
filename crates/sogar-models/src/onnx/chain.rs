//! A dense network while the graph is being walked.
//!
//! Numbers stay in double precision until the end, so that a batch normalisation or a factor can be folded into the layer before
//! it (or, behind an activation, after it) with a single rounding to single precision.

use std::rc::Rc;

use super::budget::Budget;
use super::value::Columns;
use crate::network::{Activation, Layer};
use crate::scaling::{Operation, Scaling, Step};
use sogar_base::error::{Error, ErrorKind, Result};

/// Layers so far.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    inputs: Rc<Columns>,
    layers: Vec<Rc<Dense>>,
    /// A factor and a shift for each output, not yet part of any layer.
    after: Option<Affine>,
}

/// `activation(weights · input + bias)`, in double precision.
#[derive(Debug, Clone)]
struct Dense {
    inputs: usize,
    outputs: usize,
    /// `weights[output * inputs + input]`.
    weights: Vec<f64>,
    bias: Vec<f64>,
    activation: Activation,
}

/// `factor · x + shift` for each column.
#[derive(Debug, Clone)]
pub(super) struct Affine {
    pub factor: Vec<f64>,
    pub shift: Vec<f64>,
}

/// More layers than any network on tables has.
const MOST_LAYERS: usize = 1000;

impl Chain {
    /// The columns themselves, without a layer yet.
    pub fn of(columns: &Rc<Columns>) -> Chain {
        Chain { inputs: Rc::clone(columns), layers: Vec::new(), after: None }
    }

    /// Number of outputs.
    pub fn width(&self) -> usize {
        self.layers.last().map_or(self.inputs.list.len(), |layer| layer.outputs)
    }

    /// Whether the last operation was a logistic function.
    pub fn ends_in_sigmoid(&self) -> bool {
        self.after.is_none()
            && self.layers.last().is_some_and(|layer| layer.activation == Activation::Sigmoid)
    }

    /// One more layer: `outputs` sums over `weights[output * width + input]`.
    pub fn linear(
        &self,
        outputs: usize,
        weights: Vec<f64>,
        bias: Vec<f64>,
        budget: &mut Budget,
    ) -> Result<Chain> {
        let inputs = self.width();
        budget.take(inputs, outputs)?;
        budget.take(self.layers.len(), 1)?;
        if self.layers.len() >= MOST_LAYERS {
            let message = format!("the network has more than {MOST_LAYERS} layers");
            let help = "give the model as a command (`--model-command`)";
            return Err(Error::new(ErrorKind::Model, message).help(help));
        }
        let mut layer = Dense { inputs, outputs, weights, bias, activation: Activation::Identity };
        if let Some(before) = &self.after {
            layer.fold_before(before);
        }
        let mut layers = self.layers.clone();
        layers.push(Rc::new(layer));
        Ok(Chain { inputs: Rc::clone(&self.inputs), layers, after: None })
    }

    /// A factor and a shift for each output.
    pub fn affine(&self, affine: Affine, budget: &mut Budget) -> Result<Chain> {
        let mut chain = self.clone();
        budget.take(self.layers.len() + self.width(), 1)?;
        match chain.layers.last_mut() {
            Some(last) if last.activation == Activation::Identity && chain.after.is_none() => {
                budget.take(last.inputs, last.outputs)?;
                Rc::make_mut(last).fold_after(&affine);
            }
            _ => {
                chain.after = Some(match chain.after {
                    None => affine,
                    Some(before) => before.then(&affine),
                });
            }
        }
        Ok(chain)
    }

    /// An activation of every output.
    pub fn activate(&self, activation: Activation, budget: &mut Budget) -> Result<Chain> {
        let open = self.after.is_none()
            && self.layers.last().is_some_and(|layer| layer.activation == Activation::Identity);
        let mut chain = if open {
            budget.take(self.layers.len(), 1)?;
            self.clone()
        } else {
            let width = self.width();
            budget.take(width, width)?;
            let diagonal = (0..width).flat_map(|o| (0..width).map(move |i| f64::from(u8::from(i == o))));
            self.linear(width, diagonal.collect(), vec![0.0; width], budget)?
        };
        if let Some(last) = chain.layers.last_mut() {
            budget.take(last.inputs, last.outputs)?;
            Rc::make_mut(last).activation = activation;
        }
        Ok(chain)
    }

    /// The finished layers over all `columns` of the model, with the scaling of each column, and whether a final logistic
    /// function was removed.
    pub fn finish(&self, columns: usize, budget: &mut Budget) -> Result<(Vec<Scaling>, Vec<Layer>, bool)> {
        let mut chain = self.clone();
        if chain.layers.is_empty() || chain.after.is_some() {
            let width = chain.width();
            budget.take(width, width)?;
            let diagonal = (0..width).flat_map(|o| (0..width).map(move |i| f64::from(u8::from(i == o))));
            chain = chain.linear(width, diagonal.collect(), vec![0.0; width], budget)?;
        }
        let sigmoid = chain.ends_in_sigmoid();
        if let (true, Some(last)) = (sigmoid, chain.layers.last_mut()) {
            budget.take(last.inputs, last.outputs)?;
            Rc::make_mut(last).activation = Activation::Identity;
        }
        let scaling = chain.spread_inputs(columns, budget)?;
        Ok((scaling, chain.layers.iter().map(|layer| layer.rounded()).collect(), sigmoid))
    }

    /// Rewrites the first layer to take all of the model's columns in their order.
    fn spread_inputs(&mut self, columns: usize, budget: &mut Budget) -> Result<Vec<Scaling>> {
        let mut scaling: Vec<Option<Scaling>> = vec![None; columns];
        for column in &self.inputs.list {
            let place = scaling.get_mut(column.index);
            match place {
                Some(place @ None) => *place = Some(column.scaling.clone()),
                Some(Some(known)) if *known == column.scaling => {}
                _ => {
                    let message = "a column reaches the network in two differently scaled copies";
                    return Err(Error::new(ErrorKind::Model, message).help("scale every column once"));
                }
            }
        }
        if let Some(first) = self.layers.first_mut() {
            budget.take(first.outputs, columns)?;
            let first = Rc::make_mut(first);
            let mut weights = vec![0.0; first.outputs * columns];
            for (output, row) in weights.chunks_exact_mut(columns.max(1)).enumerate() {
                let own = &first.weights[output * first.inputs..][..first.inputs];
                for (column, weight) in self.inputs.list.iter().zip(own) {
                    row[column.index] += weight;
                }
            }
            first.weights = weights;
            first.inputs = columns;
        }
        Ok(scaling.into_iter().map(|scaling| scaling.unwrap_or_else(ignored)).collect())
    }
}

/// The scaling of a column that the network does not use: it counts as 0, even if missing.
fn ignored() -> Scaling {
    let steps = [Operation::FillMissing(0.0), Operation::Clip(0.0, 0.0)];
    Scaling { steps: steps.iter().filter_map(|&operation| Step::new(operation, true)).collect() }
}

impl Dense {
    /// Folds an operation on the inputs into the weights.
    fn fold_before(&mut self, before: &Affine) {
        for (row, bias) in self.weights.chunks_exact_mut(self.inputs.max(1)).zip(&mut self.bias) {
            for ((weight, factor), shift) in row.iter_mut().zip(&before.factor).zip(&before.shift) {
                *bias += *weight * shift;
                *weight *= factor;
            }
        }
    }

    /// Folds an operation on the sums into the weights.
    fn fold_after(&mut self, after: &Affine) {
        for (output, row) in self.weights.chunks_exact_mut(self.inputs.max(1)).enumerate() {
            for weight in row {
                *weight *= after.factor[output];
            }
        }
        for ((bias, factor), shift) in self.bias.iter_mut().zip(&after.factor).zip(&after.shift) {
            *bias = *bias * factor + shift;
        }
    }

    fn rounded(&self) -> Layer {
        let single = |list: &[f64]| list.iter().map(|&value| value as f32).collect();
        Layer {
            inputs: self.inputs,
            outputs: self.outputs,
            weights: single(&self.weights),
            bias: single(&self.bias),
            activation: self.activation,
        }
    }
}

impl Affine {
    fn then(&self, next: &Affine) -> Affine {
        let factor = self.factor.iter().zip(&next.factor).map(|(a, b)| a * b).collect();
        let shift = self
            .shift
            .iter()
            .zip(&next.factor)
            .zip(&next.shift)
            .map(|((shift, f), s)| shift * f + s)
            .collect();
        Affine { factor, shift }
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::Column;
    use super::*;

    fn chain(indices: &[usize]) -> Chain {
        let list = indices.iter().map(|&index| Column { index, scaling: Scaling::default() }).collect();
        Chain::of(&Rc::new(Columns { list, single: true }))
    }

    #[test]
    fn factors_are_folded_before_and_after_activations() {
        let budget = &mut Budget::of(0);
        let double = || Affine { factor: vec![2.0], shift: vec![1.0] };
        let chain = chain(&[0]).linear(1, vec![3.0], vec![5.0], budget).unwrap();
        let chain = chain.affine(double(), budget).unwrap().activate(Activation::Relu, budget).unwrap();
        let chain = chain.affine(double(), budget).unwrap().linear(1, vec![7.0], vec![0.5], budget).unwrap();
        let (_, layers, sigmoid) = chain.finish(1, budget).unwrap();
        assert_eq!((layers[0].weights[0], layers[0].bias[0]), (6.0, 11.0));
        assert_eq!((layers[1].weights[0], layers[1].bias[0]), (14.0, 7.5));
        assert!(!sigmoid);
    }

    #[test]
    fn columns_are_put_into_the_models_order() {
        let budget = &mut Budget::of(0);
        let chain = chain(&[2, 0]).linear(1, vec![5.0, 7.0], vec![0.0], budget).unwrap();
        let chain = chain.activate(Activation::Sigmoid, budget).unwrap();
        let (scaling, layers, sigmoid) = chain.finish(3, budget).unwrap();
        assert_eq!(layers[0].weights, [7.0, 0.0, 5.0]);
        assert!(sigmoid && layers[0].activation == Activation::Identity);
        assert_eq!(scaling[1].apply(f64::NAN), 0.0);
        assert_eq!(scaling[2].apply(4.0), 4.0);
    }

    #[test]
    fn an_activation_without_a_layer_gets_one() {
        let budget = &mut Budget::of(0);
        let (_, layers, _) =
            chain(&[0, 1]).activate(Activation::Relu, budget).unwrap().finish(2, budget).unwrap();
        assert_eq!(layers[0].weights, [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(layers[0].activation, Activation::Relu);
    }
}
