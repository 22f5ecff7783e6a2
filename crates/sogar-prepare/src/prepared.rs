//! A table and a model, ready for the search.
//!
//! [`Prepared`] is everything before the expensive part: features, affected rows, splits, edits, costs. It is cheap to build
//! (`source.rs`, `build.rs`), knows the size of the problem (`estimate.rs`), and builds the solver's problem for some people
//! (`problem.rs`).

mod build;
mod estimate;
mod order;
mod people;
mod problem;
mod proxies;
mod reporter;
mod source;
mod warnings;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sogar_base::error::Result;
use sogar_solver::RowSet;
use sogar_table::binarize::Split;
use sogar_table::config::{Config, Device};
use sogar_table::feature::FeatureTable;
use sogar_table::rules::Rule;

use crate::actions::{Edit, Idle};
use crate::cost::{CostFunction, CostModel};
use crate::encode::Encoder;
use crate::limits::TreeLimits;
use crate::model::{LoadedModel, Predictor};
use crate::outcomes::memory::OutcomeMemory;
use crate::plausibility::Plausibility;
use crate::population::Classes;
use crate::require::{OtherModel, Requirements};

use order::RowOrder;
pub use people::ProblemPopulation;
pub use problem::{SolverProblem, seconds};
pub use reporter::Reporter;
pub use warnings::Voice;

/// Default number of rows that a called model scores again, to verify stored outcomes.
pub const VERIFIED_ROWS: u64 = 10_000;

/// Everything that is known before outcomes are computed.
pub struct Prepared {
    config: Config,
    folder: PathBuf,
    table_path: PathBuf,
    table_hash: String,
    model: LoadedModel,
    table: FeatureTable,
    reference: ReferenceSize,
    encoder: Encoder,
    classes: Classes,
    order: RowOrder,
    /// The positions of the rows of `table` in the reference table; `None`: the same positions.
    places: Option<Vec<usize>>,
    splits: Vec<Split>,
    /// Who passes each split, in the problem's order.
    passing: Vec<RowSet>,
    edits: Vec<Edit>,
    action_count: u128,
    cost: CostModel,
    rules: Vec<Rule>,
    required: Requirements,
    idle: Idle,
    limits: TreeLimits,
    notices: Vec<String>,
    outcomes_cache: Option<PathBuf>,
    outcome_memory: Option<Arc<OutcomeMemory>>,
    checkpoint: Option<CheckpointSettings>,
    seconds_per_row: f64,
    verify_cache: u64,
    predictions_hash: String,
    opposite: Option<f64>,
}

/// The size of the reference table, even if its rows are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceSize {
    /// Number of rows.
    pub rows: usize,
    /// Their total weight in units: their number, unless some count more than others.
    pub people: u64,
}

/// Where a run stores finished work.
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

/// Means of totals over this many people (in units of weight, if there are weights).
pub fn means(cost_sum: u64, loss_count: u64, unit: u64, people: u64) -> EvaluatedPoint {
    let cost = cost_sum as f64 / unit as f64 / people as f64;
    let loss = loss_count as f64 / people as f64;
    EvaluatedPoint { cost, loss, invalidity: cost + loss, cost_sum, loss_count }
}

/// What is known.
impl Prepared {
    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where files named in the configuration are looked for.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The reference table's path.
    pub fn table_path(&self) -> &Path {
        &self.table_path
    }

    /// SHA-256 of the reference table.
    pub fn table_hash(&self) -> &str {
        &self.table_hash
    }

    /// The model.
    pub fn model(&self) -> &LoadedModel {
        &self.model
    }

    /// The reference table through its features: all of its rows, or the affected ones if it was read part by part.
    pub fn table(&self) -> &FeatureTable {
        &self.table
    }

    /// The size of the reference table.
    pub fn reference(&self) -> ReferenceSize {
        self.reference
    }

    /// From features to model columns.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Classes and which are desired.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Splits that cut the affected rows.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// All edits.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Number of actions, the identity included.
    pub fn action_count(&self) -> u128 {
        self.action_count
    }

    /// The cost.
    pub fn cost(&self) -> &CostModel {
        &self.cost
    }

