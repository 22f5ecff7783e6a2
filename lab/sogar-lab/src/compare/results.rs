//! A comparison as JSON and CSV.

use serde_json::{Map, Value, json};
use sogar::pipeline::Prepared;
use sogar_baselines::contest::Entry;
use sogar_baselines::{FitStatus, Score};

/// All results. A method without one has `null` for its numbers, and a `reason`.
pub fn as_json(prepared: &Prepared, entries: &[Entry]) -> Value {
    let methods: Vec<Value> = entries.iter().map(method).collect();
    let front = entries.iter().find_map(|entry| entry.front.as_ref());
    let points = front.map(|front| {
        front.points.iter().map(|point| json!([point.cost, point.loss])).collect::<Vec<Value>>()
    });
    json!({
        "rows": prepared.table().rows,
        "affected": prepared.problem_rows().len(),
        "table": prepared.table_hash(),
        "model": prepared.model().hash,
        "cost": prepared.config().cost.kind,
        "seed": prepared.config().seed,
        "methods": methods,
        "front": points,
    })
}

fn method(entry: &Entry) -> Value {
    let mut fields = Map::new();
    fields.insert("method".into(), json!(entry.method.name));
    for (name, value) in figures(entry.score.as_ref()) {
        fields.insert(name.to_owned(), value);
    }
    fields.insert("seconds".into(), json!(entry.seconds));
    fields.insert("status".into(), json!(status(&entry.status)));
    fields.insert("reason".into(), json!(entry.reason()));
    let held_out = entry.held_out.as_ref();
    let elsewhere: Map<String, Value> =
        figures(held_out).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    fields.insert("holdout".into(), held_out.map_or(Value::Null, |_| Value::Object(elsewhere)));
    fields.insert("description".into(), json!(entry.description));
    Value::Object(fields)
}

/// The figures of a score by their names.
fn figures(score: Option<&Score>) -> [(&'static str, Value); 8] {
    let value = |read: fn(&Score) -> Value| score.map_or(Value::Null, read);
    [
        ("rows", value(|score| json!(score.rows))),
        ("cost", value(|score| json!(score.cost))),
        ("loss", value(|score| json!(score.loss))),
        ("invalidity", value(|score| json!(score.invalidity))),
        ("coverage", value(|score| json!(score.coverage))),
        ("groups", value(|score| json!(score.parts))),
        ("sparsity", value(|score| json!(score.sparsity))),
        ("violations", value(|score| json!(score.violations))),
    ]
}

/// A status in a word.
pub fn status(status: &FitStatus) -> &'static str {
    match status {
        FitStatus::Complete => "complete",
        FitStatus::TimeLimit => "time_limit",
        FitStatus::MemoryLimit => "memory_limit",
        FitStatus::Cancelled => "cancelled",
        _ => "no_result",
    }
}

/// One line per method.
pub fn as_csv(entries: &[Entry]) -> String {
    let names = figures(None).map(|(name, _)| name);
    let mut text = format!("method,{},seconds,status", names.join(","));
    for name in names {
        text += &format!(",holdout_{name}");
    }
    text += ",reason\n";
    let cells = |score: Option<&Score>| {
        let cell = |value: Value| if value.is_null() { String::new() } else { value.to_string() };
        figures(score).map(|(_, value)| cell(value)).join(",")
    };
    for entry in entries {
        let reason = entry.reason().unwrap_or("").replace('"', "\"\"");
        text += &format!(
            "{},{},{},{},{},\"{reason}\"\n",
            entry.method.name,
            cells(entry.score.as_ref()),
            entry.seconds,
            status(&entry.status),
            cells(entry.held_out.as_ref()),
        );
    }
    text
}
