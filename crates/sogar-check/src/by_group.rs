//! Results of a search that distinguished groups: the groups, the losses of every point, the limit on the gap, and whether a vector is missing.
//!
//! The choice of points from the groups' front, and the search for missing vectors, are written anew and plainly: sums row by row, fractions by
//! cross-multiplication, fronts by comparing everything with everything.

use std::collections::BTreeMap;
use std::time::Instant;

use rayon::prelude::*;
use sogar_audit::audit::searched_groups;
use sogar_front::fairness::{FairnessRef, SearchedGroups};
use sogar_front::summary::{FrontFile, Node};
use sogar_prepare::prepared::{Prepared, Reporter};
use sogar_solver::{Combine, Problem, RowSet};
use sogar_table::config::{FairnessGoal, Share};
use sogar_table::table::Table;

use super::order::below;
use super::trees::{Walk, searched};
use super::{Completeness, Report, Verdict, defect, same};

/// Total cost, then the loss of each group.
type Vector = Vec<u64>;

/// The groups of the affected people, learned from the table, and the file's statements about them.
pub(super) struct Groups<'a> {
    said: &'a FairnessRef,
    goal: FairnessGoal,
    groups: SearchedGroups,
    sizes: Vec<u64>,
}

/// Learns the groups again; `None` if the result is not about groups.
pub(super) fn groups<'a>(
    front: &'a FrontFile,
    prepared: &Prepared,
    table: &Table,
) -> Verdict<Option<(Groups<'a>, String)>> {
    let (Some(said), Some(goal)) = (&front.fairness, front.config.fairness.goal()?) else { return Ok(None) };
    let Some(groups) = searched_groups(prepared, table)? else { return Ok(None) };
    same("the grouping", &said.grouping, &groups.name)?;
    same("the number of groups", said.groups.len(), groups.names.len())?;
    let mut sizes = vec![0u64; groups.names.len()];
    for (&group, &row) in groups.of_affected.iter().zip(prepared.affected()) {
        sizes[group as usize] += u64::from(prepared.table().weight(row));
    }
    for (group, (name, &size)) in said.groups.iter().zip(groups.names.iter().zip(&sizes)) {
        same("the name of a group", &group.group, name)?;
        same(&format!("the number of affected people in `{name}`"), group.affected, size)?;
    }
    let text = format!("the {} groups by {} have the recorded people", sizes.len(), groups.name);
    Ok(Some((Groups { said, goal, groups, sizes }, text)))
}

/// The losses of the groups in a subtree.
fn losses(walk: &Walk<'_>, groups: &Groups<'_>, node: &Node, rows: &[usize]) -> Vec<u64> {
    match node {
        Node::Split { split, left, right } => {
            let (passing, failing) = walk.sides(*split, rows);
            let (left, right) = (losses(walk, groups, left, &passing), losses(walk, groups, right, &failing));
            left.iter().zip(right).map(|(a, b)| a + b).collect()
        }
        Node::Leaf { action, .. } => {
            let mut sums = vec![0; groups.sizes.len()];
            for &row in rows.iter().filter(|&&row| !walk.actions[*action].flips[row]) {
                sums[groups.groups.of_affected[row] as usize] += walk.weight(&[row]);
            }
            sums
        }
    }
}

/// Whether the gap between groups is at most the limit: `|own/size − rest/others| ≤ limit` for each group, without fractions.
fn within(losses: &[u64], sizes: &[u64], limit: Share) -> bool {
    let (loss, people): (u64, u64) = (losses.iter().sum(), sizes.iter().sum());
    losses.iter().zip(sizes).all(|(&own, &size)| {
        let (own, rest) = (i128::from(own), i128::from(loss - own));
        let (size, others) = (i128::from(size), i128::from(people - size));
        (own * others - rest * size).abs() * i128::from(limit.one())
            <= i128::from(limit.digits) * size * others
    })
}

