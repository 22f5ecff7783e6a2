use super::steps::Changes;
use super::*;
use crate::evaluate::evaluate;
use crate::testing::{
    assert_gaps_are_no_trouble, assert_order_does_not_matter, assert_refused, assert_stops_at_once, german,
    prepared, proposals,
};

/// A real x with range 100, and a category; accepted from x = 50 on.
const TABLE: &str = "x,c\n0.0,one\n100.0,two\n20.0,two\n38.0,one\n47.0,two\n60.5,one\n";

fn example(config: &str) -> Prepared {
    prepared(TABLE, config, |row| row[0] >= 50.0)
}

fn fit(prepared: &Prepared) -> Box<dyn Fitted> {
    GlobeCe::default().fit(prepared, 0, &Stop::default()).unwrap()
}

fn assigned(prepared: &Prepared) -> Vec<Assigned> {
    fit(prepared).assign(prepared, prepared.table(), prepared.problem_rows()).unwrap()
}

/// The longest multiple, and where people end up on 1000 steps.
fn walk(prepared: &Prepared, direction: &Direction, rows: &[usize]) -> (f64, Vec<Option<Changes>>) {
    let (moves, black_box) = (Moves::new(prepared), BlackBox::new(prepared));
    let people = people(prepared.table(), rows);
    let mut crowd = Crowd::new(&black_box, &moves, direction, &people);
    let (longest, stopped) = crowd.longest(&Stop::default()).unwrap();
    assert_eq!(stopped, None);
    (longest, smallest_steps(&crowd, &Cells::new(prepared), longest, 1000).unwrap())
}

#[test]
fn a_direction_has_the_length_and_turns_categories_where_worked_out_by_hand() {
    let prepared = example("");
    let moves = Moves::new(&prepared);
    let direction = Direction::scaled(&moves, &[(0, vec![-0.6]), (1, vec![0.3, 0.1])], 2.0);
    let at = |times: f64, before: [f64; 2]| {
        let mut after = before;
        direction.follow(&moves, times, &before, &mut after);
        after
    };
    assert_eq!(at(1.0, [47.0, 1.0]), [35.0, 1.0]);
    assert_eq!(at(1.2499, [47.0, 1.0])[1], 1.0);
    assert_eq!(at(1.25, [47.0, 1.0])[1], 0.0, "first on ties");
    assert_eq!(at(100.0, [47.0, 0.0]), [0.0, 0.0], "the stronger level is never left; x ends with the table");
    assert_eq!(at(0.0, [47.0, 2.0]), [47.0, 2.0], "a category that nobody had is kept for nothing");
    assert_eq!(at(0.01, [f64::NAN, 2.0])[1], 0.0);
    assert!(at(1.0, [f64::NAN, 1.0])[0].is_nan(), "a missing number stays missing");
    let words = direction.words(&moves);
    assert_eq!(words, ["decrease `x` by 12", "set `c` to one (two: from 1.25 times on)"]);
}

#[test]
fn everybody_takes_the_first_step_that_works() {
    let prepared = example("");
    let direction = Direction::scaled(&Moves::new(&prepared), &[(0, vec![1.0])], 1.2);
    let (longest, found) = walk(&prepared, &direction, &[2, 3, 4]);
    assert_eq!(longest, 2.5);
    let step = |index: f64| index * (2.5 / 999.0) * 12.0;
    let to = [50.0, 38.0 + step(400.0), 47.0 + step(100.0)];
    assert_eq!(found, to.map(|to| Some(vec![(0, to)])));
}

#[test]
fn a_direction_that_does_not_matter_is_followed_to_its_end_for_nothing() {
    let prepared = example("");
    let direction = Direction::scaled(&Moves::new(&prepared), &[(1, vec![0.9, 0.1])], 2.0);
    assert_eq!(walk(&prepared, &direction, &[2, 3, 4]), (128.0, vec![None, None, None]));
}

#[test]
fn nearly_everybody_is_enough_for_the_longest_step() {
    // One of 1,001 affected people cannot be helped; 1000/1001 is more than 99.9 %.
    let rows: String =
        (0..1001).map(|i| format!("{},{}\n", i % 10, if i == 7 { "x" } else { "y" })).collect();
    let prepared = prepared(&format!("n,c\n{rows}40,y\n"), "", |row| row[0] >= 20.0 && row[1] == 1.0);
    let direction = Direction::scaled(&Moves::new(&prepared), &[(0, vec![1.0])], 1.0);
    let rows: Vec<usize> = (0..1001).collect();
    let (longest, found) = walk(&prepared, &direction, &rows);
    assert!((longest - 19.5 / 4.0).abs() < 1e-9, "{longest}");
    assert_eq!(found.iter().filter(|found| found.is_none()).count(), 1);
}

#[test]
fn the_fit_finds_the_way_up() {
    let prepared = example("");
    let fitted = fit(&prepared);
    assert_eq!(fitted.status(), FitStatus::Complete);
    let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    assert_eq!((score.loss_count, score.violations, score.coverage, score.parts), (0, 0, 1.0, 1));
    let text = fitted.describe().to_string();
    assert!(text.starts_with("Direction 1: increase `x` by "), "{text}");
    assert!(text.contains("Everybody goes as far as they need to, at most "), "{text}");
}

