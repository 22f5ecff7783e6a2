//! Conditions on an evaluation, such as `loss > band`, for a check that runs every month.
//!
//! The band is what chance allows if nothing has changed since the front was made: it is compared with the front's own held-out
//! people if it has some, by Fisher's exact test, otherwise with its fitted loss, by an exact binomial test. The level is 5 % per
//! call for all points of the front together, so the point may be chosen after looking at the figures.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;
use sogar_base::binomial::{at_least, risen};
use sogar_base::error::{Error, ErrorKind, Result, suggest};

use crate::intervals::simultaneous;
use crate::summary::{Evaluation, FrontFile};

const QUANTITIES: [&str; 4] = ["loss", "cost", "invalidity", "mean_distance"];
const EXAMPLES: &str = "for example \"loss > band\", \"loss > 0.1\" or \"cost >= 0.3\"";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Loss,
    Cost,
    Invalidity,
    MeanDistance,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    Number(f64),
    Band,
}

/// A condition on the chosen point of an evaluation. If it holds, the check fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    quantity: Quantity,
    or_equal: bool,
    limit: Limit,
}

/// The result of a condition.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// The condition as it was written.
    pub condition: String,
    /// The value of its left side.
    pub value: f64,
    /// The value of its right side.
    pub limit: f64,
    /// What the band compares with: `holdout` or `fitted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<&'static str>,
    /// Whether it holds, which is a failure.
    pub holds: bool,
}

impl FromStr for Condition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Condition> {
        let fault = |why: &str| {
            Error::new(ErrorKind::Usage, format!("`{text}` is not a condition on an evaluation: {why}"))
        };
        let written = text.trim();
        let Some(sign) = written.find(['>', '≥', '<', '≤', '=']) else {
            return Err(fault("it compares with nothing").help(EXAMPLES));
        };
        let (name, rest) = (written[..sign].trim(), &written[sign..]);
        let (or_equal, limit) =
            match (rest.strip_prefix(">=").or(rest.strip_prefix('≥')), rest.strip_prefix('>')) {
                (Some(limit), _) => (true, limit.trim()),
                (None, Some(limit)) => (false, limit.trim()),
                (None, None) => return Err(fault("only > and >= can be a reason to fail").help(EXAMPLES)),
            };
        let quantity = match name {
            "loss" => Quantity::Loss,
            "cost" => Quantity::Cost,
            "invalidity" => Quantity::Invalidity,
            "mean_distance" => Quantity::MeanDistance,
            _ => return Err(fault(&format!("there is no quantity `{name}`")).help(suggest(name, QUANTITIES))),
        };
        let limit = match limit {
            // A loss on the edge of the band is one that chance allows.
            "band" if quantity == Quantity::Loss && or_equal => {
                return Err(fault("a loss must be above its band").help("write \"loss > band\""));
            }
            "band" if quantity == Quantity::Loss => Limit::Band,
            "band" => return Err(fault("only a loss has a band").help(EXAMPLES)),
            number => match number.parse::<f64>().ok().filter(|number| number.is_finite()) {
                Some(number) => Limit::Number(number),
                None => return Err(fault(&format!("`{number}` is not a number")).help(EXAMPLES)),
            },
        };
        Ok(Condition { text: written.to_owned(), quantity, or_equal, limit })
    }
}

impl Condition {
    /// Whether it holds at a point.
    pub fn judge(&self, front: &FrontFile, evaluation: &Evaluation, point: usize) -> Result<Verdict> {
        let found = &evaluation.points[point];
        let value = match self.quantity {
            Quantity::Loss => found.loss,
            Quantity::Cost => found.cost,
            Quantity::Invalidity => found.invalidity,
            Quantity::MeanDistance => evaluation.mean_distance,
        };
        let (limit, against) = match self.limit {
            Limit::Number(limit) => (limit, None),
            Limit::Band => {
                if front.weight.is_some() {
                    return Err(Error::new(ErrorKind::Usage, "with weights, a loss has no band")
                        .help("the test counts independent people; compare with a number instead"));
                }
                let (limit, against) = band(front, evaluation, point);
                (limit, Some(against))
            }
        };
        let holds = if self.or_equal { value >= limit } else { value > limit };
        Ok(Verdict { condition: self.text.clone(), value, limit, against, holds })
    }
}

/// The largest loss that chance allows at a point, and what it is compared with.
fn band(front: &FrontFile, evaluation: &Evaluation, point: usize) -> (f64, &'static str) {
    let level = 1.0 - simultaneous(front.points.len());
    let people = evaluation.affected as u64;
    let earlier = front.holdout.as_ref().filter(|earlier| earlier.hash != evaluation.hash);
    let p_value = |lost: u64| match earlier {
        Some(earlier) => risen(lost, people, earlier.points[point].loss_count, earlier.affected as u64),
        None => at_least(lost, people, front.points[point].loss),
    };
    // The p-value falls with the number of people lost.
    let (mut low, mut high) = (0, people + 1);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if p_value(middle) > level { low = middle } else { high = middle }
    }
    (low as f64 / people as f64, if earlier.is_some() { "holdout" } else { "fitted" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let condition: Condition = " loss > band ".parse().unwrap();
        assert_eq!(
            (condition.quantity, condition.or_equal, condition.limit),
            (Quantity::Loss, false, Limit::Band)
        );
        let condition: Condition = "cost>=0.3".parse().unwrap();
        assert_eq!(
            (condition.quantity, condition.or_equal, condition.limit),
            (Quantity::Cost, true, Limit::Number(0.3))
        );
    }

    #[test]
    fn what_is_no_condition_is_answered_with_a_remedy() {
        for (text, why) in [
            ("loss", "compares with nothing"),
            ("loss < 0.1", "only > and >="),
            ("gap > 0.1", "no quantity `gap`"),
            ("cost > band", "only a loss has a band"),
            ("loss >= band", "must be above its band"),
            ("loss > nan", "`nan` is not a number"),
        ] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
            assert!(error.remedy().is_some_and(|help| !help.is_empty()), "{text}");
        }
    }
}
