//! ONNX files: what onnxruntime says of recorded rows, and hostile files are errors.
//!
//! The files under `models/onnx` were made by `models/make_onnx.py`.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use serde::Deserialize;
use sogar_models::onnx::{ExternalFiles, parse_bytes};
use sogar_models::{self as model, LoadedModel, Rows};

const NETWORKS: [&str; 6] = [
    "mlp",
    "torch_external",
    "torch_new_sigmoid",
    "torch_new_softmax",
    "torch_old_logits",
    "torch_old_sigmoid",
];
const TREES: [&str; 5] = ["boosting", "forest", "forest_classes", "forest_scaled", "tree_ensemble_5"];

/// What onnxruntime said: see `make_onnx.py`.
#[derive(Deserialize)]
struct Record {
    rows: Vec<String>,
    labels: Vec<u32>,
    scores: Vec<String>,
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/onnx").join(name)
}

fn numbers(line: &str) -> Vec<f64> {
    line.split(' ').map(|word| word.parse().unwrap()).collect()
}

fn record(name: &str) -> Record {
    serde_json::from_str(&std::fs::read_to_string(file(&format!("{name}.json"))).unwrap()).unwrap()
}

fn load(name: &str, threshold: Option<f64>) -> LoadedModel {
    model::load(&file(&format!("{name}.onnx")), threshold).unwrap()
}

fn compare(name: &str, threshold: Option<f64>, tolerance: f64) {
    let (model, record) = (load(name, threshold), record(name));
    let values: Vec<f64> = record.rows.iter().flat_map(|row| numbers(row)).collect();
    let predictions = model.predictor.predict(Rows { values: &values, columns: 4 }).unwrap();
    for (row, prediction) in predictions.iter().enumerate() {
        assert_eq!(prediction.label, record.labels[row], "{name}, row {row}");
        let mut scores = numbers(&record.scores[row]);
        if name == "torch_old_logits" {
            let sum: f64 = scores.iter().map(|score| score.exp()).sum();
            scores.iter_mut().for_each(|score| *score = score.exp() / sum);
        }
        let expected = match scores[..] {
            [only] => only,
            [_, second] => second,
            _ => scores[prediction.label as usize],
        };
        assert!(
            (prediction.score - expected).abs() <= tolerance,
            "{name}, row {row}: {} {expected}",
            prediction.score
        );
    }
}

#[test]
fn networks_say_what_onnxruntime_says() {
    for name in NETWORKS {
        compare(name, None, 1e-6);
        assert!(load(name, None).predictor.dense_network().is_some(), "{name}");
    }
}

#[test]
fn trees_say_what_onnxruntime_says() {
    for name in TREES {
        let threshold = (name == "tree_ensemble_5").then_some(0.0);
        // One unit in the last place of a logistic function; sums are bit-equal.
        compare(name, threshold, if name == "boosting" { 6e-8 } else { 0.0 });
        assert!(load(name, threshold).predictor.tree_ensemble().is_some(), "{name}");
    }
}

#[test]
fn a_loaded_file_tells_what_it_is() {
    let model = load("mlp", None);
    let info = model.predictor.info();
    assert_eq!(info.format, "ONNX");
    assert_eq!(info.description, "2 dense layers (6, 1), 37 parameters");
    assert_eq!(info.columns, ["X[0]", "X[1]", "X[2]", "X[3]"]);
    assert_eq!((info.classes, info.threshold), (2, Some(0.5)));
    assert_eq!(info.class_names, ["bad", "good"]);
    let model = load("forest_classes", None);
    let info = model.predictor.info();
    assert_eq!((info.classes, info.threshold), (3, None));
    assert!(info.class_names.is_empty(), "0, 1, 2 say nothing");
    assert!(info.description.starts_with("18 trees, "), "{}", info.description);
}

