//! Finds the feature, or the level of a feature, of each model column: by declaration, by name, or by position.
//!
//! Names are tried in rounds, from the strictest reading to the loosest: the table's column names, the same with the characters
//! that LightGBM or its users replace, and `feature_level` names of models that were trained on one-hot columns of a readable
//! table. A looser round only considers model columns that no stricter one has matched, and only targets that are still free. If
//! two readings remain, nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::ModelInfo;
use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_table::config::ModelConfig;
use sogar_table::feature::{Columns, Feature, Kind};

/// What a model column stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ColumnMeaning {
    /// The feature's value.
    Whole(usize),
    /// Whether the feature (first) has this level (second).
    Level(usize, usize),
    /// Whether the feature has a level that does not occur in the table.
    Absent(usize),
}

impl ColumnMeaning {
    fn feature(self) -> usize {
        match self {
            ColumnMeaning::Whole(feature)
            | ColumnMeaning::Level(feature, _)
            | ColumnMeaning::Absent(feature) => feature,
        }
    }
}

/// Characters that join the names of a feature and a level in the name of a one-hot column.
const JOINTS: [char; 4] = [':', '=', '_', '.'];

/// Names that pandas and others give to the one-hot column of missing values.
const MISSING_NAMES: [&str; 6] = ["nan", "NaN", "NA", "None", "missing", "?"];

type Names = BTreeMap<String, BTreeSet<ColumnMeaning>>;

/// What every model column stands for.
pub(super) fn match_parts(
    info: &ModelInfo,
    features: &[Feature],
    config: &ModelConfig,
    table_columns: Option<&[&str]>,
    notices: &mut Vec<String>,
) -> Result<Vec<ColumnMeaning>> {
    let mut parts = vec![None; info.columns.len()];
    declared(info, features, config, &mut parts)?;

    let names = column_names(features);
    let level_names = level_names(features);
    for table in [&names, &level_names] {
        for spelling in [str::to_string, rewritten, as_identifier] {
            match_names(info, features, table, spelling, &mut parts)?;
        }
    }
    if parts.iter().all(Option::is_none)
        && let Some(ordered) = by_position(info, features, &names, table_columns)?
    {
        notices.push(format!(
            "no column name of the model (`{}`, …) is in the table: columns are matched by position",
            info.columns[0]
        ));
        return Ok(ordered);
    }
    absent_levels(info, features, &mut parts, notices);
    if parts.iter().all(Option::is_some) {
        Ok(parts.into_iter().flatten().collect())
    } else {
        Err(unmatched(info, features, &parts))
    }
}

/// The columns behind a feature, with what each stands for.
fn columns_of(index: usize, feature: &Feature) -> Vec<(&str, ColumnMeaning)> {
    match &feature.columns {
        Columns::One(name) => vec![(name, ColumnMeaning::Whole(index))],
        Columns::OneHot(names) => {
            let part = |(level, name)| Some((Option::as_deref(name)?, ColumnMeaning::Level(index, level)));
            names.iter().enumerate().filter_map(part).collect()
        }
    }
}

/// Names of table columns; a feature's own name if no column has it.
fn column_names(features: &[Feature]) -> Names {
    let mut names = Names::new();
    for (index, feature) in features.iter().enumerate() {
        for (name, part) in columns_of(index, feature) {
            names.entry(name.to_string()).or_default().insert(part);
        }
    }
    for (index, feature) in features.iter().enumerate() {
        names.entry(feature.name.clone()).or_insert_with(|| BTreeSet::from([ColumnMeaning::Whole(index)]));
    }
    names
}

/// Names that one-hot columns of the features' levels may have.
fn level_names(features: &[Feature]) -> Names {
    let mut names = Names::new();
    for (index, feature) in features.iter().enumerate() {
        for (level, text) in feature.levels().iter().enumerate() {
            for spelling in spellings(feature, level, text) {
                for joint in JOINTS {
                    let name = format!("{}{joint}{spelling}", feature.name);
                    names.entry(name).or_default().insert(ColumnMeaning::Level(index, level));
                }
            }
        }
    }
    names
}

/// How a level may be spelled in a column's name.
fn spellings(feature: &Feature, level: usize, text: &str) -> Vec<String> {
    let mut spellings = vec![text.to_string()];
    if let Ok(number) = text.trim().parse::<f64>() {
        spellings.extend([format!("{number}"), format!("{number:?}")]);
    }
    if matches!(feature.kind, Kind::Categorical { missing: Some(missing), .. } if missing == level) {
        let free = |name: &&&str| !feature.levels().iter().any(|other| other == **name);
        spellings.extend(MISSING_NAMES.iter().filter(free).map(|name| name.to_string()));
    }
    spellings
}

