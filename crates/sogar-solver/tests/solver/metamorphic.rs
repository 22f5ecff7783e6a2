//! What must not change a front, or change it in a known way.

#![allow(clippy::unwrap_used)] // a panic is the report

use crate::pools::pool;
use crate::random_problems::{Random, Sizes, draw_unweighted};
use sogar_solver::{Actions, BitTable, Point, Problem, ProblemParts, RowSet, Solver};

const SIZES: Sizes = Sizes { rows: 80, splits: 8, actions: 40, depth: 3 };

fn front(parts: &ProblemParts) -> Vec<Point> {
    let problem = Problem::new(parts.clone()).unwrap();
    let outcome = Solver::builder().pool(pool(1)).build().unwrap().solve(&problem, &());
    outcome.front.iter().map(|s| Point { cost: s.cost, loss: s.loss }).collect()
}

fn flip_sets(parts: &ProblemParts) -> Vec<RowSet> {
    (0..parts.actions.len()).map(|action| RowSet::from_words(parts.flips.set(action).to_vec())).collect()
}

/// Whether every point of `worse` is matched or dominated by one of `better`.
fn at_least_as_good(better: &[Point], worse: &[Point]) -> bool {
    worse.iter().all(|w| better.iter().any(|b| b == w || b.dominates(w)))
}

#[test]
fn the_order_of_rows_does_not_matter() {
    for seed in 0..200 {
        let parts = draw_unweighted(seed, &SIZES);
        let mut random = Random(seed);
        let mut order: Vec<usize> = (0..parts.rows).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i as u64 + 1) as usize);
        }
        let moved = |set: &RowSet| RowSet::from_fn(parts.rows, |&row| set.contains(order[row]));
        let flips: Vec<RowSet> = flip_sets(&parts).iter().map(moved).collect();
        let permuted = ProblemParts {
            splits: parts.splits.iter().map(moved).collect(),
            edit_costs: parts.edit_costs.iter().map(|c| order.iter().map(|&row| c[row]).collect()).collect(),
            flips: BitTable::from_sets(parts.rows, &flips),
            ..parts.clone()
        };
        assert_eq!(front(&permuted), front(&parts), "seed {seed}");
    }
}

#[test]
fn the_order_and_the_sense_of_splits_do_not_matter() {
    for seed in 0..200 {
        let parts = draw_unweighted(seed, &SIZES);
        let everybody = RowSet::full(parts.rows);
        let reversed = ProblemParts { splits: parts.splits.iter().rev().cloned().collect(), ..parts.clone() };
        let negated = ProblemParts {
            splits: parts.splits.iter().map(|split| everybody.and_not(split)).collect(),
            ..parts.clone()
        };
        let expected = front(&parts);
        assert_eq!(front(&reversed), expected, "seed {seed}");
        assert_eq!(front(&negated), expected, "seed {seed}");
    }
}

#[test]
fn the_order_of_actions_does_not_matter() {
    // Every action as an edit of its own: then any order is a valid one.
    for seed in 0..200 {
        let parts = draw_unweighted(seed, &SIZES);
        let problem = Problem::new(parts.clone()).unwrap();
        let sets = flip_sets(&parts);
        let mut columns: Vec<(Vec<u32>, RowSet)> = (1..parts.actions.len())
            .map(|action| {
                let costs = (0..parts.rows).map(|row| problem.cost(action, row) as u32).collect();
                (costs, sets[action].clone())
            })
            .collect();
        let as_matrix = |columns: &[(Vec<u32>, RowSet)]| {
            let flips: Vec<RowSet> = std::iter::once(RowSet::empty(parts.rows))
                .chain(columns.iter().map(|(_, flips)| flips.clone()))
                .collect();
            ProblemParts {
                edit_costs: columns.iter().map(|(costs, _)| costs.clone()).collect(),
                actions: std::iter::once(vec![])
                    .chain((0..columns.len() as u32).map(|e| vec![e]))
                    .collect::<Actions>(),
                flips: BitTable::from_sets(parts.rows, &flips),
                ..parts.clone()
            }
        };
        let expected = front(&parts);
        assert_eq!(front(&as_matrix(&columns)), expected, "seed {seed}: as a plain matrix");
        columns.reverse();
        assert_eq!(front(&as_matrix(&columns)), expected, "seed {seed}: reversed");
        if let Some((costs, flips)) = columns.first().cloned() {
            // A more expensive copy that flips fewer people.
            let more = costs.iter().map(|cost| cost + 1).collect();
            columns.push((more, flips.and(&RowSet::from_fn(parts.rows, |row| row % 2 == 0))));
            assert_eq!(front(&as_matrix(&columns)), expected, "seed {seed}: with a dominated action");
        }
    }
}

#[test]
fn everybody_twice_with_leaves_twice_as_large_doubles_every_value() {
    for seed in 0..200 {
        let parts = draw_unweighted(seed, &SIZES);
        let twice = |set: &RowSet| RowSet::from_fn(2 * parts.rows, |&row| set.contains(row % parts.rows));
        let flips: Vec<RowSet> = flip_sets(&parts).iter().map(twice).collect();
        let mut doubled = ProblemParts {
            rows: 2 * parts.rows,
            splits: parts.splits.iter().map(twice).collect(),
            edit_costs: parts.edit_costs.iter().map(|costs| costs.repeat(2)).collect(),
            flips: BitTable::from_sets(2 * parts.rows, &flips),
            ..parts.clone()
        };
        doubled.limits.min_leaf *= 2;
        let expected: Vec<Point> =
            front(&parts).iter().map(|p| Point { cost: 2 * p.cost, loss: 2 * p.loss }).collect();
        assert_eq!(front(&doubled), expected, "seed {seed}");
    }
}

#[test]
fn wider_limits_are_never_worse() {
    for seed in 0..200 {
        let parts = draw_unweighted(seed, &SIZES);
        let base = front(&parts);
        let mut deeper = parts.clone();
        deeper.limits.max_depth += 1;
        assert!(at_least_as_good(&front(&deeper), &base), "seed {seed}: deeper");
        let mut leafier = parts.clone();
        leafier.limits.max_leaves += 1;
        assert!(at_least_as_good(&front(&leafier), &base), "seed {seed}: more leaves");
        let mut smaller = parts.clone();
        smaller.limits.min_leaf = (smaller.limits.min_leaf / 2).max(1);
        assert!(at_least_as_good(&front(&smaller), &base), "seed {seed}: smaller leaves");
    }
}
