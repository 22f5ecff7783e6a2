use super::*;
use crate::{Predictor, Rows};

pub(super) fn layer(inputs: usize, outputs: usize, activation: Activation) -> Layer {
    let number = |i: usize| ((i * 7919 + 13) % 211) as f32 / 97.0 - 1.1;
    Layer {
        inputs,
        outputs,
        weights: (0..inputs * outputs).map(number).collect(),
        bias: (0..outputs).map(|i| number(i + 5)).collect(),
        activation,
    }
}

fn network() -> DenseNetwork {
    DenseNetwork {
        inputs: 4,
        scaling: vec![],
        layers: vec![layer(4, 6, Activation::Relu), layer(6, 1, Activation::Identity)],
        decision: NetworkDecision::Sigmoid { threshold: 0.5 },
    }
}

#[test]
fn a_sound_network_passes_and_describes_itself() {
    network().check().unwrap();
    assert_eq!(network().description(), "dense network 4-6-1, 37 weights");
    assert_eq!((network().outputs(), network().classes()), (1, 2));
}

#[test]
fn defects_are_named() {
    type Case = (&'static str, fn(&mut DenseNetwork));
    let cases: [Case; 11] = [
        ("layer 1 takes 4 values, but gets 5", |n| n.inputs = 5),
        ("layer 2 takes 5 values, but gets 6", |n| n.layers[1].inputs = 5),
        ("layer 1 is 6 × 4, but has 23 weights", |n| n.layers[0].weights.truncate(23)),
        ("layer 1 has 6 outputs, but 7 biases", |n| n.layers[0].bias.push(0.0)),
        ("layer 2 has a weight that is NaN", |n| n.layers[1].weights[2] = f32::NAN),
        ("layer 2 has a weight that is inf", |n| n.layers[1].bias[0] = f32::INFINITY),
        ("the network has no layers", |n| n.layers.clear()),
        ("the scaler has 1 columns", |n| n.scaling = vec![Scaling::default()]),
        ("only one", |n| n.decision = NetworkDecision::Softmax),
        ("needs two outputs", |n| n.decision = NetworkDecision::SoftmaxAbove { threshold: 0.5 }),
        ("the threshold is not a number", |n| n.decision = NetworkDecision::Raw { threshold: f64::NAN }),
    ];
    for (message, spoil) in cases {
        let mut network = network();
        spoil(&mut network);
        let error = network.check().unwrap_err();
        assert!(error.to_string().contains(message), "{error}, not {message}");
        assert!(error.remedy().is_some());
    }
    let mut huge = network();
    huge.layers[0].outputs = usize::MAX;
    assert!(huge.check().is_err(), "shapes are multiplied with care");
    let error = NetworkModel::new(network().info("test", vec![]), network()).unwrap_err();
    assert!(error.to_string().contains("names 0 columns"), "{error}");
}

#[test]
fn predictions_depend_neither_on_the_batch_nor_on_threads() {
    let info = network().info("test", ["a", "b", "c", "d"].map(String::from).to_vec());
    let model = NetworkModel::new(info, network()).unwrap();
    let values: Vec<f64> = (0..4 * 2000).map(|i| f64::from(i * 31 % 177) / 13.0 - 6.0).collect();
    let all = model.predict(Rows { values: &values, columns: 4 }).unwrap();
    for (row, expected) in values.chunks(4).zip(&all) {
        assert_eq!(model.predict(Rows { values: row, columns: 4 }).unwrap(), [*expected]);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| model.predict(Rows { values: &values, columns: 4 })).unwrap(), all);
    assert!(all.iter().any(|p| p.label == 1) && all.iter().any(|p| p.label == 0));
    assert!(model.predict(Rows { values: &values, columns: 5 }).is_err());
}

/// The network in single precision, in a given order of additions, as another runtime may do it.
fn foreign(network: &DenseNetwork, row: &[f64], backwards: bool, fused: bool) -> Vec<f32> {
    let mut now: Vec<f32> = row.iter().map(|&value| value as f32).collect();
    for layer in &network.layers {
        now = (0..layer.outputs)
            .map(|output| {
                let weights = &layer.weights[output * layer.inputs..][..layer.inputs];
                let mut terms: Vec<(f32, f32)> = weights.iter().copied().zip(now.iter().copied()).collect();
                if backwards {
                    terms.reverse();
                }
                let sum = terms.iter().fold(0.0f32, |sum, &(weight, value)| match fused {
                    true => weight.mul_add(value, sum),
                    false => sum + weight * value,
                });
                let sum = sum + layer.bias[output];
                match layer.activation {
                    Activation::Relu => sum.max(0.0),
                    Activation::LeakyRelu { slope } if sum < 0.0 => slope * sum,
                    Activation::Sigmoid => 1.0 / (1.0 + (-sum).exp()),
                    Activation::Tanh => sum.tanh(),
                    _ => sum,
                }
            })
            .collect();
    }
    now
}

#[test]
fn other_orders_of_single_precision_differ_only_inside_the_band() {
    let hidden =
        [Activation::Relu, Activation::Tanh, Activation::Sigmoid, Activation::LeakyRelu { slope: 0.1 }];
    let mut closest = f64::INFINITY;
    for activation in hidden {
        for outputs in [1, 3] {
            let network = DenseNetwork {
                inputs: 12,
                scaling: vec![],
                layers: vec![
                    layer(12, 30, activation),
                    layer(30, 20, activation),
                    layer(20, outputs, Activation::Identity),
                ],
                decision: match outputs {
                    1 => NetworkDecision::Raw { threshold: 0.5 },
                    _ => NetworkDecision::Softmax,
                },
            };
            let values: Vec<f64> = (0..12 * 500).map(|i| f64::from(i * 37 % 1009) / 101.0 - 5.0).collect();
            let rows = Rows { values: &values, columns: 12 };
            let closeness = network.closeness(rows).unwrap();
            let mut evaluation = Evaluation::new(&network);
            for (row, close) in values.chunks(12).zip(closeness) {
                let inputs: Vec<f32> = row.iter().map(|&value| value as f32).collect();
                evaluation.run(&inputs);
                for (backwards, fused) in [(false, false), (true, false), (true, true)] {
                    let theirs = foreign(&network, row, backwards, fused);
                    for (&theirs, ours) in theirs.iter().zip(evaluation.outputs(0)) {
                        let off = (f64::from(theirs) - ours).abs();
                        assert!(off <= close.band, "{activation:?}: {off:e} > {:e}", close.band);
                        if off > 0.0 {
                            closest = closest.min(close.band / off);
                        }
                    }
                }
            }
        }
    }
    assert!(closest < 1000.0, "the band is {closest} times too wide at best");
}
