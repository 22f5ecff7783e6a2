//! A table and a model, ready to be searched.
//!
//! [`Prepared`] is everything before the expensive part: features, affected rows, splits, edits, costs. It is cheap to make
//! (`source.rs`, `build.rs`), says how large the problem is (`estimate.rs`), and poses the
//! problem of some people (`problem.rs`).

mod build;
mod estimate;
mod people;
mod problem;
mod reporter;
mod source;
mod warnings;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sogar_base::error::Result;
use sogar_solver::RowSet;
use sogar_table::binarize::Split;
use sogar_table::config::{Config, Device};
use sogar_table::feature::FeatureTable;
use sogar_table::rules::Rule;

use crate::actions::{Edit, Idle};
use crate::cost::CostModel;
use crate::encode::Encoder;
use crate::limits::TreeLimits;
use crate::model::LoadedModel;
use crate::population::Classes;

pub use people::ProblemPopulation;
pub use problem::{SolverProblem, seconds};
pub use reporter::Reporter;
pub use warnings::Voice;

/// Rows about which a model that has to be asked is asked again, unless something else is said.
pub const VERIFIED_ROWS: u64 = 10_000;

/// Everything that is known before outcomes are computed.
pub struct Prepared {
    /// The configuration.
    pub config: Config,
    /// Where files named in the configuration are looked for.
    pub folder: PathBuf,
    /// The reference table's path and hash.
    pub table_path: PathBuf,
    /// SHA-256 of the reference table.
    pub table_hash: String,
    /// The model.
    pub model: LoadedModel,
    /// The reference table through its features: all of its rows, or those that matter if it was read part by part.
    pub table: FeatureTable,
    /// The size of the reference table.
    pub reference: ReferenceSize,
    /// From features to model columns.
    pub encoder: Encoder,
    /// Classes and which are desired.
    pub classes: Classes,
    /// The affected rows (of `table`), in the order in which the problem has them: like next to like.
    pub affected: Vec<usize>,
    /// Where the rows of `table` stand in the reference table; `None`: at the same place.
    pub places: Option<Vec<usize>>,
    /// Positions in `affected`, in the order of the table.
    pub by_row: Vec<usize>,
    /// Splits that cut the affected rows, with the rows that pass.
    pub splits: Vec<(Split, RowSet)>,
    /// All edits.
    pub edits: Vec<Edit>,
    /// Number of actions, the identity included.
    pub action_count: u128,
    /// The cost.
    pub cost: CostModel,
    /// Conditions that actions must not break.
    pub rules: Vec<Rule>,
    /// Features that have no edits because the model does not use them.
    pub idle: Idle,
    /// Limits of trees and actions.
    pub limits: TreeLimits,
    /// What the user should know.
    pub notices: Vec<String>,
    /// A folder in which outcomes are kept between runs; none unless it is set.
    pub outcomes_cache: Option<PathBuf>,
    /// A folder in which what is finished of the run is kept; none unless it is set.
    pub checkpoint: Option<CheckpointSettings>,
    /// How long the model took for a row of the table.
    pub seconds_per_row: f64,
    /// Rows about which a model that has to be asked is asked again, to verify outcomes that were kept; 0 believes them.
    pub verify_cache: u64,
    /// What the model said of the whole table, hashed: its content where a file's hash says nothing about it.
    pub predictions_hash: String,
}

/// The size of the reference table, whether or not its rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceSize {
    /// Number of rows.
    pub rows: usize,
    /// How much they count, in units of weight: their number, unless some count more than others.
    pub people: u64,
}

/// Where a run keeps what it has finished.
#[derive(Debug, Clone)]
pub struct CheckpointSettings {
    /// The folder, which need not exist yet.
    pub folder: PathBuf,
    /// Bytes that it may take.
    pub limit: u64,
}

/// A point of the front on other rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EvaluatedPoint {
    /// Mean cost.
    pub cost: f64,
    /// Share not flipped.
    pub loss: f64,
    /// Their sum.
    pub invalidity: f64,
    /// Total cost in units of the reference table's cost.
    pub cost_sum: u64,
    /// Number of rows not flipped (with weights: their weight, in units).
    pub loss_count: u64,
}

/// Means of totals over so many people (in units of weight, where there are weights).
pub fn means(cost_sum: u64, loss_count: u64, unit: u64, people: u64) -> EvaluatedPoint {
    let cost = cost_sum as f64 / unit as f64 / people as f64;
    let loss = loss_count as f64 / people as f64;
    EvaluatedPoint { cost, loss, invalidity: cost + loss, cost_sum, loss_count }
}

impl Prepared {
    /// Number of threads that the run will use.
    pub fn threads(&self) -> usize {
        match self.config.limits.threads {
            Some(threads @ 1..) => threads as usize,
            _ => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        }
    }

    /// The device that was asked for.
    pub fn device(&self) -> Result<Device> {
        self.config.limits.device.as_deref().map_or(Ok(Device::Auto), str::parse)
    }

    /// Where a row of `table` stands in the reference table.
    pub fn place(&self, row: usize) -> usize {
        self.places.as_ref().map_or(row, |places| places[row])
    }

    /// How much the affected rows count, in units of weight: their number, unless some count more than others.
    pub fn affected_people(&self) -> u64 {
        self.table.people_among(&self.affected)
    }

    /// The least that a leaf's rows must count, in units of weight.
    pub fn min_leaf(&self) -> u32 {
        // At most the weight of all affected rows, which fits.
        u32::try_from(u64::from(self.limits.min_leaf) * self.table.weight_unit()).unwrap_or(u32::MAX)
    }

    /// How many affected rows are searched, where they are not all.
    pub fn sample(&self) -> Option<usize> {
        self.config.limits.sample.map(|rows| rows as usize).filter(|&rows| rows < self.affected.len())
    }
}
