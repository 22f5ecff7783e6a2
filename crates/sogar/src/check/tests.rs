//! The verifier's own parts; that corrupted files are refused is tested with the command line.

use std::path::PathBuf;
use std::time::Instant;

use sogar_solver::{BitTable, CancelToken, Combine, Limits, Problem, ProblemParts, RowSet, exhaustive};

use super::admissible::Numbering;
use super::completeness::none_missing;
use super::plain::{LeafFronts, Pair, Plain};
use super::sample::{DRAWS, Draw, sub_searches};
use super::{Defect, order};
use crate::actions::{Change, Edit, all_actions};
use crate::summary::{FrontFile, PointRef};

fn edits(features: &[usize]) -> Vec<Edit> {
    let edit = |&feature: &usize| Edit { feature, change: Change::Flip, followers: Vec::new() };
    features.iter().map(edit).collect()
}

#[test]
fn actions_are_numbered_as_they_are_listed() {
    for features in [&[0, 0, 1, 2, 2, 2, 5][..], &[3], &[0, 1, 2, 3, 4], &[1, 1, 1]] {
        for most in 1..=4 {
            let edits = edits(features);
            let numbering = Numbering::new(&edits, most);
            for (number, action) in all_actions(&edits, most).iter().enumerate() {
                assert_eq!(numbering.of(action), number as u128, "{features:?}, {action:?}");
            }
        }
    }
}

/// A random problem: every set of at most two edits on distinct features is an action.
fn random_problem(draw: &mut Draw, combine: Combine) -> (Problem, usize) {
    let rows = 6 + draw.below(14);
    let mut features: Vec<usize> = (0..2 + draw.below(4)).map(|_| draw.below(4)).collect();
    features.sort_unstable();
    let edits = edits(&features);
    let actions = all_actions(&edits, 2);
    let mut flips = vec![RowSet::empty(rows)];
    for _ in 1..actions.len() {
        let shy = draw.below(4);
        flips.push(RowSet::from_fn(rows, |_| draw.below(5) > shy));
    }
    let depth = draw.below(4) as u32;
    let parts = ProblemParts {
        rows,
        splits: (0..1 + draw.below(4)).map(|_| RowSet::from_fn(rows, |_| draw.below(2) == 0)).collect(),
        edit_costs: edits.iter().map(|_| (0..rows).map(|_| draw.below(6) as u32).collect()).collect(),
        combine,
        actions,
        flips: BitTable::from_sets(rows, &flips),
        limits: Limits {
            max_depth: depth,
            max_leaves: 1 + draw.below(1 << depth) as u32,
            min_leaf: 1 + draw.below(3) as u32,
        },
    };
    (Problem::new(parts).unwrap(), edits.len())
}

fn plain_front(problem: &Problem, edits: usize, combine: Combine) -> Vec<Pair> {
    let plain = Plain::new(problem, edits, combine, None);
    let splits: Vec<usize> = (0..problem.splits()).collect();
    let mut levels = vec![vec![plain.root()]];
    for level in 0..problem.limits().max_depth as usize {
        levels.push(plain.level(&levels[level], &splits, usize::MAX).unwrap());
    }
    let mut leaves = LeafFronts::new();
    assert!(levels.iter().all(|sets| plain.add_leaves(sets, &mut leaves)));
    plain.front(&levels, &splits, &leaves).unwrap()
}

#[test]
fn the_plain_search_finds_the_front_of_the_oracle() {
    let mut draw = Draw::new(7, 0);
    for number in 0..300 {
        let combine = if number % 2 == 0 { Combine::Max } else { Combine::Sum };
        let (problem, edits) = random_problem(&mut draw, combine);
        let oracle: Vec<Pair> =
            exhaustive::front(&problem).iter().map(|point| (point.cost, point.loss as usize)).collect();
        assert_eq!(plain_front(&problem, edits, combine), oracle, "problem {number}, {:?}", problem.limits());
    }
}

#[test]
fn the_plain_search_gives_up_when_the_time_is_up() {
    let (problem, edits) = random_problem(&mut Draw::new(1, 0), Combine::Max);
    let plain = Plain::new(&problem, edits, Combine::Max, Some(Instant::now()));
    let mut leaves = LeafFronts::new();
    assert!(!plain.add_leaves(&[plain.root()], &mut leaves) && leaves.is_empty());
    assert_eq!(plain.level(&[plain.root()], &[0], usize::MAX), None);
}

#[test]
fn draws_follow_the_seed() {
    let numbers = |seed, stream| {
        let mut draw = Draw::new(seed, stream);
        (0..20).map(|_| draw.below(1000)).collect::<Vec<_>>()
    };
    assert_eq!(numbers(3, 1), numbers(3, 1));
    assert_ne!(numbers(3, 1), numbers(3, 2));
    assert_ne!(numbers(3, 1), numbers(4, 1));
}

/// A file of the small problem that the command line is tested with.
fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sogar-cli/tests/fixtures").join(name)
}

/// What is said of the points of a true result after a change.
fn told(change: impl FnOnce(&mut Vec<PointRef>)) -> String {
    let mut front = FrontFile::read(&fixture("front.json")).unwrap();
    change(&mut front.points);
    match order::front(&front) {
        Ok(((), text)) | Err(Defect(text)) => text,
    }
}

#[test]
fn points_that_are_no_front_are_named() {
    assert_eq!(told(|_| ()), "81 points in order, none dominated, the first of them free");
    assert_eq!(
        told(|points| points.swap(1, 2)),
        "points 1 and 2 are out of order: the cheaper one comes first"
    );
    let twice = told(|points| points.insert(4, points[4].clone()));
    assert!(twice.starts_with("points 4 and 5 are the same"), "{twice}");
    assert_eq!(told(|points| points[3].loss_count += 10), "point 3 is dominated by point 0");
    assert!(told(|points| drop(points.remove(0))).starts_with("no point costs nothing"));
}

#[test]
fn drawn_searches_see_missing_points_and_invent_none() {
    let mut front = FrontFile::read(&fixture("front.json")).unwrap();
    let prepared =
        crate::evaluate::reopen(&front, &fixture("people.csv"), &fixture("model.txt").into()).unwrap();
    let made = prepared.problem(&(), &CancelToken::new()).unwrap();
    let plain = Plain::new(&made.problem, prepared.edits.len(), prepared.cost.combine(), None);
    let found = sub_searches(&front, &prepared, &plain, &LeafFronts::new());
    assert_eq!(found.len(), DRAWS);
    assert!(found.iter().all(|found| none_missing(&front, found, 2).is_ok()));
    // The draws are made anew from the points that are left.
    let mut number = 0;
    front.points.retain(|_| {
        number += 1;
        number % 2 == 1
    });
    let found = sub_searches(&front, &prepared, &plain, &LeafFronts::new());
    let Some(Defect(text)) = found.iter().find_map(|found| none_missing(&front, found, 2).err()) else {
        panic!("nothing was found to be missing");
    };
    assert!(text.starts_with("a point is missing between points "), "{text}");
}
