//! Recourse cost (SPEC §5): the cost of a change of a feature's value, as an exact integer.
//!
//! A cost is a whole number of *units*. For the maximum percentile shift, one unit is one row of the reference table (so nothing
//! is ever rounded); for every other cost it is one millionth, rounded once per edit. Sums over rows and people are then sums of
//! integers, and two summaries are either equal or not.
//!
//! To add a cost, give it a variant of [`CostKind`] and an arm in [`CostModel::share`].

mod cdf;
mod function;
mod user_table;

pub use function::CostFunction;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use sogar_solver::Combine;

use crate::actions::Edit;
use cdf::SmoothCdf;
use function::{Function, no_function};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::config::{Config, CostKind};
use sogar_table::feature::{Distributions, FeatureTable, Kind, Ordered};
use user_table::{Reading, UserTable};

/// Millionths: the unit of every cost that is not a count of rows.
const MILLION: u64 = 1_000_000;

/// The cost of changing one feature from one value to another.
#[derive(Debug)]
pub struct CostModel {
    kind: CostKind,
    features: Vec<FeatureCost>,
    /// The total weight of the reference table's rows, and the weight of one person.
    people: u64,
    person: u64,
    unit: u64,
    /// Whether the unit is a row of the reference table.
    in_rows: bool,
    table: Option<UserTable>,
    function: Function,
}

#[derive(Debug)]
struct FeatureCost {
    name: String,
    kind: Kind,
    weight: f64,
    /// How many reference rows have at most a value (ordered and binary features), or exactly a level (categorical).
    empirical: Arc<Ordered>,
    smooth: Option<SmoothCdf>,
    range: f64,
}

impl CostModel {
    /// Computes CDFs, shares and ranges from the reference table for the features of `edits`. The path of a cost table in the
    /// configuration is relative to `folder`.
    pub fn new(
        reference: &dyn Distributions,
        edits: &[Edit],
        config: &Config,
        folder: &Path,
    ) -> Result<CostModel> {
        let kind = config.cost.kind;
        let weight = |name: &str| config.features.get(name).and_then(|f| f.weight).unwrap_or(1.0);
        let known = reference.features();
        let weighted = known.iter().any(|feature| weight(&feature.name) != 1.0);
        let in_rows = kind == CostKind::Mps && !weighted;
        let unit = if in_rows { reference.people() } else { MILLION };
        let person = reference.weight_unit();
        let edited: HashSet<usize> = edits.iter().flat_map(Edit::touched).collect();
        let features = known
            .iter()
            .enumerate()
            .map(|(index, feature)| {
                let edited = edited.contains(&index);
                let empirical = reference.distribution(index);
                FeatureCost {
                    name: feature.name.clone(),
                    kind: feature.kind.clone(),
                    weight: weight(&feature.name),
                    range: empirical.ends().map_or(0.0, |(min, max)| max - min),
                    smooth: (kind == CostKind::Cet && edited && feature.is_ordered())
                        .then(|| SmoothCdf::new(&empirical, person, !matches!(feature.kind, Kind::Real)))
                        .flatten(),
                    empirical,
                }
            })
            .collect();
        let table = match (kind, &config.cost.table) {
            (CostKind::Table, Some(path)) => {
                let reading = Reading { missing: &config.data.missing, trim: config.data.trim };
                Some(UserTable::read(&folder.join(path), reference, edits, reading)?)
            }
            (CostKind::Table, None) => {
                let error = Error::new(ErrorKind::Config, "the cost is a table, but none is named");
                return Err(error.help("set `table = \"costs.csv\"` under [cost]"));
            }
            _ => None,
        };
        let known = if kind == CostKind::Function { known.to_vec() } else { Vec::new() };
        let function = Function { features: known, function: None };
        Ok(CostModel { kind, features, people: reference.people(), person, unit, in_rows, table, function })
    }

    /// Sets the function for a cost of the kind `function`. Other kinds have none.
    pub(crate) fn set_function(&mut self, function: Arc<dyn CostFunction>) {
        self.function.function = Some(function);
    }

    /// Memory that the distributions of features take.
    pub fn bytes(&self) -> usize {
        let smooth = |feature: &FeatureCost| feature.smooth.as_ref().map_or(0, SmoothCdf::bytes);
        self.features.iter().map(|feature| feature.empirical.bytes() + smooth(feature)).sum()
    }

    /// Units in a cost of 1.
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// SHA-256 of the cost table, if there is one.
    pub fn table_hash(&self) -> Option<&str> {
        self.table.as_ref().map(|table| table.hash.as_str())
    }

    /// How the costs of an action's edits combine.
    pub fn combine(&self) -> Combine {
        match self.kind {
            CostKind::Mps | CostKind::Cet | CostKind::Table | CostKind::Function => Combine::Max,
            CostKind::Logshift | CostKind::L1 => Combine::Sum,
        }
    }

    /// The cost of several changes that cost this much each, before it is rounded to units.
    pub fn combined(&self, costs: impl IntoIterator<Item = f64>) -> f64 {
        let costs = costs.into_iter();
        match self.combine() {
            Combine::Max => costs.fold(0.0, f64::max),
            Combine::Sum => costs.fold(0.0, |total, cost| total + cost),
        }
    }

    /// Cost of an edit on a row of feature values, in units, with the moves of linked features.
    pub fn edit_cost(&self, edit: &Edit, row: &[f64]) -> Result<u32> {
        let mut edited = row.to_vec();
        edit.apply(&mut edited);
        if self.kind == CostKind::Function {
            let cost = self.function.costs(edit, &[(row, &edited)])?;
            return self.units(edit.feature, self.features[edit.feature].weight * cost[0]);
        }
        self.change_cost(edit.feature, edit.touched(), row, &edited)
    }

