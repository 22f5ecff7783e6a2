use rand::Rng;
use sogar_solver::bits::BitTable;

use super::flips::{asked, computed};
use super::greedy::Pick;
use super::items::{Test, edges};
use super::*;
use crate::evaluate::evaluate;
use crate::testing::{german, person, prepared};

/// x = 1..10, so that each value is a tenth of the rows; turned down below 6.
const NUMBERS: &str = "x,k\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n7,1\n8,1\n9,1\n10,1\n";

fn numbers(config: &str) -> Prepared {
    prepared(NUMBERS, config, |row| row[0] >= 6.0)
}

/// Two bins, so that x is cut at 4 and 7.
fn two_bins() -> Ares {
    let weights = ObjectiveWeights::Fixed { incorrectness: 10.0, coverage: 1.0, cost: 10.0 };
    Ares { bins: 2, weights, ..Ares::default() }
}

fn fit(method: &Ares, prepared: &Prepared) -> Box<dyn Fitted> {
    method.fit(prepared, 0, &Stop::default()).unwrap()
}

fn assigned(fitted: &dyn Fitted, prepared: &Prepared) -> Vec<Assigned> {
    fitted.assign(prepared, prepared.table(), prepared.problem_rows()).unwrap()
}

fn whole(values: &[i32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

#[test]
fn numbers_are_cut_at_distinct_percentiles() {
    let x = whole(&(1..=10).collect::<Vec<_>>());
    assert_eq!(edges(&x, true, 10), whole(&[2, 3, 4, 5, 6, 7, 8, 9]));
    assert_eq!(edges(&x, true, 2), whole(&[4, 7]));
    assert_eq!(edges(&[0.0, 1.0, 2.0], false, 2), [2.0 / 3.0, 4.0 / 3.0]);
    // Rounding does not miss a percentile that is a whole number: 29 levels of 0..=28 hit every value.
    let y = whole(&(0..=28).collect::<Vec<_>>());
    assert_eq!(edges(&y, true, 27), y[1..28]);
}

#[test]
fn rare_values_are_reached_by_more_levels_and_constants_by_none() {
    let mut rare = vec![0.0; 98];
    rare.extend([5.0, 9.0]);
    // A fifth of the way from the last zero to 5 is reached first with 56 levels, at the last but one: 97.2 of 99 steps.
    assert_eq!(edges(&rare, true, 10), [1.0]);
    for none in [&[7.0; 20][..], &[], &[f64::NAN, f64::NAN], &[5.0, 6.0, 6.0]] {
        assert!(edges(none, true, 10).is_empty(), "{none:?}: nothing lies between them");
    }
    assert_eq!(edges(&[5.0, 6.0, 6.0], false, 1), [5.0 + 2.0 / 3.0], "three levels meet only 6");
    assert_eq!(edges(&[-1.0, f64::NAN, 1.0], true, 1), [0.0]);
}

#[test]
fn intervals_are_entered_at_their_near_ends() {
    let item = |lo, hi| Item { feature: 0, test: Test::Between { lo, hi } };
    assert_eq!(item(4.0, 7.0).entry(false, true), Some(6.0));
    assert_eq!(item(4.0, 7.0).entry(true, true), Some(4.0));
    assert_eq!(item(4.0, 7.0).entry(false, false), Some(7.0 - 1e-6));
    assert_eq!(item(f64::NEG_INFINITY, 7.0).entry(true, true), None);
    assert_eq!(item(7.0, f64::INFINITY).entry(false, true), None);
    let (narrow, large) = (item(1e-9, 2e-9), item(1e15, 1e18));
    assert_eq!(narrow.entry(false, false), Some(1e-9), "not below its lower end");
    assert!(large.entry(false, false).is_some_and(|value| large.holds(value)));
    assert!(!item(4.0, 7.0).holds(f64::NAN) && !item(4.0, 7.0).holds(7.0) && item(4.0, 7.0).holds(4.0));
    assert!(item(7.0, f64::INFINITY).holds(7.0), "the last edge belongs to the last interval");
}

/// Two conditions on seven people: six meet A, three meet B, two of them both.
#[test]
fn the_rule_that_is_worth_more_comes_first_and_eight_are_chosen_even_at_a_loss() {
    let item = |feature| Item { feature, test: Test::Is(0) };
    let items = Items { list: vec![item(0), item(1)], of_feature: vec![0..1, 1..2] };
    let mut met = BitTable::new(2, 7);
    met.set_mut(0)[0] = 0b011_1111;
    met.set_mut(1)[0] = 0b111_0000;
    let (itemsets, _) = Itemsets::frequent(&items, &met, 1, 1, 100, &Stop::default());
    let candidates = Candidates {
        conditions: vec![
            candidates::Condition { set: 0, people: 6, candidates: 0..1 },
            candidates::Condition { set: 1, people: 3, candidates: 1..2 },
        ],
        // Mean costs of .3 and .1 in tenths.
        list: vec![Candidate { action: 0, failed: 1, cost: 18 }, Candidate { action: 1, failed: 0, cost: 3 }],
        ..Candidates::default()
    };
    let choice = Choice { candidates: &candidates, itemsets: &itemsets, met: &met, unit: 10 };
    let aims = Aims { incorrectness: 10.0, coverage: 1.0, cost: 10.0 };
    let alone =
        |number: usize, people: u32| f64::from(people) - aims.price(&candidates.list[number], people, 10);
    assert_eq!((alone(0, 6), alone(1, 3)), (-7.0, 2.0));
    let picks = choice.greedy(&aims, 8, &Stop::default());
    let pick = |number| Pick { condition: number, candidate: number };
    assert_eq!(picks, [pick(1), pick(0)], "B, then A although it is worth −9");
    let total: f64 = 7.0 - aims.price(&candidates.list[0], 6, 10) - aims.price(&candidates.list[1], 3, 10);
    assert_eq!(total, -7.0);
    assert_eq!(choice.greedy(&aims, 1, &Stop::default()), [pick(1)]);
}

#[test]
fn the_whole_example_is_as_worked_out_by_hand() {
    let prepared = numbers("");
    let fitted = fit(&two_bins(), &prepared);
    assert_eq!(fitted.status(), FitStatus::Complete);
    // Below 4 and below 7 everybody goes to 7: from 1, 2, 3 at 6 + 5 + 4 rows, from 4, 5 at 3 + 2 rows.
    let assigned = assigned(&*fitted, &prepared);
    assert!(assigned.iter().all(|assigned| assigned.to == [(0, 7.0)] && assigned.covered), "{assigned:?}");
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    assert_eq!((score.cost_sum, score.loss_count, score.parts, score.violations), (20, 0, 2, 0));
    let text = fitted.describe().to_string();
    let first = "If `x` is at most 3:\n  raise `x` to 7 (works for 3 of 3 people)\n";
    assert!(text.starts_with(first), "{text}");
    assert!(
        text.contains("If `x` is between 4 and 6:\n  raise `x` to 7 (works for 2 of 2 people)\n"),
        "{text}"
    );
}

#[test]
fn whom_no_rule_covers_gets_the_default_as_far_as_needed() {
    let prepared = numbers("");
    // The one rule takes 4 and 5; of the defaults, 7 and above costs 10 × .5, all others fail three times.
    let fitted = fit(&Ares { rules: 1, ..two_bins() }, &prepared);
    let score =
        evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned(&*fitted, &prepared))
            .unwrap();
    assert_eq!((score.cost_sum, score.loss_count, score.parts, score.coverage), (20, 0, 2, 1.0));
    let text = fitted.describe().to_string();
    let default = "Everybody else:\n  bring `x` to at least 7 (works for 3 of 3 people)\n";
    assert!(text.ends_with(default), "{text}");
    let told = |x: f64| {
        let table = person(&prepared, &[x, 1.0]);
        fitted.assign(&prepared, &table, &[0]).unwrap().remove(0)
    };
    assert_eq!(told(5.0), Assigned { to: vec![(0, 7.0)], part: Some(0), covered: true });
    assert_eq!(told(2.0), Assigned { to: vec![(0, 7.0)], part: Some(1), covered: true });
    assert_eq!(told(9.0), Assigned { to: vec![], part: Some(1), covered: true }, "inside already");
    assert_eq!(told(f64::NAN), Assigned { to: vec![], part: Some(1), covered: true }, "nothing to change");
}

#[test]
fn the_default_is_the_cheapest_where_cost_counts_most() {
    let prepared = numbers("");
    let weights = ObjectiveWeights::Fixed { incorrectness: 0.01, coverage: 1.0, cost: 100.0 };
    let fitted = fit(&Ares { rules: 1, weights, ..two_bins() }, &prepared);
    // Staying below 4 fails, and costs the uncovered people nothing.
    let text = fitted.describe().to_string();
    assert!(text.ends_with("bring `x` to at most 3 (works for 0 of 3 people)\n"), "{text}");
}

#[test]
fn directions_ranges_and_immutable_features_are_kept() {
    for config in [
        "[features]\nx.direction = \"decrease\"\n",
        "[features]\nx.range = [1, 6]\n",
        "[features]\nx.immutable = true\n[features.k]\nkind = \"integer\"\n",
    ] {
        let table = "x,k\n1,1\n2,1\n3,2\n4,1\n5,2\n6,1\n7,2\n8,1\n9,3\n10,1\n";
        let prepared = prepared(table, config, |row| row[0] >= 6.0);
        let fitted = fit(&Ares { support: 0.1, ..two_bins() }, &prepared);
        let assigned = assigned(&*fitted, &prepared);
        let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
        assert_eq!((score.violations, score.loss_count), (0, 5), "{config}: {}", fitted.describe());
    }
}

#[test]
fn a_forbidden_transition_makes_no_rule() {
    // Accepted are b and c. From a only c may be reached, and nobody may become d.
    let rows = "a\na\na\na\nb\nb\nb\nc\nd\nd\n".replace('\n', ",1\n");
    let config = "[features.c]\nforbid = [[\"a\", \"b\"]]\ntargets = [\"a\", \"b\", \"c\"]\n";
    let prepared = prepared(&format!("c,k\n{rows}"), config, |row| row[0] == 1.0 || row[0] == 2.0);
    let fitted = fit(&Ares { rules: 2, support: 0.1, ..two_bins() }, &prepared);
    let to = |level: f64| {
        let table = person(&prepared, &[level, 1.0]);
        fitted.assign(&prepared, &table, &[0]).unwrap().remove(0)
    };
    assert_eq!(to(0.0).to, [(0, 2.0)], "a becomes c");
    assert_eq!(to(3.0).to, [(0, 2.0)], "d becomes c, which costs max(2, 1) rows, not b, which costs 3");
    assert_eq!(to(4.0), Assigned::nothing(), "an unknown category: no rule, and no default for categories");
    let assigned = assigned(&*fitted, &prepared);
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    assert_eq!((score.violations, score.loss_count, score.coverage), (0, 0, 1.0));
}

#[test]
fn binary_and_ordinal_features_can_be_changed_and_missing_numbers_stay() {
    let table = "b,o,n\nno,low,1\nno,mid,\nno,high,3\nno,low,4\nyes,mid,\nyes,high,6\nno,mid,7\nno,low,8\n";
    let config = "[features.o]\nkind = \"ordinal\"\nlevels = [\"low\", \"mid\", \"high\"]\n";
    let prepared = prepared(table, config, |row| row[0] == 1.0 && row[1] >= 1.0);
    let fitted = fit(&Ares { support: 0.1, ..Ares::default() }, &prepared);
    assert_eq!(fitted.status(), FitStatus::Complete);
    let assigned = assigned(&*fitted, &prepared);
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    assert_eq!((score.loss_count, score.violations), (0, 0), "{}", fitted.describe());
    for (assigned, &row) in assigned.iter().zip(prepared.problem_rows()) {
        let missing = prepared.table().values[2][row].is_nan();
        assert!(!missing || assigned.to.iter().all(|&(feature, _)| feature != 2), "{assigned:?}");
    }
}

#[test]
fn frequent_sets_are_those_that_a_plain_search_finds() {
    let prepared = german();
    let table = prepared.table();
    let least = Ares::default().least_rows(table.rows);
    let items = Items::frequent(table, 10, 4 * least);
    let met = items.met_by(table, 0..table.rows);
    let (found, incomplete) = Itemsets::frequent(&items, &met, 4 * least, 3, usize::MAX, &Stop::default());
    assert!(incomplete.is_none() && found.len() > 100);
    let mut plain: Vec<Vec<u32>> = Vec::new();
    let count = items.list.len() as u32;
    let frequent = |set: &[u32]| {
        let meets = |row: usize, &item: &u32| {
            let item = items.list[item as usize];
            item.holds(table.values[item.feature][row])
        };
        (0..table.rows).filter(|&row| set.iter().all(|item| meets(row, item))).count() >= 4 * least
    };
    let apart = |a: u32, b: u32| items.list[a as usize].feature != items.list[b as usize].feature;
    plain.extend((0..count).map(|a| vec![a]));
    for size in 1..3 {
        let shorter: Vec<Vec<u32>> = plain.iter().filter(|set| set.len() == size).cloned().collect();
        for set in shorter {
            for next in set[size - 1] + 1..count {
                let longer: Vec<u32> = set.iter().copied().chain([next]).collect();
                if apart(set[size - 1], next) && frequent(&longer) {
                    plain.push(longer);
                }
            }
        }
    }
    let listed: Vec<Vec<u32>> = (0..found.len()).map(|set| found.get(set).to_vec()).collect();
    assert_eq!(listed, plain);
    for (number, set) in plain.iter().enumerate() {
        assert_eq!(found.find(set), Some(number));
    }
    assert_eq!(found.find(&[0, 0]), None);
    let (some, incomplete) = Itemsets::frequent(&items, &met, 4 * least, 3, 100, &Stop::default());
    assert_eq!((incomplete, some.len()), (Some(Incomplete::TooMany), items.list.len()), "whole sizes only");
}

/// The parts of a fit on the German Credit example.
struct Parts {
    items: Items,
    itemsets: Itemsets,
    moves: Moves,
    met: BitTable,
    changes: Changes,
    costs: Vec<Vec<u32>>,
}

fn parts(prepared: &Prepared, conditions: usize) -> Parts {
    let table = prepared.table();
    let least = Ares::default().least_rows(table.rows);
    let items = Items::frequent(table, 10, least);
    let everywhere = items.met_by(table, 0..table.rows);
    let (itemsets, _) =
        Itemsets::frequent(&items, &everywhere, least, conditions, usize::MAX, &Stop::default());
    let moves = Moves::new(&items, table, &Constraints::new(prepared));
    let met = items.met_by(table, prepared.problem_rows().iter().copied());
    let changes = Changes::new(&items, &itemsets, &moves, &met, 3, usize::MAX, &Stop::default());
    let costs = edit_costs(prepared.cost(), &moves.edits, table, prepared.problem_rows()).unwrap();
    Parts { items, itemsets, moves, met, changes, costs }
}

#[test]
fn both_ways_to_find_flips_agree_and_candidates_score_as_the_evaluator_says() {
    let prepared = german();
    let Parts { itemsets, moves, met, changes, costs, items } = parts(&prepared, 2);
    let asked = asked(&prepared, &moves, &changes, &Stop::default()).unwrap();
    let computed = computed(&prepared, &moves, &changes, 2, &Stop::default()).unwrap();
    assert_eq!((asked.known, computed.known), (changes.actions.len(), changes.actions.len()));
    for action in 0..changes.actions.len() {
        let rows = computed.table.set(action).iter().zip(&changes.asked[action]);
        let answered: Vec<u64> = rows.map(|(flips, asked)| flips & asked).collect();
        assert_eq!(asked.table.set(action), answered, "action {action}");
    }
    let scoring = Scoring {
        itemsets: &itemsets,
        changes: &changes,
        flips: &computed,
        met: &met,
        costs: &costs,
        combine: prepared.cost().combine(),
    };
    let candidates = Candidates::all(&scoring, usize::MAX, &Stop::default());
    assert!(candidates.list.len() > 1000, "{}", candidates.list.len());
    for condition in candidates.conditions.iter().step_by(17) {
        let holds = |row: usize| {
            let list = itemsets.get(condition.set as usize).iter().map(|&item| items.list[item as usize]);
            list.into_iter().all(|item| item.holds(prepared.table().values[item.feature][row]))
        };
        let rows: Vec<usize> = prepared.problem_rows().iter().copied().filter(|&row| holds(row)).collect();
        assert_eq!(rows.len(), condition.people as usize);
        for number in condition.candidates.clone().step_by(5) {
            let candidate = candidates.list[number];
            let edits = changes.actions.get(candidate.action as usize);
            let to: Vec<(usize, f64)> = edits.iter().map(|&edit| moves.target(edit)).collect();
            let told = vec![Assigned { to, part: None, covered: true }; rows.len()];
            let score = evaluate(&prepared, prepared.table(), &rows, &told).unwrap();
            let counted = (u64::from(candidate.failed), candidate.cost);
            assert_eq!((score.loss_count, score.cost_sum, score.violations), (counted.0, counted.1, 0));
        }
    }
}

#[test]
fn default_rules_do_what_the_evaluator_says() {
    let prepared = german();
    let Parts { items, itemsets, moves, costs, met, .. } = parts(&prepared, 3);
    let defaults = DefaultRules::new(&items, &itemsets, &moves, prepared.table(), usize::MAX);
    let everyone = sogar_solver::RowSet::full(prepared.problem_rows().len()).words().to_vec();
    let some = (0..items.list.len()).map(|item| met.set(item)).find(|rows| flips::ones(rows).count() > 20);
    let groups = [some.unwrap().to_vec(), everyone];
    let tried = defaults.try_on(&prepared, &costs, &groups, &Stop::default()).unwrap();
    for (number, group) in groups.iter().enumerate() {
        for (incorrectness, cost) in [(1.0, 0.01), (1.0, 100.0), (0.01, 100.0)] {
            let aims = Aims { incorrectness, coverage: 1.0, cost };
            let best = defaults.best(&tried, number, &aims, prepared.cost().unit()).unwrap();
            let rows: Vec<usize> = flips::ones(group).map(|row| prepared.problem_rows()[row]).collect();
            let list = RuleList { rules: Vec::new(), default: Some(best) };
            let parts = (items.clone(), moves.clone());
            let changes = Changes::default();
            let fitted =
                FittedAres::new(&list, &itemsets, &changes, parts, prepared.table(), FitStatus::Complete);
            let told = fitted.assign(&prepared, prepared.table(), &rows).unwrap();
            let score = evaluate(&prepared, prepared.table(), &rows, &told).unwrap();
            assert_eq!((score.loss_count, score.cost_sum), (best.failed, best.cost));
            assert_eq!((rows.len() as u64, score.violations), (best.people, 0));
        }
    }
}

#[test]
fn on_german_credit_it_keeps_constraints_and_does_not_depend_on_threads() {
    let prepared = german();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&Ares::default(), &prepared))
    };
    let (one, four) = (with(1), with(4));
    assert_eq!(one.status(), FitStatus::Complete);
    assert_eq!(one.describe(), four.describe());
    let assigned = assigned(&*one, &prepared);
    assert_eq!(assigned, four.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap());
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    assert_eq!((score.violations, score.coverage), (0, 1.0));
    assert!(score.parts >= 2 && score.invalidity < 1.0, "{score:?}");
    let Description::RuleList { rules, default } = one.describe() else { panic!("not a rule list") };
    assert_eq!(rules.len(), 8);
    let told: usize = rules.iter().chain(&default).map(|group| group.rows).sum();
    let flipped: usize = rules.iter().chain(&default).map(|group| group.flipped).sum();
    assert_eq!((told, flipped), (score.rows, score.rows - score.loss_count as usize));
}

