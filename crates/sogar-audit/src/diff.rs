//! Compares two fronts: of two models, two versions of a model, or two configurations, usually on the same people.
//!
//! It compares who is turned down, the trade-off (at equal cost, which model leaves fewer people without recourse?), what the
//! advice changes, and, if both fronts were audited, the gaps between groups. Everything except the groups follows from the
//! two files. Means are over the people that each model turns down, so two fronts may differ because their people do; the result
//! therefore includes the overlap.

mod equal_treatment;
mod settings;
mod stairs;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::audit::{Audit, MeasureAudit, MeasureName, Measures};
use sogar_front::select::{By, select};
use sogar_front::summary::{FrontFile, Node, Status, as_count};

pub use equal_treatment::{PriceOfEqualTreatment, price_of_equal_treatment};
pub use settings::Setting;
pub use stairs::{AtCost, FrontDiff};

/// How two fronts differ. The first is called `a`, the second `b`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Diff {
    /// The first front.
    pub a: Side,
    /// The second front.
    pub b: Side,
    /// Whether both are of the same table.
    pub same_table: bool,
    /// Whether both are of the same model.
    pub same_model: bool,
    /// Settings of the configurations that differ.
    pub settings: Vec<Setting>,
    /// Who is turned down; none if the tables differ.
    pub people: Option<PeopleDiff>,
    /// The trade-offs; none if the costs cannot be compared.
    pub front: Option<FrontDiff>,
    /// The price of equal treatment, if the fronts differ only in protected features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_of_equal_treatment: Option<PriceOfEqualTreatment>,
    /// How often the advice changes each feature, largest difference first.
    pub features: Vec<FeatureUse>,
    /// Actions in use.
    pub actions: ActionDiff,
    /// Gaps between groups, if both fronts were audited.
    pub groups: Vec<GroupDiff>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// One of two fronts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// Its model.
    pub model: String,
    /// SHA-256 of the model.
    pub model_hash: String,
    /// SHA-256 of the table.
    pub table_hash: String,
    /// How its search ended.
    pub status: Status,
    /// People of its table: its rows, or their weight.
    #[serde(serialize_with = "as_count")]
    pub rows: f64,
    /// People that the model turns down.
    #[serde(serialize_with = "as_count")]
    pub affected: f64,
    /// Its summaries.
    pub points: usize,
    /// The summary with the lowest invalidity …
    pub best: usize,
    /// … its mean cost …
    pub cost: f64,
    /// … its loss …
    pub loss: f64,
    /// … and their sum.
    pub invalidity: f64,
    /// The lowest loss of the front.
    pub lowest_loss: f64,
}

/// Who is turned down by which model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PeopleDiff {
    /// By both.
    pub both: usize,
    /// Only by the first.
    pub only_a: usize,
    /// Only by the second.
    pub only_b: usize,
    /// By neither.
    pub neither: usize,
}

/// How often the advice changes a feature: the share of people, averaged over the front.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FeatureUse {
    /// The feature.
    pub feature: String,
    /// In the first front.
    pub a: f64,
    /// In the second front.
    pub b: f64,
}

/// Actions of the leaves of the two fronts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionDiff {
    /// In both fronts.
    pub both: usize,
    /// Only in the first.
    pub only_a: usize,
    /// Only in the second.
    pub only_b: usize,
}

/// A group in both audits.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GroupDiff {
    /// The grouping.
    pub grouping: String,
    /// The group.
    pub group: String,
    /// Its people that the first model turns down.
    #[serde(serialize_with = "as_count")]
    pub affected_a: f64,
    /// Its people that the second model turns down.
    #[serde(serialize_with = "as_count")]
    pub affected_b: f64,
    /// Mean gaps over the front, group minus everyone else; none if a group is too small.
    pub gaps: Option<Measures<GapDiff>>,
}

/// A mean gap in both audits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct GapDiff {
    /// In the first.
    pub a: f64,
    /// Ends of its 95 % interval.
    pub interval_a: [f64; 2],
    /// In the second.
    pub b: f64,
    /// Ends of its 95 % interval.
    pub interval_b: [f64; 2],
    /// Share of points at which the group is worse off, in the first …
    pub share_worse_a: f64,
    /// … and in the second.
    pub share_worse_b: f64,
}

/// Compares two fronts.
pub fn diff(a: &FrontFile, b: &FrontFile) -> Diff {
    let same_table = a.table.hash == b.table.hash;
    let mut notes = Vec::new();
    if !same_table {
        notes.push("the fronts are of different tables, so they are about different people".to_owned());
    }
    for (name, front) in [("first", a), ("second", b)] {
        if front.sample.is_some() {
            notes.push(format!("the {name} search was made on a sample: its front may lack points"));
        }
        if front.status.is_early() {
            notes.push(format!("the {name} search was stopped early: its front may lack points"));
        }
    }
    let comparable = a.cost.kind == b.cost.kind;
    if !comparable {
        notes.push("the fronts have different costs, so the trade-offs are not compared".to_owned());
    }
    let people = same_table.then(|| people(a, b)).flatten();
    if people.is_some_and(|people| people.only_a + people.only_b > 0) {
        notes.push("means are over the people that each model turns down, who are not the same".to_owned());
    }
    if people.is_some() && (a.weight.is_some() || b.weight.is_some()) {
        notes.push(
            "people whom both or one of the models turn down are counted as rows, not by weight".to_owned(),
        );
    }
    Diff {
        a: Side::of(a),
        b: Side::of(b),
        same_table,
        same_model: a.model.hash == b.model.hash,
        settings: settings::differences(&a.config, &b.config),
        people,
        front: comparable.then(|| stairs::compare(a, b)),
        price_of_equal_treatment: price_of_equal_treatment(a, b).ok(),
        features: features(a, b),
        actions: actions(a, b),
        groups: Vec::new(),
        notes,
    }
}

