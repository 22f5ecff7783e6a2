//! Leaf evaluation on the device.
//!
//! A batch of row sets passes through these kernels without returning in between (`leaf.wgsl`):
//!
//! 1. `single_totals` computes the cost and the loss of every edit on every set, and records on the set's *stairs* the smallest
//!    cost for each loss;
//! 2. `warm_costs` does the same for the long actions (of three edits and more) that are likely to be good: those on the parent's
//!    front;
//! 3. `descend` turns the records into stairs: the cost for a smaller loss also holds for a larger one;
//! 4. `pair_totals` does the same for pairs of edits, unless the stairs dominate everything that contains the pair: it costs at
//!    least as much as either edit, and flips only people whom some such action flips. Then `descend` again;
//! 5. `keep_short` lists the short actions (of at most two edits) that the stairs do not dominate;
//! 6. `keep_long` counts the losses of the long actions of which no pair was ruled out, and lists those that are not dominated
//!    even if they cost no more than the most expensive pair of their edits;
//! 7. `candidate_costs` sums the costs of these, and lists those that are still not dominated.
//!
//! **Soundness.** Stairs hold costs of actions, rounded up, at losses rounded up. An action is dropped if its cost, or a lower
//! bound of it, rounded down, is *larger* than the step at its loss, or a lower bound of it, rounded down. Then a known action is
//! strictly cheaper and loses no more, so the dropped action is on no front. (Edits and pairs that are not useful actions by
//! themselves count as flipping nobody; the identity, which is always known, costs no more and loses no more than they do.) All
//! others are returned with exact totals, and [`sogar_solver::leaf::front_of`] makes the front of them: a function of the set
//! alone, regardless of the order on the device.
//!
//! Batches are short (some milliseconds, as measured), so that cancelling and deadlines take effect between them. Two are in
//! flight at a time: while one is computed, the previous answer is read and the next sets are written.

mod batch;
mod context;
mod sets;
mod tables;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use sogar_solver::leaf::{
    GroupedLeaves, LeafBackend, LeafContext, LeafEvaluation, LeafPoint, LeafRequest, LeafWork, front_of,
};
use sogar_solver::{Problem, RowSet, Stop, StopReason};

use self::batch::{Answer, Kernels, Room, Slot};
use self::context::Context;
use self::sets::Sets;
use self::tables::Tables;
use crate::batch_sizer::BatchSizer;
use crate::buffer::Allowance;
use crate::choice::{Choice, Use, Verdict};
use crate::device::{Gpu, InFlight};
use crate::fault::Fault;

/// Sets of a batch: at first and at least, and at most.
const FIRST_SETS: usize = 16;
const MOST_SETS: usize = 2048;
/// Approximate bytes of the buffers of one batch.
const SLOT_BYTES: u64 = 64 << 20;
/// Limits of points per batch: those to sum, and those to return.
const CANDIDATES: u32 = 1 << 18;
const FOUND: u32 = 1 << 16;
const WARM: usize = 1 << 16;
/// Limit of words of sets in one batch, unless one set has more.
const ENTRIES: usize = 1 << 20;

/// The kernels of the leaf evaluation, compiled for a device: a backend of the solver.
pub struct LeafKernels<'g> {
    gpu: &'g Gpu,
    kernels: Kernels,
    /// Bytes that may be used on the device.
    memory: u64,
    choice: Choice,
    on_fault: &'g (dyn Fn(&Fault) + Sync),
}

impl<'g> LeafKernels<'g> {
    /// Compiles them. `memory` is their limit on the device; `on_fault` is called once, if the CPU takes over.
    pub fn new(
        gpu: &'g Gpu,
        when: Use,
        memory: u64,
        on_fault: &'g (dyn Fn(&Fault) + Sync),
    ) -> Result<LeafKernels<'g>, Fault> {
        Ok(LeafKernels { gpu, kernels: Kernels::new(gpu)?, memory, choice: Choice::new(when), on_fault })
    }

    /// What is known about the device so far.
    pub fn verdict(&self) -> Verdict {
        self.choice.verdict()
    }

    fn give_up(&self, fault: &Fault) {
        if self.choice.give_up() {
            (self.on_fault)(fault);
        }
    }
}

impl LeafBackend for LeafKernels<'_> {
    fn leaves<'a>(
        &'a self,
        problem: &'a Problem,
        cpu: &'a GroupedLeaves<'a>,
    ) -> Box<dyn LeafEvaluation + 'a> {
        let device = match self.choice.may_try() {
            true => OnDevice::new(self, problem, cpu).map_err(|fault| self.give_up(&fault)).ok(),
            false => None,
        };
        Box::new(Leaves { kernels: self, cpu, device })
    }
}

/// The leaves of one problem.
struct Leaves<'a> {
    kernels: &'a LeafKernels<'a>,
    cpu: &'a GroupedLeaves<'a>,
    device: Option<OnDevice<'a>>,
}

impl LeafEvaluation for Leaves<'_> {
    fn among<'a>(&'a self, members: &RowSet) -> Box<dyn LeafContext + 'a> {
        match &self.device {
            Some(device) => Box::new(Context::new(self.kernels, self.cpu, device, members.clone())),
            None => self.cpu.among(members),
        }
    }

    fn prepare(&self, stop: &Stop) {
        // While the device may do the work, preparing the CPU would be wasted.
        if self.device.is_none() || !self.kernels.choice.may_try() {
            self.cpu.prepare(stop);
        }
    }

    fn work(&self) -> LeafWork {
        let mut work = self.cpu.work();
        if let Some(device) = &self.device {
            let (sets, shape) = (device.sets.load(Ordering::Relaxed), device.tables.shape);
            work.sets += sets;
            work.losses += sets * u64::from(shape.shorts + shape.longs);
            work.costs += sets * u64::from(shape.shorts);
        }
        work
    }
}

