//! The affected population (SPEC §1): the rows of the reference table that the model turns down.

use crate::model::{ModelInfo, Prediction};
use crate::predict::class_names;
use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_table::config::Config;
use sogar_table::feature::Labels;
use sogar_table::hints::{assumed_class, good_class, is_text};

/// Whether a label is a desired outcome, given which classes are; unknown labels are not. Only this function decides it.
pub fn is_desired(desired: &[bool], label: u32) -> bool {
    desired.get(label as usize).copied().unwrap_or(false)
}

/// The model's classes by name, and which of them are desired.
#[derive(Debug, Clone, PartialEq)]
pub struct Classes {
    /// Names in the order of the model's class indices.
    pub names: Vec<String>,
    /// Per class, whether it is a desired outcome.
    pub desired: Vec<bool>,
}

impl Classes {
    /// Named by [`class_names`]. Desired are the classes of the configuration, otherwise the one class with a good name
    /// ([`good_class`]), otherwise the one of two numbers that is assumed
    /// ([`assumed_class`]). Texts without a good name are an error.
    pub fn new(info: &ModelInfo, labels: Option<&Labels>, config: &Config) -> Result<Classes> {
        let count = info.classes as usize;
        let fault = |message: String| Error::new(ErrorKind::Config, message);
        let names = class_names(info, labels, config)?;
        if let Some(unknown) = config.model.outcomes.keys().find(|name| !names.contains(name)) {
            return Err(fault(format!(
                "model.outcomes names `{unknown}`, which is not a class of the model"
            ))
            .help(suggest(unknown, names.iter().map(String::as_str))));
        }
        if config.data.desired.is_empty() {
            if let Some(good) = good_class(&names, config.data.label.as_deref()) {
                let desired = (0..count).map(|class| class == good).collect();
                return Ok(Classes { names, desired });
            }
            if count != 2 || is_text(&names) {
                return Err(fault(format!(
                    "the model has {count} classes, and nothing says which of them people hope for"
                ))
                .help(format!(
                    "set `desired` (--desired on the command line) to one or more of them: {}",
                    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
                )));
            }
            let assumed = assumed_class(&names, config.data.label.as_deref());
            return Ok(Classes { names, desired: vec![assumed == 0, assumed == 1] });
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

    /// Whether a class is desired only by default: neither the configuration nor a name decides.
    pub(crate) fn is_assumed(&self, config: &Config) -> bool {
        config.data.desired.is_empty() && good_class(&self.names, config.data.label.as_deref()).is_none()
    }

    /// Whether a prediction is a desired outcome.
    pub fn is_desired(&self, prediction: &Prediction) -> bool {
        is_desired(&self.desired, prediction.label)
    }

    /// The rows that are turned down.
    pub fn turned_down(&self, predictions: &[Prediction]) -> Vec<usize> {
        (0..predictions.len()).filter(|&row| !self.is_desired(&predictions[row])).collect()
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

/// Fails if nobody or everybody is turned down.
pub(crate) fn some_but_not_all(affected: usize, rows: usize, classes: &Classes) -> Result<()> {
    let wanted = classes.desired_names().join(", ");
    let fault = |message: &str, help: String| Err(Error::new(ErrorKind::Population, message).help(help));
    if affected == 0 {
        return fault(
            "the model turns nobody down: every row has a desired outcome",
            format!(
                "the desired outcome is `{wanted}`; check --desired, the threshold, and that model and table fit"
            ),
        );
    }
    if affected == rows {
        return fault(
            "the model turns everybody down: no row has a desired outcome",
            format!(
                "the desired outcome is `{wanted}`; check --desired, the threshold, and that model and table fit"
            ),
        );
    }
    Ok(())
}

/// Compares the model's labels with claimed ones, batch by batch.
#[derive(Debug, Default)]
pub struct Comparison {
    rows: usize,
    differences: usize,
    /// The row, the model's label and the table's.
    first: Option<(usize, String, String)>,
}

impl Comparison {
    /// Compares further rows.
    pub fn add(&mut self, predictions: &[Prediction], classes: &Classes, claimed: &Labels) {
        for (prediction, theirs) in predictions.iter().zip(&claimed.of_row) {
            let ours = classes.names.get(prediction.label as usize).map_or("?", String::as_str);
            let theirs = theirs.map_or("(missing)", |value| &claimed.values[value as usize]);
            if ours != theirs && theirs != prediction.label.to_string() {
                self.differences += 1;
                self.first.get_or_insert_with(|| (self.rows, ours.to_owned(), theirs.to_owned()));
            }
            self.rows += 1;
        }
    }

    /// Fails if anything differed.
    pub fn finish(self, column: &str) -> Result<()> {
        let Some((row, ours, theirs)) = self.first else { return Ok(()) };
        let message = format!(
            "{} of {} predictions differ from the table's: in data row {} the model says {ours}, the table {theirs}",
            self.differences,
            self.rows,
            row + 1
        );
        Err(Error::new(ErrorKind::Model, message).column(column).help(
            "the model file, the order of its columns, the threshold or the class names are not those of the predictions",
        ))
    }
}
