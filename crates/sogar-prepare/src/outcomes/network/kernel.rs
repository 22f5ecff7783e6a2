//! The layers after the first, for 64 cells at a time: the loop that takes all the time.
//!
//! A block holds one number per unit and cell, the cells of a unit side by side, so a block of 50 units (13 kB) and the next one
//! stay in the first-level cache. A tile is up to six units of the next layer for as many cells as registers hold. Its sums stay
//! in registers from the first input to the last, and are activated, squared for the error bound and stored once. Weights are
//! packed once in the order in which tiles read them. The layer costs one multiply-add per weight and cell and has no padding:
//! its units are divided into tiles of nearly equal height.

use super::activation::{logistic, tanh};
use super::bound::LayerBound;
use super::lanes::Lanes;
use crate::model::network::Instructions;
#[cfg(target_arch = "x86_64")]
use crate::model::network::{Avx2, Avx512};
use crate::model::{Activation, DenseNetwork, Layer};

/// Cells in a block.
pub(super) const CELLS: usize = 64;
/// Most units in a tile: with four vectors each they fill the registers.
const HEIGHT: usize = 6;

/// One number for each cell of a block.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Unit(pub [f32; CELLS]);

/// Up to 64 cells on their way through the network.
pub(super) struct Block {
    /// The output of the layer; initially the sums of the first layer.
    pub units: Vec<Unit>,
    next: Vec<Unit>,
    /// An upper bound of the error of a cell's units, in Euclidean norm; in the end, of each output.
    pub error: Unit,
    squares: Unit,
}

impl Block {
    pub fn new(layers: &Layers) -> Block {
        let zero = Unit([0.0; CELLS]);
        let units = vec![zero; layers.widest];
        Block { next: units.clone(), units, error: zero, squares: zero }
    }
}

/// A network's layers, ready for the kernel.
pub(super) struct Layers {
    first: Activation,
    first_bound: LayerBound,
    rest: Vec<Packed>,
    widest: usize,
    instructions: Instructions,
}

/// A layer with its weights in the order of the tiles.
struct Packed {
    inputs: usize,
    /// Tile by tile, input by input, one weight for each unit of the tile.
    weights: Vec<f32>,
    /// Units of each tile.
    tiles: Vec<usize>,
    bias: Vec<f32>,
    activation: Activation,
    bound: LayerBound,
}

impl Layers {
    /// `None` for a network without layers.
    pub fn new(network: &DenseNetwork, instructions: Instructions) -> Option<Layers> {
        let (first, rest) = network.layers.split_first()?;
        let rest: Vec<Packed> =
            rest.iter().enumerate().map(|(i, layer)| Packed::new(layer, i + 1 == rest.len())).collect();
        let widest = network.layers.iter().map(|layer| layer.outputs).max()?;
        let first_bound = LayerBound::of(first, rest.is_empty());
        Some(Layers { first: first.activation, first_bound, rest, widest, instructions })
    }

