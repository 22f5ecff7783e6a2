//! A limit on the gap at a point, which chooses a point.

use std::str::FromStr;

use super::super::result::{Audit, GroupAudit};
use super::super::{AuditRequest, Grouping};
use super::{Condition, Estimate, FurtherMeasure, Measure, Quantity, Sign, find, find_further, largest};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::statistics::Interval;
use sogar_front::summary::FrontFile;

/// A limit on the gap at a point, such as `gap(invalidity, sex)<=0.05`.
#[derive(Debug, Clone, PartialEq)]
pub struct GapLimit(Condition);

impl FromStr for GapLimit {
    type Err = Error;

    fn from_str(text: &str) -> Result<GapLimit> {
        let condition: Condition = text.parse()?;
        let below = matches!(condition.sign, Sign::AtMost | Sign::Below);
        let elsewhere = condition.holdout || condition.individual;
        if below && !elsewhere && matches!(condition.quantity, Quantity::Gap(_)) {
            return Ok(GapLimit(condition));
        }
        Err(Error::new(ErrorKind::Usage, format!("`{text}` is not a way to choose a point")).help(
            "a limit on a gap at a point is written as \"gap(invalidity, sex)<=0.05\" or \"ks(sex)<=0.2\"",
        ))
    }
}

impl GapLimit {
    /// Whether a criterion looks like a limit on a gap.
    pub fn is_meant(text: &str) -> bool {
        let text = text.trim_start().trim_start_matches("holdout.").trim_start_matches("individual.");
        ["gap", "ks"].iter().any(|name| text.starts_with(name))
    }

    /// How people are grouped.
    pub fn grouping(&self) -> &Grouping {
        &self.0.grouping
    }

    /// The audit that limits need: without draws, with intervals at single points that hold for all groups together.
    pub fn request<'a>(limits: impl Iterator<Item = &'a GapLimit>, min_group: usize) -> AuditRequest {
        let usual = AuditRequest { draws: 0, min_group, together: true, ..AuditRequest::default() };
        limits.fold(usual, |mut request, limit| {
            request.include(&limit.0);
            request
        })
    }

    /// The limit as it was written.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The point with the lowest invalidity among those within the limit, in an audit of the front by these groups.
    pub fn select(&self, front: &FrontFile, audit: &Audit) -> Result<usize> {
        let Quantity::Gap(measure) = self.0.quantity else { return Ok(0) };
        let grouping = find(&audit.reference, self.grouping());
        let signed = grouping.is_some_and(|grouping| grouping.condition);
        let groups = || grouping.iter().flat_map(|grouping| &grouping.groups);
        let at = |group: &GroupAudit, point: usize| at_point(group, measure, point);
        let gap = |point: usize| largest(groups().map(|group| at(group, point)), signed)?.end(self.0.end);
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

    /// Where a condition divides people: which side the limit is about, and what the other side shows at a point.
    pub fn side(&self, audit: &Audit, point: usize) -> Option<String> {
        let Quantity::Gap(measure) = self.0.quantity else { return None };
        let grouping = find(&audit.reference, self.grouping()).filter(|grouping| grouping.condition)?;
        if measure == Measure::Further(FurtherMeasure::Ks) {
            return None;
        }
        let first = grouping.groups.first()?;
        let other = match at_point(first, measure, point) {
            Some(Estimate { value, .. }) if value < 0.0 => {
                format!("; here theirs is smaller, by {:.4}", -value)
            }
            _ => String::new(),
        };
        Some(format!(
            "one-sided: limits only by how much the figure of `{}` is larger than everyone else's{other}",
            first.shown
        ))
    }
}

/// The gap of a group at a point.
fn at_point(group: &GroupAudit, measure: Measure, point: usize) -> Option<Estimate> {
    match measure {
        Measure::Basic(basic) => group.measures.as_ref().map(|found| {
            let found = found.get(basic);
            let interval = Interval { low: found.low[point], high: found.high[point] };
            Estimate { value: found.gap[point], interval: Some(interval) }
        }),
        Measure::Further(further) => {
            let found = find_further(&group.further, further)?;
            let ends = found.low[point].zip(found.high[point]);
            let interval = ends.map(|(low, high)| Interval { low, high });
            Some(Estimate { value: found.gap[point]?, interval })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_on_gaps_are_told_from_other_criteria() {
        assert!(GapLimit::is_meant("gap(loss, sex)<=0.1") && !GapLimit::is_meant("knee"));
        assert_eq!("gap(loss, sex)<=0.1".parse::<GapLimit>().unwrap().grouping().text(), "sex");
        assert!(
            GapLimit::is_meant("individual.ks(sex)<=0.1")
                && GapLimit::is_meant("holdout.gap(loss, sex)<=0.1")
        );
        assert!("ks(sex).high<=0.1".parse::<GapLimit>().is_ok() && GapLimit::is_meant("ks(sex)<=1"));
        for text in [
            "individual.ks(sex)<=0.1",
            "gap(loss, sex)>0.1",
            "tpr_gap(sex)<=0.1",
            "holdout.gap(loss, sex)<=0.1",
        ] {
            assert!(text.parse::<GapLimit>().is_err(), "{text}");
        }
    }
}
