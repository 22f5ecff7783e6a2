//! The published evaluation, for anyone to run: methods, classifiers and data sets, and the effect of each parameter.
//!
//! An experiment ([`Name`]) under some [`Protocol`]s is a list of cells ([`Cell`]): one method on one fold of one data set with one
//! classifier, under one [`Setting`]. Results are lines in a [`Store`], found by a hash of everything that they depend on, so that
//! an experiment can be stopped at any time, continues where it was, and shares cells with the others. Tables ([`tables`]), figures
//! ([`figures`]) and the results page ([`page`]) are made from stored cells alone, with the published figures ([`paper`]) beside
//! them.

pub mod cell;
pub mod claims;
pub mod figures;
pub mod inputs;
pub mod name;
pub mod page;
pub mod paper;
pub mod protocol;
pub mod result;
pub mod run;
pub mod statistics;
pub mod store;
pub mod tables;
#[cfg(test)]
mod testing;

use std::sync::Arc;

pub use cell::Cell;
pub use inputs::Paper;
pub use name::{Name, Setting};
pub use page::Page;
pub use protocol::Protocol;
pub use result::CellResult;
pub use run::{Listener, Runner};
pub use store::Store;
pub use tables::Tables;

use sogar_baselines::methods::Method;

/// The settings of an experiment.
#[derive(Debug, Clone)]
pub struct Request {
    /// The experiment.
    pub name: Name,
    /// The protocols.
    pub protocols: Vec<Arc<Protocol>>,
    /// Data sets by name.
    pub data: Vec<&'static str>,
    /// Kinds of classifiers by name.
    pub kinds: Vec<&'static str>,
    /// Folds, from 1.
    pub folds: Vec<u32>,
    /// Methods; only `table1` and `audit` use others than sogar.
    pub methods: Vec<&'static Method>,
    /// Seconds for a competing method.
    pub patience: f64,
    /// Seconds for sogar's search, if the experiment does not vary them.
    pub time_limit: Option<f64>,
    /// Whether to leave out the most expensive settings.
    pub quick: bool,
    /// Seed of everything random.
    pub seed: u64,
}

/// Default time limit of a competing method. The published evaluation waited an hour.
pub const PATIENCE: f64 = 600.0;

impl Request {
    /// All cells; those that share tables, model and outcomes are neighbours. Cheap tables come first, and folds before variants.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &data in &self.data {
            for &kind in &self.kinds {
                for &fold in &self.folds {
                    for protocol in &self.protocols {
                        self.cells_of(fold, data, kind, protocol, &mut cells);
                    }
                }
            }
        }
        cells
    }

    fn cells_of(&self, fold: u32, data: &str, kind: &str, protocol: &Protocol, cells: &mut Vec<Cell>) {
        let Some(data) = protocol.data.iter().find(|known| known.name == data) else { return };
        let Some(&model) = protocol.models.iter().find(|known| known.kind == kind) else { return };
        if self.name == Name::Audit && data.group.is_none() {
            return;
        }
        let others = matches!(self.name, Name::Table1 | Name::Audit);
        let wanted = |method: &&&'static Method| {
            (others || method.name == "sogar") && method.only.is_none_or(|only| only == data.name)
        };
        for mut setting in self.name.settings(self.quick) {
            if self.name != Name::Timeouts {
                setting.time_limit = self.time_limit;
            }
            cells.extend(self.methods.iter().filter(wanted).map(|&method| Cell {
                protocol: protocol.name.clone(),
                data: Arc::clone(data),
                model,
                fold,
                cost: protocol.cost,
                method,
                setting: setting.clone(),
                seed: self.seed,
                time_limit: Some(self.patience),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sogar_baselines::methods::choose;

    #[test]
    fn cells_are_the_product_of_what_is_asked() {
        let request = Request {
            name: Name::Table1,
            protocols: vec![Arc::new(testing::paper())],
            data: inputs::DATA_SETS.to_vec(),
            kinds: vec!["dnn", "xgboost", "lightgbm"],
            folds: vec![1, 2],
            methods: choose(&["all"]).unwrap(),
            patience: PATIENCE,
            time_limit: None,
            quick: false,
            seed: 0,
        };
        assert_eq!(request.cells().len(), 2 * 4 * 3 * request.methods.len());
        let depth = Request { name: Name::Depth, ..request.clone() };
        assert_eq!(depth.cells().len(), 2 * 4 * 3 * 3, "sogar alone, three depths");
        let audit = Request { name: Name::Audit, ..request.clone() };
        assert!(audit.cells().iter().all(|cell| cell.data.name != "bank"));
        let readings = Request { methods: choose(&["readings"]).unwrap(), ..request };
        let german = |cell: &&Cell| cell.method.name == "ares-german";
        assert!(readings.cells().iter().filter(german).all(|cell| cell.data.name == "german"));
    }
}
