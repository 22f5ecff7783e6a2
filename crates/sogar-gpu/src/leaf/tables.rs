//! The data of a problem for the kernels, in buffers that fit the adapter.
//!
//! Actions of up to two edits are *short*: there are few of them, and they bound the others. All edits are listed, and all pairs
//! that are part of some useful action; those that are not useful actions themselves have no number, and serve only for their
//! costs.

use std::collections::HashMap;
use std::ops::Range;

use sogar_solver::{Combine, Problem};
use wgpu::Buffer;

use crate::buffer::Allowance;
use crate::device::Gpu;
use crate::fault::Fault;

/// No action, no edit.
pub(super) const NONE: u32 = u32::MAX;
/// Largest number of pairs of edits that bound the cost of a long action.
const MOST_BOUNDS: usize = 6;
/// Largest number of steps of the stairs of known costs.
const MOST_STEPS: u64 = 1024;

/// Settings that all kernels of a problem share, in the order of `Tile` in `leaf.wgsl`.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelSettings {
    pub shorts: u32,
    pub longs: u32,
    pub words: usize,
    pub columns: u32,
    pub long_edits: u32,
    pub long_bounds: u32,
    pub steps: u32,
    pub loss_bits: u32,
    pub cost_bits: u32,
    pub sums: bool,
    pub candidates: u32,
    pub found: u32,
}

impl KernelSettings {
    fn settings(&self, first: u32, count: u32, columns: u32) -> [u32; 12] {
        [
            first,
            count,
            columns,
            self.shorts,
            self.long_edits,
            self.long_bounds,
            self.steps,
            self.loss_bits,
            self.cost_bits,
            u32::from(self.sums),
            self.candidates,
            self.found,
        ]
    }
}

/// Some of the short actions.
pub(super) struct ShortTile {
    pub count: u32,
    pub settings: Buffer,
    pub edits: Buffer,
    pub flips: Buffer,
    pub costs: Buffer,
    /// For pairs: whom any action that contains the pair flips.
    pub unions: Option<Buffer>,
}

/// Some of the long actions.
pub(super) struct LongTile {
    pub count: u32,
    pub settings: Buffer,
    pub flips: Buffer,
}

/// All long actions.
pub(super) struct Longs {
    pub settings: Buffer,
    pub edits: Buffer,
    pub bounds: Buffer,
    pub costs: Buffer,
    pub tiles: Vec<LongTile>,
    /// The position of every action among the long ones, or [`NONE`].
    pub position: Vec<u32>,
}

/// A problem on the device.
pub(super) struct Tables {
    pub shape: KernelSettings,
    pub settings: Buffer,
    pub numbers: Buffer,
    pub singles: Vec<ShortTile>,
    pub pairs: Vec<ShortTile>,
    pub longs: Option<Longs>,
    /// Per bit of a weight the rows that have it; one plane with all rows if every row counts once.
    pub planes: Vec<Vec<u64>>,
}

/// The useful actions, short and long.
struct Lists {
    /// Edits and number: the identity, all edits in order, pairs.
    shorts: Vec<([u32; 2], u32)>,
    /// How many of them are not pairs.
    singles: usize,
    longs: Vec<u32>,
    /// For every long action the same number of short ones that are parts of it.
    bounds: Vec<u32>,
    per_long: usize,
}

