//! Estimates the time of a run before it starts.
//!
//! The formulas are fitted to measured runs: outcomes by `scripts/cost_model.py` (docs/SCALE.md), the search to the published data sets and the tables of
//! `scripts/time_guess.py`. On another machine or with another model they are a guess, meant to tell seconds from hours.

use sogar_solver::{Progress, RowSet};

/// Threads of the measured runs.
const THREADS: f64 = 2.0;
/// Rows whose sets fit into the processor's caches.
const CACHED: f64 = 50_000.0;
/// Below this many rows, leaves become so small that few actions have to be looked at.
const FEW: f64 = 1000.0;
/// Actions to an outermost box, at least: where boxes hold fewer, whole groups of them are ruled out.
const ACTIONS_A_BOX: f64 = 16.0;

/// Runs that may take longer than this many seconds are announced.
pub const LONG: f64 = 60.0;

/// Seconds of search after which its own speed says more than a guess.
const PROBE: f64 = 2.0;
/// The same at the first depth, whose few leaf sets are the largest and take the longest.
const PROBE_OF_FIRST_DEPTH: f64 = 20.0;

/// Whether a search is to be announced as long, with an estimate of the seconds that are left after `elapsed`.
pub fn is_long(depth: u32, elapsed: f64, left: f64) -> bool {
    let probe = if depth < 2 { PROBE_OF_FIRST_DEPTH } else { PROBE };
    elapsed >= probe && elapsed + left >= LONG
}

/// Estimated seconds of the two long stages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeEstimate {
    /// Computing outcomes.
    pub outcomes: f64,
    /// The search.
    pub search: f64,
}

impl TimeEstimate {
    /// Both together.
    pub fn total(&self) -> f64 {
        self.outcomes + self.search
    }
}

/// The time for outcomes of a sum of trees.
pub(crate) fn outcomes_of_trees(rows: usize, actions: u128, threads: usize) -> f64 {
    let per_row = 1.86e-5 + 2.06e-7 * (actions as f64).powf(0.6);
    rows as f64 * per_row * THREADS / threads.max(1) as f64
}

/// The time for outcomes of a dense network with so many weights.
pub(crate) fn outcomes_of_network(rows: usize, actions: u128, weights: usize, threads: usize) -> f64 {
    rows as f64 * actions as f64 * (4e-12 * weights as f64 + 1e-9) * THREADS / threads.max(1) as f64
}

/// The time for outcomes of a model that scores every edited row, from its measured time per row of the table.
pub(crate) fn outcomes_by_asking(rows: usize, actions: u128, seconds_per_row: f64) -> f64 {
    rows as f64 * actions as f64 * seconds_per_row
}

/// A time to one or two digits, so that a guess does not look precise.
pub fn about(seconds: f64) -> String {
    match seconds {
        short if short < 1.0 => "a moment".to_owned(),
        short if short < 100.0 => format!("about {short:.0} s"),
        medium if medium < 6000.0 => format!("about {:.0} min", medium / 60.0),
        long if long < 100.0 * 3600.0 => format!("about {:.0} h", long / 3600.0),
        longer if longer < 1000.0 * 86_400.0 => format!("about {:.0} days", longer / 86_400.0),
        _ => "years".to_owned(),
    }
}

/// The time for a search of so many sets of rows ([`leaf_sets`]), each compared with the actions by way of their outermost [`boxes`].
pub fn search(rows: usize, actions: u128, boxes: f64, leaf_sets: f64, threads: usize) -> f64 {
    let rows = rows as f64;
    let per_set = 1.5e-5 + 2e-9 * rows + 2e-8 * (rows - CACHED).max(0.0);
    let actions = actions as f64;
    let looked_at = 5e-7 * actions.sqrt() + 6e-8 * boxes.min(actions / ACTIONS_A_BOX);
    let per_set = per_set + looked_at * (rows / FEW).min(1.0).powi(2);
    leaf_sets * per_set / threads.max(1) as f64
}

/// The number of outermost boxes of actions: ways to choose at most `max_edits` features and, for each number, a direction. `families` has the
/// directions (or 1 for a category) of each feature with edits.
pub fn boxes(families: impl Iterator<Item = usize>, max_edits: u32) -> f64 {
    let mut ways = vec![0.0; max_edits as usize + 1];
    ways[0] = 1.0;
    for family in families {
        for chosen in (1..ways.len()).rev() {
            ways[chosen] += ways[chosen - 1] * family as f64;
        }
    }
    ways[1..].iter().sum()
}

/// What a search still has to do, from the leaf sets that are expected up to each depth: the estimate before the run, renewed while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Remaining(Vec<f64>);

impl Remaining {
    /// `leaf_sets[d]`: about how many leaf sets trees of depth `d` and less have ([`leaf_sets`]).
    pub fn new(leaf_sets: Vec<f64>) -> Remaining {
        Remaining(leaf_sets)
    }

