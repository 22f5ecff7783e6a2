//! The best action for the people of one leaf: at most k edits with the smallest total of cost and failures.
//!
//! The published method uses an integer programming solver. Here all sets of edits are enumerated, smaller ones first, without
//! those that cannot be better than the best so far: [`linear`](super::linear) with a surrogate of the model,
//! [`exact`](super::exact) with the model itself. In both cases the leaf is then scored with the model's own outcomes.

use sogar::actions::Edit;
use sogar::cost::edit_costs;
use sogar::error::Result;
use sogar::pipeline::Prepared;
use sogar_solver::stop::Stop;
use sogar_solver::{Combine, RowSet};

use super::changes::Changes;
use super::surrogate::Surrogate;
use super::{Cet, exact, linear};
use crate::black_box::{BlackBox, Moved};

/// A leaf's action and its result on the leaf's people.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    pub edits: Vec<Edit>,
    pub rows: u64,
    /// Sum of costs, in the cost model's units.
    pub cost: u64,
    /// People whom the action does not help.
    pub loss: u64,
}

impl Leaf {
    /// A leaf that changes nothing.
    pub fn idle(rows: usize) -> Leaf {
        Leaf { edits: Vec::new(), rows: rows as u64, cost: 0, loss: rows as u64 }
    }
}

/// Finds actions for sets of people.
pub(super) struct Adviser<'a> {
    prepared: &'a Prepared,
    changes: Changes<'a>,
    /// The surrogate; `None`: the model itself.
    surrogate: Option<Surrogate>,
    max_edits: usize,
    /// The weight of a failure, in units of cost.
    weight: f64,
}

impl<'a> Adviser<'a> {
    pub fn new(prepared: &'a Prepared, settings: &Cet, surrogate: Option<Surrogate>) -> Adviser<'a> {
        Adviser {
            prepared,
            changes: Changes::new(prepared, settings.max_shifts),
            surrogate,
            max_edits: settings.max_edits,
            weight: settings.loss_weight * prepared.cost().unit() as f64,
        }
    }

    /// The best action for these positions among the affected rows; if stopped, the best so far.
    pub fn advise(&self, members: &RowSet, stop: &Stop) -> Result<Leaf> {
        let positions: Vec<usize> = members.iter().collect();
        let rows: Vec<usize> =
            positions.iter().map(|&position| self.prepared.problem_rows()[position]).collect();
        let edits = self.changes.of(&rows);
        let edits = match &self.surrogate {
            Some(surrogate) => self.best_on_lines(surrogate, edits, &positions, stop)?,
            None => {
                let candidates = Candidates::new(self.prepared, edits, &rows, self.weight)?;
                let chosen = exact::best_action(self.prepared, &candidates, &rows, self.max_edits, stop)?;
                candidates.named(&chosen)
            }
        };
        let cost = Candidates::new(self.prepared, edits.clone(), &rows, self.weight)?;
        let cost = cost.cost_of(&(0..edits.len()).collect::<Vec<_>>());
        let loss = self.failures(&edits, &rows)?;
        Ok(Leaf { edits, rows: rows.len() as u64, cost, loss })
    }

    /// The best of these edits, for people with surrogates: if time was too short for everyone's, those who have one represent
    /// the others.
    fn best_on_lines(
        &self,
        surrogate: &Surrogate,
        edits: Vec<Edit>,
        positions: &[usize],
        stop: &Stop,
    ) -> Result<Vec<Edit>> {
        let known = positions.iter().filter_map(|&position| {
            Some((surrogate.lines[position].as_ref()?, self.prepared.problem_rows()[position]))
        });
        let (lines, rows): (Vec<_>, Vec<usize>) = known.unzip();
        let candidates = Candidates::new(self.prepared, edits, &rows, self.weight)?;
        let people = linear::People::new(self.prepared, &surrogate.columns, &lines, &rows, &candidates);
        Ok(candidates.named(&linear::best_action(&candidates, &people, self.max_edits, stop)))
    }

    /// How many of these rows the model still turns down after the edits.
    fn failures(&self, edits: &[Edit], rows: &[usize]) -> Result<u64> {
        if edits.is_empty() {
            return Ok(rows.len() as u64);
        }
        let mut moved = Moved::default();
        for &row in rows {
            let before = self.prepared.table().row(row);
            let mut after = before.clone();
            edits.iter().for_each(|edit| edit.apply(&mut after));
            moved.push(&before, &after);
        }
        let flips = BlackBox::new(self.prepared).flips(&moved)?;
        Ok(flips.iter().filter(|&&flips| !flips).count() as u64)
    }
}

/// The edits available for a leaf's action, with their costs.
pub(super) struct Candidates {
    /// Ordered by feature.
    pub edits: Vec<Edit>,
    /// `costs[edit][row]`.
    pub costs: Vec<Vec<u32>>,
    pub cost_sums: Vec<u64>,
    /// For each edit, the first one of a later feature.
    pub next: Vec<usize>,
    pub combine: Combine,
    pub rows: usize,
    /// The weight of a failure, in units of cost.
    pub weight: f64,
}

impl Candidates {
    fn new(prepared: &Prepared, edits: Vec<Edit>, rows: &[usize], weight: f64) -> Result<Candidates> {
        let costs = edit_costs(prepared.cost(), &edits, prepared.table(), rows)?;
        Ok(Candidates::with_costs(edits, costs, rows.len(), prepared.cost().combine(), weight))
    }

