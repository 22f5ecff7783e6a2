//! Evaluates all actions of one row with the network.
//!
//! Actions that differ only in their last edit are neighbours, and so are their edits' shares of the first layer: runs of vector
//! additions fill a block of cells. Only actions of useful edits are evaluated; any other has the outcome of the action with the
//! same effect on this row.

use std::ops::Range;
use std::time::Instant;

use sogar_solver::Stop;
use sogar_solver::bits::ones;

use super::NetworkOutcomes;
use super::effects::{Effects, NOTHING, SPARE};
use super::kernel::{Block, CELLS, Unit};
use super::offload::{Offload, Wanted};
use crate::model::network::{Evaluation, LANES};
use crate::outcomes::index::{Segment, child};

/// The outcomes of one row.
pub(super) struct RowOutcomes {
    /// A bit for each action.
    pub flips: Vec<u64>,
    /// How many were too close to call in single precision.
    pub settled: u64,
}

/// What one thread needs for a row.
pub(super) struct Walk<'a> {
    all: &'a NetworkOutcomes<'a>,
    stop: &'a Stop,
    effects: Effects,
    block: Block,
    /// The actions of the block's cells, and how many there are.
    actions: [u32; CELLS],
    filled: usize,
    /// First-layer sums, and their error, of the edits chosen so far: one after none, one after the first, …
    partial: Vec<Vec<f32>>,
    cells: Cells,
    /// Actions that are too close to call.
    close: Vec<u32>,
    evaluation: Evaluation<'a>,
    row: RowOutcomes,
}

/// All cells of a row, for a device.
#[derive(Default)]
struct Cells {
    actions: Vec<u32>,
    /// The error of each cell's first-layer sums.
    errors: Vec<f32>,
    /// Positions among the useful edits, as many for each cell as an action may have.
    positions: Vec<u32>,
    /// Those of the cell in progress.
    chosen: Vec<u32>,
}

impl<'a> Walk<'a> {
    pub fn new(all: &'a NetworkOutcomes<'a>, stop: &'a Stop) -> Self {
        Walk {
            all,
            stop,
            effects: Effects::default(),
            block: Block::new(&all.layers),
            actions: [0; CELLS],
            filled: 0,
            partial: vec![Vec::new(); all.plan.most_edits.max(1)],
            cells: Cells::default(),
            close: Vec::new(),
            evaluation: Evaluation::new(all.network),
            row: RowOutcomes { flips: Vec::new(), settled: 0 },
        }
    }

    /// All outcomes of a row; `None` if stopped.
    pub fn row(&mut self, row: usize) -> Option<RowOutcomes> {
        let all = self.all;
        self.row = RowOutcomes { flips: vec![0; all.query.actions.len().div_ceil(64)], settled: 0 };
        self.filled = 0;
        self.close.clear();
        self.effects.look(all.network, &all.first, all.query, row);
        if all.plan.tree.is_some() {
            self.tree();
            self.settle();
            self.copy();
        } else {
            self.one_by_one();
            self.settle();
        }
        if self.stop.check().is_err() {
            return None;
        }
        if let Some(word) = self.row.flips.first_mut() {
            *word &= !1; // the identity flips nobody
        }
        Some(std::mem::replace(&mut self.row, RowOutcomes { flips: Vec::new(), settled: 0 }))
    }

    /// Evaluates all actions one by one.
    fn one_by_one(&mut self) {
        let all = self.all;
        let mut sums = Vec::new();
        for (action, edits) in (0..).zip(all.query.actions.iter()) {
            if self.stop.check().is_err() {
                return;
            }
            let error = self.effects.combined(all.network, &all.first, all.query, edits, &mut sums);
            self.cell(action, &sums, error);
        }
        self.flush();
    }

    /// Evaluates all actions that differ on this row, here or on the device.
    fn tree(&mut self) {
        let all = self.all;
        let offload = all.offload.as_ref();
        let Some(offload) = offload.filter(|offload| offload.is_safe(&self.effects, all.first.units)) else {
            return self.tree_here();
        };
        match offload.device.wanted() {
            Wanted::Yes if self.offload_tree(offload) => {}
            Wanted::Yes | Wanted::No => self.tree_here(),
            Wanted::Trial => {
                // Once to warm up, once to measure, and then as usual.
                let ready = self.offload_tree(offload);
                self.forget();
                let start = Instant::now();
                let tried = ready && self.offload_tree(offload);
                self.settle();
                let device = start.elapsed();
                let flips = self.forget();
                let start = Instant::now();
                self.tree_here();
                self.settle();
                let cpu = start.elapsed();
                let over = self.stop.check().is_err();
                let result = (tried && !over).then(|| (flips == self.row.flips, device, cpu));
                offload.device.tried(result);
            }
        }
    }

    /// Resets to the state before the row; returns the outcomes.
    fn forget(&mut self) -> Vec<u64> {
        self.close.clear();
        self.row.settled = 0;
        let nothing = vec![0; self.row.flips.len()];
        std::mem::replace(&mut self.row.flips, nothing)
    }

