//! What every competing method has in common: how it is fitted, what it proposes, and how it speaks of itself.
//!
//! Methods differ in what they learn (a tree, rules, directions, actions, regions), but each of them answers the
//! same question: which new values does it propose to this person? That answer, [`Assigned`], is all that the
//! evaluator sees.

use std::fmt;

use serde::Serialize;
use sogar::Result;
use sogar::feature::FeatureTable;
use sogar::pipeline::Prepared;
use sogar_solver::stop::{Stop, StopReason};

/// A method that can be fitted on a table and a model.
pub trait Baseline: Send + Sync {
    /// The method with the settings that tell its variants apart, e.g. `T-CREx 0.9`.
    fn name(&self) -> String;

    /// Learns from the reference table and its affected rows. Equal seeds give equal results, whatever the number of
    /// threads; a method without randomness ignores the seed. When `stop` says so, the method ends with the best that
    /// it has, and its status tells why.
    fn fit(&self, prepared: &Prepared, seed: u64, stop: &Stop) -> Result<Box<dyn Fitted>>;
}

/// What a method has learned.
pub trait Fitted: Send + Sync {
    /// One proposal for each of `rows`, in their order. The rows are affected rows of `table`: the reference table, or
    /// another one seen through its features.
    fn assign(&self, prepared: &Prepared, table: &FeatureTable, rows: &[usize]) -> Result<Vec<Assigned>>;

    /// What was learned, for people.
    fn describe(&self) -> Description;

    /// Whether the method finished.
    fn status(&self) -> Status;
}

/// What a method proposes to one person.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assigned {
    /// New values by feature, as a [`FeatureTable`] writes them: the number, or the index of the level.
    pub to: Vec<(usize, f64)>,
    /// The leaf, rule, direction, action or region that the proposal comes from.
    pub part: Option<u32>,
    /// Whether there is a proposal at all. One that changes nothing is a proposal too; without one, `to` is ignored.
    pub covered: bool,
}

impl Assigned {
    /// No proposal: the person stays as they are and keeps the undesired outcome.
    pub fn nothing() -> Self {
        Assigned::default()
    }
}

/// How a fit ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The method did all that it wanted to do.
    Complete,
    /// The deadline passed; this is the best so far.
    TimeLimit,
    /// Somebody cancelled it; this is the best so far.
    Cancelled,
    /// The method ran to its end and has nothing to propose.
    NoResult {
        /// Why, in words for a table of results.
        reason: String,
    },
}

impl From<StopReason> for Status {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::TimeLimit => Status::TimeLimit,
            _ => Status::Cancelled,
        }
    }
}

/// What a method has learned, in words. Further kinds come with the methods that need them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Description {
    /// Regions that people are sent into, and who is sent where.
    Regions {
        /// The regions; a proposal's `part` is a position in this list.
        regions: Vec<Region>,
        /// The questions that lead a person to their region; `None` without regions.
        guide: Option<Guide>,
    },
}

/// A region in which (nearly) everybody has the desired outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Region {
    /// What holds in it, one condition a feature; empty: no condition at all.
    pub conditions: Vec<String>,
    /// Share of the reference table that lies in it.
    pub feasibility: f64,
    /// Share of those who have the desired outcome.
    pub accuracy: f64,
}

/// A decision tree over people whose answers are parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Guide {
    /// The part that people are sent to; `None`: there is no proposal for them.
    Part(Option<u32>),
    /// A condition, and where it leads.
    Ask {
        /// The condition.
        condition: String,
        /// Where people go for whom it holds.
        yes: Box<Guide>,
        /// Where the others go.
        no: Box<Guide>,
    },
}

impl Guide {
    fn write(&self, indent: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = "  ".repeat(indent);
        match self {
            Guide::Part(Some(part)) => writeln!(f, "{space}→ region {}", part + 1),
            Guide::Part(None) => writeln!(f, "{space}→ no proposal"),
            Guide::Ask { condition, yes, no } => {
                writeln!(f, "{space}if {condition}:")?;
                yes.write(indent + 1, f)?;
                writeln!(f, "{space}else:")?;
                no.write(indent + 1, f)
            }
        }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Description::Regions { regions, guide } = self;
        for (number, region) in regions.iter().enumerate() {
            let conditions = if region.conditions.is_empty() {
                "anywhere".into()
            } else {
                region.conditions.join(" and ")
            };
            let (inside, desired) = (100.0 * region.feasibility, 100.0 * region.accuracy);
            let number = number + 1;
            writeln!(f, "Region {number}: {conditions} ({inside:.1} % of all rows, {desired:.1} % desired)")?;
        }
        guide.as_ref().map_or(Ok(()), |guide| guide.write(0, f))
    }
}
