//! Explanations of the small problem that the command line's tests use: 240 people, a LightGBM model of 12 trees.

use std::path::Path;
use std::sync::Arc;

use sogar_solver::CancelToken;

use super::*;
use sogar_prepare::model::{Answers, Callback, LoadedModel, from_bytes};
use sogar_table::config::Config;
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

fn prepared() -> Prepared {
    let predictor = from_bytes(MODEL.as_bytes(), None).unwrap();
    let model = LoadedModel { predictor, path: "model.txt".into(), hash: "hash".into() };
    Prepared::new(config(), Path::new(""), &people(), model, None).unwrap()
}

fn solved(prepared: &Prepared) -> FrontFile {
    sogar_search::Search(prepared).solve(&(), &CancelToken::default()).unwrap()
}

/// A row of the table as somebody would write it down.
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

/// Costs, flips and sizes of a point are those of its people, explained one by one.
fn adds_up(prepared: &Prepared, front: &FrontFile, point: usize) {
    let (mut cost, mut works) = (0, 0);
    let mut in_group = 0;
    for &row in &prepared.affected {
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
    assert_eq!((cost, prepared.affected.len() as u64 - works), (total.cost_sum, total.loss_count));
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
    let model = LoadedModel { predictor, path: "function".into(), hash: "hash".into() };
    let prepared = Prepared::new(config(), Path::new(""), &table, model, None).unwrap();
    let front = solved(&prepared);
    adds_up(&prepared, &front, front.points.len() - 1);
}

#[test]
fn the_cheapest_action_is_the_cheapest_of_the_whole_problem() {
    let prepared = prepared();
    let front = solved(&prepared);
    let problem = prepared.problem(&(), &CancelToken::default()).unwrap();
    for (position, &row) in prepared.affected.iter().enumerate() {
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
fn a_row_written_down_is_that_row() {
    let prepared = prepared();
    let front = solved(&prepared);
    let row = prepared.affected[0];
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
    let fine = (0..prepared.table.rows).find(|row| !prepared.affected.contains(row)).unwrap();
    let told = explain(&front, &prepared, &Person::of_row(&prepared, fine).unwrap(), 0).unwrap();
    assert!(told.decision.desired && told.group.is_none() && told.suggestion.is_none());
    assert!(letter_html(&told, &Letter::default()).contains("Nothing has to change"));
    let error = explain(&front, &prepared, &Person::of_row(&prepared, fine).unwrap(), 10_000).unwrap_err();
    assert!(error.to_string().contains("no point 10000"), "{error}");
}

#[test]
fn a_letter_shows_hostile_words_and_runs_none() {
    let prepared = prepared();
    let front = solved(&prepared);
    let hostile = "</bdi></style><script>alert(1)</script><img src=x onerror=\"x\">\u{202e}";
    let mut odd = person(&prepared, |entries| drop(entries.insert("job".into(), hostile.into()))).unwrap();
    odd.name = hostile.to_owned();
    let told = explain(&front, &prepared, &odd, front.points.len() - 1).unwrap();
    let letter = Letter {
        from: Some(hostile.into()),
        to: Some("x".repeat(10_000)),
        date: Some(hostile.into()),
        subject: Some(hostile.into()),
    };
    let html = letter_html(&told, &letter);
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("onerror=\"x"), "{html}");
    assert!(html.contains("default-src 'none'") && html.contains(&"x".repeat(10_000)));
    assert_eq!(html.matches("<style>").count(), 1);
    assert!(!text(&told).contains('\u{202e}'));
}

#[test]
fn a_letter_says_what_a_letter_must() {
    let prepared = prepared();
    let front = solved(&prepared);
    let row = Person::of_row(&prepared, prepared.affected[0]).unwrap();
    let told = explain(&front, &prepared, &row, front.points.len() - 1).unwrap();
    let html = letter_html(&told, &Letter::default());
    for wanted in [
        "The part of the model",
        "The main elements in your case",
        "What is suggested to this group",
        "The smallest change that would do for you alone",
        "What you are not asked to change",
        "does not constitute compliance with any law",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
}
