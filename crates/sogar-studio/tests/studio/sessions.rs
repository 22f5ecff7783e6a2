//! A session without a browser: changes, history, runs, what they reuse and what users take away.

use crate::common::{Running, change, searched, session, waited};
use serde_json::{Value, json};
use sogar::config::Config;
use sogar::model;
use sogar::pipeline::{Prepared, Reporter, Search};
use sogar::summary::FrontFile;
use sogar::table::Table;
use sogar::{CancelToken, Progress};
use sogar_studio::take_away::{commands, compare, configuration, front_file};
use sogar_studio::{Given, ModelOf, Session, TableOf};

/// A front without what differs between two runs of the same problem.
fn bytes(front: &FrontFile) -> String {
    let mut json: Value = serde_json::from_str(&front_file(front).unwrap()).unwrap();
    json.as_object_mut().unwrap().remove("run");
    json.to_string()
}

/// The front that a fresh process finds with a saved configuration.
fn fresh(toml: &str) -> FrontFile {
    let folder = crate::common::german();
    let config = Config::parse(toml, "sogar.toml".as_ref()).unwrap();
    let table = Table::read(&folder.join("german.csv"), &config.read_options().unwrap()).unwrap();
    let model = model::load(&folder.join("model.txt"), None).unwrap();
    let prepared = Prepared::streamed(config, &folder, &table, model, None).unwrap();
    Search(&prepared).solve(&(), &CancelToken::new()).unwrap()
}

#[test]
fn whatever_was_clicked_the_saved_configuration_gives_the_same_bytes() {
    let session = session();
    searched(&session);
    let steps = [
        (&["features", "duration", "immutable"][..], json!(true), true),
        (&["features", "housing", "split"], json!(false), true),
        (&["features", "credit_amount", "weight"], json!(2), true),
        (&["limits", "max_edits"], json!(2), true),
        (&["features", "credit_amount", "direction"], json!("decrease"), true),
        (&["limits", "min_leaf"], json!(30), true),
        (&["features", "duration", "immutable"], Value::Null, true),
        (&["rules"], json!(["credit_amount >= 500"]), false),
        (&["features", "job", "immutable"], json!(false), false),
        (&["features", "status", "protected"], json!(true), true),
    ];
    for (path, value, known) in steps {
        session.change(&change(path, value)).unwrap();
        let run = session.run(searched(&session)).unwrap();
        let toml = configuration(&run.config).unwrap();
        assert_eq!(bytes(&run.front), bytes(&fresh(&toml)), "{path:?}");
        let reuse = run.reuse;
        assert_eq!(reuse.actions, run.front.counts.actions);
        assert_eq!(reuse.known, if known { reuse.actions } else { 0 }, "{path:?}");
    }
}

#[test]
fn history_goes_back_and_forward_and_forks() {
    let session = session();
    let counts = || {
        let problem: Value = serde_json::from_str(&session.problem().unwrap()).unwrap();
        problem["size"]["edits"].as_u64().unwrap()
    };
    let all = counts();
    session.change(&change(&["features", "duration", "immutable"], json!(true))).unwrap();
    let fewer = counts();
    assert!(fewer < all);
    session.undo(true).unwrap();
    assert_eq!(counts(), all);
    session.undo(true).unwrap();
    assert_eq!(counts(), all, "there is nothing before the start");
    session.undo(false).unwrap();
    assert_eq!(counts(), fewer);
    session.go_to(0).unwrap();
    session.change(&change(&["features", "credit_amount", "immutable"], json!(true))).unwrap();
    assert_eq!(session.shown()["opened"]["steps"].as_array().unwrap().len(), 2, "what was undone is gone");
    assert!(session.go_to(9).is_err());
    // The same value again is no step.
    session.change(&change(&["features", "credit_amount", "immutable"], json!(true))).unwrap();
    assert_eq!(session.shown()["opened"]["steps"].as_array().unwrap().len(), 2);
}

