//! One-hot columns: several 0/1 (or true/false) columns that encode one feature.
//!
//! A group is declared, or recognised by its names and values (`one_hot/infer.rs`). People see one feature with named levels; the
//! model still gets its columns. One category may have no column (`drop_first`): that of rows in which no column is 1.

mod exclusive;
mod infer;

pub(super) use exclusive::{Pairs, notices as exclusive_columns};
pub(super) use infer::inferred;
pub(super) use infer::shown_by_model;

use std::collections::BTreeSet;

use super::{Columns, Feature, Kind};
use crate::config::Config;
use crate::table::{Cells, Table, is_token};
use sogar_base::error::{Error, ErrorKind, Result};

/// Separators between a group's name and a level, the most reliable first.
const SEPARATORS: [char; 3] = [':', '=', '_'];

/// The category without a column, if it has no name.
const OTHER: &str = "(other)";

/// A group: level names with their columns, levels in byte order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub name: String,
    pub levels: Vec<String>,
    pub columns: Vec<Option<String>>,
}

impl Group {
    /// A group of levels and their columns, with the level that has none. A single column is a pair of values; the level without
    /// a column is the smaller one, as 0 is.
    fn new(name: &str, levels: Vec<(String, String)>, dropped: Option<String>) -> Group {
        let single = levels.len() == 1;
        let mut levels: Vec<(String, Option<String>)> =
            levels.into_iter().map(|(level, column)| (level, Some(column))).collect();
        levels.sort();
        if let Some(dropped) = dropped {
            let place = if single { 0 } else { levels.partition_point(|(level, _)| *level < dropped) };
            levels.insert(place, (dropped, None));
        }
        let (levels, columns) = levels.into_iter().unzip();
        Group { name: name.to_owned(), levels, columns }
    }

    /// The feature that the group is.
    pub(super) fn feature(&self, tokens: &[String]) -> Feature {
        let levels = self.levels.clone();
        let missing = levels.iter().position(|level| is_token(tokens, level));
        let kind = match self.columns.iter().flatten().count() {
            1 => Kind::Binary { levels },
            _ => Kind::Categorical { levels, missing },
        };
        Feature {
            name: self.name.clone(),
            kind,
            columns: Columns::OneHot(self.columns.clone()),
            codes: Vec::new(),
            shown: Default::default(),
        }
    }
}

/// The groups that the configuration declares with `columns`.
pub(super) fn declared(table: &Table, config: &Config) -> Result<Vec<Group>> {
    let mut groups = Vec::new();
    let mut taken = BTreeSet::new();
    for (name, setting) in config.features.iter().filter(|(_, setting)| !setting.columns.is_empty()) {
        let fault = |message: String| Error::new(ErrorKind::Config, format!("features.{name}: {message}"));
        if setting.columns.len() + usize::from(setting.dropped.is_some()) < 2 {
            return Err(fault("a one-hot group needs at least two columns".into())
                .help("name the other category, whose column is not there: dropped = \"…\""));
        }
        for column in &setting.columns {
            table.require(column)?;
            if !taken.insert(column.clone()) {
                return Err(fault(format!("column `{column}` is listed twice")));
            }
        }
        if table.column(name).is_some() && !setting.columns.contains(name) {
            return Err(fault("a column has that name too".into()).help("choose another name for the group"));
        }
        let levels = if setting.levels.is_empty() {
            let prefix = common_prefix(&setting.columns);
            setting.columns.iter().map(|column| column[prefix..].to_owned()).collect()
        } else {
            setting.levels.clone()
        };
        if levels.len() != setting.columns.len() {
            let message = format!("{} levels for {} columns", levels.len(), setting.columns.len());
            return Err(fault(message).help("list one level a column, in the same order"));
        }
        if levels.iter().chain(&setting.dropped).collect::<BTreeSet<_>>().len()
            != levels.len() + usize::from(setting.dropped.is_some())
        {
            return Err(fault("two columns stand for the same level".into())
                .help("give each column, and `dropped`, a level of its own"));
        }
        let levels = levels.into_iter().zip(setting.columns.iter().cloned()).collect();
        groups.push(Group::new(name, levels, setting.dropped.clone()));
    }
    Ok(groups)
}

