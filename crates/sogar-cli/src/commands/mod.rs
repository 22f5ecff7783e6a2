//! One file a subcommand.

pub mod check;
pub mod completions;
pub mod config;
pub mod data;
pub mod demo;
pub mod evaluate;
pub mod model;
pub mod predict;
pub mod problem;
pub mod schema;
pub mod select;
pub mod show;
pub mod solve;
