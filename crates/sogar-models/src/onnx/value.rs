//! Symbolic values of the graph: not numbers, but how they derive from the model's columns.
//!
//! The graph is walked once with these values instead of tensors. A dense layer turns columns into the scores of a network, a
//! tree ensemble into the scores of trees, an `ArgMax` turns scores into labels. The values of the graph's outputs then show
//! which model the file holds.

use std::rc::Rc;

use super::chain::Chain;
use super::ensembles::Trees;
use super::tensor::Tensor;
use crate::scaling::{Operation, Scaling, Step};
use sogar_base::error::Error;

/// A value of the graph.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// An input that was left out.
    Absent,
    /// A constant.
    Constant(Rc<Tensor>),
    /// Columns of the model, each possibly scaled.
    Columns(Rc<Columns>),
    /// Numbers that a model computes from the columns.
    Scores(Scores),
    /// Classes.
    Labels(Labels),
    /// A value that depends on an unsupported operator, with the error.
    Unknown(Rc<Error>),
}

/// Columns side by side.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Columns {
    pub list: Vec<Column>,
    /// Whether they are now in single precision (otherwise in double).
    pub single: bool,
}

/// One of the model's columns after some steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    /// Which of the model's columns.
    pub index: usize,
    /// These steps.
    pub scaling: Scaling,
}

/// Scores of the classes.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    pub source: Source,
    /// The final operation on them, apart from the source's own.
    pub squash: Squash,
    pub part: ScorePart,
    /// Names of the classes, if a node has them.
    pub classes: Option<Rc<Vec<String>>>,
}

/// Where scores come from.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Network(Rc<Chain>),
    Trees(Rc<Trees>),
}

/// The last step to probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Squash {
    None,
    Sigmoid,
    Softmax,
}

/// Which of the scores a value holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScorePart {
    /// All, as the source gives them.
    All,
    /// `1 − p` of the one probability `p`.
    Complement,
    /// `1 − p` and `p`.
    Pair,
    /// The second of two.
    Second,
}

/// The class of each row.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    pub scores: Scores,
    pub rule: LabelRule,
}

/// How scores become classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LabelRule {
    /// The largest.
    Largest,
    /// Class 1 iff the score is above this.
    Above(f64),
    /// As the operator that made both defines it.
    Own,
}

impl Columns {
    /// The columns after one more step each; `None` if a constant is invalid.
    pub fn then(&self, step: impl Fn(usize) -> Operation) -> Option<Columns> {
        let list = self.list.iter().enumerate().map(|(position, column)| {
            let step = Step::new(step(position), self.single)?;
            Some(Column { index: column.index, scaling: column.scaling.then(step) })
        });
        Some(Columns { list: list.collect::<Option<_>>()?, single: self.single })
    }

    /// The cost of copying the columns.
    pub fn cost(&self) -> usize {
        self.list.iter().map(|column| 1 + column.scaling.steps.len()).sum()
    }
}

impl Scores {
    pub fn network(chain: Chain) -> Scores {
        Scores {
            source: Source::Network(Rc::new(chain)),
            squash: Squash::None,
            part: ScorePart::All,
            classes: None,
        }
    }

    /// Number of scores of the source.
    pub fn width(&self) -> usize {
        match &self.source {
            Source::Network(chain) => chain.width(),
            Source::Trees(trees) => trees.outputs(),
        }
    }

    /// Whether both have the same source.
    pub fn same_source(&self, other: &Scores) -> bool {
        match (&self.source, &other.source) {
            (Source::Network(a), Source::Network(b)) => Rc::ptr_eq(a, b),
            (Source::Trees(a), Source::Trees(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The chain of a network that can be continued, without further operations.
    pub fn open_chain(&self) -> Option<&Rc<Chain>> {
        match &self.source {
            Source::Network(chain) if self.squash == Squash::None && self.part == ScorePart::All => {
                Some(chain)
            }
            _ => None,
        }
    }

    /// Whether this is one probability from a logistic function.
    pub fn is_one_probability(&self) -> bool {
        self.part == ScorePart::All
            && self.width() == 1
            && match &self.source {
                Source::Network(chain) => chain.ends_in_sigmoid(),
                Source::Trees(_) => self.squash == Squash::Sigmoid,
            }
    }
}

impl From<Chain> for Value {
    fn from(chain: Chain) -> Value {
        Value::Scores(Scores::network(chain))
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Value {
        Value::Constant(Rc::new(tensor))
    }
}

impl From<Columns> for Value {
    fn from(columns: Columns) -> Value {
        Value::Columns(Rc::new(columns))
    }
}
