//! Small numbers in tables of groups: a count of few people is left out, and so is what would give it away.
//!
//! A count is small if it is above 0 and below `min_n`. Totals are shown, so subtraction tells how many people all gaps of a column
//! have together: where that is a single count or small itself, the smallest of the other counts is left out too ([`hide_more`]). A
//! count and the rest of its group belong together: the one gives the other away. So do the number of affected people and their
//! means, which are fractions of it.

use sogar_audit::audit::BlockedBy;
use sogar_front::fairness::FairnessRef;

use super::data::{GroupData, Unreachable};

/// Whether a count may be shown by itself.
pub(super) fn enough(count: f64, min_n: usize) -> bool {
    count == 0.0 || count >= min_n as f64
}

/// A count if it and the rest of its total may be shown.
pub(super) fn of_total(count: f64, total: f64, min_n: usize) -> Option<f64> {
    (enough(count, min_n) && enough(total - count, min_n)).then_some(count)
}

/// Leaves out the smallest shown counts of a column whose total is known, until the people of its gaps, counted in each way of
/// `people`, are neither those of a single gap nor few.
fn hide_more(counts: &mut [Option<f64>], people: &[Vec<f64>], min_n: usize) {
    let told = |counts: &[Option<f64>]| {
        let gaps: Vec<usize> = (0..counts.len()).filter(|&place| counts[place].is_none()).collect();
        let together = |of: &Vec<f64>| gaps.iter().map(|&place| of[place]).sum();
        gaps.len() == 1
            || (!gaps.is_empty() && people.iter().map(together).any(|count| !enough(count, min_n)))
    };
    while told(counts) {
        let shown = counts.iter().enumerate().filter_map(|(place, count)| Some((place, (*count)?)));
        let smallest = shown.filter(|(_, count)| *count > 0.0).min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((place, _)) = smallest else { return };
        counts[place] = None;
    }
}

/// The people of a group: all of them, those turned down, and those of them who are out of reach.
#[derive(Debug, Clone, Copy)]
pub(super) struct True {
    pub rows: f64,
    pub affected: f64,
    pub unreachable: f64,
}

/// Leaves out what would give small counts of other groups away.
pub(super) fn groups(groups: &mut [GroupData], people: &[True], min_n: usize) {
    let each = |count: &dyn Fn(&True) -> f64| people.iter().map(count).collect::<Vec<f64>>();
    let (rows, affected) = (each(&|group| group.rows), each(&|group| group.affected));
    let others = each(&|group| group.rows - group.affected);
    let out_of_reach = each(&|group| group.unreachable);
    for (column, people) in [
        (Column::Rows, vec![rows]),
        (Column::Affected, vec![affected, others]),
        (Column::Unreachable, vec![out_of_reach]),
    ] {
        // Whether a figure about the affected is shown must not tell which gaps are small and which hide them.
        for group in groups.iter_mut().filter(|group| group.affected.is_none()) {
            group.unreachable = None;
        }
        let mut counts: Vec<Option<f64>> = groups.iter_mut().map(|group| *column.of(group)).collect();
        // Not examined: there is nothing to give away.
        if counts.iter().all(Option::is_none) {
            continue;
        }
        hide_more(&mut counts, &people, min_n);
        for (group, count) in groups.iter_mut().zip(counts) {
            *column.of(group) = count;
        }
    }
    for group in groups {
        if group.rows.is_none() || group.affected.is_none() {
            (group.adverse_rate, group.selection_rate, group.selection_rate_interval) = (None, None, None);
            (group.tpr, group.tpr_interval) = (None, None);
        }
        if group.affected.is_none() {
            group.measures = None;
        }
    }
}

/// Whether the lowest and the highest of these rates are shown: a ratio or difference of the two would give one away.
pub(super) fn ends_shown(rates: impl Iterator<Item = (f64, bool)>) -> bool {
    let rates: Vec<(f64, bool)> = rates.collect();
    let told = |end: f64| rates.iter().any(|&(rate, shown)| shown && rate == end);
    let (low, high) = rates
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &(rate, _)| (low.min(rate), high.max(rate)));
    told(low) && told(high)
}

enum Column {
    Rows,
    Affected,
    Unreachable,
}

impl Column {
    fn of<'a>(&self, group: &'a mut GroupData) -> &'a mut Option<f64> {
        match self {
            Column::Rows => &mut group.rows,
            Column::Affected => &mut group.affected,
            Column::Unreachable => &mut group.unreachable,
        }
    }
}

