//! Keeping imported tables in a directory: written whole or not at all, and trusted only after a checksum.

use std::fs;
use std::path::{Path, PathBuf};

use super::Dataset;
use sogar::error::{Error, ErrorKind, Result};
use sogar::files::{read_bytes, write_atomically};

/// Where `dataset` lies in `directory`, if it is there and intact.
pub fn stored(dataset: &Dataset, directory: &Path) -> Option<PathBuf> {
    let path = directory.join(dataset.file);
    let bytes = read_bytes(&path).ok()?;
    dataset.is_readable_table(&bytes).then_some(path)
}

/// Writes an imported `table` into `directory` (made if need be) and answers with its path.
pub fn write(dataset: &Dataset, table: &[u8], directory: &Path) -> Result<PathBuf> {
    fs::create_dir_all(directory).map_err(|error| {
        Error::new(ErrorKind::Output, format!("the directory cannot be made: {error}"))
            .file(directory)
            .help("choose another one with `--to DIR` or SOGAR_CACHE")
    })?;
    let path = directory.join(dataset.file);
    write_atomically(&path, |file| file.write_all(table))?;
    Ok(path)
}
