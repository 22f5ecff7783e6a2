//! Columns by name: a fast lookup, and distinct names where a header repeats one.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::Table;
use crate::config::Config;
use sogar_base::error::{Error, Result};

/// Facts about a table's names.
#[derive(Debug, Default)]
pub struct Names {
    /// Columns with the name of an earlier one in the file.
    pub renamed: Vec<Renamed>,
    /// Positions by name, built on first use.
    index: OnceLock<HashMap<String, usize>>,
}

/// A column with the name of an earlier one in the file. Here it has the name that pandas gives it: `x.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// Its name here.
    pub name: String,
    /// Its name in the file.
    pub original: String,
    /// The position of the first column of that name.
    pub first: usize,
    /// Its own position.
    pub position: usize,
}

impl Clone for Names {
    /// Without the positions: the columns of a copy may change.
    fn clone(&self) -> Names {
        Names { renamed: self.renamed.clone(), index: OnceLock::new() }
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Names) -> bool {
        self.renamed == other.renamed
    }
}

impl Names {
    /// Makes names distinct: a second `x` in the file becomes `x.1`, as in pandas.
    pub(super) fn told_apart(names: &mut [String]) -> Names {
        let mut known: HashSet<String> = names.iter().cloned().collect();
        let mut first: HashMap<String, usize> = HashMap::with_capacity(names.len());
        let mut next: HashMap<String, usize> = HashMap::new();
        let mut renamed = Vec::new();
        for (position, name) in names.iter_mut().enumerate() {
            let original = name.clone();
            let Some(&first) = first.get(&original) else {
                first.insert(original, position);
                continue;
            };
            let number = next.entry(original.clone()).or_insert(1);
            loop {
                *name = format!("{original}.{number}");
                *number += 1;
                if known.insert(name.clone()) {
                    break;
                }
            }
            renamed.push(Renamed { name: name.clone(), original, first, position });
        }
        Names { renamed, index: OnceLock::new() }
    }
}

impl Table {
    /// The position of the column of that name.
    pub fn position(&self, name: &str) -> Option<usize> {
        let index = self.names.index.get_or_init(|| {
            self.columns
                .iter()
                .enumerate()
                .map(|(position, column)| (column.name.clone(), position))
                .collect()
        });
        let named = |position: &usize| self.columns.get(*position).is_some_and(|column| column.name == name);
        if index.len() == self.columns.len() {
            return index.get(name).copied().filter(named);
        }
        (0..self.columns.len()).find(named) // columns were added or removed since
    }

    /// Columns with the name of an earlier one that neither the user nor the model speaks of by a name of their own.
    pub fn repeated<'a>(
        &'a self,
        config: &'a Config,
        model: &'a [String],
    ) -> impl Iterator<Item = &'a Renamed> {
        let meant = move |name: &String| {
            config.data.ignore.contains(name)
                || config.data.label.as_ref() == Some(name)
                || config.data.weight.as_ref() == Some(name)
                || model.contains(name)
                || config.model.columns.values().any(|column| column == name)
        };
        self.names.renamed.iter().filter(move |renamed| !meant(&renamed.name))
    }

    /// Refuses columns with the same name, unless the model has the names that pandas gives them, or the user leaves them out: it
    /// is not clear which of the two is meant. Returns notices about accepted ones.
    pub fn check_renamed(&self, config: &Config, model: &[String]) -> Result<Vec<String>> {
        if let Some(Renamed { name, original, first, position }) = self.repeated(config, model).next() {
            return Err(self.error_of_two(original, *first, *position).row(1).help(format!(
                "give every column its own name; or leave the second out with --ignore {name} (`ignore` under [data]): \
                 it is called `{name}`, as in pandas"
            )));
        }
        let notice = |Renamed { name, original, position, .. }: &Renamed| {
            format!("the {} column `{original}` is called `{name}`, as in pandas", nth(*position))
        };
        Ok(self.names.renamed.iter().map(notice).collect())
    }

    /// The error for two columns with the same name.
    pub(super) fn error_of_two(&self, name: &str, first: usize, second: usize) -> Error {
        self.error(format!("two columns are called `{name}` (the {} and the {})", nth(first), nth(second)))
    }
}

/// `1st`, `2nd`, …, for a position from 0.
fn nth(position: usize) -> String {
    let number = position + 1;
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn second_columns_are_named_as_pandas_names_them() {
        let mut names = ["x", "y", "x", "x.1", "x", "y"].map(String::from);
        let told = Names::told_apart(&mut names);
        assert_eq!(names, ["x", "y", "x.2", "x.1", "x.3", "y.1"]);
        let second = Renamed { name: "x.2".into(), original: "x".into(), first: 0, position: 2 };
        assert_eq!(told.renamed[0], second);
    }

    #[test]
    fn columns_are_found_before_and_after_a_change() {
        let column = |name: &str| Column::numbers(name, vec![1.0]);
        let mut table = Table::from_columns("", vec![column("a"), column("b")]).unwrap();
        assert_eq!((table.position("b"), table.position("c")), (Some(1), None));
        table.columns.push(column("c"));
        assert_eq!(table.position("c"), Some(2));
        table.columns.remove(0);
        assert_eq!((table.position("a"), table.clone().position("c")), (None, Some(1)));
    }

    #[test]
    fn very_many_columns_are_found_at_once() {
        let names: Vec<String> = (0..80_000).map(|number| format!("column {number}")).collect();
        let columns = names.iter().map(|name| Column::numbers(name, vec![1.0])).collect();
        let table = Table::from_columns("", columns).unwrap();
        let started = std::time::Instant::now();
        assert!(names.iter().all(|name| table.column(name).is_some()));
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
