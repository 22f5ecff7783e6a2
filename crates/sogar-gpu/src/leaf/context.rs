//! Leaves below some rows: on the device while it works, otherwise on the CPU.

use std::sync::OnceLock;
use std::time::Instant;

use sogar_solver::leaf::{GroupedLeaves, LeafContext, LeafEvaluation, LeafPoint, LeafRequest};
use sogar_solver::{RowSet, Stop, StopReason};

use super::{LeafKernels, OnDevice};
use crate::fault::{Fault, Injected};

/// Largest number of leaves in a trial.
const TRIAL: usize = 256;

pub(super) struct Context<'a, 'p> {
    kernels: &'a LeafKernels<'a>,
    grouped: &'a GroupedLeaves<'a>,
    device: &'a OnDevice<'p>,
    members: RowSet,
    /// Built on first use.
    cpu: OnceLock<Box<dyn LeafContext + 'a>>,
}

impl<'a, 'p> Context<'a, 'p> {
    pub fn new(
        kernels: &'a LeafKernels<'a>,
        grouped: &'a GroupedLeaves<'a>,
        device: &'a OnDevice<'p>,
        members: RowSet,
    ) -> Self {
        Context { kernels, grouped, device, members, cpu: OnceLock::new() }
    }

    fn cpu(&self) -> &dyn LeafContext {
        &**self.cpu.get_or_init(|| self.grouped.among(&self.members))
    }

    /// The CPU evaluates these, and unless a trial is running, the device does too: are they equal, and which is faster?
    fn trial(&self, requests: &[LeafRequest<'_>], stop: &Stop) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let (some, others) = requests.split_at(requests.len().min(TRIAL));
        let start = Instant::now();
        let mut fronts = self.cpu().leaf_fronts(some, stop)?;
        let thread = start.elapsed();
        // A second time, because the first time is always slower.
        let mut tried = self.device.fronts(some, stop);
        let start = Instant::now();
        if matches!(tried, Ok(Ok(_))) {
            tried = self.device.fronts(some, stop);
        }
        match tried {
            Ok(Ok(mut found)) => {
                if self.kernels.gpu.inject == Some(Injected::Wrong)
                    && let Some(point) = found.first_mut().and_then(|front| front.first_mut())
                {
                    point.cost += 1;
                }
                let differs = |(own, cpu): (&Vec<LeafPoint>, _)| !own.is_empty() && own != cpu;
                if found.iter().zip(&fronts).any(differs) {
                    self.kernels.give_up(&Fault::Wrong);
                } else {
                    self.kernels.choice.works(start.elapsed(), thread);
                }
            }
            Ok(Err(fault)) => self.kernels.give_up(&fault),
            Err(_) => self.kernels.choice.end_trial(), // stopped: the CPU's results still count
        }
        if !others.is_empty() {
            fronts.extend(self.leaf_fronts(others, stop)?);
        }
        Ok(fronts)
    }
}

impl LeafContext for Context<'_, '_> {
    fn leaf_fronts(
        &self,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let choice = &self.kernels.choice;
        if choice.trial().is_some_and(|fewest| requests.len() >= fewest) && choice.begin_trial() {
            return self.trial(requests, stop);
        }
        if !choice.is_used() {
            return self.cpu().leaf_fronts(requests, stop);
        }
        match self.device.fronts(requests, stop)? {
            Ok(mut fronts) => {
                for (front, request) in fronts.iter_mut().zip(requests) {
                    if front.is_empty() {
                        *front = self.cpu().leaf_fronts(&[*request], stop)?.pop().unwrap_or_default();
                    }
                }
                Ok(fronts)
            }
            Err(fault) => {
                self.kernels.give_up(&fault);
                self.cpu().leaf_fronts(requests, stop)
            }
        }
    }

    fn compact_rows<'b>(&'b self, set: &RowSet) -> Option<Box<dyn LeafContext + 'b>> {
        match self.kernels.choice.may_try() {
            true => None,
            false => self.cpu().compact_rows(set),
        }
    }
}
