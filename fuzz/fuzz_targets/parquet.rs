//! Any bytes are an error or a table: Parquet. The seeds have every encoding and compression that is read; pyarrow wrote them.
// seeds: fuzz/seeds/parquet/*.parquet

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use sogar::table::{ReadOptions, parquet};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { memory: Some(64 << 20), ..ReadOptions::default() };
    let _ = parquet::parse(bytes.to_vec(), Path::new("t.parquet"), &options);
});
