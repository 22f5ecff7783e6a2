//! GLOBE-CE (Ley and others, 2023): one direction for everyone, and each person goes as far along it as they need.
//!
//! Directions are drawn at random: a few features, a random share of a fixed amount for each. The one with which the model
//! accepts most of the affected people at its full length wins. Then the length is doubled until (nearly) everyone is accepted,
//! and every person takes the smallest of a thousand equal steps that works for them. A category changes if the direction's pull
//! on another level outweighs the person's own level.
//!
//! To find a person's own step, the model has to score them: that is a search for individuals. With one [`Magnitude`]
//! for everyone the direction is a summary, which can be given to people in advance.
//!
//! Everything that the configuration forbids is left out when directions are drawn and when they are followed
//! (`Moves`). No one leaves the range of the reference table's values.

mod cells;
mod direction;
mod steps;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use sogar::error::{Error, ErrorKind, Result};
use sogar::feature::FeatureTable;
use sogar::pipeline::Prepared;
use sogar_solver::stop::Stop;

use crate::black_box::BlackBox;
use crate::candidate_elimination::CandidateElimination;
use crate::chance::stream;
use crate::contract::{Assigned, Baseline, Description, FitStatus, Fitted, Group};
use crate::evaluate::evaluate;
use crate::moves::{Moves, changes, people};
use cells::Cells;
use direction::Direction;
use steps::{Crowd, smallest_steps};

/// Stage of the draws of directions.
const DIRECTIONS: u64 = 0x0067_6c6f_6265;

/// The method's settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GlobeCe {
    /// Number of directions to try.
    pub samples: usize,
    /// Features that a direction changes; `None`: all that can move.
    pub features: Option<usize>,
    /// Whether directions change numbers, too.
    pub numbers: bool,
    /// Length of a direction: tenths of a number's range, and two for a category.
    pub magnitude: f64,
    /// Shares of the features are random numbers raised to this power; the higher, the more uneven.
    pub power: f64,
    /// Equal steps along the direction, of which each person takes the first that works.
    pub scalars: usize,
    /// How far people go along the direction.
    pub reach: Magnitude,
}

/// How far people go along the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Magnitude {
    /// Each person as far as they need; the model decides how far that is.
    Own,
    /// Everyone as far as it takes until nearly everyone is accepted: the largest step that anyone is given otherwise.
    Common,
    /// Everyone equally far, by the step with the lowest cost plus loss on the affected rows.
    BestCommon,
}

/// The settings of the authors' tutorial on HELOC.
impl Default for GlobeCe {
    fn default() -> Self {
        GlobeCe {
            samples: 1000,
            features: Some(2),
            numbers: true,
            magnitude: 2.0,
            power: 1.0,
            scalars: 1000,
            reach: Magnitude::Own,
        }
    }
}

impl GlobeCe {
    /// The defaults of the authors' library: a direction changes every feature that can move.
    pub fn library() -> GlobeCe {
        GlobeCe { features: None, ..GlobeCe::default() }
    }

    /// The settings of the authors' tutorial on German Credit: few features, uneven shares, categories alone.
    pub fn german() -> GlobeCe {
        GlobeCe {
            samples: 2000,
            features: Some(5),
            numbers: false,
            magnitude: 1.0,
            power: 5.0,
            ..GlobeCe::default()
        }
    }

    /// The same with one magnitude for everyone.
    pub fn with_reach(self, reach: Magnitude) -> GlobeCe {
        GlobeCe { reach, ..self }
    }

    fn check(&self) -> Result<()> {
        let error = |what: String, help: &str| Err(Error::new(ErrorKind::Usage, what).help(help.to_owned()));
        if self.samples == 0 || self.features == Some(0) {
            let features = self.features.map_or("all".to_owned(), |features| features.to_string());
            let what = format!("GLOBE-CE: {} samples of {features} features are none", self.samples);
            return error(what, "give at least 1 of each; the authors use 1000 samples of 2 features");
        }
        if !(self.magnitude > 0.0 && self.magnitude.is_finite()) {
            let what = format!("GLOBE-CE: a direction cannot have the magnitude {}", self.magnitude);
            return error(what, "give a number above 0; the authors use 2");
        }
        if !(self.power >= 0.0 && self.power.is_finite()) {
            let what = format!("GLOBE-CE: shares cannot be raised to the power {}", self.power);
            return error(what, "give a number from 0 on; the authors use 1");
        }
        if self.scalars < 2 {
            let what = format!("GLOBE-CE: {} scalars are too few, since the first is 0", self.scalars);
            return error(what, "give at least 2; the authors use 1000");
        }
        Ok(())
    }
}

impl Baseline for GlobeCe {
    fn name(&self) -> String {
        "GLOBE-CE".to_owned()
    }

