//! The objective: where sums start, and how they become labels.

use super::damaged;
use super::schema::Learner;
use crate::Decision;
use sogar_base::error::{Error, ErrorKind, Result};

/// Objectives whose prediction is the sum of the trees itself.
const IDENTITY_OBJECTIVES: [&str; 10] = [
    "reg:squarederror",
    "reg:linear",
    "reg:squaredlogerror",
    "reg:pseudohubererror",
    "reg:absoluteerror",
    "reg:quantileerror",
    "reg:expectileerror",
    "rank:pairwise",
    "rank:ndcg",
    "rank:map",
];

/// XGBoost keeps `base_score` this far from 0 and 1 if it is a probability.
const CLOSEST_TO_CERTAIN: f32 = 1e-6;

pub(super) struct Objective {
    pub decision: Decision,
    /// Whether `base_score` is a probability instead of a start value.
    logistic: bool,
}

impl Objective {
    /// The objective of a model with this many outputs; `threshold` is the user's, in place of the library's.
    pub fn of(learner: &Learner, outputs: usize, threshold: Option<f64>) -> Result<Objective> {
        if threshold.is_some_and(|t| !t.is_finite()) {
            return Err(Error::new(ErrorKind::Usage, "the decision threshold is not a finite number"));
        }
        let name = learner.objective.name.as_str();
        let above = |default: f64| Decision::Raw { threshold: threshold.unwrap_or(default) };
        let decision = match name {
            "multi:softmax" | "multi:softprob" => return multiclass(name, outputs, threshold),
            _ if outputs != 1 => return Err(damaged(format!("`{name}` does not have {outputs} outputs"))),
            "binary:logistic" | "reg:logistic" => probability(threshold)?,
            "binary:hinge" => above(0.0),
            // `XGBClassifier.predict` compares the model's output with 0.5 in any case.
            "binary:logitraw" => above(if learner.saved_by_scikit_learn() { 0.5 } else { 0.0 }),
            _ => number(name, threshold)?,
        };
        Ok(Objective { decision, logistic: matches!(name, "binary:logistic" | "reg:logistic") })
    }

    /// The start value of each output, computed from `base_score` as in the library.
    pub fn start_values(&self, base_score: &str, outputs: usize) -> Result<Vec<f64>> {
        let bad = || damaged(format!("`base_score` is `{base_score}`, not {outputs} finite numbers"));
        // One number up to release 3.0, a list since 3.1.
        let list = base_score.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(base_score);
        let mut values = Vec::new();
        for text in list.split(',') {
            let value: f32 = text.trim().parse().map_err(|_| bad())?;
            if !value.is_finite() {
                return Err(bad());
            }
            values.push(f64::from(if self.logistic { logit(value) } else { value }));
        }
        match values.len() {
            1 => Ok(vec![values[0]; outputs]),
            n if n == outputs => Ok(values),
            _ => Err(bad()),
        }
    }
}

/// The margin of a probability, in single precision and the library's order of operations.
fn logit(probability: f32) -> f32 {
    let probability = probability.clamp(CLOSEST_TO_CERTAIN, 1.0 - CLOSEST_TO_CERTAIN);
    -(1.0 / probability - 1.0).ln()
}

fn multiclass(name: &str, outputs: usize, threshold: Option<f64>) -> Result<Objective> {
    if threshold.is_some() {
        let message = "the model has one output per class and takes the largest; it has no threshold";
        return Err(Error::new(ErrorKind::Usage, message).help("leave the decision threshold out"));
    }
    if outputs < 2 {
        return Err(damaged(format!("`{name}` has no classes")));
    }
    let decision = match name {
        "multi:softprob" => Decision::Softmax,
        _ => Decision::Largest { softmax_scores: true },
    };
    Ok(Objective { decision, logistic: false })
}

fn probability(threshold: Option<f64>) -> Result<Decision> {
    let threshold = threshold.unwrap_or(0.5);
    if !(0.0..=1.0).contains(&threshold) {
        let message = format!("the decision threshold {threshold} is not a probability");
        let help = "the model gives probabilities: choose a threshold between 0 and 1";
        return Err(Error::new(ErrorKind::Usage, message).help(help));
    }
    Ok(Decision::Sigmoid { slope: 1.0, threshold })
}

/// The decision of a model that predicts a number rather than a class.
fn number(name: &str, threshold: Option<f64>) -> Result<Decision> {
    if !IDENTITY_OBJECTIVES.contains(&name) {
        let message = format!("the model was trained with `{name}`, which gives no labels");
        let help = "train a classifier: objective `binary:logistic`, `multi:softprob`, …";
        return Err(Error::new(ErrorKind::Model, message).help(help));
    }
    let Some(threshold) = threshold else {
        let message = format!("the model was trained with `{name}`: it gives a number, not a class");
        let help = "say above which number a row has class 1: `threshold` under [model] in the configuration, \
                    or `--threshold`";
        return Err(Error::new(ErrorKind::Model, message).help(help));
    };
    Ok(Decision::Raw { threshold })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(logistic: bool) -> Objective {
        Objective { decision: Decision::Raw { threshold: 0.0 }, logistic }
    }

    #[test]
    fn start_values_are_margins() {
        assert_eq!(objective(true).start_values("5E-1", 1).unwrap(), [0.0]);
        // The margin of XGBoost 3.2 for base_score = 0.3 and a model without trees.
        assert_eq!(objective(true).start_values("[3E-1]", 1).unwrap(), [f64::from(-0.847_297_85f32)]);
        assert_eq!(objective(true).start_values("[0E0]", 1).unwrap(), [f64::from(-13.815_51f32)]);
        assert_eq!(objective(true).start_values("[1E0]", 1).unwrap(), [f64::from(13.745_16f32)]);
        assert_eq!(objective(false).start_values("0.500000", 3).unwrap(), [0.5; 3]);
        assert_eq!(objective(false).start_values("[1E0,-2E0]", 2).unwrap(), [1.0, -2.0]);
    }

    #[test]
    fn start_values_must_be_numbers_one_an_output() {
        for bad in ["", "[]", "x", "[1", "nan", "inf", "[1,2]", "[1,2,3,4]"] {
            assert!(objective(false).start_values(bad, 3).is_err(), "{bad}");
        }
    }
}
