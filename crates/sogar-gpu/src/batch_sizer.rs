//! Chooses the size of a batch: some milliseconds of work, as measured so far. Batches never become smaller than the first one,
//! because fixed costs would dominate.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Target time of a batch: cancelling and deadlines take effect between batches.
const BATCH_TIME: Duration = Duration::from_millis(15);

/// The size of the next batch.
pub(crate) struct BatchSizer {
    now: AtomicUsize,
    least: usize,
    most: usize,
}

impl BatchSizer {
    pub fn new(first: usize, most: usize) -> BatchSizer {
        let most = most.max(1);
        let least = first.clamp(1, most);
        BatchSizer { now: AtomicUsize::new(least), least, most }
    }

    pub fn get(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    /// Records that a batch of `size` took this time. `shared`: another one was started meanwhile, so half of the time may be its
    /// own.
    pub fn took(&self, size: usize, time: Duration, shared: bool) {
        let time = time.as_secs_f64().max(1e-6) / if shared { 2.0 } else { 1.0 };
        let fitting = (size as f64 * BATCH_TIME.as_secs_f64() / time) as usize;
        let fitting = fitting.min(size.saturating_mul(2));
        self.now.store(fitting.clamp(self.least, self.most), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_and_shrink_within_limits() {
        let batch_sizer = BatchSizer::new(16, 100);
        batch_sizer.took(16, Duration::from_millis(1), false);
        assert_eq!(batch_sizer.get(), 32);
        batch_sizer.took(80, Duration::ZERO, false);
        assert_eq!(batch_sizer.get(), 100);
        batch_sizer.took(100, Duration::from_secs(9), true);
        assert_eq!(batch_sizer.get(), 16);
        batch_sizer.took(100, Duration::from_millis(30), true);
        assert_eq!(batch_sizer.get(), 100);
    }
}
