//! Resolved limits: what a run uses, given defaults, the population and the machine.

pub(crate) mod time;

use serde::{Deserialize, Serialize};

use crate::actions::budget::MAX_EDITS;
use crate::actions::{Edit, count_actions};
use crate::outcomes::Scorings;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::binarize::Split;
use sogar_table::config::{Limits, parse_bytes};
use sogar_table::feature::Feature;

pub use sogar_base::memory::{amount, machine_memory, machine_share};
pub use time::{LONG, Remaining, TimeEstimate, about, is_long};

/// The limits of trees and actions of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TreeLimits {
    /// Largest depth of a tree.
    pub max_depth: u32,
    /// Largest number of leaves.
    pub max_leaves: u32,
    /// Smallest number of affected rows in a leaf; with weights, their smallest weight.
    pub min_leaf: u32,
    /// Largest number of edits in an action.
    pub max_edits: u32,
}

const DEFAULT_MIN_LEAF: u64 = 50;

impl TreeLimits {
    /// Fills in the defaults of SPEC §6 for a number of affected people (by weight, if rows have weights); `notices` explains
    /// departures from them.
    pub fn resolve(
        limits: &Limits,
        affected: u64,
        weighted: bool,
        notices: &mut Vec<String>,
    ) -> Result<TreeLimits> {
        let who = if weighted { "people (by weight)" } else { "rows" };
        if affected == 0 {
            let message = "the affected rows weigh less than one person together";
            return Err(Error::new(ErrorKind::Population, message).help(
                "multiply all weights by the same number: sizes of leaves are counted in whole people",
            ));
        }
        let max_depth = limits.max_depth.unwrap_or(3);
        let by_depth = 1u32.checked_shl(max_depth).unwrap_or(u32::MAX);
        let min_leaf = match limits.min_leaf {
            Some(rows) if u64::from(rows) > affected => {
                let message = format!("min_leaf is {rows}, but only {affected} {who} are affected");
                return Err(Error::new(ErrorKind::Population, message)
                    .help(format!("lower it with --min-leaf, for example to {}", (affected / 8).max(1))));
            }
            Some(rows) => rows,
            None if affected / 8 < DEFAULT_MIN_LEAF => {
                let rows = (affected / 8).max(1);
                notices.push(format!("min_leaf is {rows}, an eighth of the {affected} affected {who}"));
                rows as u32
            }
            None => DEFAULT_MIN_LEAF as u32,
        };
        Ok(TreeLimits {
            max_depth,
            max_leaves: limits.max_leaves.unwrap_or(by_depth).min(by_depth),
            min_leaf,
            max_edits: limits.max_edits.unwrap_or(MAX_EDITS),
        })
    }
}

/// The memory that a run may use, in bytes: as configured, otherwise three quarters of the machine's (or its container's).
pub fn memory_limit(limits: &Limits) -> Result<u64> {
    match &limits.memory_limit {
        Some(text) => parse_bytes(text),
        None => Ok(machine_share()),
    }
}

/// The size of a problem, known before any large allocation.
#[derive(Debug, Clone, Copy)]
pub struct Size<'a> {
    /// Affected rows.
    pub rows: usize,
    /// All edits.
    pub edits: &'a [Edit],
    /// The features that they are of.
    pub features: &'a [Feature],
    /// Number of actions.
    pub actions: u128,
    /// Largest number of edits in an action.
    pub max_edits: u32,
}

/// Memory that a run needs, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// One bit for each action and affected row.
    pub flips: u128,
    /// Lists of actions, costs, the working memory of outcomes and search, and the table.
    pub rest: u128,
}

/// Where flips are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceOfFlips {
    /// In memory.
    Memory,
    /// In a memory-mapped file; computed for this many rows at a time.
    File {
        /// Rows, a multiple of 64.
        rows_at_once: usize,
    },
}

/// Number of actions from which the search may group them into boxes.
const FEWEST_IN_BOXES: u128 = 1_000;

/// Limit of flips: a search would read a larger file for days.
const MOST_IN_FILE: u128 = 1 << 40;

impl MemoryEstimate {
    /// The total.
    pub fn total(&self) -> u128 {
        self.flips.saturating_add(self.rest)
    }

