//! Kernels of GPUs beside the CPU.

#![allow(clippy::unwrap_used, clippy::panic)] // a panic is the report

#[path = "../../../sogar-solver/tests/solver/random_problems.rs"]
mod random_problems;

mod leaves;
mod networks;
