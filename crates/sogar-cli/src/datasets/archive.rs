//! Finds one file in a publisher's zip archive, which may contain further archives (UCI's Bank Marketing does).
//!
//! Archives are untrusted: sizes are limited before anything is unpacked into memory, and only one level of nesting is followed.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::MAX_BYTES;
use sogar::error::{Error, ErrorKind, Result};

/// Whether `bytes` begin like a zip archive.
pub(super) fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// The member whose file name is the first of `wanted`; if there is none, the same in the members (archives themselves) that the
/// rest of `wanted` names.
pub(super) fn extract(bytes: &[u8], wanted: &[&str]) -> Result<Vec<u8>> {
    let missing = || {
        Error::new(ErrorKind::Table, format!("the archive does not contain {}", wanted.join(" or ")))
            .help("give the publisher's archive as it was downloaded, or the file itself")
    };
    let (file, archives) = wanted.split_first().ok_or_else(missing)?;
    if let Some(found) = member(bytes, file)? {
        return Ok(found);
    }
    for archive in archives {
        let Some(inner) = member(bytes, archive)? else {
            continue;
        };
        if let Some(found) = member(&inner, file)? {
            return Ok(found);
        }
    }
    Err(missing())
}

/// The contents of the member with file name `wanted`, in any folder (except macOS's shadow copies).
fn member(bytes: &[u8], wanted: &str) -> Result<Option<Vec<u8>>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| damaged(&error))?;
        let name = entry.name().map_err(|error| damaged(&error))?.into_owned();
        if name.starts_with("__MACOSX") || name.rsplit('/').next() != Some(wanted) {
            continue;
        }
        let mut contents = Vec::new();
        entry
            .by_ref()
            .take(MAX_BYTES + 1)
            .read_to_end(&mut contents)
            .map_err(|error| Error::new(ErrorKind::Table, format!("`{name}` cannot be unpacked: {error}")))?;
        if contents.len() as u64 > MAX_BYTES {
            return Err(Error::new(
                ErrorKind::Table,
                format!("`{name}` unpacks to more than {} MiB", MAX_BYTES >> 20),
            )
            .help("this is not the publisher's archive"));
        }
        return Ok(Some(contents));
    }
    Ok(None)
}

fn damaged(error: &ZipError) -> Error {
    Error::new(ErrorKind::Table, format!("the zip archive cannot be read: {error}"))
        .help("download it again; it may have been cut short")
}
