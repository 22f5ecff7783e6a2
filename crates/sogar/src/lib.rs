//! The pipeline of sogar: from a table and a model to the exact front of recourse summaries.
//!
//! One module a stage, in the order in which a run goes through them:
//!
//! | stage | module |
//! |---|---|
//! | files into columns | [`table`] |
//! | what the user said about them, and what names give away | [`config`], [`hints`] |
//! | columns into features | [`feature`] |
//! | a model file into labels | [`model`], fed by [`encode`]; both at once: [`mod@predict`] |
//! | who was turned down | [`population`] |
//! | which questions a tree may ask | [`binarize`] |
//! | which changes a person could make | [`actions`], [`rules`] |
//! | what they cost and whether they work | [`cost`], [`outcomes`] |
//! | the search (crate `sogar-solver`), and the result file | [`pipeline`] (kept by [`checkpoint`]), [`summary`] |
//! | on which device | [`device`] |
//! | verifying the result | [`mod@check`] |
//! | reading the result | [`mod@select`], [`mod@evaluate`], [`describe`] |
//! | groups of people; everything as one page | [`mod@audit`], [`report`] |
//! | one person, two fronts, figures | [`mod@explain`], [`mod@diff`], [`plot`] |
//!
//! [`pipeline::Prepared`] ties them together.

pub mod actions;
pub mod audit;
pub mod binarize;
pub mod check;
pub mod checkpoint;
pub mod clock;
pub mod config;
pub mod cost;
pub mod datasets;
pub mod describe;
pub mod device;
pub mod diff;
mod draw;
pub mod encode;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod export;
pub mod feature;
pub mod files;
pub mod hints;
pub mod limits;
pub mod markup;
pub mod model;
pub mod outcomes;
pub mod pipeline;
pub mod plot;
pub mod population;
pub mod predict;
pub mod report;
mod row_order;
pub mod rules;
pub mod select;
pub mod summary;
pub mod table;

pub use error::{Error, ErrorKind, Result};
pub use sogar_solver::{CancelToken, Progress, Stop};
