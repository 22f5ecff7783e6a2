//! Describes what was audited: files, features, limits, and the commands that reproduce it.

use std::path::Path;

use sogar_base::text::{exact_number, spoken_amount};
use sogar_front::describe::grouped;
use sogar_front::summary::{FrontFile, WeightRef};
use sogar_table::config::{CostKind, Direction, FeatureConfig};
use sogar_table::feature::{Feature, Kind};

use super::ReportRequest;
use super::data::{Cost, FeatureData, Made, Population, Reproduce, Source};

/// How the front was made.
pub fn made(front: &FrontFile) -> Made {
    Made {
        date: front.run.date.clone(),
        version: front.run.version.clone(),
        report_version: env!("CARGO_PKG_VERSION"),
        seconds: front.run.seconds_outcomes + front.run.seconds_search,
        outcome_method: front.run.outcome_method.clone(),
    }
}

/// The reference table.
pub fn table(front: &FrontFile) -> Source {
    Source {
        name: file_name(&front.run.table_path, "table"),
        description: format!("{} rows", grouped(front.table.rows)),
        hash: front.table.hash.clone(),
    }
}

/// The model. A command is shown as given.
pub fn model(front: &FrontFile) -> Source {
    let name = match &front.config.model.command {
        Some(command) => command.clone(),
        None => file_name(&front.run.model_path, "model"),
    };
    let description = format!("{}: {}", front.model.format, front.model.description);
    Source { name, description, hash: front.model.hash.clone() }
}

/// Who is turned down.
pub fn population(front: &FrontFile) -> Population {
    let people = front.people();
    let weights = |weight: &WeightRef| {
        format!(
            "The table has {} rows; the column “{}” says how many people each of them stands for.",
            grouped(front.population.rows),
            weight.column
        )
    };
    Population {
        rows: people.count(people.all),
        affected: people.count(people.affected),
        person: (people.unit > 1).then_some(people.unit),
        weights: front.weight.as_ref().map(weights),
        classes: front.population.classes.clone(),
        desired: front.population.desired.clone(),
        shown: front
            .population
            .desired
            .iter()
            .map(|class| front.config.model.outcomes.get(class).unwrap_or(class).clone())
            .collect(),
    }
}

/// The cost, in a sentence.
pub fn cost(front: &FrontFile) -> Cost {
    let text = match front.cost.kind {
        CostKind::Mps => {
            "How far a change moves a person within the table: 0.28 means past 28 % of the people, for the edit that moves them \
             furthest (maximum percentile shift)."
        }
        CostKind::Cet => {
            "How far a change moves a person within a smoothed picture of the table, for the edit that moves them furthest \
             (maximum percentile shift as CET computes it)."
        }
        CostKind::Logshift => {
            "How much rarer a change makes a person's values within the table, added up over the edits (total log percentile \
             shift)."
        }
        CostKind::L1 => {
            "How far a change moves a person, as shares of the features' ranges, added up over the edits."
        }
        CostKind::Table => "The user's table of costs, for the most expensive edit.",
        CostKind::Function => "The user's cost function, for the most expensive edit.",
    };
    Cost { kind: front.cost.kind, unit: front.cost.unit, text }
}

/// The features and how they may change.
pub fn features(front: &FrontFile) -> Vec<FeatureData> {
    let default = FeatureConfig::default();
    front
        .features
        .iter()
        .map(|feature| {
            let settings = front.config.features.get(&feature.name).unwrap_or(&default);
            FeatureData {
                name: feature.name.clone(),
                display: feature.shown.display.clone(),
                unit: feature.shown.unit.clone(),
                kind: kind(feature),
                levels: feature.levels().to_vec(),
                change: change(feature, settings),
            }
        })
        .collect()
}

fn kind(feature: &Feature) -> &'static str {
    match feature.kind {
        Kind::Real => "real",
        Kind::Integer => "integer",
        Kind::Ordinal { .. } => "ordinal",
        Kind::Categorical { .. } => "categorical",
        Kind::Binary { .. } => "binary",
    }
}

