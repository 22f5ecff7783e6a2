//! Estimates the size of a problem and its time.

use super::Prepared;
use crate::actions::{Change, Edit};
use crate::limits::{MemoryEstimate, Remaining, Size, TimeEstimate, time};
use crate::outcomes::ROOM_FOR_PLANES;

impl Prepared {
    /// The size of the problem.
    pub fn size(&self) -> Size<'_> {
        Size {
            rows: self.affected().len(),
            edits: &self.edits,
            features: &self.table.features,
            actions: self.action_count,
            max_edits: self.limits.max_edits,
        }
    }

    /// The memory of a problem of this size, including the table.
    pub fn memory_estimate(&self, size: Size<'_>) -> MemoryEstimate {
        let outputs = self.model.predictor.tree_ensemble().map_or(1, |trees| trees.outputs);
        let estimate = size.memory(self.threads(), outputs);
        let held = self.table.bytes() + self.cost.bytes();
        // The counts of models that agree, for some rows at a time.
        let planes =
            if self.required.is_empty() { 0 } else { estimate.flips.min(u128::from(ROOM_FOR_PLANES)) };
        MemoryEstimate { rest: estimate.rest.saturating_add(held as u128).saturating_add(planes), ..estimate }
    }

    /// The estimated time of the run, from measured runs, and from this model's own time if it scores every edited row.
    pub fn time_estimate(&self) -> TimeEstimate {
        let (all, threads, actions) = (self.affected().len(), self.threads(), self.action_count);
        let searched = self.sample().unwrap_or(all);
        let predictor = &self.model.predictor;
        let outcomes = match (predictor.tree_ensemble(), predictor.dense_network()) {
            (Some(_), _) => time::outcomes_of_trees(all, actions, threads),
            (None, Some(network)) => {
                let weights = network.layers.iter().map(|layer| layer.weights.len()).sum();
                time::outcomes_of_network(searched, actions, weights, threads)
            }
            (None, None) => time::outcomes_by_asking(searched, actions, self.seconds_per_row),
        };
        // Further models take about the time of the first.
        let models = if self.required.is_empty() { 1 } else { 1 + self.required.others.len() };
        let outcomes = outcomes * models as f64;
        let leaf_sets = self.leaf_sets().last().copied().unwrap_or(1.0);
        let boxes = time::boxes(self.families(), self.limits.max_edits);
        TimeEstimate { outcomes, search: time::search(searched, actions, boxes, leaf_sets, threads) }
    }

    /// About how many leaf sets trees of each depth have.
    fn leaf_sets(&self) -> Vec<f64> {
        // In rows, also where weights count.
        let all = self.affected().len();
        let share = f64::from(self.min_leaf()) / self.affected_people().max(1) as f64;
        time::leaf_sets(&self.passing, all, (share * all as f64) as usize, self.limits.max_depth)
    }

    /// The estimate of the search, to be renewed by its progress.
    pub fn remaining(&self) -> Remaining {
        Remaining::new(self.leaf_sets())
    }

    /// Per feature with edits the directions of its shifts, or 1.
    fn families(&self) -> impl Iterator<Item = usize> {
        let same_feature = |a: &Edit, b: &Edit| a.feature == b.feature;
        self.edits.chunk_by(same_feature).map(|edits| {
            let shifts = |up: bool| {
                edits.iter().any(|edit| matches!(edit.change, Change::Shift { by, .. } if (by > 0.0) == up))
            };
            (usize::from(shifts(true)) + usize::from(shifts(false))).max(1)
        })
    }

    /// The notice before a run that may take more than a minute: the estimate, and how to shorten it. `setting` spells the name
    /// of a setting as the user would.
    pub fn long_run(&self, setting: impl Fn(&str) -> String) -> Option<String> {
        let guess = self.time_estimate();
        let text = format!(
            "this may take {} (outcomes {}, search {}), by what other runs took",
            time::about(guess.total()),
            time::about(guess.outcomes),
            time::about(guess.search)
        );
        (guess.total() >= time::LONG).then(|| text + &self.ways_to_shorten(setting))
    }

    /// The same after a search has begun, from what it took so far.
    pub fn long_search(&self, left: f64, leaf_sets: u64, setting: impl Fn(&str) -> String) -> String {
        let text = format!("this may take {} (by the first {leaf_sets} leaf sets)", time::about(left));
        text + &self.ways_to_shorten(setting)
    }

    /// What makes a run shorter.
    fn ways_to_shorten(&self, setting: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        if self.sample().is_none() {
            let [sample, limit, edits, depth, actions] =
                ["sample", "time_limit", "max_edits", "max_depth", "actions"].map(setting);
            text += &format!(
                "; {sample}, {limit}, fewer edits ({edits}), a smaller budget of actions ({actions}) and less depth ({depth}) make it shorter"
            );
        }
        text
    }
}
