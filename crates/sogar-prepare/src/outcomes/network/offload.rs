//! Cells that another device evaluates, and why its numbers can be trusted.
//!
//! A device returns the outputs of many cells of a row, and the squared norms of the inputs of each layer. The error follows from
//! these as for the CPU's own numbers ([`super::bound`]), with looser constants, because less is guaranteed about the arithmetic:
//!
//! * a sum or product may be rounded to either neighbour, so the rounding unit is twice as large
//!   ([`Arithmetic::EitherNeighbour`]); the argument already covers any order of additions, and fusing;
//! * numbers below the smallest normal one may be flushed to zero. Weights that small are refused; every other operation loses at
//!   most `2^-126`, which the constants cover;
//! * infinities have no guarantee, so they must not arise: rows whose sums could become large anywhere in the network stay on the
//!   CPU.
//!
//! Activations other than rectifiers need functions whose accuracy varies between devices; networks with those also stay on the
//! CPU.

use std::time::Duration;

use super::bound::{Arithmetic, LayerBound};
use super::effects::Effects;
use super::judge::{Judge, Verdict};
use super::kernel::{Block, CELLS};
use crate::model::{Activation, DenseNetwork, Layer};

/// No sum in the network may be larger: its square is then well below the largest number.
const LARGE: f64 = 1e18;
/// More units than this lose more to zero than the constants cover.
const MOST_UNITS: usize = 10_000;

/// A device's results for cells.
#[derive(Debug, Default)]
pub struct CellScores {
    /// `outputs[output * cells + cell]`.
    pub outputs: Vec<f32>,
    /// `squares[layer * cells + cell]`: the squared norm of the input of each layer after the first.
    pub squares: Vec<f32>,
}

/// Whether a device takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The CPU does everything.
    No,
    /// The device does what it can.
    Yes,
    /// Both do one row, to compare them.
    Trial,
}

/// A device that evaluates cells.
pub trait CellDevice: Sync {
    /// Whether it takes part (a trial covers one row at a time).
    fn wanted(&self) -> Wanted;

    /// Evaluates cells of a row with the first layer's `sums`, to which edit `e` adds `shares[e * stride..]`. A cell is as many
    /// positions of edits as an action may have, padded with `u32::MAX`. `None` if the device failed; it is not used again then.
    fn scores(&self, sums: &[f32], shares: &[f32], stride: usize, cells: &[u32]) -> Option<CellScores>;

    /// Ends the trial: whether all outcomes were the same, and how long both took. `None` if it failed.
    fn tried(&self, result: Option<(bool, Duration, Duration)>);
}

/// A network that a device can evaluate.
pub struct Evaluable<'a> {
    /// Units of the first layer, and the factor of its negative sums.
    pub first: (usize, Option<f32>),
    /// The layers after it.
    pub rest: &'a [Layer],
}

impl<'a> Evaluable<'a> {
    /// `None` for networks that stay on the CPU.
    pub fn of(network: &'a DenseNetwork) -> Option<Evaluable<'a>> {
        let (first, rest) = network.layers.split_first()?;
        let tame = |value: &f32| *value == 0.0 || value.is_normal();
        let simple = |layer: &Layer| {
            let bent = slope(layer.activation);
            layer.outputs <= MOST_UNITS && bent.is_some_and(|slope| slope.is_none_or(|slope| tame(&slope)))
        };
        let all_tame = |layer: &Layer| layer.weights.iter().chain(&layer.bias).all(tame);
        let fine = !rest.is_empty() && network.layers.iter().all(simple) && rest.iter().all(all_tame);
        fine.then(|| Evaluable { first: (first.outputs, slope(first.activation).flatten()), rest })
    }
}

/// The factor of negative sums, if any; `None` for other activations.
pub fn slope(activation: Activation) -> Option<Option<f32>> {
    match activation {
        Activation::Identity => Some(None),
        Activation::Relu => Some(Some(0.0)),
        Activation::LeakyRelu { slope } => Some(Some(slope)),
        _ => None,
    }
}

/// The error of a device's numbers.
pub(super) struct Offload<'a> {
    pub device: &'a dyn CellDevice,
    first_slope: f32,
    first: LayerBound,
    rest: Vec<LayerBound>,
    most_edits: usize,
}

impl<'a> Offload<'a> {
    /// `None` if the network stays on the CPU.
    pub fn new(network: &DenseNetwork, most_edits: usize, device: &'a dyn CellDevice) -> Option<Self> {
        Evaluable::of(network)?;
        let (first, rest) = network.layers.split_first()?;
        let loose = |layer, last| LayerBound::with(layer, last, Arithmetic::EitherNeighbour);
        Some(Offload {
            device,
            first_slope: first.activation.bound().slope as f32 * 1.000_01,
            first: loose(first, false),
            rest: rest.iter().enumerate().map(|(i, layer)| loose(layer, i + 1 == rest.len())).collect(),
            most_edits,
        })
    }

    /// Whether no value in a row's cells can be too large.
    pub fn is_safe(&self, effects: &Effects, units: usize) -> bool {
        let norm = |values: &[f32]| values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        let shares = effects.by_edit.chunks_exact(units + 1).map(|share| norm(&share[..units]));
        let mut size = norm(&effects.sums) + shares.fold(0.0, f64::max) * self.most_edits as f64;
        size *= f64::from(self.first_slope);
        let mut safe = effects.error.is_finite() && size < LARGE;
        for bound in &self.rest {
            size = bound.largest(size);
            safe &= size < LARGE;
        }
        safe
    }

    /// Judges up to 64 cells from `first` on: their outputs, and the error that follows from the squares and the error of the
    /// first layer's sums.
    pub fn judge(
        &self,
        scores: &CellScores,
        errors: &[f32],
        first: usize,
        judge: &Judge,
        block: &mut Block,
    ) -> Verdict {
        let all = errors.len();
        let count = (all - first).min(CELLS);
        let column = |list: &[f32], number: usize| -> [f32; CELLS] {
            let own = &list[number * all + first..][..count];
            std::array::from_fn(|cell| own.get(cell).copied().unwrap_or(0.0))
        };
        let mut error: [f32; CELLS] = std::array::from_fn(|cell| {
            // Twice, for the looser rounding of the additions and their loss to zero.
            errors.get(first + cell).map_or(0.0, |error| error * 2.000_1 + 1e-35)
        });
        LayerBound::slope(self.first_slope, &mut error);
        let mut squares = column(&scores.squares, 0);
        self.first.activation(&squares, &mut error);
        for (number, bound) in self.rest.iter().enumerate() {
            bound.sums(&squares, &mut error);
            squares = match number + 1 < self.rest.len() {
                true => column(&scores.squares, number + 1),
                false => {
                    let mut squares = [0.0; CELLS];
                    for output in 0..scores.outputs.len() / all.max(1) {
                        let own = column(&scores.outputs, output);
                        squares.iter_mut().zip(own).for_each(|(sum, output)| *sum += output * output);
                    }
                    squares
                }
            };
            bound.activation(&squares, &mut error);
        }
        for (output, unit) in block.units.iter_mut().enumerate().take(scores.outputs.len() / all.max(1)) {
            unit.0 = column(&scores.outputs, output);
        }
        block.error.0 = error;
        judge.judge(block)
    }
}
