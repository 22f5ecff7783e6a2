//! The facts behind a starting file: which columns are features, which one is the label, and the model's predictions.
//!
//! With a model there is less to guess: its columns are the features, no column that it uses is the label, and a column whose values
//! its scores tell apart probably is.

use std::collections::BTreeSet;

use sogar_base::error::Result;
use sogar_prepare::class_order::{Confusion, are_numbers_of_classes};
use sogar_prepare::encode::Encoder;
use sogar_prepare::model::LoadedModel;
use sogar_prepare::predict::{class_names, predict_table};
use sogar_table::config::Config;
use sogar_table::feature::{FeatureTable, Labels, declare_shown, format_number, label_values};
use sogar_table::hints::{Unfit, good_class, is_label_name, label_rank, personal, unfit, words};
use sogar_table::table::{Cells, MISSING, Table};

/// Strings that tables use for "unknown".
const TOKENS: &[&str] = &["?", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL"];
/// Most distinct values of a label.
const MOST_CLASSES: usize = 10;
/// Number of columns to offer as the label if none is known.
const OFFERED: usize = 3;
/// Smallest [`Candidate::strength`] of a label column.
const TELLING: f64 = 0.3;
/// A column that is told apart this much less than the best one may be the label as well.
const NEARLY: f64 = 0.6;

/// Facts about a table, and about a model if there is one.
pub struct Facts {
    /// Label, ignored columns, missing tokens and, if necessary, the names of classes.
    pub config: Config,
    /// The table through its features.
    pub features: FeatureTable,
    /// What the user should know.
    pub notices: Vec<String>,
    /// Why the ignored columns are ignored.
    pub ignored: Vec<(String, String)>,
    /// Features that do not look like features, but that the model uses.
    pub unfit: Vec<(usize, Unfit)>,
    /// How often the model's prediction is the label, if both are known.
    pub agreement: Option<f64>,
    /// The same with classes in the order of the label's values, if the predictions show another order, which the configuration has.
    pub in_order: Option<f64>,
    /// Other columns that may be the label, with their agreement.
    pub rivals: Vec<(String, f64)>,
    /// Columns that may be the label, if none is known.
    pub offered: Vec<String>,
    /// The classes.
    pub outcome: Option<Outcome>,
}

/// The classes, with how many rows have each.
pub struct Outcome {
    /// Their names and numbers of rows.
    pub classes: Vec<(String, usize)>,
    /// The desired one, if names are clear.
    pub good: Option<usize>,
    /// Whether the model predicts them (otherwise they are labels).
    pub predicted: bool,
}

/// A model's predictions for a table.
struct Answers {
    /// The columns that it uses.
    used: BTreeSet<String>,
    /// The class of each row.
    of_row: Vec<u32>,
    /// The rank of each row's score, the mean rank among equal ones.
    ranks: Vec<f64>,
}

/// A column that may be the label.
struct Candidate<'a> {
    name: &'a str,
    /// How well the model's scores tell its values apart, from −1 (the other way round) to 1: 2·AUC − 1 for two classes, otherwise
    /// the agreement beyond chance (κ).
    strength: f64,
    agreement: f64,
    /// Its values in the order of the model's classes, where that is not the order of the values, and the agreement in that one.
    ordered: Option<(Vec<String>, f64)>,
}

