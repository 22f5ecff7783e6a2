//! Stores imported tables in a directory: written atomically, and trusted only after a checksum.

use std::fs;
use std::path::{Path, PathBuf};

use super::Dataset;
use sogar::error::{Error, ErrorKind, Result};
use sogar::files::{read_bytes, write_atomically};

/// The path of `dataset` in `directory`, if it exists and is intact.
pub fn stored(dataset: &Dataset, directory: &Path) -> Option<PathBuf> {
    let path = directory.join(dataset.file);
    let bytes = read_bytes(&path).ok()?;
    dataset.is_readable_table(&bytes).then_some(path)
}

/// Writes an imported `table` into `directory` (created if necessary) and returns its path.
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
