//! Tables as read from files: named columns of numbers or text, without interpretation.
//!
//! A table knows its origin and the hash of its bytes, so that results can be tied to it. [`crate::feature`] decides later which
//! columns are features, and of what kind.

mod cell;
pub mod csv;
mod foreign;
mod names;
#[cfg(feature = "parquet")]
pub mod parquet;
mod partitions;
mod source;
pub(crate) mod written;

pub use cell::is_token;
pub use names::{Names, Renamed};
pub use partitions::{Fetch, Partitions};
pub use source::{TableSource, Visit, open as open_source};

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_base::files::{hexadecimal, open, read_bytes, sha256_hex, sha256_of_file};

/// The code of a missing cell in a text column.
pub const MISSING: u32 = u32::MAX;

/// A column's cells.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Numbers; a missing cell is NaN.
    Numbers(Vec<f64>),
    /// Text as codes into `levels` (distinct, in byte order); a missing cell is [`MISSING`].
    Text {
        /// One code per row.
        codes: Vec<u32>,
        /// The distinct texts in byte order.
        levels: Vec<String>,
    },
}

impl Cells {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Cells::Numbers(values) => values.len(),
            Cells::Text { codes, .. } => codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// Its cells.
    pub cells: Cells,
}

impl Column {
    /// A column of numbers; NaN is a missing cell.
    pub fn numbers(name: impl Into<String>, values: Vec<f64>) -> Self {
        Column { name: name.into(), cells: Cells::Numbers(values) }
    }

    /// A column of text; `None` is a missing cell.
    pub fn text<'a>(name: impl Into<String>, cells: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut texts = cell::Texts::default();
        for cell in cells {
            texts.push(cell);
        }
        Column { name: name.into(), cells: texts.finish() }
    }
}

/// A table with a header.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The file it was read from; empty for a table made in memory.
    pub path: PathBuf,
    /// SHA-256 of the file's bytes, in hexadecimal.
    pub hash: String,
    /// Number of rows.
    pub rows: usize,
    /// The columns in file order; names are distinct.
    pub columns: Vec<Column>,
    /// The line of the file on which each row starts; empty if the file has no lines.
    pub lines: Vec<u32>,
    /// Further facts about the names.
    pub names: Names,
}

/// How to read a table.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Field delimiter of CSV; `None`: detected from the header (comma, semicolon, tab or bar).
    pub delimiter: Option<u8>,
    /// Strings that mean "missing", besides the empty cell; surrounding blanks do not count. In a column of numbers `NA`, `N/A`,
    /// `NaN`, `nan`, `null` and `NULL` need not be listed.
    pub missing: Vec<String>,
    /// Whether numbers have a decimal comma.
    pub decimal_comma: bool,
    /// Columns to read as text even if every cell is a number.
    pub text: Vec<String>,
    /// Columns to read as numbers; any other cell is an error.
    pub numbers: Vec<String>,
    /// Whether to strip blanks (spaces, tabs, no-break spaces, …) from cells.
    pub trim: bool,
    /// Bytes that a Parquet table may take in memory; `None`: three quarters of the machine's.
    pub memory: Option<u64>,
}

#[cfg(feature = "parquet")]
impl ReadOptions {
    fn memory_limit(&self) -> u64 {
        self.memory.unwrap_or_else(sogar_base::memory::machine_share)
    }
}

