//! How usual a row is among the people of the reference table (SPEC §11).
//!
//! A *measure* gives every row a number, the larger the more usual: the path length of an isolation forest ([`forest`]), or the user's own
//! function. The *plausibility* of a row is the share of real people whose number is smaller. As a requirement of an action, an edited row
//! must reach a limit or be at least as usual as the person's own row. Both are one comparison with a number per person
//! ([`Plausibility::beyond`]), so outcomes compute it as they compute flips.

pub mod forest;

use std::ops::ControlFlow;
use std::sync::Arc;

use forest::{Drawn, Forest};
use rayon::prelude::*;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::config::Config;
use sogar_table::feature::{Feature, FeatureTable, Scale};
use sogar_table::table::{Table, TableSource};

use crate::encode::{ColumnSource, Encoder};
use crate::model::{LoadedModel, Predictor, Rows, TreeEnsemble};

/// Rows that are read or measured at a time.
const ROWS_AT_ONCE: usize = 1 << 16;
/// Rows of one task.
const ROWS_PER_TASK: usize = 256;

/// What gives a row its number.
#[derive(Clone)]
pub enum Measure {
    /// An isolation forest, also as a sum of trees over the features.
    Forest(Arc<Forest>, Arc<TreeEnsemble>),
    /// The user's own function.
    Function(Arc<dyn Predictor>),
}

/// How usual rows are, and how usual they must be.
#[derive(Clone)]
pub struct Plausibility {
    /// What gives a row its number.
    pub measure: Measure,
    /// From features to the measure's columns.
    pub encoder: Encoder,
    /// The forest's hash, or the identity of the function.
    pub hash: String,
    /// A row whose number is at most this is below the limit; −∞ without a limit.
    pub floor: f64,
    /// The numbers of real people.
    ranks: Ranks,
}

impl Plausibility {
    /// The plausibility that a configuration asks for, if it does. `features` are those of the table; `function` is the user's own measure.
    pub(crate) fn new(
        source: &dyn TableSource,
        features: &[Feature],
        scale: Option<&Scale>,
        config: &Config,
        function: Option<&LoadedModel>,
    ) -> Result<Option<Plausibility>> {
        let wanted = &config.plausibility;
        let Some(limit) = wanted.millionths() else { return Ok(None) };
        let rows = RowsOf { source, features, scale, config };
        let (measure, encoder, hash) = match function {
            Some(model) => {
                let columns: Vec<&str> = source.header().names().collect();
                let (encoder, _) =
                    Encoder::match_table_columns(model.predictor.info(), features, &config.model, &columns)?;
                (Measure::Function(model.predictor.clone()), encoder, model.hash.clone())
            }
            None if wanted.function => {
                return Err(not_given("a function of the Python package", "plausibility="));
            }
            None if wanted.command.is_some() => {
                return Err(not_given(
                    "a command, which is only run if you give it",
                    "--plausibility-command",
                ));
            }
            None => {
                let forest = rows.forest()?;
                let hash = forest.hash(features);
                (Measure::of_forest(forest, features), encoder_of(features), hash)
            }
        };
        let mut found =
            Plausibility { measure, encoder, hash, floor: f64::NEG_INFINITY, ranks: Ranks::default() };
        found.ranks = rows.ranks(&found)?;
        found.floor = found.ranks.floor(limit);
        Ok(Some(found))
    }

    /// The same requirement in another process, which needs no shares: a forest and its floor.
    pub fn of_parts(forest: Forest, floor: f64, features: &[Feature]) -> Plausibility {
        Plausibility {
            encoder: encoder_of(features),
            hash: forest.hash(features),
            measure: Measure::of_forest(forest, features),
            floor,
            ranks: Ranks::default(),
        }
    }

    /// Whether it excludes anything.
    pub fn limits(&self) -> bool {
        self.floor > f64::NEG_INFINITY
    }

