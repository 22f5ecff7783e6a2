//! A front on other rows: held-out people go through the same trees, with the reference table's bins and costs
//! (SPEC §1).

use std::path::{Path, PathBuf};

use crate::summary::{EvaluatedPoint, Evaluation, FrontFile, WeightRef, distances, means};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::markup::visible;
use sogar_prepare::actions::Edit;
use sogar_prepare::model::{LoadedModel, Rows, Source};
use sogar_prepare::predict::predict_table;
use sogar_prepare::prepared::Prepared;
use sogar_table::binarize::Split;
use sogar_table::config::Config;
use sogar_table::feature::FeatureTable;
use sogar_table::hints::{good_class, is_text};
use sogar_table::table::{Table, hash_of};

/// The reference side of an evaluation, made again from the files that a result names.
pub fn reopen(front: &FrontFile, table: &Path, model: &Source) -> Result<Prepared> {
    reopen_with(front, table, model).map(|(prepared, _)| prepared)
}

/// The same with the table as it was read, for those who need columns that are no features.
pub fn reopen_with(front: &FrontFile, table: &Path, model: &Source) -> Result<(Prepared, Table)> {
    let config = config_of(front);
    // By content, before it is parsed: which file this is may have been the result's choice.
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

/// The configuration of a result. Older results say which outcome people hope for only beside it.
pub fn config_of(front: &FrontFile) -> Config {
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

/// Opens the model that a result was made with, for that result's table.
pub fn open_model(front: &FrontFile, source: &Source, table: &Table) -> Result<LoadedModel> {
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
    Ok(model)
}

/// A table of other people, ready to be evaluated on: what can be wrong with it is known before a long search.
pub struct HeldOut {
    /// The table's path.
    pub path: PathBuf,
    /// What the user should know about the table.
    pub notices: Vec<String>,
    hash: String,
    /// The rows through the reference table's features.
    pub table: FeatureTable,
    /// Those whom the model turns down.
    pub affected: Vec<usize>,
}

impl HeldOut {
    /// Sees a table through the reference table's features, and finds whom the model turns down in it.
    pub fn new(prepared: &Prepared, table: &Table) -> Result<HeldOut> {
        let held_out = HeldOut::part(prepared, table, None)?;
        if held_out.affected.is_empty() {
            return Err(nobody().file(&table.path));
        }
        Ok(held_out)
    }

    /// The same for a part of a table, in which nobody may be turned down. `unit` is that of the whole table's weights, which the part
    /// alone can't know.
    pub fn part(prepared: &Prepared, table: &Table, unit: Option<u32>) -> Result<HeldOut> {
        let known = prepared.table.features.iter().flat_map(|feature| feature.columns.names());
        let known: Vec<String> = known.map(str::to_owned).collect();
        let mut notices = table.check_renamed(&prepared.config, &known)?;
        let (features, more) = FeatureTable::apply(&prepared.table.features, table, &prepared.config)?;
        notices.extend(more);
        notices.iter_mut().for_each(|notice| *notice = visible(notice));
        let mut features = features.weighed(table, &prepared.config)?;
        if let (Some(weights), Some(unit)) = (&features.weights, unit) {
            features.weights = Some(weights.clone().in_units(unit)?);
        }
        let predictions = predict_table(&*prepared.model.predictor, &prepared.encoder, &features)?;
        let affected = prepared.classes.turned_down(&predictions);
        Ok(HeldOut { path: table.path.clone(), notices, hash: table.hash.clone(), table: features, affected })
    }

    /// The table through the reference table's features.
    pub fn table(&self) -> &FeatureTable {
        &self.table
    }

    /// The rows that the model turns down.
    pub fn affected(&self) -> &[usize] {
        &self.affected
    }

    /// Cost in units and outcome of every action on every affected row. The model is asked about as many rows at a time
    /// as it wants.
    pub fn apply(&self, prepared: &Prepared, actions: &[Vec<Edit>]) -> Result<Vec<Vec<(u64, bool)>>> {
        if self.affected.is_empty() {
            return Ok(vec![Vec::new(); actions.len()]);
        }
        let batch = prepared.model.predictor.batching().rows;
        let mut found = Vec::with_capacity(actions.len());
        // Costs, and whether a flip would count, of the rows in the block.
        let mut open: Vec<(u64, bool)> = Vec::new();
        let mut block = Vec::new();
        let mut encoded = Vec::new();
        for edits in actions {
            for &row in &self.affected {
                let before = self.table.row(row);
                let mut after = before.clone();
                let mut parts = Vec::with_capacity(edits.len());
                for edit in edits {
                    parts.push(u64::from(prepared.cost.edit_cost(edit, &before)?));
                    edit.apply(&mut after);
                }
                let cost = prepared.cost.combine().of(parts.into_iter());
                let broken = prepared.rules.iter().any(|rule| rule.broken_by(&before, &after));
                open.push((cost, !edits.is_empty() && !broken));
                prepared.encoder.encode_row(&after, &mut encoded);
                block.extend_from_slice(&encoded);
            }
            if open.len() >= batch {
                settle(prepared, &mut open, &mut block, &mut found)?;
            }
        }
        settle(prepared, &mut open, &mut block, &mut found)?;
        Ok(found.chunks(self.affected.len()).map(<[_]>::to_vec).collect())
    }
}

/// The error for a table in which the model turns nobody down.
pub fn nobody() -> Error {
    Error::new(ErrorKind::Population, "the model turns nobody down in this table")
        .help("there is nobody to evaluate the summaries on; give another table")
}

/// Asks the model about the rows in a block and moves them to what is found.
fn settle(
    prepared: &Prepared,
    open: &mut Vec<(u64, bool)>,
    block: &mut Vec<f64>,
    found: &mut Vec<(u64, bool)>,
) -> Result<()> {
    let rows = Rows { values: block, columns: prepared.encoder.columns.len() };
    let predictions = prepared.model.predictor.predict(rows)?;
    let settled = open.drain(..).zip(&predictions);
    found.extend(settled.map(|((cost, counts), label)| (cost, counts && prepared.classes.is_desired(label))));
    block.clear();
    Ok(())
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

/// What every point of the front costs and loses on the affected rows of another table: of parts of a table these add up.
pub fn sums(front: &FrontFile, prepared: &Prepared, held_out: &HeldOut) -> Result<Vec<(u64, u64)>> {
    let features = &prepared.table.features;
    let (table, affected) = (&held_out.table, &held_out.affected);
    let splits: Vec<Split> = front.splits.iter().map(|split| split.split(features)).collect::<Result<_>>()?;
    // outcomes[action][position]
    let actions: Vec<Vec<Edit>> = front
        .actions
        .iter()
        .map(|action| action.edits.iter().map(|edit| edit.edit(features)).collect())
        .collect::<Result<_>>()?;
    let outcomes = held_out.apply(prepared, &actions)?;
    // passes[split][position]
    let passes: Vec<Vec<bool>> = splits
        .iter()
        .map(|split| {
            affected.iter().map(|&row| split.passes(features, table.values[split.feature][row])).collect()
        })
        .collect();
    let sums = front
        .points
        .iter()
        .map(|point| {
            let (mut cost, mut loss) = (0u64, 0u64);
            for (position, &row) in affected.iter().enumerate() {
                let (_, leaf) = point.tree.route(|split| passes[split][position]);
                let (action_cost, flipped) = outcomes[leaf.action()][position];
                let weight = u64::from(table.weight(row));
                cost += weight * action_cost;
                loss += weight * u64::from(!flipped);
            }
            (cost, loss)
        })
        .collect();
    Ok(sums)
}

/// People whom a front is evaluated on.
pub struct Population {
    /// The hash of their table.
    pub hash: String,
    /// Its rows.
    pub rows: usize,
    /// Rows that the model turns down.
    pub affected: usize,
    /// What these count together: their number, unless some count more than once.
    pub people: u64,
    /// Weights, where there are any.
    pub weight: Option<WeightRef>,
}

/// The evaluation on some people, given what each point costs and loses there.
pub fn of_sums(front: &FrontFile, on: Population, sums: &[(u64, u64)]) -> Evaluation {
    let points: Vec<EvaluatedPoint> =
        sums.iter().map(|&(cost, loss)| means(cost, loss, front.cost.unit, on.people)).collect();
    let pairs = front.points.iter().zip(&points);
    let (mean_distance, sd_distance) =
        distances(pairs.map(|(here, there)| ((here.cost, here.loss), (there.cost, there.loss))));
    let Population { hash, rows, affected, weight, .. } = on;
    Evaluation { hash, rows, affected, weight, points, mean_distance, sd_distance }
}
