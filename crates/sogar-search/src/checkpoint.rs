//! Checkpoints: a folder stores the finished work of a long run, and a run that was killed continues from there.
//!
//! The folder has a manifest that identifies its run (a hash of everything that the result depends on), outcomes in blocks of
//! rows, and finished subproblems of the search, each file in its [envelope](sogar_base::envelope). Files are written atomically and only added, so
//! a kill at any moment leaves a usable folder. Nothing in it is trusted. Damaged files, and files of another run, end the run
//! with a message; they are never silently recomputed, because people want to know about a damaged disk. Intact files are
//! compared with the model as far as possible (`verify`).
//!
//! Results do not depend on checkpoints. A finished run leaves its folder, so a second run is fast.

mod cuts;
mod file;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::write_atomically;
use sogar_prepare::outcomes::{Outcomes, StoredOutcomes, stored};
use sogar_prepare::prepared::Reporter;

pub use sogar_prepare::prepared::CheckpointSettings;

pub(crate) use cuts::KeptCuts;
pub use cuts::read_cuts;
use file::{CheckpointFile, FileKind, VERSION};

/// Default size limit of a checkpoint, in bytes.
pub const DEFAULT_LIMIT: u64 = 4 << 30;

/// Identifies the run of a folder.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: String,
    version: u32,
    sogar: String,
    identity: String,
}

const FORMAT: &str = "sogar-checkpoint";
const MANIFEST: &str = "checkpoint.json";
const LOCK: &str = "lock";
/// What helps against a damaged checkpoint.
const REMEDY: &str = "delete the checkpoint's folder to begin anew, or choose another one with --checkpoint";

/// The folder of a run. While it is open, no other run can use it.
#[derive(Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    identity: String,
    limit: u64,
    state: Mutex<State>,
    /// Held until the run ends for any reason.
    _lock: File,
}

#[derive(Debug)]
struct State {
    /// Bytes of all files.
    bytes: u64,
    /// Stored blocks of outcomes.
    blocks: u32,
    /// Stored parts of the search.
    searches: u32,
    /// No more writing: the limit is reached, or a write failed.
    closed: bool,
}

