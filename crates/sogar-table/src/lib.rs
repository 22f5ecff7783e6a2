//! From files to features: tables, what the user says about them, and what their columns mean.
//!
//! | step | module |
//! |---|---|
//! | CSV, Parquet and data frames into columns | [`table`] |
//! | `sogar.toml`, flags and presets | [`config`] |
//! | what names and values give away | [`hints`] |
//! | columns into features | [`feature`] |
//! | which questions a tree may ask | [`binarize`] |
//! | conditions that actions must not break | [`rules`] |

pub mod binarize;
pub mod config;
pub mod feature;
pub mod hints;
pub mod rules;
pub mod table;
