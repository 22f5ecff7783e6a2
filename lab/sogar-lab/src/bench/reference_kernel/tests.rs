use std::time::Duration;

use sogar_solver::{Actions, BitTable, Limits, ProblemParts};

use super::*;

const ROWS: usize = 150;
const EDITS: u32 = 20;

/// A problem without any pattern: 20 edits, all pairs of them (211 actions, so the last tile is not full).
fn problem(combine: Combine, dearest: u64) -> Problem {
    let number = |a: u64, b: u64| (a * 7919 + b * 104_729 + 13).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    let mut actions = Actions::default();
    actions.push(&[]);
    (0..EDITS).for_each(|edit| actions.push(&[edit]));
    (0..EDITS).for_each(|a| (a + 1..EDITS).for_each(|b| actions.push(&[a, b])));
    let flips: Vec<RowSet> = (0..actions.len() as u64)
        .map(|action| RowSet::from_fn(ROWS, |&row| action > 0 && number(action, row as u64) % 5 < 2))
        .collect();
    Problem::new(ProblemParts {
        rows: ROWS,
        splits: vec![RowSet::from_fn(ROWS, |row| row % 3 == 0)],
        edit_costs: (0..u64::from(EDITS))
            .map(|edit| (0..ROWS as u64).map(|row| (number(row, edit) % (dearest + 1)) as u32).collect())
            .collect(),
        combine,
        actions,
        flips: BitTable::from_sets(ROWS, &flips),
        weights: Vec::new(),
        limits: Limits { max_depth: 1, max_leaves: 2, min_leaf: 1 },
    })
    .unwrap()
}

fn some_sets() -> Vec<RowSet> {
    vec![
        RowSet::full(ROWS),
        RowSet::from_rows(ROWS, [ROWS - 1]),
        RowSet::from_fn(ROWS, |row| row % 3 == 0),
        RowSet::from_fn(ROWS, |row| row / 7 % 2 == 1),
    ]
}

/// All sums as (set, action, cost, loss), in the order of sets and actions.
fn all_sums(
    reference_kernel: &ReferenceKernel,
    sets: &[RowSet],
    order: Order,
) -> Vec<(usize, usize, u64, u64)> {
    let mut found = Vec::new();
    reference_kernel.sums(sets, order, |set, tile, sums| {
        for (lane, &action) in reference_kernel.actions().iter().skip(tile * TILE).take(TILE).enumerate() {
            found.push((set, action, sums.cost[lane].into(), sums.loss[lane].into()));
        }
    });
    found.sort_unstable();
    found
}

fn plain_sums(problem: &Problem, actions: &[usize], sets: &[RowSet]) -> Vec<(usize, usize, u64, u64)> {
    let mut found = Vec::new();
    for (position, set) in sets.iter().enumerate() {
        for &action in actions {
            let (mut cost, mut loss) = (0, 0);
            for row in set.iter() {
                cost += problem.cost(action, row);
                loss += u64::from(!problem.flips(action, row));
            }
            found.push((position, action, cost, loss));
        }
    }
    found
}

#[test]
fn sums_equal_those_of_plain_loops_in_either_order_and_width() {
    for (combine, dearest) in
        [(Combine::Max, 900), (Combine::Sum, 900), (Combine::Max, 65_535), (Combine::Max, 1 << 20)]
    {
        let problem = problem(combine, dearest);
        let reference_kernel = ReferenceKernel::new(&problem, combine, usize::MAX).unwrap();
        assert_eq!(matches!(reference_kernel.costs, Costs::Narrow(_)), dearest <= 65_535);
        let expected = plain_sums(&problem, reference_kernel.actions(), &some_sets());
        assert_eq!(expected.len(), 4 * problem.actions());
        for order in [Order::OneByOne, Order::Together] {
            assert_eq!(
                all_sums(&reference_kernel, &some_sets(), order),
                expected,
                "{combine:?} {dearest} {order:?}"
            );
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_sums() {
    let problem = problem(Combine::Max, 900);
    let mut reference_kernel = ReferenceKernel::new(&problem, Combine::Max, usize::MAX).unwrap();
    let best = all_sums(&reference_kernel, &some_sets(), Order::OneByOne);
    reference_kernel.instructions = Instructions::Plain;
    assert_eq!(all_sums(&reference_kernel, &some_sets(), Order::OneByOne), best);
}

#[test]
fn a_small_limit_keeps_every_kth_action() {
    let problem = problem(Combine::Max, 900);
    let half = problem.actions() * ROWS * 3 / 2 + 3;
    let reference_kernel = ReferenceKernel::new(&problem, Combine::Max, half).unwrap();
    assert_eq!(reference_kernel.actions(), (0..problem.actions()).step_by(2).collect::<Vec<_>>());
    let expected = plain_sums(&problem, reference_kernel.actions(), &some_sets());
    assert_eq!(all_sums(&reference_kernel, &some_sets(), Order::OneByOne), expected);
}

#[test]
fn the_front_of_a_set_is_the_reference_solvers() {
    let problem = problem(Combine::Max, 900);
    let reference_kernel = ReferenceKernel::new(&problem, Combine::Max, usize::MAX).unwrap();
    for (position, set) in some_sets().iter().enumerate() {
        let points = plain_sums(&problem, reference_kernel.actions(), std::slice::from_ref(set))
            .into_iter()
            .map(|(_, _, cost, loss)| Point { cost, loss })
            .collect();
        assert_eq!(
            reference_kernel.front(set),
            sogar_solver::exhaustive::non_dominated(points),
            "set {position}"
        );
    }
}

#[test]
fn additions_are_counted_for_all_sets_or_for_a_sample_of_runs() {
    let problem = problem(Combine::Max, 900);
    let reference_kernel = ReferenceKernel::new(&problem, Combine::Max, usize::MAX).unwrap();
    let sets: Vec<RowSet> = (0..ROWS).map(|row| RowSet::from_rows(ROWS, [row])).collect();
    let all = reference_kernel.time(&sets, Order::OneByOne, Duration::MAX, 1);
    assert_eq!((all.sets, all.rows, all.additions), (150, 150, 150 * 211 * 2));
    let sample = reference_kernel.time(&sets, Order::Together, Duration::from_nanos(1), 1);
    assert!(sample.sets == RUN || sample.sets == 150 % RUN);
}

#[test]
fn sums_that_the_counters_cannot_hold_are_refused() {
    assert!(ReferenceKernel::new(&problem(Combine::Sum, 1 << 30), Combine::Sum, usize::MAX).is_none());
}

#[test]
fn a_shuffle_depends_on_its_seed_alone() {
    let shuffled = |seed| {
        let mut items: Vec<u32> = (0..100).collect();
        shuffle(&mut items, seed);
        items
    };
    assert_eq!(shuffled(1), shuffled(1));
    assert_ne!(shuffled(1), shuffled(2));
    let mut sorted = shuffled(3);
    sorted.sort_unstable();
    assert_eq!(sorted, (0..100).collect::<Vec<_>>());
}
