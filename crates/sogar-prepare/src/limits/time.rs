//! How long a run may take, before it is begun.
//!
//! The formulas and their constants are the fit of measured runs that `scripts/cost_model.py` prints (docs/SCALE.md): R affected rows, A
//! actions, L sets of rows that the search looks at, depth d, two threads. They were right within a factor of 1.5 for most of these runs. A guess on
//! another machine or with another model is a guess; it is there to tell seconds from hours.

/// Threads of the measured runs.
const THREADS: f64 = 2.0;
/// Rows whose sets fit into the processor's caches.
const CACHED: f64 = 50_000.0;

/// Runs that may take longer than this many seconds are announced.
pub const LONG: f64 = 60.0;

/// Seconds that the two long stages may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeEstimate {
    /// For whom each action works.
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
pub fn outcomes_of_trees(rows: usize, actions: u128, threads: usize) -> f64 {
    let per_row = 1.86e-5 + 2.06e-7 * (actions as f64).powf(0.6);
    rows as f64 * per_row * THREADS / threads.max(1) as f64
}

/// The time for outcomes of a dense network with so many weights.
pub fn outcomes_of_network(rows: usize, actions: u128, weights: usize, threads: usize) -> f64 {
    rows as f64 * actions as f64 * (4e-12 * weights as f64 + 1e-9) * THREADS / threads.max(1) as f64
}

/// The time for outcomes of a model that is asked about every edited row, given how long it took for a row of the table.
pub fn outcomes_by_asking(rows: usize, actions: u128, seconds_per_row: f64) -> f64 {
    rows as f64 * actions as f64 * seconds_per_row
}

/// A time to one digit or two: a guess must not look like more.
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

/// The time for a search.
pub fn search(rows: usize, actions: u128, splits: usize, depth: u32, threads: usize) -> f64 {
    let (rows, actions) = (rows as f64, actions as f64);
    let per_set = 3.17e-7 * actions.powf(0.4);
    let all_rows = 8.09e-10 * rows + 4.12e-9 * (rows - CACHED).max(0.0);
    let per_set = per_set + all_rows * actions.powf(0.25) / f64::from(depth).exp2();
    leaf_sets(splits, depth) * per_set * THREADS / threads.max(1) as f64
}

/// About how many different sets of rows a search looks at: each level has half of those that it could have.
fn leaf_sets(splits: usize, depth: u32) -> f64 {
    let mut level_sets = 1.0;
    let mut all = 1.0;
    for level in 1..=depth {
        level_sets *= splits as f64 / f64::from(level) * if level > 1 { 0.5 } else { 1.0 };
        all += level_sets;
    }
    all
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
        near(search(19_199, 119_719, 147, 3, 2), 7.68);
        near(search(19_199, 119_719, 147, 4, 2), 130.0);
        near(search(1_000_000, 10_808, 148, 2, 2), 64.4);
        near(search(100_000, 10_808, 148, 2, 2), 4.5);
    }

    #[test]
    fn nothing_overflows() {
        assert!(search(usize::MAX, u128::MAX, usize::MAX, 10, 1).is_finite());
        assert!(search(1, 1, 0, 0, 0) > 0.0);
    }
}
