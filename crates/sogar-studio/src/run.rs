//! One search, in a thread of its own: what the page shows while it runs, and what stays of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use sogar::audit::searched_groups;
use sogar::config::Config;
use sogar::limits::about;
use sogar::outcomes::memory::Reuse;
use sogar::pipeline::{EvaluatedPoint, Prepared, Reporter, Search};
use sogar::select::{By, select};
use sogar::summary::FrontFile;
use sogar::{CancelToken, Progress, Result};
use tokio::sync::watch;

use crate::inputs::Inputs;

/// Points that a drawing of a front has at most; a screen has no more columns.
const DRAWN: usize = 1_200;
/// Shortest time between two pictures of a running search.
const PAUSE: Duration = Duration::from_millis(120);

/// A finished search.
pub struct Run {
    /// Its number, from 1.
    pub id: usize,
    /// The name that the user gave it.
    pub name: Option<String>,
    /// The change before it.
    pub label: String,
    /// The configuration as the user set it.
    pub config: Config,
    /// What it was about.
    pub inputs: Arc<Inputs>,
    /// The result.
    pub front: Arc<FrontFile>,
    /// What was known from earlier runs.
    pub reuse: Reuse,
    /// Seconds from start to end.
    pub seconds: f64,
}

impl Run {
    /// What the list of runs shows.
    pub fn shown(&self) -> Value {
        let front = &self.front;
        let best = select(front, By::Invalidity).unwrap_or(0);
        let point = front.points.get(best);
        json!({
            "id": self.id,
            "name": self.name,
            "label": self.label,
            "status": front.status,
            "complete": !front.status.is_early(),
            "gap": front.certified_gap(),
            "points": front.points.len(),
            "affected": front.population.affected,
            "actions": front.counts.actions,
            "best": point.map(|point| json!({"cost": point.cost, "loss": point.loss, "invalidity": point.invalidity})),
            "lowest_loss": front.points.last().map(|point| point.loss),
            "seconds": self.seconds,
            "seconds_outcomes": front.run.seconds_outcomes,
            "seconds_search": front.run.seconds_search,
            "known": self.reuse.known,
            "seconds_saved": self.reuse.seconds_saved,
            "drawn": drawn(front.points.iter().map(|point| (point.cost, point.loss)).collect()),
        })
    }
}

/// Points for a drawing: all, or some at equal distances in the list with both ends.
fn drawn(points: Vec<(f64, f64)>) -> Vec<[f64; 2]> {
    let last = points.len().saturating_sub(1);
    let shown = DRAWN.min(points.len());
    (0..shown).map(|i| points[i * last / (shown.max(2) - 1)]).map(|(cost, loss)| [cost, loss]).collect()
}

/// A search that is running. The search reports to it from its own threads.
pub struct Live {
    /// The number that its run will have.
    pub id: usize,
    /// The change before it.
    pub label: String,
    /// Stops it.
    pub cancel: CancelToken,
    started: Instant,
    changed: watch::Sender<u64>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    told: Option<Instant>,
    picture: Picture,
    front: Vec<(f64, f64)>,
    gap: Option<f64>,
}

#[derive(Default, Clone, Serialize)]
struct Picture {
    stage: &'static str,
    done: usize,
    all: usize,
    depth: u32,
    leaf_sets: u64,
    left: Option<String>,
    messages: Vec<String>,
}

impl Live {
    /// A search that is about to start.
    pub fn new(id: usize, label: String, changed: watch::Sender<u64>) -> Live {
        Live {
            id,
            label,
            cancel: CancelToken::new(),
            started: Instant::now(),
            changed,
            seen: Mutex::default(),
        }
    }

    /// Searches.
    pub fn search(&self, prepared: &Prepared, inputs: &Inputs) -> Result<FrontFile> {
        match searched_groups(prepared, &inputs.table)? {
            Some(groups) => Search(prepared).solve_by_group(&groups, self, &self.cancel),
            None => Search(prepared).solve(self, &self.cancel),
        }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// What the page shows.
    pub fn shown(&self) -> Value {
        let seen = self.seen();
        json!({
            "id": self.id,
            "label": self.label,
            "seconds": self.seconds(),
            "stopping": self.cancel.is_cancelled(),
            "progress": seen.picture,
            "points": seen.front.len(),
            "gap": seen.gap,
            "drawn": drawn(seen.front.clone()),
        })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is shown. The page is told now and then, or at once.
    fn note(&self, at_once: bool, note: impl FnOnce(&mut Seen)) {
        let mut seen = self.seen();
        note(&mut seen);
        let now = Instant::now();
        if at_once || seen.told.is_none_or(|told| now - told >= PAUSE) {
            seen.told = Some(now);
            drop(seen);
            self.changed.send_modify(|version| *version += 1);
        }
    }
}

impl Reporter for Live {
    fn outcomes(&self, done: usize, all: usize) {
        self.note(false, |seen| {
            seen.picture = Picture { stage: "outcomes", done, all, ..seen.picture.clone() }
        });
    }

    fn search(&self, progress: Progress, left: Option<f64>) {
        self.note(false, |seen| {
            seen.picture = Picture {
                stage: "search",
                done: progress.splits_done,
                all: progress.splits_total,
                depth: progress.depth,
                leaf_sets: progress.leaf_sets,
                left: left.map(about),
                messages: std::mem::take(&mut seen.picture.messages),
            };
        });
    }

    fn improved(&self, front: &[EvaluatedPoint]) {
        self.note(false, |seen| seen.front = front.iter().map(|point| (point.cost, point.loss)).collect());
    }

    fn wants_gap(&self) -> bool {
        true
    }

    fn gap(&self, gap: f64) {
        self.note(false, |seen| seen.gap = Some(gap));
    }

    fn notice(&self, text: &str) {
        self.note(true, |seen| seen.picture.messages.push(text.to_owned()));
    }

    fn warning(&self, text: &str) {
        self.notice(text);
    }
}
