//! Explains one person: why the model answered as it did, their group in a summary, its action, whether that would change *their*
//! decision, and the cheapest change that would.
//!
//! Reasons and advice are different things ([`mod@reasons`]). A summary recommends actions to groups, so for one person its action
//! may be more expensive than necessary, or not work at all. That is why the best individual action is shown beside it. Both use
//! the code of the search: the same edits, the same costs, and outcomes for a table of a few rows.
//!
//! An [`Explainer`] computes the facts, [`text()`] prints them on a terminal, [`letter_html`] in a letter to the person.

mod codes;
mod counterfactuals;
mod fields;
mod individual;
mod letter;
mod letters;
mod list;
mod messages;
mod person;
mod reasons;
mod result;
#[cfg(test)]
mod tests;
mod text;

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::describe::{conditions, predicates};
use sogar_front::router::Router;
use sogar_front::summary::{EditRef, FrontFile, Node, Value};
use sogar_prepare::actions::{Edit, action_text};
use sogar_prepare::model::Prediction;
use sogar_prepare::predict::predict_table;
use sogar_prepare::prepared::Prepared;
use sogar_table::config::CostKind;
use sogar_table::feature::{Feature, FeatureTable};

pub use codes::{Code, Codes, Direction};
pub use fields::LetterFields;
pub use letter::letter_html;
pub use letters::{INDEX, read_recipients, require_free, write_letters};
pub use messages::Messages;
pub use person::Person;
pub use reasons::{Method, PrincipalReason, REASONS, ReasonSettings};
pub use result::{
    Advice, Changed, Decision, Explanation, FeatureValue, Group, ModelName, Point, Reason, Unmet, Who,
};
pub use text::{Section, sections, text};

use individual::{AT_ONCE, Individual, works};
use reasons::Reasoner;

/// Explains what a point of a front means for one person. `prepared` is built from the front's own table and model
/// ([`sogar_front::evaluate::reopen`]).
pub fn explain(front: &FrontFile, prepared: &Prepared, person: &Person, point: usize) -> Result<Explanation> {
    let explainer = Explainer::new(front, prepared, ReasonSettings::default())?;
    let mut found = explainer.explain_all(std::slice::from_ref(person), point, &mut |_, _| {})?;
    found.pop().ok_or_else(|| no_such_point(front, point))
}

/// What explanations of several people share.
pub struct Explainer<'a> {
    front: &'a FrontFile,
    prepared: &'a Prepared,
    reasoner: Option<Reasoner<'a>>,
    pool: rayon::ThreadPool,
}

