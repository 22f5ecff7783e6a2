//! One way to prune, with perfect knowledge: which leaf sets must still be evaluated to prove the root's front.
//!
//! The pass goes down from all rows, with what the root's front allows. It hands every set the joined residual of all its occurrences ([`super::residual`]), as if the root's final front
//! were known from the start, and counts the leaf sets whose fronts the way of pruning needs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sogar_solver::{Point, Problem};

use super::super::lattice::{Cheapest, Cut, Fronts, Lattice};
use super::residual::{CheapestFlips, Residual};

/// What is known of the other part of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Siblings {
    /// Its exact front, on both sides: the ceiling of every order of search.
    Exact,
    /// Its exact front for the part that is solved second, its cheapest flips for the first.
    SecondExact,
    /// Its cheapest flips.
    Flips,
}

/// Which cuts of a set are looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruning {
    /// Those that hold a tree of the root's front: what nobody can avoid.
    Oracle,
    /// All of a set whose cheapest flips the residual allows.
    Flips,
    /// The same, but of a last cut the larger leaf only if the smaller one's exact front with the larger one's cheapest flips is allowed.
    OneSide,
    /// The same as `Flips`, but no cut between two thresholds of a feature, if left(t₁) ⊕ flips between ⊕ right(t₂) is not allowed. Above the last cuts
    /// this is an upper estimate: the parts' own trees may have smaller leaves than those bounds know.
    Intervals,
}

/// What a pass counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    pub leaf_sets: u64,
    /// Cuts into two leaves that were looked into, of different sets.
    pub last_cuts: u64,
}

/// The mean share of losses at which a bound on a cut into two leaves is within the residual: by the exact fronts, by the cheapest flips of all rows, by
/// the exact front of the smaller leaf and flips, and by the neighbouring thresholds of the same feature with flips between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranges {
    pub cuts: u64,
    pub exact: f64,
    pub flips: f64,
    pub one_side: f64,
    pub interval: f64,
}

/// The residuals of leaf sets, if asked for, and what was counted.
pub struct Pass<'a> {
    problem: &'a Problem,
    lattice: &'a Lattice,
    fronts: &'a Fronts,
    flips: &'a CheapestFlips,
    siblings: Siblings,
    pruning: Pruning,
    /// For every split the next one of the same feature, if the rows that pass are nested.
    nested: Vec<bool>,
    needed: Vec<AtomicBool>,
    last_cuts: AtomicU64,
    ranges: Mutex<Ranges>,
}

type Residuals = Vec<Mutex<Option<Residual>>>;

impl<'a> Pass<'a> {
    pub fn new(
        problem: &'a Problem,
        (lattice, fronts): (&'a Lattice, &'a Fronts),
        flips: &'a CheapestFlips,
        siblings: Siblings,
        pruning: Pruning,
    ) -> Self {
        let inside = |a: usize| {
            a + 1 < problem.splits() && problem.split(a).and_not(problem.split(a + 1)).count() == 0
        };
        Pass {
            problem,
            lattice,
            fronts,
            flips,
            siblings,
            pruning,
            nested: (0..problem.splits()).map(inside).collect(),
            needed: (0..lattice.sets.len()).map(|_| AtomicBool::new(false)).collect(),
            last_cuts: AtomicU64::new(0),
            ranges: Mutex::default(),
        }
    }

    /// Goes down. Returns what was counted, and for the sets in `wanted` their residuals as leaves (`None` if no tree needs them).
    pub fn run(&self, root: &Residual, wanted: &[bool]) -> (Counted, Vec<Option<Residual>>) {
        let depth = self.problem.limits().max_depth as usize;
        let sets = self.lattice.sets.len();
        let none = || -> Residuals { (0..sets).map(|_| Mutex::default()).collect() };
        let leaves = none();
        let mut now = none();
        now[0] = Mutex::new(Some(root.clone()));
        for spare in (1..=depth).rev() {
            let below = none();
            now.par_iter_mut().enumerate().for_each(|(set, residual)| {
                let residual = residual.get_mut().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(residual) = residual {
                    self.visit(set, spare, &residual, &below, &leaves, wanted);
                }
            });
            now = below;
        }
        let counted = Counted {
            leaf_sets: self.needed.iter().filter(|needed| needed.load(Ordering::Relaxed)).count() as u64,
            last_cuts: self.last_cuts.load(Ordering::Relaxed),
        };
        let leaves = leaves.into_iter().map(|leaf| leaf.into_inner().unwrap_or_else(PoisonError::into_inner));
        (counted, leaves.collect())
    }

