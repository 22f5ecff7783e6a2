//! Judging an audit: `gap(invalidity, sex) > 0.05` as a condition that fails a build, and `gap(invalidity, sex)<=0.05` as a limit
//! under which a point is chosen.
//!
//! `gap(measure, groups)` is the largest distance of a group from everyone else, whichever side it is on; over the front it is that of
//! the mean gaps. Where people are divided by a condition, as in `gap(loss, age<=25)`, it is the gap of those who meet it, with its sign.

use std::str::FromStr;

use super::result::{Audit, GroupingAudit, MeasureName, PopulationAudit};
use super::{Grouping, MeasureAudit};
use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_front::summary::FrontFile;

const QUANTITIES: [&str; 7] =
    ["gap", "spread", "share_worse", "adverse_rate_ratio", "selection_rate_ratio", "tpr_gap", "unreachable"];
const EXAMPLES: &str = "for example \"gap(invalidity, sex) > 0.05\" or \"selection_rate_ratio(sex) < 0.8\"";

/// A quantity of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    /// The largest mean gap.
    Gap(MeasureName),
    /// The mean over the front of the largest minus the smallest group.
    Spread(MeasureName),
    /// The largest share of the front on which a group is worse.
    ShareWorse(MeasureName),
    AdverseRateRatio,
    SelectionRateRatio,
    TprGap,
    /// The largest share of a group's affected people whom no action reaches.
    Unreachable,
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

/// A condition on an audit, such as `gap(invalidity, sex) > 0.05`, or `holdout.gap(…) > 0.05` for the held-out table.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    quantity: Quantity,
    /// By what people are grouped.
    pub grouping: Grouping,
    /// Whether the held-out table is meant.
    pub holdout: bool,
    sign: Sign,
    limit: f64,
}

/// What became of a condition.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Verdict {
    /// The condition as it was written.
    pub condition: String,
    /// The value of its left side; `None` where nothing can be said.
    pub value: Option<f64>,
    /// Whether it holds, which is a failure.
    pub holds: bool,
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
        let (Some(open), Some(close)) = (body.find('('), body.rfind(')')) else {
            return Err(fault("it has no parentheses").help(EXAMPLES));
        };
        if close < open {
            return Err(fault("its parentheses are in the wrong order").help(EXAMPLES));
        }
        let (name, inside, behind) = (body[..open].trim(), &body[open + 1..close], body[close + 1..].trim());
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
        Ok(Condition { text: written.to_owned(), quantity, grouping, holdout, sign, limit })
    }
}

/// What a name with arguments means, and the argument that names groups; or why it means nothing, and a remedy.
fn quantity<'a>(name: &str, inside: &'a str) -> std::result::Result<(Quantity, &'a str), (String, String)> {
    let plain = match name {
        "adverse_rate_ratio" => Some(Quantity::AdverseRateRatio),
        "selection_rate_ratio" => Some(Quantity::SelectionRateRatio),
        "tpr_gap" => Some(Quantity::TprGap),
        "unreachable" => Some(Quantity::Unreachable),
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
    let Some(measure) = MeasureName::ALL.into_iter().find(|known| known.name() == measure) else {
        let known = MeasureName::ALL.map(MeasureName::name);
        return Err((format!("there is no measure `{measure}`"), suggest(measure, known)));
    };
    let quantity = match name {
        "gap" => Quantity::Gap(measure),
        "spread" => Quantity::Spread(measure),
        _ => Quantity::ShareWorse(measure),
    };
    Ok((quantity, groups))
}

impl Condition {
    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether unreachable people have to be looked for.
    pub fn needs_unreachable(&self) -> bool {
        self.quantity == Quantity::Unreachable
    }

    /// Whether it holds for an audit, in which its groups must be. Where nothing can be said of the groups, it does not hold.
    pub fn judge(&self, audit: &Audit) -> Result<Verdict> {
        let population = if self.holdout { audit.holdout.as_ref() } else { Some(&audit.reference) };
        let Some(population) = population else {
            return Err(Error::new(ErrorKind::Usage, format!("`{}` needs held-out people", self.text))
                .help("give their table with --holdout TABLE"));
        };
        let value = find(population, &self.grouping).and_then(|grouping| self.value(grouping));
        Ok(Verdict {
            condition: self.text.clone(),
            value,
            holds: value.is_some_and(|value| self.sign.holds(value, self.limit)),
        })
    }

    fn value(&self, grouping: &GroupingAudit) -> Option<f64> {
        let measured = |measure: MeasureName| {
            let of_group = move |group: &super::GroupAudit| {
                group.measures.as_ref().map(|measures| measures.get(measure).clone())
            };
            if grouping.condition {
                return grouping.groups.first().and_then(of_group).into_iter().collect::<Vec<MeasureAudit>>();
            }
            grouping.groups.iter().filter_map(of_group).collect()
        };
        match self.quantity {
            Quantity::Gap(measure) => {
                furthest(measured(measure).iter().map(|found| found.mean_gap), grouping.condition)
            }
            Quantity::Spread(measure) => grouping.spread.as_ref().map(|spread| {
                let spread = spread.get(measure);
                spread.iter().sum::<f64>() / spread.len() as f64
            }),
            Quantity::ShareWorse(measure) => {
                measured(measure).iter().map(|found| found.share_worse).max_by(f64::total_cmp)
            }
            Quantity::AdverseRateRatio => grouping.adverse_rate_ratio,
            Quantity::SelectionRateRatio => grouping.selection_rate_ratio,
            Quantity::TprGap => grouping.tpr_gap,
            Quantity::Unreachable => grouping
                .groups
                .iter()
                .filter(|group| group.enough)
                .filter_map(|group| Some(group.unreachable? / group.affected))
                .max_by(f64::total_cmp),
        }
    }
}

/// The largest distance from 0, or the first value with its sign.
fn furthest(mut gaps: impl Iterator<Item = f64>, signed: bool) -> Option<f64> {
    if signed { gaps.next() } else { gaps.map(f64::abs).max_by(f64::total_cmp) }
}

fn find<'a>(population: &'a PopulationAudit, grouping: &Grouping) -> Option<&'a GroupingAudit> {
    population.groupings.iter().find(|audited| grouping.is(&audited.name))
}

