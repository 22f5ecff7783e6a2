//! Fronts over cost and the loss of every group, against the exhaustive oracle.

use crate::pools::{campaign, pool};
use crate::random_problems::{Random, Sizes, draw};
use sogar_solver::criteria::exhaustive;
use sogar_solver::{
    Epsilon, GroupOutcome, GroupPoint, Grouping, Kernel, Point, Problem, SearchStatus, Solver, Switches,
    TreeNode,
};

/// A problem with so many groups at most, each with a row.
fn grouped(seed: u64, sizes: &Sizes, most: u64) -> (Problem, Grouping) {
    let problem = Problem::new(draw(seed, sizes)).unwrap();
    let mut random = Random(seed ^ 0x6170);
    let groups = random.between(1, most.min(problem.rows() as u64));
    let mut of_row: Vec<u32> = (0..problem.rows()).map(|_| random.below(groups) as u32).collect();
    (0..groups as usize).for_each(|group| of_row[group] = group as u32);
    (problem, Grouping::new(of_row).unwrap())
}

fn solve(
    problem: &Problem,
    grouping: &Grouping,
    threads: usize,
    memory: usize,
    epsilon: Epsilon,
) -> GroupOutcome {
    let solver = Solver::builder().pool(pool(threads)).memory_limit(memory).build().unwrap();
    solver.solve_by_group(problem, grouping, epsilon, &())
}

fn assert_attained(problem: &Problem, grouping: &Grouping, outcome: &GroupOutcome, seed: u64) {
    let limits = problem.limits();
    for (at, point) in outcome.points.iter().enumerate() {
        let tree = outcome.tree(at);
        assert_eq!(exhaustive::apply(problem, grouping, &tree), *point, "seed {seed}");
        let smallest = sogar_solver::exhaustive::apply(problem, &tree).1;
        assert!(smallest >= limits.min_leaf as usize, "seed {seed}: a leaf is too small");
        assert!(tree.depth() <= limits.max_depth && tree.leaves() <= limits.max_leaves, "seed {seed}");
        assert_no_needless_split(&tree, seed);
        assert!(
            !outcome.points.iter().any(|other| other.dominates(point)),
            "seed {seed}: a point is dominated"
        );
    }
}

fn assert_no_needless_split(tree: &TreeNode, seed: u64) {
    if let TreeNode::Split { left, right, .. } = tree {
        assert!(
            !matches!(**left, TreeNode::Leaf { .. }) || left != right,
            "seed {seed}: the same action on both sides"
        );
        assert_no_needless_split(left, seed);
        assert_no_needless_split(right, seed);
    }
}

#[test]
fn fronts_of_cost_and_the_loss_of_every_group_equal_brute_force_on_1500_random_problems() {
    let sizes = Sizes { rows: 24, splits: 5, actions: 24, depth: 3 };
    for (seeds, most) in [(0..1000, 2), (1000..1400, 4), (1400..1500, 8)] {
        campaign(seeds, |seed| {
            let (problem, grouping) = grouped(seed, &sizes, most);
            let outcome = solve(&problem, &grouping, 1, usize::MAX, Epsilon::ZERO);
            assert_eq!(outcome.status, SearchStatus::Complete);
            assert_eq!(outcome.points, exhaustive::front(&problem, &grouping), "seed {seed}");
            assert_attained(&problem, &grouping, &outcome, seed);
        });
    }
}

#[test]
fn without_groups_the_front_is_that_of_two_criteria() {
    let sizes = Sizes { rows: 60, splits: 10, actions: 40, depth: 3 };
    campaign(0..300, |seed| {
        let (problem, grouping) = grouped(seed, &sizes, 3);
        let two: Vec<Point> = Solver::builder().pool(pool(1)).build().unwrap().solve(&problem, &()).bound;
        let groups = solve(&problem, &grouping, 1, usize::MAX, Epsilon::ZERO);
        let both = groups.points.iter().map(|point| Point { cost: point.cost, loss: point.loss() });
        assert_eq!(sogar_solver::front::non_dominated(both.collect()), two, "seed {seed}: the projection");
        // With one group, cost and loss are all there is.
        let one = Grouping::new(vec![0; problem.rows()]).unwrap();
        let one = solve(&problem, &one, 1, usize::MAX, Epsilon::ZERO).points;
        let one: Vec<Point> =
            one.iter().map(|point| Point { cost: point.cost, loss: point.loss() }).collect();
        assert_eq!(one, two, "seed {seed}: one group");
    });
}

#[test]
fn a_search_that_sees_fewer_splits_is_never_better() {
    let sizes = Sizes { rows: 40, splits: 8, actions: 24, depth: 3 };
    campaign(0..300, |seed| {
        let parts = draw(seed, &sizes);
        let mut blind = parts.clone();
        blind.splits.truncate(parts.splits.len() / 2);
        let [sighted, blind] = [parts, blind].map(|parts| {
            let problem = Problem::new(parts).unwrap();
            Solver::builder().pool(pool(1)).build().unwrap().solve(&problem, &()).front
        });
        for own in &blind {
            let found = sighted.iter().any(|other| other.cost <= own.cost && other.loss <= own.loss);
            assert!(found, "seed {seed}: ({}, {}) is better than the sighted front", own.cost, own.loss);
        }
    });
}