impl Lists {
    fn new(problem: &Problem, useful: &[bool]) -> Lists {
        let mut shorts = vec![([NONE, NONE], 0)];
        shorts.extend((0..problem.edits() as u32).map(|edit| ([edit, NONE], NONE)));
        let singles = shorts.len();
        let mut longs = Vec::new();
        let mut pairs: HashMap<[u32; 2], u32> = HashMap::new();
        for action in (1..problem.actions()).filter(|&action| useful.get(action) == Some(&true)) {
            match *problem.edits_of(action) {
                [edit] => shorts[edit as usize + 1].1 = action as u32,
                [a, b] => {
                    pairs.insert([a, b], shorts.len() as u32);
                    shorts.push(([a, b], action as u32));
                }
                _ => longs.push(action as u32),
            }
        }
        let longest = longs.last().map_or(0, |&action| problem.edits_of(action as usize).len());
        let per_long = (longest * longest.saturating_sub(1) / 2).min(MOST_BOUNDS);
        let mut bounds = vec![0; longs.len() * per_long];
        for (&action, bounds) in longs.iter().zip(bounds.chunks_mut(per_long.max(1))) {
            let edits = problem.edits_of(action as usize);
            let all =
                edits.iter().enumerate().flat_map(|(i, &a)| edits[i + 1..].iter().map(move |&b| [a, b]));
            for (bound, pair) in bounds.iter_mut().zip(all) {
                *bound = *pairs.entry(pair).or_insert_with(|| {
                    shorts.push((pair, NONE));
                    shorts.len() as u32 - 1
                });
            }
        }
        Lists { shorts, singles, longs, bounds, per_long }
    }
}

impl Tables {
    /// `candidates` and `found`: limits per batch of sets.
    pub fn new(
        gpu: &Gpu,
        problem: &Problem,
        useful: &[bool],
        allowance: &mut Allowance<'_>,
        (candidates, found): (u32, u32),
    ) -> Result<Tables, Fault> {
        if problem.scale() > 32 || problem.rows() >= 1 << 31 {
            return Err(Fault::TooSmall("its sums have 64 bits, the problem's costs need more".to_owned()));
        }
        let lists = Lists::new(problem, useful);
        let size = problem.size() as u64;
        let loss_bits = (0..32).find(|bits| size >> bits < MOST_STEPS - 2).unwrap_or(31);
        let shape = KernelSettings {
            shorts: lists.shorts.len() as u32,
            longs: lists.longs.len() as u32,
            words: problem.rows().div_ceil(32),
            columns: problem.edits() as u32 + 1,
            long_edits: lists.longs.last().map_or(0, |&long| problem.edits_of(long as usize).len() as u32),
            long_bounds: lists.per_long as u32,
            steps: (size >> loss_bits) as u32 + 2,
            loss_bits,
            cost_bits: problem.scale(),
            sums: problem.combine() == Combine::Sum,
            candidates,
            found,
        };
        let planes = planes(problem);
        if rounds(&planes, shape.long_edits) > gpu.rounds {
            return Err(Fault::TooSmall("its loops end before they have been through all rows".to_owned()));
        }
        let numbers: Vec<u32> = lists.shorts.iter().map(|(_, number)| *number).collect();
        let longs = match lists.longs.is_empty() {
            true => None,
            false => Some(long_actions(gpu, problem, &lists, shape, allowance)?),
        };
        let shared = longs.as_ref().map(|longs| &longs.costs);
        let cutter = Cutter { gpu, problem, lists: &lists, shape, shared };
        let singles = cutter.tiles(0..lists.singles, allowance)?;
        let pairs = cutter.tiles(lists.singles..lists.shorts.len(), allowance)?;
        Ok(Tables {
            shape,
            settings: allowance.settings(&shape.settings(0, shape.shorts, shape.columns))?,
            numbers: allowance.with(&numbers)?,
            singles,
            pairs,
            longs,
            planes,
        })
    }
}

/// Words of 32 rows × actions, so that neighbouring threads read neighbouring numbers.
fn flips_of(problem: &Problem, words: usize, actions: impl ExactSizeIterator<Item = u32>) -> Vec<u32> {
    let count = actions.len();
    let mut table = vec![0; words * count];
    for (at, action) in actions.enumerate().filter(|(_, action)| *action != NONE) {
        for (word, &both) in problem.flips_of(action as usize).iter().enumerate() {
            table[2 * word * count + at] = both as u32;
            if 2 * word + 1 < words {
                table[(2 * word + 1) * count + at] = (both >> 32) as u32;
            }
        }
    }
    table
}

/// Rows × these edits, and an empty column.
fn costs_of(problem: &Problem, edits: &[u32]) -> Vec<u32> {
    let columns = edits.len() + 1;
    let mut table = vec![0; problem.rows() * columns];
    for (at, &edit) in edits.iter().enumerate() {
        for (row, &cost) in problem.edit_cost(edit as usize).iter().enumerate() {
            table[row * columns + at] = cost;
        }
    }
    table
}

