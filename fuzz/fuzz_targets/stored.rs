//! Any bytes, with any checksum, are an error or what a cache or a checkpoint holds, which is then written and read again.
// seeds:

#![no_main]

use libfuzzer_sys::fuzz_target;
use sogar::checkpoint::read_cuts;
use sogar::envelope::{Fault, Label, Payload};
use sogar::files::sha256;
use sogar::outcomes::{Outcomes, stored};
use sogar_solver::{Limits, ProblemDims};

const ACTIONS: usize = 3;
const ROWS: usize = 70;

fn label(kind: &'static str) -> Label {
    Label { kind, version: 3, owner: "o".into() }
}

/// The bytes as a file: as they are, behind a first line, and with a checksum that is right.
fn open<T>(label: &Label, bytes: &[u8], decode: impl Fn(&mut Payload<'_>) -> Result<T, Fault>) -> Option<T> {
    let _ = label.open(bytes, bytes.len() as u64, &decode);
    let rewritten = [bytes, &sha256(bytes)].concat();
    let _ = label.open(&rewritten[..], rewritten.len() as u64, &decode);
    let mut whole = Vec::new();
    label.seal(&mut whole, bytes.len() as u64, |out| out.write_all(bytes)).expect("memory is written");
    label.open(&whole[..], whole.len() as u64, &decode).ok()
}

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(open(&label("any"), bytes, |payload| payload.rest()).as_deref(), Some(bytes));
    for kind in ["outcomes", "checkpoint-outcomes"] {
        if let Some((flips, settled)) = open(&label(kind), bytes, |payload| stored::read(payload, ACTIONS, ROWS)) {
            let mut written = Vec::new();
            let outcomes = Outcomes { flips, settled, method: "", kept: None };
            stored::write(&outcomes, ROWS, &mut written).expect("memory is written");
            assert_eq!(written, bytes);
        }
    }
    let limits = Limits { max_depth: 3, max_leaves: 8, min_leaf: 5 };
    let dims = ProblemDims { size: 100, passing: (1..20).map(|split| 5 * split).collect(), actions: 200, limits };
    let cuts = |payload: &mut Payload<'_>| Ok(read_cuts(&payload.rest()?, &dims)?);
    for cut in open(&label("checkpoint-search"), bytes, cuts).into_iter().flatten() {
        let one = cut.to_bytes();
        let again = [&(one.len() as u64).to_le_bytes()[..], &one].concat();
        assert!(read_cuts(&again, &dims).is_ok_and(|cuts| cuts.len() == 1 && cuts[0].to_bytes() == one));
    }
});
