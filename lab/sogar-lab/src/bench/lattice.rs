//! All distinct sets of rows that trees can cut out and how they are cut further, listed without any code of the search, and the exact front of every
//! task on them by plain dynamic programming.
//!
//! A set is on the list if it is what remains of all rows after at most `max_depth` tests, each of which leaves at least
//! `min_leaf` rows on both sides. Many orders of tests lead to the same set; it is listed once. The length of the list checks the count of the search.

use indexmap::IndexSet;
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashSet};
use sogar_solver::leaf::{GroupedLeaves, LeafContext, LeafEvaluation, LeafPoint, LeafRequest};
use sogar_solver::{Point, Problem, RowSet, Stop, Switches};

/// One way to cut a set.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    pub split: u32,
    /// Positions of the parts.
    pub left: u32,
    pub right: u32,
}

/// The sets with their cuts, for trees that may have 2^depth leaves: all rows first, then by the number of tests that lead to a set.
#[derive(Debug)]
pub struct Lattice {
    pub sets: Vec<RowSet>,
    pub sizes: Vec<usize>,
    /// The fewest tests that lead to each set.
    levels: Vec<u32>,
    depth: u32,
    /// The side of the first cut on which each set was first met.
    origins: Vec<u32>,
    /// The cuts of every set above the last level.
    pub cuts: Vec<Vec<Cut>>,
}

/// `fronts[depth][set]`; empty where no tree has so many tests to spare.
pub type Fronts = Vec<Vec<Vec<Point>>>;

impl Lattice {
    /// Lists the sets. `None` if they and their fronts would take more than about `max_bytes`.
    pub fn new(problem: &Problem, max_bytes: usize) -> Option<Lattice> {
        let depth = problem.limits().max_depth;
        let min_leaf = problem.limits().min_leaf as usize;
        let all = RowSet::full(problem.rows());
        let most = max_bytes / (size_of_val(all.words()) + 600);
        let mut known: IndexSet<RowSet, FxBuildHasher> = IndexSet::default();
        known.insert(all);
        let (mut levels, mut origins, mut cuts) = (vec![0], vec![0u32], Vec::new());
        let mut level = 0..1;
        // A set is first reached with the most tests to spare, so every set must be cut only once.
        for tests in 1..=depth {
            for position in level.clone() {
                let Some(set) = known.get_index(position).cloned() else { continue };
                let mut own = Vec::new();
                let mut seen = FxHashSet::default();
                for split in 0..problem.splits() {
                    let passes = problem.split(split);
                    let (left, right) = (set.and(passes), set.and_not(passes));
                    if left.count() < min_leaf || right.count() < min_leaf {
                        continue;
                    }
                    let [left, right] = [left, right].map(|part| {
                        let (at, new) = known.insert_full(part);
                        if new {
                            levels.push(tests);
                            origins.push(if tests == 1 { at as u32 } else { origins[position] });
                        }
                        at as u32
                    });
                    // Two cuts are equal if they have a part in common.
                    if seen.insert(left.min(right)) {
                        own.push(Cut { split: split as u32, left, right });
                    }
                }
                cuts.push(own);
                if known.len() > most {
                    return None;
                }
            }
            level = level.end..known.len();
        }
        let sets: Vec<RowSet> = known.into_iter().collect();
        cuts.resize_with(sets.len(), Vec::new);
        let sizes = sets.iter().map(RowSet::count).collect();
        Some(Lattice { sets, sizes, levels, depth, origins, cuts })
    }

    /// The fronts of all tasks, given those of all leaves.
    pub fn fronts(&self, leaves: Vec<Vec<Point>>) -> Fronts {
        let mut fronts = vec![leaves];
        for spare in 1..=self.depth as usize {
            let solved = (0..self.sets.len()).into_par_iter().map(|set| {
                match self.levels[set] as usize + spare <= self.depth as usize {
                    true => self.front(set, &fronts[0][set], &fronts[spare - 1]),
                    false => Vec::new(),
                }
            });
            let solved = solved.collect();
            fronts.push(solved);
        }
        fronts
    }

    fn front(&self, set: usize, leaf: &[Point], below: &[Vec<Point>]) -> Vec<Point> {
        let mut cheapest = Cheapest::new(self.sizes[set]);
        leaf.iter().for_each(|point| cheapest.lower(point.cost, point.loss));
        for cut in &self.cuts[set] {
            cheapest.lower_by_sums(&below[cut.left as usize], &below[cut.right as usize]);
        }
        cheapest.front()
    }

    /// The fronts of some leaves by the search's own evaluation.
    pub fn leaf_fronts_of(problem: &Problem, sets: &[RowSet]) -> Vec<Vec<Point>> {
        let leaves = GroupedLeaves::new(problem, Switches::default());
        evaluate(&*leaves.among(&RowSet::full(problem.rows())), sets.iter())
    }

    /// Those of all leaves.
    pub fn leaf_fronts(&self, problem: &Problem) -> Vec<Vec<Point>> {
        let leaves = GroupedLeaves::new(problem, Switches::default());
        let mut order: Vec<usize> = (0..self.sets.len()).collect();
        order.sort_by_key(|&set| self.origins[set]);
        let runs: Vec<&[usize]> = order.chunk_by(|&a, &b| self.origins[a] == self.origins[b]).collect();
        let evaluated: Vec<Vec<Vec<Point>>> = runs
            .par_iter()
            .map(|run| {
                let context = leaves.among(&self.sets[self.origins[run[0]] as usize]);
                evaluate(&*context, run.iter().map(|&set| &self.sets[set]))
            })
            .collect();
        let mut fronts = vec![Vec::new(); self.sets.len()];
        for (&set, front) in order.iter().zip(evaluated.into_iter().flatten()) {
            fronts[set] = front;
        }
        fronts
    }
}

