//! One-hot columns: several 0/1 columns that together say one thing.
//!
//! A group is declared, or recognised by a common prefix (`job:`, `job=`, `job_`) and a sum of 1 in every row. To
//! people it is one feature with named levels; the model still gets its columns.

use std::collections::{BTreeMap, BTreeSet};

use super::look::Look;
use super::{Columns, Feature, Kind};
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Cells, Table, is_token};

/// Separators between a group's name and a level, the surest first.
const SEPARATORS: [char; 3] = [':', '=', '_'];

/// A group: level names with their columns, levels in byte order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub name: String,
    pub levels: Vec<String>,
    pub columns: Vec<String>,
}

impl Group {
    fn new(name: &str, mut levels: Vec<(String, String)>) -> Group {
        levels.sort();
        let (levels, columns) = levels.into_iter().unzip();
        Group { name: name.to_owned(), levels, columns }
    }

    /// The feature that the group is.
    pub(super) fn feature(&self, tokens: &[String]) -> Feature {
        let missing = self.levels.iter().position(|level| is_token(tokens, level));
        Feature {
            name: self.name.clone(),
            kind: Kind::Categorical { levels: self.levels.clone(), missing },
            columns: Columns::OneHot(self.columns.clone()),
        }
    }
}

/// The groups that the configuration declares with `columns`.
pub(super) fn declared(table: &Table, config: &Config) -> Result<Vec<Group>> {
    let mut groups = Vec::new();
    let mut taken = BTreeSet::new();
    for (name, setting) in config.features.iter().filter(|(_, setting)| !setting.columns.is_empty()) {
        let fault = |message: String| Error::new(ErrorKind::Config, format!("features.{name}: {message}"));
        if setting.columns.len() < 2 {
            return Err(fault("a one-hot group needs at least two columns".into()));
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
        if levels.iter().collect::<BTreeSet<_>>().len() != levels.len() {
            return Err(fault("two columns stand for the same level".into()));
        }
        groups.push(Group::new(name, levels.into_iter().zip(setting.columns.iter().cloned()).collect()));
    }
    Ok(groups)
}

/// Length of what all names share, up to and with the last separator in it.
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

/// The groups that the columns show by their names and values. `free` says which columns may take part.
pub(super) fn inferred(
    look: &dyn Look,
    free: impl Fn(&str) -> bool,
    notices: &mut Vec<String>,
) -> Result<Vec<Group>> {
    let table = look.header();
    let mut candidates: Vec<&str> = Vec::new();
    for (position, column) in table.columns.iter().enumerate() {
        let name = column.name.as_str();
        let may_be = SEPARATORS.iter().any(|separator| parts(name, *separator).next().is_some());
        if may_be && free(name) && look.is_zero_or_one(position)? {
            candidates.push(name);
        }
    }
    let mut taken = BTreeSet::new();
    let mut groups = Vec::new();
    for separator in SEPARATORS {
        // Shorter prefixes first: they hold more columns, and a part of a group never sums to 1.
        let mut prefixes: BTreeMap<(usize, &str), Vec<&str>> = BTreeMap::new();
        for name in &candidates {
            for at in parts(name, separator) {
                prefixes.entry((at, &name[..at])).or_default().push(name);
            }
        }
        for ((at, prefix), members) in prefixes {
            if members.len() < 2
                || members.iter().any(|member| taken.contains(member))
                || !look.sums_to_one(&members)?
            {
                continue;
            }
            if table.column(prefix).is_some() {
                notices.push(format!(
                    "columns `{prefix}{separator}…` look like one feature, but `{prefix}` is a column too; \
                     they are kept apart"
                ));
                continue;
            }
            let level = |name: &&str| (name[at + separator.len_utf8()..].to_owned(), (*name).to_owned());
            groups.push(Group::new(prefix, members.iter().map(level).collect()));
            notices.push(format!(
                "{} one-hot columns `{prefix}{separator}…` are read as one categorical feature `{prefix}`",
                members.len()
            ));
            taken.extend(members);
        }
    }
    Ok(groups)
}

/// Where a name may be cut into a group's name and a level.
fn parts(name: &str, separator: char) -> impl Iterator<Item = usize> {
    name.match_indices(separator)
        .map(|(at, _)| at)
        .filter(move |at| *at > 0 && at + separator.len_utf8() < name.len())
}

/// Whether all cells are 0 or 1.
pub(super) fn zero_or_one(cells: &Cells) -> bool {
    matches!(cells, Cells::Numbers(values) if values.iter().all(|value| *value == 0.0 || *value == 1.0))
}

/// Whether exactly one of some columns, which hold 0 and 1, is 1 in every row.
pub(super) fn sums_to_one(table: &Table, names: &[&str]) -> bool {
    let mut sums = vec![0_u32; table.rows];
    for name in names {
        let Some(Cells::Numbers(values)) = table.column(name).map(|column| &column.cells) else {
            return false;
        };
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += u32::from(*value == 1.0);
        }
    }
    sums.iter().all(|sum| *sum == 1)
}

