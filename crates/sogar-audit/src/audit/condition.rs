//! Judges an audit: `gap(invalidity, sex) > 0.05` as a condition that fails a build, and `gap(invalidity, sex)<=0.05` as a limit
//! for choosing a point.
//!
//! `gap(measure, groups)` is the largest distance of a group from everyone else, in either direction; over the front it is that
//! of the mean gaps. If a condition divides people, as in `gap(loss, age<=25)`, it is the gap of those who meet it, with its
//! sign: such a condition tests one side, and its verdict says which. With `.low` or `.high` the end of an interval is compared,
//! one that holds for all groups of the grouping together.

mod gap_limit;

use std::str::FromStr;

use super::further::FurtherMeasure;
use super::result::{Audit, FurtherAudit, GroupAudit, GroupingAudit, MeasureName, PopulationAudit};
use super::{AuditRequest, Grouping};
use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_base::statistics::{CONFIDENCE, Interval, wilson};

pub use gap_limit::GapLimit;

const QUANTITIES: [&str; 8] = [
    "gap",
    "spread",
    "share_worse",
    "adverse_rate_ratio",
    "selection_rate_ratio",
    "tpr_gap",
    "unreachable",
    "ks",
];
const EXAMPLES: &str =
    "for example \"gap(invalidity, sex) > 0.05\" or \"selection_rate_ratio(sex).high < 0.8\"";

/// A measure of a condition.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Measure {
    Basic(MeasureName),
    Further(FurtherMeasure),
}

/// A quantity of an audit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Quantity {
    /// The largest mean gap.
    Gap(Measure),
    /// The mean over the front of the largest minus the smallest group.
    Spread(MeasureName),
    /// The largest share of the front on which a group is worse.
    ShareWorse(Measure),
    AdverseRateRatio,
    SelectionRateRatio,
    TprGap,
    /// The largest share of a group's affected people whom no action reaches.
    Unreachable,
}

/// What is compared: an estimate, or an end of its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Estimate,
    Low,
    High,
}

/// An estimate with its interval, if it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Estimate {
    value: f64,
    interval: Option<Interval>,
}

impl Estimate {
    fn end(self, end: End) -> Option<f64> {
        match end {
            End::Estimate => Some(self.value),
            End::Low => self.interval.map(|interval| interval.low),
            End::High => self.interval.map(|interval| interval.high),
        }
    }

    /// The distance from 0.
    fn distance(self) -> Estimate {
        let interval = self.interval.map(|Interval { low, high }| Interval {
            low: low.max(-high).max(0.0),
            high: high.abs().max(low.abs()),
        });
        Estimate { value: self.value.abs(), interval }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Sign {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Sign::Above => value > limit,
            Sign::AtLeast => value >= limit,
            Sign::Below => value < limit,
            Sign::AtMost => value <= limit,
        }
    }
}

/// A condition on an audit, such as `gap(invalidity, sex) > 0.05`, `holdout.gap(…) > 0.05` for the held-out table, or
/// `individual.gap(…) > 0.05` for individual recourse.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    quantity: Quantity,
    end: End,
    /// Whether it is about individual recourse, not about the front.
    individual: bool,
    /// How people are grouped.
    pub grouping: Grouping,
    /// Whether it is about the held-out table.
    pub holdout: bool,
    sign: Sign,
    limit: f64,
}

/// The result of a condition.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Verdict {
    /// The condition as it was written.
    pub condition: String,
    /// The value of its left side; `None` if it cannot be computed.
    pub value: Option<f64>,
    /// Whether it holds, which is a failure.
    pub holds: bool,
    /// Which side it tests, if it tests only one.
    pub side: Option<String>,
}

