//! Evaluates a dense network's cells on a GPU.

use std::time::Duration;

use sogar_gpu::{Choice, Fault, Gpu, NetworkKernels, NetworkLayer, NetworkRow};

use super::Compute;
use sogar_prepare::outcomes::{CellDevice, CellScores, Evaluable, OutcomeQuery, Wanted, slope};

/// The network, on the device.
pub(super) struct GpuCells<'a> {
    compute: &'a Compute<'a>,
    gpu: &'a Gpu,
    kernels: NetworkKernels<'a>,
    choice: Choice,
}

impl<'a> GpuCells<'a> {
    pub fn new(
        compute: &'a Compute<'a>,
        gpu: &'a Gpu,
        network: &Evaluable<'_>,
        query: &OutcomeQuery<'_>,
    ) -> Result<GpuCells<'a>, Fault> {
        let layers: Vec<NetworkLayer<'_>> = network
            .rest
            .iter()
            .map(|layer| NetworkLayer {
                inputs: layer.inputs,
                weights: &layer.weights,
                bias: &layer.bias,
                slope: slope(layer.activation).flatten(),
            })
            .collect();
        let per_cell = query.actions.iter().map(<[u32]>::len).max().unwrap_or(0);
        let edits = (per_cell, query.edits.len());
        let kernels = NetworkKernels::new(gpu, network.first, &layers, edits, compute.memory_of(gpu))?;
        Ok(GpuCells { compute, gpu, kernels, choice: Choice::new(compute.when()) })
    }

    fn give_up(&self, fault: &Fault) {
        if self.choice.give_up() {
            self.compute.lost(fault);
        }
    }
}

impl CellDevice for GpuCells<'_> {
    fn wanted(&self) -> Wanted {
        match self.choice.is_used() {
            true => Wanted::Yes,
            false if self.choice.trial().is_some() && self.choice.begin_trial() => Wanted::Trial,
            false => Wanted::No,
        }
    }

    fn scores(&self, sums: &[f32], shares: &[f32], stride: usize, cells: &[u32]) -> Option<CellScores> {
        match self.kernels.run(&NetworkRow { sums, shares, stride }, cells) {
            Ok(scores) => Some(CellScores { outputs: scores.outputs, squares: scores.squares }),
            Err(fault) => {
                self.give_up(&fault);
                None
            }
        }
    }

    fn tried(&self, result: Option<(bool, Duration, Duration)>) {
        match result {
            Some((true, device, thread)) => self.choice.works(device, thread),
            Some((false, ..)) => self.give_up(&Fault::Wrong),
            None => self.choice.end_trial(),
        }
    }
}

impl Drop for GpuCells<'_> {
    fn drop(&mut self) {
        self.compute.conclude(self.gpu, "the network", self.choice.verdict());
    }
}
