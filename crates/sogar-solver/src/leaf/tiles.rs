//! Actions without structure, evaluated all at once: the leaves of a plain table of costs whose actions are unlike.
//!
//! Where no group of actions can be ruled out, every action has to be looked at, and the question is only how fast. Costs and flips of
//! [`TILE`] actions stand row after row, so that the sums of a leaf are additions of whole registers, in 16 bits for costs and 8 bits for
//! flips. Many leaves pass through a tile while it is in the cache.
//!
//! **Siblings.** The two sides of a split have the sums of their parent together. So a parent is summed once, of every split the smaller side,
//! and the other side is a difference. Which requests are siblings is seen in their paths and then proved by their rows.
//!
//! **Why leaving out is sound.** Costs may lack their lowest bits: a sum `x` of rough costs says that the true cost is at least `x · 2^d`. For
//! a number of flips, `limit` is what the cheapest known point `p` with at least as many flips costs, without its lowest bits, plus one if any bit
//! is missing. If `x ≥ limit`, the action costs more than `p`, or as much, and flips no more. Actions come in ascending order, so that `p`'s
//! has the smaller number: the action is dominated, or equal with a larger number ([`super`]). Flips are looked up in at most
//! [`BUCKETS`] steps; a step takes the limit of the most flips in it, the highest one. What passes is compared exactly.

use rayon::prelude::*;

use super::{GroupedLeaves, LeafContext, LeafPoint, LeafRequest, LeafWork, front_of};
use crate::bits::{RowSet, ones};
use crate::problem::Problem;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Simd, Token};
use crate::stop::{Stop, StopReason};

/// Actions of a tile.
const TILE: usize = 64;
/// Steps of the number of flips.
const BUCKETS: usize = 64;
/// Leaves that pass through a tile together, about.
const BLOCK: usize = 1024;
/// The largest sum; one more means that there is no limit.
const FITS: u32 = u16::MAX as u32 - 1;
/// Rows at least that are summed in 16 bits at a time.
const SUMMED: u32 = 32;
/// Points that a leaf keeps beside its front before they are put in order: bounded memory where every action is better than those before it.
const LOOSE: usize = 1024;
/// Fewer actions than this are not worth it.
const FEWEST: usize = 64;

/// What the actions of a tile do to one row: rough cost, and 1 if they flip it.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Cells {
    costs: [u16; TILE],
    flips: [u8; TILE],
}

/// All actions but the identity, tile after tile, in it row after row.
#[derive(Debug)]
pub(super) struct Tiles {
    cells: Vec<Cells>,
    rows: usize,
    actions: usize,
    /// Lowest bits that costs lack.
    dropped: u32,
    /// Rows whose sums fit into 16 bits, and flips into 8: as many are summed at a time.
    most: usize,
}

impl Tiles {
    /// The tiles of a problem whose actions are single edits and whose rows count once; `None` for other problems, and small ones.
    pub fn new(problem: &Problem) -> Option<Tiles> {
        let actions = problem.actions();
        if actions < FEWEST || problem.edits_of(actions - 1).len() > 1 || problem.weights.is_some() {
            return None;
        }
        let rows = problem.rows();
        let fits = |dropped: &u32| {
            let most = problem.max_cost() >> dropped;
            most.saturating_mul(SUMMED) <= FITS && u64::from(most) * rows as u64 <= u64::from(u32::MAX)
        };
        let dropped = (0..32).find(fits)?;
        let most = (FITS / (problem.max_cost() >> dropped).max(1)).min(255) as usize;
        let empty = Cells { costs: [0; TILE], flips: [0; TILE] };
        let mut cells = vec![empty; (actions - 1).div_ceil(TILE) * rows];
        cells.par_chunks_mut(rows).enumerate().for_each(|(tile, cells)| {
            let first = 1 + tile * TILE;
            for (lane, action) in (first..(first + TILE).min(actions)).enumerate() {
                let costs = problem.edit_cost(problem.edits_of(action)[0] as usize);
                cells
                    .iter_mut()
                    .zip(costs)
                    .for_each(|(cell, cost)| cell.costs[lane] = (cost >> dropped) as u16);
                for (cells, word) in cells.chunks_mut(64).zip(problem.flips_of(action)) {
                    let bits = (0..).map(|row| (word >> row & 1) as u8);
                    cells.iter_mut().zip(bits).for_each(|(cell, bit)| cell.flips[lane] = bit);
                }
            }
        });
        Some(Tiles { cells, rows, actions, dropped, most })
    }

