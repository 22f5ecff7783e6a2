//! Bounds the distance of a cell's single-precision outputs from the network's answer.
//!
//! The argument is that of [`crate::model::network`]'s band, with the norms of the numbers that were actually computed. Let `ĥ`
//! be the input of a layer, computed in single precision, and `e` a bound of its distance from the double-precision evaluation.
//! The layer's computed sums differ from `W·ĥ + b` by at most `γ·(|W|·|ĥ| + |b|)`, so their error is at most
//! `‖W‖·e + γ·(‖|W|‖·‖ĥ‖ + ‖b‖)`. Activations multiply that by their slope and add their own rounding. The kernel computes `‖ĥ‖`
//! with one multiply-add per unit.
//!
//! This assumes that nothing overflows: each partial sum is at most `‖|W|‖·‖ĥ‖ + ‖b‖`, and unless that is well below the largest
//! number, the bound is infinite. Underflow adds less than `n·2^-149` to a sum, which [`TINY`] covers. The errors of the
//! double-precision evaluation itself, and of computing these bounds in single precision, are relative and far below [`SPARE`],
//! by which every constant is too large.

use super::kernel::CELLS;
use crate::model::Layer;
use crate::model::network::norms::LayerNorms;

/// Constants are rounded up by this factor.
const SPARE: f64 = 1.0 + 1e-5;
/// Sums that may reach this can overflow.
const LARGE: f32 = 1e37;
/// More than underflow can take from a norm.
const TINY: f64 = 1e-36;

/// More than is lost if a number below the smallest normal one becomes zero.
const FLUSHED: f64 = 1.2e-38;

/// How sums and products are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// To the nearest number, including subnormal ones: processors.
    Nearest,
    /// To either neighbour, and the smallest numbers possibly to zero: the guarantee of other devices.
    EitherNeighbour,
}

/// The constants of a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerBound {
    /// Of the sums: the factor of the inputs' error …
    carried: f32,
    /// … and the rounding, relative to the size of the terms,
    rounding: f32,
    /// which is this times the norm of the inputs
    terms: f32,
    /// plus this.
    bias: f32,
    /// Of the activation: rounding relative to the norm of the outputs,
    relative: f32,
    /// and absolute.
    absolute: f32,
    /// Covers the rounding of the inputs' and the outputs' norm.
    inputs_norm: f32,
    outputs_norm: f32,
    /// What flushing to zero may lose: of the sums, and of the squares of the inputs.
    lost: f32,
    lost_squares: f32,
    steepest: f32,
}

impl LayerBound {
    /// `last`: bounds each output separately instead of all together.
    pub fn of(layer: &Layer, last: bool) -> LayerBound {
        LayerBound::with(layer, last, Arithmetic::Nearest)
    }

    /// The same for other arithmetic.
    pub fn with(layer: &Layer, last: bool, arithmetic: Arithmetic) -> LayerBound {
        // A rounding unit twice as large counts like twice as many terms.
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
        // A sum of n squares in single precision has a relative error of at most n·2^-23; its root has less.
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
            // Each of two operations per input may lose that much, and each input may have lost it before.
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

    /// An upper bound of the layer's output for an input of this size.
    pub fn largest(&self, size: f64) -> f64 {
        (f64::from(self.terms) * size + f64::from(self.bias)) * f64::from(self.steepest) * 1.01
    }

    /// Applies the slope of the first layer's activation to an error from elsewhere.
    #[inline(always)]
    pub fn slope(slope: f32, error: &mut [f32; CELLS]) {
        if slope != 1.0 {
            error.iter_mut().for_each(|error| *error *= slope);
        }
    }
}