/// Length of the common prefix of all names, through the last separator in it.
fn common_prefix(names: &[String]) -> usize {
    let Some(first) = names.first() else { return 0 };
    let shared = names
        .iter()
        .map(|name| first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count())
        .min()
        .unwrap_or(0);
    first
        .char_indices()
        .filter(|(at, letter)| *at < shared && SEPARATORS.contains(letter))
        .map(|(at, letter)| at + letter.len_utf8())
        .next_back()
        .filter(|end| names.iter().all(|name| name.len() > *end))
        .unwrap_or(0)
}

/// The boolean that a text spells, if any.
pub fn truth(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Reads cells as 1 or 0, or as neither.
fn flags(cells: &Cells) -> impl Fn(usize) -> Option<bool> {
    let truths: Vec<Option<bool>> = match cells {
        Cells::Numbers(_) => Vec::new(),
        Cells::Text { levels, .. } => levels.iter().map(|level| truth(level)).collect(),
    };
    move |row| match cells {
        Cells::Numbers(values) if values[row] == 1.0 => Some(true),
        Cells::Numbers(values) if values[row] == 0.0 => Some(false),
        Cells::Numbers(_) => None,
        Cells::Text { codes, .. } => truths.get(codes[row] as usize).copied().flatten(),
    }
}

/// Whether all cells are 0 or 1, or true or false.
pub(super) fn are_flags(cells: &Cells) -> bool {
    let flag = flags(cells);
    (0..cells.len()).all(|row| flag(row).is_some())
}

/// How often some columns of 0 and 1 are 1, and how often together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Rows in which each column is 1.
    pub ones: Vec<u64>,
    /// Rows in which no column is …
    pub none: u64,
    /// … and in which more than one is.
    pub several: u64,
    pub rows: u64,
}

impl Sums {
    /// Adds the rows of a table, or of a part of one.
    pub(super) fn add(&mut self, table: &Table, names: &[&str]) {
        let mut sums = vec![0_u32; table.rows];
        self.ones.resize(names.len(), 0);
        for (name, ones) in names.iter().zip(&mut self.ones) {
            let Some(column) = table.column(name) else { continue };
            let flag = flags(&column.cells);
            for (_, sum) in sums.iter_mut().enumerate().filter(|(row, _)| flag(*row) == Some(true)) {
                *sum += 1;
                *ones += 1;
            }
        }
        self.none += sums.iter().filter(|sum| **sum == 0).count() as u64;
        self.several += sums.iter().filter(|sum| **sum > 1).count() as u64;
        self.rows += table.rows as u64;
    }

    /// Whether exactly one column is 1 in every row.
    fn is_one_hot(&self) -> bool {
        self.none == 0 && self.several == 0
    }

    /// Whether at most one column is 1, and none in some rows.
    fn lacks_one(&self) -> bool {
        self.none > 0 && self.none < self.rows && self.several == 0
    }

    /// The expected number of rows with two columns of 1 if the columns were independent.
    fn expected_together(&self) -> f64 {
        let (mut before, mut together) = (0.0, 0.0);
        for ones in &self.ones {
            together += before * *ones as f64 / self.rows as f64;
            before += *ones as f64;
        }
        together
    }
}

/// What to do with a row without a 1 if every category has a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoneSet {
    /// An error: in the reference table every row has a category.
    Refuse,
    /// A category that is not in the reference table.
    Unseen,
}

