//! Small numbers in tables of groups: a count of few people is left out, and so is what would give it away.
//!
//! A count is small if it is above 0 and below `min_n`. Totals are shown, so a lone gap could be filled by subtraction: the
//! smallest of the other counts is left out with it ([`hide_lone`]). A count and the rest of its group belong together: the one
//! gives the other away.

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

/// Leaves out the smallest shown count beside the only gap of a column whose total is known.
fn hide_lone(counts: &mut [Option<f64>]) {
    if counts.iter().filter(|count| count.is_none()).count() != 1 {
        return;
    }
    let shown = counts.iter().enumerate().filter_map(|(place, count)| Some((place, (*count)?)));
    let smallest = shown.filter(|(_, count)| *count > 0.0).min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((place, _)) = smallest {
        counts[place] = None;
    }
}

/// Leaves out what would give small counts of other groups away.
pub(super) fn groups(groups: &mut [GroupData]) {
    for column in [Column::Rows, Column::Affected, Column::Unreachable] {
        let mut counts: Vec<Option<f64>> = groups.iter_mut().map(|group| *column.of(group)).collect();
        // Not examined: there is nothing to give away.
        if counts.iter().all(Option::is_none) {
            continue;
        }
        hide_lone(&mut counts);
        for (group, count) in groups.iter_mut().zip(counts) {
            *column.of(group) = count;
        }
    }
    for group in groups {
        if group.rows.is_none() || group.affected.is_none() {
            (group.adverse_rate, group.selection_rate, group.selection_rate_interval) = (None, None, None);
            (group.tpr, group.tpr_interval) = (None, None);
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
    fn a_lone_gap_takes_the_smallest_other_count_with_it() {
        let hidden = |mut counts: Vec<Option<f64>>| {
            hide_lone(&mut counts);
            counts
        };
        assert_eq!(hidden(vec![None, Some(40.0), Some(7.0), Some(0.0)]), [None, Some(40.0), None, Some(0.0)]);
        assert_eq!(hidden(vec![None, None, Some(7.0)]), [None, None, Some(7.0)]);
        assert_eq!(hidden(vec![Some(9.0), Some(7.0)]), [Some(9.0), Some(7.0)]);
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
