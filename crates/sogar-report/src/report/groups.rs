//! Group figures for the page: packs the audit's arrays, and leaves out figures about too few people.

use sogar_solver::RowSet;

use sogar_audit::audit::unreachable::Unreachable;
use sogar_audit::audit::{
    Audit, GroupAudit, GroupingAudit, MeasureAudit, MeasureName, Measures, RoutedPeople,
};

use super::data::{GroupData, GroupingData, GroupingFigures, MeasureData};
use super::pack::{Packed, Precision};
use super::suppress;
use crate::plot::gaps;

/// Limit of characters for intervals in the file; beyond it, only every n-th point keeps its interval.
const INTERVAL_BUDGET: usize = 400_000;
/// Characters of an interval: two ends of three measures, two bytes each in base64.
const INTERVAL_SIZE: usize = 16;
/// Characters for values beyond which they are stored with less precision.
const VALUE_BUDGET: usize = 500_000;
/// Characters of a group's values at a point: two measures, three bytes each in base64.
const VALUE_SIZE: usize = 8;

/// All groupings. `members` are the groups' affected people in the reference table.
pub fn groupings(
    audit: &Audit,
    people: &RoutedPeople,
    members: &[Vec<RowSet>],
    unreachable: Option<&Unreachable>,
    min_n: usize,
) -> Vec<GroupingData> {
    let populations = [Some(&audit.reference), audit.holdout.as_ref()];
    let lines: usize = populations
        .iter()
        .flatten()
        .flat_map(|population| &population.groupings)
        .flat_map(|grouping| &grouping.groups)
        .filter(|group| group.measures.is_some())
        .count();
    let step = (lines * audit.points * INTERVAL_SIZE).div_ceil(INTERVAL_BUDGET).max(1);
    let many = lines * audit.points * VALUE_SIZE > VALUE_BUDGET;
    let precision = if many { Precision::Bits16 } else { Precision::Bits24 };
    let packing = Packing { points: audit.points, step, precision, min_n, min_group: audit.min_group };
    let held_out = |name: &str| {
        let holdout = audit.holdout.as_ref()?;
        holdout.groupings.iter().find(|grouping| grouping.name == name)
    };
    audit
        .reference
        .groupings
        .iter()
        .zip(members)
        .map(|(grouping, members)| {
            let out_of_reach: Option<Vec<f64>> = unreachable.map(|found| {
                members.iter().map(|group| found.among(|person| group.contains(person), people).0).collect()
            });
            GroupingData {
                name: grouping.name.clone(),
                shown: grouping.shown.clone(),
                reference: packing.grouping(grouping, out_of_reach.as_deref()),
                holdout: held_out(&grouping.name).map(|grouping| packing.grouping(grouping, None)),
            }
        })
        .collect()
}

/// The gap in loss at every point, for each grouping with figures: over the groups that the report shows.
pub fn gaps_in_loss(audit: &Audit, shown: &[GroupingData]) -> Vec<(String, Vec<f64>)> {
    let gaps_of = |grouping: &GroupingAudit| {
        let figures = &shown.iter().find(|shown| shown.name == grouping.name)?.reference.groups;
        let visible = grouping.groups.iter().zip(figures).filter(|(_, shown)| shown.measures.is_some());
        let found = gaps(visible.map(|(group, _)| group), MeasureName::Loss, audit.points)?;
        Some((grouping.shown.clone(), found))
    };
    audit.reference.groupings.iter().filter_map(gaps_of).collect()
}

struct Packing {
    points: usize,
    step: usize,
    precision: Precision,
    min_n: usize,
    /// Groups of fewer people have no part in ratios.
    min_group: usize,
}

