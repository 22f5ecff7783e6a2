//! Parquet, through arrow's readers, and arrow columns as such (which is what data frames hand over).
//!
//! Numbers of every width become `f64`, text of every layout becomes levels, true and false become text, nulls are
//! missing. Everything else (dates, lists, …) is refused by name rather than guessed at. Files are read column by column, some rows at a time,
//! and several files with the same columns can be one table.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow::array::{ArrayRef, AsArray, cast::as_boolean_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

use super::cell::{Cell, Texts, classify};
use super::source::{TableSource, Visit, numbered};
use super::{Cells, Column, ReadOptions, Table, check_cells};
use crate::error::{Error, ErrorKind, Result};
use crate::feature::format_number;
use crate::files::{open, sha256_hex};

/// Rows that are held as arrow arrays at a time; they become a table's cells at once.
const ROWS_AT_ONCE: usize = 1 << 16;

/// Reads a Parquet file's bytes. `path` is named in messages and kept in the table.
pub fn parse(bytes: Vec<u8>, path: &Path, options: &ReadOptions) -> Result<Table> {
    let hash = sha256_hex(&bytes);
    let part = Part::new(bytes::Bytes::from(bytes), path)?;
    let mut table = read_parts(path, &[part], options)?;
    table.hash = hash;
    Ok(table)
}

/// Reads files that are one table together, column by column and some rows at a time, so that there is never much more in memory than the
/// table itself. `path` is what messages call it: the file, or the folder of the files.
pub fn read(path: &Path, files: &[PathBuf], options: &ReadOptions) -> Result<Table> {
    let parts = files.iter().map(|file| Part::new(open(file)?, file)).collect::<Result<Vec<_>>>()?;
    read_parts(path, &parts, options)
}

/// A file of a table.
struct Part<R> {
    reader: R,
    path: PathBuf,
    metadata: ArrowReaderMetadata,
}

/// What can be read again from its beginning.
trait Again: ChunkReader + Sized + 'static {
    fn again(&self) -> std::io::Result<Self>;
}

impl Again for File {
    fn again(&self) -> std::io::Result<Self> {
        self.try_clone()
    }
}

impl Again for bytes::Bytes {
    fn again(&self) -> std::io::Result<Self> {
        Ok(self.clone())
    }
}

impl<R: Again> Part<R> {
    fn new(reader: R, path: &Path) -> Result<Self> {
        let metadata = ArrowReaderMetadata::load(&reader, ArrowReaderOptions::default())
            .map_err(|cause| damaged(path, &cause))?;
        Ok(Part { reader, path: path.to_path_buf(), metadata })
    }

