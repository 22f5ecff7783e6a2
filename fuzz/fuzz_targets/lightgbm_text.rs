//! Any bytes are an error or a model that predicts: LightGBM's text.
// seeds: crates/sogar-models/tests/models/*.txt

#![no_main]

use libfuzzer_sys::fuzz_target;
use sogar::model::{Predictor, Rows, lightgbm};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = lightgbm::parse_bytes(bytes, Some(0.5)).or_else(|_| lightgbm::parse_bytes(bytes, None))
    {
        let columns = model.info.columns.len();
        for value in [0.0, f64::NAN, -1.5, 1e300] {
            let row = vec![value; columns];
            let _ = model.predict(Rows { values: &row, columns });
        }
    }
});
