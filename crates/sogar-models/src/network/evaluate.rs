//! The evaluation that defines a network's answer: double precision, in a fixed order.
//!
//! An output of a layer is `bias + Σ weight · input`, added from the first input to the last, each product rounded before it is
//! added (never fused). Rows are evaluated side by side, one per lane of a vector, so vectors change the speed but not a single
//! bit.

use super::decision::logistic;
use super::{Activation, DenseNetwork, Instructions, Layer};

/// Rows to evaluate side by side.
pub const LANES: usize = 32;

/// One number for each row of a block.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Lane([f64; LANES]);

/// Scratch memory for evaluating blocks of rows; one per thread.
pub struct Evaluation<'a> {
    network: &'a DenseNetwork,
    instructions: Instructions,
    now: Vec<Lane>,
    next: Vec<Lane>,
    outputs: Vec<f64>,
    missing: [bool; LANES],
    /// Sums of squares of the inputs of each layer, for error bounds.
    squares: Vec<[f64; LANES]>,
}

impl<'a> Evaluation<'a> {
    /// With the best instructions of this machine.
    pub fn new(network: &'a DenseNetwork) -> Self {
        Evaluation::with(network, Instructions::best())
    }

    /// With these instructions.
    pub fn with(network: &'a DenseNetwork, instructions: Instructions) -> Self {
        let outputs = network.layers.iter().map(|layer| layer.outputs);
        let widest = outputs.fold(network.inputs, usize::max);
        let room = vec![Lane([0.0; LANES]); widest];
        Evaluation {
            network,
            instructions,
            now: room.clone(),
            next: room,
            outputs: vec![0.0; network.outputs()],
            missing: [false; LANES],
            squares: vec![[0.0; LANES]; network.layers.len()],
        }
    }

    /// Evaluates up to [`LANES`] rows of network inputs, one after the other in `inputs`. Returns their number.
    pub fn run(&mut self, inputs: &[f32]) -> usize {
        let rows = inputs.chunks_exact(self.network.inputs.max(1)).take(LANES);
        let count = rows.len();
        for (lane, row) in rows.enumerate() {
            self.missing[lane] = row.iter().any(|value| value.is_nan());
            for (unit, &value) in self.now.iter_mut().zip(row) {
                unit.0[lane] = f64::from(value);
            }
        }
        for (layer, squares) in self.network.layers.iter().zip(&mut self.squares) {
            sum_squares(&self.now[..layer.inputs], squares);
            self.instructions.layer(layer, &self.now, &mut self.next);
            activate(layer.activation, &mut self.next[..layer.outputs]);
            std::mem::swap(&mut self.now, &mut self.next);
        }
        count
    }

    /// The outputs of a row of the last run. A row with a NaN input has NaN outputs.
    pub fn outputs(&mut self, row: usize) -> &[f64] {
        for (output, unit) in self.outputs.iter_mut().zip(&self.now) {
            *output = if self.missing[row] { f64::NAN } else { unit.0[row] };
        }
        &self.outputs
    }

    /// The Euclidean norm of the inputs of a layer for a row of the last run.
    pub fn norm(&self, layer: usize, row: usize) -> f64 {
        self.squares[layer][row].sqrt()
    }
}

