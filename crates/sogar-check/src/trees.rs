//! Applies every tree row by row: the rows, cost and flips of its leaves, whether it keeps the limits, and whether it is as
//! simple as SPEC §6 requires.

use rayon::prelude::*;

use super::admissible::Action;
use super::{Verdict, defect, same};
use sogar_front::summary::{FrontFile, Node, PointRef, means};
use sogar_prepare::prepared::Prepared;
use sogar_table::binarize::Split;

/// Routes some people through trees.
pub(super) struct Walk<'a> {
    pub front: &'a FrontFile,
    pub prepared: &'a Prepared,
    pub splits: &'a [Split],
    pub actions: &'a [Action],
    /// Positions of these people among the affected ones.
    pub rows: &'a [usize],
    /// The smallest weight of a leaf, in units.
    pub least: u64,
}

/// The totals of a subtree.
#[derive(Debug, Clone, Copy)]
struct Totals {
    cost: u64,
    loss: u64,
    leaves: u32,
    depth: u32,
}

/// All points of a front.
pub(super) fn check(walk: &Walk<'_>, points: &[PointRef]) -> Verdict<((), String)> {
    let numbered: Vec<(usize, &PointRef)> = points.iter().enumerate().collect();
    let verdicts: Vec<Verdict<u32>> = numbered
        .par_iter()
        .map(|&(number, point)| {
            walk.point(point).map_err(|super::Defect(text)| super::Defect(format!("point {number}: {text}")))
        })
        .collect();
    let leaves: u32 = verdicts.into_iter().sum::<Verdict<u32>>()?;
    let text = format!(
        "all {} applied row by row: cost, loss, the {leaves} leaves, limits and means are as recorded",
        points.len()
    );
    Ok(((), text))
}

/// Where those who are searched stand among the affected rows, in the order of their problem.
pub(super) fn searched(prepared: &Prepared) -> Vec<usize> {
    let position = |row: usize| prepared.affected().partition_point(|&affected| affected < row);
    prepared.searched_rows().into_iter().map(position).collect()
}

impl Walk<'_> {
    /// Checks one point; returns its number of leaves.
    fn point(&self, point: &PointRef) -> Verdict<u32> {
        let mut leaf = 0;
        let totals = self.node(&point.tree, self.rows, &mut leaf)?;
        same("cost_sum", point.cost_sum, totals.cost)?;
        same("loss_count", point.loss_count, totals.loss)?;
        same("the number of leaves", point.leaves, totals.leaves)?;
        same("the depth", point.depth, totals.depth)?;
        let limits = self.prepared.limits();
        if totals.depth > limits.max_depth {
            return defect(format!("its tree has depth {}; max_depth is {}", totals.depth, limits.max_depth));
        }
        if totals.leaves > limits.max_leaves {
            let (has, most) = (totals.leaves, limits.max_leaves);
            return defect(format!("its tree has {has} leaves; max_leaves is {most}"));
        }
        let means = means(totals.cost, totals.loss, self.front.cost.unit, self.weight(self.rows));
        same("the mean cost", point.cost, means.cost)?;
        same("the mean loss", point.loss, means.loss)?;
        same("the invalidity", point.invalidity, means.invalidity)?;
        Ok(totals.leaves)
    }

    /// The weight of some of the affected rows.
    pub(super) fn weight(&self, rows: &[usize]) -> u64 {
        rows.iter().map(|&row| u64::from(self.prepared.table().weight(self.prepared.affected()[row]))).sum()
    }

    /// Cost and loss of a tree, and the weight of its smallest leaf, regardless of the file's values.
    pub(super) fn evaluated(&self, node: &Node, rows: &[usize]) -> (u64, u64, u64) {
        match node {
            Node::Split { split, left, right } => {
                let (passing, failing) = self.sides(*split, rows);
                let (left, right) = (self.evaluated(left, &passing), self.evaluated(right, &failing));
                (left.0 + right.0, left.1 + right.1, left.2.min(right.2))
            }
            Node::Leaf { action, .. } => {
                let done = &self.actions[*action];
                let cost = rows.iter().map(|&row| self.weight(&[row]) * done.costs[row]).sum();
                let lost: Vec<usize> = rows.iter().copied().filter(|&row| !done.flips[row]).collect();
                (cost, self.weight(&lost), self.weight(rows))
            }
        }
    }

    /// The rows that pass a split, and the others.
    pub(super) fn sides(&self, split: usize, rows: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let split = &self.splits[split];
        let column = &self.prepared.table().values[split.feature];
        let features = &self.prepared.table().features;
        rows.iter().partition(|&&row| split.passes(features, column[self.prepared.affected()[row]]))
    }

    fn node(&self, node: &Node, rows: &[usize], leaf: &mut u32) -> Verdict<Totals> {
        match node {
            Node::Split { split, left, right } => {
                let (passing, failing) = self.sides(*split, rows);
                if let (Node::Leaf { action: a, .. }, Node::Leaf { action: b, .. }) = (&**left, &**right)
                    && a == b
                {
                    let question = self.splits[*split].text(&self.prepared.table().features);
                    return defect(format!(
                        "both leaves under `{question}` carry action {}, so the split is idle",
                        self.front.actions[*a].id
                    ));
                }
                let left = self.node(left, &passing, leaf)?;
                let right = self.node(right, &failing, leaf)?;
                Ok(Totals {
                    cost: left.cost + right.cost,
                    loss: left.loss + right.loss,
                    leaves: left.leaves + right.leaves,
                    depth: 1 + left.depth.max(right.depth),
                })
            }
            Node::Leaf { action, rows: said_rows, flipped, cost_sum } => {
                *leaf += 1;
                let of_leaf = |what: &str| format!("{what} of leaf {leaf}");
                let done = &self.actions[*action];
                let flipping: Vec<usize> = rows.iter().copied().filter(|&row| done.flips[row]).collect();
                let (size, found) = (self.weight(rows), self.weight(&flipping));
                let cost: u64 = rows.iter().map(|&row| self.weight(&[row]) * done.costs[row]).sum();
                same(&of_leaf("the number of rows"), *said_rows, size)?;
                same(&of_leaf("the number of flipped rows"), *flipped, found)?;
                same(&of_leaf("the cost"), *cost_sum, cost)?;
                if size < self.least {
                    let people = |units: u64| units as f64 / self.prepared.table().weight_unit() as f64;
                    let (has, least) = (people(size), people(self.least));
                    return defect(format!("leaf {leaf} has {has} rows; min_leaf is {least}"));
                }
                if let Some(idle) = self.idle_edit(done, rows) {
                    let edit = idle.text(&self.prepared.table().features);
                    return defect(format!("to {edit} changes no row of leaf {leaf}"));
                }
                Ok(Totals { cost, loss: size - found, leaves: 1, depth: 0 })
            }
        }
    }

    /// An edit of an action without which all of these rows would end up the same.
    fn idle_edit<'a>(&self, action: &'a Action, rows: &[usize]) -> Option<&'a sogar_prepare::actions::Edit> {
        (0..action.edits.len()).map(|edit| (edit, &action.edits[edit])).find_map(|(skipped, edit)| {
            let matters = |&row: &usize| {
                let before = self.prepared.table().row(self.prepared.affected()[row]);
                let (mut with, mut without) = (before.clone(), before);
                for (position, edit) in action.edits.iter().enumerate() {
                    edit.apply(&mut with);
                    if position != skipped {
                        edit.apply(&mut without);
                    }
                }
                with.iter().zip(&without).any(|(a, b)| a.to_bits() != b.to_bits())
            };
            (!rows.iter().any(matters)).then_some(edit)
        })
    }
}
