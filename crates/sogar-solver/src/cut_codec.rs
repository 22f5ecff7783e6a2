//! A finished subproblem as bytes: the fronts on both sides of one cut of all rows, with their trees.
//!
//! A search that was killed, or another process, continues from here with the same result to the byte. For that, every entry of
//! the two fronts must keep its position, because positions decide ties ([`crate::front`]). Of the fronts below them, only what
//! their trees use is kept. Costs and losses inside a tree are sums, so they are recomputed instead of written. Reading checks
//! every number, so that decoded fronts can be used like computed ones.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::front::{Branch, Entry, Front, LEAF};
use crate::problem::{Limits, Problem};
use crate::varint::{DecodeError, Reader, put};

/// The dimensions of a problem, against which a finished subproblem is checked.
#[derive(Debug, Clone)]
pub struct ProblemDims {
    /// The weight of all rows.
    pub size: usize,
    /// The weight of the rows that pass each split.
    pub passing: Vec<usize>,
    /// Number of actions.
    pub actions: usize,
    /// Limits of a tree.
    pub limits: Limits,
}

impl ProblemDims {
    /// The dimensions of a problem.
    pub fn of(problem: &Problem) -> ProblemDims {
        ProblemDims {
            size: problem.size,
            passing: problem.splits.iter().map(|split| problem.weight_of(split) as usize).collect(),
            actions: problem.actions(),
            limits: problem.limits,
        }
    }
}

/// One solved cut of all rows: the best trees of a depth on either side.
#[derive(Debug, Clone)]
pub struct FinishedCut {
    /// The depth of the trees, this cut included.
    pub depth: u32,
    /// The split of the cut.
    pub split: u32,
    /// Largest number of leaves of the trees.
    pub(crate) max_leaves: u32,
    /// For each number of leaves on the left the two fronts.
    pub(crate) shares: Vec<(u32, Arc<Front>, Arc<Front>)>,
}

/// The largest accepted cost; sums of two still fit.
const MAX_COST: u64 = u64::MAX / 4;

impl FinishedCut {
    /// From branches as the search keys them.
    pub(crate) fn new(depth: u32, max_leaves: u32, split: u32, branches: &[(u32, Branch)]) -> FinishedCut {
        let share = |(key, branch): &(u32, Branch)| {
            (key % max_leaves + 1, Arc::clone(&branch.left), Arc::clone(&branch.right))
        };
        FinishedCut { depth, split, max_leaves, shares: branches.iter().map(share).collect() }
    }

    /// As the search keys them: keys ascend with the cut's position and the leaves on the left.
    pub(crate) fn branches(&self, position: u32) -> impl Iterator<Item = (u32, Branch)> + '_ {
        self.shares.iter().map(move |(leaves, left, right)| {
            let branch = Branch { split: self.split, left: Arc::clone(left), right: Arc::clone(right) };
            (position * self.max_leaves + leaves - 1, branch)
        })
    }

    /// The cut as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut used = Used::default();
        for (_, left, right) in &self.shares {
            used.whole(left);
            used.whole(right);
        }
        let places = used.places();
        let mut out = Vec::new();
        for number in [self.depth, self.max_leaves, self.split] {
            put(&mut out, u64::from(number));
        }
        used.write(&places, &mut out);
        put(&mut out, self.shares.len() as u64);
        for (leaves, left, right) in &self.shares {
            put(&mut out, u64::from(*leaves));
            put(&mut out, places[used.number(left)] as u64);
            put(&mut out, places[used.number(right)] as u64);
        }
        out
    }

    /// Reads a cut of a problem of these dimensions.
    pub fn from_bytes(dims: &ProblemDims, bytes: &[u8]) -> Result<FinishedCut, DecodeError> {
        let mut reader = Reader::new(bytes);
        let limits = dims.limits;
        let depth = reader.below(u64::from(limits.max_depth) + 1)?;
        let max_leaves = reader.below(u64::from(limits.max_leaves) + 1)?;
        let split = reader.below(dims.passing.len() as u64)?;
        if depth == 0 || max_leaves == 0 {
            return Err(DecodeError("a number in it is out of range"));
        }
        let fronts = read_fronts(dims, &mut reader)?;
        let passing = dims.passing[split as usize];
        let sides = [passing, dims.size - passing];
        let mut shares = Vec::new();
        for _ in 0..reader.count()? {
            let leaves = reader.below(u64::from(max_leaves) + 1)?;
            let mut child = |rows: usize| -> Result<Arc<Front>, DecodeError> {
                let (height, front) = &fronts[reader.below(fronts.len() as u64)? as usize];
                // The first entry has the largest loss.
                let fits = *height < depth && front.get(0).loss as usize <= rows;
                if fits { Ok(Arc::clone(front)) } else { Err(DecodeError("a front in it does not fit")) }
            };
            let (left, right) = (child(sides[0])?, child(sides[1])?);
            let in_order = leaves > shares.last().map_or(0, |(before, _, _)| *before);
            if !in_order {
                return Err(DecodeError("its parts are out of order"));
            }
            shares.push((leaves, left, right));
        }
        reader.end()?;
        if shares.is_empty() {
            return Err(DecodeError("it has no parts"));
        }
        Ok(FinishedCut { depth, split, max_leaves, shares })
    }
}

