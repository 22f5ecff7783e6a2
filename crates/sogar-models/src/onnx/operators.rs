//! Evaluates each operator on symbolic inputs.
//!
//! The arms below list all supported operators. Everything else gives [`Call::unsupported`], which names the operator, the node
//! and the remedy.

use std::rc::Rc;

use super::attributes::Attributes;
use super::budget::Budget;
use super::chain::{Affine, Chain};
use super::external::ExternalFiles;
use super::proto::Node;
use super::tensor::Tensor;
use super::value::{Columns, LabelRule, Labels, ScorePart, Scores, Source, Squash, Value};
use super::{arithmetic, columns, damaged, ensembles, linear};
use crate::network::Activation;
use sogar_base::error::{Error, ErrorKind, Result};

/// A node with its inputs.
pub(super) struct Call<'c, 'a> {
    pub node: &'c Node<'a>,
    pub attributes: Attributes<'a>,
    pub inputs: Vec<Value>,
    pub files: &'c mut ExternalFiles,
    pub budget: &'c mut Budget,
}

/// The supported models, for messages.
const SUPPORTED: &str = "dense networks (Gemm, MatMul, Add, Relu, LeakyRelu, Sigmoid, Tanh, BatchNormalization, \
                         Softmax, scalers), linear classifiers and tree ensembles are read";

impl Call<'_, '_> {
    /// The error for an unsupported operator, or an unsupported use of one.
    pub fn unsupported(&self, how: &str) -> Error {
        let Node { operator, domain, name, outputs, .. } = self.node;
        let named = if name.is_empty() { outputs.first().copied().unwrap_or("") } else { name };
        let full = match *domain {
            "" | "ai.onnx" => (*operator).to_string(),
            domain => format!("{domain}.{operator}"),
        };
        let space = if how.is_empty() { "" } else { " " };
        let message = format!("the operator `{full}` (node `{named}`){space}{how} is not read");
        Error::new(ErrorKind::Model, message).help(format!(
            "{SUPPORTED}; export the model without this step, do the step in the table first, build with \
             `--features onnx-runtime`, or give the model as a command (`--model-command`)"
        ))
    }

    pub fn input(&self, index: usize) -> &Value {
        self.inputs.get(index).unwrap_or(&Value::Absent)
    }

    /// A constant input.
    pub fn constant(&self, index: usize) -> Option<&Rc<Tensor>> {
        match self.input(index) {
            Value::Constant(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// A list of numbers among the attributes; see [`Attributes::numbers`].
    pub fn numbers(&mut self, name: &str) -> Result<Vec<f64>> {
        self.attributes.numbers(name, self.files)
    }

    /// The numbers of a tensor among the attributes.
    pub fn tensor_numbers(&mut self, name: &str) -> Result<Vec<f64>> {
        let tensor = self.attributes.tensor(name, self.files)?;
        tensor
            .and_then(|tensor| tensor.numbers())
            .ok_or_else(|| damaged(format!("the attribute `{name}` with its numbers is not there")))
    }

    /// A choice among `names`, written as a text or as its position; the default if absent.
    pub fn transform<'n>(&self, name: &str, names: &[&'n str]) -> Result<&'n str> {
        let text = match self.attributes.text(name)? {
            "" => None,
            text => Some(text),
        };
        let usual = if name == "post_transform" { "NONE" } else { "SUM" };
        let position = self.attributes.integer(name).and_then(|position| usize::try_from(position).ok());
        let wanted = match (text, position) {
            (Some(text), _) => text,
            (None, Some(position)) => names.get(position).copied().unwrap_or("unknown"),
            (None, None) => usual,
        };
        names
            .iter()
            .find(|known| **known == wanted)
            .copied()
            .ok_or_else(|| self.unsupported(&format!("with {name} {wanted}")))
    }

    /// The columns of the operator's input.
    pub fn columns(&self) -> Result<Rc<Columns>> {
        match self.input(0) {
            Value::Columns(columns) => Ok(Rc::clone(columns)),
            _ => Err(self.unsupported("behind another part of the model")),
        }
    }

    /// The network of the operator's input so far; columns are a network without layers.
    fn chain(&self, index: usize) -> Option<Chain> {
        match self.input(index) {
            Value::Columns(columns) => Some(Chain::of(columns)),
            Value::Scores(scores) => scores.open_chain().map(|chain| Chain::clone(chain)),
            _ => None,
        }
    }