/// The name as LightGBM and its users rewrite it: blanks and special characters of JSON and XGBoost become `_`.
fn rewritten(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || "\",:[]{}<>=".contains(c) { '_' } else { c }).collect()
}

/// The name as ONNX exporters rewrite it: characters that an identifier cannot have become `_`.
fn as_identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Fills in the model columns whose name, in this spelling, is in `names`.
fn match_names(
    info: &ModelInfo,
    features: &[Feature],
    names: &Names,
    spelling: fn(&str) -> String,
    parts: &mut [Option<ColumnMeaning>],
) -> Result<()> {
    let taken: BTreeSet<ColumnMeaning> = parts.iter().flatten().copied().collect();
    let mut free = Names::new();
    for (name, candidates) in names {
        free.entry(spelling(name)).or_default().extend(candidates.difference(&taken));
    }
    let mut claimed: BTreeMap<ColumnMeaning, &str> = BTreeMap::new();
    for (column, name) in info.columns.iter().enumerate() {
        if parts[column].is_some() {
            continue;
        }
        let candidates: Vec<ColumnMeaning> =
            free.get(&spelling(name)).into_iter().flatten().copied().collect();
        match candidates[..] {
            [] => {}
            [part] => {
                if let Some(other) = claimed.insert(part, name) {
                    let both = format!(
                        "the model columns `{other}` and `{name}` both match {}",
                        shown(features, part)
                    );
                    return Err(ambiguous(name, both));
                }
                parts[column] = Some(part);
            }
            [first, second, ..] => {
                let (first, second) = (shown(features, first), shown(features, second));
                return Err(ambiguous(name, format!("the model column `{name}` may be {first} or {second}")));
            }
        }
    }
    Ok(())
}

/// Fills in one-hot columns of categories that do not occur in the table: columns named like other levels of the same feature.
fn absent_levels(
    info: &ModelInfo,
    features: &[Feature],
    parts: &mut [Option<ColumnMeaning>],
    notices: &mut Vec<String>,
) {
    let hot: BTreeSet<usize> = parts
        .iter()
        .flatten()
        .filter(|part| matches!(part, ColumnMeaning::Level(..)))
        .map(|part| part.feature())
        .collect();
    for (name, part) in info.columns.iter().zip(parts).filter(|(_, part)| part.is_none()) {
        let level = |feature: &usize| {
            let rest = rewritten(name).strip_prefix(&rewritten(&features[*feature].name))?.len();
            let rest = name.get(name.len().checked_sub(rest)?..)?;
            rest.strip_prefix(JOINTS).filter(|level| !level.is_empty())
        };
        // With features `mother` and `mother_job`, a column `mother_job_nurse` belongs to the longer name.
        let of = hot
            .iter()
            .filter(|feature| level(feature).is_some())
            .max_by_key(|&&feature| features[feature].name.len());
        if let Some(&feature) = of {
            notices.push(format!(
                "nobody in the table has `{}` = `{}`, which the model knows: its column `{name}` is 0 for everybody",
                features[feature].name,
                level(&feature).unwrap_or_default()
            ));
            *part = Some(ColumnMeaning::Absent(feature));
        }
    }
}

/// A part in words.
fn shown(features: &[Feature], part: ColumnMeaning) -> String {
    match part {
        ColumnMeaning::Whole(feature) | ColumnMeaning::Absent(feature) => {
            format!("`{}`", features[feature].name)
        }
        ColumnMeaning::Level(feature, level) => {
            let feature = &features[feature];
            format!("`{}` = `{}`", feature.name, feature.levels().get(level).map_or("", String::as_str))
        }
    }
}

fn ambiguous(column: &str, message: String) -> Error {
    let help = format!(
        "say which it is: under [model.columns], `\"{column}\" = \"feature\"` or `\"feature=level\"`"
    );
    Error::new(ErrorKind::Model, message).help(help)
}

/// Fills in the columns that the user has declared.
fn declared(
    info: &ModelInfo,
    features: &[Feature],
    config: &ModelConfig,
    parts: &mut [Option<ColumnMeaning>],
) -> Result<()> {
    let names = column_names(features);
    let places: BTreeMap<&str, usize> =
        info.columns.iter().enumerate().rev().map(|(place, name)| (name.as_str(), place)).collect();
    for (model_column, meant) in &config.columns {
        let place =
            places.get(model_column.as_str()).or_else(|| places.get(rewritten(model_column).as_str()));
        let Some(&column) = place else {
            let message = format!("[model.columns]: the model has no column `{model_column}`");
            let help = suggest(model_column, info.columns.iter().map(String::as_str));
            return Err(Error::new(ErrorKind::Config, message).help(help));
        };
        parts[column] = Some(declared_part(features, &names, meant)?);
    }
    Ok(())
}