#[test]
fn constraints_that_leave_nothing_are_explained_and_can_be_undone() {
    let session = session();
    let names: Vec<String> = {
        let problem: Value = serde_json::from_str(&session.problem().unwrap()).unwrap();
        let columns = problem["columns"].as_array().unwrap().clone();
        columns.iter().map(|column| column["name"].as_str().unwrap().to_owned()).collect()
    };
    for name in &names {
        session.change(&change(&["features", name, "immutable"], json!(true))).unwrap();
    }
    let problem: Value = serde_json::from_str(&session.problem().unwrap()).unwrap();
    assert!(problem["fault"]["message"].as_str().unwrap().contains("no feature can be changed"), "{problem}");
    assert!(session.solve().unwrap_err().to_string().contains("no feature can be changed"));
    session.go_to(0).unwrap();
    searched(&session);
    assert!(session.change(&change(&["features", "no such column", "immutable"], json!(true))).is_ok());
    let problem: Value = serde_json::from_str(&session.problem().unwrap()).unwrap();
    assert!(problem["fault"]["message"].as_str().unwrap().contains("no such column"), "{problem}");
}

#[test]
fn a_new_search_replaces_one_that_runs_and_both_are_kept() {
    let session = session();
    session.solve().unwrap();
    session.solve().unwrap();
    waited(&session);
    let shown = session.shown();
    let runs = shown["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["id"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(runs[1]["complete"], true);
    session.name(1, "  first  ").unwrap();
    assert_eq!(session.shown()["runs"][0]["name"], "first");
    session.name(1, "").unwrap();
    assert!(session.shown()["runs"][0]["name"].is_null());
}

#[test]
fn the_price_of_a_constraint_is_that_of_the_two_fronts() {
    let session = session();
    let old = session.run(searched(&session)).unwrap();
    session.change(&change(&["features", "status", "immutable"], json!(true))).unwrap();
    let new = session.run(searched(&session)).unwrap();
    let found = compare(&old, &new);
    let at = &found["price"]["at"];
    let works = |front: &FrontFile| {
        let cost = at["cost"].as_f64().unwrap();
        let within = front.points.iter().filter(|point| point.cost <= cost);
        within.map(|point| 1.0 - point.loss).fold(0.0, f64::max)
    };
    assert_eq!(at["before"].as_f64().unwrap(), works(&old.front));
    assert_eq!(at["after"].as_f64().unwrap(), works(&new.front));
    assert!(works(&new.front) < works(&old.front), "checking accounts matter here");
    assert_eq!(found["same_costs"], true);
    assert_eq!(found["notes"], json!([]));
    session.change(&change(&["features", "credit_amount", "weight"], json!(3))).unwrap();
    let heavier = session.run(searched(&session)).unwrap();
    let found = compare(&new, &heavier);
    assert_eq!(found["same_costs"], false);
    assert!(found["notes"][0].as_str().unwrap().contains("measured differently"));
}

#[test]
fn dropped_files_that_are_no_table_or_model_are_explained() {
    let folder = crate::common::german();
    let (table, model) =
        (std::fs::read(folder.join("german.csv")).unwrap(), std::fs::read(folder.join("model.txt")).unwrap());
    let session = Session::new(Given::default()).unwrap();
    session.dropped("model", "model.txt", &model).unwrap();
    let fault = |what: &str, bytes: &[u8]| session.dropped(what, "file", bytes).unwrap_err().to_string();
    assert!(fault("table", b"").contains("empty"));
    let image = [&[0x89, b'P', b'N', b'G', 0, 0, 0, 1, 2][..], &[0; 64]].concat();
    let said = fault("table", &image);
    assert!(!said.is_empty() && session.shown()["fault"]["message"].as_str().unwrap() == said);
    assert!(fault("table", b"a,b\n1,2\n3,4\n").contains("column"), "a model of another table");
    session.dropped("table", "german.csv", &table).unwrap();
    assert!(session.shown()["fault"].is_null());
    assert_eq!(session.shown()["opened"]["rows"], 1000);
    let pickle = b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins\x8c\x04eval\x93.";
    assert!(fault("model", pickle).contains("pickle"), "{}", fault("model", pickle));
    assert!(fault("model", b"hello").len() > 10);
    session.dropped("model", "model.txt", &model).unwrap();
    assert!(session.shown()["fault"].is_null());
    let command = b"[model]\ncommand = \"rm -rf /\"\n";
    assert!(
        session.dropped("config", "sogar.toml", command).unwrap_err().to_string().contains("command line")
    );
    assert!(session.dropped("config", "sogar.toml", b"labl = 1").unwrap_err().to_string().contains("labl"));
    let config = std::fs::read(folder.join("sogar.toml")).unwrap();
    session.dropped("config", "sogar.toml", &config).unwrap();
    let problem: Value = serde_json::from_str(&session.problem().unwrap()).unwrap();
    assert_eq!(problem["size"]["actions"], 6272);
}

/// Keeps the gaps that a search tells.
#[derive(Default)]
struct Gaps(std::sync::Mutex<Vec<f64>>);

impl Reporter for Gaps {
    fn outcomes(&self, _: usize, _: usize) {}
    fn search(&self, _: Progress, _: Option<f64>) {}
    fn wants_gap(&self) -> bool {
        true
    }
    fn gap(&self, gap: f64) {
        self.0.lock().unwrap().push(gap);
    }
}

#[test]
fn a_running_search_tells_a_gap_that_shrinks_but_none_of_a_sample() {
    let folder = crate::common::german();
    let mut config = Config::read(&folder.join("sogar.toml")).unwrap();
    config.limits.max_depth = Some(2);
    let gaps = |config: &Config| {
        let table = Table::read(&folder.join("german.csv"), &config.read_options().unwrap()).unwrap();
        let model = model::load(&folder.join("model.txt"), None).unwrap();
        let prepared = Prepared::new(config.clone(), &folder, &table, model, None).unwrap();
        let heard = Gaps::default();
        Search(&prepared).solve(&heard, &CancelToken::new()).unwrap();
        heard.0.into_inner().unwrap()
    };
    let told = gaps(&config);
    assert!(told.iter().all(|gap| (0.0..1.0).contains(gap)) && told.len() > 1, "{told:?}");
    assert!(told.last() < told.first(), "{told:?}");
    config.limits.sample = Some(200);
    assert_eq!(gaps(&config), Vec::<f64>::new());
}

/// A session on the German example, dropped on the page.
fn dropped() -> std::sync::Arc<Session> {
    let read = |name: &str| std::fs::read(crate::common::german().join(name)).unwrap();
    let session = Session::new(Given::default()).unwrap();
    session.dropped("config", "sogar.toml", &read("sogar.toml")).unwrap();
    session.dropped("table", "german people.csv", &read("german.csv")).unwrap();
    session.dropped("model", "model.txt", &read("model.txt")).unwrap();
    session
}

#[test]
fn what_is_taken_away_of_dropped_files_names_them_without_the_temporary_folder() {
    let session = dropped();
    session.change(&change(&["limits", "max_depth"], json!(1))).unwrap();
    let run = session.run(searched(&session)).unwrap();
    let told = commands(&run.inputs, &["age<=25".to_owned()]);
    let first = "sogar solve 'german people.csv' --model model.txt --config sogar.toml -o front.json";
    assert_eq!(told, format!("{first}\nsogar report front.json --group 'age<=25' -o report.html\n"));
    assert_eq!((&*run.front.run.table_path, &*run.front.run.model_path), ("german people.csv", "model.txt"));
    assert_eq!(bytes(&run.front), bytes(&fresh(&configuration(&run.config).unwrap())));
    let folder = std::env::temp_dir();
    let fault = session.dropped("table", "other.csv", b"a,b\n1,2\n3,4\n").unwrap_err().to_string();
    assert!(!fault.contains(&*folder.to_string_lossy()), "{fault}");
}

#[test]
fn settings_stay_when_a_file_of_the_same_columns_replaces_another_and_go_with_another_table() {
    let session = dropped();
    let config = |session: &Session| {
        let problem: Value = serde_json::from_str(&session.problem().unwrap()).unwrap();
        problem["config"].clone()
    };
    session.change(&change(&["features", "duration", "immutable"], json!(true))).unwrap();
    let before = config(&session);
    assert_eq!(
        before["features"]["status"]["display"], "checking account",
        "the dropped configuration holds"
    );
    let model = std::fs::read(crate::common::german().join("model.txt")).unwrap();
    session.dropped("model", "model.txt", &model).unwrap();
    assert_eq!(config(&session), before);
    let text = std::fs::read_to_string(crate::common::german().join("german.csv")).unwrap();
    let some: Vec<&str> = text.lines().take(500).collect();
    session.dropped("table", "german.csv", some.join("\n").as_bytes()).unwrap();
    assert_eq!((config(&session), session.shown()["opened"]["rows"].as_u64()), (before, Some(499)));
    // A table of other columns waits for its model; what is open stays so.
    assert!(session.dropped("table", "other.csv", b"a,b\n1,2\n3,4\n").is_err());
    let shown = session.shown();
    assert_eq!((&shown["table"], &shown["opened"]["table"]), (&json!("other.csv"), &json!("german.csv")));
    session.change(&change(&["features", "duration", "immutable"], Value::Null)).unwrap();
    // One more column: nothing is guessed in silence, so the settings start anew.
    let wider: String = text
        .lines()
        .enumerate()
        .map(|(i, line)| format!("{line},{}\n", if i == 0 { "more".to_owned() } else { (i % 3).to_string() }))
        .collect();
    session.dropped("table", "wider.csv", wider.as_bytes()).unwrap();
    assert_eq!(config(&session)["features"]["age"]["protected"], true);
    assert!(config(&session)["features"]["status"]["display"].is_null());
}

#[test]
fn a_session_starts_from_what_config_init_knows() {
    let folder = crate::common::german();
    let given = Given {
        table: Some(TableOf::File(folder.join("german.csv"))),
        model: Some(ModelOf::Source(sogar::model::Source::File(folder.join("model.txt")))),
        ..Given::default()
    };
    let session = Session::new(given).unwrap();
    session.open().unwrap();
    let problem: Value = serde_json::from_str(&session.problem().unwrap()).unwrap();
    let columns = problem["columns"].as_array().unwrap();
    let column = |name: &str| columns.iter().find(|column| column["name"] == name).unwrap();
    assert_eq!(column("age")["settings"]["protected"], true);
    assert!(column("age")["personal"]["clear"].as_bool().unwrap());
    assert_eq!(problem["config"]["data"]["label"], "credit");
    assert_eq!(problem["config"]["data"]["desired"], json!(["good"]));
    let bars = &column("duration")["bars"]["counts"];
    let people: u64 = bars
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|bar| bar.as_array().unwrap())
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert_eq!(people, 1000);
    let drawn = &column("duration")["bars"];
    assert_eq!((&drawn["low"], &drawn["width"]), (&json!(4.0), &json!(4.0)), "whole numbers have whole bars");
    let down: u64 = bars.as_array().unwrap().iter().map(|bar| bar[1].as_u64().unwrap()).sum();
    assert_eq!(down, problem["size"]["affected"].as_u64().unwrap());
}