#[test]
fn a_threshold_is_one_on_the_probability() {
    let record = record("torch_new_softmax");
    let values: Vec<f64> = record.rows.iter().flat_map(|row| numbers(row)).collect();
    for name in ["torch_new_softmax", "mlp", "forest", "boosting", "torch_new_sigmoid"] {
        let usual = load(name, None).predictor.predict(Rows { values: &values, columns: 4 }).unwrap();
        let mut scores: Vec<f64> = usual.iter().map(|prediction| prediction.score).collect();
        scores.sort_by(f64::total_cmp);
        let threshold = f64::midpoint(scores[10], scores[30]);
        let moved = load(name, Some(threshold));
        let moved = moved.predictor.predict(Rows { values: &values, columns: 4 }).unwrap();
        for (usual, moved) in usual.iter().zip(&moved) {
            assert_eq!(moved.label, u32::from(usual.score > threshold), "{name}");
        }
    }
    for (name, threshold) in [("forest_classes", 0.5), ("mlp", 1.5), ("forest", f64::NAN)] {
        assert!(model::load(&file(&format!("{name}.onnx")), Some(threshold)).is_err(), "{name}");
    }
    let error = model::load(&file("tree_ensemble_5.onnx"), None).err().unwrap();
    assert!(error.remedy().unwrap().contains("--threshold 0"), "{error}");
}

#[test]
fn weights_beside_the_model_belong_to_its_identity() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    std::fs::copy(file("torch_external.onnx"), &path).unwrap();
    let error = model::load(&path, None).err().unwrap();
    assert!(error.remedy().unwrap().contains("same folder"), "{error}");
    let data = folder.path().join("torch_external.onnx.data");
    std::fs::copy(file("torch_external.onnx.data"), &data).unwrap();
    let whole = model::load(&path, None).unwrap().hash;
    let mut bytes = std::fs::read(&data).unwrap();
    bytes[5] ^= 1;
    std::fs::write(&data, &bytes).unwrap();
    assert_ne!(model::load(&path, None).unwrap().hash, whole);
    std::fs::write(&data, &bytes[..bytes.len() / 2]).unwrap();
    assert!(model::load(&path, None).err().unwrap().to_string().contains("go beyond"));
    assert!(model::from_bytes(&std::fs::read(&path).unwrap(), None).is_err());
}

#[test]
fn a_file_cut_short_anywhere_is_an_error() {
    for name in ["mlp", "forest_classes", "torch_old_sigmoid"] {
        let bytes = std::fs::read(file(&format!("{name}.onnx"))).unwrap();
        for length in (0..bytes.len()).step_by(if bytes.len() > 4000 { 7 } else { 1 }) {
            // Everything after the graph (the operator sets) may be missing without harm.
            if let Ok(model) = parse_bytes(&bytes[..length], None, &mut ExternalFiles::none()) {
                assert!(length > bytes.len() - 64, "{name}: {length} of {}", bytes.len());
                assert_eq!(model.info().format, "ONNX");
            }
        }
    }
}

#[test]
fn changed_bytes_never_panic() {
    let mut state = 7u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for name in ["mlp", "forest_classes", "torch_old_sigmoid", "tree_ensemble_5", "boosting"] {
        let whole = std::fs::read(file(&format!("{name}.onnx"))).unwrap();
        for _ in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..=random(4) {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            if let Ok(model) = parse_bytes(&bytes, Some(0.5), &mut ExternalFiles::none()) {
                let columns = model.info().columns.len();
                let _ = model.predict(Rows { values: &vec![0.5; columns], columns });
            }
        }
    }
}

/// Just enough of the file format to write hostile files.
mod write {
    pub fn number(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    pub fn integer(field: u64, value: i64) -> Vec<u8> {
        [number(field << 3), number(value as u64)].concat()
    }

    pub fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
        [number(field << 3 | 2), number(content.len() as u64), content.to_vec()].concat()
    }

