//! Any bytes are an error or a result that can be looked at.
// seeds: crates/sogar-cli/tests/fixtures/front*.json

#![no_main]

use libfuzzer_sys::fuzz_target;
use sogar::select::{By, select};
use sogar::summary::FrontFile;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(front) = FrontFile::parse(bytes) {
        let _ = (front.points_csv(), front.certified_gap(), front.people());
        let _ = select(&front, By::Invalidity);
        front.points.iter().for_each(|point| drop(point.tree.rules()));
    }
});
