//! How far the single-precision outputs of a cell may be from what the network says.
//!
//! The argument is that of [`crate::model::network`]'s band, with the norms of the very numbers that were computed. Let `ĥ` be
//! what goes into a layer, computed in single precision, and `e` bound its distance from the double-precision
//! evaluation. The layer's computed sums differ from `W·ĥ + b` by at most `γ·(|W|·|ĥ| + |b|)`, so they are off by at most
//! `‖W‖·e + γ·(‖|W|‖·‖ĥ‖ + ‖b‖)`; activations multiply that by their slope and add their own rounding. `‖ĥ‖` comes from
//! the kernel at the price of one multiply-add for each unit.
//!
//! This assumes that nothing overflows: each partial sum is at most `‖|W|‖·‖ĥ‖ + ‖b‖`, and where that is not well
//! below the largest number the bound is infinite. Underflow adds less than `n·2^-149` to a sum, which [`TINY`] covers. The
//! error of the double-precision evaluation itself, and of computing these bounds in single precision, is
//! relative and far below [`SPARE`], by which every constant is too large.

use super::kernel::CELLS;
use crate::model::Layer;
use crate::model::network::norms::LayerNorms;

/// Constants are rounded up by this factor.
const SPARE: f64 = 1.0 + 1e-5;
/// Sums that may reach this can overflow.
const LARGE: f32 = 1e37;
/// More than underflow can take from a norm.
const TINY: f64 = 1e-36;

/// Less than this is lost where a number below the smallest normal one is taken for zero.
const FLUSHED: f64 = 1.2e-38;

/// How sums and products are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// To the nearest number, however small: processors.
    Nearest,
    /// To either neighbour, and the smallest numbers perhaps to zero: all that is known of other devices.
    EitherNeighbour,
}

/// The constants of a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerBound {
    /// Of the sums: how much of the inputs' error arrives …
    carried: f32,
    /// … and the rounding, times the size of the terms,
    rounding: f32,
    /// which is this times the norm of the inputs
    terms: f32,
    /// plus this.
    bias: f32,
    /// Of the activation: rounding relative to the norm of the outputs,
    relative: f32,
    /// and in itself.
    absolute: f32,
    /// Covers the rounding of the inputs' and the outputs' norm.
    inputs_norm: f32,
    outputs_norm: f32,
    /// What may be lost to zero: of the sums, and of the squares that are given.
    lost: f32,
    lost_squares: f32,
    steepest: f32,
}

impl LayerBound {
    /// `last`: what is wanted is a bound for each output, not for all of them together.
    pub fn of(layer: &Layer, last: bool) -> LayerBound {
        LayerBound::with(layer, last, Arithmetic::Nearest)
    }

    /// The same for other arithmetic.
    pub fn with(layer: &Layer, last: bool, arithmetic: Arithmetic) -> LayerBound {
        // With a unit of rounding twice as large, as many terms count as twice as many.
        let (times, flushed) = match arithmetic {
            Arithmetic::Nearest => (1, 0.0),
            Arithmetic::EitherNeighbour => (2, FLUSHED),
        };
        let norms = LayerNorms::of(layer);
        let activation = layer.activation.bound();
        let (weights, absolute, bias, count) = match last {
            true => (norms.widest_row, norms.widest_row, norms.largest_bias, 1.0),
            false => (norms.weights, norms.absolute, norms.bias, (layer.outputs as f64).sqrt()),
        };
        let up = |value: f64| (value * SPARE) as f32;
        // A sum of n squares in single precision is off by a share of at most n·2^-23; its root by less.
        let norm = |count: usize| up(1.0 + times as f64 * (count as f64 + 8.0) * f64::from(f32::EPSILON));
        let inputs = layer.inputs as f64;
        LayerBound {
            carried: up(activation.slope * weights),
            rounding: up(activation.slope * crate::model::network::gamma(times * (layer.inputs + 2) - 2)),
            terms: up(absolute),
            bias: up(bias + TINY * count),
            relative: up(activation.relative * times as f64),
            absolute: up(activation.absolute * count),
            inputs_norm: norm(layer.inputs),
            outputs_norm: norm(layer.outputs),
            // Each of two operations for an input may lose that much, and each input may have lost it before.
            lost: up(activation.slope * flushed * ((2.0 * inputs + 4.0) * count + weights * inputs.sqrt())),
            lost_squares: up(flushed * (2.0 * inputs.max(layer.outputs as f64) + 4.0)),
            steepest: up(activation.slope),
        }
    }

    /// The error of the layer's sums, times the activation's slope. `squares` are those of the inputs.
    #[inline(always)]
    pub fn sums(&self, squares: &[f32; CELLS], error: &mut [f32; CELLS]) {
        for (error, &square) in error.iter_mut().zip(squares) {
            let square = square + self.lost_squares;
            let terms = self.terms * ((square + TINY as f32).sqrt() * self.inputs_norm) + self.bias;
            let next = self.carried * *error + self.rounding * terms + self.lost;
            *error = if terms < LARGE { next } else { f32::INFINITY };
        }
    }

    /// Adds the activation's own rounding. `squares` are those of the layer's results.
    #[inline(always)]
    pub fn activation(&self, squares: &[f32; CELLS], error: &mut [f32; CELLS]) {
        if self.relative == 0.0 && self.absolute == 0.0 {
            return;
        }
        for (error, &square) in error.iter_mut().zip(squares) {
            let square = square + self.lost_squares;
            *error += self.relative * ((square + TINY as f32).sqrt() * self.outputs_norm) + self.absolute;
        }
    }

    /// At least the size of what the layer makes of something of this size.
    pub fn largest(&self, size: f64) -> f64 {
        (f64::from(self.terms) * size + f64::from(self.bias)) * f64::from(self.steepest) * 1.01
    }

    /// The slope of the first layer's activation has to be applied to an error that comes from elsewhere.
    #[inline(always)]
    pub fn slope(slope: f32, error: &mut [f32; CELLS]) {
        if slope != 1.0 {
            error.iter_mut().for_each(|error| *error *= slope);
        }
    }
}
