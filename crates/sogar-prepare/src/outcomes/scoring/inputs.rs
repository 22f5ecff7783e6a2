//! Edited rows as the model sees them, by fingerprint: which of them are the same?
//!
//! Many pairs of a row and an action lead to the same model inputs: an edit that does not change this row, a shift that stops at
//! the end of its range, a feature that the model does not use, two people who differ only in what both change. The fingerprint
//! of an input is the sum, modulo 2^128, of one well-mixed number per model column and value. So an edit adds the same difference
//! to a row's fingerprint regardless of the other edits (no action moves a feature twice), and an action's fingerprint takes a
//! few additions. Two different inputs share a fingerprint with a probability of 2^-128, which is treated as never.

use crate::outcomes::OutcomeQuery;

/// The inputs of a query.
pub(super) struct Inputs<'a> {
    query: &'a OutcomeQuery<'a>,
    /// The model columns that each feature fills.
    columns_of: Vec<Vec<usize>>,
}

/// The inputs of the edits of one row.
pub(super) struct RowInputs {
    fingerprint: u128,
    /// What each edit adds to it.
    changes: Vec<u128>,
}

impl<'a> Inputs<'a> {
    pub fn new(query: &'a OutcomeQuery<'a>) -> Inputs<'a> {
        let mut columns_of = vec![Vec::new(); query.table.features.len()];
        for (column, source) in query.encoder.columns.iter().enumerate() {
            columns_of[source.feature].push(column);
        }
        Inputs { query, columns_of }
    }

    /// Everything about a row that does not depend on the action.
    pub fn of_row(&self, row: usize) -> RowInputs {
        let values = self.query.table.row(row);
        let fingerprint = self.sum(&values);
        let mut edited = values.clone();
        let changes = self.query.edits.iter().map(|edit| {
            edit.apply(&mut edited);
            let mut change = 0u128;
            for feature in edit.touched() {
                let (old, new) = (self.part(feature, values[feature]), self.part(feature, edited[feature]));
                change = change.wrapping_add(new.wrapping_sub(old));
                edited[feature] = values[feature];
            }
            change
        });
        let changes = changes.collect();
        RowInputs { fingerprint, changes }
    }

    /// The fingerprint of the row after an action.
    #[inline]
    pub fn fingerprint(&self, row: &RowInputs, action: usize) -> u128 {
        let edits = self.query.actions.get(action);
        edits.iter().fold(row.fingerprint, |sum, &edit| sum.wrapping_add(row.changes[edit as usize]))
    }

    /// Appends the model's inputs for a row after an action.
    pub fn encode(&self, row: usize, action: usize, block: &mut Vec<f64>) {
        let mut edited = self.query.table.row(row);
        self.query.apply(action as u32, &mut edited);
        self.query.encoder.encode_row(&edited, block);
    }

    /// The fingerprint of a row of feature values.
    fn sum(&self, values: &[f64]) -> u128 {
        let parts = values.iter().enumerate().map(|(feature, &value)| self.part(feature, value));
        parts.fold(0, u128::wrapping_add)
    }

    /// The contribution of a feature's value to the fingerprint.
    fn part(&self, feature: usize, value: f64) -> u128 {
        self.columns_of[feature].iter().fold(0, |sum, &column| {
            sum.wrapping_add(mixed(column, self.query.encoder.columns[column].value(value)))
        })
    }
}

/// A pseudorandom number for the value of a model column.
fn mixed(column: usize, value: f64) -> u128 {
    // -0 is 0, and all missing values are the same.
    let bits = if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() };
    let half = |seed: u64| {
        finished(finished(bits ^ seed).wrapping_add(column as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    };
    u128::from(half(0x243F_6A88_85A3_08D3)) << 64 | u128::from(half(0x1319_8A2E_0370_7344))
}

/// The last step of SplitMix64: every bit of the input affects every bit of the result.
fn finished(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
