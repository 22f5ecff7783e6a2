use sogar_solver::front::non_dominated;
use sogar_solver::{Actions, BitTable, Limits, ProblemParts};

use super::*;

const ROWS: usize = 300;
const EDITS: u32 = 20;

/// A problem without any pattern: 20 edits, all pairs of them (211 actions, so the last tile is not full).
fn problem(combine: Combine, max_cost: u64) -> Problem {
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
            .map(|edit| (0..ROWS as u64).map(|row| (number(row, edit) % (max_cost + 1)) as u32).collect())
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

#[test]
fn fronts_equal_those_of_plain_loops_for_every_width_and_instruction_set() {
    for (combine, max_cost) in
        [(Combine::Max, 900), (Combine::Sum, 900), (Combine::Max, 1 << 30), (Combine::Sum, 1 << 30)]
    {
        let problem = problem(combine, max_cost);
        let mut plain = Plain::new(&problem).unwrap();
        assert_eq!(plain.narrow, max_cost == 900);
        let expected: Vec<Vec<Point>> = some_sets()
            .iter()
            .map(|set| {
                let point = |action| Point {
                    cost: problem.cost_over(action, set),
                    loss: set.count() as u64 - problem.flipped_among(action, set),
                };
                non_dominated((0..problem.actions()).map(point).collect())
            })
            .collect();
        for instructions in [Instructions::best(), Instructions::Plain] {
            plain.instructions = instructions;
            assert_eq!(plain.evaluate(&some_sets(), 1).fronts, expected, "{combine:?} {max_cost}");
        }
    }
}

#[test]
fn only_every_kth_tile_is_laid_out() {
    let problem = problem(Combine::Max, 900);
    let plain = Plain::new(&problem).unwrap();
    assert_eq!(plain.evaluate(&some_sets(), 1).tiles, plain.tiles());
    assert_eq!(plain.evaluate(&some_sets(), 3).tiles, plain.tiles().div_ceil(3));
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
