//! Tables that can be read repeatedly, some columns and some rows at a time, without all rows in memory.

use std::ops::ControlFlow;
use std::path::Path;

use super::{Cells, Column, Names, ReadOptions, Table, parquet_files};
use sogar_base::error::Result;

/// A table that can be read again from its beginning.
pub trait TableSource: Sync {
    /// The table without its rows: path, hash, number of rows, and columns by name; their cells may be missing.
    fn header(&self) -> &Table;

    /// Passes some columns to `visit`, about `at_once` rows at a time and in order, until the end or until it breaks. Each part
    /// is a table whose [lines](Table::lines) are those of the whole, so that errors name the right place; its columns are in the
    /// table's order.
    fn each_part(&self, columns: &[&str], at_once: usize, visit: &mut Visit<'_>) -> Result<()>;
}

/// Receives a part of a table; returns whether to continue.
pub type Visit<'a> = dyn FnMut(&Table) -> Result<ControlFlow<()>> + 'a;

/// Opens a table for reading in parts. A CSV file is in memory as a whole.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn TableSource>> {
    match parquet_files(path)? {
        #[cfg(feature = "parquet")]
        Some(files) => {
            Ok(Box::new(super::parquet::Files::open(path, &files, options, super::hash_of(path)?)?))
        }
        _ => Ok(Box::new(Table::read(path, options)?)),
    }
}

/// A table in memory is read from there.
impl TableSource for Table {
    fn header(&self) -> &Table {
        self
    }

    fn each_part(&self, columns: &[&str], at_once: usize, visit: &mut Visit<'_>) -> Result<()> {
        let chosen: Vec<&Column> = self.positions(columns).into_iter().map(|at| &self.columns[at]).collect();
        let at_once = at_once.clamp(1, self.rows.max(1));
        for start in (0..self.rows).step_by(at_once) {
            let rows = start..self.rows.min(start + at_once);
            let part = |column: &&Column| {
                let cells = match &column.cells {
                    Cells::Numbers(values) => Cells::Numbers(values[rows.clone()].to_vec()),
                    Cells::Text { codes, levels } => {
                        Cells::Text { codes: codes[rows.clone()].to_vec(), levels: levels.clone() }
                    }
                };
                Column { name: column.name.clone(), cells }
            };
            let lines = match self.lines.get(rows.clone()) {
                Some(lines) => lines.to_vec(),
                None => numbered(start, rows.len()),
            };
            let part = Table {
                path: self.path.clone(),
                hash: self.hash.clone(),
                rows: rows.len(),
                columns: chosen.iter().map(part).collect(),
                lines,
                names: Names::default(),
            };
            if visit(&part)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Table {
    /// The positions of the columns of these names, in the table's order.
    pub(super) fn positions(&self, names: &[&str]) -> Vec<usize> {
        let mut positions: Vec<usize> = names.iter().filter_map(|name| self.position(name)).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }
}

/// The numbers of rows of a table without lines: counted from 1.
pub(super) fn numbered(before: usize, rows: usize) -> Vec<u32> {
    (before + 1..=before + rows).map(|row| u32::try_from(row).unwrap_or(u32::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_table_in_memory_have_its_lines_and_the_requested_columns() {
        let mut table = Table::from_columns(
            "t.csv",
            vec![
                Column::numbers("a", vec![1.0, 2.0, 3.0]),
                Column::numbers("b", vec![4.0; 3]),
                Column::text("c", [Some("x"), None, Some("y")]),
            ],
        )
        .unwrap();
        let parts = |table: &Table, most: usize| {
            let mut seen = Vec::new();
            let mut visit = |part: &Table| {
                seen.push((part.names().map(str::to_owned).collect::<Vec<_>>(), part.lines.clone()));
                Ok(if seen.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            };
            table.each_part(&["c", "a"], 2, &mut visit).unwrap();
            seen
        };
        let names = vec!["a".to_owned(), "c".to_owned()];
        assert_eq!(parts(&table, 9), [(names.clone(), vec![1, 2]), (names.clone(), vec![3])]);
        table.lines = vec![2, 5, 6];
        assert_eq!(parts(&table, 1), [(names, vec![2, 5])]);
    }
}
