//! ONNX graphs that are neither networks of layers nor trees: black boxes for the runtime where it was built in, else errors that
//! name the operator.
//!
//! The files under `models/onnx` were made by `models/make_onnx.py`.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use sogar_models as model;

fn load(name: &str, threshold: Option<f64>) -> sogar_base::Result<model::LoadedModel> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/onnx").join(name);
    model::load(&file, threshold)
}

#[cfg(not(feature = "onnx-runtime"))]
#[test]
fn without_the_runtime_the_operator_is_named() {
    for name in ["residual", "residual_logits", "residual_classes"] {
        let error = load(&format!("{name}.onnx"), None).err().unwrap();
        let message = error.to_string();
        assert!(
            message.contains("the operator `Add` (node `e`) of two values that vary is not read"),
            "{message}"
        );
        assert!(error.remedy().unwrap().contains("`--features onnx-runtime`"));
    }
}

#[cfg(feature = "onnx-runtime")]
mod with_the_runtime {
    use sogar_models::Rows;

    use super::*;

    #[derive(serde::Deserialize)]
    struct Record {
        rows: Vec<String>,
        labels: Vec<u32>,
        scores: Vec<String>,
    }

    fn numbers(line: &str) -> Vec<f64> {
        line.split(' ').map(|word| word.parse().unwrap()).collect()
    }

    #[test]
    fn graphs_say_what_onnxruntime_says() {
        for (name, classes) in [("residual", 2), ("residual_logits", 2), ("residual_classes", 3)] {
            let model = load(&format!("{name}.onnx"), None).unwrap();
            assert_eq!(model.predictor.info().classes, classes);
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/models/onnx/{name}.json"));
            let record: Record = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            let values: Vec<f64> = record.rows.iter().flat_map(|row| numbers(row)).collect();
            let predictions = model.predictor.predict(Rows { values: &values, columns: 4 }).unwrap();
            for (row, prediction) in predictions.iter().enumerate() {
                assert_eq!(prediction.label, record.labels[row], "{name}, row {row}");
                let scores = numbers(&record.scores[row]);
                let expected = match scores[..] {
                    [only] => only,
                    [first, second] => second - first,
                    _ => scores[prediction.label as usize],
                };
                assert!((prediction.score - expected).abs() < 1e-5, "{name}, row {row}");
            }
        }
    }

    #[test]
    fn thresholds_are_for_one_score() {
        assert!(load("residual.onnx", Some(0.2)).is_ok());
        assert!(load("residual.onnx", Some(2.0)).is_err());
        assert!(load("residual_classes.onnx", Some(0.2)).is_err());
    }

    #[test]
    fn what_the_runtime_does_not_know_is_named_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.onnx");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/onnx/residual.onnx");
        let bytes = std::fs::read(file).unwrap();
        let at = bytes.windows(4).position(|word| word == b"Relu").unwrap();
        let mut unknown = bytes.clone();
        unknown[at..at + 4].copy_from_slice(b"Rela");
        std::fs::write(&path, unknown).unwrap();
        let message = model::load(&path, None).err().unwrap().to_string();
        assert!(message.contains("Rela"), "{message}");
        // Cut off anywhere: an error, or (without the last field) still a model; never a panic.
        for cut in (0..bytes.len()).step_by(7) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let loaded = model::load(&path, None);
            assert!(loaded.is_err() || cut > bytes.len() - 16, "cut at {cut}");
        }
    }
}
