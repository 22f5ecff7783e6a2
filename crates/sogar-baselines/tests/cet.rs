//! CET beside the published results on the encodings of German Credit and IBM HR Analytics (Attrition) that its authors use.
//!
//! The models are trained by `scripts/paper_models.py`; the folder that it writes is named by SOGAR_PAPER (target/paper by
//! default). Where models are missing the test says so and checks nothing. To be quick the surrogates have fewer neighbours than
//! the default, and the search is shorter; SOGAR_CET_FULL=1 takes the authors' settings on all folds.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code: a panic is the report, and figures are for people

use std::path::{Path, PathBuf};
use std::time::Instant;

use sogar::config::{Config, CostKind};
use sogar::evaluate::HeldOut;
use sogar::pipeline::Prepared;
use sogar::table::Table;
use sogar_baselines::{Baseline, Cet, Score, Status, Stop, evaluate};

/// What the authors' steps give after so many iterations: objective with the price of leaves, ten folds.
struct Published {
    data: &'static str,
    objective_after_300: f64,
    objective_after_3000: f64,
}

const GERMAN: Published =
    Published { data: "german", objective_after_300: 0.795, objective_after_3000: 0.524 };
const ATTRITION: Published =
    Published { data: "attrition", objective_after_300: 1.064, objective_after_3000: 0.891 };

fn fold(data: &str, fold: usize) -> Option<(Prepared, HeldOut)> {
    let given = std::env::var_os("SOGAR_PAPER").map(PathBuf::from);
    let paper = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/paper"));
    let folder = paper.join(data).join(format!("fold{fold}"));
    if ["train.csv", "test.csv", "model.txt"].iter().any(|name| !folder.join(name).exists()) {
        return None;
    }
    let mut config = Config::preset(&format!("paper-{data}")).unwrap();
    config.cost.kind = CostKind::Cet;
    let options = config.read_options().unwrap();
    let read = |name: &str| Table::read(&folder.join(name), &options).unwrap();
    let model = sogar::model::load(&folder.join("model.txt"), None).unwrap();
    let prepared = Prepared::new(config, &folder, &read("train.csv"), model, None).unwrap();
    let held_out = HeldOut::new(&prepared, &read("test.csv")).unwrap();
    Some((prepared, held_out))
}

fn objective(score: &Score) -> f64 {
    score.invalidity + Cet::default().leaf_price * score.parts as f64
}

fn compare(published: &Published) {
    let full = std::env::var_os("SOGAR_CET_FULL").is_some();
    let (method, folds, reference) = if full {
        (Cet::default(), 10, published.objective_after_3000)
    } else {
        let quick = Cet { neighbours: 1000, iterations: 300, ..Cet::default() };
        (quick, 2, published.objective_after_300)
    };
    let mut objectives = Vec::new();
    for number in 1..=folds {
        let Some((prepared, held_out)) = fold(published.data, number) else { continue };
        let start = Instant::now();
        let fitted = method.fit(&prepared, 0, &Stop::default()).unwrap();
        let assigned = fitted.assign(&prepared, &prepared.table, &prepared.affected).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let score = evaluate(&prepared, &prepared.table, &prepared.affected, &assigned).unwrap();
        let elsewhere = fitted.assign(&prepared, held_out.table(), held_out.affected()).unwrap();
        let other = evaluate(&prepared, held_out.table(), held_out.affected(), &elsewhere).unwrap();
        println!(
            "{} fold {number}: cost {:.3}, loss {:.3}, held out {:.3}/{:.3}, {} leaves, {seconds:.1} s",
            published.data, score.cost, score.loss, other.cost, other.loss, score.parts
        );
        assert_eq!(fitted.status(), Status::Complete);
        assert_eq!((score.violations, other.violations), (0, 0));
        assert_eq!((score.coverage, other.coverage), (1.0, 1.0));
        assert!(score.sparsity <= 3.0);
        objectives.push(objective(&score));
    }
    if objectives.is_empty() {
        println!(
            "SKIPPED: no models of {} to compare with (scripts/paper_models.py trains them)",
            published.data
        );
        return;
    }
    let mean = objectives.iter().sum::<f64>() / objectives.len() as f64;
    println!("{}: objective {mean:.3}, published {reference}", published.data);
    // Folds differ by about 0.1 from each other, and so do seeds.
    assert!((mean - reference).abs() < 0.2, "{}: {mean:.3} instead of {reference}", published.data);
}

#[test]
fn german_is_near_the_published_results() {
    compare(&GERMAN);
}

#[test]
fn attrition_is_near_the_published_results() {
    compare(&ATTRITION);
}
