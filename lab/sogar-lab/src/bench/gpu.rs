//! The search again on a GPU, beside the CPU's in the same process. Any adapter will do, also a software one: the report names
//! it.

use serde::{Deserialize, Serialize};
use sogar_solver::{Outcome, Problem};

/// A search on a GPU.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OnGpu {
    /// Its value of `--device`, and its own name.
    pub device: String,
    /// Whether the search finished within its time.
    pub complete: bool,
    /// Leaf sets that it evaluated.
    pub leaf_sets: u64,
    pub seconds: f64,
    /// The fault, including a front that differs from the CPU's.
    pub fault: Option<String>,
}

/// `None` without a GPU.
#[cfg(not(feature = "gpu"))]
pub fn on_gpu(_: &Problem, _: &Outcome, _: usize, _: f64) -> Option<OnGpu> {
    None
}

/// Searches a problem on the first GPU for at most `budget` seconds; `None` if there is none.
#[cfg(feature = "gpu")]
pub fn on_gpu(problem: &Problem, cpu: &Outcome, threads: usize, budget: f64) -> Option<OnGpu> {
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    use sogar_gpu::{Fault, Gpu, LeafKernels, Options, Use};
    use sogar_solver::{SearchStatus, Solver};

    let gpu = Gpu::open(Options::default()).ok()?;
    let faults: Mutex<Option<Fault>> = Mutex::new(None);
    let on_fault = |fault: &Fault| {
        if let Ok(mut faults) = faults.lock() {
            faults.get_or_insert(fault.clone());
        }
    };
    let limit = Duration::try_from_secs_f64(budget.max(1.0)).ok();
    let solver = Solver::builder().threads(threads).time_limit(limit).build().ok()?;
    let device = format!("{} ({})", gpu.label(), gpu.adapter().name);
    let start = Instant::now();
    let found = match LeafKernels::new(&gpu, Use::Always, 4 << 30, &on_fault) {
        Ok(kernels) => Some(solver.solve_with(problem, &(), Some(&kernels), &())),
        Err(fault) => {
            on_fault(&fault);
            None
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let complete = found.as_ref().is_some_and(|found| found.status == SearchStatus::Complete);
    let mut fault = faults.into_inner().ok().flatten().map(|fault| fault.to_string());
    if complete
        && cpu.status == SearchStatus::Complete
        && found.as_ref().is_some_and(|found| found.front != cpu.front)
    {
        fault = Some("its front is not that of the CPU".to_owned());
    }
    let leaf_sets = found.map_or(0, |found| found.stats.leaf_sets);
    Some(OnGpu { device, complete, leaf_sets, seconds, fault })
}