/// What to do with a row of a group in which no column is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoneSet {
    /// An error: in the reference table every row has a category.
    Refuse,
    /// A category that the reference table never had.
    Unseen,
}

/// Level indices of a group; a row without a category gets `columns.len()` where that is allowed.
pub(super) fn values(table: &Table, columns: &[String], none_set: NoneSet) -> Result<Vec<f64>> {
    let mut values = vec![f64::NAN; table.rows];
    for (level, name) in columns.iter().enumerate() {
        let Cells::Numbers(cells) = &table.require(name)?.cells else {
            return Err(table.error("a one-hot column must hold 0 and 1, this one holds text").column(name));
        };
        for (row, cell) in cells.iter().enumerate() {
            if *cell == 1.0 {
                if !values[row].is_nan() {
                    let message = format!("`{}` is 1 in this row too", columns[values[row] as usize]);
                    let place = table.error_at(row, name, message);
                    return Err(place.help("exactly one column of a one-hot group must be 1"));
                }
                values[row] = level as f64;
            } else if *cell != 0.0 {
                let place = table.error_at(row, name, "a one-hot column must hold 0 or 1");
                return Err(place.help("remove the column from the group's `columns`"));
            }
        }
    }
    if let Some(row) = values.iter().position(|value| value.is_nan()) {
        if none_set == NoneSet::Refuse {
            let message = "no column of this one-hot group is 1 in this row";
            let place = table.error_at(row, &columns.join("`, `"), message);
            return Err(place.help("add the column of the remaining category to the group and to the table"));
        }
        for value in values.iter_mut().filter(|value| value.is_nan()) {
            *value = columns.len() as f64;
        }
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

    fn names(columns: &[(&str, &[f64])]) -> Vec<Group> {
        inferred(&table(columns), |_| true, &mut Vec::new()).unwrap()
    }

    #[test]
    fn groups_are_found_by_prefix_and_sum() {
        let groups = names(&[
            ("job:b_x", &[1.0, 0.0]),
            ("job:a_x", &[0.0, 1.0]),
            ("y=1", &[1.0, 0.0]),
            ("y=2", &[1.0, 0.0]),
            ("s_s_m", &[0.0, 0.0]),
            ("s_s_f", &[1.0, 1.0]),
        ]);
        let found: Vec<_> = groups.iter().map(|group| (group.name.as_str(), group.levels.clone())).collect();
        let levels = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        assert_eq!(found, [("job", levels("a_x", "b_x")), ("s", levels("s_f", "s_m"))]);
        assert_eq!(groups[0].columns, ["job:a_x", "job:b_x"]);
    }

    #[test]
    fn nested_prefixes_give_the_groups_that_sum_to_one() {
        let groups = names(&[
            ("a_b_1", &[1.0, 0.0]),
            ("a_b_2", &[0.0, 1.0]),
            ("a_c_1", &[0.0, 0.0]),
            ("a_c_2", &[1.0, 1.0]),
        ]);
        assert_eq!(groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["a_b", "a_c"]);
    }

    #[test]
    fn a_column_of_the_same_name_keeps_them_apart() {
        let mut notices = Vec::new();
        let table = table(&[("job", &[5.0, 6.0]), ("job:a", &[1.0, 0.0]), ("job:b", &[0.0, 1.0])]);
        assert!(inferred(&table, |_| true, &mut notices).unwrap().is_empty());
        assert!(notices[0].contains("kept apart"));
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
        let columns = ["a".to_owned(), "b".to_owned()];
        let both = table(&[("a", &[1.0, 1.0]), ("b", &[0.0, 1.0])]);
        let error = values(&both, &columns, NoneSet::Unseen).unwrap_err();
        assert_eq!(error.to_string(), "line 2, column `b`: `a` is 1 in this row too");
        let none = table(&[("a", &[1.0, 0.0]), ("b", &[0.0, 0.0])]);
        let error = values(&none, &columns, NoneSet::Refuse).unwrap_err();
        assert!(error.to_string().contains("no column of this one-hot group is 1"), "{error}");
        assert_eq!(values(&none, &columns, NoneSet::Unseen).unwrap(), [0.0, 2.0]);
        let half = table(&[("a", &[0.5]), ("b", &[1.0])]);
        assert!(values(&half, &columns, NoneSet::Refuse).unwrap_err().to_string().contains("0 or 1"));
    }
}
