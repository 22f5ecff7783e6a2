//! The affected population (SPEC §1): the rows of the reference table that the model turns down.

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result, suggest};
use crate::feature::Labels;
use crate::model::{ModelInfo, Prediction};
use crate::predict::class_names;

/// The model's classes by name, and which of them are desired.
#[derive(Debug, Clone, PartialEq)]
pub struct Classes {
    /// Names in the order of the model's class indices.
    pub names: Vec<String>,
    /// Per class, whether it is a desired outcome.
    pub desired: Vec<bool>,
}

impl Classes {
    /// Named by [`class_names`]. Desired is what the configuration says, else class 1 of two.
    pub fn new(info: &ModelInfo, labels: Option<&Labels>, config: &Config) -> Result<Classes> {
        let count = info.classes as usize;
        let fault = |message: String| Error::new(ErrorKind::Config, message);
        let names = class_names(info, labels, config)?;
        if config.data.desired.is_empty() {
            if count != 2 {
                return Err(fault(format!(
                    "the model has {count} classes and none of them is called desired"
                ))
                .help(format!(
                    "say which ones people want: --desired {} (known: {})",
                    names[0],
                    names.join(", ")
                )));
            }
            return Ok(Classes { names, desired: vec![false, true] });
        }
        let mut desired = vec![false; count];
        for wanted in &config.data.desired {
            let class = names.iter().position(|name| name == wanted).ok_or_else(|| {
                fault(format!("`{wanted}` is not a class of the model"))
                    .help(suggest(wanted, names.iter().map(String::as_str)))
            })?;
            desired[class] = true;
        }
        if desired.iter().all(|&desired| desired) {
            return Err(fault("every class is called desired, so nobody is turned down".into()));
        }
        Ok(Classes { names, desired })
    }

    /// Whether a prediction is a desired outcome.
    pub fn is_desired(&self, prediction: &Prediction) -> bool {
        self.desired.get(prediction.label as usize).copied().unwrap_or(false)
    }

    /// The names of the desired classes.
    pub fn desired_names(&self) -> Vec<String> {
        self.names
            .iter()
            .zip(&self.desired)
            .filter(|(_, desired)| **desired)
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// The rows that are turned down. Nobody or everybody is an error: there is nothing to learn from then.
pub fn affected_rows(predictions: &[Prediction], classes: &Classes) -> Result<Vec<usize>> {
    let affected: Vec<usize> =
        (0..predictions.len()).filter(|&row| !classes.is_desired(&predictions[row])).collect();
    let wanted = classes.desired_names().join(", ");
    let fault = |message: &str, help: String| Err(Error::new(ErrorKind::Population, message).help(help));
    if affected.is_empty() {
        return fault(
            "the model turns nobody down: every row has a desired outcome",
            format!(
                "the desired outcome is `{wanted}`; check --desired, the threshold, and that model and table fit"
            ),
        );
    }
    if affected.len() == predictions.len() {
        return fault(
            "the model turns everybody down: no row has a desired outcome",
            format!(
                "the desired outcome is `{wanted}`; check --desired, the threshold, and that model and table fit"
            ),
        );
    }
    Ok(affected)
}

/// Compares the model's labels with a column of the table that is said to hold them.
pub fn check_predictions(
    predictions: &[Prediction],
    classes: &Classes,
    column: &str,
    claimed: &Labels,
) -> Result<()> {
    let mut differences = 0;
    let mut first = None;
    for (row, prediction) in predictions.iter().enumerate() {
        let ours = classes.names.get(prediction.label as usize).map_or("?", String::as_str);
        let theirs = claimed.of_row[row].map_or("(missing)", |value| &claimed.values[value as usize]);
        if ours != theirs && theirs != prediction.label.to_string() {
            differences += 1;
            first = first.or_else(|| Some((row, ours.to_owned(), theirs.to_owned())));
        }
    }
    let Some((row, ours, theirs)) = first else { return Ok(()) };
    Err(Error::new(
        ErrorKind::Model,
        format!(
            "{differences} of {} predictions differ from the table's: in data row {} the model says {ours}, the table {theirs}",
            predictions.len(),
            row + 1
        ),
    )
    .column(column)
    .help("the model file, the order of its columns, the threshold or the class names are not those of the predictions"))
}
