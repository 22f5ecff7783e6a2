//! Files that are not tables, recognised by their first bytes, so that the message can name them and say what to do.

use std::path::Path;

use sogar_base::error::{Error, ErrorKind, Result};

/// Files that people mistake for tables, by their first bytes, and what to do with them.
const FOREIGN: &[(&[u8], &str, &str)] = &[
    (b"PK\x03\x04", "a zip archive (an Excel workbook is one too)", "unpack it, or save the sheet as CSV"),
    (b"\x1f\x8b", "a gzip-compressed file", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd-compressed file", "unpack it first"),
    (b"BZh", "a bzip2-compressed file", "unpack it first"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save the sheet as CSV"),
    (b"ARROW1", "an Arrow (Feather) file", "save the table as Parquet or CSV"),
    (b"\x89HDF", "an HDF5 file", "save the table as Parquet or CSV"),
    (b"\x93NUMPY", "a NumPy array, which has no column names", "save the table as CSV with a header"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"\xff\xfe", "UTF-16 text", "save it again as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it again as UTF-8"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
];

/// How much of an unknown file is searched for bytes that text cannot contain.
const SEARCHED: usize = 64 * 1024;

/// Refuses a file that is not text, with the name of its format.
pub(super) fn refuse(bytes: &[u8], path: &Path) -> Result<()> {
    let no_table = |what: &str, help: &str| {
        Err(Error::new(ErrorKind::Table, format!("this is {what}, not a CSV or Parquet table"))
            .file(path)
            .help(help))
    };
    for (start, what, help) in FOREIGN {
        if bytes.starts_with(start) {
            return no_table(what, help);
        }
    }
    if bytes.len() > 1 && bytes[0] == 0x80 && (1..=5).contains(&bytes[1]) {
        return no_table("a Python pickle", "pickles are never loaded; use `frame.to_csv(…, index=False)`");
    }
    if bytes.iter().take(SEARCHED).any(|byte| *byte == 0) {
        return no_table("a binary file", "give a CSV or Parquet file");
    }
    Ok(())
}
