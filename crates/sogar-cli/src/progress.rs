//! Progress bars on stderr, shown only for work that takes longer than a second and only on a terminal.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sogar::Progress;
use sogar::describe::grouped;
use sogar::markup::visible;
use sogar::outcomes::Scorings;
use sogar::pipeline::Reporter;
use sogar::summary::EvaluatedPoint;

use crate::output::Output;

/// Shows outcomes and search as bars.
pub struct Bars<'a> {
    output: &'a Output,
    start: Instant,
    bar: Mutex<Option<(Stage, ProgressBar)>>,
    /// What the search has found so far, in words.
    found: Mutex<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    Outcomes,
    Depth(u32),
    Check(String),
}

const PATIENCE: Duration = Duration::from_secs(1);

impl<'a> Bars<'a> {
    /// No bars if the output is quiet or for programs.
    pub fn new(output: &'a Output) -> Self {
        Bars { output, start: Instant::now(), bar: Mutex::new(None), found: Mutex::default() }
    }

    fn show(&self, stage: Stage, done: usize, all: usize, message: impl FnOnce() -> String) {
        if self.output.quiet || self.output.json || self.start.elapsed() < PATIENCE {
            return;
        }
        let Ok(mut bar) = self.bar.lock() else { return };
        if bar.as_ref().is_none_or(|(shown, _)| *shown != stage) {
            if let Some((_, old)) = bar.take() {
                old.finish_and_clear();
            }
            let new = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::stderr());
            let template = "{msg} [{bar:30}] {pos}/{len} {elapsed}, about {eta} left";
            if let Ok(style) = ProgressStyle::with_template(template) {
                new.set_style(style.progress_chars("=> "));
            }
            *bar = Some((stage, new));
        }
        if let Some((_, bar)) = bar.as_ref() {
            bar.set_message(visible(&message()));
            bar.set_position(done as u64);
        }
    }

    /// Removes the bar from the screen.
    pub fn clear(&self) {
        if let Ok(mut bar) = self.bar.lock()
            && let Some((_, bar)) = bar.take()
        {
            bar.finish_and_clear();
        }
    }
}

impl Reporter for Bars<'_> {
    fn outcomes(&self, done: usize, all: usize) {
        self.show(Stage::Outcomes, done, all, || "outcomes of all actions".to_owned());
    }

    fn search(&self, progress: Progress) {
        let Progress { depth, splits_done, splits_total, leaf_sets } = progress;
        self.show(Stage::Depth(depth), splits_done, splits_total, || {
            let found = self.found.lock().map(|found| found.clone()).unwrap_or_default();
            format!("search, depth {depth}, {} leaf sets{found}", grouped(leaf_sets))
        });
    }

    fn improved(&self, front: &[EvaluatedPoint]) {
        let best = front.iter().map(|point| point.invalidity).fold(f64::INFINITY, f64::min);
        if let Ok(mut found) = self.found.lock() {
            *found = format!(", {} points, lowest invalidity {best:.3}", grouped(front.len()));
        }
    }

    fn checking(&self, what: &str, done: usize, all: usize) {
        self.show(Stage::Check(what.to_owned()), done, all, || what.to_owned());
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

    fn warning(&self, text: &str) {
        self.output.warning(text);
    }
}
