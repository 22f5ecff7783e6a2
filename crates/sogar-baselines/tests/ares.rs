//! AReS beside the reference results on the published encodings of German Credit and IBM HR Analytics (Attrition).
//!
//! The models are trained by `scripts/paper_models.py`; the folder that it writes is named by SOGAR_PAPER (target/paper by
//! default). Where models are missing the test says so and checks nothing. SOGAR_FOLDS=10 takes all folds instead of two.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a panic is the report

use std::path::{Path, PathBuf};
use std::time::Instant;

use sogar::config::{Config, CostKind, Direction, FeatureConfig};
use sogar::evaluate::HeldOut;
use sogar::pipeline::Prepared;
use sogar::table::Table;
use sogar_baselines::{Ares, Baseline, Score, Status, Stop, evaluate};

/// What the reference let nobody change, and what it let only grow; everything else is free.
const GERMAN: (&[&str], &[&str]) = (&["Age", "ForeignWorker", "Single", "Gender"], &[]);
const ATTRITION: (&[&str], &[&str]) = (
    &[
        "Age",
        "DistanceFromHome",
        "Education",
        "Gender",
        "NumCompaniesWorked",
        "EducationField",
        "MaritalStatus",
    ],
    &["YearsAtCompany", "YearsInCurrentRole", "YearsSinceLastPromotion", "YearsWithCurrManager"],
);

/// A fold's people with one model, seen through two costs.
struct Fold {
    mps: Prepared,
    cet: Prepared,
    held_out: HeldOut,
}

fn folder(data: &str, fold: usize) -> PathBuf {
    let given = std::env::var_os("SOGAR_PAPER").map(PathBuf::from);
    let paper = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/paper"));
    paper.join(data).join(format!("fold{fold}"))
}

fn fold(data: &str, fold: usize) -> Option<Fold> {
    let (fixed, growing) = if data == "german" { GERMAN } else { ATTRITION };
    let folder = folder(data, fold);
    if ["train.csv", "test.csv", "model.txt"].iter().any(|name| !folder.join(name).exists()) {
        return None;
    }
    let prepared = |kind: CostKind| {
        let mut config = Config::preset(&format!("paper-{data}")).unwrap();
        config.cost.kind = kind;
        config.features.clear();
        for name in fixed {
            let settings = FeatureConfig { immutable: Some(true), ..FeatureConfig::default() };
            config.features.insert((*name).to_owned(), settings);
        }
        for name in growing {
            let settings = FeatureConfig { direction: Some(Direction::Increase), ..FeatureConfig::default() };
            config.features.insert((*name).to_owned(), settings);
        }
        let table = Table::read(&folder.join("train.csv"), &config.read_options().unwrap()).unwrap();
        let model = sogar::model::load(&folder.join("model.txt"), None).unwrap();
        Prepared::new(config, &folder, &table, model, None).unwrap()
    };
    let (mps, cet) = (prepared(CostKind::Mps), prepared(CostKind::Cet));
    let held_out = Table::read(&folder.join("test.csv"), &mps.config.read_options().unwrap()).unwrap();
    let held_out = HeldOut::new(&mps, &held_out).unwrap();
    Some(Fold { mps, cet, held_out })
}

/// Mean cost by the default cost, mean cost by the `cet` cost, loss: on the affected rows, and on the held-out ones.
type Figures = [f64; 6];

fn figures(fold: &Fold) -> (Figures, f64) {
    let start = Instant::now();
    // As the reference did: fitted with the `cet` cost.
    let fitted = Ares::default().fit(&fold.cet, 0, &Stop::default()).unwrap();
    let assigned = fitted.assign(&fold.cet, &fold.cet.table, &fold.cet.affected).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(fitted.status(), Status::Complete);
    let score = |prepared: &Prepared| -> Score {
        evaluate(prepared, &fold.cet.table, &fold.cet.affected, &assigned).unwrap()
    };
    let (mps, cet) = (score(&fold.mps), score(&fold.cet));
    assert_eq!((mps.violations, mps.coverage), (0, 1.0));
    let (table, rows) = (fold.held_out.table(), fold.held_out.affected());
    let elsewhere = fitted.assign(&fold.cet, table, rows).unwrap();
    let other = evaluate(&fold.mps, table, rows, &elsewhere).unwrap();
    let other_cet = evaluate(&fold.cet, table, rows, &elsewhere).unwrap();
    assert_eq!(other.violations, 0);
    ([mps.cost, cet.cost, mps.loss, other.cost, other_cet.cost, other.loss], seconds)
}

/// The mean over folds, beside the reference's over ten. Two folds are quick, and may be off by the spread of folds; all
/// ten are as the reference.
fn compare(data: &str, reference: Figures) {
    let wanted = std::env::var("SOGAR_FOLDS").ok().and_then(|folds| folds.parse().ok()).unwrap_or(2);
    let mut sums = [0.0; 6];
    let mut found = 0;
    for number in 1..=wanted {
        let Some(fold) = fold(data, number) else { continue };
        let (figures, seconds) = figures(&fold);
        println!("{data} fold {number}: {figures:.3?}, {seconds:.2} s");
        sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        found += 1;
    }
    if found == 0 {
        let folder = folder(data, 1);
        println!(
            "SKIPPED: no models in {}: run scripts/paper_models.py, or set SOGAR_PAPER",
            folder.display()
        );
        return;
    }
    let means = sums.map(|sum| sum / f64::from(found));
    println!("{data}, {found} folds: {means:.3?}, reference {reference:?}");
    // The `cet` cost and the loss are what the method optimises; the other cost is for information.
    let tolerance = if found == 10 { 0.005 } else { 0.15 };
    for place in [1, 2] {
        let off = (means[place] - reference[place]).abs();
        assert!(off < tolerance, "{data}: {means:?}, but the reference has {reference:?}");
    }
    for place in [4, 5] {
        let off = (means[place] - reference[place]).abs();
        assert!(off < 2.0 * tolerance, "{data}, held out: {means:?}, but the reference has {reference:?}");
    }
}

#[test]
fn on_german_credit_it_does_as_the_reference() {
    compare("german", [0.561, 0.358, 0.196, 0.581, 0.381, 0.215]);
}

#[test]
fn on_attrition_it_does_as_the_reference() {
    compare("attrition", [0.664, 0.578, 0.154, 0.677, 0.577, 0.135]);
}