    /// Bytes that the search may use as a cache: what the tables leave of the limit, at most half of it.
    pub fn left_for_search(&self, limit: u64) -> u64 {
        // Flips that do not fit are in a file.
        let held = if self.total() <= u128::from(limit) { self.total() } else { self.rest };
        limit.saturating_sub(u64::try_from(held).unwrap_or(u64::MAX)).clamp(limit / 16, limit / 2)
    }
}

/// Refuses splits whose row sets would not fit, before building them: a column of distinct values has a split per row.
pub(crate) fn refuse_if_too_many_splits(
    splits: &[Split],
    features: &[Feature],
    rows: usize,
    limit: u64,
) -> Result<()> {
    // The rows that pass, a copy to tell splits apart, and both again while rows are reordered.
    let bytes = 4 * splits.len() as u128 * rows.div_ceil(64) as u128 * 8;
    let most = splits.chunk_by(|one, other| one.feature == other.feature).max_by_key(|own| own.len());
    let Some(most) = most.filter(|_| bytes > u128::from(limit)) else { return Ok(()) };
    let message = format!(
        "{} splits of {rows} affected rows would need about {} of memory; the limit is {}",
        splits.len(),
        amount(bytes),
        amount(u128::from(limit))
    );
    Err(Error::new(ErrorKind::Memory, message).help(format!(
        "`{}` has {} of them: add it to `ignore` under [data] if it is an id or free text, or set `split = false` for it; \
         or raise --memory-limit",
        features[most[0].feature].name,
        most.len()
    )))
}

