//! Assembles an audit: counts, measures and intervals of every group, and notes on how to read them.

use super::AuditRequest;
use super::further_audit::{Stated, along_the_front, cost_of_success, of_individuals};
use super::grouping::Groups;
use super::intervals::{Gap, MeanGap, over_the_front, welch_at};
use super::measures::{Along, Members, Sums, whole};
use super::rates::{self, Count, Rate, Truth, difference, difference_interval, ratio, ratio_interval};
use super::result::{
    FurtherAudit, GroupAudit, GroupingAudit, MeasureAudit, MeasureName, Measures, PopulationAudit,
};
use super::routed_people::RoutedPeople;
use super::unreachable::{Individual, Unreachable};
use super::weighted_population::WeightedPopulation;
use sogar_base::statistics::{CONFIDENCE, holm, wilson};
use sogar_front::describe::{group_title, grouped, grouping_title};
use sogar_front::summary::FrontFile;

/// Intervals above which readers are warned of multiple comparisons.
const MANY: usize = 10;

/// What the audit of every table needs.
#[derive(Clone, Copy)]
pub(super) struct Assembly<'a> {
    pub front: &'a FrontFile,
    pub request: &'a AuditRequest,
}

/// Further measures of every group: `[grouping][group]`.
#[derive(Default)]
pub(super) struct Further {
    pub along: Vec<Vec<Vec<FurtherAudit>>>,
    pub individual: Vec<Vec<Vec<FurtherAudit>>>,
}

/// People who are out of reach, and what individual advice would cost the others.
#[derive(Default, Clone, Copy)]
pub(super) struct InReach<'a> {
    pub unreachable: Option<&'a Unreachable>,
    pub individual: Option<&'a Individual>,
}

