//! The points as a front, and whether status and bound go with them.

use super::origin::stopped_before_outcomes;
use super::{Verdict, defect};
use crate::summary::{FrontFile, Status};

/// Cost ascending, loss descending, nobody dominated or twice, and a point that costs nothing.
pub(super) fn front(front: &FrontFile) -> Verdict<((), String)> {
    let pairs: Vec<(u64, u64)> =
        front.points.iter().map(|point| (point.cost_sum, point.loss_count)).collect();
    for (i, a) in pairs.iter().enumerate() {
        for (j, b) in pairs.iter().enumerate() {
            if i < j && a == b {
                return defect(format!(
                    "points {i} and {j} are the same: cost_sum {}, loss_count {}",
                    a.0, a.1
                ));
            }
            if i != j && a.0 <= b.0 && a.1 <= b.1 {
                return defect(format!("point {j} is dominated by point {i}"));
            }
        }
    }
    if let Some(i) = pairs.windows(2).position(|pair| pair[0].0 > pair[1].0) {
        return defect(format!("points {i} and {} are out of order: the cheaper one comes first", i + 1));
    }
    match pairs.first() {
        Some((0, _)) => {}
        _ => return defect("no point costs nothing, though doing nothing is always possible"),
    }
    Ok(((), format!("{} points in order, none dominated, the first of them free", pairs.len())))
}

/// A complete result has no bound; a stopped one has a bound below all its points.
pub(super) fn status(front: &FrontFile) -> Verdict<((), String)> {
    let name = front.status.name();
    let Some(bound) = &front.bound else {
        return match front.status {
            Status::Complete => Ok(((), "complete, and so without a bound".to_owned())),
            Status::CompleteOnSample => Ok(((), "complete on a sample, which claims no bound".to_owned())),
            _ if stopped_before_outcomes(front) => {
                Ok(((), format!("{name} before outcomes were known: doing nothing is all it has")))
            }
            _ => defect(format!("the status is {name}, but there is no bound")),
        };
    };
    if !front.status.is_early() {
        return defect("the status is complete, but a bound says that something may be missing");
    }
    if bound.is_empty() || !bound.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] > pair[1][1]) {
        return defect("the bound is not a front: cost must ascend and loss descend");
    }
    for (number, point) in front.points.iter().enumerate() {
        if !below(bound, (point.cost_sum, point.loss_count)) {
            return defect(format!(
                "point {number} lies below the bound that is said to hold for every tree"
            ));
        }
    }
    Ok(((), format!("{name}, with a bound of {} points below the front", bound.len())))
}

/// Whether some point of the bound is at most this pair.
pub(super) fn below(bound: &[[u64; 2]], (cost, loss): (u64, u64)) -> bool {
    bound.iter().any(|&[c, l]| c <= cost && l <= loss)
}
