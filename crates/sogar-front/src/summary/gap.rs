//! How far a stopped search may be from the complete front.
//!
//! Take the rectangle from (0, 0) to the cost of the most expensive point and the whole population as loss. The part of it that a
//! front dominates is the front's *area*; a better front has a larger one. No summary lies below the bound, so the area of the
//! complete front is at most that of the bound. The share of the bound's area that the front lacks is a certified gap, 0 if
//! nothing can be missing.

use super::FrontFile;

impl FrontFile {
    /// The certified gap of a stopped run, between 0 and 1; `None` for a complete run, or if no bound is known.
    pub fn certified_gap(&self) -> Option<f64> {
        let found: Vec<[u64; 2]> =
            self.points.iter().map(|point| [point.cost_sum, point.loss_count]).collect();
        certified_gap(&found, self.bound.as_ref()?, self.people().affected)
    }
}

/// The certified gap between a front and a bound that no summary of so many people beats.
pub fn certified_gap(found: &[[u64; 2]], bound: &[[u64; 2]], people: u64) -> Option<f64> {
    let max_cost = found.iter().chain(bound).map(|point| point[0]).max()?;
    let possible = area(bound, max_cost, people);
    match possible {
        0 => Some(0.0),
        _ => Some((possible - area(found, max_cost, people).min(possible)) as f64 / possible as f64),
    }
}

/// The area that a front (cost ascending, loss descending) dominates below (max_cost, rows).
fn area(front: &[[u64; 2]], max_cost: u64, rows: u64) -> u128 {
    let ends = front.iter().skip(1).map(|point| point[0]).chain([max_cost]);
    front
        .iter()
        .zip(ends)
        .map(|(&[cost, loss], end)| {
            u128::from(end.saturating_sub(cost)) * u128::from(rows.saturating_sub(loss))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_those_of_the_staircase() {
        // (0, 10) dominates nothing below loss 10; (2, 4) then 6 rows over a width of 3, (5, 0) ten over 5.
        assert_eq!(area(&[[0, 10], [2, 4], [5, 0]], 10, 10), 3 * 6 + 5 * 10);
        assert_eq!(area(&[], 10, 10), 0);
    }
}