impl Facts {
    /// The facts about a table, with what the user said already.
    pub fn new(table: &Table, model: Option<&LoadedModel>, given: &Config) -> Result<Facts> {
        let (mut config, classes) = (given.clone(), &given.model.classes);
        config.data.missing = tokens(table);
        let mut unfit: Vec<(&str, String)> = Vec::new();
        let columns = model.map_or(&[][..], |model| &model.predictor.info().columns);
        let repeated: Vec<&str> = table.repeated(given, columns).map(|column| column.name.as_str()).collect();
        for (position, column) in table.columns.iter().enumerate() {
            let why = if repeated.contains(&column.name.as_str()) {
                Some("has the name of another column".to_owned())
            } else if distinct_values(table, &column.name) == 0 {
                Some("has no values at all".to_owned())
            } else {
                let found = unfit_column(table, position, &config);
                found.map(|found| found.text().to_owned())
            };
            unfit.extend(why.map(|why| (column.name.as_str(), why)));
        }
        let called = table.names().filter_map(|name| Some((label_rank(name)?, name)));
        let named = called.filter(|(_, name)| is_class_like(table, name)).min().map(|(_, name)| name);
        let answers = model.map(|model| answers(table, model, &config, &unfit, named)).transpose()?;
        let used = |name: &str| answers.as_ref().is_some_and(|answers| answers.used.contains(name));

        // The label.
        let mut candidates: Vec<Candidate<'_>> = Vec::new();
        let mut copies: Vec<&str> = Vec::new();
        if let (Some(answers), Some(model)) = (&answers, model) {
            let info = model.predictor.info();
            let names = if classes.is_empty() { &info.class_names } else { classes };
            let may_be = |name: &&str| {
                !used(name)
                    && !is_personal(table, name)
                    && is_class_like(table, name)
                    && !repeated.contains(name)
            };
            for name in table.names().filter(may_be) {
                let found = candidate(table, name, &config, answers, names, info.classes as usize)?;
                match found {
                    Some(_) if is_prediction(name) => copies.push(name),
                    found => candidates.extend(found),
                }
            }
            let order = |one: &Candidate<'_>, other: &Candidate<'_>| {
                let by_size = other.strength.abs().total_cmp(&one.strength.abs());
                by_size.then(other.strength.total_cmp(&one.strength))
            };
            candidates.sort_by(order);
        }
        let named = match &answers {
            Some(_) => candidates
                .iter()
                .find(|candidate| candidate.strength >= TELLING)
                .or_else(|| candidates.iter().find(|candidate| is_label_name(candidate.name)))
                .map(|candidate| candidate.name),
            None => named,
        };
        config.data.label = named.map(ToOwned::to_owned);
        let label = candidates.iter().find(|candidate| Some(candidate.name) == named);
        if let Some((values, _)) = label.and_then(|label| label.ordered.as_ref()) {
            config.model.classes.clone_from(values);
        }
        let rivals = candidates.iter().filter(|candidate| {
            Some(candidate.name) != named
                && label.is_some_and(|label| candidate.strength >= TELLING.max(NEARLY * label.strength))
        });
        let rivals =
            rivals.map(|rival| (rival.name.to_owned(), rival.agreement)).take(OFFERED).collect::<Vec<_>>();

        // Columns that are not features.
        let is_label = |name: &str| named == Some(name);
        let mut ignored: Vec<(String, String)> = Vec::new();
        for name in table.names().filter(|name| !is_label(name) && !used(name)) {
            let why = match unfit.iter().find(|(unfit, _)| *unfit == name) {
                Some((_, why)) => Some(why.clone()),
                None if copies.contains(&name) => Some("holds predictions".to_owned()),
                None if answers.is_some() && !is_personal(table, name) => {
                    Some("is not used by the model".to_owned())
                }
                None => None,
            };
            ignored.extend(why.map(|why| (name.to_owned(), why)));
        }
        // If no column is left, the error about constant features is clearer than an empty file.
        if ignored.len() + usize::from(named.is_some()) >= table.columns.len() {
            ignored.clear();
        }
        config.data.ignore = ignored.iter().map(|(name, _)| name.clone()).collect();

        let labels = label_values(table, &config)?;
        let outcome = outcome(&mut config, labels.as_ref(), answers.as_ref(), model)?;
        let offered = match (named, candidates.is_empty()) {
            (Some(_), _) => Vec::new(),
            (None, true) => offered(table, &config, &used),
            (None, false) => {
                candidates.iter().take(OFFERED).map(|candidate| candidate.name.to_owned()).collect()
            }
        };
        let (mut shown, mut notices) = (config.clone(), Vec::new());
        if let Some(model) = model {
            declare_shown(table, &mut shown, &model.predictor.info().columns, &mut notices)?;
        }
        let (features, seen) = FeatureTable::inferred(table, &shown)?;
        notices.extend(seen.notices);
        Ok(Facts {
            agreement: label.map(|label| label.agreement),
            in_order: label.and_then(|label| label.ordered.as_ref()).map(|(_, agreement)| *agreement),
            rivals,
            config,
            features,
            notices,
            ignored,
            unfit: seen.unfit,
            offered,
            outcome,
        })
    }
}

