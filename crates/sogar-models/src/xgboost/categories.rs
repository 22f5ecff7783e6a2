//! The names of category codes, which XGBoost stores since release 3.1 for tables with categorical columns.
//!
//! Up to release 3.2, XGBoost counts the letters of pandas' categories but cuts bytes: after a non-ASCII letter, the following
//! names are shifted and the last one is cut short. Such lists are refused, because the categories cannot be recovered.

use super::damaged;
use super::schema::{ColumnCategories, Forest, Number};
use sogar_base::error::{Error, ErrorKind, Result};

/// The categories of every column, empty for columns of numbers.
pub(super) fn read(forest: &Forest, columns: usize) -> Result<Vec<Vec<String>>> {
    let lists = &forest.cats.enc;
    if lists.is_empty() {
        return Ok(vec![Vec::new(); columns]);
    }
    if lists.len() != columns {
        return Err(damaged(format!("{} lists of categories belong to {columns} columns", lists.len())));
    }
    lists.iter().map(texts).collect()
}

fn texts(column: &ColumnCategories) -> Result<Vec<String>> {
    let Some(offsets) = &column.offsets else {
        return Ok(column.values.iter().map(|&value| text_of(value)).collect());
    };
    let bytes: Option<Vec<u8>> = column.values.iter().map(|&value| byte(value)).collect();
    let bytes = bytes.ok_or_else(|| damaged("a category's text is not made of bytes"))?;
    if !bytes.is_ascii() {
        let message =
            "the file's categories have letters beyond ASCII, which XGBoost does not store faithfully";
        let help = "rename the categories with plain letters, or train the model on category codes";
        return Err(Error::new(ErrorKind::Model, message).help(help));
    }
    let text = |pair: &[i64]| {
        let range = usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?;
        String::from_utf8(bytes.get(range)?.to_vec()).ok()
    };
    let texts: Option<Vec<String>> = offsets.windows(2).map(text).collect();
    texts.ok_or_else(|| damaged("the texts of categories overlap or lie outside of the file"))
}

/// Bytes are stored as signed or unsigned numbers.
fn byte(value: Number) -> Option<u8> {
    match value {
        Number::Whole(value) => {
            u8::try_from(value).ok().or_else(|| i8::try_from(value).ok().map(|b| b as u8))
        }
        Number::Real(_) => None,
    }
}

fn text_of(value: Number) -> String {
    match value {
        Number::Whole(value) => value.to_string(),
        Number::Real(value) => format!("{value:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(offsets: Option<Vec<i64>>, values: &[i64]) -> ColumnCategories {
        ColumnCategories { offsets, values: values.iter().map(|&value| Number::Whole(value)).collect() }
    }

    #[test]
    fn texts_are_cut_at_their_offsets() {
        let texts = texts(&column(Some(vec![0, 1, 3, 3]), &[97, 98, 99])).unwrap();
        assert_eq!(texts, ["a", "bc", ""]);
    }

    #[test]
    fn letters_beyond_ascii_are_refused() {
        // "é" is 0xC3 0xA9, as signed bytes -61 and -87.
        let error = texts(&column(Some(vec![0, 1, 3]), &[97, -61, -87])).unwrap_err();
        assert!(error.to_string().contains("ASCII"), "{error}");
    }

    #[test]
    fn numbers_are_spelled_out() {
        assert_eq!(texts(&column(None, &[3, -1])).unwrap(), ["3", "-1"]);
        assert_eq!(text_of(Number::Real(2.0)), "2.0");
    }

    #[test]
    fn offsets_must_lie_in_the_text_in_order() {
        for offsets in [vec![0, 9], vec![2, 1], vec![-1, 1], vec![i64::MIN, i64::MAX]] {
            assert!(texts(&column(Some(offsets), &[97, 98])).is_err());
        }
        assert!(texts(&column(Some(vec![0, 1]), &[1000])).is_err());
    }
}
