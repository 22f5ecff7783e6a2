//! The kernels against the CPU's leaf evaluation, on whatever adapter there is (Mesa's software adapter will do).

#![allow(clippy::unwrap_used, clippy::print_stderr)] // a panic is the report, and a skipped test says so

#[path = "../../sogar-solver/tests/random_problems/mod.rs"]
mod random_problems;

use std::sync::Mutex;

use random_problems::{Random, Shape, draw};
use sogar_gpu::{Fault, Gpu, Injected, LeafKernels, Options, Use, Verdict};
use sogar_solver::leaf::{GroupedLeaves, LeafBackend, LeafEvaluation, LeafRequest};
use sogar_solver::{
    Actions, BitTable, Combine, Limits, Problem, ProblemParts, RowSet, Solver, Stop, Switches,
};

const MEMORY: u64 = 1 << 30;

/// An adapter, or a loud word that there is none.
fn gpu(inject: Option<Injected>) -> Option<Gpu> {
    match Gpu::open(Options { inject, ..Options::default() }) {
        Ok(gpu) => Some(gpu),
        Err(fault) => {
            eprintln!("SKIPPED: {fault}; scripts/lavapipe.sh installs a software adapter");
            None
        }
    }
}

/// The front of a problem, solved on the device from the first leaf to the last.
fn assert_same_front(gpu: &Gpu, problem: &Problem, what: &str) {
    let faults = Mutex::new(Vec::new());
    let on_fault = |fault: &Fault| faults.lock().unwrap().push(fault.clone());
    let kernels = LeafKernels::new(gpu, Use::Always, MEMORY, &on_fault).unwrap();
    let solver = || Solver::builder().threads(2).build().unwrap();
    let cpu = solver().solve(problem, &());
    let found = solver().solve_on(problem, Some(&kernels), &());
    assert_eq!(*faults.lock().unwrap(), [], "{what}");
    assert_eq!(kernels.verdict(), Verdict::Used { compared: None }, "{what}");
    assert_eq!((found.front, found.status, found.bound), (cpu.front, cpu.status, cpu.bound), "{what}");
}

#[test]
fn fronts_of_random_problems_are_those_of_the_cpu() {
    let Some(gpu) = gpu(None) else { return };
    let shape = Shape { rows: 150, splits: 6, actions: 60, depth: 3 };
    for seed in 0..60 {
        let problem = Problem::new(draw(seed, &shape)).unwrap();
        assert_same_front(&gpu, &problem, &format!("seed {seed}"));
    }
}
