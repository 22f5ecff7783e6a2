//! Explanations of the small problem of the command line's tests: 240 people, a LightGBM model of 12 trees.

mod letters;

use std::path::Path;
use std::sync::Arc;

use sogar_solver::CancelToken;

use super::*;
use sogar_prepare::model::{Answers, Callback, LoadedModel, from_bytes};
use sogar_table::config::{Config, Link};
use sogar_table::table::{ReadOptions, Table, csv};

const PEOPLE: &str = include_str!("../../../sogar-cli/tests/fixtures/people.csv");
const MODEL: &str = include_str!("../../../sogar-cli/tests/fixtures/model.txt");
const CONFIG: &str = include_str!("../../../sogar-cli/tests/fixtures/sogar.toml");

fn config() -> Config {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sogar.toml");
    std::fs::write(&path, CONFIG).unwrap();
    Config::read(&path).unwrap()
}

fn people() -> Table {
    csv::parse(PEOPLE.as_bytes(), Path::new("people.csv"), &ReadOptions::default()).unwrap()
}

fn model() -> LoadedModel {
    let predictor = from_bytes(MODEL.as_bytes(), None).unwrap();
    LoadedModel::new(predictor, "model.txt", "hash")
}

fn prepared() -> Prepared {
    Prepared::new(config(), Path::new(""), &people(), model(), None).unwrap()
}

fn solved(prepared: &Prepared) -> FrontFile {
    sogar_search::Search(prepared).solve(&(), &CancelToken::default()).unwrap()
}

/// A row of the table as a person would write it.
fn as_json(table: &Table, row: usize) -> serde_json::Map<String, serde_json::Value> {
    let cell = |cells: &sogar_table::table::Cells| match cells {
        sogar_table::table::Cells::Numbers(numbers) => serde_json::json!(numbers[row]),
        sogar_table::table::Cells::Text { codes, levels } => serde_json::json!(levels[codes[row] as usize]),
    };
    table.columns.iter().map(|column| (column.name.clone(), cell(&column.cells))).collect()
}

fn person(
    prepared: &Prepared,
    change: impl Fn(&mut serde_json::Map<String, serde_json::Value>),
) -> Result<Person> {
    let mut entries = as_json(&people(), 0);
    change(&mut entries);
    Person::from_json(prepared, &serde_json::to_vec(&entries).unwrap(), "somebody")
}

/// Costs, flips and sizes of a point equal the sums over its people, explained one by one.
fn adds_up(prepared: &Prepared, front: &FrontFile, point: usize) {
    let (mut cost, mut works) = (0, 0);
    let mut in_group = 0;
    for &row in prepared.affected() {
        let told = explain(front, prepared, &Person::of_row(prepared, row).unwrap(), point).unwrap();
        let advice = told.suggestion.unwrap();
        cost += advice.cost_units;
        works += u64::from(advice.works);
        assert_eq!(advice.works, told.decision.hoped_for.contains(&advice.label), "row {row}");
        assert!(told.cheapest.as_ref().is_none_or(|best| best.works));
        if advice.works {
            assert!(told.cheapest.unwrap().cost_units <= advice.cost_units, "row {row}");
        }
        in_group += u64::from(told.group.unwrap().rows == 0.0);
    }
    let total = &front.points[point];
    assert_eq!((cost, prepared.affected().len() as u64 - works), (total.cost_sum, total.loss_count));
    assert_eq!(in_group, 0);
}

#[test]
fn what_single_people_are_told_adds_up_to_the_point() {
    let prepared = prepared();
    let front = solved(&prepared);
    let best = sogar_front::select::select(&front, sogar_front::select::By::Invalidity).unwrap();
    adds_up(&prepared, &front, best);
    adds_up(&prepared, &front, 0);
}

