//! Tables as they come from files: named columns of numbers or text, nothing interpreted yet.
//!
//! A table knows where it came from and the hash of its bytes, so that results can be tied to it. Which columns
//! are features, and of what kind, is decided one step later in [`crate::feature`].

pub mod csv;
#[cfg(feature = "parquet")]
pub mod parquet;

use std::path::{Path, PathBuf};

use crate::error::Result;

/// The code of a missing cell in a text column.
pub const MISSING: u32 = u32::MAX;

/// A column's cells.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Numbers; a missing cell is NaN.
    Numbers(Vec<f64>),
    /// Text as codes into `levels` (distinct, in byte order); a missing cell is [`MISSING`].
    Text {
        /// One code a row.
        codes: Vec<u32>,
        /// The distinct texts in byte order.
        levels: Vec<String>,
    },
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// Its cells.
    pub cells: Cells,
}

/// A table with a header.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The file it was read from.
    pub path: PathBuf,
    /// SHA-256 of the file's bytes, in hexadecimal.
    pub hash: String,
    /// Number of rows.
    pub rows: usize,
    /// The columns in file order; names are distinct.
    pub columns: Vec<Column>,
}

/// How to read a table.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Field delimiter of CSV; `None`: found from the header (comma, semicolon, tab or bar).
    pub delimiter: Option<u8>,
    /// Texts that mean "missing" beside the empty cell. In a column of numbers `NA`, `N/A`, `NaN`, `nan`, `null`
    /// and `NULL` are understood without being listed.
    pub missing: Vec<String>,
    /// Columns to be read as text even if every cell is a number.
    pub text: Vec<String>,
    /// Columns to be read as numbers; a cell that is not one is an error.
    pub numbers: Vec<String>,
}

impl Table {
    /// Reads a CSV or Parquet file; which of the two is told by the file's first bytes.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
        read(path, options)
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// All column names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }
}
