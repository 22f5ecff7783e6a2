//! Parquet, through arrow's readers, and arrow columns themselves (which data frames pass).
//!
//! Numbers of every width become `f64`, text of every layout becomes levels, true and false become text, nulls are missing.
//! Everything else (dates, lists, …) is refused by name instead of guessed. Files are read column by column, some rows at a time,
//! and several files with the same columns can be one table.
//!
//! The readers trust damaged files too much. Claims about sizes are checked before the readers see them (`claims`, `pages`), and
//! a panic in them becomes an error of the file (`contained`).

mod claims;
mod contained;
mod files;
mod pages;

pub use files::Files;

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow_array::cast::{AsArray, as_boolean_array};
use arrow_array::{ArrayRef, types::Float64Type};
use arrow_cast::cast;
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

use super::cell::{Cell, Texts, classify};
use super::{Cells, Column, ReadOptions, Table};
use crate::feature::format_number;
use contained::contained;
use pages::Pages;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::{open, sha256_hex};
use sogar_base::memory::amount;

/// Rows to hold as arrow arrays at a time; they become a table's cells at once.
const ROWS_AT_ONCE: usize = 1 << 16;

/// Limit of rows in a file; the rows of many files still add up without overflow.
const MOST_ROWS: usize = 1 << 48;

/// Reads a Parquet file's bytes. `path` is for messages and stored in the table.
pub fn parse(bytes: Vec<u8>, path: &Path, options: &ReadOptions) -> Result<Table> {
    let hash = sha256_hex(&bytes);
    let part = TableFile::new(bytes::Bytes::from(bytes), path, options.memory_limit())?;
    let mut table = read_parts(path, &[part], options)?;
    table.hash = hash;
    Ok(table)
}

/// Reads files that form one table, column by column and some rows at a time, so that memory never holds much more than the table
/// itself. `path` is its name in messages: the file, or the folder of the files.
pub fn read(path: &Path, files: &[PathBuf], options: &ReadOptions) -> Result<Table> {
    read_parts(path, &parts_of(files, options)?, options)
}

/// The files of a table, each with its metadata.
fn parts_of(files: &[PathBuf], options: &ReadOptions) -> Result<Vec<TableFile<File>>> {
    files.iter().map(|file| TableFile::new(open(file)?, file, options.memory_limit())).collect()
}

/// A file of a table.
struct TableFile<R> {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    /// Number of rows, according to the file.
    rows: usize,
    pages: Pages<R>,
}

impl<R: ChunkReader + 'static> TableFile<R> {
    /// Reads the metadata of a file. `memory` is the limit of a single allocation by its readers, in bytes.
    fn new(reader: R, path: &Path, memory: u64) -> Result<Self> {
        claims::check_footer(&reader).map_err(|cause| damaged(path, &cause))?;
        let load = || ArrowReaderMetadata::load(&reader, ArrowReaderOptions::default());
        let metadata = of_file(path, load)?;
        let groups = metadata.metadata().row_groups().iter();
        let mut rows = groups.map(|group| usize::try_from(group.num_rows()).ok());
        let rows = rows.try_fold(0usize, |sum, rows| sum.checked_add(rows?)).filter(|&rows| rows < MOST_ROWS);
        let rows = rows.ok_or_else(|| damaged(path, &"its number of rows makes no sense"))?;
        let pages = Pages::new(reader, metadata.metadata().clone(), rows, memory);
        Ok(TableFile { path: path.to_path_buf(), metadata, rows, pages })
    }

    /// Passes the arrays of some columns (by their positions, ascending) to `visit`, at most `at_once` rows at a time, until it
    /// breaks.
    fn each_chunk(
        &self,
        columns: &[usize],
        at_once: usize,
        visit: &mut dyn FnMut(&[ArrayRef]) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let schema = self.metadata.parquet_schema();
        let alone = ProjectionMask::roots(schema, columns.iter().copied());
        let mut batches = of_file(&self.path, || {
            let levels = parquet_to_arrow_field_levels(schema, alone, Some(self.metadata.schema().fields()))?;
            let at_once = at_once.clamp(1, ROWS_AT_ONCE);
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, &self.pages, at_once, None)
        })?;
        let mut rows = 0;
        while let Some(batch) = of_file(&self.path, || batches.next().transpose())? {
            rows += batch.num_rows();
            // Otherwise a few bytes could give endless rows.
            if rows > self.rows {
                return Err(damaged(&self.path, &"a column has more rows than the file says"));
            }
            if visit(batch.columns())?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if rows != self.rows {
            return Err(damaged(&self.path, &"a column has fewer rows than the file says"));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Adds a chunk of this file to a column.
    fn push(&self, growing: &mut Growing<'_>, chunk: &ArrayRef) -> Result<()> {
        contained(|| growing.push(chunk))
            .map_err(|cause| damaged(&self.path, &cause))?
            .map_err(|error| error.file(&self.path))
    }

    /// Names and types of the columns.
    fn columns(&self) -> Vec<(String, DataType)> {
        let fields = self.metadata.schema().fields().iter();
        fields.map(|field| (field.name().clone(), field.data_type().clone())).collect()
    }
}

/// Runs a reader on a file; both errors and panics become errors of the file.
fn of_file<T, E: Into<ParquetError>>(
    path: &Path,
    read: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    match contained(read) {
        Ok(found) => found.map_err(|cause| damaged(path, &cause.into())),
        Err(cause) => Err(damaged(path, &cause)),
    }
}

fn damaged(path: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Table, format!("this Parquet file is damaged or not supported: {cause}"))
        .file(path)
        .help("write it again, or save the table as CSV")
}

