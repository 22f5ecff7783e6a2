//! Costs and flips of groups along the front.
//!
//! What an audit always says about a group at a point follows from six sums over its people: their number, costs, squared
//! costs, losses, and costs and squared costs of those who are not flipped. The sums of everyone else are the rest of the total. Costs and losses
//! are also added up per person over the front: a mean gap over the front is a difference of means of these, which makes a
//! bootstrap over people cheap.

use rayon::prelude::*;

use super::intervals::Moments;
use super::result::MeasureName;
use super::routed_people::RoutedPeople;
use super::weighted_population::WeightedPopulation;
use sogar_front::summary::FrontFile;

/// Sums over some people at one point of the front. Costs are in units, and people in units of weight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sums {
    pub people: u64,
    pub cost: u64,
    /// Squared costs; whole numbers, so that the order of addition does not matter.
    pub squares: u128,
    pub lost: u64,
    /// Costs of those who are not flipped …
    pub cost_of_lost: u64,
    /// … and their squared costs.
    pub squares_of_lost: u128,
}

impl Sums {
    /// Adds a person, or as many as `weight` says.
    fn add(&mut self, cost: u64, lost: bool, weight: u64) {
        self.people += weight;
        self.cost += weight * cost;
        let squares = u128::from(weight * cost) * u128::from(cost);
        self.squares += squares;
        if lost {
            self.lost += weight;
            self.cost_of_lost += weight * cost;
            self.squares_of_lost += squares;
        }
    }

    /// The sum of both; `None` on overflow.
    pub fn plus(self, other: Sums) -> Option<Sums> {
        Some(Sums {
            people: self.people.checked_add(other.people)?,
            cost: self.cost.checked_add(other.cost)?,
            squares: self.squares.checked_add(other.squares)?,
            lost: self.lost.checked_add(other.lost)?,
            cost_of_lost: self.cost_of_lost.checked_add(other.cost_of_lost)?,
            squares_of_lost: self.squares_of_lost.checked_add(other.squares_of_lost)?,
        })
    }

    /// The sums of the people of the whole who are not among these.
    pub fn rest_of(self, whole: Sums) -> Sums {
        Sums {
            people: whole.people - self.people,
            cost: whole.cost - self.cost,
            squares: whole.squares - self.squares,
            lost: whole.lost - self.lost,
            cost_of_lost: whole.cost_of_lost - self.cost_of_lost,
            squares_of_lost: whole.squares_of_lost - self.squares_of_lost,
        }
    }

    /// Count, mean and variance of a measure; `person` is the weight of one person.
    pub fn moments(self, measure: MeasureName, unit: u64, person: u64) -> Moments {
        let (unit, person) = (unit as f64, person as f64);
        let (cost, lost) = (self.cost as f64 / unit / person, self.lost as f64 / person);
        let (squares, crossed) =
            (self.squares as f64 / unit / unit / person, self.cost_of_lost as f64 / unit / person);
        let (sum, squares) = match measure {
            MeasureName::Cost => (cost, squares),
            MeasureName::Loss => (lost, lost),
            MeasureName::Invalidity => (cost + lost, squares + 2.0 * crossed + lost),
        };
        Moments::of_sums(self.people as f64 / person, sum, squares)
    }

    /// Count, mean and variance of the cost of those who are flipped; `None` if nobody is.
    pub fn of_success(self, unit: u64, person: u64) -> Option<Moments> {
        let (unit, person) = (unit as f64, person as f64);
        let count = self.people.checked_sub(self.lost).filter(|&count| count > 0)?;
        let cost = self.cost.checked_sub(self.cost_of_lost)?;
        let squares = self.squares.checked_sub(self.squares_of_lost)?;
        let [count, cost, squares] =
            [count as f64 / person, cost as f64 / unit / person, squares as f64 / unit / unit / person];
        Some(Moments::of_sums(count, cost, squares))
    }
}

/// The sums of all groups of all groupings, at all points.
pub(super) struct Along {
    /// `[point][grouping][group]`.
    pub points: Vec<Vec<Vec<Sums>>>,
    /// Per person: costs over all points, in units.
    pub costs: Vec<u64>,
    /// Per person: at how many points they are not flipped.
    pub losses: Vec<u64>,
    /// Per person: how much they count …
    pub weights: Vec<u64>,
    /// … and how much of that is one person.
    pub person: u64,
}

