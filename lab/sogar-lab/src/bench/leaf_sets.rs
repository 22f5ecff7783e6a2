//! Every distinct set of rows that a leaf can hold, listed by a plain routine that shares no code with the search.
//!
//! A set belongs to the list if it is what is left of all rows after at most `max_depth` tests, each of which leaves at
//! least `min_leaf` rows on both sides. Many orders of tests lead to the same set; it is listed once. The reference kernel
//! needs the list, and its length says whether the search counted right.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use sogar_solver::{Problem, RowSet};

/// Lists the leaf sets of a problem whose trees may have 2^depth leaves: the root first, then by the number of tests that
/// lead to a set, the children of one set side by side. `None` if they would take more than `max_bytes`.
pub fn leaf_sets(problem: &Problem, max_bytes: usize) -> Option<Vec<RowSet>> {
    let min_leaf = problem.limits().min_leaf as usize;
    let all = RowSet::full(problem.rows());
    let most = max_bytes / (size_of_val(all.words()) + 64);
    let mut known: IndexSet<RowSet, FxBuildHasher> = IndexSet::default();
    known.insert(all);
    let mut level = 0..1;
    // A set is first met with the most tests to spare, so every set has to be cut only once.
    for _ in 0..problem.limits().max_depth {
        for position in level.clone() {
            let Some(set) = known.get_index(position).cloned() else { continue };
            for split in 0..problem.splits() {
                let passes = problem.split(split);
                let (left, right) = (set.and(passes), set.and_not(passes));
                if left.count() >= min_leaf && right.count() >= min_leaf {
                    known.insert(left);
                    known.insert(right);
                }
            }
            if known.len() > most {
                return None;
            }
        }
        level = level.end..known.len();
    }
    Some(known.into_iter().collect())
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
        let sets = leaf_sets(&problem(max_depth, min_leaf), usize::MAX).unwrap();
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
            let listed = leaf_sets(&problem, usize::MAX).unwrap().len() as u64;
            assert_eq!(outcome.stats.leaf_sets, listed, "depth {max_depth}, min leaf {min_leaf}");
        }
    }

    #[test]
    fn a_list_beyond_the_memory_limit_is_given_up() {
        assert_eq!(leaf_sets(&problem(2, 1), 200), None);
    }
}
