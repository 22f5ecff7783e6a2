//! Reads another table with the same features: held-out rows, or the table of an earlier run.
//!
//! Levels and kinds are those of the reference table. An unknown category is kept apart as "unseen"; a value without a place in
//! an order is an error, because every answer about it would be invented.

use super::column::View;
use super::one_hot::{self, NoneSet};
use super::texts::Texts;
use super::{Columns, Feature, FeatureTable, Kind, Weights};
use crate::config::{Config, FeatureConfig};
use crate::table::{Cells, Table};
use sogar_base::error::{Result, suggest};

impl FeatureTable {
    /// Encodes `table` with features inferred from another one; returns notices on what is new in it. Every row is one person,
    /// unless they are [weighed](FeatureTable::weighed).
    pub fn apply(
        features: &[Feature],
        table: &Table,
        config: &Config,
    ) -> Result<(FeatureTable, Vec<String>)> {
        let mut notices = Vec::new();
        let mut values = Vec::with_capacity(features.len());
        for feature in features {
            values.push(match &feature.columns {
                Columns::One(column) => one_column(feature, column, table, config, &mut notices)?,
                Columns::OneHot(columns) => {
                    let values = one_hot_columns(feature, columns, table, &mut notices)?;
                    let unseen = values.iter().filter(|value| **value == columns.len() as f64).count();
                    if unseen > 0 {
                        notices
                            .push(format!("`{}` has none of its categories in {unseen} rows", feature.name));
                    }
                    values
                }
            });
        }
        let features = features.to_vec();
        Ok((FeatureTable { features, values, rows: table.rows, weights: None }, notices))
    }
}

impl FeatureTable {
    /// The same with the configured weights, which a table of other people must have too.
    pub fn weighed(mut self, table: &Table, config: &Config) -> Result<FeatureTable> {
        self.weights =
            config.data.weight.as_deref().map(|column| Weights::read(table, column)).transpose()?;
        Ok(self)
    }
}

fn require<'a>(feature: &Feature, column: &str, table: &'a Table) -> Result<&'a crate::table::Column> {
    table.column(column).ok_or_else(|| {
        let of =
            if column == feature.name { String::new() } else { format!(" of feature `{}`", feature.name) };
        table.error(format!("there is no column `{column}`{of}")).help(suggest(column, table.names()))
    })
}

/// The categories of a one-hot group. A small table often has no column for a rare category: then no row has it, provided that
/// every category of the reference table has a column.
fn one_hot_columns(
    feature: &Feature,
    columns: &[Option<String>],
    table: &Table,
    notices: &mut Vec<String>,
) -> Result<Vec<f64>> {
    let absent: Vec<&String> = columns.iter().flatten().filter(|name| table.column(name).is_none()).collect();
    if absent.is_empty() {
        return one_hot::values(table, columns, NoneSet::Unseen);
    }
    if absent.len() == columns.len() || columns.iter().any(Option::is_none) {
        require(feature, absent[0], table)?;
    }
    let there: Vec<usize> = (0..columns.len())
        .filter(|&level| !columns[level].as_ref().is_some_and(|name| absent.contains(&name)))
        .collect();
    let named: Vec<Option<String>> = there.iter().map(|&level| columns[level].clone()).collect();
    for name in absent {
        notices.push(format!("there is no column `{name}`: nobody has that category of `{}`", feature.name));
    }
    let values = one_hot::values(table, &named, NoneSet::Unseen)?;
    let level = |value: f64| there.get(value as usize).map_or(columns.len(), |&level| level) as f64;
    Ok(values.into_iter().map(level).collect())
}

fn one_column(
    feature: &Feature,
    column: &str,
    table: &Table,
    config: &Config,
    notices: &mut Vec<String>,
) -> Result<Vec<f64>> {
    let column = require(feature, column, table)?;
    let setting = FeatureConfig::default();
    let view = View { table, column, setting: &setting, tokens: &config.data.missing, codes: &[] };
    let (levels, missing) = match (&feature.kind, &column.cells) {
        (Kind::Real | Kind::Integer, Cells::Numbers(numbers)) => return Ok(numbers.clone()),
        // A part of a table may contain only gaps, which do not show the type of the column.
        (Kind::Real | Kind::Integer, Cells::Text { codes, levels })
            if levels.iter().all(|level| config.data.missing.contains(level)) =>
        {
            return Ok(vec![f64::NAN; codes.len()]);
        }
        (Kind::Real | Kind::Integer, Cells::Text { .. }) => return Err(view.not_a_number()),
        (Kind::Ordinal { levels }, _) => return view.level_values(levels),
        (Kind::Categorical { levels, missing }, _) => (levels, *missing),
        (Kind::Binary { levels }, _) => (levels, None),
    };
    let (values, unseen) = view.category_values(&Texts::of(&column.cells), levels, missing);
    if !unseen.is_empty() {
        let rows = values.iter().filter(|value| **value == levels.len() as f64).count();
        let shown = unseen.iter().take(5).map(|level| format!("`{level}`")).collect::<Vec<_>>().join(", ");
        let more = if unseen.len() > 5 { ", …" } else { "" };
        notices.push(format!(
            "`{}` has values that the reference table never had, in {rows} rows: {shown}{more}",
            feature.name
        ));
    }
    Ok(values)
}
