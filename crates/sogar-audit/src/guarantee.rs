//! The cheapest summary that keeps a limit among future people, with a stated confidence, although the front was searched.
//!
//! A front is found on its table, so its figures there are too good, and the best of many points is a lucky one. *Learn then test*
//! (Angelopoulos et al., 2021) corrects for both. Other people, the *calibration rows*, test the points one after the other in an
//! order that is fixed before they are read: the fitted loss, lowest first. Each test has the full level, and the first failure
//! ends them (*fixed-sequence testing*). A point that breaks the limit passes only if the first such point in the order passes
//! its test, which has at most the probability of one false rejection. So with the stated confidence all points that passed keep the
//! limit, and any of them may be chosen. One limit is tested: who tries limits on the same rows until one passes has no guarantee.
//!
//! A loss is a count, so its p-value is an exact binomial tail. The mean of a bounded cost has the p-value of Hoeffding and
//! Bentkus. For several groups at once, the largest p-value counts: the limit is broken if one group breaks it.

mod overlap;
mod sequence;
mod text;

pub use overlap::Overlap;
pub use sequence::{Sequence, fixed_sequence, people_needed};

use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;
use sogar_base::binomial;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::describe::{group_title, grouped, grouping_title};
use sogar_front::evaluate::HeldOut;
use sogar_front::summary::{FrontFile, PointRef};
use sogar_prepare::actions::Edit;
use sogar_prepare::prepared::Prepared;
use sogar_solver::RowSet;
use sogar_table::config::CostKind;
use sogar_table::table::Table;

use crate::audit::{Grouping, RoutedPeople, View};

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Loss,
    Cost,
}

/// A limit that future people must meet, such as `loss<=0.1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guarantee {
    measure: Measure,
    limit: f64,
}

impl FromStr for Guarantee {
    type Err = Error;

    fn from_str(text: &str) -> Result<Guarantee> {
        let compact: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        let limit = |text: &str| text.parse::<f64>().ok().filter(|limit| *limit > 0.0 && *limit < 1.0);
        let found = compact.replace('≤', "<=");
        let loss = found.strip_prefix("loss<=").and_then(limit).map(|limit| (Measure::Loss, limit));
        let found = loss.or_else(|| Some((Measure::Cost, found.strip_prefix("cost<=").and_then(limit)?)));
        found.map(|(measure, limit)| Guarantee { measure, limit }).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("`{text}` is not a limit that can be guaranteed"))
                .help("use \"loss<=0.1\" or \"cost<=0.2\", with a limit between 0 and 1")
        })
    }
}

impl std::fmt::Display for Guarantee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = if self.measure == Measure::Loss { "loss" } else { "cost" };
        write!(f, "{name}<={}", self.limit)
    }
}

impl Guarantee {
    /// The positions of the points in the order of their tests: the surest first. It depends on the front alone. Along a front that
    /// asks for `minimax`, the loss may rise with the cost.
    fn order(self, points: &[PointRef]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by_key(|&point| match self.measure {
            Measure::Loss => points[point].loss_count,
            Measure::Cost => points[point].cost_sum,
        });
        order
    }

    /// Of points that keep the limit, the cheapest (for a limit on the cost: the one with the lowest loss).
    fn best(self, passed: &[usize], points: &[PointRef]) -> Option<usize> {
        passed.iter().copied().min_by_key(|&point| match self.measure {
            Measure::Loss => points[point].cost_sum,
            Measure::Cost => points[point].loss_count,
        })
    }

    fn of(self, point: &PointRef) -> f64 {
        if self.measure == Measure::Loss { point.loss } else { point.cost }
    }
}

/// The request.
#[derive(Debug, Clone)]
pub struct GuaranteeRequest {
    /// The limit.
    pub guarantee: Guarantee,
    /// How sure it must be, between 0 and 1.
    pub confidence: f64,
    /// Groups that must all meet the limit; none: everybody together.
    pub groups: Vec<Grouping>,
}

/// People who are tested together: everybody, or a group.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestedGroup {
    /// What people are grouped by; absent for everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The group's name; absent for everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Both for readers: features by their display names; absent for everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// Affected calibration people.
    pub affected: u64,
    /// The chosen point's loss or mean cost among them.
    pub value: f64,
    /// Its p-value.
    pub p_value: f64,
}