#[test]
fn what_the_configuration_forbids_is_never_proposed() {
    let table = "x,n,c,b\n0,1,a,no\n3.5,2,b,yes\n9,7,c,no\n10,9,d,yes\n4,5,d,no\n2,9,a,no\n";
    let accepts = |row: &[f64]| row[0] >= 9.0 || row[1] >= 8.0 && row[2] >= 1.0;
    for config in [
        "[features]\nx.immutable = true\n",
        "[features]\nx.direction = \"decrease\"\nn.direction = \"increase\"\n",
        "[features]\nx.range = [1, 5]\nn.range = [2.5, 8.2]\nc.targets = [\"b\", \"d\"]\n",
        "[features.c]\nforbid = [[\"a\", \"b\"], [\"a\", \"c\"], [\"d\", \"a\"]]\n",
    ] {
        let prepared = prepared(table, config, accepts);
        for seed in 0..20 {
            let method = GlobeCe { samples: 20, features: Some(3), ..GlobeCe::default() };
            let fitted = method.fit(&prepared, seed, &Stop::default()).unwrap();
            let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
            let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
            let uncovered = assigned.iter().filter(|assigned| !assigned.covered).count() as u64;
            assert_eq!((score.violations, score.loss_count), (0, uncovered), "{config} {seed}");
        }
    }
}

#[test]
fn a_rule_that_breaks_is_no_success() {
    let prepared = example("rules = [\"x <= 49\"]\n");
    assert!(assigned(&prepared).iter().all(|assigned| !assigned.covered));
}

#[test]
fn nothing_to_move_is_no_result_with_its_reason() {
    // The only editable feature is constant in the table.
    let prepared =
        prepared("x,y\n1,1\n1,2\n1,3\n", "numbers = \"bins\"\n[features]\ny.range = [7, 9]\n", |row| {
            row[1] > 2.0
        });
    let fitted = fit(&prepared);
    assert!(matches!(fitted.status(), FitStatus::NoResult { reason } if reason.contains("no feature")));
    assert_eq!(fitted.assign(&prepared, prepared.table(), &[0]).unwrap(), [Assigned::nothing()]);
    assert!(fitted.describe().to_string().contains("at most 0 times"));
}

#[test]
fn gaps_constants_levels_and_people_nobody_has_seen_are_no_trouble() {
    assert_gaps_are_no_trouble(&GlobeCe::default(), 0, "k.kind = \"real\"\n");
}

#[test]
fn one_person_is_enough() {
    let prepared =
        prepared("x,y\n1,1\n8,1\n9,1\n", "[features]\nx.direction = \"increase\"\n", |row| row[0] > 5.0);
    assert!(assigned(&prepared)[0].covered);
}

#[test]
fn threads_and_batches_change_nothing_and_seeds_do() {
    let method = GlobeCe { samples: 60, ..GlobeCe::default() };
    assert_order_does_not_matter(&method, 7);
    assert_ne!(proposals(&method, &german(), 7, 1).1, proposals(&method, &german(), 8, 1).1);
}

#[test]
fn a_deadline_in_the_past_is_kept_and_told() {
    assert_stops_at_once(&GlobeCe::default());
}

#[test]
fn settings_that_make_no_sense_are_errors() {
    let usual = GlobeCe::default();
    assert_refused(&[
        &GlobeCe { samples: 0, ..usual },
        &GlobeCe { features: Some(0), ..usual },
        &GlobeCe { magnitude: 0.0, ..usual },
        &GlobeCe { magnitude: f64::NAN, ..usual },
        &GlobeCe { power: -1.0, ..usual },
        &GlobeCe { scalars: 1, ..usual },
    ]);
}

#[test]
fn a_common_magnitude_gives_everybody_the_same_change_and_asks_nobody() {
    let prepared = example("[features]\nc.immutable = true\nx.direction = \"increase\"\n");
    let shifts = |reach: Magnitude| {
        let fitted = GlobeCe::library().with_reach(reach).fit(&prepared, 0, &Stop::default()).unwrap();
        let rows = prepared.problem_rows();
        let assigned = fitted.assign(&prepared, prepared.table(), rows).unwrap();
        let text = fitted.describe().to_string();
        assert_eq!(text.contains("Everybody goes equally far, "), reach != Magnitude::Own, "{text}");
        let by = |(row, proposal): (&usize, &Assigned)| proposal.to[0].1 - prepared.table().row(*row)[0];
        rows.iter().zip(&assigned).map(by).collect::<Vec<f64>>()
    };
    let own = shifts(Magnitude::Own);
    let common = shifts(Magnitude::Common);
    let best = shifts(Magnitude::BestCommon);
    let same = |shifts: &[f64]| shifts.iter().all(|shift| (shift - shifts[0]).abs() < 1e-9);
    assert!(!same(&own) && same(&common) && same(&best), "{own:?} {common:?} {best:?}");
    let furthest = own.iter().copied().fold(0.0, f64::max);
    assert!(common[0] >= furthest - 1e-9 && best[0] <= common[0], "{own:?} {common:?} {best:?}");
}

#[test]
fn the_best_common_magnitude_is_no_worse_than_the_common_one() {
    let prepared = german();
    let invalidity = |reach: Magnitude| {
        let fitted = GlobeCe::library().with_reach(reach).fit(&prepared, 3, &Stop::default()).unwrap();
        let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
        let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
        assert_eq!((score.coverage, score.parts), (1.0, 1));
        score.invalidity
    };
    assert!(invalidity(Magnitude::BestCommon) <= invalidity(Magnitude::Common));
}

#[test]
fn directions_without_numbers_leave_numbers_alone() {
    let prepared = german();
    let fitted = GlobeCe { samples: 50, ..GlobeCe::german() }.fit(&prepared, 0, &Stop::default()).unwrap();
    let rows = prepared.problem_rows();
    for proposal in fitted.assign(&prepared, prepared.table(), rows).unwrap() {
        assert!(proposal.to.iter().all(|&(feature, _)| !prepared.table().features[feature].is_ordered()));
    }
}
