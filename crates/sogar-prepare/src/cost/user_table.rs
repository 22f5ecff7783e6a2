//! A user's own costs: a CSV with the columns `feature`, `from`, `to`, `cost`.
//!
//! `from` and `to` are values of the feature, or `*` for any value. Numbers are compared as numbers and levels as levels, in any
//! spelling. The most specific row counts: both values, then only `from`, then only `to`, then `*` to `*`. A change that no row
//! covers is an error, not a free change; so is a row that covers no change ([`reachable`]).

mod reachable;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::actions::Edit;
use reachable::Reachable;
use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_base::files::read_bytes;
use sogar_table::feature::{Distributions, Feature, feature_index};
use sogar_table::table::{Cells, Column, ReadOptions, csv, is_token};

#[derive(Debug)]
pub(super) struct UserTable {
    path: PathBuf,
    /// SHA-256 of the file's bytes.
    pub hash: String,
    features: Vec<Feature>,
    costs: BTreeMap<(usize, Key, Key), f64>,
}

/// A value of a feature, by its bits, or any value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Any,
    Value(u64),
}

impl Key {
    fn of(value: f64) -> Key {
        Key::Value((value + 0.0).to_bits()) // -0 is 0
    }

    fn value(self) -> Option<f64> {
        match self {
            Key::Any => None,
            Key::Value(bits) => Some(f64::from_bits(bits)),
        }
    }
}

const ANY: &str = "*";
const COLUMNS: [&str; 4] = ["feature", "from", "to", "cost"];

/// How the cells of a cost table are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    /// Strings that mean "missing".
    pub missing: &'a [String],
    /// Whether cells are trimmed.
    pub trim: bool,
}

impl UserTable {
    /// Reads a table of costs of some edits. These and the reference table determine which changes are possible.
    pub fn read(
        path: &Path,
        reference: &dyn Distributions,
        edits: &[Edit],
        reading: Reading<'_>,
    ) -> Result<UserTable> {
        let features = reference.features();
        let text = COLUMNS.map(String::from).to_vec();
        let options = ReadOptions { text, trim: reading.trim, ..ReadOptions::default() };
        let table = csv::parse(&read_bytes(path)?, path, &options)?;
        let column = |name: &str| {
            let help = "a cost table has the columns feature, from, to, cost";
            table.column(name).ok_or_else(|| fault(path, format!("no column `{name}`")).row(1).help(help))
        };
        let [names, from, to, prices] = COLUMNS.map(column);
        let (names, from, to, prices) = (names?, from?, to?, prices?);
        let mut reachable = Reachable::new(reference, edits);
        let mut costs = BTreeMap::new();
        let mut lines: BTreeMap<(usize, Key, Key), usize> = BTreeMap::new();
        for row in 0..table.rows {
            let line = table.lines.get(row).map_or(row + 2, |line| *line as usize);
            let bad = |column: &Column, message: String| fault(path, message).row(line).column(&column.name);
            let name = cell(names, row).trim();
            let feature = feature_index(features, name).map_err(|error| {
                bad(names, error.to_string()).help(error.remedy().unwrap_or_default().to_owned())
            })?;
            let price = cell(prices, row).trim();
            let cost: f64 = match price.parse() {
                Ok(cost) if (0.0..=4294.0).contains(&cost) => cost,
                _ => return Err(bad(prices, format!("`{price}` is not a cost between 0 and 4294"))),
            };
            let value = |column: &Column| {
                let text = cell(column, row);
                value(&features[feature], text, reading)
                    .map_err(|help| bad(column, format!("`{text}` is not a value of `{name}`")).help(help))
            };
            let key = (feature, value(from)?, value(to)?);
            let change = || {
                format!("the change of `{name}` from {} to {}", cell(from, row).trim(), cell(to, row).trim())
            };
            if let Some(first) = lines.insert(key, line) {
                return Err(fault(path, format!("{} is listed twice, first in line {first}", change()))
                    .row(line)
                    .help("keep one of the two rows"));
            }
            if let Err(why) = reachable.check(feature, key.1.value(), key.2.value()) {
                let message = format!("{} never happens: {why}", change());
                return Err(fault(path, message).row(line).help("correct the row, or remove it"));
            }
            costs.insert(key, cost);
        }
        Ok(UserTable { path: path.to_owned(), hash: table.hash.clone(), features: features.to_vec(), costs })
    }

    pub fn cost(&self, feature: usize, from: f64, to: f64) -> Result<f64> {
        let (start, end) = (Key::of(from), Key::of(to));
        let keys = [(start, end), (start, Key::Any), (Key::Any, end), (Key::Any, Key::Any)];
        keys.iter().find_map(|(from, to)| self.costs.get(&(feature, *from, *to)).copied()).ok_or_else(|| {
            let description = &self.features[feature];
            let (from, to) = (description.value_text(from), description.value_text(to));
            let message = format!("no cost for changing `{}` from {from} to {to}", description.name);
            fault(&self.path, message)
                .help(format!("add the row `{},*,*,<cost>` or make the feature immutable", description.name))
        })
    }
}

fn fault(path: &Path, message: String) -> Error {
    Error::new(ErrorKind::Config, message).file(path)
}

/// The text of a cell.
fn cell(column: &Column, row: usize) -> &str {
    match &column.cells {
        Cells::Text { codes, levels } => levels.get(codes[row] as usize).map_or("", String::as_str),
        Cells::Numbers(_) => "",
    }
}

/// The value of a cell, or a remedy if it has none.
fn value(feature: &Feature, text: &str, reading: Reading<'_>) -> std::result::Result<Key, String> {
    if feature.is_numeric() {
        return match text.trim() {
            ANY => Ok(Key::Any),
            number => match number.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Key::of(number)),
                _ => Err("write a number, or * for any value".into()),
            },
        };
    }
    let missing = || feature.missing_level().filter(|_| text.is_empty() || is_token(reading.missing, text));
    match feature.level_index(text).or_else(missing) {
        _ if text == ANY => Ok(Key::Any),
        Some(level) => Ok(Key::of(level as f64)),
        None if text.trim() == ANY => Ok(Key::Any),
        None if feature.levels().iter().any(|level| level.trim() == text.trim()) => {
            Err("it differs from a value only by spaces: write it so, or set `trim = true` under [data]"
                .into())
        }
        None => {
            let known = suggest(text, feature.levels().iter().map(String::as_str));
            Err(format!("{known}; use * for any value"))
        }
    }
}
