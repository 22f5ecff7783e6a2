//! The result of an audit, as `sogar audit --json` prints it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sogar_base::statistics::Interval;
use sogar_front::summary::{Status, as_count, as_count_if_any};

use super::scan::Scan;

/// A whole audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// Whether the front is complete.
    pub status: Status,
    /// Points of the front.
    pub points: usize,
    /// Bootstrap draws for the intervals of means over the front; 0 if these are computed like those of single points.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// Groups with fewer affected people get no statement.
    pub min_group: usize,
    /// The table that the front was made from.
    pub reference: PopulationAudit,
    /// The held-out table, if there is one.
    pub holdout: Option<PopulationAudit>,
    /// The worst-off subgroups of one point, if a scan was requested.
    #[serde(default)]
    pub scan: Option<Scan>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The audit of one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PopulationAudit {
    /// People of the table: its rows, or their weight.
    #[serde(serialize_with = "as_count")]
    pub rows: f64,
    /// People that the model turns down.
    #[serde(serialize_with = "as_count")]
    pub affected: f64,
    /// Affected people whom no admissible action flips, if this was requested.
    #[serde(serialize_with = "as_count_if_any")]
    pub unreachable: Option<f64>,
    /// What keeps them out of reach.
    pub blocked_by: Option<BlockedBy>,
    /// The share of people with a known true label for whom the model agrees; below 0.5 the label may be reversed.
    #[serde(default)]
    pub agreement: Option<f64>,
    /// One for each grouping.
    pub groupings: Vec<GroupingAudit>,
}

/// How many unreachable people would be reached if one constraint were lifted and all others stayed. A person may count under
/// several. `None`: not tested, because there are too many such actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockedBy {
    /// If immutable features could change.
    #[serde(serialize_with = "as_count_if_any")]
    pub immutability: Option<f64>,
    /// If ranges, directions, step sizes, targets and forbidden transitions were lifted.
    #[serde(serialize_with = "as_count_if_any")]
    pub limits: Option<f64>,
    /// If one more edit were allowed.
    #[serde(serialize_with = "as_count_if_any")]
    pub edits: Option<f64>,
    /// If rules were lifted.
    #[serde(serialize_with = "as_count_if_any")]
    pub rules: Option<f64>,
    /// No tested constraint is enough alone.
    #[serde(serialize_with = "as_count")]
    pub none_alone: f64,
}

/// The audit of one grouping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupingAudit {
    /// Its name, e.g. `sex` or `sex×race`.
    pub name: String,
    /// Its name for readers: features by their display names.
    #[serde(default)]
    pub shown: String,
    /// The groups, in the order of the column's values.
    pub groups: Vec<GroupAudit>,
    /// Lowest over highest adverse rate of the groups: a screening figure.
    pub adverse_rate_ratio: Option<f64>,
    /// Its 95 % interval.
    #[serde(default)]
    pub adverse_rate_ratio_interval: Option<Interval>,
    /// Lowest over highest selection rate of the groups (the ratio of the four-fifths rule): a screening figure.
    pub selection_rate_ratio: Option<f64>,
    /// Its 95 % interval.
    #[serde(default)]
    pub selection_rate_ratio_interval: Option<Interval>,
    /// Highest minus lowest true positive rate of the groups, if true labels are known.
    pub tpr_gap: Option<f64>,
    /// Its 95 % interval.
    #[serde(default)]
    pub tpr_gap_interval: Option<Interval>,
    /// Whether a condition such as `age<=25` divides people: then the first group is those who meet it.
    pub condition: bool,
    /// Per point of the front, the largest minus the smallest group; `None` with fewer than two groups that are large enough.
    pub spread: Option<Measures<Vec<f64>>>,
    /// Number of intervals of means over the front: groups times measures.
    pub comparisons: usize,
}

/// The audit of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupAudit {
    /// Its name.
    pub group: String,
    /// Its name for readers: features of conditions by their display names.
    #[serde(default)]
    pub shown: String,
    /// Its people.
    #[serde(serialize_with = "as_count")]
    pub rows: f64,
    /// Its people that the model turns down.
    #[serde(serialize_with = "as_count")]
    pub affected: f64,
    /// Whether the group, and the people outside it, are large enough for a statement on recourse.
    pub enough: bool,
    /// Share of its people that the model turns down; `None` if it is empty.
    pub adverse_rate: Option<f64>,
    /// Its 95 % interval.
    #[serde(default)]
    pub adverse_rate_interval: Option<Interval>,
    /// Share of its people that the model does not turn down; `None` if it is empty.
    pub selection_rate: Option<f64>,
    /// Its 95 % interval.
    #[serde(default)]
    pub selection_rate_interval: Option<Interval>,
    /// The share of its people with a desired true label whom the model does not turn down.
    pub tpr: Option<f64>,
    /// Its 95 % interval.
    #[serde(default)]
    pub tpr_interval: Option<Interval>,
    /// Its people with a desired true label.
    #[serde(serialize_with = "as_count_if_any")]
    pub positives: Option<f64>,
    /// Its affected people whom no admissible action flips.
    #[serde(serialize_with = "as_count_if_any")]
    pub unreachable: Option<f64>,
    /// The 95 % interval of their share of the group's affected people.
    #[serde(default)]
    pub unreachable_interval: Option<Interval>,
    /// What keeps them out of reach.
    pub blocked_by: Option<BlockedBy>,
    /// Recourse of its affected people along the front; `None` for groups that are not large `enough`.
    pub measures: Option<Measures<MeasureAudit>>,
    /// Further measures along the front, as requested; none for groups that are not large `enough`.
    #[serde(default)]
    pub further: Vec<FurtherAudit>,
    /// The same measures of individual recourse: everyone takes the cheapest action that works for them. Every list has one
    /// value. None without further measures, or if people out of reach were not looked for.
    #[serde(default)]
    pub individual: Vec<FurtherAudit>,
}