    /// An edited row is plausible enough if its number is larger than this; `own` is that of the person's row.
    pub fn beyond(&self, own: f64) -> f64 {
        // Larger than the floor, or at least `own`.
        self.floor.min(own.next_down())
    }

    /// The numbers of rows of feature values.
    pub fn measured(&self, rows: &[Vec<f64>]) -> Result<Vec<f64>> {
        match &self.measure {
            Measure::Forest(_, trees) => {
                let number = |row: &Vec<f64>| {
                    let mut encoded = Vec::new();
                    self.encoder.encode_row(row, &mut encoded);
                    trees.trees.iter().map(|tree| tree.value_of(&encoded)).sum()
                };
                Ok(rows.par_iter().with_min_len(ROWS_PER_TASK).map(number).collect())
            }
            Measure::Function(function) => {
                let columns = self.encoder.columns.len();
                let mut block = Vec::with_capacity(rows.len() * columns);
                rows.iter().for_each(|row| self.encoder.encode_row(row, &mut block));
                let said = function.predict(Rows { values: &block, columns })?;
                finite(said.iter().map(|said| said.score))
            }
        }
    }

    /// Whether edited rows are plausible enough for the people who had the rows before.
    pub fn hold(&self, before: &[Vec<f64>], after: &[Vec<f64>]) -> Result<Vec<bool>> {
        let (own, edited) = (self.measured(before)?, self.measured(after)?);
        Ok(own.into_iter().zip(edited).map(|(own, edited)| edited > self.beyond(own)).collect())
    }

    /// The number of people who are less usual, in units of weight, and of all people.
    pub fn less_usual(&self, number: f64) -> (u64, u64) {
        (self.ranks.below(number), self.ranks.total())
    }

    /// A word for the measure.
    pub fn kind(&self) -> &'static str {
        match self.measure {
            Measure::Forest(..) => "forest",
            Measure::Function(_) => "function",
        }
    }
}

impl Measure {
    fn of_forest(forest: Forest, features: &[Feature]) -> Measure {
        let trees = forest.ensemble(features);
        Measure::Forest(Arc::new(forest), Arc::new(trees))
    }
}

fn not_given(what: &str, how: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("the plausibility of this result comes from {what}"))
        .help(format!("repeat it with {how}"))
}

/// A function's answers, unless one of them is not finite.
fn finite(answers: impl Iterator<Item = f64>) -> Result<Vec<f64>> {
    answers
        .enumerate()
        .map(|(row, number)| match number.is_finite() {
            true => Ok(number),
            false => Err(Error::new(
                ErrorKind::Model,
                format!("the plausibility of row {} of a call is {number}", row + 1),
            )
            .help("it must be a finite number, the larger the more usual")),
        })
        .collect()
}

/// Every feature as a column of its own; a level that the table does not have is missing.
fn encoder_of(features: &[Feature]) -> Encoder {
    let source = |(feature, about): (usize, &Feature)| ColumnSource {
        feature,
        map: (!about.is_numeric())
            .then(|| (0..about.levels().len()).map(|level| level as f64).chain([f64::NAN]).collect()),
    };
    Encoder { columns: features.iter().enumerate().map(source).collect() }
}

/// The rows of the reference table, read part by part.
struct RowsOf<'a> {
    source: &'a dyn TableSource,
    features: &'a [Feature],
    scale: Option<&'a Scale>,
    config: &'a Config,
}

