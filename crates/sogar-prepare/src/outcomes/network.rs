//! Outcomes of a dense network, in single-precision batches.
//!
//! The first layer's sums are computed once per row, and the contribution of each edit to them; an action's sums then take a few
//! additions ([`effects`], [`walk`]). The other layers are matrix products over 64 cells at a time, near the processor's peak
//! ([`kernel`]). A bound of the error accompanies the outputs ([`bound`]). Cells whose outputs are within it of the decision
//! boundary are evaluated again in double precision, which defines the network's answer ([`crate::model::network`]). So outcomes
//! equal row-by-row prediction on every processor.
//!
//! Actions with the same effect on a row are evaluated once. Memory: the flips, one bit per action for each row in progress, and
//! a few numbers per edit and unit for each thread.

mod activation;
mod bound;
mod effects;
mod judge;
mod kernel;
mod lanes;
mod offload;
mod plan;
mod walk;

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sogar_solver::BitTable;

use self::effects::FirstLayer;
use self::judge::Judge;
use self::kernel::Layers;
pub use self::offload::CellDevice;
use self::offload::Offload;
pub use self::offload::{CellScores, Evaluable, Wanted, slope};
use self::plan::Plan;
use self::walk::{RowOutcomes, Walk};
use super::kernel::transpose;
use super::{OutcomeQuery, Outcomes, Watch};
use crate::model::DenseNetwork;
use crate::model::network::Instructions;

/// Everything about the network and the actions that does not depend on the row.
pub(super) struct NetworkOutcomes<'a> {
    query: &'a OutcomeQuery<'a>,
    network: &'a DenseNetwork,
    first: FirstLayer,
    layers: Layers,
    judge: Judge,
    plan: Plan,
    /// A device that does part of the work.
    offload: Option<Offload<'a>>,
}

impl<'a> NetworkOutcomes<'a> {
    /// `None` if the network does not fit the query (the caller then scores).
    pub fn new(network: &'a DenseNetwork, query: &'a OutcomeQuery<'a>) -> Option<Self> {
        NetworkOutcomes::with(network, query, Instructions::best())
    }

    fn with(
        network: &'a DenseNetwork,
        query: &'a OutcomeQuery<'a>,
        instructions: Instructions,
    ) -> Option<Self> {
        if network.check().is_err() || network.inputs != query.encoder.columns.len() {
            return None;
        }
        let plan = Plan::new(query);
        Some(NetworkOutcomes {
            query,
            network,
            first: FirstLayer::new(network.layers.first()?, query, plan.most_edits),
            layers: Layers::new(network, instructions)?,
            judge: Judge::new(network.decision, query.desired, network.outputs()),
            plan,
            offload: None,
        })
    }

    /// Adds a device for the rows on which its error is bounded.
    pub fn on(mut self, device: Option<&'a dyn CellDevice>) -> Self {
        self.offload = device.and_then(|device| Offload::new(self.network, self.plan.most_edits, device));
        self
    }

    /// All outcomes; `None` if stopped.
    pub fn outcomes(&self, watch: &Watch<'_>) -> Option<Outcomes> {
        let query = self.query;
        let (actions, rows) = (query.actions.len(), query.rows.len());
        let mut flips = BitTable::new(actions, rows);
        let per_set = flips.words_per_set();
        let done = AtomicUsize::new(0);
        let mut settled = 0;
        // Whole words of rows, and enough of them to keep all threads busy until the end.
        let at_once = 64 * rayon::current_num_threads().div_ceil(4).max(1);
        for (group, some) in query.rows.chunks(at_once).enumerate() {
            let found: Vec<RowOutcomes> = some
                .par_iter()
                .map_init(
                    || Walk::new(self, watch.stop),
                    |walk, &row| {
                        let found = walk.row(row)?;
                        (watch.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, rows);
                        Some(found)
                    },
                )
                .collect::<Option<_>>()?;
            settled += found.iter().map(|row| row.settled).sum::<u64>();
            let first = group * (at_once / 64);
            let blocks = flips.words_mut().par_chunks_mut((64 * per_set).max(1)).enumerate();
            blocks.for_each(|(block, words)| {
                for (offset, rows) in found.chunks(64).enumerate() {
                    let mut square = [0u64; 64];
                    for (word, row) in square.iter_mut().zip(rows) {
                        *word = row.flips[block];
                    }
                    transpose(&mut square);
                    for (set, word) in words.chunks_exact_mut(per_set).zip(square) {
                        set[first + offset] = word;
                    }
                }
            });
        }
        Some(Outcomes { flips, method: "dense network, in batches of single precision", settled, kept: None })
    }
}

#[cfg(test)]
mod tests;
