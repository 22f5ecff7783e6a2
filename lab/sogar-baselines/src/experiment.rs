//! The published evaluation, to be run by anybody: methods, classifiers and data sets, and what each parameter does.
//!
//! An experiment ([`Name`]) is a list of cells ([`Cell`]): one method on one fold of one data set with one classifier,
//! under one [`Setting`]. Every finished cell is a file of its own, named by a hash of what it depends on, so that an
//! experiment can be stopped at any time, goes on where it was, and shares cells with the others. Tables
//! ([`tables`]) are made from whatever cells are there, with the published figures ([`paper`]) beside them.

pub mod cell;
pub mod inputs;
pub mod name;
pub mod paper;
pub mod run;
pub mod statistics;
pub mod tables;

pub use cell::{Cell, CellResult};
pub use inputs::{Classifier, DataSet, Paper};
pub use name::{Name, Setting};
pub use run::{Listener, Runner};
pub use tables::Tables;

use sogar::config::CostKind;

use crate::methods::Method;

/// What an experiment is asked to do.
#[derive(Debug, Clone)]
pub struct Request {
    /// The experiment.
    pub name: Name,
    /// Data sets.
    pub data: Vec<DataSet>,
    /// Classifiers.
    pub models: Vec<Classifier>,
    /// Folds, from 1.
    pub folds: Vec<u32>,
    /// Recourse costs.
    pub costs: Vec<CostKind>,
    /// Methods; all experiments but `table1` are about sogar alone.
    pub methods: Vec<&'static Method>,
    /// Seconds for a competing method.
    pub patience: f64,
    /// Seconds for sogar's search, where the experiment does not vary them.
    pub time_limit: Option<f64>,
    /// Whether the most expensive settings are left out.
    pub quick: bool,
    /// Seed of everything random.
    pub seed: u64,
}

/// Seconds that a competing method has where nobody says otherwise: an hour, as in the published evaluation.
pub const PATIENCE: f64 = 3600.0;

impl Request {
    /// All cells, those that share tables, model and outcomes next to each other.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &fold in &self.folds {
            for &data in &self.data {
                if self.name == Name::Audit && data.group.is_none() {
                    continue;
                }
                for &model in &self.models {
                    self.cells_of(fold, data, model, &mut cells);
                }
            }
        }
        cells
    }

    fn cells_of(&self, fold: u32, data: DataSet, model: Classifier, cells: &mut Vec<Cell>) {
        for &cost in &self.costs {
            for mut setting in self.name.settings(self.quick) {
                if self.name != Name::Timeouts {
                    setting.time_limit = self.time_limit;
                }
                let methods =
                    self.methods.iter().filter(|method| self.name == Name::Table1 || method.name == "sogar");
                cells.extend(methods.map(|&method| Cell {
                    data,
                    model,
                    fold,
                    cost,
                    method,
                    setting: setting.clone(),
                    audited: self.name == Name::Audit,
                    seed: self.seed,
                    time_limit: Some(self.patience),
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::choose;

    #[test]
    fn cells_are_the_product_of_what_is_asked() {
        let all = ["all".to_owned()];
        let request = Request {
            name: Name::Table1,
            data: inputs::data_sets(&all).unwrap(),
            models: inputs::classifiers(&all).unwrap(),
            folds: vec![1, 2],
            costs: vec![CostKind::Mps, CostKind::Cet],
            methods: choose(&all).unwrap(),
            patience: PATIENCE,
            time_limit: None,
            quick: false,
            seed: 0,
        };
        assert_eq!(request.cells().len(), 2 * 4 * 3 * 2 * request.methods.len());
        let depth = Request { name: Name::Depth, ..request.clone() };
        assert_eq!(depth.cells().len(), 2 * 4 * 3 * 2 * 3, "sogar alone, three depths");
        let audit = Request { name: Name::Audit, ..request };
        assert!(audit.cells().iter().all(|cell| cell.audited && cell.data.name != "bank"));
    }
}
