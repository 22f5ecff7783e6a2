//! How much a gap would vary with other people from the same groups: 95 % intervals, and p-values.
//!
//! At a single point a gap is a difference of two means over different people, so Welch's interval applies: Student's t with the
//! two groups' own variances. For means over the front, people are drawn with replacement, all with the same probability
//! regardless of their group. The middle 95 % of the resulting gaps are the interval (the percentile bootstrap). A draw takes a
//! person with all points of the front, which keeps the dependence between points.
//!
//! Weights are numbers of people: a row of weight 3 is three people, in n, in variances and in draws. (Other weights, such as
//! those of a survey, should add up to the number of respondents, or intervals come out too narrow.)

use rayon::prelude::*;

use super::measures::{Along, Members};
use super::result::{MeasureName, Measures};
use super::weighted_population::WeightedPopulation;
use sogar_base::draw::Draw;
use sogar_base::statistics::{CONFIDENCE, Interval, quantile, student_p, student_quantile};

/// Count, mean and variance (with n − 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moments {
    pub count: f64,
    pub mean: f64,
    pub variance: f64,
}

impl Moments {
    pub fn of_sums(count: f64, sum: f64, squares: f64) -> Moments {
        let mean = sum / count;
        let variance = if count > 1.0 { ((squares - sum * mean) / (count - 1.0)).max(0.0) } else { 0.0 };
        Moments { count, mean, variance: or_nothing(variance, mean) }
    }

    /// Of values with their weights.
    pub fn of_values(values: impl Iterator<Item = (f64, f64)> + Clone) -> Moments {
        let add = |(count, sum): (f64, f64), (value, times): (f64, f64)| (count + times, sum + times * value);
        let (count, sum) = values.clone().fold((0.0, 0.0), add);
        let mean = sum / count;
        let squares: f64 = values.map(|(value, times)| times * (value - mean).powi(2)).sum();
        let variance = if count > 1.0 { squares / (count - 1.0) } else { 0.0 };
        Moments { count, mean, variance: or_nothing(variance, mean) }
    }
}

/// A variance that is only a rounding error is 0.
fn or_nothing(variance: f64, mean: f64) -> f64 {
    if variance < 1e-12 * (mean * mean) { 0.0 } else { variance }
}

/// A gap with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gap {
    pub gap: f64,
    pub low: f64,
    pub high: f64,
}

/// Welch's 95 % interval of a difference of means.
pub(super) fn welch(group: Moments, rest: Moments) -> Gap {
    welch_at(group, rest, CONFIDENCE)
}

/// The same with another confidence.
pub(super) fn welch_at(group: Moments, rest: Moments, confidence: f64) -> Gap {
    let gap = group.mean - rest.mean;
    let error = standard_error(group, rest);
    let half = match error > 0.0 {
        true => student_quantile(confidence, degrees_of_freedom(group, rest)) * error,
        false => 0.0,
    };
    Gap { gap, low: gap - half, high: gap + half }
}

/// Welch's two-sided p-value of a difference of means.
pub(super) fn welch_p(group: Moments, rest: Moments) -> f64 {
    let (gap, error) = (group.mean - rest.mean, standard_error(group, rest));
    // Without variance, a gap that is only a rounding error is none.
    if error == 0.0 && gap.abs() <= 1e-12 * (group.mean.abs() + rest.mean.abs()) {
        return 1.0;
    }
    student_p(gap / error, degrees_of_freedom(group, rest))
}

fn standard_error(group: Moments, rest: Moments) -> f64 {
    (group.variance / group.count + rest.variance / rest.count).sqrt()
}

fn degrees_of_freedom(group: Moments, rest: Moments) -> f64 {
    let (a, b) = (group.variance / group.count, rest.variance / rest.count);
    let share = |part: f64, count: f64| if count > 1.0 { part * part / (count - 1.0) } else { 0.0 };
    (a + b).powi(2) / (share(a, group.count) + share(b, rest.count))
}

/// A mean gap over the front.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MeanGap {
    /// With its 95 % interval.
    pub gap: Gap,
    /// Its interval that holds for all groups of the grouping together.
    pub together: Interval,
    /// Welch's p-value.
    pub p: f64,
}

