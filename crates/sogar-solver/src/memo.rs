//! Remembers the fronts of row sets, shared by all threads.
//!
//! Keys are the row sets themselves, not hashes of them, so a collision can't mix two problems up. Two threads may
//! solve the same set at the same time; both get the same front, so whichever is kept changes nothing. When the memory limit
//! is reached nothing more is remembered: the search goes on, slower, with the same result.

use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::bits::RowSet;
use crate::front::Front;

const SHARDS: usize = 64;

/// What is asked of a row set: depth and number of leaves. Depth 0 is the leaf's own front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Task {
    pub depth: u32,
    pub max_leaves: u32,
}

impl Task {
    pub const LEAF: Task = Task { depth: 0, max_leaves: 1 };
}

type Shard = FxHashMap<RowSet, Vec<(Task, Arc<Front>)>>;

#[derive(Debug)]
pub(crate) struct Memo {
    shards: Vec<Mutex<Shard>>,
    bytes: AtomicUsize,
    limit: usize,
    leaf_sets: AtomicU64,
}

impl Memo {
    pub fn new(limit: usize) -> Self {
        Memo {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            bytes: AtomicUsize::new(0),
            limit,
            leaf_sets: AtomicU64::new(0),
        }
    }

    fn shard(&self, set: &RowSet) -> MutexGuard<'_, Shard> {
        let mut hasher = FxBuildHasher.build_hasher();
        for &word in set.words() {
            hasher.write_u64(word);
        }
        let shard = hasher.finish() as usize % SHARDS;
        // A thread that panicked can't have left a shard half-changed: values are only pushed whole.
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, set: &RowSet, task: Task) -> Option<Arc<Front>> {
        let shard = self.shard(set);
        let fronts = shard.get(set)?;
        fronts.iter().find(|(known, _)| *known == task).map(|(_, front)| Arc::clone(front))
    }

    pub fn insert(&self, set: &RowSet, task: Task, front: &Arc<Front>) {
        let mut size = front.bytes() + size_of::<(Task, Arc<Front>)>();
        if self.bytes.load(Ordering::Relaxed) + size > self.limit {
            return;
        }
        let mut shard = self.shard(set);
        let fronts = match shard.get_mut(set) {
            Some(fronts) => fronts,
            None => {
                size += size_of_val(set.words()) + 64;
                shard.entry(set.clone()).or_default()
            }
        };
        if fronts.iter().any(|(known, _)| *known == task) {
            return;
        }
        fronts.push((task, Arc::clone(front)));
        if task == Task::LEAF {
            self.leaf_sets.fetch_add(1, Ordering::Relaxed);
        }
        self.bytes.fetch_add(size, Ordering::Relaxed);
    }

    /// Distinct leaf sets remembered.
    pub fn leaf_sets(&self) -> u64 {
        self.leaf_sets.load(Ordering::Relaxed)
    }

    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
