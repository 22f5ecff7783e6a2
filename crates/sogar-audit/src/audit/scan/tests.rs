//! The scan against plain enumeration, and how often it finds something where there is nothing.

use super::search::{Candidate, LANES, Plan, ScanColumn, TermRef};
use super::*;

/// People with random codes in some columns (with ordered and unordered conditions), values and weights.
fn example(seed: u64, people: usize, weighted: bool) -> Plan {
    let mut draw = Draw::new(seed, 7);
    let columns = (0..4 + draw.below(2))
        .map(|column| {
            let levels = 2 + draw.below(5);
            let codes: Vec<u32> = (0..people).map(|_| draw.below(levels) as u32).collect();
            let conditions = match column % 2 {
                0 => (0..levels as u32).map(|code| code..code + 1).collect(),
                _ => (1..levels as u32).flat_map(|cut| [0..cut, cut..levels as u32]).collect(),
            };
            ScanColumn { codes, levels, conditions }
        })
        .collect();
    let most = if seed.is_multiple_of(2) { 2 } else { 50 };
    let mut values: Vec<u64> = (0..people).map(|_| draw.below(most) as u64).collect();
    let lowest = values.iter().copied().min().unwrap_or(0);
    values.iter_mut().for_each(|value| *value -= lowest);
    let weights = (0..people).map(|_| if weighted { 1 + draw.below(4) as u64 } else { 1 }).collect();
    Plan {
        columns,
        values,
        weights,
        least: 3 + draw.below(8) as u64,
        max_terms: 1 + draw.below(4),
        bounded: true,
    }
}

/// Every conjunction with at most one condition per column.
fn conjunctions(plan: &Plan) -> Vec<Vec<TermRef>> {
    let mut all: Vec<Vec<TermRef>> = vec![Vec::new()];
    for (column, of_column) in plan.columns.iter().enumerate() {
        let shorter: Vec<Vec<TermRef>> =
            all.iter().filter(|terms| terms.len() < plan.max_terms).cloned().collect();
        for terms in shorter {
            for condition in 0..of_column.conditions.len() {
                all.push([terms.clone(), vec![(column, condition)]].concat());
            }
        }
    }
    all.retain(|terms| !terms.is_empty());
    all
}

/// The studentised gap by its definition, with the value of `from[person]` for each person.
fn studentised(plan: &Plan, members: &[bool], from: &[u32]) -> Option<f64> {
    let people = plan.values.len();
    let value = |person: usize| plan.values[from[person] as usize] as f64;
    let weight = |person: usize| plan.weights[person] as f64;
    let sum = |of: &dyn Fn(usize) -> f64| (0..people).map(of).sum::<f64>();
    let inside = |person: usize| if members[person] { 1.0 } else { 0.0 };
    let (whole, here) = (sum(&weight), sum(&|person| inside(person) * weight(person)));
    if here < plan.least as f64 || whole - here < plan.least as f64 {
        return None;
    }
    let mean = sum(&|person| weight(person) * value(person)) / whole;
    let deviation = sum(&|person| inside(person) * weight(person) * (value(person) - mean));
    let plain = sum(&value) / people as f64;
    let variance = sum(&|person| (value(person) - plain).powi(2)) / (people as f64 - 1.0);
    let q = sum(&|person| (weight(person) * (inside(person) - here / whole)).powi(2));
    Some(deviation / (variance * q).sqrt())
}

fn lanes(plan: &Plan, count: usize) -> Vec<Vec<u32>> {
    (0..count).map(|shuffle| shuffled(plan.values.len(), 3, shuffle)).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 || a == b
}

#[test]
fn a_scan_of_every_shuffle_equals_enumeration() {
    for seed in 0..60 {
        let plan = example(seed, 40 + 10 * (seed as usize % 5), seed % 3 == 0);
        let lanes = lanes(&plan, 5);
        let found = plan.scan::<i32>(&lanes, true, &CancelToken::new()).unwrap();
        let all = conjunctions(&plan);
        for (lane, from) in lanes.iter().enumerate() {
            let best = all
                .iter()
                .filter_map(|terms| studentised(&plan, &plan.members(terms), from))
                .fold(f64::NEG_INFINITY, f64::max);
            assert!(close(found.best[lane], best), "seed {seed}, lane {lane}: {} {best}", found.best[lane]);
        }
        if let Some(Candidate { z, terms }) = found.ranked.first() {
            assert!(close(*z, found.best[0]));
            assert!(close(*z, studentised(&plan, &plan.members(terms), &lanes[0]).unwrap()), "seed {seed}");
        }
    }
}