impl Table {
    /// Reads a CSV or Parquet file, recognised by its first bytes. A folder of Parquet files is one table, in the order of their
    /// names.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
        if let Some(files) = parquet_files(path)? {
            let mut table = read_parquet(path, &files, options)?;
            table.hash = hash_of(path)?;
            return Ok(table);
        }
        csv_of(&read_bytes(path)?, path, options)
    }

    /// Reads the bytes of a CSV or Parquet file. `path` is for messages and stored in the table.
    pub fn from_bytes(bytes: Vec<u8>, path: &Path, options: &ReadOptions) -> Result<Table> {
        if bytes.starts_with(PARQUET) {
            parquet_of(bytes, path, options)
        } else {
            csv_of(&bytes, path, options)
        }
    }

    /// A table built in memory. `origin` is its name in messages (empty: none). Its hash is that of its contents.
    ///
    /// ```
    /// use sogar_table::table::{Column, Table};
    /// let table = Table::from_columns("", vec![
    ///     Column::numbers("age", vec![31.0, 45.0]),
    ///     Column::text("job", [Some("clerk"), None]),
    /// ])?;
    /// assert_eq!(table.rows, 2);
    /// # Ok::<(), sogar_base::Error>(())
    /// ```
    pub fn from_columns(origin: impl Into<PathBuf>, columns: Vec<Column>) -> Result<Table> {
        let rows = columns.first().map_or(0, |column| column.cells.len());
        let mut table = Table {
            path: origin.into(),
            hash: String::new(),
            rows,
            columns,
            lines: Vec::new(),
            names: Names::default(),
        };
        table.check_names()?;
        for column in &table.columns {
            if column.cells.len() != rows {
                let message = format!("has {} rows, but the first column has {rows}", column.cells.len());
                return Err(table.error(message).column(&column.name));
            }
            check_cells(&table, column)?;
        }
        let mut hash = ContentHash::default();
        hash.add(&table.columns);
        table.hash = hash.finish(&table.columns);
        Ok(table)
    }

    /// Checks that there are columns with distinct names, and rows.
    fn check_names(&self) -> Result<()> {
        let mut names = HashMap::with_capacity(self.columns.len());
        for (position, column) in self.columns.iter().enumerate() {
            if column.name.is_empty() {
                return Err(self.error("a column has no name"));
            }
            if let Some(first) = names.insert(column.name.as_str(), position) {
                let error = self.error_of_two(&column.name, first, position);
                return Err(error.help("give every column its own name, or take one of them away"));
            }
        }
        if self.columns.is_empty() {
            return Err(self.error("the table has no columns"));
        }
        if self.rows == 0 {
            return Err(self.error("the table has no rows"));
        }
        Ok(())
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.position(name).map(|position| &self.columns[position])
    }

    /// The column of that name, or an error with a suggestion.
    pub fn require(&self, name: &str) -> Result<&Column> {
        self.column(name).ok_or_else(|| {
            self.error(format!("there is no column `{name}`")).help(suggest(name, self.names()))
        })
    }

    /// All column names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// An error about this table.
    pub fn error(&self, message: impl Into<String>) -> Error {
        let error = Error::new(ErrorKind::Table, message);
        if self.path.as_os_str().is_empty() { error } else { error.file(&self.path) }
    }

    /// An error about one cell, with the line of the file; a table without lines counts its rows from 1.
    pub(crate) fn error_at(&self, row: usize, column: &str, message: impl Into<String>) -> Error {
        let line = self.lines.get(row).map_or(row + 1, |line| *line as usize);
        self.error(message).row(line).column(column)
    }
}

/// The first bytes of Parquet files.
const PARQUET: &[u8] = b"PAR1";

fn csv_of(bytes: &[u8], path: &Path, options: &ReadOptions) -> Result<Table> {
    foreign::refuse(bytes, path)?;
    csv::parse(bytes, path, options)
}

/// The hash of a table at this path: of a file's bytes, or of the hashes of a folder's Parquet files.
pub fn hash_of(path: &Path) -> Result<String> {
    if !path.is_dir() {
        return sha256_of_file(path);
    }
    let mut hashes = String::new();
    for file in parquet_files(path)?.unwrap_or_default() {
        hashes += &sha256_of_file(&file)?;
    }
    Ok(sha256_hex(hashes.as_bytes()))
}

/// Whether a table is Parquet: a file with its first bytes, or a folder of files. Such tables can be [read in parts](TableSource)
/// without being in memory.
pub fn is_parquet(path: &Path) -> Result<bool> {
    Ok(parquet_files(path)?.is_some())
}

/// The Parquet files of a table: one file, or those of a folder by name; `None` for any other file.
fn parquet_files(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    if !path.is_dir() {
        let mut start = [0; 4];
        let read = open(path)?.read(&mut start).unwrap_or(0);
        return Ok((start[..read] == *PARQUET).then(|| vec![path.to_path_buf()]));
    }
    let fault = |message: String| Error::new(ErrorKind::Table, message).file(path);
    let entries = std::fs::read_dir(path).map_err(|cause| fault(format!("could not be read: {cause}")))?;
    let hidden =
        |file: &Path| file.file_name().is_none_or(|name| name.to_string_lossy().starts_with(['.', '_']));
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "parquet") && !hidden(file))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(fault("this folder has no Parquet files".into())
            .help("give a table as a CSV or Parquet file, or as a folder of files named .parquet"));
    }
    Ok(Some(files))
}

#[cfg(feature = "parquet")]
use parquet::{parse as parquet_of, read as read_parquet};

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _files: &[PathBuf], _options: &ReadOptions) -> Result<Table> {
    Err(Error::new(ErrorKind::Table, "this is a Parquet file, which this build cannot read")
        .file(path)
        .help("save the table as CSV, or build with `--features parquet`"))
}

#[cfg(not(feature = "parquet"))]
fn parquet_of(_bytes: Vec<u8>, path: &Path, options: &ReadOptions) -> Result<Table> {
    read_parquet(path, &[], options)
}

