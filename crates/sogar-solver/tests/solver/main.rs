//! The solver on random problems.

#![allow(clippy::unwrap_used, clippy::panic)] // a panic is the report

mod criteria;
mod exact;
mod keeping;
mod metamorphic;
mod pools;
mod random_problems;