    fn tree_here(&mut self) {
        self.partial[0].clone_from(&self.effects.sums);
        self.partial[0].push(self.effects.error);
        let sums = self.effects.sums.clone();
        self.cell(0, &sums, self.effects.error);
        self.descend(0, 0, 0);
        self.flush();
    }

    /// False if the device failed, or time ran out: nothing is known then.
    fn offload_tree(&mut self, offload: &Offload<'_>) -> bool {
        let all = self.all;
        let stride = all.plan.most_edits;
        self.cells = Cells { chosen: vec![u32::MAX; stride], ..std::mem::take(&mut self.cells) };
        self.cells.actions.clear();
        self.cells.errors.clear();
        self.cells.positions.clear();
        self.list(0, 0, 0, self.effects.error);
        let (effects, cells) = (&self.effects, &self.cells);
        if stride == 0 || self.stop.check().is_err() {
            return false;
        }
        let height = all.first.units + 1;
        let scores = offload.device.scores(&effects.sums, &effects.by_edit, height, &cells.positions);
        let Some(scores) = scores else { return false };
        for first in (0..cells.actions.len()).step_by(CELLS) {
            let verdict = offload.judge(&scores, &cells.errors, first, &all.judge, &mut self.block);
            let actions = &cells.actions[first..];
            let waiting = u64::MAX >> (CELLS - actions.len().min(CELLS));
            for cell in ones(verdict.flips & waiting) {
                let action = actions[cell];
                self.row.flips[action as usize / 64] |= 1 << (action % 64);
            }
            self.close.extend(ones(verdict.unsure & waiting).map(|cell| actions[cell]));
        }
        true
    }

    /// Lists the cells of an action of `level` edits and of all that add useful edits from `position` on to it.
    fn list(&mut self, action: u32, position: usize, level: usize, error: f32) {
        self.cells.actions.push(action);
        self.cells.errors.push(error);
        self.cells.positions.extend_from_slice(&self.cells.chosen);
        let Some(tree) = &self.all.plan.tree else { return };
        if level >= self.all.plan.most_edits || position >= self.effects.useful.len() {
            return;
        }
        let height = self.all.first.units + 1;
        for segment in tree.of(action) {
            for at in self.useful(segment, position) {
                self.cells.chosen[level] = at as u32;
                let child = segment.offset.wrapping_add(self.effects.useful[at]);
                let error = error + self.effects.by_edit[at * height + height - 1];
                self.list(child, self.effects.later[at], level + 1, error);
            }
        }
        self.cells.chosen[level] = u32::MAX;
    }

    /// Evaluates the actions that add one edit or more, from `position` of the useful ones on, to `action`, which has `level`.
    fn descend(&mut self, action: u32, position: usize, level: usize) {
        let all = self.all;
        let Some(tree) = &all.plan.tree else { return };
        let end = self.effects.useful.len();
        if level >= all.plan.most_edits || position >= end {
            return;
        }
        for segment in tree.of(action) {
            let some = self.useful(segment, position);
            self.run(level, segment.offset, some.start, some.end);
        }
        if level + 1 >= all.plan.most_edits {
            return;
        }
        let height = all.first.units + 1;
        for segment in tree.of(action) {
            for at in self.useful(segment, position) {
                if self.effects.later[at] >= end {
                    continue;
                }
                if self.stop.check().is_err() {
                    return;
                }
                let (before, after) = self.partial.split_at_mut(level + 1);
                after[0].clear();
                let share = &self.effects.by_edit[at * height..(at + 1) * height];
                after[0].extend(before[level].iter().zip(share).map(|(sum, share)| sum + share));
                let child = segment.offset.wrapping_add(self.effects.useful[at]);
                self.descend(child, self.effects.later[at], level + 1);
            }
        }
    }

    /// The places, from `position` on, of the useful edits of a segment.
    fn useful(&self, segment: &Segment, position: usize) -> Range<usize> {
        let rest = &self.effects.useful[position..];
        let before = |bound: u32| position + rest.partition_point(|&edit| edit < bound);
        before(segment.from)..before(segment.to)
    }

    /// Adds the cells of `partial[level]` with each of the useful edits `from..to`.
    fn run(&mut self, level: usize, first: u32, from: usize, to: usize) {
        let mut from = from;
        while from < to {
            let count = (to - from).min(CELLS - self.filled);
            let edits = &self.effects.useful[from..from + count];
            for (action, edit) in self.actions[self.filled..].iter_mut().zip(edits) {
                *action = first.wrapping_add(*edit);
            }
            let units = self.all.first.units;
            let partial = &self.partial[level];
            let shares = self.effects.by_unit.chunks_exact(self.effects.stride).map(|row| &row[from..]);
            let rows = self.block.units[..units].iter_mut().chain([&mut self.block.error]);
            for ((row, &partial), shares) in rows.zip(partial).zip(shares) {
                add(row, self.filled, count, partial, shares);
            }
            self.filled += count;
            from += count;
            if self.filled == CELLS {
                self.flush();
            }
        }
    }

