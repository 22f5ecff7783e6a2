//! Plausible people: the filter against its definition, row by row, and what it finds.

use std::path::Path;
use std::sync::Arc;

use sogar::CancelToken;
use sogar::config::{Config, Link};
use sogar::model::{Answers, Callback, LoadedModel, ModelInfo};
use sogar::pipeline::{Prepared, Search};
use sogar::table::{Column, Table};
use sogar_solver::exhaustive;

use crate::assurance::{accepted, trees};
use crate::people::{Draw, People, config, model, weighing};

/// How usual rows are in the user's own words.
fn function() -> LoadedModel {
    let info: ModelInfo = model(0.0).predictor.info().clone();
    let number = |row: &[f64]| (row[1] - row[0]).round() + 5.0 * f64::from(row[2] == 1.0);
    Callback::new(info, move |rows| Ok(Answers::Scores(rows.iter().map(number).collect())))
        .into_model("usual", b"usual")
}

/// The share of people in the table who are less usual than a row, as a pair of weights.
fn share(prepared: &Prepared, row: &[f64]) -> (u64, u64) {
    let (table, plausibility) = (prepared.table(), prepared.plausibility().unwrap());
    let number = |row: Vec<f64>| plausibility.measured(&[row]).unwrap()[0];
    let own = number(row.to_vec());
    let mut less = (0, 0);
    for other in 0..table.rows {
        let weight = u64::from(table.weight(other));
        less.0 += weight * u64::from(number(table.row(other)) < own);
        less.1 += weight;
    }
    less
}

#[test]
fn the_filter_is_its_definition_on_random_problems() {
    let mut draw = Draw(41);
    let (mut problems, mut excluded, mut kept) = (0, 0, 0);
    while problems < 60 {
        let people = People::drawn(&mut draw, 40);
        let weights = draw.below(3) == 0;
        let table = if weights {
            people.weighted(1.0)
        } else {
            Table::from_columns("people", people.columns()).unwrap()
        };
        let mut config = config(&mut draw);
        if weights {
            config = weighing(config);
        }
        config.seed = draw.below(1000);
        if draw.below(3) == 0 {
            config.data.codes = vec![3.0]; // a debt of 3 is no amount
        }
        if draw.below(3) == 0 {
            config.links.push(Link { from: "debt".into(), to: "income".into(), factor: 0.5 });
        }
        let limit = [50_000, 200_000, 500_000][draw.below(3) as usize];
        config.plausibility.min_plausibility = Some(f64::from(limit) / 1e6);
        let mut first = if problems % 3 == 0 { model(8.0) } else { trees(&mut draw) };
        if problems % 4 == 0 {
            config.plausibility.function = true;
            first.usual = Some(Arc::new(function()));
        }
        let Ok(prepared) = Prepared::new(config, Path::new(""), &table, first, None) else { continue };
        let made = prepared.problem(&(), &CancelToken::new()).unwrap();
        let number =
            |row: &Vec<f64>| prepared.plausibility().unwrap().measured(std::slice::from_ref(row)).unwrap()[0];
        for (position, &row) in prepared.everybody().rows.iter().enumerate().take(8) {
            let before = prepared.table().row(row);
            for action in 1..made.actions.len() {
                let mut after = before.clone();
                for &edit in made.actions.get(action) {
                    prepared.edits()[edit as usize].apply(&mut after);
                }
                let (less, all) = share(&prepared, &after);
                let below = u128::from(less) * 1_000_000 < u128::from(limit as u32) * u128::from(all);
                let fails = below && number(&after) < number(&before);
                let works = accepted(&prepared, &after, 1);
                assert_eq!(
                    made.problem.flips(action, position),
                    works && !fails,
                    "row {row}, action {action}"
                );
                excluded += u64::from(works && fails);
                kept += u64::from(works && !fails);
            }
        }
        if problems % 6 == 0 {
            let front = Search(&prepared).solve(&(), &CancelToken::new()).unwrap();
            let found: Vec<(u64, u64)> =
                front.points.iter().map(|point| (point.cost_sum, point.loss_count)).collect();
            let expected: Vec<(u64, u64)> =
                exhaustive::front(&made.problem).iter().map(|point| (point.cost, point.loss)).collect();
            assert_eq!(found, expected);
        }
        problems += 1;
    }
    assert!(excluded > 300 && kept > 300, "{excluded} {kept}");
}

#[test]
fn a_row_that_counts_twice_is_as_two_rows() {
    let mut draw = Draw(5);
    let people = People::drawn(&mut draw, 60);
    let mut config = Config::default();
    config.plausibility.min_plausibility = Some(0.1);
    let one = Prepared::new(weighing(config.clone()), Path::new(""), &people.weighted(1.0), model(8.0), None)
        .unwrap();
    let two = Prepared::new(config, Path::new(""), &people.repeated(), model(8.0), None).unwrap();
    let (one, two) = (one.plausibility().unwrap(), two.plausibility().unwrap());
    assert_eq!((&one.hash, one.floor), (&two.hash, two.floor));
}

