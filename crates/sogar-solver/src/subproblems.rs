//! Subproblems that somebody keeps: a search asks for what is known of each cut of all rows, and tells what it has finished.
//!
//! This is the one seam behind which checkpoints and other processes are. Whoever implements it need not understand fronts: a
//! [`FinishedCut`] can be written as bytes and read back.

use crate::cut_codec::FinishedCut;

/// Keeps finished subproblems; called from the search's threads.
pub trait Subproblems: Sync {
    /// What is known of cutting all rows by a split, for trees of a depth.
    fn known(&self, depth: u32, split: u32) -> Option<FinishedCut>;

    /// A cut was solved.
    fn finished(&self, cut: FinishedCut);
}

/// Nobody keeps anything.
impl Subproblems for () {
    fn known(&self, _: u32, _: u32) -> Option<FinishedCut> {
        None
    }

    fn finished(&self, _: FinishedCut) {}
}
