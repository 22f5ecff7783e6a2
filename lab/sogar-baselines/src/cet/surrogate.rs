//! A linear surrogate of the model around every affected person (LIME).
//!
//! Around a person the model scores thousands of similar random people, and a weighted ridge regression of its answers gives the
//! slope of each column there. The line is shifted to agree with the model on the person themselves. A person above the
//! threshold on the line counts as accepted.
//!
//! Every person has their own stream of random numbers, so people are independent of each other and of threads.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use sogar::error::Result;
use sogar::feature::Kind;
use sogar::model::Prediction;
use sogar::pipeline::Prepared;
use sogar::predict::predict_table;
use sogar_solver::stop::Stop;

use super::columns::Columns;
use super::compact::CompactTrees;
use super::ridge::Ridge;
use super::{Cet, Stage};
use crate::black_box::BlackBox;
use crate::chance::stream;

/// Neighbours to draw and score at a time, if the model does not set its own size.
const BATCH: usize = 1024;
/// Lines per thread at a time.
const LINES_A_THREAD: usize = 16;
/// The kernel's width is this times the root of the number of columns.
const KERNEL_WIDTH: f64 = 0.75;

/// One line for each affected row.
pub(super) struct Surrogate {
    pub columns: Columns,
    /// By position among the affected rows; `None`: there was no time for it.
    pub lines: Vec<Option<Line>>,
}

/// The surrogate around one person.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// The person's margin above the threshold; at most 0.
    pub margin: f64,
    /// The slope of each column.
    pub slopes: Vec<f64>,
}

impl Surrogate {
    /// Scores the neighbours of all affected rows, until stopped.
    pub fn fit(prepared: &Prepared, settings: &Cet, seed: u64, stop: &Stop) -> Result<Surrogate> {
        let columns = Columns::new(prepared.table());
        let around = Neighbourhoods::new(prepared, &columns, settings, seed)?;
        // In random order, so that those reached before a deadline are a fair sample.
        let mut order: Vec<usize> = (0..prepared.problem_rows().len()).collect();
        order.shuffle(&mut stream(seed, Stage::Order as u64, 0));
        let line = |&position: &usize| around.line(prepared.problem_rows()[position], stop);
        let mut lines = vec![None; order.len()];
        // Every thread may call a model of ours; others say how they may be called.
        let free = asked_freely(prepared);
        for some in order.chunks(rayon::current_num_threads().max(1) * LINES_A_THREAD) {
            if stop.check().is_err() {
                break;
            }
            let found: Vec<Option<Line>> = if free {
                some.par_iter().map(line).collect::<Result<_>>()?
            } else {
                some.iter().map(line).collect::<Result<_>>()?
            };
            some.iter().zip(found).for_each(|(&position, line)| lines[position] = line);
        }
        Ok(Surrogate { columns, lines })
    }

    /// Whether everyone has a line.
    pub fn is_complete(&self) -> bool {
        self.lines.iter().all(Option::is_some)
    }
}

fn asked_freely(prepared: &Prepared) -> bool {
    prepared.model().predictor.batching().at_once == usize::MAX
}

/// A prediction as a number that is positive for a desired outcome.
enum Margin {
    /// How far the score is on the desired side of the threshold; `sign` is −1 if low scores are desired.
    Score { threshold: f64, sign: f64 },
    /// ½ or −½, if scores do not determine the labels.
    Label,
}

impl Margin {
    /// Scores are used if they explain every label of the reference table.
    fn new(prepared: &Prepared) -> Result<Margin> {
        let info = prepared.model().predictor.info();
        let sign = match prepared.classes().desired.as_slice() {
            [false, true] => 1.0,
            [true, false] => -1.0,
            _ => return Ok(Margin::Label),
        };
        let threshold = info.threshold.unwrap_or(0.5);
        let predictions = predict_table(&*prepared.model().predictor, prepared.encoder(), prepared.table())?;
        let explains = |prediction: &Prediction| {
            prediction.score.is_finite() && (prediction.score > threshold) == (prediction.label == 1)
        };
        let believed = predictions.iter().all(explains);
        Ok(if believed { Margin::Score { threshold, sign } } else { Margin::Label })
    }

    fn of(&self, prediction: &Prediction, prepared: &Prepared) -> f64 {
        match self {
            Margin::Score { threshold, sign } if prediction.score.is_finite() => {
                sign * (prediction.score - threshold)
            }
            _ if prepared.classes().is_desired(prediction) => 0.5,
            _ => -0.5,
        }
    }
}

