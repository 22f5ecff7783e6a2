//! GLOBE-CE and GLANCE beside their reference results, on the tables and models of the published experiments.
//!
//! The models are trained by `scripts/paper_models.py` and looked for under `SOGAR_PAPER` (default: `target/paper` of the
//! workspace), as `<data set>/fold<k>/{train.csv,test.csv,model.txt}`. References are means over ten folds of
//! prototypes; how far single folds lie from them is in the tolerances.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use sogar::config::{Config, CostKind};
use sogar::feature::FeatureTable;
use sogar::pipeline::Prepared;
use sogar::table::Table;
use sogar_baselines::{Baseline, Glance, GlobeCe, Score, Status, Stop, evaluate, turned_down};

fn fold(name: &str, fold: usize) -> Option<PathBuf> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/paper");
    let root = std::env::var_os("SOGAR_PAPER").map_or(usual, PathBuf::from);
    let folder = root.join(name).join(format!("fold{fold}"));
    let there = ["train.csv", "test.csv", "model.txt"].iter().all(|file| folder.join(file).is_file());
    there.then_some(folder)
}

fn run(folder: &Path, name: &str, cost: CostKind) -> (Prepared, FeatureTable) {
    let mut config = Config::preset(&format!("paper-{name}")).unwrap();
    config.cost.kind = cost;
    let options = config.read_options().unwrap();
    let train = Table::read(&folder.join("train.csv"), &options).unwrap();
    let test = Table::read(&folder.join("test.csv"), &options).unwrap();
    let model = sogar::model::load(&folder.join("model.txt"), config.model.threshold).unwrap();
    let prepared = Prepared::new(config, folder, &train, model, None).unwrap();
    let (held_out, _) = FeatureTable::apply(&prepared.table.features, &test, &prepared.config).unwrap();
    (prepared, held_out)
}

/// Scores of one fold: on the reference table and held out, by the default cost and by CET's.
struct Fold {
    train: Score,
    held_out: Score,
    train_cet: Score,
    held_out_cet: Score,
    seconds: f64,
}

fn scores(method: &dyn Baseline, folder: &Path, name: &str, seed: u64) -> Fold {
    let (prepared, held_out) = run(folder, name, CostKind::Mps);
    let (cet, _) = run(folder, name, CostKind::Cet);
    let start = Instant::now();
    let fitted = method.fit(&prepared, seed, &Stop::default()).unwrap();
    let assigned = fitted.assign(&prepared, &prepared.table, &prepared.affected).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(fitted.status(), Status::Complete);
    let rows = turned_down(&prepared, &held_out).unwrap();
    let others = fitted.assign(&prepared, &held_out, &rows).unwrap();
    let fold = Fold {
        train: evaluate(&prepared, &prepared.table, &prepared.affected, &assigned).unwrap(),
        held_out: evaluate(&prepared, &held_out, &rows, &others).unwrap(),
        train_cet: evaluate(&cet, &prepared.table, &prepared.affected, &assigned).unwrap(),
        held_out_cet: evaluate(&cet, &held_out, &rows, &others).unwrap(),
        seconds,
    };
    assert_eq!((fold.train.violations, fold.held_out.violations), (0, 0));
    fold
}

/// Means over the folds that there are: cost, loss, held-out cost, held-out loss.
fn means(method: &dyn Baseline, name: &str, seed: u64) -> Option<[f64; 4]> {
    let folds: Vec<Fold> =
        (1..=10).filter_map(|k| fold(name, k)).map(|folder| scores(method, &folder, name, seed)).collect();
    if folds.is_empty() {
        eprintln!("SKIPPED: no models of {name} under SOGAR_PAPER; make them with scripts/paper_models.py");
        return None;
    }
    let mean = |value: fn(&Fold) -> f64| folds.iter().map(value).sum::<f64>() / folds.len() as f64;
    let train = [mean(|fold| fold.train.cost), mean(|fold| fold.train.loss)];
    let held_out = [mean(|fold| fold.held_out.cost), mean(|fold| fold.held_out.loss)];
    eprintln!(
        "{} {name}, {} folds: {:.3}({:.3})/{:.3}, held out {:.3}({:.3})/{:.3}, {:.2} s a fold",
        method.name(),
        folds.len(),
        train[0],
        mean(|fold| fold.train_cet.cost),
        train[1],
        held_out[0],
        mean(|fold| fold.held_out_cet.cost),
        held_out[1],
        mean(|fold| fold.seconds),
    );
    Some([train[0], train[1], held_out[0], held_out[1]])
}

/// Compares with reference means of cost, loss, held-out cost and held-out loss.
fn near(method: &dyn Baseline, name: &str, seed: u64, reference: [f64; 4], tolerance: f64) {
    let Some(found) = means(method, name, seed) else { return };
    for (place, (found, reference)) in found.iter().zip(reference).enumerate() {
        assert!((found - reference).abs() <= tolerance, "figure {place}: {found:.3}, reference {reference}");
    }
}

#[test]
fn globe_ce_is_near_its_reference() {
    near(&GlobeCe::default(), "german", 0, [0.514, 0.186, 0.522, 0.131], 0.15);
    near(&GlobeCe::default(), "attrition", 0, [0.476, 0.195, 0.434, 0.088], 0.15);
}

#[test]
fn glance_is_near_its_reference() {
    near(&Glance::default(), "german", 13, [0.416, 0.007, 0.393, 0.006], 0.1);
    near(&Glance::default(), "attrition", 13, [0.625, 0.027, 0.630, 0.019], 0.1);
}

#[test]
fn glance_by_cluster_is_near_its_reference() {
    near(&Glance::by_cluster(), "german", 13, [0.677, 0.100, 0.696, 0.132], 0.15);
    near(&Glance::by_cluster(), "attrition", 13, [0.679, 0.238, 0.704, 0.184], 0.15);
}
