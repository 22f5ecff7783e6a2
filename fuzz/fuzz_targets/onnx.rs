//! Any bytes are an error or a model that predicts: ONNX.
// seeds: crates/sogar-models/tests/models/onnx/*.onnx

#![no_main]

use libfuzzer_sys::fuzz_target;
use sogar::model::Rows;
use sogar::model::onnx::{ExternalFiles, parse_bytes};

fuzz_target!(|bytes: &[u8]| {
    let read = |threshold| parse_bytes(bytes, threshold, &mut ExternalFiles::none());
    if let Ok(model) = read(Some(0.5)).or_else(|_| read(None)) {
        let columns = model.info().columns.len();
        for value in [0.0, f64::NAN, -1.5, 1e300] {
            let row = vec![value; columns];
            let _ = model.predict(Rows { values: &row, columns });
        }
    }
});
