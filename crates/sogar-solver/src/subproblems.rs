//! Stored subproblems: a search looks up each cut of all rows, and reports the cuts that it has finished.
//!
//! Checkpoints and other processes are behind this interface. Implementations need not understand fronts: a [`FinishedCut`] can
//! be written as bytes and read back.

use crate::cut_codec::FinishedCut;

/// Stores finished subproblems; called from the search's threads.
pub trait Subproblems: Sync {
    /// The stored cut of all rows by a split, for trees of a depth.
    fn known(&self, depth: u32, split: u32) -> Option<FinishedCut>;

    /// A cut was solved.
    fn finished(&self, cut: FinishedCut);
}

/// Stores nothing.
impl Subproblems for () {
    fn known(&self, _: u32, _: u32) -> Option<FinishedCut> {
        None
    }

    fn finished(&self, _: FinishedCut) {}
}
