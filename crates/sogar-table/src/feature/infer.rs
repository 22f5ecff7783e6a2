//! From a table to its features: which columns take part, what they are, and notices for the user.

use std::collections::{BTreeMap, BTreeSet};

use super::column::{View, is_missing};
use super::look::{Counts, Look, Streamed};
use super::one_hot::{self, Group};
use super::{Columns, Feature, FeatureTable, Kind, Weights, codes};
use crate::config::{Config, FeatureConfig};
use crate::hints::{self, Unfit};
use crate::table::written::shared_unit;
use crate::table::{Table, TableSource};
use sogar_base::error::{Error, ErrorKind, Faults, Result, suggest};

/// So many numbers with the same unit are amounts rather than categories.
const MANY_AMOUNTS: usize = 10;
/// More categories than this deserve a notice: they are often ids or free text.
const MANY_LEVELS: usize = 100;

/// What inference finds besides the features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inferred {
    /// Notices for the user.
    pub notices: Vec<String>,
    /// Features that do not look like features, with the reason.
    pub unfit: Vec<(usize, Unfit)>,
}

impl FeatureTable {
    /// The features of a reference table, and notices for the user (missing values, constant columns, groups).
    ///
    /// The label, the weight and ignored columns are left out; kinds are inferred unless the configuration sets them.
    pub fn infer(table: &Table, config: &Config) -> Result<(FeatureTable, Vec<String>)> {
        FeatureTable::inferred(table, config).map(|(features, seen)| (features, seen.notices))
    }

    /// The same, with the columns that do not look like features.
    pub fn inferred(table: &Table, config: &Config) -> Result<(FeatureTable, Inferred)> {
        let weights = config.data.weight.as_deref().map(|column| Weights::read(table, column)).transpose()?;
        let mut values = Vec::new();
        let (features, seen) = inferred(table, config, &mut |_, seen, _| values.push(seen))?;
        Ok((FeatureTable { features, values, rows: table.rows, weights }, seen))
    }
}

/// Declares, in `config`, one-hot groups of a table that only the columns of a model reveal.
pub fn declare_shown(
    source: &dyn TableSource,
    config: &mut Config,
    model: &[String],
    notices: &mut Vec<String>,
) -> Result<()> {
    one_hot::shown_by_model(&Streamed { source, scale: None }, config, model, notices)
}

/// Infers the features of a table through any [`Look`]. `keep` gets the values of each, one per cell, with the weights of cells.
pub(super) fn inferred(
    look: &dyn Look,
    config: &Config,
    keep: &mut dyn FnMut(&Feature, Vec<f64>, &Counts),
) -> Result<(Vec<Feature>, Inferred)> {
    let table = look.header();
    let (mut notices, mut unfit) = (Vec::new(), Vec::new());
    let left_out = left_out(table, config)?;
    let groups = groups(look, config, &left_out, &mut notices)?;
    let mut group_of: BTreeMap<&str, &Group> = BTreeMap::new();
    for group in &groups {
        for column in group.columns.iter().flatten() {
            group_of.insert(column, group);
        }
    }
    let mut features = Vec::new();
    let mut constant = 0;
    let mut done = BTreeSet::new();
    let setting = FeatureConfig::default();
    for (position, column) in table.columns.iter().enumerate() {
        let name = &column.name;
        if left_out.contains(name.as_str()) {
            continue;
        }
        if let Some(group) = group_of.get(name.as_str()) {
            if done.insert(&group.name) {
                let (values, counts) = look.one_hot(&group.columns)?;
                let mut feature = group.feature(&config.data.missing);
                feature.shown =
                    config.features.get(&group.name).map(FeatureConfig::shown).unwrap_or_default();
                keep(&feature, values, &counts);
                features.push(feature);
            }
            continue;
        }
        let setting = config.features.get(name).unwrap_or(&setting);
        look.column(position, &mut |table, column, counts| {
            let codes = codes::of(setting, config);
            let view = View { table, column, setting, tokens: &config.data.missing, codes: &codes };
            view.refuse_odd_numbers(config.data.decimal.as_deref() == Some(","))?;
            let seen = view.see()?;
            let codes = if matches!(seen.kind, Kind::Real | Kind::Integer) { codes } else { Vec::new() };
            let feature =
                Feature { name: name.clone(), kind: seen.kind, columns: Columns::One(name.clone()), codes, shown: setting.shown() };
            let coded = counts.rows_where(seen.values.len(), |cell| feature.is_code(seen.values[cell]));
            if coded > 0 {
                notices.push(format!(
                    "`{name}` has a special code in {coded} of {} rows: passed to the model as it is, and never edited",
                    look.header().rows
                ));
            }
            let is_gap = |cell: usize| is_missing(&feature.kind, seen.values[cell]);
            let missing = counts.rows_where(seen.values.len(), is_gap);
            constant += usize::from(seen.constant);
            let found = hints::unfit(column, &counts.rows, position == 0, &config.data.missing);
            describe(&feature, missing, found.is_none(), look.header().rows, &mut notices);
            unfit.extend(found.map(|found| (features.len(), found)));
            keep(&feature, seen.values, counts);
            features.push(feature);
            Ok(())
        })?;
    }
    check_names(&features, table, config, &left_out, &mut notices)?;
    if features.is_empty() {
        return Err(table
            .error("no column is left to be a feature")
            .help("check `label` and `ignore` under [data]"));
    }
    if constant == features.len() {
        return Err(table
            .error("every feature has the same value in all rows")
            .help("give a table whose rows differ"));
    }
    Ok((features, Inferred { notices, unfit }))
}

