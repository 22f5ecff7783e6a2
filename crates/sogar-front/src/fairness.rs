//! Fairness inside the search: the part of a result about one grouping of the affected people.
//!
//! The search finds every vector (cost, loss of each group) that a summary attains and no summary dominates ([`FairnessRef::front`]). The points of the
//! result are chosen from it, with integers throughout: [`within_gap`] by a limit on the gap between groups, [`minimax`] by the loss of the group that is worst off.
//!
//! The *gap* is that of [`select` and `audit`](crate::select): the largest distance, in either direction, of a group's loss from that of everyone else.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe::{group_title, grouping_title};
use crate::summary::FrontFile;
use sogar_base::markup::visible;
use sogar_table::config::{FairnessGoal, Share};

/// The grouping of the affected people that a search distinguishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedGroups {
    /// What people are grouped by.
    pub name: String,
    /// The groups that have affected people.
    pub names: Vec<String>,
    /// For each affected row, in the table's order, the position of its group.
    pub of_affected: Vec<u32>,
    /// Features that define the groups and that actions change.
    pub changed: Vec<String>,
}

/// What a search found out about groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FairnessRef {
    /// What people are grouped by.
    pub grouping: String,
    /// The groups; they partition the affected people.
    pub groups: Vec<GroupRef>,
    /// The accuracy of `front`: every summary within the limits has a point that is larger by at most this in mean cost and in the loss of each group.
    /// 0: complete.
    pub epsilon: f64,
    /// The vectors `[cost_sum, loss_count of each group]` that no summary dominates, by cost and then by losses.
    pub front: Vec<Vec<u64>>,
    /// For each point of the result its position in `front`.
    pub points: Vec<usize>,
    /// If only doing nothing meets the limit on the gap: the smallest limit that another summary meets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_limit: Option<f64>,
}

/// A group of the affected people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupRef {
    /// Its name.
    pub group: String,
    /// Its affected people (with weights: their weight, in units).
    pub affected: u64,
}

impl FairnessRef {
    /// Affected people of each group.
    pub fn sizes(&self) -> Vec<u64> {
        self.groups.iter().map(|group| group.affected).collect()
    }

    /// The losses of the groups at a point of the result, as shares.
    pub fn losses_at(&self, point: usize) -> Vec<f64> {
        let losses =
            self.points.get(point).and_then(|&at| self.front.get(at)).map_or(&[][..], |all| &all[1..]);
        losses.iter().zip(&self.groups).map(|(&loss, group)| loss as f64 / group.affected as f64).collect()
    }

    /// The gap at a point of the result.
    pub fn gap_at(&self, point: usize) -> f64 {
        match self.points.get(point).and_then(|&at| self.front.get(at)) {
            Some(vector) => Gap::of(&vector[1..], &self.sizes()).value(),
            None => 0.0,
        }
    }

    /// A point of the result in words: for whom it works, by group.
    pub fn point_text(&self, front: &FrontFile, point: usize) -> String {
        let share = |(loss, group): (f64, &GroupRef)| {
            format!("{:.1} % of {}", 100.0 * (1.0 - loss), visible(&group_title(front, &group.group)))
        };
        let shares: Vec<String> = self.losses_at(point).into_iter().zip(&self.groups).map(share).collect();
        format!(
            "By {}: works for {}; gap {:.3}\n",
            visible(&grouping_title(front, &self.grouping)),
            shares.join(", "),
            self.gap_at(point)
        )
    }

    /// `least_limit` for people: rounded up, so that the other summary meets the number that is printed.
    pub fn least_limit_text(&self) -> Option<String> {
        let found = if self.epsilon > 0.0 { "another summary that was found" } else { "another summary" };
        let text = |least: f64| {
            format!("the smallest limit that {found} meets is {:.4} (rounded up)", (1e4 * least).ceil() / 1e4)
        };
        self.least_limit.map(text)
    }

