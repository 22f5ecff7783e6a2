//! Lists that users write beside a table: small CSV files with named columns.

use csv::StringRecord;
use sogar_base::error::{Error, ErrorKind, Result};

/// A list as read: the names of its columns, and its rows with their lines.
pub(super) struct List {
    pub names: Vec<String>,
    pub rows: Vec<(usize, StringRecord)>,
}

impl List {
    /// Reads a list of `what`. Blanks around cells do not count, nor does a mark of the encoding.
    pub fn read(bytes: &[u8], what: &str) -> Result<List> {
        let unreadable =
            |cause: csv::Error| Error::new(ErrorKind::Table, format!("not a list of {what}: {cause}"));
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
        let names = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
        let mut rows = Vec::new();
        for (number, row) in reader.records().enumerate() {
            let row = row.map_err(unreadable)?;
            rows.push((row.position().map_or(number + 2, |position| position.line() as usize), row));
        }
        Ok(List { names, rows })
    }

    /// The place of a column, or an error with this help.
    pub fn place(&self, name: &str, help: &str) -> Result<usize> {
        let place = self.names.iter().position(|known| known == name);
        place.ok_or_else(|| fault(format!("there is no column `{name}`"), 1).help(help))
    }
}

/// A defect in a line of a list.
pub(super) fn fault(message: String, line: usize) -> Error {
    Error::new(ErrorKind::Table, message).row(line)
}

/// A defect that another reader found, in a line and column of a list.
pub(super) fn fault_of(error: &Error, line: usize, column: &str) -> Error {
    fault(error.to_string(), line).column(column).help(error.remedy().unwrap_or_default().to_owned())
}
