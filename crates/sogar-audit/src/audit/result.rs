//! What an audit finds. This is what `sogar audit --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sogar_front::summary::{Status, as_count, as_count_if_any};

/// A whole audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// Whether the front is complete.
    pub status: Status,
    /// Points of the front.
    pub points: usize,
    /// Bootstrap draws behind the intervals of means over the front; 0 if these are computed like those of single points.
    pub draws: usize,
    /// Where the draws start.
    pub seed: u64,
    /// Nothing is said of groups with fewer affected people.
    pub min_group: usize,
    /// The table that the front was made from.
    pub reference: PopulationAudit,
    /// The held-out table, where there is one.
    pub holdout: Option<PopulationAudit>,
    /// What to bear in mind.
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
    /// Affected people that no admissible action flips, where this was asked for.
    #[serde(serialize_with = "as_count_if_any")]
    pub unreachable: Option<f64>,
    /// What stands in their way.
    pub blocked_by: Option<BlockedBy>,
    /// Of the people whose true label is known, the share for whom the model says the same; below 0.5 the label may be the other way
    /// round.
    #[serde(default)]
    pub agreement: Option<f64>,
    /// One for each way of grouping people.
    pub groupings: Vec<GroupingAudit>,
}

/// How many of some unreachable people would be reached if one constraint were lifted and all others stayed. A person may be
/// counted under several. `None`: not tested, because there are too many such actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockedBy {
    /// If features that are immutable could be changed.
    #[serde(serialize_with = "as_count_if_any")]
    pub immutability: Option<f64>,
    /// If ranges, directions, step sizes, targets and forbidden transitions were lifted.
    #[serde(serialize_with = "as_count_if_any")]
    pub limits: Option<f64>,
    /// If one edit more were allowed at a time.
    #[serde(serialize_with = "as_count_if_any")]
    pub edits: Option<f64>,
    /// If rules were lifted.
    #[serde(serialize_with = "as_count_if_any")]
    pub rules: Option<f64>,
    /// None of what was tested would be enough alone.
    #[serde(serialize_with = "as_count")]
    pub none_alone: f64,
}

/// The audit of one way of grouping people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupingAudit {
    /// Its name, e.g. `sex` or `sex×race`.
    pub name: String,
    /// The groups, in the order of the column's values.
    pub groups: Vec<GroupAudit>,
    /// Lowest over highest adverse rate of the groups: a screening figure.
    pub adverse_rate_ratio: Option<f64>,
    /// Lowest over highest selection rate of the groups (the ratio of the four-fifths rule): a screening figure.
    pub selection_rate_ratio: Option<f64>,
    /// Highest minus lowest true positive rate of the groups, where true labels are known.
    pub tpr_gap: Option<f64>,
    /// Whether people are divided by a condition such as `age<=25`: then the first group is those who meet it.
    pub condition: bool,
    /// Per point of the front, the largest minus the smallest group; `None` with fewer than two groups that are large enough.
    pub spread: Option<Measures<Vec<f64>>>,
    /// How many intervals of means over the front are looked at: groups times measures.
    pub comparisons: usize,
}

/// The audit of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupAudit {
    /// Its name.
    pub group: String,
    /// Its people.
    #[serde(serialize_with = "as_count")]
    pub rows: f64,
    /// Its people that the model turns down.
    #[serde(serialize_with = "as_count")]
    pub affected: f64,
    /// Whether the group, and what is outside it, are large enough for a statement on recourse.
    pub enough: bool,
    /// Share of its people that the model turns down; `None` if it has nobody.
    pub adverse_rate: Option<f64>,
    /// Share of its people that the model does not turn down; `None` if it has nobody.
    pub selection_rate: Option<f64>,
    /// Of its people with a desired true label, the share that the model does not turn down.
    pub tpr: Option<f64>,
    /// Its people with a desired true label.
    #[serde(serialize_with = "as_count_if_any")]
    pub positives: Option<f64>,
    /// Its affected people that no admissible action flips.
    #[serde(serialize_with = "as_count_if_any")]
    pub unreachable: Option<f64>,
    /// What stands in their way.
    pub blocked_by: Option<BlockedBy>,
    /// Recourse of its affected people along the front; `None` for groups that are not large `enough`.
    pub measures: Option<Measures<MeasureAudit>>,
}

/// Something for each of the three measures.
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
    /// Share of points with a gap above 0.
    pub share_worse: f64,
    /// Share of points whose whole interval is above 0.
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
    /// The one of this name.
    pub fn get(&self, measure: MeasureName) -> &T {
        match measure {
            MeasureName::Cost => &self.cost,
            MeasureName::Loss => &self.loss,
            MeasureName::Invalidity => &self.invalidity,
        }
    }

    /// What `make` gives for each measure.
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
