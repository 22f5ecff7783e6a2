//! A problem made smaller or larger in one respect, everything else being equal: what the table of growth is about.

use sogar::Result;
use sogar::binarize::{all_splits, useful_splits};
use sogar::config::{Bins, Config};
use sogar::pipeline::Prepared;

/// What is changed of a preset's problem.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct Variation {
    /// Take every N-th affected row, and a min leaf smaller in proportion
    #[arg(long, value_name = "N")]
    pub every: Option<usize>,
    /// Bins for the splits of all features, as in a configuration; edits stay as they are
    #[arg(long)]
    pub bins: Option<String>,
    /// Most edits in an action
    #[arg(long)]
    pub max_edits: Option<u32>,
}

impl Variation {
    /// The flags that say the same.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        if let Some(every) = self.every {
            flags.extend(["--every".to_owned(), every.to_string()]);
        }
        if let Some(bins) = &self.bins {
            flags.extend(["--bins".to_owned(), bins.clone()]);
        }
        if let Some(edits) = self.max_edits {
            flags.extend(["--max-edits".to_owned(), edits.to_string()]);
        }
        flags
    }

    /// Changes what must be changed before the table is looked at.
    pub fn change(&self, config: &mut Config) {
        config.limits.max_edits = self.max_edits.or(config.limits.max_edits);
    }

    /// Changes the rest.
    pub fn apply(&self, prepared: &mut Prepared) -> Result<()> {
        if self.every.is_none() && self.bins.is_none() {
            return Ok(());
        }
        let every = self.every.unwrap_or(1).max(1);
        prepared.affected = prepared.affected.iter().copied().step_by(every).collect();
        prepared.limits.min_leaf = (prepared.limits.min_leaf / every as u32).max(1);
        let mut config = prepared.config.clone();
        if let Some(bins) = &self.bins {
            config.bins = bins.parse().map_or_else(|_| Bins::Named(bins.clone()), Bins::Count);
            for feature in config.features.values_mut() {
                feature.bins = None;
            }
        }
        let splits = all_splits(&prepared.table, &config)?;
        prepared.splits = useful_splits(&splits, &prepared.table, &prepared.affected);
        Ok(())
    }
}
