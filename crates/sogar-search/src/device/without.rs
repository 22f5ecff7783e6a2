//! A build without GPUs: the CPU does everything.

use std::marker::PhantomData;

use sogar_solver::{Observer, Outcome, Problem, Solver, Subproblems};

use super::{Device, Listed};
use sogar_prepare::outcomes::{CellDevice, OutcomeQuery};
use sogar_prepare::prepared::Reporter;

/// The CPU.
pub struct Compute<'a>(PhantomData<&'a ()>);

impl<'a> Compute<'a> {
    pub fn new(device: Device, reporter: &'a dyn Reporter, _threads: usize, _memory: u64) -> Self {
        if let Device::Gpu(_) = device {
            reporter.warning(
                "this build has no GPU support (the cargo feature `gpu`), so the CPU does the work; the result is the same",
            );
        }
        Compute(PhantomData)
    }

    pub fn solve(
        &self,
        solver: &Solver,
        problem: &Problem,
        observer: &dyn Observer,
        kept: &dyn Subproblems,
    ) -> Outcome {
        solver.solve_with(problem, observer, None, kept)
    }

    pub fn cells(&self, _: &OutcomeQuery<'_>) -> Option<Box<dyn CellDevice + '_>> {
        None
    }

    pub fn label(&self) -> String {
        "cpu".to_owned()
    }
}

pub(super) fn listed() -> Vec<Listed> {
    Vec::new()
}
