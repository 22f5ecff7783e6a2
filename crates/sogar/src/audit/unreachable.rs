//! People whom no admissible action reaches, and what stands in their way.
//!
//! Nobody can be told what to do to be accepted if nothing that is allowed would help. Whether that is the model's doing or the
//! configuration's is found by lifting one constraint at a time, all others staying as they are, and asking the model again about
//! these people alone: would they be reached if immutable features could be changed; if values could go anywhere they go in the table; if
//! one more edit were allowed; without the rules? Where none of these is enough, the answer is "none of them alone".

use sogar_solver::Actions;
use sogar_solver::bound::cheapest_flips;

use crate::actions::{Edit, all_actions, all_edits, count_actions};
use crate::binarize::binning;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::evaluate::HeldOut;
use crate::feature::FeatureTable;
use crate::outcomes::{Question, Watch, count_scorings, is_scored, outcomes};
use crate::pipeline::{Prepared, Reporter};
use crate::rules::Rule;

use super::counted::Counted;
use super::result::BlockedBy;

pub use sogar_solver::bound::individual_bound;
pub use sogar_solver::{CancelToken, Point};

/// Pairs of a person and an action that a test of a constraint may look at.
const MOST_PAIRS: u128 = 10_000_000_000;
/// The same where every pair is a question to a model of which nothing is known.
const MOST_QUESTIONS: u64 = 1_000_000;
/// Actions that a test may have, and bytes for its outcomes.
const MOST_ACTIONS: u128 = 20_000_000;
const MOST_BYTES: usize = 256 << 20;

/// Which single constraints keep a person from being reached. `None`: not tested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reasons {
    /// That features are immutable.
    pub immutability: Option<bool>,
    /// Ranges, directions, step sizes, targets and forbidden transitions.
    pub limits: Option<bool>,
    /// How many edits an action may have.
    pub edits: Option<bool>,
    /// Rules.
    pub rules: Option<bool>,
}

impl Reasons {
    /// One after the other.
    pub(super) fn each(self) -> [Option<bool>; 4] {
        [self.immutability, self.limits, self.edits, self.rules]
    }

    /// What [`Reasons::each`] gave.
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
    /// What stands in the way of each.
    pub reasons: Vec<Reasons>,
}

