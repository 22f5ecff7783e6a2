//! The model's numbers for the levels of a feature.
//!
//! Numbers stay numbers, even as names of levels. Text becomes what the model was trained on: the position in the model's own
//! list of categories if it has one, 0 and 1 for one-hot columns and pairs of values, and the rank for ordered levels. Any other
//! text is an error, because any number would be a guess.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::ColumnSource;
use super::matching::ColumnMeaning;
use crate::model::ModelInfo;
use crate::model::lightgbm::categories::only_placement;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::feature::{Feature, Kind, exact_number, truth};

/// The source of every model column.
pub(super) fn sources(
    info: &ModelInfo,
    features: &[Feature],
    parts: &[ColumnMeaning],
    notices: &mut Vec<String>,
) -> Result<Vec<ColumnSource>> {
    let lists = settled_categories(info, features, parts)?;
    let mut columns = Vec::with_capacity(parts.len());
    for (column, part) in parts.iter().enumerate() {
        columns.push(match *part {
            ColumnMeaning::Level(feature, level) => {
                let mut map = vec![0.0; features[feature].levels().len() + 1];
                if let Some(value) = map.get_mut(level) {
                    *value = 1.0;
                }
                ColumnSource { feature, map: Some(map) }
            }
            ColumnMeaning::Absent(feature) => {
                ColumnSource { feature, map: Some(vec![0.0; features[feature].levels().len() + 1]) }
            }
            ColumnMeaning::Whole(feature) => {
                let list = lists.get(column).map_or(&[][..], Vec::as_slice);
                let map = whole(&features[feature], list, &info.columns[column], notices)?;
                ColumnSource { feature, map }
            }
        });
    }
    Ok(columns)
}

/// The model's categories per column. Lists that the file does not assign go to the columns whose features have those levels.
fn settled_categories(
    info: &ModelInfo,
    features: &[Feature],
    parts: &[ColumnMeaning],
) -> Result<Vec<Vec<String>>> {
    let mut lists = info.categories.clone();
    lists.resize(parts.len(), Vec::new());
    let open = &info.unplaced_categories;
    if open.is_empty() {
        return Ok(lists);
    }
    let feature_of = |column: usize| match parts[column] {
        ColumnMeaning::Whole(feature) => Some(&features[feature]),
        ColumnMeaning::Level(..) | ColumnMeaning::Absent(_) => None,
    };
    let fits = |column: usize, list: usize, all: bool| {
        feature_of(column).filter(|feature| !feature.is_numeric()).is_some_and(|feature| {
            let missing = missing_level(feature);
            let mut levels = feature.levels().iter().enumerate().filter(|(level, _)| Some(*level) != missing);
            let known = |(_, text): (usize, &String)| position(&open[list], text).is_some();
            if all { levels.all(known) } else { levels.any(known) }
        })
    };
    let needy =
        |column: usize| feature_of(column).is_some_and(|f| f.is_categorical() && numbers(f).is_none());
    let placement = only_placement(parts.len(), open.len(), |column, list| fits(column, list, true), needy)
        .or_else(|| only_placement(parts.len(), open.len(), |column, list| fits(column, list, false), needy));
    let Some(placement) = placement else {
        let message = "the model has lists of pandas categories, but not to which columns they belong";
        let help = "declare the features that were pandas categoricals (`kind = \"categorical\"` or \
                    `\"ordinal\"`), or train the model on numbers or one-hot columns";
        return Err(Error::new(ErrorKind::Model, message).help(help));
    };
    for (list, column) in open.iter().zip(placement) {
        lists[column].clone_from(list);
    }
    Ok(lists)
}

/// The numbers of a feature that is one model column, `None` for the value itself.
fn whole(
    feature: &Feature,
    list: &[String],
    column: &str,
    notices: &mut Vec<String>,
) -> Result<Option<Vec<f64>>> {
    if feature.is_numeric() {
        return whole_number(feature, list, column);
    }
    if !list.is_empty() {
        return codes(feature, list, column, notices).map(Some);
    }
    let mut map = match (&feature.kind, numbers(feature)) {
        (_, Some(numbers)) => numbers,
        (Kind::Ordinal { levels } | Kind::Binary { levels }, None) => {
            let codes: Vec<String> =
                levels.iter().enumerate().map(|(code, text)| format!("{text} = {code}")).collect();
            notices.push(format!("`{}` is passed to the model as {}", feature.name, codes.join(", ")));
            (0..levels.len()).map(|code| code as f64).collect()
        }
        (_, None) => {
            let text = feature.levels().iter().find(|text| text.trim().parse::<f64>().is_err());
            let text = text.map_or("", String::as_str);
            let message =
                format!("the model wants a number in column `{column}`, but the table has text (`{text}`)");
            let help = format!(
                "give a table with the numbers that the model was trained on, or one-hot columns such as \
                 `{}_{text}`; or train the model on pandas categoricals; or name the column's source under \
                 [model.columns]",
                feature.name
            );
            return Err(Error::new(ErrorKind::Model, message).column(&feature.name).help(help));
        }
    };
    map.push(f64::NAN);
    Ok(Some(map))
}