impl FromStr for Condition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Condition> {
        let fault = |why: &str| {
            Error::new(ErrorKind::Usage, format!("`{text}` is not a condition on an audit: {why}"))
        };
        let written = text.trim();
        let (holdout, body) = match written.strip_prefix("holdout.") {
            Some(body) => (true, body),
            None => (false, written),
        };
        let (individual, body) = match body.strip_prefix("individual.") {
            Some(body) => (true, body),
            None => (false, body),
        };
        let (Some(open), Some(close)) = (body.find('('), body.rfind(')')) else {
            return Err(fault("it has no parentheses").help(EXAMPLES));
        };
        if close < open {
            return Err(fault("its parentheses are in the wrong order").help(EXAMPLES));
        }
        let (name, inside, behind) = (body[..open].trim(), &body[open + 1..close], body[close + 1..].trim());
        let (end, behind) = match (behind.strip_prefix(".low"), behind.strip_prefix(".high")) {
            (Some(behind), _) => (End::Low, behind.trim_start()),
            (_, Some(behind)) => (End::High, behind.trim_start()),
            _ => (End::Estimate, behind),
        };
        let signs = [
            (">=", Sign::AtLeast),
            ("≥", Sign::AtLeast),
            ("<=", Sign::AtMost),
            ("≤", Sign::AtMost),
            (">", Sign::Above),
            ("<", Sign::Below),
        ];
        let found = signs.iter().find_map(|(text, sign)| Some((*sign, behind.strip_prefix(text)?)));
        let Some((sign, number)) = found else {
            return Err(fault("it compares with nothing").help(EXAMPLES));
        };
        let Some(limit) = number.trim().parse::<f64>().ok().filter(|number| number.is_finite()) else {
            return Err(fault(&format!("`{}` is not a number", number.trim())).help(EXAMPLES));
        };
        let (quantity, groups) = quantity(name, inside).map_err(|(why, help)| fault(&why).help(help))?;
        let grouping = groups.parse().map_err(|_| fault("it names no groups").help(EXAMPLES))?;
        if end != End::Estimate && matches!(quantity, Quantity::Spread(_) | Quantity::ShareWorse(_)) {
            return Err(
                fault(&format!("`{name}` has no interval")).help("use `gap`, or leave out .low and .high")
            );
        }
        if individual && !matches!(quantity, Quantity::Gap(Measure::Further(_))) {
            return Err(fault("individual recourse has no such figure").help(
                "use a gap of cost_of_success, reached(…), cost_to_reach(…), choices(…) or ks; its loss is unreachable(…)",
            ));
        }
        if individual && holdout {
            return Err(fault("individual recourse is not computed for held-out people")
                .help("leave out `holdout.` or `individual.`"));
        }
        Ok(Condition { text: written.to_owned(), quantity, end, individual, grouping, holdout, sign, limit })
    }
}

/// The meaning of a name with arguments, and the argument that names groups; or why it has none, and a remedy.
fn quantity<'a>(name: &str, inside: &'a str) -> std::result::Result<(Quantity, &'a str), (String, String)> {
    let plain = match name {
        "adverse_rate_ratio" => Some(Quantity::AdverseRateRatio),
        "selection_rate_ratio" => Some(Quantity::SelectionRateRatio),
        "tpr_gap" => Some(Quantity::TprGap),
        "unreachable" => Some(Quantity::Unreachable),
        "ks" => Some(Quantity::Gap(Measure::Further(FurtherMeasure::Ks))),
        _ => None,
    };
    if let Some(quantity) = plain {
        return Ok((quantity, inside));
    }
    if !QUANTITIES.contains(&name) {
        return Err((format!("there is no quantity `{name}`"), suggest(name, QUANTITIES)));
    }
    let Some((measure, groups)) = inside.split_once(',') else {
        return Err((format!("`{name}` needs a measure and groups"), EXAMPLES.to_owned()));
    };
    let measure = measure.trim();
    let basic = MeasureName::ALL.into_iter().find(|known| known.name() == measure);
    let found = match basic {
        Some(basic) => Measure::Basic(basic),
        None => measure
            .parse()
            .map(Measure::Further)
            .map_err(|error: Error| (error.to_string(), error.remedy().unwrap_or_default().to_owned()))?,
    };
    let quantity = match (name, found) {
        ("gap", found) => Quantity::Gap(found),
        ("spread", Measure::Basic(basic)) => Quantity::Spread(basic),
        ("spread", Measure::Further(_)) => {
            return Err((format!("`spread` is not computed for `{measure}`"), "use `gap`".to_owned()));
        }
        _ => Quantity::ShareWorse(found),
    };
    Ok((quantity, groups))
}

impl AuditRequest {
    /// Adds what a condition needs: its groups, its measure, people out of reach.
    pub fn include(&mut self, condition: &Condition) {
        if !self.groups.iter().any(|known| known.is(condition.grouping.text())) {
            self.groups.push(condition.grouping.clone());
        }
        if let Quantity::Gap(Measure::Further(further)) | Quantity::ShareWorse(Measure::Further(further)) =
            condition.quantity
            && !self.measures.contains(&further)
        {
            self.measures.push(further);
        }
        self.unreachable |= condition.individual || condition.quantity == Quantity::Unreachable;
    }
}

