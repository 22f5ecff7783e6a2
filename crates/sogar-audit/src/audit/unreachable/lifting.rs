//! Lifts constraints one at a time and evaluates people again, within limits of work.

use sogar_solver::{Actions, CancelToken};

use super::{Reasons, Unreachable};
use sogar_base::error::Result;
use sogar_prepare::actions::{Edit, all_actions, all_edits, count_actions};
use sogar_prepare::outcomes::{OutcomeQuery, Watch, count_scorings, is_scored, outcomes};
use sogar_prepare::prepared::{Prepared, Reporter};
use sogar_table::binarize::binning;
use sogar_table::config::Config;
use sogar_table::feature::FeatureTable;
use sogar_table::rules::Rule;

/// Limit of pairs of a person and an action in a test of a constraint.
const MOST_PAIRS: u128 = 10_000_000_000;
/// The same if the model must score every pair.
const MOST_QUESTIONS: u64 = 1_000_000;
/// Limits of the actions of a test, and of bytes for its outcomes.
const MOST_ACTIONS: u128 = 20_000_000;
const MOST_BYTES: usize = 256 << 20;

/// Some people, evaluated under other constraints.
pub(super) struct Lifting<'a> {
    pub prepared: &'a Prepared,
    pub table: &'a FeatureTable,
    pub rows: &'a [usize],
    pub reporter: &'a dyn Reporter,
    pub cancel: &'a CancelToken,
}

impl Lifting<'_> {
    /// The rows that are not reached, and why.
    pub fn unreachable(&self, reached: &[bool]) -> Result<Unreachable> {
        let people: Vec<usize> = (0..self.rows.len()).filter(|&person| !reached[person]).collect();
        let rows: Vec<usize> = people.iter().map(|&person| self.rows[person]).collect();
        let reasons = Lifting { rows: &rows, ..*self }.reasons()?;
        Ok(Unreachable { people, reasons })
    }

    /// The reasons of each row.
    pub fn reasons(&self) -> Result<Vec<Reasons>> {
        let (prepared, config) = (self.prepared, self.prepared.config());
        let (edits, most, rules) = (prepared.edits(), prepared.limits().max_edits, prepared.rules());
        let mutable = prepared.idle().others(all_edits(prepared.table(), &without_immutability(config))?);
        let unlimited =
            prepared.idle().others(all_edits(prepared.table(), &without_limits(config, prepared.table())?)?);
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
    pub fn reached(
        &self,
        edits: &[Edit],
        most: u32,
        rules: &[Rule],
        what: &str,
    ) -> Result<Option<Vec<bool>>> {
        let count = count_actions(edits, most);
        if self.rows.is_empty() {
            return Ok(Some(Vec::new()));
        }
        if !is_tested(count, self.rows.len()) {
            return Ok(None);
        }
        let actions = all_actions(edits, most);
        let query = self.outcome_query(edits, &actions, rules);
        if is_scored(query.predictor) {
            let limit = self.prepared.config().limits.max_scorings.unwrap_or(MOST_QUESTIONS);
            match count_scorings(&query, &self.cancel.into()) {
                Some(scorings) if scorings.distinct <= limit => {}
                _ => return Ok(None),
            }
        }
        self.flipped_by(edits, &actions, rules, what)
    }

    fn outcome_query<'q>(
        &'q self,
        edits: &'q [Edit],
        actions: &'q Actions,
        rules: &'q [Rule],
    ) -> OutcomeQuery<'q> {
        OutcomeQuery {
            predictor: &*self.prepared.model().predictor,
            encoder: self.prepared.encoder(),
            desired: &self.prepared.classes().desired,
            table: self.table,
            rows: self.rows,
            edits,
            actions,
            rules,
            required: self.prepared.requirements(),
        }
    }

    /// Which of the rows one of the actions flips, without a limit of work; `None` if cancelled.
    pub fn flipped_by(
        &self,
        edits: &[Edit],
        actions: &Actions,
        rules: &[Rule],
        what: &str,
    ) -> Result<Option<Vec<bool>>> {
        let query = self.outcome_query(edits, actions, rules);
        // A bit for every pair would be too much for long lists of actions: this many rows at once.
        let words = (MOST_BYTES / 8 / actions.len().max(1)).clamp(1, 1 << 20);
        let mut reached = Vec::with_capacity(self.rows.len());
        for rows in self.rows.chunks(64 * words) {
            let done = reached.len();
            let label = format!("out of reach: {what}");
            let progress = |more: usize, _| self.reporter.checking(&label, done + more, self.rows.len());
            let watch = Watch { progress: &progress, stop: &self.cancel.into() };
            let Some(found) = outcomes(OutcomeQuery { rows, ..query }, &watch)? else { return Ok(None) };
            let mut any = vec![0u64; found.flips.words_per_set()];
            for action in 0..found.flips.sets() {
                any.iter_mut().zip(found.flips.set(action)).for_each(|(any, flips)| *any |= flips);
            }
            reached.extend((0..rows.len()).map(|row| any[row / 64] >> (row % 64) & 1 == 1));
        }
        Ok(Some(reached))
    }
}

/// Whether this many actions are tried on this many people.
fn is_tested(actions: u128, people: usize) -> bool {
    people == 0 || (actions <= MOST_ACTIONS && actions.saturating_mul(people as u128) <= MOST_PAIRS)
}

/// Whether this many held-out people are searched for those out of reach.
pub(in crate::audit) fn is_searched(prepared: &Prepared, people: usize) -> bool {
    is_tested(count_actions(prepared.edits(), prepared.limits().max_edits), people)
}

/// Which reasons are tested if this many people are out of reach.
pub(in crate::audit) fn tested_reasons(prepared: &Prepared, people: usize) -> Result<[bool; 4]> {
    let (config, most) = (prepared.config(), prepared.limits().max_edits);
    let mutable = prepared.idle().others(all_edits(prepared.table(), &without_immutability(config))?);
    let unlimited =
        prepared.idle().others(all_edits(prepared.table(), &without_limits(config, prepared.table())?)?);
    let counts = [
        count_actions(&mutable, most),
        count_actions(&unlimited, most),
        count_actions(prepared.edits(), most + 1),
        if prepared.rules().is_empty() { 0 } else { count_actions(prepared.edits(), most) },
    ];
    Ok(counts.map(|count| is_tested(count, people)))
}

/// Every feature may be changed.
fn without_immutability(config: &Config) -> Config {
    let mut config = config.clone();
    for feature in config.features.values_mut() {
        feature.immutable = None;
        feature.protected = None;
    }
    config
}

/// Every value of the table may be reached, from everywhere.
fn without_limits(config: &Config, table: &FeatureTable) -> Result<Config> {
    let mut lifted = config.clone();
    for (index, feature) in table.features.iter().enumerate() {
        let bins = binning(table, index, config)?;
        let settings = lifted.features.entry(feature.name.clone()).or_default();
        settings.direction = None;
        settings.range = None;
        if !feature.is_ordered() {
            settings.targets = None;
        }
        settings.forbid.clear();
        settings.steps = bins.map(|bins| (1..=bins.count).collect());
    }
    Ok(lifted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifted_limits_reach_every_value_of_the_table_and_keep_the_rest() {
        use sogar_table::config::{Direction, FeatureConfig};
        use sogar_table::feature::{Columns, Feature, Kind};
        let feature = Feature {
            name: "age".into(),
            kind: Kind::Integer,
            columns: Columns::One("age".into()),
            codes: Vec::new(),
            shown: Default::default(),
        };
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
