//! The result file `front.json`: a front of recourse summaries with everything that later commands need.
//!
//! All commands after `solve` read only this file and, if they need it, the table. It names the table and the model by content
//! hash. For the actions in use it stores who is flipped, so looking at a front needs neither the model nor a new search. For a
//! complete run, everything outside the block `run` is a function of table, model and configuration: the same bytes on every
//! machine, for any number of threads.

mod bits;
mod claims;
mod gap;
mod people;
mod read;
mod round_trip;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fairness::FairnessRef;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::write_atomically;
use sogar_prepare::actions::{Change, Edit, Follower};
use sogar_prepare::limits::TreeLimits;
use sogar_table::binarize::{Split, Test};
use sogar_table::config::{Config, CostKind};
use sogar_table::feature::{Feature, feature_index};

pub use sogar_prepare::prepared::{EvaluatedPoint, means};

pub use bits::Bits;
pub use claims::Claim;
pub use people::PeopleCounts;
pub use people::{as_count, as_count_if_any};

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
    /// What the search found out about groups, if it was told some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<FairnessRef>,
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

/// A value as a table writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A level's name.
    Level(String),
}

/// A split in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SplitRef {
    /// The feature's name.
    pub feature: String,
    /// `<=` or `=`.
    pub test: String,
    /// The threshold, the highest passing level, the category, or the special code of a number.
    pub value: Value,
    /// The split in words.
    pub text: String,
}

/// An action in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionRef {
    /// Its number among all actions of the problem.
    pub id: u32,
    /// Its edits.
    pub edits: Vec<EditRef>,
    /// The action in words.
    pub text: String,
    /// Which affected rows it flips, in the order of `affected_rows`.
    pub flips: Bits,
}

/// An edit of one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EditRef {
    /// The feature's name.
    pub feature: String,
    /// What happens to it.
    #[serde(flatten)]
    pub change: ChangeRef,
    /// Linked features that move with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub followers: Vec<FollowerRef>,
}

/// A change of a feature's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum ChangeRef {
    /// Adds `by` (ordinals: levels), within `[lo, hi]` and never against its sign.
    Shift {
        /// The signed amount.
        by: f64,
        /// Smallest value that the edit produces.
        lo: f64,
        /// Largest value that the edit produces.
        hi: f64,
    },
    /// Raises smaller values to `to`.
    #[serde(rename = "at_least")]
    AtLeast {
        /// The value.
        to: f64,
    },
    /// Brings larger values down to `to`.
    #[serde(rename = "at_most")]
    AtMost {
        /// The value.
        to: f64,
    },
    /// Sets a level, unless the row is at one of `not_from`.
    Set {
        /// The level.
        to: String,
        /// Levels from which this is forbidden.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_from: Vec<String>,
    },
    /// Sets a level on rows at the level `from`.
    Swap {
        /// The level that rows must be at.
        from: String,
        /// The level that they get.
        to: String,
    },
    /// Sets the other of two values.
    Flip,
}

/// A linked feature that moves with an edited one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FollowerRef {
    /// Its name.
    pub feature: String,
    /// Multiplies the change of the edited feature.
    pub factor: f64,
    /// Never below this value …
    pub lo: f64,
    /// … or above this one.
    pub hi: f64,
    /// Rounded to whole values.
    pub whole: bool,
}

/// A point of the front.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointRef {
    /// Mean cost over the affected rows.
    pub cost: f64,
    /// Share of the affected rows that are not flipped.
    pub loss: f64,
    /// Their sum.
    pub invalidity: f64,
    /// Total cost in units.
    pub cost_sum: u64,
    /// Number of rows that are not flipped (with weights: their weight, in units).
    pub loss_count: u64,
    /// Number of leaves.
    pub leaves: u32,
    /// Depth of the tree.
    pub depth: u32,
    /// The summary.
    pub tree: Node,
}

/// A node of a summary tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Node {
    /// Rows that pass the test go left, the others right.
    Split {
        /// Position in `splits`.
        split: usize,
        /// Rows that pass.
        left: Box<Node>,
        /// Rows that fail.
        right: Box<Node>,
    },
    /// All rows here get one action.
    Leaf {
        /// Position in `actions`.
        action: usize,
        /// Affected rows in this leaf.
        rows: u64,
        /// How many of them the action flips.
        flipped: u64,
        /// Total cost in units.
        cost_sum: u64,
    },
}

