//! The dynamic programme over subsets of rows.
//!
//! `T(S, d, m)` is the front of all trees of depth ≤ d with ≤ m leaves on the rows `S`:
//! the leaf's own front together with `T(left, d−1, m1) ⊕ T(right, d−1, m2)` for every split and every `m1 + m2 = m`
//! (SPEC §6). Different paths lead to the same `S`, so fronts are remembered by row set ([`crate::memo`]).
//!
//! The root is solved for depth 0, 1, 2, … in turn. Each finished depth is a valid front, so a search that is stopped has
//! something to give, and what it learned at one depth is remembered for the next. Nearly all the time goes into the leaves of
//! the last split; the sets that are split last below one set are taken several at a time
//! ([`Search::first_levels`]), so that their leaves can be evaluated side by side.
//!
//! Results do not depend on threads: candidates are compared by a total order ([`crate::front`]), and only
//! whole, finished fronts enter the memo. A subproblem that was interrupted returns an error and leaves no trace.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::cut_codec::FinishedCut;
use crate::front::{Branch, Collector, Front, LEAF, Point, non_dominated};
use crate::leaf::{LeafContext, LeafEvaluation, LeafPoint, LeafRequest, leaf_front};
use crate::memo::{Memo, Task};
use crate::problem::{Limits, Problem};
use crate::stop::{Observer, Progress, Stop, StopReason};
use crate::subproblems::Subproblems;
use crate::subset::{Cut, Subset, cuts};

/// Bytes for the leaf sets below the parts that are taken together, for each thread.
const ROOM_FOR_SETS: usize = 32 << 20;

/// What a search is made of.
pub(crate) struct Search<'a> {
    pub problem: &'a Problem,
    pub leaves: &'a dyn LeafEvaluation,
    pub stop: Stop,
    pub memo: Memo<'a>,
    pub warm_start: bool,
}

/// Called after finished cuts of a set: how many cuts there are, how many more are finished, and the points if they improved the front.
type Report<'a> = &'a (dyn Fn(usize, usize, Option<Vec<Point>>) + Sync);

