//! The JSON dump: `json.dump(booster.dump_model(), file)`.
//!
//! It has the contents of the text file, including all digits of numbers. Trees are nested as deeply as they grow, so they are
//! kept as text here, and [`nested`](super::nested) reads them without recursion.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::header::{ColumnInfo, Header, check_version, repeated};
use super::{categories, damaged, nested};
use crate::Tree;
use sogar_base::error::{Error, Result};

/// The contents of a dump.
pub(super) struct Contents {
    pub header: Header,
    pub trees: Vec<Tree>,
    pub lists: Vec<Vec<String>>,
}

#[derive(Deserialize)]
struct Dump<'a> {
    version: String,
    num_class: usize,
    num_tree_per_iteration: usize,
    max_feature_idx: usize,
    objective: Option<String>,
    #[serde(default)]
    average_output: bool,
    feature_names: Vec<String>,
    #[serde(default)]
    feature_infos: BTreeMap<String, Range>,
    #[serde(borrow)]
    tree_info: Vec<TreeInfo<'a>>,
    #[serde(default)]
    pandas_categorical: Value,
}

/// The contents of a column; `values` are the codes of a column of categories.
#[derive(Deserialize)]
struct Range {
    min_value: f64,
    max_value: f64,
    #[serde(default)]
    values: Vec<i64>,
}

#[derive(Deserialize)]
struct TreeInfo<'a> {
    #[serde(borrow)]
    tree_structure: &'a RawValue,
}

/// Reads a dump.
pub(super) fn read(bytes: &[u8]) -> Result<Contents> {
    let dump: Dump<'_> = serde_json::from_slice(bytes)
        .map_err(|error| in_dump(format!("this is not LightGBM's dump: {error}")))?;
    check_version(&dump.version)?;
    let columns = dump.feature_names;
    if dump.max_feature_idx.checked_add(1) != Some(columns.len()) {
        let message =
            format!("{} names are there, but `max_feature_idx` is {}", columns.len(), dump.max_feature_idx);
        return Err(in_dump(message));
    }
    if let Some(name) = repeated(&columns) {
        return Err(in_dump(format!("the column name `{name}` stands twice")));
    }
    let per_round = dump.num_tree_per_iteration;
    if per_round == 0 || per_round != dump.num_class {
        let message = format!("{per_round} trees a round do not fit {} classes", dump.num_class);
        return Err(in_dump(message));
    }
    // Sets of categories are spelled as lists but stored as bits: limited by the length of the file, plus some.
    let mut room = bytes.len() + (1 << 20);
    let mut trees = Vec::new();
    for (number, info) in dump.tree_info.iter().enumerate() {
        let tree = nested::read(info.tree_structure.get(), columns.len(), &mut room);
        trees.push(tree.map_err(|message| in_dump(format!("tree {number}: {message}")))?);
    }
    let lists = categories::of_json(dump.pandas_categorical)
        .map_err(|what| in_dump(format!("`pandas_categorical`: {what}")))?;
    let infos = columns.iter().map(|name| info(dump.feature_infos.get(name))).collect();
    let objective = dump.objective.unwrap_or_default();
    let mut words = objective.split_ascii_whitespace().map(str::to_string);
    let header = Header {
        columns,
        infos,
        trees_per_round: per_round,
        average_output: dump.average_output,
        objective: words.next().unwrap_or_default(),
        parameters: words.collect(),
        tree_count: None,
    };
    Ok(Contents { header, trees, lists })
}

fn info(range: Option<&Range>) -> ColumnInfo {
    match range {
        None => ColumnInfo::Unused,
        Some(range) => match range.values.iter().max() {
            Some(&largest) => ColumnInfo::Codes(largest),
            None => ColumnInfo::Numbers(range.min_value, range.max_value),
        },
    }
}

fn in_dump(message: impl Into<String>) -> Error {
    damaged(message).help(
        "the file is damaged or was changed by hand; write it again with `json.dump(booster.dump_model(), file)`, or \
         better as text with `booster.save_model(\"model.txt\")`",
    )
}
