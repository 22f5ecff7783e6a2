//! The label column: the names of the classes, and the true class of each row.

use super::look::Streamed;
use super::texts::Texts;
use crate::config::Config;
use crate::table::{MISSING, Table, TableSource, is_token};
use sogar_base::error::Result;

/// The values of a label column.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// The distinct values as text: numbers in numeric order, texts in byte order (as scikit-learn sorts them).
    pub values: Vec<String>,
    /// For each row the position of its value in `values`; `None` if the cell is empty.
    pub of_row: Vec<Option<u32>>,
}

/// The configured label column, if there is one. An unknown name is an error.
pub fn label_values(table: &Table, config: &Config) -> Result<Option<Labels>> {
    let Some(name) = &config.data.label else { return Ok(None) };
    let texts = Texts::of(&table.require(name)?.cells);
    let gaps: Vec<bool> = texts.levels.iter().map(|level| is_token(&config.data.missing, level)).collect();
    let mut order: Vec<usize> = (0..texts.levels.len()).filter(|index| !gaps[*index]).collect();
    let numbers: Vec<Option<f64>> = texts.levels.iter().map(|level| level.trim().parse().ok()).collect();
    if order.iter().all(|index| numbers[*index].is_some()) {
        order.sort_by(|a, b| numbers[*a].unwrap_or(0.0).total_cmp(&numbers[*b].unwrap_or(0.0)));
    }
    let mut place = vec![None; texts.levels.len()];
    for (position, index) in order.iter().enumerate() {
        place[*index] = Some(position as u32);
    }
    let of_row = texts.codes.iter().map(|code| if *code == MISSING { None } else { place[*code as usize] });
    Ok(Some(Labels {
        of_row: of_row.collect(),
        values: order.into_iter().map(|index| texts.levels[index].clone()).collect(),
    }))
}

/// The values of the label column of a table that is read in parts, without the rows.
pub fn label_names(source: &dyn TableSource, config: &Config) -> Result<Option<Labels>> {
    let Some(name) = &config.data.label else { return Ok(None) };
    source.header().require(name)?;
    let (each_once, _) = Streamed { source, scale: None }.each_once(name)?;
    let labels = label_values(&each_once, config)?;
    Ok(labels.map(|labels| Labels { of_row: Vec::new(), ..labels }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    fn labels(column: Column) -> Labels {
        let table = Table::from_columns("", vec![column]).unwrap();
        let mut config = Config::default();
        assert_eq!(label_values(&table, &config).unwrap(), None);
        config.data.label = Some("y".into());
        label_values(&table, &config).unwrap().unwrap()
    }

    #[test]
    fn texts_are_in_byte_order_and_gaps_have_no_class() {
        let labels = labels(Column::text("y", [Some("good"), None, Some("bad")]));
        assert_eq!(labels.values, ["bad", "good"]);
        assert_eq!(labels.of_row, [Some(1), None, Some(0)]);
    }

    #[test]
    fn numbers_are_in_numeric_order() {
        let of_numbers = labels(Column::numbers("y", vec![10.0, 2.0, f64::NAN]));
        assert_eq!(of_numbers.values, ["2", "10"]);
        assert_eq!(of_numbers.of_row, [Some(1), Some(0), None]);
        assert_eq!(labels(Column::text("y", [Some("10"), Some("2")])).values, ["2", "10"]);
    }

    #[test]
    fn an_unknown_label_is_answered_with_the_nearest() {
        let table = Table::from_columns("", vec![Column::numbers("credit", vec![1.0])]).unwrap();
        let mut config = Config::default();
        config.data.label = Some("credt".into());
        let error = label_values(&table, &config).unwrap_err();
        assert_eq!(error.remedy(), Some("did you mean `credit`?"));
    }
}