/// A point that keeps its limit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Guaranteed {
    /// The limit as it was written.
    pub guarantee: String,
    /// The confidence.
    pub confidence: f64,
    /// The position of the chosen point.
    pub point: usize,
    /// How many points passed their test.
    pub passed: usize,
    /// The first point that failed, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<usize>,
    /// Its p-value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_p_value: Option<f64>,
    /// Rows of the calibration table.
    pub rows: usize,
    /// Those whom the model turns down.
    pub affected: usize,
    /// Everybody, or each group, at the chosen point.
    pub groups: Vec<TestedGroup>,
    /// Calibration rows that the fitted table also has.
    pub overlap: Overlap,
    /// What the guarantee assumes.
    pub assumes: String,
}

/// Chooses the cheapest summary (for a limit on the cost: the one with the lowest loss) that keeps the limit among future people.
/// `reference` and `calibration` are the tables as read, for groups by columns that are not features.
pub fn guaranteed(
    front: &FrontFile,
    prepared: &Prepared,
    reference: &Table,
    calibration: (&HeldOut, &Table),
    request: &GuaranteeRequest,
) -> Result<Guaranteed> {
    let (held_out, table) = calibration;
    let Guarantee { measure, limit } = request.guarantee;
    check_confidence(request.confidence)?;
    if front.weight.is_some() {
        return Err(Error::new(ErrorKind::Usage, "with weights, nothing can be guaranteed")
            .help("the test counts independent people, and a row that stands for several is one draw"));
    }
    // In units; a loss is 0 or 1.
    let largest = if measure == Measure::Cost { largest_cost(front, prepared)? } else { 1 };
    let bound = if measure == Measure::Cost { largest as f64 / front.cost.unit as f64 } else { 1.0 };
    let overlap = overlap::overlap(prepared.table(), &held_out.table);
    overlap.refuse().map_err(|error| error.file(&held_out.path))?;
    let people = RoutedPeople::held_out(front, prepared, held_out)?;
    let groups = groups_of(front, prepared, reference, (&people, held_out, table), request)?;
    let level = 1.0 - request.confidence;
    let sums = |point: usize| sums_of(front, &people, point, measure, largest, &groups);
    // Of a sum of shares of the largest value.
    let p_value = |sum: f64, count: u64| match measure {
        Measure::Loss => binomial::at_most(sum.ceil() as u64, count, limit),
        Measure::Cost => binomial::mean_at_most(sum, count, limit / bound),
    };
    let counts: Vec<u64> = groups.iter().map(|group| group.people.count() as u64).collect();
    let p_values = |point: usize| -> Vec<f64> {
        sums(point)
            .iter()
            .zip(&counts)
            .map(|(&sum, &count)| p_value(sum as f64 / largest as f64, count))
            .collect()
    };
    let worst = |point: usize| p_values(point).into_iter().fold(0.0, f64::max);
    let order = request.guarantee.order(&front.points);
    let sequence = fixed_sequence(&order, level, worst);
    let Some(point) = request.guarantee.best(&order[..sequence.passed], &front.points) else {
        let needed = |mean: f64| people_needed(|count| p_value(mean / bound * count as f64, count), level);
        return Err(
            text::nothing(front, request, &groups, &counts, sequence.failed, needed).file(&held_out.path)
        );
    };
    let tested = groups.iter().zip(&counts).zip(sums(point).into_iter().zip(p_values(point)));
    let tested = tested.map(|((group, &count), (sum, p_value))| TestedGroup {
        by: group.by.clone(),
        group: group.name.clone(),
        shown: group.shown.clone(),
        affected: count,
        value: sum as f64 / largest as f64 * bound / count as f64,
        p_value,
    });
    Ok(Guaranteed {
        guarantee: request.guarantee.to_string(),
        confidence: request.confidence,
        point,
        passed: sequence.passed,
        failed: sequence.failed.map(|(point, _)| point),
        failed_p_value: sequence.failed.map(|(_, p)| p),
        rows: held_out.table.rows,
        affected: held_out.affected.len(),
        groups: tested.collect(),
        overlap,
        assumes: text::ASSUMES.to_owned(),
    })
}

/// Refuses a confidence that is none.
pub fn check_confidence(confidence: f64) -> Result<()> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Usage, format!("a confidence of {confidence} is not between 0 and 1"))
        .help("use 0.95 for 95 %"))
}

