//! The parts of an audit put together: counts, measures and intervals of every group, and what to bear in mind when reading them.

use super::AuditRequest;
use super::grouping::Groups;
use super::intervals::{Gap, over_the_front, welch};
use super::measures::{Along, Members, Sums, whole};
use super::rates::{self, Count, Truth, difference, ratio};
use super::result::{GroupAudit, GroupingAudit, MeasureAudit, MeasureName, Measures, PopulationAudit};
use super::routed_people::RoutedPeople;
use super::unreachable::Unreachable;
use super::weighted_population::WeightedPopulation;
use sogar_front::describe::grouped;
use sogar_front::summary::FrontFile;

/// Intervals above which readers are warned of multiple comparisons.
const MANY: usize = 10;

/// What every table is audited with.
#[derive(Clone, Copy)]
pub(super) struct Assembly<'a> {
    pub front: &'a FrontFile,
    pub request: &'a AuditRequest,
}

impl Assembly<'_> {
    /// The audit of the people of one table, who were taken `along` the front.
    pub fn population(
        &self,
        people: &WeightedPopulation,
        members: &[Members],
        along: &Along,
        groupings: &[Groups],
        truth: Option<&Truth>,
        unreachable: Option<&Unreachable>,
    ) -> PopulationAudit {
        let means = over_the_front(along, members, people.unit, self.request.draws, self.request.seed);
        let audited = groupings.iter().enumerate().map(|(position, groups)| {
            let counts = rates::count(groups, &people.affected, truth, |row| people.weight_of_row(row));
            let sums: Vec<&Vec<Sums>> = along.points.iter().map(|point| &point[position]).collect();
            let found = Found {
                people,
                groups,
                members: &members[position],
                counts,
                totals: sums.iter().map(|point| whole(point)).collect(),
                sums,
                truth: truth.is_some(),
            };
            self.grouping(&found, &means[position], unreachable)
        });
        let groupings = audited.collect();
        let all = unreachable.map(|unreachable| unreachable.among(|_| true, people));
        PopulationAudit {
            rows: people.people(people.weight_of_table()),
            affected: people.people(people.weight_of_all()),
            unreachable: all.map(|(count, _)| count),
            blocked_by: all.map(|(_, blocked_by)| blocked_by),
            agreement: truth
                .and_then(|truth| rates::agreement(truth, &people.affected, |row| people.weight_of_row(row))),
            groupings,
        }
    }

    /// The audit of people who are all here.
    pub fn present(
        &self,
        people: &RoutedPeople,
        groupings: &[Groups],
        truth: Option<&Truth>,
        unreachable: Option<&Unreachable>,
    ) -> PopulationAudit {
        let members = members(people, groupings);
        let along = Along::new(self.front, people, &members);
        self.population(people, &members, &along, groupings, truth, unreachable)
    }

    fn grouping(
        &self,
        found: &Found<'_>,
        means: &[Measures<Gap>],
        unreachable: Option<&Unreachable>,
    ) -> GroupingAudit {
        let people = found.people;
        let least = self.request.min_group.max(1) as u64 * people.person;
        let affected = people.weight_of_all();
        let enough = |count: &Count| count.affected >= least && affected - count.affected >= least;
        let groups: Vec<GroupAudit> = found
            .counts
            .iter()
            .enumerate()
            .map(|(group, count)| {
                let out_of_reach = unreachable.map(|unreachable| {
                    unreachable.among(|person| found.members.of_person[person] as usize == group, people)
                });
                GroupAudit {
                    group: found.groups.names[group].clone(),
                    rows: people.people(count.rows),
                    affected: people.people(count.affected),
                    enough: enough(count),
                    adverse_rate: count.adverse_rate(),
                    selection_rate: count.selection_rate(),
                    tpr: count.tpr(),
                    positives: found.truth.then(|| people.people(count.positives)),
                    unreachable: out_of_reach.map(|(count, _)| count),
                    blocked_by: out_of_reach.map(|(_, blocked_by)| blocked_by),
                    measures: enough(count).then(|| {
                        Measures::each(|measure| found.measure(group, measure, *means[group].get(measure)))
                    }),
                }
            })
            .collect();
        let large = || found.counts.iter().filter(|count| count.rows >= least);
        let positive = found.counts.iter().filter(|count| count.positives >= least);
        let stated: Vec<&Measures<MeasureAudit>> =
            groups.iter().filter_map(|group| group.measures.as_ref()).collect();
        let spread = |measure: MeasureName| {
            let largest_minus_smallest = |point: usize| {
                difference(stated.iter().map(|group| group.get(measure).values[point])).unwrap_or(0.0)
            };
            (0..self.front.points.len()).map(largest_minus_smallest).collect::<Vec<f64>>()
        };
        GroupingAudit {
            name: found.groups.name.clone(),
            condition: found.groups.condition,
            adverse_rate_ratio: ratio(large().filter_map(Count::adverse_rate)),
            selection_rate_ratio: ratio(large().filter_map(Count::selection_rate)),
            tpr_gap: difference(positive.filter_map(Count::tpr)),
            spread: (stated.len() > 1).then(|| Measures::each(spread)),
            comparisons: stated.len() * MeasureName::ALL.len(),
            groups,
        }
    }
}

