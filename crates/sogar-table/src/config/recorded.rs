//! The part of a configuration that a result records: everything that shapes it. Limits of time and memory, threads and the like
//! belong to one run on one machine; a result never has them, and its readers use their own.

use super::{Config, Limits, ModelConfig};

/// An optional setting.
trait Setting {
    /// Removes it; returns whether it was set.
    fn leave_out(&mut self) -> bool;
}

impl<T> Setting for Option<T> {
    fn leave_out(&mut self) -> bool {
        self.take().is_some()
    }
}

impl Config {
    /// The configuration as a result records it.
    pub fn recorded(&self) -> Config {
        let mut config = self.clone();
        config.leave_out_settings_of_runs();
        config
    }

    /// Removes what does not shape a result, and returns the names of what was set. Every field of the two blocks is listed here,
    /// so that a new one cannot be forgotten.
    pub fn leave_out_settings_of_runs(&mut self) -> Vec<&'static str> {
        let Limits {
            max_depth: _,
            max_leaves: _,
            min_leaf: _,
            max_edits: _,
            steps: _,
            actions: _,
            sample: _,
            max_scorings,
            outcomes_time_limit,
            time_limit,
            memory_limit,
            threads,
            device,
        } = &mut self.limits;
        let ModelConfig {
            classes: _,
            threshold: _,
            command: _,
            answers: _,
            timeout,
            batch,
            jobs,
            agree: _,
            columns: _,
            outcomes: _,
        } = &mut self.model;
        let settings: [(&'static str, &mut dyn Setting); 9] = [
            ("limits.max_scorings", max_scorings),
            ("limits.outcomes_time_limit", outcomes_time_limit),
            ("limits.time_limit", time_limit),
            ("limits.memory_limit", memory_limit),
            ("limits.threads", threads),
            ("limits.device", device),
            ("model.timeout", timeout),
            ("model.batch", batch),
            ("model.jobs", jobs),
        ];
        settings.into_iter().filter_map(|(name, setting)| setting.leave_out().then_some(name)).collect()
    }
}