#[test]
fn a_model_that_only_answers_is_explained_as_well() {
    let table = people();
    let info = sogar_prepare::model::ModelInfo {
        format: "function".into(),
        description: "for a test".into(),
        columns: vec!["age".into(), "income".into()],
        categories: vec![vec![], vec![]],
        unplaced_categories: vec![],
        classes: 2,
        class_names: vec![],
        threshold: Some(0.5),
    };
    let predictor = Arc::new(Callback::new(info, |rows| {
        Ok(Answers::Scores(rows.iter().map(|row| f64::from(row[1] + row[0] / 10.0 > 45.0)).collect()))
    }));
    let model = LoadedModel::new(predictor, "function", "hash");
    let prepared = Prepared::new(config(), Path::new(""), &table, model, None).unwrap();
    let front = solved(&prepared);
    adds_up(&prepared, &front, front.points.len() - 1);
    let row = prepared.affected()[0];
    let told = explain(&front, &prepared, &Person::of_row(&prepared, row).unwrap(), 0).unwrap();
    assert!(told.reasons.iter().all(|reason| reason.method == Method::BaselineFirstAndLast));
    let used: Vec<&str> = told.reasons.iter().map(|reason| reason.feature.as_str()).collect();
    assert_eq!(used, ["age", "income"], "what the function does not use is no reason");
}

#[test]
fn the_cheapest_action_is_the_cheapest_of_the_whole_problem() {
    let prepared = prepared();
    let front = solved(&prepared);
    let problem = prepared.problem(&(), &CancelToken::default()).unwrap();
    for (position, &row) in prepared.problem_rows().iter().enumerate() {
        let told = explain(&front, &prepared, &Person::of_row(&prepared, row).unwrap(), 0).unwrap();
        let all = 1..problem.actions.len();
        let least = all
            .filter(|&action| problem.problem.flips(action, position))
            .map(|action| problem.problem.cost(action, position))
            .min();
        assert_eq!(told.cheapest.map(|best| best.cost_units), least, "row {row}");
        assert_eq!(told.actions_tried, problem.actions.len() as u64 - 1);
    }
}

#[test]
fn outcomes_of_several_words_are_quoted() {
    let mut config = config();
    let names = [("no", "not now"), ("yes", "a loan is offered")];
    config.model.outcomes = names.map(|(class, name)| (class.to_owned(), name.to_owned())).into();
    let prepared = Prepared::new(config, Path::new(""), &people(), model(), None).unwrap();
    let front = solved(&prepared);
    let row = prepared.affected()[0];
    let told = explain(&front, &prepared, &Person::of_row(&prepared, row).unwrap(), 0).unwrap();
    let text = text(&told);
    assert!(
        text.contains("the probability of “a loan is offered” at") && text.contains("it says “a loan"),
        "{text}"
    );
}

#[test]
fn a_row_written_down_is_that_row() {
    let prepared = prepared();
    let front = solved(&prepared);
    let row = prepared.affected()[0];
    let from_table = explain(&front, &prepared, &Person::of_row(&prepared, row).unwrap(), 1).unwrap();
    let json = serde_json::to_vec(&as_json(&people(), row)).unwrap();
    let written = Person::from_json(&prepared, &json, "somebody").unwrap();
    assert_eq!(written.notes, Vec::<String>::new(), "label and ignored columns are nobody's business");
    let from_json = explain(&front, &prepared, &written, 1).unwrap();
    assert_eq!((&from_json.group, &from_json.suggestion), (&from_table.group, &from_table.suggestion));
    assert_eq!(from_json.cheapest, from_table.cheapest);
    assert_eq!((from_json.person.row, from_table.person.row), (None, Some(row + 1)));
}

#[test]
fn defects_of_a_person_are_named() {
    let prepared = prepared();
    let told = |error: Error| format!("{error} -- {}", error.remedy().unwrap_or_default());
    let bad = |change: &dyn Fn(&mut serde_json::Map<String, serde_json::Value>)| {
        told(person(&prepared, change).unwrap_err())
    };
    let lacks = bad(&|entries| {
        let age = entries.remove("age").unwrap();
        entries.insert("agee".into(), age);
    });
    assert!(lacks.contains("the person lacks `age`") && lacks.contains("`agee` is not a feature"), "{lacks}");
    let text = bad(&|entries| drop(entries.insert("age".into(), "old".into())));
    assert!(text.contains("column `age`: `old` is text, but the feature is a number"), "{text}");
    let level = bad(&|entries| drop(entries.insert("school".into(), "colege".into())));
    assert!(level.contains("not one of the feature's levels -- did you mean `college`?"), "{level}");
    let list = bad(&|entries| drop(entries.insert("job".into(), serde_json::json!([1]))));
    assert!(list.contains("column `job`: a list or an object is no value"), "{list}");
    for (json, wanted) in [
        ("[1, 2]", "expected an object of column and value"),
        ("{\"age\": 1", "not a person: EOF"),
        ("{\"age\": 1, \"age\": 2}", "column `age`: this entry is there twice"),
        ("{\"age\": 1e999}", "number out of range"),
        ("", "not a person: EOF"),
    ] {
        let error = told(Person::from_json(&prepared, json.as_bytes(), "x").unwrap_err());
        assert!(error.contains(wanted), "{json}: {error}");
    }
    let beyond = told(Person::of_row(&prepared, 240).unwrap_err());
    assert!(beyond.contains("the table has no row 241") && beyond.contains("to 240"), "{beyond}");
    assert!(told(Person::of_row(&prepared, usize::MAX).unwrap_err()).contains("has no row"));
}