/// Columns with two values that may be the label, the last ones first.
fn offered(table: &Table, config: &Config, used: &dyn Fn(&str) -> bool) -> Vec<String> {
    let names: Vec<&str> = table.names().collect();
    let fits = |name: &&&str| {
        let ignored = config.data.ignore.iter().any(|ignored| ignored == *name);
        distinct_values(table, name) == 2
            && !is_personal(table, name)
            && !is_prediction(name)
            && !used(name)
            && !ignored
    };
    names.iter().rev().filter(fits).take(OFFERED).map(|name| (*name).to_owned()).collect()
}

/// The classes and their counts. If the names of the model's classes are not the label's values, they go into the configuration.
fn outcome(
    config: &mut Config,
    labels: Option<&Labels>,
    answers: Option<&Answers>,
    model: Option<&LoadedModel>,
) -> Result<Option<Outcome>> {
    let (names, counts) = match (answers, model, labels) {
        (Some(answers), Some(model), _) => {
            let names = class_names(model.predictor.info(), labels, config)?;
            if labels.is_some_and(|labels| !names.iter().all(|name| labels.values.contains(name))) {
                config.model.classes.clone_from(&names);
            }
            let mut counts = vec![0; names.len()];
            for &class in &answers.of_row {
                if let Some(count) = counts.get_mut(class as usize) {
                    *count += 1;
                }
            }
            (names, counts)
        }
        (_, _, Some(labels)) => {
            let mut counts = vec![0; labels.values.len()];
            labels.of_row.iter().flatten().for_each(|&value| counts[value as usize] += 1);
            (labels.values.clone(), counts)
        }
        _ => return Ok(None),
    };
    let good = good_class(&names, config.data.label.as_deref());
    Ok(Some(Outcome { good, predicted: answers.is_some(), classes: names.into_iter().zip(counts).collect() }))
}

/// The model's predictions. Columns that are not features may have to be left out before the model's columns can be matched by
/// position.
fn answers(
    table: &Table,
    model: &LoadedModel,
    config: &Config,
    unfit: &[(&str, String)],
    named: Option<&str>,
) -> Result<Answers> {
    let empty: Vec<&str> = table.names().filter(|name| distinct_values(table, name) == 0).collect();
    let unfit: Vec<&str> = unfit.iter().map(|(name, _)| *name).collect();
    let mut first = None;
    for (ignored, label) in [(&empty, None), (&empty, named), (&unfit, None), (&unfit, named)] {
        let mut config = config.clone();
        config.data.ignore = ignored.iter().copied().chain(label).map(ToOwned::to_owned).collect();
        match answers_without(table, model, &config) {
            Ok(answers) => return Ok(answers),
            Err(error) => first = first.or(Some(error)),
        }
    }
    // All errors are the same, and the first attempt saw all columns.
    Err(first.unwrap_or_else(|| table.error("the model's columns are not in the table")))
}

fn answers_without(table: &Table, model: &LoadedModel, config: &Config) -> Result<Answers> {
    let predictor = &*model.predictor;
    let mut config = config.clone();
    declare_shown(table, &mut config, &predictor.info().columns, &mut Vec::new())?;
    let (features, _) = FeatureTable::infer(table, &config)?;
    let columns: Vec<&str> = table.names().collect();
    let (encoder, _) =
        Encoder::match_table_columns(predictor.info(), &features.features, &config.model, &columns)
            .map_err(|error| error.file(&model.path))?;
    let predictions = predict_table(predictor, &encoder, &features)?;
    let used = encoder.columns.iter().flat_map(|source| features.features[source.feature].columns.names());
    Ok(Answers {
        used: used.map(str::to_owned).collect(),
        of_row: predictions.iter().map(|prediction| prediction.label).collect(),
        ranks: ranks(&predictions.iter().map(|prediction| prediction.score).collect::<Vec<_>>()),
    })
}

/// The rank of each score from 1, the mean rank of equal ones.
fn ranks(scores: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let mut ranks = vec![0.0; scores.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| scores[a].total_cmp(&scores[b]).is_eq()) {
        let mean = before as f64 + (equal.len() + 1) as f64 / 2.0;
        equal.iter().for_each(|&row| ranks[row] = mean);
        before += equal.len();
    }
    ranks
}

