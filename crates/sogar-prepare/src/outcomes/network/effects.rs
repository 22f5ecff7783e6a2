//! The effect of each edit on one row, as the first layer sees it.
//!
//! The first layer is linear, so an edit adds the same vector to its sums regardless of the other edits, provided that no other
//! edit of the action changes the same features. This module also finds edits that do nothing to the row, or the same as another
//! edit of the feature: their actions need no evaluation of their own.

use crate::model::network::{UNIT, gamma_double};
use crate::model::{DenseNetwork, Layer};
use crate::outcomes::OutcomeQuery;

/// In place of an edit: the row stays unchanged.
pub(super) const NOTHING: u32 = u32::MAX;
/// Spare columns after the useful edits, so that whole vectors can be read.
pub(super) const SPARE: usize = 16;
/// Numbers above this are not computed in single precision.
const LARGE: f64 = 1e36;
const TINY: f64 = 1e-36;

/// The first layer, column by column, in double precision.
pub(super) struct FirstLayer {
    pub units: usize,
    /// `weights[column · units + unit]`.
    weights: Vec<f64>,
    bias: Vec<f64>,
    /// Euclidean norm of each column's weights.
    norms: Vec<f64>,
    /// Rounding of the sums in single precision, relative to their terms: each of the row's sums and the edits' shares is rounded
    /// once, and again at each of as many additions as an action has edits …
    single: f64,
    /// … and the loss of double precision, relative to the terms of the full sums.
    double: f64,
    /// The model columns of each feature.
    columns_of: Vec<Vec<usize>>,
}

/// One row and the effects of the edits on it.
#[derive(Default)]
pub(super) struct Effects {
    /// The row's features.
    pub values: Vec<f64>,
    inputs: Vec<f32>,
    /// The row's first-layer sums, in double and in single precision.
    exact: Vec<f64>,
    pub sums: Vec<f32>,
    /// The error of these; infinite if single precision cannot be used for the row.
    pub error: f32,
    /// For each edit its representative: itself, an earlier one of the feature with the same effect, or [`NOTHING`].
    pub stands_for: Vec<u32>,
    /// Edits that represent themselves, ascending.
    pub useful: Vec<u32>,
    /// For each useful edit the position of the first one of a later feature.
    pub later: Vec<usize>,
    /// What useful edits add to the sums: `by_unit[unit · stride + position]`, and after the units their errors.
    pub by_unit: Vec<f32>,
    pub stride: usize,
    /// The same, `by_edit[position · (units + 1) + unit]`.
    pub by_edit: Vec<f32>,
    changes: Vec<(usize, f32)>,
    earlier: Vec<(u32, Vec<(usize, f32)>)>,
    edited: Vec<f64>,
    share: Vec<f64>,
}

impl FirstLayer {
    pub fn new(layer: &Layer, query: &OutcomeQuery<'_>, most_edits: usize) -> FirstLayer {
        let units = layer.outputs;
        let mut weights = vec![0.0; layer.weights.len()];
        for (unit, row) in layer.weights.chunks_exact(layer.inputs.max(1)).enumerate() {
            for (column, &weight) in row.iter().enumerate() {
                weights[column * units + unit] = f64::from(weight);
            }
        }
        let mut columns_of = vec![Vec::new(); query.table.features.len()];
        for (column, source) in query.encoder.columns.iter().enumerate() {
            columns_of[source.feature].push(column);
        }
        FirstLayer {
            units,
            norms: weights.chunks_exact(units.max(1)).map(norm).collect(),
            weights,
            bias: layer.bias.iter().map(|&bias| f64::from(bias)).collect(),
            single: (most_edits as f64 + 2.0) * UNIT * 1.001,
            double: 4.0 * gamma_double(layer.inputs + most_edits + 8),
            columns_of,
        }
    }

    fn column(&self, column: usize) -> &[f64] {
        &self.weights[column * self.units..(column + 1) * self.units]
    }

    /// An upper bound of the error of numbers with this norm, made from terms with that norm; infinite if they are too large.
    fn error(&self, size: f64, terms: f64) -> f32 {
        let error = self.single * size + self.double * terms + TINY;
        if size < LARGE && terms < LARGE { (error * 1.000_01) as f32 } else { f32::INFINITY }
    }
}

