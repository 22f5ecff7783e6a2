//! Any bytes are an error or a table: CSV.
// seeds: crates/sogar-cli/tests/fixtures/*.csv

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use sogar::table::{ReadOptions, csv};

fuzz_target!(|bytes: &[u8]| {
    let _ = csv::parse(bytes, Path::new("t.csv"), &ReadOptions::default());
});
