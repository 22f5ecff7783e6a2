//! Leaf fronts ahead of the search, in shards that different processes can take.
//!
//! Under each cut of all rows stand leaf sets that stand under other cuts as well: the people who pass *a*, *b* and *c* are below
//! *a*, below *b* and below *c*. Processes that take cuts of all rows and share nothing would evaluate most leaves several times. So leaves
//! are evaluated first, each below the first of its splits alone, and handed to the processes that solve the cuts. A set that can't be reached that
//! way (a part beside it would be too small) is evaluated again where it is needed: nothing depends on the list being complete.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::front::Front;
use crate::leaf::{LeafContext, LeafPoint, leaf_front};
use crate::memo::Task;
use crate::search::Search;
use crate::stop::StopReason;
use crate::subset::{Cut, SplitPath, Subset, cuts};
use crate::varint::{DecodeError, Reader, put};

/// Leaf sets, each once, with their fronts.
#[derive(Default)]
pub(crate) struct Leaves {
    seen: FxHashMap<u64, ()>,
    found: Vec<(SplitPath, Arc<Front>)>,
}

impl Leaves {
    /// Adds a set. Of two sets with the same hash the second is left out; it is found again where it is needed.
    pub fn add(&mut self, set: &Subset, front: &Arc<Front>) {
        if set.path.is_whole() && self.seen.insert(set.hash, ()).is_none() {
            self.found.push((set.path, Arc::clone(front)));
        }
    }

    /// The sets as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.found.len() as u64);
        for (path, front) in &self.found {
            put(&mut out, path.as_slice().len() as u64);
            path.as_slice().iter().for_each(|&step| put(&mut out, step.into()));
            put(&mut out, front.len() as u64);
            let (mut cost, mut loss) = (0, u32::MAX);
            for entry in front.iter() {
                put(&mut out, entry.cost - cost);
                put(&mut out, u64::from(loss - entry.loss));
                put(&mut out, entry.left.into());
                (cost, loss) = (entry.cost, entry.loss);
            }
        }
        out
    }
}

/// Which part of the leaves below one cut: every `of`-th of the cuts on its sides, beginning with number `part`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafShard {
    /// Which one.
    pub part: usize,
    /// Of how many.
    pub of: usize,
}

impl LeafShard {
    /// All of them.
    pub const ALL: LeafShard = LeafShard { part: 0, of: 1 };
}

impl Search<'_> {
    /// Leaf fronts below one cut of all rows by trees of so much depth, as far as the cut's split comes first among theirs.
    pub fn prefetch_leaves(
        &self,
        context: &dyn LeafContext,
        (all, leaf): (&Subset, &Arc<Front>),
        cut: &Cut,
        depth: u32,
        shard: LeafShard,
        leaves: &mut Leaves,
    ) -> Result<(), StopReason> {
        let sides = [&cut.left, &cut.right];
        let fronts = self.leaf_fronts(context, &[(all, leaf, sides.to_vec())])?;
        for (side, front) in sides.iter().zip(&fronts) {
            leaves.add(side, front);
        }
        for (side, front) in sides.iter().zip(&fronts).filter(|_| depth > 1) {
            let own = context.compact_rows(&side.rows);
            let context = own.as_deref().unwrap_or(context);
            self.leaves_below(context, &[(side, front)], depth - 1, cut.split, shard, leaves)?;
        }
        Ok(())
    }

    /// Leaf fronts of the parts of some sets, cut by splits after `after`, to so much depth.
    fn leaves_below(
        &self,
        context: &dyn LeafContext,
        sets: &[(&Subset, &Arc<Front>)],
        depth: u32,
        after: u32,
        shard: LeafShard,
        leaves: &mut Leaves,
    ) -> Result<(), StopReason> {
        let room = 2 * self.problem.limits.min_leaf as usize;
        let below: Vec<Vec<Cut>> = sets
            .iter()
            .map(|(set, _)| {
                let cuts = if set.size < room { Vec::new() } else { cuts(self.problem, set) };
                let cuts = cuts.into_iter().filter(|cut| cut.split > after);
                cuts.skip(shard.part).step_by(shard.of.max(1)).collect()
            })
            .collect();
        let parents: Vec<(&Subset, &Front, Vec<&Subset>)> = sets
            .iter()
            .zip(&below)
            .map(|((set, leaf), cuts)| {
                (*set, &***leaf, cuts.iter().flat_map(|cut| [&cut.left, &cut.right]).collect())
            })
            .collect();
        let fronts = self.leaf_fronts(context, &parents)?;
        let children: Vec<(&Subset, &Arc<Front>)> =
            parents.iter().flat_map(|(_, _, children)| children.iter().copied()).zip(&fronts).collect();
        children.iter().for_each(|(set, front)| leaves.add(set, front));
        match depth {
            0 | 1 => Ok(()),
            2 => children.chunks(2 * self.sets_together().max(1)).try_for_each(|children| {
                self.leaves_below(context, children, 1, after, LeafShard::ALL, leaves)
            }),
            _ => children.iter().try_for_each(|(set, front)| {
                let own = context.compact_rows(&set.rows);
                let context = own.as_deref().unwrap_or(context);
                self.leaves_below(context, &[(set, front)], depth - 1, after, LeafShard::ALL, leaves)
            }),
        }
    }

    /// Remembers leaf fronts that another process found.
    pub fn remember(&self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut reader = Reader::new(bytes);
        let all = Subset::all(self.problem);
        let (splits, actions) = (self.problem.splits.len() as u64, self.problem.actions() as u64);
        for _ in 0..reader.count()? {
            let mut set = all.clone();
            for _ in 0..reader.count()? {
                set = set.side(self.problem, reader.below(2 * splits)?);
            }
            let mut points: Vec<LeafPoint> = Vec::new();
            let (mut cost, mut loss) = (0u64, u32::MAX);
            for _ in 0..reader.count()? {
                let out_of_range = DecodeError("a number in it is out of range");
                cost = cost.checked_add(reader.number()?).ok_or(out_of_range)?;
                loss = loss.checked_sub(reader.below(1 << 32)?).ok_or(out_of_range)?;
                let action = reader.below(actions)?;
                let in_order = points.last().is_none_or(|last| last.cost < cost && last.loss > loss);
                if loss as usize > set.size || !in_order {
                    return Err(out_of_range);
                }
                points.push(LeafPoint { cost, loss, action });
            }
            self.memo.insert(&set, Task::LEAF, &Arc::new(leaf_front(&points)));
        }
        reader.end()
    }
}
