//! Measures of recourse beyond cost, loss and invalidity, at one point or for individual recourse.
//!
//! All but one follow from a group's *cost curve*: the share of its affected people who are reached within a budget, as a function
//! of the budget. Everyone else's curve is the rest of the total. What the curve gives is
//!
//! | measure | value | interval |
//! |---|---|---|
//! | `reached(B)` | the curve at budget B | Wilson; the gap's is Newcombe's |
//! | `cost_to_reach(S)` | the least budget at which the curve is at S | the budgets at which the exact binomial limits (Clopper and Pearson) of the curve are at S; the gap's from both (MOVER) |
//! | `cost_of_success` | the mean cost of those who are reached | Student; the gap's is Welch's |
//! | `ks` | the largest distance of two curves (Kolmogorov and Smirnov), and the budget where it is | the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart for both curves |
//!
//! `choices(S)` counts actions that work for a share S of the group: among the actions of the summary, or among all admissible
//! ones for individual recourse. Its interval counts those whose Wilson interval reaches up to S, and those whose interval lies
//! above it.

use std::fmt;
use std::str::FromStr;

use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_base::statistics::{
    Interval, difference_of_rates, least, quantile_ranks, student_quantile, wilson,
};

use super::intervals::{Moments, welch_at};

const EXAMPLES: &str =
    "use cost_of_success, ks, \"reached(0.2)\", \"cost_to_reach(0.5)\" or \"choices(0.5)\"";

/// A further measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FurtherMeasure {
    /// Mean cost of those for whom the advice works.
    CostOfSuccess,
    /// Share reached within a budget.
    Reached(f64),
    /// Least budget that reaches a share.
    CostToReach(f64),
    /// Number of actions that reach a share.
    Choices(f64),
    /// Largest distance between the cost curves of the group and of everyone else.
    Ks,
}

impl fmt::Display for FurtherMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FurtherMeasure::CostOfSuccess => f.write_str("cost_of_success"),
            FurtherMeasure::Reached(budget) => write!(f, "reached({budget})"),
            FurtherMeasure::CostToReach(share) => write!(f, "cost_to_reach({share})"),
            FurtherMeasure::Choices(share) => write!(f, "choices({share})"),
            FurtherMeasure::Ks => f.write_str("ks"),
        }
    }
}

impl FromStr for FurtherMeasure {
    type Err = Error;

    fn from_str(text: &str) -> Result<FurtherMeasure> {
        let fault = |why: String| Error::new(ErrorKind::Usage, why);
        let text = text.trim();
        let (name, inside) = match text.split_once('(') {
            Some((name, inside)) => (name.trim(), inside.trim().strip_suffix(')').map(str::trim)),
            None => (text, None),
        };
        match (name, inside, text.contains('(')) {
            ("cost_of_success", None, false) => return Ok(FurtherMeasure::CostOfSuccess),
            ("ks", None, false) => return Ok(FurtherMeasure::Ks),
            _ => {}
        }
        let known = ["cost_of_success", "ks", "reached", "cost_to_reach", "choices"];
        if !known.contains(&name) {
            return Err(fault(format!("there is no measure `{text}`"))
                .help(suggest(name, known.into_iter().chain(["cost", "loss", "invalidity"]))));
        }
        if matches!(name, "cost_of_success" | "ks") {
            return Err(fault(format!("`{name}` takes no number")).help(EXAMPLES));
        }
        let number = inside.and_then(|inside| inside.parse::<f64>().ok()).filter(|number| number.is_finite());
        match (name, number) {
            ("reached", Some(budget)) if budget >= 0.0 => Ok(FurtherMeasure::Reached(budget)),
            ("reached", _) => {
                Err(fault(format!("`{text}` names no budget of 0 or more"))
                    .help("for example \"reached(0.2)\""))
            }
            (_, Some(share)) if share > 0.0 && share <= 1.0 => Ok(match name {
                "choices" => FurtherMeasure::Choices(share),
                _ => FurtherMeasure::CostToReach(share),
            }),
            _ => Err(fault(format!("`{text}` names no share above 0 and up to 1"))
                .help(format!("for example \"{name}(0.5)\""))),
        }
    }
}

impl FurtherMeasure {
    /// Whether a group with a larger value is better off.
    pub fn higher_is_better(self) -> bool {
        matches!(self, FurtherMeasure::Reached(_) | FurtherMeasure::Choices(_))
    }
}

