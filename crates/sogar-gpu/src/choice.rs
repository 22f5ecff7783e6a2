//! Decides whether to use the device: always, or only if it is faster.
//!
//! A device is tried on the first real work, which the CPU does as well: are the answers the same, and which was faster? Nothing
//! else is measured, and nothing is stored for other runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// When to use a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// As long as it works.
    Always,
    /// If it is faster than this number of CPU threads.
    IfFaster {
        /// Threads that the CPU would use.
        threads: usize,
    },
}

/// What is known about a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Not tried yet.
    Untried,
    /// It is used; the times of device and CPU, if they were compared.
    Used {
        /// For the same leaves: the device's time, and that of all CPU threads.
        compared: Option<(Duration, Duration)>,
    },
    /// It works but is slower than the CPU: the same times.
    Slower {
        /// The device's time, and that of all CPU threads.
        compared: (Duration, Duration),
    },
    /// It does not work, or no longer does.
    Faulty,
}

/// The choice between device and CPU.
pub struct Choice {
    when: Use,
    verdict: Mutex<Verdict>,
    /// A trial is running.
    trying: AtomicBool,
}

impl Choice {
    /// Nothing is known yet.
    pub fn new(when: Use) -> Choice {
        Choice { when, verdict: Mutex::new(Verdict::Untried), trying: AtomicBool::new(false) }
    }

    /// What is known so far.
    pub fn verdict(&self) -> Verdict {
        *self.verdict.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, verdict: Verdict) {
        let mut known = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != Verdict::Faulty {
            *known = verdict;
        }
    }

    /// Whether to put a problem on the device at all.
    pub fn may_try(&self) -> bool {
        matches!(self.verdict(), Verdict::Untried | Verdict::Used { .. })
    }

    /// Whether it is used.
    pub fn is_used(&self) -> bool {
        matches!(self.verdict(), Verdict::Used { .. })
    }

    /// Smallest number of leaves, or other pieces of work, for a trial, if one is needed.
    pub fn trial(&self) -> Option<usize> {
        match (self.verdict(), self.when) {
            (Verdict::Untried, Use::Always) => Some(1),
            // One leaf or a few do not show the speed.
            (Verdict::Untried, Use::IfFaster { .. }) => Some(32),
            _ => None,
        }
    }

    /// True for only one of several concurrent callers.
    pub fn begin_trial(&self) -> bool {
        !self.trying.swap(true, Ordering::AcqRel)
    }

    /// Ends a trial without a result.
    pub fn end_trial(&self) {
        self.trying.store(false, Ordering::Release);
    }

    /// Records that the device works, with its time and that of one CPU thread.
    pub fn works(&self, device: Duration, thread: Duration) {
        let verdict = match self.when {
            Use::Always => Verdict::Used { compared: None },
            Use::IfFaster { threads } => {
                let compared = (device, thread / u32::try_from(threads.max(1)).unwrap_or(u32::MAX));
                match compared.0 < compared.1 {
                    true => Verdict::Used { compared: Some(compared) },
                    false => Verdict::Slower { compared },
                }
            }
        };
        self.decide(verdict);
    }

    /// True only the first time.
    pub fn give_up(&self) -> bool {
        let mut known = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *known, Verdict::Faulty) != Verdict::Faulty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_chosen_if_it_beats_all_threads() {
        let (fast, slow) = (Duration::from_millis(3), Duration::from_millis(10));
        let choice = Choice::new(Use::IfFaster { threads: 2 });
        assert_eq!(choice.trial(), Some(32));
        choice.works(fast, slow);
        assert!(choice.is_used() && choice.trial().is_none());
        let choice = Choice::new(Use::IfFaster { threads: 4 });
        choice.works(fast, slow);
        assert!(!choice.is_used() && !choice.may_try());
        let choice = Choice::new(Use::Always);
        choice.works(slow, fast);
        assert_eq!(choice.verdict(), Verdict::Used { compared: None });
    }

    #[test]
    fn a_fault_is_for_good_and_told_once() {
        let choice = Choice::new(Use::Always);
        assert!(choice.give_up());
        assert!(!choice.give_up());
        choice.works(Duration::ZERO, Duration::ZERO);
        assert_eq!(choice.verdict(), Verdict::Faulty);
    }
}
