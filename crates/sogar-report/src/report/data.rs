//! The contract between this crate and the page: what the report's JavaScript finds in `<script id="data">`.
//!
//! The page computes nothing that is decided elsewhere: totals are integers from the result file, group figures come from the
//! audit, sentences about the whole audit from `verdict.rs`. The page itself only follows a tree and adds up its leaves. Arrays
//! with one entry per point are stored side by side (and packed if they are many), and each distinct subtree is stored once,
//! because neighbouring points of a front differ in a leaf or two.

use std::collections::BTreeMap;

use serde::Serialize;

use sogar_audit::audit::Scan;
use sogar_base::statistics::Interval;
use sogar_front::fairness::FairnessRef;
use sogar_front::neighbours::Neighbours;
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
    /// Further statements, most important first.
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
    /// Who is turned down.
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
    /// Nodes of trees, children before parents. Three numbers: split, left node, right node. Four: a leaf's action, people,
    /// flipped people, cost in units; a fifth is its position in `compositions`. One: the action of a leaf with fewer than
    /// `min_n` people.
    pub nodes: Vec<Vec<u64>>,
    /// The points.
    pub points: Points,
    /// Named points.
    pub picks: Vec<Pick>,
    /// What the search found out about groups, if it had some.
    pub fairness: Option<FairnessData>,
    /// The same trees on held-out people.
    pub holdout: Option<Holdout>,
    /// Per point and leaf, for the people for whom it works: the mean share of real people who are less usual, before and after; null
    /// for few people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plausibility: Option<Vec<Vec<Option<[f64; 2]>>>>,
    /// Per named point and leaf, the real people nearest to an edited one; only with `--include-rows`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub neighbours: BTreeMap<usize, Vec<Option<Neighbours>>>,
    /// What individual recourse would reach: pairs of total cost and people not flipped. No summary lies below.
    pub individual: Option<Vec<[u64; 2]>>,
    /// For a stopped search: no summary lies below these pairs.
    pub bound: Option<Vec<[u64; 2]>>,
    /// The groupings.
    pub groupings: Vec<GroupingData>,
    /// The distinct compositions of leaves: per grouping, per group its people and flipped people; `None` if they are too few to
    /// show.
    pub compositions: Vec<Vec<Vec<Option<[u64; 2]>>>>,
    /// The worst-off subgroups of one point; only with a scan.
    pub scan: Option<Scan>,
    /// People whom no admissible action reaches.
    pub unreachable: Option<Unreachable>,
    /// Individual people; only with `--include-rows`.
    pub people: Option<PeopleData>,
    /// For each grouping with figures, the gap in loss between its groups at every point; the page computes it from the groupings.
    #[serde(skip)]
    pub gaps: Vec<(String, Vec<f64>)>,
    /// Notes on the audit.
    pub notes: Vec<String>,
    /// How to reproduce the report.
    pub reproduce: Reproduce,
    /// Figures about fewer people are not shown.
    pub min_n: usize,
    /// The same as a static document in HTML: for printers, and for browsers without JavaScript.
    #[serde(skip)]
    pub printed: String,
}

/// A sentence of the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// What it is about: `search`, `best`, `groups`, `reach`, `holdout` or `price`.
    pub about: &'static str,
    /// The sentence.
    pub text: String,
}

/// The groups' front of a search that distinguished groups.
#[derive(Debug, Clone, Serialize)]
pub struct FairnessData {
    /// As in the result file.
    #[serde(flatten)]
    pub found: FairnessRef,
    /// The limit on the gap, if there is one.
    pub limit: Option<f64>,
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
    /// How outcomes were computed.
    pub outcome_method: String,
}

/// A table or a model.
#[derive(Debug, Clone, Serialize)]
pub struct Source {
    /// The file's name, without folders.
    pub name: String,
    /// Its description.
    pub description: String,
    /// SHA-256 of its bytes.
    pub hash: String,
}

