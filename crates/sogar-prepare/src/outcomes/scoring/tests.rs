use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use sogar_solver::Actions;

use super::*;
use crate::actions::{Change, Edit, Follower, all_actions};
use crate::encode::Encoder;
use crate::model::{Answers, Batching, Callback, ModelInfo, Predictor};
use sogar_table::config::ModelConfig;
use sogar_table::feature::{Feature, FeatureTable, Kind};

/// Two numbers and a category; the model never sees `z`.
struct Problem {
    predictor: Callback,
    encoder: Encoder,
    table: FeatureTable,
    rows: Vec<usize>,
    edits: Vec<Edit>,
    actions: Actions,
    asked: Arc<AtomicU64>,
    batches: Arc<Mutex<Vec<usize>>>,
}

fn problem(rows: usize, linked: bool, batching: Batching) -> Problem {
    let levels = ["a", "b", "c"].map(String::from).to_vec();
    let features = vec![
        Feature::new("x", Kind::Integer),
        Feature::new("y", Kind::Real),
        Feature::new("c", Kind::Categorical { levels: levels.clone(), missing: None }),
        Feature::new("z", Kind::Integer),
    ];
    let info = ModelInfo {
        format: "test".into(),
        description: String::new(),
        columns: ["x", "y", "c"].map(String::from).to_vec(),
        categories: vec![vec![], vec![], levels],
        unplaced_categories: vec![],
        classes: 2,
        class_names: vec![],
        threshold: Some(3.0),
    };
    let (encoder, _) = Encoder::match_columns(&info, &features, &ModelConfig::default()).unwrap();
    let values = vec![
        (0..rows).map(|row| (row * 7 % 10) as f64).collect(),
        (0..rows).map(|row| if row % 11 == 3 { f64::NAN } else { (row * 5 % 8) as f64 / 2.0 }).collect(),
        (0..rows).map(|row| (row % 4) as f64).collect(),
        (0..rows).map(|row| row as f64).collect(),
    ];
    let edit = |feature, change| Edit { feature, change, followers: vec![] };
    let mut edits = vec![
        edit(0, Change::shift(3.0, 0.0, 9.0)),
        edit(0, Change::shift(-2.0, 0.0, 9.0)),
        edit(1, Change::shift(1.0, 0.0, 4.0)),
        edit(2, Change::Set { to: 1, not_from: vec![2] }),
        edit(2, Change::Swap { from: 0, to: 2 }),
        edit(3, Change::shift(1.0, 0.0, 5.0)),
    ];
    if linked {
        edits[0].followers.push(Follower {
            feature: 1,
            factor: 0.5,
            lo: 0.0,
            hi: 4.0,
            whole: false,
            codes: Vec::new(),
        });
    }
    let (asked, batches) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
    let seen = (asked.clone(), batches.clone());
    let predictor = Callback::new(info, move |rows| {
        asked.fetch_add(rows.iter().len() as u64, Ordering::SeqCst);
        batches.lock().unwrap().push(rows.iter().len());
        let score = |row: &[f64]| row[0] * 0.5 - if row[1].is_nan() { 0.0 } else { row[1] } + row[2];
        let scores = rows.iter().map(score).map(|score| if score.is_nan() { 0.0 } else { score });
        Ok(Answers::Scores(scores.collect()))
    })
    .batching(batching);
    Problem {
        predictor,
        encoder,
        rows: (0..rows).collect(),
        actions: all_actions(&edits, 3),
        table: FeatureTable { features, values, rows, weights: None },
        edits,
        asked: seen.0,
        batches: seen.1,
    }
}