    pub fn with_costs(
        edits: Vec<Edit>,
        costs: Vec<Vec<u32>>,
        rows: usize,
        combine: Combine,
        weight: f64,
    ) -> Candidates {
        let mut next = vec![edits.len(); edits.len()];
        for edit in (0..edits.len().saturating_sub(1)).rev() {
            let other = edits[edit].feature != edits[edit + 1].feature;
            next[edit] = if other { edit + 1 } else { next[edit + 1] };
        }
        let cost_sums = costs.iter().map(|costs| costs.iter().map(|&cost| u64::from(cost)).sum()).collect();
        Candidates { edits, costs, cost_sums, next, combine, rows, weight }
    }

    /// The same without edits that alone cost as much as `objective`: no set with one of them is better. Also returns, for every
    /// edit kept, its number here.
    pub fn below(&self, objective: f64) -> (Candidates, Vec<usize>) {
        let kept: Vec<usize> =
            (0..self.edits.len()).filter(|&edit| (self.cost_sums[edit] as f64) < objective).collect();
        let edits = kept.iter().map(|&edit| self.edits[edit].clone()).collect();
        let costs = kept.iter().map(|&edit| self.costs[edit].clone()).collect();
        (Candidates::with_costs(edits, costs, self.rows, self.combine, self.weight), kept)
    }

    /// The edits with these numbers.
    fn named(&self, action: &[usize]) -> Vec<Edit> {
        action.iter().map(|&edit| self.edits[edit].clone()).collect()
    }

    /// The objective.
    pub fn objective(&self, cost: u64, loss: u64) -> f64 {
        cost as f64 + self.weight * loss as f64
    }

    /// A lower bound of the combined cost of two sets of edits with these costs.
    pub fn least_cost(&self, one: u64, other: u64) -> u64 {
        self.combine.with(one, other)
    }

    /// The cost of a set of edits for all people together.
    pub fn cost_of(&self, action: &[usize]) -> u64 {
        match self.combine {
            Combine::Sum => action.iter().map(|&edit| self.cost_sums[edit]).sum(),
            Combine::Max => {
                let highest = |row| action.iter().map(|&edit| self.costs[edit][row]).max().unwrap_or(0);
                (0..self.rows).map(|row| u64::from(highest(row))).sum()
            }
        }
    }
}