/// A value for each of the three measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measures<T> {
    /// Mean cost.
    pub cost: T,
    /// Share of people who are not flipped.
    pub loss: T,
    /// Their sum.
    pub invalidity: T,
}

/// One measure of one group along the front. A gap is the group minus everyone else: positive is worse for the group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasureAudit {
    /// Per point: the mean over the group's affected people.
    pub values: Vec<f64>,
    /// Per point: the gap.
    pub gap: Vec<f64>,
    /// Per point: the lower end of the gap's 95 % interval …
    pub low: Vec<f64>,
    /// … and the upper one.
    pub high: Vec<f64>,
    /// The mean of the gaps over the front.
    pub mean_gap: f64,
    /// The lower end of its 95 % interval …
    pub mean_gap_low: f64,
    /// … and the upper one.
    pub mean_gap_high: f64,
    /// Its interval that holds for all groups of the grouping together (Bonferroni): the ends of conditions with `.low` and
    /// `.high`.
    #[serde(default)]
    pub mean_gap_together: Option<Interval>,
    /// The p-value of the mean gap (Welch).
    #[serde(default)]
    pub p: Option<f64>,
    /// The same, corrected for the groups of the grouping (Holm).
    #[serde(default)]
    pub p_holm: Option<f64>,
    /// Share of points with a gap above 0.
    pub share_worse: f64,
    /// Share of points whose whole interval is above 0.
    pub share_clearly_worse: f64,
    /// The point with the gap furthest from 0.
    pub widest: usize,
}

/// A further measure of one group. Lists have a value for each point of the front. A value of `cost_to_reach` is `null` where the
/// group never reaches the share, and its gap where one side does not; one of `cost_of_success` where nobody succeeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FurtherAudit {
    /// The measure, e.g. `reached(0.2)`.
    pub measure: String,
    /// Per point: the group's value; `null` for `ks`, which is a gap by itself.
    pub values: Vec<Option<f64>>,
    /// Per point: the lower end of its 95 % interval …
    pub values_low: Vec<Option<f64>>,
    /// … and the upper one.
    pub values_high: Vec<Option<f64>>,
    /// Per point: the group minus everyone else. Worse for the group if positive; of `reached` and `choices`, if negative.
    pub gap: Vec<Option<f64>>,
    /// Per point: the lower end of the gap's 95 % interval …
    pub low: Vec<Option<f64>>,
    /// … and the upper one.
    pub high: Vec<Option<f64>>,
    /// Per point, for `ks`: the budget at which the two cost curves are furthest apart.
    pub at: Vec<Option<f64>>,
    /// The mean of the gaps over the front; for `cost_to_reach`, which may be infinite, the median.
    pub mean_gap: Option<f64>,
    /// The lower end of its 95 % interval: the mean (median) of the lower ends, no narrower than the interval of the mean …
    pub mean_gap_low: Option<f64>,
    /// … and the upper one.
    pub mean_gap_high: Option<f64>,
    /// Its interval that holds for all groups of the grouping together (Bonferroni).
    pub mean_gap_together: Option<Interval>,
    /// Share of points at which the group is worse off; for `ks` the share with a distance above 0.
    pub share_worse: f64,
    /// Share of points whose whole interval is on the worse side.
    pub share_clearly_worse: f64,
    /// The point with the gap furthest from 0.
    pub widest: usize,
}

/// The name of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MeasureName {
    /// Mean cost.
    Cost,
    /// Share of people who are not flipped.
    Loss,
    /// Their sum.
    Invalidity,
}

impl MeasureName {
    /// All measures.
    pub const ALL: [MeasureName; 3] = [MeasureName::Cost, MeasureName::Loss, MeasureName::Invalidity];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MeasureName::Cost => "cost",
            MeasureName::Loss => "loss",
            MeasureName::Invalidity => "invalidity",
        }
    }
}

impl<T> Measures<T> {
    /// The value for a measure.
    pub fn get(&self, measure: MeasureName) -> &T {
        match measure {
            MeasureName::Cost => &self.cost,
            MeasureName::Loss => &self.loss,
            MeasureName::Invalidity => &self.invalidity,
        }
    }

    /// Makes a value for each measure.
    pub fn each(mut make: impl FnMut(MeasureName) -> T) -> Self {
        Measures {
            cost: make(MeasureName::Cost),
            loss: make(MeasureName::Loss),
            invalidity: make(MeasureName::Invalidity),
        }
    }
}

impl Audit {
    /// The JSON Schema of an audit.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Audit).to_value()
    }
}