/// The value of a measure for a group, its gap to everyone else, and their intervals. Infinity is "never"; `None` is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Measured {
    pub value: Option<f64>,
    pub interval: Option<Interval>,
    pub gap: Option<f64>,
    pub gap_interval: Option<Interval>,
    /// The budget at which two curves are furthest apart.
    pub at: Option<f64>,
}

/// The cost curves of the groups of one grouping.
pub(super) struct Curves {
    /// Distinct costs of those who are reached, ascending, in units.
    costs: Vec<u64>,
    /// `[cost][group]`: the weight of those reached at this cost or below.
    reached: Vec<Vec<u64>>,
    /// The weight of each group's affected people.
    people: Vec<u64>,
    /// Per action, the weight of those for whom it works, by group.
    actions: Vec<Vec<u64>>,
    /// Units in a cost of 1, and in one person.
    unit: f64,
    person: f64,
}

impl Curves {
    /// `reached` are the cost, group and weight of those who are reached, by cost.
    pub fn new(
        reached: impl Iterator<Item = (u64, u32, u64)>,
        people: Vec<u64>,
        actions: Vec<Vec<u64>>,
        unit: u64,
        person: u64,
    ) -> Curves {
        let mut costs: Vec<u64> = Vec::new();
        let mut rows: Vec<Vec<u64>> = Vec::new();
        for (cost, group, weight) in reached {
            if costs.last() != Some(&cost) {
                costs.push(cost);
                rows.push(rows.last().cloned().unwrap_or_else(|| vec![0; people.len()]));
            }
            if let Some(row) = rows.last_mut() {
                row[group as usize] += weight;
            }
        }
        Curves { costs, reached: rows, people, actions, unit: unit as f64, person: person as f64 }
    }

    /// A measure of a group, with intervals of this confidence.
    pub fn measure(&self, group: usize, measure: FurtherMeasure, confidence: f64) -> Measured {
        let sides = [self.side(Some(group)), self.rest(group)];
        match measure {
            FurtherMeasure::Reached(budget) => {
                let last = self.costs.partition_point(|&cost| cost as f64 / self.unit <= budget);
                let [x, y] = sides.each_ref().map(|side| last.checked_sub(1).map_or(0.0, |k| side.curve[k]));
                let [n, m] = sides.each_ref().map(|side| side.people);
                Measured {
                    value: Some(x / n),
                    interval: Some(wilson(x, n, confidence)),
                    gap: Some(x / n - y / m),
                    gap_interval: Some(difference_of_rates((x, n), (y, m), confidence)),
                    at: None,
                }
            }
            FurtherMeasure::CostOfSuccess => {
                let [group, rest] = sides.each_ref().map(|side| self.of_success(side));
                let half =
                    |m: Moments| student_quantile(confidence, m.count - 1.0) * (m.variance / m.count).sqrt();
                let gap = group.zip(rest).map(|(group, rest)| welch_at(group, rest, confidence));
                Measured {
                    value: group.map(|group| group.mean),
                    interval: group.map(|group| Interval {
                        low: group.mean - half(group),
                        high: group.mean + half(group),
                    }),
                    gap: gap.map(|gap| gap.gap),
                    gap_interval: gap.map(|gap| Interval { low: gap.low, high: gap.high }),
                    at: None,
                }
            }
            FurtherMeasure::CostToReach(share) => {
                let [a, b] = sides.each_ref().map(|side| self.cost_to_reach(side, share, confidence));
                let gap = Some(a.0 - b.0).filter(|gap| !gap.is_nan());
                // Differences of infinities are unknown; an unknown deviation makes the interval endless.
                let far = |x: f64, y: f64| if x == y { 0.0 } else { (x - y).abs() };
                let below = far(a.0, a.1.low).hypot(far(b.1.high, b.0));
                let above = far(a.1.high, a.0).hypot(far(b.0, b.1.low));
                Measured {
                    value: Some(a.0),
                    interval: Some(a.1),
                    gap,
                    gap_interval: gap.map(|gap| match gap.is_finite() {
                        true => Interval { low: gap - below, high: gap + above },
                        false => apart(a.1, b.1),
                    }),
                    at: None,
                }
            }
            FurtherMeasure::Choices(share) => {
                let [a, b] = [
                    self.choices(sides[0].people, &|works| works[group], share, confidence),
                    self.choices(
                        sides[1].people,
                        &|works| works.iter().sum::<u64>() - works[group],
                        share,
                        confidence,
                    ),
                ];
                Measured {
                    value: Some(a[1]),
                    interval: Some(Interval { low: a[0], high: a[2] }),
                    gap: Some(a[1] - b[1]),
                    gap_interval: Some(Interval { low: a[0] - b[2], high: a[2] - b[0] }),
                    at: None,
                }
            }
            FurtherMeasure::Ks => self.distance(&sides, confidence),
        }
    }

