//! People whom no admissible action reaches, and what keeps them out of reach.
//!
//! If no allowed action helps a person, there is no advice to give. To find out whether the model or the configuration is the
//! reason, the audit lifts one constraint at a time, keeps all others, and evaluates these people again: would they be reached if
//! immutable features could change; if values could go anywhere in the table's range; with one more edit; without the rules? If
//! none of these is enough, the answer is "none of them alone".

mod lifting;

use rayon::prelude::*;
use sogar_solver::RowSet;
use sogar_solver::bound::cheapest_flips;

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::evaluate::HeldOut;
use sogar_prepare::actions::all_actions;
use sogar_prepare::prepared::{Prepared, Reporter};

use super::measures::Members;
use super::result::BlockedBy;
use super::weighted_population::WeightedPopulation;
use lifting::Lifting;

pub(super) use lifting::{is_searched, tested_reasons};
pub use sogar_solver::bound::individual_bound;
pub use sogar_solver::{CancelToken, Point};

/// Which single constraints keep a person from being reached. `None`: not tested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reasons {
    /// Immutable features.
    pub immutability: Option<bool>,
    /// Ranges, directions, step sizes, targets and forbidden transitions.
    pub limits: Option<bool>,
    /// The number of edits of an action.
    pub edits: Option<bool>,
    /// Rules.
    pub rules: Option<bool>,
}

impl Reasons {
    /// As an array.
    pub(super) fn each(self) -> [Option<bool>; 4] {
        [self.immutability, self.limits, self.edits, self.rules]
    }

    /// From the array of [`Reasons::each`].
    pub(super) fn of(each: [Option<bool>; 4]) -> Reasons {
        let [immutability, limits, edits, rules] = each;
        Reasons { immutability, limits, edits, rules }
    }

    fn any(self) -> bool {
        self.each().contains(&Some(true))
    }
}

/// The people whom no admissible action flips.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unreachable {
    /// Their positions among the affected rows of the table, ascending.
    pub people: Vec<usize>,
    /// The reasons of each.
    pub reasons: Vec<Reasons>,
}

impl Unreachable {
    /// Their number and their reasons, among those of the `people` for whom `test` holds.
    pub fn among(&self, test: impl Fn(usize) -> bool, people: &WeightedPopulation) -> (f64, BlockedBy) {
        self.counted(test, |person| people.weight(person), people.person)
    }

    fn counted(
        &self,
        test: impl Fn(usize) -> bool,
        weight: impl Fn(usize) -> u64,
        unit: u64,
    ) -> (f64, BlockedBy) {
        let chosen: Vec<(Reasons, u64)> = self
            .people
            .iter()
            .zip(&self.reasons)
            .filter(|(person, _)| test(**person))
            .map(|(person, r)| (*r, weight(*person)))
            .collect();
        let sum = |wanted: &dyn Fn(&Reasons) -> bool| {
            let units: u64 = chosen.iter().filter(|(r, _)| wanted(r)).map(|(_, weight)| weight).sum();
            units as f64 / unit as f64
        };
        let count = |reason: fn(&Reasons) -> Option<bool>| {
            // Tested for everyone or for no one.
            let tested = self.reasons.iter().all(|reasons| reason(reasons).is_some());
            tested.then(|| sum(&|reasons| reason(reasons) == Some(true)))
        };
        let blocked_by = BlockedBy {
            immutability: count(|reasons| reasons.immutability),
            limits: count(|reasons| reasons.limits),
            edits: count(|reasons| reasons.edits),
            rules: count(|reasons| reasons.rules),
            none_alone: sum(&|reasons| !reasons.any()),
        };
        (sum(&|_| true), blocked_by)
    }
}