#[test]
fn missing_and_unseen_values_are_said_and_explained_all_the_same() {
    let prepared = prepared();
    let front = solved(&prepared);
    let odd = person(&prepared, |entries| {
        entries.insert("income".into(), serde_json::Value::Null);
        entries.insert("job".into(), "astronaut".into());
        entries.insert("age".into(), serde_json::json!(130));
        entries.insert("shoes".into(), serde_json::json!(44));
    })
    .unwrap();
    let notes = odd.notes.join("\n");
    for wanted in
        ["`income` is missing", "`job` is astronaut", "`age` is 130, outside", "`shoes` is not a feature"]
    {
        assert!(notes.contains(wanted), "{wanted}: {notes}");
    }
    let told = explain(&front, &prepared, &odd, front.points.len() - 1).unwrap();
    let job = told.person.values.iter().find(|value| value.feature == "job").unwrap();
    assert_eq!(job.value, Some(Value::Level("astronaut".into())));
    assert!(told.notes.len() >= 4);
}

#[test]
fn somebody_who_was_not_turned_down_needs_no_change() {
    let prepared = prepared();
    let front = solved(&prepared);
    let fine = (0..prepared.table().rows).find(|row| !prepared.affected().contains(row)).unwrap();
    let told = explain(&front, &prepared, &Person::of_row(&prepared, fine).unwrap(), 0).unwrap();
    assert!(told.decision.desired && told.group.is_none() && told.suggestion.is_none());
    assert!(told.reasons.is_empty());
    let refused = letter_html(&told, &LetterFields::default(), &Messages::english()).unwrap_err();
    assert!(refused.to_string().contains("no adverse decision"), "{refused}");
    let error = explain(&front, &prepared, &Person::of_row(&prepared, fine).unwrap(), 10_000).unwrap_err();
    assert!(error.to_string().contains("no point 10000"), "{error}");
}

#[test]
fn advice_that_a_run_does_not_count_is_not_said_to_leave_the_answer_as_it_is() {
    let (mut uncounted, mut without) = (0, 0);
    for limit in [0.3, 0.6, 0.9] {
        let mut config = config();
        config.plausibility.min_plausibility = Some(limit);
        let prepared = Prepared::new(config, Path::new(""), &people(), model(), None).unwrap();
        let front = solved(&prepared);
        for &row in prepared.affected() {
            let told =
                explain(&front, &prepared, &Person::of_row(&prepared, row).unwrap(), front.points.len() - 1)
                    .unwrap();
            let advice = told.suggestion.as_ref().unwrap();
            let accepted = !advice.edits.is_empty() && advice.label != told.decision.label;
            let unmet = (accepted && !advice.works).then_some(Unmet::Plausibility);
            assert_eq!(
                advice.unmet.filter(|_| advice.breaks.is_empty()),
                unmet.filter(|_| advice.breaks.is_empty())
            );
            if unmet.is_some() && advice.breaks.is_empty() {
                uncounted += 1;
                let said = text(&told);
                assert!(said.contains("but it describes somebody less usual"), "{said}");
                assert!(!said.contains("would still say"), "{said}");
            }
            if told.cheapest.is_none() {
                without += 1;
                let page = letter_html(&told, &LetterFields::default(), &Messages::english()).unwrap();
                assert!(
                    page.contains("in a way that we could recommend") && !page.contains("<table>"),
                    "{page}"
                );
            }
        }
    }
    assert!(uncounted > 0 && without > 0, "{uncounted} {without}");
}

