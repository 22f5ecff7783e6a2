//! How far the figures of held-out people may be from those of the population they were drawn from.
//!
//! A share is a binomial count, so its interval is that of Clopper and Pearson, which covers the true share at least as often as
//! it says for every number of people. A mean cost has Student's interval. The *band* holds for all points of the front at once:
//! each point gets its share of the error (Bonferroni), so a point may be chosen after looking at the figures.
//!
//! Fitted figures have no intervals: a search has looked for them. Intervals are computed when needed and never stored, as the last
//! digits of a distribution function may differ between systems. Weights are numbers of people, as in an audit.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::statistics::{CONFIDENCE, Interval, clopper_pearson, student_quantile};

use crate::summary::Evaluation;

/// The intervals of a point on held-out people.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PointIntervals {
    /// The share of people for whom it works.
    pub works: Interval,
    /// The same for all points at once.
    pub band: Interval,
    /// The mean cost; absent in results of earlier programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Interval>,
    /// The share for whom each leaf works, from left to right.
    pub leaves: Vec<Interval>,
}

impl Evaluation {
    /// The evaluation as JSON, with the intervals of all points.
    pub fn with_intervals(&self) -> Result<Value> {
        let fault = |cause: serde_json::Error| Error::new(ErrorKind::Output, cause.to_string());
        let mut value = serde_json::to_value(self).map_err(fault)?;
        let intervals: Vec<PointIntervals> =
            (0..self.points.len()).map(|point| self.interval(point)).collect();
        value["confidence"] = json!(CONFIDENCE);
        value["intervals"] = serde_json::to_value(intervals).map_err(fault)?;
        Ok(value)
    }

    /// The intervals of one point, at 95 %.
    pub fn interval(&self, point: usize) -> PointIntervals {
        let people = self.people();
        let all = people.count(people.affected);
        let found = &self.points[point];
        let works = all - people.count(found.loss_count);
        let detail = self.details.get(point);
        PointIntervals {
            works: clopper_pearson(works, all, CONFIDENCE),
            band: clopper_pearson(works, all, simultaneous(self.points.len())),
            cost: detail.map(|detail| {
                let half = match all > 1.0 {
                    true => student_quantile(CONFIDENCE, all - 1.0) * detail.cost_sd / all.sqrt(),
                    false => f64::INFINITY,
                };
                Interval { low: (found.cost - half).max(0.0), high: found.cost + half }
            }),
            leaves: detail.map_or(Vec::new(), |detail| {
                let leaves = detail.leaves.iter();
                leaves
                    .map(|leaf| {
                        clopper_pearson(people.count(leaf.flipped), people.count(leaf.rows), CONFIDENCE)
                    })
                    .collect()
            }),
        }
    }
}

/// The confidence of each of some statements such that all hold at once with 95 %.
pub(crate) fn simultaneous(statements: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / statements.max(1) as f64
}

/// A share with its interval: `94 % (90–97 %)`.
pub fn share_text(share: f64, interval: Interval) -> String {
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    format!("{} % ({}–{} %)", percent(share), percent(interval.low), percent(interval.high))
}

/// A mean with its interval: `0.436 ± 0.025`.
pub fn mean_text(mean: f64, interval: Option<Interval>) -> String {
    let around = interval.map_or(String::new(), |Interval { high, .. }| format!(" ± {:.3}", high - mean));
    format!("{mean:.3}{around}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_means_are_written_with_their_intervals() {
        assert_eq!(mean_text(0.4361, Some(Interval { low: 0.411, high: 0.4615 })), "0.436 ± 0.025");
        assert_eq!(mean_text(0.4361, None), "0.436");
        let interval = clopper_pearson(94.0, 100.0, CONFIDENCE);
        assert_eq!(share_text(0.94, interval), "94 % (87–98 %)");
        assert_eq!(share_text(1.0, clopper_pearson(10.0, 10.0, CONFIDENCE)), "100 % (69–100 %)");
    }

    #[test]
    fn all_statements_together_are_as_sure_as_one() {
        assert_eq!(simultaneous(1), CONFIDENCE);
        assert!((1.0 - simultaneous(50) - 0.001).abs() < 1e-12);
    }
}
