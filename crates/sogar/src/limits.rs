//! Limits, resolved: what a run really uses once defaults, the population and the machine are known.

use serde::{Deserialize, Serialize};

use crate::config::{Limits, parse_bytes};
use crate::error::{Error, ErrorKind, Result};

/// The limits of trees and actions that a result was found under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TreeLimits {
    /// Largest depth of a tree.
    pub max_depth: u32,
    /// Largest number of leaves.
    pub max_leaves: u32,
    /// Fewest affected rows in a leaf.
    pub min_leaf: u32,
    /// Most edits in an action.
    pub max_edits: u32,
}

const DEFAULT_MIN_LEAF: usize = 50;

impl TreeLimits {
    /// Fills in the defaults of SPEC §6 for a population; says in `notices` where it had to depart from them.
    pub fn resolve(limits: &Limits, affected: usize, notices: &mut Vec<String>) -> Result<TreeLimits> {
        let max_depth = limits.max_depth.unwrap_or(3);
        let by_depth = 1u32.checked_shl(max_depth).unwrap_or(u32::MAX);
        let min_leaf = match limits.min_leaf {
            Some(rows) if rows as usize > affected => {
                let message = format!("min_leaf is {rows}, but only {affected} rows are affected");
                return Err(Error::new(ErrorKind::Population, message)
                    .help(format!("lower it with --min-leaf, for example to {}", (affected / 8).max(1))));
            }
            Some(rows) => rows,
            None if affected / 8 < DEFAULT_MIN_LEAF => {
                let rows = (affected / 8).max(1);
                notices.push(format!("min_leaf is {rows}, an eighth of the {affected} affected rows"));
                rows as u32
            }
            None => DEFAULT_MIN_LEAF as u32,
        };
        Ok(TreeLimits {
            max_depth,
            max_leaves: limits.max_leaves.unwrap_or(by_depth).min(by_depth),
            min_leaf,
            max_edits: limits.max_edits.unwrap_or(3),
        })
    }
}

/// The memory that a run may use, in bytes: as configured, else three quarters of the machine's.
pub fn memory_limit(limits: &Limits) -> Result<u64> {
    match &limits.memory_limit {
        Some(text) => parse_bytes(text),
        None => Ok(machine_memory() / 4 * 3),
    }
}

/// The machine's memory; 8 GB where the system does not say.
fn machine_memory() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    told.map_or(8_000_000_000, |kib| kib * 1024)
}

/// Bytes that flips, costs and action lists will take. Known before anything of that size is allocated.
pub fn memory_estimate(
    rows: usize,
    edits: usize,
    actions: u128,
    max_edits: u32,
    threads: usize,
    outputs: usize,
) -> u128 {
    let words = rows.div_ceil(64) as u128;
    let flips = actions * words * 8;
    // Unions of flips exist for actions that have longer ones: a share of all that falls with the number of edits.
    let inner = if max_edits > 1 { flips / (edits as u128 / u128::from(max_edits)).max(2) } else { 0 };
    let lists = actions * (u128::from(max_edits) * 4 + 16);
    let costs = edits as u128 * rows as u128 * 4;
    let scratch = actions * 8 * (2 * outputs as u128 + 2) * threads as u128;
    flips + inner + lists + costs + scratch
}

/// Refuses a run whose tables would not fit, before they are made.
pub fn refuse_if_too_large(estimate: u128, limit: u64, actions: u128, max_edits: u32) -> Result<()> {
    if estimate <= u128::from(limit) && actions < u128::from(u32::MAX) {
        return Ok(());
    }
    let amount = |bytes: f64| match bytes {
        small if small < 1e9 => format!("{:.1} MB", small / 1e6),
        large => format!("{:.1} GB", large / 1e9),
    };
    let message = format!(
        "{actions} actions would need about {} of memory; the limit is {}",
        amount(estimate as f64),
        amount(limit as f64)
    );
    let fewer = max_edits.saturating_sub(1).max(1);
    Err(Error::new(ErrorKind::Memory, message).help(format!(
        "use fewer edits per action (--max-edits {fewer}), fewer steps or bins, or more immutable features; \
         or raise --memory-limit"
    )))
}
