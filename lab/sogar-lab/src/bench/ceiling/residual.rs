//! What of a set's front can still reach the root's front.
//!
//! A *residual* has for every loss the largest cost with which a point of a set is not strictly dominated by the root's front, whatever the rest of
//! the tree is: for all rows the root's front itself, for a part of a cut the whole's residual less what the other part costs and loses at best.
//! A point beyond it can be left out, and a set none of whose points is within it need not be looked at.

use sogar_solver::{Point, RowSet};

/// More than any cost.
const EVERYTHING: i64 = 1 << 60;

/// Per loss the largest cost that still counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residual(Vec<i64>);

impl Residual {
    /// Of a front itself: what it does not strictly dominate.
    pub fn of_front(front: &[Point], size: usize) -> Residual {
        Residual::with_ties(front, size, |_| true)
    }

    /// The same, but a point that equals one of the front's is allowed only if `tie` says so of the front's: if it could have the smaller witness.
    pub fn with_ties(front: &[Point], size: usize, tie: impl Fn(usize) -> bool) -> Residual {
        let mut costs = vec![EVERYTHING; size + 1];
        // Cost ascending and loss descending, so that later points overwrite what is dominated.
        for (position, point) in front.iter().enumerate().rev() {
            let loss = point.loss as usize;
            costs[loss..].fill(point.cost as i64 - 1);
            costs[loss] += i64::from(tie(position));
        }
        Residual(costs)
    }

    /// That of a part of `size` rows, if the other part has this front, exactly or as a lower bound.
    pub fn beside(&self, other: &[Point], size: usize) -> Residual {
        let mut costs = vec![-EVERYTHING; size + 1];
        for point in other {
            let (cost, within) = (point.cost as i64, &self.0[point.loss as usize..]);
            costs.iter_mut().zip(within).for_each(|(most, limit)| *most = (*most).max(limit - cost));
        }
        Residual(costs)
    }

    /// Allows also what the other one allows.
    pub fn join(&mut self, other: &Residual) {
        self.0.iter_mut().zip(&other.0).for_each(|(most, limit)| *most = (*most).max(*limit));
    }

    /// Allows only what the other one allows as well.
    pub fn meet(&mut self, other: &Residual) {
        self.0.iter_mut().zip(&other.0).for_each(|(most, limit)| *most = (*most).min(*limit));
    }

    #[inline(always)]
    pub fn allows(&self, cost: u64, loss: u64) -> bool {
        cost as i64 <= self.0[loss as usize]
    }

    /// The share of losses at which a front, or a bound, is within the residual.
    pub fn share(&self, front: &[Point]) -> f64 {
        let mut points = front.iter().rev().peekable();
        let mut cheapest = u64::MAX;
        let within = (0..).zip(&self.0).filter(|(loss, limit)| {
            while let Some(point) = points.next_if(|point| point.loss <= *loss) {
                cheapest = point.cost;
            }
            i64::try_from(cheapest).is_ok_and(|cheapest| cheapest <= **limit)
        });
        within.count() as f64 / self.0.len() as f64
    }

    pub fn allows_some(&self, front: &[Point]) -> bool {
        front.iter().any(|point| self.allows(point.cost, point.loss))
    }

    pub fn allows_some_sum(&self, left: &[Point], right: &[Point]) -> bool {
        left.iter().any(|a| right.iter().any(|b| self.allows(a.cost + b.cost, a.loss + b.loss)))
    }
}

/// The rows by the cost of their cheapest flip, ascending.
pub struct CheapestFlips {
    rows: Vec<(u64, u32)>,
}

impl CheapestFlips {
    /// `None` are rows that no action flips.
    pub fn new(cheapest: &[Option<u64>]) -> CheapestFlips {
        let mut rows: Vec<(u64, u32)> =
            (0..).zip(cheapest).filter_map(|(row, cost)| cost.map(|cost| (cost, row))).collect();
        rows.sort_unstable();
        CheapestFlips { rows }
    }

    /// No tree on these rows is below this front: to flip some of them costs at least as much as the cheapest flips of so many.
    pub fn bound(&self, set: &RowSet, size: usize) -> Vec<Point> {
        let mut point = Point { cost: 0, loss: size as u64 };
        let mut front = vec![point];
        for &(cost, _) in self.rows.iter().filter(|&&(_, row)| set.contains(row as usize)) {
            point = Point { cost: point.cost + cost, loss: point.loss - 1 };
            if cost == 0 {
                front.pop();
            }
            front.push(point);
        }
        front
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(list: &[(u64, u64)]) -> Vec<Point> {
        list.iter().map(|&(cost, loss)| Point { cost, loss }).collect()
    }

    #[test]
    fn what_a_front_strictly_dominates_is_not_allowed_and_its_own_points_are() {
        let front = points(&[(0, 4), (3, 2), (9, 1)]);
        let residual = Residual::of_front(&front, 4);
        for cost in 0..12 {
            for loss in 1..=4 {
                let point = Point { cost, loss };
                let dominated = front.iter().any(|known| known.dominates(&point));
                assert_eq!(residual.allows(cost, loss), !dominated, "{point:?}");
            }
        }
        assert!(residual.allows(1_000_000, 0));
        // At losses 1, 2 and 4 the front is within, at 3 the point at 2 is dominated there.
        assert_eq!(residual.share(&front), 3.0 / 5.0);
        assert_eq!(residual.share(&points(&[(0, 4), (2, 2)])), 3.0 / 5.0);
        let strict = Residual::with_ties(&front, 4, |position| position == 2);
        assert!(!strict.allows(3, 2) && strict.allows(2, 2) && strict.allows(9, 1));
    }

    #[test]
    fn a_part_is_allowed_what_some_sum_with_the_other_part_is_allowed() {
        let whole = Residual::of_front(&points(&[(0, 6), (3, 4), (5, 3), (9, 1)]), 6);
        let other = points(&[(0, 3), (2, 1)]);
        let part = whole.beside(&other, 3);
        for cost in 0..12 {
            for loss in 0..=3 {
                let some = other.iter().any(|point| whole.allows(cost + point.cost, loss + point.loss));
                assert_eq!(part.allows(cost, loss), some, "{cost} {loss}");
            }
        }
    }

    #[test]
    fn cheapest_flips_are_counted_within_the_set() {
        let flips = CheapestFlips::new(&[Some(3), None, Some(0), Some(1), Some(7)]);
        let set = RowSet::from_rows(5, [0, 1, 2, 3]);
        assert_eq!(flips.bound(&set, 4), points(&[(0, 3), (1, 2), (4, 1)]));
    }
}