impl RowsOf<'_> {
    /// Passes on the rows as features, each part with the weights of its rows.
    fn each_part(&self, mut visit: impl FnMut(FeatureTable, &[u64]) -> Result<()>) -> Result<()> {
        let mut columns: Vec<&str> =
            self.features.iter().flat_map(|feature| feature.columns.names()).collect();
        columns.extend(self.scale.map(|scale| scale.column.as_str()));
        self.source.each_part(&columns, ROWS_AT_ONCE, &mut |part: &Table| {
            let (rows, _) = FeatureTable::apply(self.features, part, self.config)?;
            let weights: Vec<u64> = match self.scale {
                None => vec![1; part.rows],
                Some(scale) => {
                    let weights = scale.part(part)?;
                    (0..part.rows).map(|row| u64::from(weights.of_row(row))).collect()
                }
            };
            visit(rows, &weights)?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The forest of drawn people.
    fn forest(&self) -> Result<Forest> {
        let people = self.scale.map_or(self.source.header().rows as u64, |scale| scale.total);
        let drawn = Drawn::new(self.config.seed, people);
        let mut places: Vec<(u64, usize, usize)> = drawn
            .people
            .iter()
            .enumerate()
            .flat_map(|(tree, people)| people.iter().enumerate().map(move |(at, &person)| (person, tree, at)))
            .collect();
        places.sort_unstable();
        let mut rows = vec![vec![Vec::new(); forest::DRAWS]; forest::TREES];
        let (mut passed, mut next) = (0u64, 0usize);
        self.each_part(|part, weights| {
            for (row, weight) in weights.iter().enumerate() {
                passed += weight;
                while let Some(&(person, tree, at)) = places.get(next).filter(|place| place.0 < passed) {
                    rows[tree][at] = part.row(row);
                    next += 1;
                    debug_assert!(person < passed);
                }
            }
            Ok(())
        })?;
        let is_used = |&feature: &usize| {
            let setting = self.config.features.get(&self.features[feature].name);
            setting.is_none_or(|setting| {
                setting.protected == Some(true)
                    || setting.immutable != Some(true)
                    || setting.split != Some(false)
            })
        };
        let used: Vec<usize> = (0..self.features.len()).filter(is_used).collect();
        if used.is_empty() || next < places.len() {
            return Err(Error::new(ErrorKind::Config, "there is no feature by which a row could be usual")
                .help("leave min_plausibility out"));
        }
        Ok(Forest::grow(drawn, &rows, self.features, &used))
    }

    /// The numbers of all people.
    fn ranks(&self, plausibility: &Plausibility) -> Result<Ranks> {
        let mut numbers = Vec::new();
        self.each_part(|part, weights| {
            let rows: Vec<Vec<f64>> = (0..part.rows).map(|row| part.row(row)).collect();
            let found = plausibility.measured(&rows)?;
            numbers.extend(found.into_iter().zip(weights.iter().copied()));
            Ok(())
        })?;
        Ok(Ranks::new(numbers))
    }
}

/// The numbers of people in order, each with the weight of all people up to it.
#[derive(Clone, Default)]
struct Ranks(Vec<(f64, u64)>);

impl Ranks {
    fn new(mut numbers: Vec<(f64, u64)>) -> Ranks {
        numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut ranks: Vec<(f64, u64)> = Vec::new();
        let mut total = 0;
        for (number, weight) in numbers {
            total += weight;
            match ranks.last_mut() {
                Some(last) if last.0 == number => last.1 = total,
                _ => ranks.push((number, total)),
            }
        }
        Ranks(ranks)
    }

    fn total(&self) -> u64 {
        self.0.last().map_or(0, |last| last.1)
    }

    /// The weight of people with a smaller number.
    fn below(&self, number: f64) -> u64 {
        let place = self.0.partition_point(|rank| rank.0 < number);
        if place == 0 { 0 } else { self.0[place - 1].1 }
    }

    /// The largest number that is still below a limit in millionths; −∞ if none is.
    fn floor(&self, millionths: u32) -> f64 {
        // A row with a number above `rank.0`, and at most the next one, has `rank.1` people below it.
        let needed = u128::from(millionths) * u128::from(self.total());
        if needed == 0 {
            return f64::NEG_INFINITY;
        }
        let place = self.0.partition_point(|rank| u128::from(rank.1) * 1_000_000 < needed);
        self.0.get(place).map_or(f64::INFINITY, |rank| rank.0)
    }
}

#[cfg(test)]
mod tests;
