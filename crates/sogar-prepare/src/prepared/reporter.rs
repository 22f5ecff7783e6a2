//! Who is told how a run goes.

use super::EvaluatedPoint;
use crate::outcomes::Scorings;

/// Is told how a run goes. All methods may be called from other threads.
pub trait Reporter: Sync {
    /// Outcomes of `done` of `all` rows are known.
    fn outcomes(&self, done: usize, all: usize);
    /// The search has come this far.
    fn search(&self, progress: sogar_solver::Progress);
    /// The front became better: all of its points now, cost ascending. A search that is stopped gives at least these.
    fn improved(&self, _front: &[EvaluatedPoint]) {}
    /// A check has come this far.
    fn checking(&self, _what: &str, _done: usize, _all: usize) {}
    /// The model is about to be asked about this many rows.
    fn scorings(&self, _scorings: Scorings) {}
    /// Something that the user may want to know.
    fn notice(&self, _text: &str) {}
    /// Something is not as it should be, though the run goes on.
    fn warning(&self, _text: &str) {}
}

/// Nobody listens.
impl Reporter for () {
    fn outcomes(&self, _: usize, _: usize) {}
    fn search(&self, _: sogar_solver::Progress) {}
}
