//! Whether names that follow the order of the label's values fit a model that numbers its classes without naming them.
//!
//! That order is a convention (scikit-learn sorts class names), not knowledge: of a model that was trained on
//! `decision == "approved"`, `approved` is class 1, though it is the first name. The predictions for labelled rows show it.

use crate::model::{ModelInfo, Prediction};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::config::Config;
use sogar_table::feature::Labels;
use sogar_table::hints::is_text;

/// Least difference of agreement between two orders.
const CLEARLY: f64 = 0.2;
/// The same in standard deviations of what chance gives: few rows show nothing.
const NO_CHANCE: f64 = 4.0;

/// How many rows have each value of the label (outer) and each predicted class (inner).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion(Vec<Vec<u64>>);

impl Confusion {
    /// No rows yet, of a label with as many values as the model has classes.
    pub fn new(classes: usize) -> Confusion {
        Confusion(vec![vec![0; classes]; classes])
    }

    /// Counts a row.
    pub fn add(&mut self, value: usize, class: usize) {
        if let Some(cell) = self.0.get_mut(value).and_then(|row| row.get_mut(class)) {
            *cell += 1;
        }
    }

    fn rows(&self) -> u64 {
        self.0.iter().flatten().sum()
    }

    /// The share of rows whose label is the value of the predicted class, if class `c` is the value `order[c]`.
    pub fn agreement(&self, order: &[usize]) -> f64 {
        let same: u64 = order.iter().enumerate().map(|(class, &value)| self.0[value][class]).sum();
        same as f64 / self.rows().max(1) as f64
    }

    /// The same beyond chance (Cohen's κ, negative if there is less than by chance).
    pub fn kappa(&self, order: &[usize]) -> f64 {
        let all = self.rows().max(1) as f64;
        let share = |(class, &value): (usize, &usize)| {
            let valued: u64 = self.0[value].iter().sum();
            let predicted: u64 = self.0.iter().map(|row| row[class]).sum();
            (valued as f64 / all) * (predicted as f64 / all)
        };
        let chance: f64 = order.iter().enumerate().map(share).sum();
        if chance < 1.0 { (self.agreement(order) - chance) / (1.0 - chance) } else { 0.0 }
    }

    /// The values in the order of the classes, if the predictions show another order than that of the values: most rows of every
    /// predicted class have a value of their own, and far more rows agree.
    pub fn other_order(&self) -> Option<Vec<usize>> {
        let classes = self.0.len();
        let most = |class: usize| {
            let most = (0..classes).max_by_key(|&value| self.0[value][class])?;
            (self.0[most][class] > 0).then_some(most)
        };
        let order: Vec<usize> = (0..classes).map(most).collect::<Option<_>>()?;
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let given: Vec<usize> = (0..classes).collect();
        let is_another = sorted == given && order != given;
        let clearly = CLEARLY.max(NO_CHANCE / (self.rows().max(1) as f64).sqrt());
        let is_clear = || self.agreement(&order) - self.agreement(&given) >= clearly;
        (is_another && is_clear()).then_some(order)
    }
}

/// Compares the names that classes get from the label's values with the model's predictions, part by part.
pub struct NameCheck<'a> {
    label: &'a str,
    values: &'a [String],
    confusion: Confusion,
}

