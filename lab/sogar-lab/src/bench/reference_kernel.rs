//! The reference kernel: the published leaf evaluation, as fast as its plan allows on one thread.
//!
//! For every distinct leaf set and for *every* action it adds up cost and loss of the set's rows. Nothing is skipped,
//! which is the plan of the published method; each leaf set is evaluated once, as if all of them were remembered. It was
//! written once, to measure the search against, and does not follow the search's improvements.
//!
//! What it does to be a fair opponent:
//! - costs and losses of all actions lie ready in dense tables (2 + 1 bytes a cell; making them is not charged);
//! - the tables are cut into tiles of [`TILE`] actions, row after row, so that a leaf set is a list of rows whose cells
//!   are contiguous, rows outside of the set are never touched (a 0/1 mask would add up all rows), and the sums of a
//!   tile stay in registers; the loop is compiled for AVX-512, AVX2 and without;
//! - sums only: finding the non-dominated ones among them is not charged.
//!
//! [`Order::OneByOne`] takes one leaf set after the other, as a search meets them: this is the reference kernel. As every set
//! then streams its rows of the whole table from memory, [`Order::Together`] shows beside it what the same additions
//! take if a run of consecutive leaf sets is known in advance and goes through each tile while it is in the cache.

mod add_up;
#[cfg(test)]
mod tests;

use std::hint::black_box;
use std::time::{Duration, Instant};

use sogar::model::network::Instructions;
use sogar_solver::front::non_dominated;
use sogar_solver::{Combine, Point, Problem, RowSet};

pub use add_up::{Sums, TILE};

use add_up::add_up;

/// Consecutive leaf sets that are taken, timed and drawn for a sample as one.
pub const RUN: usize = 32;

/// In which order the additions are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Leaf set by leaf set, each through all tiles.
    OneByOne,
    /// [`RUN`] leaf sets at a time, all of them through a tile before the next one.
    Together,
}

/// How long additions took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Timing {
    /// Leaf sets that were evaluated.
    pub sets: usize,
    /// Their sizes added up.
    pub rows: u64,
    /// The additions made: one of cost and one of loss for every row and action.
    pub additions: u64,
    /// How long they took.
    pub time: Duration,
}

/// Dense tables of costs and losses of some actions.
pub struct ReferenceKernel {
    actions: Vec<usize>,
    rows: usize,
    costs: Costs,
    losses: Vec<[u8; TILE]>,
    instructions: Instructions,
}

enum Costs {
    Narrow(Vec<[u16; TILE]>),
    Wide(Vec<[u32; TILE]>),
}

impl ReferenceKernel {
    /// Lays out the tables. If all actions would take more than `max_bytes`, only every k-th has its place.
    /// `None` if sums would not fit the counters (65,536 rows or more, or a total cost of 2^32 or more).
    pub fn new(problem: &Problem, combine: Combine, max_bytes: usize) -> Option<ReferenceKernel> {
        let rows = problem.rows();
        let longest = (0..problem.actions()).map(|action| problem.edits_of(action).len()).max()?;
        let edits = (0..problem.actions()).filter_map(|action| problem.edits_of(action).last()).max();
        let edits = edits.map_or(0, |&edit| edit as usize + 1);
        let dearest = (0..edits).flat_map(|edit| problem.edit_cost(edit)).max().copied().unwrap_or(0);
        let combined = match combine {
            Combine::Max => u64::from(dearest),
            Combine::Sum => u64::from(dearest) * longest as u64,
        };
        if u16::try_from(rows).is_err() || u32::try_from(combined * rows as u64).is_err() {
            return None;
        }
        let narrow = combined <= u64::from(u16::MAX);
        let bytes = problem.actions() * rows * if narrow { 3 } else { 5 };
        let actions: Vec<usize> =
            (0..problem.actions()).step_by(bytes.div_ceil(max_bytes.max(1)).max(1)).collect();
        let costs = if narrow {
            Costs::Narrow(tiles(&actions, rows, |action, out| problem_costs(problem, action, out)))
        } else {
            Costs::Wide(tiles(&actions, rows, |action, out| problem_costs(problem, action, out)))
        };
        let losses = tiles(&actions, rows, |action, out| {
            for (row, loss) in out.iter_mut().enumerate() {
                *loss = u8::from(!problem.flips(action, row));
            }
        });
        Some(ReferenceKernel { actions, rows, costs, losses, instructions: Instructions::best() })
    }

