//! A point of a front by itself: what `sogar show --json` prints and the Python package's summaries are made of.

use serde_json::json;

use crate::summary::{FrontFile, Node};

/// A point with its splits and actions in words, readable without the rest of the file.
pub fn point_json(front: &FrontFile, chosen: usize) -> serde_json::Value {
    let point = &front.points[chosen];
    let rules: Vec<serde_json::Value> = point
        .tree
        .rules()
        .iter()
        .map(|(tests, leaf)| {
            let conditions: Vec<_> = tests
                .iter()
                .map(|&(split, passed)| {
                    let split = &front.splits[split];
                    json!({ "feature": split.feature, "test": split.test, "value": split.value, "holds": passed })
                })
                .collect();
            let Node::Leaf { action, rows, flipped, cost_sum } = leaf else { return json!(null) };
            let action = &front.actions[*action];
            json!({
                "if": conditions, "action": { "id": action.id, "text": action.text, "edits": action.edits },
                "rows": rows, "flipped": flipped, "cost_sum": cost_sum,
            })
        })
        .collect();
    let people = front.people();
    let count = |units: u64| match people.count(units) {
        whole if whole.fract() == 0.0 => json!(whole as u64),
        part => json!(part),
    };
    let have = people.all.saturating_sub(people.affected);
    json!({
        "outcome": { "desired": front.population.desired, "have": count(have), "people": count(people.all) },
        "point": chosen, "cost": point.cost, "loss": point.loss, "invalidity": point.invalidity,
        "cost_sum": point.cost_sum, "loss_count": point.loss_count,
        "leaves": point.leaves, "depth": point.depth, "rules": rules,
    })
}