impl<'a> Explainer<'a> {
    /// For a front and what it was made from.
    pub fn new(
        front: &'a FrontFile,
        prepared: &'a Prepared,
        reasons: ReasonSettings,
    ) -> Result<Explainer<'a>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(prepared.threads()).build();
        let pool = pool.map_err(|cause| {
            Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}"))
        })?;
        if reasons.most == 0 {
            return Err(Error::new(ErrorKind::Usage, "0 is no number of reasons")
                .help("give at least 1: what is without reasons would read as if there were none"));
        }
        Ok(Explainer { front, prepared, reasoner: Reasoner::new(prepared, reasons), pool })
    }

    /// Explains people in their order. `progress(done, all)` is called on the way.
    pub fn explain_all(
        &self,
        people: &[Person],
        point: usize,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Explanation>> {
        let individual = Individual::new(self.prepared, &self.pool)?;
        let features = &self.prepared.table().features;
        let mut found = Vec::with_capacity(people.len());
        for some in people.chunks(AT_ONCE) {
            let mut decided = Vec::with_capacity(some.len());
            for person in some {
                decided.push(self.decided(person, point)?);
            }
            let turned_down: Vec<&Person> = some
                .iter()
                .zip(&decided)
                .filter(|(_, explanation)| !explanation.decision.desired)
                .map(|(person, _)| person)
                .collect();
            let table = table_of(features, &turned_down);
            let mut flipping = individual.flipping(&table)?.into_iter();
            for (person, mut explanation) in some.iter().zip(decided) {
                if !explanation.decision.desired
                    && let Some(flipping) = flipping.next()
                {
                    let one = table_of(features, &[person]);
                    let asked = PersonQuery { prepared: self.prepared, person, one: &one, pool: &self.pool };
                    explanation.actions_tried = individual.tried();
                    let best = flipping.by_cost.first().map(|&(_, action)| individual.edits(action));
                    explanation.cheapest = best.map(|edits| asked.advice(&edits, true)).transpose()?;
                }
                found.push(explanation);
                progress(found.len(), people.len());
            }
        }
        Ok(found)
    }

    /// Everything but the cheapest action.
    fn decided(&self, person: &Person, point: usize) -> Result<Explanation> {
        let (front, prepared) = (self.front, self.prepared);
        let chosen = front.points.get(point).ok_or_else(|| no_such_point(front, point))?;
        let features = &prepared.table().features;
        let one = table_of(features, &[person]);
        let asked = PersonQuery { prepared, person, one: &one, pool: &self.pool };
        let prediction = asked.predict(&person.values)?;
        let decision = asked.decision(prediction);
        // An edit of another feature may take it along.
        let immutable = |feature: usize| {
            !prepared.edits().iter().any(|edit| edit.touched().any(|other| other == feature))
        };
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
            reasons: Vec::new(),
            group: None,
            suggestion: None,
            cheapest: None,
            actions_tried: 0,
            max_edits: prepared.limits().max_edits,
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
            features: features.clone(),
            protected: features
                .iter()
                .filter(|feature| {
                    let settings = prepared.config().features.get(&feature.name);
                    settings.is_some_and(|settings| settings.protected == Some(true))
                })
                .map(|feature| feature.name.clone())
                .collect(),
            reasons_known: self.reasoner.is_some(),
            conditional: prepared.requirements().is_some(),
            classes: prepared.classes().names.clone(),
            outcomes: prepared.config().model.outcomes.clone(),
        };
        if explanation.decision.desired {
            explanation
                .notes
                .push("the model gives this person what they hope for, so nothing has to change".into());
            return Ok(explanation);
        }
        match &self.reasoner {
            Some(reasoner) => explanation.reasons = reasoner.reasons(&asked, prediction)?,
            None => explanation.notes.push(
                "reasons need the whole reference table, of which only the affected people are in memory"
                    .into(),
            ),
        }
        explanation.note_protected_reasons();
        let (tests, leaf) = route(front, features, &chosen.tree, &person.values)?;
        let Node::Leaf { action, rows, flipped, cost_sum } = leaf else { return Ok(explanation) };
        explanation.group = Some(Group {
            because: reasons(front, features, person, &tests),
            predicates: predicates(front, &tests),
            rows: front.people().count(*rows),
            flipped: front.people().count(*flipped),
            mean_cost: *cost_sum as f64 / front.cost.unit as f64 / (*rows).max(1) as f64,
        });
        let edits = front.actions[*action].edits(features)?;
        explanation.suggestion = Some(asked.advice(&edits, works(&asked, &edits)?)?);
        if front.status.is_early() {
            explanation.notes.push(format!(
                "the search was stopped early ({}), so a better summary may exist; the cheapest individual action is exact",
                front.status.name()
            ));
        }
        Ok(explanation)
    }
}

/// People as a table.
fn table_of(features: &[Feature], people: &[&Person]) -> FeatureTable {
    let column = |feature: usize| people.iter().map(|person| person.values[feature]).collect();
    FeatureTable {
        features: features.to_vec(),
        values: (0..features.len()).map(column).collect(),
        rows: people.len(),
        weights: None,
    }
}

/// The error for a point that a front does not have.
pub(crate) fn no_such_point(front: &FrontFile, point: usize) -> Error {
    Error::new(ErrorKind::Usage, format!("the front has no point {point}"))
        .help(format!("points are numbered 0 to {}, the cheapest first", front.points.len() - 1))
}

