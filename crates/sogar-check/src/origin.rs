//! The origin of a result: table and model by content, and the problem that follows from the recorded configuration.

use std::path::Path;

use super::classes;
use super::numbering::Numbering;
use super::pricing::Prices;
use super::{Report, Verdict, defect, same};
use sogar_base::error::Result;
use sogar_front::summary::{Bits, FrontFile};
use sogar_prepare::model::Source;
use sogar_prepare::prepared::Prepared;
use sogar_table::table::{Table, hash_of};

/// Builds the problem again and compares it with the file; `None` if a comparison is impossible.
pub(super) fn reopen(
    front: &FrontFile,
    table: &Path,
    model: &Source,
    report: &mut Report,
) -> Result<Option<(Prepared, Table)>> {
    let same_table = report.record("table", hash("table", table, &front.table.hash, &hash_of(table)?));
    let same_model = report.record("model", hash("model", &model.name(), &front.model.hash, &model.hash()?));
    if same_table.is_none() || same_model.is_none() {
        return Ok(None);
    }
    let Some((prepared, read)) = report.record("configuration", prepare(front, table, model)) else {
        return Ok(None);
    };
    let mut unknown = Vec::new();
    let named = report.record("classes", classes::check(&prepared, &read, &mut unknown));
    report.not_proved.extend(unknown);
    let fits = report.record("population", population(front, &prepared));
    let sizes = report.record("problem", problem(front, &prepared));
    Ok((named.is_some() && fits.is_some() && sizes.is_some()).then_some((prepared, read)))
}

fn hash(what: &str, path: &Path, recorded: &str, found: &str) -> Verdict<((), String)> {
    let name = path.display();
    if found != recorded {
        return defect(format!(
            "{name} is not the {what} that the result was made from: its content differs"
        ));
    }
    Ok(((), format!("{name} has the recorded content")))
}

/// The problem of the recorded configuration, within the verifier's own limits.
fn prepare(front: &FrontFile, table: &Path, model: &Source) -> Verdict<((Prepared, Table), String)> {
    let config = front.config.recorded();
    let table = Table::read(table, &config.read_options()?)?;
    let model = model.open(&table, &config)?;
    let prepared = Prepared::new(config, Path::new(&front.run.folder), &table, model, None)?;
    Ok(((prepared, table), "fits the table and the model".to_owned()))
}

/// Who is turned down, according to the model.
fn population(front: &FrontFile, prepared: &Prepared) -> Verdict<((), String)> {
    let (said, rows) = (&front.population, prepared.table().rows);
    same("the number of rows of the table", front.table.rows, rows)?;
    same("the number of rows of the population", said.rows, rows)?;
    same("the list of classes", said.classes.join(", "), prepared.classes().names.join(", "))?;
    same("the desired outcome", said.desired.join(", "), prepared.classes().desired_names().join(", "))?;
    same("the number of affected rows", said.affected, prepared.affected().len())?;
    let mut turned_down = vec![false; rows];
    prepared.affected().iter().for_each(|&row| turned_down[row] = true);
    let found = Bits::new(rows, |row| turned_down[row]);
    if said.affected_rows != found {
        return defect("affected_rows are not the rows that the model turns down");
    }
    match (&front.weight, &prepared.table().weights) {
        (Some(said), Some(found)) => {
            let affected = prepared.affected().iter().map(|&row| u64::from(found.of_row(row))).sum();
            same("the column of weights", &said.column, &found.column)?;
            same("the unit of weights", said.unit, u64::from(found.unit))?;
            same("the weight of all rows", said.total, found.total())?;
            same("the weight of the affected rows", said.affected, affected)?;
        }
        (None, None) => {}
        _ => return defect("the file has weights and the configuration none, or the other way round"),
    }
    Ok(((), format!("the model turns {} of {rows} rows down, as recorded", said.affected)))
}

/// Features, sizes, limits and cost.
fn problem(front: &FrontFile, prepared: &Prepared) -> Verdict<((), String)> {
    let info = prepared.model().predictor.info();
    same("the model's format", &front.model.format, &info.format)?;
    same("the model's description", &front.model.description, &info.description)?;
    same("the number of further models", front.also.len(), prepared.other_models().len())?;
    for (said, found) in front.also.iter().zip(prepared.other_models()) {
        let (info, name) = (found.predictor.info(), found.path.display());
        if said.hash != found.hash {
            return defect(format!("{name} is not a further model of the result: its content differs"));
        }
        same("the format of a further model", &said.format, &info.format)?;
        same("the description of a further model", &said.description, &info.description)?;
    }
    let features = &prepared.table().features;
    same("the number of features", front.features.len(), features.len())?;
    for (said, found) in front.features.iter().zip(features) {
        if said != found {
            return defect(format!(
                "feature `{}` is not what the table and the configuration make of `{}`",
                said.name, found.name
            ));
        }
    }
    let (said, found) = (front.limits, prepared.limits());
    same("max_depth", said.max_depth, found.max_depth)?;
    same("max_leaves", said.max_leaves, found.max_leaves)?;
    same("min_leaf", said.min_leaf, found.min_leaf)?;
    same("max_edits", said.max_edits, found.max_edits)?;
    if front.cost.kind != prepared.config().cost.kind {
        return defect("the kind of cost is not the configured one");
    }
    if front.cost.table_hash.as_deref() != prepared.cost().table_hash() {
        return defect("the cost table is not the one that the result was made with: its content differs");
    }
    same("the unit of the cost", front.cost.unit, Prices::unit_of(prepared))?;
    let counts = front.counts;
    same("the number of splits", counts.splits, prepared.splits().len())?;
    same("the number of edits", counts.edits, prepared.edits().len())?;
    let actions = Numbering::new(prepared.edits()).count(prepared.limits().max_edits);
    if !front.stopped_before_outcomes() {
        same("the number of actions", counts.actions as u128, actions)?;
    }
    let sizes = format!(
        "{} features, {} splits, {} edits, {} actions; limits and cost as configured",
        features.len(),
        counts.splits,
        counts.edits,
        actions
    );
    Ok(((), sizes))
}
