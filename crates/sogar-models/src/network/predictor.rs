//! A dense network as a [`Predictor`], which readers of network files return.

use rayon::prelude::*;

use super::evaluate::LANES;
use super::{DenseNetwork, Evaluation, NetworkDecision};
use crate::{ModelInfo, Prediction, Predictor, Rows};
use sogar_base::error::{Error, ErrorKind, Result};

/// Rows per task of a parallel prediction.
const ROWS_PER_TASK: usize = 16 * LANES;

/// A dense network with its description.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkModel {
    info: ModelInfo,
    network: DenseNetwork,
}

impl NetworkModel {
    /// Refuses a network that cannot be evaluated (see [`DenseNetwork::check`]) or that has other columns than its description.
    pub fn new(info: ModelInfo, network: DenseNetwork) -> Result<NetworkModel> {
        network.check()?;
        if info.columns.len() != network.inputs {
            let (named, inputs) = (info.columns.len(), network.inputs);
            let message = format!("the model names {named} columns, but its network has {inputs} inputs");
            return Err(Error::new(ErrorKind::Model, message));
        }
        Ok(NetworkModel { info, network })
    }

    /// The network.
    pub fn network(&self) -> &DenseNetwork {
        &self.network
    }
}

impl Predictor for NetworkModel {
    fn gives_probabilities(&self) -> bool {
        !matches!(self.network.decision, NetworkDecision::Raw { .. })
    }

    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn predict(&self, rows: Rows<'_>) -> Result<Vec<Prediction>> {
        self.network.predict(rows)
    }

    fn dense_network(&self) -> Option<&DenseNetwork> {
        Some(&self.network)
    }
}

impl DenseNetwork {
    /// A description of the network, read from a file of this format, with these names for its inputs.
    pub fn info(&self, format: &str, columns: Vec<String>) -> ModelInfo {
        ModelInfo {
            format: format.to_owned(),
            description: self.description(),
            categories: vec![Vec::new(); columns.len()],
            columns,
            unplaced_categories: Vec::new(),
            classes: self.classes(),
            class_names: Vec::new(),
            threshold: self.decision.threshold(),
        }
    }

    /// One prediction per row, in order. The network must be sound ([`DenseNetwork::check`]).
    pub fn predict(&self, rows: Rows<'_>) -> Result<Vec<Prediction>> {
        self.each_row(rows, |evaluation, row| self.prediction(evaluation.outputs(row)))
    }

    /// Evaluates rows in parallel, and returns the result of `answer` for each row.
    pub(super) fn each_row<T: Send>(
        &self,
        rows: Rows<'_>,
        answer: impl Fn(&mut Evaluation<'_>, usize) -> T + Sync,
    ) -> Result<Vec<T>> {
        let columns = self.inputs;
        if rows.columns != columns || !rows.values.len().is_multiple_of(columns.max(1)) {
            let message = format!("the model wants rows of {columns} values, but got {}", rows.columns);
            return Err(Error::new(ErrorKind::Model, message));
        }
        let answers = rows.values.par_chunks((columns * ROWS_PER_TASK).max(1)).flat_map_iter(|rows| {
            let mut evaluation = Evaluation::new(self);
            let mut answers = Vec::with_capacity(rows.len() / columns.max(1));
            let mut inputs = Vec::with_capacity(columns * LANES);
            for block in rows.chunks((columns * LANES).max(1)) {
                inputs.clear();
                for row in block.chunks_exact(columns.max(1)) {
                    inputs.extend(row.iter().enumerate().map(|(column, &value)| self.input(column, value)));
                }
                let count = evaluation.run(&inputs);
                answers.extend((0..count).map(|row| answer(&mut evaluation, row)));
            }
            answers
        });
        Ok(answers.collect())
    }
}