/// The names of columns that are not features.
fn left_out<'a>(table: &Table, config: &'a Config) -> Result<BTreeSet<&'a str>> {
    let mut names = BTreeSet::new();
    let mut faults = Faults::default();
    let label = config.data.label.iter().map(|name| ("data.label", name));
    let weight = config.data.weight.iter().map(|name| ("data.weight", name));
    let ignored = config.data.ignore.iter().map(|name| ("data.ignore", name));
    for (key, name) in label.chain(weight).chain(ignored) {
        if table.column(name).is_none() {
            faults.add(
                table
                    .error(format!("there is no column `{name}`, which {key} names"))
                    .help(suggest(name, table.names())),
            );
        }
        names.insert(name.as_str());
    }
    faults.finish()?;
    Ok(names)
}

fn groups(
    look: &dyn Look,
    config: &Config,
    left_out: &BTreeSet<&str>,
    notices: &mut Vec<String>,
) -> Result<Vec<Group>> {
    let mut groups = one_hot::declared(look.header(), config)?;
    let taken: BTreeSet<String> =
        groups.iter().flat_map(|group| group.columns.iter().flatten().cloned()).collect();
    if let Some(column) = taken.iter().find(|column| left_out.contains(column.as_str())) {
        return Err(Error::new(
            ErrorKind::Config,
            format!("column `{column}` is the label, the weight or ignored, and part of a one-hot group"),
        ));
    }
    if config.data.infer_one_hot.unwrap_or(true) {
        // A column with its own settings is a feature of its own.
        let free = |name: &str| {
            !left_out.contains(name) && !taken.contains(name) && !config.features.contains_key(name)
        };
        groups.extend(one_hot::inferred(look, free, notices)?);
        // An empty section answers nothing.
        let open = |name: &str| {
            let is_set =
                config.features.get(name).is_some_and(|settings| *settings != FeatureConfig::default());
            !left_out.contains(name) && !taken.contains(name) && !is_set
        };
        one_hot::exclusive_columns(look, &groups, open, notices)?;
    }
    Ok(groups)
}

/// What a user should know about a feature. Why a column is unfit to be one is said where it is left aside.
fn describe(feature: &Feature, missing: u64, fit: bool, rows: usize, notices: &mut Vec<String>) {
    let name = &feature.name;
    if missing == rows as u64 {
        notices.push(format!("`{name}` is empty: it is ignored, and missing for the model"));
        return;
    }
    if missing > 0 {
        let meaning = match (&feature.kind, feature.missing_level()) {
            (Kind::Categorical { levels, .. }, Some(level)) => format!("the category `{}`", levels[level]),
            _ => "missing for the model, and never edited".to_owned(),
        };
        notices.push(format!("`{name}` has no value in {missing} of {rows} rows: {meaning}"));
    }
    notices.extend(told_apart_by_blanks(feature.levels()).map(|(one, other)| {
        format!(
            "`{}` and `{}` of `{name}` differ only by spaces; if they mean the same, set `trim = true` under [data]",
            one.escape_debug(),
            other.escape_debug()
        )
    }));
    if feature.levels().iter().any(|level| level.trim().is_empty()) {
        notices.push(format!(
            "`{name}` has cells of spaces only, which are a category; if they are empty, set `trim = true` under [data]"
        ));
    }
    let named: Vec<&str> = feature.levels().iter().map(String::as_str).collect();
    let missing_level = feature.missing_level().map(|level| named[level]);
    let amounts = || named.iter().copied().filter(|level| Some(*level) != missing_level);
    if feature.is_categorical() && named.len() >= MANY_AMOUNTS {
        notices.extend(shared_unit(amounts()).map(|unit| {
            let example = amounts().next().unwrap_or_default().trim();
            format!(
                "`{name}` has numbers with text (`{example}`), which are categories without an order; if they are amounts, write them \
                 without `{unit}`, for the model, too"
            )
        }));
    }
    if fit && feature.is_categorical() && feature.levels().len() > MANY_LEVELS {
        notices.push(format!(
            "`{name}` has {} categories; if it is an id or free text, add it to `ignore` under [data]",
            feature.levels().len()
        ));
    }
}

/// The first two levels that differ only by surrounding blanks.
fn told_apart_by_blanks(levels: &[String]) -> Option<(&str, &str)> {
    let mut trimmed: Vec<(&str, &str)> = levels.iter().map(|level| (level.trim(), level.as_str())).collect();
    trimmed.sort_unstable();
    trimmed.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| (pair[0].1, pair[1].1))
}

/// Every `[features.NAME]` must name a feature; settings of a column that is not one have no effect.
fn check_names(
    features: &[Feature],
    table: &Table,
    config: &Config,
    left_out: &BTreeSet<&str>,
    notices: &mut Vec<String>,
) -> Result<()> {
    let mut faults = Faults::default();
    let known: BTreeSet<&str> = features.iter().map(|feature| feature.name.as_str()).collect();
    for (name, settings) in &config.features {
        if known.contains(name.as_str()) {
            continue;
        }
        if left_out.contains(name.as_str()) && settings.protected == Some(true) {
            let message = format!("the protected feature `{name}` is the label or ignored");
            let help = "take it out of the protected features, or do not ignore it: a protected column need not be one that the model sees";
            faults.add(Error::new(ErrorKind::Config, message).help(help));
            continue;
        }
        if left_out.contains(name.as_str()) {
            notices.push(format!("[features.{name}] has no effect: the column is the label or ignored"));
            continue;
        }
        let message = if table.column(name).is_some() {
            format!("[features.{name}] speaks of a column that is part of a one-hot group")
        } else {
            format!("[features.{name}] speaks of a feature that the table does not have")
        };
        let names = features.iter().map(|feature| feature.name.as_str());
        faults.add(Error::new(ErrorKind::Config, message).help(suggest(name, names)));
    }
    faults.finish()
}
