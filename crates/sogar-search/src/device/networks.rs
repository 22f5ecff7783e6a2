//! Compares outcomes of random networks on a GPU with row-by-row prediction.

use std::sync::Arc;

use sogar_base::draw::Draw;
use sogar_prepare::actions::{Change, Edit, all_actions};
use sogar_prepare::encode::Encoder;
use sogar_prepare::model::{Activation, DenseNetwork, Layer, NetworkDecision, NetworkModel, Predictor};
use sogar_prepare::outcomes::{OutcomeQuery, Watch, by_scoring, outcomes_on};
use sogar_prepare::require::{OtherModel, Requirements};
use sogar_solver::Stop;
use sogar_table::config::ModelConfig;
use sogar_table::feature::{Columns, Feature, FeatureTable, Kind};

use super::{Compute, Device, devices};

const FEATURES: usize = 5;
const ROWS: usize = 70;

/// Weights that are multiples of an eighth, so that some sums hit the threshold exactly.
fn layer(draw: &mut Draw, inputs: usize, outputs: usize, activation: Activation) -> Layer {
    let mut numbers = |count: usize| (0..count).map(|_| draw.below(33) as f32 / 8.0 - 2.0).collect();
    Layer { inputs, outputs, weights: numbers(inputs * outputs), bias: numbers(outputs), activation }
}

fn network(draw: &mut Draw) -> DenseNetwork {
    let mut layers = Vec::new();
    let mut width = FEATURES;
    for _ in 0..1 + draw.below(4) {
        let units = 1 + draw.below(20);
        let slope = [0.01, -0.5, 1.5][draw.below(3)];
        let kinds =
            [Activation::Relu, Activation::LeakyRelu { slope }, Activation::Identity, Activation::Tanh];
        let activation = kinds[draw.below(4)];
        layers.push(layer(draw, width, units, activation));
        width = units;
    }
    layers.push(layer(draw, width, 1, Activation::Identity));
    let decision = NetworkDecision::Sigmoid { threshold: 0.5 };
    DenseNetwork { inputs: FEATURES, scaling: vec![], layers, decision }
}

#[test]
fn outcomes_on_a_gpu_equal_row_by_row_prediction() {
    if devices().len() < 2 {
        sogar_testing::skipped("gpu", "no GPU was found; scripts/lavapipe.sh installs a software adapter");
        return;
    }
    let names: Vec<String> = (0..FEATURES).map(|index| format!("x{index}")).collect();
    let features: Vec<Feature> = names
        .iter()
        .map(|name| Feature {
            name: name.clone(),
            kind: Kind::Real,
            columns: Columns::One(name.clone()),
            codes: Vec::new(),
            shown: Default::default(),
        })
        .collect();
    let mut used = 0;
    for seed in 0..40 {
        let mut draw = Draw::new(seed, 0);
        let network = network(&mut draw);
        let info = network.info("test", names.clone());
        let predictor: Arc<dyn Predictor> = Arc::new(NetworkModel::new(info, network).unwrap());
        let (encoder, _) =
            Encoder::match_columns(predictor.info(), &features, &ModelConfig::default()).unwrap();
        // Every other network needs the consent of a second one.
        let second = self::network(&mut Draw::new(seed, 1));
        let second = NetworkModel::new(second.info("second", names.clone()), second).unwrap();
        let required = Requirements {
            others: vec![OtherModel {
                predictor: Arc::new(second),
                encoder: encoder.clone(),
                path: "second".into(),
                hash: "second".into(),
            }],
            agree: 1,
            desired: vec![false, true],
            plausibility: None,
        };
        let values =
            (0..FEATURES).map(|_| (0..ROWS).map(|_| draw.below(40) as f64 / 4.0 - 2.0).collect()).collect();
        let table = FeatureTable { features: features.clone(), values, rows: ROWS, weights: None };
        let shift = |feature, by| Edit {
            feature,
            change: Change::Shift { by, lo: -9.0, hi: 20.0, codes: Vec::new() },
            followers: Vec::new(),
        };
        let edits: Vec<Edit> =
            (0..FEATURES).flat_map(|feature| [-1.5, 0.25, 3.0].map(|by| shift(feature, by))).collect();
        let actions = all_actions(&edits, 1 + (seed % 3) as u32);
        let rows: Vec<usize> = (0..ROWS).collect();
        let query = OutcomeQuery {
            predictor: &*predictor,
            encoder: &encoder,
            desired: &[false, true],
            table: &table,
            rows: &rows,
            edits: &edits,
            actions: &actions,
            rules: &[],
            required: (seed % 2 == 1).then_some(&required),
        };
        let watch = Watch { progress: &|_, _| (), stop: &Stop::default() };
        let slow = by_scoring(query, &watch).unwrap().unwrap();
        let compute = Compute::new(Device::Gpu(None), &(), 2, 1 << 30);
        let cells = compute.cells(&query);
        let found = outcomes_on(query, &watch, cells.as_deref()).unwrap().unwrap();
        for action in 0..actions.len() {
            assert_eq!(found.flips.set(action), slow.flips.set(action), "seed {seed}, action {action}");
        }
        drop(cells);
        used += usize::from(compute.label().starts_with("gpu"));
    }
    assert!(used > 4, "the GPU was used for {used} networks only");
}