/// The bound of individual recourse ends at the people out of reach: its end is left out with their number.
pub(super) fn individual(bound: &mut Vec<[u64; 2]>, found: &Unreachable, min_n: u64, affected: u64) {
    if found.count.is_none() {
        bound.retain(|&[_, loss]| {
            loss >= min_n && (loss == affected || affected.saturating_sub(loss) >= min_n)
        });
    }
}

/// What the search found out about groups, unless one of them is small.
pub(super) fn fairness(found: FairnessRef, min_n: u64) -> Option<FairnessRef> {
    found.groups.iter().all(|group| group.affected >= min_n).then_some(found)
}

/// People out of reach: their number, and by constraint, as far as these may be shown.
pub(super) fn unreachable(count: f64, blocked_by: BlockedBy, affected: f64, min_n: usize) -> Unreachable {
    let shown = of_total(count, affected, min_n);
    Unreachable {
        some: count > 0.0,
        count: shown,
        blocked_by: shown.filter(|count| *count > 0.0).map(|count| {
            let part = |part: Option<f64>| part.and_then(|part| of_total(part, count, min_n));
            [
                ("immutability", part(blocked_by.immutability)),
                ("limits", part(blocked_by.limits)),
                ("edits", part(blocked_by.edits)),
                ("rules", part(blocked_by.rules)),
                ("none_alone", part(Some(blocked_by.none_alone))),
            ]
            .into()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_neither_alone_nor_few_people_together() {
        let hidden = |people: [f64; 4]| {
            let mut counts = people.map(|count| Some(count).filter(|&count| enough(count, 5)));
            hide_more(&mut counts, &[people.to_vec()], 5);
            counts
        };
        assert_eq!(hidden([3.0, 40.0, 7.0, 0.0]), [None, Some(40.0), None, Some(0.0)]);
        assert_eq!(hidden([3.0, 4.0, 7.0, 9.0]), [None, None, Some(7.0), Some(9.0)]);
        assert_eq!(hidden([1.0, 2.0, 7.0, 9.0]), [None, None, None, Some(9.0)]);
        assert_eq!(hidden([9.0, 7.0, 0.0, 0.0]), [Some(9.0), Some(7.0), Some(0.0), Some(0.0)]);
        assert_eq!(hidden([1.0, 1.0, 0.0, 1.0]), [None, None, Some(0.0), None]);
        // Few of the others: the rest of these groups would be told.
        let mut counts = [None, None, Some(50.0), Some(60.0)];
        hide_more(&mut counts, &[vec![100.0, 100.0, 50.0, 60.0], vec![1.0, 2.0, 30.0, 30.0]], 5);
        assert_eq!(counts, [None, None, None, Some(60.0)]);
    }

    #[test]
    fn the_bound_of_individual_recourse_does_not_tell_how_many_are_out_of_reach() {
        let found = |count| Unreachable { some: true, count, blocked_by: None };
        let kept = |count, mut bound: Vec<[u64; 2]>| {
            individual(&mut bound, &found(count), 5, 100);
            bound
        };
        let bound = vec![[0, 100], [7, 50], [20, 5], [30, 3]];
        assert_eq!(kept(None, bound.clone()), [[0, 100], [7, 50], [20, 5]]);
        assert_eq!(kept(Some(40.0), bound.clone()), bound);
    }

    #[test]
    fn a_ratio_needs_both_of_its_ends() {
        let shown = |rates: &[(f64, bool)]| ends_shown(rates.iter().copied());
        assert!(shown(&[(0.1, true), (0.2, false), (0.3, true)]));
        assert!(!shown(&[(0.1, false), (0.2, true), (0.3, true)]));
        assert!(shown(&[(0.1, false), (0.1, true), (0.3, true)]));
        assert!(!shown(&[]));
    }

    #[test]
    fn a_count_is_shown_only_with_its_rest() {
        assert_eq!(of_total(3.0, 100.0, 5), None);
        assert_eq!(of_total(97.0, 100.0, 5), None);
        assert_eq!((of_total(0.0, 100.0, 5), of_total(100.0, 100.0, 5)), (Some(0.0), Some(100.0)));
        assert_eq!(of_total(40.0, 100.0, 5), Some(40.0));
    }
}
