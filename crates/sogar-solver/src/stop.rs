//! Stops a search early, and reports its progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::front::Point;

/// Lets another thread (a signal handler, a user interface) end a search.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the search; it returns what it has.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`CancelToken::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a search ended before it was exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The deadline passed.
    TimeLimit,
    /// The user cancelled it.
    Cancelled,
}

/// What can end a search.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// The moment at which the search gives up.
    pub deadline: Option<Instant>,
    /// Cancellation by the caller.
    pub cancel: CancelToken,
}

impl From<&CancelToken> for Stop {
    /// No deadline.
    fn from(cancel: &CancelToken) -> Self {
        Stop { deadline: None, cancel: cancel.clone() }
    }
}

impl Stop {
    /// Fails with the reason once the search must end. Cheap enough to call per leaf set.
    pub fn check(&self) -> Result<(), StopReason> {
        if self.cancel.is_cancelled() {
            return Err(StopReason::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(StopReason::TimeLimit);
        }
        Ok(())
    }
}

/// The progress of a search. Depths are searched one after the other, each giving a valid front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The depth that is being searched.
    pub depth: u32,
    /// Root splits finished at this depth.
    pub splits_done: usize,
    /// Root splits in all.
    pub splits_total: usize,
    /// Distinct leaf sets evaluated so far.
    pub leaf_sets: u64,
}

/// Receives the progress of the search; called from the search's threads.
pub trait Observer: Sync {
    /// A root split was finished.
    fn progress(&self, progress: Progress);

    /// The front improved: all of its current points, cost ascending. Each is attained by a tree, and the search would return
    /// them if it were stopped.
    fn improved(&self, front: &[Point]) {
        let _ = front;
    }

    /// Whether [`Observer::bound`] is wanted, which is made beside the search.
    fn wants_bound(&self) -> bool {
        false
    }

    /// No tree lies below this front; told once, while the search runs.
    fn bound(&self, front: &[Point]) {
        let _ = front;
    }
}

/// Ignores everything.
impl Observer for () {
    fn progress(&self, _: Progress) {}
}