/// Students are young, pensioners old, and only the employed have a salary. Age and work are independent of the other columns.
fn lives(draw: &mut Draw, rows: usize) -> Table {
    let mut columns: [Vec<f64>; 3] = Default::default();
    let mut work = Vec::new();
    for _ in 0..rows {
        let kind = ["student", "employed", "pensioner"][draw.below(3) as usize];
        let age = match kind {
            "student" => 18 + draw.below(10),
            "employed" => 25 + draw.below(40),
            _ => 63 + draw.below(25),
        };
        work.push(Some(kind));
        columns[0].push(age as f64);
        columns[1].push(if kind == "employed" { 1500.0 + draw.below(3000) as f64 } else { 0.0 });
        columns[2].push(draw.below(20) as f64);
    }
    let [age, salary, years] = columns;
    Table::from_columns(
        "lives",
        vec![
            Column::numbers("age", age),
            Column::text("work", work.into_iter()),
            Column::numbers("salary", salary),
            Column::numbers("years", years),
        ],
    )
    .unwrap()
}

#[test]
fn planted_impossible_combinations_are_found_and_real_rows_are_kept() {
    let mut draw = Draw(9);
    let table = lives(&mut draw, 1500);
    let info = ModelInfo {
        format: "function".into(),
        description: "years".into(),
        columns: vec!["years".into()],
        categories: vec![vec![]],
        unplaced_categories: vec![],
        classes: 2,
        class_names: vec![],
        threshold: Some(10.0),
    };
    let years = Callback::new(info, |rows| Ok(Answers::Scores(rows.iter().map(|row| row[0]).collect())))
        .into_model("model", b"years");
    let mut found = Vec::new();
    for seed in 0..5 {
        let mut config = Config { seed, ..Config::default() };
        config.plausibility.min_plausibility = Some(0.05);
        let prepared = Prepared::new(config, Path::new(""), &table, years.clone(), None).unwrap();
        let (people, plausibility) = (prepared.table(), prepared.plausibility().unwrap());
        let levels = people.features[1].levels();
        let is = |row: &[f64], work: &str| levels[row[1] as usize] == work;
        let level = |work: &str| levels.iter().position(|level| level == work).unwrap() as f64;
        let rows: Vec<Vec<f64>> = (0..people.rows).map(|row| people.row(row)).collect();
        // Old students with a salary, and young pensioners with one: every value is common, no person has them together.
        let planted: Vec<(Vec<f64>, Vec<f64>)> = rows
            .iter()
            .filter(|row| is(row, "employed") && (row[0] > 55.0 || row[0] < 35.0))
            .map(|row| {
                let mut impossible = row.clone();
                impossible[1] = level(if row[0] > 55.0 { "student" } else { "pensioner" });
                (row.clone(), impossible)
            })
            .collect();
        let (before, after): (Vec<_>, Vec<_>) = planted.into_iter().unzip();
        let holds = plausibility.hold(&before, &after).unwrap();
        found.push(holds.iter().filter(|holds| !**holds).count() as f64 / holds.len() as f64);
        // A real row is never less usual than itself, and an edit that makes a row more usual never counts against it.
        assert!(plausibility.hold(&rows, &rows).unwrap().into_iter().all(|holds| holds));
        let below = rows.iter().filter(|row| {
            let (less, all) = plausibility.less_usual(plausibility.measured(&[row.to_vec()]).unwrap()[0]);
            less * 20 < all
        });
        let share = below.count() as f64 / rows.len() as f64;
        assert!((0.04..0.07).contains(&share), "{share} of real rows are below the limit of 5 %");
    }
    assert!(found.iter().all(|&share| share > 0.8), "found {found:?} of the planted rows");
}

#[test]
fn a_measure_that_is_no_finite_number_is_refused() {
    let mut draw = Draw(5);
    let table = Table::from_columns("people", People::drawn(&mut draw, 60).columns()).unwrap();
    let mut config = Config::default();
    config.plausibility.min_plausibility = Some(0.1);
    config.plausibility.function = true;
    let info = function().predictor.info().clone();
    let endless =
        Callback::new(info, |rows| Ok(Answers::Scores(rows.iter().map(|row| 1.0 / row[0]).collect())));
    let mut first = model(8.0);
    let missing = Prepared::new(config.clone(), Path::new(""), &table, first.clone(), None).err().unwrap();
    assert!(missing.to_string().contains("comes from a function of the Python package"), "{missing}");
    first.usual = Some(Arc::new(endless.into_model("usual", b"usual")));
    let error = Prepared::new(config, Path::new(""), &table, first, None).err().unwrap();
    assert!(error.to_string().contains("of a call is inf"), "{error}");
}
