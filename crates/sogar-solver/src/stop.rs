//! Stopping early, and telling an observer how far the search is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::front::Point;

/// Lets another thread (a signal handler, a user interface) end a search.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the search to end; it returns what it has.
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
    /// Somebody cancelled it.
    Cancelled,
}

/// What can end a search.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// The moment at which the search gives up.
    pub deadline: Option<Instant>,
    /// Cancellation from outside.
    pub cancel: CancelToken,
}

impl From<&CancelToken> for Stop {
    /// No deadline.
    fn from(cancel: &CancelToken) -> Self {
        Stop { deadline: None, cancel: cancel.clone() }
    }
}

impl Stop {
    /// Fails with the reason once the search has to end. Cheap enough to be asked per leaf set.
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

/// How far a search is. Depths are searched one after the other, each giving a valid front.
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

/// Is told how the search goes; called from the search's threads.
pub trait Observer: Sync {
    /// A root split was finished.
    fn progress(&self, progress: Progress);

    /// The front became better: all of its points now, cost ascending. Each is attained by a tree, and the search would
    /// return them if it were stopped.
    fn improved(&self, front: &[Point]) {
        let _ = front;
    }
}

/// Nobody watches.
impl Observer for () {
    fn progress(&self, _: Progress) {}
}
