//! The request and the result of a scan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::further::FurtherMeasure;
use super::super::result::MeasureName;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::summary::as_count;

/// Default number of shuffles.
pub const PERMUTATIONS: usize = 999;
/// Default of the most terms of a conjunction.
pub const MAX_TERMS: usize = 3;

/// What to scan.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanRequest {
    /// Columns or features that subgroups are made of.
    pub features: Vec<String>,
    /// The most conditions of a subgroup.
    pub max_terms: usize,
    /// The measure: a mean over people.
    pub measure: ScanMeasure,
    /// The point of the front; `None`: the one with the lowest invalidity.
    pub point: Option<usize>,
    /// Shuffles for the p-value.
    pub permutations: usize,
}

impl Default for ScanRequest {
    fn default() -> Self {
        ScanRequest {
            features: Vec::new(),
            max_terms: MAX_TERMS,
            measure: ScanMeasure::Basic(MeasureName::Invalidity),
            point: None,
            permutations: PERMUTATIONS,
        }
    }
}

/// A measure that a scan can compare: everyone has a value, and a group has their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScanMeasure {
    /// Cost, loss or invalidity.
    Basic(MeasureName),
    /// Who is not reached within a budget.
    Unreached(f64),
    /// The cost of those for whom the advice works; others are left out.
    CostOfSuccess,
}

impl std::str::FromStr for ScanMeasure {
    type Err = Error;

    fn from_str(text: &str) -> Result<ScanMeasure> {
        if let Some(basic) = MeasureName::ALL.into_iter().find(|known| known.name() == text.trim()) {
            return Ok(ScanMeasure::Basic(basic));
        }
        match text.parse::<FurtherMeasure>()? {
            FurtherMeasure::Reached(budget) => Ok(ScanMeasure::Unreached(budget)),
            FurtherMeasure::CostOfSuccess => Ok(ScanMeasure::CostOfSuccess),
            other => Err(Error::new(ErrorKind::Usage, format!("a scan cannot compare `{other}`"))
                .help("use a mean over people: invalidity, loss, cost, cost_of_success or \"reached(0.2)\"")),
        }
    }
}

impl std::fmt::Display for ScanMeasure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ScanMeasure::Basic(measure) => f.write_str(measure.name()),
            ScanMeasure::Unreached(budget) => FurtherMeasure::Reached(*budget).fmt(f),
            ScanMeasure::CostOfSuccess => FurtherMeasure::CostOfSuccess.fmt(f),
        }
    }
}

impl ScanMeasure {
    /// The measure in words. Its gap is positive where a subgroup is worse off.
    pub(super) fn name(self) -> String {
        if matches!(self, ScanMeasure::Unreached(_)) { format!("not {self}") } else { self.to_string() }
    }
}

/// The result of a scan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scan {
    /// What subgroups are made of.
    pub features: Vec<String>,
    /// The same for readers: by their display names.
    #[serde(default)]
    pub shown: Vec<String>,
    /// The most conditions of a subgroup.
    pub max_terms: usize,
    /// The measure. A positive gap is worse for the subgroup.
    pub measure: String,
    /// The point of the front.
    pub point: usize,
    /// Shuffles.
    pub permutations: usize,
    /// Their seed.
    pub seed: u64,
    /// Subgroups have at least this many affected people, and so has everyone else.
    pub min_group: usize,
    /// Subgroups that were evaluated on the table as it is; the bound ruled out the others.
    pub evaluated: u64,
    /// Whether the features distinguish people at all: false if everyone has the same value.
    pub varies: bool,
    /// The worst-off subgroups, worst first. Subgroups that mostly repeat a worse one are left out.
    pub found: Vec<Subgroup>,
}

/// A subgroup of a scan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Subgroup {
    /// Its conditions, all of which its people meet.
    pub terms: Vec<String>,
    /// The same for readers: features by their display names.
    #[serde(default)]
    pub shown: Vec<String>,
    /// Its affected people.
    #[serde(serialize_with = "as_count")]
    pub affected: f64,
    /// Their mean.
    pub value: f64,
    /// Everyone else's mean.
    pub others: f64,
    /// The difference, worse if positive.
    pub gap: f64,
    /// The lower end of its 95 % interval, as if the subgroup had been chosen before looking at the data …
    pub low: f64,
    /// … and the upper one.
    pub high: f64,
    /// The studentised gap: in standard deviations under shuffling.
    pub z: f64,
    /// The share of shuffles (the table itself counts as one) whose worst-off subgroup is at least as bad.
    pub p: f64,
    /// The same conditions on held-out people, if there are any.
    pub holdout: Option<Confirmation>,
}

/// A subgroup on held-out people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// Its affected people.
    #[serde(serialize_with = "as_count")]
    pub affected: f64,
    /// Their mean; `None`, as all that follows, if fewer than the smallest number are in the subgroup or outside it.
    pub value: Option<f64>,
    /// Everyone else's mean.
    pub others: Option<f64>,
    /// The difference.
    pub gap: Option<f64>,
    /// The lower end of its 95 % interval …
    pub low: Option<f64>,
    /// … and the upper one.
    pub high: Option<f64>,
    /// The p-value of the difference (Welch, two-sided), corrected for all subgroups of the list (Holm).
    pub p: Option<f64>,
    /// Whether the subgroup is worse off here too, with p at most 0.05.
    pub confirmed: bool,
}