impl Diff {
    /// Adds the groups of two audits of the same fronts.
    #[must_use]
    pub fn with_audits(mut self, a: &Audit, b: &Audit) -> Diff {
        for one in &a.reference.groupings {
            let Some(other) = b.reference.groupings.iter().find(|other| other.name == one.name) else {
                continue;
            };
            for group in &one.groups {
                let Some(same) = other.groups.iter().find(|same| same.group == group.group) else {
                    self.notes.push(format!(
                        "`{}` has no group `{}` in the second front's table",
                        one.name, group.group
                    ));
                    continue;
                };
                let gaps = group.measures.as_ref().zip(same.measures.as_ref());
                self.groups.push(GroupDiff {
                    grouping: one.name.clone(),
                    group: group.group.clone(),
                    affected_a: group.affected,
                    affected_b: same.affected,
                    gaps: gaps.map(|(a, b)| {
                        Measures::each(|measure: MeasureName| GapDiff::of(a.get(measure), b.get(measure)))
                    }),
                });
            }
        }
        self
    }

    /// The JSON Schema of a comparison.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Diff).to_value()
    }
}

impl GapDiff {
    fn of(a: &MeasureAudit, b: &MeasureAudit) -> GapDiff {
        GapDiff {
            a: a.mean_gap,
            interval_a: [a.mean_gap_low, a.mean_gap_high],
            b: b.mean_gap,
            interval_b: [b.mean_gap_low, b.mean_gap_high],
            share_worse_a: a.share_worse,
            share_worse_b: b.share_worse,
        }
    }
}

impl Side {
    fn of(front: &FrontFile) -> Side {
        let best = select(front, By::Invalidity).unwrap_or(0);
        let (point, people) = (&front.points[best], front.people());
        Side {
            model: format!("{}, {}", front.model.format, front.model.description),
            model_hash: front.model.hash.clone(),
            table_hash: front.table.hash.clone(),
            status: front.status,
            rows: people.count(people.all),
            affected: people.count(people.affected),
            points: front.points.len(),
            best,
            cost: point.cost,
            loss: point.loss,
            invalidity: point.invalidity,
            lowest_loss: front.points.last().map_or(1.0, |point| point.loss),
        }
    }
}

fn people(a: &FrontFile, b: &FrontFile) -> Option<PeopleDiff> {
    let rows = a.population.rows;
    let (one, other) = (a.population.affected_rows.flags(rows)?, b.population.affected_rows.flags(rows)?);
    let count = |wanted: (bool, bool)| one.iter().zip(&other).filter(|&(&a, &b)| (a, b) == wanted).count();
    Some(PeopleDiff {
        both: count((true, true)),
        only_a: count((true, false)),
        only_b: count((false, true)),
        neither: count((false, false)),
    })
}

/// Share of people whose advice changes each feature, averaged over the front.
fn told_to_change(front: &FrontFile) -> BTreeMap<&str, f64> {
    let mut told: BTreeMap<&str, f64> = BTreeMap::new();
    let all = front.people().affected as f64 * front.points.len() as f64;
    for point in &front.points {
        for (_, leaf) in point.tree.rules() {
            let Node::Leaf { action, rows, .. } = leaf else { continue };
            for edit in &front.actions[*action].edits {
                *told.entry(edit.feature.as_str()).or_default() += *rows as f64 / all;
            }
        }
    }
    told
}

fn features(a: &FrontFile, b: &FrontFile) -> Vec<FeatureUse> {
    let (one, other) = (told_to_change(a), told_to_change(b));
    let names: BTreeSet<&str> = one.keys().chain(other.keys()).copied().collect();
    let share = |told: &BTreeMap<&str, f64>, name: &str| told.get(name).copied().unwrap_or(0.0);
    let mut uses: Vec<FeatureUse> = names
        .into_iter()
        .map(|name| FeatureUse { feature: name.to_owned(), a: share(&one, name), b: share(&other, name) })
        .collect();
    uses.sort_by(|x, y| (y.a - y.b).abs().total_cmp(&(x.a - x.b).abs()));
    uses
}

fn actions(a: &FrontFile, b: &FrontFile) -> ActionDiff {
    let texts = |front: &FrontFile| -> BTreeSet<String> {
        front
            .actions
            .iter()
            .filter(|action| !action.edits.is_empty())
            .map(|action| action.text.clone())
            .collect()
    };
    let (one, other) = (texts(a), texts(b));
    let both = one.intersection(&other).count();
    ActionDiff { both, only_a: one.len() - both, only_b: other.len() - both }
}
