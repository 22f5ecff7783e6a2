//! What the page shows of each column, and what follows from the settings: edits, actions, estimated time.

use serde_json::{Value, json};
use sogar::config::Config;
use sogar::feature::{Feature, FeatureTable, Kind, codes};
use sogar::hints::personal;
use sogar::limits::about;
use sogar::pipeline::{Prepared, Voice};
use sogar::rules::Rule;
use sogar::{Error, Result};

use crate::inputs::Inputs;
use crate::session::told;

/// Bars of a number.
const BARS: usize = 20;
/// Levels of a category that are shown one by one.
const LEVELS: usize = 30;
/// Edits of a feature that are listed.
const LISTED: usize = 24;

/// The problem of a configuration: columns, settings, counts, estimates, and what is wrong.
pub fn problem(inputs: &Inputs, config: &Config, prepared: std::result::Result<&Prepared, &Error>) -> Value {
    let toml = toml::to_string(config).unwrap_or_default();
    let found = prepared.ok();
    let table = found.map_or(&inputs.facts.features, Prepared::table);
    let affected = found.map(|prepared| {
        let mut is_affected = vec![false; table.rows];
        prepared.affected().iter().for_each(|&row| is_affected[row] = true);
        is_affected
    });
    let suggested = codes::suggestions(table);
    let columns: Vec<Value> = table
        .features
        .iter()
        .enumerate()
        .map(|(index, feature)| {
            let mut shown = column(table, index, affected.as_deref());
            let settings = config.features.get(&feature.name);
            shown["settings"] = json!(settings);
            shown["codes_suggested"] = json!(suggested.get(&feature.name));
            shown["personal"] = json!(
                personal(&feature.name, feature.levels())
                    .map(|found| json!({ "reason": found.reason, "clear": found.clear }))
            );
            let unfit = inputs.facts.unfit.iter().find(|(unfit, _)| {
                inputs.facts.features.features.get(*unfit).is_some_and(|unfit| unfit.name == feature.name)
            });
            shown["unfit"] = json!(unfit.map(|(_, why)| why.text()));
            if let Some(prepared) = found {
                let edits = || prepared.edits().iter().filter(|edit| edit.feature == index);
                shown["edits"] = json!(edits().count());
                shown["edit_texts"] =
                    json!(edits().take(LISTED).map(|edit| edit.text(&table.features)).collect::<Vec<_>>());
                shown["splits"] =
                    json!(prepared.splits().iter().filter(|split| split.feature == index).count());
                // What a run leaves alone although nobody said so, such as ids.
                let resolved = prepared.config().features.get(&feature.name);
                shown["left_aside"] = json!(
                    resolved.is_some_and(|now| now.is_fixed())
                        && !settings.is_some_and(|said| said.is_fixed())
                );
                shown["unused"] = json!(!uses(prepared, index));
            }
            shown
        })
        .collect();
    json!({
        "columns": columns,
        "others": others(inputs, config),
        "config": config,
        "toml": toml,
        "fault": prepared.err().map(told),
        "rules": config.rules.iter().map(|rule| rule_shown(rule, table)).collect::<Vec<_>>(),
        "outcome": outcome(inputs, config, found),
        "size": found.map(size),
        "notices": found.map(|prepared| prepared.notices()),
        "warnings": found.map(|prepared| prepared.warnings(Voice::CommandLine, true)),
        "labels": inputs.facts.offered,
        "agreement": inputs.facts.agreement,
    })
}

/// Whether the model has a column of this feature.
fn uses(prepared: &Prepared, feature: usize) -> bool {
    let mut encoders =
        std::iter::once(prepared.encoder()).chain(prepared.other_models().iter().map(|other| &other.encoder));
    encoders.any(|encoder| encoder.columns.iter().any(|source| source.feature == feature))
}

/// Columns that are not features, and why.
fn others(inputs: &Inputs, config: &Config) -> Vec<Value> {
    let why = |name: &str| inputs.facts.ignored.iter().find(|(ignored, _)| ignored == name);
    let data = &config.data;
    let ignored = data
        .ignore
        .iter()
        .map(|name| json!({ "name": name, "role": "ignored", "why": why(name).map(|(_, why)| why) }));
    let label = data.label.iter().map(|name| json!({ "name": name, "role": "label" }));
    let weight = data.weight.iter().map(|name| json!({ "name": name, "role": "weight" }));
    label.chain(weight).chain(ignored).collect()
}

fn outcome(inputs: &Inputs, config: &Config, prepared: Option<&Prepared>) -> Value {
    let known = inputs.facts.outcome.as_ref();
    let classes: Vec<Value> = known
        .map(|outcome| &outcome.classes[..])
        .unwrap_or_default()
        .iter()
        .map(|(name, rows)| json!({ "name": name, "rows": rows, "shown": config.model.outcomes.get(name) }))
        .collect();
    json!({
        "classes": classes,
        "guessed": known.and_then(|outcome| Some(&outcome.classes[outcome.good?].0)),
        "desired": prepared.map(|prepared| prepared.classes().desired_names()),
        "assumed": prepared.map(|prepared| prepared.classes().is_assumed(config)),
    })
}

