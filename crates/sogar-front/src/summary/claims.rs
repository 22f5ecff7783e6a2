//! What a result claims: how its search ended, on whom, and the bound that no summary beats. Status, sample, bound and
//! configuration must be consistent; other combinations are refused.

use super::{FrontFile, Node, PointRef, SampleRef, Status};

/// The claim about the people that were searched: all of them, or a sample.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// How the search ended.
    pub status: Status,
    /// The front that it found.
    pub points: &'a [PointRef],
    /// The bound that no summary beats.
    pub bound: Option<&'a [[u64; 2]]>,
}

impl Claim<'_> {
    /// Whether the result claims that no summary is missing.
    pub fn is_complete(&self) -> bool {
        self.status == Status::Complete
    }
}

impl SampleRef {
    /// The claim about the search on the sample.
    fn claim(&self) -> Claim<'_> {
        Claim { status: self.status, points: &self.front, bound: self.bound.as_deref() }
    }
}

impl FrontFile {
    /// The claim about the people that were searched.
    pub fn claim(&self) -> Claim<'_> {
        match &self.sample {
            Some(sample) => sample.claim(),
            None => Claim { status: self.status, points: &self.points, bound: self.bound.as_deref() },
        }
    }

    /// Whether the run was stopped so early that it knew only "no change".
    pub fn stopped_before_outcomes(&self) -> bool {
        let nothing =
            |points: &[PointRef]| points.len() == 1 && matches!(points[0].tree, Node::Leaf { action: 0, .. });
        let claim = self.claim();
        self.status.is_early()
            && self.counts.actions == 1
            && nothing(&self.points)
            && nothing(claim.points)
            && claim.bound.is_none()
    }

    /// Whether status, sample, bound and configuration are consistent.
    pub(super) fn check_claims(&self) -> Result<(), String> {
        let (status, name) = (self.status, self.status.name());
        let sampled = self.config.limits.sample.map(|rows| rows as usize);
        let sampled = sampled.filter(|&rows| rows < self.population.affected);
        if status == Status::CompleteWithinEpsilon && self.fairness.is_none() {
            return Err("the status speaks of groups, but there are none".into());
        }
        match (&self.sample, sampled) {
            (None, _) if status == Status::CompleteOnSample => {
                return Err("the status speaks of a sample, but there is none".into());
            }
            (Some(_), None) => return Err("there is a sample, but the configuration asks for none".into()),
            (None, Some(_)) if !self.stopped_before_outcomes() => {
                return Err("the configuration asks for a sample, but there is none".into());
            }
            (Some(_), _) if status == Status::Complete => {
                return Err("the status is complete, but only a sample was searched".into());
            }
            (Some(_), _) if self.bound.is_some() => {
                return Err("a search on a sample has no bound for everybody".into());
            }
            (Some(sample), Some(rows)) if sample.rows != rows => {
                return Err(format!(
                    "the sample has {} rows, but the configuration asks for {rows}",
                    sample.rows
                ));
            }
            (Some(sample), _) => {
                let ended = if status == Status::CompleteOnSample { Status::Complete } else { self.status };
                if sample.status != ended {
                    let there = sample.status.name();
                    return Err(format!("the status is {name}, but that of the sample is {there}"));
                }
            }
            (None, _) => {}
        }
        let claim = self.claim();
        let (whose, name) = (if self.sample.is_some() { "the sample's" } else { "the" }, claim.status.name());
        match claim.bound {
            Some(_) if claim.is_complete() => {
                Err(format!("{whose} status is complete, but a bound says that something may be missing"))
            }
            None if claim.status.is_early() && !self.stopped_before_outcomes() => {
                Err(format!("{whose} status is {name}, but there is no bound"))
            }
            Some(bound)
                if bound.is_empty()
                    || !bound.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] > pair[1][1]) =>
            {
                Err(format!("{whose} bound is not a front: cost must ascend and loss descend"))
            }
            _ => Ok(()),
        }
    }
}
