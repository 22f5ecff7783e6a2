//! `sogar-lab bench --ceiling`: what pruning against the root's front could save, measured with perfect knowledge before any of it is built.
//!
//! The root's final front and the exact fronts of all sets are known here ([`super::lattice`]). For every way of pruning ([`pass`]) the experiment counts the leaf
//! sets that must still be evaluated to prove the root's front, and for some leaf sets the actions that must still be looked at. No search can do
//! better with the same bounds: it learns all of this only on the way.

mod pass;
mod residual;

use serde::{Deserialize, Serialize};
use sogar::describe::grouped;
use sogar_solver::bound::cheapest_flips;
use sogar_solver::{Combine, Outcome, Point, Problem, RowSet, SearchStatus};

use super::lattice::{Fronts, Lattice, root};
use pass::{Pass, Pruning, Ranges, Siblings};
use residual::{CheapestFlips, Residual};

use super::plain::shuffle;

/// Limit of bytes for all sets and their fronts.
const MAX_BYTES: usize = 6_000_000_000;
/// Leaf sets whose actions are counted.
const SAMPLE: usize = 200;
const SEED: u64 = 19;

const SIBLINGS: [(Siblings, &str); 3] = [
    (Siblings::Exact, "exact"),
    (Siblings::SecondExact, "exact for the second part"),
    (Siblings::Flips, "cheapest flips"),
];
const PRUNINGS: [Pruning; 4] = [Pruning::Oracle, Pruning::Flips, Pruning::OneSide, Pruning::Intervals];

/// The shares of one problem.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ceiling {
    pub leaf_sets: u64,
    /// Leaf sets that can be in no tree of the root's front, if all other rows get their cheapest flips.
    pub dead_anywhere: u64,
    /// For each knowledge of siblings and each way of pruning the leaf sets that are left.
    pub left: Vec<[u64; 4]>,
    /// The same of cuts into two leaves.
    pub last_cuts: Vec<[u64; 4]>,
    pub ranges: Vec<Ranges>,
    pub actions: Vec<Actions>,
}

/// Averages over some leaf sets that the strongest pruning leaves.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Actions {
    pub sets: usize,
    /// Points of the leaf's front, and those that its residual allows.
    pub points: f64,
    pub points_allowed: f64,
    /// Actions whose pairs' corner the leaf's own front does not rule out, and those that its residual does not rule out either.
    pub by_own_front: f64,
    pub by_residual: f64,
}

/// Measures a problem with the front that a search found; `None` if that is not complete, or if there are too many sets, or weights.
///
/// The leaves of a last cut are in trees of more than `max_depth` leaves, so that points with a smaller witness have no ties there. (Above the last cuts
/// that is an upper estimate of what can be pruned.)
pub fn ceiling(problem: &Problem, outcome: &Outcome) -> Option<Ceiling> {
    if problem.size() != problem.rows() || outcome.status != SearchStatus::Complete {
        return None;
    }
    let lattice = Lattice::new(problem, MAX_BYTES)?;
    let fronts = lattice.fronts(lattice.leaf_fronts(problem));
    let flips = CheapestFlips::new(&cheapest_flips(problem));
    let sets = lattice.sets.len();
    let mut sampled: Vec<usize> = (0..sets).collect();
    shuffle(&mut sampled, SEED);
    sampled.truncate(SAMPLE);
    let mut wanted = vec![false; sets];
    sampled.iter().for_each(|&set| wanted[set] = true);
    let nothing = vec![false; sets];
    let (mut actions, mut ranges) = (Vec::new(), Vec::new());
    let (mut left, mut last_cuts) = (Vec::new(), Vec::new());
    let leaves: Vec<u32> = outcome.front.iter().map(|solution| solution.tree.leaves()).collect();
    let tie =
        |position: usize| leaves.get(position).is_some_and(|&leaves| leaves > problem.limits().max_depth);
    let front = root(&fronts);
    let whole = Residual::with_ties(front, problem.rows(), tie);
    for (siblings, _) in SIBLINGS {
        let mut counts = [(0, 0); 4];
        for (count, pruning) in counts.iter_mut().zip(PRUNINGS) {
            let with_residuals = pruning == Pruning::Flips;
            let pass = Pass::new(problem, (&lattice, &fronts), &flips, siblings, pruning);
            let (counted, residuals) = pass.run(&whole, if with_residuals { &wanted } else { &nothing });
            *count = (counted.leaf_sets, counted.last_cuts);
            if with_residuals {
                ranges.push(pass.ranges());
                actions.push(count_actions(problem, &lattice, &fronts[0], &residuals));
            }
        }
        left.push(counts.map(|count| count.0));
        last_cuts.push(counts.map(|count| count.1));
    }
    let dead_anywhere = dead_anywhere(&lattice, &fronts, &flips, &whole);
    Some(Ceiling { leaf_sets: sets as u64, dead_anywhere, left, last_cuts, ranges, actions })
}

fn dead_anywhere(lattice: &Lattice, fronts: &Fronts, flips: &CheapestFlips, root: &Residual) -> u64 {
    use rayon::prelude::*;
    let (all, size) = (&lattice.sets[0], lattice.sizes[0]);
    let dead = |set: &usize| {
        let others = all.and_not(&lattice.sets[*set]);
        let others = flips.bound(&others, size - lattice.sizes[*set]);
        !root.allows_some_sum(&fronts[0][*set], &others)
    };
    (0..lattice.sets.len()).into_par_iter().filter(dead).count() as u64
}

