//! The pipeline of sogar, one module a stage, in the order in which a run goes through them.

pub mod actions;
pub mod binarize;
pub mod cost;
pub mod outcomes;
pub mod rules;
pub mod population;
pub mod limits;
pub mod pipeline;
pub mod summary;
mod clock;
pub mod config;
pub mod datasets;
pub mod encode;
pub mod error;
pub mod feature;
pub mod files;
pub mod model;
pub mod table;

pub use error::{Error, ErrorKind, Result};
