use super::*;
use crate::evaluate::evaluate;
use crate::testing::{german, person, prepared};

/// Ten rows of x and z, worked out by hand; f = 1 iff x > 5.5, except at (7, 5).
const TABLE: &str = "x,z\n1,0\n2,3\n4,1\n5,5\n6,1\n7,2\n9,0\n6,3\n8,4\n7,5\n";

fn example(config: &str) -> Prepared {
    prepared(TABLE, config, |row| row[0] > 5.5 && row != [7.0, 5.0])
}

/// At least three of the ten rows in a rule.
fn method(purity: f64) -> TCrex {
    TCrex { feasibility: 0.3, ..TCrex::with_purity(purity) }
}

fn fit(method: TCrex, prepared: &Prepared) -> Box<dyn Fitted> {
    method.fit(prepared, 0, &Stop::default()).unwrap()
}

fn regions(fitted: &dyn Fitted) -> Vec<(Vec<String>, f64, f64)> {
    let Description::Regions { regions, .. } = fitted.describe() else { panic!("not regions") };
    regions.into_iter().map(|region| (region.conditions, region.accuracy, region.feasibility)).collect()
}

#[test]
fn every_node_of_the_example_is_as_worked_out_by_hand() {
    let prepared = example("");
    let axes = [Axis::Ordered, Axis::Ordered];
    let labels = [0, 0, 0, 0, 1, 1, 1, 1, 1, 0];
    let points = Points { axes: &axes, values: &prepared.table().values, labels: &labels, classes: 2 };
    let tree = cart::grow(&points, method(0.9).least_rows(10), &Stop::default());
    let counts: Vec<(usize, usize)> =
        tree.nodes.iter().map(|node| (node.counts[1], node.counts[0] + node.counts[1])).collect();
    // root .5/1, left 0/.4, right .833/.6, right-low 1/.3, right-high .667/.3
    assert_eq!(counts, [(5, 10), (0, 4), (5, 6), (3, 3), (2, 3)]);
    let questions: Vec<_> = tree.nodes.iter().filter_map(|node| node.split).map(|(ask, _)| ask).collect();
    let at_most = |feature, bound| cart::Question::AtMost { feature, bound };
    assert_eq!(questions, [at_most(0, 5.5), at_most(1, 2.5)]);
}

#[test]
fn the_purer_rule_asks_for_two_changes() {
    let prepared = example("");
    let fitted = fit(method(0.9), &prepared);
    assert_eq!(fitted.status(), FitStatus::Complete);
    let conditions = vec!["`x` > 5.5".to_owned(), "`z` ≤ 2.5".to_owned()];
    assert_eq!(regions(&*fitted), [(conditions, 1.0, 0.3)]);
    let assigned = fitted.assign(&prepared, &person(&prepared, &[3.0, 4.0]), &[0]).unwrap();
    assert_eq!(assigned, [Assigned { to: vec![(0, 6.0), (1, 2.0)], part: Some(0), covered: true }]);
}

#[test]
fn the_laxer_rule_contains_the_purer_one_and_asks_for_one_change() {
    let prepared = example("");
    let fitted = fit(method(0.8), &prepared);
    assert_eq!(regions(&*fitted), [(vec!["`x` > 5.5".to_owned()], 5.0 / 6.0, 0.6)]);
    let assigned = fitted.assign(&prepared, &person(&prepared, &[3.0, 4.0]), &[0]).unwrap();
    assert_eq!(assigned[0].to, [(0, 6.0)]);
    // (7, 5) is inside already: the identity, which fails.
    let assigned = fitted.assign(&prepared, prepared.table(), &[9]).unwrap();
    assert_eq!(assigned, [Assigned { to: vec![], part: Some(0), covered: true }]);
    let score = evaluate(&prepared, prepared.table(), &[9], &assigned).unwrap();
    assert_eq!((score.cost_sum, score.loss_count, score.coverage), (0, 1, 1.0));
}

#[test]
fn the_whole_example_scores_as_counted_by_hand() {
    let prepared = example("");
    let fitted = fit(method(0.8), &prepared);
    let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    // x = 1, 2, 4, 5 go to 6: from 1, 2, 3, 4 rows at most to 6 rows; (7, 5) stays. (6, 5) is accepted.
    assert_eq!((score.cost_sum, score.loss_count), (5 + 4 + 3 + 2, 1));
    assert_eq!((score.sparsity, score.parts), (0.8, 1));
}

#[test]
fn constraints_rule_out_rules_and_leave_people_uncovered() {
    let prepared = example("[features]\nx.direction = \"decrease\"\n");
    let free = fit(method(0.8), &prepared);
    let constrained = fit(TCrex { constrained: true, ..method(0.8) }, &prepared);
    let rows = prepared.problem_rows();
    let assigned = constrained.assign(&prepared, prepared.table(), rows).unwrap();
    assert_eq!(assigned.iter().filter(|assigned| assigned.covered).count(), 1, "only (7, 5), who stays");
    assert_eq!(assigned[0], Assigned::nothing());
    let score = evaluate(&prepared, prepared.table(), rows, &assigned).unwrap();
    assert_eq!((score.cost_sum, score.violations, score.coverage), (0, 0, 0.2));
    let assigned = free.assign(&prepared, prepared.table(), rows).unwrap();
    assert_eq!(evaluate(&prepared, prepared.table(), rows, &assigned).unwrap().violations, 4);
    let text = constrained.describe().to_string();
    assert!(text.ends_with("if `x` ≤ 5.5:\n  → no proposal\nelse:\n  → region 1\n"), "{text}");
}