/// The cost of the cheapest working action for each affected person of the reference table, in units and in the order of the
/// table; `None` for the unreachable. With [`individual_bound`] this is a front that no summary can beat. Returns nothing if
/// cancelled.
pub fn cheapest(
    prepared: &Prepared,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Option<Vec<Option<u64>>>> {
    let found = prepared.problem(reporter, cancel)?;
    if !found.finished {
        return Ok(None);
    }
    let costs = cheapest_flips(&found.problem);
    Ok(Some(prepared.in_table_order(|position| costs[position]).collect()))
}

/// What individual advice would do for the affected people of the reference table.
pub(super) struct Individual {
    /// The cost of the cheapest working action for each, as [`cheapest`] returns it.
    pub costs: Vec<Option<u64>>,
    /// `[grouping][action][group]`: the weight of those for whom an admissible action works. Empty unless requested.
    pub effects: Vec<Vec<Vec<u64>>>,
}

/// Individual recourse; with `effects`, also how many of each group every action works for. Returns nothing if cancelled.
pub(super) fn individual(
    prepared: &Prepared,
    members: &[Members],
    effects: bool,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Option<Individual>> {
    let found = prepared.problem(reporter, cancel)?;
    if !found.finished {
        return Ok(None);
    }
    let problem = &found.problem;
    let costs = cheapest_flips(problem);
    let place: Vec<usize> = prepared.in_table_order(|position| position).collect();
    let of_grouping = |members: &Members| {
        let mut sets = vec![RowSet::empty(problem.rows()); members.groups];
        members.of_person.iter().zip(&place).for_each(|(&group, &at)| sets[group as usize].insert(at));
        let works = |action: usize| sets.iter().map(|set| problem.flipped_among(action, set)).collect();
        (0..problem.actions()).into_par_iter().map(works).collect::<Vec<Vec<u64>>>()
    };
    Ok(Some(Individual {
        costs: prepared.in_table_order(|position| costs[position]).collect(),
        effects: if effects { members.iter().map(of_grouping).collect() } else { Vec::new() },
    }))
}

/// The unreachable people of the reference table, from the result of [`cheapest`].
pub fn of_reference(
    prepared: &Prepared,
    cheapest: &[Option<u64>],
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Unreachable> {
    let affected = prepared.affected();
    let people: Vec<usize> = (0..cheapest.len()).filter(|&person| cheapest[person].is_none()).collect();
    let rows: Vec<usize> = people.iter().map(|&person| affected[person]).collect();
    let reasons = Lifting { prepared, table: prepared.table(), rows: &rows, reporter, cancel }.reasons()?;
    Ok(Unreachable { people, reasons })
}

/// The unreachable people of a held-out table; `None` if cancelled, or if the model would have to score too many rows.
pub(crate) fn of_held_out(
    prepared: &Prepared,
    held_out: &HeldOut,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Option<Unreachable>> {
    let lifting = Lifting { prepared, table: &held_out.table, rows: &held_out.affected, reporter, cancel };
    let (edits, most) = (prepared.edits(), prepared.limits().max_edits);
    let reached = lifting.reached(edits, most, prepared.rules(), "held-out people")?;
    reached.map(|reached| lifting.unreachable(&reached)).transpose()
}

/// The unreachable ones among some affected rows of the reference table, ascending. The caller knows that they are not too many.
pub(super) fn among_reference(
    prepared: &Prepared,
    rows: &[usize],
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Unreachable> {
    let lifting = Lifting { prepared, table: prepared.table(), rows, reporter, cancel };
    let actions = all_actions(prepared.edits(), prepared.limits().max_edits);
    let reached = lifting.flipped_by(prepared.edits(), &actions, prepared.rules(), "people")?;
    let stopped = || Error::new(ErrorKind::Usage, "the search for people out of reach was stopped");
    lifting.unreachable(&reached.ok_or_else(stopped)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_among_some_people() {
        let by = |immutability: bool, limits: bool| Reasons {
            immutability: Some(immutability),
            limits: Some(limits),
            edits: None,
            rules: Some(false),
        };
        let unreachable = Unreachable {
            people: vec![2, 5, 7],
            reasons: vec![by(true, true), by(false, false), by(true, false)],
        };
        let (count, blocked_by) = unreachable.counted(|_| true, |_| 1, 1);
        assert_eq!((count, blocked_by.immutability, blocked_by.limits), (3.0, Some(2.0), Some(1.0)));
        assert_eq!((blocked_by.edits, blocked_by.rules, blocked_by.none_alone), (None, Some(0.0), 1.0));
        let (count, blocked_by) = unreachable.counted(|person| person == 5, |_| 1, 1);
        assert_eq!((count, blocked_by.immutability, blocked_by.none_alone), (1.0, Some(0.0), 1.0));
        assert_eq!(Unreachable::default().counted(|_| true, |_| 1, 1).0, 0.0);
        let (count, blocked_by) = unreachable.counted(|_| true, |person| person as u64, 2);
        assert_eq!((count, blocked_by.immutability, blocked_by.none_alone), (7.0, Some(4.5), 2.5));
    }
}