    /// The fronts of some leaves.
    #[inline(always)]
    pub fn evaluate<K: Simd>(
        &self,
        simd: K,
        problem: &Problem,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let mut leaves: Vec<Leaf> = requests.iter().map(|request| self.leaf(request)).collect();
        let families = self.families(requests);
        let mut rest = &families[..];
        while !rest.is_empty() {
            let mut taken = 0;
            let count = rest.iter().take_while(|family| {
                taken += family.pairs.len() * 2 + family.alone.len();
                taken <= BLOCK
            });
            let block;
            (block, rest) = rest.split_at(count.count().max(1));
            for (tile, cells) in self.cells.chunks(self.rows).enumerate() {
                stop.check()?;
                let tile = Tile { tiles: self, problem, cells, first: 1 + (tile * TILE) as u32 };
                block.iter().for_each(|family| tile.evaluate(simd, family, &mut leaves));
            }
        }
        let mut cheapest = Vec::new();
        Ok(leaves.into_iter().map(|leaf| leaf.into_front(&mut cheapest)).collect())
    }

    fn leaf(&self, request: &LeafRequest<'_>) -> Leaf {
        let rows: Vec<u32> = request.set.iter().map(|row| row as u32).collect();
        let (size, bits) = (rows.len() as u32, |number: u64| u64::BITS - number.leading_zeros());
        let largest = u64::from(FITS / self.most as u32) * u64::from(size);
        let identity = LeafPoint { cost: 0, loss: size, action: 0 };
        let mut leaf = Leaf {
            rows,
            points: vec![identity],
            room: LOOSE,
            limits: [u16::MAX; BUCKETS],
            step: bits(u64::from(size)).saturating_sub(BUCKETS.ilog2()),
            more: bits(largest + 1).saturating_sub(16),
        };
        leaf.lower(self.dropped, identity);
        leaf
    }

    /// Requests that are the two sides of splits of the same rows, and the others.
    fn families(&self, requests: &[LeafRequest<'_>]) -> Vec<Family> {
        let mut order: Vec<usize> = (0..requests.len()).collect();
        let path = |at: &usize| {
            requests[*at].sides.split_last().map_or((&[][..], 0), |(last, before)| (before, *last))
        };
        order.sort_by(|a, b| path(a).cmp(&path(b)));
        let mut families = Vec::new();
        for same_parent in order.chunk_by(|a, b| path(a).0 == path(b).0) {
            let mut family = Family::default();
            let mut parent: Option<RowSet> = None;
            for same_split in same_parent.chunk_by(|a, b| path(a).1 / 2 == path(b).1 / 2) {
                match same_split {
                    [one, other]
                        if requests[*one].set.and(requests[*other].set).count() == 0 && {
                            let both = joined(requests[*one].set, requests[*other].set);
                            *parent.get_or_insert_with(|| both.clone()) == both
                        } =>
                    {
                        let smaller_first = requests[*one].set.count() <= requests[*other].set.count();
                        family.pairs.push(if smaller_first { [*one, *other] } else { [*other, *one] });
                    }
                    others => family.alone.extend(others),
                }
            }
            // A parent takes longer than its larger side.
            if family.pairs.len() < 2 {
                family.alone.extend(family.pairs.drain(..).flatten());
            } else if let Some(parent) = parent {
                family.parent = parent.iter().map(|row| row as u32).collect();
            }
            // A block may end after every family.
            let (mut pairs, mut alone) = (family.pairs.chunks(BLOCK / 4), family.alone.chunks(BLOCK / 2));
            loop {
                let (pairs, alone) = (pairs.next().unwrap_or(&[]), alone.next().unwrap_or(&[]));
                if pairs.is_empty() && alone.is_empty() {
                    break;
                }
                let parent = if pairs.is_empty() { Vec::new() } else { family.parent.clone() };
                families.push(Family { parent, pairs: pairs.to_vec(), alone: alone.to_vec() });
            }
        }
        families
    }
}

/// Evaluates leaves of a problem in tiles.
pub(super) struct TiledContext<'a> {
    pub owner: &'a GroupedLeaves<'a>,
    pub tiles: &'a Tiles,
}

impl TiledContext<'_> {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,lzcnt,popcnt")]
    fn evaluate_avx512(
        &self,
        simd: Avx512,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        self.tiles.evaluate(simd, self.owner.problem, requests, stop)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn evaluate_avx2(
        &self,
        simd: Avx2,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        self.tiles.evaluate(simd, self.owner.problem, requests, stop)
    }
}

