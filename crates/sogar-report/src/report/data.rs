//! The contract between this crate and the page: what the report's JavaScript finds in `<script id="data">`.
//!
//! The page computes nothing that is decided elsewhere: totals are integers from the result file, group figures come from the
//! audit, sentences on the whole audit from `verdict.rs`. What it does itself is following a tree and adding up its leaves. Arrays with
//! one entry a point are kept side by side (and packed where they are many), and subtrees are stored once, since neighbouring
//! points of a front differ in a leaf or two.

use serde::Serialize;

use sogar_audit::audit::BlockedBy;
use sogar_front::summary::{Counts, EditRef, SplitRef, Status, as_count, as_count_if_any};
use sogar_prepare::limits::TreeLimits;
use sogar_table::config::CostKind;

use super::pack::Packed;

/// Everything that a report shows.
#[derive(Debug, Clone, Serialize)]
pub struct Data {
    /// The report's title.
    pub title: String,
    /// The verdict in one sentence.
    pub headline: String,
    /// What else there is to say at once, most important first.
    pub verdict: Vec<Statement>,
    /// How the front was made.
    pub made: Made,
    /// Whether the search was exhausted.
    pub status: Status,
    /// How far a stopped search may be from the complete front.
    pub certified_gap: Option<f64>,
    /// The reference table.
    pub table: Source,
    /// The model.
    pub model: Source,
    /// Who was turned down.
    pub population: Population,
    /// The cost.
    pub cost: Cost,
    /// Limits of trees and actions.
    pub limits: TreeLimits,
    /// Sizes of the problem.
    pub counts: Counts,
    /// The features, in table order.
    pub features: Vec<FeatureData>,
    /// What was left out, in sentences.
    pub exclusions: Vec<String>,
    /// The splits in use.
    pub splits: Vec<SplitRef>,
    /// The actions in use.
    pub actions: Vec<ActionData>,
    /// Nodes of trees, children before parents. Three numbers: split, left node, right node. Four: a leaf's action, people, flipped people,
    /// cost in units; a fifth is its position in `compositions`. One: the action of a leaf with fewer than `min_n` people.
    pub nodes: Vec<Vec<u64>>,
    /// The points.
    pub points: Points,
    /// Points with a name.
    pub picks: Vec<Pick>,
    /// The same trees on held-out people.
    pub holdout: Option<Holdout>,
    /// What individual advice would reach: pairs of total cost and people not flipped. No summary lies below.
    pub individual: Option<Vec<[u64; 2]>>,
    /// For a stopped search: no summary lies below these pairs.
    pub bound: Option<Vec<[u64; 2]>>,
    /// Ways of grouping people.
    pub groupings: Vec<GroupingData>,
    /// For each way a leaf is made up: per grouping, per group its people and flipped people; `None` where they are so few that they
    /// are not shown.
    pub compositions: Vec<Vec<Vec<Option<[u64; 2]>>>>,
    /// People whom no admissible action reaches.
    pub unreachable: Option<Unreachable>,
    /// Single people; only with `--include-rows`.
    pub people: Option<PeopleData>,
    /// What to bear in mind about the audit.
    pub notes: Vec<String>,
    /// How to make all this again.
    pub reproduce: Reproduce,
    /// Figures about fewer people are not shown.
    pub min_n: usize,
}

/// A sentence of the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// What it is about: `search`, `best`, `groups`, `reach` or `holdout`.
    pub about: &'static str,
    /// The sentence.
    pub text: String,
}

/// How the front was made.
#[derive(Debug, Clone, Serialize)]
pub struct Made {
    /// When, in UTC.
    pub date: String,
    /// By which version of the program.
    pub version: String,
    /// Version of the program that wrote the report.
    pub report_version: &'static str,
    /// Seconds for outcomes and search.
    pub seconds: f64,
    /// How outcomes were found.
    pub outcome_method: String,
}

/// A table or a model.
#[derive(Debug, Clone, Serialize)]
pub struct Source {
    /// The file's name, without folders.
    pub name: String,
    /// What it is.
    pub description: String,
    /// SHA-256 of its bytes.
    pub hash: String,
}

/// Who was turned down.
#[derive(Debug, Clone, Serialize)]
pub struct Population {
    /// People of the reference table: its rows, or their weight.
    #[serde(serialize_with = "as_count")]
    pub rows: f64,
    /// Affected people.
    #[serde(serialize_with = "as_count")]
    pub affected: f64,
    /// Units in one person, where points and leaves count them so: with decimal weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<u64>,
    /// What weights mean, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Class names.
    pub classes: Vec<String>,
    /// The desired ones.
    pub desired: Vec<String>,
}

/// The cost.
#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    /// Which one.
    pub kind: CostKind,
    /// Units in a cost of 1.
    pub unit: u64,
    /// What it means, in a sentence.
    pub text: &'static str,
}

/// A feature.
#[derive(Debug, Clone, Serialize)]
pub struct FeatureData {
    /// Its name.
    pub name: String,
    /// `real`, `integer`, `ordinal`, `categorical` or `binary`.
    pub kind: &'static str,
    /// Its levels in order; none for numbers.
    pub levels: Vec<String>,
    /// What actions may do with it, in a few words.
    pub change: String,
}

