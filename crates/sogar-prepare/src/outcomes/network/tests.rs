use std::sync::Arc;

use super::kernel::{Block, CELLS};
use super::*;
use crate::actions::{Change, Edit, all_actions};
use crate::encode::Encoder;
use crate::model::network::Evaluation;
use crate::model::{Activation, Layer, NetworkDecision, NetworkModel, Predictor, Rows};
use crate::outcomes::tests::{Links, Random, edits, features};
use crate::outcomes::{by_scoring, outcomes};
use sogar_solver::{Actions, Stop};
use sogar_table::config::ModelConfig;
use sogar_table::feature::{Feature, FeatureTable};

trait RandomNetwork {
    /// Between -1 and 1.
    fn number(&mut self) -> f32;
    fn activation(&mut self) -> Activation;
    fn network(
        &mut self,
        inputs: usize,
        decision: NetworkDecision,
        outputs: usize,
        step: f32,
    ) -> DenseNetwork;
    /// Weights that are multiples of `step`, so that some sums hit the threshold exactly.
    fn layer(&mut self, inputs: usize, outputs: usize, activation: Activation, step: f32) -> Layer;
}

impl RandomNetwork for Random {
    fn number(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }

    fn activation(&mut self) -> Activation {
        match self.index(6) {
            0 => Activation::Identity,
            1 => Activation::Tanh,
            2 => Activation::Sigmoid,
            3 => Activation::LeakyRelu { slope: [0.01, -0.5, 1.5][self.index(3)] },
            _ => Activation::Relu,
        }
    }

    fn network(
        &mut self,
        inputs: usize,
        decision: NetworkDecision,
        outputs: usize,
        step: f32,
    ) -> DenseNetwork {
        let mut layers = Vec::new();
        let mut width = inputs;
        for _ in 0..self.index(5) {
            let units = 1 + self.index(20);
            let activation = self.activation();
            layers.push(self.layer(width, units, activation, step));
            width = units;
        }
        layers.push(self.layer(width, outputs, Activation::Identity, step));
        DenseNetwork { inputs, scaling: vec![], layers, decision }
    }

    fn layer(&mut self, inputs: usize, outputs: usize, activation: Activation, step: f32) -> Layer {
        let mut number = || match step {
            0.0 => self.number(),
            step => (self.number() / step).round() * step,
        };
        let weights = (0..inputs * outputs).map(|_| number()).collect();
        let bias = (0..outputs).map(|_| number()).collect();
        Layer { inputs, outputs, weights, bias, activation }
    }
}

const COLUMNS: [&str; 8] = ["x", "b", "c:0", "y", "c:1", "c:2", "c:3", "k"];

fn model(network: DenseNetwork, columns: &[&str]) -> Arc<dyn Predictor> {
    let info = network.info("test", columns.iter().map(|&name| name.to_owned()).collect());
    Arc::new(NetworkModel::new(info, network).unwrap())
}

fn decision(random: &mut Random) -> (NetworkDecision, usize) {
    match random.index(7) {
        0 => (NetworkDecision::Raw { threshold: 0.25 }, 1),
        1 => (NetworkDecision::Sigmoid { threshold: 0.7 }, 1),
        2 => (NetworkDecision::SoftmaxAbove { threshold: 0.4 }, 2),
        3 => (NetworkDecision::Softmax, 2),
        4 => (NetworkDecision::Softmax, 4),
        _ => (NetworkDecision::Sigmoid { threshold: 0.5 }, 1),
    }
}

