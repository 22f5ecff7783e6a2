//! Outcomes: does action `a` flip the decision for row `x`? Asked for every affected row and every action, before the
//! search starts, and kept as one bit each.
//!
//! A sum of trees is not re-scored: [`ensemble`] decomposes its margin around each row. A dense network is evaluated in
//! batches that share the row's part of the work ([`mod@network`]). Any other model is asked about the edited rows
//! ([`scoring`]). Rules that an action must not break are applied last ([`sogar_table::rules`]).

pub mod blocks;
pub mod cache;
mod decision;
mod ensemble;
mod forbid;
mod index;
mod kernel;
mod leaves;
mod linked_features;
pub mod mapped;
mod network;
mod predicates;
mod rounding;
mod scoring;
mod value_intervals;
mod walk;

pub use network::CellDevice;
pub use network::{CellScores, Evaluable, Wanted, slope};
pub use scoring::{Scorings, count as count_scorings};

use std::path::PathBuf;

use sogar_solver::{Actions, BitTable, Stop};

use crate::actions::Edit;
use crate::encode::Encoder;
use crate::model::Predictor;
use sogar_base::error::Result;
use sogar_table::feature::FeatureTable;
use sogar_table::rules::Rule;

/// Bytes for remembering a model's answers, so that a question that comes back is not asked again.
const SCORING_MEMORY: u64 = 512 << 20;

/// Whether outcomes are found by asking the model about every different edited row, since nothing is known of it but its
/// answers.
pub fn is_scored(predictor: &dyn Predictor) -> bool {
    predictor.tree_ensemble().is_none() && predictor.dense_network().is_none()
}

/// What outcomes are computed from.
#[derive(Clone, Copy)]
pub struct OutcomeQuery<'a> {
    /// The model.
    pub predictor: &'a dyn Predictor,
    /// From features to the model's columns.
    pub encoder: &'a Encoder,
    /// Per class, whether it is desired.
    pub desired: &'a [bool],
    /// The table of the rows.
    pub table: &'a FeatureTable,
    /// The rows that are asked about, all of them affected.
    pub rows: &'a [usize],
    /// All edits.
    pub edits: &'a [Edit],
    /// The actions: all sets of at most k of the edits on distinct features ([`crate::actions::all_actions`]).
    pub actions: &'a Actions,
    /// Conditions that an action must not break.
    pub rules: &'a [Rule],
}

/// Watches over the computation: `progress(done, all)` rows, and a way to end it.
pub struct Watch<'a> {
    /// Is told how many rows are done.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Ends the computation early, when somebody cancels it or its time is over.
    pub stop: &'a Stop,
}

/// The outcomes of all actions on all rows.
pub struct Outcomes {
    /// `flips.contains(action, position of the row)`.
    pub flips: BitTable,
    /// How they were found, for people.
    pub method: &'static str,
    /// Outcomes so close to the threshold that the model was asked itself.
    pub settled: u64,
    /// Where they come from, if an earlier run kept them.
    pub kept: Option<StoredOutcomes>,
}

/// Where an earlier run kept outcomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOutcomes {
    /// The file of the cache, or the checkpoint's folder.
    pub path: PathBuf,
    /// Whether it is a checkpoint.
    pub in_checkpoint: bool,
    /// How many rows' outcomes were kept: the first so many.
    pub rows: usize,
}

/// Computes all outcomes; `None` if stopped.
pub fn outcomes(query: OutcomeQuery<'_>, watch: &Watch<'_>) -> Result<Option<Outcomes>> {
    outcomes_on(query, watch, None)
}

/// Computes all outcomes, with a device for those of a dense network; `None` if stopped.
pub fn outcomes_on(
    query: OutcomeQuery<'_>,
    watch: &Watch<'_>,
    device: Option<&dyn CellDevice>,
) -> Result<Option<Outcomes>> {
    let fast = query.predictor.tree_ensemble().and_then(|trees| ensemble::Decomposition::new(trees, &query));
    let network = query.predictor.dense_network();
    let network =
        network.and_then(|network| Some(network::NetworkOutcomes::new(network, &query)?.on(device)));
    let mut found = match (fast, network) {
        (Some(decomposition), _) => decomposition.outcomes(watch)?,
        (None, Some(network)) => network.outcomes(watch),
        (None, None) => scoring::score_all(&query, watch, SCORING_MEMORY)?,
    };
    if let Some(found) = &mut found {
        forbid::forbid(query, &mut found.flips);
    }
    Ok(found)
}

/// The outcomes by asking the model about every edited row: slow, and what the fast path is held against.
pub fn by_scoring(query: OutcomeQuery<'_>, watch: &Watch<'_>) -> Result<Option<Outcomes>> {
    let mut found = scoring::score_all(&query, watch, SCORING_MEMORY)?;
    if let Some(found) = &mut found {
        forbid::forbid(query, &mut found.flips);
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