#[test]
fn a_stop_ends_it_with_what_there_is() {
    let prepared = german();
    let past = Stop { deadline: Some(std::time::Instant::now()), ..Stop::default() };
    let fitted = Ares::default().fit(&prepared, 0, &past).unwrap();
    assert_eq!(fitted.status(), FitStatus::TimeLimit);
    assert_eq!(assigned(&*fitted, &prepared).len(), prepared.problem_rows().len());
    let cancelled = Stop::default();
    cancelled.cancel.cancel();
    let fitted = Ares::default().fit(&prepared, 0, &cancelled).unwrap();
    assert_eq!(fitted.status(), FitStatus::Cancelled);
}

#[test]
fn nothing_frequent_is_no_result_with_its_reason() {
    let prepared = numbers("");
    let fitted = fit(&Ares { support: 0.9, ..Ares::default() }, &prepared);
    assert!(matches!(fitted.status(), FitStatus::NoResult { reason } if reason.contains("enough rows")));
    assert!(assigned(&*fitted, &prepared).iter().all(|assigned| !assigned.covered));
    assert_eq!(fitted.describe().to_string(), "");
}

#[test]
fn one_affected_row_is_enough() {
    let prepared = prepared(NUMBERS, "", |row| row[0] >= 2.0);
    let fitted = fit(&Ares::default(), &prepared);
    let assigned = assigned(&*fitted, &prepared);
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    assert_eq!((score.rows, score.loss_count, score.cost_sum), (1, 0, 1), "{}", fitted.describe());
}

