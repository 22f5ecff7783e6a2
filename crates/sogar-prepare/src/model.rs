//! Models for a table: files (crate `sogar-models`), or commands that score rows.

pub mod command;
pub mod readable;
mod source;

pub use sogar_models::*;

pub use command::CommandLine;
pub use source::Source;
