//! The groups that a search tells apart, and those that every audit reports.

use std::collections::BTreeSet;

use super::{Grouping, LearnedGrouping, MIN_GROUP, View};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::text::grouped;
use sogar_front::fairness::SearchedGroups;
use sogar_prepare::prepared::Prepared;
use sogar_solver::criteria::MOST_GROUPS;
use sogar_table::config::Config;
use sogar_table::table::Table;

/// The protected features of a configuration, in table order: every audit includes them.
pub fn protected<'a>(config: &'a Config, features: &'a [sogar_table::feature::Feature]) -> Vec<&'a str> {
    let is_protected = |name: &str| config.features.get(name).is_some_and(|set| set.protected == Some(true));
    features.iter().map(|feature| feature.name.as_str()).filter(|name| is_protected(name)).collect()
}

/// The requested groupings, and the protected features.
pub fn with_protected(requested: &[Grouping], prepared: &Prepared) -> Result<Vec<Grouping>> {
    let protected = protected(prepared.config(), &prepared.table().features);
    let protected = protected.into_iter().map(str::parse).collect::<Result<Vec<Grouping>>>()?;
    let others = protected.into_iter().filter(|one| !requested.iter().any(|known| known.is(one.text())));
    Ok(requested.iter().cloned().chain(others).collect())
}

/// The same, learned on the reference table, without duplicates.
pub(super) fn rules(
    requested: &[Grouping],
    prepared: &Prepared,
    reference: &Table,
) -> Result<Vec<LearnedGrouping>> {
    let view = View { columns: reference, features: prepared.table() };
    let mut rules: Vec<LearnedGrouping> = Vec::new();
    for grouping in with_protected(requested, prepared)? {
        let rule = grouping.learn(view, prepared.config())?;
        if rules.iter().all(|known| known.name() != rule.name()) {
            rules.push(rule);
        }
    }
    Ok(rules)
}

/// The groups of the affected people that the configuration's `fairness` names, if it does. `prepared` has all rows of `reference`.
pub fn searched_groups(prepared: &Prepared, reference: &Table) -> Result<Option<SearchedGroups>> {
    let settings = &prepared.config().fairness;
    let Some(goal) = settings.goal()? else { return Ok(None) };
    let view = View { columns: reference, features: prepared.table() };
    let grouping: Grouping = goal.groups.parse()?;
    let rule = grouping.learn(view, prepared.config())?;
    let groups = rule.apply(view)?;
    let affected = prepared.affected();
    let mut sizes = vec![0u64; groups.names.len()];
    for &row in affected {
        sizes[groups.of_row[row] as usize] += u64::from(prepared.table().weight(row));
    }
    let fault = |message: String| Error::new(ErrorKind::Usage, message);
    let used: Vec<usize> = (0..sizes.len()).filter(|&group| sizes[group] > 0).collect();
    if let [only] = used[..] {
        let message =
            format!("all affected people are in one group of `{}`: `{}`", groups.name, groups.names[only]);
        return Err(fault(message).help("there is no gap to limit; group people by something else"));
    }
    if used.len() > MOST_GROUPS {
        let message = format!(
            "`{}` makes {} groups of affected people, and a search tells at most {MOST_GROUPS} apart",
            groups.name,
            used.len()
        );
        return Err(
            fault(message).help("give a condition such as \"age<=25\", or a column with fewer values")
        );
    }
    let unit = prepared.table().weight_unit();
    let least = settings.min_group.map_or(MIN_GROUP as u64, u64::from);
    if let Some(&small) = used.iter().find(|&&group| sizes[group] < least * unit) {
        let people = grouped(sizes[small] as f64 / unit as f64);
        let message = format!(
            "the group `{}` of `{}` has {people} affected people, fewer than {least}: its loss says little",
            groups.names[small], groups.name
        );
        return Err(fault(message)
            .help("join small groups with a condition such as \"race=White\", or lower fairness.min_group"));
    }
    let place = |group: u32| used.iter().position(|&known| known == group as usize).unwrap_or(0) as u32;
    Ok(Some(SearchedGroups {
        names: used.iter().map(|&group| groups.names[group].clone()).collect(),
        of_affected: affected.iter().map(|&row| place(groups.of_row[row])).collect(),
        name: groups.name,
        changed: changed(prepared, &rule),
    }))
}

/// The features behind a grouping that actions change.
fn changed(prepared: &Prepared, rule: &LearnedGrouping) -> Vec<String> {
    let features = &prepared.table().features;
    let columns = rule.columns(features);
    let edited: BTreeSet<usize> = prepared
        .edits()
        .iter()
        .flat_map(|edit| edit.followers.iter().map(|follower| follower.feature).chain([edit.feature]))
        .collect();
    let named = edited.into_iter().map(|feature| &features[feature]);
    named
        .filter(|feature| feature.columns.names().any(|name| columns.iter().any(|known| known == name)))
        .map(|feature| feature.name.clone())
        .collect()
}
