//! A front on other rows: held-out people pass through the same trees, with the reference table's bins and costs (SPEC §1).
//!
//! `effects` computes what actions do to these people, `sums` adds it up along the front, [`Condition`] judges the result.

mod condition;
mod effects;
mod sums;
mod survival;

pub use condition::{Condition, Verdict};
pub use sums::{PointSums, sums};
pub use survival::{Survival, Survived, survival};

use std::path::{Path, PathBuf};

use crate::summary::{EvaluatedPoint, Evaluation, FrontFile, PointDetail, WeightRef, distances, means};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::markup::visible;
use sogar_prepare::model::{LoadedModel, Source};
use sogar_prepare::predict::predict_table;
use sogar_prepare::prepared::Prepared;
use sogar_table::config::Config;
use sogar_table::feature::FeatureTable;
use sogar_table::hints::{good_class, is_text};
use sogar_table::table::{Table, hash_of};

/// Rebuilds the reference side of an evaluation from the files that a result names.
pub fn reopen(front: &FrontFile, table: &Path, model: &Source) -> Result<Prepared> {
    reopen_with(front, table, model).map(|(prepared, _)| prepared)
}

/// The same, with the table as it was read, for callers that need columns that are not features.
pub fn reopen_with(front: &FrontFile, table: &Path, model: &Source) -> Result<(Prepared, Table)> {
    let config = config_of(front);
    // Compared by content before it is parsed: the result may have chosen this file.
    let same = |hash: String| match hash == front.table.hash {
        true => Ok(()),
        false => {
            Err(Error::new(ErrorKind::ResultFile, "this is not the table that the result was made from")
                .file(table)
                .help("give the original table, or solve anew"))
        }
    };
    same(hash_of(table)?)?;
    let table = Table::read(table, &config.read_options()?)?;
    same(table.hash.clone())?;
    let model = open_model(front, model, &table)?;
    let prepared = Prepared::new(config, Path::new(&front.run.folder), &table, model, None)?;
    Ok((prepared, table))
}

/// The configuration of a result. Older results store the desired outcome only outside it.
pub(crate) fn config_of(front: &FrontFile) -> Config {
    let mut config = front.config.clone();
    let population = &front.population;
    if config.data.desired.is_empty() && is_text(&population.classes) {
        let good = good_class(&population.classes, config.data.label.as_deref());
        if good.is_none_or(|good| population.desired != [population.classes[good].clone()]) {
            config.data.desired.clone_from(&population.desired);
        }
    }
    config
}

/// Opens the model of a result, for that result's table.
pub(crate) fn open_model(front: &FrontFile, source: &Source, table: &Table) -> Result<LoadedModel> {
    let same = |hash: &str| match hash == front.model.hash {
        true => Ok(()),
        false => {
            Err(Error::new(ErrorKind::ResultFile, "this is not the model that the result was made with")
                .file(source.name())
                .help("give the original model, or solve anew"))
        }
    };
    same(&source.hash()?)?;
    let model = source.open(table, &front.config)?;
    same(&model.hash)?;
    let others = model.also.iter().map(|other| &other.hash);
    if !others.eq(front.also.iter().map(|other| &other.hash)) {
        let message = format!(
            "these are not the {} further models that the result was made with, in the same order",
            front.also.len()
        );
        return Err(
            Error::new(ErrorKind::ResultFile, message).help("give the original models, or solve anew")
        );
    }
    Ok(model)
}

/// A table of other people, ready for evaluation: errors in it surface before a long search.
pub struct HeldOut {
    /// The table's path.
    pub path: PathBuf,
    /// Notices for the user.
    pub notices: Vec<String>,
    hash: String,
    /// The rows as features of the reference table.
    pub table: FeatureTable,
    /// The rows that the model turns down.
    pub affected: Vec<usize>,
}