/// The affected people by group.
pub(super) fn members(people: &WeightedPopulation, groupings: &[Groups]) -> Vec<Members> {
    groupings.iter().map(|groups| Members::new(people, &groups.of_row, groups.names.len())).collect()
}

/// What is known of a grouping of people.
struct Found<'a> {
    people: &'a WeightedPopulation,
    groups: &'a Groups,
    members: &'a Members,
    counts: Vec<Count>,
    /// `[point][group]`.
    sums: Vec<&'a Vec<Sums>>,
    /// Per point, the sums of everybody.
    totals: Vec<Sums>,
    /// Whether true labels are known.
    truth: bool,
}

impl Found<'_> {
    fn measure(&self, group: usize, measure: MeasureName, mean: Gap) -> MeasureAudit {
        let (unit, person) = (self.people.unit, self.people.person);
        let moments = |(point, &all): (&&Vec<Sums>, &Sums)| {
            let rest = point[group].rest_of(all);
            (point[group].moments(measure, unit, person), rest.moments(measure, unit, person))
        };
        let points: Vec<_> = self.sums.iter().zip(&self.totals).map(moments).collect();
        let gaps: Vec<Gap> = points.iter().map(|&(group, rest)| welch(group, rest)).collect();
        let share = |test: &dyn Fn(&Gap) -> bool| {
            gaps.iter().filter(|gap| test(gap)).count() as f64 / gaps.len() as f64
        };
        let further = |a: &usize, b: &usize| gaps[*a].gap.abs().total_cmp(&gaps[*b].gap.abs());
        MeasureAudit {
            values: points.iter().map(|(group, _)| group.mean).collect(),
            gap: gaps.iter().map(|gap| gap.gap).collect(),
            low: gaps.iter().map(|gap| gap.low).collect(),
            high: gaps.iter().map(|gap| gap.high).collect(),
            mean_gap: mean.gap,
            mean_gap_low: mean.low,
            mean_gap_high: mean.high,
            share_worse: share(&|gap| gap.gap > 0.0),
            share_clearly_worse: share(&|gap| gap.low > 0.0),
            widest: (0..gaps.len()).rev().max_by(further).unwrap_or(0),
        }
    }
}

/// A name that may be very long, cut.
pub(super) fn short(name: &str) -> String {
    if name.chars().count() <= 40 { name.to_owned() } else { name.chars().take(39).chain(['…']).collect() }
}

/// What to say where the true labels contradict the model, so that true positive rates mean little.
pub(super) fn contradiction(audited: &PopulationAudit, whose: &str) -> Option<String> {
    let agreement = audited.agreement.filter(|agreement| *agreement < 0.5)?;
    Some(format!(
        "{whose}The true labels contradict the model: they agree for {:.1} % of the people. The label, or `desired`, may be the other way \
         round; true positive rates mean nothing then.",
        100.0 * agreement
    ))
}

/// What readers of an audit should bear in mind.
pub(super) fn warnings(
    front: &FrontFile,
    reference: &PopulationAudit,
    holdout: Option<&PopulationAudit>,
    request: &AuditRequest,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(sample) = &front.sample {
        notes.push(format!(
            "The summaries were found on a sample of {} people; gaps are those of all people.",
            grouped(sample.rows)
        ));
    }
    if front.status.is_early() {
        notes.push(format!(
            "The front is not complete ({}): gaps are those of the summaries that were found.",
            front.status.name()
        ));
    }
    for (population, whose) in [(Some(reference), ""), (holdout, "Held-out people: ")] {
        for grouping in population.iter().flat_map(|population| &population.groupings) {
            let small = grouping.groups.iter().filter(|group| !group.enough).count();
            if small > 0 {
                notes.push(format!(
                    "{whose}{small} of {} groups by `{}` are too small for a statement on recourse: fewer than {} affected \
                     people are in them, or outside them.",
                    grouping.groups.len(),
                    short(&grouping.name),
                    request.min_group.max(1),
                ));
            }
        }
    }
    let populations = [Some(reference), holdout];
    let comparisons: usize =
        populations.iter().flatten().flat_map(|audited| &audited.groupings).map(|g| g.comparisons).sum();
    if comparisons > MANY {
        notes.push(format!(
            "Multiple comparisons: of {comparisons} intervals at 95 %, about {} would miss 0 by chance alone even if all groups \
             fared alike. Do not pick out the widest gap and call it significant.",
            (comparisons as f64 / 20.0).ceil(),
        ));
    }
    notes
}