/// Counts actions on the leaf sets that have a residual.
fn count_actions(
    problem: &Problem,
    lattice: &Lattice,
    leaves: &[Vec<Point>],
    residuals: &[Option<Residual>],
) -> Actions {
    let pairs = Pairs::new(problem);
    let mut total = Actions::default();
    for (set, residual) in residuals.iter().enumerate() {
        let Some(residual) = residual else { continue };
        let (rows, size, front) = (&lattice.sets[set], lattice.sizes[set], &leaves[set]);
        let own = Residual::of_front(front, size);
        let mut both = own.clone();
        both.meet(residual);
        total.sets += 1;
        total.points += front.len() as f64;
        total.points_allowed +=
            front.iter().filter(|point| residual.allows(point.cost, point.loss)).count() as f64;
        pairs.corners(problem, rows, |cost, loss| {
            total.by_own_front += f64::from(u8::from(own.allows(cost, loss)));
            total.by_residual += f64::from(u8::from(both.allows(cost, loss)));
        });
    }
    let sets = total.sets.max(1) as f64;
    Actions {
        sets: total.sets,
        points: total.points / sets,
        points_allowed: total.points_allowed / sets,
        by_own_front: total.by_own_front / sets,
        by_residual: total.by_residual / sets,
    }
}

/// For every pair of edits the rows that some action with both of them flips.
struct Pairs {
    edits: usize,
    unions: Vec<Option<Vec<u64>>>,
}

impl Pairs {
    fn new(problem: &Problem) -> Pairs {
        let edits = problem.edits();
        let mut unions: Vec<Option<Vec<u64>>> = vec![None; edits * edits];
        for action in 1..problem.actions() {
            each_pair(problem.edits_of(action), |a, b| {
                let flips = problem.flips_of(action);
                let union = unions[a * edits + b].get_or_insert_with(|| vec![0; flips.len()]);
                union.iter_mut().zip(flips).for_each(|(union, flips)| *union |= flips);
            });
        }
        Pairs { edits, unions }
    }

    /// For every action a lower bound of its cost and its loss on these rows, from its pairs alone.
    fn corners(&self, problem: &Problem, rows: &RowSet, mut take: impl FnMut(u64, u64)) {
        let list: Vec<usize> = rows.iter().collect();
        let known: Vec<(u64, u64)> = (0..self.unions.len())
            .map(|at| {
                let Some(union) = &self.unions[at] else { return (0, u64::MAX) };
                let columns = [at / self.edits, at % self.edits].map(|edit| problem.edit_cost(edit));
                let cost = |row: usize| {
                    let [a, b] = columns.map(|column| u64::from(column[row]));
                    match problem.combine() {
                        _ if at / self.edits == at % self.edits => a,
                        Combine::Max => a.max(b),
                        Combine::Sum => a + b,
                    }
                };
                let flipped =
                    union.iter().zip(rows.words()).map(|(a, b)| u64::from((a & b).count_ones())).sum();
                (list.iter().map(|&row| cost(row)).sum(), flipped)
            })
            .collect();
        for action in 1..problem.actions() {
            let mut corner = (0, u64::MAX);
            each_pair(problem.edits_of(action), |a, b| {
                let (cost, flipped) = known[a * self.edits + b];
                corner = (corner.0.max(cost), corner.1.min(flipped));
            });
            take(corner.0, (list.len() as u64).saturating_sub(corner.1));
        }
    }
}

/// The pairs of an action's edits; a single edit is a pair with itself.
fn each_pair(edits: &[u32], mut take: impl FnMut(usize, usize)) {
    if let [edit] = edits {
        take(*edit as usize, *edit as usize);
    }
    for (at, &a) in edits.iter().enumerate() {
        edits[at + 1..].iter().for_each(|&b| take(a as usize, b as usize));
    }
}

/// One line for every problem and knowledge of siblings.
pub fn table(measured: &[(String, Ceiling)]) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut text = String::from(
        "| problem | leaf sets | dead anywhere | siblings known | oracle | cheapest flips | + one side | + intervals |\n\
         |---|--:|--:|---|--:|--:|--:|--:|\n",
    );
    for (name, found) in measured {
        // Nothing is ruled out by cheapest flips alone, as siblings or at all, so that all cuts are looked into.
        let all_cuts = found.last_cuts.iter().map(|cuts| cuts[1]).max().unwrap_or(0).max(1) as f64;
        for (((_, known), left), cuts) in SIBLINGS.iter().zip(&found.left).zip(&found.last_cuts) {
            let shares = left.iter().zip(cuts).map(|(&sets, &cuts)| {
                format!(
                    "{} / {}",
                    percent(sets as f64 / found.leaf_sets as f64),
                    percent(cuts as f64 / all_cuts)
                )
            });
            text += &format!(
                "| {name} | {} | {} | {known} | {} |\n",
                grouped(found.leaf_sets),
                percent(found.dead_anywhere as f64 / found.leaf_sets as f64),
                shares.collect::<Vec<_>>().join(" | ")
            );
        }
    }
    text += "\n| problem | siblings known | cuts drawn | exact | cheapest flips | one side | interval | leaf sets drawn | points of a leaf front \
             | of them within | actions by own front | by residual too |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    for (name, found) in measured {
        for (((_, known), ranges), actions) in SIBLINGS.iter().zip(&found.ranges).zip(&found.actions) {
            text += &format!(
                "| {name} | {known} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} | {:.0} | {:.0} |\n",
                grouped(ranges.cuts),
                percent(ranges.exact),
                percent(ranges.flips),
                percent(ranges.one_side),
                percent(ranges.interval),
                actions.sets,
                actions.points,
                actions.points_allowed,
                actions.by_own_front,
                actions.by_residual
            );
        }
    }
    text
}
