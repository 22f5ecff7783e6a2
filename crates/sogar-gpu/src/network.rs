//! Dense networks on the device: evaluates many edited versions of one row.
//!
//! A *cell* is a row with some edits. The first layer is linear, so its sums are the row's own plus one share per edit: only
//! these are sent, and a few indices per cell. `compose` adds them up, `multiply` computes a layer, and `square` adds up the
//! squares of its inputs, from which the caller bounds the error (the bound: `sogar::outcomes`).
//!
//! Layers have no activation, or one that multiplies negative numbers by a factor: these need only sums, products and
//! comparisons. WGSL guarantees that each is rounded to one of the two nearest numbers; they may be fused, and numbers near zero
//! may be flushed to zero. Nothing else is assumed.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use wgpu::{BindGroup, Buffer, CommandEncoderDescriptor, ComputePassDescriptor, ComputePipeline};

use crate::batch_sizer::BatchSizer;
use crate::buffer::{Allowance, bind};
use crate::device::{Gpu, InFlight};
use crate::fault::Fault;

/// Cells of a batch: at first and at least, and at most.
const FIRST_CELLS: usize = 1024;
const MOST_CELLS: usize = 1 << 16;

/// A layer after the first.
#[derive(Debug, Clone, Copy)]
pub struct NetworkLayer<'a> {
    /// Number of inputs.
    pub inputs: usize,
    /// `weights[output * inputs + input]`.
    pub weights: &'a [f32],
    /// One per output.
    pub bias: &'a [f32],
    /// The factor of negative sums; `None` if they stay.
    pub slope: Option<f32>,
}

/// A row, as the first layer sees it.
#[derive(Debug, Clone, Copy)]
pub struct NetworkRow<'a> {
    /// Its sums.
    pub sums: &'a [f32],
    /// What each edit adds to them: `stride` numbers each, the sums first.
    pub shares: &'a [f32],
    /// Numbers per edit.
    pub stride: usize,
}

/// The results of a network.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// `outputs[output * cells + cell]`.
    pub outputs: Vec<f32>,
    /// `squares[layer * cells + cell]`: the sum of squares of the inputs of each layer after the first.
    pub squares: Vec<f32>,
}

/// A network on the device.
pub struct NetworkKernels<'g> {
    gpu: &'g Gpu,
    compose: ComputePipeline,
    multiply: ComputePipeline,
    square: ComputePipeline,
    /// Units of the first layer, and the factor of negative ones.
    units: usize,
    first: Buffer,
    layers: Vec<OnDevice>,
    per_cell: usize,
    most_edits: usize,
    cells: usize,
    widest: usize,
    batch_sizer: BatchSizer,
    idle: Mutex<(Vec<Slot>, Allowance<'g>)>,
}

struct OnDevice {
    settings: Buffer,
    weights: Buffer,
    bias: Buffer,
    outputs: usize,
}

/// Buffers of one batch.
struct Slot {
    chunk: Buffer,
    shares: Buffer,
    cells: Buffer,
    squares: Buffer,
    /// The outputs of the layers, alternating.
    units: [Buffer; 2],
    readable: Buffer,
    compose: BindGroup,
    multiply: Vec<BindGroup>,
    square: Vec<BindGroup>,
}

struct Batch {
    slot: Slot,
    work: InFlight,
    first: usize,
    cells: usize,
    started: Instant,
}

