//! From a table in memory and a model to a [`Prepared`] problem. The last part, which tables read in parts share, computes
//! splits, edits and costs once the affected people are known.

use std::path::PathBuf;

use super::order::RowOrder;
use super::{Prepared, ReferenceSize, VERIFIED_ROWS, proxies};
use crate::actions::{Idle, all_edits, budget, count_actions};
use crate::cost::CostModel;
use crate::encode::Encoder;
use crate::limits::{TreeLimits, memory_limit, refuse_if_too_many_splits};
use crate::model::LoadedModel;
use crate::population::Classes;
use crate::require::Requirements;
use crate::row_order::cluster_rows;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::markup::visible;
use sogar_solver::RowSet;
use sogar_table::binarize::{Split, all_splits, useful_splits};
use sogar_table::config::{Config, FeatureConfig};
use sogar_table::feature::{Distributions, FeatureTable, Reference, codes};
use sogar_table::hints::{Unfit, is_label_name, personal};
use sogar_table::rules::Rule;
use sogar_table::table::Table;

/// Smallest agreement beyond chance (Cohen's κ) at which an unused column counts as the model's outcome.
const AGREEING: f64 = 0.5;

/// A table and a model, once the affected people are known.
pub(super) struct Classified {
    pub config: Config,
    pub folder: PathBuf,
    pub table_path: PathBuf,
    pub table_hash: String,
    pub model: LoadedModel,
    pub encoder: Encoder,
    pub required: Requirements,
    pub classes: Classes,
    pub reference: Reference,
    /// The rows that are kept: at least the affected ones.
    pub table: FeatureTable,
    /// Their positions in the reference table; `None`: the same positions.
    pub places: Option<Vec<usize>>,
    /// The affected rows of `table`, in its order.
    pub affected: Vec<usize>,
    pub notices: Vec<String>,
    /// Features that do not look like features.
    pub unfit: Vec<(usize, Unfit)>,
    pub predictions_hash: String,
    /// How few rows agree with the label, if it is the opposite of what the model predicts.
    pub opposite: Option<f64>,
    /// How long the model took for a row of the table.
    pub seconds_per_row: f64,
}

impl Prepared {
    /// The stages after the affected people: limits, splits, edits and costs.
    pub(super) fn finish(classified: Classified) -> Result<Prepared> {
        let Classified { mut config, reference, table, affected, mut notices, unfit, folder, .. } =
            classified;
        // The budget of actions depends only on the table, so the model's unused labels come later.
        config.leave_aside(&reference.features, &unfit, &mut notices);
        let fixed = |name: &str| config.features.get(name).is_some_and(FeatureConfig::is_fixed);
        let left_aside: Vec<usize> = unfit
            .iter()
            .map(|(feature, _)| *feature)
            .filter(|&f| fixed(&reference.features[f].name))
            .collect();
        budget::resolve(&reference, &left_aside, &mut config, &mut notices)?;
        // A column is used if any of the models has it.
        let others = classified.required.others.iter().flat_map(|other| &other.encoder.columns);
        let used = Encoder { columns: classified.encoder.columns.iter().chain(others).cloned().collect() };
        let labels = unused_labels(&reference, &table, &affected, &used, &classified.classes);
        config.leave_aside(&reference.features, &labels, &mut notices);
        notices.extend(codes::notices(&reference, &config));
        let people = table.people_among(&affected) / table.weight_unit();
        let limits = TreeLimits::resolve(&config.limits, people, table.weights.is_some(), &mut notices)?;
        let candidates = all_splits(&reference, &config)?;
        let memory = memory_limit(&config.limits)?;
        refuse_if_too_many_splits(&candidates, &table.features, affected.len(), memory)?;
        let rows = cluster_rows(&affected, &useful_splits(&candidates, &table, &affected));
        let (splits, passing): (Vec<Split>, Vec<RowSet>) =
            useful_splits(&candidates, &table, &rows).into_iter().unzip();
        notices.extend(proxies::notices(&reference, &config, &table, &rows, &splits, &passing)?);
        let rules: Vec<Rule> =
            config.rules.iter().map(|text| Rule::parse(text, &table.features)).collect::<Result<_>>()?;
        let idle = Idle::new(&table.features, &used, &config, &rules);
        notices.extend(idle.notice(&table.features, &config));
        let edits = idle.others(all_edits(&reference, &config)?);
        if edits.is_empty() {
            let error =
                Error::new(ErrorKind::Config, "no feature can be changed, so there is no recourse to find");
            return Err(
                error.help("make at least one feature mutable (`immutable = false`), or widen its range")
            );
        }
        let cost = CostModel::new(&reference, &edits, &config, &folder)?;
        let mut seen = std::collections::BTreeSet::new();
        notices.retain(|notice| seen.insert(notice.clone())); // checking and reading may give the same notice
        notices.iter_mut().for_each(|notice| *notice = visible(notice));
        Ok(Prepared {
            reference: ReferenceSize { rows: reference.rows, people: reference.people() },
            action_count: count_actions(&edits, limits.max_edits),
            folder,
            table_path: classified.table_path,
            table_hash: classified.table_hash,
            table,
            config,
            model: classified.model,
            encoder: classified.encoder,
            classes: classified.classes,
            order: RowOrder::new(rows),
            places: classified.places,
            splits,
            passing,
            edits,
            cost,
            rules,
            required: classified.required,
            idle,
            limits,
            notices,
            outcomes_cache: None,
            outcome_memory: None,
            checkpoint: None,
            verify_cache: VERIFIED_ROWS,
            predictions_hash: classified.predictions_hash,
            opposite: classified.opposite,
            seconds_per_row: classified.seconds_per_row,
        })
    }
}

