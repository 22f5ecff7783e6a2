//! LightGBM text files: bit-equal with LightGBM itself on recorded rows, and hostile files are errors.
//!
//! The files under `models/` were made by `models/make_lightgbm.py`.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use serde::Deserialize;
use sogar_models::{self as model, Missing, Predictor, Rows, Test, TreeModel, lightgbm};

const MODELS: [&str; 20] = [
    "absent_class",
    "around_zero",
    "balanced",
    "binary",
    "categories",
    "categories_as_numbers",
    "categories_one_by_one",
    "cross_entropy",
    "dart",
    "forest",
    "forest_multiclass",
    "missing_nan",
    "missing_none",
    "missing_zero",
    "multiclass",
    "one_vs_all",
    "single_leaves",
    "slope",
    "spaced_names",
    "version_3",
];

/// What LightGBM said: see `make_lightgbm.py`.
#[derive(Deserialize)]
struct Record {
    columns: Vec<String>,
    rows: Vec<String>,
    raw: Vec<String>,
    probabilities: Vec<String>,
    labels: Vec<u32>,
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(&format!("{name}.txt"))).unwrap()
}

fn record(name: &str) -> Record {
    serde_json::from_str(&std::fs::read_to_string(file(&format!("{name}.json"))).unwrap()).unwrap()
}

fn parsed(name: &str) -> TreeModel {
    lightgbm::parse(&text(name), None).unwrap()
}

fn numbers(line: &str) -> Vec<f64> {
    line.split(' ').map(|word| word.parse().unwrap()).collect()
}

#[test]
fn raw_outputs_are_lightgbms_bit_by_bit() {
    for name in MODELS {
        let (model, record) = (parsed(name), record(name));
        let ensemble = &model.ensemble;
        assert_eq!(model.info.columns, record.columns, "{name}");
        let mut outputs = vec![0.0; ensemble.outputs];
        for (row, raw) in record.rows.iter().zip(&record.raw) {
            ensemble.outputs_of(&numbers(row), &mut outputs);
            // LightGBM's raw score is the sum, not yet averaged.
            let raw: Vec<u64> =
                numbers(raw).iter().map(|value| (value / ensemble.divisor).to_bits()).collect();
            assert_eq!(outputs.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), raw, "{name}: {row}");
        }
    }
}

#[test]
fn labels_and_scores_are_lightgbms() {
    for name in MODELS {
        let (model, record) = (parsed(name), record(name));
        let values: Vec<f64> = record.rows.iter().flat_map(|row| numbers(row)).collect();
        let predictions = model.predict(Rows { values: &values, columns: record.columns.len() }).unwrap();
        assert_eq!(predictions.len(), record.rows.len(), "{name}");
        for (row, prediction) in predictions.iter().enumerate() {
            assert_eq!(prediction.label, record.labels[row], "{name}, row {row}");
            let probabilities = numbers(&record.probabilities[row]);
            let expected = if probabilities.len() == 1 { 0 } else { prediction.label as usize };
            let difference = (prediction.score - probabilities[expected]).abs();
            // The exponential function of another platform may differ in the last place.
            assert!(difference <= 4.0 * f64::EPSILON, "{name}, row {row}: {difference}");
        }
    }
}

#[test]
fn the_recorded_models_cover_what_they_are_named_for() {
    let missing = |name: &str, wanted: Missing| {
        parsed(name)
            .ensemble
            .trees
            .iter()
            .flat_map(|tree| &tree.nodes)
            .any(|node| matches!(node.test, Test::AtMost { missing, .. } if missing == wanted))
    };
    assert!(missing("missing_none", Missing::AsZero));
    assert!(missing("missing_zero", Missing::ZeroIsMissing));
    assert!(missing("missing_nan", Missing::NaNIsMissing));
    assert_eq!(parsed("forest").ensemble.divisor, 7.0);
    assert_eq!(parsed("forest_multiclass").ensemble.divisor, 5.0);
    assert!(parsed("absent_class").ensemble.trees.iter().any(|tree| tree.nodes.is_empty()));
    let words = parsed("categories")
        .ensemble
        .trees
        .iter()
        .flat_map(|tree| tree.nodes.clone())
        .map(|node| match node.test {
            Test::InSet { words } => words.len(),
            _ => 0,
        })
        .max();
    assert!(words > Some(2), "more than 64 categories");
    assert_eq!(parsed("spaced_names").info.columns, ["monthly_income", "age_in_years", "gain", "rate_(%)"]);
}

#[test]
fn pandas_categories_reach_their_columns() {
    let info = parsed("categories").info;
    assert!(info.unplaced_categories.is_empty());
    assert_eq!(info.categories[0], [""; 0]);
    assert_eq!(info.categories[1], ["smith", "maid", "cook", "clerk"]);
    assert_eq!(info.categories[2][..3], ["0", "3", "6"]);
    assert_eq!(info.categories[3], ["S", "M", "L"], "an ordered categorical");
    assert!(parsed("categories_as_numbers").info.categories.iter().all(Vec::is_empty));
}

