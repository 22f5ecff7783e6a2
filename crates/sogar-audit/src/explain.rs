//! One person: which group of a summary they fall into and why, what is suggested to that group, whether that would change
//! *their* decision, and the cheapest change that would.
//!
//! A summary advises groups, so its advice may be dearer than need be for one of them, or not work at all. That is
//! why the best individual action stands beside it. Both come from the code that a search uses: the same edits, the same costs, and
//! outcomes asked for a table of one row.
//!
//! [`explain`] gives the facts, [`text()`] says them on a terminal, [`letter_html`] in a letter to the person.

mod individual;
mod letter;
mod person;
mod result;
#[cfg(test)]
mod tests;
mod text;

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::describe::conditions;
use sogar_front::summary::{EditRef, FrontFile, Node, Value};
use sogar_prepare::actions::{Edit, action_text};
use sogar_prepare::predict::predict_table;
use sogar_prepare::prepared::Prepared;
use sogar_table::binarize::Split;
use sogar_table::config::CostKind;
use sogar_table::feature::{Feature, FeatureTable};

pub use letter::{Letter, letter_html};
pub use person::Person;
pub use result::{
    Advice, Changed, Decision, Explanation, FeatureValue, Group, ModelName, Point, Reason, Who,
};
pub use text::{Section, sections, text};

use individual::{cheapest, works};

/// Explains what a point of a front means for one person. `prepared` is made from the front's own table and model
/// ([`sogar_front::evaluate::reopen`]).
pub fn explain(front: &FrontFile, prepared: &Prepared, person: &Person, point: usize) -> Result<Explanation> {
    let chosen = front.points.get(point).ok_or_else(|| no_such_point(front, point))?;
    let features = &prepared.table.features;
    let one = FeatureTable {
        features: features.clone(),
        values: person.values.iter().map(|&value| vec![value]).collect(),
        rows: 1,
        weights: None,
    };
    let asked = PersonQuery { prepared, person, one: &one };
    let decision = asked.decision()?;
    let immutable = |feature: usize| !prepared.edits.iter().any(|edit| edit.feature == feature);
    let mut explanation = Explanation {
        person: Who {
            name: person.name.clone(),
            row: person.row.map(|row| row + 1),
            values: (0..features.len())
                .map(|feature| FeatureValue {
                    feature: features[feature].name.clone(),
                    value: person.value(features, feature),
                    immutable: immutable(feature),
                })
                .collect(),
        },
        point: Point {
            point,
            of: front.points.len(),
            cost: chosen.cost,
            loss: chosen.loss,
            status: front.status,
        },
        group: None,
        suggestion: None,
        cheapest: None,
        actions_tried: 0,
        max_edits: prepared.limits.max_edits,
        cost_kind: front.cost.kind,
        cost_is_percentile: front.cost.kind == CostKind::Mps && front.cost.unit == front.people().all,
        immutable: (0..features.len())
            .filter(|&feature| immutable(feature))
            .map(|feature| features[feature].name.clone())
            .collect(),
        model: ModelName {
            format: front.model.format.clone(),
            description: front.model.description.clone(),
            hash: front.model.hash.clone(),
        },
        notes: person.notes.clone(),
        decision,
    };
    if explanation.decision.desired {
        explanation
            .notes
            .push("the model gives this person what they hope for, so nothing has to change".into());
        return Ok(explanation);
    }
    let (tests, leaf) = route(front, features, &chosen.tree, &person.values)?;
    let Node::Leaf { action, rows, flipped, cost_sum } = leaf else { return Ok(explanation) };
    explanation.group = Some(Group {
        because: reasons(front, features, person, &tests),
        rows: front.people().count(*rows),
        flipped: front.people().count(*flipped),
        mean_cost: *cost_sum as f64 / front.cost.unit as f64 / (*rows).max(1) as f64,
    });
    let edits: Vec<Edit> =
        front.actions[*action].edits.iter().map(|edit| edit.edit(features)).collect::<Result<_>>()?;
    explanation.suggestion = Some(asked.advice(&edits, works(&asked, &edits)?)?);
    let (best, tried) = cheapest(&asked)?;
    explanation.actions_tried = tried;
    explanation.cheapest = best.map(|edits| asked.advice(&edits, true)).transpose()?;
    if front.status.is_early() {
        explanation.notes.push(format!(
            "the search was stopped early ({}), so a better summary may exist; the cheapest individual action is exact",
            front.status.name()
        ));
    }
    Ok(explanation)
}

/// The error for a point that a front does not have.
pub fn no_such_point(front: &FrontFile, point: usize) -> Error {
    Error::new(ErrorKind::Usage, format!("the front has no point {point}"))
        .help(format!("points are numbered 0 to {}, the cheapest first", front.points.len() - 1))
}

