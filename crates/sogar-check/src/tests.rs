//! The verifier's own parts; the tests of the command line cover corrupted files.

mod prices;

use std::path::PathBuf;
use std::time::Instant;

use sogar_solver::{BitTable, CancelToken, Combine, Limits, Problem, ProblemParts, RowSet, exhaustive};

use super::completeness::{self, none_better, none_missing};
use super::hull::Hull;
use super::numbering::{Numbering, rivals};
use super::plain::{LeafFronts, Pair, ParetoSet, Plain};
use super::sample::{DRAWS, Draw, sub_searches};
use super::weights::{Reached, Scalarisations, WEIGHTS, Weight};
use super::{Completeness, Defect, Options, Report, order};
use sogar_front::summary::{FrontFile, PointRef};
use sogar_prepare::actions::{Change, Edit, Follower, all_actions};

fn edits(features: &[usize]) -> Vec<Edit> {
    let edit = |&feature: &usize| Edit { feature, change: Change::Flip, followers: Vec::new() };
    features.iter().map(edit).collect()
}

#[test]
fn actions_are_numbered_as_they_are_listed() {
    for features in [&[0, 0, 1, 2, 2, 2, 5][..], &[3], &[0, 1, 2, 3, 4], &[1, 1, 1]] {
        for most in 1..=4 {
            let edits = edits(features);
            let mut numbering = Numbering::new(&edits);
            let actions = all_actions(&edits, most);
            assert_eq!(numbering.count(most), actions.len() as u128);
            for (number, action) in actions.iter().enumerate() {
                assert_eq!(numbering.of(action), number as u128, "{features:?}, {action:?}");
            }
        }
    }
}

/// All sets of at most this many edits, no two of which move the same feature: by length, then in the order of edits.
fn listed(edits: &[Edit], most: usize) -> Vec<Vec<u32>> {
    let mut actions: Vec<Vec<u32>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let shorter = actions[from..].to_vec();
        from = actions.len();
        for action in shorter {
            for next in action.last().map_or(0, |&last| last + 1)..edits.len() as u32 {
                if !action.iter().any(|&one| rivals(&edits[one as usize], &edits[next as usize])) {
                    actions.push([&action[..], &[next]].concat());
                }
            }
        }
    }
    actions
}