    /// Whether the block agrees with itself and with the points of the result, given as (cost, loss).
    pub fn check(&self, points: &[(u64, u64)], people: u64) -> Result<(), String> {
        let sizes = self.sizes();
        if sizes.len() < 2
            || sizes.contains(&0)
            || sizes.iter().try_fold(0u64, |a, &b| a.checked_add(b)) != Some(people)
        {
            return Err("the groups are not a partition of the affected people".into());
        }
        if !(0.0..=1.0).contains(&self.epsilon) {
            return Err("epsilon is not a share".into());
        }
        let fits = |vector: &Vec<u64>| {
            vector.len() == sizes.len() + 1 && vector[1..].iter().zip(&sizes).all(|(loss, size)| loss <= size)
        };
        if !self.front.iter().all(fits) {
            return Err("a vector of the groups' front has losses that its groups cannot have".into());
        }
        if self.front.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err("the groups' front is out of order".into());
        }
        let said = self.points.iter().map(|&at| {
            let vector = self.front.get(at)?;
            Some((vector[0], vector[1..].iter().sum()))
        });
        if !said.eq(points.iter().map(|&point| Some(point))) {
            return Err("the points are not those of the groups' front that the block names".into());
        }
        Ok(())
    }
}

/// A gap as a fraction, so that nothing is rounded.
#[derive(Debug, Clone, Copy)]
pub struct Gap {
    part: u128,
    whole: u128,
}

impl Gap {
    /// The largest distance of a group's loss from that of everyone else.
    pub fn of(losses: &[u64], sizes: &[u64]) -> Gap {
        let (loss, size): (u64, u64) = (losses.iter().sum(), sizes.iter().sum());
        let gap = |(&own, &group): (&u64, &u64)| {
            let (rest, others) = (loss - own, size - group);
            let products = [u128::from(own) * u128::from(others), u128::from(rest) * u128::from(group)];
            Gap { part: products[0].abs_diff(products[1]), whole: u128::from(group) * u128::from(others) }
        };
        let none = Gap { part: 0, whole: 1 };
        losses
            .iter()
            .zip(sizes)
            .map(gap)
            .fold(none, |most, one| if one.order(&most).is_gt() { one } else { most })
    }

    /// As a number.
    pub fn value(&self) -> f64 {
        self.part as f64 / self.whole.max(1) as f64
    }

    /// Compares fractions: `a/b` with `c/d`. Products of four 32-bit counts fit 128 bits.
    fn order(&self, other: &Gap) -> Ordering {
        (self.part * other.whole).cmp(&(other.part * self.whole))
    }

    /// Whether it is at most a limit. Two counts of 32 bits and nine decimals fit 128 bits.
    pub fn at_most(&self, limit: Share) -> bool {
        self.part * u128::from(limit.one()) <= u128::from(limit.digits) * self.whole
    }
}

/// Positions of the trade-off of cost and loss under a limit on the gap; of equal pairs the one with the smaller gap, then the first.
fn within_gap(front: &[Vec<u64>], sizes: &[u64], limit: Share) -> Vec<usize> {
    let gap = |at: usize| Gap::of(&front[at][1..], sizes);
    let mut admitted: Vec<usize> = (0..front.len()).filter(|&at| gap(at).at_most(limit)).collect();
    let key = |at: usize| (front[at][0], front[at][1..].iter().sum::<u64>());
    admitted.sort_by(|&a, &b| key(a).cmp(&key(b)).then_with(|| gap(a).order(&gap(b))).then(a.cmp(&b)));
    let mut least = u64::MAX;
    admitted.retain(|&at| {
        let better = key(at).1 < least;
        least = least.min(key(at).1);
        better
    });
    admitted
}

/// Positions of the trade-off of cost and the loss of the group that is worst off; of equal pairs the one with the smaller loss of all, then the
/// first.
pub fn minimax(front: &[Vec<u64>], sizes: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..front.len()).collect();
    let all = |at: usize| front[at][1..].iter().sum::<u64>();
    order.sort_by(|&a, &b| {
        let worst = worst_off(&front[a][1..], sizes).order(&worst_off(&front[b][1..], sizes));
        front[a][0].cmp(&front[b][0]).then(worst).then_with(|| all(a).cmp(&all(b))).then(a.cmp(&b))
    });
    let mut least: Option<Gap> = None;
    order.retain(|&at| {
        let worst = worst_off(&front[at][1..], sizes);
        let better = least.is_none_or(|least| worst.order(&least).is_lt());
        if better {
            least = Some(worst);
        }
        better
    });
    order
}