impl Search<'_> {
    /// The front of all rows, and why it may be partial. `kept` knows cuts of all rows that need not be solved again.
    pub fn run(&self, observer: &dyn Observer, kept: &dyn Subproblems) -> (Front, Option<StopReason>) {
        let limits = self.problem.limits;
        let all = Subset::all(self.problem);
        let context = self.leaves.among(&all.rows);
        let leaf = self.root_leaf(&*context, &all);
        observer.improved(&leaf.points());
        let mut best = Arc::clone(&leaf);
        if !self.problem.flips_anyone() {
            return (Arc::unwrap_or_clone(best), None);
        }
        let last = task(limits, all.size, limits.max_depth, limits.max_leaves);
        for depth in 1..=last.depth {
            let this = task(limits, all.size, depth, limits.max_leaves);
            self.leaves.prepare(&self.stop);
            let done = AtomicUsize::new(0);
            let known = Mutex::new(best.points());
            let report = |cuts: usize, finished: usize, better: Option<Vec<Point>>| {
                let splits_done = done.fetch_add(finished, Ordering::Relaxed) + finished;
                observer.progress(Progress {
                    depth,
                    splits_done,
                    splits_total: cuts,
                    leaf_sets: self.memo.leaf_sets(),
                });
                if let Some(points) = better {
                    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    let joined = non_dominated(known.iter().copied().chain(points).collect());
                    if joined != *known {
                        observer.improved(&joined);
                        *known = joined;
                    }
                }
            };
            let (front, reason) = self.branch(&*context, &all, this, &leaf, &best, &report, kept);
            if reason.is_some() {
                return (best.union(&front), reason);
            }
            best = Arc::new(front);
        }
        (Arc::unwrap_or_clone(best), None)
    }

    /// The front of all rows as one leaf. It is always computed, deadline or not: it is the least that a stopped search gives.
    pub fn root_leaf(&self, context: &dyn LeafContext, all: &Subset) -> Arc<Front> {
        let request = LeafRequest { set: &all.rows, sides: &[], warm: &[] };
        let points = context.leaf_fronts(&[request], &Stop::default()).unwrap_or_default();
        let leaf = Arc::new(leaf_front(points.first().map_or(&[], Vec::as_slice)));
        self.memo.insert(all, Task::LEAF, &leaf);
        leaf
    }

    /// `T(set, task)`.
    pub fn solve(
        &self,
        context: &dyn LeafContext,
        set: &Subset,
        task: Task,
        leaf: &Arc<Front>,
    ) -> Result<Arc<Front>, StopReason> {
        match task.depth {
            0 => return Ok(Arc::clone(leaf)),
            1 => return Ok(self.first_levels(context, &[(set, leaf)])?.swap_remove(0)),
            _ => {}
        }
        if let Some(front) = self.memo.get(set, task) {
            return Ok(front);
        }
        let own = context.compact_rows(&set.rows);
        let context = own.as_deref().unwrap_or(context);
        let (front, reason) = self.branch(context, set, task, leaf, leaf, &|_, _, _| (), &());
        if let Some(reason) = reason {
            return Err(reason);
        }
        let front = Arc::new(front);
        self.memo.insert(set, task, &front);
        Ok(front)
    }

    /// How many cuts are taken together, so that the leaves below their parts can be evaluated side by side.
    pub fn sets_together(&self) -> usize {
        let splits = self.problem.splits.len();
        let bytes = size_of_val(self.problem.flips_of(0)) + size_of::<Subset>();
        ROOM_FOR_SETS / (4 * splits * bytes).max(1)
    }

    /// `T(set, 1)` of several sets, each given with its leaf front: all leaves below them are evaluated together.
    fn first_levels(
        &self,
        context: &dyn LeafContext,
        sets: &[(&Subset, &Arc<Front>)],
    ) -> Result<Vec<Arc<Front>>, StopReason> {
        let known: Vec<Option<Arc<Front>>> =
            sets.iter().map(|(set, _)| self.memo.get(set, Task::FIRST)).collect();
        let below: Vec<Vec<Cut>> = sets
            .iter()
            .zip(&known)
            .map(|((set, _), known)| if known.is_some() { Vec::new() } else { cuts(self.problem, set) })
            .collect();
        let parents: Vec<(&Subset, &Front, Vec<&Subset>)> = sets
            .iter()
            .zip(&below)
            .map(|((set, leaf), cuts)| {
                (*set, &***leaf, cuts.iter().flat_map(|cut| [&cut.left, &cut.right]).collect())
            })
            .collect();
        let mut leaves = self.leaf_fronts(context, &parents)?.into_iter();
        let fronts = sets.iter().zip(&known).zip(&below).map(|(((set, leaf), known), cuts)| {
            if let Some(front) = known {
                return Arc::clone(front);
            }
            let mut collector = Collector::new(set.size);
            collector.add_leaf(leaf);
            let mut branches = Vec::with_capacity(cuts.len());
            for (key, cut) in (0..).zip(cuts) {
                if let (Some(left), Some(right)) = (leaves.next(), leaves.next()) {
                    collector.add_split(key, &left, &right);
                    branches.push((key, Branch { split: cut.split, left, right }));
                }
            }
            let front = Arc::new(collector.finish(&branches));
            self.memo.insert(set, Task::FIRST, &front);
            front
        });
        Ok(fronts.collect())
    }

    /// The cuts of a set, side by side on all threads, those first that `guide` (a front of the same rows) uses most. If
    /// the search is stopped, the front is that of the cuts that were finished, with the reason; only the root has a use for that.
    /// Cuts that are `kept` are taken from there.
    #[allow(clippy::too_many_arguments)]
    fn branch(
        &self,
        context: &dyn LeafContext,
        set: &Subset,
        task: Task,
        leaf: &Arc<Front>,
        guide: &Front,
        report: Report<'_>,
        kept: &dyn Subproblems,
    ) -> (Front, Option<StopReason>) {
        let cuts = cuts(self.problem, set);
        report(cuts.len(), 0, None);
        let (next, collected) = (AtomicUsize::new(0), Mutex::new((Collector::new(set.size), Vec::new())));
        let lock = || collected.lock().unwrap_or_else(PoisonError::into_inner);
        lock().0.add_leaf(leaf);
        let finish = |branches: Vec<(u32, Branch)>| {
            let mut own = Collector::new(set.size);
            for (key, branch) in &branches {
                own.add_split(*key, &branch.left, &branch.right);
            }
            let mut all = lock();
            let better = all.0.absorb(&own).then(|| all.0.points());
            all.1.extend(branches);
            drop(all);
            report(cuts.len(), 1, better);
        };
        let finished = || {
            let (mut collector, mut branches) =
                std::mem::replace(&mut *lock(), (Collector::new(0), Vec::new()));
            branches.sort_unstable_by_key(|(key, _)| *key);
            collector.finish(&branches)
        };
        let known: Vec<bool> = cuts
            .par_iter()
            .enumerate()
            .map(|(position, cut)| {
                let known = kept.known(task.depth, cut.split).filter(|cut| cut.max_leaves == task.max_leaves);
                known.map(|cut| finish(cut.branches(position as u32).collect())).is_some()
            })
            .collect();
        let mut order = by_promise(&cuts, guide);
        order.retain(|&position| !known[position]);
        let children: Vec<&Subset> = cuts.iter().flat_map(|cut| [&cut.left, &cut.right]).collect();
        let leaves = match self.leaves_of(context, set, &children, leaf, &known) {
            Ok(leaves) => leaves,
            Err(reason) => return (finished(), Some(reason)),
        };
        let threads = rayon::current_num_threads().max(1);
        let together = match task.depth {
            // No other task runs below all rows, so every thread needs some of this one.
            2 if set.path.as_slice().is_empty() => {
                self.sets_together().min(order.len().div_ceil(2 * threads))
            }
            2 => self.sets_together(),
            _ => 1,
        };
        let work = || -> Result<(), StopReason> {
            while let Some(positions) =
                order.chunks(together.max(1)).nth(next.fetch_add(1, Ordering::Relaxed))
            {
                self.stop.check()?;
                let firsts = match task.depth {
                    2 => self.first_levels_below(context, positions, &children, &leaves)?,
                    _ => Vec::new(),
                };
                for (i, &position) in positions.iter().enumerate() {
                    let solve = |side: usize, child: &Subset, task: Task| match task {
                        Task::FIRST if !firsts.is_empty() => Ok(Arc::clone(&firsts[2 * i + side])),
                        _ => self.solve(context, child, task, &leaves[2 * position + side]),
                    };
                    let branches = self.solve_cut(position, &cuts[position], task, solve)?;
                    kept.finished(FinishedCut::new(
                        task.depth,
                        task.max_leaves,
                        cuts[position].split,
                        &branches,
                    ));
                    finish(branches);
                }
            }
            Ok(())
        };
        let reason = (0..threads).into_par_iter().map(|_| work()).collect::<Result<(), _>>().err();
        (finished(), reason)
    }

    /// The children's fronts of one cut, for every way to share the leaves between them.
    pub fn solve_cut(
        &self,
        position: usize,
        cut: &Cut,
        task: Task,
        solve: impl Fn(usize, &Subset, Task) -> Result<Arc<Front>, StopReason>,
    ) -> Result<Vec<(u32, Branch)>, StopReason> {
        let mut branches = Vec::new();
        for (key, left, right) in shared_tasks(self.problem.limits, position, cut, task) {
            let left = solve(0, &cut.left, left)?;
            let right = solve(1, &cut.right, right)?;
            branches.push((key, Branch { split: cut.split, left, right }));
        }
        Ok(branches)
    }

    /// Leaf fronts of a set's children, in order, in a few large batches side by side. The two children of a cut that is `known`
    /// already get empty fronts, which are not read.
    fn leaves_of(
        &self,
        context: &dyn LeafContext,
        set: &Subset,
        children: &[&Subset],
        leaf: &Front,
        known: &[bool],
    ) -> Result<Vec<Arc<Front>>, StopReason> {
        let wanted: Vec<&Subset> =
            children.iter().enumerate().filter(|(at, _)| !known[at / 2]).map(|(_, child)| *child).collect();
        let batch = wanted.len().div_ceil(rayon::current_num_threads()).max(32);
        let batches: Vec<Vec<Arc<Front>>> = wanted
            .par_chunks(batch)
            .map(|children| self.leaf_fronts(context, &[(set, leaf, children.to_vec())]))
            .collect::<Result<_, _>>()?;
        let mut found = batches.into_iter().flatten();
        let of_child = |at: usize| if known[at / 2] { Some(Arc::default()) } else { found.next() };
        Ok((0..children.len()).filter_map(of_child).collect())
    }

    /// For the two children of each of these cuts `T(child, 1)`; for a child without room for two leaves, its leaf front.
    fn first_levels_below(
        &self,
        context: &dyn LeafContext,
        cuts: &[usize],
        children: &[&Subset],
        leaves: &[Arc<Front>],
    ) -> Result<Vec<Arc<Front>>, StopReason> {
        let room = 2 * self.problem.limits.min_leaf as usize;
        let all = || cuts.iter().flat_map(|&cut| [2 * cut, 2 * cut + 1]);
        let sets: Vec<(&Subset, &Arc<Front>)> = all()
            .filter(|&child| children[child].size >= room)
            .map(|child| (children[child], &leaves[child]))
            .collect();
        let mut firsts = self.first_levels(context, &sets)?.into_iter();
        let of_child = |child: usize| match children[child].size >= room {
            true => firsts.next(),
            false => Some(Arc::clone(&leaves[child])),
        };
        Ok(all().filter_map(of_child).collect())
    }

    /// Leaf fronts of some children of some sets (each given with its own leaf front), in order; remembered ones where
    /// there are.
    pub fn leaf_fronts(
        &self,
        context: &dyn LeafContext,
        parents: &[(&Subset, &Front, Vec<&Subset>)],
    ) -> Result<Vec<Arc<Front>>, StopReason> {
        let all = || parents.iter().flat_map(|(_, _, children)| children.iter().copied());
        let mut fronts: Vec<Option<Arc<Front>>> = all().map(|set| self.memo.get(set, Task::LEAF)).collect();
        // The sets to be evaluated, each once, in the order of their parents; and where a parent's begin.
        let mut wanted: Vec<&Subset> = Vec::new();
        let mut positions: FxHashMap<&Subset, usize> = FxHashMap::default();
        let mut starts = Vec::with_capacity(parents.len());
        let mut known = fronts.iter();
        for (_, _, children) in parents {
            starts.push(wanted.len());
            for set in children {
                if known.next().is_some_and(Option::is_none) && !positions.contains_key(set) {
                    positions.insert(set, wanted.len());
                    wanted.push(set);
                }
            }
        }
        starts.push(wanted.len());
        if !wanted.is_empty() {
            let warm: Vec<Vec<u32>> = parents
                .iter()
                .map(|(_, leaf, _)| match self.warm_start {
                    true => leaf.iter().map(|entry| entry.left).collect(),
                    false => Vec::new(),
                })
                .collect();
            let mut fresh: Vec<Option<Arc<Front>>> = vec![None; wanted.len()];
            let order = among_their_like(parents, &wanted, &starts);
            let requests: Vec<LeafRequest<'_>> = order
                .iter()
                .map(|&(parent, at)| LeafRequest {
                    set: &wanted[at].rows,
                    sides: wanted[at].path.as_slice(),
                    warm: &warm[parent],
                })
                .collect();
            let points = self.evaluated(context, parents, &order, &requests)?;
            for (&(_, at), points) in order.iter().zip(&points) {
                let front = Arc::new(leaf_front(points));
                self.memo.insert(wanted[at], Task::LEAF, &front);
                fresh[at] = Some(front);
            }
            for (set, front) in all().zip(&mut fronts) {
                if front.is_none() {
                    *front = positions.get(set).and_then(|&position| fresh[position].clone());
                }
            }
        }
        Ok(fronts.into_iter().flatten().collect())
    }

    /// The points of some leaves, given in `order` with their parents: those of a parent with many of them in a context of its own, where that
    /// pays, the others together.
    fn evaluated(
        &self,
        context: &dyn LeafContext,
        parents: &[(&Subset, &Front, Vec<&Subset>)],
        order: &[(usize, usize)],
        requests: &[LeafRequest<'_>],
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let mut points = Vec::with_capacity(requests.len());
        let mut end = 0;
        for run in order.chunk_by(|(a, _), (b, _)| a == b) {
            end += run.len();
            if let Some(own) = context.compact_rows_for(&parents[run[0].0].0.rows, run.len()) {
                let start = end - run.len();
                points.extend(context.leaf_fronts(&requests[points.len()..start], &self.stop)?);
                points.extend(own.leaf_fronts(&requests[start..end], &self.stop)?);
            }
        }
        points.extend(context.leaf_fronts(&requests[points.len()..], &self.stop)?);
        Ok(points)
    }
}

