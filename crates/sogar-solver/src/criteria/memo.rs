//! Remembers the fronts of row sets, as [`crate::memo`] does for two criteria: found by a hash, then proved equal. At the memory limit
//! nothing more is remembered; the search goes on, slower, with the same result.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::front::Front;
use crate::memo::Task;
use crate::problem::Problem;
use crate::subset::{SplitPath, Subset};

const SHARDS: usize = 64;

/// By the hash of the rows, and the task.
type Shard<const G: usize> = FxHashMap<(u64, u32, u32), (SplitPath, Arc<Front<G>>)>;

pub(crate) struct Memo<'a, const G: usize> {
    problem: &'a Problem,
    shards: Vec<Mutex<Shard<G>>>,
    bytes: AtomicUsize,
    limit: usize,
    leaf_sets: AtomicU64,
}

/// The size of an entry without its front.
const OVERHEAD: usize = 96;

impl<'a, const G: usize> Memo<'a, G> {
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

    fn shard(&self, set: &Subset) -> MutexGuard<'_, Shard<G>> {
        // A thread that panicked cannot have left a shard half-changed: values are only inserted whole.
        self.shards[set.hash as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The front of a task on these rows, if it is remembered.
    pub fn get(&self, set: &Subset, task: Task) -> Option<Arc<Front<G>>> {
        let (path, front) = self.shard(set).get(&(set.hash, task.depth, task.max_leaves))?.clone();
        path.leads_to(self.problem, &set.rows).then_some(front)
    }

    /// Remembers a front.
    pub fn insert(&self, set: &Subset, task: Task, front: &Arc<Front<G>>) {
        if task == Task::LEAF {
            self.leaf_sets.fetch_add(1, Ordering::Relaxed);
        }
        let size = front.bytes() + OVERHEAD;
        if !set.path.is_whole() || self.bytes.load(Ordering::Relaxed).saturating_add(size) > self.limit {
            return;
        }
        self.bytes.fetch_add(size, Ordering::Relaxed);
        self.shard(set)
            .entry((set.hash, task.depth, task.max_leaves))
            .or_insert((set.path, Arc::clone(front)));
    }

    /// Leaf sets evaluated so far.
    pub fn leaf_sets(&self) -> u64 {
        self.leaf_sets.load(Ordering::Relaxed)
    }

    /// Bytes of the remembered fronts.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