/// A limit on the gap at a point, such as `gap(invalidity, sex)<=0.05`.
#[derive(Debug, Clone, PartialEq)]
pub struct GapLimit(Condition);

impl FromStr for GapLimit {
    type Err = Error;

    fn from_str(text: &str) -> Result<GapLimit> {
        let condition: Condition = text.parse()?;
        let below = matches!(condition.sign, Sign::AtMost | Sign::Below);
        if below && !condition.holdout && matches!(condition.quantity, Quantity::Gap(_)) {
            return Ok(GapLimit(condition));
        }
        Err(Error::new(ErrorKind::Usage, format!("`{text}` is not a way to choose a point"))
            .help("a limit on a gap is written as \"gap(invalidity, sex)<=0.05\""))
    }
}

impl GapLimit {
    /// Whether a criterion looks like a limit on a gap.
    pub fn is_meant(text: &str) -> bool {
        text.trim_start().starts_with("gap")
    }

    /// By what people are grouped.
    pub fn grouping(&self) -> &Grouping {
        &self.0.grouping
    }

    /// The limit as it was written.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The point with the lowest invalidity among those within the limit, in an audit of the front by these groups.
    pub fn select(&self, front: &FrontFile, audit: &Audit) -> Result<usize> {
        let Quantity::Gap(measure) = self.0.quantity else { return Ok(0) };
        let grouping = find(&audit.reference, self.grouping());
        let groups: Vec<&MeasureAudit> = grouping
            .iter()
            .flat_map(|grouping| &grouping.groups)
            .filter_map(|group| group.measures.as_ref().map(|measures| measures.get(measure)))
            .collect();
        let signed = grouping.is_some_and(|grouping| grouping.condition);
        let gap = |point: usize| furthest(groups.iter().map(|group| group.gap[point]), signed);
        let unit = u128::from(front.cost.unit);
        let invalidity = |point: usize| {
            let point = &front.points[point];
            u128::from(point.cost_sum) + u128::from(point.loss_count) * unit
        };
        let within = |point: &usize| gap(*point).is_some_and(|gap| self.0.sign.holds(gap, self.0.limit));
        let chosen = (0..front.points.len()).filter(within).min_by_key(|&point| invalidity(point));
        let least = (0..front.points.len()).filter_map(gap).min_by(f64::total_cmp);
        chosen.ok_or_else(|| {
            let error = Error::new(ErrorKind::Usage, format!("no summary has {}", self.text()));
            match least {
                Some(least) => error.help(format!("the smallest such gap on this front is {least:.4}")),
                None => error.help(format!(
                    "nothing can be said of these groups: fewer than two have {} affected people or more",
                    audit.min_group
                )),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let condition: Condition = " gap( invalidity , sex ) > 0.05 ".parse().unwrap();
        assert_eq!(condition.quantity, Quantity::Gap(MeasureName::Invalidity));
        assert_eq!((condition.grouping.text(), condition.sign, condition.limit), ("sex", Sign::Above, 0.05));
        let condition: Condition = "holdout.selection_rate_ratio(a (b), c) <= 0.8".parse().unwrap();
        assert!(condition.holdout);
        assert_eq!((condition.grouping.text(), condition.sign), ("a (b), c", Sign::AtMost));
        let condition: Condition = "gap(loss, age<=25)>=-0.1".parse().unwrap();
        assert_eq!((condition.grouping.text(), condition.limit), ("age<=25", -0.1));
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
        ] {
            assert!(refused(text).0.contains(why), "{text}: {}", refused(text).0);
        }
    }

    #[test]
    fn limits_on_gaps_are_told_from_other_criteria() {
        assert!(GapLimit::is_meant("gap(loss, sex)<=0.1") && !GapLimit::is_meant("knee"));
        assert_eq!("gap(loss, sex)<=0.1".parse::<GapLimit>().unwrap().grouping().text(), "sex");
        for text in ["gap(loss, sex)>0.1", "tpr_gap(sex)<=0.1", "holdout.gap(loss, sex)<=0.1"] {
            assert!(text.parse::<GapLimit>().is_err(), "{text}");
        }
    }
}