#[test]
fn the_bound_rules_out_work_and_changes_no_result() {
    let mut saved = 0;
    for seed in 0..120 {
        let mut plan = example(seed, 80, seed % 2 == 0);
        plan.max_terms = 3 + seed as usize % 2;
        plan.least = 1;
        let lanes = lanes(&plan, 3);
        let with = plan.scan::<i32>(&lanes, false, &CancelToken::new()).unwrap();
        plan.bounded = false;
        let without = plan.scan::<i64>(&lanes, false, &CancelToken::new()).unwrap();
        assert_eq!(with.best, without.best, "seed {seed}");
        saved += without.evaluated - with.evaluated;
        plan.bounded = true;
        let ranked = plan.scan::<i64>(&lanes, true, &CancelToken::new()).unwrap();
        assert_eq!(ranked.best, without.best, "seed {seed}, ranked");
    }
    assert!(saved > 0);
}

#[test]
fn shuffles_keep_everyones_value_and_follow_from_the_seed() {
    let mut order = shuffled(100, 5, 1);
    assert_eq!(order, shuffled(100, 5, 1));
    assert_ne!(order, shuffled(100, 5, 2));
    assert_eq!(shuffled(4, 5, 0), [0, 1, 2, 3]);
    order.sort_unstable();
    assert_eq!(order, (0..100).collect::<Vec<u32>>());
}

#[test]
fn people_who_are_all_alike_have_no_worst_subgroup() {
    let mut plan = example(1, 50, false);
    plan.values = vec![0; 50];
    let found = plan.scan::<i32>(&lanes(&plan, 1), true, &CancelToken::new()).unwrap();
    assert!(found.ranked.is_empty() && found.best[0] == f64::NEG_INFINITY);
}

#[test]
fn a_cancelled_scan_returns_nothing() {
    let plan = example(2, 50, false);
    let cancel = CancelToken::new();
    cancel.cancel();
    assert!(plan.scan::<i32>(&lanes(&plan, 1), true, &cancel).is_none());
}

/// The p-value of the largest studentised gap, as [`Scanner`] computes it.
fn p_of_the_largest(plan: &Plan, seed: u64, permutations: usize) -> f64 {
    let blocks = (0..permutations + 1).step_by(LANES).map(|start| {
        let lanes: Vec<Vec<u32>> = (start..(start + LANES).min(permutations + 1))
            .map(|shuffle| shuffled(plan.values.len(), seed, shuffle))
            .collect();
        plan.scan::<i32>(&lanes, false, &CancelToken::new()).unwrap().best
    });
    let best: Vec<f64> = blocks.flatten().take(permutations + 1).collect();
    let as_bad = best[1..].iter().filter(|&&other| other >= best[0]).count();
    (as_bad + 1) as f64 / (permutations + 1) as f64
}

/// 200 tables in which values have nothing to do with the columns: with a level of 5 %, 10 discoveries are expected, and more
/// than 17 have a probability of 1 %.
#[test]
#[ignore = "a campaign of some minutes: make test-full"]
fn where_there_is_nothing_a_scan_finds_something_in_five_percent_of_tables() {
    let discoveries = (0..200u64)
        .into_par_iter()
        .filter(|&table| {
            let mut plan = example(table, 400, false);
            plan.max_terms = 3;
            plan.least = 10;
            p_of_the_largest(&plan, 1000 + table, 999) <= 0.05
        })
        .count();
    assert!(discoveries <= 17, "{discoveries} discoveries in 200 tables without any");
}

#[test]
fn a_planted_subgroup_is_found() {
    let mut plan = example(3, 600, false);
    plan.max_terms = 2;
    let planted = [(0, 0), (1, 0)];
    let members = plan.members(&planted);
    plan.values = members.iter().enumerate().map(|(at, &inside)| u64::from(inside || at % 5 == 0)).collect();
    let found = plan.scan::<i32>(&lanes(&plan, 1), true, &CancelToken::new()).unwrap();
    assert_eq!(plan.members(&found.ranked[0].terms), members);
    assert!(p_of_the_largest(&plan, 1, 199) <= 0.005 + 1e-12);
}

#[test]
fn measures_without_a_mean_cannot_be_scanned() {
    assert_eq!("loss".parse::<ScanMeasure>().unwrap(), ScanMeasure::Basic(MeasureName::Loss));
    assert_eq!("reached(0.2)".parse::<ScanMeasure>().unwrap(), ScanMeasure::Unreached(0.2));
    let error = "ks".parse::<ScanMeasure>().unwrap_err();
    assert_eq!(error.to_string(), "a scan cannot compare `ks`");
}