    /// The operator's outputs.
    pub fn evaluate(&mut self) -> Result<Vec<Value>> {
        let one = |value: Value| Ok(vec![value]);
        let ml = match self.node.domain {
            "" | "ai.onnx" => false,
            "ai.onnx.ml" => true,
            _ => return Err(self.unsupported("")),
        };
        match (ml, self.node.operator) {
            (false, "Constant") => {
                let tensor =
                    self.attributes.constant(self.files)?.ok_or_else(|| self.unsupported("of this type"))?;
                one(tensor.into())
            }
            (false, "Identity" | "Dropout") => one(self.input(0).clone()),
            (false, "Cast") => one(self.cast()?),
            (false, "Flatten" | "Reshape" | "Squeeze" | "Unsqueeze") => one(columns::reshaped(self)?),
            (false, "Transpose") => {
                let turned = self.constant(0).map(Rc::clone).ok_or_else(|| self.unsupported("of rows"))?;
                self.budget.take(turned.len(), 1)?;
                one(turned.transposed().ok_or_else(|| self.unsupported("of this shape"))?.into())
            }
            (false, "Gemm" | "MatMul") => one(linear::product(self)?),
            (false, "Add" | "Sub" | "Mul" | "Div") => one(arithmetic::evaluate(self)?),
            (false, "BatchNormalization") => one(linear::batch_normalisation(self)?),
            (false, "Relu") => self.activation(Activation::Relu),
            (false, "Tanh") => self.activation(Activation::Tanh),
            (false, "LeakyRelu") => {
                let slope = self.attributes.float("alpha").unwrap_or(0.01);
                self.activation(Activation::LeakyRelu { slope })
            }
            (false, "PRelu") => {
                let slope = self.constant(1).and_then(|slope| slope.scalar());
                let slope = slope.ok_or_else(|| self.unsupported("with a slope per column"))? as f32;
                self.activation(Activation::LeakyRelu { slope })
            }
            (false, "Max") => match (self.constant(1).and_then(|zero| zero.scalar()), self.inputs.len()) {
                (Some(0.0), 2) => self.activation(Activation::Relu),
                _ => Err(self.unsupported("")),
            },
            (false, "Clip") => one(columns::clipped(self)?),
            (false, "Sigmoid") => self.sigmoid(),
            (false, "Softmax" | "LogSoftmax") => self.softmax(),
            (false, "ArgMax") => self.arg_max(),
            (false, "Greater") => self.greater(),
            (false, "Concat") | (true, "FeatureVectorizer") => one(columns::joined(self)?),
            (false, "Gather") | (true, "ArrayFeatureExtractor") => one(columns::selected(self, ml)?),
            (true, "Scaler") => one(columns::scaled(self)?),
            (true, "Imputer") => one(columns::imputed(self)?),
            (true, "Normalizer") => self.normalizer(),
            (true, "ZipMap") => self.zip_map(),
            (true, "LinearClassifier") => linear::classifier(self),
            (true, "LinearRegressor") => one(linear::regressor(self)?),
            (true, "TreeEnsembleClassifier") => {
                let classes = ensembles::class_names(self, "classlabels_strings", "classlabels_int64s");
                let columns = self.columns()?;
                let trees = ensembles::classifier(self, &columns, classes.len())?;
                let mut scores = tree_scores(trees);
                scores.classes = Some(Rc::new(classes));
                Ok(vec![
                    Value::Labels(Labels { scores: scores.clone(), rule: LabelRule::Own }),
                    Value::Scores(scores),
                ])
            }
            (true, "TreeEnsembleRegressor") => {
                let columns = self.columns()?;
                one(Value::Scores(tree_scores(ensembles::regressor(self, &columns)?)))
            }
            (true, "TreeEnsemble") => {
                let columns = self.columns()?;
                one(Value::Scores(tree_scores(ensembles::ensemble(self, &columns)?)))
            }
            _ => Err(self.unsupported("")),
        }
    }

    fn cast(&mut self) -> Result<Value> {
        use super::tensor::kinds;
        let target = self.attributes.integer("to").unwrap_or(0);
        let real = matches!(target, kinds::FLOAT | kinds::DOUBLE);
        match self.input(0).clone() {
            Value::Columns(columns) if real => {
                self.budget.take(columns.cost(), 1)?;
                Ok(columns::cast(&columns, target == kinds::FLOAT).into())
            }
            Value::Scores(scores) if real => Ok(Value::Scores(scores)),
            Value::Labels(labels) => Ok(Value::Labels(labels)),
            Value::Constant(tensor) => Ok(Value::Constant(tensor)),
            _ => Err(self.unsupported("to this type")),
        }
    }

