//! One file per subcommand.

pub mod audit;
pub mod check;
pub mod completions;
pub mod config;
pub mod data;
pub mod demo;
pub mod devices;
pub mod diff;
pub mod evaluate;
pub mod explain;
pub mod lab;
pub mod model;
pub mod plot;
pub mod predict;
pub mod problem;
pub mod report;
pub mod schema;
pub mod select;
pub mod show;
pub mod solve;
#[cfg(feature = "studio")]
pub mod studio;
