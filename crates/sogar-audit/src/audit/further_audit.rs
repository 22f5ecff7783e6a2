//! Further measures of every group: along the front, and for individual recourse.

use rayon::prelude::*;

use sogar_base::statistics::{CONFIDENCE, Interval, student_quantile};
use sogar_front::summary::FrontFile;
use sogar_solver::RowSet;

use super::further::{Curves, FurtherMeasure, Measured};
use super::intervals::welch_at;
use super::measures::{Members, Sums};
use super::result::FurtherAudit;
use super::routed_people::RoutedPeople;
use super::unreachable::Individual;
use super::weighted_population::WeightedPopulation;

/// A measure at a point with its 95 % interval, and with one that holds for all groups together.
pub(super) type AtPoint = (Measured, Measured);

/// Which groups of a grouping get a statement, and the confidence at which intervals hold for all of them together.
#[derive(Debug, Clone)]
pub(super) struct Stated {
    pub groups: Vec<bool>,
    pub together: f64,
}

impl Stated {
    /// Groups with enough people in them and outside them.
    pub fn new(people: &WeightedPopulation, members: &Members, min_group: usize) -> Stated {
        let weights = weights_of(people, members);
        let (all, least) = (weights.iter().sum::<u64>(), min_group.max(1) as u64 * people.person);
        let groups: Vec<bool> =
            weights.iter().map(|&weight| weight >= least && all - weight >= least).collect();
        let stated = groups.iter().filter(|stated| **stated).count();
        let present = weights.iter().filter(|weight| **weight > 0).count();
        // The gaps of two groups are one comparison, seen from both sides.
        let comparisons = if stated == 2 && present == 2 { 1 } else { stated.max(1) };
        Stated { groups, together: 1.0 - (1.0 - CONFIDENCE) / comparisons as f64 }
    }
}

fn weights_of(people: &WeightedPopulation, members: &Members) -> Vec<u64> {
    let mut weights = vec![0; members.groups];
    for (person, &group) in members.of_person.iter().enumerate() {
        weights[group as usize] += people.weight(person);
    }
    weights
}

/// `[grouping][group]`: further measures along the front, in the order of the request.
pub(super) fn along_the_front(
    front: &FrontFile,
    people: &RoutedPeople,
    members: &[Members],
    stated: &[Stated],
    measures: &[FurtherMeasure],
) -> Vec<Vec<Vec<FurtherAudit>>> {
    let sets: Vec<Vec<RowSet>> = match measures.iter().any(|m| matches!(m, FurtherMeasure::Choices(_))) {
        true => members.iter().map(|members| sets_of(people.count(), members)).collect(),
        false => vec![Vec::new(); members.len()],
    };
    let weights: Vec<Vec<u64>> = members.iter().map(|members| weights_of(people, members)).collect();
    let points: Vec<Vec<Vec<Vec<AtPoint>>>> = front
        .points
        .par_iter()
        .map(|point| {
            let leaves = people.leaves(&point.tree);
            let mut reached: Vec<(u64, u32)> = Vec::new();
            for (action, leaf) in &leaves {
                let flipped = leaf.and(people.flips(*action));
                reached.extend(flipped.iter().map(|person| (people.cost(*action, person), person as u32)));
            }
            reached.sort_unstable();
            let mut actions: Vec<usize> = leaves.iter().map(|(action, _)| *action).collect();
            actions.sort_unstable();
            actions.dedup();
            let each = members.iter().enumerate().map(|(position, members)| {
                let effect = |&action: &usize| {
                    let among = |set: &RowSet| people.weight_of(&set.and(people.flips(action)));
                    sets[position].iter().map(among).collect::<Vec<u64>>()
                };
                let effects =
                    if sets[position].is_empty() { Vec::new() } else { actions.iter().map(effect).collect() };
                let by_cost = reached.iter().map(|&(cost, person)| {
                    (cost, members.of_person[person as usize], people.weight(person as usize))
                });
                let curves =
                    Curves::new(by_cost, weights[position].clone(), effects, people.unit, people.person);
                measured(&curves, &stated[position], measures)
            });
            each.collect()
        })
        .collect();
    (0..members.len())
        .map(|grouping| {
            (0..members[grouping].groups)
                .map(|group| {
                    let along = |position: usize| {
                        points.iter().map(move |point| point[grouping][group].get(position).copied())
                    };
                    measures
                        .iter()
                        .enumerate()
                        .filter_map(|(position, &measure)| {
                            let along: Option<Vec<AtPoint>> = along(position).collect();
                            along.map(|along| collected(measure, &along))
                        })
                        .collect()
                })
                .collect()
        })
        .collect()
}

/// `[group][measure]`; nothing for groups that are too small.
fn measured(curves: &Curves, stated: &Stated, measures: &[FurtherMeasure]) -> Vec<Vec<AtPoint>> {
    let each = |group: usize| {
        let both = |&measure: &FurtherMeasure| {
            let plain = curves.measure(group, measure, CONFIDENCE);
            match stated.together == CONFIDENCE {
                true => (plain, plain),
                false => (plain, curves.measure(group, measure, stated.together)),
            }
        };
        if stated.groups[group] { measures.iter().map(both).collect() } else { Vec::new() }
    };
    (0..stated.groups.len()).map(each).collect()
}