impl Assembly<'_> {
    /// Which groups of each grouping get a statement.
    pub fn stated(&self, people: &WeightedPopulation, members: &[Members]) -> Vec<Stated> {
        members.iter().map(|members| Stated::new(people, members, self.request.min_group)).collect()
    }

    /// The audit of the people of one table, routed `along` the front.
    pub fn population(
        &self,
        people: &WeightedPopulation,
        members: &[Members],
        (along, mut further): (&Along, Further),
        groupings: &[Groups],
        truth: Option<&Truth>,
        unreachable: Option<&Unreachable>,
    ) -> PopulationAudit {
        let stated = self.stated(people, members);
        let together: Vec<f64> = stated.iter().map(|stated| stated.together).collect();
        let (draws, seed) = (self.request.draws, self.request.seed);
        let means = over_the_front(along, members, people.unit, draws, seed, &together);
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
                stated: &stated[position],
                at_points: if self.request.together { together[position] } else { CONFIDENCE },
            };
            let of_grouping = |lists: &mut Vec<Vec<Vec<FurtherAudit>>>| {
                lists.get_mut(position).map(std::mem::take).unwrap_or_default()
            };
            let more = (of_grouping(&mut further.along), of_grouping(&mut further.individual));
            self.grouping(&found, &means[position], more, unreachable)
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

    /// The audit of people whose table is in this process.
    pub fn present(
        &self,
        people: &RoutedPeople,
        groupings: &[Groups],
        truth: Option<&Truth>,
        reach: InReach<'_>,
    ) -> PopulationAudit {
        let members = members(people, groupings);
        let along = Along::new(self.front, people, &members);
        let (stated, measures) = (self.stated(people, &members), &self.request.measures);
        let further = Further {
            along: match measures.is_empty() {
                true => Vec::new(),
                false => along_the_front(self.front, people, &members, &stated, measures),
            },
            individual: reach.individual.filter(|_| !measures.is_empty()).map_or(Vec::new(), |individual| {
                of_individuals(people, &members, &stated, measures, individual)
            }),
        };
        self.population(people, &members, (&along, further), groupings, truth, reach.unreachable)
    }

    fn grouping(
        &self,
        found: &Found<'_>,
        means: &[Measures<MeanGap>],
        (mut further, mut individual): (Vec<Vec<FurtherAudit>>, Vec<Vec<FurtherAudit>>),
        unreachable: Option<&Unreachable>,
    ) -> GroupingAudit {
        let people = found.people;
        let least = self.request.min_group.max(1) as u64 * people.person;
        let enough = |group: usize| found.stated.groups[group];
        let corrected = corrected(means, found.stated);
        let rate = |some: u64, all: u64| (people.people(some), people.people(all));
        let interval = |(some, all): Rate| (all > 0.0).then(|| wilson(some, all, CONFIDENCE));
        let take = |lists: &mut Vec<Vec<FurtherAudit>>, group: usize| {
            lists.get_mut(group).map(std::mem::take).unwrap_or_default()
        };
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
                    shown: group_title(self.front, &found.groups.names[group]),
                    rows: people.people(count.rows),
                    affected: people.people(count.affected),
                    enough: enough(group),
                    adverse_rate: count.adverse_rate(),
                    adverse_rate_interval: interval(rate(count.affected, count.rows)),
                    selection_rate: count.selection_rate(),
                    selection_rate_interval: interval(rate(count.rows - count.affected, count.rows)),
                    tpr: count.tpr(),
                    tpr_interval: interval(rate(count.found, count.positives)),
                    positives: found.truth.then(|| people.people(count.positives)),
                    unreachable: out_of_reach.map(|(count, _)| count),
                    unreachable_interval: out_of_reach
                        .and_then(|(out, _)| interval((out, people.people(count.affected)))),
                    blocked_by: out_of_reach.map(|(_, blocked_by)| blocked_by),
                    measures: enough(group).then(|| {
                        Measures::each(|measure| {
                            let mean = *means[group].get(measure);
                            found.measure(group, measure, mean, *corrected[group].get(measure))
                        })
                    }),
                    further: match enough(group) {
                        true => found.further(group, take(&mut further, group)),
                        false => Vec::new(),
                    },
                    individual: take(&mut individual, group),
                }
            })
            .collect();
        let large = || found.counts.iter().filter(|count| count.rows >= least);
        let positive = || found.counts.iter().filter(|count| count.positives >= least);
        let adverse: Vec<Rate> = large().map(|count| rate(count.affected, count.rows)).collect();
        let selected: Vec<Rate> = adverse.iter().map(|&(affected, rows)| (rows - affected, rows)).collect();
        let true_positive: Vec<Rate> = positive().map(|count| rate(count.found, count.positives)).collect();
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
            shown: grouping_title(self.front, &found.groups.name),
            condition: found.groups.condition,
            adverse_rate_ratio: ratio(large().filter_map(Count::adverse_rate)),
            adverse_rate_ratio_interval: ratio_interval(&adverse),
            selection_rate_ratio: ratio(large().filter_map(Count::selection_rate)),
            selection_rate_ratio_interval: ratio_interval(&selected),
            tpr_gap: difference(positive().filter_map(Count::tpr)),
            tpr_gap_interval: difference_interval(&true_positive),
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

/// The figures of a grouping.
struct Found<'a> {
    people: &'a WeightedPopulation,
    groups: &'a Groups,
    members: &'a Members,
    counts: Vec<Count>,
    /// `[point][group]`.
    sums: Vec<&'a Vec<Sums>>,
    /// Per point, the sums over all people.
    totals: Vec<Sums>,
    /// Whether true labels are known.
    truth: bool,
    stated: &'a Stated,
    /// The confidence of intervals at single points.
    at_points: f64,
}