impl LeafContext for TiledContext<'_> {
    fn leaf_fronts(
        &self,
        requests: &[LeafRequest<'_>],
        stop: &Stop,
    ) -> Result<Vec<Vec<LeafPoint>>, StopReason> {
        let (sets, actions) = (requests.len() as u64, self.tiles.actions as u64 - 1);
        self.owner.count(LeafWork { sets, groups: 0, losses: sets * actions, costs: sets * actions });
        match self.owner.token {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the processor has these instructions.
            Token::Avx512(simd) => unsafe { self.evaluate_avx512(simd, requests, stop) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Token::Avx2(simd) => unsafe { self.evaluate_avx2(simd, requests, stop) },
            Token::Portable(simd) => self.tiles.evaluate(simd, self.owner.problem, requests, stop),
        }
    }

    fn compact_rows<'a>(&'a self, _: &RowSet) -> Option<Box<dyn LeafContext + 'a>> {
        None
    }
}

/// Requests with the same parent.
#[derive(Debug, Default)]
struct Family {
    /// The rows of the parent; none without pairs.
    parent: Vec<u32>,
    /// The smaller and the larger side of a split.
    pairs: Vec<[usize; 2]>,
    alone: Vec<usize>,
}

/// A leaf while it is evaluated.
struct Leaf {
    rows: Vec<u32>,
    /// What passed the limits; of equal points the smaller action comes first.
    points: Vec<LeafPoint>,
    /// How many there may be before they are put in order.
    room: usize,
    /// By flips: rough costs from which on an action is left out.
    limits: [u16; BUCKETS],
    /// Bits of flips within a step.
    step: u32,
    /// Further bits that sums lack, if the leaf is large.
    more: u32,
}

impl Leaf {
    /// The front of what passed. `cheapest` is a buffer.
    fn into_front(self, cheapest: &mut Vec<LeafPoint>) -> Vec<LeafPoint> {
        if self.rows.len() > 16 * self.points.len() {
            return front_of(self.points);
        }
        // The first of the cheapest for every loss.
        cheapest.clear();
        cheapest.resize(self.rows.len() + 1, LeafPoint { cost: u64::MAX, loss: 0, action: 0 });
        for point in self.points {
            let place = &mut cheapest[point.loss as usize];
            if point.cost < place.cost {
                *place = point;
            }
        }
        let mut least = u64::MAX;
        let cheaper = |point: &&LeafPoint| {
            let cheaper = point.cost < least;
            least = least.min(point.cost);
            cheaper
        };
        let mut front: Vec<LeafPoint> = cheapest.iter().filter(cheaper).copied().collect();
        front.reverse();
        front
    }

    /// Adds what passed, with a larger action than all before it.
    #[inline(always)]
    fn add(&mut self, dropped: u32, point: LeafPoint) {
        self.points.push(point);
        self.lower(dropped, point);
        if self.points.len() > self.room {
            self.points = front_of(std::mem::take(&mut self.points));
            self.room = self.points.len() + LOOSE;
        }
    }

    /// Takes a point of the front into the limits.
    #[inline(always)]
    fn lower(&mut self, dropped: u32, point: LeafPoint) {
        let missing = dropped + self.more;
        let limit = (point.cost >> missing) + u64::from(missing > 0);
        let limit = u16::try_from(limit).unwrap_or(u16::MAX);
        let flips = self.rows.len() as u32 - point.loss;
        // Steps whose most flips are no more than these; the last step ends with the leaf.
        let steps = if point.loss == 0 { BUCKETS } else { ((flips + 1) >> self.step) as usize };
        self.limits[..steps].iter_mut().for_each(|known| *known = (*known).min(limit));
    }
}

/// A tile of a problem.
struct Tile<'a> {
    tiles: &'a Tiles,
    problem: &'a Problem,
    cells: &'a [Cells],
    /// Its first action.
    first: u32,
}

/// Sums of a leaf for the actions of a tile.
#[derive(Clone, Copy)]
struct Sums {
    costs: [u32; TILE],
    flips: [u32; TILE],
}

