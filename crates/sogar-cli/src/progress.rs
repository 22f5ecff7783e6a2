//! Progress on stderr for longer work: bars on a terminal, and a line every few seconds elsewhere.

use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sogar::Progress;
use sogar::describe::grouped;
use sogar::limits::about;
use sogar::markup::visible;
use sogar::outcomes::Scorings;
use sogar::pipeline::Reporter;
use sogar::summary::EvaluatedPoint;

use crate::output::Output;

/// Shows outcomes and search as bars, or as lines.
pub struct Bars<'a> {
    output: &'a Output,
    start: Instant,
    shown: Shown,
    /// What the search has found so far, in words.
    found: Mutex<String>,
}

/// Where progress is shown.
enum Shown {
    Nowhere,
    Bar(Mutex<Option<(Stage, ProgressBar)>>),
    Lines(Lines),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    Outcomes,
    Depth(u32),
    Other(String),
}

/// A setting as a flag.
pub fn flag(setting: &str) -> String {
    format!("--{}", setting.replace('_', "-"))
}

/// Time before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two lines.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

impl<'a> Bars<'a> {
    /// Shows nothing if the output is quiet, and no bars if it is for programs.
    pub fn new(output: &'a Output) -> Self {
        let shown = match (output.quiet, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Nowhere,
            (false, true) if output.json => Shown::Nowhere,
            (false, true) => Shown::Bar(Mutex::new(None)),
            (false, false) => Shown::Lines(Lines::new()),
        };
        Bars { output, start: Instant::now(), shown, found: Mutex::default() }
    }

    /// The same for work without known progress.
    pub fn waiting(output: &'a Output, what: &str) -> Self {
        let bars = Bars::new(output);
        if let Shown::Lines(lines) = &bars.shown {
            lines.set(Line { what: what.to_owned(), done: 0, all: 0, since: Instant::now() });
        }
        bars
    }

    fn show(&self, stage: Stage, done: usize, all: usize, message: impl FnOnce() -> String) {
        let bar = match &self.shown {
            Shown::Nowhere => return,
            Shown::Lines(lines) => {
                return lines.set(Line { what: message(), done, all, since: self.start });
            }
            Shown::Bar(_) if self.start.elapsed() < PATIENCE => return,
            Shown::Bar(bar) => bar,
        };
        let Ok(mut bar) = bar.lock() else { return };
        if bar.as_ref().is_none_or(|(shown, _)| *shown != stage) {
            if let Some((_, old)) = bar.take() {
                old.finish_and_clear();
            }
            let new = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::stderr());
            // A bar knows only its own depth.
            let template = match stage {
                Stage::Depth(_) => "{msg} [{bar:30}] {pos}/{len} {elapsed}",
                _ => "{msg} [{bar:30}] {pos}/{len} {elapsed}, about {eta} left",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                new.set_style(style.progress_chars("=> "));
            }
            new.enable_steady_tick(PATIENCE);
            *bar = Some((stage, new));
        }
        if let Some((_, bar)) = bar.as_ref() {
            bar.set_message(visible(&message()));
            bar.set_position(done as u64);
        }
    }

    /// Removes the bar from the screen; no more lines.
    pub fn clear(&self) {
        match &self.shown {
            Shown::Nowhere => {}
            Shown::Lines(lines) => lines.end(),
            Shown::Bar(bar) => {
                if let Ok(mut bar) = bar.lock()
                    && let Some((_, bar)) = bar.take()
                {
                    bar.finish_and_clear();
                }
            }
        }
    }
}

impl Reporter for Bars<'_> {
    fn outcomes(&self, done: usize, all: usize) {
        self.show(Stage::Outcomes, done, all, || "outcomes of all actions".to_owned());
    }

    fn search(&self, progress: Progress, left: Option<f64>) {
        let Progress { depth, splits_done, splits_total, leaf_sets } = progress;
        self.show(Stage::Depth(depth), splits_done, splits_total, || {
            let found = self.found.lock().map(|found| found.clone()).unwrap_or_default();
            let left = left.map(|seconds| format!(", {} left", about(seconds))).unwrap_or_default();
            format!("search, depth {depth}, {} leaf sets{found}{left}", grouped(leaf_sets))
        });
    }

    fn improved(&self, front: &[EvaluatedPoint]) {
        let best = front.iter().map(|point| point.invalidity).fold(f64::INFINITY, f64::min);
        if let Ok(mut found) = self.found.lock() {
            *found = format!(", {} points, lowest invalidity {best:.3}", grouped(front.len()));
        }
    }

    fn checking(&self, what: &str, done: usize, all: usize) {
        self.show(Stage::Other(what.to_owned()), done, all, || what.to_owned());
    }

    fn scorings(&self, scorings: Scorings) {
        self.output.notice(format!(
            "the model scores {}{} different edited rows, for {} pairs of a person and an action",
            if scorings.exact { "" } else { "about " },
            grouped(scorings.distinct),
            grouped(scorings.pairs),
        ));
    }

    fn notice(&self, text: &str) {
        self.output.notice(text);
    }

    fn setting(&self, name: &str) -> String {
        flag(name)
    }

    fn warning(&self, text: &str) {
        self.output.warning(text);
    }
}

/// The progress of work.
#[derive(Clone)]
struct Line {
    what: String,
    done: usize,
    /// 0 if unknown.
    all: usize,
    since: Instant,
}

impl Line {
    fn text(&self) -> String {
        let seconds = self.since.elapsed().as_secs();
        match self.all {
            0 => format!("{}: {seconds} s", self.what),
            all => {
                let share = 100 * self.done / all;
                format!("{}: {} of {} ({share} %), {seconds} s", self.what, grouped(self.done), grouped(all))
            }
        }
    }
}

/// A thread that writes a line every few seconds, even without news.
struct Lines {
    shared: Arc<(Mutex<Told>, Condvar)>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Told {
    line: Option<Line>,
    ended: bool,
}

impl Lines {
    fn new() -> Lines {
        let shared: Arc<(Mutex<Told>, Condvar)> = Arc::default();
        let told = shared.clone();
        let writer = std::thread::Builder::new().name("progress".to_owned()).spawn(move || {
            loop {
                let held = told.0.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = told.1.wait_timeout_while(held, BETWEEN_LINES, |told| !told.ended);
                let (held, _) = waited.unwrap_or_else(PoisonError::into_inner);
                if held.ended {
                    return;
                }
                let line = held.line.clone();
                drop(held);
                if let Some(line) = line {
                    Output { json: false, quiet: false, verbose: false }.notice(line.text());
                }
            }
        });
        // Without a thread there are no lines.
        Lines { shared, writer: Mutex::new(writer.ok()) }
    }

    fn set(&self, line: Line) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).line = Some(line);
    }

    fn end(&self) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.shared.1.notify_all();
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(writer.join());
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.end();
    }
}