fn size(prepared: &Prepared) -> Value {
    let estimate = prepared.time_estimate();
    json!({
        "rows": prepared.reference().rows,
        "affected": prepared.affected().len(),
        "splits": prepared.splits().len(),
        "edits": prepared.edits().len(),
        "actions": u64::try_from(prepared.action_count()).unwrap_or(u64::MAX),
        "seconds": estimate.total(),
        "time": about(estimate.total()),
        "long": prepared.long_run(|setting| format!("`{setting}`")),
        "limits": {
            "max_depth": prepared.limits().max_depth,
            "max_leaves": prepared.limits().max_leaves,
            "min_leaf": prepared.limits().min_leaf,
            "max_edits": prepared.limits().max_edits,
        },
    })
}

fn rule_shown(text: &str, table: &FeatureTable) -> Value {
    let rule: Result<Rule> = Rule::parse(text, &table.features);
    let breaks = rule.map(|rule| (0..table.rows).filter(|&row| !rule.holds_for(&table.row(row))).count());
    json!({ "text": text, "breaks": breaks.as_ref().ok(), "fault": breaks.as_ref().err().map(told) })
}

/// A feature: kind, distribution among accepted and turned-down people, missing values, codes.
fn column(table: &FeatureTable, index: usize, affected: Option<&[bool]>) -> Value {
    let (feature, values) = (&table.features[index], &table.values[index]);
    let side = |row: usize| usize::from(affected.is_some_and(|affected| affected[row]));
    let missing_level = feature.missing_level().map(|level| level as f64);
    let is_missing = |value: f64| value.is_nan() || Some(value) == missing_level;
    let missing = values.iter().filter(|&&value| is_missing(value)).count();
    let coded = values.iter().filter(|&&value| feature.is_code(value)).count();
    let (kind, bars) = match &feature.kind {
        Kind::Real => ("real", numbers(feature, values, &side)),
        Kind::Integer => ("integer", numbers(feature, values, &side)),
        Kind::Ordinal { levels } => ("ordinal", named(levels, values, &side)),
        Kind::Categorical { levels, .. } => ("categorical", named(levels, values, &side)),
        Kind::Binary { levels } => ("binary", named(levels, values, &side)),
    };
    json!({
        "name": feature.name,
        "display": feature.shown,
        "columns": feature.columns.names().collect::<Vec<_>>(),
        "kind": kind,
        "bars": bars,
        "levels": feature.levels(),
        "missing": missing,
        "codes": feature.codes,
        "coded": coded,
        "why": why(feature, values),
        "divided": affected.is_some(),
    })
}

/// Why a column has its kind.
fn why(feature: &Feature, values: &[f64]) -> String {
    let mut distinct: Vec<u64> =
        values.iter().filter(|value| !value.is_nan()).map(|value| value.to_bits()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let columns = feature.columns.names().count();
    match &feature.kind {
        _ if columns > 1 => format!("{columns} columns of 0 and 1, of which one is 1 in each row"),
        Kind::Real => format!("numbers, {} different", distinct.len()),
        Kind::Integer => format!("whole numbers, {} different", distinct.len()),
        Kind::Ordinal { levels } => format!("{} levels in order", levels.len()),
        Kind::Categorical { levels, .. } => format!("texts, {} different", levels.len()),
        Kind::Binary { .. } => "two values".to_owned(),
    }
}

/// Bars of a number: their lower ends, and the people of both sides.
fn numbers(feature: &Feature, values: &[f64], side: &dyn Fn(usize) -> usize) -> Value {
    let amounts = || {
        values.iter().copied().enumerate().filter(|(_, value)| value.is_finite() && !feature.is_code(*value))
    };
    let low = amounts().map(|(_, value)| value).fold(f64::INFINITY, f64::min);
    let high = amounts().map(|(_, value)| value).fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return json!({ "low": null, "high": null, "counts": [] });
    }
    // Bars of whole numbers begin at whole numbers.
    let whole = feature.kind == Kind::Integer;
    let values = high - low + 1.0;
    let (bars, width) = if whole {
        let width = (values / BARS as f64).ceil();
        ((values / width).ceil() as usize, width)
    } else if high > low {
        (BARS, (high - low) / BARS as f64)
    } else {
        (1, 0.0)
    };
    let mut counts = vec![[0u64; 2]; bars];
    for (row, value) in amounts() {
        let bar = if width > 0.0 { ((value - low) / width) as usize } else { 0 };
        counts[bar.min(bars - 1)][side(row)] += 1;
    }
    json!({ "low": low, "high": high, "width": width, "counts": counts })
}

/// Bars of levels: the most frequent ones by name, and the rest together.
fn named(levels: &[String], values: &[f64], side: &dyn Fn(usize) -> usize) -> Value {
    let mut counts = vec![[0u64; 2]; levels.len()];
    for (row, &value) in values.iter().enumerate() {
        if let Some(count) = counts.get_mut(value as usize).filter(|_| value >= 0.0) {
            count[side(row)] += 1;
        }
    }
    let mut order: Vec<usize> = (0..levels.len()).collect();
    if levels.len() > LEVELS {
        order.sort_by_key(|&level| std::cmp::Reverse(counts[level][0] + counts[level][1]));
    }
    let rest = order.split_off(order.len().min(LEVELS));
    let rest =
        rest.iter().fold([0u64; 2], |sum, &level| [sum[0] + counts[level][0], sum[1] + counts[level][1]]);
    json!({
        "names": order.iter().map(|&level| &levels[level]).collect::<Vec<_>>(),
        "counts": order.iter().map(|&level| counts[level]).collect::<Vec<_>>(),
        "rest": rest,
    })
}
