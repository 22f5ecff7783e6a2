//! One point of a front: the output of `sogar show --json`, and the data of the Python package's summaries.

use serde_json::json;

use super::{conditions, outcome_text};
use crate::intervals::PointIntervals;
use crate::summary::{Evaluation, FrontFile, HeldOutLeaf, Node};
use sogar_base::markup::visible;
use sogar_base::statistics::{CONFIDENCE, Interval};

/// A point with its splits and actions in words, readable without the rest of the file.
pub fn point_json(front: &FrontFile, chosen: usize) -> serde_json::Value {
    let point = &front.points[chosen];
    let held_out =
        front.holdout.as_ref().map(|there| HeldOutPoint { there, chosen, intervals: there.interval(chosen) });
    let rules: Vec<serde_json::Value> = point
        .tree
        .rules()
        .iter()
        .enumerate()
        .map(|(number, (tests, leaf))| {
            let who: Vec<String> = conditions(front, tests).iter().map(|text| visible(text)).collect();
            let tests_of: Vec<_> = tests
                .iter()
                .map(|&(split, passed)| {
                    let split = &front.splits[split];
                    json!({ "feature": split.feature, "test": split.test, "value": split.value, "holds": passed })
                })
                .collect();
            let Node::Leaf { action, rows, flipped, cost_sum } = leaf else { return json!(null) };
            let action = &front.actions[*action];
            let mut rule = json!({
                "if": tests_of, "who": who, "action": { "id": action.id, "text": action.text, "edits": action.edits },
                "rows": rows, "flipped": flipped, "cost_sum": cost_sum,
            });
            if let Some((leaf, works)) = held_out.as_ref().and_then(|found| found.leaf(number)) {
                rule["holdout"] = json!({ "rows": leaf.rows, "flipped": leaf.flipped, "cost_sum": leaf.cost_sum, "works": works });
            }
            if let Some(block) = &front.plausibility {
                rule["plausibility"] = json!(block.points[chosen].get(number));
            }
            rule
        })
        .collect();
    let people = front.people();
    let count = |units: u64| match people.count(units) {
        whole if whole.fract() == 0.0 => json!(whole as u64),
        part => json!(part),
    };
    let have = people.all.saturating_sub(people.affected);
    let mut found = json!({
        "outcome": { "desired": front.population.desired, "have": count(have), "people": count(people.all), "text": outcome_text(front) },
        "point": chosen, "cost": point.cost, "loss": point.loss, "invalidity": point.invalidity,
        "cost_sum": point.cost_sum, "loss_count": point.loss_count,
        "leaves": point.leaves, "depth": point.depth, "rules": rules,
    });
    if let Some(fairness) = &front.fairness {
        let groups = fairness.groups.iter().zip(fairness.losses_at(chosen));
        let groups = groups.map(|(group, loss)| json!({ "group": group.group, "loss": loss }));
        found["fairness"] = json!({
            "grouping": fairness.grouping, "gap": fairness.gap_at(chosen), "groups": groups.collect::<Vec<_>>(),
        });
    }
    if let Some(HeldOutPoint { there, intervals, .. }) = held_out {
        let point = &there.points[chosen];
        found["holdout"] = json!({
            "affected": there.affected, "cost": point.cost, "loss": point.loss, "invalidity": point.invalidity,
            "confidence": CONFIDENCE, "works": intervals.works, "band": intervals.band, "cost_interval": intervals.cost,
        });
    }
    found
}

/// A point on the held-out people.
struct HeldOutPoint<'a> {
    there: &'a Evaluation,
    chosen: usize,
    intervals: PointIntervals,
}

impl HeldOutPoint<'_> {
    fn leaf(&self, number: usize) -> Option<(HeldOutLeaf, Interval)> {
        let leaf = self.there.details.get(self.chosen)?.leaves.get(number)?;
        Some((*leaf, *self.intervals.leaves.get(number)?))
    }
}
