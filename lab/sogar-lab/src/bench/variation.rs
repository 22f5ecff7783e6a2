//! A problem that differs in one respect, all else being equal.

use serde::{Deserialize, Serialize};
use sogar::config::{Bins, Config, CostKind};
use sogar::pipeline::Prepared;
use sogar::{Error, ErrorKind, Result};

/// What is changed of a problem.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
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
    /// The cost, as in a configuration; `table` takes prices.csv beside the table
    #[arg(long)]
    pub cost: Option<String>,
    /// Smallest group
    #[arg(long)]
    pub min_leaf: Option<u32>,
}

impl Variation {
    /// The equivalent flags of `sogar solve`; `None` if it has none for this.
    pub fn flags(&self) -> Option<Vec<String>> {
        let mut flags = Vec::new();
        let mut add = |flag: &str, value: &Option<String>| {
            if let Some(value) = value {
                flags.extend([flag.to_owned(), value.clone()]);
            }
        };
        add("--cost", &self.cost);
        add("--min-leaf", &self.min_leaf.map(|rows| rows.to_string()));
        add("--max-edits", &self.max_edits.map(|edits| edits.to_string()));
        let only_flags = self.every.is_none() && self.bins.is_none() && self.cost.as_deref() != Some("table");
        only_flags.then_some(flags)
    }

    /// The variation in a few words.
    pub fn text(&self) -> String {
        let words = [
            self.cost.clone(),
            self.min_leaf.map(|rows| format!("min leaf {rows}")),
            self.every.map(|every| format!("every {every}th row")),
            self.bins.as_ref().map(|bins| format!("bins {bins}")),
            self.max_edits.map(|edits| format!("{edits} edits")),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Changes the settings that must change before the table is read.
    pub fn change(&self, config: &mut Config) -> Result<()> {
        config.limits.max_edits = self.max_edits.or(config.limits.max_edits);
        config.limits.min_leaf = self.min_leaf.or(config.limits.min_leaf);
        if let Some(kind) = &self.cost {
            let known: Option<CostKind> = serde_json::from_value(serde_json::json!(kind)).ok();
            config.cost.kind =
                known.ok_or_else(|| Error::new(ErrorKind::Usage, format!("there is no cost `{kind}`")))?;
            config.cost.table = (kind == "table").then(|| "prices.csv".to_owned());
        }
        Ok(())
    }

    /// Changes the rest.
    pub fn apply(&self, prepared: &mut Prepared) -> Result<()> {
        if self.every.is_none() && self.bins.is_none() {
            return Ok(());
        }
        let mut config = prepared.config().clone();
        if let Some(bins) = &self.bins {
            config.bins = bins.parse().map_or_else(|_| Bins::Named(bins.clone()), Bins::Count);
            for feature in config.features.values_mut() {
                feature.bins = None;
            }
        }
        prepared.thin(self.every.unwrap_or(1), &config)
    }
}
