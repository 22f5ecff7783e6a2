//! The principal reasons: which of a person's values moved the model's answer most against them.
//!
//! They say why the model answered as it did; advice says what would change its answer. The two differ: a reason may be something
//! that nobody can change, and the cheapest change may be of something that was no reason. Each reason comes with its
//! *responsiveness*, the share of the allowed changes of that feature alone that flip this person.
//!
//! | method | models | contribution of a feature |
//! |---|---|---|
//! | `treeshap_path_dependent` | sums of trees whose file has the training rows of each leaf | the exact Shapley values of its columns ([`sogar_models::contributions`]), added |
//! | `treeshap_path_dependent_on_table` | other sums of trees | the same, with the rows of the reference table in place of the training rows |
//! | `baseline_first_and_last` | all others | the mean of two differences of the model's score: the person with and without the baseline's value, and the baseline with and without the person's value |
//!
//! The *baseline* is the median or most frequent value of every feature among those whom the model accepts. The mean of the
//! first and the last difference is the Shapley value of the model between baseline and person if no more than two features
//! interact at a time: each difference leaves out what the other has of a pair.

use schemars::JsonSchema;
use serde::Serialize;

use super::PersonQuery;
use super::codes::{Codes, Direction};
use super::individual::flips_alone;
use super::messages::Messages;
use sogar_base::error::Result;
use sogar_front::summary::Value;
use sogar_prepare::model::{Covers, Prediction, Rows, TreeEnsemble};
use sogar_prepare::prepared::Prepared;
use sogar_table::feature::{Feature, FeatureTable, format_number};

/// How many reasons are given by default.
pub const REASONS: usize = 4;

/// A feature that moved the model's answer against a person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PrincipalReason {
    /// The feature.
    pub feature: String,
    /// The person's value; null if it is missing.
    pub value: Option<Value>,
    /// How far the value moved the model's output towards its answer; see `method`. Trees: in the unit of the sum (log-odds, or
    /// shares of votes). Others: in the unit of the score.
    pub contribution: f64,
    /// How contributions were computed.
    pub method: Method,
    /// How the value compares with the median of those whom the model accepts: `low` or `high`; `missing`; a category or special code.
    pub direction: Option<String>,
    /// The code from the list of reason codes.
    pub code: Option<String>,
    /// The reason in words: from the list of reason codes, otherwise from the messages.
    pub text: String,
    /// Whether no action changes the feature.
    pub immutable: bool,
    /// Whether the feature is protected; letters leave it out.
    pub protected: bool,
    /// The share of the allowed changes of this feature alone that change the model's answer; null if none is allowed.
    pub responsiveness: Option<f64>,
    /// The number of those changes, by the value that they lead to.
    pub changes_allowed: usize,
    /// The direction, for letters in another language …
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) towards: Option<Direction>,
    /// … unless the text is the user's own.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) own_text: bool,
}

/// How contributions are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Exact Shapley values of trees, path-dependent, with the training rows of the model's file.
    TreeshapPathDependent,
    /// The same with the rows of the reference table.
    TreeshapPathDependentOnTable,
    /// The mean of the differences that the feature makes to the baseline and to the person.
    BaselineFirstAndLast,
}

impl Method {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Method::TreeshapPathDependent => "treeshap_path_dependent",
            Method::TreeshapPathDependentOnTable => "treeshap_path_dependent_on_table",
            Method::BaselineFirstAndLast => "baseline_first_and_last",
        }
    }
}

/// What to give as reasons.
#[derive(Debug, Clone)]
pub struct ReasonSettings {
    /// How many at most.
    pub most: usize,
    /// The user's codes and texts.
    pub codes: Codes,
    /// The texts of reasons without a code.
    pub messages: Messages,
}

impl Default for ReasonSettings {
    fn default() -> Self {
        ReasonSettings { most: REASONS, codes: Codes::default(), messages: Messages::english() }
    }
}

/// What all people have in common: how contributions are computed, and with whom values are compared.
pub(super) struct Reasoner<'a> {
    prepared: &'a Prepared,
    settings: ReasonSettings,
    baseline: Vec<f64>,
    trees: Option<(&'a TreeEnsemble, Covers, Method)>,
}

