//! Parquet files as a table that is read in parts on each pass.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow_schema::DataType;

use super::super::source::{TableSource, Visit, numbered};
use super::super::{Column, Names, ReadOptions, Table, check_cells};
use super::{Growing, TableFile, common_columns, parts_of};
use sogar_base::error::Result;

/// Files that form one table, read in parts on each pass.
pub struct Files {
    parts: Vec<TableFile<File>>,
    columns: Vec<(String, DataType)>,
    options: ReadOptions,
    header: Table,
}

impl Files {
    /// Reads the metadata of the files, not their rows.
    pub fn open(path: &Path, files: &[PathBuf], options: &ReadOptions, hash: String) -> Result<Files> {
        let parts = parts_of(files, options)?;
        let columns = common_columns(path, &parts)?;
        let empty = |(name, kind): &(String, DataType)| {
            Ok(Growing::new(name, kind, options, 0).map_err(|error| error.file(path))?.finish())
        };
        let header = Table {
            path: path.to_path_buf(),
            hash,
            rows: parts.iter().map(|part| part.rows).sum(),
            columns: columns.iter().map(empty).collect::<Result<_>>()?,
            lines: Vec::new(),
            names: Names::default(),
        };
        header.check_names()?;
        Ok(Files { parts, columns, options: options.clone(), header })
    }
}

impl TableSource for Files {
    fn header(&self) -> &Table {
        &self.header
    }

    fn each_part(&self, columns: &[&str], at_once: usize, visit: &mut Visit<'_>) -> Result<()> {
        let positions = self.header.positions(columns);
        let mut before = 0;
        let start = |before: usize| -> Result<Vec<Growing<'_>>> {
            let growing = |&at: &usize| {
                let (name, kind) = &self.columns[at];
                Growing::new(name, kind, &self.options, before)
            };
            positions.iter().map(growing).collect()
        };
        let mut growing = start(0)?;
        // Parts do not end where files do: a model may need many rows at a time.
        for file in &self.parts {
            let flow = file.each_chunk(&positions, at_once, &mut |chunks| {
                for (growing, chunk) in growing.iter_mut().zip(chunks) {
                    file.push(growing, chunk)?;
                }
                if growing.first().is_none_or(|first| first.rows() < at_once) {
                    return Ok(ControlFlow::Continue(()));
                }
                let full = self.part(&mut growing, before)?;
                before += full.rows;
                growing = start(before)?;
                visit(&full)
            })?;
            if flow.is_break() {
                return Ok(());
            }
        }
        if growing.first().is_some_and(|first| first.rows() > 0) {
            let last = self.part(&mut growing, before)?;
            let _ = visit(&last)?;
        }
        Ok(())
    }
}

impl Files {
    /// Finished columns, as a table of the rows after the first `before`.
    fn part(&self, columns: &mut Vec<Growing<'_>>, before: usize) -> Result<Table> {
        let columns: Vec<Column> = columns.drain(..).map(Growing::finish).collect();
        let rows = columns.first().map_or(0, |column| column.cells.len());
        let (path, hash) = (self.header.path.clone(), self.header.hash.clone());
        let part =
            Table { path, hash, rows, columns, lines: numbered(before, rows), names: Names::default() };
        part.columns.iter().try_for_each(|column| check_cells(&part, column))?;
        Ok(part)
    }
}