    /// The actions that are evaluated.
    pub fn actions(&self) -> &[usize] {
        &self.actions
    }

    /// Adds up all actions for the given leaf sets; `take` gets the sums of set (position) and tile.
    pub fn sums(&self, sets: &[RowSet], order: Order, mut take: impl FnMut(usize, usize, &Sums)) {
        let lists: Vec<Vec<u32>> =
            sets.iter().map(|set| set.iter().map(|row| row as u32).collect()).collect();
        let tiles = self.actions.len().div_ceil(TILE);
        let mut sums = Sums { cost: [0; TILE], loss: [0; TILE] };
        match order {
            Order::OneByOne => {
                for (position, rows) in lists.iter().enumerate() {
                    for tile in 0..tiles {
                        self.tile_sums(tile, rows, &mut sums);
                        take(position, tile, &sums);
                    }
                }
            }
            Order::Together => {
                for tile in 0..tiles {
                    for (position, rows) in lists.iter().enumerate() {
                        self.tile_sums(tile, rows, &mut sums);
                        take(position, tile, &sums);
                    }
                }
            }
        }
    }

    /// Times the additions for all leaf sets, or for as many runs of them as fit into `budget`: the runs are drawn in an
    /// order that depends on `seed` alone.
    pub fn time(&self, sets: &[RowSet], order: Order, budget: Duration, seed: u64) -> Timing {
        let mut runs: Vec<&[RowSet]> = sets.chunks(RUN).collect();
        shuffle(&mut runs, seed);
        let mut timing = Timing::default();
        for run in runs {
            if timing.time >= budget {
                break;
            }
            let start = Instant::now();
            self.sums(run, order, |_, _, sums| {
                black_box(sums);
            });
            timing.time += start.elapsed();
            timing.sets += run.len();
            timing.rows += run.iter().map(|set| set.count() as u64).sum::<u64>();
        }
        timing.additions = timing.rows * self.actions.len() as u64 * 2;
        timing
    }

    /// The non-dominated points of one leaf set.
    pub fn front(&self, set: &RowSet) -> Vec<Point> {
        let mut points = Vec::with_capacity(self.actions.len());
        self.sums(std::slice::from_ref(set), Order::OneByOne, |_, tile, sums| {
            let used = TILE.min(self.actions.len() - tile * TILE);
            let pairs = sums.cost.iter().zip(&sums.loss).take(used);
            points.extend(pairs.map(|(&cost, &loss)| Point { cost: cost.into(), loss: loss.into() }));
        });
        non_dominated(points)
    }

    fn tile_sums(&self, tile: usize, rows: &[u32], sums: &mut Sums) {
        let cells = tile * self.rows..(tile + 1) * self.rows;
        let losses = &self.losses[cells.clone()];
        match &self.costs {
            Costs::Narrow(costs) => add_up(self.instructions, &costs[cells], losses, rows, sums),
            Costs::Wide(costs) => add_up(self.instructions, &costs[cells], losses, rows, sums),
        }
    }
}

/// Splits a table of actions × rows into tiles: tile after tile, in it row after row, in it action after action.
fn tiles<T: Copy + Default>(
    actions: &[usize],
    rows: usize,
    fill: impl Fn(usize, &mut [T]),
) -> Vec<[T; TILE]> {
    let mut table = vec![[T::default(); TILE]; actions.len().div_ceil(TILE) * rows];
    let mut column = vec![T::default(); rows];
    for (tile, actions) in table.chunks_exact_mut(rows).zip(actions.chunks(TILE)) {
        for (lane, &action) in actions.iter().enumerate() {
            fill(action, &mut column);
            for (cells, &value) in tile.iter_mut().zip(&column) {
                cells[lane] = value;
            }
        }
    }
    table
}

fn problem_costs<T: TryFrom<u64> + Default>(problem: &Problem, action: usize, out: &mut [T]) {
    for (row, cost) in out.iter_mut().enumerate() {
        // `ReferenceKernel::new` chose a type that holds every cost.
        *cost = T::try_from(problem.cost(action, row)).unwrap_or_default();
    }
}

/// Fisher–Yates with SplitMix64: the same order on every machine.
pub fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..items.len()).rev() {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        items.swap(last, (mixed % (last as u64 + 1)) as usize);
    }
}
