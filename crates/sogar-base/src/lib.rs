//! What every crate of sogar needs: errors, files, text that steers no terminal, memory, seeded draws.

pub mod clock;
pub mod draw;
pub mod error;
pub mod files;
pub mod markup;
pub mod memory;
pub mod text;

pub use error::{Error, ErrorKind, Result};