#[test]
fn a_loaded_file_tells_what_it_is() {
    let model = model::load(&file("binary.txt"), Some(0.3)).unwrap();
    let info = model.predictor.info();
    assert_eq!(info.format, "LightGBM text");
    assert_eq!(info.description, "20 trees, 160 leaves, objective binary");
    assert_eq!((info.classes, info.threshold), (2, Some(0.3)));
    assert_eq!(model.hash.len(), 64);
    assert!(model.predictor.tree_ensemble().is_some());
    let wrong = model.predictor.predict(Rows { values: &[0.0; 6], columns: 3 });
    assert!(wrong.unwrap_err().to_string().contains("rows of 4 values"));
}

#[test]
fn a_file_with_windows_line_ends_is_the_same_model() {
    let windows = text("categories").replace('\n', "\r\n");
    assert_eq!(lightgbm::parse(&windows, None).unwrap(), parsed("categories"));
}

/// The error's text, place and help included.
fn refused(text: &str, threshold: Option<f64>) -> String {
    match model::from_bytes(text.as_bytes(), threshold) {
        Ok(_) => panic!("accepted: {}", &text[..text.len().min(600)]),
        Err(error) => format!("{error} | {}", error.remedy().unwrap_or("")),
    }
}

#[test]
fn every_cut_of_a_file_is_an_error() {
    for name in ["binary", "categories", "multiclass"] {
        let text = text(name);
        let end = text.find("end of trees").unwrap();
        for part in 0..20 {
            refused(&text[..end * part / 20], None);
        }
        refused(&text[..end], None);
        let message = refused(&text[..end], None);
        assert!(message.contains("cut off"), "{message}");
        refused(&text[..text.len() - 3], None);
    }
}

#[test]
fn every_single_damaged_line_is_an_error_or_a_model_but_no_panic() {
    for name in ["binary", "categories", "multiclass", "single_leaves"] {
        let text = text(name);
        let lines: Vec<&str> = text.lines().take(60).collect();
        let rest = &text[lines.iter().map(|line| line.len() + 1).sum::<usize>().min(text.len())..];
        for (index, line) in lines.iter().enumerate() {
            let key = line.split('=').next().unwrap_or("");
            let values = [
                "",
                "-1",
                "99999999999999999999",
                "4294967295",
                "nan",
                "x",
                "1 2 3",
                "-2147483648",
                "0 0 0 0",
            ];
            for value in values.iter().map(|value| format!("{key}={value}")).chain([String::new()]) {
                let mut damaged: Vec<&str> = lines.clone();
                damaged[index] = &value;
                if let Ok(model) = lightgbm::parse(&(damaged.join("\n") + "\n" + rest), None) {
                    let columns = model.info.columns.len();
                    let values = vec![0.5; columns];
                    model.predict(Rows { values: &values, columns }).unwrap();
                }
            }
        }
    }
}

