//! Outcomes: does action `a` flip the decision for row `x`? Computed for every affected row and every action before the search
//! starts, and stored as one bit each.
//!
//! A sum of trees is not re-scored: [`ensemble`] decomposes its margin around each row. A dense network is evaluated in batches
//! that share the row's part of the work ([`mod@network`]). Any other model scores the edited rows ([`scoring`]). Rules that an
//! action must not break are applied last ([`sogar_table::rules`]).

mod agreement;
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
pub mod memory;
mod network;
mod plausible;
mod predicates;
mod rounding;
mod scoring;
pub mod stored;
mod value_intervals;
mod walk;

pub(crate) use agreement::ROOM_FOR_PLANES;
pub use network::CellDevice;
pub use network::{CellScores, Evaluable, Wanted, slope};
pub use scoring::{Scorings, count as count_scorings};

use std::path::PathBuf;

use sogar_solver::{Actions, BitTable, Stop};

use crate::actions::Edit;
use crate::encode::Encoder;
use crate::model::Predictor;
use crate::require::Requirements;
use sogar_base::error::Result;
use sogar_table::feature::FeatureTable;
use sogar_table::rules::Rule;

/// Bytes of the cache of a model's answers, so that the same row is not scored twice.
const SCORING_MEMORY: u64 = 512 << 20;

/// Whether outcomes need a score of every distinct edited row, because only the model's answers are known.
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
    /// The table that has the rows.
    pub table: &'a FeatureTable,
    /// The rows of the query, all affected.
    pub rows: &'a [usize],
    /// All edits.
    pub edits: &'a [Edit],
    /// The actions: all sets of at most k of the edits on distinct features ([`crate::actions::all_actions`]).
    pub actions: &'a Actions,
    /// Conditions that an action must not break.
    pub rules: &'a [Rule],
    /// What an action must do besides convincing the model, if anything.
    pub required: Option<&'a Requirements>,
}

impl<'a> OutcomeQuery<'a> {
    /// A query about one model and nothing else: no rules, no further models.
    pub fn of_model(
        (predictor, encoder): (&'a dyn Predictor, &'a Encoder),
        desired: &'a [bool],
        (table, rows): (&'a FeatureTable, &'a [usize]),
        (edits, actions): (&'a [Edit], &'a Actions),
    ) -> OutcomeQuery<'a> {
        OutcomeQuery { predictor, encoder, desired, table, rows, edits, actions, rules: &[], required: None }
    }

    /// Applies an action to a row of feature values.
    pub fn apply(&self, action: u32, row: &mut [f64]) {
        self.apply_edits(self.actions.get(action as usize), row);
    }

    /// Applies edits, by number, to a row of feature values.
    pub(crate) fn apply_edits(&self, edits: &[u32], row: &mut [f64]) {
        edits.iter().for_each(|&edit| self.edits[edit as usize].apply(row));
    }

    /// How many of its models score every distinct edited row.
    pub fn scored_models(&self) -> u64 {
        let others = self.required.iter().flat_map(|required| &required.others);
        let scored = others.filter(|other| is_scored(&*other.predictor)).count() as u64;
        let measured = self.required.is_some_and(Requirements::calls_a_measure);
        scored + u64::from(is_scored(self.predictor)) + u64::from(measured)
    }
}

/// Observes the computation: `progress(done, all)` rows, and a way to stop it.
pub struct Watch<'a> {
    /// Called with the number of finished rows.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Stops the computation early, on cancel or after a time limit.
    pub stop: &'a Stop,
}

/// The outcomes of all actions on all rows.
pub struct Outcomes {
    /// `flips.contains(action, position of the row)`.
    pub flips: BitTable,
    /// How they were computed, in words.
    pub method: &'static str,
    /// Outcomes so close to the threshold that the model itself decided.
    pub settled: u64,
    /// Where an earlier run stored them, if it did.
    pub kept: Option<StoredOutcomes>,
}

/// Where an earlier run stored outcomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOutcomes {
    /// The file of the cache, or the folder of the checkpoint.
    pub path: PathBuf,
    /// Whether it is a checkpoint.
    pub in_checkpoint: bool,
    /// The number of rows with stored outcomes: the first ones.
    pub rows: usize,
}

/// Computes all outcomes; `None` if stopped.
pub fn outcomes(query: OutcomeQuery<'_>, watch: &Watch<'_>) -> Result<Option<Outcomes>> {
    outcomes_on(query, watch, None)
}

/// Computes all outcomes, on a device for a dense network; `None` if stopped.
pub fn outcomes_on(
    query: OutcomeQuery<'_>,
    watch: &Watch<'_>,
    device: Option<&dyn CellDevice>,
) -> Result<Option<Outcomes>> {
    let fast = query.predictor.tree_ensemble().and_then(|trees| ensemble::Decomposition::new(trees, &query));
    let network = query.predictor.dense_network();
    let network =
        network.and_then(|network| Some(network::NetworkOutcomes::new(network, &query)?.on(device)));
    let found = match (fast, network) {
        (Some(decomposition), _) => decomposition.outcomes(watch)?,
        (None, Some(network)) => network.outcomes(watch),
        (None, None) => scoring::score_all(&query, watch, SCORING_MEMORY)?,
    };
    finished(query, found, watch, outcomes)
}

/// The first model's flips that meet all requirements and break no rule; `None` if stopped.
fn finished(
    query: OutcomeQuery<'_>,
    found: Option<Outcomes>,
    watch: &Watch<'_>,
    find: fn(OutcomeQuery<'_>, &Watch<'_>) -> Result<Option<Outcomes>>,
) -> Result<Option<Outcomes>> {
    let Some(mut found) = found else { return Ok(None) };
    if let Some(required) = query.required.filter(|required| required.asks_others())
        && !agreement::require(query, required, &mut found, watch, find)?
    {
        return Ok(None);
    }
    forbid::forbid(query, &mut found.flips);
    // Last, because a measured row costs more than the others.
    if let Some(plausibility) = query.required.and_then(Requirements::limiting_plausibility)
        && !plausible::require(query, plausibility, &mut found, watch)?
    {
        return Ok(None);
    }
    Ok(Some(found))
}

/// Computes outcomes by scoring every edited row: slow, and the reference for the fast paths.
pub fn by_scoring(query: OutcomeQuery<'_>, watch: &Watch<'_>) -> Result<Option<Outcomes>> {
    let found = scoring::score_all(&query, watch, SCORING_MEMORY)?;
    finished(query, found, watch, by_scoring)
}

#[cfg(test)]
mod tests;
