//! Undeclared groups of one-hot columns, recognised by their names, their values and the model's columns.
//!
//! Columns form a group if their names share a prefix before a separator (`job:`, `job=`, `job_`) and exactly one of them is 1 in
//! every row. A name with several underscores is cut at the last one that all columns of the group share: `mother_job_teacher`
//! and `mother_job_nurse` are the levels `teacher` and `nurse` of `mother_job`. A single column (`Sex:Female`) is a pair: Female,
//! or not. One category may have no column (`drop_first`): then no row has two columns at 1, though by chance some would. If the
//! model has the column that the table lacks, its name is that of the category.

use std::collections::{BTreeMap, BTreeSet};

use super::{Group, OTHER, SEPARATORS};
use crate::config::Config;
use crate::feature::look::Look;
use sogar_base::error::Result;

/// Expected number of rows with two columns of 1 at which their absence is not chance.
const NO_CHANCE: f64 = 5.0;
/// Notices list more columns than this in part.
const SHOWN: usize = 8;

/// Columns that share a prefix before a separator.
struct Prefixed<'a> {
    separator: char,
    prefix: &'a str,
    members: Vec<&'a str>,
}

impl Prefixed<'_> {
    /// What follows the prefix in a name.
    fn level(&self, name: &str) -> String {
        name[self.prefix.len() + self.separator.len_utf8()..].to_owned()
    }

    fn levels(&self) -> Vec<(String, String)> {
        self.members.iter().map(|name| (self.level(name), (*name).to_owned())).collect()
    }

    /// Its columns as a setting would list them, the middle of a long list left out.
    fn listed(&self) -> String {
        let names: Vec<String> = self.members.iter().map(|name| format!("{name:?}")).collect();
        match names.as_slice() {
            [first, second, .., last] if names.len() > SHOWN => format!("{first}, {second}, …, {last}"),
            _ => names.join(", "),
        }
    }
}

/// Columns that may be one-hot: by their names and their values.
fn candidates<'a>(look: &'a dyn Look, free: &dyn Fn(&str) -> bool) -> Result<Vec<&'a str>> {
    let mut found = Vec::new();
    for (position, column) in look.header().columns.iter().enumerate() {
        let name = column.name.as_str();
        let may_be = SEPARATORS.iter().any(|separator| parts(name, *separator).next().is_some());
        if may_be && free(name) && look.is_zero_or_one(position)? {
            found.push(name);
        }
    }
    Ok(found)
}

/// Sets of columns with a common prefix: the most reliable separator first, shorter prefixes (and thus larger sets) before longer
/// ones. For the same columns there is one prefix: up to the first `:` or `=`, up to the last `_`.
fn prefixed<'a>(candidates: &[&'a str]) -> Vec<Prefixed<'a>> {
    let mut found: Vec<Prefixed<'a>> = Vec::new();
    for separator in SEPARATORS {
        let mut prefixes: BTreeMap<(usize, &str), Vec<&str>> = BTreeMap::new();
        for name in candidates {
            for at in parts(name, separator) {
                prefixes.entry((at, &name[..at])).or_default().push(name);
            }
        }
        let first = found.len();
        for ((_, prefix), members) in prefixes {
            match found[first..].iter_mut().find(|other| other.members == members) {
                Some(same) if separator == '_' && members.len() > 1 => same.prefix = prefix,
                Some(_) => {}
                None => found.push(Prefixed { separator, prefix, members }),
            }
        }
    }
    found
}