/// The order in which leaf sets that are wanted below some parents are evaluated, each with the parent whose front is its hint.
///
/// What passes (or fails) `b` and `c` of some rows is a part of what passes `b` and of what passes `c`, and it is the same to the result which
/// of them it counts to. With those of the smaller one it is among leaves that are more like it, and sides of a kind come together: the same
/// actions matter to leaves that lie on the same sides of splits.
fn among_their_like(
    parents: &[(&Subset, &Front, Vec<&Subset>)],
    wanted: &[&Subset],
    starts: &[usize],
) -> Vec<(usize, usize)> {
    // Truncated paths have no known endpoint.
    let paths = parents.iter().enumerate().filter(|(_, (set, _, _))| set.path.is_whole());
    let at_end_of: FxHashMap<&[u32], usize> =
        paths.map(|(parent, (set, _, _))| (set.path.as_slice(), parent)).collect();
    let mut order = Vec::with_capacity(wanted.len());
    for parent in 0..parents.len() {
        let own = starts[parent]..starts[parent + 1];
        for (at, set) in own.clone().zip(&wanted[own]) {
            let path = set.path.as_slice();
            let other = match path {
                [before @ .., _, last] => at_end_of.get(&*[before, &[*last]].concat()).copied(),
                _ => None,
            };
            let smaller = other.filter(|&other| parents[other].0.size < parents[parent].0.size);
            order.push((smaller.unwrap_or(parent), at));
        }
    }
    let fails = |at: usize| wanted[at].path.as_slice().last().map(|step| step % 2);
    order.sort_by_key(|&(parent, at)| (parent, fails(at)));
    order
}

