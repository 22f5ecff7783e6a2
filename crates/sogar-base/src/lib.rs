//! Shared by every crate of sogar: errors, files, safe text for terminals, memory, seeded draws, intervals.

pub mod binomial;
pub mod clock;
pub mod draw;
pub mod envelope;
pub mod error;
pub mod files;
pub mod markup;
pub mod memory;
pub mod statistics;
pub mod text;

pub use error::{Error, ErrorKind, Result};