/// The groups that names and values of columns show. `free` says which columns may take part.
pub(in crate::feature) fn inferred(
    look: &dyn Look,
    free: impl Fn(&str) -> bool,
    notices: &mut Vec<String>,
) -> Result<Vec<Group>> {
    let table = look.header();
    let candidates = candidates(look, &free)?;
    let sets = prefixed(&candidates);
    let mut taken = BTreeSet::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut incomplete = Vec::new();
    for set in sets.iter().filter(|set| set.members.len() > 1) {
        let Prefixed { separator, prefix, members } = set;
        if members.iter().any(|member| taken.contains(member)) {
            continue;
        }
        let sums = look.sums(members)?;
        if sums.lacks_one() && sums.expected_together() >= NO_CHANCE {
            incomplete.push((set, sums));
        } else if sums.is_one_hot() {
            if table.column(prefix).is_some() {
                notices.push(format!(
                    "columns `{prefix}{separator}…` look like one feature, but `{prefix}` is a column too; \
                     they are kept apart"
                ));
                continue;
            }
            groups.push(Group::new(prefix, set.levels(), None));
            notices.push(format!(
                "{} one-hot columns `{prefix}{separator}…` are read as one categorical feature `{prefix}`{}",
                members.len(),
                another_cut(set)
            ));
            taken.extend(members.iter().copied());
        }
    }
    for (set, sums) in incomplete {
        let Prefixed { separator, prefix, members } = set;
        let is_name = table.column(prefix).is_some() || groups.iter().any(|group| group.name == *prefix);
        if members.iter().any(|member| taken.contains(member)) || is_name {
            continue;
        }
        notices.push(format!(
            "{} columns `{prefix}{separator}…`, of which never two are 1, are read as one categorical feature `{prefix}`; in {} of {} rows none is 1 (drop_first): these have \
             the category `{OTHER}`. Name it: [features.{prefix:?}] columns = [{}], dropped = \"…\"",
            members.len(),
            sums.none,
            sums.rows,
            set.listed()
        ));
        groups.push(Group::new(prefix, set.levels(), Some(OTHER.to_owned())));
        taken.extend(members.iter().copied());
    }
    for set in sets.iter().filter(|set| set.separator != '_') {
        let Prefixed { separator, prefix, members } = set;
        let [alone] = members.as_slice() else { continue };
        let start = format!("{prefix}{separator}");
        let is_only = table.names().filter(|name| name.starts_with(&start)).count() == 1;
        let is_name = table.column(prefix).is_some() || groups.iter().any(|group| group.name == *prefix);
        if taken.contains(alone) || !is_only || is_name || !look.sums(members)?.lacks_one() {
            continue;
        }
        let level = set.level(alone);
        notices.push(format!("`{alone}` is read as the feature `{prefix}`: {level}, or not {level}"));
        groups.push(Group::new(prefix, set.levels(), Some(format!("not {level}"))));
        taken.insert(alone);
    }
    Ok(groups)
}

/// Other possible cuts of a group's names, in words.
fn another_cut(set: &Prefixed<'_>) -> String {
    let shorter = match set.separator {
        '_' => parts(set.prefix, '_').next().map(|at| &set.prefix[..at]),
        _ => None,
    };
    shorter.map_or(String::new(), |shorter| {
        format!(
            " (if it is `{shorter}`, declare it: [features.{shorter:?}] columns = [{}], levels = [\"…\"])",
            set.listed()
        )
    })
}

/// The possible cuts of a name into a group's name and a level.
fn parts(name: &str, separator: char) -> impl Iterator<Item = usize> {
    name.match_indices(separator)
        .map(|(at, _)| at)
        .filter(move |at| *at > 0 && at + separator.len_utf8() < name.len())
}