impl Unreachable {
    /// How many there are, and what stands in their way, among those of the `people` for whom `test` holds.
    pub fn among(&self, test: impl Fn(usize) -> bool, people: &Counted) -> (f64, BlockedBy) {
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
            // Tested for everybody or for nobody.
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

/// What the cheapest action that works costs each affected person of the reference table, in units and in the order of the
/// table; `None` for the unreachable. With [`individual_bound`] this is a front that no summary can beat. No answer if
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
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_unstable_by_key(|&position| prepared.affected[position]);
    Ok(Some(order.into_iter().map(|position| costs[position]).collect()))
}

/// The unreachable people of the reference table, given what [`cheapest`] found.
pub fn of_reference(
    prepared: &Prepared,
    cheapest: &[Option<u64>],
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Unreachable> {
    let mut affected = prepared.affected.clone();
    affected.sort_unstable();
    let people: Vec<usize> = (0..cheapest.len()).filter(|&person| cheapest[person].is_none()).collect();
    let rows: Vec<usize> = people.iter().map(|&person| affected[person]).collect();
    let reasons = Lifting { prepared, table: &prepared.table, rows: &rows, reporter, cancel }.reasons()?;
    Ok(Unreachable { people, reasons })
}

/// The unreachable people of a held-out table; `None` if cancelled, or if the model would be asked too much.
pub fn of_held_out(
    prepared: &Prepared,
    held_out: &HeldOut,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Option<Unreachable>> {
    let (table, affected) = (&held_out.table, &held_out.affected);
    let lifting = Lifting { prepared, table, rows: affected, reporter, cancel };
    let (edits, most) = (&prepared.edits, prepared.limits.max_edits);
    let Some(reached) = lifting.reached(edits, most, &prepared.rules, "held-out people")? else {
        return Ok(None);
    };
    let people: Vec<usize> = (0..affected.len()).filter(|&person| !reached[person]).collect();
    let rows: Vec<usize> = people.iter().map(|&person| affected[person]).collect();
    let reasons = Lifting { rows: &rows, ..lifting }.reasons()?;
    Ok(Some(Unreachable { people, reasons }))
}

/// The unreachable ones among some affected rows of the reference table, ascending; whoever asks knows that they are not too many.
pub(super) fn among_reference(
    prepared: &Prepared,
    rows: &[usize],
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Unreachable> {
    let lifting = Lifting { prepared, table: &prepared.table, rows, reporter, cancel };
    let actions = all_actions(&prepared.edits, prepared.limits.max_edits);
    let reached = lifting.flipped_by(&prepared.edits, &actions, &prepared.rules, "people")?;
    let Some(reached) = reached else {
        return Err(Error::new(ErrorKind::Usage, "the search for people out of reach was stopped"));
    };
    let people: Vec<usize> = (0..rows.len()).filter(|&person| !reached[person]).collect();
    let rows: Vec<usize> = people.iter().map(|&person| rows[person]).collect();
    let reasons = Lifting { rows: &rows, ..lifting }.reasons()?;
    Ok(Unreachable { people, reasons })
}

/// Some people, asked about again under other constraints.
struct Lifting<'a> {
    prepared: &'a Prepared,
    table: &'a FeatureTable,
    rows: &'a [usize],
    reporter: &'a dyn Reporter,
    cancel: &'a CancelToken,
}

impl Lifting<'_> {
    fn reasons(&self) -> Result<Vec<Reasons>> {
        let (prepared, config) = (self.prepared, &self.prepared.config);
        let (edits, most, rules) = (&prepared.edits, prepared.limits.max_edits, prepared.rules.as_slice());
        let mutable = all_edits(&prepared.table, &without_immutability(config))?;
        let unlimited = all_edits(&prepared.table, &without_limits(config, &prepared.table)?)?;
        let immutability = self.reached(&mutable, most, rules, "immutable features")?;
        let limits = self.reached(&unlimited, most, rules, "limits of single features")?;
        let one_more = self.reached(edits, most + 1, rules, "the number of edits")?;
        let unruled = match rules {
            [] => Some(vec![false; self.rows.len()]),
            _ => self.reached(edits, most, &[], "rules")?,
        };
        let of = |found: &Option<Vec<bool>>, row: usize| found.as_ref().map(|found| found[row]);
        Ok((0..self.rows.len())
            .map(|row| Reasons {
                immutability: of(&immutability, row),
                limits: of(&limits, row),
                edits: of(&one_more, row),
                rules: of(&unruled, row),
            })
            .collect())
    }

    /// Which of the rows some action flips; `None` if that would take too long, or was cancelled.
    fn reached(&self, edits: &[Edit], most: u32, rules: &[Rule], what: &str) -> Result<Option<Vec<bool>>> {
        let count = count_actions(edits, most);
        if self.rows.is_empty() {
            return Ok(Some(Vec::new()));
        }
        if !is_tested(count, self.rows.len()) {
            return Ok(None);
        }
        let actions = all_actions(edits, most);
        let question = self.question(edits, &actions, rules);
        if is_scored(question.predictor) {
            let limit = self.prepared.config.limits.max_scorings.unwrap_or(MOST_QUESTIONS);
            match count_scorings(&question, &self.cancel.into()) {
                Some(scorings) if scorings.distinct <= limit => {}
                _ => return Ok(None),
            }
        }
        self.flipped_by(edits, &actions, rules, what)
    }

    fn question<'q>(&'q self, edits: &'q [Edit], actions: &'q Actions, rules: &'q [Rule]) -> Question<'q> {
        Question {
            predictor: &*self.prepared.model.predictor,
            encoder: &self.prepared.encoder,
            desired: &self.prepared.classes.desired,
            table: self.table,
            rows: self.rows,
            edits,
            actions,
            rules,
        }
    }

    /// Which of the rows one of the actions flips, however long that takes; `None` if cancelled.
    fn flipped_by(
        &self,
        edits: &[Edit],
        actions: &Actions,
        rules: &[Rule],
        what: &str,
    ) -> Result<Option<Vec<bool>>> {
        let question = self.question(edits, actions, rules);
        // A bit for every pair at a time would be too much for long lists of actions: so many rows at once.
        let words = (MOST_BYTES / 8 / actions.len().max(1)).clamp(1, 1 << 20);
        let mut reached = Vec::with_capacity(self.rows.len());
        for rows in self.rows.chunks(64 * words) {
            let done = reached.len();
            let label = format!("out of reach: {what}");
            let progress = |more: usize, _| self.reporter.checking(&label, done + more, self.rows.len());
            let watch = Watch { progress: &progress, stop: &self.cancel.into() };
            let Some(found) = outcomes(Question { rows, ..question }, &watch)? else { return Ok(None) };
            let mut any = vec![0u64; found.flips.words_per_set()];
            for action in 0..found.flips.sets() {
                any.iter_mut().zip(found.flips.set(action)).for_each(|(any, flips)| *any |= flips);
            }
            reached.extend((0..rows.len()).map(|row| any[row / 64] >> (row % 64) & 1 == 1));
        }
        Ok(Some(reached))
    }
}

/// Whether so many actions are tried on so many people.
fn is_tested(actions: u128, people: usize) -> bool {
    people == 0 || (actions <= MOST_ACTIONS && actions.saturating_mul(people as u128) <= MOST_PAIRS)
}

/// Whether so many held-out people are searched for those out of reach.
pub(super) fn is_searched(prepared: &Prepared, people: usize) -> bool {
    is_tested(count_actions(&prepared.edits, prepared.limits.max_edits), people)
}

/// Which reasons are looked for if so many people are out of reach.
pub(super) fn tested_reasons(prepared: &Prepared, people: usize) -> Result<[bool; 4]> {
    let (config, most) = (&prepared.config, prepared.limits.max_edits);
    let mutable = all_edits(&prepared.table, &without_immutability(config))?;
    let unlimited = all_edits(&prepared.table, &without_limits(config, &prepared.table)?)?;
    let counts = [
        count_actions(&mutable, most),
        count_actions(&unlimited, most),
        count_actions(&prepared.edits, most + 1),
        if prepared.rules.is_empty() { 0 } else { count_actions(&prepared.edits, most) },
    ];
    Ok(counts.map(|count| is_tested(count, people)))
}

/// Every feature may be changed.
fn without_immutability(config: &Config) -> Config {
    let mut config = config.clone();
    for feature in config.features.values_mut() {
        feature.immutable = None;
    }
    config
}

/// Every value that the table knows may be reached, from everywhere.
fn without_limits(config: &Config, table: &FeatureTable) -> Result<Config> {
    let mut lifted = config.clone();
    for (index, feature) in table.features.iter().enumerate() {
        let bins = binning(table, index, config)?;
        let settings = lifted.features.entry(feature.name.clone()).or_default();
        settings.direction = None;
        settings.range = None;
        settings.targets = None;
        settings.forbid.clear();
        settings.steps = bins.map(|bins| (1..=bins.count).collect());
    }
    Ok(lifted)
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

    #[test]
    fn lifted_limits_reach_every_value_of_the_table_and_keep_the_rest() {
        use crate::config::{Direction, FeatureConfig};
        use crate::feature::{Columns, Feature, Kind};
        let feature =
            Feature { name: "age".into(), kind: Kind::Integer, columns: Columns::One("age".into()) };
        let values = vec![(20..=60).map(f64::from).collect::<Vec<f64>>()];
        let table = FeatureTable { features: vec![feature], rows: 41, values, weights: None };
        let mut config = Config::default();
        let settings = FeatureConfig {
            direction: Some(Direction::Increase),
            range: Some([30.0, 40.0]),
            steps: Some(vec![1]),
            ..FeatureConfig::default()
        };
        config.features.insert("age".into(), settings.clone());
        let lifted = without_limits(&config, &table).unwrap();
        assert_eq!(all_edits(&table, &config).unwrap().len(), 1);
        assert_eq!(all_edits(&table, &lifted).unwrap().len(), 20, "ten steps up and ten down");
        config.features.insert("age".into(), FeatureConfig { immutable: Some(true), ..settings });
        let lifted = without_limits(&config, &table).unwrap();
        assert!(all_edits(&table, &lifted).unwrap().is_empty(), "immutable features stay so");
        assert_eq!(all_edits(&table, &without_immutability(&config)).unwrap().len(), 1);
    }
}