/// Mean gaps over the front of every group of every grouping, with their intervals: `[grouping][group]`. `together` is, for each
/// grouping, the confidence at which intervals hold for all of its groups together.
pub(super) fn over_the_front(
    along: &Along,
    groupings: &[Members],
    unit: u64,
    draws: usize,
    seed: u64,
    together: &[f64],
) -> Vec<Vec<Measures<MeanGap>>> {
    let points = along.points.len() as f64;
    // Per person, means over the front.
    let costs: Vec<f64> = along.costs.iter().map(|&cost| cost as f64 / unit as f64 / points).collect();
    let losses: Vec<f64> = along.losses.iter().map(|&lost| lost as f64 / points).collect();
    let value = |measure: MeasureName, person: usize| match measure {
        MeasureName::Cost => costs[person],
        MeasureName::Loss => losses[person],
        MeasureName::Invalidity => costs[person] + losses[person],
    };
    let crowd = Crowd::new(&along.weights, along.person);
    let draws = if crowd.is_drawable(draws) { draws } else { 0 };
    let drawn: Vec<Vec<Vec<(f64, f64)>>> = (0..draws)
        .into_par_iter()
        .map(|draw| {
            let mut draw = Draw::new(seed, draw as u64 + 1);
            let mut sums: Vec<Vec<(u64, f64, f64)>> =
                groupings.iter().map(|members| vec![(0, 0.0, 0.0); members.groups]).collect();
            for _ in 0..crowd.people {
                let person = crowd.draw(&mut draw);
                for (sums, members) in sums.iter_mut().zip(groupings) {
                    let sum = &mut sums[members.of_person[person] as usize];
                    *sum = (sum.0 + 1, sum.1 + costs[person], sum.2 + losses[person]);
                }
            }
            sums.iter().map(|sums| gaps_of(sums)).collect()
        })
        .collect();
    groupings
        .iter()
        .enumerate()
        .map(|(grouping, members)| {
            (0..members.groups)
                .map(|group| {
                    Measures::each(|measure| {
                        let inside = |person: &usize| members.of_person[*person] as usize == group;
                        let values = |wanted: bool| {
                            (0..costs.len())
                                .filter(move |person| inside(person) == wanted)
                                .map(|person| (value(measure, person), crowd.times(person)))
                        };
                        let (group_is, rest_is) =
                            (Moments::of_values(values(true)), Moments::of_values(values(false)));
                        let exact = welch(group_is, rest_is);
                        let mut gaps: Vec<f64> = drawn
                            .iter()
                            .map(|drawn| drawn[grouping][group])
                            .map(|(cost, loss)| match measure {
                                MeasureName::Cost => cost,
                                MeasureName::Loss => loss,
                                MeasureName::Invalidity => cost + loss,
                            })
                            .filter(|gap| gap.is_finite()) // a draw may have missed a tiny group
                            .collect();
                        gaps.sort_by(f64::total_cmp);
                        let drawn = |confidence: f64| {
                            let tail = (1.0 - confidence) / 2.0;
                            quantile(&gaps, tail).zip(quantile(&gaps, 1.0 - tail))
                        };
                        let interval = |confidence: f64, exact: Gap| {
                            let (low, high) = drawn(confidence).unwrap_or((exact.low, exact.high));
                            Interval { low, high }
                        };
                        let plain = interval(CONFIDENCE, exact);
                        let wider = welch_at(group_is, rest_is, together[grouping]);
                        MeanGap {
                            gap: Gap { gap: exact.gap, low: plain.low, high: plain.high },
                            together: interval(together[grouping], wider),
                            p: welch_p(group_is, rest_is),
                        }
                    })
                })
                .collect()
        })
        .collect()
}

/// Limit of draws in a bootstrap of weighted rows; beyond it, intervals are computed.
const MOST_DRAWN: u64 = 20_000_000_000;

/// Whether people with these weights can be drawn this often, or are too many.
pub(super) fn is_drawn(people: &WeightedPopulation, draws: usize) -> bool {
    let weights: Vec<u64> = (0..people.count()).map(|person| people.weight(person)).collect();
    Crowd::new(&weights, people.person).is_drawable(draws)
}

/// The population of the draws, in which a row may stand for several people.
struct Crowd {
    /// Number of people in a draw.
    people: u64,
    rows: usize,
    /// The cumulative weight up to each row, inclusive; empty if every row counts once.
    up_to: Vec<u64>,
    person: f64,
}

impl Crowd {
    fn new(weights: &[u64], person: u64) -> Self {
        if weights.iter().all(|&weight| weight == 1) && person == 1 {
            let people = weights.len() as u64;
            return Crowd { people, rows: weights.len(), up_to: Vec::new(), person: 1.0 };
        }
        let mut total = 0;
        let up_to: Vec<u64> = weights
            .iter()
            .map(|weight| {
                total += weight;
                total
            })
            .collect();
        // With decimals, the number of people to the nearest whole number.
        let people = ((total + person / 2) / person).max(1);
        Crowd { people, rows: weights.len(), up_to, person: person as f64 }
    }

    /// Whether this number of bootstrap draws takes a reasonable time.
    fn is_drawable(&self, draws: usize) -> bool {
        self.up_to.is_empty() || self.people.saturating_mul(draws as u64) <= MOST_DRAWN
    }

    /// Draws a person, all with the same probability: the row that stands for them.
    fn draw(&self, draw: &mut Draw) -> usize {
        match self.up_to.last() {
            None => draw.below(self.rows),
            Some(&all) => {
                let place = draw.below(all as usize) as u64;
                self.up_to.partition_point(|&end| end <= place)
            }
        }
    }

