//! What the columns of a held-out table say about its people: their groups and their true labels.
//!
//! The groups are known from the reference table, but some facts depend on the whole held-out table: which groups are new, and
//! whether its labels are the model's classes. So these columns are needed in one piece, even if the rest of the table is not.

use super::assemble::short;
use super::grouping::{Groups, LearnedGrouping, View};
use super::rates::{self, Truth};
use sogar_base::error::Result;
use sogar_prepare::prepared::Prepared;

/// Groups and true labels of a table's rows.
pub(super) struct HoldoutColumns {
    /// For each grouping whose columns the table has.
    pub groupings: Vec<Groups>,
    /// True labels, if known.
    pub truth: Option<Truth>,
    /// What it lacks.
    pub notes: Vec<String>,
}

impl HoldoutColumns {
    /// Reads a held-out table; leaves out what it lacks, with a note.
    pub fn new(
        prepared: &Prepared,
        view: View<'_>,
        rules: &[LearnedGrouping],
        label: Option<&str>,
    ) -> Result<HoldoutColumns> {
        let mut notes = Vec::new();
        let mut groupings = Vec::new();
        for rule in rules {
            match rule.apply(view) {
                Ok(groups) => {
                    notes.extend(differences(rule, &groups));
                    groupings.push(groups);
                }
                Err(error) => {
                    notes.push(format!("Held-out people can't be grouped by `{}`: {error}.", rule.name()))
                }
            }
        }
        let here = label.filter(|label| view.columns.column(label).is_some());
        let truth = match (here, label) {
            (None, Some(label)) => {
                Err(format!("The held-out table has no column `{label}` with true labels."))
            }
            _ => rates::truth(prepared, view.columns, here)?,
        };
        let truth = truth.map_err(|note| notes.push(format!("Held-out people: {note}"))).ok();
        Ok(HoldoutColumns { groupings, truth, notes })
    }
}

/// Groups that only one of the two tables has.
fn differences(rule: &LearnedGrouping, groups: &Groups) -> Vec<String> {
    let mut used = vec![false; groups.names.len()];
    for &group in &groups.of_row {
        used[group as usize] = true;
    }
    let known = rule.groups();
    let list = |wanted: &dyn Fn(usize) -> bool| {
        let names: Vec<String> = (0..used.len())
            .filter(|&group| wanted(group))
            .map(|group| format!("`{}`", short(&groups.names[group])))
            .collect();
        let more = if names.len() > 5 { ", …" } else { "" };
        (!names.is_empty()).then(|| names.iter().take(5).cloned().collect::<Vec<_>>().join(", ") + more)
    };
    let missing = list(&|group| group < known && !used[group]);
    let new = list(&|group| group >= known);
    let name = rule.name();
    missing
        .map(|names| format!("The held-out table has nobody of these groups by `{name}`: {names}."))
        .into_iter()
        .chain(new.map(|names| {
            format!("The held-out table has groups by `{name}` that the reference table lacks: {names}.")
        }))
        .collect()
}
