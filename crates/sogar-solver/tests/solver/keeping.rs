//! Finished subproblems that are written down and read back: a search that goes on from some of them gives the same trees.

#![allow(clippy::unwrap_used)] // a panic is the report

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::pools::pool;
use crate::random_problems::{Random, Sizes, draw};
use sogar_solver::{
    FinishedCut, FrontMerger, LeafShard, Problem, ProblemDims, ProblemSkeleton, SearchStatus, Solver,
    Subproblems, WorkerSolver,
};

const SIZES: Sizes = Sizes { rows: 30, splits: 8, actions: 12, depth: 4 };

/// Keeps cuts as bytes.
struct Kept<'a> {
    problem: &'a Problem,
    cuts: Mutex<BTreeMap<(u32, u32), Vec<u8>>>,
    /// Whether what is known may be solved again.
    damaged: bool,
}

impl Subproblems for Kept<'_> {
    fn known(&self, depth: u32, split: u32) -> Option<FinishedCut> {
        let bytes = self.cuts.lock().unwrap().get(&(depth, split)).cloned()?;
        Some(FinishedCut::from_bytes(&ProblemDims::of(self.problem), &bytes).unwrap())
    }

    fn finished(&self, cut: FinishedCut) {
        let before = self.cuts.lock().unwrap().insert((cut.depth, cut.split), cut.to_bytes());
        assert!(self.damaged || before.is_none(), "what was known was solved again");
    }
}

fn solver(threads: usize) -> Solver {
    Solver::builder().pool(pool(threads)).build().unwrap()
}

#[test]
fn a_search_that_goes_on_gives_the_same_trees() {
    let mut random = Random(9);
    for seed in 0..400 {
        let problem = Problem::new(draw(seed, &SIZES)).unwrap();
        let plain = solver(1).solve(&problem, &());
        let kept = Kept { problem: &problem, cuts: Mutex::default(), damaged: false };
        let first = solver(2).solve_with(&problem, &(), None, &kept);
        assert_eq!(first.front, plain.front, "seed {seed}");
        let all: Vec<(u32, u32)> = kept.cuts.lock().unwrap().keys().copied().collect();
        kept.cuts.lock().unwrap().retain(|_, _| random.below(2) == 0);
        let again = solver(1).solve_with(&problem, &(), None, &kept);
        assert_eq!((again.front, again.status), (plain.front, SearchStatus::Complete), "seed {seed}");
        assert!(kept.cuts.lock().unwrap().keys().eq(&all), "seed {seed}: other cuts");
    }
}

#[test]
fn damaged_bytes_are_refused_or_harmless_but_never_a_panic() {
    let mut random = Random(1);
    let mut refused = 0;
    for seed in 0..150 {
        let problem = Problem::new(draw(seed, &SIZES)).unwrap();
        let dims = ProblemDims::of(&problem);
        let kept = Kept { problem: &problem, cuts: Mutex::default(), damaged: false };
        solver(1).solve_with(&problem, &(), None, &kept);
        for (_, bytes) in kept.cuts.lock().unwrap().clone() {
            for _ in 0..20 {
                let mut bad = bytes.clone();
                match random.below(3) {
                    0 => bad.truncate(random.below(bytes.len() as u64) as usize),
                    1 => bad[random.below(bytes.len() as u64) as usize] = random.below(256) as u8,
                    _ => bad.insert(random.below(bytes.len() as u64) as usize, random.below(256) as u8),
                }
                match FinishedCut::from_bytes(&dims, &bad) {
                    Err(_) => refused += 1,
                    Ok(cut) => {
                        // Whatever was believed can be searched with.
                        let (depth, split) = (cut.depth, cut.split);
                        let cuts = BTreeMap::from([((depth, split), cut.to_bytes())]);
                        solver(1).solve_with(
                            &problem,
                            &(),
                            None,
                            &Kept { problem: &problem, cuts: Mutex::new(cuts), damaged: true },
                        );
                    }
                }
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

/// Solves a problem in parts, by `workers` that know of each other what is handed to them.
fn in_parts(seed: u64, workers: usize, shares: usize) -> Vec<sogar_solver::Solution> {
    let parts = draw(seed, &SIZES);
    let flips = parts.flips.clone();
    let skeleton = ProblemSkeleton::from_bytes(&ProblemSkeleton::new(parts).to_bytes()).unwrap();
    let dims = skeleton.dims();
    let team: Vec<WorkerSolver> = (0..workers)
        .map(|_| {
            WorkerSolver::start(skeleton.clone().problem(flips.clone()).unwrap(), 1, usize::MAX).unwrap()
        })
        .collect();
    let cuts = team[0].count().unwrap();
    let mut found = Vec::new();
    for cut in 0..cuts {
        for part in 0..shares {
            let share = LeafShard { part, of: shares };
            found.push(team[cut % workers].leaves(cut..cut + 1, share).unwrap());
        }
    }
    let mut merger = FrontMerger::new(dims, &team[0].root().unwrap()).unwrap();
    for (number, worker) in team.iter().enumerate() {
        for leaves in &found {
            worker.learn(leaves.clone()).unwrap();
        }
        for cut in (0..cuts).rev().filter(|cut| cut % workers == number) {
            for bytes in worker.cuts(cut..cut + 1).unwrap() {
                merger.add(&bytes).unwrap();
            }
        }
    }
    merger.finish()
}

#[test]
fn a_search_in_parts_gives_the_same_trees() {
    for seed in 0..200 {
        let problem = Problem::new(draw(seed, &SIZES)).unwrap();
        let whole = solver(1).solve(&problem, &());
        let (workers, shares) = (1 + seed as usize % 3, 1 + seed as usize % 2);
        assert_eq!(in_parts(seed, workers, shares), whole.front, "seed {seed}");
    }
}
