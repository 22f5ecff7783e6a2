//! The result file `front.json`: a front of recourse summaries with everything that later commands need.
//!
//! All commands after `solve` read only this file and, if they need it, the table. It names the table and the model by content
//! hash. For the actions in use it stores who is flipped, so looking at a front needs neither the model nor a new search. For a
//! complete run, everything outside the block `run` is a function of table, model and configuration: the same bytes on every
//! machine, for any number of threads.

mod bits;
mod changes;
mod claims;
mod gap;
mod other_rows;
mod people;
mod plausible;
mod read;
mod round_trip;
mod tree;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fairness::FairnessRef;
use sogar_base::error::Result;
use sogar_base::files::write_atomically;
use sogar_prepare::limits::TreeLimits;
use sogar_table::config::{Config, CostKind};
use sogar_table::feature::Feature;

pub use sogar_prepare::prepared::{EvaluatedPoint, means};

pub use bits::Bits;
pub use changes::{ActionRef, ChangeRef, EditRef, FollowerRef, SplitRef, Value};
pub use claims::Claim;
pub use gap::certified_gap;
pub use other_rows::{Evaluation, HeldOutLeaf, PointDetail, SampleRef, distances};
pub use people::{PeopleCounts, as_count, as_count_if_any};
pub use plausible::{ForestRef, PlausibilityRef, UsualRef};
pub use tree::{Node, PointRef};

/// The version of the format that this program writes.
pub const VERSION: u32 = 2;
/// The previous version, which can still be read. It followed other rules, so it can no longer be verified.
pub(crate) const EARLIER_VERSION: u32 = 1;
/// The value of the field `format`.
pub const FORMAT: &str = "sogar-front";

/// A front of recourse summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FrontFile {
    /// Always `sogar-front`.
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// Whether the search was exhausted, or why it stopped.
    pub status: Status,
    /// The configuration of the run.
    pub config: Config,
    /// The reference table.
    pub table: TableRef,
    /// The model.
    pub model: ModelRef,
    /// Further models: an action works for a person only if enough of all models accept (`agree` in `config.model`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<ModelRef>,
    /// Who is turned down.
    pub population: PopulationRef,
    /// How many people each row stands for, if not one. Then everything that counts people (`loss_count`, the `rows` and
    /// `flipped` of leaves) counts units of weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<WeightRef>,
    /// The features, in table order.
    pub features: Vec<Feature>,
    /// Sizes of the problem.
    pub counts: Counts,
    /// The cost and its unit.
    pub cost: CostRef,
    /// Limits of trees and actions.
    pub limits: TreeLimits,
    /// The splits in use, by the points or the sample's front; trees refer to them by position.
    pub splits: Vec<SplitRef>,
    /// The actions in use, likewise; trees refer to them by position.
    pub actions: Vec<ActionRef>,
    /// The front: cost ascending, loss descending. With a limit on the gap between groups: the front of the summaries within it. If the
    /// configuration asks for `minimax`: cost ascending, the largest loss of a group descending.
    pub points: Vec<PointRef>,
    /// For a stopped run: no summary lies below these pairs of (cost_sum, loss_count). Absent for a run on a sample; see
    /// `sample`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Vec<[u64; 2]>>,
    /// The sample on which the trees were found, if not on all people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampleRef>,
    /// What the search found out about groups, if it had some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<FairnessRef>,
    /// How usual edited rows are, if the configuration asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plausibility: Option<PlausibilityRef>,
    /// The same trees on held-out rows, if there is a held-out table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<Evaluation>,
    /// How this run went; the only block that may differ between two complete runs.
    pub run: RunRef,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every non-dominated summary is included.
    Complete,
    /// Every summary that is non-dominated on a sample was evaluated on all people; those that are non-dominated there are
    /// included.
    CompleteOnSample,
    /// Every summary has one on the front over groups that is at most `fairness.epsilon` worse in cost and in the loss of each group.
    CompleteWithinEpsilon,
    /// The time limit stopped it.
    TimeLimit,
    /// The user stopped it.
    Cancelled,
}

impl Status {
    /// Whether the search stopped before its end.
    pub fn is_early(self) -> bool {
        matches!(self, Status::TimeLimit | Status::Cancelled)
    }

