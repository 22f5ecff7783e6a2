//! Whether the points form a front, and whether status and bound are consistent with them.

use super::{Verdict, defect};
use sogar_front::summary::{FrontFile, PointRef, Status};

/// Cost ascending, loss descending, no point dominated or repeated, and a point that costs nothing.
pub(super) fn front(points: &[PointRef]) -> Verdict<((), String)> {
    let pairs: Vec<(u64, u64)> = points.iter().map(|point| (point.cost_sum, point.loss_count)).collect();
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

/// A complete result has no bound; a stopped one has a bound below all its points. Reading the file already checked that status,
/// sample and bound are consistent.
pub(super) fn status(front: &FrontFile) -> Verdict<((), String)> {
    let (name, claim) = (front.status.name(), front.claim());
    let on_sample = if front.sample.is_some() { " of the sample" } else { "" };
    let Some(bound) = claim.bound else {
        return Ok(match front.status {
            Status::Complete => ((), "complete, and so without a bound".to_owned()),
            Status::CompleteWithinEpsilon => {
                ((), "complete within epsilon, and so without a bound".to_owned())
            }
            Status::CompleteOnSample => ((), "complete on a sample, which claims no bound".to_owned()),
            _ => ((), format!("{name} before outcomes were known: doing nothing is all it has")),
        });
    };
    for (number, point) in claim.points.iter().enumerate() {
        if !below(bound, (point.cost_sum, point.loss_count)) {
            return defect(format!(
                "point {number}{on_sample} lies below the bound that the file gives for every tree"
            ));
        }
    }
    Ok(((), format!("{name}, with a bound of {} points below the front{on_sample}", bound.len())))
}

/// Whether some point of the bound is at most this pair.
pub(super) fn below(bound: &[[u64; 2]], (cost, loss): (u64, u64)) -> bool {
    bound.iter().any(|&[c, l]| c <= cost && l <= loss)
}