impl Packing {
    fn grouping(&self, grouping: &GroupingAudit, out_of_reach: Option<&[f64]>) -> GroupingFigures {
        let mut groups: Vec<GroupData> = grouping
            .groups
            .iter()
            .enumerate()
            .map(|(i, group)| self.group(group, out_of_reach.and_then(|counts| counts.get(i).copied())))
            .collect();
        let people: Vec<suppress::True> = grouping
            .groups
            .iter()
            .enumerate()
            .map(|(i, group)| suppress::True {
                rows: group.rows,
                affected: group.affected,
                unreachable: out_of_reach.and_then(|counts| counts.get(i).copied()).unwrap_or(0.0),
            })
            .collect();
        suppress::groups(&mut groups, &people, self.min_n);
        let least = self.min_group.max(1) as f64;
        let pairs = || grouping.groups.iter().zip(&groups);
        let rates = pairs()
            .filter(|(group, _)| group.rows >= least)
            .filter_map(|(group, shown)| Some((group.adverse_rate?, shown.adverse_rate.is_some())));
        let true_positive = pairs()
            .filter(|(group, _)| group.positives.is_some_and(|positives| positives >= least))
            .filter_map(|(group, shown)| Some((group.tpr?, shown.tpr.is_some())));
        let (rates, true_positive) = (suppress::ends_shown(rates), suppress::ends_shown(true_positive));
        GroupingFigures {
            adverse_rate_ratio: grouping.adverse_rate_ratio.filter(|_| rates),
            adverse_rate_ratio_interval: grouping.adverse_rate_ratio_interval.filter(|_| rates),
            selection_rate_ratio: grouping.selection_rate_ratio.filter(|_| rates),
            selection_rate_ratio_interval: grouping.selection_rate_ratio_interval.filter(|_| rates),
            tpr_gap: grouping.tpr_gap.filter(|_| true_positive),
            tpr_gap_interval: grouping.tpr_gap_interval.filter(|_| true_positive),
            interval_step: self.step,
            comparisons: grouping.comparisons,
            groups,
        }
    }

    fn group(&self, group: &GroupAudit, unreachable: Option<f64>) -> GroupData {
        let enough = |count: f64| suppress::enough(count, self.min_n);
        // A count, the rest of its group and the rate reveal each other. Where the rest is small, the whole group is left out, for
        // the means over the affected people would give their number away.
        let rows = enough(group.rows) && enough(group.rows - group.affected);
        let shown = rows && enough(group.affected);
        // A rate of few errors gives their number away.
        let positives = shown
            && group.positives.zip(group.tpr).is_none_or(|(positives, rate)| {
                let accepted = (positives * rate).round();
                [positives, accepted, positives - accepted].into_iter().all(enough)
            });
        GroupData {
            name: group.shown.clone(),
            rows: rows.then_some(group.rows),
            affected: enough(group.affected).then_some(group.affected),
            adverse_rate: group.adverse_rate.filter(|_| shown),
            selection_rate: group.selection_rate.filter(|_| shown),
            selection_rate_interval: group.selection_rate_interval.filter(|_| shown),
            tpr: group.tpr.filter(|_| positives),
            tpr_interval: group.tpr_interval.filter(|_| positives),
            unreachable: unreachable
                .filter(|_| enough(group.affected))
                .and_then(|count| suppress::of_total(count, group.affected, self.min_n)),
            measures: group
                .measures
                .as_ref()
                .filter(|_| enough(group.affected))
                .map(|measures| Measures::each(|name| self.measure(name, measures.get(name)))),
        }
    }

    fn measure(&self, name: MeasureName, measure: &MeasureAudit) -> MeasureData {
        let kept = || {
            let last = self.points.saturating_sub(1);
            let regular = (0..self.points).step_by(self.step);
            regular.chain((!last.is_multiple_of(self.step)).then_some(last))
        };
        let some = |numbers: &[f64]| {
            Packed::new(kept().map(|point| numbers.get(point).copied().unwrap_or(0.0)), Precision::Bits16)
        };
        MeasureData {
            // Invalidity is the sum of the other two.
            values: (name != MeasureName::Invalidity)
                .then(|| Packed::new(measure.values.iter().copied(), self.precision)),
            low: some(&measure.low),
            high: some(&measure.high),
            mean_gap: measure.mean_gap,
            mean_gap_low: measure.mean_gap_low,
            mean_gap_high: measure.mean_gap_high,
            share_worse: measure.share_worse,
            share_clearly_worse: measure.share_clearly_worse,
            widest: measure.widest,
        }
    }
}