#[test]
fn threads_memory_kernels_and_dropped_actions_change_nothing_not_even_a_witness() {
    let sizes = Sizes { rows: 50, splits: 8, actions: 30, depth: 3 };
    let all = |outcome: &GroupOutcome| -> Vec<(GroupPoint, TreeNode)> {
        outcome.points.iter().cloned().zip((0..).map(|at| outcome.tree(at))).collect()
    };
    campaign(0..60, |seed| {
        let (problem, grouping) = grouped(seed, &sizes, 3);
        for millionths in [0, 30_000] {
            let epsilon = Epsilon { millionths, unit: 7 };
            let one = all(&solve(&problem, &grouping, 1, usize::MAX, epsilon));
            for (threads, memory) in [(2, usize::MAX), (8, usize::MAX), (1, 0), (2, 3000)] {
                let other = solve(&problem, &grouping, threads, memory, epsilon);
                assert_eq!(all(&other), one, "seed {seed}, {threads} threads, {memory} bytes");
            }
            for kernel in [Kernel::Portable, Kernel::Avx2] {
                let switches = Switches { kernel, reduce: false, ..Switches::default() };
                let solver = Solver::builder().pool(pool(1)).switches(switches).build().unwrap();
                let other = solver.solve_by_group(&problem, &grouping, epsilon, &());
                assert_eq!(all(&other), one, "seed {seed}, {kernel:?}, all actions");
            }
        }
    });
}

#[test]
fn a_thinned_front_is_within_epsilon_of_every_tree_in_every_criterion() {
    let sizes = Sizes { rows: 40, splits: 6, actions: 24, depth: 3 };
    campaign(0..300, |seed| {
        let (problem, grouping) = grouped(seed, &sizes, 3);
        let complete = exhaustive::front(&problem, &grouping);
        let mut random = Random(seed);
        let epsilon = Epsilon { millionths: random.between(1, 300_000) as u32, unit: random.between(1, 10) };
        let outcome = solve(&problem, &grouping, 1, usize::MAX, epsilon);
        assert_attained(&problem, &grouping, &outcome, seed);
        let share = |of: u64| of as f64 * f64::from(epsilon.millionths) / 1e6;
        let sizes: Vec<f64> =
            (0..grouping.groups()).map(|g| share(problem.weight_of(grouping.rows(g)))).collect();
        let cost = share(problem.size() as u64 * epsilon.unit);
        for point in &complete {
            let within = |near: &GroupPoint| {
                near.cost as f64 <= point.cost as f64 + cost
                    && near
                        .losses
                        .iter()
                        .zip(&point.losses)
                        .zip(&sizes)
                        .all(|((a, b), slack)| *a as f64 <= *b as f64 + slack)
            };
            assert!(outcome.points.iter().any(within), "seed {seed}: nothing near {point:?}");
        }
    });
    campaign(0..100, |seed| {
        let (problem, grouping) = grouped(seed, &sizes, 2);
        let [some, all] = [200_000, 0].map(|millionths| {
            solve(&problem, &grouping, 1, usize::MAX, Epsilon { millionths, unit: 5 }).points.len()
        });
        assert!(some <= all, "seed {seed}");
    });
}

#[test]
fn a_stopped_search_gives_attained_points_that_do_not_dominate_each_other() {
    let sizes = Sizes { rows: 60, splits: 10, actions: 26, depth: 3 };
    campaign(0..100, |seed| {
        let (problem, grouping) = grouped(seed, &sizes, 3);
        let limit = std::time::Duration::from_micros(seed * 20);
        let solver = Solver::builder().pool(pool(2)).time_limit(Some(limit)).build().unwrap();
        let outcome = solver.solve_by_group(&problem, &grouping, Epsilon::ZERO, &());
        assert_attained(&problem, &grouping, &outcome, seed);
        assert_eq!(outcome.points.first().map(|point| point.cost), Some(0), "seed {seed}");
    });
}

#[test]
fn groupings_are_validated() {
    assert!(Grouping::new((0..9).collect()).is_err_and(|error| error.to_string().contains("at most 8")));
    assert!(Grouping::new(vec![0, 2]).is_err_and(|error| error.to_string() == "group 1 has no rows"));
}

/// The largest distance of a group's loss rate from that of everyone else, as cross products.
fn gap(point: &GroupPoint, sizes: &[u64]) -> f64 {
    let (loss, size): (u64, u64) = (point.losses.iter().sum(), sizes.iter().sum());
    let one = |group: usize| {
        let (own, rest) =
            (point.losses[group] as f64 / sizes[group] as f64, (loss - point.losses[group]) as f64);
        (own - rest / (size - sizes[group]) as f64).abs()
    };
    (0..sizes.len()).map(one).fold(0.0, f64::max)
}

/// How often the definition of the limit matters: a summary that another one beats for every group, or in cost, is not admitted under it. On these
/// problems (docs/AUDIT.md quotes the counts) it would have improved the trade-off.
#[test]
fn how_often_a_dominated_summary_would_have_won_on_500_problems() {
    let sizes = Sizes { rows: 16, splits: 3, actions: 6, depth: 2 };
    let (mut problems, mut won, mut seed) = ([0, 0, 0], [0, 0, 0], 0);
    while problems[0] < 500 {
        let (problem, grouping) = grouped(seed, &sizes, 2);
        seed += 1;
        if grouping.groups() < 2 {
            continue;
        }
        let sizes: Vec<u64> = (0..2).map(|group| problem.weight_of(grouping.rows(group))).collect();
        let every = exhaustive::attained(&problem, &grouping);
        let front = exhaustive::front(&problem, &grouping);
        for (at, limit) in [0.02, 0.05, 0.2].into_iter().enumerate() {
            problems[at] += 1;
            let admitted = |points: &[GroupPoint]| -> Vec<Point> {
                let within = points.iter().filter(|point| gap(point, &sizes) <= limit + 1e-12);
                sogar_solver::front::non_dominated(
                    within.map(|point| Point { cost: point.cost, loss: point.loss() }).collect(),
                )
            };
            won[at] += usize::from(admitted(&every) != admitted(&front));
        }
    }
    assert_eq!((won, problems), ([38, 43, 47], [500; 3]), "under limits of 0.02, 0.05 and 0.2");
}
