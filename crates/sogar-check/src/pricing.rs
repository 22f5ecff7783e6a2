//! The verifier's own prices (SPEC §5): compares an edited row with the original one, by the definitions. It uses nothing of
//! [`sogar_prepare::cost`], except that a cost function is called.
//!
//! Changed features are grouped by the edit that moves them, followers included. Within an edit, they are added up or the most
//! expensive counts, depending on the cost; the result is rounded once; and then edits combine in the same way.

use sogar_solver::Combine;

use super::kernel::KernelCdf;
use super::quotes::Quotes;
use super::{Verdict, defect};
use sogar_prepare::actions::Edit;
use sogar_prepare::prepared::Prepared;
use sogar_table::config::CostKind;
use sogar_table::feature::{FeatureTable, Kind};

/// Units in a cost of 1, unless it is counted in rows.
const MILLIONTHS: f64 = 1e6;

/// Prices of edited rows.
pub(super) struct Prices<'a> {
    prepared: &'a Prepared,
    kind: CostKind,
    /// Whether costs are whole numbers of reference rows.
    in_rows: bool,
    columns: Vec<Column>,
    /// The total weight of the reference rows.
    people: u64,
    /// The weight of one person.
    person: u64,
    quotes: Option<Quotes>,
}

/// The reference table's data about a feature.
struct Column {
    kind: Kind,
    weight: f64,
    counted: ValueCounts,
    smooth: Option<KernelCdf>,
}

/// The distinct values of a column, ascending, each with the cumulative weight of the rows up to it. Missing numbers and special
/// codes do not count.
pub(super) struct ValueCounts(Vec<(f64, u64)>);

impl ValueCounts {
    fn new(table: &FeatureTable, feature: usize) -> Self {
        let amount = |value: f64| !value.is_nan() && !table.features[feature].is_code(value);
        let values = table.values[feature].iter().enumerate().filter(|(_, value)| amount(**value));
        let mut pairs: Vec<(f64, u64)> =
            values.map(|(row, &value)| (value, u64::from(table.weight(row)))).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut counted: Vec<(f64, u64)> = Vec::new();
        for (value, weight) in pairs {
            match counted.last_mut() {
                Some(last) if last.0 == value => last.1 += weight,
                last => {
                    let before = last.map_or(0, |last| last.1);
                    counted.push((value, before + weight));
                }
            }
        }
        ValueCounts(counted)
    }

    fn first(&self, values: usize) -> u64 {
        values.checked_sub(1).map_or(0, |last| self.0[last].1)
    }

    /// The weight of the rows with at most this value.
    fn at_most(&self, value: f64) -> u64 {
        self.first(self.0.partition_point(|known| known.0 <= value))
    }

    /// The weight of the rows with this value.
    fn equal(&self, value: f64) -> u64 {
        self.at_most(value) - self.first(self.0.partition_point(|known| known.0 < value))
    }

    /// The distinct values, ascending, with the weight of their rows.
    pub(super) fn values(&self) -> impl Iterator<Item = (f64, u64)> {
        (0..self.0.len()).map(|at| (self.0[at].0, self.0[at].1 - self.first(at)))
    }

    fn range(&self) -> f64 {
        self.0.first().zip(self.0.last()).map_or(0.0, |(first, last)| last.0 - first.0)
    }
}

/// The weight of all rows of a table.
fn everybody(table: &FeatureTable) -> u64 {
    (0..table.rows).map(|row| u64::from(table.weight(row))).sum()
}

impl<'a> Prices<'a> {
    pub(super) fn new(prepared: &'a Prepared) -> Verdict<Self> {
        let (table, config) = (prepared.table(), prepared.config());
        let kind = config.cost.kind;
        let person = table.weight_unit();
        let columns: Vec<Column> = table
            .features
            .iter()
            .enumerate()
            .map(|(index, feature)| {
                let counted = ValueCounts::new(table, index);
                let edited = || prepared.edits().iter().any(|edit| edit.touched().any(|one| one == index));
                let smooth = (kind == CostKind::Cet
                    && !matches!(feature.kind, Kind::Categorical { .. } | Kind::Binary { .. })
                    && edited())
                .then(|| KernelCdf::new(&counted, person, feature.kind != Kind::Real))
                .flatten();
                let weight = config.features.get(&feature.name).and_then(|feature| feature.weight);
                Column { kind: feature.kind.clone(), weight: weight.unwrap_or(1.0), counted, smooth }
            })
            .collect();
        let quotes = match (kind, &config.cost.table) {
            (CostKind::Table, Some(path)) => Some(Quotes::read(&prepared.folder().join(path), table)?),
            (CostKind::Table, None) => return defect("the cost is a table, but none is named"),
            _ => None,
        };
        let in_rows = Self::in_rows(prepared);
        let people = everybody(table);
        Ok(Prices { prepared, kind, in_rows, columns, people, person, quotes })
    }