/// Who is turned down.
#[derive(Debug, Clone, Serialize)]
pub struct Population {
    /// People of the reference table: its rows, or their weight.
    #[serde(serialize_with = "as_count")]
    pub rows: f64,
    /// Affected people.
    #[serde(serialize_with = "as_count")]
    pub affected: f64,
    /// Units in one person, if points and leaves count units: with decimal weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<u64>,
    /// What weights mean, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Class names.
    pub classes: Vec<String>,
    /// The desired ones.
    pub desired: Vec<String>,
    /// The desired ones as the configuration calls them.
    pub shown: Vec<String>,
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
    /// Its name in sentences, if it has another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// The unit behind its numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
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

/// A named point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pick {
    /// The criterion as `sogar select --by` takes it.
    pub by: String,
    /// Its display name.
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
    /// Units in one person, if points count units: with decimal weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<u64>,
    /// Total cost in units, per point.
    pub cost_sum: Vec<u64>,
    /// People not flipped, per point.
    pub loss_count: Vec<u64>,
    /// 95 % intervals of the share for whom a point works: its ends, and those of the band for all points at once.
    pub works: Vec<[f64; 4]>,
    /// Per point the ends of the 95 % interval of the mean cost; null in results of earlier programs.
    pub cost: Vec<Option<[f64; 2]>>,
    /// Per point and leaf the share for whom it works and the ends of its interval; null for few people.
    pub leaves: Vec<Vec<Option<[f64; 3]>>>,
    /// Mean distance between a point's (cost, loss) on the two tables …
    pub mean_distance: f64,
    /// … and its standard deviation.
    pub sd_distance: f64,
}

/// One grouping, on the reference table and on held-out people.
#[derive(Debug, Clone, Serialize)]
pub struct GroupingData {
    /// Its name, as in flags and audits.
    pub name: String,
    /// Its name for readers: features by their display names.
    pub shown: String,
    /// On the reference table.
    pub reference: GroupingFigures,
    /// On the held-out table.
    pub holdout: Option<GroupingFigures>,
}

/// One grouping, on one table.
#[derive(Debug, Clone, Serialize)]
pub struct GroupingFigures {
    /// Lowest over highest adverse rate.
    pub adverse_rate_ratio: Option<f64>,
    /// Its 95 % interval.
    pub adverse_rate_ratio_interval: Option<Interval>,
    /// Lowest over highest selection rate.
    pub selection_rate_ratio: Option<f64>,
    /// Its 95 % interval.
    pub selection_rate_ratio_interval: Option<Interval>,
    /// Highest minus lowest true positive rate.
    pub tpr_gap: Option<f64>,
    /// Its 95 % interval.
    pub tpr_gap_interval: Option<Interval>,
    /// The points with intervals: every `interval_step`-th, and the last.
    pub interval_step: usize,
    /// Number of intervals of means over the front.
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
    /// Its 95 % interval.
    pub selection_rate_interval: Option<Interval>,
    /// Its true positive rate.
    pub tpr: Option<f64>,
    /// Its 95 % interval.
    pub tpr_interval: Option<Interval>,
    /// Its affected people whom no admissible action reaches.
    #[serde(serialize_with = "as_count_if_any")]
    pub unreachable: Option<f64>,
    /// Recourse along the front; `None` for groups that are too small.
    pub measures: Option<sogar_audit::audit::Measures<MeasureData>>,
}

/// One measure of one group along the front. A gap is the group minus everyone else, which the page computes from `values` and
/// the points' totals.
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
    /// Whether there are any.
    pub some: bool,
    /// Their number among the affected people; `None` if they, or the others, are too few to show.
    #[serde(serialize_with = "as_count_if_any")]
    pub count: Option<f64>,
    /// How many of them lifting one constraint would reach, as far as that may be shown.
    pub blocked_by: Option<BTreeMap<&'static str, Option<f64>>>,
}

/// Individual people of the reference table, in table order.
#[derive(Debug, Clone, Serialize)]
pub struct PeopleData {
    /// Their rows in the table, counted from 1.
    pub rows: Vec<usize>,
    /// Per split in use: who passes, as base64 of a bitset.
    pub passes: Vec<String>,
    /// Per action in use: whom it flips.
    pub flips: Vec<String>,
    /// Per action in use: its cost for each person, in units.
    pub costs: Vec<Packed>,
    /// Per grouping: each person's group.
    pub groups: Vec<Vec<usize>>,
}

/// How to reproduce the report.
#[derive(Debug, Clone, Serialize)]
pub struct Reproduce {
    /// The configuration, to save as `sogar.toml`.
    pub config: String,
    /// The commands, each with its purpose.
    pub commands: Vec<[String; 2]>,
}
