//! Problems that do not fit into the memory that they are given: the same result by another way, or a refusal.

#![allow(clippy::unwrap_used, clippy::panic)] // a panic is the report

use std::path::Path;
use std::sync::Mutex;

use sogar::config::Config;
use sogar::model::{LoadedModel, from_bytes};
use sogar::pipeline::{Prepared, Reporter, Search};
use sogar::table::{ReadOptions, csv};
use sogar::{CancelToken, ErrorKind, Progress};

/// Keeps what it is warned of.
#[derive(Default)]
struct Listening(Mutex<Vec<String>>);

impl Reporter for Listening {
    fn outcomes(&self, _: usize, _: usize) {}
    fn search(&self, _: Progress, _: Option<f64>) {}
    fn warning(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// The small problem of the command line's tests, everybody forty times.
fn prepared(memory_limit: Option<u128>) -> Prepared {
    const PEOPLE: &str = include_str!("../../../sogar-cli/tests/fixtures/people.csv");
    const MODEL: &str = include_str!("../../../sogar-cli/tests/fixtures/model.txt");
    let (head, rows) = PEOPLE.split_once('\n').unwrap();
    let text = format!("{head}\n{}", rows.repeat(40));
    let table = csv::parse(text.as_bytes(), Path::new("people.csv"), &ReadOptions::default()).unwrap();
    let predictor = from_bytes(MODEL.as_bytes(), None).unwrap();
    let model = LoadedModel::new(predictor, "model.txt", "hash");
    let mut config = Config::default();
    config.data.label = Some("loan".into());
    config.data.desired = vec!["yes".into()];
    config.data.ignore = vec!["predicted".into()];
    config.limits.max_depth = Some(2);
    config.limits.threads = Some(1);
    config.limits.memory_limit = memory_limit.map(|bytes| format!("{bytes}"));
    Prepared::new(config, Path::new(""), &table, model, None).unwrap()
}

#[test]
fn flips_in_a_file_give_the_same_front() {
    let plain = prepared(None);
    let estimate = plain.memory_estimate(plain.size());
    let mut front = Search(&plain).solve(&(), &CancelToken::new()).unwrap();
    let listening = Listening::default();
    let mut other =
        Search(&prepared(Some(estimate.total() - 1))).solve(&listening, &CancelToken::new()).unwrap();
    let warnings = listening.0.into_inner().unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("kept in a temporary file"), "{warnings:?}");
    front.run = Default::default();
    other.run = Default::default();
    assert_eq!(serde_json::to_string(&front).unwrap(), serde_json::to_string(&other).unwrap());
    assert!(front.points.len() > 20);
    let error = Search(&prepared(Some(estimate.rest))).solve(&(), &CancelToken::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory);
}