/// Level indices of a group; a row without a category gets `columns.len()` if that is allowed.
pub(super) fn values(table: &Table, columns: &[Option<String>], none_set: NoneSet) -> Result<Vec<f64>> {
    let mut values = vec![f64::NAN; table.rows];
    for (level, name) in columns.iter().enumerate().filter_map(|(level, name)| Some((level, name.as_ref()?)))
    {
        let flag = flags(&table.require(name)?.cells);
        for row in 0..table.rows {
            match flag(row) {
                Some(false) => {}
                Some(true) if values[row].is_nan() => values[row] = level as f64,
                Some(true) => {
                    let other = columns[values[row] as usize].as_deref().unwrap_or_default();
                    let place = table.error_at(row, name, format!("`{other}` is 1 in this row too"));
                    return Err(place.help("at most one column of a one-hot group may be 1 (or true)"));
                }
                None => {
                    let place =
                        table.error_at(row, name, "a one-hot column must hold 0 and 1, or true and false");
                    return Err(place.help("remove the column from the group's `columns`"));
                }
            }
        }
    }
    let otherwise = columns.iter().position(Option::is_none);
    let Some(row) = values.iter().position(|value| value.is_nan()) else { return Ok(values) };
    if otherwise.is_none() && none_set == NoneSet::Refuse {
        let names: Vec<&str> = columns.iter().flatten().map(String::as_str).collect();
        let message = "no column of this one-hot group is 1 in this row";
        let place = table.error_at(row, &names.join("`, `"), message);
        return Err(place.help(
            "add the column of the remaining category to the group, or, if the table has none (drop_first), name that category: dropped = \"…\"",
        ));
    }
    for value in values.iter_mut().filter(|value| value.is_nan()) {
        *value = otherwise.unwrap_or(columns.len()) as f64;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    fn table(columns: &[(&str, &[f64])]) -> Table {
        let columns = columns.iter().map(|(name, values)| Column::numbers(*name, values.to_vec())).collect();
        Table::from_columns("", columns).unwrap()
    }

    #[test]
    fn level_names_follow_the_common_prefix() {
        let prefix =
            |names: &[&str]| common_prefix(&names.iter().map(|name| (*name).into()).collect::<Vec<_>>());
        assert_eq!(prefix(&["job:admin", "job:adult"]), 4);
        assert_eq!(prefix(&["OwnsHouse", "RentsHouse"]), 0);
        assert_eq!(prefix(&["a_b_c", "a_b_"]), 0);
    }

    #[test]
    fn rows_without_exactly_one_category_are_placed() {
        let columns = ["a", "b"].map(|name| Some(name.to_owned()));
        let both = table(&[("a", &[1.0, 1.0]), ("b", &[0.0, 1.0])]);
        let error = values(&both, &columns, NoneSet::Unseen).unwrap_err();
        assert_eq!(error.to_string(), "line 2, column `b`: `a` is 1 in this row too");
        let none = table(&[("a", &[1.0, 0.0]), ("b", &[0.0, 0.0])]);
        let error = values(&none, &columns, NoneSet::Refuse).unwrap_err();
        assert!(error.to_string().contains("no column of this one-hot group is 1"), "{error}");
        assert_eq!(values(&none, &columns, NoneSet::Unseen).unwrap(), [0.0, 2.0]);
        let half = table(&[("a", &[0.5]), ("b", &[1.0])]);
        assert!(values(&half, &columns, NoneSet::Refuse).unwrap_err().to_string().contains("0 and 1"));
        let dropped = [Some("a".to_owned()), None, Some("b".to_owned())];
        assert_eq!(values(&none, &dropped, NoneSet::Refuse).unwrap(), [0.0, 1.0]);
    }

    #[test]
    fn truth_values_are_read_as_numbers_are() {
        let columns = ["a", "b"].map(|name| Some(name.to_owned()));
        let text = |name: &str, cells: [&'static str; 3]| Column::text(name, cells.map(Some));
        let read = |a: [&'static str; 3], b: [&'static str; 3]| {
            let table = Table::from_columns("", vec![text("a", a), text("b", b)]).unwrap();
            values(&table, &columns, NoneSet::Refuse)
        };
        assert_eq!(read(["True", "False", "True"], ["false", "true", "FALSE"]).unwrap(), [0.0, 1.0, 0.0]);
        let error = read(["True", "yes", "True"], ["False", "True", "False"]).unwrap_err().to_string();
        assert_eq!(error, "line 2, column `a`: a one-hot column must hold 0 and 1, or true and false");
    }
}