impl Condition {
    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds for an audit, which must include its groups. It does not hold if the groups have no figures.
    pub fn judge(&self, audit: &Audit) -> Result<Verdict> {
        let population = if self.holdout { audit.holdout.as_ref() } else { Some(&audit.reference) };
        let Some(population) = population else {
            return Err(Error::new(ErrorKind::Usage, format!("`{}` needs held-out people", self.text))
                .help("give their table with --holdout TABLE"));
        };
        let grouping = find(population, &self.grouping);
        let value =
            grouping.and_then(|grouping| self.estimate(grouping)).and_then(|found| found.end(self.end));
        Ok(Verdict {
            condition: self.text.clone(),
            value,
            holds: value.is_some_and(|value| self.sign.holds(value, self.limit)),
            side: grouping.and_then(|grouping| self.side(grouping)),
        })
    }

    fn estimate(&self, grouping: &GroupingAudit) -> Option<Estimate> {
        let with =
            |value: Option<f64>, interval: Option<Interval>| value.map(|value| Estimate { value, interval });
        match self.quantity {
            Quantity::Gap(measure) => {
                let of_group = |group: &GroupAudit| self.mean_gap(group, measure);
                largest(grouping.groups.iter().map(of_group), grouping.condition)
            }
            Quantity::Spread(measure) => grouping.spread.as_ref().map(|spread| {
                let spread = spread.get(measure);
                Estimate { value: spread.iter().sum::<f64>() / spread.len() as f64, interval: None }
            }),
            Quantity::ShareWorse(measure) => {
                let of_group = |group: &GroupAudit| match measure {
                    Measure::Basic(basic) => {
                        group.measures.as_ref().map(|found| found.get(basic).share_worse)
                    }
                    Measure::Further(further) => {
                        find_further(&group.further, further).map(|found| found.share_worse)
                    }
                };
                // Where a condition divides people, the share of those who meet it.
                let groups = if grouping.condition { 1 } else { grouping.groups.len() };
                let shares = grouping.groups.iter().take(groups).filter_map(of_group);
                with(shares.max_by(f64::total_cmp), None)
            }
            Quantity::AdverseRateRatio => {
                with(grouping.adverse_rate_ratio, grouping.adverse_rate_ratio_interval)
            }
            Quantity::SelectionRateRatio => {
                with(grouping.selection_rate_ratio, grouping.selection_rate_ratio_interval)
            }
            Quantity::TprGap => with(grouping.tpr_gap, grouping.tpr_gap_interval),
            Quantity::Unreachable => {
                let stated = || grouping.groups.iter().filter(|group| group.enough);
                let confidence = 1.0 - (1.0 - CONFIDENCE) / stated().count().max(1) as f64;
                let share = |group: &GroupAudit| {
                    let (out, all) = (group.unreachable?, group.affected);
                    Some(Estimate { value: out / all, interval: Some(wilson(out, all, confidence)) })
                };
                largest(stated().map(share), false)
            }
        }
    }

    /// The mean gap of a group, or that of individual recourse, with the interval that holds for all groups together.
    fn mean_gap(&self, group: &GroupAudit, measure: Measure) -> Option<Estimate> {
        match measure {
            Measure::Basic(basic) => group.measures.as_ref().map(|found| {
                let found = found.get(basic);
                Estimate { value: found.mean_gap, interval: found.mean_gap_together }
            }),
            Measure::Further(further) => {
                let lists = if self.individual { &group.individual } else { &group.further };
                let found = find_further(lists, further)?;
                Some(Estimate { value: found.mean_gap?, interval: found.mean_gap_together })
            }
        }
    }

    /// Which side a condition on those who meet a condition tests, and what the other side shows.
    fn side(&self, grouping: &GroupingAudit) -> Option<String> {
        let first = grouping.groups.first().filter(|_| grouping.condition)?;
        let gap = match self.quantity {
            Quantity::Gap(Measure::Further(FurtherMeasure::Ks)) => return None,
            Quantity::Gap(measure) => self.mean_gap(first, measure).map(|found| found.value),
            Quantity::ShareWorse(_) => {
                return Some(format!(
                    "one-sided: tests only where `{}` is worse off than everyone else",
                    first.shown
                ));
            }
            _ => return None,
        };
        let larger = matches!(self.sign, Sign::Above | Sign::AtLeast);
        let than = if larger { "larger" } else { "smaller" };
        let other = match gap {
            Some(gap) if larger && gap < 0.0 => format!("; theirs is smaller, by {:.4}", -gap),
            Some(gap) if !larger && gap > 0.0 => format!("; theirs is larger, by {gap:.4}"),
            _ => String::new(),
        };
        Some(format!(
            "one-sided: tests only whether the figure of `{}` is {than} than everyone else's{other}",
            first.shown
        ))
    }
}

