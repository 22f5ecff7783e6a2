//! The categories of pandas columns, which LightGBM stores in the last line of the file.
//!
//! A pandas categorical reaches the trees as the position of its category in a list. The lists are stored in column order, but
//! without their columns: unordered categoricals are the columns with category codes, ordered ones look like columns of whole
//! numbers. Lists are assigned to columns only if there is exactly one way to do it.

use serde_json::Value;

use super::damaged;
use super::fields::Lines;
use super::header::ColumnInfo;
use sogar_base::error::Result;

const KEY: &str = "pandas_categorical:";

/// Limit of columns times lists for the search of an assignment: far beyond real tables, and at most 64 MB.
const LARGEST_PUZZLE: usize = 1 << 26;

/// The lists of categories, as text; empty if the model was not trained on pandas categoricals.
pub(super) fn read(lines: &mut Lines<'_>) -> Result<Vec<Vec<String>>> {
    let Some((line, json)) = lines.find_map(|(line, text)| Some((line, text.strip_prefix(KEY)?))) else {
        return Ok(Vec::new());
    };
    let value = serde_json::from_str(json).map_err(|_| NO_LISTS);
    value.and_then(of_json).map_err(|what| damaged(format!("`pandas_categorical`: {what}")).row(line))
}

const NO_LISTS: &str = "this is not a JSON list of lists";

/// The lists of categories in a JSON value, or its error.
pub(super) fn of_json(value: Value) -> std::result::Result<Vec<Vec<String>>, &'static str> {
    let text = |value: Value| match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(if value { "True".into() } else { "False".into() }),
        _ => Err("a category is neither text nor a number"),
    };
    let list = |value: Value| match value {
        Value::Array(values) => values.into_iter().map(text).collect(),
        _ => Err(NO_LISTS),
    };
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(lists) => lists.into_iter().map(list).collect(),
        _ => Err(NO_LISTS),
    }
}

/// Assigns the lists to the columns: `(categories of each column, unassigned lists)`.
pub(super) fn place(lists: Vec<Vec<String>>, infos: &[ColumnInfo]) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let mut placed = vec![Vec::new(); infos.len()];
    let fits = |column: usize, list: usize| {
        let length = lists[list].len() as f64;
        match infos[column] {
            ColumnInfo::Codes(largest) => (largest as f64) < length,
            ColumnInfo::Numbers(low, high) => {
                low >= 0.0 && high < length && low.fract() == 0.0 && high.fract() == 0.0
            }
            ColumnInfo::Unused => true,
        }
    };
    let coded = |column: usize| matches!(infos[column], ColumnInfo::Codes(_));
    let codes = (0..infos.len()).filter(|&column| coded(column)).count();
    let place = match lists.len() {
        n if n >= codes => only_placement(infos.len(), n, fits, coded),
        n => only_placement(infos.len(), n, |column, list| coded(column) && fits(column, list), |_| false),
    };
    match place {
        Some(columns) => {
            for (list, column) in lists.into_iter().zip(columns) {
                placed[column] = list;
            }
            (placed, Vec::new())
        }
        None => (placed, lists),
    }
}

/// The only way to assign `lists` lists, in order, to `columns` columns such that each list fits its column and every needy
/// column gets one: the column of each list; `None` if there is no such way or more than one.
pub fn only_placement(
    columns: usize,
    lists: usize,
    fits: impl Fn(usize, usize) -> bool,
    needy: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    if lists > columns || columns.saturating_mul(lists) > LARGEST_PUZZLE {
        return None;
    }
    // ways[c][l]: ways to assign the lists from l on to the columns from c on, counted up to 2.
    let mut ways = vec![vec![0u8; lists + 1]; columns + 1];
    ways[columns][lists] = 1;
    for column in (0..columns).rev() {
        for list in 0..=lists {
            let skipped = if needy(column) { 0 } else { ways[column + 1][list] };
            let given = if list < lists && fits(column, list) { ways[column + 1][list + 1] } else { 0 };
            ways[column][list] = (skipped + given).min(2);
        }
    }
    if ways[0][0] != 1 {
        return None;
    }
    let mut placement = Vec::new();
    for column in 0..columns {
        let list = placement.len();
        if list < lists && fits(column, list) && ways[column + 1][list + 1] == 1 {
            placement.push(column);
        }
    }
    Some(placement)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(n: usize) -> Vec<String> {
        (0..n).map(|i| i.to_string()).collect()
    }

    #[test]
    fn lists_go_to_the_columns_with_codes() {
        let infos = [ColumnInfo::Numbers(-0.5, 2.5), ColumnInfo::Codes(2), ColumnInfo::Codes(1)];
        assert_eq!(place(vec![list(3), list(2)], &infos), (vec![vec![], list(3), list(2)], vec![]));
    }

    #[test]
    fn an_ordered_categorical_goes_to_the_only_column_of_whole_numbers() {
        let infos = [ColumnInfo::Numbers(0.0, 3.0), ColumnInfo::Numbers(0.5, 3.0), ColumnInfo::Codes(1)];
        assert_eq!(place(vec![list(4), list(2)], &infos).0, vec![list(4), vec![], list(2)]);
    }

    #[test]
    fn lists_stay_unplaced_where_two_columns_could_be_meant() {
        let infos = [ColumnInfo::Numbers(0.0, 1.0), ColumnInfo::Numbers(0.0, 1.0)];
        assert_eq!(place(vec![list(2)], &infos), (vec![vec![], vec![]], vec![list(2)]));
        let infos = [ColumnInfo::Codes(1), ColumnInfo::Codes(1)];
        assert_eq!(place(vec![list(2)], &infos).1, vec![list(2)]);
    }

    #[test]
    fn lists_too_short_for_the_codes_stay_unplaced() {
        assert_eq!(place(vec![list(2)], &[ColumnInfo::Codes(5)]), (vec![vec![]], vec![list(2)]));
    }
}