impl Problem {
    fn outcome_query(&self) -> OutcomeQuery<'_> {
        OutcomeQuery::of_model(
            (&self.predictor, &self.encoder),
            &[false, true],
            (&self.table, &self.rows),
            (&self.edits, &self.actions),
        )
    }

    /// The model's inputs of every pair of row and action, and the outcomes one by one.
    fn plainly(&self) -> (std::collections::BTreeSet<Vec<u64>>, Vec<Vec<bool>>) {
        let mut inputs = std::collections::BTreeSet::new();
        let mut outcomes = vec![vec![false; self.rows.len()]; self.actions.len()];
        for (action, outcomes) in outcomes.iter_mut().enumerate().skip(1) {
            for &row in &self.rows {
                let mut values = self.table.row(row);
                for &edit in self.actions.get(action) {
                    self.edits[edit as usize].apply(&mut values);
                }
                let mut encoded = Vec::new();
                self.encoder.encode_row(&values, &mut encoded);
                let rows = Rows { values: &encoded, columns: encoded.len() };
                outcomes[row] = self.predictor.predict(rows).unwrap()[0].label == 1;
                inputs.insert(encoded.iter().map(|value| value.to_bits()).collect());
            }
        }
        self.asked.store(0, Ordering::SeqCst);
        self.batches.lock().unwrap().clear();
        (inputs, outcomes)
    }
}

fn watch(stop: &Stop) -> Watch<'_> {
    Watch { progress: &|_, _| (), stop }
}

#[test]
fn every_outcome_is_the_models_own_and_every_different_input_is_scored_once() {
    for (linked, batching) in [
        (false, Batching { rows: 7, at_once: 1 }),
        (true, Batching { rows: 64, at_once: 3 }),
        (true, Batching { rows: 1_000_000, at_once: 1 }),
        (false, Batching::default()),
    ] {
        let problem = problem(131, linked, batching);
        let (inputs, expected) = problem.plainly();
        let query = problem.outcome_query();
        let stop = Stop::default();
        let found = score_all(&query, &watch(&stop), 1 << 20).unwrap().unwrap();
        for (action, expected) in expected.iter().enumerate() {
            for (row, &expected) in expected.iter().enumerate() {
                assert_eq!(found.flips.contains(action, row), expected, "action {action}, row {row}");
            }
        }
        assert_eq!(problem.asked.load(Ordering::SeqCst), inputs.len() as u64);
        let counted = count(&query, &stop).unwrap();
        let pairs = 131 * (problem.actions.len() as u64 - 1);
        assert_eq!(counted, Scorings { distinct: inputs.len() as u64, exact: true, pairs });
        assert!(counted.distinct * 2 < pairs, "{counted:?}: the example has hardly any repetition");
        assert!(problem.batches.lock().unwrap().iter().all(|&rows| rows <= batching.rows));
    }
}

#[test]
fn a_large_batch_is_filled_over_many_rows() {
    let problem = problem(131, false, Batching { rows: 200, at_once: 1 });
    score_all(&problem.outcome_query(), &watch(&Stop::default()), 1 << 20).unwrap().unwrap();
    let batches = problem.batches.lock().unwrap();
    assert!(batches[..batches.len() - 1].iter().all(|&rows| rows == 200), "{batches:?}");
}

#[test]
fn a_cancelled_run_stops_before_the_next_batch() {
    let problem = problem(131, false, Batching { rows: 5, at_once: 1 });
    let stop = Stop::default();
    let progress = |done: usize, _| {
        if done >= 3 {
            stop.cancel.cancel();
        }
    };
    let found = score_all(&problem.outcome_query(), &Watch { progress: &progress, stop: &stop }, 0).unwrap();
    assert!(found.is_none());
    let (asked, all) = (problem.asked.load(Ordering::SeqCst), problem.plainly().0.len() as u64);
    assert!(asked < all / 2, "{asked} of {all} inputs were asked about");
    assert!(count(&problem.outcome_query(), &stop).is_none());
}

#[test]
fn an_error_of_the_model_ends_the_run() {
    let problem = problem(131, false, Batching { rows: 5, at_once: 1 });
    let info = problem.predictor.info().clone();
    let predictor = Callback::new(info, |_| Err(Error::new(ErrorKind::Model, "no more")));
    let query = OutcomeQuery { predictor: &predictor, ..problem.outcome_query() };
    let error = score_all(&query, &watch(&Stop::default()), 0).err().unwrap();
    assert_eq!(error.to_string(), "no more");
}
