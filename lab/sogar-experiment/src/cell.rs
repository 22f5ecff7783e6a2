//! A cell of an experiment: one method on one fold of one data set with one classifier, under one protocol and setting.
//!
//! Its key is a hash of everything that is written down about it: table and model by name, fold, configuration, cost, method and
//! revision. So it is known without any table or model, and tables of results can be made from stored cells alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use sogar::config::{Config, CostKind};
use sogar::files::sha256_hex;

use super::inputs::Classifier;
use super::name::Setting;
use super::protocol::DataSet;
use sogar_baselines::methods::Method;

/// Grows when the meaning of a result changes for all methods.
const VERSION: u32 = 2;

/// One method on one fold.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The name of the protocol; cells of two protocols may be the same.
    pub protocol: String,
    /// The data set.
    pub data: Arc<DataSet>,
    /// The classifier.
    pub model: &'static Classifier,
    /// The fold, from 1.
    pub fold: u32,
    /// The recourse cost.
    pub cost: CostKind,
    /// The method.
    pub method: &'static Method,
    /// What differs from the usual run.
    pub setting: Setting,
    /// Seed of everything random.
    pub seed: u64,
    /// Seconds for a competing method; sogar's search has the setting's.
    pub time_limit: Option<f64>,
}

impl Cell {
    /// The configuration of the cell, without threads.
    pub fn config(&self) -> Config {
        let mut config = self.data.config.clone();
        config.cost.kind = self.cost;
        config.seed = self.seed;
        self.setting.apply(&mut config);
        config
    }

    /// The time limit of the method; for sogar, of its search.
    pub fn limit(&self) -> Option<f64> {
        if self.method.name == "sogar" { self.setting.time_limit } else { self.time_limit }
    }

    /// The same cell without a limit.
    pub fn unlimited(&self) -> Cell {
        let setting = Setting { time_limit: None, ..self.setting.clone() };
        Cell { setting, time_limit: None, ..self.clone() }
    }

    /// The key of the cell. A method that finishes by itself does not depend on its limit, so only the results of methods that
    /// were `cut` by a limit include it.
    pub fn key(&self, cut: bool) -> String {
        let setting = Setting { time_limit: None, ..self.setting.clone() };
        let depends = json!({
            "version": VERSION,
            "table": self.data.folder,
            "model": self.model.name,
            "fold": self.fold,
            "group": self.data.group,
            "config": sorted(&self.data.source),
            "cost": self.cost,
            "setting": setting,
            "method": self.method.name,
            "revision": self.method.revision,
            "seed": self.seed,
            "time_limit": self.limit().filter(|_| cut),
        });
        sha256_hex(sorted(&depends).to_string().as_bytes())[..16].to_owned()
    }

    /// The file of the store that has the cell.
    pub fn file(&self) -> String {
        format!("{}-{}.jsonl", self.data.folder, self.model.name)
    }

    /// The cell in words.
    pub fn title(&self) -> String {
        let label =
            if self.setting.label.is_empty() { String::new() } else { format!(" ({})", self.setting.label) };
        format!(
            "{} {} {} fold {} {}{label}",
            self.protocol, self.data.name, self.model.name, self.fold, self.method.name
        )
    }
}

/// The same value with the fields of objects in order of their names, whatever order they were written in.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, Value> =
                fields.iter().map(|(name, value)| (name, sorted(value))).collect();
            Value::Object(fields.into_iter().map(|(name, value)| (name.clone(), value)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::name::Name;
    use super::super::testing::cell;
    use super::*;

    #[test]
    fn the_key_is_another_one_as_soon_as_anything_differs() {
        let usual = cell("sogar", 1, "");
        let key = |cell: &Cell| cell.key(false);
        assert_eq!(key(&usual), key(&usual.clone()));
        let mut data = (*usual.data).clone();
        data.source["limits"]["min_leaf"] = json!(7);
        let others = [
            cell("t-crex-0.9", 1, ""),
            cell("sogar", 2, ""),
            Cell { cost: CostKind::Mps, ..usual.clone() },
            Cell { data: Arc::new(data), ..usual.clone() },
            Cell { model: Classifier::named("xgboost").unwrap(), ..usual.clone() },
            Cell { setting: Name::Depth.settings(false).remove(0), ..usual.clone() },
            Cell { seed: 1, ..usual.clone() },
        ];
        let mut keys: Vec<String> = others.iter().map(key).chain([key(&usual)]).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), others.len() + 1);
        assert_eq!(
            key(&Cell { protocol: "another".into(), ..usual.clone() }),
            key(&usual),
            "cells are shared"
        );
    }

    #[test]
    fn the_usual_setting_of_an_experiment_is_the_usual_run() {
        for name in [Name::Timeouts, Name::Depth, Name::Sparsity, Name::Bins] {
            let usual =
                name.settings(false).into_iter().find(|setting| Some(setting.label.as_str()) == name.usual());
            let other = Cell { setting: usual.unwrap(), ..cell("sogar", 1, "") };
            assert_eq!(other.key(false), cell("sogar", 1, "").key(false), "{name:?}");
        }
    }
}