impl<'g> NetworkKernels<'g> {
    /// Puts a network on the device. `first`: the first layer's units, and the factor of its negative sums. Cells have `per_cell`
    /// of `most_edits` edits.
    pub fn new(
        gpu: &'g Gpu,
        first: (usize, Option<f32>),
        layers: &[NetworkLayer<'_>],
        (per_cell, most_edits): (usize, usize),
        memory: u64,
    ) -> Result<NetworkKernels<'g>, Fault> {
        let [compose, multiply, square] =
            gpu.kernels(include_str!("network/network.wgsl"), ["compose", "multiply", "square"])?;
        let mut allowance = Allowance::new(gpu, memory);
        let (units, slope) = first;
        let widest = layers.iter().map(|layer| layer.bias.len()).fold(units, usize::max).max(1);
        let outputs = layers.last().map_or(0, |layer| layer.bias.len());
        let per = (widest.max(per_cell).max(layers.len() + outputs) * 4) as u64;
        let by_memory = gpu.largest.min(allowance.left() / 32) / per;
        let cells = usize::try_from(by_memory).unwrap_or(MOST_CELLS).min(MOST_CELLS);
        let too_long = widest.max(per_cell) as u64 > gpu.rounds;
        if cells < 64
            || too_long
            || units.max(widest.div_ceil(8)) > gpu.workgroups as usize
            || layers.is_empty()
        {
            return Err(Fault::TooSmall("the network's layers do not fit into its buffers".to_owned()));
        }
        let stride = cells as u32;
        let first = allowance.settings(&settings(0, units, stride, 0, slope))?;
        let mut on_device = Vec::new();
        for (number, layer) in layers.iter().enumerate() {
            let outputs = layer.bias.len();
            on_device.push(OnDevice {
                settings: allowance.settings(&settings(
                    layer.inputs,
                    outputs,
                    stride,
                    number,
                    layer.slope,
                ))?,
                weights: allowance.with(&packed(layer))?,
                bias: allowance.with(&padded(layer.bias))?,
                outputs,
            });
        }
        Ok(NetworkKernels {
            gpu,
            compose,
            multiply,
            square,
            units,
            first,
            layers: on_device,
            per_cell,
            most_edits,
            cells,
            widest,
            batch_sizer: BatchSizer::new(FIRST_CELLS, cells),
            idle: Mutex::new((Vec::new(), allowance)),
        })
    }

    /// Evaluates cells of a row: `per_cell` positions of edits each, padded with `u32::MAX`.
    pub fn run(&self, row: &NetworkRow<'_>, cells: &[u32]) -> Result<Scores, Fault> {
        let edits = row.shares.len() / row.stride.max(1);
        let fits = row.sums.len() == self.units && row.stride >= self.units && edits <= self.most_edits;
        if !fits || self.per_cell == 0 {
            return Err(Fault::TooSmall("a row has more edits than were expected".to_owned()));
        }
        let mut shares = Vec::with_capacity((edits + 2) * self.units);
        shares.extend_from_slice(row.sums);
        row.shares.chunks_exact(row.stride).for_each(|share| shares.extend_from_slice(&share[..self.units]));
        shares.resize((edits + 2) * self.units, 0.0);
        let nothing = edits as u32 + 1;
        let positions: Vec<u32> =
            cells.iter().map(|&position| position.checked_add(1).unwrap_or(nothing)).collect();
        let all = cells.len() / self.per_cell;
        let outputs = self.layers.last().map_or(0, |layer| layer.outputs);
        let mut scores =
            Scores { outputs: vec![0.0; outputs * all], squares: vec![0.0; self.layers.len() * all] };
        let mut flying: VecDeque<Batch> = VecDeque::new();
        let mut next = 0;
        while next < all || !flying.is_empty() {
            if next < all && flying.len() < 2 {
                let count = self.batch_sizer.get().min(all - next);
                let own = &positions[next * self.per_cell..(next + count) * self.per_cell];
                flying.push_back(self.start(&shares, own, next)?);
                next += count;
            } else if let Some(batch) = flying.pop_front() {
                let shared = !flying.is_empty();
                self.finish(batch, all, &mut scores, shared)?;
            }
        }
        Ok(scores)
    }

