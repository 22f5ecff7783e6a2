//! Receives the progress of a run.

use super::EvaluatedPoint;
use crate::outcomes::Scorings;

/// Receives the progress of a run. All methods may be called from other threads.
pub trait Reporter: Sync {
    /// Outcomes of `done` of `all` rows are known.
    fn outcomes(&self, done: usize, all: usize);
    /// The search has come this far, and may need so many more seconds.
    fn search(&self, progress: sogar_solver::Progress, left: Option<f64>);
    /// The front improved: all of its current points, cost ascending. A stopped search returns at least these.
    fn improved(&self, _front: &[EvaluatedPoint]) {}
    /// Whether [`Reporter::gap`] is wanted; its bound takes a little of the search's time.
    fn wants_gap(&self) -> bool {
        false
    }
    /// The certified gap of what was found so far, between 0 and 1.
    fn gap(&self, _gap: f64) {}
    /// A check has come this far.
    fn checking(&self, _what: &str, _done: usize, _all: usize) {}
    /// The model is about to score this many rows.
    fn scorings(&self, _scorings: Scorings) {}
    /// Something that the user may want to know.
    fn notice(&self, _text: &str) {}
    /// The run will take long, and how to shorten it: said at once.
    fn announce(&self, text: &str) {
        self.notice(text);
    }
    /// The name of a setting as the user writes it.
    fn setting(&self, name: &str) -> String {
        format!("`{name}`")
    }
    /// Something is wrong, but the run continues.
    fn warning(&self, _text: &str) {}
}

/// Ignores everything.
impl Reporter for () {
    fn outcomes(&self, _: usize, _: usize) {}
    fn search(&self, _: sogar_solver::Progress, _: Option<f64>) {}
}
