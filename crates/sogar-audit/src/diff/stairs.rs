//! Compares two staircases: at every cost, which front leaves fewer people without recourse, and by how much.

use schemars::JsonSchema;
use serde::Serialize;

use sogar_front::summary::FrontFile;

/// How two trade-offs compare over all costs from 0 to the most expensive point of either.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FrontDiff {
    /// Share of the costs at which the first has the lower loss …
    pub a_lower: f64,
    /// … and the second.
    pub b_lower: f64,
    /// Mean over the costs of the second's loss minus the first's: below 0 the second is better.
    pub mean_difference: f64,
    /// The losses at some costs.
    pub at: Vec<AtCost>,
}

/// The lowest losses at a cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct AtCost {
    /// Largest mean cost.
    pub cost: f64,
    /// In the first front.
    pub a: f64,
    /// In the second.
    pub b: f64,
}

/// Costs at which losses are reported.
const BUDGETS: [f64; 8] = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4];

pub(super) fn compare(a: &FrontFile, b: &FrontFile) -> FrontDiff {
    let steps = |front: &FrontFile| -> Vec<(f64, f64)> {
        front.points.iter().map(|point| (point.cost, point.loss)).collect()
    };
    let (a, b) = (steps(a), steps(b));
    let end = |steps: &[(f64, f64)]| steps.last().map_or(0.0, |step| step.0);
    let max_cost = end(&a).max(end(&b));
    let mut cuts: Vec<f64> = a.iter().chain(&b).map(|step| step.0).chain([max_cost]).collect();
    cuts.sort_by(f64::total_cmp);
    let (mut a_lower, mut b_lower, mut difference) = (0.0, 0.0, 0.0);
    for pair in cuts.windows(2) {
        let (width, gap) = (pair[1] - pair[0], loss_at(&b, pair[0]) - loss_at(&a, pair[0]));
        difference += width * gap;
        a_lower += if gap > 0.0 { width } else { 0.0 };
        b_lower += if gap < 0.0 { width } else { 0.0 };
    }
    let share = |part: f64| if max_cost > 0.0 { part / max_cost } else { 0.0 };
    FrontDiff {
        a_lower: share(a_lower),
        b_lower: share(b_lower),
        mean_difference: share(difference),
        at: BUDGETS
            .iter()
            .filter(|&&cost| cost <= max_cost)
            .map(|&cost| AtCost { cost, a: loss_at(&a, cost), b: loss_at(&b, cost) })
            .collect(),
    }
}

/// The cost at which the second's loss exceeds the first's by most.
pub(super) fn largest(a: &FrontFile, b: &FrontFile) -> AtCost {
    let steps = |front: &FrontFile| -> Vec<(f64, f64)> {
        front.points.iter().map(|point| (point.cost, point.loss)).collect()
    };
    let (a, b) = (steps(a), steps(b));
    // A difference only grows where the first has a step.
    let at = a.iter().map(|&(cost, loss)| AtCost { cost, a: loss, b: loss_at(&b, cost) });
    let most = at.max_by(|x, y| (x.b - x.a).total_cmp(&(y.b - y.a)));
    most.unwrap_or(AtCost { cost: 0.0, a: 1.0, b: 1.0 })
}

/// The loss of the most expensive point within a cost; 1 if there is none.
fn loss_at(steps: &[(f64, f64)], cost: f64) -> f64 {
    let within = steps.partition_point(|step| step.0 <= cost);
    within.checked_sub(1).map_or(1.0, |last| steps[last].1)
}
