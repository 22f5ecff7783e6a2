//! How much work goes into a batch: as much as takes some milliseconds, measured as it goes. Batches do not become smaller than
//! the first one: what they cost whatever is in them would be all that remains.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long a batch should take: cancelling and deadlines are heeded between batches.
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

    /// A batch of `size` took so long. `shared`: another one was begun since, so half of the time may have been its own.
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
