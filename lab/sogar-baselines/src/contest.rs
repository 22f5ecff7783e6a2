//! One method on one table: fitted, scored on the people it learned from, and on held-out people if there are any.
//!
//! Time is that from the prepared run to proposals for the affected rows of the reference table; for sogar that is outcomes,
//! search, and the description of every summary of the front.

use std::time::{Duration, Instant};

use rayon::ThreadPoolBuilder;
use sogar::CancelToken;
use sogar::describe::rules_text;
use sogar::error::{Error, ErrorKind, Result};
use sogar::evaluate::HeldOut;
use sogar::feature::FeatureTable;
use sogar::pipeline::{Prepared, Reporter, Search};
use sogar::select::{By, select};
use sogar::summary::FrontFile;
use sogar_solver::stop::Stop;

use crate::contract::{Assigned, FitStatus, Fitted};
use crate::evaluate::{Score, evaluate};
use crate::methods::Method;
use crate::summaries::proposals;

/// The inputs of all methods of a comparison.
pub struct Contest<'a> {
    /// Table, model and constraints.
    pub prepared: &'a Prepared,
    /// Other people, to see how well proposals generalise.
    pub held_out: Option<&'a HeldOut>,
    /// Seed of everything random.
    pub seed: u64,
    /// Time limit of each method. Sogar's search has the same (outcomes do not count), which is the configuration's.
    pub time_limit: Option<Duration>,
    /// Ends the running method, and all that would follow.
    pub cancel: &'a CancelToken,
}

/// The result of a method.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Which method.
    pub method: &'static Method,
    /// How it ended. Without a result there are no scores.
    pub status: FitStatus,
    /// Seconds, without evaluation.
    pub seconds: f64,
    /// On the affected rows of the reference table.
    pub score: Option<Score>,
    /// On those of the held-out table.
    pub held_out: Option<Score>,
    /// What was learned, in words.
    pub description: String,
    /// The whole front, for sogar.
    pub front: Option<FrontFile>,
    /// The proposals to the affected rows of the reference table, and of the held-out table.
    pub proposals: [Vec<Assigned>; 2],
}

impl Entry {
    /// Why there is no result; `None` if there is one.
    pub fn reason(&self) -> Option<&str> {
        match &self.status {
            FitStatus::NoResult { reason } => Some(reason),
            _ => None,
        }
    }
}

/// What a method learned.
enum Learned {
    /// A front, and the position of the summary with the lowest invalidity, which takes part.
    Front(Box<FrontFile>, usize),
    /// Another method's.
    Other(Box<dyn Fitted>),
}

impl Learned {
    fn assign(&self, prepared: &Prepared, table: &FeatureTable, rows: &[usize]) -> Result<Vec<Assigned>> {
        match self {
            Learned::Front(front, best) => proposals(front, &front.points[*best].tree, table, rows),
            Learned::Other(fitted) => fitted.assign(prepared, table, rows),
        }
    }

    fn status(&self) -> FitStatus {
        match self {
            Learned::Other(fitted) => fitted.status(),
            Learned::Front(front, _) => match front.status {
                sogar::summary::Status::Cancelled => FitStatus::Cancelled,
                status if status.is_early() => FitStatus::TimeLimit,
                _ => FitStatus::Complete,
            },
        }
    }

    fn description(&self) -> String {
        match self {
            Learned::Front(front, best) => rules_text(front, &front.points[*best].tree),
            Learned::Other(fitted) => fitted.describe().to_string(),
        }
    }
}

impl Contest<'_> {
    /// Runs a method. An error in it is its result, so that one method does not spoil a comparison.
    pub fn run(&self, method: &'static Method, reporter: &dyn Reporter) -> Entry {
        let start = Instant::now();
        self.attempt(method, reporter, start).unwrap_or_else(|error| Entry {
            method,
            status: FitStatus::NoResult { reason: error.to_string() },
            seconds: start.elapsed().as_secs_f64(),
            score: None,
            held_out: None,
            description: String::new(),
            front: None,
            proposals: Default::default(),
        })
    }

    fn attempt(&self, method: &'static Method, reporter: &dyn Reporter, start: Instant) -> Result<Entry> {
        let pool =
            ThreadPoolBuilder::new().num_threads(self.prepared.threads()).build().map_err(|cause| {
                Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}"))
            })?;
        let prepared = self.prepared;
        let (table, rows) = (prepared.table(), prepared.problem_rows());
        let learned = match method.baseline() {
            // The search has its own threads.
            None => {
                let front = Search(prepared).solve(reporter, self.cancel)?;
                let best = select(&front, By::Invalidity)?;
                Learned::Front(Box::new(front), best)
            }
            Some(baseline) => {
                let deadline = self.time_limit.and_then(|limit| start.checked_add(limit));
                let stop = Stop { deadline, cancel: self.cancel.clone() };
                Learned::Other(pool.install(|| baseline.fit(prepared, self.seed, &stop))?)
            }
        };
        pool.install(|| {
            let assigned = learned.assign(prepared, table, rows)?;
            let seconds = start.elapsed().as_secs_f64();
            let (status, description) = (learned.status(), learned.description());
            let (mut score, mut elsewhere, mut proposals) = (None, None, [Vec::new(), Vec::new()]);
            if !matches!(status, FitStatus::NoResult { .. }) {
                score = Some(evaluate(prepared, table, rows, &assigned)?);
                if let Some(held_out) = self.held_out {
                    let (table, rows) = (held_out.table(), held_out.affected());
                    let assigned = learned.assign(prepared, table, rows)?;
                    elsewhere = Some(evaluate(prepared, table, rows, &assigned)?);
                    proposals[1] = assigned;
                }
            }
            proposals[0] = assigned;
            let front = match learned {
                Learned::Front(front, _) => Some(*front),
                Learned::Other(_) => None,
            };
            Ok(Entry { method, status, seconds, score, held_out: elsewhere, description, front, proposals })
        })
    }
}