/// The largest loss of a group, as a fraction.
fn worst_off(losses: &[u64], sizes: &[u64]) -> Gap {
    let share = |(&loss, &size): (&u64, &u64)| Gap { part: u128::from(loss), whole: u128::from(size) };
    let none = Gap { part: 0, whole: 1 };
    losses
        .iter()
        .zip(sizes)
        .map(share)
        .fold(none, |most, one| if one.order(&most).is_gt() { one } else { most })
}

/// The points that a goal chooses.
pub fn chosen(goal: &FairnessGoal, front: &[Vec<u64>], sizes: &[u64]) -> Vec<usize> {
    match goal.max_gap {
        Some(limit) => within_gap(front, sizes, limit),
        None => minimax(front, sizes),
    }
}

/// If nothing was chosen but doing nothing: the smallest gap of everything else.
pub fn least_limit(front: &[Vec<u64>], sizes: &[u64], chosen: &[usize]) -> Option<f64> {
    let idle = |at: usize| front[at][1..] == *sizes;
    if !chosen.iter().all(|&at| idle(at)) {
        return None;
    }
    let gaps = (0..front.len()).filter(|&at| !idle(at)).map(|at| Gap::of(&front[at][1..], sizes));
    gaps.min_by(Gap::order).map(|gap| gap.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u64; 2] = [10, 20];

    fn front() -> Vec<Vec<u64>> {
        vec![vec![0, 10, 20], vec![3, 10, 4], vec![4, 2, 20], vec![7, 5, 10], vec![7, 6, 9], vec![20, 1, 1]]
    }

    fn share(digits: u64) -> Share {
        Share { digits, decimals: 2 }
    }

    #[test]
    fn the_limit_is_kept_exactly() {
        // Gaps: 0, 0.8, 0.8, 0, 0.15, 0.05.
        assert_eq!(within_gap(&front(), &SIZES, share(0)), [0, 3]);
        assert_eq!(within_gap(&front(), &SIZES, share(5)), [0, 3, 5]);
        assert_eq!(within_gap(&front(), &SIZES, share(4)), [0, 3]);
        assert_eq!(within_gap(&front(), &SIZES, share(100)), [0, 1, 5]);
        assert_eq!(least_limit(&front(), &SIZES, &[0]), Some(0.0));
        assert_eq!(least_limit(&front(), &SIZES, &[0, 3]), None);
        assert_eq!(least_limit(&front()[..3], &SIZES, &[0]), Some(0.8));
        assert_eq!(least_limit(&front()[..1], &SIZES, &[0]), None);
    }

    #[test]
    fn minimax_is_the_trade_off_of_cost_and_the_worst_group() {
        // Largest losses: 1, 1, 1, 0.5, 0.6, 0.1.
        assert_eq!(minimax(&front(), &SIZES), [0, 3, 5]);
    }

    #[test]
    fn with_three_groups_the_gap_is_the_largest_to_everyone_else() {
        let gap = Gap::of(&[5, 0, 5], &[10, 10, 20]);
        assert!((gap.value() - (10.0 / 30.0)).abs() < 1e-12); // the second group: 0 and 10 of 30
    }

    #[test]
    fn a_block_that_contradicts_itself_is_refused() {
        let groups = [("a", 10), ("b", 20)].map(|(name, affected)| GroupRef { group: name.into(), affected });
        let good = FairnessRef {
            grouping: "sex".into(),
            groups: groups.to_vec(),
            epsilon: 0.0,
            front: front(),
            points: vec![0, 3],
            least_limit: None,
        };
        assert_eq!(good.check(&[(0, 30), (7, 15)], 30), Ok(()));
        assert!(good.check(&[(0, 30), (7, 14)], 30).is_err());
        assert!(good.check(&[(0, 30), (7, 15)], 31).is_err());
        assert!(FairnessRef { points: vec![0, 9], ..good.clone() }.check(&[(0, 30), (7, 15)], 30).is_err());
        let mut bad = good.clone();
        bad.front[2][1] = 11;
        assert!(bad.check(&[(0, 30), (7, 15)], 30).unwrap_err().contains("cannot have"));
        bad = good;
        bad.front.swap(0, 1);
        assert!(bad.check(&[(0, 30), (7, 15)], 30).unwrap_err().contains("order"));
    }
}