    fn activation(&mut self, activation: Activation) -> Result<Vec<Value>> {
        let chain = self.chain(0).ok_or_else(|| self.unsupported("at this place"))?;
        Ok(vec![chain.activate(activation, self.budget)?.into()])
    }

    fn sigmoid(&mut self) -> Result<Vec<Value>> {
        match self.input(0) {
            Value::Scores(scores)
                if matches!(scores.source, Source::Trees(_)) && scores.squash == Squash::None =>
            {
                Ok(vec![Value::Scores(Scores { squash: Squash::Sigmoid, ..scores.clone() })])
            }
            _ => self.activation(Activation::Sigmoid),
        }
    }

    fn softmax(&mut self) -> Result<Vec<Value>> {
        if !matches!(self.attributes.integer("axis"), None | Some(1 | -1)) {
            return Err(self.unsupported("over the rows"));
        }
        match self.input(0) {
            Value::Scores(scores) if scores.squash == Squash::None && scores.part == ScorePart::All => {
                Ok(vec![Value::Scores(Scores { squash: Squash::Softmax, ..scores.clone() })])
            }
            _ => Err(self.unsupported("at this place")),
        }
    }

    fn arg_max(&mut self) -> Result<Vec<Value>> {
        let across = matches!(self.attributes.integer("axis"), Some(1 | -1));
        let first = self.attributes.integer("select_last_index").unwrap_or(0) == 0;
        match self.input(0) {
            Value::Scores(scores)
                if across && first && matches!(scores.part, ScorePart::All | ScorePart::Pair) =>
            {
                Ok(vec![Value::Labels(Labels { scores: scores.clone(), rule: LabelRule::Largest })])
            }
            _ => Err(self.unsupported("at this place")),
        }
    }

    /// A score above a constant is class 1.
    fn greater(&mut self) -> Result<Vec<Value>> {
        match (self.input(0), self.constant(1).and_then(|bound| bound.scalar())) {
            (Value::Scores(scores), Some(bound))
                if scores.width() == 1 || scores.part == ScorePart::Second =>
            {
                Ok(vec![Value::Labels(Labels { scores: scores.clone(), rule: LabelRule::Above(bound) })])
            }
            _ => Err(self.unsupported("at this place")),
        }
    }

    /// Probabilities that already sum to one stay unchanged.
    fn normalizer(&mut self) -> Result<Vec<Value>> {
        match (self.input(0), self.attributes.text("norm")?) {
            (Value::Scores(scores), "L1")
                if scores.squash == Squash::Softmax || scores.part == ScorePart::Pair =>
            {
                Ok(vec![Value::Scores(scores.clone())])
            }
            _ => Err(self.unsupported("of anything but probabilities")),
        }
    }

    fn zip_map(&mut self) -> Result<Vec<Value>> {
        let names = ensembles::class_names(self, "classlabels_strings", "classlabels_int64s");
        match self.input(0) {
            Value::Scores(scores) => {
                let classes = if names.is_empty() { scores.classes.clone() } else { Some(Rc::new(names)) };
                Ok(vec![Value::Scores(Scores { classes, ..scores.clone() })])
            }
            _ => Err(self.unsupported("at this place")),
        }
    }

    /// The network with a factor and a shift for each of its outputs.
    pub fn affine(&mut self, index: usize, make: impl Fn(usize) -> Option<Affine>) -> Result<Value> {
        let chain = self.chain(index).ok_or_else(|| self.unsupported("at this place"))?;
        let affine = make(chain.width()).ok_or_else(|| self.unsupported("with a constant of this shape"))?;
        Ok(chain.affine(affine, self.budget)?.into())
    }

    /// The network with one more layer.
    pub fn layer(
        &mut self,
        outputs: usize,
        inputs: usize,
        weights: Vec<f64>,
        bias: Vec<f64>,
    ) -> Result<Chain> {
        let chain = self.chain(0).ok_or_else(|| self.unsupported("at this place"))?;
        if chain.width() != inputs || outputs == 0 || inputs == 0 {
            let (node, width) = (self.node.operator, chain.width());
            return Err(damaged(format!("the operator `{node}` takes {inputs} values, but gets {width}")));
        }
        chain.linear(outputs, weights, bias, self.budget)
    }
}

fn tree_scores(trees: ensembles::Trees) -> Scores {
    Scores {
        source: Source::Trees(Rc::new(trees)),
        squash: Squash::None,
        part: ScorePart::All,
        classes: None,
    }
}
