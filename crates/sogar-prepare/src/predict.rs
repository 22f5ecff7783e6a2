//! Matches a table with a model: the table's features, how they fill the model's columns, and the model's predictions.
//!
//! Every run begins with this, to search for recourse or only to print labels and scores.

use crate::class_order::{NameCheck, are_numbers_of_classes};
use crate::encode::Encoder;
use crate::model::{LoadedModel, ModelInfo, Prediction, Predictor, Rows};
use sha2::{Digest, Sha256};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::hexadecimal;
use sogar_table::config::Config;
use sogar_table::feature::{FeatureTable, Labels, declare_shown, label_values};
use sogar_table::hints::Unfit;
use sogar_table::table::Table;

/// A table whose features fill the columns of a model.
pub struct Matched {
    /// The configuration, with what the model's columns add to it.
    pub config: Config,
    /// The table as features.
    pub features: FeatureTable,
    /// From features to model columns.
    pub encoder: Encoder,
    /// The true labels, if the configuration names their column.
    pub labels: Option<Labels>,
    /// Notices for the user.
    pub notices: Vec<String>,
    /// Features that do not look like features.
    pub unfit: Vec<(usize, Unfit)>,
}

impl Matched {
    /// Infers the table's features and matches them with the model's columns.
    pub fn new(config: &Config, table: &Table, model: &LoadedModel) -> Result<Matched> {
        let mut config = config.clone();
        let mut notices = table.check_renamed(&config, &model.predictor.info().columns)?;
        let info = model.predictor.info();
        declare_shown(table, &mut config, &info.columns, &mut notices)?;
        notices.extend(config.check(Some(table))?);
        let (features, seen) = FeatureTable::inferred(table, &config)?;
        notices.extend(seen.notices);
        let columns: Vec<&str> = table.names().collect();
        let (encoder, more) = Encoder::match_table_columns(info, &features.features, &config.model, &columns)
            .map_err(|error| error.file(&model.path))?;
        notices.extend(more);
        encoder
            .check_absent(info, model.predictor.tree_ensemble())
            .map_err(|error| error.file(&model.path))?;
        let labels = label_values(table, &config)?;
        Ok(Matched { config, features, encoder, labels, notices, unfit: seen.unfit })
    }

    /// The model's prediction for every row.
    pub fn predict(&self, model: &LoadedModel) -> Result<Vec<Prediction>> {
        predict_table(&*model.predictor, &self.encoder, &self.features)
    }

    /// An error if classes get their names from the label, in an order that predictions for all rows contradict.
    pub fn check_names(&self, model: &LoadedModel, predictions: &[Prediction]) -> Result<()> {
        let Some(labels) = self.labels.as_ref().filter(|labels| !are_numbers_of_classes(&labels.values))
        else {
            return Ok(());
        };
        let Some(mut names) = NameCheck::new(model.predictor.info(), Some(labels), &self.config) else {
            return Ok(());
        };
        names.add(predictions, labels);
        names.finish(&self.config).map(drop)
    }
}

/// The names of the model's classes: from the configuration, otherwise from the model's file, otherwise the label column's values
/// in order, otherwise `0`, `1`, ….
pub fn class_names(info: &ModelInfo, labels: Option<&Labels>, config: &Config) -> Result<Vec<String>> {
    let count = info.classes as usize;
    if !config.model.classes.is_empty() {
        if config.model.classes.len() != count {
            let named = config.model.classes.len();
            let message = format!("model.classes names {named} classes, but the model has {count}");
            return Err(Error::new(ErrorKind::Config, message));
        }
        return Ok(config.model.classes.clone());
    }
    if info.class_names.len() == count {
        return Ok(info.class_names.clone());
    }
    Ok(match labels {
        Some(labels) if labels.values.len() == count => labels.values.clone(),
        _ => (0..count).map(|class| class.to_string()).collect(),
    })
}

/// Rows to encode at a time.
const ROWS_AT_ONCE: usize = 1 << 16;

/// How many rows to score at a time: an encoded table can be ten times as large. A model that prefers more per call gets them.
pub fn rows_at_once(predictor: &dyn Predictor) -> usize {
    predictor.batching().rows.max(ROWS_AT_ONCE)
}

/// The model's prediction for every row of a table.
pub fn predict_table(
    predictor: &dyn Predictor,
    encoder: &Encoder,
    table: &FeatureTable,
) -> Result<Vec<Prediction>> {
    let at_once = rows_at_once(predictor);
    let mut predictions = Vec::with_capacity(table.rows);
    for start in (0..table.rows).step_by(at_once) {
        let rows: Vec<usize> = (start..table.rows.min(start.saturating_add(at_once))).collect();
        let values = encoder.encode_rows(table, &rows);
        let found = predictor.predict(Rows { values: &values, columns: encoder.columns.len() })?;
        if found.len() != rows.len() {
            let (got, want) = (found.len(), rows.len());
            let message = format!("the model gave {got} predictions for {want} rows");
            return Err(Error::new(ErrorKind::Model, message));
        }
        predictions.extend(found);
    }
    Ok(predictions)
}

/// A hash of labels and of scores to six digits, because the last ones may differ between machines.
#[derive(Default)]
pub(crate) struct HashOfPredictions(Sha256);

impl HashOfPredictions {
    /// Adds the predictions for further rows.
    pub fn add(&mut self, predictions: &[Prediction]) {
        let mut text = String::new();
        for prediction in predictions {
            text += &format!("{} {:.5e}\n", prediction.label, prediction.score);
        }
        self.0.update(text.as_bytes());
    }

    /// The hash, in hexadecimal.
    pub fn finish(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}