impl Effects {
    /// Computes a row and the effect of every edit on it.
    pub fn look(&mut self, network: &DenseNetwork, first: &FirstLayer, query: &OutcomeQuery<'_>, row: usize) {
        self.values = query.table.row(row);
        let columns = query.encoder.columns.iter().enumerate();
        self.inputs.clear();
        self.inputs.extend(
            columns.map(|(column, source)| network.input(column, source.value(self.values[source.feature]))),
        );
        self.sum_up(first);
        self.stands_for.clear();
        self.useful.clear();
        self.later.clear();
        self.by_edit.clear();
        self.earlier.clear();
        let mut feature = None;
        for (number, edit) in query.edits.iter().enumerate() {
            if feature != Some(edit.feature) {
                feature = Some(edit.feature);
                self.earlier.clear();
                self.later.resize(self.useful.len(), self.useful.len());
            }
            self.apply(network, first, query, &[number as u32]);
            if self.changes.is_empty() {
                self.stands_for.push(NOTHING);
                continue;
            }
            let same = self.earlier.iter().find(|(_, changes)| alike(changes, &self.changes));
            if let Some((same, _)) = same {
                self.stands_for.push(*same);
                continue;
            }
            self.stands_for.push(number as u32);
            self.earlier.push((number as u32, self.changes.clone()));
            self.useful.push(number as u32);
            let error = self.sum_changes(first);
            self.by_edit.extend(self.share.iter().map(|&share| share as f32));
            self.by_edit.push(error);
        }
        self.later.resize(self.useful.len(), self.useful.len());
        self.turn(first.units + 1);
    }

    /// The first layer's sums of the row under some edits, of any features; returns their error.
    pub fn combined(
        &mut self,
        network: &DenseNetwork,
        first: &FirstLayer,
        query: &OutcomeQuery<'_>,
        edits: &[u32],
        out: &mut Vec<f32>,
    ) -> f32 {
        self.apply(network, first, query, edits);
        let error = self.sum_changes(first);
        out.clear();
        out.extend(self.exact.iter().zip(&self.share).map(|(sum, share)| (sum + share) as f32));
        self.error + error
    }

    /// The network's inputs for the row under some edits.
    pub fn inputs(
        &mut self,
        network: &DenseNetwork,
        first: &FirstLayer,
        query: &OutcomeQuery<'_>,
        edits: &[u32],
        out: &mut Vec<f32>,
    ) {
        self.apply(network, first, query, edits);
        let start = out.len();
        out.extend_from_slice(&self.inputs);
        for &(column, value) in &self.changes {
            out[start + column] = value;
        }
    }

    /// Fills `changes` with the columns that the edits change, and the new inputs there.
    fn apply(&mut self, network: &DenseNetwork, first: &FirstLayer, query: &OutcomeQuery<'_>, edits: &[u32]) {
        self.edited.clone_from(&self.values);
        query.apply_edits(edits, &mut self.edited);
        self.changes.clear();
        for feature in edits.iter().flat_map(|&edit| query.edits[edit as usize].touched()) {
            let value = self.edited[feature];
            if value.to_bits() == self.values[feature].to_bits() {
                continue;
            }
            for &column in &first.columns_of[feature] {
                let new = network.input(column, query.encoder.columns[column].value(value));
                if !same(new, self.inputs[column]) {
                    self.changes.push((column, new));
                }
            }
        }
    }

    /// The row's own sums.
    fn sum_up(&mut self, first: &FirstLayer) {
        self.exact.clone_from(&first.bias);
        let mut terms: Vec<f64> = first.bias.iter().map(|bias| bias.abs()).collect();
        for (column, &value) in self.inputs.iter().enumerate() {
            let value = f64::from(value);
            if value == 0.0 {
                continue; // most one-hot columns
            }
            for ((sum, terms), weight) in self.exact.iter_mut().zip(&mut terms).zip(first.column(column)) {
                *sum += weight * value;
                *terms += (weight * value).abs();
            }
        }
        self.sums.clear();
        self.sums.extend(self.exact.iter().map(|&sum| sum as f32));
        self.error = first.error(norm(&self.exact), norm(&terms));
    }

    /// Fills `share` with what the changes add to the sums; returns its error.
    fn sum_changes(&mut self, first: &FirstLayer) -> f32 {
        self.share.clear();
        self.share.resize(first.units, 0.0);
        let mut terms = 0.0;
        for &(column, new) in &self.changes {
            let (old, new) = (f64::from(self.inputs[column]), f64::from(new));
            let difference = new - old;
            for (share, weight) in self.share.iter_mut().zip(first.column(column)) {
                *share += weight * difference;
            }
            terms += first.norms[column] * (old.abs() + new.abs());
        }
        first.error(norm(&self.share), terms)
    }

    /// Makes `by_unit` from `by_edit`.
    fn turn(&mut self, height: usize) {
        self.stride = self.useful.len() + SPARE;
        self.by_unit.clear();
        self.by_unit.resize(height * self.stride, 0.0);
        for (position, edit) in self.by_edit.chunks_exact(height).enumerate() {
            for (unit, &value) in edit.iter().enumerate() {
                self.by_unit[unit * self.stride + position] = value;
            }
        }
    }
}

/// Euclidean norm.
fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn same(a: f32, b: f32) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

fn alike(a: &[(usize, f32)], b: &[(usize, f32)]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
}
