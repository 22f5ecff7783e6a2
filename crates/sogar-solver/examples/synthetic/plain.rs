//! The reference_kernel: every useful action on every leaf set, eight leaf sets at a time, so that a row of costs is made once for all of them.
//! The search above it is the solver's own, so leaf sets are remembered.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use sogar_solver::leaf::{
    GroupedLeaves, LeafBackend, LeafContext, LeafEvaluation, LeafPoint, LeafRequest, LeafWork, front_of,
};
use sogar_solver::{Combine, Problem, RowSet, Stop, StopReason};

use super::cpu;

/// The backend, and how much processor time went by before the first leaf (the solver's own preparation, which it does not need).
#[derive(Default)]
pub struct Plain {
    made: Mutex<Option<f64>>,
}

impl Plain {
    /// The processor time that had gone by when the first leaf was near; `None` if it was not in use.
    pub fn began(&self) -> Option<f64> {
        *self.made.lock().unwrap()
    }
}

struct Leaves<'a> {
    problem: &'a Problem,
    actions: Vec<u32>,
    sets: AtomicU64,
}

impl LeafBackend for Plain {
    fn leaves<'a>(
        &'a self,
        problem: &'a Problem,
        cpu_leaves: &'a GroupedLeaves<'a>,
    ) -> Box<dyn LeafEvaluation + 'a> {
        *self.made.lock().unwrap() = Some(cpu());
        let useful = cpu_leaves.useful();
        let actions = (1..problem.actions() as u32).filter(|&action| useful[action as usize]).collect();
        Box::new(Leaves { problem, actions, sets: AtomicU64::new(0) })
    }
}

impl LeafEvaluation for Leaves<'_> {
    fn among<'a>(&'a self, _: &RowSet) -> Box<dyn LeafContext + 'a> {
        Box::new(Context(self))
    }

    fn work(&self) -> LeafWork {
        let sets = self.sets.load(Ordering::Relaxed);
        LeafWork { sets, losses: sets * self.actions.len() as u64, ..LeafWork::default() }
    }
}

struct Context<'a>(&'a Leaves<'a>);

const TOGETHER: usize = 8;
/// Rows of which costs are made at a time.
const ROWS: usize = 4096;

impl LeafContext for Context<'_> {
    fn leaf_fronts(
        &self,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let mut fronts = Vec::with_capacity(requests.len());
        for requests in requests.chunks(TOGETHER) {
            stop.check()?;
            self.0.sets.fetch_add(requests.len() as u64, Ordering::Relaxed);
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
                // SAFETY: the processor has these instructions.
                fronts.extend(unsafe { evaluate_avx2(self.0, requests) });
                continue;
            }
            fronts.extend(evaluate(self.0, requests));
        }
        Ok(fronts)
    }

    fn compact_rows<'a>(&'a self, _: &RowSet) -> Option<Box<dyn LeafContext + 'a>> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
fn evaluate_avx2(leaves: &Leaves<'_>, requests: &[LeafRequest<'_>]) -> Vec<Vec<LeafPoint>> {
    evaluate(leaves, requests)
}

#[inline(always)]
fn evaluate(leaves: &Leaves<'_>, requests: &[LeafRequest<'_>]) -> Vec<Vec<LeafPoint>> {
    let problem = leaves.problem;
    let masks: Vec<Vec<u32>> = requests
        .iter()
        .map(|request| {
            (0..problem.rows()).map(|row| u32::from(request.set.contains(row)).wrapping_neg()).collect()
        })
        .collect();
    let sizes: Vec<u32> = requests.iter().map(|request| request.set.count() as u32).collect();
    let wide = problem.scale() > 0;
    // Per leaf and loss the cheapest, and its action.
    let mut best: Vec<Vec<(u64, u32)>> =
        sizes.iter().map(|&size| vec![(u64::MAX, 0); size as usize + 1]).collect();
    let mut costs = vec![0u32; ROWS.min(problem.rows())];
    for &action in &leaves.actions {
        let flips = problem.flips_of(action as usize);
        let mut totals = [0u64; TOGETHER];
        for start in (0..problem.rows()).step_by(ROWS) {
            let end = (start + ROWS).min(problem.rows());
            let costs = &mut costs[..end - start];
            match problem.edits_of(action as usize) {
                [edit] => costs.copy_from_slice(&problem.edit_cost(*edit as usize)[start..end]),
                list => {
                    costs.fill(0);
                    for &edit in list {
                        let column = &problem.edit_cost(edit as usize)[start..end];
                        match problem.combine() {
                            Combine::Max => {
                                costs.iter_mut().zip(column).for_each(|(cost, &own)| *cost = (*cost).max(own))
                            }
                            Combine::Sum => {
                                costs.iter_mut().zip(column).for_each(|(cost, &own)| *cost += own)
                            }
                        }
                    }
                }
            }
            for (total, mask) in totals.iter_mut().zip(&masks) {
                let both = costs.iter().zip(&mask[start..end]).map(|(cost, mask)| cost & mask);
                *total += match wide {
                    false => u64::from(both.sum::<u32>()),
                    true => both.map(u64::from).sum::<u64>(),
                };
            }
        }
        for (lane, request) in requests.iter().enumerate() {
            let words = request.set.words().iter().zip(flips);
            let flipped: u32 = words.map(|(set, flips)| (set & flips).count_ones()).sum();
            let place = &mut best[lane][(sizes[lane] - flipped) as usize];
            if totals[lane] < place.0 {
                *place = (totals[lane], action);
            }
        }
    }
    best.iter()
        .zip(&sizes)
        .map(|(best, &size)| {
            let found = (0..).zip(best).filter(|(_, best)| best.0 < u64::MAX);
            let points = found.map(|(loss, &(cost, action))| LeafPoint { cost, loss, action });
            front_of(points.chain([LeafPoint { cost: 0, loss: size, action: 0 }]).collect())
        })
        .collect()
}
