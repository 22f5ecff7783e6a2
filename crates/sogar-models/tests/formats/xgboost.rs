//! XGBoost files: bit-equal with XGBoost itself on recorded rows, and hostile files are errors.
//!
//! The files under `models/xgboost` were made by `models/make_xgboost.py`.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use sogar_models::{self as model, Decision, Predictor, Rows, Test, TreeModel, xgboost};

const MODELS: [&str; 24] = [
    "base_score.json",
    "binary.json",
    "binary_ubj.ubj",
    "categories.json",
    "categories_as_numbers.json",
    "categories_one_by_one.ubj",
    "dart.json",
    "dart_softprob.ubj",
    "deep.ubj",
    "early_stopping.ubj",
    "forest_softprob.ubj",
    "hinge.json",
    "logit_raw.json",
    "missing.ubj",
    "multi_output.json",
    "nameless.json",
    "pruned.json",
    "release_1_0.json",
    "release_1_7.json",
    "release_2_1.json",
    "release_3_0.json",
    "softmax.ubj",
    "softprob.json",
    "stumps.json",
];

/// What XGBoost said: see `make_xgboost.py`.
#[derive(Deserialize)]
struct Record {
    columns: Vec<String>,
    rows: Vec<String>,
    margins: Vec<String>,
    predictions: Vec<String>,
    labels: Vec<u32>,
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/xgboost").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(file(name)).unwrap()
}

fn record(name: &str) -> Record {
    let name = format!("{}.record", name.split('.').next().unwrap());
    serde_json::from_slice(&bytes(&name)).unwrap()
}

fn parsed(name: &str) -> TreeModel {
    let bytes = bytes(name);
    match name.ends_with("json") {
        true => xgboost::parse_json(&bytes, None).unwrap(),
        false => xgboost::parse_ubjson(&bytes, None).unwrap(),
    }
}

fn document(name: &str) -> Value {
    serde_json::from_slice(&bytes(name)).unwrap()
}

fn numbers(line: &str) -> Vec<f64> {
    line.split(' ').map(|word| word.parse().unwrap()).collect()
}

#[test]
fn margins_are_xgboosts_bit_by_bit() {
    for name in MODELS {
        let (model, record) = (parsed(name), record(name));
        assert_eq!(model.info.columns, record.columns, "{name}");
        let mut outputs = vec![0.0; model.ensemble.outputs];
        for (row, margins) in record.rows.iter().zip(&record.margins) {
            model.ensemble.outputs_of(&numbers(row), &mut outputs);
            assert_eq!(outputs, numbers(margins), "{name}: {row}");
        }
    }
}

#[test]
fn labels_and_scores_are_xgboosts() {
    for name in MODELS {
        let record = record(name);
        let model = model::load(&file(name), None).unwrap();
        let values: Vec<f64> = record.rows.iter().flat_map(|row| numbers(row)).collect();
        let rows = Rows { values: &values, columns: record.columns.len() };
        let predictions = model.predictor.predict(rows).unwrap();
        assert_eq!(predictions.len(), record.rows.len(), "{name}");
        for (row, prediction) in predictions.iter().enumerate() {
            assert_eq!(prediction.label, record.labels[row], "{name}, row {row}");
            if name.starts_with("softmax") || name.starts_with("hinge") {
                continue; // the library gives a label only
            }
            let probabilities = numbers(&record.predictions[row]);
            let expected = if probabilities.len() == 1 { 0 } else { prediction.label as usize };
            let difference = (prediction.score - probabilities[expected]).abs();
            // The exponential function of another platform may differ in the last place.
            assert!(difference <= 4.0 * f64::from(f32::EPSILON), "{name}, row {row}: {difference}");
        }
    }
}

#[test]
fn both_spellings_of_a_model_are_the_same_model() {
    let (json, mut ubj) = (parsed("binary.json"), parsed("binary_ubj.ubj"));
    assert_eq!(ubj.info.format, "XGBoost UBJSON");
    ubj.info.format = "XGBoost JSON".into();
    assert_eq!(json, ubj);
}