/// The columns that all files of a table have.
fn common_columns<R: ChunkReader + 'static>(
    path: &Path,
    parts: &[TableFile<R>],
) -> Result<Vec<(String, DataType)>> {
    let Some((first, others)) = parts.split_first() else {
        return Err(Error::new(ErrorKind::Table, "there is no Parquet file").file(path));
    };
    let columns = first.columns();
    if let Some(other) = others.iter().find(|part| part.columns() != columns) {
        let message = format!("its columns are not those of {}", first.path.display());
        return Err(Error::new(ErrorKind::Table, message)
            .file(&other.path)
            .help("files of one table have the same columns, in the same order and of the same types"));
    }
    Ok(columns)
}

fn read_parts<R: ChunkReader + 'static>(
    path: &Path,
    parts: &[TableFile<R>],
    options: &ReadOptions,
) -> Result<Table> {
    let columns = common_columns(path, parts)?;
    refuse_if_too_large(path, parts.iter().map(|part| part.rows).sum(), &columns, options)?;
    let mut read = Vec::with_capacity(columns.len());
    for (position, (name, kind)) in columns.iter().enumerate() {
        let mut growing = Growing::new(name, kind, options, 0).map_err(|error| error.file(path))?;
        for part in parts {
            let _ = part.each_chunk(&[position], ROWS_AT_ONCE, &mut |chunk| {
                chunk.iter().try_for_each(|chunk| part.push(&mut growing, chunk))?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        read.push(growing.finish());
    }
    Table::from_columns(path, read)
}

/// Fails if the cells of a table would not fit into memory: a few bytes can claim any number of rows.
fn refuse_if_too_large(
    path: &Path,
    rows: usize,
    columns: &[(String, DataType)],
    options: &ReadOptions,
) -> Result<()> {
    let bytes_of = |(_, kind): &(String, DataType)| if is_number(kind) { 8 } else { 4 };
    let bytes = rows as u128 * columns.iter().map(bytes_of).sum::<u128>();
    let limit = options.memory_limit();
    if bytes <= u128::from(limit) {
        return Ok(());
    }
    let (cells, limit) = (amount(bytes), amount(u128::from(limit)));
    let message = format!("its {rows} rows take {cells} in memory, and the limit is {limit}");
    let help = "raise --memory-limit (`memory_limit` under [limits]), leave columns out of the file, or write it again if it is damaged";
    Err(Error::new(ErrorKind::Memory, message).file(path).help(help))
}

fn is_number(kind: &DataType) -> bool {
    matches!(content(kind), Content::Numbers)
}

/// An arrow column, in chunks of type `kind`, as a column of a table.
pub fn column(name: &str, kind: &DataType, chunks: &[ArrayRef], options: &ReadOptions) -> Result<Column> {
    let mut growing = Growing::new(name, kind, options, 0)?;
    chunks.iter().try_for_each(|chunk| growing.push(chunk))?;
    Ok(growing.finish())
}

/// A column being built from chunks.
struct Growing<'a> {
    name: &'a str,
    cells: Filling,
    options: &'a ReadOptions,
    /// Rows of the table before the first one here.
    before: usize,
}

/// The target of chunks.
enum Filling {
    Numbers(Vec<f64>),
    /// Numbers to read as text.
    Spelled(Texts),
    Truth(Texts),
    /// Text to read as numbers.
    Parsed(Vec<f64>),
    Text(Texts),
}

impl<'a> Growing<'a> {
    fn new(name: &'a str, kind: &DataType, options: &'a ReadOptions, before: usize) -> Result<Self> {
        let name = name.trim();
        let is_listed = |list: &[String]| list.iter().any(|listed| listed == name);
        let cells = match content(kind) {
            Content::Numbers if is_listed(&options.text) => Filling::Spelled(Texts::default()),
            Content::Numbers => Filling::Numbers(Vec::new()),
            Content::Booleans => Filling::Truth(Texts::default()),
            Content::Text if is_listed(&options.numbers) => Filling::Parsed(Vec::new()),
            Content::Text => Filling::Text(Texts::default()),
            Content::Other => {
                return Err(Error::new(ErrorKind::Table, format!("values of type {kind} are not supported"))
                    .column(name)
                    .help("convert the column to numbers or text, or leave it out of the file"));
            }
        };
        Ok(Growing { name, cells, options, before })
    }

    fn rows(&self) -> usize {
        match &self.cells {
            Filling::Numbers(values) | Filling::Parsed(values) => values.len(),
            Filling::Spelled(texts) | Filling::Truth(texts) | Filling::Text(texts) => texts.rows(),
        }
    }

    fn push(&mut self, chunk: &ArrayRef) -> Result<()> {
        let name = self.name;
        match &mut self.cells {
            Filling::Numbers(values) => each_number(name, chunk, |value| values.push(value)),
            Filling::Spelled(texts) => each_spelled(name, chunk, |text| texts.push(text)),
            Filling::Truth(texts) => {
                for value in as_boolean_array(chunk) {
                    texts.push(value.map(|value| if value { "true" } else { "false" }));
                }
                Ok(())
            }
            Filling::Parsed(values) => each_text(name, chunk, |cell| {
                values.push(parsed(name, cell, self.options, self.before + values.len() + 1)?);
                Ok(())
            }),
            Filling::Text(texts) => each_text(name, chunk, |cell| {
                let cell = if self.options.trim { cell.map(str::trim) } else { cell };
                texts.push(cell.filter(|cell| !cell.is_empty()));
                Ok(())
            }),
        }
    }

    fn finish(self) -> Column {
        let cells = match self.cells {
            Filling::Numbers(mut values) | Filling::Parsed(mut values) => {
                values.shrink_to_fit();
                Cells::Numbers(values)
            }
            Filling::Spelled(texts) | Filling::Truth(texts) | Filling::Text(texts) => texts.finish(),
        };
        Column { name: self.name.to_owned(), cells }
    }
}

enum Content {
    Numbers,
    Booleans,
    Text,
    Other,
}

fn content(kind: &DataType) -> Content {
    match kind {
        kind if kind.is_integer() || kind.is_floating() => Content::Numbers,
        DataType::Decimal128(..) | DataType::Decimal256(..) | DataType::Null => Content::Numbers,
        DataType::Boolean => Content::Booleans,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Content::Text,
        // As strings, dates are recognised and left out.
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Content::Text,
        DataType::Dictionary(_, values) => match content(values) {
            Content::Booleans => Content::Other,
            content => content,
        },
        _ => Content::Other,
    }
}

fn converted(name: &str, chunk: &ArrayRef, kind: &DataType) -> Result<ArrayRef> {
    cast(chunk, kind).map_err(|cause| {
        Error::new(ErrorKind::Table, format!("could not be read as {kind}: {cause}")).column(name)
    })
}

fn each_number(name: &str, chunk: &ArrayRef, mut visit: impl FnMut(f64)) -> Result<()> {
    let chunk = converted(name, chunk, &DataType::Float64)?;
    let chunk = chunk.as_primitive::<Float64Type>();
    chunk.iter().for_each(|value| visit(value.map_or(f64::NAN, |value| value + 0.0)));
    Ok(())
}

/// Numbers as text: whole ones and decimals digit by digit, because 64-bit floats cannot represent all of them.
fn each_spelled(name: &str, chunk: &ArrayRef, mut visit: impl FnMut(Option<&str>)) -> Result<()> {
    let kind = match chunk.data_type() {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        kind => kind.clone(),
    };
    if matches!(kind, DataType::Decimal128(..) | DataType::Decimal256(..)) {
        return each_text(name, &converted(name, chunk, &kind)?, |text| {
            let short = |text: &'_ str| text.trim_end_matches('0').trim_end_matches('.').len();
            visit(text.map(|text| if text.contains('.') { &text[..short(text)] } else { text }));
            Ok(())
        });
    }
    if kind.is_integer() {
        return each_text(name, &converted(name, chunk, &kind)?, |text| {
            visit(text);
            Ok(())
        });
    }
    each_number(name, chunk, |value| {
        visit((!value.is_nan()).then(|| format_number(value)).as_deref());
    })
}

fn each_text(name: &str, chunk: &ArrayRef, mut visit: impl FnMut(Option<&str>) -> Result<()>) -> Result<()> {
    let chunk = match chunk.data_type() {
        // Names of time zones are not interpreted, only the instants.
        DataType::Timestamp(unit, Some(_)) => converted(name, chunk, &DataType::Timestamp(*unit, None))?,
        _ => chunk.clone(),
    };
    let chunk = converted(name, &chunk, &DataType::LargeUtf8)?;
    chunk.as_string::<i64>().iter().try_for_each(&mut visit)
}

/// A cell of a text column that is declared as numeric.
fn parsed(name: &str, cell: Option<&str>, options: &ReadOptions, row: usize) -> Result<f64> {
    let cell = cell.unwrap_or_default().trim();
    match classify(cell, &options.missing, options.decimal_comma) {
        Cell::Number(number) => Ok(number),
        Cell::Empty | Cell::Token | Cell::Gap => Ok(f64::NAN),
        Cell::Infinite | Cell::Text => {
            let message = format!("`{cell}` is not a number, but the column is declared as numbers");
            Err(Error::new(ErrorKind::Table, message).row(row).column(name))
        }
    }
}

#[cfg(test)]
mod damage;
#[cfg(test)]
mod tests;