fn evaluate<'a>(context: &dyn LeafContext, sets: impl Iterator<Item = &'a RowSet>) -> Vec<Vec<Point>> {
    let requests: Vec<LeafRequest<'_>> = sets.map(|set| LeafRequest { set, sides: &[], warm: &[] }).collect();
    let found = context.leaf_fronts(&requests, &Stop::default()).unwrap_or_default();
    let point = |point: &LeafPoint| Point { cost: point.cost, loss: u64::from(point.loss) };
    found.iter().map(|front| front.iter().map(point).collect()).collect()
}

/// The front of all rows.
pub fn root(fronts: &Fronts) -> &[Point] {
    fronts.last().and_then(|fronts| fronts.first()).map_or(&[], Vec::as_slice)
}

/// For every loss the least cost.
pub struct Cheapest(Vec<u64>);

impl Cheapest {
    pub fn new(size: usize) -> Cheapest {
        Cheapest(vec![u64::MAX; size + 1])
    }

    #[inline(always)]
    pub fn lower(&mut self, cost: u64, loss: u64) {
        let place = &mut self.0[loss as usize];
        *place = (*place).min(cost);
    }

    pub fn lower_by_sums(&mut self, left: &[Point], right: &[Point]) {
        for a in left {
            right.iter().for_each(|b| self.lower(a.cost + b.cost, a.loss + b.loss));
        }
    }

    /// The non-dominated points: cost ascending, loss descending.
    pub fn front(&self) -> Vec<Point> {
        let mut least = u64::MAX;
        let mut front = Vec::new();
        for (loss, &cost) in (0..).zip(&self.0) {
            if cost < least {
                front.push(Point { cost, loss });
            }
            least = least.min(cost);
        }
        front.reverse();
        front
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sogar_solver::{BitTable, Combine, Limits, ProblemParts};

    fn problem(max_depth: u32, min_leaf: u32) -> Problem {
        let rows = 6;
        Problem::new(ProblemParts {
            rows,
            splits: vec![
                RowSet::from_rows(rows, [0, 1, 2]),
                RowSet::from_rows(rows, [0, 1, 2, 3]),
                RowSet::from_rows(rows, [0, 3]),
            ],
            edit_costs: vec![vec![1; rows]],
            combine: Combine::Max,
            actions: [vec![], vec![0]].into_iter().collect(),
            flips: BitTable::from_sets(rows, &[RowSet::empty(rows), RowSet::full(rows)]),
            weights: Vec::new(),
            limits: Limits { max_depth, max_leaves: 1 << max_depth, min_leaf },
        })
        .unwrap()
    }

    fn listed(max_depth: u32, min_leaf: u32) -> Vec<Vec<usize>> {
        let sets = Lattice::new(&problem(max_depth, min_leaf), usize::MAX).unwrap().sets;
        sets.iter().map(|set| set.iter().collect()).collect()
    }

    #[test]
    fn without_tests_the_only_leaf_holds_all_rows() {
        assert_eq!(listed(0, 1), [[0, 1, 2, 3, 4, 5]]);
    }

    #[test]
    fn both_sides_of_every_test_are_listed_in_order() {
        let sets: [&[usize]; 7] =
            [&[0, 1, 2, 3, 4, 5], &[0, 1, 2], &[3, 4, 5], &[0, 1, 2, 3], &[4, 5], &[0, 3], &[1, 2, 4, 5]];
        assert_eq!(listed(1, 1), sets);
    }

    #[test]
    fn a_cut_counts_only_if_both_sides_are_large_enough() {
        // By hand: {0,1,2,3} and {1,2,4,5} can still be cut into pairs, which are {1,2} and the known {0,3}, {4,5}.
        let mut sets = listed(2, 2);
        assert_eq!(sets.pop(), Some(vec![1, 2]));
        assert_eq!(sets, listed(1, 2));
        assert_eq!(listed(1, 3).len(), 3);
    }

    #[test]
    fn the_search_counts_the_same_sets() {
        for (max_depth, min_leaf) in [(0, 1), (1, 1), (2, 1), (2, 2), (3, 1), (3, 2)] {
            let problem = problem(max_depth, min_leaf);
            let outcome = sogar_solver::Solver::builder().threads(1).build().unwrap().solve(&problem, &());
            let listed = Lattice::new(&problem, usize::MAX).unwrap().sets.len() as u64;
            assert_eq!(outcome.stats.leaf_sets, listed, "depth {max_depth}, min leaf {min_leaf}");
        }
    }

    #[test]
    fn the_root_front_is_the_exhaustive_solvers() {
        for (max_depth, min_leaf) in [(0, 1), (1, 1), (2, 2), (3, 1)] {
            let problem = problem(max_depth, min_leaf);
            let lattice = Lattice::new(&problem, usize::MAX).unwrap();
            let fronts = lattice.fronts(lattice.leaf_fronts(&problem));
            assert_eq!(root(&fronts), sogar_solver::exhaustive::front(&problem));
        }
    }

    #[test]
    fn a_list_beyond_the_memory_limit_is_given_up() {
        assert!(Lattice::new(&problem(2, 1), 800).is_none());
    }
}