fn check_cells(table: &Table, column: &Column) -> Result<()> {
    match &column.cells {
        Cells::Numbers(values) => match values.iter().position(|value| value.is_infinite()) {
            Some(row) => {
                let message = format!("`{}` is not a finite number", values[row]);
                Err(table.error_at(row, &column.name, message).help(INFINITE_HELP))
            }
            None => Ok(()),
        },
        Cells::Text { codes, levels } => {
            if levels.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(table.error("levels must be distinct and in byte order").column(&column.name));
            }
            match codes.iter().position(|code| *code != MISSING && *code as usize >= levels.len()) {
                Some(row) => Err(table.error_at(row, &column.name, "a code without a level")),
                None => Ok(()),
            }
        }
    }
}

/// The remedy for an infinite number.
const INFINITE_HELP: &str = "leave the cell empty if the value is unknown, or write a finite number";

/// Hash of the contents of columns, for tables that were never a file. Rows may be added part by part; a missing cell is the same in all kinds of
/// columns.
#[derive(Default)]
struct ContentHash(Vec<Sha256>);

impl ContentHash {
    fn add(&mut self, columns: &[Column]) {
        self.0.resize_with(columns.len(), Sha256::new);
        let missing = u64::MAX.to_le_bytes();
        for (digest, column) in self.0.iter_mut().zip(columns) {
            match &column.cells {
                Cells::Numbers(values) => {
                    for value in values {
                        let bits = if value.is_nan() { missing } else { value.to_bits().to_le_bytes() };
                        digest.update(bits);
                    }
                }
                Cells::Text { codes, levels } => {
                    for code in codes {
                        match levels.get(*code as usize) {
                            Some(level) => {
                                digest.update((level.len() as u64).to_le_bytes());
                                digest.update(level);
                            }
                            None => digest.update(missing),
                        }
                    }
                }
            }
        }
    }

    /// The hash of all columns, whose names and kinds these are.
    fn finish(self, columns: &[Column]) -> String {
        let mut all = Sha256::new();
        for (column, digest) in columns.iter().zip(self.0) {
            all.update((column.name.len() as u64).to_le_bytes());
            all.update(&column.name);
            all.update(if matches!(column.cells, Cells::Numbers(_)) { b"n" } else { b"t" });
            all.update(digest.finalize());
        }
        hexadecimal(&all.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(columns: Vec<Column>) -> String {
        Table::from_columns("", columns).unwrap_err().to_string()
    }

    #[test]
    fn a_table_in_memory_is_checked() {
        assert_eq!(message(vec![]), "the table has no columns");
        assert_eq!(message(vec![Column::numbers("a", vec![])]), "the table has no rows");
        assert_eq!(message(vec![Column::numbers("", vec![1.0])]), "a column has no name");
        let a = Column::numbers("a", vec![1.0]);
        assert_eq!(message(vec![a.clone(), a.clone()]), "two columns are called `a` (the 1st and the 2nd)");
        let b = Column::text("b", [Some("x"), None]);
        assert_eq!(message(vec![a, b]), "column `b`: has 2 rows, but the first column has 1");
        let infinite = Column::numbers("a", vec![1.0, f64::INFINITY]);
        assert_eq!(message(vec![infinite]), "line 2, column `a`: `inf` is not a finite number");
        let cells = Cells::Text { codes: vec![1], levels: vec!["x".into()] };
        assert!(message(vec![Column { name: "a".into(), cells }]).contains("a code without a level"));
    }

    #[test]
    fn the_hash_tells_contents_apart() {
        let hash = |cell: Option<&str>| {
            Table::from_columns("", vec![Column::text("a", [cell, Some("y")])]).unwrap().hash
        };
        assert_eq!(hash(Some("x")), hash(Some("x")));
        assert_ne!(hash(Some("x")), hash(None));
    }

    #[test]
    fn other_files_are_named_for_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let error = Table::read(&path, &ReadOptions::default()).unwrap_err();
            format!("{error} -- {}", error.remedy().unwrap_or_default())
        };
        assert!(read(b"\x80\x04\x95abc").contains("a Python pickle"));
        assert!(read(b"PK\x03\x04abc").contains("a zip archive"));
        assert!(read(b"\x1f\x8babc").contains("gzip"));
        assert!(read(b"\xff\xfea\0,\0").contains("UTF-16"));
        assert!(read(b"a,b\n1,\0\n").contains("a binary file"));
        #[cfg(not(feature = "parquet"))]
        assert!(read(b"PAR1abc").contains("a Parquet file"));
        #[cfg(feature = "parquet")]
        assert!(read(b"PAR1abc").contains("damaged"));
    }

    #[test]
    fn an_unknown_column_is_answered_with_the_nearest() {
        let table = Table::from_columns("", vec![Column::numbers("duration", vec![1.0])]).unwrap();
        let error = table.require("duratoin").unwrap_err();
        assert_eq!(error.to_string(), "there is no column `duratoin`");
        assert_eq!(error.remedy(), Some("did you mean `duration`?"));
    }
}