/// What a user's `table column`, `feature` or `feature=level` stands for.
fn declared_part(features: &[Feature], names: &Names, meant: &str) -> Result<ColumnMeaning> {
    if let Some(part) = names.get(meant).and_then(BTreeSet::first) {
        return Ok(*part);
    }
    let splits = meant.match_indices('=').map(|(at, _)| (&meant[..at], &meant[at + 1..]));
    for (name, level) in splits {
        let name = name.trim();
        let Some(index) = features.iter().position(|feature| feature.name == name) else { continue };
        let levels = features[index].levels();
        let place = |level: &str| levels.iter().position(|known| known == level);
        return match place(level).or_else(|| place(level.trim())) {
            Some(level) => Ok(ColumnMeaning::Level(index, level)),
            None => {
                let message = format!("[model.columns]: feature `{name}` has no level `{level}`");
                let help = suggest(level, levels.iter().map(String::as_str));
                Err(Error::new(ErrorKind::Config, message).help(help))
            }
        };
    }
    let message = format!("[model.columns]: the table has no column or feature `{meant}`");
    let help = suggest(meant, names.keys().map(String::as_str));
    Err(Error::new(ErrorKind::Config, message).help(help))
}

/// The features' columns in order, if their number is the model's.
fn by_position(
    info: &ModelInfo,
    features: &[Feature],
    names: &Names,
    table_columns: Option<&[&str]>,
) -> Result<Option<Vec<ColumnMeaning>>> {
    let in_order: Vec<(&str, ColumnMeaning)> =
        features.iter().enumerate().flat_map(|(index, feature)| columns_of(index, feature)).collect();
    if in_order.len() != info.columns.len() {
        return Ok(None);
    }
    if let Some(table_columns) = table_columns {
        let behind: BTreeSet<&str> = in_order.iter().map(|(name, _)| *name).collect();
        let behind = table_columns.iter().filter(|name| behind.contains(**name));
        let parts: Vec<ColumnMeaning> =
            behind.filter_map(|name| names.get(*name)?.first().copied()).collect();
        return Ok((parts.len() == info.columns.len()).then_some(parts));
    }
    if features.iter().any(|feature| matches!(feature.columns, Columns::OneHot(_))) {
        let message =
            "no column name of the model is in the table, and one-hot columns are not matched by position";
        let help =
            "train the model on a table with the same column names, or list them under [model.columns]";
        return Err(Error::new(ErrorKind::Model, message).help(help));
    }
    Ok(Some(in_order.into_iter().map(|(_, part)| part).collect()))
}

/// The error for model columns that were not found.
fn unmatched(info: &ModelInfo, features: &[Feature], parts: &[Option<ColumnMeaning>]) -> Error {
    let lost: Vec<&str> = info
        .columns
        .iter()
        .zip(parts)
        .filter(|(_, part)| part.is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    let used: BTreeSet<usize> = parts.iter().flatten().map(|part| part.feature()).collect();
    let columns = features.iter().enumerate().flat_map(|(index, feature)| columns_of(index, feature));
    let unknown: Vec<&str> =
        columns.filter(|(_, part)| !used.contains(&part.feature())).map(|(name, _)| name).collect();
    let table_columns: usize = features.iter().enumerate().map(|(index, f)| columns_of(index, f).len()).sum();

    let mut message =
        format!("the model wants {} that the table does not have: {}", counted(&lost), listed(&lost));
    if lost.len() == info.columns.len() {
        message += &format!(" (the model has {} columns, the table {table_columns})", info.columns.len());
    }
    if !unknown.is_empty() {
        message += &format!("; the model does not know the table's {}", listed(&unknown));
    }
    let all: Vec<&str> = features.iter().map(|feature| feature.name.as_str()).collect();
    let nearest = suggest(lost[0], if unknown.is_empty() { all } else { unknown });
    let stop = if nearest.ends_with('?') { "" } else { "." };
    let help = format!(
        "`{}`: {nearest}{stop} Rename the table's columns, or name each model column's source under [model.columns]",
        lost[0]
    );
    Error::new(ErrorKind::Model, message).help(help)
}

fn counted(names: &[&str]) -> String {
    if names.len() == 1 { "a column".into() } else { format!("{} columns", names.len()) }
}

/// Names separated by commas, the first ten of them.
fn listed(names: &[&str]) -> String {
    let mut text = names.iter().take(10).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > 10 {
        text += &format!(" and {} more", names.len() - 10);
    }
    text
}