impl Checkpoint {
    /// Opens or creates the folder of a run. Fails if it belongs to another run, is in use, or is damaged.
    pub fn open(settings: &CheckpointSettings, identity: &str) -> Result<Checkpoint> {
        let folder = settings.folder.clone();
        fs::create_dir_all(&folder).map_err(|cause| unusable(&folder, &cause.to_string()))?;
        let lock = locked(&folder)?;
        let names = names_in(&folder)?;
        let own = |name: &&String| name.as_str() != LOCK && !is_leftover(name);
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            sogar: env!("CARGO_PKG_VERSION").to_owned(),
            identity: identity.to_owned(),
        };
        if names.iter().any(|name| name == MANIFEST) {
            check_manifest(&folder.join(MANIFEST), &manifest)?;
        } else if let Some(name) = names.iter().find(own) {
            let is_part = |name: &String| {
                [FileKind::Outcomes, FileKind::Search].iter().any(|kind| kind.number(name).is_some())
            };
            let error = damaged(
                &folder.join(name),
                &format!("this is in a folder without the file {MANIFEST}, so it is no checkpoint"),
            );
            // Delete only the remains of a checkpoint.
            return Err(match names.iter().filter(own).all(is_part) {
                true => error,
                false => {
                    error.help("choose an empty folder, or one that is not there yet, with --checkpoint")
                }
            });
        } else {
            write_atomically(&folder.join(MANIFEST), |out| {
                serde_json::to_writer_pretty(&mut *out, &manifest)?;
                out.write_all(b"\n")
            })?;
        }
        for leftover in names.iter().filter(|name| is_leftover(name)) {
            let _ = fs::remove_file(folder.join(leftover)); // from a run that was killed while writing
        }
        let mut checkpoint = Checkpoint {
            folder,
            identity: identity.to_owned(),
            limit: settings.limit,
            state: Mutex::new(State { bytes: 0, blocks: 0, searches: 0, closed: false }),
            _lock: lock,
        };
        let (blocks, block_bytes) = checkpoint.count(&names, FileKind::Outcomes)?;
        let (searches, search_bytes) = checkpoint.count(&names, FileKind::Search)?;
        for number in 0..searches {
            // Check now, not after hours of computing outcomes; stored outcomes are read before others are computed.
            checkpoint.part(FileKind::Search, number).read(|payload| payload.rest())?;
        }
        checkpoint.state =
            Mutex::new(State { bytes: block_bytes + search_bytes, blocks, searches, closed: false });
        Ok(checkpoint)
    }

    /// The number of files of a kind, and their bytes. They are numbered without gaps.
    fn count(&self, names: &[String], kind: FileKind) -> Result<(u32, u64)> {
        let mut numbers: Vec<u32> = Vec::new();
        let mut bytes = 0;
        for name in names {
            if let Some(number) = kind.number(name) {
                let path = self.folder.join(name);
                bytes += fs::metadata(&path).map_err(|cause| damaged(&path, &cause.to_string()))?.len();
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        match (0..).zip(&numbers).find(|(expected, number)| expected != *number) {
            Some((missing, _)) => {
                let path = self.folder.join(kind.file(missing));
                Err(damaged(&path, "this part of the checkpoint is missing, though later ones are there"))
            }
            None => Ok((numbers.len() as u32, bytes)),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn part(&self, kind: FileKind, number: u32) -> CheckpointFile {
        CheckpointFile::new(self.folder.join(kind.file(number)), kind, number, &self.identity)
    }

    /// Stores a part if there is room; reports once if there is none.
    fn keep(
        &self,
        kind: FileKind,
        length: u64,
        payload: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        reporter: &dyn Reporter,
    ) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        let number = if kind == FileKind::Outcomes { state.blocks } else { state.searches };
        let part = self.part(kind, number);
        let bytes = part.size(length);
        let why = if state.bytes.saturating_add(bytes) > self.limit {
            let limit = sogar_prepare::limits::amount(u128::from(self.limit));
            Some(format!(
                "the checkpoint has reached its limit of {limit}: what is finished from here on is not kept"
            ))
        } else {
            part.write(length, payload)
                .err()
                .map(|error| format!("the checkpoint can't be written any more: {error}"))
        };
        if let Some(why) = why {
            state.closed = true;
            reporter.warning(&why);
            return;
        }
        state.bytes += bytes;
        match kind {
            FileKind::Outcomes => state.blocks += 1,
            FileKind::Search => state.searches += 1,
        }
    }

    /// A stored block of outcomes, if there is one.
    pub fn outcomes(&self, block: usize, actions: usize, rows: usize) -> Result<Option<Outcomes>> {
        let Some(number) = u32::try_from(block).ok().filter(|&block| block < self.state().blocks) else {
            return Ok(None);
        };
        let part = self.part(FileKind::Outcomes, number);
        let (flips, settled) = part.read(|payload| stored::read(payload, actions, rows))?;
        let kept = Some(StoredOutcomes { path: self.folder.clone(), in_checkpoint: true, rows });
        Ok(Some(Outcomes { flips, settled, method: "kept from an earlier run", kept }))
    }

    /// Stores a block of outcomes.
    pub(crate) fn keep_outcomes(&self, block: usize, rows: usize, found: &Outcomes, reporter: &dyn Reporter) {
        // Blocks come in order; after one that could not be stored, none is tried.
        if self.state().blocks as usize != block {
            return;
        }
        // What has too many bytes to count is beyond every limit.
        let length = stored::length(found.flips.sets(), rows).unwrap_or(u64::MAX / 2);
        self.keep(FileKind::Outcomes, length, |out| stored::write(found, rows, out), reporter);
    }
}

/// Rows per stored block of outcomes: a sixteenth of all, so that a kill costs little and files stay few.
pub fn rows_at_once(rows: usize) -> usize {
    rows.div_ceil(16).next_multiple_of(64).clamp(64, 1 << 16)
}

fn is_leftover(name: &str) -> bool {
    name.starts_with(".sogar-") && name.ends_with(".part")
}

fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(|cause| unusable(folder, &cause.to_string()))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|cause| unusable(folder, &cause.to_string()))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn locked(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|cause| unusable(folder, &cause.to_string()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => {
            let error =
                Error::new(ErrorKind::Checkpoint, "another run is using this checkpoint").file(folder);
            Err(error.help("wait until it has ended, or choose another folder with --checkpoint"))
        }
        // Some file systems have no locks; then other runs are not excluded.
        Err(fs::TryLockError::Error(_)) => Ok(file),
    }
}

fn check_manifest(path: &Path, expected: &Manifest) -> Result<()> {
    let text =
        fs::read_to_string(path).map_err(|cause| damaged(path, &format!("can't be read ({cause})")))?;
    let found: Manifest =
        serde_json::from_str(&text).map_err(|_| damaged(path, "this is not the manifest of a checkpoint"))?;
    if found.format != FORMAT {
        return Err(damaged(path, "this is not the manifest of a checkpoint"));
    }
    if (found.version, &found.sogar) != (VERSION, &expected.sogar) {
        let why = format!("this checkpoint was made by another version of sogar ({})", shown(&found.sogar));
        return Err(damaged(path, &why));
    }
    if found.identity != expected.identity {
        let why = "this checkpoint belongs to another run: another table, model, configuration or limit";
        return Err(damaged(path, why));
    }
    Ok(())
}

/// A text from a file, shortened, without terminal control characters.
fn shown(text: &str) -> String {
    text.chars().filter(|letter| letter.is_ascii_graphic()).take(40).collect()
}

fn unusable(folder: &Path, why: &str) -> Error {
    let error =
        Error::new(ErrorKind::Checkpoint, format!("this folder can't be used as a checkpoint: {why}"));
    error.file(folder).help("choose another folder with --checkpoint")
}

/// The error for a damaged file.
pub fn damaged(path: &Path, why: &str) -> Error {
    let error = Error::new(ErrorKind::Checkpoint, why).file(path);
    error.help(REMEDY)
}

#[cfg(test)]
mod tests;
