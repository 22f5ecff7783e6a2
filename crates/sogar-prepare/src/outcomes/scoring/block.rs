//! Scores some actions on a few rows: the rest that a faster path does not cover.

use rayon::prelude::*;

use crate::model::Rows;
use crate::outcomes::OutcomeQuery;
use crate::population::is_desired;
use sogar_base::error::Result;

/// Rows per call of the model.
const BATCH: usize = 4096;

/// One word for each action: bit `i` says whether it flips `rows[i]` (at most 64 rows).
pub(in crate::outcomes) fn score(
    query: &OutcomeQuery<'_>,
    rows: &[usize],
    actions: &[u32],
) -> Result<Vec<u64>> {
    let per_batch = (BATCH / rows.len().max(1)).max(1);
    let batches: Vec<Vec<u64>> = actions
        .par_chunks(per_batch)
        .map(|actions| score_batch(query, rows, actions))
        .collect::<Result<_>>()?;
    Ok(batches.concat())
}

fn score_batch(query: &OutcomeQuery<'_>, rows: &[usize], actions: &[u32]) -> Result<Vec<u64>> {
    let columns = query.encoder.columns.len();
    let mut block = Vec::with_capacity(rows.len() * actions.len() * columns);
    let mut edited = Vec::new();
    let originals: Vec<Vec<f64>> = rows.iter().map(|&row| query.table.row(row)).collect();
    for &action in actions {
        for original in &originals {
            edited.clone_from(original);
            query.apply(action, &mut edited);
            query.encoder.encode_row(&edited, &mut block);
        }
    }
    let predictions = query.predictor.predict(Rows { values: &block, columns })?;
    Ok(predictions
        .chunks(rows.len())
        .map(|labels| {
            labels.iter().enumerate().fold(0, |word, (i, prediction)| {
                let desired = is_desired(query.desired, prediction.label);
                word | u64::from(desired) << i
            })
        })
        .collect())
}