impl Size<'_> {
    /// The memory of a run with this number of threads and, for a sum of trees, outputs per row.
    pub fn memory(&self, threads: usize, outputs: usize) -> MemoryEstimate {
        let (actions, most) = (self.actions, u128::from(self.max_edits));
        let flips = actions.saturating_mul(self.rows.div_ceil(64) as u128 * 8);
        // Unions of flips exist for actions that have longer ones, a share that falls with the number of edits.
        let inner = if most > 1 { flips / (self.edits.len() as u128 / most).max(2) } else { 0 };
        // The edits of each action and where they start, stored by the pipeline and by the search, which also stores each
        // action's position.
        let lists = actions.saturating_mul(2 * (4 * most + 8) + 24);
        let costs = 2 * self.edits.len() as u128 * self.rows as u128 * 4;
        let scratch = actions.saturating_mul(8 * (2 * outputs as u128 + 2) * threads as u128);
        // The search stores a number for each pair of edits, and each thread two registers.
        let edits = self.edits.len() as u128;
        let pairs = if actions > edits + 1 { edits * edits * (4 + 64 * threads as u128) } else { 0 };
        // Boxes of actions: at most a union for every two actions, a node beside it, and a slot for each action while building.
        let boxed = (2..=3).contains(&most) && actions >= FEWEST_IN_BOXES;
        let boxes = if boxed { (flips / 2).saturating_add(actions.saturating_mul(56)) } else { 0 };
        let parts = [inner, lists, costs, scratch, pairs, boxes];
        let rest = parts.into_iter().fold(0, u128::saturating_add);
        MemoryEstimate { flips, rest }
    }

    /// Where to store flips: in memory if everything fits, otherwise in a file if the rest fits. Refuses a run that fits neither
    /// way, before it starts.
    pub(crate) fn place_of_flips(&self, estimate: MemoryEstimate, limit: u64) -> Result<PlaceOfFlips> {
        let limit_of_rest = u128::from(limit) / 4 * 3; // the flips of some rows are in memory before they are written
        if estimate.total() > u128::from(limit) && estimate.rest <= limit_of_rest {
            self.refuse_if_too_large(MemoryEstimate { flips: 0, ..estimate }, limit)?;
            if estimate.flips <= MOST_IN_FILE {
                return Ok(PlaceOfFlips::File { rows_at_once: self.rows_at_once(limit / 4) });
            }
        }
        self.refuse_if_too_large(estimate, limit)?;
        Ok(PlaceOfFlips::Memory)
    }

    /// The number of rows whose flips take this many bytes: a multiple of 64.
    fn rows_at_once(&self, bytes: u64) -> usize {
        let words = u128::from(bytes) / 8 / self.actions.max(1);
        words.clamp(1, 1 << 10) as usize * 64
    }

    /// Refuses a run whose tables would not fit, before building them.
    pub fn refuse_if_too_large(&self, estimate: MemoryEstimate, limit: u64) -> Result<()> {
        if self.actions >= u128::from(u32::MAX) {
            let message = format!("{} actions are more than can be numbered ({})", self.actions, u32::MAX);
            return Err(Error::new(ErrorKind::Memory, message).help(self.advice()));
        }
        if estimate.total() <= u128::from(limit) {
            return Ok(());
        }
        let mut message = format!(
            "{} actions would need about {} of memory; the limit is {}",
            self.actions,
            amount(estimate.total()),
            amount(u128::from(limit))
        );
        if estimate.rest <= u128::from(limit) {
            message += &format!(
                ". Whom each action flips, a bit for each action and each of {} people, takes {} of it",
                self.rows,
                amount(estimate.flips)
            );
        }
        Err(Error::new(ErrorKind::Memory, message).help(self.advice() + "; or raise --memory-limit"))
    }

    /// Refuses to score more rows than the user allows.
    pub fn refuse_if_too_many(&self, scorings: Scorings, limit: Option<u64>) -> Result<()> {
        let Some(limit) = limit.filter(|&limit| limit < scorings.distinct) else { return Ok(()) };
        let about = if scorings.exact { "" } else { "about " };
        let message = format!(
            "the model would have to score {about}{} different edited rows ({} people × {} actions), but \
             --max-scorings allows {limit}",
            scorings.distinct,
            self.rows,
            self.actions.saturating_sub(1),
        );
        Err(Error::new(ErrorKind::Scorings, message).help(self.advice() + "; or raise --max-scorings"))
    }

    /// How to make a problem smaller, with the effect on this one.
    fn advice(&self) -> String {
        let mut parts = Vec::new();
        if self.max_edits > 1 {
            let fewer = self.max_edits - 1;
            let left = count_actions(self.edits, fewer);
            parts.push(format!("use fewer edits per action (--max-edits {fewer} leaves {left} actions)"));
        }
        let mut most: Vec<(usize, &str)> = self
            .features
            .iter()
            .enumerate()
            .map(|(index, feature)| {
                (self.edits.iter().filter(|edit| edit.feature == index).count(), feature.name.as_str())
            })
            .filter(|(edits, _)| *edits > 0)
            .collect();
        most.sort_by_key(|(edits, _)| std::cmp::Reverse(*edits));
        let named: Vec<String> =
            most.iter().take(3).map(|(edits, name)| format!("`{name}` has {edits}")).collect();
        parts.push(format!(
            "allow fewer changes of single features with `steps`, `bins`, `targets` or --immutable ({} edits in all; {})",
            self.edits.len(),
            named.join(", ")
        ));
        parts.join(", or ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_remembers_within_what_is_left() {
        let left = |flips, rest| MemoryEstimate { flips, rest }.left_for_search(1600);
        assert_eq!(left(10, 10), 800);
        assert_eq!(left(600, 600), 400);
        assert_eq!(left(800, 800), 100);
        assert_eq!(left(1_000_000, 1000), 600, "flips are in a file");
    }

    use crate::actions::{Change, all_actions};
    use sogar_table::feature::Kind;

    fn problem(features: usize, edits_each: usize) -> (Vec<Edit>, Vec<Feature>) {
        let feature = |index: usize| Feature::new(format!("f{index}"), Kind::Real);
        let edit = |feature| Edit { feature, change: Change::Flip, followers: vec![] };
        let edits = (0..features).flat_map(|feature| (0..edits_each + feature).map(move |_| edit(feature)));
        (edits.collect(), (0..features).map(feature).collect())
    }

    #[test]
    fn splits_and_pairs_of_edits_of_wide_columns_count() {
        use sogar_table::binarize::Test;
        let features = ["age", "id"].map(|name| Feature::new(name, Kind::Real));
        let splits: Vec<Split> = (0..1000)
            .map(|level| Split { feature: usize::from(level > 9), test: Test::Equals(level) })
            .collect();
        assert!(refuse_if_too_many_splits(&splits, &features, 64_000, 32_000_000).is_ok());
        let error = refuse_if_too_many_splits(&splits, &features, 64_000, 31_999_999).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory);
        assert!(error.remedy().unwrap_or_default().starts_with("`id` has 990 of them"), "{error}");
        let edit = |feature| Edit { feature, change: Change::Flip, followers: vec![] };
        let edits: Vec<Edit> = (0..10_000).map(|number| edit(usize::from(number > 0))).collect();
        let memory = |edits: &[Edit]| {
            let actions = count_actions(edits, 3);
            Size { rows: 100, edits, features: &features, actions, max_edits: 3 }.memory(2, 1).rest
        };
        assert!(memory(&edits) > 13_000_000_000, "every pair of edits has its place");
        assert!(memory(&edits[1..]) < 100_000_000, "a feature's own edits make no pairs");
    }

    #[test]
    fn four_edits_over_many_people_are_refused_with_what_would_help() {
        let (edits, features) = problem(12, 10);
        let actions = count_actions(&edits, 4);
        assert_eq!(count_actions(&edits, 2), all_actions(&edits, 2).len() as u128);
        let size = Size { rows: 12_000, edits: &edits, features: &features, actions, max_edits: 4 };
        let estimate = size.memory(2, 1);
        assert_eq!(estimate.flips, actions * 188 * 8);
        let error = size.refuse_if_too_large(estimate, 16_000_000_000).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory);
        assert!(error.to_string().contains("a bit for each action and each of 12000 people"), "{error}");
        let help = error.remedy().unwrap();
        let left = count_actions(&edits, 3);
        assert!(help.contains(&format!("--max-edits 3 leaves {left} actions")), "{help}");
        assert!(help.contains("186 edits in all; `f11` has 21, `f10` has 20, `f9` has 19"), "{help}");
        size.refuse_if_too_large(estimate, 1 << 50).unwrap();
    }

    #[test]
    fn flips_that_do_not_fit_go_to_a_file_if_the_rest_fits() {
        let (edits, features) = problem(6, 3);
        let actions = count_actions(&edits, 3);
        let size = Size { rows: 4_000_000, edits: &edits, features: &features, actions, max_edits: 3 };
        let estimate = size.memory(2, 1);
        let place = |limit: u128| size.place_of_flips(estimate, limit as u64);
        assert_eq!(place(estimate.total()).unwrap(), PlaceOfFlips::Memory);
        let PlaceOfFlips::File { rows_at_once } = place(estimate.total() - 1).unwrap() else {
            panic!("a file")
        };
        assert!(rows_at_once >= 64 && rows_at_once.is_multiple_of(64));
        let error = place(estimate.rest).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Memory | ErrorKind::Scorings));
        let huge = MemoryEstimate { flips: MOST_IN_FILE + 1, ..estimate };
        assert!(size.place_of_flips(huge, estimate.rest as u64 * 2).is_err());
    }

    #[test]
    fn numbers_that_overflow_are_refused_too() {
        let (edits, features) = problem(300, 100);
        let actions = count_actions(&edits, 6);
        let size = Size { rows: usize::MAX / 16, edits: &edits, features: &features, actions, max_edits: 6 };
        let estimate = size.memory(1024, 1000);
        let error = size.refuse_if_too_large(estimate, u64::MAX).unwrap_err();
        assert!(error.to_string().contains("more than can be numbered"), "{error}");
    }

    #[test]
    fn too_many_scorings_are_refused_and_no_limit_refuses_nothing() {
        let (edits, features) = problem(3, 2);
        let actions = count_actions(&edits, 1);
        let size = Size { rows: 100, edits: &edits, features: &features, actions, max_edits: 1 };
        let scorings = Scorings { distinct: 700, exact: true, pairs: 900 };
        size.refuse_if_too_many(scorings, None).unwrap();
        size.refuse_if_too_many(scorings, Some(700)).unwrap();
        let error = size.refuse_if_too_many(scorings, Some(699)).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("score 700 different edited rows (100 people × 9 actions)"), "{message}");
        assert!(matches!(error.kind(), ErrorKind::Memory | ErrorKind::Scorings));
        assert!(!error.remedy().unwrap().contains("--max-edits"), "there is nothing below one edit");
        let guess = Scorings { exact: false, ..scorings };
        assert!(size.refuse_if_too_many(guess, Some(1)).unwrap_err().to_string().contains("about 700"));
    }
}