    /// Conditions that actions must not break.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What an action must do besides convincing the first model, if anything.
    pub fn requirements(&self) -> Option<&Requirements> {
        Some(&self.required).filter(|required| !required.is_empty())
    }

    /// Another model on the features of this table, such as one that was trained later.
    pub fn other_model(&self, model: &LoadedModel) -> Result<OtherModel> {
        let features = &self.table.features;
        let columns: Vec<&str> = features.iter().flat_map(|feature| feature.columns.names()).collect();
        OtherModel::new(model, self.model.predictor.info(), features, &self.config.model, &columns)
    }

    /// Models beside the first, and their columns.
    pub fn other_models(&self) -> &[OtherModel] {
        &self.required.others
    }

    /// How usual rows are, if the configuration asks for it.
    pub fn plausibility(&self) -> Option<&Plausibility> {
        self.required.plausibility.as_ref()
    }

    /// Features that have no edits because the model does not use them.
    pub fn idle(&self) -> &Idle {
        &self.idle
    }

    /// Limits of trees and actions.
    pub fn limits(&self) -> TreeLimits {
        self.limits
    }

    /// What the user should know.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// What the model said of the whole table, hashed: its content where a file's hash says nothing about it.
    pub fn predictions_hash(&self) -> &str {
        &self.predictions_hash
    }

    /// The folder that stores outcomes between runs.
    pub fn outcomes_cache(&self) -> Option<&Path> {
        self.outcomes_cache.as_deref()
    }

    /// Outcomes of earlier runs of this process.
    pub fn outcome_memory(&self) -> Option<&OutcomeMemory> {
        self.outcome_memory.as_deref()
    }

    /// Where a run stores finished work.
    pub fn checkpoint(&self) -> Option<&CheckpointSettings> {
        self.checkpoint.as_ref()
    }

    /// How many rows a black-box model scores again to verify stored outcomes; 0 trusts them.
    pub fn verify_cache(&self) -> u64 {
        self.verify_cache
    }
}

/// Settings of a run.
impl Prepared {
    /// Stores outcomes in a folder between runs.
    pub fn set_outcomes_cache(&mut self, folder: Option<PathBuf>) {
        self.outcomes_cache = folder;
    }

    /// Shares outcomes with other runs of this process.
    pub fn set_outcome_memory(&mut self, memory: Arc<OutcomeMemory>) {
        self.outcome_memory = Some(memory);
    }

    /// Stores finished work of the run in a folder.
    pub fn set_checkpoint(&mut self, checkpoint: Option<CheckpointSettings>) {
        self.checkpoint = checkpoint;
    }

    /// Sets how many rows a black-box model scores again to verify stored outcomes.
    pub fn set_verify_cache(&mut self, rows: u64) {
        self.verify_cache = rows;
    }

    /// Puts another predictor, which must give the same labels, in front of the model.
    pub fn set_predictor(&mut self, predictor: Arc<dyn Predictor>) {
        self.model.predictor = predictor;
    }

    /// Gives the function that costs are computed with, where the configuration says that there is one.
    pub fn set_cost_function(&mut self, function: Arc<dyn CostFunction>) {
        self.cost.set_function(function);
    }
}

/// What follows from it.
impl Prepared {
    /// Number of threads that the run will use.
    pub fn threads(&self) -> usize {
        match self.config.limits.threads {
            Some(threads @ 1..) => threads as usize,
            _ => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        }
    }

    /// The requested device.
    pub fn device(&self) -> Result<Device> {
        self.config.limits.device.as_deref().map_or(Ok(Device::Auto), str::parse)
    }

    /// Total weight of the affected rows in units: their number, unless some count more than others.
    pub fn affected_people(&self) -> u64 {
        self.table.people_among(self.affected())
    }

    /// The smallest weight of a leaf, in units.
    pub fn min_leaf(&self) -> u32 {
        // At most the weight of all affected rows, which fits.
        u32::try_from(u64::from(self.limits.min_leaf) * self.table.weight_unit()).unwrap_or(u32::MAX)
    }

    /// The number of affected rows to search, if not all.
    pub fn sample(&self) -> Option<usize> {
        self.config.limits.sample.map(|rows| rows as usize).filter(|&rows| rows < self.affected().len())
    }
}
