//! Columns of 0 and 1 of which never two are 1, though their names do not say that they belong together (`good`, `fair`, `poor`).
//!
//! If they are the categories of one feature, an action that set two of them would describe no real person. Values alone do not
//! tell a category from two answers that exclude each other, so a notice asks.

use super::{Group, OTHER, flags};
use crate::feature::look::Look;
use crate::table::Table;
use sogar_base::error::Result;
use sogar_base::text::grouped;

/// Expected number of rows with two columns of 1 at which their absence is not chance: for all of them, and for each of them.
const NO_CHANCE: f64 = 20.0;
const NO_CHANCE_EACH: f64 = 5.0;
/// More columns than this are not compared.
const MOST_COLUMNS: usize = 64;
/// More notices than this help nobody.
const MOST_NOTICES: usize = 4;

/// How often some columns of 0 and 1 are 1, each alone and two together.
#[derive(Debug, Default)]
pub(in crate::feature) struct Pairs {
    rows: u64,
    /// `both[i][j]` for `j <= i`; `both[i][i]`: how often column `i` is 1.
    both: Vec<Vec<u64>>,
}

impl Pairs {
    /// Adds the rows of a table, or of a part of one.
    pub(in crate::feature) fn add(&mut self, table: &Table, names: &[&str]) {
        self.both.resize_with(names.len(), Vec::new);
        self.both.iter_mut().enumerate().for_each(|(at, row)| row.resize(at + 1, 0));
        self.rows += table.rows as u64;
        let columns: Vec<_> =
            names.iter().map(|name| table.column(name).map(|found| flags(&found.cells))).collect();
        let mut ones = Vec::with_capacity(names.len());
        for row in 0..table.rows {
            ones.clear();
            let is_one = |at: &usize| columns[*at].as_ref().is_some_and(|flag| flag(row) == Some(true));
            ones.extend((0..names.len()).filter(is_one));
            for (count, &at) in ones.iter().enumerate() {
                ones[..=count].iter().for_each(|&before| self.both[at][before] += 1);
            }
        }
    }

    fn ones(&self, at: usize) -> f64 {
        self.both[at][at] as f64
    }

    /// The expected number of rows in which both are 1, if the columns were independent.
    fn expected(&self, one: usize, other: usize) -> f64 {
        self.ones(one) * self.ones(other) / self.rows.max(1) as f64
    }

    /// Sets of columns of which never two are 1, with the expected number of rows in which two would be.
    fn exclusive(&self) -> Vec<(Vec<usize>, f64)> {
        let mut found: Vec<(Vec<usize>, f64)> = Vec::new();
        for first in 0..self.both.len() {
            if found.iter().any(|(set, _)| set.contains(&first)) {
                continue;
            }
            let (mut set, mut together) = (vec![first], 0.0);
            for next in first + 1..self.both.len() {
                let expected: f64 = set.iter().map(|&member| self.expected(member, next)).sum();
                let never = set.iter().all(|&member| self.both[next][member] == 0);
                if never && expected >= NO_CHANCE_EACH && !found.iter().any(|(set, _)| set.contains(&next)) {
                    set.push(next);
                    together += expected;
                }
            }
            if together >= NO_CHANCE {
                found.push((set, together));
            }
        }
        found
    }
}

/// A notice for each set of columns of which never two are 1 and that are not a group. `free` says which columns may take part.
pub(in crate::feature) fn notices(
    look: &dyn Look,
    groups: &[Group],
    free: impl Fn(&str) -> bool,
    notices: &mut Vec<String>,
) -> Result<()> {
    // A group whose last category has no name may lack more columns than that one.
    let (open, whole): (Vec<&Group>, Vec<&Group>) =
        groups.iter().partition(|group| group.levels.iter().any(|level| level == OTHER));
    let is_in = |group: &&&Group, name: &str| group.columns.iter().flatten().any(|column| column == name);
    let mut names: Vec<&str> = Vec::new();
    for (position, column) in look.header().columns.iter().enumerate() {
        let name = column.name.as_str();
        if free(name) && !whole.iter().any(|group| is_in(&group, name)) && look.is_zero_or_one(position)? {
            names.push(name);
        }
    }
    if !(2..=MOST_COLUMNS).contains(&names.len()) {
        return Ok(());
    }
    let pairs = look.pairs(&names)?;
    let is_group = |set: &[usize]| open.iter().any(|group| set.iter().all(|&at| is_in(&group, names[at])));
    for (set, together) in pairs.exclusive().iter().filter(|(set, _)| !is_group(set)).take(MOST_NOTICES) {
        let quoted = |sign: &str| {
            set.iter().map(|&at| format!("{sign}{}{sign}", names[at])).collect::<Vec<_>>().join(", ")
        };
        let is_whole = set.iter().map(|&at| pairs.both[at][at]).sum::<u64>() == pairs.rows;
        notices.push(format!(
            "never two of {} are 1, though by chance {} rows would have two: advice may set two of them. If they are categories of one \
             feature, declare it: [features.NAME] columns = [{}]{}; if they are not, kind = \"binary\" in their sections says so",
            quoted("`"),
            grouped(together.round()),
            quoted("\""),
            if is_whole { "" } else { ", dropped = \"…\"" }
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::inferred;
    use super::*;
    use crate::table::Column;

    /// 600 people: their health, of which `poor` has no column of its own, whether they smoke, and whether they have a rare illness.
    fn people() -> Table {
        let column = |name: &str, is_one: &dyn Fn(usize) -> bool| {
            Column::numbers(name, (0..600).map(|row| f64::from(is_one(row))).collect())
        };
        let columns = vec![
            column("good", &|row| row % 4 == 0),
            column("smokes", &|row| row % 3 == 0),
            column("fair", &|row| row % 4 == 1),
            column("middling", &|row| row % 4 == 2),
            column("rare", &|row| row == 7),
        ];
        Table::from_columns("", columns).unwrap()
    }

    fn said(table: &Table, free: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut said = Vec::new();
        let groups = inferred(table, free, &mut Vec::new()).unwrap();
        notices(table, &groups, free, &mut said).unwrap();
        said
    }

    #[test]
    fn categories_with_uninformative_names_raise_a_question() {
        let found = said(&people(), &|_| true);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("never two of `good`, `fair`, `middling` are 1, though by chance 113 rows"),
            "{found:?}"
        );
        assert!(
            found[0]
                .contains("columns = [\"good\", \"fair\", \"middling\"], dropped = \"…\"; if they are not"),
            "{found:?}"
        );
        assert!(said(&people(), &|name| name != "good" && name != "middling").is_empty());
    }

    #[test]
    fn a_group_that_lacks_more_than_one_column_raises_a_question() {
        let mut table = people();
        for (column, name) in
            table.columns.iter_mut().zip(["black_male", "x", "black_female", "white_male", "y"])
        {
            column.name = name.to_owned();
        }
        let found = said(&table, &|_| true);
        assert!(
            found.len() == 1 && found[0].contains("`black_male`, `black_female`, `white_male`"),
            "{found:?}"
        );
        table.columns.remove(3);
        assert!(said(&table, &|_| true).is_empty(), "the group itself");
    }
}