/// What all neighbourhoods have in common.
struct Neighbourhoods<'a> {
    prepared: &'a Prepared,
    columns: &'a Columns,
    black_box: BlackBox<'a>,
    /// The model laid out for speed, if it is a sum of plain trees.
    trees: Option<CompactTrees<'a>>,
    margin: Margin,
    neighbours: usize,
    batch: usize,
    seed: u64,
    /// For each column, the weight of the squared slope in the regression.
    penalty: Vec<f64>,
    /// Weights are `exp(-squared distance · fading)`.
    fading: f64,
}

impl<'a> Neighbourhoods<'a> {
    fn new(prepared: &'a Prepared, columns: &'a Columns, settings: &Cet, seed: u64) -> Result<Self> {
        let neighbours = settings.neighbours;
        let batching = prepared.model().predictor.batching();
        let wanted = batching.rows.saturating_mul(batching.at_once);
        let batch = if asked_freely(prepared) { BATCH } else { wanted };
        let features = 0..prepared.table().features.len();
        // Numbers are scaled by their deviation, which the penalty on their own slope must undo.
        let mut penalty = vec![settings.ridge; columns.count()];
        for column in features.filter(|&f| columns.is_ordered(f)).filter_map(|f| columns.of(f, 0.0)) {
            penalty[column] /= (columns.sd[column] * columns.sd[column]).max(f64::MIN_POSITIVE);
        }
        Ok(Neighbourhoods {
            prepared,
            columns,
            black_box: BlackBox::new(prepared),
            trees: prepared.model().predictor.tree_ensemble().and_then(CompactTrees::new),
            margin: Margin::new(prepared)?,
            neighbours,
            batch: batch.clamp(1, neighbours.max(1)),
            seed,
            penalty,
            fading: 1.0 / (2.0 * KERNEL_WIDTH * KERNEL_WIDTH * columns.count() as f64),
        })
    }

    /// The line around a row of the reference table; `None` if stopped.
    fn line(&self, row: usize, stop: &Stop) -> Result<Option<Line>> {
        let person = self.prepared.table().row(row);
        let mut chance = stream(self.seed, Stage::Neighbours as u64, row as u64);
        let mut ridge = Ridge::new(self.columns.count());
        let mut point = Vec::with_capacity(person.len());
        let own = self.margins(&person)?[0];
        self.place(&person, &person, &mut point);
        ridge.add(&point, own, 1.0);
        let mut left = self.neighbours;
        let mut drawn = Vec::with_capacity(self.batch.min(left) * person.len());
        while left > 0 {
            if stop.check().is_err() {
                return Ok(None);
            }
            let now = self.batch.min(left);
            drawn.clear();
            for _ in 0..now {
                let values = person.iter().enumerate();
                drawn.extend(values.map(|(feature, &value)| self.draw(feature, value, &mut chance)));
            }
            let margins = self.margins(&drawn)?;
            for (neighbour, margin) in drawn.chunks_exact(person.len()).zip(margins) {
                let distance = self.place(&person, neighbour, &mut point);
                ridge.add(&point, margin, (-distance * self.fading).exp());
            }
            left -= now;
        }
        let mut slopes = ridge.slopes(&self.penalty);
        for feature in (0..person.len()).filter(|&feature| self.columns.is_ordered(feature)) {
            if let Some(column) = self.columns.of(feature, 0.0) {
                let sd = self.columns.sd[column];
                slopes[column] = if sd > 0.0 { slopes[column] / sd } else { 0.0 };
            }
        }
        Ok(Some(Line { margin: own, slopes }))
    }

    fn margins(&self, rows: &[f64]) -> Result<Vec<f64>> {
        let predictions = match self.trees.as_ref().and_then(|trees| self.quick_predictions(trees, rows)) {
            Some(predictions) => predictions,
            None => self.black_box.predictions(rows)?,
        };
        Ok(predictions.iter().map(|prediction| self.margin.of(prediction, self.prepared)).collect())
    }

    /// `None` if a value is missing.
    fn quick_predictions(&self, trees: &CompactTrees<'_>, rows: &[f64]) -> Option<Vec<Prediction>> {
        let sources = &self.prepared.encoder().columns;
        let rows = rows.chunks_exact(self.prepared.table().features.len());
        let values = rows.flat_map(|row| sources.iter().map(|source| source.value(row[source.feature])));
        trees.predictions(&values.collect::<Vec<f64>>(), sources.len())
    }

    /// A neighbour's value: numbers from a normal distribution around the person's, with the reference table's
    /// deviation; levels as often as in the reference table.
    fn draw(&self, feature: usize, value: f64, chance: &mut ChaCha8Rng) -> f64 {
        let table = self.prepared.table();
        if !self.columns.is_ordered(feature) {
            return table.values[feature][chance.random_range(0..table.rows)];
        }
        let sd = self.columns.of(feature, value).map_or(0.0, |column| self.columns.sd[column]);
        if value.is_nan() || sd == 0.0 {
            return value;
        }
        let drawn = value + sd * chance.sample::<f64, _>(StandardNormal);
        match &table.features[feature].kind {
            Kind::Integer => drawn.trunc(),
            Kind::Ordinal { levels } => drawn.trunc().clamp(0.0, levels.len().saturating_sub(1) as f64),
            _ => drawn,
        }
    }

