//! How people are grouped: `sex`, `sex×race` (or `sex*race`), `age<=25`.
//!
//! Any column of the table can define groups: a feature, a column that the model never sees, or an ignored one. A feature made of
//! one-hot columns goes by the feature's name. Numbers with many distinct values are cut at the feature's bins, or in two by a
//! condition. The groups are learned from the reference table, so that a held-out table has the same ones.

mod term;
mod vocabulary;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::config::Config;
use sogar_table::feature::{Feature, FeatureTable, format_number};
use sogar_table::table::Table;

use term::Term;
pub(super) use vocabulary::Vocabulary;

/// More groups than this are not groups but an id, or a number without bins.
const MOST_GROUPS: usize = 200;

/// A grouping, as a user writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping(String);

impl Grouping {
    /// What the user wrote.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether this is the same grouping, in any spelling of blanks, signs and numbers.
    pub fn is(&self, other: &str) -> bool {
        self.0 == other || plain(&self.0) == plain(other)
    }
}

/// A grouping in a canonical spelling.
fn plain(text: &str) -> String {
    let text = text.replace('≤', "<=").replace('≥', ">=").replace('≠', "!=").replace("==", "=");
    let term = |part: &str| {
        let part: String = part.chars().filter(|letter| !letter.is_whitespace()).collect();
        let value = part.rfind(['<', '>', '=']).map_or(part.len(), |sign| sign + 1);
        match part[value..].parse::<f64>() {
            Ok(number) if number.is_finite() => format!("{}{}", &part[..value], format_number(number)),
            _ => part,
        }
    };
    text.split(['×', '*']).map(term).collect::<Vec<_>>().join("×")
}

impl FromStr for Grouping {
    type Err = Error;

    fn from_str(text: &str) -> Result<Grouping> {
        match text.trim() {
            "" => Err(Error::new(ErrorKind::Usage, "a group needs the name of a column")
                .help("for example --group sex, --group \"sex×race\" or --group \"age<=25\"")),
            name => Ok(Grouping(name.to_owned())),
        }
    }
}

impl fmt::Display for Grouping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A table as it was read, and as features.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Its columns.
    pub columns: &'a Table,
    /// Its features.
    pub features: &'a FeatureTable,
}

/// The groups of a table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// What people are grouped by.
    pub name: String,
    /// The groups' names.
    pub names: Vec<String>,
    /// For each row of the table the position of its group.
    pub of_row: Vec<u32>,
    /// Whether a condition divides people: then the first group is those who meet it.
    pub condition: bool,
}

/// A grouping that was learned from a reference table.
#[derive(Debug, Clone)]
pub struct LearnedGrouping {
    name: String,
    terms: Vec<Term>,
    /// The groups of the reference table.
    names: Vec<String>,
}

impl Grouping {
    /// Finds the columns of the grouping, and their groups in the reference table.
    pub fn learn(&self, reference: View<'_>, config: &Config) -> Result<LearnedGrouping> {
        let terms = if term::is_known(&self.0, reference) {
            vec![Term::new(&self.0, reference, config)?]
        } else {
            self.0
                .split(['×', '*'])
                .map(|part| Term::new(part.trim(), reference, config))
                .collect::<Result<_>>()?
        };
        let name = terms.iter().map(Term::name).collect::<Vec<_>>().join("×");
        let mut rule = LearnedGrouping { name, terms, names: Vec::new() };
        let groups = rule.apply(reference)?;
        if groups.names.len() > MOST_GROUPS {
            let message = format!("`{}` makes {} groups, too many to compare", rule.name, groups.names.len());
            return Err(Error::new(ErrorKind::Usage, message)
                .help("choose a column with fewer values, or a condition such as \"age<=25\""));
        }
        if groups.condition && groups.of_row.iter().all(|&group| groups.names[group as usize] != rule.first())
        {
            let message = format!("nobody meets the condition `{}`", rule.name);
            return Err(Error::new(ErrorKind::Usage, message).help("give a condition that some rows meet"));
        }
        rule.names = groups.names;
        Ok(rule)
    }
}

impl LearnedGrouping {
    /// The name of those who meet a condition; empty without a condition.
    fn first(&self) -> String {
        self.terms.first().map(Term::met).unwrap_or_default()
    }

    /// The table columns that the grouping uses; all columns of a feature that has several.
    pub fn columns(&self, features: &[Feature]) -> Vec<String> {
        self.terms.iter().flat_map(|term| term.columns(features)).collect()
    }

    /// How many groups the reference table has.
    pub(super) fn groups(&self) -> usize {
        self.names.len()
    }

    /// What people are grouped by, with `×` between columns.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The groups of a table: first those of the reference table, then new ones.
    pub fn apply(&self, view: View<'_>) -> Result<Groups> {
        let coded = self.terms.iter().map(|term| term.codes(view)).collect::<Result<Vec<_>>>()?;
        let rows = view.columns.rows;
        let keys: Vec<u64> = (0..rows)
            .map(|row| {
                coded.iter().fold(0u64, |key, term| {
                    key.wrapping_mul(term.levels.len() as u64).wrapping_add(u64::from(term.codes[row]))
                })
            })
            .collect();
        let mut example: BTreeMap<u64, usize> = BTreeMap::new();
        for (row, &key) in keys.iter().enumerate() {
            example.entry(key).or_insert(row);
        }
        let mut names = self.names.clone();
        let mut known: BTreeMap<String, u32> =
            names.iter().enumerate().map(|(group, name)| (name.clone(), group as u32)).collect();
        let mut group_of = BTreeMap::new();
        for (key, row) in example {
            let parts: Vec<&str> =
                coded.iter().map(|term| term.levels[term.codes[row] as usize].as_str()).collect();
            let name = parts.join(" × ");
            let group = *known.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                names.len() as u32 - 1
            });
            group_of.insert(key, group);
        }
        Ok(Groups {
            name: self.name.clone(),
            names,
            of_row: keys.iter().map(|key| group_of.get(key).copied().unwrap_or(0)).collect(),
            condition: matches!(self.terms.as_slice(), [term] if term.is_condition()),
        })
    }
}

#[cfg(test)]
mod tests;