    /// Seconds that are left after `elapsed` seconds of search; `None` as long as nothing is known.
    ///
    /// Leaf sets take nearly all the time. How many there are in all is a guess, but the same guess says how many there should be by now, so that only
    /// their growth from depth to depth counts, and at the last depth only the share of splits. Leaf sets of up to half of the splits are evaluated together
    /// before the first of these splits is done, so up to a half leaf sets count instead.
    pub fn seconds(&self, progress: &Progress, elapsed: f64) -> Option<f64> {
        let Progress { depth, splits_done: done, splits_total: all, leaf_sets } = *progress;
        let until = |depth: usize| self.0.get(depth).or(self.0.last()).copied();
        let (before, after) = (until((depth as usize).checked_sub(1)?)?, until(depth as usize)?);
        let of_sets = (leaf_sets as f64 - before) / (after - before).max(1.0);
        let share = (done as f64 / all.max(1) as f64).max(of_sets.min(0.5));
        let by_now = before + share * (after - before);
        let whole = self.0.last()?;
        (done > 0 && by_now > 0.0).then(|| elapsed * (whole / by_now - 1.0).max(0.0))
    }
}

/// Paths that are drawn for each number of splits.
const DRAWN: usize = 300;
/// The longest paths that are drawn; beyond them the number of sets is taken to grow as before.
const LONGEST: usize = 5;

/// About how many different sets of at least `min_leaf` rows at most 0, 1, …, `depth` splits cut out of all rows.
///
/// A path is a list of sides of splits, each of which cuts at least `min_leaf` rows off and leaves as many; of its sides none does what the others do
/// already. A part of a path from its start is one, too. So paths are drawn by adding a side to drawn ones, and the share that are paths again says how
/// many there are: among all lists of sides, paths of several steps would hardly ever be drawn. Paths that differ in their order alone lead to one set.
pub fn leaf_sets(splits: &[RowSet], rows: usize, min_leaf: usize, depth: u32) -> Vec<f64> {
    let mut state = 1u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % end.max(1)
    };
    let (mut paths, mut sets) = (1.0, 1.0);
    let mut by_depth = vec![sets];
    let mut known: Vec<Vec<(usize, bool)>> = vec![Vec::new()];
    for level in 1..=LONGEST.min(depth as usize).min(splits.len()) {
        let (mut longer, mut tuples) = (Vec::new(), 0.0);
        for _ in 0..DRAWN {
            let mut sides = known[below(known.len())].clone();
            let mut split = below(splits.len());
            while sides.iter().any(|(other, _)| *other == split) {
                split = below(splits.len());
            }
            sides.push((split, below(2) == 0));
            if let Some(orders) = orders(splits, rows, min_leaf.max(1), &sides) {
                tuples += 1.0 / f64::from(orders);
                longer.push(sides);
            }
        }
        paths *= 2.0 * (splits.len() - level + 1) as f64 / DRAWN as f64;
        if longer.is_empty() {
            return by_depth;
        }
        sets += paths * tuples;
        paths *= longer.len() as f64;
        by_depth.push(sets);
        known = longer;
    }
    while let [.., before, last] = by_depth[..]
        && by_depth.len() <= (depth as usize).min(splits.len())
    {
        by_depth.push((last * last / before).min(1e30));
    }
    by_depth
}