    fn side(&self, group: Option<usize>) -> Side {
        let of = |weights: &Vec<u64>| match group {
            Some(group) => weights[group] as f64 / self.person,
            None => weights.iter().sum::<u64>() as f64 / self.person,
        };
        Side { people: of(&self.people), curve: self.reached.iter().map(of).collect() }
    }

    fn rest(&self, group: usize) -> Side {
        let (all, group) = (self.side(None), self.side(Some(group)));
        Side {
            people: all.people - group.people,
            curve: all.curve.iter().zip(&group.curve).map(|(all, group)| all - group).collect(),
        }
    }

    fn of_success(&self, side: &Side) -> Option<Moments> {
        let count = side.curve.last().copied().filter(|&count| count > 0.0)?;
        let steps = || {
            side.curve.iter().enumerate().map(|(k, &up_to)| {
                (self.costs[k] as f64 / self.unit, up_to - k.checked_sub(1).map_or(0.0, |k| side.curve[k]))
            })
        };
        let found = Moments::of_values(steps());
        Some(Moments { count, ..found })
    }

    /// The least budget that reaches a share, and its interval.
    fn cost_to_reach(&self, side: &Side, share: f64, confidence: f64) -> (f64, Interval) {
        let budget = |people: f64| {
            if people <= 0.0 {
                return 0.0;
            }
            let first = side.curve.partition_point(|&up_to| up_to < people);
            self.costs.get(first).map_or(f64::INFINITY, |&cost| cost as f64 / self.unit)
        };
        // A rounding error must not ask for one person more.
        let wanted = |people: f64| people - 1e-9 * people.max(1.0);
        let [low, high] = quantile_ranks(side.people, share, confidence)
            .map(|rank| rank.map_or(f64::INFINITY, |people| budget(wanted(people))));
        let interval = Interval { low, high };
        (budget(wanted(share * side.people)), interval)
    }

    /// Actions that surely, by the estimate, and possibly work for a share of some people; `among` counts for how many of them
    /// an action works.
    fn choices(&self, people: f64, among: &dyn Fn(&[u64]) -> u64, share: f64, confidence: f64) -> [f64; 3] {
        let surely = least(people, |x| wilson(x, people, confidence).low >= share);
        let possibly = least(people, |x| wilson(x, people, confidence).high >= share);
        [surely, Some(share * people), possibly].map(|limit| {
            let Some(limit) = limit else { return 0.0 };
            let works = |works: &&Vec<u64>| among(works) as f64 / self.person >= limit - 1e-9 * people;
            self.actions.iter().filter(works).count() as f64
        })
    }

    fn distance(&self, [group, rest]: &[Side; 2], confidence: f64) -> Measured {
        let mut furthest = (0.0, None);
        for (k, &cost) in self.costs.iter().enumerate() {
            let distance = (group.curve[k] / group.people - rest.curve[k] / rest.people).abs();
            if distance > furthest.0 {
                furthest = (distance, Some(cost as f64 / self.unit));
            }
        }
        let error = |people: f64| ((4.0 / (1.0 - confidence)).ln() / (2.0 * people)).sqrt();
        let error = error(group.people) + error(rest.people);
        Measured {
            gap: Some(furthest.0),
            gap_interval: Some(Interval {
                low: (furthest.0 - error).max(0.0),
                high: (furthest.0 + error).min(1.0),
            }),
            at: furthest.1,
            ..Measured::default()
        }
    }
}

/// All differences between two intervals: what is known if one side never reaches the share by the estimate.
fn apart(a: Interval, b: Interval) -> Interval {
    let or = |difference: f64, unknown: f64| if difference.is_nan() { unknown } else { difference };
    Interval { low: or(a.low - b.high, f64::NEG_INFINITY), high: or(a.high - b.low, f64::INFINITY) }
}

