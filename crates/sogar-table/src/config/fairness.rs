//! Fairness inside the search: one grouping of the affected people, and what is wanted of it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sogar_base::error::{Error, ErrorKind, Result};

/// What the search does about groups of people. Without `max_gap` and `minimax`: nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FairnessConfig {
    /// The front under a limit on the gap between groups: `"loss, sex <= 0.05"`. Of the summaries that no other summary beats in cost and in the loss
    /// of every group, those whose gap is at most the limit; of these, the trade-off of cost and loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_gap: Option<String>,
    /// The trade-off of cost and the loss of the group that is worst off, by this grouping: `"sex"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimax: Option<String>,
    /// The accuracy of such a front, for problems that are too large: nothing is better by more than this in mean cost or in the loss of a group
    /// (default: 0, complete).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// Affected people that every group must have (default: 10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_group: Option<u32>,
}

/// A number from 0 to 1 with its decimals, so that comparisons with shares of people are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The share times `10^decimals`.
    pub digits: u64,
    /// At most 9.
    pub decimals: u32,
}

impl Share {
    fn parse(text: &str) -> Option<Share> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let part = part.trim_end_matches('0');
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) || part.len() > 9 {
            return None;
        }
        let number: u64 = format!("{whole}{part}").parse().ok()?;
        let share = Share { digits: number, decimals: part.len() as u32 };
        (number <= share.one()).then_some(share)
    }

    /// The digits of 1.
    pub fn one(self) -> u64 {
        10u64.pow(self.decimals)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.digits as f64 / self.one() as f64)
    }
}

/// What is wanted of a grouping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FairnessGoal {
    /// The grouping, as a user writes it.
    pub groups: String,
    /// The limit on the gap; `None`: the loss of the group that is worst off.
    pub max_gap: Option<Share>,
}

const EXAMPLE: &str = "for example \"loss, sex <= 0.05\"";

impl FairnessConfig {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == FairnessConfig::default()
    }

    /// What is wanted, if anything.
    pub fn goal(&self) -> Result<Option<FairnessGoal>> {
        let fault = |message: String| Error::new(ErrorKind::Config, message);
        if let Some(epsilon) = self.epsilon
            && !(0.0..=0.5).contains(&epsilon)
        {
            return Err(fault(format!("fairness.epsilon = {epsilon}, but it must be from 0 to 0.5")));
        }
        match (&self.max_gap, &self.minimax) {
            (Some(_), Some(_)) => Err(fault("fairness.max_gap and fairness.minimax are both set".into())
                .help("a search has one goal: leave one of them out")),
            (None, None) if self.is_empty() => Ok(None),
            (None, None) => Err(fault("fairness.epsilon and fairness.min_group need a goal".into())
                .help("set fairness.max_gap or fairness.minimax too")),
            (None, Some(groups)) if groups.trim().is_empty() => {
                Err(fault("fairness.minimax names no groups".into()).help("for example \"sex\""))
            }
            (None, Some(groups)) => {
                Ok(Some(FairnessGoal { groups: groups.trim().to_owned(), max_gap: None }))
            }
            (Some(text), None) => {
                let wrong = |why: &str| {
                    fault(format!("fairness.max_gap: `{text}` is not a limit: {why}")).help(EXAMPLE)
                };
                let Some((measure, rest)) = text.split_once(',') else {
                    return Err(wrong("it does not say of which measure, and which groups"));
                };
                if measure.trim() != "loss" {
                    return Err(wrong(&format!(
                        "the search limits the gap in loss, not in `{}`",
                        measure.trim()
                    )));
                }
                let rest = rest.replace('≤', "<=");
                let Some((groups, limit)) = rest.rsplit_once("<=") else {
                    return Err(wrong("it has no `<=`"));
                };
                if groups.trim().is_empty() {
                    return Err(wrong("it names no groups"));
                }
                let Some(limit) = Share::parse(limit.trim()) else {
                    return Err(wrong(&format!(
                        "`{}` is not a number from 0 to 1 with at most 9 decimals",
                        limit.trim()
                    )));
                };
                Ok(Some(FairnessGoal { groups: groups.trim().to_owned(), max_gap: Some(limit) }))
            }
        }
    }

    /// The accuracy in millionths.
    pub fn millionths(&self) -> u32 {
        (self.epsilon.unwrap_or(0.0) * 1e6).round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(max_gap: Option<&str>, minimax: Option<&str>) -> Result<Option<FairnessGoal>> {
        let own = |text: &str| text.to_owned();
        FairnessConfig { max_gap: max_gap.map(own), minimax: minimax.map(own), ..Default::default() }.goal()
    }

    #[test]
    fn a_limit_names_measure_groups_and_a_share() {
        let found = goal(Some(" loss ,age<=25<= 0.050 "), None).unwrap().unwrap();
        assert_eq!(found.groups, "age<=25");
        assert_eq!(found.max_gap, Some(Share { digits: 5, decimals: 2 }));
        assert_eq!(found.max_gap.unwrap().to_string(), "0.05");
        let whole = goal(Some("loss, sex×race ≤ 1"), None).unwrap().unwrap();
        assert_eq!((whole.groups.as_str(), whole.max_gap.unwrap().digits), ("sex×race", 1));
        assert_eq!(goal(None, Some(" sex")).unwrap().unwrap().max_gap, None);
        assert_eq!(goal(None, None).unwrap(), None);
    }

    #[test]
    fn what_is_wrong_with_a_limit_is_said() {
        for (text, why) in [
            ("sex <= 0.05", "does not say of which measure"),
            ("cost, sex <= 0.05", "not in `cost`"),
            ("loss, sex < 0.05", "has no `<=`"),
            ("loss, <= 0.05", "names no groups"),
            ("loss, sex <= 5 %", "`5 %` is not a number from 0 to 1"),
            ("loss, sex <= 1.5", "is not a number from 0 to 1"),
            ("loss, sex <= .", "is not a number from 0 to 1"),
            ("loss, sex <= -0.1", "is not a number from 0 to 1"),
        ] {
            let error = goal(Some(text), None).unwrap_err();
            assert!(error.to_string().contains(why), "{text}: {error}");
        }
        assert!(goal(Some("loss, sex <= 0.1"), Some("sex")).is_err());
        assert!(goal(None, Some(" ")).is_err());
        let only = FairnessConfig { epsilon: Some(0.01), ..Default::default() };
        assert!(only.goal().unwrap_err().to_string().contains("need a goal"));
        let much = FairnessConfig { epsilon: Some(2.0), minimax: Some("sex".into()), ..Default::default() };
        assert!(much.goal().unwrap_err().to_string().contains("from 0 to 0.5"));
    }
}