impl Tile<'_> {
    #[inline(always)]
    fn evaluate<K: Simd>(&self, simd: K, family: &Family, leaves: &mut [Leaf]) {
        for &at in &family.alone {
            let sums = self.sums(&leaves[at].rows);
            self.compare(simd, &mut leaves[at], &sums);
        }
        if family.pairs.is_empty() {
            return;
        }
        let whole = self.sums(&family.parent);
        for &[smaller, larger] in &family.pairs {
            let mut sums = self.sums(&leaves[smaller].rows);
            self.compare(simd, &mut leaves[smaller], &sums);
            for lane in 0..TILE {
                sums.costs[lane] = whole.costs[lane] - sums.costs[lane];
            }
            for lane in 0..TILE {
                sums.flips[lane] = whole.flips[lane] - sums.flips[lane];
            }
            self.compare(simd, &mut leaves[larger], &sums);
        }
    }

    /// Rough costs and flips of some rows.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // iterators are not compiled for the kernel's instructions: twice the time
    fn sums(&self, rows: &[u32]) -> Sums {
        let mut sums = Sums { costs: [0; TILE], flips: [0; TILE] };
        for rows in rows.chunks(self.tiles.most) {
            let (mut costs, mut flips) = ([0u16; TILE], [0u8; TILE]);
            for &row in rows {
                let cells = &self.cells[row as usize];
                for lane in 0..TILE {
                    costs[lane] = costs[lane].wrapping_add(cells.costs[lane]);
                }
                for lane in 0..TILE {
                    flips[lane] = flips[lane].wrapping_add(cells.flips[lane]);
                }
            }
            for lane in 0..TILE {
                sums.costs[lane] = sums.costs[lane].wrapping_add(u32::from(costs[lane]));
            }
            for lane in 0..TILE {
                sums.flips[lane] = sums.flips[lane].wrapping_add(u32::from(flips[lane]));
            }
        }
        sums
    }

    /// Compares the actions with what is known of a leaf.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // as above
    fn compare<K: Simd>(&self, simd: K, leaf: &mut Leaf, sums: &Sums) {
        let (mut rough, mut steps) = ([0u16; TILE], [0u8; TILE]);
        for lane in 0..TILE {
            rough[lane] = (sums.costs[lane] >> leaf.more) as u16;
        }
        for lane in 0..TILE {
            steps[lane] = (sums.flips[lane] >> leaf.step) as u8;
        }
        let passing = self.own(passing(simd, &rough, &steps, &leaf.limits));
        for lane in ones(passing) {
            let cost = match self.tiles.dropped {
                0 => u64::from(sums.costs[lane]),
                _ => self.exact(leaf, lane),
            };
            let (loss, action) = (leaf.rows.len() as u32 - sums.flips[lane], self.first + lane as u32);
            leaf.add(self.tiles.dropped, LeafPoint { cost, loss, action });
        }
    }

    /// What an action costs over a leaf.
    #[inline(never)]
    fn exact(&self, leaf: &Leaf, lane: usize) -> u64 {
        let edit = self.problem.edits_of(self.first as usize + lane)[0];
        let costs = self.problem.edit_cost(edit as usize);
        leaf.rows.iter().map(|&row| u64::from(costs[row as usize])).sum()
    }

    /// Without lanes beyond the last action.
    #[inline(always)]
    fn own(&self, lanes: u64) -> u64 {
        match self.tiles.actions - self.first as usize {
            actions if actions < TILE => lanes & ((1 << actions) - 1),
            _ => lanes,
        }
    }
}

/// The lanes whose cost is below the limit of their step.
#[inline(always)]
fn passing<K: Simd>(_: K, costs: &[u16; TILE], steps: &[u8; TILE], limits: &[u16; BUCKETS]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if K::AVX512 {
        // SAFETY: the token proves that the processor has these instructions.
        return unsafe { passing_avx512(costs, steps, limits) };
    }
    let mut passing = 0;
    for lane in 0..TILE {
        let limit = limits[usize::from(steps[lane]) % BUCKETS];
        passing |= u64::from(costs[lane] < limit) << lane;
    }
    passing
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn passing_avx512(costs: &[u16; TILE], steps: &[u8; TILE], limits: &[u16; BUCKETS]) -> u64 {
    use std::arch::x86_64::*;
    const HALF: usize = TILE / 2;
    // SAFETY: each load stays within its array of 64 numbers.
    unsafe {
        let low = _mm512_loadu_si512(limits.as_ptr().cast());
        let high = _mm512_loadu_si512(limits.as_ptr().add(HALF).cast());
        let half = |at: usize| {
            let steps = _mm512_cvtepu8_epi16(_mm256_loadu_si256(steps.as_ptr().add(at).cast()));
            let costs = _mm512_loadu_si512(costs.as_ptr().add(at).cast());
            _mm512_cmplt_epu16_mask(costs, _mm512_permutex2var_epi16(low, steps, high))
        };
        u64::from(half(0)) | u64::from(half(HALF)) << HALF
    }
}

fn joined(one: &RowSet, other: &RowSet) -> RowSet {
    RowSet::from_words(one.words().iter().zip(other.words()).map(|(one, other)| one | other).collect())
}