    /// Writes a neighbour's columns into `point`, numbers as differences from the person in deviations, and gives the
    /// squared distance between the two: columns divided by their deviation, constant ones left out.
    fn place(&self, person: &[f64], neighbour: &[f64], point: &mut Vec<(usize, f64)>) -> f64 {
        point.clear();
        let mut distance = 0.0;
        for (feature, (&from, &to)) in person.iter().zip(neighbour).enumerate() {
            let column = self.columns.of(feature, to);
            if self.columns.is_ordered(feature) {
                let sd = column.map_or(0.0, |column| self.columns.sd[column]);
                let apart = (to - from) / sd;
                if let (Some(column), true) = (column, sd > 0.0 && apart.is_finite() && apart != 0.0) {
                    point.push((column, apart));
                    distance += apart * apart;
                }
                continue;
            }
            point.extend(column.map(|column| (column, 1.0)));
            if from != to {
                let both = [self.columns.of(feature, from), column];
                let variances = both.into_iter().flatten().map(|column| self.columns.sd[column].powi(2));
                distance += variances.filter(|&variance| variance > 0.0).map(|v| 1.0 / v).sum::<f64>();
            }
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sogar::model::{ModelInfo, Predictor, Rows};

    use super::*;
    use crate::testing::prepared;

    const TABLE: &str = "x,b,c\n0.5,0,u\n2,1,v\n4,0,w\n6,1,u\n8,0,v\n9,1,w\n1,0,u\n3,1,v\n";

    fn score(row: &[f64]) -> f64 {
        0.3 + 0.02 * row[0] + 0.1 * row[1] + if row[2] == 1.0 { 0.05 } else { 0.0 }
    }

    /// A model whose score is a straight line.
    struct Straight(ModelInfo);

    impl Predictor for Straight {
        fn info(&self) -> &ModelInfo {
            &self.0
        }

        fn predict(&self, rows: Rows<'_>) -> Result<Vec<Prediction>> {
            let prediction = |row| Prediction { label: u32::from(score(row) > 0.5), score: score(row) };
            Ok(rows.iter().map(prediction).collect())
        }
    }

    fn straight(config: &str) -> Prepared {
        let mut prepared = prepared(TABLE, config, |row| score(row) > 0.5);
        let info = prepared.model().predictor.info().clone();
        prepared.set_predictor(Arc::new(Straight(info)));
        prepared
    }

    #[test]
    fn a_straight_line_is_found_again() {
        let prepared = straight("");
        let found = Surrogate::fit(&prepared, &Cet::default(), 5, &Stop::default()).unwrap();
        assert!(found.is_complete() && found.lines.len() == prepared.problem_rows().len());
        for (line, &row) in found.lines.iter().flatten().zip(prepared.problem_rows()) {
            assert_eq!(line.margin, score(&prepared.table().row(row)) - 0.5);
            let change = |feature, from, to| found.columns.change(&line.slopes, feature, from, to);
            let close = |found: f64, wanted: f64| (found - wanted).abs() < 0.02 * wanted.abs() + 1e-4;
            assert!(close(change(0, 1.0, 2.0), 0.02), "{line:?}");
            assert!(close(change(1, 0.0, 1.0), 0.1) && close(change(1, 1.0, 0.0), -0.1), "{line:?}");
            assert!(close(change(2, 0.0, 1.0), 0.05) && close(change(2, 0.0, 2.0), 0.0), "{line:?}");
            assert_eq!((change(0, f64::NAN, 3.0), change(2, 9.0, 9.0)), (0.0, 0.0));
        }
    }

    #[test]
    fn low_scores_may_be_the_desired_ones_and_scores_that_explain_nothing_are_not_used() {
        let prepared = straight("");
        assert!(matches!(Margin::new(&prepared).unwrap(), Margin::Score { sign: 1.0, threshold: 0.5 }));
        let prepared = straight("[data]\ndesired = \"0\"\n");
        let margin = Margin::new(&prepared).unwrap();
        assert_eq!(margin.of(&Prediction { label: 1, score: 0.75 }, &prepared), -0.25);
        let labels_only = crate::testing::prepared(TABLE, "", |row| score(row) > 0.5);
        let margin = Margin::new(&labels_only).unwrap();
        assert!(matches!(margin, Margin::Label));
        assert_eq!(margin.of(&Prediction { label: 1, score: 0.0 }, &labels_only), 0.5);
    }
}