/// An action in use.
#[derive(Debug, Clone, Serialize)]
pub struct ActionData {
    /// Its number among all actions.
    pub id: u32,
    /// The action in words.
    pub text: String,
    /// Its edits.
    pub edits: Vec<EditRef>,
}

/// The points of the front, side by side: cost ascending, loss descending.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Points {
    /// Total cost in units.
    pub cost_sum: Vec<u64>,
    /// People not flipped.
    pub loss_count: Vec<u64>,
    /// Position of the tree in `nodes`.
    pub tree: Vec<usize>,
}

/// A point with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pick {
    /// The criterion as `sogar select --by` takes it.
    pub by: String,
    /// Its name for people.
    pub name: String,
    /// The point.
    pub point: usize,
}

/// The front on held-out people.
#[derive(Debug, Clone, Serialize)]
pub struct Holdout {
    /// SHA-256 of the table.
    pub hash: String,
    /// Its people.
    #[serde(serialize_with = "as_count")]
    pub rows: f64,
    /// Its affected people.
    #[serde(serialize_with = "as_count")]
    pub affected: f64,
    /// Units in one person, where points count them so: with decimal weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<u64>,
    /// Total cost in units, per point.
    pub cost_sum: Vec<u64>,
    /// People not flipped, per point.
    pub loss_count: Vec<u64>,
    /// Mean distance between a point's (cost, loss) on the two tables …
    pub mean_distance: f64,
    /// … and its standard deviation.
    pub sd_distance: f64,
}

/// One way of grouping people, on the reference table and on held-out people.
#[derive(Debug, Clone, Serialize)]
pub struct GroupingData {
    /// Its name.
    pub name: String,
    /// On the reference table.
    pub reference: GroupingFigures,
    /// On the held-out table.
    pub holdout: Option<GroupingFigures>,
}

/// One way of grouping people, on one table.
#[derive(Debug, Clone, Serialize)]
pub struct GroupingFigures {
    /// Lowest over highest adverse rate.
    pub adverse_rate_ratio: Option<f64>,
    /// Lowest over highest selection rate.
    pub selection_rate_ratio: Option<f64>,
    /// Highest minus lowest true positive rate.
    pub tpr_gap: Option<f64>,
    /// The points for which intervals are given: every `interval_step`-th, and the last.
    pub interval_step: usize,
    /// How many intervals of means over the front there are.
    pub comparisons: usize,
    /// The groups.
    pub groups: Vec<GroupData>,
}

/// A group on one table. Figures about fewer than `min_n` people are left out.
#[derive(Debug, Clone, Serialize)]
pub struct GroupData {
    /// Its name.
    pub name: String,
    /// Its people.
    #[serde(serialize_with = "as_count_if_any")]
    pub rows: Option<f64>,
    /// Its people that the model turns down.
    #[serde(serialize_with = "as_count_if_any")]
    pub affected: Option<f64>,
    /// Share of its people that the model turns down.
    pub adverse_rate: Option<f64>,
    /// Share of its people that the model does not turn down.
    pub selection_rate: Option<f64>,
    /// Its true positive rate.
    pub tpr: Option<f64>,
    /// Its affected people whom no admissible action reaches.
    #[serde(serialize_with = "as_count_if_any")]
    pub unreachable: Option<f64>,
    /// Recourse along the front; `None` for groups that are too small.
    pub measures: Option<sogar_audit::audit::Measures<MeasureData>>,
}

/// One measure of one group along the front. A gap is the group minus everyone else, which the page finds from `values` and the
/// points' totals.
#[derive(Debug, Clone, Serialize)]
pub struct MeasureData {
    /// Per point: the mean over the group's affected people. `None` for invalidity, the sum of the other two.
    pub values: Option<Packed>,
    /// Lower ends of the gap's 95 % intervals …
    pub low: Packed,
    /// … and the upper ones.
    pub high: Packed,
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

/// People whom no admissible action reaches.
#[derive(Debug, Clone, Serialize)]
pub struct Unreachable {
    /// How many of the affected.
    #[serde(serialize_with = "as_count")]
    pub count: f64,
    /// How many of them lifting one constraint would reach.
    pub blocked_by: Option<BlockedBy>,
}

/// Single people of the reference table, in table order.
#[derive(Debug, Clone, Serialize)]
pub struct PeopleData {
    /// Their rows in the table, counted from 1.
    pub rows: Vec<usize>,
    /// Per split in use: who passes, as base64 of a bitset.
    pub passes: Vec<String>,
    /// Per action in use: whom it flips.
    pub flips: Vec<String>,
    /// Per action in use: what it costs each, in units.
    pub costs: Vec<Packed>,
    /// Per grouping: each person's group.
    pub groups: Vec<Vec<usize>>,
}

/// How to make all this again.
#[derive(Debug, Clone, Serialize)]
pub struct Reproduce {
    /// The configuration, to be saved as `sogar.toml`.
    pub config: String,
    /// The commands, each with its purpose.
    pub commands: Vec<[String; 2]>,
}