/// A numeric feature is passed unchanged, unless the model expects codes that are not the numbers themselves.
fn whole_number(feature: &Feature, list: &[String], column: &str) -> Result<Option<Vec<f64>>> {
    if list.iter().enumerate().all(|(code, text)| text.parse() == Ok(code as f64)) {
        return Ok(None);
    }
    let message = format!("the model takes column `{column}` as categories, but in the table it is numeric");
    let help =
        format!("set `kind = \"categorical\"` under [features.\"{}\"] in the configuration", feature.name);
    Err(Error::new(ErrorKind::Model, message).column(&feature.name).help(help))
}

/// Positions of the levels in the model's list of categories.
fn codes(feature: &Feature, list: &[String], column: &str, notices: &mut Vec<String>) -> Result<Vec<f64>> {
    let missing = missing_level(feature);
    let mut map = Vec::with_capacity(feature.levels().len() + 1);
    let mut unknown = Vec::new();
    let exact: BTreeMap<&str, usize> =
        list.iter().enumerate().rev().map(|(code, text)| (text.as_str(), code)).collect();
    let taken: BTreeSet<usize> =
        feature.levels().iter().filter_map(|text| exact.get(text.as_str()).copied()).collect();
    for (level, text) in feature.levels().iter().enumerate() {
        // A category that equals the text of one level cannot stand for another level.
        let alike = || position(list, text).filter(|code| !taken.contains(code));
        let code = exact.get(text.as_str()).copied().or_else(alike);
        let has_blanks = |text: &str| text.trim() != text;
        match code.map(|code| &list[code]) {
            Some(own) if own != text && (has_blanks(own) || has_blanks(text)) => {
                let (own, text) = (own.escape_debug(), text.escape_debug());
                notices.push(format!("`{text}` of `{}` is the model's category `{own}`", feature.name));
            }
            None if Some(level) != missing => unknown.push(format!("`{}`", text.escape_debug())),
            _ => {}
        }
        map.push(code.map_or(f64::NAN, |code| code as f64));
    }
    if map.iter().all(|code| code.is_nan()) {
        let message = format!("the model knows none of the values of `{}`", feature.name);
        let shown: Vec<String> =
            list.iter().take(5).map(|text| format!("`{}`", text.escape_debug())).collect();
        let mut help = format!("its column `{column}` has the categories {}, …", shown.join(", "));
        let blanks = |text: &String| feature.levels().iter().any(|level| level.trim() == text.trim());
        if list.iter().any(blanks) {
            help += "; they differ from the table's only by spaces: set `trim = true` under [data] if the model was trained on trimmed text";
        }
        return Err(Error::new(ErrorKind::Model, message).column(&feature.name).help(help));
    }
    if !unknown.is_empty() {
        notices.push(format!(
            "the model takes {}{} of `{}` as missing: it never saw it",
            unknown.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", "),
            if unknown.len() > 10 { format!(" and {} more", unknown.len() - 10) } else { String::new() },
            feature.name
        ));
    }
    map.push(f64::NAN);
    Ok(map)
}

fn missing_level(feature: &Feature) -> Option<usize> {
    match feature.kind {
        Kind::Categorical { missing, .. } => missing,
        _ => None,
    }
}

/// The levels as numbers, if all except the missing one are numbers, or all except it are booleans.
fn numbers(feature: &Feature) -> Option<Vec<f64>> {
    let missing = missing_level(feature);
    let all = |number: fn(&str) -> Option<f64>| {
        let of_level = |(level, text): (usize, &String)| match number(text.trim()) {
            Some(number) => Some(number),
            None if Some(level) == missing => Some(f64::NAN),
            None => None,
        };
        feature.levels().iter().enumerate().map(of_level).collect::<Option<Vec<f64>>>()
    };
    all(|text| text.parse().ok().filter(|number: &f64| number.is_finite()))
        .or_else(|| all(|text| truth(text).map(f64::from)))
}

/// The position of a level in a list of categories; numbers and booleans may be spelled differently.
fn position(list: &[String], level: &str) -> Option<usize> {
    list.iter().position(|text| text == level).or_else(|| {
        let level = plain(level);
        list.iter().position(|text| plain(text) == level)
    })
}

/// A common spelling for equal numbers and for booleans; any other text is unchanged, blanks included.
fn plain(text: &str) -> Cow<'_, str> {
    match exact_number(text) {
        Some(number) => Cow::Owned(number.to_string()),
        None if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => {
            Cow::Owned(text.to_ascii_lowercase())
        }
        None => Cow::Borrowed(text),
    }
}