/// A column as the label; `None` if its values cannot be the model's classes.
fn candidate<'a>(
    table: &Table,
    name: &'a str,
    config: &Config,
    answers: &Answers,
    names: &[String],
    classes: usize,
) -> Result<Option<Candidate<'a>>> {
    let mut labelled = config.clone();
    labelled.data.label = Some(name.to_owned());
    let Some(labels) = label_values(table, &labelled)? else { return Ok(None) };
    let by_name = !names.is_empty() && labels.values.iter().all(|value| names.contains(value));
    if !by_name && labels.values.len() != classes {
        return Ok(None);
    }
    let class_of = |value: u32| match by_name {
        true => names.iter().position(|name| *name == labels.values[value as usize]),
        false => Some(value as usize),
    };
    let mut confusion = Confusion::new(classes);
    let (mut above, mut rows) = (0.0, [0.0, 0.0]);
    for ((value, &class), rank) in labels.of_row.iter().zip(&answers.of_row).zip(&answers.ranks) {
        let Some(truth) = value.and_then(class_of) else { continue };
        confusion.add(truth, class as usize);
        if truth < 2 {
            rows[truth] += 1.0;
            above += if truth == 1 { *rank } else { 0.0 };
        }
    }
    let given: Vec<usize> = (0..classes).collect();
    // Ranks are among all rows, so rows without a label blur the AUC a little.
    let told_apart = || 2.0 * (above - rows[1] * (rows[1] + 1.0) / 2.0) / (rows[0] * rows[1]) - 1.0;
    let strength = if classes == 2 && rows[0] * rows[1] > 0.0 {
        told_apart().clamp(-1.0, 1.0)
    } else {
        confusion.kappa(&given)
    };
    let turned = || (classes == 2 && strength <= -TELLING).then(|| vec![1, 0]);
    let has_names = by_name || are_numbers_of_classes(&labels.values);
    let order = if has_names { None } else { confusion.other_order().or_else(turned) };
    let found = match order {
        None => Candidate { name, strength, agreement: confusion.agreement(&given), ordered: None },
        Some(order) => Candidate {
            name,
            strength: if classes == 2 { -strength } else { confusion.kappa(&order) },
            agreement: confusion.agreement(&order),
            ordered: Some((
                order.iter().map(|&value| labels.values[value].clone()).collect(),
                confusion.agreement(&given),
            )),
        },
    };
    Ok(Some(found))
}

fn unfit_column(table: &Table, position: usize, config: &Config) -> Option<Unfit> {
    unfit(&table.columns[position], &[], position == 0, &config.data.missing)
}

/// Whether a column has the name of predictions.
fn is_prediction(name: &str) -> bool {
    words(name).iter().any(|word| word.starts_with("pred"))
}

/// A personal feature is not an outcome, even if a model follows it closely.
fn is_personal(table: &Table, name: &str) -> bool {
    let levels = match table.column(name).map(|column| &column.cells) {
        Some(Cells::Text { levels, .. }) => levels.clone(),
        Some(Cells::Numbers(_)) => {
            let known = distinct_numbers(table, name);
            if known.len() == 2 { known.into_iter().map(format_number).collect() } else { Vec::new() }
        }
        None => Vec::new(),
    };
    personal(name, &levels).is_some_and(|found| found.clear)
}

fn is_class_like(table: &Table, name: &str) -> bool {
    (2..=MOST_CLASSES).contains(&distinct_values(table, name))
}

fn distinct_values(table: &Table, name: &str) -> usize {
    match table.column(name).map(|column| &column.cells) {
        None => 0,
        Some(Cells::Text { codes, levels }) => {
            if codes.iter().all(|code| *code == MISSING) {
                0
            } else {
                levels.len()
            }
        }
        Some(Cells::Numbers(_)) => distinct_numbers(table, name).len(),
    }
}

fn distinct_numbers(table: &Table, name: &str) -> Vec<f64> {
    let Some(Cells::Numbers(numbers)) = table.column(name).map(|column| &column.cells) else {
        return Vec::new();
    };
    let mut known: Vec<f64> = numbers.iter().copied().filter(|number| !number.is_nan()).collect();
    known.sort_by(f64::total_cmp);
    known.dedup();
    known
}

/// The strings for "unknown" that occur in the table's text columns.
fn tokens(table: &Table) -> Vec<String> {
    let occurs = |token: &&&str| {
        table.columns.iter().any(|column| match &column.cells {
            Cells::Text { levels, .. } => levels.iter().any(|level| level == **token),
            Cells::Numbers(_) => false,
        })
    };
    TOKENS.iter().filter(occurs).map(|token| (*token).to_owned()).collect()
}
