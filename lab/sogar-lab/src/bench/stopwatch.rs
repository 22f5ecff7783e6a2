//! The running time of a thread, so that other work on the machine favours nobody.

use std::time::Instant;

/// Counts from its start, or from its last lap.
pub struct Stopwatch {
    start: Instant,
    last: f64,
}

impl Stopwatch {
    pub fn start() -> Stopwatch {
        let mut watch = Stopwatch { start: Instant::now(), last: 0.0 };
        watch.last = watch.now();
        watch
    }

    /// Seconds since the start or the last lap.
    pub fn seconds(&self) -> f64 {
        self.now() - self.last
    }

    /// The same, and starts anew. Laps add up to the whole time, also where the system's clock is coarse.
    pub fn lap(&mut self) -> f64 {
        let now = self.now();
        now - std::mem::replace(&mut self.last, now)
    }

    /// By the scheduler of Linux; elsewhere by the clock on the wall.
    fn now(&self) -> f64 {
        running().unwrap_or_else(|| self.start.elapsed().as_secs_f64())
    }
}

fn running() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