/// Which entries of which fronts are used.
#[derive(Default)]
struct Used<'a> {
    numbers: FxHashMap<*const Front, usize>,
    fronts: Vec<(&'a Front, Vec<bool>)>,
}

impl<'a> Used<'a> {
    fn number(&self, front: &Arc<Front>) -> usize {
        self.numbers.get(&Arc::as_ptr(front)).copied().unwrap_or(0)
    }

    fn add(&mut self, front: &'a Arc<Front>) -> usize {
        let next = self.fronts.len();
        let number = *self.numbers.entry(Arc::as_ptr(front)).or_insert(next);
        if number == next {
            self.fronts.push((front, vec![false; front.len()]));
        }
        number
    }

    /// Marks all entries of a front and what their trees use.
    fn whole(&mut self, front: &'a Arc<Front>) {
        let number = self.add(front);
        let mut open: Vec<(usize, usize)> = (0..front.len()).map(|at| (number, at)).collect();
        while let Some((number, at)) = open.pop() {
            let (front, used) = &mut self.fronts[number];
            if std::mem::replace(&mut used[at], true) {
                continue;
            }
            let entry = front.get(at);
            if entry.branch != LEAF {
                let branch = &front.branches[entry.branch as usize];
                open.push((self.add(&branch.left), entry.left as usize));
                open.push((self.add(&branch.right), entry.right as usize));
            }
        }
    }

    /// The position at which each front is written: after the fronts that it uses.
    fn places(&self) -> Vec<usize> {
        let mut heights: Vec<Option<u32>> = vec![None; self.fronts.len()];
        for number in 0..self.fronts.len() {
            self.height(number, &mut heights);
        }
        let mut order: Vec<usize> = (0..self.fronts.len()).collect();
        order.sort_by_key(|&number| heights[number]);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &number)| places[number] = place);
        places
    }

    fn height(&self, number: usize, heights: &mut Vec<Option<u32>>) -> u32 {
        if let Some(height) = heights[number] {
            return height;
        }
        let mut height = 0;
        for branch in self.branches(number) {
            for child in [&branch.left, &branch.right] {
                height = height.max(1 + self.height(self.number(child), heights));
            }
        }
        heights[number] = Some(height);
        height
    }

    /// The branches of a front that its used entries take, in order.
    fn branches(&self, number: usize) -> Vec<&'a Branch> {
        let (front, _) = &self.fronts[number];
        self.taken(number).into_iter().map(|at| &front.branches[at as usize]).collect()
    }

    fn taken(&self, number: usize) -> Vec<u32> {
        let (front, used) = &self.fronts[number];
        let entries = front.iter().zip(used).filter(|(entry, used)| **used && entry.branch != LEAF);
        let mut taken: Vec<u32> = entries.map(|(entry, _)| entry.branch).collect();
        taken.sort_unstable();
        taken.dedup();
        taken
    }

    fn write(&self, places: &[usize], out: &mut Vec<u8>) {
        // The position of each entry among those in use.
        let ranks: Vec<Vec<u32>> = self
            .fronts
            .iter()
            .map(|(_, used)| {
                let rank =
                    |next: &mut u32, used: &bool| Some(std::mem::replace(next, *next + u32::from(*used)));
                used.iter().scan(0, rank).collect()
            })
            .collect();
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_unstable_by_key(|&number| places[number]);
        put(out, order.len() as u64);
        for number in order {
            let (front, used) = &self.fronts[number];
            let (taken, branches) = (self.taken(number), self.branches(number));
            put(out, branches.len() as u64);
            for branch in branches {
                put(out, u64::from(branch.split));
                put(out, places[self.number(&branch.left)] as u64);
                put(out, places[self.number(&branch.right)] as u64);
            }
            put(out, used.iter().filter(|used| **used).count() as u64);
            for (entry, _) in front.iter().zip(used).filter(|(_, used)| **used) {
                if entry.branch == LEAF {
                    [0, u64::from(entry.left), entry.cost, u64::from(entry.loss)]
                        .iter()
                        .for_each(|&number| put(out, number));
                    continue;
                }
                let branch = &front.branches[entry.branch as usize];
                let (left, right) = (self.number(&branch.left), self.number(&branch.right));
                put(out, 1 + taken.partition_point(|&at| at < entry.branch) as u64);
                put(out, u64::from(ranks[left][entry.left as usize]));
                put(out, u64::from(ranks[right][entry.right as usize]));
            }
        }
    }
}

