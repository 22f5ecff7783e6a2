//! Caches the fronts of row sets, shared by all threads.
//!
//! A row set is found by a hash and then proved equal: each entry has a path to its rows, and the rows at the end of that path
//! are compared with the requested ones. So a collision cannot confuse two problems, and a key takes a few bytes instead of a bit
//! for every row. Two threads may solve the same set at the same time; both get the same front, so it does not matter which one
//! is kept.
//!
//! At the memory limit, entries that were not requested since the last clearing are dropped. The search continues, slower, with
//! the same result.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::front::Front;
use crate::problem::Problem;
use crate::subset::{SplitPath, Subset};

const SHARDS: usize = 64;

/// The task for a row set: depth and number of leaves. Depth 0 is the leaf's own front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Task {
    pub depth: u32,
    pub max_leaves: u32,
}

impl Task {
    pub const LEAF: Task = Task { depth: 0, max_leaves: 1 };
    /// One split of two leaves.
    pub const FIRST: Task = Task { depth: 1, max_leaves: 2 };
}

#[derive(Debug)]
struct MemoEntry {
    path: SplitPath,
    task: Task,
    front: Arc<Front>,
    /// Requested since the last clearing.
    asked: bool,
}

/// By the hash of the rows; several entries for several tasks, or for colliding hashes.
type Shard = FxHashMap<u64, Vec<MemoEntry>>;

#[derive(Debug)]
pub(crate) struct Memo<'a> {
    problem: &'a Problem,
    shards: Vec<Mutex<Shard>>,
    bytes: AtomicUsize,
    limit: usize,
    leaf_sets: AtomicU64,
}

/// The size of an entry without its front.
const OVERHEAD: usize = size_of::<MemoEntry>() + 48;

impl<'a> Memo<'a> {
    /// A memo of at most about `limit` bytes.
    pub fn new(problem: &'a Problem, limit: usize) -> Self {
        Memo {
            problem,
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            bytes: AtomicUsize::new(0),
            limit,
            leaf_sets: AtomicU64::new(0),
        }
    }

    fn shard(&self, set: &Subset) -> MutexGuard<'_, Shard> {
        // A thread that panicked cannot have left a shard half-changed: values are only pushed whole.
        self.shards[set.hash as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The front of a task on these rows, if it is cached.
    pub fn get(&self, set: &Subset, task: Task) -> Option<Arc<Front>> {
        if self.limit == 0 {
            return None;
        }
        let mut shard = self.shard(set);
        let found = shard.get_mut(&set.hash)?.iter_mut().find(|entry| entry.task == task)?;
        found.asked = true;
        let (path, front) = (found.path, Arc::clone(&found.front));
        drop(shard);
        path.leads_to(self.problem, &set.rows).then_some(front)
    }

    /// Caches a front.
    pub fn insert(&self, set: &Subset, task: Task, front: &Arc<Front>) {
        let size = front.bytes() + OVERHEAD;
        if size > self.limit || !set.path.is_whole() {
            return;
        }
        let mut shard = self.shard(set);
        if self.bytes.load(Ordering::Relaxed) + size > self.limit {
            self.clear(&mut shard);
            if self.bytes.load(Ordering::Relaxed) + size > self.limit {
                return;
            }
        }
        let entry = shard.entry(set.hash).or_default();
        if entry.iter().any(|entry| entry.task == task) {
            return;
        }
        // One by one: most row sets have one or two entries, and there are millions.
        entry.reserve_exact(1);
        entry.push(MemoEntry { path: set.path, task, front: Arc::clone(front), asked: false });
        if task == Task::LEAF {
            self.leaf_sets.fetch_add(1, Ordering::Relaxed);
        }
        self.bytes.fetch_add(size, Ordering::Relaxed);
    }

    /// Drops entries that were not requested since the last time.
    fn clear(&self, shard: &mut Shard) {
        let mut freed = 0;
        shard.retain(|_, entry| {
            entry.retain_mut(|entry| {
                if !entry.asked {
                    freed += entry.front.bytes() + OVERHEAD;
                }
                std::mem::take(&mut entry.asked)
            });
            !entry.is_empty()
        });
        self.bytes.fetch_sub(freed, Ordering::Relaxed);
    }

    /// Frees everything, and `also`, which refers to it, on a separate thread: freeing millions of small fronts takes a second, and a
    /// search with a deadline does not wait for it.
    pub fn free_beside(self, also: Front) {
        const WORTH_A_THREAD: usize = 16 << 20;
        let large = self.bytes() > WORTH_A_THREAD;
        let garbage = (self.shards, also);
        if large {
            // If no thread can be started, the closure is dropped here, and the garbage with it.
            let _ = std::thread::Builder::new().name("sogar-free".into()).spawn(move || drop(garbage));
        }
    }

    /// Leaf sets cached so far, including those dropped since.
    pub fn leaf_sets(&self) -> u64 {
        self.leaf_sets.load(Ordering::Relaxed)
    }

    /// Bytes of the cached fronts.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