impl<'a> Reasoner<'a> {
    /// `None` if the rows of the reference table are not in memory.
    pub fn new(prepared: &'a Prepared, settings: ReasonSettings) -> Option<Reasoner<'a>> {
        let table = prepared.table();
        if table.rows != prepared.reference().rows {
            return None;
        }
        let trees = prepared.model().predictor.tree_ensemble().map(|trees| match trees.covers() {
            Some(covers) => (trees, covers, Method::TreeshapPathDependent),
            None => {
                let (encoder, mut values) = (prepared.encoder(), Vec::new());
                for number in 0..table.rows {
                    encoder.encode_row(&table.row(number), &mut values);
                }
                let rows = Rows { values: &values, columns: encoder.columns.len() };
                (trees, trees.covers_of(rows), Method::TreeshapPathDependentOnTable)
            }
        });
        Some(Reasoner { prepared, settings, baseline: baseline(table, prepared.affected()), trees })
    }

    /// The reasons of a person whom the model turned down, the strongest first.
    pub fn reasons(&self, asked: &PersonQuery<'_>, decided: Prediction) -> Result<Vec<PrincipalReason>> {
        let features = &self.prepared.table().features;
        let (contributions, method) = match &self.trees {
            Some((trees, covers, method)) => (self.of_trees(trees, covers, asked, decided), *method),
            None => (self.of_answers(asked)?, Method::BaselineFirstAndLast),
        };
        let mut strongest: Vec<usize> =
            (0..features.len()).filter(|&feature| contributions[feature] > 0.0).collect();
        strongest.sort_by(|&a, &b| contributions[b].total_cmp(&contributions[a]).then(a.cmp(&b)));
        strongest.truncate(self.settings.most);
        let alone = flips_alone(asked, &strongest)?;
        let mut reasons = Vec::with_capacity(strongest.len());
        for (feature, (flipping, allowed)) in strongest.into_iter().zip(alone) {
            let (description, value) = (&features[feature], asked.person.value(features, feature));
            let direction = self.direction(feature, asked.person.values[feature], value.as_ref());
            let code = self.settings.codes.find(&description.name, direction.as_ref());
            let settings = self.prepared.config().features.get(&description.name);
            reasons.push(PrincipalReason {
                feature: description.name.clone(),
                contribution: contributions[feature],
                method,
                code: code.map(|found| found.code.clone()),
                own_text: code.is_some_and(|found| found.text.is_some()),
                text: match code.and_then(|found| found.text.clone()) {
                    Some(text) => text,
                    None => self.settings.messages.reason(description, direction.as_ref(), value.as_ref()),
                },
                direction: direction.as_ref().map(|direction| direction.name().to_owned()),
                towards: direction,
                value,
                immutable: !self
                    .prepared
                    .edits()
                    .iter()
                    .any(|edit| edit.touched().any(|other| other == feature)),
                protected: settings.is_some_and(|settings| settings.protected == Some(true)),
                responsiveness: (allowed > 0).then(|| flipping as f64 / allowed as f64),
                changes_allowed: allowed,
            });
        }
        Ok(reasons)
    }

    /// The contributions of features to the margin of the answer over the best desired one.
    fn of_trees(
        &self,
        trees: &TreeEnsemble,
        covers: &Covers,
        asked: &PersonQuery<'_>,
        decided: Prediction,
    ) -> Vec<f64> {
        let (encoder, desired) = (self.prepared.encoder(), &self.prepared.classes().desired);
        let (mut row, mut weights) = (Vec::new(), vec![0.0; trees.outputs]);
        encoder.encode_row(&asked.person.values, &mut row);
        if trees.outputs == 1 {
            weights[0] = if desired.get(1) == Some(&true) { -1.0 } else { 1.0 };
        } else {
            let mut outputs = vec![0.0; trees.outputs];
            trees.outputs_of(&row, &mut outputs);
            let hoped = (0..trees.outputs).filter(|&class| desired.get(class) == Some(&true));
            // The first of the largest, as labels are decided.
            let best = hoped.fold(None, |best: Option<usize>, class| match best {
                Some(best) if outputs[best] >= outputs[class] => Some(best),
                _ => Some(class),
            });
            weights[decided.label as usize] += 1.0;
            if let Some(best) = best {
                weights[best] -= 1.0;
            }
        }
        let found = trees.contributions(covers, &row, &weights);
        let mut sums = vec![0.0; self.prepared.table().features.len()];
        for (column, source) in found.columns.iter().zip(&encoder.columns) {
            sums[source.feature] += column;
        }
        sums
    }

    /// The contributions of features to the score, from the model's answers alone.
    fn of_answers(&self, asked: &PersonQuery<'_>) -> Result<Vec<f64>> {
        let (own, usual) = (&asked.person.values, &self.baseline);
        let features = own.len();
        let mut rows = vec![own.clone(), usual.clone()];
        for feature in 0..features {
            let (mut without, mut with) = (own.clone(), usual.clone());
            (without[feature], with[feature]) = (usual[feature], own[feature]);
            rows.extend([without, with]);
        }
        let scores: Vec<f64> = asked.predict_all(&rows)?.iter().map(|found| self.against(found)).collect();
        let contribution = |feature: usize| {
            let (without, with) = (scores[2 + 2 * feature], scores[3 + 2 * feature]);
            ((scores[0] - without) + (with - scores[1])) / 2.0
        };
        Ok((0..features).map(contribution).collect())
    }

    /// The score, larger the more the answer is against the person. The score of a model of several classes belongs to its
    /// answer, so its sign does.
    fn against(&self, found: &Prediction) -> f64 {
        let classes = self.prepared.classes();
        let two_with_threshold = self.prepared.model().predictor.info().threshold.is_some();
        let for_them = match two_with_threshold {
            true => classes.desired.get(1) == Some(&true),
            false => classes.is_desired(found),
        };
        if for_them { -found.score } else { found.score }
    }

    fn direction(&self, feature: usize, value: f64, shown: Option<&Value>) -> Option<Direction> {
        let description = &self.prepared.table().features[feature];
        let usual = self.baseline[feature];
        match shown {
            None => Some(Direction::Missing),
            Some(Value::Level(level)) if !description.is_ordered() => Some(Direction::Value(level.clone())),
            Some(_) if description.is_code(value) => Some(Direction::Value(format_number(value))),
            Some(_) if value < usual => Some(Direction::Low),
            Some(_) if value > usual => Some(Direction::High),
            Some(_) => None,
        }
    }
}

/// The median (of ordered features) or most frequent value among those who are not affected; missing if nobody has one.
fn baseline(table: &FeatureTable, affected: &[usize]) -> Vec<f64> {
    let mut accepted = vec![true; table.rows];
    affected.iter().for_each(|&row| accepted[row] = false);
    let of_feature = |(feature, description): (usize, &Feature)| {
        let mut values: Vec<(f64, u64)> = (0..table.rows)
            .filter(|&row| accepted[row])
            .map(|row| (table.values[feature][row], u64::from(table.weight(row))))
            .filter(|(value, _)| !value.is_nan() && !description.is_code(*value))
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        if description.is_ordered() {
            let all: u64 = values.iter().map(|(_, weight)| weight).sum();
            let mut below = 0;
            let middle = values.iter().find(|(_, weight)| {
                below += weight;
                2 * below >= all
            });
            return middle.map_or(f64::NAN, |(value, _)| *value);
        }
        let groups = values.chunk_by(|one, other| one.0 == other.0);
        let counted = groups.map(|group| (group[0].0, group.iter().map(|(_, weight)| weight).sum::<u64>()));
        // The first of equals.
        let most = counted.fold(None, |best: Option<(f64, u64)>, (value, count)| match best {
            Some((_, most)) if most >= count => best,
            _ => Some((value, count)),
        });
        most.map_or(f64::NAN, |(value, _)| value)
    };
    table.features.iter().enumerate().map(of_feature).collect()
}
