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

/// How long finished subproblems wait for others to share a file with: thousands of small files help nobody.
const GATHER: Duration = Duration::from_millis(100);

/// The cuts of all rows that a checkpoint has, and those that are finished now.
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

impl<'a> KeptCuts<'a> {
    /// Reads what is there for a problem; `identity` stands for all of the problem that the folder's does not cover.
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
            let payload = part.read()?;
            let mut rest = &payload[..];
            if number == 0 {
                let same = rest.split_off(..identity.len()).is_some_and(|found| found == identity.as_bytes());
                if !same {
                    return Err(damaged(&part.path, "this checkpoint belongs to another run: other costs"));
                }
            }
            while !rest.is_empty() {
                let length =
                    rest.split_off(..8).and_then(|length| length.try_into().ok()).map(u64::from_le_bytes);
                let length = length.and_then(|length| usize::try_from(length).ok());
                let bytes = length.and_then(|length| rest.split_off(..length));
                let Some(bytes) = bytes else {
                    return Err(damaged(&part.path, "a subproblem in it is cut short"));
                };
                let cut = FinishedCut::from_bytes(dims, bytes).map_err(|why| {
                    damaged(&part.path, &format!("a subproblem in it can't be used: {why}"))
                })?;
                known.insert((cut.depth, cut.split), cut);
            }
            any = true;
        }
        let bytes = if any { Vec::new() } else { identity.as_bytes().to_vec() };
        let fresh = Mutex::new(Fresh { bytes, written: Instant::now() });
        Ok(KeptCuts { checkpoint, reporter, known, fresh })
    }

    /// Where the cuts that an earlier run kept are, if there are any.
    pub fn earlier(&self) -> Option<&'a Path> {
        (!self.known.is_empty()).then(|| self.checkpoint.folder())
    }

    /// Writes what is still waiting.
    pub fn flush(&self) {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if !fresh.bytes.is_empty() {
            let bytes = std::mem::take(&mut fresh.bytes);
            self.checkpoint.keep(FileKind::Search, &[&bytes], self.reporter);
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
