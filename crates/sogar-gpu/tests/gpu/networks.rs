//! Dense networks on whatever adapter there is, beside plain loops.

#![allow(clippy::unwrap_used, clippy::print_stderr)] // a panic is the report, and a skipped test says so

use crate::random_problems::Random;
use sogar_gpu::{Fault, Gpu, Injected, NetworkKernels, NetworkLayer, NetworkRow, Options};

struct Layer {
    inputs: usize,
    weights: Vec<f32>,
    bias: Vec<f32>,
    slope: Option<f32>,
}

/// A network of whole numbers, so small that every sum is exact in whatever order.
struct Network {
    units: usize,
    slope: Option<f32>,
    layers: Vec<Layer>,
}

fn whole(random: &mut Random) -> f32 {
    random.below(5) as f32 - 2.0
}

fn slope(random: &mut Random) -> Option<f32> {
    [None, Some(0.0), Some(2.0)][random.below(3) as usize]
}

fn draw(random: &mut Random) -> Network {
    let units = random.between(1, 40) as usize;
    let mut width = units;
    let layers = (0..random.between(1, 4))
        .map(|_| {
            let (inputs, outputs) = (width, random.between(1, 21) as usize);
            width = outputs;
            Layer {
                inputs,
                weights: (0..inputs * outputs).map(|_| whole(random)).collect(),
                bias: (0..outputs).map(|_| whole(random)).collect(),
                slope: slope(random),
            }
        })
        .collect();
    Network { units, slope: slope(random), layers }
}

fn bent(sum: f32, slope: Option<f32>) -> f32 {
    if sum < 0.0 { slope.map_or(sum, |slope| slope * sum) } else { sum }
}

#[test]
fn sums_are_those_of_plain_loops() {
    for largest in [None, Some(20_000)] {
        let gpu = match Gpu::open(Options { largest, ..Options::default() }) {
            Ok(gpu) => gpu,
            Err(fault) => {
                sogar_testing::skipped(
                    "gpu",
                    &format!("{fault}; scripts/lavapipe.sh installs a software adapter"),
                );
                return;
            }
        };
        for seed in 0..12 {
            check(&gpu, seed);
        }
    }
}

fn check(gpu: &Gpu, seed: u64) {
    let mut random = Random(seed);
    let network = draw(&mut random);
    let (per_cell, edits) = (random.between(1, 4) as usize, random.between(1, 30) as usize);
    let layers: Vec<NetworkLayer<'_>> = network
        .layers
        .iter()
        .map(|layer| NetworkLayer {
            inputs: layer.inputs,
            weights: &layer.weights,
            bias: &layer.bias,
            slope: layer.slope,
        })
        .collect();
    let kernels =
        NetworkKernels::new(gpu, (network.units, network.slope), &layers, (per_cell, edits), 1 << 30)
            .unwrap();
    let stride = network.units + 1;
    let sums: Vec<f32> = (0..network.units).map(|_| whole(&mut random)).collect();
    let shares: Vec<f32> = (0..edits * stride).map(|_| whole(&mut random)).collect();
    let count = random.between(1, 9000) as usize;
    let cells: Vec<u32> = (0..count * per_cell)
        .map(|_| match random.below(edits as u64 + 1) {
            none if none == edits as u64 => u32::MAX,
            edit => edit as u32,
        })
        .collect();
    let scores = kernels.run(&NetworkRow { sums: &sums, shares: &shares, stride }, &cells).unwrap();
    for (cell, list) in cells.chunks_exact(per_cell).enumerate() {
        let mut units = sums.clone();
        for &edit in list.iter().filter(|&&edit| edit != u32::MAX) {
            let share = &shares[edit as usize * stride..];
            units.iter_mut().zip(share).for_each(|(unit, share)| *unit += share);
        }
        units.iter_mut().for_each(|unit| *unit = bent(*unit, network.slope));
        for (number, layer) in network.layers.iter().enumerate() {
            let square: f32 = units.iter().map(|unit| unit * unit).sum();
            let found = scores.squares[number * count + cell];
            // Squares may be too large to be exact.
            assert!((found - square).abs() <= square * 1e-5, "seed {seed}: {found} {square}");
            units = layer
                .weights
                .chunks_exact(layer.inputs)
                .zip(&layer.bias)
                .map(|(weights, bias)| {
                    let sum = weights.iter().zip(&units).map(|(weight, unit)| weight * unit).sum::<f32>();
                    bent(sum + bias, layer.slope)
                })
                .collect();
        }
        for (output, unit) in units.iter().enumerate() {
            assert_eq!(scores.outputs[output * count + cell], *unit, "seed {seed}, cell {cell}");
        }
    }
}

#[test]
fn a_lost_device_is_told() {
    let options = Options { inject: Some(Injected::Lost { after: 1 }), ..Options::default() };
    let Ok(gpu) = Gpu::open(options) else {
        sogar_testing::skipped("gpu", "no GPU was found; scripts/lavapipe.sh installs a software adapter");
        return;
    };
    let layer = NetworkLayer { inputs: 2, weights: &[1.0, 2.0], bias: &[0.5], slope: None };
    let kernels = NetworkKernels::new(&gpu, (2, Some(0.0)), &[layer], (1, 1), 1 << 30).unwrap();
    let row = NetworkRow { sums: &[1.0, -1.0], shares: &[0.0, 3.0], stride: 2 };
    assert_eq!(kernels.run(&row, &[0]).unwrap().outputs, [5.5]);
    assert!(matches!(kernels.run(&row, &[0]), Err(Fault::Lost(_))));
}