    /// The name used in files and on the terminal.
    pub fn name(self) -> &'static str {
        match self {
            Status::Complete => "complete",
            Status::CompleteOnSample => "complete_on_sample",
            Status::CompleteWithinEpsilon => "complete_within_epsilon",
            Status::TimeLimit => "time_limit",
            Status::Cancelled => "cancelled",
        }
    }
}

/// The reference table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableRef {
    /// Number of rows.
    pub rows: usize,
    /// SHA-256 of the file's bytes.
    pub hash: String,
}

/// The model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRef {
    /// Its format.
    pub format: String,
    /// One line on its size.
    pub description: String,
    /// SHA-256 of the file's bytes; for a command, of the command line.
    pub hash: String,
}

/// Who is turned down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PopulationRef {
    /// Rows of the reference table.
    pub rows: usize,
    /// Affected rows.
    pub affected: usize,
    /// Class names in the order of the model's class indices.
    pub classes: Vec<String>,
    /// The desired classes.
    pub desired: Vec<String>,
    /// Which rows of the table are affected.
    pub affected_rows: Bits,
}

/// How many people rows stand for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WeightRef {
    /// The column with the weights.
    pub column: String,
    /// Units in the weight of one person: 1, or a power of ten where weights have decimals.
    pub unit: u64,
    /// The weight of all rows, in units.
    pub total: u64,
    /// The weight of the affected rows, in units.
    pub affected: u64,
}

/// Sizes of the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Splits that divide the affected rows differently.
    pub splits: usize,
    /// Edits.
    pub edits: usize,
    /// Actions, the identity included.
    pub actions: usize,
}

/// The cost and its unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CostRef {
    /// Which cost.
    pub kind: CostKind,
    /// Units in a cost of 1: a mean cost is `cost_sum / unit / affected` (with weights: `weight.affected`).
    pub unit: u64,
    /// SHA-256 of the cost table's bytes, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_hash: Option<String>,
}

/// How a run went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRef {
    /// Version of the program.
    pub version: String,
    /// When it ended, in UTC.
    pub date: String,
    /// The reference table's path.
    pub table_path: String,
    /// The model's path; for a command, the command line.
    pub model_path: String,
    /// The paths of further models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_paths: Vec<String>,
    /// The folder of files named in the configuration.
    #[serde(default)]
    pub folder: String,
    /// The held-out table's path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout_path: Option<String>,
    /// Threads.
    pub threads: usize,
    /// The device of leaves and outcomes: `cpu`, or the name of a GPU.
    #[serde(default)]
    pub device: String,
    /// Seconds for the outcomes of all actions on all rows.
    pub seconds_outcomes: f64,
    /// Seconds for the search.
    pub seconds_search: f64,
    /// Number of distinct leaf sets evaluated.
    pub leaf_sets: u64,
    /// Groups of actions that one popcount ruled out or let through, over all leaf sets.
    #[serde(default)]
    pub groups_tested: u64,
    /// Actions whose flips were counted, over all leaf sets.
    #[serde(default)]
    pub losses_counted: u64,
    /// Actions whose cost was summed, over all leaf sets.
    #[serde(default)]
    pub costs_summed: u64,
    /// Outcomes so close to the threshold that the model itself decided.
    pub settled_outcomes: u64,
    /// How outcomes were computed.
    pub outcome_method: String,
}

impl FrontFile {
    /// Writes the file atomically.
    pub fn write(&self, path: &std::path::Path) -> Result<()> {
        write_atomically(path, |out| {
            serde_json::to_writer(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }

    /// The points as CSV.
    pub fn points_csv(&self) -> String {
        let mut text = String::from("point,cost,loss,invalidity,cost_sum,loss_count,leaves,depth\n");
        for (i, p) in self.points.iter().enumerate() {
            let PointRef { cost, loss, invalidity, cost_sum, loss_count, leaves, depth, .. } = p;
            text += &format!("{i},{cost},{loss},{invalidity},{cost_sum},{loss_count},{leaves},{depth}\n");
        }
        text
    }

    /// The JSON Schema of the file.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(FrontFile).to_value()
    }
}
