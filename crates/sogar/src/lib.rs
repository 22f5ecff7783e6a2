//! The pipeline of sogar, one module a stage, in the order in which a run goes through them.

pub mod config;
pub mod error;
pub mod feature;
pub mod model;
pub mod table;

pub use error::{Error, ErrorKind, Result};
