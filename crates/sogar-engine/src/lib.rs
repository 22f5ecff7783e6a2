//! sogar as a library: from a table and a model to the exact front of recourse summaries.
//!
//! The crates of the workspace do the work; this one re-exports them under one name.
//!
//! | stage | module | crate |
//! |---|---|---|
//! | files into columns and features | [`table`], [`config`], [`hints`], [`feature`], [`binarize`], [`rules`] | `sogar-table` |
//! | model files into labels | [`model`] | `sogar-models` |
//! | who was turned down, what they could change, at what cost | [`mod@predict`], [`population`], [`actions`], [`cost`], [`outcomes`], [`limits`] | `sogar-prepare` |
//! | a commented starting configuration | [`init`] | `sogar-init` |
//! | the search | [`pipeline`], [`checkpoint`], [`device`], [`export`] | `sogar-search` on `sogar-solver` |
//! | the result | [`summary`], [`describe`], [`mod@select`], [`mod@evaluate`], [`fairness`] | `sogar-front` |
//! | groups, one person, two fronts | [`mod@audit`], [`mod@explain`], [`mod@diff`] | `sogar-audit` |
//! | pages and figures | [`report`], [`plot`] | `sogar-report` |
//! | verifying a result | [`mod@check`] | `sogar-check` |
//!
//! ```
//! use std::path::Path;
//!
//! use sogar::CancelToken;
//! use sogar::config::Config;
//! use sogar::model;
//! use sogar::pipeline::{Prepared, Search};
//! use sogar::select::{By, select};
//! use sogar::table::Table;
//!
//! let folder = Path::new("../../examples/german");
//! let mut config = Config::read(&folder.join("sogar.toml"))?;
//! config.limits.max_depth = Some(1);
//! let table = Table::read(&folder.join("german.csv"), &config.read_options()?)?;
//! let model = model::load(&folder.join("model.txt"), None)?;
//!
//! let prepared = Prepared::new(config, folder, &table, model, None)?;
//! let front = Search(&prepared).solve(&(), &CancelToken::new())?;
//! let best = &front.points[select(&front, By::Invalidity)?];
//! assert!(best.loss < 0.5, "the best summary of depth 1 works for most people");
//! # Ok::<(), sogar::Error>(())
//! ```

pub use sogar_audit::{audit, diff, explain, guarantee};
pub use sogar_base::{binomial, clock, envelope, error, files, markup, statistics};
pub use sogar_check as check;
pub use sogar_front::{describe, evaluate, fairness, intervals, neighbours, router, select, summary};
pub use sogar_init as init;
pub use sogar_prepare::{actions, cost, encode, limits, model, outcomes, population, predict, require};
pub use sogar_report::{plot, report};
pub use sogar_search::{checkpoint, device, export};
pub use sogar_table::{binarize, config, feature, hints, rules, table};

/// The whole way from a table and a model to a front.
pub mod pipeline {
    pub use sogar_prepare::prepared::*;
    pub use sogar_search::{DRAWS, Gathered, OutcomeTask, Search, actions_in_use};
}

pub use error::{Error, ErrorKind, Result};
pub use sogar_solver::{CancelToken, Progress, Stop};