/// The number of actions of a tile: their flips fit into a buffer, their threads into a dispatch.
fn most_actions(gpu: &Gpu, words: usize) -> usize {
    let by_buffer = gpu.largest / (words as u64 * 4).max(1);
    usize::try_from(by_buffer).unwrap_or(usize::MAX).min(gpu.workgroups as usize * 64)
}

/// Upper bound of the rounds of a kernel's loops, the final check of each loop included: three for each word of rows, one for
/// each row, and those over the edits of a long action for each row.
fn rounds(planes: &[Vec<u64>], long_edits: u32) -> u64 {
    let words = planes.iter().map(|plane| 2 * plane.len() as u64).sum::<u64>();
    let rows = planes.iter().flatten().map(|word| u64::from(word.count_ones())).sum::<u64>();
    let of_a_row = if long_edits == 0 { 1 } else { 2 + u64::from(long_edits) };
    3 * words + rows * of_a_row
}

fn too_many_rows() -> Fault {
    Fault::TooSmall("what one action does to all rows does not fit into a buffer".to_owned())
}

/// Divides the short actions into tiles.
struct Cutter<'a> {
    gpu: &'a Gpu,
    problem: &'a Problem,
    lists: &'a Lists,
    shape: KernelSettings,
    /// The costs of all edits, if long actions need them in one buffer.
    shared: Option<&'a Buffer>,
}

impl Cutter<'_> {
    fn tiles(&self, range: Range<usize>, allowance: &mut Allowance<'_>) -> Result<Vec<ShortTile>, Fault> {
        let mut tiles = Vec::new();
        let mut first = range.start;
        while first < range.end {
            let tile = self.tile(first..range.end, allowance)?;
            first += tile.count as usize;
            tiles.push(tile);
        }
        Ok(tiles)
    }

    /// As many of these short actions as fit.
    fn tile(&self, range: Range<usize>, allowance: &mut Allowance<'_>) -> Result<ShortTile, Fault> {
        let (problem, shape, first) = (self.problem, self.shape, range.start);
        let most = most_actions(self.gpu, shape.words);
        let most_edits = match self.shared {
            Some(_) => problem.edits(),
            None => (self.gpu.largest / (problem.rows() as u64 * 4)).saturating_sub(1) as usize,
        };
        // Edits are renumbered in each tile, unless all of them are in one buffer.
        let mut edits: Vec<u32> = match self.shared {
            Some(_) => (0..problem.edits() as u32).collect(),
            None => Vec::new(),
        };
        let mut column: HashMap<u32, u32> = edits.iter().map(|&edit| (edit, edit)).collect();
        let mut rows: Vec<[u32; 4]> = Vec::new();
        for (pair, _) in self.lists.shorts[range].iter().take(most) {
            let fresh = pair.iter().filter(|edit| **edit != NONE && !column.contains_key(edit)).count();
            if edits.len() + fresh > most_edits {
                break;
            }
            let [a, b] = pair.map(|edit| match edit {
                NONE => NONE,
                _ => *column.entry(edit).or_insert_with(|| {
                    edits.push(edit);
                    edits.len() as u32 - 1
                }),
            });
            // Edits follow the identity.
            rows.push([a, b, pair[0].wrapping_add(1), pair[1].wrapping_add(1)]);
        }
        if rows.is_empty() {
            return Err(too_many_rows());
        }
        let columns = edits.len() as u32 + 1;
        rows.iter_mut().flatten().filter(|edit| **edit == NONE).for_each(|edit| *edit = columns - 1);
        let own = &self.lists.shorts[first..first + rows.len()];
        let count = rows.len() as u32;
        let flips = flips_of(problem, shape.words, own.iter().map(|(_, number)| *number));
        let unions = match first < self.lists.singles {
            true => None,
            false => Some(allowance.with(&self.unions(flips.clone(), first, rows.len()))?),
        };
        Ok(ShortTile {
            count,
            settings: allowance.settings(&shape.settings(first as u32, count, columns))?,
            edits: allowance.with(&rows)?,
            flips: allowance.with(&flips)?,
            costs: match self.shared {
                Some(costs) => costs.clone(),
                None => allowance.with(&costs_of(problem, &edits))?,
            },
            unions,
        })
    }

    /// Adds to the flips of some pairs the flips of the long actions that they bound.
    fn unions(&self, flips: Vec<u32>, first: usize, count: usize) -> Vec<u32> {
        let mut table = flips;
        for (&action, bounds) in
            self.lists.longs.iter().zip(self.lists.bounds.chunks(self.lists.per_long.max(1)))
        {
            for &bound in bounds {
                let Some(at) = (bound as usize).checked_sub(first).filter(|&at| at < count) else { continue };
                for (word, &both) in self.problem.flips_of(action as usize).iter().enumerate() {
                    table[2 * word * count + at] |= both as u32;
                    if 2 * word + 1 < self.shape.words {
                        table[(2 * word + 1) * count + at] |= (both >> 32) as u32;
                    }
                }
            }
        }
        table
    }
}