#[test]
fn reasons_are_the_strongest_contributions_and_their_responsiveness_is_that_of_brute_force() {
    let prepared = prepared();
    let front = solved(&prepared);
    let features = &prepared.table().features;
    let mut some = 0;
    for &row in prepared.affected() {
        let person = Person::of_row(&prepared, row).unwrap();
        let told = explain(&front, &prepared, &person, 0).unwrap();
        assert!(told.reasons.len() <= REASONS);
        assert!(told.reasons.is_sorted_by(|a, b| a.contribution >= b.contribution));
        for reason in &told.reasons {
            assert!(reason.contribution > 0.0);
            let index = features.iter().position(|feature| feature.name == reason.feature).unwrap();
            let mut results: Vec<Vec<u64>> = Vec::new();
            let mut flips = 0;
            for edit in prepared.edits().iter().filter(|edit| edit.feature == index) {
                let mut after = person.values.clone();
                edit.apply(&mut after);
                let bits: Vec<u64> = after.iter().map(|value| value.to_bits()).collect();
                if after == person.values || results.contains(&bits) {
                    continue;
                }
                results.push(bits);
                let table = FeatureTable {
                    features: features.clone(),
                    values: after.iter().map(|&value| vec![value]).collect(),
                    rows: 1,
                    weights: None,
                };
                let found = predict_table(&*prepared.model().predictor, prepared.encoder(), &table).unwrap();
                flips += usize::from(prepared.classes().is_desired(&found[0]));
            }
            assert_eq!(reason.changes_allowed, results.len());
            let share = (!results.is_empty()).then(|| flips as f64 / results.len() as f64);
            assert_eq!(reason.responsiveness, share, "row {row}, {}", reason.feature);
            assert_eq!(
                reason.immutable,
                !prepared.edits().iter().any(|edit| edit.touched().any(|other| other == index))
            );
            some += flips;
        }
    }
    assert!(some > 0);
}

#[test]
fn counterfactuals_are_the_cheapest_that_differ_in_what_they_change() {
    let prepared = prepared();
    let front = solved(&prepared);
    let explainer = Explainer::new(&front, &prepared, ReasonSettings::default()).unwrap();
    let accepted = (0..prepared.table().rows).find(|row| !prepared.affected().contains(row)).unwrap();
    let rows: Vec<usize> = prepared.affected().iter().copied().take(70).chain([accepted]).collect();
    let people: Vec<Person> = rows.iter().map(|&row| Person::of_row(&prepared, row).unwrap()).collect();
    let found = explainer.counterfactuals(&people, 3, &mut |_, _| {}).unwrap();
    assert!(found.last().unwrap().is_empty(), "the model accepts this person");
    assert!(found.iter().any(|ways| ways.len() == 3));
    let problem = prepared.problem(&(), &CancelToken::default()).unwrap();
    for (ways, &row) in found.iter().zip(&rows).take(70) {
        // The definition, action by action.
        let position = prepared.problem_rows().iter().position(|&other| other == row).unwrap();
        let values = prepared.table().row(row);
        let mut all: Vec<(u64, usize, std::collections::BTreeSet<String>)> = Vec::new();
        for action in (1..problem.actions.len()).filter(|&action| problem.problem.flips(action, position)) {
            let edits: Vec<&Edit> =
                problem.actions.get(action).iter().map(|&edit| &prepared.edits()[edit as usize]).collect();
            if edits.iter().all(|edit| edit.change.apply(values[edit.feature]) != values[edit.feature]) {
                let names = edits.iter().map(|edit| prepared.table().features[edit.feature].name.clone());
                all.push((problem.problem.cost(action, position), action, names.collect()));
            }
        }
        all.sort();
        let mut wanted: Vec<(u64, std::collections::BTreeSet<String>)> = Vec::new();
        for (cost, _, set) in all {
            if wanted.len() < 3
                && !wanted.iter().any(|(_, other)| other.is_subset(&set) || set.is_subset(other))
            {
                wanted.push((cost, set));
            }
        }
        let got: Vec<(u64, std::collections::BTreeSet<String>)> = ways
            .iter()
            .map(|way| (way.cost_units, way.edits.iter().map(|edit| edit.feature.clone()).collect()))
            .collect();
        assert_eq!(got, wanted, "row {row}");
        assert!(ways.iter().all(|way| way.works));
    }
}
