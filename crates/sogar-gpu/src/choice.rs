//! Whether the device is used: always, or only where it is faster.
//!
//! A device is tried out with the first real work that comes along, which the CPU does as well: are the answers the same, and who was
//! faster? Nothing else is measured, and nothing is kept for other runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// When a device is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// As long as it works.
    Always,
    /// If it is faster than so many threads of the CPU.
    IfFaster {
        /// Threads that the CPU would use.
        threads: usize,
    },
}

/// What was found out about a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Untried,
    /// It is used; the times of device and CPU, where they were compared.
    Used {
        /// Both for the same leaves: the device's, and that of all threads of the CPU.
        compared: Option<(Duration, Duration)>,
    },
    /// It works but is slower than the CPU: the same times.
    Slower {
        /// The device's time, and that of all threads of the CPU.
        compared: (Duration, Duration),
    },
    /// It does not work, or no longer.
    Faulty,
}

/// The choice between device and CPU.
pub struct Choice {
    when: Use,
    verdict: Mutex<Verdict>,
    /// Somebody is trying it out.
    trying: AtomicBool,
}

impl Choice {
    /// Nothing is known yet.
    pub fn new(when: Use) -> Choice {
        Choice { when, verdict: Mutex::new(Verdict::Untried), trying: AtomicBool::new(false) }
    }

    /// What was found out so far.
    pub fn verdict(&self) -> Verdict {
        *self.verdict.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, verdict: Verdict) {
        let mut known = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != Verdict::Faulty {
            *known = verdict;
        }
    }

    /// Whether it makes sense to put a problem on the device.
    pub fn may_try(&self) -> bool {
        matches!(self.verdict(), Verdict::Untried | Verdict::Used { .. })
    }

    /// Whether it is used.
    pub fn is_used(&self) -> bool {
        matches!(self.verdict(), Verdict::Used { .. })
    }

    /// Fewest leaves, or other pieces of work, with which it can be tried out, if it still has to be.
    pub fn trial(&self) -> Option<usize> {
        match (self.verdict(), self.when) {
            (Verdict::Untried, Use::Always) => Some(1),
            // One leaf or a few say nothing about speed.
            (Verdict::Untried, Use::IfFaster { .. }) => Some(32),
            _ => None,
        }
    }

    /// True for one of those who want to try it out at the same time.
    pub fn begin_trial(&self) -> bool {
        !self.trying.swap(true, Ordering::AcqRel)
    }

    /// A trial that could not be finished.
    pub fn end_trial(&self) {
        self.trying.store(false, Ordering::Release);
    }

    /// The device works, and took this long where one thread of the CPU took that long.
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

    /// True the first time.
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
