//! The engine from a table to its files: one binary, because each takes seconds to link.

#![allow(clippy::unwrap_used, clippy::panic)] // a panic is the report

mod assurance;
mod check_fields;
mod large;
mod partitioned_audit;
mod people;
mod plausible;
mod presets;
mod schemas;
mod streamed;
mod weights;
