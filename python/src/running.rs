//! Runs long work on another thread without the interpreter's lock, while this thread listens for Ctrl-C.
//!
//! Python runs signal handlers only on its main thread, and only while that thread runs Python. So the calling thread waits here,
//! and checks every 25 ms for signals and for progress to show. No other thread calls back into Python for that.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sogar::CancelToken;
use sogar::limits::about;
use sogar::outcomes::Scorings;
use sogar::pipeline::Reporter;

/// How long a signal may go unnoticed.
const TICK: Duration = Duration::from_millis(25);

/// How long the display of a stage may stay unchanged.
const SHOWN_AGAIN: Duration = Duration::from_secs(1);

/// A result that another thread will put here.
struct Promise<T> {
    result: Mutex<Option<std::thread::Result<T>>>,
    kept: Condvar,
}

impl<T> Promise<T> {
    fn keep(&self, result: std::thread::Result<T>) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.kept.notify_all();
    }

    /// Waits for a moment.
    fn wait(&self) -> Option<std::thread::Result<T>> {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.kept.wait_timeout_while(result, TICK, |result| result.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}

/// Does the work on another thread. `tick` is called regularly with the interpreter's lock; if it fails, so does this function,
/// without waiting for the work.
fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    mut tick: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let promise = Arc::new(Promise { result: Mutex::new(None), kept: Condvar::new() });
    let kept = promise.clone();
    std::thread::Builder::new()
        .name("sogar".to_owned())
        .spawn(move || kept.keep(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))))
        .map_err(|cause| PyRuntimeError::new_err(format!("a thread could not be started: {cause}")))?;
    loop {
        match py.detach(|| promise.wait()) {
            Some(Ok(result)) => return Ok(result),
            Some(Err(_)) => {
                return Err(PyRuntimeError::new_err("an internal error of sogar; please report it"));
            }
            None => tick()?,
        }
    }
}

/// Work that cannot be stopped early: after Ctrl-C it continues in the background, and its result is dropped.
pub fn run_detached<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    wait_for(py, work, || py.check_signals())
}

/// Work that stops early, with what it has, when the token is cancelled. Ctrl-C, or a failing progress bar, cancels it; the
/// exception is returned beside the result.
pub fn run_interruptible<T: Send + 'static>(
    py: Python<'_>,
    cancel: &CancelToken,
    reports: &Arc<Reports>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<(T, Option<PyErr>)> {
    let mut interrupt = None;
    let show = |interrupt: &mut Option<PyErr>| {
        let seen = py.check_signals().and_then(|()| match progress {
            Some(progress) if interrupt.is_none() => reports.show(progress),
            _ => Ok(()),
        });
        if let Err(error) = seen {
            cancel.cancel();
            interrupt.get_or_insert(error);
        }
    };
    let result = wait_for(py, work, || {
        show(&mut interrupt);
        Ok(())
    })?;
    show(&mut interrupt);
    Ok((result, interrupt))
}

/// The engine's last progress report, for the waiting thread.
#[derive(Default)]
pub struct Reports(Mutex<Heard>);

#[derive(Default)]
struct Heard {
    /// Stage, how much of it is done, how much there is, and a remark.
    stage: Option<(String, usize, usize, String)>,
    /// Whether it is new, and when it was last shown.
    news: bool,
    shown: Option<Instant>,
    /// What is to be said at once.
    announced: Vec<String>,
    /// Warnings.
    warnings: Vec<String>,
}

impl Reports {
    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, stage: String, done: usize, all: usize, remark: String) {
        let mut heard = self.heard();
        heard.stage = Some((stage, done, all, remark));
        heard.news = true;
    }

    /// The warnings.
    pub fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.heard().warnings)
    }

    fn show(&self, progress: &Bound<'_, PyAny>) -> PyResult<()> {
        let stage = {
            let mut heard = self.heard();
            // Old reports are shown again from time to time: a stage that does not move is still running.
            let due = heard.news || heard.shown.is_none_or(|shown| shown.elapsed() > SHOWN_AGAIN);
            (heard.news, heard.shown) =
                if due { (false, Some(Instant::now())) } else { (heard.news, heard.shown) };
            heard.stage.clone().filter(|_| due)
        };
        let announced = std::mem::take(&mut self.heard().announced);
        for text in announced {
            progress.call_method1("announce", (text,))?;
        }
        if let Some(stage) = stage {
            progress.call1(stage)?;
        }
        Ok(())
    }
}

impl Reporter for Reports {
    fn outcomes(&self, done: usize, all: usize) {
        self.set("outcomes of all actions".to_owned(), done, all, String::new());
    }

    fn search(&self, progress: sogar::Progress, left: Option<f64>) {
        let sogar::Progress { depth, splits_done, splits_total, leaf_sets } = progress;
        let left = left.map(|seconds| format!(", {} left", about(seconds))).unwrap_or_default();
        self.set(
            format!("search, depth {depth}"),
            splits_done,
            splits_total,
            format!("{leaf_sets} leaf sets{left}"),
        );
    }

    fn announce(&self, text: &str) {
        self.heard().announced.push(sogar::markup::visible(text));
    }

    fn checking(&self, what: &str, done: usize, all: usize) {
        self.set(what.to_owned(), done, all, String::new());
    }

    fn scorings(&self, scorings: Scorings) {
        self.set(format!("the model scores {} edited rows", scorings.distinct), 0, 1, String::new());
    }

    fn warning(&self, text: &str) {
        self.heard().warnings.push(sogar::markup::visible(text));
    }
}
