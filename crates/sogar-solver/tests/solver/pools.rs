//! Threads that the searches of a campaign share.

#![allow(dead_code)] // each test file uses some of them

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// So many threads, started once: to start them for each of 100,000 problems takes longer than to solve those.
pub fn pool(threads: usize) -> Arc<ThreadPool> {
    static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    let mut pools = POOLS.lock().unwrap();
    let start = || Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    Arc::clone(pools.entry(threads).or_insert_with(start))
}

/// Runs a test for each seed, inside the pool of one thread: searches with one thread start at once, without waking another.
pub fn campaign(seeds: Range<u64>, each: impl Fn(u64) + Send) {
    pool(1).install(|| seeds.for_each(each));
}