/// In how many orders sides are a path; `None` if they are none as they stand.
fn orders(splits: &[RowSet], rows: usize, min_leaf: usize, sides: &[(usize, bool)]) -> Option<u32> {
    let all = (1 << sides.len()) - 1;
    let mut sets = vec![RowSet::full(rows)];
    let (mut sizes, mut orders) = (vec![rows], vec![1]);
    for some in 1..=all {
        let (split, passing) = sides[(some as u32).trailing_zeros() as usize];
        let before = &sets[some & (some - 1)];
        let set = if passing { before.and(&splits[split]) } else { before.and_not(&splits[split]) };
        let size = set.count();
        let last = (0..sides.len()).filter(|at| some >> at & 1 == 1).map(|at| some & !(1 << at));
        let cuts = |before: &usize| size >= min_leaf && sizes[*before] - size >= min_leaf;
        orders.push(last.filter(cuts).map(|before| orders[before]).sum());
        sizes.push(size);
        sets.push(set);
    }
    let without = |at: usize| sizes[all & !(1 << at)];
    let is_path = without(sides.len() - 1) - sizes[all] >= min_leaf && sizes[all] >= min_leaf;
    (is_path && (0..sides.len()).all(|at| without(at) > sizes[all])).then_some(orders[all])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_near_what_was_measured() {
        let near = |guess: f64, measured: f64| {
            let factor = (guess / measured).max(measured / guess);
            assert!(factor < 2.5, "{guess} and {measured}");
        };
        near(outcomes_of_trees(19_199, 119_719, 2), 4.34);
        near(outcomes_of_trees(1_000_000, 10_808, 2), 71.9);
        near(outcomes_of_network(18_530, 118_634, 15_000, 2), 105.6);
        near(search(19_199, 119_719, 500.0, 135_405.0, 2), 7.68);
        near(search(19_199, 119_719, 500.0, 2_192_972.0, 2), 124.0);
        near(search(1_000_000, 10_808, 500.0, 5_633.0, 2), 64.4);
        near(search(100_000, 10_808, 500.0, 5_633.0, 2), 4.5);
        // 17 numbers of 210 colleges.
        near(search(210, 151_879, boxes([2; 17].into_iter(), 3), 31_435.0, 1), 1.8);
        // Generated tables of `scripts/time_guess.py` with 12 numbers, and with 12 numbers and four categories; one thread.
        near(search(688, 116_961, boxes([2; 12].into_iter(), 3), 31_658.0, 1), 4.87);
        near(search(6_206, 158_417, boxes([2; 12].into_iter().chain([1; 4]), 3), 18_233.0, 1), 5.13);
    }

    #[test]
    fn boxes_are_counted_by_feature_and_direction() {
        assert_eq!(boxes([2, 2, 1].into_iter(), 1), 5.0);
        assert_eq!(boxes([2, 2, 1].into_iter(), 3), 5.0 + 8.0 + 4.0);
        assert_eq!(boxes(std::iter::empty(), 3), 0.0);
    }

    #[test]
    fn leaf_sets_are_counted_within_a_factor_of_two() {
        // Two numbers with three thresholds each, on a grid: intervals of one times intervals of the other.
        let rows = 1600;
        let splits: Vec<RowSet> = (0..6)
            .map(|at| {
                RowSet::from_fn(rows, |row| if at < 3 { row % 40 } else { row / 40 } < 10 * (at % 3 + 1))
            })
            .collect();
        let mut known = std::collections::BTreeSet::new();
        let mut level = vec![RowSet::full(rows)];
        // No more than four sides cut something off a rectangle.
        for depth in 0..=6 {
            known.extend(level.iter().map(|set| set.words().to_vec()));
            let guesses = leaf_sets(&splits, rows, 100, 6);
            let guess = guesses.get(depth).or(guesses.last()).copied().unwrap_or_default();
            let factor = (guess / known.len() as f64).max(known.len() as f64 / guess);
            assert!(factor < 2.0, "depth {depth}: {guess} and {}", known.len());
            level = level
                .iter()
                .flat_map(|set| splits.iter().flat_map(|split| [set.and(split), set.and_not(split)]))
                .filter(|set| set.count() >= 100)
                .collect();
            level.sort_unstable_by(|a, b| a.words().cmp(b.words()));
            level.dedup();
        }
    }

    #[test]
    fn what_is_left_follows_what_was_done() {
        let left = Remaining::new(vec![1.0, 10.0, 100.0, 1000.0]);
        let at =
            |depth, splits_done, splits_total| Progress { depth, splits_done, splits_total, leaf_sets: 1 };
        assert_eq!(left.seconds(&at(1, 0, 5), 1.0), None);
        // After a half of depth 2, 55 of 1,000 leaf sets are done.
        assert!((left.seconds(&at(2, 5, 10), 5.5).unwrap() - 94.5).abs() < 1e-9);
        // A half of its leaf sets says as much before half of its splits are done; more than a half is not believed.
        for leaf_sets in [55, 90] {
            let progress = Progress { leaf_sets, ..at(2, 1, 10) };
            assert!((left.seconds(&progress, 5.5).unwrap() - 94.5).abs() < 1e-9);
        }
        assert_eq!(left.seconds(&at(3, 10, 10), 60.0), Some(0.0));
        // A depth that was not foreseen, or a guess that is no guess, is no error.
        assert_eq!(left.seconds(&at(9, 1, 2), 1.0), Some(0.0));
        assert_eq!(Remaining::new(Vec::new()).seconds(&at(1, 1, 1), 1.0), None);
    }

    #[test]
    fn a_search_is_announced_once_its_own_speed_is_known() {
        assert!(!is_long(2, PROBE / 2.0, 1e9) && !is_long(1, PROBE, 1e9), "too early to tell");
        assert!(is_long(2, PROBE, LONG) && !is_long(2, PROBE, LONG / 2.0));
        assert!(is_long(1, LONG, 0.0), "whatever was guessed, a minute is a minute");
    }

    #[test]
    fn nothing_overflows() {
        assert!(search(usize::MAX, u128::MAX, 1e30, 1e30, 0).is_finite());
        assert_eq!(leaf_sets(&[], 1, 1, 10), [1.0]);
        assert!(leaf_sets(&[RowSet::full(5)], 5, 9, 10).iter().all(|sets| sets.is_finite()));
    }
}