fn long_actions(
    gpu: &Gpu,
    problem: &Problem,
    lists: &Lists,
    shape: KernelSettings,
    allowance: &mut Allowance<'_>,
) -> Result<Longs, Fault> {
    let all: Vec<u32> = (0..problem.edits() as u32).collect();
    let mut edits = Vec::with_capacity(lists.longs.len() * (shape.long_edits as usize + 1));
    let mut position = vec![NONE; problem.actions()];
    for (at, &action) in lists.longs.iter().enumerate() {
        position[action as usize] = at as u32;
        edits.push(action);
        let own = problem.edits_of(action as usize);
        let empty = std::iter::repeat(shape.columns - 1);
        edits.extend(own.iter().copied().chain(empty).take(shape.long_edits as usize));
    }
    let most = most_actions(gpu, shape.words);
    if most == 0 {
        return Err(too_many_rows());
    }
    let mut tiles = Vec::new();
    for (number, actions) in lists.longs.chunks(most).enumerate() {
        let count = actions.len() as u32;
        tiles.push(LongTile {
            count,
            settings: allowance.settings(&shape.settings((number * most) as u32, count, shape.columns))?,
            flips: allowance.with(&flips_of(problem, shape.words, actions.iter().copied()))?,
        });
    }
    Ok(Longs {
        settings: allowance.settings(&shape.settings(0, shape.longs, shape.columns))?,
        edits: allowance.with(&edits)?,
        bounds: allowance.with(&lists.bounds)?,
        costs: allowance.with(&costs_of(problem, &all))?,
        tiles,
        position,
    })
}

fn planes(problem: &Problem) -> Vec<Vec<u64>> {
    let weights: Vec<u32> = (0..problem.rows()).map(|row| problem.weight(row)).collect();
    let bits = u32::BITS - weights.iter().fold(0, |all, weight| all | weight).leading_zeros();
    (0..bits)
        .map(|bit| {
            let mut words = vec![0; problem.rows().div_ceil(64)];
            for (row, _) in weights.iter().enumerate().filter(|(_, weight)| *weight >> bit & 1 == 1) {
                words[row / 64] |= 1 << (row % 64);
            }
            words
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use sogar_solver::RowSet;

    use super::rounds;
    use crate::device::ROUNDS_IN_SOFTWARE;

    #[test]
    fn what_a_software_adapter_cuts_short_is_not_asked_of_it() {
        assert_eq!(rounds(&[vec![u64::MAX]], 0), 6 + 64);
        assert_eq!(rounds(&[vec![u64::MAX], vec![1]], 3), 12 + 65 * 5);
        // Found by bisection on Mesa's llvmpipe 22.3: this many rows give the right result, with actions of two, three and four
        // edits.
        let rows = |count: usize| RowSet::full(count).words().to_vec();
        for (right, long_edits) in [(59_917, 0), (12_866, 3), (10_754, 4)] {
            assert!(rounds(&[rows(right + 20)], long_edits) > ROUNDS_IN_SOFTWARE);
            assert!(rounds(&[rows(right - 20)], long_edits) < ROUNDS_IN_SOFTWARE + 100);
        }
    }
}