fn change(feature: &Feature, settings: &FeatureConfig) -> String {
    if settings.protected == Some(true) {
        return "never changes, and describes nobody (protected)".to_owned();
    }
    if settings.is_fixed() {
        return "never changes".to_owned();
    }
    let mut text = match settings.direction {
        Some(Direction::Increase) => "may only increase".to_owned(),
        Some(Direction::Decrease) => "may only decrease".to_owned(),
        None => "may change".to_owned(),
    };
    if let (Some([low, high]), true) = (settings.range, feature.is_ordered()) {
        let ends = format!(", between {} and {}", spoken_amount(low), spoken_amount(high));
        text += &feature.with_unit(ends);
    }
    match &settings.targets {
        Some(targets) if feature.is_ordered() => {
            let side = match settings.direction {
                Some(Direction::Increase) => "at least",
                Some(Direction::Decrease) => "at most",
                None => "at least or at most",
            };
            let amount = |target: &String| exact_number(target).map_or(target.clone(), spoken_amount);
            let amounts: Vec<String> = targets.iter().map(amount).collect();
            text += &feature.with_unit(format!(", also to {side} {}", amounts.join(" or ")));
        }
        Some(targets) => text += &format!(", to {} of its values", targets.len()),
        None => {}
    }
    match settings.forbid.len() {
        0 => {}
        1 => text += ", one transition forbidden",
        more => text += &format!(", {more} transitions forbidden"),
    }
    text
}

/// What was left out or added, in sentences.
pub fn exclusions(front: &FrontFile) -> Vec<String> {
    let config = &front.config;
    let mut lines = Vec::new();
    if let Some(label) = &config.data.label {
        lines.push(format!("The column “{label}” holds the true outcome and is not a feature."));
    }
    if !config.data.ignore.is_empty() {
        lines.push(format!("Columns that were ignored: {}.", config.data.ignore.join(", ")));
    }
    let protected = |settings: &FeatureConfig| settings.protected == Some(true);
    let features = config.features.values();
    let fixed = features.filter(|settings| settings.is_fixed() && !protected(settings)).count();
    if fixed > 0 {
        lines.push(format!(
            "{fixed} of {} features never change; they may still describe people.",
            front.features.len()
        ));
    }
    let names: Vec<&str> = config
        .features
        .iter()
        .filter(|(_, settings)| protected(settings))
        .map(|(name, settings)| settings.display.as_deref().unwrap_or(name))
        .collect();
    if !names.is_empty() {
        lines.push(format!(
            "Protected features: {}. No advice changes them, and no group of a summary is described by them.",
            names.join(", ")
        ));
    }
    if !config.links.is_empty() {
        let links: Vec<String> =
            config.links.iter().map(|link| format!("“{}” with “{}”", link.to, link.from)).collect();
        lines.push(format!("Features that move along: {}.", links.join(", ")));
    }
    if !config.rules.is_empty() {
        lines.push(format!("Rules that no change may break: {}.", config.rules.join("; ")));
    }
    if let Some(threshold) = config.model.threshold {
        lines.push(format!("Decision threshold of the model: {threshold}."));
    }
    lines
}

/// How to reproduce the report.
pub fn reproduce(front: &FrontFile, request: &ReportRequest) -> Reproduce {
    let table = quoted(&file_name(&front.run.table_path, "table.csv"));
    let mut solve = format!("sogar solve {table} --config sogar.toml");
    if front.config.model.command.is_none() {
        solve += &format!(" --model {}", quoted(&file_name(&front.run.model_path, "model")));
    }
    if let Some(path) = &front.run.holdout_path {
        solve += &format!(" --holdout {}", quoted(&file_name(path, "holdout.csv")));
    }
    solve += " -o front.json";
    let mut report = "sogar report front.json".to_owned();
    for grouping in &request.groups {
        report += &format!(" --group {}", quoted(grouping.text()));
    }
    if let Some(label) = &request.label {
        report += &format!(" --label {}", quoted(label));
    }
    if let Some(scan) = &request.scan {
        let features = quoted(&scan.features.join(","));
        report += &format!(
            " --scan {features} --max-terms {} --scan-measure {}",
            scan.max_terms,
            quoted(&scan.measure.to_string())
        );
    }
    report += " -o report.html";
    let commands = [
        (solve, "The front, identical except for its block “run”:"),
        (
            "sogar check front.json".to_owned(),
            "Every tree applied again, row by row, and a search for missing points:",
        ),
        (report, "This report:"),
    ];
    Reproduce {
        // A configuration that was read can be written; if not, the result file still has it.
        config: toml::to_string(&front.config).unwrap_or_default(),
        commands: commands.map(|(command, purpose)| [command, purpose.to_owned()]).to_vec(),
    }
}

fn file_name(path: &str, otherwise: &str) -> String {
    // Results may come from another system with another path separator.
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| otherwise.to_owned())
}

fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| "…".to_owned(), |word| word.into_owned())
}