    /// Takes the first layer's sums in `block` (with their error) to the outputs (with theirs).
    pub fn run(&self, block: &mut Block) {
        match self.instructions {
            Instructions::Plain => run::<[f32; 4], 2>((), self, block),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the processor has these instructions.
            Instructions::Avx2(proof) => unsafe { run_avx2(proof, self, block) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Instructions::Avx512(proof) => unsafe { run_avx512(proof, self, block) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(proof: Avx2, layers: &Layers, block: &mut Block) {
    run::<std::arch::x86_64::__m256, 2>(proof, layers, block);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn run_avx512(proof: Avx512, layers: &Layers, block: &mut Block) {
    run::<std::arch::x86_64::__m512, 4>(proof, layers, block);
}

impl Packed {
    fn new(layer: &Layer, last: bool) -> Packed {
        let count = layer.outputs.div_ceil(HEIGHT);
        let tiles: Vec<usize> =
            (0..count).map(|i| (i + 1) * layer.outputs / count - i * layer.outputs / count).collect();
        let mut weights = Vec::with_capacity(layer.weights.len());
        let mut first = 0;
        for &height in &tiles {
            for input in 0..layer.inputs {
                weights.extend(
                    (first..first + height).map(|output| layer.weights[output * layer.inputs + input]),
                );
            }
            first += height;
        }
        Packed {
            inputs: layer.inputs,
            weights,
            tiles,
            bias: layer.bias.clone(),
            activation: layer.activation,
            bound: LayerBound::of(layer, last),
        }
    }
}

#[inline(always)]
fn run<V: Lanes, const VECTORS: usize>(proof: V::Proof, layers: &Layers, block: &mut Block) {
    let Block { units, next, error, squares } = block;
    LayerBound::slope(layers.first.bound().slope as f32 * 1.000_01, &mut error.0);
    squares.0.fill(0.0);
    let width = layers.rest.first().map_or(layers.widest, |layer| layer.inputs);
    activate(layers.first, &mut units[..width], squares);
    layers.first_bound.activation(&squares.0, &mut error.0);
    for layer in &layers.rest {
        layer.bound.sums(&squares.0, &mut error.0);
        squares.0.fill(0.0);
        multiply::<V, VECTORS>(proof, layer, units, next, squares);
        if matches!(layer.activation, Activation::Sigmoid | Activation::Tanh) {
            squares.0.fill(0.0);
            activate(layer.activation, &mut next[..layer.bias.len()], squares);
        }
        layer.bound.activation(&squares.0, &mut error.0);
        std::mem::swap(units, next);
    }
}

/// Activates sums in place, and adds up the squares of the results.
#[inline(always)]
fn activate(activation: Activation, units: &mut [Unit], squares: &mut Unit) {
    for unit in units {
        match activation {
            Activation::Identity => {}
            Activation::Relu => unit.0.iter_mut().for_each(|x| *x = if *x < 0.0 { 0.0 } else { *x }),
            Activation::LeakyRelu { slope } => {
                unit.0.iter_mut().for_each(|x| *x = if *x < 0.0 { slope * *x } else { *x });
            }
            Activation::Sigmoid => unit.0.iter_mut().for_each(|x| *x = logistic(*x)),
            Activation::Tanh => unit.0.iter_mut().for_each(|x| *x = tanh(*x)),
        }
        squares.0.iter_mut().zip(&unit.0).for_each(|(sum, x)| *sum += x * x);
    }
}

/// One layer for all cells of a block.
#[inline(always)]
fn multiply<V: Lanes, const VECTORS: usize>(
    _proof: V::Proof,
    layer: &Packed,
    input: &[Unit],
    output: &mut [Unit],
    squares: &mut Unit,
) {
    let outputs = layer.bias.len();
    // The shapes that the pointers below rely on.
    assert!(input.len() >= layer.inputs && output.len() >= outputs);
    assert!(layer.weights.len() == layer.inputs * outputs && CELLS.is_multiple_of(VECTORS * V::WIDTH));
    let (mut weights, mut first) = (layer.weights.as_slice(), 0);
    for &height in &layer.tiles {
        let (own, rest) = weights.split_at(height * layer.inputs);
        let tile = Tile {
            weights: own.as_ptr(),
            bias: &layer.bias[first..first + height],
            inputs: layer.inputs,
            activation: layer.activation,
        };
        for cell in (0..CELLS).step_by(VECTORS * V::WIDTH) {
            // SAFETY: the proof is given. Inputs, outputs and squares are rows of `CELLS` numbers, of which `VECTORS · WIDTH`
            // from `cell` on are read and written; the assertions guarantee the number of rows and `height · inputs` weights.
            unsafe {
                let from = input.as_ptr().cast::<f32>().add(cell);
                let to = output.as_mut_ptr().add(first).cast::<f32>().add(cell);
                let squares = squares.0.as_mut_ptr().add(cell);
                match height {
                    1 => tile.run::<V, VECTORS, 1>(from, to, squares),
                    2 => tile.run::<V, VECTORS, 2>(from, to, squares),
                    3 => tile.run::<V, VECTORS, 3>(from, to, squares),
                    4 => tile.run::<V, VECTORS, 4>(from, to, squares),
                    5 => tile.run::<V, VECTORS, 5>(from, to, squares),
                    _ => tile.run::<V, VECTORS, HEIGHT>(from, to, squares),
                }
            }
        }
        (weights, first) = (rest, first + height);
    }
}

/// Some units of a layer.
struct Tile<'a> {
    weights: *const f32,
    bias: &'a [f32],
    inputs: usize,
    activation: Activation,
}

impl Tile<'_> {
    /// The tile's units for `VECTORS · WIDTH` cells.
    ///
    /// # Safety
    ///
    /// The instructions of `V`; `inputs` rows of [`CELLS`] numbers at `from` and `UNITS` at `to`, one at `squares`, and
    /// `inputs · UNITS` weights.
    #[inline(always)]
    unsafe fn run<V: Lanes, const VECTORS: usize, const UNITS: usize>(
        &self,
        from: *const f32,
        to: *mut f32,
        squares: *mut f32,
    ) {
        // SAFETY: all pointers stay within what the caller guarantees.
        unsafe {
            let mut sums = [[V::splat(0.0); VECTORS]; UNITS];
            for (sums, &bias) in sums.iter_mut().zip(self.bias) {
                *sums = [V::splat(bias); VECTORS];
            }
            let (mut weights, mut values) = (self.weights, from);
            for _ in 0..self.inputs {
                let mut vectors = [V::splat(0.0); VECTORS];
                for (i, vector) in vectors.iter_mut().enumerate() {
                    *vector = V::load(values.add(i * V::WIDTH));
                }
                for (unit, sums) in sums.iter_mut().enumerate() {
                    let weight = V::splat(*weights.add(unit));
                    for (sum, &vector) in sums.iter_mut().zip(&vectors) {
                        *sum = sum.plus(weight, vector);
                    }
                }
                weights = weights.add(UNITS);
                values = values.add(CELLS);
            }
            for sums in &mut sums {
                for sum in sums {
                    *sum = match self.activation {
                        Activation::Relu => sum.positive(),
                        Activation::LeakyRelu { slope } => sum.leaky(slope),
                        _ => *sum,
                    };
                }
            }
            for i in 0..VECTORS {
                let mut square = V::load(squares.add(i * V::WIDTH));
                for (unit, sums) in sums.iter().enumerate() {
                    square = square.plus(sums[i], sums[i]);
                    sums[i].store(to.add(unit * CELLS + i * V::WIDTH));
                }
                square.store(squares.add(i * V::WIDTH));
            }
        }
    }
}
