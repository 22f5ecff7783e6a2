//! How large a problem is, and how long it may take.

use super::Prepared;
use crate::limits::{MemoryEstimate, Size, TimeEstimate, time};

impl Prepared {
    /// The size of the problem.
    pub fn size(&self) -> Size<'_> {
        Size {
            rows: self.affected.len(),
            edits: &self.edits,
            features: &self.table.features,
            actions: self.action_count,
            max_edits: self.limits.max_edits,
        }
    }

    /// The memory of a problem of this size, with what the table takes already.
    pub fn memory_estimate(&self, size: Size<'_>) -> MemoryEstimate {
        let outputs = self.model.predictor.tree_ensemble().map_or(1, |trees| trees.outputs);
        let estimate = size.memory(self.threads(), outputs);
        let held = self.table.bytes() + self.cost.bytes();
        MemoryEstimate { rest: estimate.rest.saturating_add(held as u128), ..estimate }
    }

    /// How long the run may take, by what was measured of others, and of this model if it is asked about every edited row.
    pub fn time_estimate(&self) -> TimeEstimate {
        let (all, threads, actions) = (self.affected.len(), self.threads(), self.action_count);
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
        let depth = self.limits.max_depth;
        TimeEstimate { outcomes, search: time::search(searched, actions, self.splits.len(), depth, threads) }
    }

    /// What to say before a run that may take more than a minute: the guess, and what makes it shorter. `setting` spells the name of a
    /// setting as the user would write it.
    pub fn long_run(&self, setting: impl Fn(&str) -> String) -> Option<String> {
        let guess = self.time_estimate();
        let mut text = format!(
            "this may take {} (outcomes {}, search {}), by what other runs took",
            time::about(guess.total()),
            time::about(guess.outcomes),
            time::about(guess.search)
        );
        if self.sample().is_none() {
            let [sample, limit, edits, depth, actions] =
                ["sample", "time_limit", "max_edits", "max_depth", "actions"].map(setting);
            text += &format!(
                "; {sample}, {limit}, fewer edits ({edits}), a smaller budget of actions ({actions}) and less depth ({depth}) make it shorter"
            );
        }
        (guess.total() >= time::LONG).then_some(text)
    }
}