impl HeldOut {
    /// Reads a table as features of the reference table, and finds whom the model turns down in it.
    pub fn new(prepared: &Prepared, table: &Table) -> Result<HeldOut> {
        let held_out = HeldOut::part(prepared, table, None)?;
        if held_out.affected.is_empty() {
            return Err(nobody().file(&table.path));
        }
        Ok(held_out)
    }

    /// The same for a part of a table, in which nobody may be turned down. `unit` is that of the whole table's weights, which a
    /// part cannot know.
    pub fn part(prepared: &Prepared, table: &Table, unit: Option<u32>) -> Result<HeldOut> {
        let known = prepared.table().features.iter().flat_map(|feature| feature.columns.names());
        let known: Vec<String> = known.map(str::to_owned).collect();
        let mut notices = table.check_renamed(prepared.config(), &known)?;
        let (features, more) = FeatureTable::apply(&prepared.table().features, table, prepared.config())?;
        notices.extend(more);
        notices.iter_mut().for_each(|notice| *notice = visible(notice));
        let mut features = features.weighed(table, prepared.config())?;
        if let (Some(weights), Some(unit)) = (&features.weights, unit) {
            features.weights = Some(weights.clone().in_units(unit)?);
        }
        let predictions = predict_table(&*prepared.model().predictor, prepared.encoder(), &features)?;
        let affected = prepared.classes().turned_down(&predictions);
        Ok(HeldOut { path: table.path.clone(), notices, hash: table.hash.clone(), table: features, affected })
    }

    /// The table as features of the reference table.
    pub fn table(&self) -> &FeatureTable {
        &self.table
    }

    /// The rows that the model turns down.
    pub fn affected(&self) -> &[usize] {
        &self.affected
    }
}

/// The error for a table in which the model turns nobody down.
pub fn nobody() -> Error {
    Error::new(ErrorKind::Population, "the model turns nobody down in this table")
        .help("there is nobody to evaluate the summaries on; give another table")
}

/// Every point of the front on the affected rows of another table.
pub fn evaluate(front: &FrontFile, prepared: &Prepared, held_out: &HeldOut) -> Result<Evaluation> {
    let sums = sums(front, prepared, held_out)?;
    let (table, affected) = (&held_out.table, &held_out.affected);
    let people = table.people_among(affected);
    let weight = table.weights.as_ref().map(|weights| WeightRef {
        column: weights.column.clone(),
        unit: u64::from(weights.unit),
        total: weights.total(),
        affected: people,
    });
    let on = Population {
        hash: held_out.hash.clone(),
        rows: table.rows,
        affected: affected.len(),
        people,
        weight,
    };
    Ok(of_sums(front, on, &sums))
}

/// People on whom a front is evaluated.
pub struct Population {
    /// The hash of their table.
    pub hash: String,
    /// Its rows.
    pub rows: usize,
    /// Rows that the model turns down.
    pub affected: usize,
    /// Their total weight: their number, unless some count more than once.
    pub people: u64,
    /// Weights, if there are any.
    pub weight: Option<WeightRef>,
}

/// The evaluation on some people, from the sums of each point.
pub fn of_sums(front: &FrontFile, on: Population, sums: &[PointSums]) -> Evaluation {
    let unit = front.cost.unit;
    let points: Vec<EvaluatedPoint> =
        sums.iter().map(|sums| means(sums.cost(), sums.loss(), unit, on.people)).collect();
    let pairs = front.points.iter().zip(&points);
    let (mean_distance, sd_distance) =
        distances(pairs.map(|(here, there)| ((here.cost, here.loss), (there.cost, there.loss))));
    let Population { hash, rows, affected, weight, people } = on;
    let person = weight.as_ref().map_or(1, |weight| weight.unit);
    let details = sums
        .iter()
        .map(|sums| PointDetail { cost_sd: sums.cost_sd(unit, people, person), leaves: sums.leaves.clone() })
        .collect();
    Evaluation { hash, rows, affected, weight, points, details, mean_distance, sd_distance }
}