impl Instructions {
    /// `out = weights · input + bias`, by the same additions in the same order for every instruction set.
    fn layer(self, layer: &Layer, input: &[Lane], out: &mut [Lane]) {
        match self {
            Instructions::Plain => sums(layer, input, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the processor has these instructions.
            Instructions::Avx2(_) => unsafe { sums_avx2(layer, input, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Instructions::Avx512(_) => unsafe { sums_avx512(layer, input, out) },
        }
    }
}

#[inline(always)]
fn sums(layer: &Layer, input: &[Lane], out: &mut [Lane]) {
    let rows = layer.weights.chunks_exact(layer.inputs.max(1));
    for ((weights, &bias), out) in rows.zip(&layer.bias).zip(out) {
        let mut sum = [f64::from(bias); LANES];
        for (&weight, values) in weights.iter().zip(input) {
            let weight = f64::from(weight);
            for (sum, value) in sum.iter_mut().zip(&values.0) {
                *sum += weight * value;
            }
        }
        out.0 = sum;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sums_avx2(layer: &Layer, input: &[Lane], out: &mut [Lane]) {
    sums(layer, input, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn sums_avx512(layer: &Layer, input: &[Lane], out: &mut [Lane]) {
    sums(layer, input, out);
}

fn sum_squares(units: &[Lane], squares: &mut [f64; LANES]) {
    squares.fill(0.0);
    for unit in units {
        squares.iter_mut().zip(&unit.0).for_each(|(sum, value)| *sum += value * value);
    }
}

fn activate(activation: Activation, units: &mut [Lane]) {
    let mut each = |function: &dyn Fn(f64) -> f64| {
        units.iter_mut().flat_map(|unit| &mut unit.0).for_each(|value| *value = function(*value));
    };
    match activation {
        Activation::Identity => {}
        // NaN stays NaN.
        Activation::Relu => each(&|x| if x < 0.0 { 0.0 } else { x }),
        Activation::LeakyRelu { slope } => each(&|x| if x < 0.0 { f64::from(slope) * x } else { x }),
        Activation::Sigmoid => each(&logistic),
        Activation::Tanh => each(&f64::tanh),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::layer;
    use super::*;
    use crate::NetworkDecision;

    #[test]
    fn every_instruction_set_and_every_lane_gives_the_same_bits() {
        let network = DenseNetwork {
            inputs: 5,
            scaling: vec![],
            layers: vec![
                layer(5, 7, Activation::Tanh),
                layer(7, 4, Activation::LeakyRelu { slope: 0.1 }),
                layer(4, 3, Activation::Identity),
            ],
            decision: NetworkDecision::Softmax,
        };
        let inputs: Vec<f32> = (0..5 * LANES).map(|i| (i * 31 % 17) as f32 / 3.0 - 2.0).collect();
        let mut expected: Vec<Vec<u64>> = Vec::new();
        for row in inputs.chunks(5) {
            let mut now: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
            for layer in &network.layers {
                now = (0..layer.outputs)
                    .map(|o| {
                        let mut sum = f64::from(layer.bias[o]);
                        for (i, value) in now.iter().enumerate() {
                            sum += f64::from(layer.weights[o * layer.inputs + i]) * value;
                        }
                        match layer.activation {
                            Activation::Tanh => sum.tanh(),
                            Activation::LeakyRelu { .. } if sum < 0.0 => f64::from(0.1f32) * sum,
                            _ => sum,
                        }
                    })
                    .collect();
            }
            expected.push(now.iter().map(|value| value.to_bits()).collect());
        }
        for instructions in Instructions::all() {
            let mut evaluation = Evaluation::with(&network, instructions);
            for rows in [LANES, 1, 3] {
                for (block, inputs) in inputs.chunks(5 * rows).enumerate() {
                    for row in 0..evaluation.run(inputs) {
                        let bits: Vec<u64> =
                            evaluation.outputs(row).iter().map(|value| value.to_bits()).collect();
                        assert_eq!(bits, expected[block * rows + row], "{instructions:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_missing_input_makes_every_output_missing() {
        let network = DenseNetwork {
            inputs: 2,
            scaling: vec![],
            layers: vec![layer(2, 3, Activation::Relu), layer(3, 2, Activation::Identity)],
            decision: NetworkDecision::Softmax,
        };
        let mut evaluation = Evaluation::new(&network);
        assert_eq!(evaluation.run(&[1.0, f32::NAN, 1.0, 2.0]), 2);
        assert!(evaluation.outputs(0).iter().all(|output| output.is_nan()));
        assert!(evaluation.outputs(1).iter().all(|output| output.is_finite()));
    }
}
