//! LightGBM's JSON dumps: the same model as the text file, and hostile files are errors.
//!
//! The files under `models/dumps` were made by `models/make_lightgbm_dumps.py`.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sogar_models::{self as model, Predictor, Rows, TreeModel, lightgbm};

const MODELS: [&str; 9] = [
    "around_zero",
    "categories",
    "cross_entropy",
    "forest_multiclass",
    "missing_zero",
    "one_vs_all",
    "single_leaves",
    "spaced_names",
    "version_3",
];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(file(&format!("dumps/{name}.json"))).unwrap()
}

fn from_text(name: &str) -> TreeModel {
    lightgbm::parse_bytes(&std::fs::read(file(&format!("{name}.txt"))).unwrap(), None).unwrap()
}

fn recorded_rows(name: &str) -> Vec<Vec<f64>> {
    let record: Value =
        serde_json::from_slice(&std::fs::read(file(&format!("{name}.json"))).unwrap()).unwrap();
    let row = |row: &Value| row.as_str().unwrap().split(' ').map(|word| word.parse().unwrap()).collect();
    record["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn dumps_are_the_models_of_the_text_files_bit_by_bit() {
    for name in MODELS {
        let (text, dump) = (from_text(name), lightgbm::parse_json(&bytes(name), None).unwrap());
        assert_eq!(dump.info.format, "LightGBM JSON");
        assert_eq!(dump.info.columns, text.info.columns, "{name}");
        assert_eq!(dump.info.categories, text.info.categories, "{name}");
        assert_eq!(dump.info.unplaced_categories, text.info.unplaced_categories, "{name}");
        assert_eq!(dump.info.threshold, text.info.threshold, "{name}");
        assert_eq!(dump.ensemble.decision, text.ensemble.decision, "{name}");
        let (mut ours, mut theirs) = (vec![0.0; text.ensemble.outputs], vec![0.0; text.ensemble.outputs]);
        for row in recorded_rows(name) {
            dump.ensemble.outputs_of(&row, &mut ours);
            text.ensemble.outputs_of(&row, &mut theirs);
            let bits = |outputs: &[f64]| outputs.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&ours), bits(&theirs), "{name}: {row:?}");
        }
    }
}

#[test]
fn dumps_are_recognised_by_their_content() {
    let model = model::load(&file("dumps/categories.json"), Some(0.25)).unwrap();
    let info = model.predictor.info();
    assert_eq!((info.format.as_str(), info.threshold), ("LightGBM JSON", Some(0.25)));
}

#[test]
fn damaged_dumps_are_errors() {
    let cases = [
        ("/version", json!("v9")),
        ("/num_class", json!(2)),
        ("/num_tree_per_iteration", json!(0)),
        ("/max_feature_idx", json!(17)),
        ("/max_feature_idx", json!(u64::MAX)),
        ("/objective", json!("poisson")),
        ("/feature_names/0", json!("job")),
        ("/tree_info", json!([])),
        ("/tree_info/0/tree_structure", json!({})),
        ("/tree_info/0/tree_structure", json!(null)),
        ("/tree_info/0/tree_structure/split_feature", json!(4)),
        ("/tree_info/0/tree_structure/threshold", json!("2147483647")),
        ("/tree_info/0/tree_structure/threshold", json!("1||-4")),
        ("/tree_info/0/tree_structure/decision_type", json!("<=")),
        ("/tree_info/0/tree_structure/left_child", json!(0)),
        ("/pandas_categorical", json!([[[]]])),
        ("/pandas_categorical", json!(3)),
    ];
    for (pointer, value) in cases {
        let mut document: Value = serde_json::from_slice(&bytes("categories")).unwrap();
        *document.pointer_mut(pointer).unwrap() = value.clone();
        let result = lightgbm::parse_json(&serde_json::to_vec(&document).unwrap(), None);
        let error = result.err().unwrap_or_else(|| panic!("{pointer} = {value}"));
        assert!(error.remedy().is_some(), "{error}");
    }
}

#[test]
fn cut_and_garbled_dumps_are_errors_or_models_but_never_a_panic() {
    let whole = bytes("categories");
    for end in (0..whole.len() - 2).step_by(97) {
        assert!(lightgbm::parse_json(&whole[..end], None).is_err(), "cut at {end}");
    }
    for at in (0..whole.len()).step_by(83) {
        for byte in [b'0', b'9', b'"', b'[', b'}', b'-', 0xff] {
            let mut garbled = whole.clone();
            garbled[at] = byte;
            if let Ok(model) = lightgbm::parse_json(&garbled, None) {
                let row = vec![1.0; model.info.columns.len()];
                model.predict(Rows { values: &row, columns: row.len() }).unwrap();
            }
        }
    }
}