    /// How many people a row stands for.
    fn times(&self, row: usize) -> f64 {
        match self.up_to.get(row) {
            None => 1.0,
            Some(&end) => {
                (end - row.checked_sub(1).map_or(0, |before| self.up_to[before])) as f64 / self.person
            }
        }
    }
}

/// The gaps of all groups in a draw, from (people, costs, losses).
fn gaps_of(sums: &[(u64, f64, f64)]) -> Vec<(f64, f64)> {
    let add = |a: (u64, f64, f64), b: &(u64, f64, f64)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
    let all = sums.iter().fold((0, 0.0, 0.0), add);
    sums.iter()
        .map(|group| {
            let (inside, outside) = (group.0 as f64, (all.0 - group.0) as f64);
            let gap = |group: f64, all: f64| group / inside - (all - group) / outside;
            (gap(group.1, all.1), gap(group.2, all.2))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_without_variance_is_certain() {
        let one = Moments::of_values([(1.0, 3.0)].into_iter());
        let other = Moments::of_values([(0.25, 1.0), (0.25, 1.0)].into_iter());
        assert_eq!(welch(one, other), Gap { gap: 0.75, low: 0.75, high: 0.75 });
        assert_eq!(Moments::of_sums(3.0, 3.0, 3.0), one);
        assert_eq!((welch_p(one, other), welch_p(one, one)), (0.0, 1.0));
        let nearly = Moments { mean: 1.0 + 1e-15, ..one };
        assert_eq!(welch_p(one, nearly), 1.0, "a rounding error is no gap");
    }

    fn once(value: f64) -> (f64, f64) {
        (value, 1.0)
    }

    #[test]
    fn weighted_people_are_drawn_as_repeated_ones_are() {
        let repeated = Crowd::new(&[1; 6], 1);
        let weighted = Crowd::new(&[2, 1, 3], 1);
        assert_eq!((repeated.people, weighted.people, weighted.times(2)), (6, 6, 3.0));
        let (mut one, mut other) = (Draw::new(1, 1), Draw::new(1, 1));
        for _ in 0..100 {
            assert_eq!([0, 0, 1, 2, 2, 2][repeated.draw(&mut one)], weighted.draw(&mut other));
        }
        let decimal = Crowd::new(&[25, 50], 10);
        assert_eq!((decimal.people, decimal.times(0), decimal.times(1)), (8, 2.5, 5.0));
        assert!(!Crowd::new(&[1 << 31], 1).is_drawable(1000) && repeated.is_drawable(1000));
    }

    #[test]
    fn welch_agrees_with_a_textbook() {
        // scipy.stats.ttest_ind([1, 2, 3, 4, 5], [2, 4, 6, 8, 10, 12], equal_var=False).confidence_interval()
        let a = Moments::of_values([1.0, 2.0, 3.0, 4.0, 5.0].map(once).into_iter());
        let b = Moments::of_values([2.0, 4.0, 6.0, 8.0, 10.0, 12.0].map(once).into_iter());
        let found = welch(a, b);
        assert!((found.low + 7.9835).abs() < 1e-4 && (found.high + 0.0165).abs() < 1e-4, "{found:?}");
    }

    /// 400 people in two groups, the second of which pays 0.2 more and is lost half of the time.
    fn example() -> (Along, Members) {
        let of_person: Vec<u32> = (0..400).map(|person| u32::from(person % 4 == 0)).collect();
        let along = Along {
            points: vec![Vec::new()],
            costs: (0..400).map(|person| person % 7 * 10 + if person % 4 == 0 { 20 } else { 0 }).collect(),
            losses: (0..400).map(|person| u64::from(person % 8 == 0)).collect(),
            weights: vec![1; 400],
            person: 1,
        };
        (along, Members { of_person, groups: 2 })
    }

    #[test]
    fn the_bootstrap_follows_from_its_seed_and_agrees_with_welch() {
        let (along, members) = example();
        let members = [members];
        let drawn = |draws, seed| {
            over_the_front(&along, &members, 100, draws, seed, &[CONFIDENCE]).remove(0).remove(1)
        };
        let (exact, found) = (drawn(0, 0), drawn(2000, 1));
        assert_eq!(found, drawn(2000, 1));
        assert_ne!(found, drawn(2000, 2));
        for measure in MeasureName::ALL {
            let (exact, found) = (exact.get(measure).gap, found.get(measure).gap);
            assert_eq!(exact.gap, found.gap);
            let width = exact.high - exact.low;
            assert!((exact.low - found.low).abs() < 0.1 * width, "{measure:?} {exact:?} {found:?}");
            assert!((exact.high - found.high).abs() < 0.1 * width, "{measure:?} {exact:?} {found:?}");
        }
        assert!((found.loss.gap.gap - 0.5).abs() < 1e-12);
    }
}