#[test]
fn ending_stops_the_search_and_leaves_nothing() {
    let session = session();
    session.change(&change(&["limits", "max_depth"], json!(4))).unwrap();
    session.change(&change(&["limits", "min_leaf"], json!(5))).unwrap();
    session.solve().unwrap();
    let server = Running::new(session);
    let (status, _) = server.own("POST", "end", b"{}");
    assert_eq!(status, 200);
    let session = std::sync::Arc::clone(&server.session);
    assert!(session.has_ended());
    server.ends();
    assert!(session.shown()["live"].is_null(), "the search has stopped");
}

#[test]
fn clicks_at_the_same_time_all_count() {
    let session = session();
    for steps in [10, 20, 30, 40] {
        session.change(&change(&["limits", "min_leaf"], json!(steps))).unwrap();
    }
    let at = || session.shown()["opened"]["at"].as_u64().unwrap();
    let twice = |act: &(dyn Fn() + Sync)| {
        std::thread::scope(|scope| {
            scope.spawn(act);
            scope.spawn(act);
        });
    };
    for _ in 0..5 {
        assert_eq!(at(), 4);
        twice(&|| session.undo(true).unwrap());
        assert_eq!(at(), 2, "two clicks go back two steps");
        twice(&|| session.undo(false).unwrap());
    }
}