    fn start(&self, shares: &[f32], positions: &[u32], first: usize) -> Result<Batch, Fault> {
        let gpu = self.gpu;
        gpu.check()?;
        let slot = {
            let (idle, allowance) = &mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            match idle.pop() {
                Some(slot) => slot,
                None => self.slot(allowance)?,
            }
        };
        let cells = positions.len() / self.per_cell;
        let chunk = [cells as u32, self.per_cell as u32, self.units as u32, 0];
        gpu.queue.write_buffer(&slot.chunk, 0, bytemuck::bytes_of(&chunk));
        gpu.queue.write_buffer(&slot.shares, 0, bytemuck::cast_slice(shares));
        gpu.queue.write_buffer(&slot.cells, 0, bytemuck::cast_slice(positions));
        let started = Instant::now();
        let mut encoder = gpu.device.create_command_encoder(&CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        let mut run = |kernel: &ComputePipeline, bound: &BindGroup, height: usize| {
            pass.set_pipeline(kernel);
            pass.set_bind_group(0, bound, &[]);
            pass.dispatch_workgroups((cells as u32).div_ceil(64), height as u32, 1);
        };
        run(&self.compose, &slot.compose, self.units);
        for ((layer, multiply), square) in self.layers.iter().zip(&slot.multiply).zip(&slot.square) {
            run(&self.square, square, 1);
            run(&self.multiply, multiply, layer.outputs.div_ceil(8));
        }
        drop(pass);
        let column = self.cells as u64 * 4;
        let last = &slot.units[self.layers.len() % 2];
        let outputs = self.layers.last().map_or(0, |layer| layer.outputs) as u64;
        encoder.copy_buffer_to_buffer(last, 0, &slot.readable, 0, outputs * column);
        let squares = self.layers.len() as u64;
        encoder.copy_buffer_to_buffer(&slot.squares, 0, &slot.readable, outputs * column, squares * column);
        let work = gpu.submit(encoder, &slot.readable);
        Ok(Batch { slot, work, first, cells, started })
    }

    fn finish(&self, batch: Batch, all: usize, scores: &mut Scores, shared: bool) -> Result<(), Fault> {
        let Batch { slot, work, first, cells, started } = batch;
        self.gpu.wait(work)?;
        {
            let lost = |cause: String| Fault::Lost(cause);
            let view = slot.readable.get_mapped_range(..).map_err(|cause| lost(cause.to_string()))?;
            let numbers: &[f32] = bytemuck::try_cast_slice(&view).map_err(|cause| lost(cause.to_string()))?;
            let to = scores.outputs.chunks_exact_mut(all).chain(scores.squares.chunks_exact_mut(all));
            for (to, from) in to.zip(numbers.chunks_exact(self.cells)) {
                to[first..first + cells].copy_from_slice(&from[..cells]);
            }
        }
        slot.readable.unmap();
        self.batch_sizer.took(cells, started.elapsed(), shared);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).0.push(slot);
        Ok(())
    }

    fn slot(&self, allowance: &mut Allowance<'_>) -> Result<Slot, Fault> {
        let gpu = self.gpu;
        let column = self.cells as u64 * 4;
        let depth = self.layers.len();
        let outputs = self.layers.last().map_or(0, |layer| layer.outputs);
        let chunk = allowance.settings(&[0u32; 4])?;
        let shares = allowance.scratch(((self.most_edits + 2) * self.units * 4) as u64)?;
        let cells = allowance.scratch(column * self.per_cell as u64)?;
        let squares = allowance.scratch(column * depth as u64)?;
        let units = [
            allowance.scratch(column * self.widest as u64)?,
            allowance.scratch(column * self.widest as u64)?,
        ];
        let readable = allowance.readable(column * (outputs + depth) as u64)?;
        let bind = |kernel: &ComputePipeline, list: &[(u32, &Buffer)]| bind(gpu, kernel, list);
        let compose =
            bind(&self.compose, &[(0, &chunk), (1, &self.first), (2, &shares), (3, &cells), (7, &units[0])]);
        let multiply = self.layers.iter().enumerate().map(|(number, layer)| {
            let own = [(0, &chunk), (1, &layer.settings), (4, &layer.weights), (5, &layer.bias)];
            bind(
                &self.multiply,
                &[&own[..], &[(6, &units[number % 2]), (7, &units[(number + 1) % 2])]].concat(),
            )
        });
        let square = self.layers.iter().enumerate().map(|(number, layer)| {
            let own = [(0, &chunk), (1, &layer.settings), (6, &units[number % 2]), (8, &squares)];
            bind(&self.square, &own)
        });
        let (multiply, square) = (multiply.collect(), square.collect());
        gpu.check()?;
        Ok(Slot { chunk, shares, cells, squares, units, readable, compose, multiply, square })
    }
}

fn settings(inputs: usize, outputs: usize, stride: u32, squares: usize, slope: Option<f32>) -> [u32; 8] {
    let bent = u32::from(slope.is_some());
    let slope = slope.unwrap_or(1.0).to_bits();
    [inputs as u32, outputs as u32, stride, squares as u32, slope, bent, 0, 0]
}

/// Weights in the order in which eight outputs at a time read them.
fn packed(layer: &NetworkLayer<'_>) -> Vec<f32> {
    let outputs = layer.bias.len();
    let mut list = Vec::with_capacity(outputs.next_multiple_of(8) * layer.inputs);
    for first in (0..outputs).step_by(8) {
        for input in 0..layer.inputs {
            list.extend((first..first + 8).map(|output| match output < outputs {
                true => layer.weights[output * layer.inputs + input],
                false => 0.0,
            }));
        }
    }
    list
}

fn padded(bias: &[f32]) -> Vec<f32> {
    let mut list = bias.to_vec();
    list.resize(bias.len().next_multiple_of(8), 0.0);
    list
}