    fn visit(
        &self,
        set: usize,
        spare: usize,
        residual: &Residual,
        below: &Residuals,
        leaves: &Residuals,
        wanted: &[bool],
    ) {
        let lattice = self.lattice;
        let fronts = &self.fronts[spare - 1];
        let allowed = match self.pruning {
            Pruning::Oracle => residual.allows_some(&self.fronts[0][set]),
            _ => residual.allows_some(&self.bound(set)),
        };
        if allowed {
            self.need(set, residual, leaves, wanted);
        }
        let cuts = &lattice.cuts[set];
        let opened: Vec<&Cut> = match self.pruning {
            Pruning::Oracle => cuts
                .iter()
                .filter(|cut| {
                    residual.allows_some_sum(&fronts[cut.left as usize], &fronts[cut.right as usize])
                })
                .collect(),
            _ if !allowed => return,
            Pruning::Intervals => self.outside_intervals(set, spare, residual),
            _ => cuts.iter().collect(),
        };
        if spare == 1 {
            self.add_ranges(set, residual);
            self.last_cuts.fetch_add(opened.len() as u64, Ordering::Relaxed);
        }
        for cut in opened {
            // The smaller part is solved first.
            let parts = [cut.left as usize, cut.right as usize];
            let first = usize::from(lattice.sizes[parts[1]] < lattice.sizes[parts[0]]);
            for side in [first, 1 - first] {
                let (part, other) = (parts[side], parts[1 - side]);
                let size = lattice.sizes[part];
                let exact = match self.siblings {
                    Siblings::Exact => true,
                    Siblings::SecondExact => side != first,
                    Siblings::Flips => false,
                };
                let last = spare == 1 || lattice.cuts[part].is_empty();
                if last && self.pruning == Pruning::OneSide && side != first {
                    // Here both are leaves, and the first is known.
                    if !residual.allows_some_sum(&fronts[other], &self.bound(part)) {
                        continue;
                    }
                }
                if last && !wanted[part] {
                    self.needed[part].store(true, Ordering::Relaxed);
                    continue;
                }
                let own = match exact {
                    true => residual.beside(&fronts[other], size),
                    false => residual.beside(&self.bound(other), size),
                };
                if last {
                    self.need(part, &own, leaves, wanted);
                } else {
                    join(&below[part], &own);
                }
            }
        }
    }

    /// The ranges of one cut of the set that has a threshold on either side.
    fn add_ranges(&self, set: usize, residual: &Residual) {
        let nested = |cuts: &&[Cut]| (cuts[0].split..cuts[2].split).all(|split| self.nested[split as usize]);
        let candidates: Vec<&[Cut]> = self.lattice.cuts[set].windows(3).filter(nested).collect();
        if self.pruning != Pruning::Flips || candidates.is_empty() {
            return;
        }
        let [low, cut, high] = candidates[set * 7919 % candidates.len()] else { return };
        let (leaves, size) = (&self.fronts[0], self.lattice.sizes[set]);
        let sum = |a: &[Point], b: &[Point]| {
            let mut cheapest = Cheapest::new(size);
            cheapest.lower_by_sums(a, b);
            residual.share(&cheapest.front())
        };
        let (left, right) = (cut.left as usize, cut.right as usize);
        let [small, large] = match self.lattice.sizes[left] < self.lattice.sizes[right] {
            true => [left, right],
            false => [right, left],
        };
        let between = self.lattice.sets[high.left as usize].and_not(&self.lattice.sets[low.left as usize]);
        let mut outside = Cheapest::new(size);
        outside.lower_by_sums(&leaves[low.left as usize], &leaves[high.right as usize]);
        let mut ranges = self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        ranges.cuts += 1;
        ranges.exact += sum(&leaves[left], &leaves[right]);
        ranges.flips += residual.share(&self.bound(set));
        ranges.one_side += sum(&leaves[small], &self.bound(large));
        ranges.interval += sum(&outside.front(), &self.flips.bound(&between, between.count()));
    }

    /// Their means.
    pub fn ranges(&self) -> Ranges {
        let sums = *self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        let mean = |sum: f64| sum / sums.cuts.max(1) as f64;
        Ranges {
            cuts: sums.cuts,
            exact: mean(sums.exact),
            flips: mean(sums.flips),
            one_side: mean(sums.one_side),
            interval: mean(sums.interval),
        }
    }

    fn bound(&self, set: usize) -> Vec<Point> {
        self.flips.bound(&self.lattice.sets[set], self.lattice.sizes[set])
    }

    fn need(&self, set: usize, residual: &Residual, leaves: &Residuals, wanted: &[bool]) {
        self.needed[set].store(true, Ordering::Relaxed);
        if wanted[set] {
            join(&leaves[set], residual);
        }
    }

    /// The cuts that are left: the outermost thresholds of every feature, and between two of them the middle one, if not all of them are ruled out.
    fn outside_intervals(&self, set: usize, spare: usize, residual: &Residual) -> Vec<&'a Cut> {
        let mut opened = Vec::new();
        let cuts = &self.lattice.cuts[set];
        let same = |a: &Cut, b: &Cut| (a.split..b.split).all(|split| self.nested[split as usize]);
        for chain in cuts.chunk_by(same) {
            let mut open = vec![false; chain.len()];
            let last = chain.len() - 1;
            open[0] = true;
            open[last] = true;
            let mut intervals = vec![(0, last)];
            while let Some((from, to)) = intervals.pop() {
                if to - from < 2 || self.rules_out(set, spare, residual, &chain[from], &chain[to]) {
                    continue;
                }
                let middle = (from + to) / 2;
                open[middle] = true;
                intervals.extend([(from, middle), (middle, to)]);
            }
            opened.extend(chain.iter().zip(open).filter(|(_, open)| *open).map(|(cut, _)| cut));
        }
        opened
    }

    fn rules_out(&self, set: usize, spare: usize, residual: &Residual, low: &Cut, high: &Cut) -> bool {
        let (lattice, fronts) = (self.lattice, &self.fronts[spare - 1]);
        let between = lattice.sets[high.left as usize].and_not(&lattice.sets[low.left as usize]);
        let rows = between.count();
        let mut cheapest = Cheapest::new(lattice.sizes[set] - rows);
        cheapest.lower_by_sums(&fronts[low.left as usize], &fronts[high.right as usize]);
        !residual.allows_some_sum(&cheapest.front(), &self.flips.bound(&between, rows))
    }
}

fn join(place: &Mutex<Option<Residual>>, residual: &Residual) {
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    match &mut *place {
        Some(known) => known.join(residual),
        None => *place = Some(residual.clone()),
    }
}
