//! Model files of every format against what their libraries say: one binary, because each takes seconds to link.

mod lightgbm;
mod lightgbm_json;
mod onnx;
mod onnx_runtime;
mod xgboost;