/// Affected calibration people who are tested together.
struct Group {
    by: Option<String>,
    name: Option<String>,
    shown: Option<String>,
    people: RowSet,
}

fn groups_of(
    front: &FrontFile,
    prepared: &Prepared,
    reference: &Table,
    (people, held_out, table): (&RoutedPeople, &HeldOut, &Table),
    request: &GuaranteeRequest,
) -> Result<Vec<Group>> {
    if request.groups.is_empty() {
        return Ok(vec![Group { by: None, name: None, shown: None, people: RowSet::full(people.count()) }]);
    }
    let fitted = RoutedPeople::reference(front, prepared)?;
    let mut groups = Vec::new();
    for grouping in &request.groups {
        let here = View { columns: reference, features: prepared.table() };
        let rule = grouping.learn(here, prepared.config())?;
        let there = rule.apply(View { columns: table, features: &held_out.table })?;
        let of_fitted = fitted.by_group(&rule.apply(here)?.of_row, there.names.len());
        let of_people = people.by_group(&there.of_row, there.names.len());
        for ((name, fitted), people) in there.names.iter().zip(of_fitted).zip(of_people) {
            // A group in which the model turns nobody down has nobody to guarantee anything to.
            if fitted.count() + people.count() > 0 {
                let shown = format!("{} {}", grouping_title(front, &there.name), group_title(front, name));
                let (by, name) = (Some(there.name.clone()), Some(name.clone()));
                groups.push(Group { by, name, shown: Some(shown), people });
            }
        }
    }
    Ok(groups)
}

/// Per group, the sum at a point of losses, or of costs in units, none of them above the largest.
fn sums_of(
    front: &FrontFile,
    people: &RoutedPeople,
    point: usize,
    measure: Measure,
    largest: u64,
    groups: &[Group],
) -> Vec<u64> {
    let mut sums = vec![0u64; groups.len()];
    for (action, leaf) in people.leaves(&front.points[point].tree) {
        for (sum, group) in sums.iter_mut().zip(groups) {
            let here = leaf.and(&group.people);
            *sum += match measure {
                Measure::Loss => here.and_not(people.flips(action)).count() as u64,
                Measure::Cost => here.iter().map(|person| people.cost(action, person).min(largest)).sum(),
            };
        }
    }
    sums
}

/// The largest cost in units that an action of the front can have for anyone within the range of the fitted table, if there is one.
fn largest_cost(front: &FrontFile, prepared: &Prepared) -> Result<u64> {
    let (kind, cost) = (front.cost.kind, prepared.cost());
    let features = &prepared.table().features;
    let weight = |feature: usize| {
        prepared.config().features.get(&features[feature].name).and_then(|f| f.weight).unwrap_or(1.0)
    };
    let refused = |why: &str| {
        Err(Error::new(ErrorKind::Usage, format!("a mean cost can't be guaranteed: {why}"))
            .help("guarantee a loss, or use the cost mps, cet or l1"))
    };
    match kind {
        // The change of a feature costs at most 1: differences of distribution functions, shares, changes within the range of the fitted
        // table (people from outside it count as if from its end).
        CostKind::Mps | CostKind::Cet | CostKind::L1 => {}
        CostKind::Logshift | CostKind::Table | CostKind::Function => {
            return refused("this cost has no largest value");
        }
    }
    // Each edit is rounded to whole units once, and rounding keeps the order.
    let unit = cost.unit() as f64;
    let largest = |edits: &Vec<Edit>| {
        let each = edits.iter().map(|edit| (unit * cost.combined(edit.touched().map(weight))).round() as u64);
        cost.combine().of(each)
    };
    Ok(front.edits_of_actions(features)?.iter().map(largest).max().unwrap_or(0).max(1))
}

impl Guaranteed {
    /// The result in sentences.
    pub fn text(&self) -> String {
        text::sentences(self)
    }

    /// A warning about calibration rows that the fitted table also has.
    pub fn warning(&self) -> Option<String> {
        let Overlap { equal, rows, .. } = self.overlap;
        (equal > 0).then(|| {
            format!(
                "{} of {} calibration rows equal rows of the fitted table, no more than its own duplicates suggest; if they are \
                 the same people, the guarantee does not hold",
                grouped(equal),
                grouped(rows)
            )
        })
    }
}

#[cfg(test)]
mod tests;