/// A group, or everyone else: people, and how many of them are reached at each cost.
struct Side {
    people: f64,
    curve: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use sogar_base::statistics::CONFIDENCE;

    /// Two groups of four and six people, with costs in hundredths: 10, 20, 30 and never; 10, 10, 40, 50, 50 and never.
    fn example() -> Curves {
        let reached = [(10, 0), (10, 1), (10, 1), (20, 0), (30, 0), (40, 1), (50, 1), (50, 1)];
        let actions = vec![vec![0, 0], vec![2, 2], vec![1, 3], vec![4, 6]];
        Curves::new(reached.into_iter().map(|(cost, group)| (cost, group, 1)), vec![4, 6], actions, 100, 1)
    }

    fn value(group: usize, measure: &str) -> Measured {
        example().measure(group, measure.parse().unwrap(), CONFIDENCE)
    }

    #[test]
    fn measures_follow_from_the_cost_curves() {
        assert_eq!(value(0, "reached(0.2)").value, Some(0.5));
        assert!((value(0, "reached(0.2)").gap.unwrap() - (0.5 - 2.0 / 6.0)).abs() < 1e-12);
        assert_eq!(value(0, "reached(0.05)").value, Some(0.0));
        assert!((value(0, "cost_of_success").value.unwrap() - 0.2).abs() < 1e-12);
        assert!((value(1, "cost_of_success").value.unwrap() - 0.32).abs() < 1e-12);
        assert_eq!(value(0, "cost_to_reach(0.5)").value, Some(0.2));
        assert_eq!(value(1, "cost_to_reach(0.5)").value, Some(0.4));
        assert!((value(1, "cost_to_reach(0.5)").gap.unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(value(0, "choices(0.5)").value, Some(2.0));
        assert_eq!(value(1, "choices(0.5)").value, Some(2.0));
        let distance = value(0, "ks");
        assert!((distance.gap.unwrap() - (0.75 - 2.0 / 6.0)).abs() < 1e-12);
        assert_eq!((distance.at, distance.value), (Some(0.3), None));
        assert_eq!(distance.gap_interval.unwrap().low, 0.0, "ten people prove nothing");
    }

    #[test]
    fn a_share_that_is_never_reached_costs_infinitely_much() {
        let never = value(0, "cost_to_reach(0.8)");
        assert_eq!((never.value, never.gap), (Some(f64::INFINITY), Some(f64::INFINITY)));
        assert_eq!(value(1, "cost_to_reach(0.8)").gap, Some(f64::NEG_INFINITY));
        let both = value(0, "cost_to_reach(1)");
        assert_eq!((both.value, both.gap, both.gap_interval), (Some(f64::INFINITY), None, None));
    }

    #[test]
    fn weights_count_people() {
        let once = Curves::new([(10, 0, 1), (10, 0, 1), (30, 1, 1)].into_iter(), vec![3, 2], vec![], 100, 1);
        let weighted = Curves::new([(10, 0, 4), (30, 1, 2)].into_iter(), vec![6, 4], vec![], 100, 2);
        for measure in ["reached(0.1)", "cost_of_success", "cost_to_reach(0.5)", "ks"] {
            let measure = measure.parse().unwrap();
            assert_eq!(once.measure(0, measure, 0.9), weighted.measure(0, measure, 0.9), "{measure}");
        }
    }

    #[test]
    fn measures_are_read_and_written_alike() {
        for text in ["cost_of_success", "ks", "reached(0.2)", "cost_to_reach(0.5)", "choices(1)"] {
            assert_eq!(text.parse::<FurtherMeasure>().unwrap().to_string(), text);
        }
        assert_eq!(" reached( 0.20 ) ".parse::<FurtherMeasure>().unwrap(), FurtherMeasure::Reached(0.2));
        for text in
            ["", "reached", "reached(-1)", "reached(0.2", "choices(0)", "cost_to_reach(1.5)", "ks()", "cost"]
        {
            assert!(text.parse::<FurtherMeasure>().is_err(), "{text}");
        }
        let error = "reachd(0.2)".parse::<FurtherMeasure>().unwrap_err();
        assert_eq!(error.remedy(), Some("did you mean `reached`?"));
    }
}