/// Fronts, each with the depth of its deepest tree.
fn read_fronts(dims: &ProblemDims, reader: &mut Reader<'_>) -> Result<Vec<(u32, Arc<Front>)>, DecodeError> {
    let mut fronts: Vec<(u32, Arc<Front>)> = Vec::new();
    for _ in 0..reader.count()? {
        let (mut front, mut height) = (Front::default(), 0);
        for _ in 0..reader.count()? {
            let split = reader.below(dims.passing.len() as u64)?;
            let mut child = || -> Result<Arc<Front>, DecodeError> {
                let (below, front) = &fronts[reader.below(fronts.len() as u64)? as usize];
                height = height.max(1 + *below);
                Ok(Arc::clone(front))
            };
            let (left, right) = (child()?, child()?);
            front.branches.push(Branch { split, left, right });
        }
        let entries = reader.count()?;
        front.entries.reserve(entries);
        for _ in 0..entries {
            let entry = read_entry(dims, reader, &front.branches)?;
            let in_order =
                front.entries.last().is_none_or(|last| last.cost < entry.cost && last.loss > entry.loss);
            if !in_order || entry.cost > MAX_COST || entry.leaves > dims.limits.max_leaves {
                return Err(DecodeError("its points are no front"));
            }
            front.entries.push(entry);
        }
        if front.entries.is_empty() {
            return Err(DecodeError("a front in it is empty"));
        }
        fronts.push((height, Arc::new(front)));
    }
    Ok(fronts)
}

fn read_entry(
    dims: &ProblemDims,
    reader: &mut Reader<'_>,
    branches: &[Branch],
) -> Result<Entry, DecodeError> {
    let at = reader.below(branches.len() as u64 + 1)?;
    if at == 0 {
        let action = reader.below(dims.actions as u64)?;
        let cost = reader.number()?;
        let loss = reader.below(dims.size as u64 + 1)?;
        return Ok(Entry { cost, loss, leaves: 1, branch: LEAF, left: action, right: 0 });
    }
    let branch = &branches[at as usize - 1];
    let left = reader.below(branch.left.len() as u64)?;
    let right = reader.below(branch.right.len() as u64)?;
    let (a, b) = (branch.left.get(left as usize), branch.right.get(right as usize));
    let loss = a.loss.checked_add(b.loss).filter(|&loss| loss as usize <= dims.size);
    Ok(Entry {
        cost: a.cost + b.cost, // both are below a quarter of the largest number
        loss: loss.ok_or(DecodeError("a number in it is out of range"))?,
        leaves: a.leaves.saturating_add(b.leaves),
        branch: at - 1,
        left,
        right,
    })
}
