//! Any bytes are an error or a solved cut of a checkpoint, which is then written and read again.
// seeds:

#![no_main]

use libfuzzer_sys::fuzz_target;
use sogar_solver::{FinishedCut, Limits, ProblemDims};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { max_depth: 3, max_leaves: 8, min_leaf: 5 };
    let dims = ProblemDims { size: 100, passing: (1..20).map(|split| 5 * split).collect(), actions: 200, limits };
    if let Ok(cut) = FinishedCut::from_bytes(&dims, bytes) {
        let written = cut.to_bytes();
        let again = FinishedCut::from_bytes(&dims, &written).map(|cut| cut.to_bytes());
        assert_eq!(again.ok(), Some(written));
    }
});