fn sets_of(people: usize, members: &Members) -> Vec<RowSet> {
    (0..members.groups as u32)
        .map(|group| RowSet::from_fn(people, |&person| members.of_person[person] == group))
        .collect()
}

/// `[grouping][group]`: the mean cost of success and further measures, if everyone takes the cheapest action that works for them.
pub(super) fn of_individuals(
    people: &WeightedPopulation,
    members: &[Members],
    stated: &[Stated],
    measures: &[FurtherMeasure],
    individual: &Individual,
) -> Vec<Vec<Vec<FurtherAudit>>> {
    let mut reached: Vec<(u64, usize)> =
        individual.costs.iter().enumerate().filter_map(|(person, cost)| Some(((*cost)?, person))).collect();
    reached.sort_unstable();
    let wanted = with_cost_of_success(measures);
    members
        .iter()
        .enumerate()
        .map(|(position, members)| {
            let by_cost = reached
                .iter()
                .map(|&(cost, person)| (cost, members.of_person[person], people.weight(person)));
            let effects = individual.effects.get(position).cloned().unwrap_or_default();
            let weights = weights_of(people, members);
            let curves = Curves::new(by_cost, weights, effects, people.unit, people.person);
            measured(&curves, &stated[position], &wanted)
                .into_iter()
                .map(|group| {
                    wanted.iter().zip(group).map(|(&measure, at)| collected(measure, &[at])).collect()
                })
                .collect()
        })
        .collect()
}

/// The measures, the cost of success first: it is always reported.
pub(super) fn with_cost_of_success(measures: &[FurtherMeasure]) -> Vec<FurtherMeasure> {
    let mut all = vec![FurtherMeasure::CostOfSuccess];
    for &measure in measures {
        if !all.contains(&measure) {
            all.push(measure);
        }
    }
    all
}

/// The cost of success along the front, from a group's sums and everyone else's.
pub(super) fn cost_of_success(sides: &[(Sums, Sums)], unit: u64, person: u64, together: f64) -> FurtherAudit {
    let along: Vec<AtPoint> = sides
        .iter()
        .map(|&(group, rest)| {
            let sides = (group.of_success(unit, person), rest.of_success(unit, person));
            let at = |confidence: f64| {
                let gap = sides.0.zip(sides.1).map(|(group, rest)| welch_at(group, rest, confidence));
                let half = sides.0.map_or(0.0, |m| {
                    student_quantile(confidence, m.count - 1.0) * (m.variance / m.count).sqrt()
                });
                Measured {
                    value: sides.0.map(|group| group.mean),
                    interval: sides.0.map(|m| Interval { low: m.mean - half, high: m.mean + half }),
                    gap: gap.map(|gap| gap.gap),
                    gap_interval: gap.map(|gap| Interval { low: gap.low, high: gap.high }),
                    at: None,
                }
            };
            (at(CONFIDENCE), at(together))
        })
        .collect();
    collected(FurtherMeasure::CostOfSuccess, &along)
}

/// The lists of a measure, and what they say of the whole front.
fn collected(measure: FurtherMeasure, along: &[AtPoint]) -> FurtherAudit {
    let list = |of: &dyn Fn(&AtPoint) -> Option<f64>| along.iter().map(of).collect::<Vec<Option<f64>>>();
    let gap = list(&|at| at.0.gap);
    let low = list(&|at| at.0.gap_interval.map(|interval| interval.low));
    let high = list(&|at| at.0.gap_interval.map(|interval| interval.high));
    let overall = |list: &[Option<f64>]| {
        let mut known: Vec<f64> = list.iter().flatten().copied().collect();
        match measure {
            FurtherMeasure::CostToReach(_) => {
                known.sort_by(f64::total_cmp);
                known.get(known.len() / 2).copied()
            }
            _ => (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64),
        }
    };
    let ends = |of: fn(&Interval) -> f64| overall(&list(&|at| at.1.gap_interval.as_ref().map(of)));
    let worse = |gap: f64| if measure.higher_is_better() { gap < 0.0 } else { gap > 0.0 };
    let share = |list: &[Option<f64>]| {
        list.iter().flatten().filter(|gap| worse(**gap)).count() as f64 / along.len().max(1) as f64
    };
    let distance = |point: &usize| gap[*point].map_or(-1.0, f64::abs);
    let widest = (0..along.len()).rev().max_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0);
    let nearest = if measure.higher_is_better() { &high } else { &low };
    FurtherAudit {
        measure: measure.to_string(),
        values: list(&|at| at.0.value),
        values_low: list(&|at| at.0.interval.map(|interval| interval.low)),
        values_high: list(&|at| at.0.interval.map(|interval| interval.high)),
        at: if measure == FurtherMeasure::Ks { list(&|at| at.0.at) } else { Vec::new() },
        mean_gap: overall(&gap),
        mean_gap_low: overall(&low),
        mean_gap_high: overall(&high),
        mean_gap_together: ends(|interval| interval.low)
            .zip(ends(|interval| interval.high))
            .map(|(low, high)| Interval { low, high }),
        share_worse: share(&gap),
        share_clearly_worse: share(nearest),
        widest,
        gap,
        low,
        high,
    }
}
