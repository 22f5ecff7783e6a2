//! From features to model columns.
//!
//! People see features; a model sees columns of numbers, whose names, order and codes were fixed in training. An [`Encoder`]
//! translates between the two: for every model column it has the feature and, if the feature has levels, the model's number for
//! each level. It is built once per run, by name where names agree ([`matching`]), and then applied to rows.

mod matching;
mod values;

use crate::model::{ModelInfo, Test, TreeEnsemble};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::config::ModelConfig;
use sogar_table::feature::{Feature, FeatureTable, format_number};

/// How every model column is filled from a row's features.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoder {
    /// One source per model column, in the model's order.
    pub columns: Vec<ColumnSource>,
}

/// Where a model column's value comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSource {
    /// The feature.
    pub feature: usize,
    /// `map[level index]` is the model's number for that level; the last entry, at `levels.len()`, is for a category that the
    /// reference table does not have (and for a missing value). `None`: the number itself.
    pub map: Option<Vec<f64>>,
}

impl ColumnSource {
    /// The model's number for a feature's value.
    #[inline]
    pub fn value(&self, value: f64) -> f64 {
        match &self.map {
            None => value,
            Some(map) if value.is_nan() => map.last().copied().unwrap_or(f64::NAN),
            Some(map) => map.get(value as usize).or(map.last()).copied().unwrap_or(f64::NAN),
        }
    }
}

impl Encoder {
    /// Matches the model's columns with the features: as declared under `[model].columns`, otherwise by name, otherwise (if no
    /// name agrees but the number of columns does) by position. Also returns notices for the user.
    ///
    /// By position, features made of one-hot columns are refused, because their order in the file is not known here; see
    /// [`Encoder::match_table_columns`].
    pub fn match_columns(
        info: &ModelInfo,
        features: &[Feature],
        config: &ModelConfig,
    ) -> Result<(Encoder, Vec<String>)> {
        Encoder::match_in_order(info, features, config, None)
    }

    /// Like [`Encoder::match_columns`], with the names of the table's columns in file order, for matching by position.
    pub fn match_table_columns(
        info: &ModelInfo,
        features: &[Feature],
        config: &ModelConfig,
        table_columns: &[&str],
    ) -> Result<(Encoder, Vec<String>)> {
        Encoder::match_in_order(info, features, config, Some(table_columns))
    }

    fn match_in_order(
        info: &ModelInfo,
        features: &[Feature],
        config: &ModelConfig,
        table_columns: Option<&[&str]>,
    ) -> Result<(Encoder, Vec<String>)> {
        let mut notices = Vec::new();
        let parts = matching::match_parts(info, features, config, table_columns, &mut notices)?;
        let columns = values::sources(info, features, &parts, &mut notices)?;
        Ok((Encoder { columns }, notices))
    }

    /// Refuses columns that were matched with absent categories if the model's trees use them as amounts.
    pub(crate) fn check_absent(&self, info: &ModelInfo, trees: Option<&TreeEnsemble>) -> Result<()> {
        let absent = |source: &ColumnSource| {
            source.map.as_ref().is_some_and(|map| map.iter().all(|value| *value == 0.0))
        };
        for node in trees.iter().flat_map(|trees| &trees.trees).flat_map(|tree| &tree.nodes) {
            if let Test::AtMost { threshold, .. } = node.test
                && !(0.0..1.0).contains(&threshold)
                && absent(&self.columns[node.column])
            {
                let name = &info.columns[node.column];
                let message = format!("the model wants a column that the table does not have: `{name}`");
                return Err(Error::new(ErrorKind::Model, message).help(format!(
                    "it is no category, since the model compares it with {}: add it to the table",
                    format_number(threshold)
                )));
            }
        }
        Ok(())
    }

    /// Whether a column of the model depends on a feature.
    pub fn uses(&self, feature: usize) -> bool {
        self.columns.iter().any(|source| source.feature == feature)
    }

    /// The features that no column of the model depends on, in words, if there are any.
    pub fn unused(&self, features: &[Feature]) -> Option<String> {
        let unused: Vec<String> = (0..features.len())
            .filter(|&index| !self.uses(index))
            .map(|index| format!("`{}`", features[index].name))
            .collect();
        (!unused.is_empty()).then(|| format!("the model does not use {}", unused.join(", ")))
    }

    /// Appends the model's row for one value per feature to a block (see [`crate::model::Rows`]).
    pub fn encode_row(&self, values: &[f64], block: &mut Vec<f64>) {
        block.extend(self.columns.iter().map(|source| source.value(values[source.feature])));
    }

    /// The model's rows for these rows of a table, row by row in one block (see [`crate::model::Rows`]).
    pub(crate) fn encode_rows(&self, table: &FeatureTable, rows: &[usize]) -> Vec<f64> {
        let mut block = Vec::with_capacity(rows.len() * self.columns.len());
        for &row in rows {
            block.extend(self.columns.iter().map(|source| source.value(table.values[source.feature][row])));
        }
        block
    }
}

#[cfg(test)]
mod tests;