/// Checks the losses of every point, and that the points are what the goal chooses from the groups' front.
pub(super) fn points(walk: &Walk<'_>, groups: &Groups<'_>) -> Verdict<((), String)> {
    let Groups { said, goal, sizes, .. } = groups;
    let found: Vec<Vec<u64>> =
        walk.front.points.par_iter().map(|point| losses(walk, groups, &point.tree, walk.rows)).collect();
    for (number, (losses, point)) in found.iter().zip(&walk.front.points).enumerate() {
        let vector = said.points.get(number).and_then(|&at| said.front.get(at));
        if vector.is_none_or(|vector| vector[0] != point.cost_sum || vector[1..] != losses[..]) {
            return defect(format!("point {number}: the losses of its groups are not the recorded ones"));
        }
        if goal.max_gap.is_some_and(|limit| !within(losses, sizes, limit)) {
            return defect(format!("point {number}: its gap is above the limit"));
        }
    }
    let order: Vec<usize> = (0..said.front.len()).collect();
    // Sorted by cost and losses: only an earlier vector can dominate a later one.
    let dominated = order.par_iter().find_first(|&&at| {
        let vector = &said.front[at];
        said.front[..at].iter().any(|other| other.iter().zip(vector).all(|(a, b)| a <= b))
    });
    if let Some(at) = dominated {
        return defect(format!("vector {at} of the groups' front is dominated"));
    }
    // What a summary is judged by: (cost, loss), or (cost, largest share) as a fraction.
    let judged = |vector: &Vector| -> (u64, (u128, u128)) {
        match goal.max_gap {
            Some(_) => (vector[0], (vector[1..].iter().map(|&loss| u128::from(loss)).sum(), 1)),
            None => {
                let shares =
                    vector[1..].iter().zip(sizes).map(|(&loss, &size)| (u128::from(loss), u128::from(size)));
                (
                    vector[0],
                    shares.fold((0, 1), |most, one| if one.0 * most.1 > most.0 * one.1 { one } else { most }),
                )
            }
        }
    };
    let chosen: Vec<_> = said.points.iter().map(|&at| judged(&said.front[at])).collect();
    let at_most = |a: (u128, u128), b: (u128, u128)| a.0 * b.1 <= b.0 * a.1;
    for (at, vector) in said.front.iter().enumerate() {
        if goal.max_gap.is_some_and(|limit| !within(&vector[1..], sizes, limit)) {
            continue;
        }
        let own = judged(vector);
        if !chosen.iter().any(|point| point.0 <= own.0 && at_most(point.1, own.1)) {
            return defect(format!("vector {at} of the groups' front is admitted, and no point is as good"));
        }
    }
    for (number, pair) in chosen.windows(2).enumerate() {
        if pair[0].0 >= pair[1].0 || at_most(pair[0].1, pair[1].1) {
            return defect(format!(
                "points {number} and {} are out of order, or one is dominated",
                number + 1
            ));
        }
    }
    let text = format!(
        "the losses of {} groups at all {} points are as recorded; the points are those that the goal chooses of {} vectors, none of \
         them dominated",
        sizes.len(),
        found.len(),
        said.front.len()
    );
    Ok(((), text))
}

/// Looks for missing vectors: the exact fronts of all trees of depth 0, 1, 2, … as far as the time goes.
pub(super) fn completeness(
    front: &FrontFile,
    groups: &Groups<'_>,
    prepared: &Prepared,
    problem: &Problem,
    deadline: Option<Instant>,
    reporter: &dyn Reporter,
    report: &mut Report,
) {
    let order = searched(prepared);
    let of_row: Vec<usize> = order.iter().map(|&at| groups.groups.of_affected[at] as usize).collect();
    let sets =
        (0..groups.sizes.len()).map(|group| RowSet::from_fn(of_row.len(), |&row| of_row[row] == group));
    let plain = Plain { problem, groups: sets.collect(), deadline };
    let (depth, leaves) = (problem.limits().max_depth, problem.limits().max_leaves);
    let mut known = BTreeMap::new();
    let mut reached = None;
    for level in 0..=depth {
        reporter.checking("groups' front, depth", level as usize, depth as usize);
        let Some(found) = plain.front(&RowSet::full(problem.rows()), level, leaves, &mut known) else {
            break;
        };
        let whole = level == depth;
        let verdict = none_missing(front, groups, &found, prepared.cost().unit(), whole);
        if let Err(defect) = verdict {
            report.record::<()>("completeness", Err(defect));
            return;
        }
        reached = Some(level);
    }
    let claimed = !front.status.is_early();
    let within = if groups.said.epsilon > 0.0 {
        format!(", within {} %,", 100.0 * groups.said.epsilon)
    } else {
        String::new()
    };
    match reached {
        Some(level) if level == depth => {
            let text = format!("proved: a plain search of all trees finds{within} no vector that is missing");
            report.record("completeness", Ok(((), text)));
            report.completeness = match claimed {
                true if groups.said.epsilon > 0.0 => Completeness::ProvedWithinEpsilon,
                true => Completeness::Proved,
                false => Completeness::NotClaimed,
            };
        }
        Some(level) => {
            let text = format!("no tree of depth {level} at most attains{within} a vector that is missing");
            report.record("completeness", Ok(((), text)));
            report.completeness = if claimed { Completeness::Sampled } else { Completeness::NotClaimed };
            report.not_proved.push(format!(
                "that no vector of a tree of depth {depth} is missing: the time limit came first"
            ));
        }
        None => report.not_proved.push("completeness was not tested: the time limit came first".into()),
    }
}

