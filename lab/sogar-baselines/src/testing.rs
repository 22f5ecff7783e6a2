//! Small runs for tests: a table and a configuration as text, and any function as the model.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sogar::config::Config;
use sogar::feature::FeatureTable;
use sogar::model::{Batching, LoadedModel, ModelInfo, Prediction, Predictor, Rows};
use sogar::pipeline::Prepared;
use sogar::table::{ReadOptions, csv};
use sogar_solver::stop::Stop;

use crate::contract::{Assigned, Baseline, Description, FitStatus};
use crate::evaluate::evaluate;

/// A function of the feature values (levels by their index) as a model.
struct Function<F> {
    info: ModelInfo,
    accepts: F,
}

impl<F: Fn(&[f64]) -> bool + Send + Sync> Predictor for Function<F> {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn predict(&self, rows: Rows<'_>) -> sogar::Result<Vec<Prediction>> {
        let label = |row| u32::from((self.accepts)(row));
        Ok(rows.iter().map(|row| Prediction { label: label(row), score: 0.0 }).collect())
    }
}

/// A run whose model accepts as `accepts` says.
pub fn prepared<F>(table: &str, config: &str, accepts: F) -> Prepared
where
    F: Fn(&[f64]) -> bool + Send + Sync + 'static,
{
    let table = csv::parse(table.as_bytes(), Path::new("t.csv"), &ReadOptions::default()).unwrap();
    let config = Config::parse(config, Path::new("sogar.toml")).unwrap();
    let (features, _) = FeatureTable::infer(&table, &config).unwrap();
    let info = ModelInfo {
        format: "function".into(),
        description: String::new(),
        columns: features.features.iter().map(|feature| feature.name.clone()).collect(),
        // Levels are passed as their indices.
        categories: features
            .features
            .iter()
            .map(|feature| if feature.is_ordered() { Vec::new() } else { feature.levels().to_vec() })
            .collect(),
        unplaced_categories: Vec::new(),
        classes: 2,
        class_names: Vec::new(),
        threshold: None,
    };
    let predictor = Arc::new(Function { info, accepts });
    let model = LoadedModel::new(predictor, "model", "");
    Prepared::new(config, Path::new(""), &table, model, None).unwrap()
}

/// A model that takes one call at a time, with a few rows each.
struct OneAtATime {
    model: Arc<dyn Predictor>,
    busy: AtomicBool,
}

impl Predictor for OneAtATime {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn predict(&self, rows: Rows<'_>) -> sogar::Result<Vec<Prediction>> {
        assert!(!self.busy.swap(true, Ordering::SeqCst), "asked by two threads at once");
        let predictions = self.model.predict(rows);
        self.busy.store(false, Ordering::SeqCst);
        predictions
    }

    fn batching(&self) -> Batching {
        Batching { rows: 3000, at_once: 1 }
    }
}

/// The same run with an opaque model that allows one thread at a time.
pub fn one_at_a_time(mut prepared: Prepared) -> Prepared {
    let model = OneAtATime { model: prepared.model().predictor.clone(), busy: AtomicBool::new(false) };
    prepared.set_predictor(Arc::new(model));
    prepared
}

/// A method's proposals to the affected rows and its description, fitted on this many threads.
pub fn proposals(
    method: &dyn Baseline,
    prepared: &Prepared,
    seed: u64,
    threads: usize,
) -> (Vec<Assigned>, Description) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let fitted = method.fit(prepared, seed, &Stop::default()).unwrap();
        let assigned = fitted.assign(prepared, prepared.table(), prepared.problem_rows()).unwrap();
        (assigned, fitted.describe())
    })
}

/// The number of threads changes nothing, nor does a model that takes one call at a time.
pub fn assert_order_does_not_matter(method: &dyn Baseline, seed: u64) {
    let expected = proposals(method, &german(), seed, 1);
    assert_eq!(proposals(method, &german(), seed, 4), expected, "four threads");
    assert_eq!(proposals(method, &one_at_a_time(german()), seed, 2), expected, "one question at a time");
}

/// A fit whose time is over before it begins says so, and still answers for everyone.
pub fn assert_stops_at_once(method: &dyn Baseline) {
    let prepared = german();
    let stop = Stop { deadline: Some(std::time::Instant::now()), ..Stop::default() };
    let fitted = method.fit(&prepared, 0, &stop).unwrap();
    assert_eq!(fitted.status(), FitStatus::TimeLimit);
    let rows = &prepared.problem_rows()[..3];
    assert_eq!(fitted.assign(&prepared, prepared.table(), rows).unwrap().len(), rows.len());
}

/// A method copes with missing values, a constant, ordered levels, and a person with values that it has never seen.
pub fn assert_gaps_are_no_trouble(method: &dyn Baseline, seed: u64, kinds: &str) {
    let config =
        format!("[features]\n{kinds}o = {{ kind = \"ordinal\", levels = [\"low\", \"mid\", \"high\"] }}\n");
    let table = "x,k,o,c\n1,5,low,a\n,5,mid,b\n3,5,high,a\n4,5,high,b\n9,5,high,b\n";
    let prepared = prepared(table, &config, |row| row[0] > 5.0 || row[2] == 2.0 && row[3] == 1.0);
    let fitted = method.fit(&prepared, seed, &Stop::default()).unwrap();
    let assigned = fitted.assign(&prepared, prepared.table(), prepared.problem_rows()).unwrap();
    let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
    assert_eq!(score.violations, 0);
    fitted.assign(&prepared, &person(&prepared, &[f64::NAN, -3.0, 0.0, 2.0]), &[0]).unwrap();
}

/// Invalid settings are errors with a remedy.
pub fn assert_refused(methods: &[&dyn Baseline]) {
    let prepared = german();
    for method in methods {
        let error = method.fit(&prepared, 0, &Stop::default()).map(|_| ()).unwrap_err();
        assert!(error.remedy().is_some(), "{error}");
    }
}

/// The German Credit example.
pub fn german() -> Prepared {
    german_with(|_| ())
}

/// The same with another configuration.
pub fn german_with(change: impl FnOnce(&mut Config)) -> Prepared {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/german");
    let mut config = Config::read(&folder.join("sogar.toml")).unwrap();
    change(&mut config);
    let table =
        sogar::table::Table::read(&folder.join("german.csv"), &config.read_options().unwrap()).unwrap();
    let model = sogar::model::load(&folder.join("model.txt"), None).unwrap();
    Prepared::new(config, &folder, &table, model, None).unwrap()
}

/// The features of a run with a single given row.
pub fn person(prepared: &Prepared, values: &[f64]) -> FeatureTable {
    let features = prepared.table().features.clone();
    FeatureTable {
        features,
        values: values.iter().map(|&value| vec![value]).collect(),
        rows: 1,
        weights: None,
    }
}