impl<'a> NameCheck<'a> {
    /// `None` if the names come from the configuration or from the model's file, or if there is no label.
    pub fn new(info: &ModelInfo, labels: Option<&'a Labels>, config: &'a Config) -> Option<NameCheck<'a>> {
        let classes = info.classes as usize;
        let label = config.data.label.as_deref()?;
        let values = &labels?.values;
        let are_named = !config.model.classes.is_empty() || info.class_names.len() == classes;
        (!are_named && values.len() == classes).then(|| NameCheck {
            label,
            values,
            confusion: Confusion::new(classes),
        })
    }

    /// Adds the rows of a part with their labels.
    pub fn add(&mut self, predictions: &[Prediction], labels: &Labels) {
        let places: Vec<Option<usize>> =
            labels.values.iter().map(|value| self.values.iter().position(|known| known == value)).collect();
        for (prediction, value) in predictions.iter().zip(&labels.of_row) {
            if let Some(place) = value.and_then(|value| places[value as usize]) {
                self.confusion.add(place, prediction.label as usize);
            }
        }
    }

    /// An error if the predictions show another order of names. Numbers of classes have their own order, so the label is then the
    /// opposite of what the model predicts: an error if nothing else says which class is desired, else the share of rows that agree.
    pub fn finish(self, config: &Config) -> Result<Option<f64>> {
        let Some(order) = self.confusion.other_order() else { return Ok(None) };
        let given: Vec<usize> = (0..order.len()).collect();
        let agreement = self.confusion.agreement(&given);
        if are_numbers_of_classes(self.values) {
            if !config.data.desired.is_empty() {
                return Ok(Some(agreement));
            }
            let message = format!(
                "the label `{}` says the opposite of the model (they agree for {:.1} % of the people), and nothing says which class of the model \
                 people hope for",
                self.label,
                100.0 * agreement
            );
            return Err(Error::new(ErrorKind::Config, message).help(format!(
                "set `desired` (--desired on the command line) to the model's class, not to the label's value: {}",
                self.values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
            )));
        }
        let list = |order: &[usize]| {
            let names: Vec<String> = order.iter().map(|&value| format!("{:?}", self.values[value])).collect();
            format!("[{}]", names.join(", "))
        };
        let message = format!(
            "the model numbers its classes without naming them, and the values of the label `{}` in order, {}, agree with its predictions in \
             only {:.1} % of the rows; {} agrees in {:.1} %",
            self.label,
            list(&given),
            100.0 * agreement,
            list(&order),
            100.0 * self.confusion.agreement(&order)
        );
        Err(Error::new(ErrorKind::Config, message).help(format!(
            "say which class is which, in the order of the model's numbers: classes = {} under [model] (Python: classes=[…])",
            list(&order)
        )))
    }
}

/// Whether values are the numbers of classes (or `false` and `true`): then nothing is to be ordered.
pub fn are_numbers_of_classes(values: &[String]) -> bool {
    let is_number = |(class, value): (usize, &String)| value.trim().parse() == Ok(class as f64);
    !is_text(values)
        && (values.iter().enumerate().all(is_number)
            || values.iter().all(|value| value.parse::<f64>().is_err()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confusion(counts: &[&[u64]]) -> Confusion {
        Confusion(counts.iter().map(|row| row.to_vec()).collect())
    }

    #[test]
    fn an_order_is_shown_by_what_most_rows_of_every_class_are() {
        assert_eq!(confusion(&[&[5, 45], &[48, 2]]).other_order(), Some(vec![1, 0]));
        assert_eq!(confusion(&[&[45, 5], &[2, 48]]).other_order(), None, "the order given");
        assert_eq!(confusion(&[&[1, 4], &[4, 1]]).other_order(), None, "ten rows");
        assert_eq!(
            confusion(&[&[900, 10], &[90, 0]]).other_order(),
            None,
            "a rare class that is never right"
        );
        assert_eq!(confusion(&[&[24, 26], &[26, 24]]).other_order(), None, "chance");
        assert_eq!(confusion(&[&[10, 20], &[20, 10]]).other_order(), None, "60 rows may be so by chance");
        assert_eq!(confusion(&[&[6, 900], &[90, 4]]).other_order(), Some(vec![1, 0]), "a rare class");
        let three = confusion(&[&[2, 3, 50], &[40, 5, 1], &[4, 60, 3]]);
        assert_eq!(three.other_order(), Some(vec![1, 2, 0]));
        assert!(three.agreement(&[1, 2, 0]) > 0.8 && three.kappa(&[0, 1, 2]) < 0.0);
        assert_eq!(confusion(&[&[50, 50], &[0, 0]]).other_order(), None);
    }

    #[test]
    fn chance_does_not_count_as_agreement() {
        assert_eq!(confusion(&[&[50, 0], &[0, 50]]).kappa(&[0, 1]), 1.0);
        assert_eq!(confusion(&[&[25, 25], &[25, 25]]).kappa(&[0, 1]), 0.0);
        assert_eq!(Confusion::new(2).kappa(&[0, 1]), 0.0);
    }

    #[test]
    fn numbers_of_classes_have_an_order_of_their_own() {
        let numbers = |values: &[&str]| {
            are_numbers_of_classes(&values.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert!(
            numbers(&["0", "1"])
                && numbers(&["0.0", "1.0"])
                && numbers(&["False", "True"])
                && numbers(&["0", "1", "2"])
        );
        assert!(!numbers(&["1", "2"]) && !numbers(&["no", "yes"]) && !numbers(&["-1", "1"]));
    }
}
