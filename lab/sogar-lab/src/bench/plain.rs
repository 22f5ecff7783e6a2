//! The plain program: what a good programmer would write without sogar's ideas, as a yardstick for the search.
//!
//! It evaluates every leaf set once, with *every* action that no other one dominates on all rows, and then merges fronts from the leaves to the root. It
//! rules nothing out. What makes it strong:
//! - leaf sets are distinct and known in advance ([`super::lattice`]; listing them, and finding dominated actions, is not charged);
//! - costs and losses of [`TILE`] actions are laid out row after row, so that a leaf set is a list of rows whose cells are contiguous, and the sums of a
//!   tile stay in registers; the loop is compiled for AVX-512, AVX2 and without ([`add_up()`]);
//! - [`BLOCK`] leaf sets pass through a tile while it is in the cache.
//!
//! It takes structured actions (costs of edits are combined while a tile is laid out) as well as plain matrices. It uses one thread.

mod add_up;
#[cfg(test)]
mod tests;

use sogar::model::network::Instructions;
use sogar_solver::leaf::GroupedLeaves;
use sogar_solver::{Combine, Point, Problem, RowSet, Switches};

use super::lattice::Cheapest;
use super::stopwatch::Stopwatch;
use add_up::{Cost, Sums, TILE, add_up};

/// Leaf sets that pass through a tile together.
pub const BLOCK: usize = 2048;

/// The program for one problem.
pub struct Plain<'a> {
    problem: &'a Problem,
    /// The identity, and the actions that no other one dominates.
    actions: Vec<u32>,
    /// Whether totals of cost fit into 32 bits.
    narrow: bool,
    instructions: Instructions,
}

/// What was evaluated, and how long it took.
#[derive(Debug, Default)]
pub struct Evaluated {
    /// The front of each set among the actions that were evaluated.
    pub fronts: Vec<Vec<Point>>,
    /// Tiles that were laid out.
    pub tiles: usize,
    /// Seconds for laying out tiles, and for sums and fronts.
    pub laying_out: f64,
    pub adding_up: f64,
}

impl<'a> Plain<'a> {
    /// `None` if rows have weights.
    pub fn new(problem: &'a Problem) -> Option<Plain<'a>> {
        if problem.size() != problem.rows() {
            return None;
        }
        let leaves = GroupedLeaves::new(problem, Switches::default());
        let useful = |&action: &u32| action == 0 || leaves.useful()[action as usize];
        let actions: Vec<u32> = (0..problem.actions() as u32).filter(useful).collect();
        let longest = actions.iter().map(|&action| problem.edits_of(action as usize).len()).max()?.max(1);
        let max_cost =
            (0..problem.edits()).flat_map(|edit| problem.edit_cost(edit)).max().copied().unwrap_or(0);
        let most = match problem.combine() {
            Combine::Max => u64::from(max_cost),
            Combine::Sum => u64::from(max_cost) * longest as u64,
        };
        let narrow = most.checked_mul(problem.rows() as u64).is_some_and(|most| most < u64::from(u32::MAX));
        Some(Plain { problem, actions, narrow, instructions: Instructions::best() })
    }

    /// The actions that are evaluated, all of them.
    pub fn actions(&self) -> usize {
        self.actions.len()
    }

    /// All tiles.
    pub fn tiles(&self) -> usize {
        self.actions.len().div_ceil(TILE)
    }

    /// The fronts of some leaf sets among the actions of every `step`-th tile.
    pub fn evaluate(&self, sets: &[RowSet], step: usize) -> Evaluated {
        match self.narrow {
            true => self.evaluate_in::<u32>(sets, step),
            false => self.evaluate_in::<u64>(sets, step),
        }
    }

    fn evaluate_in<C: Cost>(&self, sets: &[RowSet], step: usize) -> Evaluated {
        let mut evaluated = Evaluated::default();
        let mut tile = Tile::<C>::new(self.problem.rows());
        let mut watch = Stopwatch::start();
        for sets in sets.chunks(BLOCK) {
            let lists: Vec<Vec<u32>> =
                sets.iter().map(|set| set.iter().map(|row| row as u32).collect()).collect();
            let mut cheapest: Vec<Vec<C>> = lists.iter().map(|rows| vec![C::MOST; rows.len() + 1]).collect();
            let mut sums = Sums::new();
            for actions in self.actions.chunks(TILE).step_by(step.max(1)) {
                evaluated.adding_up += watch.lap();
                tile.lay_out(self.problem, actions);
                evaluated.laying_out += watch.lap();
                evaluated.tiles += 1;
                for (rows, cheapest) in lists.iter().zip(&mut cheapest) {
                    add_up(self.instructions, &tile.costs, &tile.losses, rows, &mut sums);
                    for (&cost, &loss) in sums.cost.iter().zip(&sums.loss).take(actions.len()) {
                        let place = &mut cheapest[loss as usize];
                        if cost < *place {
                            *place = cost;
                        }
                    }
                }
            }
            evaluated.fronts.extend(cheapest.iter().map(|costs| {
                let mut front = Cheapest::new(costs.len() - 1);
                let known = (0..).zip(costs).filter(|(_, cost)| **cost != C::MOST);
                known.for_each(|(loss, &cost)| front.lower(cost.into(), loss));
                front.front()
            }));
            evaluated.adding_up += watch.lap();
        }
        evaluated
    }
}

/// Costs and losses of [`TILE`] actions: row after row, in it action after action.
struct Tile<C> {
    costs: Vec<[C; TILE]>,
    losses: Vec<[u8; TILE]>,
    column: Vec<C>,
}

impl<C: Cost> Tile<C> {
    fn new(rows: usize) -> Tile<C> {
        Tile {
            costs: vec![[C::default(); TILE]; rows],
            losses: vec![[0; TILE]; rows],
            column: vec![C::default(); rows],
        }
    }

    fn lay_out(&mut self, problem: &Problem, actions: &[u32]) {
        for (lane, &action) in actions.iter().enumerate() {
            self.column.fill(C::default());
            for &edit in problem.edits_of(action as usize) {
                let costs = problem.edit_cost(edit as usize);
                match problem.combine() {
                    Combine::Max => self
                        .column
                        .iter_mut()
                        .zip(costs)
                        .for_each(|(all, &cost)| *all = (*all).max(C::from(cost))),
                    Combine::Sum => {
                        self.column.iter_mut().zip(costs).for_each(|(all, &cost)| *all += C::from(cost))
                    }
                }
            }
            self.costs.iter_mut().zip(&self.column).for_each(|(cells, &cost)| cells[lane] = cost);
            for (losses, word) in self.losses.chunks_mut(64).zip(problem.flips_of(action as usize)) {
                let bits = (0..).map(|row| u8::from(word >> row & 1 == 0));
                losses.iter_mut().zip(bits).for_each(|(cells, loss)| cells[lane] = loss);
            }
        }
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