#[test]
fn the_recorded_models_cover_what_they_are_named_for() {
    let sets = |name: &str| -> Vec<usize> {
        let model = parsed(name);
        let nodes = model.ensemble.trees.iter().flat_map(|tree| &tree.nodes);
        let size = |test: &Test| match test {
            Test::NoneOf { categories, .. } => Some(categories.len()),
            _ => None,
        };
        nodes.filter_map(|node| size(&node.test)).collect()
    };
    assert!(sets("categories.json").iter().any(|&size| size > 2), "a part of the categories");
    assert!(sets("categories_one_by_one.ubj").iter().all(|&size| size == 1));
    assert!(!sets("categories_as_numbers.json").is_empty());
    assert_eq!(parsed("softmax.ubj").ensemble.decision, Decision::Largest { softmax_scores: true });
    assert_eq!(parsed("forest_softprob.ubj").ensemble.trees.len(), 9);
    assert_eq!(parsed("multi_output.json").ensemble.trees.len(), 9);
    let description = parsed("early_stopping.ubj").info.description;
    assert!(description.contains("stopped early"), "{description}");
    assert_eq!(parsed("nameless.json").info.columns[1], "f1");
    let deleted = document("pruned.json").pointer("/learner/gradient_booster/model/trees").unwrap().clone();
    let deleted = deleted.as_array().unwrap().iter();
    assert!(deleted.into_iter().any(|tree| tree["tree_param"]["num_deleted"] != "0"), "pruned nodes");
}

#[test]
fn texts_of_categories_are_known() {
    let info = parsed("categories.json").info;
    assert_eq!(info.categories[0], [""; 0]);
    assert_eq!(info.categories[1], ["smith", "maid", "cook", "clerk", "baker", "judge"]);
    assert_eq!(info.categories[2][..3], ["0", "3", "6"]);
    assert_eq!(info.categories[3], ["S", "M", "L"]);
    assert!(parsed("categories_as_numbers.json").info.categories.iter().all(Vec::is_empty));
}

#[test]
fn thresholds_follow_the_objective() {
    let with = |name: &str, threshold| xgboost::parse_json(&bytes(name), threshold);
    assert_eq!(with("binary.json", None).unwrap().info.threshold, Some(0.5));
    assert_eq!(with("binary.json", Some(0.7)).unwrap().info.threshold, Some(0.7));
    assert_eq!(with("hinge.json", None).unwrap().info.threshold, Some(0.0));
    assert_eq!(with("logit_raw.json", Some(-1.5)).unwrap().info.threshold, Some(-1.5));
    assert!(with("binary.json", Some(2.0)).is_err(), "no probability");
    assert!(with("binary.json", Some(f64::NAN)).is_err());
    assert!(with("softprob.json", Some(0.5)).is_err(), "one output per class");
    let number = changed("/learner/objective/name", json!("reg:squarederror"));
    let error = xgboost::parse_json(&number, None).unwrap_err();
    assert!(error.remedy().unwrap().contains("--threshold"), "{error}");
    assert_eq!(xgboost::parse_json(&number, Some(3.0)).unwrap().info.threshold, Some(3.0));
}

/// `binary.json` with one value replaced.
fn changed(pointer: &str, value: Value) -> Vec<u8> {
    let mut document = document("binary.json");
    *document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    serde_json::to_vec(&document).unwrap()
}