/// Features that the model does not use and that hold its outcome: few values and the name of a label, or values in
/// agreement with its predictions beyond chance (κ, in either direction).
fn unused_labels(
    reference: &Reference,
    table: &FeatureTable,
    affected: &[usize],
    encoder: &Encoder,
    classes: &Classes,
) -> Vec<(usize, Unfit)> {
    let is_label = |&index: &usize| {
        let feature = &reference.features[index];
        let used = encoder.columns.iter().any(|source| source.feature == index);
        let few = (2..=10).contains(&feature.levels().len());
        let agrees =
            || personal(&feature.name, &[]).is_none() && agrees(reference, index, table, affected, classes);
        !used && few && (is_label_name(&feature.name) || agrees())
    };
    (0..reference.features.len()).filter(is_label).map(|index| (index, Unfit::Label)).collect()
}

/// Whether a feature separates the affected people from the others about as the model does. Its levels are the model's classes, or two
/// other names for two classes (in either order: κ may be negative).
fn agrees(
    reference: &Reference,
    index: usize,
    table: &FeatureTable,
    affected: &[usize],
    classes: &Classes,
) -> bool {
    let feature = &reference.features[index];
    let levels: Option<Vec<usize>> = classes.names.iter().map(|name| feature.level_index(name)).collect();
    let levels = levels.filter(|levels| levels.len() == feature.levels().len());
    let two = (classes.names.len() == 2 && feature.levels().len() == 2).then_some(vec![0, 1]);
    let Some(levels) = levels.or(two) else { return false };
    let is_good =
        |value: f64| levels.iter().zip(&classes.desired).any(|(&at, &good)| good && at as f64 == value);
    let all = reference.people() as f64;
    let good: u64 =
        reference.distribution(index).iter().filter(|(value, _)| is_good(*value)).map(|(_, n)| n).sum();
    let down: Vec<usize> =
        affected.iter().copied().filter(|&row| is_good(table.values[index][row])).collect();
    let (good, down) = (good as f64 / all, table.people_among(&down) as f64 / all);
    let turned_down = table.people_among(affected) as f64 / all;
    // Among all people: turned down and not good, or neither.
    let same = (turned_down - down) + (good - down);
    let by_chance = turned_down * (1.0 - good) + (1.0 - turned_down) * good;
    by_chance < 1.0 && ((same - by_chance) / (1.0 - by_chance)).abs() >= AGREEING
}

/// The configuration of a run in which a column with predictions is not a feature.
pub(super) fn without_predictions(
    mut config: Config,
    table: &Table,
    predictions: Option<&str>,
) -> Result<Config> {
    if let Some(column) = predictions {
        table.require(column)?;
        if !config.data.ignore.iter().any(|ignored| ignored == column) {
            config.data.ignore.push(column.to_owned());
        }
    }
    Ok(config)
}

/// The same configuration with that column as the label.
pub(super) fn labelled(config: &Config, column: &str) -> Config {
    let mut config = config.clone();
    config.data.label = Some(column.to_owned());
    config
}
