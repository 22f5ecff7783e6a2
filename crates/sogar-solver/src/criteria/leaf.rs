//! The front of one leaf over all actions, with the loss of every group.
//!
//! The reasoning of [`crate::leaf`] carries over to more criteria, in its plain form. Actions that an earlier one dominates on every row are
//! left out: on any rows it has no more cost, and no more loss in any group. The others are looked at in runs that differ in their last edit only.
//! A run costs at least what its common edits cost, and flips at most whom some action of it flips; a known point that is at most this
//! corner in every criterion, and strictly better or with a smaller action, rules out the whole run. The same test is made again for each action with the bound of its last edit,
//! and again when its losses are counted; its cost is summed last, where no test has ruled it out.
//!
//! The flips of an action are counted for the groups of several leaves in one pass, a lane of a register each.

use std::sync::atomic::{AtomicU64, Ordering};

use super::front::{Entry, Front, Totals, arrange};
use super::grid::{Epsilon, representatives};
use crate::bits::{BitTable, RowSet, ones, words_for};
use crate::front::LEAF;
use crate::leaf::LeafWork;
use crate::leaf::columns::Columns;
use crate::leaf::lanes::{LANES, Words, count};
use crate::problem::{Combine, Problem};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Simd, Token};
use crate::stop::{Stop, StopReason};
use crate::subset::Subset;

/// Actions that differ only in their last edit.
struct Run {
    /// A part of [`Leaves::useful`].
    first: usize,
    end: usize,
}

/// Evaluates leaves.
pub(crate) struct Leaves<'a, const G: usize> {
    problem: &'a Problem,
    groups: &'a [RowSet],
    token: Token,
    useful: Vec<u32>,
    runs: Vec<Run>,
    /// The rows that some action of a run flips.
    run_reach: BitTable,
    /// The rows that some action with an edit flips.
    edit_reach: BitTable,
    columns: Columns,
    epsilon: Epsilon,
    counted: [AtomicU64; 4],
}

/// A leaf to evaluate, with actions that are likely to be good: a hint that never changes a result.
pub(crate) struct Request<'a> {
    pub set: &'a Subset,
    pub warm: &'a [u32],
}

impl<'a, const G: usize> Leaves<'a, G> {
    /// `useful[action]`: whether it can matter.
    pub fn new(
        problem: &'a Problem,
        groups: &'a [RowSet],
        useful: &[bool],
        epsilon: Epsilon,
        token: Token,
    ) -> Self {
        let useful: Vec<u32> =
            (0..problem.actions()).filter(|&action| useful[action]).map(|action| action as u32).collect();
        let mut runs: Vec<Run> = Vec::new();
        for (at, &action) in useful.iter().enumerate() {
            let start = start(problem.edits_of(action as usize));
            match runs.last_mut() {
                Some(run)
                    if run.first > 0
                        && self::start(problem.edits_of(useful[run.first] as usize)) == start =>
                {
                    run.end = at + 1;
                }
                _ => runs.push(Run { first: at, end: at + 1 }),
            }
        }
        let mut run_reach = BitTable::new(runs.len(), problem.rows());
        let mut edit_reach = BitTable::new(problem.edits, problem.rows());
        let join = |union: &mut [u64], flips: &[u64]| union.iter_mut().zip(flips).for_each(|(u, f)| *u |= f);
        for (at, run) in runs.iter().enumerate() {
            for &action in &useful[run.first..run.end] {
                let flips = problem.flips_of(action as usize);
                join(run_reach.set_mut(at), flips);
                for &edit in problem.edits_of(action as usize) {
                    join(edit_reach.set_mut(edit as usize), flips);
                }
            }
        }
        let all: Vec<u32> = (0..problem.rows as u32).collect();
        let columns = Columns::new(problem, &all, words_for(problem.rows));
        let counted = Default::default();
        Leaves { problem, groups, token, useful, runs, run_reach, edit_reach, columns, epsilon, counted }
    }

    /// The weights of the groups in a set of rows.
    pub fn sizes(&self, set: &RowSet) -> [u32; G] {
        std::array::from_fn(|group| match self.groups.get(group) {
            Some(rows) => self.problem.weight_of_both(set.words(), rows.words()) as u32,
            None => 0,
        })
    }