#[test]
fn damaged_files_are_errors() {
    const TREE: &str = "/learner/gradient_booster/model/trees/0";
    let in_tree = |field: &str| format!("{TREE}/{field}");
    let cases = [
        ("/version".to_string(), json!([4, 0, 0])),
        ("/version".to_string(), json!([])),
        ("/learner/objective/name".to_string(), json!("count:poisson")),
        ("/learner/objective/name".to_string(), json!("multi:softprob")),
        ("/learner/gradient_booster/name".to_string(), json!("gblinear")),
        ("/learner/gradient_booster/name".to_string(), json!("dart")),
        ("/learner/gradient_booster/name".to_string(), json!("x")),
        ("/learner/gradient_booster/model/trees".to_string(), json!([])),
        ("/learner/gradient_booster/model/tree_info".to_string(), json!([])),
        ("/learner/gradient_booster/model/tree_info/3".to_string(), json!(1)),
        ("/learner/gradient_booster/model/tree_info/3".to_string(), json!(-1)),
        ("/learner/gradient_booster/model/cats/enc".to_string(), json!([{"values": []}])),
        ("/learner/learner_model_param/num_class".to_string(), json!("1000000000000")),
        ("/learner/learner_model_param/num_feature".to_string(), json!("2")),
        ("/learner/learner_model_param/num_feature".to_string(), json!("-2")),
        ("/learner/learner_model_param/num_target".to_string(), json!("2")),
        ("/learner/learner_model_param/base_score".to_string(), json!("NaN")),
        ("/learner/learner_model_param/base_score".to_string(), json!("[1E-1,2E-1]")),
        ("/learner/feature_names/0".to_string(), json!("age")),
        (in_tree("left_children"), json!([])),
        (in_tree("left_children"), json!([-1])),
        (in_tree("left_children/0"), json!(0)),
        (in_tree("left_children/0"), json!(2)),
        (in_tree("left_children/1"), json!(100)),
        (in_tree("right_children/0"), json!(-1)),
        (in_tree("split_indices/0"), json!(4)),
        (in_tree("split_indices/0"), json!(-1)),
        (in_tree("split_conditions/0"), json!("NaN")),
        (in_tree("split_conditions/0"), json!(null)),
        (in_tree("split_type/0"), json!(1)),
        (in_tree("split_type/0"), json!(7)),
        (in_tree("default_left"), json!([1])),
        (in_tree("categories_nodes"), json!([0])),
        (in_tree("tree_param/size_leaf_vector"), json!("3")),
        (in_tree("tree_param/size_leaf_vector"), json!("99999999999999999999")),
    ];
    for (pointer, value) in cases {
        let bytes = changed(&pointer, value.clone());
        let error = xgboost::parse_json(&bytes, None).err().unwrap_or_else(|| panic!("{pointer} = {value}"));
        assert!(error.remedy().is_some(), "{error}");
    }
    // A leaf that is too large for single precision is not a number there.
    let leaf = document("binary.json")["learner"]["gradient_booster"]["model"]["trees"][0]["left_children"]
        .as_array()
        .unwrap()
        .iter()
        .position(|child| *child == json!(-1))
        .unwrap();
    let bytes = changed(&in_tree(&format!("split_conditions/{leaf}")), json!(1e300));
    assert!(xgboost::parse_json(&bytes, None).is_err());
}

#[test]
fn large_claims_without_names_are_refused() {
    let mut document = document("nameless.json");
    document["learner"]["learner_model_param"]["num_feature"] = json!("100000000000");
    assert!(xgboost::parse_json(&serde_json::to_vec(&document).unwrap(), None).is_err());
}

#[test]
fn sets_of_categories_are_checked() {
    let of = |field: &str, value: Value| {
        let mut document = document("categories.json");
        let trees = document["learner"]["gradient_booster"]["model"]["trees"].as_array_mut().unwrap();
        let tree = trees.iter_mut().find(|tree| tree["categories"] != json!([])).unwrap();
        tree[field] = value;
        xgboost::parse_json(&serde_json::to_vec(&document).unwrap(), None)
    };
    let cases = [
        ("categories", json!([])),
        ("categories_nodes", json!([0, 0])),
        ("categories_segments", json!([])),
        ("categories_sizes", json!([-1])),
        ("categories_sizes", json!([i64::MAX])),
    ];
    for (field, value) in cases {
        assert!(of(field, value.clone()).is_err(), "{field} = {value}");
    }
    let mut document = document("categories.json");
    let trees = document["learner"]["gradient_booster"]["model"]["trees"].as_array_mut().unwrap();
    let tree = trees.iter_mut().find(|tree| tree["categories"] != json!([])).unwrap();
    tree["categories"][0] = json!(-5);
    assert!(xgboost::parse_json(&serde_json::to_vec(&document).unwrap(), None).is_err());
}

#[test]
fn cut_and_garbled_files_are_errors_or_models_but_never_a_panic() {
    for name in ["missing.ubj", "categories_one_by_one.ubj", "binary.json", "categories.json"] {
        let whole = bytes(name);
        let parse = |bytes: &[u8]| match name.ends_with("json") {
            true => xgboost::parse_json(bytes, None),
            false => xgboost::parse_ubjson(bytes, None),
        };
        for end in (0..whole.len()).step_by(whole.len() / 150 + 1) {
            assert!(parse(&whole[..end]).is_err(), "{name} cut at {end}");
        }
        for at in (0..whole.len()).step_by(whole.len() / 300 + 1) {
            for byte in [0, b'9', b'-', b'[', 0x7f, 0xff] {
                let mut garbled = whole.clone();
                garbled[at] = byte;
                if let Ok(model) = parse(&garbled) {
                    let row = vec![0.5; model.info.columns.len()];
                    model.predict(Rows { values: &row, columns: row.len() }).unwrap();
                }
            }
        }
    }
}

#[test]
fn deeply_nested_files_are_errors() {
    let deep = b"{\"a\":".repeat(200_000);
    assert!(xgboost::parse_json(&deep, None).is_err());
    let deep = b"{i\x01a".repeat(200_000);
    assert!(xgboost::parse_ubjson(&deep, None).is_err());
}
