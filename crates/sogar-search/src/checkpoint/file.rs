//! One file of a checkpoint: a line that says what it is and whose, the payload, and a checksum over both.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::damaged;
use sogar_base::error::Result;
use sogar_base::files::write_atomically;

const MAGIC: &str = "sogar-checkpoint-part-2";
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 32;
const SUFFIX: &str = ".kept";

/// What a part holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Outcomes,
    Search,
}

impl FileKind {
    fn name(self) -> &'static str {
        match self {
            FileKind::Outcomes => "outcomes",
            FileKind::Search => "search",
        }
    }

    /// The name of the file with this number.
    pub fn file(self, number: u32) -> String {
        format!("{}-{number:06}{SUFFIX}", self.name())
    }

    /// The number in a file's name, if it is of this kind.
    pub fn number(self, file: &str) -> Option<u32> {
        let number = file.strip_prefix(self.name())?.strip_prefix('-')?.strip_suffix(SUFFIX)?.parse().ok()?;
        (self.file(number) == file).then_some(number)
    }
}

/// A file of a checkpoint, there or about to be.
pub(super) struct CheckpointFile<'a> {
    pub path: PathBuf,
    pub kind: FileKind,
    pub number: u32,
    pub identity: &'a str,
}

impl CheckpointFile<'_> {
    fn header(&self, length: usize) -> String {
        let (kind, number, identity) = (self.kind.name(), self.number, self.identity);
        format!("{MAGIC} {kind} {number:06} length={length:020} run={identity}\n")
    }

    /// Bytes that the file will have.
    pub fn size(&self, payload: &[&[u8]]) -> u64 {
        let length = payload.iter().map(|bytes| bytes.len()).sum();
        (self.header(length).len() + length + CHECKSUM) as u64
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, payload: &[&[u8]]) -> Result<()> {
        let header = self.header(payload.iter().map(|bytes| bytes.len()).sum());
        write_atomically(&self.path, |out| {
            let mut sum = Sha256::new();
            for bytes in [header.as_bytes()].iter().chain(payload) {
                sum.update(bytes);
                out.write_all(bytes)?;
            }
            out.write_all(&sum.finalize())
        })
    }

    /// Reads and checks the file; gives its payload.
    pub fn read(&self) -> Result<Vec<u8>> {
        let wrong = |why: &str| damaged(&self.path, why);
        let mut file = File::open(&self.path).map_err(|cause| wrong(&format!("can't be read ({cause})")))?;
        let metadata = file.metadata().map_err(|cause| wrong(&format!("can't be read ({cause})")))?;
        if !metadata.is_file() {
            return Err(wrong("this is not a file"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|cause| wrong(&format!("can't be read ({cause})")))?;
        if !bytes.starts_with(MAGIC.as_bytes()) {
            return Err(wrong("this is not a part of a checkpoint"));
        }
        let start = self.header(0).len();
        let Some(length) = bytes.len().checked_sub(start + CHECKSUM) else {
            return Err(wrong("the file is cut short"));
        };
        let (content, recorded) = bytes.split_at(start + length);
        if Sha256::digest(content)[..] != *recorded {
            return Err(wrong("the checksum is wrong: the file is cut short or damaged"));
        }
        if content[..start] != *self.header(length).as_bytes() {
            return Err(wrong("this part belongs to another run, or elsewhere in this one"));
        }
        bytes.truncate(start + length);
        Ok(bytes.split_off(start))
    }
}