/// The front on other rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// SHA-256 of the table.
    pub hash: String,
    /// Rows of the table.
    pub rows: usize,
    /// Affected rows.
    pub affected: usize,
    /// How many people the rows stand for, if the front has weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<WeightRef>,
    /// Each point of the front on these rows, in order.
    pub points: Vec<EvaluatedPoint>,
    /// What intervals are computed from, for each point; results of earlier programs lack it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<PointDetail>,
    /// Mean Euclidean distance between a point's (cost, loss) in the reference table and here …
    pub mean_distance: f64,
    /// … and its standard deviation over the points.
    pub sd_distance: f64,
}

/// More about a point of the front on other rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointDetail {
    /// Standard deviation of the cost over the affected people.
    pub cost_sd: f64,
    /// The leaves of its tree from left to right.
    pub leaves: Vec<HeldOutLeaf>,
}

/// A leaf on other rows (with weights: everything in units of weight).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldOutLeaf {
    /// Affected rows in this leaf.
    pub rows: u64,
    /// How many of them the action flips.
    pub flipped: u64,
    /// Total cost in units of cost.
    pub cost_sum: u64,
}

/// The sample of affected rows that was searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleRef {
    /// Number of affected rows in the sample.
    pub rows: usize,
    /// Fewest rows of the sample in a leaf (with weights: the least weight, in units).
    pub min_leaf: u32,
    /// How the search on the sample ended.
    pub status: Status,
    /// The front of the sample: costs, losses and leaves count the people of the sample.
    pub front: Vec<PointRef>,
    /// For a stopped search: no summary lies below these pairs of (cost_sum, loss_count) on the sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Vec<[u64; 2]>>,
    /// Summaries that were evaluated on all people: the sample's front, and "no change".
    pub found: usize,
    /// How many of them have a leaf that is too small among all people.
    pub too_small: usize,
    /// How many of the others are dominated on all people.
    pub dominated: usize,
    /// Each point of the front on the sample, in order.
    pub points: Vec<EvaluatedPoint>,
    /// Mean Euclidean distance between a point's (cost, loss) on the sample and on all people …
    pub mean_distance: f64,
    /// … and its standard deviation over the points.
    pub sd_distance: f64,
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

/// Mean and standard deviation of the Euclidean distances between (cost, loss) of the same points on different rows.
pub fn distances(pairs: impl Iterator<Item = ((f64, f64), (f64, f64))>) -> (f64, f64) {
    let distances: Vec<f64> = pairs.map(|(here, there)| (here.0 - there.0).hypot(here.1 - there.1)).collect();
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let variance = distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / distances.len() as f64;
    (mean, variance.sqrt())
}

impl SplitRef {
    /// Describes a split.
    pub fn new(split: &Split, features: &[Feature]) -> Self {
        let feature = &features[split.feature];
        let level = |index: usize| Value::Level(sogar_table::binarize::level_name(feature, index).to_owned());
        let (test, value) = match split.test {
            Test::AtMost(edge) if feature.is_numeric() => ("<=", Value::Number(edge)),
            Test::AtMost(edge) => ("<=", level(edge as usize)),
            Test::Equals(index) => ("=", level(index)),
            Test::Is(code) => ("=", Value::Number(code)),
        };
        SplitRef { feature: feature.name.clone(), test: test.to_owned(), value, text: split.text(features) }
    }

    /// The split among these features.
    pub fn split(&self, features: &[Feature]) -> Result<Split> {
        let feature = feature_index(features, &self.feature)?;
        let level = |name: &str| level_of(&features[feature], name);
        let test = match (self.test.as_str(), &self.value) {
            ("<=", Value::Number(edge)) => Test::AtMost(*edge),
            ("<=", Value::Level(name)) => Test::AtMost(level(name)? as f64),
            ("=", Value::Level(name)) => Test::Equals(level(name)?),
            ("=", Value::Number(code)) if features[feature].is_code(*code) => Test::Is(*code),
            (other, _) => {
                return Err(Error::new(ErrorKind::ResultFile, format!("unknown test `{other}`")));
            }
        };
        Ok(Split { feature, test })
    }
}

fn level_of(feature: &Feature, name: &str) -> Result<usize> {
    feature.level_index(name).ok_or_else(|| {
        Error::new(ErrorKind::ResultFile, format!("`{name}` is not a value of `{}`", feature.name))
    })
}