/// A grouping of the affected people: the group of each, and the number of groups.
pub(super) struct Members {
    pub of_person: Vec<u32>,
    pub groups: usize,
}

impl Members {
    /// The groups of a table's affected rows.
    pub fn new(people: &WeightedPopulation, of_row: &[u32], groups: usize) -> Members {
        Members { of_person: people.affected.iter().map(|&row| of_row[row]).collect(), groups }
    }
}

impl Along {
    /// Routes everyone through every tree.
    pub fn new(front: &FrontFile, people: &RoutedPeople, groupings: &[Members]) -> Along {
        let nobody = || (vec![0u64; people.count()], vec![0u64; people.count()]);
        let add = |(mut costs, mut losses): (Vec<u64>, Vec<u64>), (more, lost): (Vec<u64>, Vec<u64>)| {
            costs.iter_mut().zip(more).for_each(|(cost, more)| *cost += more);
            losses.iter_mut().zip(lost).for_each(|(loss, lost)| *loss += lost);
            (costs, losses)
        };
        let weights: Vec<u64> = (0..people.count()).map(|person| people.weight(person)).collect();
        let (points, totals): (Vec<_>, Vec<_>) = front
            .points
            .par_chunks(64)
            .map(|points| {
                let (mut costs, mut losses) = nobody();
                let sums: Vec<_> = points
                    .iter()
                    .map(|point| {
                        let mut sums: Vec<Vec<Sums>> =
                            groupings.iter().map(|members| vec![Sums::default(); members.groups]).collect();
                        for (action, leaf) in people.leaves(&point.tree) {
                            let flips = people.flips(action);
                            for person in leaf.iter() {
                                let (cost, lost) = (people.cost(action, person), !flips.contains(person));
                                costs[person] += cost;
                                losses[person] += u64::from(lost);
                                for (sums, members) in sums.iter_mut().zip(groupings) {
                                    sums[members.of_person[person] as usize].add(cost, lost, weights[person]);
                                }
                            }
                        }
                        sums
                    })
                    .collect();
                (sums, (costs, losses))
            })
            .unzip();
        let (costs, losses) = totals.into_iter().fold(nobody(), add);
        Along {
            points: points.into_iter().flatten().collect(),
            costs,
            losses,
            weights,
            person: people.person,
        }
    }
}

/// The sum over all groups of a table, which cannot overflow.
pub(super) fn whole(groups: &[Sums]) -> Sums {
    groups.iter().fold(Sums::default(), |all, &group| all.plus(group).unwrap_or(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_follow_from_the_sums() {
        // Costs in tenths: 0, 2 and 4; the first person is lost, and so is the last.
        let mut sums = Sums::default();
        sums.add(0, true, 1);
        sums.add(2, false, 1);
        sums.add(4, true, 1);
        let moments = |measure| sums.moments(measure, 10, 1);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(moments(MeasureName::Cost).mean, 0.2));
        assert!(close(moments(MeasureName::Cost).variance, 0.04));
        assert!(close(moments(MeasureName::Loss).mean, 2.0 / 3.0));
        assert!(close(moments(MeasureName::Loss).variance, 1.0 / 3.0));
        // 1, 0.2 and 1.4
        let mean = 2.6 / 3.0;
        let variance =
            ((1.0 - mean) * (1.0 - mean) + (0.2f64 - mean).powi(2) + (1.4f64 - mean).powi(2)) / 2.0;
        assert!(close(moments(MeasureName::Invalidity).mean, mean));
        assert!(close(moments(MeasureName::Invalidity).variance, variance));
        assert!(close(sums.of_success(10, 1).unwrap().mean, 0.2));
        assert_eq!(sums.of_success(10, 1).unwrap().count, 1.0);
        assert_eq!(Sums { lost: 3, ..sums }.of_success(10, 1), None);
    }

    #[test]
    fn the_rest_is_what_remains_of_the_whole() {
        let (mut some, mut others) = (Sums::default(), Sums::default());
        some.add(3, true, 1);
        others.add(5, false, 1);
        others.add(1, true, 1);
        let all = whole(&[some, others]);
        assert_eq!(some.rest_of(all), others);
        assert_eq!(others.rest_of(all), some);
    }
}
