//! Flips in a file instead of in memory, for problems whose flips exceed the memory limit.
//!
//! The file is temporary and has no name, so it disappears with the run, however that ends. It is mapped into memory: the search
//! reads it like any other table, and the system caches as much of it as fits.

use std::fs::File;
use std::io::Write;

use memmap2::MmapMut;
use sogar_solver::{BitTable, Words};

use crate::limits::amount;
use sogar_base::error::{Error, ErrorKind, Result};

/// A memory-mapped file of words.
struct Mapped(MmapMut);

impl Words for Mapped {
    fn words(&self) -> &[u64] {
        // A map begins at a page and has the requested length, so this never fails.
        bytemuck::try_cast_slice(&self.0).unwrap_or(&[])
    }

    fn words_mut(&mut self) -> &mut [u64] {
        bytemuck::try_cast_slice_mut(&mut self.0).unwrap_or(&mut [])
    }
}

/// A table of empty sets in a temporary file. Reserves the disk space before writing.
pub fn table_in_file(sets: usize, rows: usize) -> Result<BitTable> {
    let bytes = sets as u64 * rows.div_ceil(64) as u64 * 8;
    let folder = std::env::temp_dir();
    let fault = |cause: std::io::Error| {
        let what = amount(u128::from(bytes));
        Error::new(ErrorKind::Memory, format!("whom each action flips takes {what}, for which there is no file: {cause}"))
            .file(&folder)
            .help("make room in the folder for temporary files, set TMPDIR to another one, or ask for fewer actions")
    };
    let file = tempfile::tempfile_in(&folder).map_err(fault)?;
    reserve(&file, bytes).map_err(fault)?;
    // SAFETY: the file has no name, so no one else can open it, and it changes only through this map. It has its full length with
    // reserved space, so no access is beyond its end.
    let map = unsafe { MmapMut::map_mut(&file) }.map_err(fault)?;
    BitTable::kept_in(Box::new(Mapped(map)), sets, rows)
        .ok_or_else(|| fault(std::io::Error::other("it has another size than it was given")))
}

/// Sets the length of a file and reserves its disk space: a full disk is an error here instead of a crash later.
fn reserve(file: &File, bytes: u64) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        match fallocate(file, FallocateFlags::empty(), 0, bytes) {
            Err(rustix::io::Errno::OPNOTSUPP) => {} // not every file system can
            done => return Ok(done?),
        }
    }
    let block = vec![0u8; 1 << 20];
    let mut left = bytes;
    let mut writer = file;
    while left > 0 {
        let some = left.min(block.len() as u64) as usize;
        writer.write_all(&block[..some])?;
        left -= some as u64;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_a_file_is_a_table() {
        let mut table = table_in_file(100, 1000).unwrap();
        assert!(table.is_elsewhere() && (0..100).all(|set| table.set(set).iter().all(|&word| word == 0)));
        table.set_mut(99)[15] = u64::MAX;
        assert!(table.contains(99, 960) && !table.contains(98, 960));
        let plain = table.clone();
        assert!(!plain.is_elsewhere() && plain == table);
    }

    #[test]
    fn more_than_any_disk_has_is_refused() {
        let error = table_in_file(1 << 40, 1 << 20).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory);
    }
}
