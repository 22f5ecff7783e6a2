//! T-CREx (Bewley and others, 2024): regions of a surrogate tree in which nearly everyone is accepted.
//!
//! A tree learns the model's answers on the whole reference table. Its nodes, inner ones included, are boxes; those that are pure
//! enough, and not inside another such box, are the rules. A person goes to the rule with the fewest changes, on ties to the
//! larger one, and moves just over the bounds that they violate: to the nearest value that the reference table has inside the
//! box. Nothing here is random.
//!
//! A person who already lies in a rule's box (the rules are not perfectly pure) gets the proposal to change nothing: that counts
//! as a proposal, and as a loss. The published method has no constraints; `constrained` makes it skip rules that need a forbidden
//! change.

mod metarules;
mod region;
#[cfg(test)]
mod tests;

use sogar::error::{Error, ErrorKind, Result};
use sogar::feature::{Feature, FeatureTable};
use sogar::pipeline::Prepared;
use sogar::predict::predict_table;
use sogar_solver::stop::Stop;

use crate::cart::{self, Axis, Points};
use crate::constraints::Constraints;
use crate::contract::{Assigned, Baseline, Description, FitStatus, Fitted, Guide, Region as Described};
use region::{Region, maximal_regions};

/// The method's settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TCrex {
    /// Smallest share of a rule's rows with the desired outcome (τ).
    pub purity: f64,
    /// Smallest share of the reference table in a rule (ρ).
    pub feasibility: f64,
    /// Whether to skip rules that need a forbidden change.
    pub constrained: bool,
}

impl TCrex {
    /// The authors' settings with a purity; they use 0.9 and 0.99.
    pub fn with_purity(purity: f64) -> TCrex {
        TCrex { purity, feasibility: 0.02, constrained: false }
    }

    fn check(&self) -> Result<()> {
        let share = |name: &str, value: f64, good: bool| {
            let message = format!("T-CREx: {name} is {value}, which is not a share of rows above 0");
            let error = || Error::new(ErrorKind::Usage, message).help("give a number in (0, 1], such as 0.9");
            if good { Ok(()) } else { Err(error()) }
        };
        let inside = |value: f64| value > 0.0 && value <= 1.0;
        share("purity", self.purity, inside(self.purity))?;
        share("feasibility", self.feasibility, inside(self.feasibility))
    }

    /// Smallest number of rows in a rule; a product such as 0.07 × 100 must not round above 7.
    fn least_rows(&self, rows: usize) -> usize {
        ((self.feasibility * rows as f64 - 1e-9).ceil() as usize).max(1)
    }
}

impl Baseline for TCrex {
    fn name(&self) -> String {
        let suffix = if self.constrained { ", constrained" } else { "" };
        format!("T-CREx {}{suffix}", self.purity)
    }

    fn fit(&self, prepared: &Prepared, _seed: u64, stop: &Stop) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let table = prepared.table();
        let predictions = predict_table(&*prepared.model().predictor, prepared.encoder(), table)?;
        let labels: Vec<u32> = predictions
            .iter()
            .map(|prediction| u32::from(prepared.classes().is_desired(prediction)))
            .collect();
        let axes: Vec<Axis> = table.features.iter().map(Axis::of).collect();
        let points = Points { axes: &axes, values: &table.values, labels: &labels, classes: 2 };
        let least = self.least_rows(table.rows);
        let tree = cart::grow(&points, least, stop);
        let valid = |counts: &[usize]| {
            let (inside, desired) = (counts.iter().sum::<usize>(), counts[1]);
            inside >= least && desired as f64 / inside as f64 >= self.purity
        };
        let regions = maximal_regions(&tree, table, valid);
        let status = match tree.stopped {
            Some(reason) => reason.into(),
            None if regions.is_empty() => FitStatus::NoResult {
                reason: format!(
                    "no node of the surrogate tree has {} % of its rows accepted",
                    sogar::describe::spoken_number(100.0 * self.purity)
                ),
            },
            None => FitStatus::Complete,
        };
        let constraints = self.constrained.then(|| Constraints::new(prepared));
        let mut fitted = FittedTCrex {
            regions,
            rows: table.rows,
            constraints,
            features: table.features.clone(),
            guide: None,
            status,
        };
        if !fitted.regions.is_empty() {
            let parts: Vec<Option<u32>> =
                fitted.choose(table, prepared.problem_rows()).into_iter().map(|choice| choice.part).collect();
            let (guide, stopped) =
                metarules::metarules(&fitted.regions, table, prepared.problem_rows(), &parts, stop);
            fitted.guide = Some(guide);
            if let (FitStatus::Complete, Some(reason)) = (&fitted.status, stopped) {
                fitted.status = reason.into();
            }
        }
        Ok(Box::new(fitted))
    }
}

struct FittedTCrex {
    regions: Vec<Region>,
    /// Rows of the reference table.
    rows: usize,
    constraints: Option<Constraints>,
    features: Vec<Feature>,
    guide: Option<Guide>,
    status: FitStatus,
}

impl FittedTCrex {
    fn choose(&self, table: &FeatureTable, rows: &[usize]) -> Vec<Assigned> {
        rows.iter().map(|&row| self.choose_one(&table.row(row))).collect()
    }

    /// The rule with the smallest (features outside) − (share of the reference table inside), the first on ties.
    fn choose_one(&self, row: &[f64]) -> Assigned {
        let mut best: Option<(i64, Assigned)> = None;
        for (part, region) in self.regions.iter().enumerate() {
            // In rows of the reference table, so that ties are exact.
            let price = (region.outside(row) * self.rows) as i64 - region.rows as i64;
            if best.as_ref().is_some_and(|(least, _)| *least <= price) {
                continue;
            }
            if let Some(to) = region.way_in(row, self.constraints.as_ref()) {
                best = Some((price, Assigned { to, part: Some(part as u32), covered: true }));
            }
        }
        best.map_or_else(Assigned::nothing, |(_, assigned)| assigned)
    }
}

impl Fitted for FittedTCrex {
    fn assign(&self, _: &Prepared, table: &FeatureTable, rows: &[usize]) -> Result<Vec<Assigned>> {
        Ok(self.choose(table, rows))
    }

    fn describe(&self) -> Description {
        let describe = |region: &Region| Described {
            conditions: region.conditions(&self.features),
            feasibility: region.rows as f64 / self.rows as f64,
            accuracy: region.desired as f64 / region.rows as f64,
        };
        Description::Regions {
            regions: self.regions.iter().map(describe).collect(),
            guide: self.guide.clone(),
        }
    }

    fn status(&self) -> FitStatus {
        self.status.clone()
    }
}
