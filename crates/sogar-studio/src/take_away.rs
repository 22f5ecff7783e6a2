//! What a user takes away: the configuration, the result, the report, the command that gives the same bytes, and the price of a constraint.

use std::path::Path;

use serde_json::{Value, json};
use sogar::audit::Grouping;
use sogar::config::Config;
use sogar::diff::diff;
use sogar::model::Source;
use sogar::outcomes::is_scored;
use sogar::pipeline::Prepared;
use sogar::report::{Opened, ReportRequest, gather, page, page_with};
use sogar::select::{By, select};
use sogar::summary::FrontFile;
use sogar::{CancelToken, Error, ErrorKind, Result};

use crate::assets::WHAT_IF;
use crate::inputs::{Inputs, ModelOf, TableOf, last};
use crate::run::Run;

/// The configuration as `sogar.toml`.
pub fn configuration(config: &Config) -> Result<String> {
    toml::to_string(config).map_err(|cause| {
        Error::new(ErrorKind::Output, format!("the configuration can't be written: {cause}"))
    })
}

/// The result file, byte for byte as `sogar solve` writes it.
pub fn front_file(front: &FrontFile) -> Result<String> {
    let text = serde_json::to_string(front)
        .map_err(|cause| Error::new(ErrorKind::Output, format!("the result can't be written: {cause}")))?;
    Ok(text + "\n")
}

/// The commands that give the same result and report from the saved configuration.
pub fn commands(inputs: &Inputs, groups: &[String]) -> String {
    let quoted =
        |text: &str| shlex::try_quote(text).map_or_else(|_| "…".to_owned(), |text| text.into_owned());
    let name = |path: &Path| quoted(&path.display().to_string());
    let model = match &inputs.source {
        ModelOf::Source(source) => model_flags(source, &name),
        ModelOf::Dropped(path) => format!(" --model {}", quoted(&last(path))),
        ModelOf::Opened(_) => " --model MODEL".to_owned(),
    };
    let table = match &inputs.origin {
        TableOf::File(path) => name(path),
        TableOf::Dropped(path) => quoted(&last(path)),
        TableOf::Opened(_) => "TABLE".to_owned(),
    };
    let groups: String = groups.iter().map(|group| format!(" --group {}", quoted(group))).collect();
    format!(
        "sogar solve {}{model} --config sogar.toml -o front.json\nsogar report front.json{groups} -o report.html\n",
        table
    )
}

/// The flags that name a model. Commands are not among them: the page asks for files.
fn model_flags(source: &Source, name: &dyn Fn(&Path) -> String) -> String {
    match source {
        Source::File(path) => format!(" --model {}", name(path)),
        Source::Several(first, also) => {
            let also: Vec<String> = also.iter().map(|path| name(path)).collect();
            format!("{} --also {}", model_flags(first, name), also.join(" "))
        }
        Source::Measured(first, _) => model_flags(first, name),
        Source::Command(_) => String::new(),
    }
}

/// The report of a run; `what_if` adds the buttons of the studio to it.
pub fn report(
    run: &Run,
    groups: &[String],
    include_rows: bool,
    what_if: bool,
    cancel: &CancelToken,
) -> Result<String> {
    let inputs = &run.inputs;
    let groups: Vec<Grouping> = groups.iter().map(|group| group.parse()).collect::<Result<_>>()?;
    let prepared =
        Prepared::new(run.config.clone(), &inputs.folder, &inputs.table, inputs.model.clone(), None)?;
    let request = ReportRequest {
        groups,
        include_rows,
        reach: !is_scored(&*prepared.model().predictor),
        seed: run.front.config.seed,
        ..ReportRequest::default()
    };
    let opened = Opened { prepared: &prepared, reference: &inputs.table, holdout: None };
    let data = gather(&run.front, Some(opened), &request, &(), cancel)?;
    if what_if { page_with(&data, &[WHAT_IF]) } else { page(&data) }
}

/// What one run costs compared with another: the price of the settings that differ.
pub fn compare(old: &Run, new: &Run) -> Value {
    let found = diff(&old.front, &new.front);
    let (a, b) = (&old.front, &new.front);
    let same_costs = a.cost == b.cost && weights(&old.config) == weights(&new.config);
    let same_steps = |front: &FrontFile| {
        let config = &front.config;
        (config.limits.steps, config.limits.max_edits, config.bins.clone(), config.numbers)
    };
    let mut notes = found.notes.clone();
    if !same_costs {
        notes.push("The costs are measured differently, so equal costs do not mean the same.".to_owned());
    }
    if same_steps(a) != same_steps(b) {
        notes.push("The steps of numbers or the edits per action differ too, so not all of the difference is the price of one setting.".to_owned());
    }
    json!({
        "price": price(a, b),
        "front": found.front,
        "settings": found.settings,
        "features": found.features.iter().filter(|used| used.a != used.b).take(8).collect::<Vec<_>>(),
        "notes": notes,
        "same_costs": same_costs,
    })
}

fn weights(config: &Config) -> Vec<(&String, f64)> {
    let weighted = config.features.iter().filter_map(|(name, feature)| Some((name, feature.weight?)));
    weighted.filter(|(_, weight)| *weight != 1.0).collect()
}

/// The loss of the most expensive point within a cost.
fn loss_at(front: &FrontFile, cost: f64) -> f64 {
    let within = front.points.partition_point(|point| point.cost <= cost);
    within.checked_sub(1).map_or(1.0, |last| front.points[last].loss)
}

/// The price at the cost of the old summary with the lowest invalidity, and where the old one reaches most.
fn price(old: &FrontFile, new: &FrontFile) -> Value {
    let at = select(old, By::Invalidity).ok().map(|best| old.points[best].cost);
    let at = at.map(|cost| {
        let (before, after) = (1.0 - loss_at(old, cost), 1.0 - loss_at(new, cost));
        json!({ "cost": cost, "before": before, "after": after })
    });
    let most = |front: &FrontFile| front.points.last().map_or(0.0, |point| 1.0 - point.loss);
    json!({ "at": at, "most_before": most(old), "most_after": most(new) })
}