    pub fn floats(field: u64, list: &[f32]) -> Vec<u8> {
        bytes(field, &list.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
    }

    pub fn integers(field: u64, list: &[i64]) -> Vec<u8> {
        bytes(field, &list.iter().flat_map(|&value| number(value as u64)).collect::<Vec<_>>())
    }

    /// A tensor in single precision.
    pub fn tensor(name: &str, dims: &[i64], values: &[f32]) -> Vec<u8> {
        [integers(1, dims), integer(2, 1), floats(4, values), bytes(8, name.as_bytes())].concat()
    }

    pub fn attribute(name: &str, value: Vec<u8>) -> Vec<u8> {
        bytes(5, &[bytes(1, name.as_bytes()), value].concat())
    }

    pub fn node(
        domain: &str,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[Vec<u8>],
    ) -> Vec<u8> {
        let names = |field, list: &[&str]| {
            list.iter().flat_map(|name| bytes(field, name.as_bytes())).collect::<Vec<_>>()
        };
        let content =
            [names(1, inputs), names(2, outputs), bytes(4, operator.as_bytes()), attributes.concat()];
        bytes(1, &[content.concat(), bytes(7, domain.as_bytes())].concat())
    }

    /// An input or output with this many columns.
    pub fn value(field: u64, name: &str, columns: i64) -> Vec<u8> {
        let shape = [bytes(1, &[]), bytes(1, &integer(1, columns))].concat();
        let kind = bytes(1, &[integer(1, 1), bytes(2, &shape)].concat());
        bytes(field, &[bytes(1, name.as_bytes()), bytes(2, &kind)].concat())
    }

    /// A model of these parts of a graph, from `x` with two columns to `y`.
    pub fn model(parts: &[Vec<u8>]) -> Vec<u8> {
        let graph = [parts.concat(), value(11, "x", 2), value(12, "y", 1)].concat();
        [integer(1, 9), bytes(2, b"test"), bytes(7, &graph), bytes(8, &integer(2, 17))].concat()
    }

    /// A tree regressor: lists of node ids, modes, true and false children, thresholds, columns; one leaf weight each.
    pub fn trees(
        ids: &[i64],
        modes: &[&str],
        holds: &[i64],
        fails: &[i64],
        values: &[f32],
        columns: &[i64],
    ) -> Vec<u8> {
        let modes = modes.iter().flat_map(|mode| bytes(9, mode.as_bytes())).collect::<Vec<_>>();
        let leaves: Vec<i64> = ids.iter().copied().rev().take(2).collect();
        node(
            "ai.onnx.ml",
            "TreeEnsembleRegressor",
            &["x"],
            &["y"],
            &[
                attribute("nodes_treeids", integers(8, &vec![0; ids.len()])),
                attribute("nodes_nodeids", integers(8, ids)),
                attribute("nodes_modes", modes),
                attribute("nodes_truenodeids", integers(8, holds)),
                attribute("nodes_falsenodeids", integers(8, fails)),
                attribute("nodes_values", floats(7, values)),
                attribute("nodes_featureids", integers(8, columns)),
                attribute("target_treeids", integers(8, &[0, 0])),
                attribute("target_nodeids", integers(8, &leaves)),
                attribute("target_ids", integers(8, &[0, 0])),
                attribute("target_weights", floats(7, &[1.0, -1.0])),
                attribute("n_targets", integer(3, 1)),
            ],
        )
    }
}

fn refused(bytes: &[u8]) -> String {
    match parse_bytes(bytes, Some(0.5), &mut ExternalFiles::none()) {
        Ok(model) => panic!("accepted: {:?}", model.info()),
        Err(error) => {
            assert!(error.remedy().is_some(), "no remedy: {error}");
            error.to_string()
        }
    }
}

#[test]
fn the_writer_of_hostile_files_can_write_good_ones() {
    let product = write::node("", "MatMul", &["x", "w"], &["y"], &[]);
    let good = write::model(&[product, write::bytes(5, &write::tensor("w", &[2, 1], &[2.0, 3.0]))]);
    let model = model::from_bytes(&good, Some(0.0)).unwrap();
    let prediction = model.predict(Rows { values: &[1.0, 1.0], columns: 2 }).unwrap();
    assert_eq!(prediction[0].score, 5.0);
    let modes = ["BRANCH_LEQ", "LEAF", "LEAF"];
    let good = write::trees(&[0, 1, 2], &modes, &[1, 0, 0], &[2, 0, 0], &[0.5, 0.0, 0.0], &[1, 0, 0]);
    let model = model::from_bytes(&write::model(&[good]), Some(0.0)).unwrap();
    let prediction = model.predict(Rows { values: &[9.0, 0.5, 9.0, 0.6], columns: 2 }).unwrap();
    assert_eq!(prediction.iter().map(|p| p.score).collect::<Vec<_>>(), [-1.0, 1.0]);
}

#[test]
fn a_huge_tensor_in_a_small_file_is_refused() {
    let product = write::node("", "MatMul", &["x", "w"], &["y"], &[]);
    for dims in [&[2_684_354_560, 1][..], &[i64::MAX, i64::MAX, 4], &[-2, 1], &[2, -1]] {
        let tensor = write::bytes(5, &write::tensor("w", dims, &[2.0, 3.0]));
        let message = refused(&write::model(&[product.clone(), tensor]));
        assert!(message.contains("`w`"), "{message}");
    }
    let wide = [write::value(11, "z", i64::MAX), write::node("", "Identity", &["z"], &["y"], &[])];
    assert!(refused(&write::model(&wide)).contains("impossible number"));
}

#[test]
fn one_matrix_used_without_end_is_refused() {
    // 4096 numbers, used by thousands of nodes that are all needed.
    let mut parts = vec![write::bytes(5, &write::tensor("big", &[2, 2048], &[1.0; 4096]))];
    let names: Vec<String> = (0..3000).map(|index| format!("c{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut beside = parts.clone();
    beside.extend(names.iter().map(|name| write::node("", "MatMul", &["x", "big"], &[name], &[])));
    beside.push(write::node("", "Concat", &names, &["y"], &[]));
    assert!(refused(&write::model(&beside)).contains("far more numbers"));
    parts.push(write::bytes(5, &write::tensor("back", &[2048, 2], &[1.0; 4096])));
    let mut last = "x".to_string();
    for index in 0..3000 {
        let (wide, narrow) = (format!("a{index}"), format!("b{index}"));
        parts.push(write::node("", "MatMul", &[&last, "big"], &[&wide], &[]));
        parts.push(write::node("", "MatMul", &[&wide, "back"], &[&narrow], &[]));
        last = narrow;
    }
    parts.push(write::node("", "Identity", &[&last], &["y"], &[]));
    let message = refused(&write::model(&parts));
    assert!(message.contains("more than 1000 layers"), "{message}");
}

#[test]
fn circles_and_dangling_names_are_refused() {
    let circle = [write::node("", "Relu", &["b"], &["a"], &[]), write::node("", "Relu", &["a"], &["b"], &[])];
    let out = write::node("", "Identity", &["a"], &["y"], &[]);
    assert!(refused(&write::model(&[circle.concat(), out])).contains("circle"));
    assert!(refused(&write::model(&[])).contains("never made"));
    let twice = write::node("", "Identity", &["x"], &["y"], &[]);
    assert!(refused(&write::model(&[twice.clone(), twice])).contains("twice"));
    let missing = write::node("", "Relu", &["nowhere"], &["y"], &[]);
    assert!(refused(&write::model(&[missing])).contains("nowhere"));
}

#[test]
fn trees_that_are_none_are_refused() {
    let modes = ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF"];
    let ids = [0, 1, 2, 3];
    let (holds, fails) = ([1, 2, 0, 0], [3, 3, 0, 0]);
    let values = [0.5, 0.5, 0.0, 0.0];
    let columns = [0, 1, 0, 0];
    let file = |holds: &[i64], fails: &[i64], values: &[f32], columns: &[i64], modes: &[&str]| {
        write::model(&[write::trees(&ids, modes, holds, fails, values, columns)])
    };
    // A shared leaf is fine in ONNX.
    assert!(
        parse_bytes(&file(&holds, &fails, &values, &columns, &modes), Some(0.5), &mut ExternalFiles::none())
            .is_ok()
    );
    assert!(refused(&file(&[1, 0, 0, 0], &fails, &values, &columns, &modes)).contains("circle"));
    assert!(refused(&file(&[-1, 2, 0, 0], &fails, &values, &columns, &modes)).contains("not there"));
    assert!(refused(&file(&[i64::MAX, 2, 0, 0], &fails, &values, &columns, &modes)).contains("not there"));
    assert!(
        refused(&file(&holds, &fails, &[f32::NAN, 0.5, 0.0, 0.0], &columns, &modes)).contains("not a number")
    );
    assert!(refused(&file(&holds, &fails, &values, &[-1, 0, 0, 0], &modes)).contains("column -1"));
    assert!(refused(&file(&holds, &fails, &values, &[2, 0, 0, 0], &modes)).contains("column 2 of 2"));
    assert!(refused(&file(&holds, &fails, &values[..3], &columns, &modes)).contains("length"));
    let strange = ["BRANCH_LEQ", "BRANCH_SOMEHOW", "LEAF", "LEAF"];
    assert!(refused(&file(&holds, &fails, &values, &columns, &strange)).contains("BRANCH_SOMEHOW"));
    assert!(
        refused(&write::model(&[write::trees(&[0, 0, 1, 1], &modes, &holds, &fails, &values, &columns)]))
            .contains("twice")
    );
}

#[test]
fn a_tree_as_deep_as_it_has_nodes_is_read() {
    const DEPTH: i64 = 20_000;
    let ids: Vec<i64> = (0..DEPTH + 2).collect();
    let mut modes = vec!["BRANCH_LEQ"; DEPTH as usize];
    modes.extend(["LEAF", "LEAF"]);
    let holds: Vec<i64> = (0..DEPTH + 2).map(|id| (id + 1).min(DEPTH + 1)).collect();
    let fails = vec![DEPTH + 1; ids.len()];
    let values = vec![0.5; ids.len()];
    let bytes = write::model(&[write::trees(&ids, &modes, &holds, &fails, &values, &vec![0; ids.len()])]);
    let model = parse_bytes(&bytes, Some(0.0), &mut ExternalFiles::none()).unwrap();
    assert_eq!(model.predict(Rows { values: &[0.0, 0.0], columns: 2 }).unwrap()[0].score, -1.0);
}

#[test]
fn messages_in_messages_without_end_are_refused_without_recursion() {
    // A graph in an attribute of a node of a graph in an attribute …
    let mut graph = write::value(12, "y", 1);
    for _ in 0..20_000 {
        let attribute = write::attribute("then_branch", write::bytes(6, &graph));
        let start = graph.len();
        graph = write::node("", "If", &["x"], &["y"], &[attribute]);
        assert!(graph.len() > start);
        if graph.len() > 200_000 {
            break;
        }
    }
    assert!(refused(&write::model(&[graph])).contains("`If`"));
}

#[test]
fn weights_outside_of_the_folder_are_never_read() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(folder.path().join("secret.bin"), [0u8; 8]).unwrap();
    for (location, wanted) in
        [("../secret.bin", "outside"), ("/etc/hostname", "outside"), ("absent.bin", "no such file")]
    {
        let entry = |key: &str, value: &str| {
            write::bytes(13, &[write::bytes(1, key.as_bytes()), write::bytes(2, value.as_bytes())].concat())
        };
        let tensor = [
            write::integers(1, &[2, 1]),
            write::integer(2, 1),
            write::bytes(8, b"w"),
            entry("location", location),
            entry("length", "8"),
            write::integer(14, 1),
        ];
        let product = write::node("", "MatMul", &["x", "w"], &["y"], &[]);
        let path = inner.join("m.onnx");
        std::fs::write(&path, write::model(&[product, write::bytes(5, &tensor.concat())])).unwrap();
        let error = model::load(&path, Some(0.5)).err().unwrap();
        assert!(error.to_string().contains(wanted), "{location}: {error}");
    }
}

#[test]
fn archives_and_pickles_in_disguise_are_refused_by_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    for (bytes, wanted) in
        [(&b"PK\x03\x04rest"[..], "zip"), (b"\x80\x04\x95rest", "pickle"), (b"\x08\x08\x08\x08", "")]
    {
        let path = folder.path().join("model.onnx");
        std::fs::write(&path, bytes).unwrap();
        let error = model::load(&path, None).err().unwrap();
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn an_operator_that_is_not_read_is_named_with_its_node() {
    let message = refused(&write::model(&[write::node("", "Erf", &["x"], &["y"], &[])]));
    assert_eq!(message, "the operator `Erf` (node `y`) is not read");
    let message = refused(&write::model(&[write::node("com.acme", "Gelu", &["x"], &["y"], &[])]));
    assert_eq!(message, "the operator `com.acme.Gelu` (node `y`) is not read");
}