/// Checks that the groups' front (of a stopped run: the bound) has something as good as every attained vector, up to epsilon; if all trees were covered
/// and nothing was thinned, that both are the same.
fn none_missing(
    front: &FrontFile,
    groups: &Groups<'_>,
    attained: &[Vector],
    unit: u64,
    whole: bool,
) -> Verdict<()> {
    let Groups { said, sizes, .. } = groups;
    if let Some(bound) = &front.bound {
        let fits = |vector: &&Vector| !below(bound, (vector[0], vector[1..].iter().sum()));
        return match attained.iter().find(fits) {
            Some(vector) => defect(format!("a tree attains {vector:?}, below the bound")),
            None => Ok(()),
        };
    }
    // In millionths, as the configuration states it.
    let millionths = u128::from(front.config.fairness.millionths());
    let slack = |of: u64, unit: u64| (u128::from(of) * u128::from(unit) * millionths / 1_000_000) as u64;
    let people = sizes.iter().sum();
    let slacks: Vec<u64> =
        std::iter::once(slack(people, unit)).chain(sizes.iter().map(|&size| slack(size, 1))).collect();
    let near = |vector: &Vector, other: &Vector| {
        other
            .iter()
            .zip(vector)
            .zip(&slacks)
            .all(|((&known, &one), &slack)| known <= one.saturating_add(slack))
    };
    let missing =
        attained.par_iter().find_first(|vector| !said.front.iter().any(|known| near(vector, known)));
    if let Some(vector) = missing {
        return defect(format!(
            "a vector is missing: a tree attains cost_sum {} and losses {:?}",
            vector[0],
            &vector[1..]
        ));
    }
    if whole && millionths == 0 && said.front != attained {
        return defect("the groups' front has vectors that no tree attains");
    }
    Ok(())
}

/// A plain search over groups.
struct Plain<'a> {
    problem: &'a Problem,
    groups: Vec<RowSet>,
    deadline: Option<Instant>,
}

type Known = BTreeMap<(RowSet, u32, u32), Vec<Vector>>;

impl Plain<'_> {
    fn late(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// The front of all trees of at most this depth and this many leaves; `None` if time is up.
    fn front(&self, set: &RowSet, depth: u32, leaves: u32, known: &mut Known) -> Option<Vec<Vector>> {
        let depth = depth.min(leaves - 1);
        let key = (set.clone(), depth, if depth == 0 { 1 } else { leaves });
        if let Some(found) = known.get(&key) {
            return Some(found.clone());
        }
        if self.late() {
            return None;
        }
        let mut all = match depth {
            0 => self.leaf(set),
            _ => self.front(set, 0, 1, known)?,
        };
        for split in 0..if depth > 0 { self.problem.splits() } else { 0 } {
            let (left, right) = (set.and(self.problem.split(split)), set.and_not(self.problem.split(split)));
            let least = u64::from(self.problem.limits().min_leaf);
            if self.problem.weight_of(&left) < least || self.problem.weight_of(&right) < least {
                continue;
            }
            for on_left in 1..leaves {
                let a = self.front(&left, depth - 1, on_left, known)?;
                let b = self.front(&right, depth - 1, leaves - on_left, known)?;
                let sums = a.iter().flat_map(|a| {
                    b.iter().map(move |b| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vector>())
                });
                all.extend(sums);
                if all.len() > 1 << 16 {
                    all = non_dominated(all);
                }
            }
        }
        let found = non_dominated(all);
        known.insert(key, found.clone());
        Some(found)
    }

    /// The non-dominated vectors of single actions.
    fn leaf(&self, set: &RowSet) -> Vec<Vector> {
        let problem = self.problem;
        let members: Vec<usize> = set.iter().collect();
        let parts: Vec<RowSet> = self.groups.iter().map(|group| group.and(set)).collect();
        let sizes: Vec<u64> = parts.iter().map(|part| problem.weight_of(part)).collect();
        let sums: Vec<u64> = (0..problem.edits())
            .map(|edit| {
                let costs = problem.edit_cost(edit);
                members.iter().map(|&row| u64::from(problem.weight(row)) * u64::from(costs[row])).sum()
            })
            .collect();
        let mut kept: Vec<Vector> = Vec::new();
        for action in 0..problem.actions() {
            let edits = problem.edits_of(action).iter().map(|&edit| sums[edit as usize]);
            let least = match problem.combine() {
                Combine::Max => edits.max().unwrap_or(0),
                Combine::Sum => edits.sum(),
            };
            let losses =
                parts.iter().zip(&sizes).map(|(part, size)| size - problem.flipped_among(action, part));
            let mut vector: Vector = std::iter::once(least).chain(losses).collect();
            let covered = |kept: &[Vector], vector: &Vector| {
                kept.iter().any(|known| known.iter().zip(vector).all(|(a, b)| a <= b))
            };
            if covered(&kept, &vector) {
                continue; // it costs at least that much
            }
            vector[0] =
                members.iter().map(|&row| u64::from(problem.weight(row)) * problem.cost(action, row)).sum();
            if !covered(&kept, &vector) {
                kept.retain(|known| !vector.iter().zip(known).all(|(a, b)| a <= b));
                kept.push(vector);
            }
        }
        kept
    }
}

/// The vectors that no other dominates, in order, without duplicates.
fn non_dominated(mut all: Vec<Vector>) -> Vec<Vector> {
    all.sort_unstable();
    let mut kept: Vec<Vector> = Vec::new();
    for vector in all {
        if !kept.iter().rev().any(|known| known.iter().zip(&vector).all(|(a, b)| a <= b)) {
            kept.push(vector);
        }
    }
    kept
}