/// A problem that is on the device.
struct OnDevice<'a> {
    kernels: &'a LeafKernels<'a>,
    problem: &'a Problem,
    tables: Tables,
    room: Room,
    /// The size of batches.
    batch_sizer: BatchSizer,
    /// Sets evaluated so far.
    sets: AtomicU64,
    idle: Mutex<Pool<'a>>,
}

/// Free buffers, and memory for more.
struct Pool<'a> {
    slots: Vec<Slot>,
    allowance: Allowance<'a>,
}

/// A batch in flight.
struct Batch {
    slot: Slot,
    work: InFlight,
    first: usize,
    sets: usize,
    started: Instant,
}

impl<'a> OnDevice<'a> {
    fn new(
        kernels: &'a LeafKernels<'a>,
        problem: &'a Problem,
        cpu: &GroupedLeaves<'_>,
    ) -> Result<OnDevice<'a>, Fault> {
        let gpu = kernels.gpu;
        let mut allowance = Allowance::new(gpu, kernels.memory);
        let candidates = CANDIDATES.min((gpu.largest / 16) as u32);
        let found = FOUND.min((gpu.largest / 32) as u32);
        let tables = Tables::new(gpu, problem, cpu.useful(), &mut allowance, (candidates, found))?;
        let shape = tables.shape;
        let per_set = u64::from(shape.shorts) * 12 + u64::from(shape.steps) * 4;
        let bytes = SLOT_BYTES.min(gpu.largest).min(allowance.left() / 4);
        let entries = shape.words * tables.planes.len();
        let room = Room {
            sets: usize::try_from(bytes / per_set).unwrap_or(MOST_SETS).clamp(1, MOST_SETS),
            entries: entries.max(ENTRIES.min(usize::try_from(gpu.largest / 8).unwrap_or(ENTRIES))),
            warm: WARM.min(usize::try_from(gpu.largest / 16).unwrap_or(WARM)),
        };
        let slot = Slot::new(gpu, &kernels.kernels, &tables, room, &mut allowance)?;
        gpu.check()?;
        Ok(OnDevice {
            kernels,
            problem,
            tables,
            room,
            batch_sizer: BatchSizer::new(FIRST_SETS, room.sets),
            sets: AtomicU64::new(0),
            idle: Mutex::new(Pool { slots: vec![slot], allowance }),
        })
    }

    /// The fronts of all requests; those without room stay empty, for the CPU.
    fn fronts(
        &self,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
    ) -> Result<Result<Vec<Vec<LeafPoint>>, Fault>, StopReason> {
        let mut fronts = vec![Vec::new(); requests.len()];
        let mut next = 0;
        let mut flying: Option<Batch> = None;
        loop {
            let stopped = stop.check();
            let started = match next < requests.len() && stopped.is_ok() {
                true => match self.start(requests, next) {
                    Ok(batch) => batch,
                    Err(fault) => return Ok(Err(fault)),
                },
                false => None,
            };
            next += started.as_ref().map_or(0, |batch| batch.sets);
            if let Some(batch) = flying.take() {
                let wait = started.is_some();
                if let Err(fault) = self.finish(batch, requests, &mut fronts, wait) {
                    return Ok(Err(fault));
                }
            }
            stopped?;
            flying = started;
            if flying.is_none() && next >= requests.len() {
                break;
            }
        }
        self.sets.fetch_add(requests.len() as u64, Ordering::Relaxed);
        Ok(Ok(fronts))
    }

    /// Submits the next requests; `None` if all buffers are in use, which only happens to a second batch.
    fn start(&self, requests: &[LeafRequest<'_>], first: usize) -> Result<Option<Batch>, Fault> {
        let (gpu, kernels) = (self.kernels.gpu, &self.kernels.kernels);
        gpu.check()?;
        let room = Room { sets: self.batch_sizer.get(), ..self.room };
        let sets = Sets::of(self.problem, &self.tables, &requests[first..], room);
        let slot = self.slot()?;
        let started = Instant::now();
        let work = slot.start(gpu, kernels, &self.tables, &sets);
        Ok(Some(Batch { slot, work, first, sets: sets.len(), started }))
    }

    fn slot(&self) -> Result<Slot, Fault> {
        let mut pool = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = pool.slots.pop() {
            return Ok(slot);
        }
        Slot::new(self.kernels.gpu, &self.kernels.kernels, &self.tables, self.room, &mut pool.allowance)
    }

    /// Reads a batch's answer. `shared`: another batch was started meanwhile, so the time is less meaningful.
    fn finish(
        &self,
        batch: Batch,
        requests: &[LeafRequest<'_>],
        fronts: &mut [Vec<LeafPoint>],
        shared: bool,
    ) -> Result<(), Fault> {
        let gpu = self.kernels.gpu;
        let Batch { slot, work, first, sets, started } = batch;
        let answer = slot.finish(gpu, work, &self.tables, sets)?;
        self.batch_sizer.took(sets, started.elapsed(), shared);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).slots.push(slot);
        match answer {
            Answer::Points(points) => {
                for (front, points) in fronts[first..].iter_mut().zip(points) {
                    *front = front_of(points);
                }
                Ok(())
            }
            // A single set leaves its front empty, for the CPU.
            Answer::Overflow if sets == 1 => Ok(()),
            Answer::Overflow => {
                for half in [first..first + sets / 2, first + sets / 2..first + sets] {
                    let mut next = half.start;
                    while next < half.end {
                        let Some(batch) = self.start(&requests[..half.end], next)? else { break };
                        next += batch.sets;
                        self.finish(batch, &requests[..half.end], fronts, false)?;
                    }
                }
                Ok(())
            }
        }
    }
}