/// A table of all kinds of features, with gaps, generated from a number.
fn odd_table(number: u64) -> String {
    let mut chance = crate::chance::stream(number, 0, 0);
    let mut text = String::from("whole,real,few,category,flag,constant\n");
    for row in 0..30 {
        let mut draw = |below: u64| chance.next_u64() % below;
        let whole = if draw(9) == 0 { String::new() } else { draw(40).to_string() };
        let real = if draw(9) == 0 { String::new() } else { format!("{}e-{}", draw(100), draw(9)) };
        let category = ["a", "b", "</b>", "", "=1+1"][draw(5) as usize];
        let flag = if row == 0 { "yes" } else { ["yes", "no"][draw(2) as usize] };
        text += &format!("{whole},{real},{},{category},{flag},7\n", draw(3));
    }
    text
}

#[test]
fn odd_tables_give_allowed_proposals_and_no_panic() {
    let configs = [
        "",
        "[features]\nwhole.direction = \"increase\"\nreal.range = [0, 0.5]\nflag.immutable = true\n",
        "rules = [\"whole <= 35\"]\n[features.few]\nkind = \"ordinal\"\nlevels = [\"0\", \"1\", \"2\"]\n",
    ];
    for number in 0..12 {
        let config = configs[number as usize % configs.len()];
        let prepared = prepared(&odd_table(number), config, |row| row[0] > 25.0 || row[4] + row[2] > 2.5);
        let method = Ares { support: [0.05, 0.3][number as usize % 2], ..Ares::default() };
        let fitted = fit(&method, &prepared);
        let assigned = assigned(&*fitted, &prepared);
        let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
        assert_eq!(score.violations, 0, "table {number}: {}", fitted.describe());
        let Description::RuleList { rules, default } = fitted.describe() else { panic!("not a rule list") };
        let told: usize = rules.iter().chain(&default).map(|group| group.rows).sum();
        let flipped: usize = rules.iter().chain(&default).map(|group| group.flipped).sum();
        // The counts of the method during the fit equal those of the evaluator.
        let covered = assigned.iter().filter(|assigned| assigned.covered).count();
        assert_eq!((told, flipped), (covered, score.rows - score.loss_count as usize), "table {number}");
    }
}

#[test]
fn settings_that_make_no_sense_are_errors() {
    let prepared = numbers("");
    let fixed = |cost| ObjectiveWeights::Fixed { incorrectness: 1.0, coverage: 1.0, cost };
    let good = Ares::default();
    for bad in [
        Ares { support: 0.0, ..good },
        Ares { support: f64::NAN, ..good },
        Ares { support: 1.1, ..good },
        Ares { conditions: 0, ..good },
        Ares { conditions: 5, ..good },
        Ares { changes: 4, ..good },
        Ares { rules: 0, ..good },
        Ares { bins: 0, ..good },
        Ares { weights: fixed(-1.0), ..good },
        Ares { weights: fixed(f64::INFINITY), ..good },
    ] {
        let Err(error) = bad.fit(&prepared, 0, &Stop::default()) else { panic!("{bad:?} is taken") };
        assert!(error.to_string().starts_with("AReS: ") && error.remedy().is_some(), "{error}");
    }
    assert_eq!(good.name(), "AReS");
    assert_eq!(Ares { weights: fixed(10.0), ..good }.name(), "AReS (1, 1, 10)");
}