impl EditRef {
    /// Describes an edit.
    pub fn new(edit: &Edit, features: &[Feature]) -> Self {
        let feature = &features[edit.feature];
        let level = |index: usize| sogar_table::binarize::level_name(feature, index).to_owned();
        let change = match &edit.change {
            Change::Shift { by, lo, hi, .. } => ChangeRef::Shift { by: *by, lo: *lo, hi: *hi },
            Change::AtLeast { to, .. } => ChangeRef::AtLeast { to: *to },
            Change::AtMost { to, .. } => ChangeRef::AtMost { to: *to },
            Change::Set { to, not_from } => ChangeRef::Set {
                to: level(*to),
                not_from: not_from.iter().map(|&from| level(from)).collect(),
            },
            Change::Swap { from, to } => ChangeRef::Swap { from: level(*from), to: level(*to) },
            Change::Flip => ChangeRef::Flip,
        };
        let followers = edit.followers.iter().map(|follower| FollowerRef {
            feature: features[follower.feature].name.clone(),
            factor: follower.factor,
            lo: follower.lo,
            hi: follower.hi,
            whole: follower.whole,
        });
        EditRef { feature: feature.name.clone(), change, followers: followers.collect() }
    }

    /// The edit of these features.
    pub fn edit(&self, features: &[Feature]) -> Result<Edit> {
        let feature = feature_index(features, &self.feature)?;
        let level = |name: &String| level_of(&features[feature], name);
        let change = match &self.change {
            ChangeRef::Shift { by, lo, hi } => {
                Change::Shift { by: *by, lo: *lo, hi: *hi, codes: features[feature].codes.clone() }
            }
            ChangeRef::AtLeast { to } => Change::AtLeast { to: *to, codes: features[feature].codes.clone() },
            ChangeRef::AtMost { to } => Change::AtMost { to: *to, codes: features[feature].codes.clone() },
            ChangeRef::Set { to, not_from } => {
                Change::Set { to: level(to)?, not_from: not_from.iter().map(level).collect::<Result<_>>()? }
            }
            ChangeRef::Swap { from, to } => Change::Swap { from: level(from)?, to: level(to)? },
            ChangeRef::Flip => Change::Flip,
        };
        let followers = self.followers.iter().map(|follower| {
            let feature = feature_index(features, &follower.feature)?;
            Ok(Follower {
                feature,
                codes: features[feature].codes.clone(),
                factor: follower.factor,
                lo: follower.lo,
                hi: follower.hi,
                whole: follower.whole,
            })
        });
        Ok(Edit { feature, change, followers: followers.collect::<Result<_>>()? })
    }
}

impl Node {
    /// The leaf of a person, given which splits they pass, and its number from the left.
    pub fn route(&self, mut passes: impl FnMut(usize) -> bool) -> (usize, &Node) {
        let (mut node, mut number) = (self, 0);
        while let Node::Split { split, left, right } = node {
            node = if passes(*split) {
                left
            } else {
                number += left.leaves() as usize;
                right
            };
        }
        (number, node)
    }

    /// The position of a leaf's action in the front's list; for a tree, that of its first leaf.
    pub fn action(&self) -> usize {
        match self {
            Node::Leaf { action, .. } => *action,
            Node::Split { left, .. } => left.action(),
        }
    }

    /// Number of leaves.
    pub fn leaves(&self) -> u32 {
        match self {
            Node::Leaf { .. } => 1,
            Node::Split { left, right, .. } => left.leaves() + right.leaves(),
        }
    }

    /// Total rows of all leaves, saturating.
    pub fn rows(&self) -> u64 {
        match self {
            Node::Leaf { rows, .. } => *rows,
            Node::Split { left, right, .. } => left.rows().saturating_add(right.rows()),
        }
    }

    /// Number of tests on the longest path to a leaf.
    pub fn depth(&self) -> u32 {
        match self {
            Node::Leaf { .. } => 0,
            Node::Split { left, right, .. } => 1 + left.depth().max(right.depth()),
        }
    }

    /// The leaves from left to right, each with the tests on its path: `(position in splits, passed)`.
    pub fn rules(&self) -> Vec<(Vec<(usize, bool)>, &Node)> {
        match self {
            Node::Leaf { .. } => vec![(Vec::new(), self)],
            Node::Split { split, left, right } => [(left, true), (right, false)]
                .into_iter()
                .flat_map(|(child, passed)| {
                    child.rules().into_iter().map(move |(mut tests, leaf)| {
                        tests.insert(0, (*split, passed));
                        (tests, leaf)
                    })
                })
                .collect(),
        }
    }
}