/// A person as a query to the model: a table of one row.
struct PersonQuery<'a> {
    prepared: &'a Prepared,
    person: &'a Person,
    one: &'a FeatureTable,
    pool: &'a rayon::ThreadPool,
}

impl PersonQuery<'_> {
    fn class(&self, label: u32) -> String {
        self.prepared.classes().names.get(label as usize).cloned().unwrap_or_else(|| label.to_string())
    }

    fn predict(&self, values: &[f64]) -> Result<Prediction> {
        Ok(self.predict_all(&[values.to_vec()])?[0])
    }

    fn predict_all(&self, rows: &[Vec<f64>]) -> Result<Vec<Prediction>> {
        let column = |feature: usize| rows.iter().map(|row| row[feature]).collect();
        let table = FeatureTable {
            features: self.one.features.clone(),
            values: (0..self.one.features.len()).map(column).collect(),
            rows: rows.len(),
            weights: None,
        };
        predict_table(&*self.prepared.model().predictor, self.prepared.encoder(), &table)
    }

    fn decision(&self, prediction: Prediction) -> Decision {
        let info = self.prepared.model().predictor.info();
        Decision {
            label: self.class(prediction.label),
            desired: self.prepared.classes().is_desired(&prediction),
            score: prediction.score,
            threshold: info.threshold,
            above_threshold: info.threshold.map(|_| self.class(1)),
            score_is_probability: self.prepared.model().predictor.gives_probabilities(),
            hoped_for: self.prepared.classes().desired_names(),
        }
    }

    /// An action for this person; whether it works is known already.
    fn advice(&self, edits: &[Edit], works: bool) -> Result<Advice> {
        let features = &self.one.features;
        let before = &self.person.values;
        let mut after = before.clone();
        let mut cost_units = 0u64;
        for edit in edits {
            let cost = u64::from(self.prepared.cost().edit_cost(edit, before)?);
            cost_units = self.prepared.cost().combine().with(cost_units, cost);
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
        let rules = self.prepared.rules().iter().zip(&self.prepared.config().rules);
        let prediction = self.predict(&after)?;
        let breaks: Vec<String> =
            rules.filter(|(rule, _)| rule.broken_by(before, &after)).map(|(_, text)| text.clone()).collect();
        let unmet = match self.prepared.requirements() {
            Some(required)
                if !works && breaks.is_empty() && self.prepared.classes().is_desired(&prediction) =>
            {
                let mut agreeing = 0;
                for other in &required.others {
                    let accepted = other.accepts(&required.desired, std::slice::from_ref(&after))?;
                    agreeing += usize::from(accepted == [true]);
                }
                Some(if agreeing < required.agree { Unmet::Agreement } else { Unmet::Plausibility })
            }
            _ => None,
        };
        Ok(Advice {
            text: action_text(&edits.iter().collect::<Vec<_>>(), features),
            edits: edits.iter().map(|edit| EditRef::new(edit, features)).collect(),
            changes,
            works,
            label: self.class(prediction.label),
            score: prediction.score,
            cost: cost_units as f64 / self.prepared.cost().unit() as f64,
            cost_units,
            breaks,
            unmet,
        })
    }
}

/// Whether two values are equal; missing equals missing.
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

/// The tests on the path of a person, each `(position in splits, passed)`, and its leaf.
fn route<'a>(
    front: &FrontFile,
    features: &[Feature],
    tree: &'a Node,
    values: &[f64],
) -> Result<(Vec<(usize, bool)>, &'a Node)> {
    let router = Router::new(front, features)?;
    let mut tests = Vec::new();
    let (_, leaf) = tree.route(|split| {
        let passed = router.passes(split, |feature| values[feature]);
        tests.push((split, passed));
        passed
    });
    Ok((tests, leaf))
}

/// The conditions of the path, one per feature, each with the person's own value.
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