    /// Adds one cell with the given first-layer sums.
    fn cell(&mut self, action: u32, sums: &[f32], error: f32) {
        for (unit, &sum) in self.block.units.iter_mut().zip(sums) {
            unit.0[self.filled] = sum;
        }
        self.block.error.0[self.filled] = error;
        self.actions[self.filled] = action;
        self.filled += 1;
        if self.filled == CELLS {
            self.flush();
        }
    }

    /// Evaluates the cells that are waiting.
    fn flush(&mut self) {
        let filled = std::mem::take(&mut self.filled);
        if filled == 0 || self.stop.check().is_err() {
            return;
        }
        if !self.effects.error.is_finite() {
            // Single precision cannot be used: missing or huge inputs.
            self.close.extend_from_slice(&self.actions[..filled]);
            return;
        }
        self.all.layers.run(&mut self.block);
        let verdict = self.all.judge.judge(&self.block);
        let waiting = u64::MAX >> (CELLS - filled);
        for cell in ones(verdict.flips & waiting) {
            let action = self.actions[cell];
            self.row.flips[action as usize / 64] |= 1 << (action % 64);
        }
        self.close.extend(ones(verdict.unsure & waiting).map(|cell| self.actions[cell]));
    }

    /// Evaluates close outcomes in double precision.
    fn settle(&mut self) {
        let all = self.all;
        let close = std::mem::take(&mut self.close);
        let mut inputs = Vec::new();
        for actions in close.chunks(LANES) {
            if self.stop.check().is_err() {
                break;
            }
            inputs.clear();
            for &action in actions {
                let edits = all.query.actions.get(action as usize);
                self.effects.inputs(all.network, &all.first, all.query, edits, &mut inputs);
            }
            let width = all.network.inputs.max(1);
            if inputs.chunks_exact(width).all(|row| row.iter().any(|value| value.is_nan())) {
                let outputs = vec![f64::NAN; all.network.outputs()];
                let label = all.network.decision.label(&outputs);
                actions.iter().for_each(|&action| self.set(action, all.judge.is_desired(label)));
                continue;
            }
            self.evaluation.run(&inputs);
            for (lane, &action) in actions.iter().enumerate() {
                let label = all.network.decision.label(self.evaluation.outputs(lane));
                self.set(action, all.judge.is_desired(label));
            }
            self.row.settled += actions.len() as u64;
        }
        self.close = close;
        self.close.clear();
    }

    fn set(&mut self, action: u32, flips: bool) {
        let (word, bit) = (&mut self.row.flips[action as usize / 64], action % 64);
        *word = *word & !(1 << bit) | u64::from(flips) << bit;
    }

    /// Gives every action that was not evaluated the outcome of the one with the same effect.
    fn copy(&mut self) {
        let all = self.all;
        let Some(tree) = &all.plan.tree else { return };
        if self.effects.useful.len() == all.query.edits.len() {
            return;
        }
        let flips = &mut self.row.flips;
        // The representative of each action with children.
        let mut amounts_to: Vec<u32> = vec![0; tree.parents()];
        for action in 0..tree.parents() {
            let same = amounts_to[action];
            let children_of_same = tree.of(same);
            for segment in tree.of(action as u32) {
                for edit in segment.from..segment.to {
                    let own = segment.offset.wrapping_add(edit);
                    let target = match self.effects.stands_for[edit as usize] {
                        NOTHING => same,
                        // An edit of the same feature, which does not clash either.
                        stands_for => child(children_of_same, stands_for).unwrap_or(own),
                    };
                    if target != own {
                        let bit = flips[target as usize / 64] >> (target % 64) & 1;
                        let (word, at) = (&mut flips[own as usize / 64], own % 64);
                        *word = *word & !(1 << at) | bit << at;
                    }
                    if let Some(entry) = amounts_to.get_mut(own as usize) {
                        *entry = target;
                    }
                }
            }
        }
    }
}

/// `row[cell + i] = partial + shares[i]` for `i < count`. Writes up to fifteen more numbers if there is room: cells are filled
/// from first to last, so these are overwritten.
#[inline]
fn add(row: &mut Unit, cell: usize, count: usize, partial: f32, shares: &[f32]) {
    let mut at = 0;
    while at < count {
        let to = row.0.get_mut(cell + at..cell + at + SPARE);
        match (to, shares.get(at..at + SPARE)) {
            (Some(to), Some(shares)) => {
                to.iter_mut().zip(shares).for_each(|(to, share)| *to = partial + share);
            }
            _ => {
                let to = row.0[cell + at..].iter_mut().zip(&shares[at..count]);
                to.for_each(|(to, share)| *to = partial + share);
                return;
            }
        }
        at += SPARE;
    }
}