    fn fit(&self, prepared: &Prepared, seed: u64, stop: &Stop) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let (moves, black_box) = (Moves::new(prepared), BlackBox::new(prepared));
        let mut free = moves.free();
        free.retain(|&feature| self.numbers || !moves.is_ordered(feature));
        let mut rows = prepared.problem_rows().to_vec();
        rows.sort_unstable();
        let people = people(prepared.table(), &rows);
        let samples: Vec<Direction> = (0..if free.is_empty() { 0 } else { self.samples })
            .into_par_iter()
            .map(|sample| Direction::draw(self, &moves, &free, &mut stream(seed, DIRECTIONS, sample as u64)))
            .collect();
        let elimination =
            CandidateElimination { black_box: &black_box, moves: &moves, people: &people, stop };
        let apply = |sample: usize, before: &[f64], after: &mut [f64]| {
            samples[sample].follow(&moves, 1.0, before, after);
        };
        let Some(winner) = elimination.winner(samples.len(), seed, apply)? else {
            let reason = "there is no feature in which anybody could move".to_owned();
            let status = FitStatus::NoResult { reason };
            return Ok(Box::new(FittedGlobeCe { found: None, settings: *self, status }));
        };
        let direction = samples[winner.candidate].clone();
        let mut crowd = Crowd::new(&black_box, &moves, &direction, &people);
        let (longest, stopped) = match winner.stopped {
            Some(reason) => (1.0, Some(reason)),
            None => crowd.longest(stop)?,
        };
        let mut found = Found {
            edits: direction.words(&moves),
            direction,
            longest,
            flipped: winner.flips,
            rows: rows.len(),
        };
        if self.reach == Magnitude::BestCommon {
            found.longest = best_common(&found, prepared, &rows, stop)?;
        }
        let status = stopped.map_or(FitStatus::Complete, FitStatus::from);
        Ok(Box::new(FittedGlobeCe { found: Some(found), settings: *self, status }))
    }
}

/// Equal steps that are tried as everyone's.
const COMMON_STEPS: u32 = 100;

/// The common step with the lowest cost plus loss on these rows, the shortest on ties; the best so far after a stop.
fn best_common(found: &Found, prepared: &Prepared, rows: &[usize], stop: &Stop) -> Result<f64> {
    let mut best = (u64::MAX, found.longest);
    for step in 0..=COMMON_STEPS {
        let times = found.longest * f64::from(step) / f64::from(COMMON_STEPS);
        let assigned = found.together(prepared, prepared.table(), rows, times);
        let score = evaluate(prepared, prepared.table(), rows, &assigned)?;
        let invalidity = score.cost_sum + prepared.cost().unit() * score.loss_count;
        if invalidity < best.0 {
            best = (invalidity, times);
        }
        if stop.check().is_err() {
            break;
        }
    }
    Ok(best.1)
}

/// The winning direction.
struct Found {
    direction: Direction,
    /// The largest multiple of it that anyone goes, or everyone's.
    longest: f64,
    /// In words.
    edits: Vec<String>,
    /// Affected rows that it flips at its own length.
    flipped: usize,
    /// Affected rows.
    rows: usize,
}

impl Found {
    /// Everyone follows the direction equally far.
    fn together(
        &self,
        prepared: &Prepared,
        table: &FeatureTable,
        rows: &[usize],
        times: f64,
    ) -> Vec<Assigned> {
        let moves = Moves::new(prepared);
        let follow = |&row: &usize| {
            let before = table.row(row);
            let mut after = before.clone();
            self.direction.follow(&moves, times, &before, &mut after);
            proposal(changes(&before, &after))
        };
        rows.iter().map(follow).collect()
    }
}

struct FittedGlobeCe {
    found: Option<Found>,
    settings: GlobeCe,
    status: FitStatus,
}

impl Fitted for FittedGlobeCe {
    fn assign(&self, prepared: &Prepared, table: &FeatureTable, rows: &[usize]) -> Result<Vec<Assigned>> {
        let Some(found) = &self.found else { return Ok(vec![Assigned::nothing(); rows.len()]) };
        if self.settings.reach != Magnitude::Own {
            return Ok(found.together(prepared, table, rows, found.longest));
        }
        let (black_box, moves) = (BlackBox::new(prepared), Moves::new(prepared));
        let people = people(table, rows);
        let crowd = Crowd::new(&black_box, &moves, &found.direction, &people);
        let assigned = smallest_steps(&crowd, &Cells::new(prepared), found.longest, self.settings.scalars)?;
        Ok(assigned.into_iter().map(|to| to.map_or_else(Assigned::nothing, proposal)).collect())
    }

    fn describe(&self) -> Description {
        let group = |found: &Found| Group {
            conditions: Vec::new(),
            edits: found.edits.clone(),
            rows: found.rows,
            flipped: found.flipped,
        };
        Description::Directions {
            directions: self.found.iter().map(group).collect(),
            longest: self.found.as_ref().map_or(0.0, |found| found.longest),
            common: self.settings.reach != Magnitude::Own,
        }
    }

    fn status(&self) -> FitStatus {
        self.status.clone()
    }
}

fn proposal(to: Vec<(usize, f64)>) -> Assigned {
    Assigned { to, part: Some(0), covered: true }
}
