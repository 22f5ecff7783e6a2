//! The elementary conditions on one column, from which a scan composes subgroups: `job=clerk`, `age<=25`, `age>25`.
//!
//! Every condition is a range of level codes, so people who meet it are found by one comparison. Ordered columns (numbers,
//! ordinal features) are cut at their bins or levels, in both directions; others have one condition per value. Missing values and
//! special codes are values of their own.

use std::ops::Range;

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::config::Config;
use sogar_table::feature::{Kind, MISSING_LEVEL, format_number};
use sogar_table::table::{Cells, is_token};

use super::term::Term;
use super::{MOST_GROUPS, View};

/// A condition on a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::audit) struct Elementary {
    /// In words, as `--group` takes it.
    pub text: String,
    /// The codes of the levels that meet it.
    pub codes: Range<u32>,
}

/// A column's conditions, learned from a reference table.
#[derive(Debug, Clone)]
pub(in crate::audit) struct Vocabulary {
    term: Term,
    levels: Vec<String>,
    /// What people can be divided by.
    pub conditions: Vec<Elementary>,
}

impl Vocabulary {
    /// The conditions on a column or feature of the reference table.
    pub fn learn(name: &str, reference: View<'_>, config: &Config) -> Result<Vocabulary> {
        let term = Term::new(name, reference, config)?;
        let levels = term.codes(reference)?.levels;
        if levels.len() > MOST_GROUPS {
            let message = format!("`{name}` has {} values, too many to scan", levels.len());
            return Err(Error::new(ErrorKind::Usage, message).help("leave it out, or give it bins"));
        }
        let ordered = ordered_levels(&term, reference);
        let mut conditions = Vec::new();
        // The two values of a number read better as such; two bins have no other names.
        let is_cut = ordered.len() > 1 || (ordered.len() == 1 && matches!(term, Term::Bins { .. }));
        if is_cut {
            let all = ordered.len() as u32 + 1;
            for (position, cut) in ordered.iter().enumerate() {
                let end = position as u32 + 1;
                conditions.push(Elementary { text: format!("{name}<={cut}"), codes: 0..end });
                conditions.push(Elementary { text: format!("{name}>{cut}"), codes: end..all });
            }
        }
        let first = if is_cut { ordered.len() as u32 + 1 } else { 0 };
        conditions.extend((first..levels.len() as u32).filter_map(|code| {
            let level = levels.get(code as usize)?;
            let text = if term.is_condition() { level.clone() } else { format!("{name}={level}") };
            Some(Elementary { text, codes: code..code + 1 })
        }));
        Ok(Vocabulary { term, levels, conditions })
    }

    /// Number of codes, that of unknown levels included.
    pub fn codes_count(&self) -> usize {
        self.levels.len() + 1
    }

    /// The code of each row of a table. Levels that the reference table lacks have a code that meets no condition.
    pub fn codes(&self, view: View<'_>) -> Result<Vec<u32>> {
        let coded = self.term.codes(view)?;
        let unknown = self.levels.len() as u32;
        let known: Vec<u32> = coded
            .levels
            .iter()
            .map(|level| {
                self.levels.iter().position(|known| known == level).map_or(unknown, |code| code as u32)
            })
            .collect();
        Ok(coded.codes.iter().map(|&code| known[code as usize]).collect())
    }
}

/// Where an ordered column can be cut: after each of its ordered levels but the last.
fn ordered_levels(term: &Term, view: View<'_>) -> Vec<String> {
    match term {
        Term::Bins { column, edges, codes, .. } => {
            let whole = match view.columns.column(column).map(|column| &column.cells) {
                Some(Cells::Numbers(numbers)) => numbers
                    .iter()
                    .filter(|number| !number.is_nan() && !codes.contains(number))
                    .all(|number| number.fract() == 0.0),
                _ => false,
            };
            edges.iter().map(|&edge| format_number(if whole { edge.floor() } else { edge })).collect()
        }
        Term::Values { column, order, missing } => {
            let ordinal = view
                .features
                .features
                .iter()
                .any(|feature| feature.name == *column && matches!(feature.kind, Kind::Ordinal { .. }));
            let numbers =
                view.columns.column(column).is_some_and(|column| matches!(column.cells, Cells::Numbers(_)));
            let known = order.iter().filter(|level| *level != MISSING_LEVEL && !is_token(missing, level));
            let mut levels: Vec<String> =
                if ordinal || numbers { known.cloned().collect() } else { Vec::new() };
            levels.pop();
            levels
        }
        Term::OneHot { .. } | Term::Compare { .. } | Term::Equals { .. } => Vec::new(),
    }
}
