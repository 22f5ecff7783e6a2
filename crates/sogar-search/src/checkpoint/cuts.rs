//! Finished subproblems of the search, read from a checkpoint and added to it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sogar_solver::{FinishedCut, ProblemDims, Subproblems};

use super::file::FileKind;
use super::{Checkpoint, damaged};
use sogar_base::error::Result;
use sogar_prepare::prepared::Reporter;

/// How long finished subproblems wait to share a file with others, to avoid thousands of small files.
const GATHER: Duration = Duration::from_millis(100);

/// The cuts of the root that a checkpoint has, and those that this run finishes.
pub struct KeptCuts<'a> {
    checkpoint: &'a Checkpoint,
    reporter: &'a dyn Reporter,
    known: BTreeMap<(u32, u32), FinishedCut>,
    fresh: Mutex<Fresh>,
}

struct Fresh {
    bytes: Vec<u8>,
    written: Instant,
}

/// The subproblems in a part, each behind its length; or what is wrong with them.
pub fn read_cuts(mut rest: &[u8], dims: &ProblemDims) -> std::result::Result<Vec<FinishedCut>, String> {
    let mut cuts = Vec::new();
    while !rest.is_empty() {
        let length = rest.split_off(..8).and_then(|length| length.try_into().ok()).map(u64::from_le_bytes);
        let length = length.and_then(|length| usize::try_from(length).ok());
        let bytes = length.and_then(|length| rest.split_off(..length));
        let bytes = bytes.ok_or("a subproblem in it is cut short")?;
        let cut = FinishedCut::from_bytes(dims, bytes);
        cuts.push(cut.map_err(|why| format!("a subproblem in it can't be used: {why}"))?);
    }
    Ok(cuts)
}

impl<'a> KeptCuts<'a> {
    /// Reads the cuts of a problem; `identity` stands for what the folder's identity does not cover.
    pub fn open(
        checkpoint: &'a Checkpoint,
        identity: &str,
        dims: &ProblemDims,
        reporter: &'a dyn Reporter,
    ) -> Result<KeptCuts<'a>> {
        let mut known = BTreeMap::new();
        let mut any = false;
        for number in 0..checkpoint.state().searches {
            let part = checkpoint.part(FileKind::Search, number);
            let payload = part.read(|payload| payload.rest())?;
            let mut rest = &payload[..];
            if number == 0 {
                let same = rest.split_off(..identity.len()).is_some_and(|found| found == identity.as_bytes());
                if !same {
                    return Err(damaged(&part.path, "this checkpoint belongs to another run: other costs"));
                }
            }
            let cuts = read_cuts(rest, dims).map_err(|why| damaged(&part.path, &why))?;
            known.extend(cuts.into_iter().map(|cut| ((cut.depth, cut.split), cut)));
            any = true;
        }
        let bytes = if any { Vec::new() } else { identity.as_bytes().to_vec() };
        let fresh = Mutex::new(Fresh { bytes, written: Instant::now() });
        Ok(KeptCuts { checkpoint, reporter, known, fresh })
    }

    /// The folder, if an earlier run stored cuts there.
    pub fn earlier(&self) -> Option<&'a Path> {
        (!self.known.is_empty()).then(|| self.checkpoint.folder())
    }

    /// Writes the cuts that still wait.
    pub fn flush(&self) {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if !fresh.bytes.is_empty() {
            let bytes = std::mem::take(&mut fresh.bytes);
            let length = bytes.len() as u64;
            self.checkpoint.keep(FileKind::Search, length, |out| out.write_all(&bytes), self.reporter);
        }
        fresh.written = Instant::now();
    }
}

impl Subproblems for KeptCuts<'_> {
    fn known(&self, depth: u32, split: u32) -> Option<FinishedCut> {
        self.known.get(&(depth, split)).cloned()
    }

    fn finished(&self, cut: FinishedCut) {
        let bytes = cut.to_bytes();
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.bytes.extend((bytes.len() as u64).to_le_bytes());
        fresh.bytes.extend(bytes);
        let due = fresh.written.elapsed() >= GATHER;
        drop(fresh);
        if due {
            self.flush();
        }
    }
}