    /// The fronts of some leaves. Leaves that are near each other should be alike.
    pub fn fronts(&self, requests: &[Request<'_>], stop: &Stop) -> Result<Vec<Front<G>>, StopReason> {
        let mut fronts = Vec::with_capacity(requests.len());
        for requests in requests.chunks(LANES / G) {
            stop.check()?;
            let found = match self.token {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the token proves that the processor has these instructions.
                Token::Avx512(simd) => unsafe { self.evaluate_avx512(simd, requests) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Token::Avx2(simd) => unsafe { self.evaluate_avx2(simd, requests) },
                Token::Portable(simd) => self.evaluate(simd, requests),
            };
            fronts.extend(found);
        }
        Ok(fronts)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,lzcnt,popcnt")]
    fn evaluate_avx512(&self, simd: Avx512, requests: &[Request<'_>]) -> Vec<Front<G>> {
        self.evaluate(simd, requests)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn evaluate_avx2(&self, simd: Avx2, requests: &[Request<'_>]) -> Vec<Front<G>> {
        self.evaluate(simd, requests)
    }

    #[inline(always)]
    fn evaluate<K: Simd>(&self, simd: K, requests: &[Request<'_>]) -> Vec<Front<G>> {
        let mut batch = Batch::new(self, requests);
        batch.count_edits(simd);
        batch.try_action(simd, 0);
        let mut warm: Vec<u32> = requests.iter().flat_map(|request| request.warm.iter().copied()).collect();
        warm.sort_unstable();
        warm.dedup();
        for action in warm {
            batch.try_action(simd, action);
        }
        for run in 0..self.runs.len() {
            batch.try_run(simd, run);
        }
        let work = batch.work;
        for (total, more) in self.counted.iter().zip([work.sets, work.groups, work.losses, work.costs]) {
            total.fetch_add(more, Ordering::Relaxed);
        }
        batch.leaves.iter().map(|leaf| self.front(leaf)).collect()
    }

    fn front(&self, leaf: &Leaf<G>) -> Front<G> {
        let point = |at: usize| Entry {
            totals: leaf.totals(at),
            leaves: 1,
            branch: LEAF,
            left: leaf.actions[at],
            right: 0,
        };
        let mut entries: Vec<Entry<G>> = (0..leaf.costs.len()).map(point).collect();
        entries.sort_unstable();
        let slack = self.epsilon.slack(&leaf.sizes, self.problem.limits.max_depth);
        let mut order = representatives(&entries, &slack);
        let most_cost = entries.last().map_or(0, |entry| entry.totals.cost);
        arrange(&entries, &Totals { cost: most_cost, losses: leaf.sizes }, &mut order);
        Front { entries, order, branches: Vec::new() }
    }

    /// What was counted so far.
    pub fn work(&self) -> LeafWork {
        let [sets, groups, losses, costs] = [0, 1, 2, 3].map(|i| self.counted[i].load(Ordering::Relaxed));
        LeafWork { sets, groups, losses, costs }
    }
}

/// An action's edits without the last.
fn start(edits: &[u32]) -> &[u32] {
    edits.split_last().map_or(edits, |(_, start)| start)
}

/// A leaf and the front of what was tried: cost ascending.
struct Leaf<const G: usize> {
    /// Its rows, for each bit of a weight.
    planes: Vec<Vec<u64>>,
    sizes: [u32; G],
    /// What each edit costs.
    edit_costs: Vec<u64>,
    costs: Vec<u64>,
    /// Padded to whole blocks.
    losses: [Vec<u32>; G],
    actions: Vec<u32>,
    /// The point that ruled out something last, and its action.
    last: (Totals<G>, u32),
}

/// Points that are compared together.
const TOGETHER: usize = 16;

impl<const G: usize> Leaf<G> {
    /// Whether no action from `action` on with at least these totals adds anything.
    #[inline(always)]
    fn rules_out(&mut self, totals: &Totals<G>, action: u32) -> bool {
        // Neighbouring actions are ruled out by the same point. It may have been dropped since, for one that is as good.
        let (last, its_action) = self.last;
        if last.at_most(totals) && (last != *totals || its_action <= action) {
            return true;
        }
        let end = self.costs.partition_point(|&cost| cost <= totals.cost);
        for block in 0..end.div_ceil(TOGETHER) {
            // Group by group over the whole block: a loop that the compiler turns into a few wide instructions.
            let mut at_most = [true; TOGETHER];
            for (losses, &most) in self.losses.iter().zip(&totals.losses) {
                let losses: &[u32; TOGETHER] = &losses.as_chunks().0[block];
                at_most.iter_mut().zip(losses).for_each(|(at_most, &loss)| *at_most &= loss <= most);
            }
            let any = at_most.iter().fold(false, |any, &one| any | one);
            if !any {
                continue;
            }
            for one in block * TOGETHER..end.min((block + 1) * TOGETHER) {
                let known = self.totals(one);
                if known.at_most(totals) && (known != *totals || self.actions[one] <= action) {
                    self.last = (known, self.actions[one]);
                    return true;
                }
            }
        }
        false
    }

    #[inline(always)]
    fn totals(&self, at: usize) -> Totals<G> {
        Totals { cost: self.costs[at], losses: std::array::from_fn(|group| self.losses[group][at]) }
    }

    /// Adds an action that is not ruled out, and drops what it rules out.
    fn insert(&mut self, totals: &Totals<G>, action: u32) {
        let start = self.costs.partition_point(|&cost| cost < totals.cost);
        let mut kept = start;
        for one in start..self.costs.len() {
            if (0..G).all(|group| totals.losses[group] <= self.losses[group][one]) {
                continue;
            }
            self.costs[kept] = self.costs[one];
            self.actions[kept] = self.actions[one];
            for losses in &mut self.losses {
                losses[kept] = losses[one];
            }
            kept += 1;
        }
        self.costs.truncate(kept);
        self.actions.truncate(kept);
        self.costs.insert(start, totals.cost);
        self.actions.insert(start, action);
        for (losses, &loss) in self.losses.iter_mut().zip(&totals.losses) {
            losses.truncate(kept);
            losses.insert(start, loss);
            // Whole blocks, so that their loop has no end to look for.
            losses.resize(losses.len().next_multiple_of(TOGETHER), u32::MAX);
        }
    }
}

/// Some leaves that are evaluated side by side: lane `leaf · G + group`.
struct Batch<'a, 'b, const G: usize> {
    on: &'b Leaves<'a, G>,
    leaves: Vec<Leaf<G>>,
    /// The rows of each lane, for each bit of a weight.
    planes: Vec<Vec<Words>>,
    /// Per edit the rows that some action with it flips, by lane.
    edit_flips: Vec<[u32; LANES]>,
    work: LeafWork,
}

impl<'a, 'b, const G: usize> Batch<'a, 'b, G> {
    fn new(on: &'b Leaves<'a, G>, requests: &'b [Request<'b>]) -> Self {
        let problem = on.problem;
        let bits: Vec<Option<&RowSet>> = match &problem.weights {
            Some(weights) => weights.planes().iter().map(Some).collect(),
            None => vec![None],
        };
        let words = words_for(problem.rows);
        let mut planes = vec![vec![Words([0; LANES]); words]; bits.len()];
        let mut leaves = Vec::with_capacity(requests.len());
        for (at, request) in requests.iter().enumerate() {
            let set = request.set.rows.words();
            let mut own = Vec::with_capacity(bits.len());
            for (plane, bit) in planes.iter_mut().zip(&bits) {
                let rows: Vec<u64> = match bit {
                    Some(bit) => set.iter().zip(bit.words()).map(|(a, b)| a & b).collect(),
                    None => set.to_vec(),
                };
                for (group, members) in on.groups.iter().enumerate() {
                    for (word, (rows, members)) in rows.iter().zip(members.words()).enumerate() {
                        plane[word].0[at * G + group] = rows & members;
                    }
                }
                own.push(rows);
            }
            leaves.push(Leaf {
                planes: own,
                sizes: on.sizes(&request.set.rows),
                edit_costs: Vec::new(),
                costs: Vec::new(),
                losses: std::array::from_fn(|_| Vec::new()),
                actions: Vec::new(),
                last: (Totals::MOST, u32::MAX),
            });
        }
        let work = LeafWork { sets: requests.len() as u64, ..LeafWork::default() };
        Batch { on, leaves, planes, edit_flips: Vec::new(), work }
    }

    /// How many rows of each lane a set has, by weight.
    #[inline(always)]
    fn count<K: Simd>(&self, simd: K, set: &[u64]) -> [u32; LANES] {
        let mut sums = [0; LANES];
        for (bit, plane) in self.planes.iter().enumerate() {
            let counts = count(simd, plane, set).lanes();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count << bit);
        }
        sums
    }

    /// The total cost of some edits in a leaf.
    #[inline(always)]
    fn cost<K: Simd>(&self, simd: K, leaf: usize, edits: &[u32]) -> u64 {
        let planes = self.leaves[leaf].planes.iter().enumerate();
        planes.map(|(bit, rows)| self.on.columns.total(simd, rows, edits) << bit).sum()
    }

    /// A bound on the cost of an action with these edits.
    #[inline(always)]
    fn at_least(&self, leaf: usize, edits: &[u32]) -> u64 {
        let costs = &self.leaves[leaf].edit_costs;
        self.on.problem.combine.of(edits.iter().map(|&edit| costs[edit as usize]))
    }

    #[inline(always)]
    fn losses(&self, leaf: usize, flips: &[u32; LANES]) -> [u32; G] {
        let sizes = &self.leaves[leaf].sizes;
        std::array::from_fn(|group| sizes[group] - flips[leaf * G + group])
    }

    fn count_edits<K: Simd>(&mut self, simd: K) {
        let edits = self.on.problem.edits;
        self.edit_flips = (0..edits).map(|edit| self.count(simd, self.on.edit_reach.set(edit))).collect();
        for leaf in 0..self.leaves.len() {
            let costs = (0..edits as u32).map(|edit| self.cost(simd, leaf, &[edit])).collect();
            self.leaves[leaf].edit_costs = costs;
        }
    }

    /// Tries an action on every leaf, without looking at its run.
    #[inline(always)]
    fn try_action<K: Simd>(&mut self, simd: K, action: u32) {
        let flips = self.count(simd, self.on.problem.flips_of(action as usize));
        self.work.losses += 1;
        for leaf in 0..self.leaves.len() {
            let edits = self.on.problem.edits_of(action as usize);
            self.try_flips(simd, leaf, action, &flips, self.at_least(leaf, edits));
        }
    }

    /// Tries an action whose flips are known, and whose cost is at least `bound`.
    #[inline(always)]
    fn try_flips<K: Simd>(&mut self, simd: K, leaf: usize, action: u32, flips: &[u32; LANES], bound: u64) {
        let losses = self.losses(leaf, flips);
        if self.leaves[leaf].rules_out(&Totals { cost: bound, losses }, action) {
            return;
        }
        let edits = self.on.problem.edits_of(action as usize);
        let cost = match (self.on.problem.combine, edits) {
            (Combine::Sum, _) | (_, [] | [_]) => self.at_least(leaf, edits), // the bound is the cost itself
            (Combine::Max, _) => {
                self.work.costs += 1;
                self.cost(simd, leaf, edits)
            }
        };
        let totals = Totals { cost, losses };
        if !self.leaves[leaf].rules_out(&totals, action) {
            self.leaves[leaf].insert(&totals, action);
        }
    }

    #[inline(always)]
    fn try_run<K: Simd>(&mut self, simd: K, run: usize) {
        let (on, problem) = (self.on, self.on.problem);
        let Run { first, end } = on.runs[run];
        let first_action = on.useful[first];
        let shared = start(problem.edits_of(first_action as usize));
        self.work.groups += 1;
        // Whom every common edit reaches at most.
        let mut most = [u32::MAX; LANES];
        for &edit in shared {
            most.iter_mut()
                .zip(&self.edit_flips[edit as usize])
                .for_each(|(most, &flips)| *most = (*most).min(flips));
        }
        let bounds: [u64; LANES] = std::array::from_fn(|leaf| match leaf < self.leaves.len() {
            true => self.at_least(leaf, shared),
            false => 0,
        });
        let mut open = (1u32 << self.leaves.len()) - 1;
        if !shared.is_empty() {
            open = self.still_open(open, &bounds, &most, first_action);
            if open == 0 {
                return;
            }
        }
        let reach = self.count(simd, on.run_reach.set(run));
        most.iter_mut().zip(reach).for_each(|(most, reach)| *most = (*most).min(reach));
        open = self.still_open(open, &bounds, &most, first_action);
        if open == 0 {
            return;
        }
        let mut bounds = bounds;
        if shared.len() > 1 && problem.combine == Combine::Max {
            // What the common edits cost together is more than each of them costs.
            for leaf in ones(open.into()) {
                bounds[leaf] = self.cost(simd, leaf, shared);
                self.work.costs += 1;
            }
            open = self.still_open(open, &bounds, &most, first_action);
        }
        for &action in &on.useful[first..end] {
            if open == 0 {
                return;
            }
            let Some(&last) = problem.edits_of(action as usize).last() else { continue };
            let own: [u64; LANES] = std::array::from_fn(|leaf| match open >> leaf & 1 {
                1 => problem.combine.with(bounds[leaf], self.leaves[leaf].edit_costs[last as usize]),
                _ => 0,
            });
            let reach = &self.edit_flips[last as usize];
            let flips: [u32; LANES] = std::array::from_fn(|lane| most[lane].min(reach[lane]));
            let wanted = self.still_open(open, &own, &flips, action);
            if wanted == 0 {
                continue;
            }
            let flips = self.count(simd, problem.flips_of(action as usize));
            self.work.losses += 1;
            for leaf in ones(wanted.into()) {
                self.try_flips(simd, leaf, action, &flips, own[leaf]);
            }
        }
    }

    /// The leaves in which actions from `action` on, with at least this cost and at most these flips, may matter.
    #[inline(always)]
    fn still_open(&mut self, open: u32, costs: &[u64; LANES], flips: &[u32; LANES], action: u32) -> u32 {
        let mut still = 0;
        for leaf in ones(open.into()) {
            let sizes = &self.leaves[leaf].sizes;
            let losses = std::array::from_fn(|group| sizes[group].saturating_sub(flips[leaf * G + group]));
            let corner = Totals { cost: costs[leaf], losses };
            still |= u32::from(!self.leaves[leaf].rules_out(&corner, action)) << leaf;
        }
        still
    }
}
