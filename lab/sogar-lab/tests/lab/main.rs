//! The laboratory's binary as users meet it, in the folders and with the transcripts of the command line's own tests.

// A panic is how a test reports; the functions that tests share are no exception.
#![allow(clippy::unwrap_used, clippy::panic, dead_code)]

/// The binary that is tested.
const BINARY: &str = env!("CARGO_BIN_EXE_sogar-lab");

mod comparing;
#[path = "../../../../crates/sogar-cli/tests/cli/folder.rs"]
mod folder;
#[path = "../../../../crates/sogar-cli/tests/cli/signals.rs"]
mod signals;