/// The p-values of the mean gaps of all groups, corrected for the groups with a statement (Holm).
fn corrected(means: &[Measures<MeanGap>], stated: &Stated) -> Vec<Measures<f64>> {
    // Two groups are one comparison.
    let one = stated.together == CONFIDENCE;
    let of = |measure: MeasureName| {
        let chosen: Vec<usize> = (0..means.len()).filter(|&group| stated.groups[group]).collect();
        let plain: Vec<f64> = chosen.iter().map(|&group| means[group].get(measure).p).collect();
        let corrected = if one { plain } else { holm(&plain) };
        let mut all = vec![1.0; means.len()];
        chosen.iter().zip(corrected).for_each(|(&group, p)| all[group] = p);
        all
    };
    let all = Measures::each(of);
    (0..means.len()).map(|group| Measures::each(|measure| all.get(measure)[group])).collect()
}

impl Found<'_> {
    /// The cost of success along the front, and the other further measures.
    fn further(&self, group: usize, others: Vec<FurtherAudit>) -> Vec<FurtherAudit> {
        let sides: Vec<(Sums, Sums)> = self
            .sums
            .iter()
            .zip(&self.totals)
            .map(|(point, &all)| (point[group], point[group].rest_of(all)))
            .collect();
        let first = cost_of_success(&sides, self.people.unit, self.people.person, self.stated.together);
        let others = others.into_iter().filter(|other| other.measure != first.measure).collect::<Vec<_>>();
        [first].into_iter().chain(others).collect()
    }

    fn measure(&self, group: usize, measure: MeasureName, mean: MeanGap, p_holm: f64) -> MeasureAudit {
        let (unit, person) = (self.people.unit, self.people.person);
        let moments = |(point, &all): (&&Vec<Sums>, &Sums)| {
            let rest = point[group].rest_of(all);
            (point[group].moments(measure, unit, person), rest.moments(measure, unit, person))
        };
        let points: Vec<_> = self.sums.iter().zip(&self.totals).map(moments).collect();
        let gaps: Vec<Gap> =
            points.iter().map(|&(group, rest)| welch_at(group, rest, self.at_points)).collect();
        let share = |test: &dyn Fn(&Gap) -> bool| {
            gaps.iter().filter(|gap| test(gap)).count() as f64 / gaps.len() as f64
        };
        let further = |a: &usize, b: &usize| gaps[*a].gap.abs().total_cmp(&gaps[*b].gap.abs());
        MeasureAudit {
            values: points.iter().map(|(group, _)| group.mean).collect(),
            gap: gaps.iter().map(|gap| gap.gap).collect(),
            low: gaps.iter().map(|gap| gap.low).collect(),
            high: gaps.iter().map(|gap| gap.high).collect(),
            mean_gap: mean.gap.gap,
            mean_gap_low: mean.gap.low,
            mean_gap_high: mean.gap.high,
            mean_gap_together: Some(mean.together),
            p: Some(mean.p),
            p_holm: Some(p_holm),
            share_worse: share(&|gap| gap.gap > 0.0),
            share_clearly_worse: share(&|gap| gap.low > 0.0),
            widest: (0..gaps.len()).rev().max_by(further).unwrap_or(0),
        }
    }
}

/// A long name, shortened.
pub(super) fn short(name: &str) -> String {
    if name.chars().count() <= 40 { name.to_owned() } else { name.chars().take(39).chain(['…']).collect() }
}

/// The warning if the true labels contradict the model, so that true positive rates mean little.
pub(super) fn contradiction(audited: &PopulationAudit, whose: &str) -> Option<String> {
    let agreement = audited.agreement.filter(|agreement| *agreement < 0.5)?;
    Some(format!(
        "{whose}The true labels contradict the model: they agree for {:.1} % of the people. The label, or `desired`, may be the other way \
         round; true positive rates mean nothing then.",
        100.0 * agreement
    ))
}

/// Notes for readers of an audit.
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
                    "{whose}{small} of {} groups by {} are too small for a statement on recourse: fewer than {} affected \
                     people are in them, or outside them.",
                    grouping.groups.len(),
                    short(&grouping.shown),
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