    /// Cost of going from one row of feature values to another, in units: every changed feature is an edit of its own, and they
    /// combine like the edits of an action.
    pub fn move_cost(&self, row: &[f64], moved: &[f64]) -> Result<u64> {
        let mut total = 0u64;
        for feature in 0..self.features.len() {
            let cost = u64::from(self.change_cost(feature, std::iter::once(feature), row, moved)?);
            total = self.combine().with(total, cost);
        }
        Ok(total)
    }

    /// Cost of one edit, on `feature`, that changes `touched`.
    fn change_cost(
        &self,
        feature: usize,
        touched: impl Iterator<Item = usize>,
        row: &[f64],
        edited: &[f64],
    ) -> Result<u32> {
        let changed = touched.filter(|&f| row[f] != edited[f] && !edited[f].is_nan());
        if self.in_rows {
            let rows = changed.map(|f| self.features[f].shifted_rows(row[f], edited[f])).max();
            return u32::try_from(rows.unwrap_or(0)).map_err(|_| too_large(&self.features[feature].name));
        }
        let mut total = 0.0;
        for f in changed {
            total = self.combined([total, self.features[f].weight * self.share(f, row[f], edited[f])?]);
        }
        self.units(feature, total)
    }

    /// A cost as a whole number of millionths.
    fn units(&self, feature: usize, cost: f64) -> Result<u32> {
        let units = (cost * MILLION as f64).round();
        if units.is_finite() && (0.0..=f64::from(u32::MAX)).contains(&units) {
            Ok(units as u32)
        } else {
            Err(too_large(&self.features[feature].name))
        }
    }

    /// The unweighted cost of one feature's change as a real number.
    fn share(&self, feature: usize, from: f64, to: f64) -> Result<f64> {
        let this = &self.features[feature];
        let rows = self.people as f64;
        Ok(match self.kind {
            CostKind::Mps => this.shifted_rows(from, to) as f64 / rows,
            CostKind::Cet => match &this.kind {
                Kind::Categorical { .. } => this.empirical.equal(to) as f64 / rows,
                Kind::Binary { .. } => this.empirical.equal(1.0) as f64 / rows,
                _ => this.smooth.as_ref().map_or(0.0, |cdf| (cdf.at(to) - cdf.at(from)).abs()),
            },
            CostKind::Logshift => {
                // log2 of the ratio of the counts above, with one person added to both; in counts, so that it is exact
                let above = |at_most: u64| (self.people - at_most + self.person) as f64;
                let people = |count: u64| (count + self.person) as f64 / self.person as f64;
                match &this.kind {
                    // Two one-hot columns change: 1 → 0 at `from`, 0 → 1 at `to`.
                    Kind::Categorical { .. } => [from, to]
                        .iter()
                        .map(|&level| people(this.empirical.equal(level)).log2())
                        .sum::<f64>(),
                    _ => {
                        let (old, new) = (this.empirical.at_most(from), this.empirical.at_most(to));
                        (above(new) / above(old)).log2().abs()
                    }
                }
            }
            CostKind::L1 => match &this.kind {
                Kind::Categorical { .. } | Kind::Binary { .. } => 1.0,
                _ if this.range > 0.0 => (to - from).abs() / this.range,
                _ => 0.0,
            },
            CostKind::Table => match &self.table {
                Some(table) => table.cost(feature, from, to)?,
                None => 0.0,
            },
            CostKind::Function => return Err(no_function()), // a change of one feature is not an edit
        })
    }
}

impl FeatureCost {
    /// The percentile shift in rows of the reference table (in units of their weight): an integer.
    fn shifted_rows(&self, from: f64, to: f64) -> u64 {
        match self.kind {
            Kind::Categorical { .. } => self.empirical.equal(from).max(self.empirical.equal(to)),
            _ => self.empirical.at_most(from).abs_diff(self.empirical.at_most(to)),
        }
    }
}

fn too_large(feature: &str) -> Error {
    Error::new(ErrorKind::Config, "the cost of an edit is not a number between 0 and 4294")
        .column(feature)
        .help("lower the feature's weight or the costs in the table or of the function")
}

/// The cost of every edit on every one of the given rows: `[edit][position in rows]`.
pub fn edit_costs(
    model: &CostModel,
    edits: &[Edit],
    table: &FeatureTable,
    rows: &[usize],
) -> Result<Vec<Vec<u32>>> {
    let values: Vec<Vec<f64>> = rows.iter().map(|&row| table.row(row)).collect();
    edits
        .par_iter()
        .map(|edit| {
            if model.kind == CostKind::Function {
                return function_costs(model, edit, &values);
            }
            let mut edited = Vec::new();
            values
                .iter()
                .map(|row| {
                    edited.clone_from(row);
                    edit.apply(&mut edited);
                    model.change_cost(edit.feature, edit.touched(), row, &edited)
                })
                .collect()
        })
        .collect()
}

/// The cost of an edit on every row, from one call of the user's function.
fn function_costs(model: &CostModel, edit: &Edit, values: &[Vec<f64>]) -> Result<Vec<u32>> {
    let edited: Vec<Vec<f64>> = values
        .iter()
        .map(|row| {
            let mut edited = row.clone();
            edit.apply(&mut edited);
            edited
        })
        .collect();
    let moves: Vec<(&[f64], &[f64])> =
        values.iter().zip(&edited).map(|(before, after)| (before.as_slice(), after.as_slice())).collect();
    let weight = model.features[edit.feature].weight;
    let costs = model.function.costs(edit, &moves)?;
    costs.into_iter().map(|cost| model.units(edit.feature, weight * cost)).collect()
}

#[cfg(test)]
mod tests;