/// Asks a random question about a random network.
fn asked<R>(seed: u64, missing: bool, ask: impl FnOnce(OutcomeQuery<'_>, &DenseNetwork) -> R) -> R {
    let mut random = Random(seed);
    let (decision, outputs) = decision(&mut random);
    let step = [0.0, 0.25, 0.5][random.index(3)];
    let network = random.network(COLUMNS.len(), decision, outputs, step);
    let classes = network.classes() as usize;
    let predictor = model(network, &COLUMNS);
    let features = features();
    let (encoder, _) = Encoder::match_columns(predictor.info(), &features, &ModelConfig::default()).unwrap();
    let rows = 70;
    let values =
        vec![
            (0..rows).map(|_| random.index(10) as f64).collect(),
            (0..rows)
                .map(|_| {
                    if missing && random.index(9) == 0 {
                        f64::NAN
                    } else {
                        random.index(40) as f64 / 4.0 - 2.0
                    }
                })
                .collect(),
            (0..rows).map(|_| random.index(5) as f64).collect(), // 4: an unknown category
            (0..rows).map(|_| random.index(if missing { 6 } else { 5 }) as f64).collect(),
            (0..rows).map(|_| random.index(2) as f64).collect(),
        ];
    let table = FeatureTable { features, values, rows, weights: None };
    let links = Links::ALL[(seed / 3 % Links::ALL.len() as u64) as usize];
    let edits = edits(&mut random, links);
    let mut actions = all_actions(&edits, 1 + (seed % 3) as u32);
    if seed % 7 == 6 {
        // Not all sets of edits: a part of them, out of order.
        let mut part = Actions::default();
        part.push(&[]);
        (1..actions.len()).rev().step_by(2).for_each(|action| part.push(actions.get(action)));
        actions = part;
    }
    let mut desired = vec![false; classes];
    desired[random.index(classes)] = true;
    let rows: Vec<usize> = (0..rows).collect();
    let query =
        OutcomeQuery::of_model((&*predictor, &encoder), &desired, (&table, &rows), (&edits, &actions));
    ask(query, predictor.dense_network().unwrap())
}

fn assert_equal(query: &OutcomeQuery<'_>, found: &Outcomes, expected: &Outcomes, what: &str) {
    for action in 1..query.actions.len() {
        let edits = query.actions.get(action);
        assert_eq!(found.flips.set(action), expected.flips.set(action), "{what}, action {edits:?}");
    }
    assert!(found.flips.set(0).iter().all(|&word| word == 0));
}

/// Compares the batches with row-by-row prediction on one random problem, with every instruction set; returns the number of
/// settled outcomes.
fn compare(seed: u64, missing: bool) -> u64 {
    asked(seed, missing, |query, network| {
        let watch = Watch { progress: &|_, _| (), stop: &Stop::default() };
        let slow = by_scoring(query, &watch).unwrap().unwrap();
        let fast = outcomes(query, &watch).unwrap().unwrap();
        assert!(fast.method.starts_with("dense network"));
        for instructions in Instructions::all() {
            let found =
                NetworkOutcomes::with(network, &query, instructions).unwrap().outcomes(&watch).unwrap();
            assert_equal(&query, &found, &slow, &format!("seed {seed}, {instructions:?}"));
        }
        fast.settled
    })
}

#[test]
fn outcomes_equal_row_by_row_prediction_on_all_cells_of_random_problems() {
    let settled: u64 = (0..150).map(|seed| compare(seed, false)).sum();
    assert!(settled > 0, "no output ever came close to the threshold: the settling was not tested");
}

#[test]
fn rows_with_missing_inputs_are_what_prediction_says() {
    (1000..1030).for_each(|seed| {
        compare(seed, true);
    });
}

/// Fills a block with first-layer sums that are exact in single precision; returns the rest of the network.
fn random_block(random: &mut Random, network: &DenseNetwork, layers: &Layers) -> (Block, Vec<Vec<f32>>) {
    let mut block = Block::new(layers);
    let rows: Vec<Vec<f32>> =
        (0..CELLS).map(|_| (0..network.inputs).map(|_| random.number() * 4.0).collect()).collect();
    for (cell, row) in rows.iter().enumerate() {
        for (unit, &value) in block.units.iter_mut().zip(row) {
            unit.0[cell] = value;
        }
    }
    block.error.0.fill(0.0);
    (block, rows)
}

/// A network whose first layer passes its inputs on, so that the kernel gets exactly what the evaluation gets.
fn passing(random: &mut Random, width: usize, units: &[usize], size: f32) -> DenseNetwork {
    let identity = (0..width * width).map(|i| f32::from(u8::from(i % (width + 1) == 0))).collect();
    let first = Layer {
        inputs: width,
        outputs: width,
        weights: identity,
        bias: vec![0.0; width],
        activation: random.activation(),
    };
    let mut layers = vec![first];
    let mut inputs = width;
    for &outputs in units {
        let activation = random.activation();
        let mut layer = random.layer(inputs, outputs, activation, 0.0);
        layer.weights.iter_mut().for_each(|weight| *weight *= size);
        layers.push(layer);
        inputs = outputs;
    }
    DenseNetwork { inputs: width, scaling: vec![], layers, decision: NetworkDecision::Softmax }
}

#[test]
fn every_kernel_is_within_its_error_bound_of_double_precision() {
    let mut random = Random(7);
    let mut tightest = f64::INFINITY;
    let shapes: [&[usize]; 7] =
        [&[], &[1], &[2, 3], &[13, 50, 7], &[50, 50, 50, 50, 2], &[64, 17, 5], &[6, 12, 18, 1]];
    for case in 0..140 {
        let width = 1 + random.index(60);
        let size = [0.2, 1.0, 3.0, 1e-20, 1e12][case % 5];
        let network = passing(&mut random, width, shapes[case % shapes.len()], size);
        let mut evaluation = Evaluation::new(&network);
        for instructions in Instructions::all() {
            let layers = Layers::new(&network, instructions).unwrap();
            let (mut block, rows) = random_block(&mut random, &network, &layers);
            layers.run(&mut block);
            for (cell, row) in rows.iter().enumerate() {
                evaluation.run(row);
                for (unit, &exact) in block.units.iter().zip(evaluation.outputs(0)) {
                    let off = (f64::from(unit.0[cell]) - exact).abs();
                    let bound = f64::from(block.error.0[cell]);
                    assert!(
                        off <= bound || off.is_nan() || bound.is_nan(),
                        "{instructions:?}, case {case}: {off:e} > {bound:e}"
                    );
                    if off > 0.0 && bound.is_finite() {
                        tightest = tightest.min(bound / off);
                    }
                }
            }
        }
    }
    assert!(tightest < 100.0, "the bound is {tightest} times too large at best");
}

#[test]
fn overflow_and_missing_values_are_never_sure() {
    let layer = |weights: Vec<f32>, inputs: usize, activation| Layer {
        inputs,
        outputs: weights.len() / inputs,
        bias: vec![0.0; weights.len() / inputs],
        weights,
        activation,
    };
    // The second unit overflows to minus infinity on the way to a positive sum, and ReLU would hide it.
    let network = DenseNetwork {
        inputs: 3,
        scaling: vec![],
        layers: vec![
            layer(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3, Activation::Identity),
            layer(vec![-3e38, -3e38, 3e38], 3, Activation::Relu),
            layer(vec![1.0], 1, Activation::Identity),
        ],
        decision: NetworkDecision::Raw { threshold: 1.0 },
    };
    for instructions in Instructions::all() {
        let layers = Layers::new(&network, instructions).unwrap();
        let judge = Judge::new(network.decision, &[false, true], 1);
        for inputs in [[1.0, 1.0, 10.0], [f32::NAN, 1.0, 1.0], [f32::INFINITY, 0.0, 0.0]] {
            let mut block = Block::new(&layers);
            block.error.0.fill(0.0);
            for (unit, value) in block.units.iter_mut().zip(inputs) {
                unit.0.fill(value);
            }
            layers.run(&mut block);
            assert_eq!(judge.judge(&block).unsure, u64::MAX, "{instructions:?} {inputs:?}");
        }
    }
}

#[test]
fn cells_at_the_threshold_are_settled_by_the_definition() {
    // 0.1 + 0.2 - 0.3 and the like: the margin is some rounding of zero in single precision.
    let mut settled = 0;
    for seed in 0..20 {
        let mut random = Random(seed);
        let mut network = random.network(2, NetworkDecision::Raw { threshold: 0.0 }, 1, 0.0);
        let row = [3.0, 1.5];
        // The threshold is exactly the network's output for one edited row.
        let exact = network.predict(Rows { values: &[row[0] + 1.0, row[1]], columns: 2 }).unwrap()[0].score;
        let near = [exact, exact.next_up(), exact.next_down()][random.index(3)];
        network.decision = NetworkDecision::Raw { threshold: near };
        let predictor = model(network, &["x", "y"]);
        let features: Vec<Feature> = features().into_iter().take(2).collect();
        let (encoder, _) =
            Encoder::match_columns(predictor.info(), &features, &ModelConfig::default()).unwrap();
        let table =
            FeatureTable { features, values: vec![vec![row[0]], vec![row[1]]], rows: 1, weights: None };
        let edits = [1.0, 2.0].map(|by| Edit {
            feature: 0,
            change: Change::shift(by, -50.0, 50.0),
            followers: vec![],
        });
        let actions = all_actions(&edits, 1);
        let query = OutcomeQuery::of_model(
            (&*predictor, &encoder),
            &[false, true],
            (&table, &[0]),
            (&edits, &actions),
        );
        let watch = Watch { progress: &|_, _| (), stop: &Stop::default() };
        let found = outcomes(query, &watch).unwrap().unwrap();
        assert_eq!(found.flips.contains(1, 0), exact > near, "seed {seed}");
        settled += found.settled;
    }
    assert!(settled >= 20);
}

#[test]
fn a_cancelled_computation_gives_nothing() {
    let mut random = Random(3);
    let predictor = model(random.network(2, NetworkDecision::Softmax, 2, 0.0), &["x", "y"]);
    let features: Vec<Feature> = features().into_iter().take(2).collect();
    let (encoder, _) = Encoder::match_columns(predictor.info(), &features, &ModelConfig::default()).unwrap();
    let table = FeatureTable { features, values: vec![vec![1.0], vec![2.0]], rows: 1, weights: None };
    let edits = [Edit { feature: 0, change: Change::shift(1.0, 0.0, 9.0), followers: vec![] }];
    let actions = all_actions(&edits, 1);
    let query =
        OutcomeQuery::of_model((&*predictor, &encoder), &[false, true], (&table, &[0]), (&edits, &actions));
    let cancelled = Stop::default();
    cancelled.cancel.cancel();
    let late = Stop { deadline: Some(std::time::Instant::now()), ..Stop::default() };
    for stop in [cancelled, late] {
        assert!(outcomes(query, &Watch { progress: &|_, _| (), stop: &stop }).unwrap().is_none());
    }
}

mod devices;
