//! Cells and results made by hand.

use std::path::Path;
use std::sync::Arc;

use sogar::config::CostKind;

use super::cell::Cell;
use super::inputs::Classifier;
use super::name::Setting;
use super::protocol::{DataSet, Protocol};
use super::result::{CellResult, Figures};
use sogar_baselines::contract::FitStatus;
use sogar_baselines::methods::Method;

/// The protocol `paper`.
pub fn paper() -> Protocol {
    Protocol::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols"), "paper").unwrap()
}

/// Its German Credit.
pub fn data_set() -> Arc<DataSet> {
    paper().data[1].clone()
}

/// A cell on German Credit with LightGBM.
pub fn cell(method: &str, fold: u32, setting: &str) -> Cell {
    Cell {
        protocol: "paper".to_owned(),
        data: data_set(),
        model: Classifier::named("lightgbm").unwrap(),
        fold,
        cost: CostKind::Cet,
        method: Method::named(method).unwrap(),
        setting: Setting { label: setting.to_owned(), ..Setting::default() },
        seed: 0,
        time_limit: None,
    }
}

/// Cost and loss of 100 people.
pub fn figures(cost: f64, loss: f64) -> Figures {
    Figures {
        rows: 100,
        cost_sum: (cost * 1e6) as u64,
        cost,
        loss_count: (loss * 100.0).round() as u64,
        coverage: 1.0,
        parts: 3,
        sparsity: 1.0,
        unchanged: 0,
        violations: 0,
    }
}

/// A result with this cost and loss; held out it costs 0.1 more.
pub fn result(method: &str, fold: u32, cost: f64, loss: f64) -> CellResult {
    let cell = cell(method, fold, "");
    CellResult {
        train: Some(figures(cost, loss)),
        held_out: Some(figures(cost + 0.1, loss)),
        date: "2026-01-01".into(),
        ..CellResult::new(&cell, "here".into(), FitStatus::Complete, 1.5)
    }
}

/// No result, for a reason.
pub fn failed(method: &str, fold: u32, reason: &str) -> CellResult {
    let status = FitStatus::NoResult { reason: reason.to_owned() };
    CellResult { status, train: None, held_out: None, ..result(method, fold, 0.0, 0.0) }
}
