//! A front on rows other than those it was searched on: held-out rows, or everybody after a search on a sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EvaluatedPoint, PointRef, Status, WeightRef};

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

/// Mean and standard deviation of the Euclidean distances between (cost, loss) of the same points on different rows.
pub fn distances(pairs: impl Iterator<Item = ((f64, f64), (f64, f64))>) -> (f64, f64) {
    let distances: Vec<f64> = pairs.map(|(here, there)| (here.0 - there.0).hypot(here.1 - there.1)).collect();
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let variance = distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / distances.len() as f64;
    (mean, variance.sqrt())
}
