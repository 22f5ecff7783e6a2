//! How usual edited rows must be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sogar_base::error::{Error, ErrorKind, Result};

/// How usual the people are whom actions describe. Without `min_plausibility`: nobody asks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlausibilityConfig {
    /// The smallest share of real people who must be less usual than an edited row, from 0 to 1; an edited row that is at least as usual as
    /// the person's own is always allowed. 0 shows plausibility and excludes nothing (default: it is not computed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_plausibility: Option<f64>,
    /// A command that says how usual rows are, instead of an isolation forest: it gets rows as CSV and prints a number for each, the
    /// larger the more usual. No shell is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether a function says it; only in the Python package.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub function: bool,
}

impl PlausibilityConfig {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == PlausibilityConfig::default()
    }

    /// The limit in millionths, if plausibility is computed.
    pub fn millionths(&self) -> Option<u32> {
        self.min_plausibility.map(|share| (share * 1e6).round() as u32)
    }

    pub(super) fn check(&self) -> Result<()> {
        let fault = |message: String| Err(Error::new(ErrorKind::Config, message));
        match self.min_plausibility {
            Some(share) if !(0.0..1.0).contains(&share) => {
                return fault(format!("plausibility.min_plausibility = {share}, but it must be at least 0 and below 1"))
                    .map_err(|error: Error| error.help("0.05 excludes edited rows that are less usual than 95 % of real people; 0 only shows plausibility"));
            }
            None if self.command.is_some() || self.function => {
                return fault("a command or function for plausibility has no effect without plausibility.min_plausibility".into())
                    .map_err(|error: Error| error.help("give the limit too; 0 excludes nothing"));
            }
            _ => {}
        }
        if self.command.is_some() && self.function {
            return fault("plausibility comes from a command or from a function, not from both".into());
        }
        if let Some(command) = &self.command {
            super::words(command)?;
        }
        Ok(())
    }
}