    /// Gives the arrays of some columns (by their positions, ascending) to `visit`, at most `at_once` rows at a time, until it breaks.
    fn each_chunk(
        &self,
        columns: &[usize],
        at_once: usize,
        visit: &mut dyn FnMut(&[ArrayRef]) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let fault = |cause: &dyn std::fmt::Display| damaged(&self.path, cause);
        let reader = self.reader.again().map_err(|cause| fault(&cause))?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(reader, self.metadata.clone());
        let alone = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let batches = builder
            .with_projection(alone)
            .with_batch_size(at_once.clamp(1, ROWS_AT_ONCE))
            .build()
            .map_err(|cause| fault(&cause))?;
        for batch in batches {
            let batch = batch.map_err(|cause| fault(&cause))?;
            if visit(batch.columns())?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Names and types of the columns.
    fn columns(&self) -> Vec<(String, DataType)> {
        let fields = self.metadata.schema().fields().iter();
        fields.map(|field| (field.name().clone(), field.data_type().clone())).collect()
    }
}

fn damaged(path: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Table, format!("this Parquet file is damaged or not supported: {cause}"))
        .file(path)
        .help("write it again, or save the table as CSV")
}

/// The columns that all files of a table have.
fn common_columns<R: Again>(path: &Path, parts: &[Part<R>]) -> Result<Vec<(String, DataType)>> {
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

fn read_parts<R: Again>(path: &Path, parts: &[Part<R>], options: &ReadOptions) -> Result<Table> {
    let columns = common_columns(path, parts)?;
    let mut read = Vec::with_capacity(columns.len());
    for (position, (name, kind)) in columns.iter().enumerate() {
        let mut growing = Growing::new(name, kind, options, 0).map_err(|error| error.file(path))?;
        for part in parts {
            let _ = part.each_chunk(&[position], ROWS_AT_ONCE, &mut |chunk| {
                chunk
                    .iter()
                    .try_for_each(|chunk| growing.push(chunk))
                    .map_err(|error| error.file(&part.path))?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        read.push(growing.finish());
    }
    Table::from_columns(path, read)
}

/// Files that are one table, read part by part whenever it is looked at.
pub struct Files {
    parts: Vec<Part<File>>,
    columns: Vec<(String, DataType)>,
    options: ReadOptions,
    header: Table,
}

impl Files {
    /// Looks at what the files say about themselves; their rows are not read yet.
    pub fn open(path: &Path, files: &[PathBuf], options: &ReadOptions, hash: String) -> Result<Files> {
        let parts = files.iter().map(|file| Part::new(open(file)?, file)).collect::<Result<Vec<_>>>()?;
        let columns = common_columns(path, &parts)?;
        let empty = |(name, kind): &(String, DataType)| {
            Ok(Growing::new(name, kind, options, 0).map_err(|error| error.file(path))?.finish())
        };
        let rows = |part: &Part<File>| usize::try_from(part.metadata.metadata().file_metadata().num_rows());
        let header = Table {
            path: path.to_path_buf(),
            hash,
            rows: parts.iter().map(|part| rows(part).unwrap_or(0)).sum(),
            columns: columns.iter().map(empty).collect::<Result<_>>()?,
            lines: Vec::new(),
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
        let wanted = |at: &usize| columns.contains(&self.header.columns[*at].name.as_str());
        let positions: Vec<usize> = (0..self.columns.len()).filter(wanted).collect();
        let mut before = 0;
        let start = |before: usize| -> Result<Vec<Growing<'_>>> {
            let growing = |&at: &usize| {
                let (name, kind) = &self.columns[at];
                Growing::new(name, kind, &self.options, before)
            };
            positions.iter().map(growing).collect()
        };
        let mut growing = start(0)?;
        // Parts do not end where files do: a model may want many rows at a time.
        for file in &self.parts {
            let flow = file.each_chunk(&positions, at_once, &mut |chunks| {
                for (growing, chunk) in growing.iter_mut().zip(chunks) {
                    growing.push(chunk).map_err(|error| error.file(&file.path))?;
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
    /// Columns that are full, as a table of the rows behind the first so many.
    fn part(&self, columns: &mut Vec<Growing<'_>>, before: usize) -> Result<Table> {
        let columns: Vec<Column> = columns.drain(..).map(Growing::finish).collect();
        let rows = columns.first().map_or(0, |column| column.cells.len());
        let (path, hash) = (self.header.path.clone(), self.header.hash.clone());
        let part = Table { path, hash, rows, columns, lines: numbered(before, rows) };
        part.columns.iter().try_for_each(|column| check_cells(&part, column))?;
        Ok(part)
    }
}

/// An arrow column, given in chunks of type `kind`, as a column of a table.
pub fn column(name: &str, kind: &DataType, chunks: &[ArrayRef], options: &ReadOptions) -> Result<Column> {
    let mut growing = Growing::new(name, kind, options, 0)?;
    chunks.iter().try_for_each(|chunk| growing.push(chunk))?;
    Ok(growing.finish())
}

/// A column while its chunks come.
struct Growing<'a> {
    name: &'a str,
    cells: Filling,
    missing: &'a [String],
    /// Rows of the table before the first one here.
    before: usize,
}

/// What chunks are turned into.
enum Filling {
    Numbers(Vec<f64>),
    /// Numbers that are wanted as text.
    Spelled(Texts),
    Truth(Texts),
    /// Text that is wanted as numbers.
    Parsed(Vec<f64>),
    Text(Texts),
}

impl<'a> Growing<'a> {
    fn new(name: &'a str, kind: &DataType, options: &'a ReadOptions, before: usize) -> Result<Self> {
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
        Ok(Growing { name, cells, missing: &options.missing, before })
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
            Filling::Spelled(texts) => each_number(name, chunk, |value| {
                let text = format_number(value);
                texts.push((!value.is_nan()).then_some(text.as_str()));
            }),
            Filling::Truth(texts) => {
                for value in as_boolean_array(chunk) {
                    texts.push(value.map(|value| if value { "true" } else { "false" }));
                }
                Ok(())
            }
            Filling::Parsed(values) => each_text(name, chunk, |cell| {
                values.push(parsed(name, cell, self.missing, self.before + values.len() + 1)?);
                Ok(())
            }),
            Filling::Text(texts) => each_text(name, chunk, |cell| {
                texts.push(cell.map(str::trim).filter(|cell| !cell.is_empty()));
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
        Column { name: self.name.trim().to_owned(), cells }
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

fn each_text(name: &str, chunk: &ArrayRef, mut visit: impl FnMut(Option<&str>) -> Result<()>) -> Result<()> {
    let chunk = converted(name, chunk, &DataType::LargeUtf8)?;
    chunk.as_string::<i64>().iter().try_for_each(&mut visit)
}

/// A cell of a text column that is declared to be one of numbers.
fn parsed(name: &str, cell: Option<&str>, missing: &[String], row: usize) -> Result<f64> {
    let cell = cell.unwrap_or_default().trim();
    match classify(cell, missing) {
        Cell::Number(number) => Ok(number),
        Cell::Empty | Cell::Token | Cell::Gap => Ok(f64::NAN),
        Cell::Infinite | Cell::Text => {
            let message = format!("`{cell}` is not a number, but the column is declared as numbers");
            Err(Error::new(ErrorKind::Table, message).row(row).column(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int8Array, Int64Array,
        LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray,
    };
    use arrow::datatypes::Int32Type;
    use parquet::arrow::ArrowWriter;

    use super::super::MISSING;
    use super::*;

    fn written(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn read(columns: Vec<(&str, ArrayRef)>, options: &ReadOptions) -> Result<Table> {
        parse(written(columns), Path::new("t.parquet"), options)
    }

    fn text(codes: &[u32], levels: &[&str]) -> Cells {
        Cells::Text { codes: codes.to_vec(), levels: levels.iter().map(|level| (*level).into()).collect() }
    }

    #[test]
    fn numbers_text_and_truth_values_of_all_layouts_are_read() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("i8", Arc::new(Int8Array::from(vec![Some(1), Some(-2)]))),
            ("i64", Arc::new(Int64Array::from(vec![Some(40), Some(50)]))),
            ("f32", Arc::new(Float32Array::from(vec![0.5, -0.0]))),
            ("bool", Arc::new(BooleanArray::from(vec![Some(true), None]))),
            ("utf8", Arc::new(StringArray::from(vec!["b", " a "]))),
            ("large", Arc::new(LargeStringArray::from(vec![Some("x"), None]))),
            ("view", Arc::new(StringViewArray::from(vec!["x", ""]))),
            ("dictionary", Arc::new(vec!["q", "p"].into_iter().collect::<DictionaryArray<Int32Type>>())),
        ];
        let table = read(columns, &ReadOptions::default()).unwrap();
        let cells: Vec<&Cells> = table.columns.iter().map(|column| &column.cells).collect();
        assert_eq!(cells[0], &Cells::Numbers(vec![1.0, -2.0]));
        assert_eq!(cells[1], &Cells::Numbers(vec![40.0, 50.0]));
        assert_eq!(cells[2], &Cells::Numbers(vec![0.5, 0.0]));
        assert_eq!(cells[3], &text(&[0, MISSING], &["true"]));
        assert_eq!(cells[4], &text(&[1, 0], &["a", "b"]));
        assert_eq!(cells[5], &text(&[0, MISSING], &["x"]));
        assert_eq!(cells[6], &text(&[0, MISSING], &["x"]));
        assert_eq!(cells[7], &text(&[1, 0], &["p", "q"]));
    }

    #[test]
    fn nulls_are_missing_and_the_hash_is_that_of_the_file() {
        let columns = || -> Vec<(&str, ArrayRef)> {
            vec![
                ("a", Arc::new(Float64Array::from(vec![Some(1.0), None]))),
                ("b", Arc::new(NullArray::new(2))),
            ]
        };
        let table = read(columns(), &ReadOptions::default()).unwrap();
        let Cells::Numbers(values) = &table.columns[0].cells else { panic!("numbers") };
        assert!(values[1].is_nan());
        assert_eq!(table.hash, sha256_hex(&written(columns())));
    }

    #[test]
    fn columns_are_read_as_declared() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("code", Arc::new(Int64Array::from(vec![10, 2]))),
            ("amount", Arc::new(StringArray::from(vec!["1.5", "?"]))),
        ];
        let options = ReadOptions {
            text: vec!["code".into()],
            numbers: vec!["amount".into()],
            missing: vec!["?".into()],
            ..ReadOptions::default()
        };
        let table = read(columns.clone(), &options).unwrap();
        assert_eq!(table.columns[0].cells, text(&[0, 1], &["10", "2"]));
        assert!(matches!(&table.columns[1].cells, Cells::Numbers(values) if values[1].is_nan()));
        let strict = ReadOptions { numbers: vec!["amount".into()], ..ReadOptions::default() };
        let error = read(columns, &strict).unwrap_err();
        assert!(error.to_string().starts_with("t.parquet, line 2, column `amount`: `?` is not a number"));
    }

    #[test]
    fn files_of_a_folder_are_one_table() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, columns: Vec<(&str, ArrayRef)>| {
            std::fs::write(folder.path().join(name), written(columns)).unwrap();
        };
        let part = |numbers: Vec<i64>, texts: Vec<&str>| -> Vec<(&str, ArrayRef)> {
            vec![("a", Arc::new(Int64Array::from(numbers))), ("b", Arc::new(StringArray::from(texts)))]
        };
        let read = || Table::read(folder.path(), &ReadOptions::default());
        assert!(read().unwrap_err().to_string().contains("has no Parquet files"));
        write("part-1.parquet", part(vec![3], vec!["x"]));
        write("part-0.parquet", part(vec![1, 2], vec!["y", "x"]));
        std::fs::write(folder.path().join("_SUCCESS"), "").unwrap();
        let table = read().unwrap();
        assert_eq!(table.columns[0].cells, Cells::Numbers(vec![1.0, 2.0, 3.0]));
        assert_eq!(table.columns[1].cells, text(&[1, 0, 0], &["x", "y"]));
        assert_eq!(table.hash, super::super::hash_of(folder.path()).unwrap());
        write("part-2.parquet", vec![("a", Arc::new(Int64Array::from(vec![3])))]);
        let error = read().unwrap_err().to_string();
        assert!(error.contains("part-2.parquet: its columns are not those of"), "{error}");
        std::fs::remove_file(folder.path().join("part-2.parquet")).unwrap();
        write("part-1.parquet", part(vec![4], vec!["x"]));
        assert_ne!(read().unwrap().hash, table.hash);
    }

    #[test]
    fn many_rows_come_in_many_pieces() {
        let rows = 3 * ROWS_AT_ONCE + 5;
        let numbers: ArrayRef = Arc::new(Float64Array::from_iter_values((0..rows).map(|row| row as f64)));
        let texts = (0..rows).map(|row| format!("{}", row % 7));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        let table = read(vec![("a", numbers), ("b", texts)], &ReadOptions::default()).unwrap();
        let (Cells::Numbers(numbers), Cells::Text { codes, levels }) =
            (&table.columns[0].cells, &table.columns[1].cells)
        else {
            panic!("numbers and text");
        };
        assert!((0..rows).all(|row| numbers[row] == row as f64 && codes[row] as usize == row % 7));
        assert_eq!((table.rows, levels.len()), (rows, 7));
    }

    #[test]
    fn other_types_infinite_numbers_and_damage_are_refused() {
        let fails =
            |array: ArrayRef| read(vec![("c", array)], &ReadOptions::default()).unwrap_err().to_string();
        let date = fails(Arc::new(Date32Array::from(vec![1, 2])));
        assert_eq!(date, "t.parquet, column `c`: values of type Date32 are not supported");
        let infinite = fails(Arc::new(Float64Array::from(vec![1.0, f64::INFINITY])));
        assert!(infinite.contains("line 2, column `c`: `inf` is not a finite number"), "{infinite}");
        let whole = written(vec![("c", Arc::new(Int64Array::from(vec![1, 2])))]);
        for length in [4, 8, whole.len() / 2, whole.len() - 1] {
            let error = parse(whole[..length].to_vec(), Path::new("t.parquet"), &ReadOptions::default());
            assert!(error.unwrap_err().to_string().contains("damaged"), "{length}");
        }
    }
}
