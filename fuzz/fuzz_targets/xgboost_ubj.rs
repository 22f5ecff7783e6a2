//! Any bytes are an error or a model that predicts: XGBoost's UBJSON.
// seeds: crates/sogar-models/tests/models/xgboost/*.ubj

#![no_main]

use libfuzzer_sys::fuzz_target;
use sogar::model::{Predictor, Rows, xgboost};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = xgboost::parse_ubjson(bytes, Some(0.5)).or_else(|_| xgboost::parse_ubjson(bytes, None))
    {
        let columns = model.info.columns.len();
        for value in [0.0, f64::NAN, -1.5, 1e300] {
            let row = vec![value; columns];
            let _ = model.predict(Rows { values: &row, columns });
        }
    }
});