    fn in_rows(prepared: &Prepared) -> bool {
        let weight = |name: &String| prepared.config().features.get(name).and_then(|feature| feature.weight);
        let names = prepared.table().features.iter().map(|feature| &feature.name);
        prepared.config().cost.kind == CostKind::Mps
            && names.map(weight).all(|weight| weight.unwrap_or(1.0) == 1.0)
    }

    /// Units in a cost of 1.
    pub(super) fn unit_of(prepared: &Prepared) -> u64 {
        if Self::in_rows(prepared) { everybody(prepared.table()) } else { MILLIONTHS as u64 }
    }

    /// How changed features combine into the cost of an edit, and edits into that of an action.
    pub(super) fn combine(&self) -> Combine {
        match self.kind {
            CostKind::Logshift | CostKind::L1 => Combine::Sum,
            CostKind::Mps | CostKind::Cet | CostKind::Table | CostKind::Function => Combine::Max,
        }
    }

    /// The cost of some edits together for one person, in units.
    pub(super) fn price(&self, before: &[f64], edits: &[Edit]) -> Verdict<u64> {
        let mut after = before.to_vec();
        edits.iter().for_each(|edit| edit.apply(&mut after));
        let mut total = 0u64;
        for edit in edits {
            let one = if self.kind == CostKind::Function {
                u64::from(self.prepared.cost().edit_cost(edit, before)?)
            } else {
                self.one(edit, before, &after)?
            };
            total = match self.combine() {
                Combine::Max => total.max(one),
                Combine::Sum => total.saturating_add(one),
            };
        }
        Ok(total)
    }

    /// The part of one edit in the change of a row.
    fn one(&self, edit: &Edit, before: &[f64], after: &[f64]) -> Verdict<u64> {
        let changed = edit.touched().filter(|&feature| {
            let (from, to) = (before[feature], after[feature]);
            from != to && !to.is_nan()
        });
        if self.in_rows {
            return Ok(changed.map(|f| self.shift(f, before[f], after[f])).max().unwrap_or(0));
        }
        let mut cost = 0.0f64;
        for feature in changed {
            let one = self.columns[feature].weight * self.change(feature, before[feature], after[feature])?;
            cost = match self.combine() {
                Combine::Max => cost.max(one),
                Combine::Sum => cost + one,
            };
        }
        let units = (cost * MILLIONTHS).round();
        if !(0.0..=f64::from(u32::MAX)).contains(&units) {
            return defect("the cost of an edit is not a number between 0 and 4294");
        }
        Ok(units as u64)
    }

    /// The percentile shift of a feature, as the weight of the rows between.
    fn shift(&self, feature: usize, from: f64, to: f64) -> u64 {
        let Column { kind, counted, .. } = &self.columns[feature];
        match kind {
            Kind::Categorical { .. } => counted.equal(from).max(counted.equal(to)),
            _ => counted.at_most(to).abs_diff(counted.at_most(from)),
        }
    }

    /// The cost of a feature's change.
    fn change(&self, feature: usize, from: f64, to: f64) -> Verdict<f64> {
        let Column { kind, counted, smooth, .. } = &self.columns[feature];
        let share = |count: u64| count as f64 / self.people as f64;
        Ok(match (self.kind, kind) {
            (CostKind::Mps, _) => share(self.shift(feature, from, to)),
            (CostKind::Cet, Kind::Categorical { .. }) => share(counted.equal(to)),
            (CostKind::Cet, Kind::Binary { .. }) => share(counted.equal(1.0)),
            (CostKind::Cet, _) => smooth.as_ref().map_or(0.0, |cdf| (cdf.at(to) - cdf.at(from)).abs()),
            // The columns of the two categories change, 1 → 0 and 0 → 1.
            (CostKind::Logshift, Kind::Categorical { .. }) => {
                let column =
                    |level: f64| ((counted.equal(level) + self.person) as f64 / self.person as f64).log2();
                column(from) + column(to)
            }
            (CostKind::Logshift, _) => {
                // N times (1 − Q + 1/N)
                let above = |value: f64| (self.people - counted.at_most(value) + self.person) as f64;
                (above(to) / above(from)).log2().abs()
            }
            (CostKind::L1, Kind::Categorical { .. } | Kind::Binary { .. }) => 1.0,
            (CostKind::L1, _) => match counted.range() {
                range if range > 0.0 => (to - from).abs() / range,
                _ => 0.0,
            },
            (CostKind::Table, _) => match self.quotes.as_ref().and_then(|all| all.cost(feature, from, to)) {
                Some(cost) => cost,
                None => {
                    let name = &self.prepared.table().features[feature].name;
                    return defect(format!("the cost table has no cost for a change of `{name}`"));
                }
            },
            (CostKind::Function, _) => return defect("a function prices edits, not changes of a feature"),
        })
    }
}