/// Declares the groups that lack the column of one category if the model has that column: the category is then that of rows in
/// which no column is 1. Keeps what the configuration says about these columns.
pub(in crate::feature) fn shown_by_model(
    look: &dyn Look,
    config: &mut Config,
    model: &[String],
    notices: &mut Vec<String>,
) -> Result<()> {
    if !config.data.infer_one_hot.unwrap_or(true) {
        return Ok(());
    }
    let table = look.header();
    let plain = |name: &str| name.replace(SEPARATORS, "_");
    let known: BTreeSet<String> = table.names().map(plain).collect();
    let lacking: Vec<&String> = model.iter().filter(|name| !known.contains(&plain(name))).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let wanted: BTreeSet<String> = model.iter().map(|name| plain(name)).collect();
    let data = &config.data;
    let aside: BTreeSet<&str> =
        data.ignore.iter().chain(&data.label).chain(&data.weight).map(String::as_str).collect();
    let declared: BTreeSet<&String> = config.features.values().flat_map(|setting| &setting.columns).collect();
    let free = |name: &str| {
        wanted.contains(&plain(name))
            && !aside.contains(name)
            && !config.features.contains_key(name)
            && !declared.iter().any(|column| *column == name)
    };
    let candidates = candidates(look, &free)?;
    let mut found: Vec<(String, Vec<String>, String)> = Vec::new();
    for set in prefixed(&candidates) {
        let start = plain(&format!("{}{}", set.prefix, set.separator));
        let mut dropped =
            lacking.iter().filter(|name| plain(name).starts_with(&start) && name.len() > start.len());
        let (Some(one), None) = (dropped.next(), dropped.next()) else { continue };
        let taken =
            |member: &&str| found.iter().any(|(_, columns, _)| columns.iter().any(|column| column == member));
        if set.members.iter().any(taken)
            || table.column(set.prefix).is_some()
            || !look.sums(&set.members)?.lacks_one()
        {
            continue;
        }
        let columns = set.members.iter().map(|name| (*name).to_owned()).collect();
        found.push((set.prefix.to_owned(), columns, one[start.len()..].to_owned()));
    }
    for (name, columns, dropped) in found {
        let setting = config.features.entry(name.clone()).or_default();
        if setting.columns.is_empty() && setting.kind.is_none() {
            notices.push(format!(
                "the columns of `{name}` lack the category `{dropped}`, which the model has: it is that of rows in which none of them is 1"
            ));
            (setting.columns, setting.dropped) = (columns, Some(dropped));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Table};

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
        assert_eq!(found, [("job", levels("a_x", "b_x")), ("s_s", levels("f", "m"))]);
        assert_eq!(groups[0].columns, ["job:a_x", "job:b_x"].map(|name| Some(name.to_owned())));
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
    fn names_of_several_underscores_are_cut_at_the_last_that_all_share() {
        let columns: [(&str, &[f64]); 5] = [
            ("mother_job_teacher", &[1.0, 0.0, 0.0]),
            ("mother_job_at_home", &[0.0, 1.0, 0.0]),
            ("mother_job_nurse", &[0.0, 0.0, 1.0]),
            ("has_car", &[1.0, 1.0, 0.0]),
            ("has_house", &[1.0, 0.0, 0.0]),
        ];
        let mut notices = Vec::new();
        let groups = inferred(&table(&columns), |_| true, &mut notices).unwrap();
        assert_eq!(groups.len(), 1);
        assert_eq!(
            (groups[0].name.as_str(), groups[0].levels.as_slice()),
            ("mother_job", ["at_home", "nurse", "teacher"].map(String::from).as_slice())
        );
        assert!(notices[0].contains("if it is `mother`, declare it"), "{notices:?}");
    }

    #[test]
    fn a_long_list_of_columns_is_shown_in_part() {
        let members: Vec<String> = (10..20).map(|state| format!("addr_state_{state}")).collect();
        let set = |few: usize| Prefixed {
            separator: '_',
            prefix: "addr_state",
            members: members.iter().take(few).map(String::as_str).collect(),
        };
        assert_eq!(set(10).listed(), "\"addr_state_10\", \"addr_state_11\", …, \"addr_state_19\"");
        assert_eq!(set(8).listed().matches("addr_state_").count(), 8);
    }

    #[test]
    fn a_single_column_that_names_a_category_is_a_pair() {
        let groups = names(&[("Sex:Female", &[1.0, 0.0]), ("grade=A", &[0.0, 1.0]), ("flag_x", &[0.0, 1.0])]);
        let found: Vec<_> = groups.iter().map(|group| (group.name.as_str(), group.levels.clone())).collect();
        let pair = |level: &str| vec![format!("not {level}"), level.to_owned()];
        assert_eq!(found, [("Sex", pair("Female")), ("grade", pair("A"))]);
        assert_eq!(groups[0].columns, [None, Some("Sex:Female".to_owned())]);
        assert!(names(&[("Sex:Female", &[1.0, 0.0]), ("Sex", &[3.0, 4.0])]).is_empty());
        assert!(
            names(&[("Sex:Female", &[1.0, 0.0]), ("Sex:Age", &[3.0, 4.0])]).is_empty(),
            "not the only one"
        );
    }

    /// 60 rows: `job_a` 20 times, `job_b` 20 times, and neither 20 times.
    fn dropped() -> Table {
        let ones = |at: usize| (0..60).map(|row| f64::from(row % 3 == at)).collect::<Vec<_>>();
        table(&[("job_a", &ones(0)), ("job_b", &ones(1)), ("age", &[1.0; 60])])
    }

    #[test]
    fn a_group_without_a_column_has_another_category() {
        let mut notices = Vec::new();
        let groups = inferred(&dropped(), |_| true, &mut notices).unwrap();
        assert_eq!(
            (groups[0].name.as_str(), groups[0].levels.as_slice()),
            ("job", ["(other)", "a", "b"].map(String::from).as_slice())
        );
        assert!(notices[0].contains("columns = [\"job_a\", \"job_b\"], dropped = "), "{notices:?}");
        let rare = |at: usize| (0..60).map(|row| f64::from(row == at)).collect::<Vec<_>>();
        let mut notices = Vec::new();
        let groups =
            inferred(&table(&[("has_a", &rare(0)), ("has_b", &rare(1))]), |_| true, &mut notices).unwrap();
        assert!(groups.is_empty() && notices.is_empty(), "rare columns are seldom 1 together: {notices:?}");
    }

    #[test]
    fn the_models_columns_show_the_category_without_a_column() {
        let model = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let shown = |names: &[&str]| {
            let (mut config, mut notices) = (Config::default(), Vec::new());
            shown_by_model(&dropped(), &mut config, &model(names), &mut notices).unwrap();
            (config.features, notices.len())
        };
        let (features, notices) = shown(&["age", "job_a", "job_b", "job_c"]);
        assert_eq!(
            (features["job"].columns.as_slice(), features["job"].dropped.as_deref()),
            (model(&["job_a", "job_b"]).as_slice(), Some("c"))
        );
        assert_eq!(notices, 1);
        assert!(shown(&["age", "job_a", "job_b"]).0.is_empty());
        assert!(shown(&["age", "job_a", "job_b", "job_c", "job_d"]).0.is_empty(), "it may be either");
    }
}