#[test]
fn actions_that_would_move_a_feature_twice_have_no_number() {
    let mut draw = Draw::new(3, 0);
    for round in 0..200 {
        let mut features: Vec<usize> = (0..1 + draw.below(9)).map(|_| draw.below(6)).collect();
        features.sort_unstable();
        let links: Vec<(usize, usize)> =
            (0..draw.below(5)).map(|_| (draw.below(6), draw.below(7))).filter(|(a, b)| a != b).collect();
        let mut edits = edits(&features);
        for edit in &mut edits {
            let moved = links.iter().filter(|(from, _)| *from == edit.feature).map(|&(_, feature)| feature);
            edit.followers = moved
                .map(|feature| Follower {
                    feature,
                    factor: 1.0,
                    lo: 0.0,
                    hi: 1.0,
                    whole: false,
                    codes: Vec::new(),
                })
                .collect();
        }
        for most in 1..=4 {
            let mut numbering = Numbering::new(&edits);
            let actions = listed(&edits, most);
            assert_eq!(
                numbering.count(most as u32),
                actions.len() as u128,
                "{round}: {features:?} {links:?}"
            );
            for (number, action) in actions.iter().enumerate() {
                assert_eq!(
                    numbering.of(action),
                    number as u128,
                    "{round}: {features:?} {links:?} {action:?}"
                );
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
        weights: Vec::new(),
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

/// The verdict on the points of a true result after a change.
fn told(change: impl FnOnce(&mut Vec<PointRef>)) -> String {
    let mut front = FrontFile::read(&fixture("front.json")).unwrap();
    change(&mut front.points);
    match order::front(&front.points) {
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
        sogar_front::evaluate::reopen(&front, &fixture("people.csv"), &fixture("model.txt").into()).unwrap();
    let made = prepared.problem(&(), &CancelToken::new()).unwrap();
    let plain = Plain::new(&made.problem, prepared.edits().len(), prepared.cost().combine(), None);
    let found = sub_searches(&front, &prepared, &plain, &LeafFronts::new(), 0);
    assert_eq!(found.len(), DRAWS);
    assert!(found.iter().all(|found| none_missing(front.claim(), found, 2).is_ok()));
    // The draws are repeated from the remaining points.
    let mut number = 0;
    front.points.retain(|_| {
        number += 1;
        number % 2 == 1
    });
    let found = sub_searches(&front, &prepared, &plain, &LeafFronts::new(), 0);
    let Some(Defect(text)) = found.iter().find_map(|found| none_missing(front.claim(), found, 2).err())
    else {
        panic!("nothing was found to be missing");
    };
    assert!(text.starts_with("a point is missing between points "), "{text}");
}

#[test]
fn scalarisations_find_the_least_of_the_oracles_front() {
    let mut draw = Draw::new(11, 0);
    for number in 0..300 {
        let combine = if number % 2 == 0 { Combine::Max } else { Combine::Sum };
        let (problem, edits) = random_problem(&mut draw, combine);
        if problem.limits().max_depth == 0 {
            continue;
        }
        let plain = Plain::new(&problem, edits, combine, None);
        let weights = Weight::drawn(number, 3);
        let known = LeafFronts::from([(plain.root(), plain.leaf(&plain.root()))]);
        let mut search = Scalarisations::new(&plain, weights.clone(), &known, number, usize::MAX);
        let reached = search.search(1, |_, _| ()).unwrap();
        assert_eq!((reached.depth, reached.first_tests), (problem.limits().max_depth as usize, 0));
        let front = exhaustive::front(&problem);
        for (weight, &found) in weights.iter().zip(&reached.best) {
            let least = front.iter().map(|point| weight.value((point.cost, point.loss as usize))).min();
            assert_eq!(Some(weight.value(found)), least, "problem {number}, {:?}", problem.limits());
        }
    }
}

#[test]
fn a_hull_rules_out_what_no_weighting_prefers_and_nothing_else() {
    let mut draw = Draw::new(5, 0);
    for _ in 0..500 {
        let pairs: Vec<Pair> = (0..8).map(|_| (draw.below(20) as u64, draw.below(12))).collect();
        let hull = Hull::of(&pairs);
        let corner = (draw.below(20) as u64, draw.below(12));
        // All slopes of whole numbers below 20, and the two axes.
        let value = |(a, b): (u64, u64), (cost, loss): Pair| a * cost + b * loss as u64;
        let preferred = (0..=20u64)
            .flat_map(|a| (0..=20u64).map(move |b| (a, b)))
            .any(|slope| pairs.iter().all(|&pair| value(slope, corner) < value(slope, pair)));
        assert_eq!(hull.rules_out(corner.0, corner.1), !preferred, "{corner:?} beside {pairs:?}");
        assert!(pairs.iter().all(|&(cost, loss)| hull.rules_out(cost, loss)));
        assert!(hull.pairs().iter().all(|pair| pairs.contains(pair)));
    }
}

/// What scalarisations of the small problem, starting at depth 1, cover within a memory limit.
fn scalarised(room: usize) -> (FrontFile, Vec<Weight>, Option<Reached>) {
    let front = FrontFile::read(&fixture("front.json")).unwrap();
    let prepared =
        sogar_front::evaluate::reopen(&front, &fixture("people.csv"), &fixture("model.txt").into()).unwrap();
    let made = prepared.problem(&(), &CancelToken::new()).unwrap();
    let plain = Plain::new(&made.problem, prepared.edits().len(), prepared.cost().combine(), None);
    let weights = Weight::drawn(prepared.config().seed, front.cost.unit);
    let known = LeafFronts::new();
    let reached = Scalarisations::new(&plain, weights.clone(), &known, 0, room).search(1, |_, _| ());
    (front, weights, reached)
}

#[test]
fn scalarisations_see_missing_points_of_the_convex_part_and_no_others() {
    let (front, weights, reached) = scalarised(usize::MAX);
    let reached = reached.unwrap();
    none_better(front.claim(), &weights, &reached, true).unwrap();
    let mut missed = 0;
    for number in 0..front.points.len() {
        let mut lacking = front.clone();
        let point = lacking.points.remove(number);
        let attained = reached.best.contains(&(point.cost_sum, point.loss_count as usize));
        match none_better(lacking.claim(), &weights, &reached, true) {
            Ok(()) => missed += 1,
            Err(Defect(text)) => {
                assert!(attained && text.contains("is better than every point"), "{number}: {text}");
            }
        }
    }
    assert!((1..front.points.len()).contains(&missed), "{missed} of {} were missed", front.points.len());
}

#[test]
fn scalarisations_refuse_a_point_that_no_tree_attains_and_a_bound_that_a_tree_undercuts() {
    let (front, weights, reached) = scalarised(usize::MAX);
    let reached = reached.unwrap();
    let mut forged = front.clone();
    forged.points[40].loss_count = 0;
    let Err(Defect(text)) = none_better(forged.claim(), &weights, &reached, true) else {
        panic!("not refused")
    };
    assert!(text.ends_with("a point is better than every tree"), "{text}");
    let mut stopped = front;
    let (costly, all) = (stopped.points[80].cost_sum, stopped.points[0].loss_count);
    stopped.bound = Some(vec![[0, all], [costly, 0]]);
    let Err(Defect(text)) = none_better(stopped.claim(), &weights, &reached, true) else {
        panic!("not refused")
    };
    assert!(text.ends_with("is better than the bound allows"), "{text}");
    stopped.bound = Some(vec![[0, 0]]);
    none_better(stopped.claim(), &weights, &reached, true).unwrap();
}

#[test]
fn scalarisations_say_how_far_they_came() {
    let (mut depths, mut samples) = ([0; 3], 0);
    for room in (0..20).map(|i| i * 25_000) {
        let (front, weights, reached) = scalarised(room);
        let Some(reached) = reached else { continue };
        none_better(front.claim(), &weights, &reached, false).unwrap();
        depths[reached.depth] += 1;
        samples += usize::from(reached.first_tests > 0);
        assert_eq!(reached.best.len(), WEIGHTS);
    }
    assert!(depths.iter().all(|&count| count > 0) && samples > 0, "{depths:?}, {samples}");
    assert!(scalarised(0).2.is_none());
}

/// The report on scalarisations of the small problem if only single leaves had been searched for fronts.
fn reported(change: impl FnOnce(&mut FrontFile)) -> Report {
    let mut front = FrontFile::read(&fixture("front.json")).unwrap();
    change(&mut front);
    let prepared =
        sogar_front::evaluate::reopen(&front, &fixture("people.csv"), &fixture("model.txt").into()).unwrap();
    let made = prepared.problem(&(), &CancelToken::new()).unwrap();
    let plain = Plain::new(&made.problem, prepared.edits().len(), prepared.cost().combine(), None);
    let searched = completeness::Reached { depth: 0, leaf_sets: 1, leaves: LeafFronts::new(), whole: None };
    let mut report = Report::new(0);
    report.completeness = Completeness::Sampled;
    let options = Options { seed: 0, ..Options::default() };
    let test = completeness::Test {
        front: &front,
        prepared: &prepared,
        usual: None,
        groups: None,
        options: &options,
        reporter: &(),
    };
    completeness::scalarisations(&test, &plain, &searched, &mut report);
    report
}

#[test]
fn scalarisations_are_reported_with_what_they_covered() {
    let report = reported(|_| ());
    assert!(report.passed() && report.not_proved.is_empty());
    assert_eq!(
        report.findings[0].text,
        "100 scalarisations (seed 0) over all trees of depth 2 at most, on all 118 rows: no tree is better than the front; \
         they see its convex part only"
    );
}

#[test]
fn a_front_without_its_convex_part_is_refused_by_scalarisations() {
    // Half of the points; all except the ends; all after the middle.
    let keeps: [fn(usize) -> bool; 3] =
        [|number| number % 2 == 0, |number| number == 0 || number == 80, |number| number < 40];
    for keep in keeps {
        let report = reported(|front| {
            let mut number = 0;
            front.points.retain(|_| {
                number += 1;
                keep(number - 1)
            });
        });
        let text = &report.findings[0].text;
        assert!(!report.passed() && text.ends_with("is better than every point"), "{text}");
    }
}
