//! The binary as users meet it: what it prints, what it writes, how it ends.
//!
//! Every test runs in a folder of its own with a small problem (240 people, a LightGBM model of 12 trees) and the front
//! that `solve` gives for it; `fixtures/make_fixtures.py` made them. Transcripts are compared with the files in
//! `snapshots/`; after an intended change write them anew with `INSTA_UPDATE=always` and read the difference.

// A panic is how a test reports; the functions that tests share are no exception.
#![allow(clippy::unwrap_used, clippy::panic)]

/// The binary that is tested.
const BINARY: &str = env!("CARGO_BIN_EXE_sogar");

mod assuring;
mod auditing;
mod bad_models;
mod bad_outputs;
mod bad_results;
mod bad_settings;
mod bad_tables;
mod check;
mod checkpoints;
mod command_models;
mod configuration;
mod devices;
mod explaining;
mod exporting;
mod fairness;
mod folder;
mod help;
mod interrupting;
mod models;
mod reading;
mod reporting;
mod rewritten;
mod signals;
mod solving;
mod weighing;
