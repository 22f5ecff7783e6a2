//! GPUs in a run: opened when there is work for one, abandoned with one warning when it fails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use sogar_gpu::{AdapterKind, Fault, Gpu, Injected, LeafKernels, Options, Use, Verdict};
use sogar_solver::{Observer, Outcome, Problem, Solver, Subproblems};

use super::cells::GpuCells;
use super::{Device, Listed, ListedLimits};
use sogar_prepare::model::DenseNetwork;
use sogar_prepare::outcomes::{CellDevice, Evaluable, OutcomeQuery};
use sogar_prepare::prepared::Reporter;

/// Work of a search, in words of row sets, from which looking for GPUs pays off: seconds of CPU time.
const WORTH_A_LOOK: f64 = 1e13;

/// The devices of one run.
pub struct Compute<'a> {
    device: Device,
    reporter: &'a dyn Reporter,
    threads: usize,
    memory: u64,
    gpu: OnceLock<Option<Gpu>>,
    warned: AtomicBool,
    used: Mutex<Option<String>>,
}

impl<'a> Compute<'a> {
    pub fn new(device: Device, reporter: &'a dyn Reporter, threads: usize, memory: u64) -> Compute<'a> {
        Compute {
            device,
            reporter,
            threads,
            memory,
            gpu: OnceLock::new(),
            warned: AtomicBool::new(false),
            used: Mutex::new(None),
        }
    }

    /// Searches on the GPU if requested, or if it is faster.
    pub fn solve(
        &self,
        solver: &Solver,
        problem: &Problem,
        observer: &dyn Observer,
        kept: &dyn Subproblems,
    ) -> Outcome {
        let Some(gpu) = self.gpu(|| leaf_work(problem) >= WORTH_A_LOOK) else {
            return solver.solve_with(problem, observer, None, kept);
        };
        let on_fault = |fault: &Fault| self.lost(fault);
        let kernels = match LeafKernels::new(gpu, self.when(), self.memory_of(gpu), &on_fault) {
            Ok(kernels) => kernels,
            Err(fault) => {
                self.lost(&fault);
                return solver.solve_with(problem, observer, None, kept);
            }
        };
        let outcome = solver.solve_with(problem, observer, Some(&kernels), kept);
        self.conclude(gpu, "the search", kernels.verdict());
        outcome
    }

    /// Evaluates the cells of a dense network on the GPU, if requested or possibly faster.
    pub fn cells(&self, query: &OutcomeQuery<'_>) -> Option<Box<dyn CellDevice + '_>> {
        let network = query.predictor.dense_network()?;
        let evaluable = Evaluable::of(network)?;
        let gpu = self.gpu(|| cell_work(query, network) >= WORTH_A_LOOK)?;
        match GpuCells::new(self, gpu, &evaluable, query) {
            Ok(cells) => Some(Box::new(cells)),
            Err(fault) => {
                self.lost(&fault);
                None
            }
        }
    }

    /// The device that did the work, for the record.
    pub fn label(&self) -> String {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_else(|| "cpu".to_owned())
    }

    pub(super) fn when(&self) -> Use {
        match self.device {
            Device::Auto => Use::IfFaster { threads: self.threads },
            _ => Use::Always,
        }
    }

    /// Memory that a GPU may use: a part of the run's memory limit if it shares the machine's memory.
    pub(super) fn memory_of(&self, gpu: &Gpu) -> u64 {
        match gpu.adapter().kind {
            AdapterKind::Discrete => u64::MAX,
            _ => self.memory / 4,
        }
    }

    /// The GPU, opened on first use. Unless requested, it is opened only if that is `worth` it.
    fn gpu(&self, worth: impl FnOnce() -> bool) -> Option<&Gpu> {
        let options = match self.device {
            Device::Cpu => return None,
            Device::Auto if self.gpu.get().is_none() && !worth() => return None,
            Device::Auto => Options { hardware_only: true, ..Options::default() },
            Device::Gpu(number) => {
                Options { adapter: number.map(|number| number as usize), ..Options::default() }
            }
        };
        let options = Options { inject: injected(), ..options };
        let opened = self.gpu.get_or_init(|| match Gpu::open(options) {
            Ok(gpu) => Some(gpu),
            Err(Fault::NoAdapter) if self.device == Device::Auto => None,
            Err(fault) => {
                self.lost(&fault);
                None
            }
        });
        opened.as_ref().filter(|gpu| gpu.check().is_ok())
    }

    /// The one warning of a run.
    pub(super) fn lost(&self, fault: &Fault) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            self.reporter.warning(&format!("{fault}; the CPU does the work, and the result is the same"));
        }
    }

    /// Records the device in use, and reports a measurement that the user did not request.
    pub(super) fn conclude(&self, gpu: &Gpu, what: &str, verdict: Verdict) {
        let name = format!("{} ({})", gpu.label(), gpu.adapter().name);
        match verdict {
            Verdict::Used { compared } => {
                if let Some((device, cpu)) = compared {
                    let times = cpu.as_secs_f64() / device.as_secs_f64().max(1e-9);
                    self.reporter
                        .notice(&format!("{what} ran on {name}, {times:.1} times as fast as the CPU"));
                }
                *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
            }
            Verdict::Slower { compared: (device, cpu) } => {
                let times = device.as_secs_f64() / cpu.as_secs_f64().max(1e-9);
                self.reporter.notice(&format!(
                    "{what} ran on the CPU: {name} was tried and took {times:.1} times as long (--device gpu uses it all the same)"
                ));
            }
            Verdict::Untried | Verdict::Faulty => {}
        }
    }
}

/// Estimated number of words of row sets that a search reads.
fn leaf_work(problem: &Problem) -> f64 {
    let sets = (problem.splits() as f64).powi(problem.limits().max_depth.min(16) as i32);
    sets * problem.actions() as f64 * (problem.rows() as f64 / 64.0)
}

/// Multiply-adds of a network's outcomes.
fn cell_work(query: &OutcomeQuery<'_>, network: &DenseNetwork) -> f64 {
    let weights: usize = network.layers.iter().skip(1).map(|layer| layer.weights.len()).sum();
    query.rows.len() as f64 * query.actions.len() as f64 * weights as f64
}

/// A fault that a test injects; never in release builds.
fn injected() -> Option<Injected> {
    match cfg!(debug_assertions) {
        true => Injected::named(&std::env::var("SOGAR_GPU_FAULT").ok()?),
        false => None,
    }
}

pub(super) fn listed() -> Vec<Listed> {
    let describe = |(number, adapter): (usize, sogar_gpu::Adapter)| Listed {
        device: format!("gpu:{number}"),
        name: adapter.name,
        kind: adapter.kind.name().to_owned(),
        backend: Some(adapter.backend.to_owned()),
        driver: Some(adapter.driver),
        limits: Some(ListedLimits {
            largest_binding: adapter.largest_binding,
            largest_buffer: adapter.largest_buffer,
            bindings: adapter.bindings,
            workgroup: adapter.workgroup,
            workgroups: adapter.workgroups,
        }),
    };
    sogar_gpu::adapters().into_iter().enumerate().map(describe).collect()
}
