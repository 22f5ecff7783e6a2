//! A function as a model: rows in, labels or scores out.
//!
//! This is for models that only their owner can run: a Python callable, a command, a service. Only its answers are known, so each
//! of them is checked: a missing answer, a score that is not a number or an unknown class is an error, never a guess.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::{LoadedModel, ModelInfo, Prediction, Predictor, Rows};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::sha256_hex;

/// How to call a model with many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batching {
    /// Rows per call.
    pub rows: usize,
    /// Calls that may run at the same time.
    pub at_once: usize,
}

/// Small calls from every thread: right for models in this process.
impl Default for Batching {
    fn default() -> Self {
        Batching { rows: 4096, at_once: usize::MAX }
    }
}

/// The answers of a function for its rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Answers {
    /// The class of every row.
    Labels(Vec<u32>),
    /// A score for every row, class 1 being above the threshold; with more than two classes a score for every row and class, row
    /// by row, of which the first highest counts.
    Scores(Vec<f64>),
}

type Function = dyn Fn(Rows<'_>) -> Result<Answers> + Send + Sync;

/// The default threshold of scores, which are taken as probabilities.
pub const DEFAULT_THRESHOLD: f64 = 0.5;

/// A function as a model.
///
/// ```
/// use sogar_models::{Answers, Callback, ModelInfo, Predictor, Rows};
///
/// let info = ModelInfo {
///     format: "function".into(),
///     description: "income minus debt".into(),
///     columns: vec!["income".into(), "debt".into()],
///     categories: vec![vec![], vec![]],
///     unplaced_categories: vec![],
///     classes: 2,
///     class_names: vec![],
///     threshold: Some(0.0),
/// };
/// let model = Callback::new(info, |rows| Ok(Answers::Scores(rows.iter().map(|row| row[0] - row[1]).collect())));
/// let answers = model.predict(Rows { values: &[3.0, 1.0, 1.0, 1.0], columns: 2 })?;
/// assert_eq!((answers[0].label, answers[1].label), (1, 0));
/// # Ok::<(), sogar_base::Error>(())
/// ```
pub struct Callback {
    info: ModelInfo,
    function: Box<Function>,
    batching: Batching,
    gate: Gate,
}

impl Callback {
    /// A function of rows with the columns of `info`; called from one thread at a time, with all rows, unless
    /// [`Callback::batching`] is set.
    pub fn new(
        info: ModelInfo,
        function: impl Fn(Rows<'_>) -> Result<Answers> + Send + Sync + 'static,
    ) -> Callback {
        let batching = Batching { rows: 65_536, at_once: 1 };
        Callback { info, function: Box::new(function), batching, gate: Gate::new(1) }
    }

    /// Sets the largest number of rows per call and of concurrent calls. A function that starts its own parallel work on the
    /// caller's thread pool should be called once at a time, from one thread.
    #[must_use]
    pub fn batching(mut self, batching: Batching) -> Callback {
        self.batching = Batching { rows: batching.rows.max(1), at_once: batching.at_once.max(1) };
        self.gate = Gate::new(self.batching.at_once);
        self
    }

    /// The model for a pipeline. `name` is its name in messages; `identity` is hashed into results, so that later commands can
    /// recognise the same model.
    pub fn into_model(self, name: impl Into<PathBuf>, identity: &[u8]) -> LoadedModel {
        LoadedModel::new(Arc::new(self), name, sha256_hex(identity))
    }

    fn ask(&self, rows: Rows<'_>) -> Result<Vec<Prediction>> {
        let answers = {
            let _pass = self.gate.enter();
            (self.function)(rows)?
        };
        let wanted = rows.iter().len();
        let classes = self.info.classes as usize;
        match answers {
            Answers::Labels(labels) => {
                same_count(labels.len(), wanted, "labels")?;
                labels.into_iter().enumerate().map(|(row, label)| self.labelled(row, label)).collect()
            }
            Answers::Scores(scores) if classes > 2 => {
                same_count(scores.len(), wanted.saturating_mul(classes), "scores")?;
                scores.chunks_exact(classes).enumerate().map(|(row, scores)| highest(row, scores)).collect()
            }
            Answers::Scores(scores) => {
                same_count(scores.len(), wanted, "scores")?;
                scores.into_iter().enumerate().map(|(row, score)| self.scored(row, score)).collect()
            }
        }
    }

    fn labelled(&self, row: usize, label: u32) -> Result<Prediction> {
        if label < self.info.classes {
            return Ok(Prediction { label, score: f64::from(label) });
        }
        let classes = self.info.classes;
        Err(fault(format!(
            "row {} of a call got the class {label}, but there are {classes} classes",
            row + 1
        )))
    }

    fn scored(&self, row: usize, score: f64) -> Result<Prediction> {
        let threshold = self.info.threshold.unwrap_or(DEFAULT_THRESHOLD);
        number(row, score).map(|score| Prediction { label: u32::from(score > threshold), score })
    }
}

impl Predictor for Callback {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn predict(&self, rows: Rows<'_>) -> Result<Vec<Prediction>> {
        let columns = self.info.columns.len();
        if rows.columns != columns || !rows.values.len().is_multiple_of(columns.max(1)) {
            return Err(fault(format!("the model wants rows of {columns} values, but got {}", rows.columns)));
        }
        let mut predictions = Vec::with_capacity(rows.iter().len());
        for values in rows.values.chunks(columns.max(1).saturating_mul(self.batching.rows)) {
            predictions.extend(self.ask(Rows { values, columns })?);
        }
        Ok(predictions)
    }

    fn batching(&self) -> Batching {
        self.batching
    }
}

fn fault(message: String) -> Error {
    Error::new(ErrorKind::Model, message)
}

fn same_count(got: usize, wanted: usize, what: &str) -> Result<()> {
    if got == wanted {
        return Ok(());
    }
    Err(fault(format!("the model gave {got} {what} where {wanted} were wanted"))
        .help("it must answer every row that it gets, once and in order"))
}

fn number(row: usize, score: f64) -> Result<f64> {
    if score.is_nan() {
        Err(fault(format!("row {} of a call got the score NaN", row + 1)))
    } else {
        Ok(score)
    }
}

/// The class of the first highest score.
fn highest(row: usize, scores: &[f64]) -> Result<Prediction> {
    let mut best = Prediction { label: 0, score: f64::NEG_INFINITY };
    for (label, &score) in scores.iter().enumerate() {
        if number(row, score)? > best.score || label == 0 {
            best = Prediction { label: label as u32, score };
        }
    }
    Ok(best)
}

/// Admits a number of concurrent calls; the others wait.
struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

struct Pass<'a>(&'a Gate);

impl Gate {
    fn new(places: usize) -> Gate {
        Gate { free: Mutex::new(places), left: Condvar::new() }
    }

    fn enter(&self) -> Pass<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.left.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Pass(self)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn info(classes: u32) -> ModelInfo {
        ModelInfo {
            format: "test".into(),
            description: String::new(),
            columns: vec!["x".into()],
            categories: vec![vec![]],
            unplaced_categories: vec![],
            classes,
            class_names: vec![],
            threshold: None,
        }
    }

    fn ask(classes: u32, answers: Answers) -> Result<Vec<Prediction>> {
        let model = Callback::new(info(classes), move |_| Ok(answers.clone()));
        model.predict(Rows { values: &[1.0, 2.0], columns: 1 })
    }

    #[test]
    fn scores_are_compared_with_one_half() {
        let answers = ask(2, Answers::Scores(vec![0.5, 0.500001])).unwrap();
        assert_eq!(answers.iter().map(|answer| answer.label).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn the_first_highest_of_several_classes_counts() {
        let answers = ask(3, Answers::Scores(vec![0.2, 0.4, 0.4, f64::NEG_INFINITY, -1.0, -2.0])).unwrap();
        assert_eq!(answers[0], Prediction { label: 1, score: 0.4 });
        assert_eq!(answers[1], Prediction { label: 1, score: -1.0 });
    }

    #[test]
    fn wrong_answers_are_refused() {
        for (answers, part) in [
            (Answers::Labels(vec![0]), "1 labels where 2 were wanted"),
            (Answers::Labels(vec![0, 2]), "row 2 of a call got the class 2"),
            (Answers::Scores(vec![0.1, f64::NAN]), "row 2 of a call got the score NaN"),
            (Answers::Scores(vec![0.1, 0.2, 0.3]), "3 scores where 2 were wanted"),
        ] {
            let error = ask(2, answers).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        assert!(ask(3, Answers::Scores(vec![0.1, 0.2])).is_err());
    }

    #[test]
    fn calls_are_cut_to_size_and_never_more_at_once_than_allowed() {
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let seen = (running.clone(), most.clone());
        let model = Callback::new(info(2), move |rows| {
            assert!(rows.iter().len() <= 10);
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(2));
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(Answers::Scores(rows.iter().map(|row| row[0]).collect()))
        })
        .batching(Batching { rows: 10, at_once: 2 });
        let values: Vec<f64> = (0..95).map(f64::from).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let answers = model.predict(Rows { values: &values, columns: 1 }).unwrap();
                    assert!(answers.iter().map(|answer| answer.score).eq(values.iter().copied()));
                });
            }
        });
        assert!(seen.1.load(Ordering::SeqCst) <= 2);
    }
}