/// The largest distance from 0 of some gaps, or the first gap with its sign. The ends of the largest distance are the largest ends:
/// if all intervals hold together, so does this one.
fn largest(gaps: impl Iterator<Item = Option<Estimate>>, signed: bool) -> Option<Estimate> {
    let mut gaps = gaps;
    if signed {
        return gaps.next().flatten();
    }
    gaps.flatten().map(Estimate::distance).reduce(|a, b| {
        let interval = a
            .interval
            .zip(b.interval)
            .map(|(a, b)| Interval { low: a.low.max(b.low), high: a.high.max(b.high) });
        Estimate { value: a.value.max(b.value), interval }
    })
}

fn find_further(found: &[FurtherAudit], measure: FurtherMeasure) -> Option<&FurtherAudit> {
    let name = measure.to_string();
    found.iter().find(|found| found.measure == name)
}

fn find<'a>(population: &'a PopulationAudit, grouping: &Grouping) -> Option<&'a GroupingAudit> {
    population.groupings.iter().find(|audited| grouping.is(&audited.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let condition: Condition = " gap( invalidity , sex ) > 0.05 ".parse().unwrap();
        assert_eq!(condition.quantity, Quantity::Gap(Measure::Basic(MeasureName::Invalidity)));
        assert_eq!((condition.grouping.text(), condition.sign, condition.limit), ("sex", Sign::Above, 0.05));
        let condition: Condition = "holdout.selection_rate_ratio(a (b), c) <= 0.8".parse().unwrap();
        assert!(condition.holdout);
        assert_eq!((condition.grouping.text(), condition.sign), ("a (b), c", Sign::AtMost));
        let condition: Condition = "gap(loss, age<=25)>=-0.1".parse().unwrap();
        assert_eq!((condition.grouping.text(), condition.limit), ("age<=25", -0.1));
        let condition: Condition = "individual.gap(reached(0.2), sex).low > 0.1".parse().unwrap();
        assert_eq!(condition.quantity, Quantity::Gap(Measure::Further(FurtherMeasure::Reached(0.2))));
        assert_eq!((condition.individual, condition.end, condition.limit), (true, End::Low, 0.1));
        let condition: Condition = "ks(sex×race).high<=0.2".parse().unwrap();
        assert_eq!(condition.quantity, Quantity::Gap(Measure::Further(FurtherMeasure::Ks)));
        assert_eq!((condition.end, condition.grouping.text()), (End::High, "sex×race"));
    }

    #[test]
    fn a_condition_brings_what_it_needs() {
        let mut request = AuditRequest::default();
        for text in
            ["gap(choices(0.5), sex) > 1", "individual.gap(choices(0.5), sex) > 1", "gap(loss, age<=25)>0"]
        {
            request.include(&text.parse().unwrap());
        }
        assert_eq!(request.measures, [FurtherMeasure::Choices(0.5)]);
        assert!(request.unreachable && request.groups.len() == 2);
    }

    #[test]
    fn the_largest_distance_has_the_largest_ends() {
        let gap = |value, low, high| Some(Estimate { value, interval: Some(Interval { low, high }) });
        let gaps = || [gap(-0.3, -0.4, -0.2), gap(0.1, -0.1, 0.3), None].into_iter();
        let found = largest(gaps(), false).unwrap();
        assert_eq!(found, Estimate { value: 0.3, interval: Some(Interval { low: 0.2, high: 0.4 }) });
        assert_eq!(largest(gaps(), true), gap(-0.3, -0.4, -0.2));
    }

    #[test]
    fn what_is_no_condition_is_answered_with_a_remedy() {
        let refused = |text: &str| {
            let error = text.parse::<Condition>().unwrap_err();
            (error.to_string(), error.remedy().unwrap_or_default().to_owned())
        };
        assert_eq!(refused("gap(invalidty, sex)>1").1, "did you mean `invalidity`?");
        assert_eq!(refused("gab(loss, sex)>1").1, "did you mean `gap`?");
        for (text, why) in [
            ("gap", "no parentheses"),
            (")gap(", "wrong order"),
            ("gap(loss, sex)", "compares with nothing"),
            ("gap(loss, sex) > x", "`x` is not a number"),
            ("gap(loss, sex) > inf", "`inf` is not a number"),
            ("gap(loss)>1", "a measure and groups"),
            ("gap(loss, )>1", "names no groups"),
            ("spread(loss, sex).low > 1", "has no interval"),
            ("individual.gap(loss, sex) > 1", "no such figure"),
            ("holdout.individual.ks(sex) > 1", "not computed for held-out people"),
            ("gap(reached(x), sex) > 1", "names no budget"),
            ("gap(choices(2), sex) > 1", "names no share"),
            ("gap(ks(1), sex) > 1", "takes no number"),
        ] {
            assert!(refused(text).0.contains(why), "{text}: {}", refused(text).0);
        }
    }
}
