//! The public data sets of documentation and benchmarks: the source and licence of each, and the conversion of its publisher's
//! file into a readable CSV.
//!
//! Nothing here uses the network. [`Dataset::import`] is a pure function from the publisher's bytes (or an archive around them,
//! or an earlier readable table) to the table's bytes. It only returns bytes whose SHA-256 is the catalogue's, so everyone gets
//! the same table.
//!
//! ```
//! let german = sogar_cli::datasets::find("german")?;
//! assert_eq!((german.rows, german.label, german.desired), (1000, "credit", "good"));
//! # Ok::<(), sogar::Error>(())
//! ```

mod archive;
mod catalogue;
mod convert;
mod german;
mod store;

pub use catalogue::CATALOGUE;
pub use store::{stored, write};

use sogar::error::{Error, ErrorKind, Result, suggest};
use sogar::files::sha256_hex;

/// The largest accepted archive or original file; the largest known one has a tenth of this.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A public table and how to use it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dataset {
    /// What a user types, e.g. `german`.
    pub name: &'static str,
    /// One line on what the rows are.
    pub title: &'static str,
    /// The readable table's file name.
    pub file: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns, including the label.
    pub columns: usize,
    /// The label column.
    pub label: &'static str,
    /// The label that people hope for.
    pub desired: &'static str,
    /// Its configuration preset, if there is one.
    pub preset: Option<&'static str>,
    /// The licence of the data.
    pub licence: &'static str,
    /// How to cite it.
    pub citation: &'static str,
    /// The page that presents it.
    pub homepage: &'static str,
    /// Where to get it.
    pub source: Source,
    /// SHA-256 of the readable table, in hexadecimal.
    pub sha256: &'static str,
    members: &'static [&'static str],
    original: Original,
}

/// Where to get a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// An archive that anyone may download.
    Url(&'static str),
    /// The publisher requires an account: the user downloads the file and imports it.
    ByHand {
        /// What to do, in a sentence.
        instructions: &'static str,
    },
}

/// The publisher's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Original {
    /// Comma and blank between fields, no header, a dot after the labels of the test half.
    Adult,
    /// Blank-separated codes, no header.
    German,
    /// Semicolons between quoted fields, with a header.
    Semicolons,
    /// An ordinary CSV, perhaps with a byte-order mark and carriage returns.
    Commas,
}

/// Looks a data set up by name.
pub fn find(name: &str) -> Result<&'static Dataset> {
    CATALOGUE.iter().find(|dataset| dataset.name == name).ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("there is no data set `{name}`"))
            .help(suggest(name, CATALOGUE.iter().map(|dataset| dataset.name)))
    })
}

impl Dataset {
    /// Turns the publisher's file, a zip archive that contains it, or an already readable table into the readable
    /// table, and verifies the result.
    pub fn import(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        if self.is_readable_table(bytes) {
            return Ok(bytes.to_vec());
        }
        let unpacked;
        let original = if archive::is_zip(bytes) {
            unpacked = archive::extract(bytes, self.members)?;
            if self.is_readable_table(&unpacked) {
                return Ok(unpacked);
            }
            unpacked.as_slice()
        } else {
            bytes
        };
        let table = match self.original {
            Original::Adult => convert::adult(original),
            Original::German => german::decode(original),
            Original::Semicolons => convert::delimited(original, b';'),
            Original::Commas => convert::delimited(original, b','),
        }?;
        if self.is_readable_table(&table) {
            return Ok(table);
        }
        Err(Error::new(
            ErrorKind::Table,
            format!(
                "this is not the `{}` data set: the converted table has checksum {}, expected {}",
                self.name,
                sha256_hex(&table),
                self.sha256
            ),
        )
        .help(format!("get the original from {}", self.homepage)))
    }

    /// Whether `bytes` are exactly the readable table.
    pub fn is_readable_table(&self, bytes: &[u8]) -> bool {
        sha256_hex(bytes) == self.sha256
    }
}

#[cfg(test)]
mod tests;
