use rayon::ThreadPoolBuilder;
use sogar::actions::{Change, Edit};
use std::time::Instant;

use super::anneal::{Step, acceptance};
use super::*;
use crate::evaluate::evaluate;
use crate::testing::{german, prepared};

/// x = 1..10, so that Q(v) = v/10; accepted from 5 on.
fn ten() -> Prepared {
    prepared("x\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "", |row| row[0] >= 5.0)
}

/// Quick enough for tests.
fn small() -> Cet {
    Cet { iterations: 60, neighbours: 200, ..Cet::default() }
}

fn shifted(fitted: &dyn Fitted, prepared: &Prepared) -> Vec<Vec<(usize, f64)>> {
    let assigned = fitted.assign(prepared, prepared.table(), prepared.problem_rows()).unwrap();
    assert!(assigned.iter().all(|proposal| proposal.covered && proposal.part.is_some()));
    assigned.into_iter().map(|proposal| proposal.to).collect()
}

#[test]
fn the_best_action_of_a_leaf_weighs_cost_against_failures() {
    let prepared = ten();
    let settings = Cet::exact();
    let adviser = Adviser::new(&prepared, &settings, None);
    // The rows with x = 2 and x = 4: staying scores 2, +1 scores 0.2 + 1, +3 scores 0.6, +4 scores 0.8.
    let wanted = |position: &usize| {
        [2.0, 4.0].contains(&prepared.table().values[0][prepared.problem_rows()[*position]])
    };
    let rows = sogar_solver::RowSet::from_fn(prepared.problem_rows().len(), wanted);
    let leaf = adviser.advise(&rows, &Stop::default()).unwrap();
    let shift = Change::shift(3.0, 1.0, 10.0);
    assert_eq!(leaf.edits, [Edit { feature: 0, change: shift, followers: vec![] }]);
    assert_eq!((leaf.rows, leaf.cost, leaf.loss), (2, 6, 0), "in tenths");
    // A failure with a small weight is accepted: staying scores 0.2.
    let careless = Cet { loss_weight: 0.1, ..Cet::exact() };
    let leaf = Adviser::new(&prepared, &careless, None).advise(&rows, &Stop::default()).unwrap();
    assert_eq!((leaf.edits.len(), leaf.cost, leaf.loss), (0, 0, 2));
}

#[test]
fn a_model_without_scores_has_lines_too() {
    let prepared = ten();
    let settings = Cet { neighbours: 2000, ..Cet::default() };
    let surrogate = Surrogate::fit(&prepared, &settings, 0, &Stop::default()).unwrap();
    assert!(surrogate.is_complete());
    for line in surrogate.lines.iter().flatten() {
        assert!(line.margin == -0.5 && line.slopes[0] > 0.01, "{line:?}");
    }
}

#[test]
fn people_with_lines_speak_for_those_without() {
    let prepared = ten();
    let settings = Cet { neighbours: 2000, ..Cet::default() };
    let mut surrogate = Surrogate::fit(&prepared, &settings, 0, &Stop::default()).unwrap();
    // A line that is as sure as the model: one more is enough for x = 4. The others have none.
    for (line, &row) in surrogate.lines.iter_mut().zip(prepared.problem_rows()) {
        let slopes = vec![0.6];
        *line = (prepared.table().values[0][row] == 4.0).then_some(surrogate::Line { margin: -0.5, slopes });
    }
    assert!(!surrogate.is_complete());
    let adviser = Adviser::new(&prepared, &settings, Some(surrogate));
    let leaf = adviser.advise(&sogar_solver::RowSet::full(4), &Stop::default()).unwrap();
    assert!(matches!(leaf.edits[..], [Edit { change: Change::Shift { by: 1.0, .. }, .. }]));
    assert_eq!((leaf.rows, leaf.cost, leaf.loss), (4, 4, 3), "and everybody is counted");
}

#[test]
fn steps_are_as_likely_as_published() {
    let cet = Cet::default();
    assert_eq!(cet.most_leaves(), 51.0);
    assert_eq!(Cet { leaf_price: 0.01, ..Cet::default() }.most_leaves(), 101.0);
    // Five leaves: insert 0.601, delete 0.065, replace 0.333.
    let steps = [0.0, 0.601, 0.602, 0.666, 0.667, 0.999].map(|chance| cet.step(5, chance));
    use Step::{Delete, Insert, Replace};
    assert_eq!(steps, [Insert, Insert, Delete, Delete, Replace, Replace]);
    assert_eq!([0.0, 0.5, 0.999].map(|chance| cet.step(1, chance)), [Insert; 3], "a lone leaf");
    assert_eq!([0.0, 0.499, 0.5].map(|chance| cet.step(51, chance)), [Delete, Delete, Replace]);
    let free = Cet { leaf_price: 0.0, ..Cet::default() };
    assert_eq!([0.66, 0.67].map(|chance| free.step(900, chance)), [Insert, Replace], "no most");
}

#[test]
fn worse_trees_are_accepted_less_and_less() {
    let chance = |iteration| acceptance(0.5, 0.6, iteration, 3000);
    assert!((chance(0) - 0.905).abs() < 5e-4 && (chance(1500) - 0.368).abs() < 5e-4);
    assert!(chance(2999) < 1e-4);
    assert!(acceptance(0.6, 0.5, 2999, 3000) >= 1.0);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |cet: Cet, word: &str| {
        let error = cet.fit(&ten(), 0, &Stop::default()).err().unwrap();
        assert!(error.to_string().contains(word) && error.remedy().is_some(), "{error}");
    };
    refused(Cet { leaf_price: -1.0, ..Cet::default() }, "leaf_price");
    refused(Cet { loss_weight: f64::NAN, ..Cet::default() }, "loss_weight");
    refused(Cet { ridge: f64::INFINITY, ..Cet::default() }, "ridge");
    refused(Cet { max_edits: 0, ..Cet::default() }, "max_edits");
    refused(Cet { bins: 0, ..Cet::default() }, "bins");
    refused(Cet { start_depth: 60, ..Cet::default() }, "start_depth");
}

#[test]
fn a_small_table_is_solved_in_full() {
    let prepared = ten();
    // Everybody may go up by 4; one leaf for x < 4 would let x = 4 go up by 1 only, and pays.
    let fitted = Cet { leaf_price: 0.001, ..Cet::exact() }.fit(&prepared, 3, &Stop::default()).unwrap();
    assert_eq!(fitted.status(), FitStatus::Complete);
    let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    assert_eq!((score.loss_count, score.violations, score.coverage), (0, 0, 1.0));
    // Questions split below 2 and below 4: 1 → 5, {2, 3} + 3, 4 → 5.
    assert_eq!((score.cost_sum, score.parts), (4 + 3 + 3 + 1, 3));
    let text = fitted.describe().to_string();
    assert!(
        text.contains("if `x` is at most 3:") && text.contains("increase `x` by 4 (works for 1 of 1 person)"),
        "{text}"
    );
}

#[test]
fn unusual_tables_are_no_trouble() {
    // Missing numbers, a constant, a pair of values, a category, an ordinal, and an immutable feature.
    let table = "n,k,b,c,o,i\n,7,0,u,low,1\n2,7,1,v,mid,2\n3.5,7,0,u,low,3\n,7,1,w,high,4\n8,7,0,u,high,5\n9,7,1,v,mid,6\n";
    let config =
        "[features]\no = { kind = \"ordinal\", levels = [\"low\", \"mid\", \"high\"] }\ni.immutable = true\n";
    let prepared = prepared(table, config, |row| row[0] > 5.0 || row[4] == 2.0);
    for settings in [small(), Cet { exact: true, ..small() }] {
        let fitted = settings.fit(&prepared, 1, &Stop::default()).unwrap();
        assert_eq!(fitted.status(), FitStatus::Complete);
        let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
        let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
        assert_eq!((score.violations, score.coverage), (0, 1.0));
        // People unlike anyone seen: a category and a number beyond all known ones.
        let strangers = FeatureTable {
            features: prepared.table().features.clone(),
            values: vec![vec![99.0], vec![7.0], vec![0.0], vec![3.0], vec![f64::NAN], vec![0.0]],
            rows: 1,
            weights: None,
        };
        let proposal = fitted.assign(&prepared, &strangers, &[0]).unwrap();
        let score = evaluate(&prepared, &strangers, &[0], &proposal).unwrap();
        assert_eq!(score.violations, 0);
    }
}

#[test]
fn one_person_and_no_question_are_enough() {
    let lonely = prepared("x\n1\n5\n6\n5\n", "", |row| row[0] >= 3.0);
    let fitted = Cet { exact: true, ..small() }.fit(&lonely, 0, &Stop::default()).unwrap();
    assert_eq!(shifted(&*fitted, &lonely), [[(0, 3.0)]]);
    let silent = prepared("x\n1\n2\n3\n", "[features]\nx.split = false\n", |row| row[0] >= 3.0);
    let fitted = Cet { exact: true, ..small() }.fit(&silent, 0, &Stop::default()).unwrap();
    // Nobody may leave the range together but by 1, and then only one of the two arrives.
    assert_eq!(shifted(&*fitted, &silent), [[(0, 2.0)], [(0, 3.0)]]);
}

#[test]
fn rules_count_as_failures() {
    let table = "x\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    let ruled = prepared(table, "rules = [\"x <= 4\"]\n", |row| row[0] >= 5.0);
    let fitted = Cet { exact: true, ..small() }.fit(&ruled, 0, &Stop::default()).unwrap();
    assert!(shifted(&*fitted, &ruled).iter().all(Vec::is_empty), "every person helped breaks the rule");
}

#[test]
fn a_deadline_that_has_passed_gives_a_tree_that_changes_nothing() {
    let prepared = ten();
    let stop = Stop { deadline: Some(Instant::now()), ..Stop::default() };
    for settings in [Cet::default(), Cet::exact()] {
        let fitted = settings.fit(&prepared, 0, &stop).unwrap();
        assert_eq!(fitted.status(), FitStatus::TimeLimit);
        assert!(shifted(&*fitted, &prepared).iter().all(Vec::is_empty));
        assert_eq!(fitted.describe().to_string(), "→ no change (works for 0 of 4 people)\n");
    }
    let stop = Stop::default();
    stop.cancel.cancel();
    assert_eq!(Cet::default().fit(&prepared, 0, &stop).unwrap().status(), FitStatus::Cancelled);
}

#[test]
fn the_seed_alone_decides_whatever_the_threads() {
    let prepared = german();
    let run = |threads: usize, seed: u64| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let fitted = small().fit(&prepared, seed, &Stop::default()).unwrap();
            (shifted(&*fitted, &prepared), fitted.describe())
        })
    };
    let one = run(1, 7);
    assert_eq!(one, run(4, 7));
    assert_ne!(one.1, run(2, 8).1);
}

#[test]
fn leaves_say_what_the_evaluator_finds() {
    let prepared = german();
    let fitted = small().fit(&prepared, 0, &Stop::default()).unwrap();
    let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    let Description::Tree { leaves, .. } = fitted.describe() else { panic!("a tree") };
    assert_eq!(leaves.iter().map(|leaf| leaf.rows).sum::<usize>(), prepared.problem_rows().len());
    let flipped: usize = leaves.iter().map(|leaf| leaf.flipped).sum();
    assert_eq!(score.loss_count as usize, prepared.problem_rows().len() - flipped);
    assert_eq!((score.violations, score.coverage), (0, 1.0));
    assert!(score.invalidity < 1.0 && score.sparsity <= 3.0, "{score:?}");
}