/// A person in front of the model: a table of one row.
struct PersonQuery<'a> {
    prepared: &'a Prepared,
    person: &'a Person,
    one: &'a FeatureTable,
}

impl PersonQuery<'_> {
    fn class(&self, label: u32) -> String {
        self.prepared.classes.names.get(label as usize).cloned().unwrap_or_else(|| label.to_string())
    }

    fn predict(&self, values: &[f64]) -> Result<sogar_prepare::model::Prediction> {
        let row = FeatureTable {
            features: self.one.features.clone(),
            values: values.iter().map(|&value| vec![value]).collect(),
            rows: 1,
            weights: None,
        };
        let predictions = predict_table(&*self.prepared.model.predictor, &self.prepared.encoder, &row)?;
        Ok(predictions[0])
    }

    fn decision(&self) -> Result<Decision> {
        let prediction = self.predict(&self.person.values)?;
        let threshold = self.prepared.model.predictor.info().threshold;
        Ok(Decision {
            label: self.class(prediction.label),
            desired: self.prepared.classes.is_desired(&prediction),
            score: prediction.score,
            threshold,
            above_threshold: threshold.map(|_| self.class(1)),
            hoped_for: self.prepared.classes.desired_names(),
        })
    }

    /// An action as it would be for this person; whether it works is known already.
    fn advice(&self, edits: &[Edit], works: bool) -> Result<Advice> {
        let features = &self.one.features;
        let before = &self.person.values;
        let mut after = before.clone();
        let mut cost_units = 0u64;
        for edit in edits {
            let cost = u64::from(self.prepared.cost.edit_cost(edit, before)?);
            cost_units = self.prepared.cost.combine().with(cost_units, cost);
            edit.apply(&mut after);
        }
        let changed = |feature: usize, follows: Option<usize>| Changed {
            feature: features[feature].name.clone(),
            from: self.person.value(features, feature),
            to: if same(before[feature], after[feature]) {
                self.person.value(features, feature)
            } else {
                value_of(&features[feature], after[feature])
            },
            changes: !same(before[feature], after[feature]),
            follows: follows.map(|feature| features[feature].name.clone()),
        };
        let mut changes = Vec::new();
        for edit in edits {
            changes.push(changed(edit.feature, None));
            changes.extend(edit.followers.iter().map(|f| changed(f.feature, Some(edit.feature))));
        }
        let rules = self.prepared.rules.iter().zip(&self.prepared.config.rules);
        let prediction = self.predict(&after)?;
        Ok(Advice {
            text: action_text(&edits.iter().collect::<Vec<_>>(), features),
            edits: edits.iter().map(|edit| EditRef::new(edit, features)).collect(),
            changes,
            works,
            label: self.class(prediction.label),
            score: prediction.score,
            cost: cost_units as f64 / self.prepared.cost.unit() as f64,
            cost_units,
            breaks: rules
                .filter(|(rule, _)| rule.broken_by(before, &after))
                .map(|(_, text)| text.clone())
                .collect(),
        })
    }
}

/// Whether two values are one; missing is missing.
fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

/// A value as a table writes it; `None` if it is missing.
fn value_of(feature: &Feature, value: f64) -> Option<Value> {
    match value {
        gap if gap.is_nan() => None,
        number if feature.is_numeric() => Some(Value::Number(number)),
        level => Some(Value::Level(feature.value_text(level))),
    }
}

/// The tests on the way of a person, each `(position in splits, passed)`, and the leaf at its end.
fn route<'a>(
    front: &FrontFile,
    features: &[Feature],
    tree: &'a Node,
    values: &[f64],
) -> Result<(Vec<(usize, bool)>, &'a Node)> {
    let splits: Vec<Split> = front.splits.iter().map(|split| split.split(features)).collect::<Result<_>>()?;
    let mut tests = Vec::new();
    let (_, leaf) = tree.route(|split| {
        let passed = splits[split].passes(features, values[splits[split].feature]);
        tests.push((split, passed));
        passed
    });
    Ok((tests, leaf))
}

/// The conditions of the way, one a feature, each with the person's own value.
fn reasons(front: &FrontFile, features: &[Feature], person: &Person, tests: &[(usize, bool)]) -> Vec<Reason> {
    let mut asked: Vec<&str> = Vec::new();
    for &(split, _) in tests {
        let name = front.splits[split].feature.as_str();
        if !asked.contains(&name) {
            asked.push(name);
        }
    }
    let texts = conditions(front, tests);
    asked
        .iter()
        .zip(texts)
        .map(|(name, condition)| Reason {
            feature: (*name).to_owned(),
            condition,
            value: features
                .iter()
                .position(|feature| feature.name == *name)
                .and_then(|feature| person.value(features, feature)),
        })
        .collect()
}
