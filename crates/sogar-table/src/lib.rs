//! From files to features: tables, their settings, and what their columns mean.
//!
//! | step | module |
//! |---|---|
//! | CSV, Parquet and data frames into columns | [`table`] |
//! | `sogar.toml`, flags and presets | [`config`] |
//! | hints from names and values | [`hints`] |
//! | columns into features | [`feature`] |
//! | which tests a tree may use | [`binarize`] |
//! | conditions that actions must not break | [`rules`] |

pub mod binarize;
pub mod config;
pub mod feature;
pub mod hints;
pub mod rules;
pub mod table;
