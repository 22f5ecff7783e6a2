//! A tree ensemble as a [`Predictor`], which the readers of tree models return.

use rayon::prelude::*;

use super::{Decision, ModelInfo, Prediction, Predictor, Rows, TreeEnsemble};
use sogar_base::error::{Error, ErrorKind, Result};

/// Rows per task of a parallel prediction.
const ROWS_PER_TASK: usize = 512;

/// A tree ensemble with its description.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeModel {
    /// The description of the model and its columns.
    pub info: ModelInfo,
    /// The trees.
    pub ensemble: TreeEnsemble,
}

impl Predictor for TreeModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn predict(&self, rows: Rows<'_>) -> Result<Vec<Prediction>> {
        let columns = self.info.columns.len();
        if rows.columns != columns || !rows.values.len().is_multiple_of(columns.max(1)) {
            let message = format!("the model wants rows of {columns} values, but got {}", rows.columns);
            return Err(Error::new(ErrorKind::Model, message));
        }
        let predictions = rows.values.par_chunks(columns * ROWS_PER_TASK).flat_map_iter(|rows| {
            let mut outputs = vec![0.0; self.ensemble.outputs];
            rows.chunks_exact(columns).map(move |row| {
                self.ensemble.outputs_of(row, &mut outputs);
                self.ensemble.prediction(&outputs)
            })
        });
        Ok(predictions.collect())
    }

    fn gives_probabilities(&self) -> bool {
        match self.ensemble.decision {
            Decision::Raw { .. } | Decision::Largest { softmax_scores: false } => {
                self.ensemble.gives_shares()
            }
            _ => true,
        }
    }

    fn tree_ensemble(&self) -> Option<&TreeEnsemble> {
        Some(&self.ensemble)
    }
}
