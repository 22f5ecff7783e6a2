//! GLOBE-CE (Ley and others, 2023): one direction for everybody, and each person goes as far along it as they need to.
//!
//! Directions are drawn at random: a few features, a random share of a fixed amount for each. The one that makes the
//! model accept most of the affected people at its full length wins. Then the length is doubled until (nearly)
//! everybody is accepted, and every person takes the smallest of a thousand equal steps that works for them. A
//! category changes where the direction's pull on another level outweighs the level that the person is at.
//!
//! Everything that the configuration forbids is left out when directions are drawn and when they are followed
//! ([`Moves`](crate::moves::Moves)). Nobody is moved outside of the reference table's values.

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
use crate::moves::{Moves, people};
use cells::Cells;
use direction::Direction;
use steps::{Crowd, smallest_steps};

/// Stage of the draws of directions.
const DIRECTIONS: u64 = 0x0067_6c6f_6265;

/// The method's settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GlobeCe {
    /// Directions that are tried.
    pub samples: usize,
    /// Features that a direction changes.
    pub features: usize,
    /// Length of a direction: tenths of a number's range, and two for a category.
    pub magnitude: f64,
    /// Shares of the features are random numbers raised to this power; the higher, the more uneven.
    pub power: f64,
    /// Equal steps along the direction among which each person takes the first that works.
    pub scalars: usize,
}

/// The authors' settings.
impl Default for GlobeCe {
    fn default() -> Self {
        GlobeCe { samples: 1000, features: 2, magnitude: 2.0, power: 1.0, scalars: 1000 }
    }
}

impl GlobeCe {
    fn check(&self) -> Result<()> {
        let error = |what: String, help: &str| Err(Error::new(ErrorKind::Usage, what).help(help.to_owned()));
        if self.samples == 0 || self.features == 0 {
            let what = format!("GLOBE-CE: {} samples of {} features are none", self.samples, self.features);
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
        let free = moves.free();
        let mut rows = prepared.affected.clone();
        rows.sort_unstable();
        let people = people(&prepared.table, &rows);
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
            return Ok(Box::new(FittedGlobeCe { found: None, scalars: self.scalars, status }));
        };
        let direction = samples[winner.candidate].clone();
        let mut crowd = Crowd::new(&black_box, &moves, &direction, &people);
        let (longest, stopped) = match winner.stopped {
            Some(reason) => (1.0, Some(reason)),
            None => crowd.longest(stop)?,
        };
        let found = Found {
            edits: direction.words(&moves),
            direction,
            longest,
            flipped: winner.flips,
            rows: rows.len(),
        };
        let status = stopped.map_or(FitStatus::Complete, FitStatus::from);
        Ok(Box::new(FittedGlobeCe { found: Some(found), scalars: self.scalars, status }))
    }
}

/// The direction that won.
struct Found {
    direction: Direction,
    /// The largest multiple of it that anybody goes.
    longest: f64,
    /// In words.
    edits: Vec<String>,
    /// Affected rows that it flips as it is.
    flipped: usize,
    /// Affected rows.
    rows: usize,
}

struct FittedGlobeCe {
    found: Option<Found>,
    scalars: usize,
    status: FitStatus,
}

impl Fitted for FittedGlobeCe {
    fn assign(&self, prepared: &Prepared, table: &FeatureTable, rows: &[usize]) -> Result<Vec<Assigned>> {
        let Some(found) = &self.found else { return Ok(vec![Assigned::nothing(); rows.len()]) };
        let (black_box, moves) = (BlackBox::new(prepared), Moves::new(prepared));
        let people = people(table, rows);
        let crowd = Crowd::new(&black_box, &moves, &found.direction, &people);
        let assigned = smallest_steps(&crowd, &Cells::new(prepared), found.longest, self.scalars)?;
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
        }
    }

    fn status(&self) -> FitStatus {
        self.status.clone()
    }
}

fn proposal(to: Vec<(usize, f64)>) -> Assigned {
    Assigned { to, part: Some(0), covered: true }
}