#[test]
fn a_category_goes_to_the_commonest_allowed_one() {
    // Accepted are b and c; b is commoner. Nobody above is turned down.
    let table = "n,c\n1,a\n1,a\n1,b\n1,b\n1,b\n1,c\n1,c\n1,a\n2,a\n";
    let prepared = prepared(table, "[features.c]\nforbid = [[\"a\", \"b\"]]\n", |row| row[1] >= 1.0);
    let method = TCrex { feasibility: 0.2, ..TCrex::with_purity(0.9) };
    let fitted = fit(method, &prepared);
    assert_eq!(regions(&*fitted), [(vec!["`c` is not a".to_owned()], 1.0, 5.0 / 9.0)]);
    let to = |fitted: &dyn Fitted, values: &[f64]| {
        fitted.assign(&prepared, &person(&prepared, values), &[0]).unwrap()[0].to.clone()
    };
    assert_eq!(to(&*fitted, &[1.0, 0.0]), [(1, 1.0)]);
    assert_eq!(to(&*fitted, &[1.0, 3.0]), [], "a category that nobody had is not a");
    let constrained = fit(TCrex { constrained: true, ..method }, &prepared);
    assert_eq!(to(&*constrained, &[1.0, 0.0]), [(1, 2.0)], "a → b is forbidden");
}

#[test]
fn nothing_pure_enough_is_no_result_with_its_reason() {
    let prepared = prepared("x,y\n1,1\n1,2\n1,3\n1,4\n", "", |row| row[1] == 2.0);
    let fitted = fit(TCrex { feasibility: 0.5, ..TCrex::with_purity(0.9) }, &prepared);
    assert!(matches!(fitted.status(), FitStatus::NoResult { reason } if reason.contains("90 %")));
    let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
    assert!(assigned.iter().all(|assigned| !assigned.covered));
    assert_eq!(fitted.describe().to_string(), "");
}

#[test]
fn settings_that_make_no_sense_are_errors() {
    let prepared = example("");
    for bad in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(method(bad).fit(&prepared, 0, &Stop::default()).is_err());
        let method = TCrex { feasibility: bad, ..method(0.9) };
        assert!(method.fit(&prepared, 0, &Stop::default()).is_err());
    }
}

#[test]
fn a_cancelled_fit_says_so() {
    let stop = Stop::default();
    stop.cancel.cancel();
    let fitted = method(0.9).fit(&example(""), 0, &stop).unwrap();
    assert_eq!(fitted.status(), FitStatus::Cancelled);
}

#[test]
fn a_product_of_shares_is_not_rounded_up() {
    let least = |feasibility: f64, rows| TCrex { feasibility, ..method(0.9) }.least_rows(rows);
    assert_eq!((least(0.07, 100), least(0.02, 1000), least(0.02, 1001)), (7, 20, 21));
    assert_eq!(least(1e-12, 10), 1);
}

/// Follows the tests for a row; parses their texts, which only works for simple ones.
fn follow(guide: &Guide, holds: &dyn Fn(&str) -> bool) -> Option<u32> {
    match guide {
        Guide::Part(part) => *part,
        Guide::Ask { condition, yes, no } => follow(if holds(condition) { yes } else { no }, holds),
    }
}

fn holds(condition: &str, row: &[f64], features: &[Feature]) -> bool {
    let (name, rest) = condition[1..].split_once("` ").unwrap();
    let index = features.iter().position(|feature| feature.name == name).unwrap();
    let plain = |text: &str| text.trim_matches(['“', '”']).to_owned();
    if let Some(bound) = rest.strip_prefix("≤ ") {
        row[index] <= bound.parse().unwrap()
    } else if let Some(level) = rest.strip_prefix("at most ") {
        row[index] <= features[index].level_index(&plain(level)).unwrap() as f64
    } else {
        row[index] == features[index].level_index(&plain(rest.strip_prefix("is ").unwrap())).unwrap() as f64
    }
}

#[test]
fn on_german_credit_it_covers_everybody_and_its_questions_lead_where_people_are_sent() {
    let prepared = german();
    let mut losses = Vec::new();
    for purity in [0.9, 0.99] {
        let fitted = fit(TCrex::with_purity(purity), &prepared);
        assert_eq!(fitted.status(), FitStatus::Complete);
        let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
        let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
        assert_eq!((score.coverage, score.rows), (1.0, prepared.problem_rows().len()));
        assert!(score.parts >= 2 && score.sparsity > 0.5 && score.sparsity < 6.0, "{score:?}");
        assert!(score.loss < 0.9 && score.cost > 0.05 && score.cost < 0.9, "{score:?}");
        losses.push(score.loss);
        let Description::Regions { regions, guide } = fitted.describe() else { panic!("not regions") };
        for region in &regions {
            assert!(region.feasibility >= 0.02 && region.accuracy >= purity, "{region:?}");
        }
        let guide = guide.unwrap();
        for (&row, assigned) in prepared.problem_rows().iter().zip(&assigned) {
            let values = prepared.table().row(row);
            let part = follow(&guide, &|condition| holds(condition, &values, &prepared.table().features));
            assert_eq!(part, assigned.part, "row {row}");
        }
    }
    assert!(losses[1] <= losses[0], "purer rules fail less often: {losses:?}");
}

#[test]
fn on_german_credit_constraints_are_kept_and_two_fits_are_equal() {
    let prepared = german();
    let method = TCrex { constrained: true, ..TCrex::with_purity(0.9) };
    let (one, other) = (fit(method, &prepared), method.fit(&prepared, 7, &Stop::default()).unwrap());
    let assigned = one.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
    assert_eq!(assigned, other.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap());
    assert_eq!(one.describe(), other.describe());
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    assert_eq!(score.violations, 0);
    assert!(score.coverage > 0.3, "a third under the example's constraints: {score:?}");
}
