//! One file of a checkpoint: an [envelope](sogar_base::envelope) that says whose it is and where in the checkpoint it belongs.

use std::io::{self, Write};
use std::path::PathBuf;

use super::{REMEDY, damaged};
use sogar_base::envelope::{Fault, Label, Payload};
use sogar_base::error::Result;

/// The format of all files.
pub(super) const VERSION: u32 = 3;
const SUFFIX: &str = ".kept";

/// What a file holds.
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

    /// The number in the name of a file of this kind.
    pub fn number(self, file: &str) -> Option<u32> {
        let number = file.strip_prefix(self.name())?.strip_prefix('-')?.strip_suffix(SUFFIX)?.parse().ok()?;
        (self.file(number) == file).then_some(number)
    }
}

/// A file of a checkpoint, existing or about to be written.
pub(super) struct CheckpointFile {
    pub path: PathBuf,
    label: Label,
}

impl CheckpointFile {
    /// The file at a path that has this number in the checkpoint of this run.
    pub fn new(path: PathBuf, kind: FileKind, number: u32, identity: &str) -> CheckpointFile {
        let name = match kind {
            FileKind::Outcomes => "checkpoint-outcomes",
            FileKind::Search => "checkpoint-search",
        };
        let owner = format!("{identity}/{number:06}");
        CheckpointFile { path, label: Label { kind: name, version: VERSION, owner } }
    }

    /// Size of the file to be written, in bytes.
    pub fn size(&self, length: u64) -> u64 {
        self.label.size(length)
    }

    /// Writes the file atomically.
    pub fn write(&self, length: u64, payload: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.label.write(&self.path, length, payload)
    }

    /// Reads and checks the file, whose payload `decode` decodes.
    pub fn read<T>(
        &self,
        decode: impl FnOnce(&mut Payload<'_>) -> std::result::Result<T, Fault>,
    ) -> Result<T> {
        let found = self.label.read(&self.path, decode).map_err(|error| error.help(REMEDY))?;
        found.ok_or_else(|| damaged(&self.path, "this part of the checkpoint is missing"))
    }
}