/// The positions of the cuts, those first whose splits the most points of `guide` begin with.
fn by_promise(cuts: &[Cut], guide: &Front) -> Vec<usize> {
    let mut uses: FxHashMap<u32, usize> = FxHashMap::default();
    for entry in guide.iter().filter(|entry| entry.branch != LEAF) {
        *uses.entry(guide.branches[entry.branch as usize].split).or_default() += 1;
    }
    let mut order: Vec<usize> = (0..cuts.len()).collect();
    order.sort_by_key(|&position| std::cmp::Reverse(uses.get(&cuts[position].split).copied().unwrap_or(0)));
    order
}

/// The task that `size` rows allow: no more leaves than fit by size and depth, no more depth than the leaves
/// can use. Equal subproblems get equal tasks, so they are remembered once.
pub(crate) fn task(limits: Limits, size: usize, depth: u32, max_leaves: u32) -> Task {
    let by_depth = 1u32.checked_shl(depth).unwrap_or(u32::MAX);
    let by_size = u32::try_from(size / limits.min_leaf as usize).unwrap_or(u32::MAX);
    let max_leaves = max_leaves.min(by_depth).min(by_size).max(1);
    Task { depth: depth.min(max_leaves - 1), max_leaves }
}

/// The tasks of a cut's children, for every way to share the leaves between them. Keys ascend with the cut's position and then
/// with the number of leaves on the left.
pub(crate) fn shared_tasks(
    limits: Limits,
    position: usize,
    cut: &Cut,
    task: Task,
) -> impl Iterator<Item = (u32, Task, Task)> {
    let (left, right) = (cut.left.size, cut.right.size);
    let child = move |size, max_leaves| self::task(limits, size, task.depth - 1, max_leaves);
    let most_left = child(left, task.max_leaves - 1).max_leaves;
    let most_right = child(right, task.max_leaves - 1).max_leaves;
    // Where both children can have all the leaves they have room for, one combination covers the others.
    let free = most_left + most_right <= task.max_leaves;
    let fewest_left = if free { most_left } else { task.max_leaves - most_right };
    (fewest_left..=most_left).map(move |left_leaves| {
        let right_leaves = if free { most_right } else { task.max_leaves - left_leaves };
        let key = position as u32 * task.max_leaves + left_leaves - 1;
        (key, child(left, left_leaves), child(right, right_leaves))
    })
}
