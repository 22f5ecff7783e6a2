//! The folds of the protocol, and what a method does on them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use sogar::config::{Config, Direction, FeatureConfig, KindName};
use sogar::evaluate::HeldOut;
use sogar::feature::{FeatureTable, Kind};
use sogar::pipeline::Prepared;
use sogar::table::Table;
use sogar_baselines::{Baseline, FitStatus, Score, Stop, evaluate};

/// A fold's people with one model.
pub struct Fold {
    pub train: Prepared,
    pub held_out: HeldOut,
}

/// What a method did on a fold, or does on average.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    pub cost: f64,
    pub loss: f64,
    pub held_out_cost: f64,
    pub held_out_loss: f64,
}

/// The folders of the folds that are there: the first two, or as many as `SOGAR_FOLDS` says.
pub fn folders(data: &str) -> Vec<PathBuf> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/paper");
    let root = std::env::var_os("SOGAR_PAPER").map_or(usual, PathBuf::from);
    let folds = std::env::var("SOGAR_FOLDS").map_or(2, |folds| folds.parse().unwrap());
    let complete = |folder: &PathBuf| {
        ["train.csv", "test.csv", "model.txt"].iter().all(|file| folder.join(file).is_file())
    };
    let found: Vec<PathBuf> =
        (1..=folds).map(|fold| root.join(data).join(format!("fold{fold}"))).filter(complete).collect();
    if found.is_empty() {
        sogar_testing::skipped(
            "data",
            &format!("no models of {data}: run scripts/paper_models.py, or set SOGAR_PAPER"),
        );
    }
    found
}

/// Opens a fold; `change` has the last word on the preset's configuration.
pub fn open(folder: &Path, data: &str, change: impl FnOnce(&mut Config, &Table)) -> Fold {
    let mut config = Config::preset(&format!("paper-{data}")).unwrap();
    let options = config.read_options().unwrap();
    let read = |name: &str| Table::read(&folder.join(name), &options).unwrap();
    let table = read("train.csv");
    change(&mut config, &table);
    let model = sogar::model::load(&folder.join("model.txt"), None).unwrap();
    let train = Prepared::new(config, folder, &table, model, None).unwrap();
    let held_out = HeldOut::new(&train, &read("test.csv")).unwrap();
    Fold { train, held_out }
}

/// The constraints of the CET authors: what nobody can change, what can only grow; everything else is free.
pub fn as_the_cet_authors(config: &mut Config, data: &str) {
    let (fixed, growing): (&[&str], &[&str]) = match data {
        "german" => (&["Age", "ForeignWorker", "Single", "Gender"], &[]),
        _ => (
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
        ),
    };
    config.features.clear();
    for name in fixed {
        let settings = FeatureConfig { immutable: Some(true), ..FeatureConfig::default() };
        config.features.insert((*name).to_owned(), settings);
    }
    for name in growing {
        let settings = FeatureConfig { direction: Some(Direction::Increase), ..FeatureConfig::default() };
        config.features.insert((*name).to_owned(), settings);
    }
}

/// Declares binary features categorical. The references charge a binary feature as two one-hot columns, with the larger
/// share of its two values, where sogar's default cost takes the share of the larger value.
pub fn binaries_as_categories(config: &mut Config, table: &Table) {
    for feature in FeatureTable::infer(table, config).unwrap().0.features {
        if matches!(feature.kind, Kind::Binary { .. }) {
            config.features.entry(feature.name).or_default().kind = Some(KindName::Categorical);
        }
    }
}

/// Fits a method on a fold, and scores it on the fold's people and on those held out.
pub fn scores(method: &dyn Baseline, fold: &Fold, seed: u64) -> (Score, Score) {
    let Fold { train, held_out } = fold;
    let start = Instant::now();
    let fitted = method.fit(train, seed, &Stop::default()).unwrap();
    let assigned = fitted.assign(train, train.table(), train.problem_rows()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(fitted.status(), FitStatus::Complete);
    let own = evaluate(train, train.table(), train.problem_rows(), &assigned).unwrap();
    let others = fitted.assign(train, held_out.table(), held_out.affected()).unwrap();
    let other = evaluate(train, held_out.table(), held_out.affected(), &others).unwrap();
    println!(
        "{} on {}: {:.3}/{:.3}, held out {:.3}/{:.3}, {} parts, {seconds:.2} s",
        method.name(),
        train.table_path().display(),
        own.cost,
        own.loss,
        other.cost,
        other.loss,
        own.parts
    );
    (own, other)
}

/// The means over folds.
pub fn mean(scores: &[(Score, Score)]) -> Figures {
    let over =
        |value: &dyn Fn(&(Score, Score)) -> f64| scores.iter().map(value).sum::<f64>() / scores.len() as f64;
    Figures {
        cost: over(&|(own, _)| own.cost),
        loss: over(&|(own, _)| own.loss),
        held_out_cost: over(&|(_, other)| other.cost),
        held_out_loss: over(&|(_, other)| other.loss),
    }
}

/// Fails unless the figures are as near to the reference (cost and loss, then held out) as the tolerances say: on the people
/// themselves, and held out.
pub fn assert_near(what: &str, found: Figures, reference: [f64; 4], tolerance: [f64; 2]) {
    let figures = [found.cost, found.loss, found.held_out_cost, found.held_out_loss];
    println!("{what}: {figures:.3?}, reference {reference:?}");
    for (place, (found, reference)) in figures.iter().zip(reference).enumerate() {
        let apart = (found - reference).abs();
        assert!(apart <= tolerance[place / 2], "{what}, figure {place}: {found:.3}, reference {reference}");
    }
}

/// Runs a method that is charged for binaries as the references are.
pub fn near_our_prototype(
    method: &dyn Baseline,
    data: &str,
    seed: u64,
    reference: [f64; 4],
    tolerance: impl Fn(usize) -> [f64; 2],
) {
    let scores: Vec<(Score, Score)> = folders(data)
        .iter()
        .map(|folder| scores(method, &open(folder, data, binaries_as_categories), seed))
        .collect();
    if !scores.is_empty() {
        let what = format!("{} on {data}, {} fold(s)", method.name(), scores.len());
        assert_near(&what, mean(&scores), reference, tolerance(scores.len()));
    }
}

/// How far means may be from the reference's over ten folds, for a method that draws lots: costs of single folds scatter by
/// up to 0.13, so two means of ten differ by 0.12 in one of twenty cases; held out there are some 20 to 40 people a fold.
pub fn spread(folds: usize) -> [f64; 2] {
    if folds == 10 { [0.08, 0.12] } else { [0.16, 0.2] }
}