/// A file with one tree of three leaves.
fn small(replace: &[(&str, &str)]) -> String {
    let mut text =
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\n\
         objective=binary sigmoid:1\nfeature_names=a b\nfeature_infos=[0:1] -1:0:1\ntree_sizes=100\n\n\
         Tree=0\nnum_leaves=3\nnum_cat=1\nsplit_feature=0 1\nthreshold=0.5 0\ndecision_type=2 1\n\
         left_child=1 -1\nright_child=-2 -3\nleaf_value=0.25 -0.5 1\ncat_boundaries=0 1\ncat_threshold=2\n\
         is_linear=0\nshrinkage=0.1\n\n\nend of trees\n\npandas_categorical:null\n"
            .to_string();
    for (from, to) in replace {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text
}

#[test]
fn shrinkage_is_in_the_leaf_values_already() {
    let model = lightgbm::parse(&small(&[]), None).unwrap();
    let mut output = [0.0];
    for (row, expected) in [([0.0, 1.0], 0.25), ([1.0, 1.0], -0.5), ([0.0, 0.0], 1.0)] {
        model.ensemble.outputs_of(&row, &mut output);
        assert_eq!(output, [expected]);
    }
}

#[test]
fn hostile_trees_are_refused_with_the_reason() {
    let cases = [
        ("left_child=1 -1", "left_child=0 -1", "node 0 has two parents"),
        ("left_child=1 -1", "left_child=1 0", "node 0 has two parents"),
        ("left_child=1 -1", "left_child=1 -2", "leaf 1 has two parents"),
        ("left_child=1 -1", "left_child=7 -1", "no node 7"),
        ("right_child=-2 -3", "right_child=-2 -9", "no leaf 8"),
        ("right_child=-2 -3", "right_child=-2", "2 values are due, 1 are there"),
        ("left_child=1 -1\nright_child=-2 -3", "left_child=-1 1\nright_child=-2 -3", "not connected"),
        ("threshold=0.5 0", "threshold=nan 0", "not a number"),
        ("threshold=0.5 0", "threshold=0.5 1", "no set of categories 1"),
        ("threshold=0.5 0", "threshold=0.5 0.5", "no set of categories 0.5"),
        ("split_feature=0 1", "split_feature=0 2", "beyond the model's 2 columns"),
        ("split_feature=0 1", "split_feature=-1 1", "`-1` is not a number that can stand here"),
        ("decision_type=2 1", "decision_type=14 1", "14 is not a known test"),
        ("leaf_value=0.25 -0.5 1", "leaf_value=0.25 inf 1", "not a finite number"),
        ("num_leaves=3", "num_leaves=0", "at least one leaf"),
        ("num_leaves=3", "num_leaves=18446744073709551615", "values are due"),
        ("num_leaves=3", "num_leaves=4000000000", "values are due"),
        ("num_cat=1", "num_cat=18446744073709551615", "values are due"),
        ("cat_boundaries=0 1", "cat_boundaries=0 4294967296", "values are due"),
        ("cat_boundaries=0 1", "cat_boundaries=1 1", "does not begin at 0"),
        ("is_linear=0", "is_linear=1", "linear trees"),
        ("shrinkage=0.1", "leaf_value=1", "stands twice"),
        ("version=v4", "version=v99", "version `v99`"),
        ("version=v4\n", "", "`version=` is missing"),
        ("max_feature_idx=1", "max_feature_idx=18446744073709551615", "2 names are there"),
        ("feature_names=a b", "feature_names=a a", "`a` stands twice"),
        ("feature_infos=[0:1] -1:0:1", "feature_infos=[0:1]", "2 columns are due"),
        ("feature_infos=[0:1] -1:0:1", "feature_infos=[0:1] x", "describes no column"),
        ("tree_sizes=100", "tree_sizes=100 100", "announces 2 trees"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=0", "do not fit"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=4000000000", "do not fit"),
        ("sigmoid:1", "sigmoid:-1", "`sigmoid` parameter"),
        ("end of trees", "", "cut off"),
        ("pandas_categorical:null", "pandas_categorical:[[", "not a JSON list"),
        ("pandas_categorical:null", "pandas_categorical:[[null]]", "neither text nor a number"),
    ];
    for (from, to, reason) in cases {
        let message = refused(&small(&[(from, to)]), None);
        assert!(message.contains(reason), "{to}: {message}");
        assert!(message.contains(" | ") && !message.ends_with(" | "), "help is there: {message}");
    }
    let absurd = small(&[("num_class=1", "num_class=4000000000"), ("iteration=1", "iteration=4000000000")]);
    refused(&absurd.replace("objective=binary sigmoid:1", "objective=multiclass num_class:4000000000"), None);
}

#[test]
fn models_without_classes_need_a_threshold_or_are_refused() {
    let objective = |objective: &str| small(&[("objective=binary sigmoid:1\n", objective)]);
    for line in ["objective=regression\n", "", "objective=custom\n"] {
        assert!(refused(&objective(line), None).contains("threshold"), "{line}");
        let model = lightgbm::parse(&objective(line), Some(0.5)).unwrap();
        let predictions = model.predict(Rows { values: &[0.0, 1.0, 0.0, 0.0], columns: 2 }).unwrap();
        assert_eq!(predictions.iter().map(|p| p.label).collect::<Vec<_>>(), [0, 1]);
    }
    for line in ["objective=poisson\n", "objective=regression sqrt\n", "objective=strange\n"] {
        assert!(refused(&objective(line), Some(0.5)).contains("gives no labels"), "{line}");
    }
    assert!(refused(&small(&[]), Some(1.5)).contains("not a probability"));
    assert!(refused(&small(&[]), Some(f64::NAN)).contains("not a finite number"));
    assert!(refused(&text("multiclass"), Some(0.5)).contains("has no threshold"));
}

#[test]
fn other_files_are_never_loaded_and_the_error_says_how_to_export() {
    let cases: [(&[u8], &str); 7] = [
        (b"\x80\x04\x95\x00\x00\x00\x00", "pickle"),
        (b"\x78\x9c\x01\x02", "pickle"),
        (b"PK\x03\x04\x14\x00\x00\x00", "zip"),
        (b"{\"learner\":{\"gradient_booster\":{}}}", "XGBoost"),
        (b"", "empty"),
        (b"age,sex\n1,2\n", "not a model file"),
        (b"tree\nversion=v4\n\xff\xfe", "not UTF-8"),
    ];
    for (bytes, word) in cases {
        let error = model::from_bytes(bytes, None).err().unwrap();
        assert!(error.to_string().contains(word), "{error}");
        assert!(error.remedy().unwrap().contains("save_model"), "{error}");
    }
    let error = model::load(&file("nowhere.txt"), None).err().unwrap();
    assert!(error.to_string().contains("nowhere.txt"), "{error}");
    let error = model::load(&file("make_lightgbm.py"), None).err().unwrap();
    assert!(error.to_string().contains("make_lightgbm.py"), "{error}");
}
