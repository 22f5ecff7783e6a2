//! Every tree, applied row by row: what its leaves hold, cost and flip, whether it keeps the limits, and whether it is as simple
//! as SPEC §6 wants it.

use rayon::prelude::*;

use super::admissible::Action;
use super::{Verdict, defect, same};
use crate::binarize::Split;
use crate::pipeline::Prepared;
use crate::summary::{FrontFile, Node, PointRef, means};

struct Walk<'a> {
    front: &'a FrontFile,
    prepared: &'a Prepared,
    splits: &'a [Split],
    actions: &'a [Action],
}

/// What a subtree amounts to.
#[derive(Debug, Clone, Copy)]
struct Totals {
    cost: u64,
    loss: u64,
    leaves: u32,
    depth: u32,
}

/// All points of a front.
pub(super) fn check(
    front: &FrontFile,
    prepared: &Prepared,
    splits: &[Split],
    actions: &[Action],
) -> Verdict<((), String)> {
    let walk = Walk { front, prepared, splits, actions };
    let points: Vec<(usize, &PointRef)> = front.points.iter().enumerate().collect();
    let verdicts: Vec<Verdict<u32>> = points
        .par_iter()
        .map(|&(number, point)| {
            walk.point(point).map_err(|super::Defect(text)| super::Defect(format!("point {number}: {text}")))
        })
        .collect();
    let leaves: u32 = verdicts.into_iter().sum::<Verdict<u32>>()?;
    let text = format!(
        "all {} applied row by row: cost, loss, the {leaves} leaves, limits and means are as recorded",
        front.points.len()
    );
    Ok(((), text))
}

impl Walk<'_> {
    /// One point; gives its number of leaves.
    fn point(&self, point: &PointRef) -> Verdict<u32> {
        let rows: Vec<usize> = (0..self.prepared.affected.len()).collect();
        let mut leaf = 0;
        let totals = self.node(&point.tree, &rows, &mut leaf)?;
        same("cost_sum", point.cost_sum, totals.cost)?;
        same("loss_count", point.loss_count, totals.loss)?;
        same("the number of leaves", point.leaves, totals.leaves)?;
        same("the depth", point.depth, totals.depth)?;
        let limits = self.prepared.limits;
        if totals.depth > limits.max_depth {
            return defect(format!("its tree has depth {}; max_depth is {}", totals.depth, limits.max_depth));
        }
        if totals.leaves > limits.max_leaves {
            let (has, most) = (totals.leaves, limits.max_leaves);
            return defect(format!("its tree has {has} leaves; max_leaves is {most}"));
        }
        let means = means(totals.cost, totals.loss, self.front.cost.unit, self.weight(&rows));
        same("the mean cost", point.cost, means.cost)?;
        same("the mean loss", point.loss, means.loss)?;
        same("the invalidity", point.invalidity, means.invalidity)?;
        Ok(totals.leaves)
    }

    /// How much some of the affected rows count.
    fn weight(&self, rows: &[usize]) -> u64 {
        rows.iter().map(|&row| u64::from(self.prepared.table.weight(self.prepared.affected[row]))).sum()
    }

    fn node(&self, node: &Node, rows: &[usize], leaf: &mut u32) -> Verdict<Totals> {
        match node {
            Node::Split { split, left, right } => {
                let split = &self.splits[*split];
                let column = &self.prepared.table.values[split.feature];
                let (passing, failing): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&row| {
                    split.passes(&self.prepared.table.features, column[self.prepared.affected[row]])
                });
                if let (Node::Leaf { action: a, .. }, Node::Leaf { action: b, .. }) = (&**left, &**right)
                    && a == b
                {
                    let question = split.text(&self.prepared.table.features);
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
                let least = u64::from(self.prepared.limits.min_leaf) * self.prepared.table.weight_unit();
                if size < least {
                    let has = size as f64 / self.prepared.table.weight_unit() as f64;
                    let least = self.prepared.limits.min_leaf;
                    return defect(format!("leaf {leaf} has {has} rows; min_leaf is {least}"));
                }
                if let Some(idle) = self.idle_edit(done, rows) {
                    let edit = idle.text(&self.prepared.table.features);
                    return defect(format!("to {edit} changes no row of leaf {leaf}"));
                }
                Ok(Totals { cost, loss: size - found, leaves: 1, depth: 0 })
            }
        }
    }

    /// An edit of an action without which every one of these rows would end up the same.
    fn idle_edit<'a>(&self, action: &'a Action, rows: &[usize]) -> Option<&'a crate::actions::Edit> {
        (0..action.edits.len()).map(|edit| (edit, &action.edits[edit])).find_map(|(skipped, edit)| {
            let matters = |&row: &usize| {
                let before = self.prepared.table.row(self.prepared.affected[row]);
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
