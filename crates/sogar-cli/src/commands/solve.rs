//! `sogar solve`: from a table and a model to the front.

use std::path::Path;

use serde_json::json;
use sogar::audit::{protected, searched_groups};
use sogar::checkpoint::{CheckpointSettings, DEFAULT_LIMIT};
use sogar::config::parse_bytes;
use sogar::describe::{group_title, grouped, grouping_title, hoped_for, outcome_text, rules_text};
use sogar::evaluate::{HeldOut, evaluate};
use sogar::fairness::{FairnessRef, SearchedGroups};
use sogar::intervals::{PointIntervals, mean_text, share_text};
use sogar::markup::visible;
use sogar::pipeline::{Prepared, Search, Voice};
use sogar::select::{By, select};
use sogar::summary::{FrontFile, Status};
use sogar::{Error, ErrorKind, Result};

use crate::args::{InputArgs, SolveArgs};
use crate::files::{Outputs, require_folder};
use crate::output::{Exit, Output, Text, heading, seconds};
use crate::progress::{Bars, flag};
use crate::{interrupt, tables};

pub fn run(args: &SolveArgs, output: &Output) -> Result<Exit> {
    let inputs = args.input.files();
    let mut outputs = Outputs::new(std::iter::once(&args.output).chain(&args.csv))
        .folders(args.checkpoint.iter().chain(&args.input.outcomes_cache))
        .inputs(inputs.iter().chain(&args.holdout))
        .checked()?;
    let checkpoint = checkpoint(args)?;
    let (mut prepared, groups) = prepare_with_groups(&args.input, output)?;
    prepared.set_checkpoint(checkpoint);
    let held_out = args.holdout.as_deref().map(|path| held_out(&prepared, path)).transpose()?;
    let front = solve_with(&prepared, groups.as_ref(), held_out.as_ref(), output)?;
    interrupt::finish();
    outputs.wrote(&args.output, front.write(&args.output))?;
    if let Some(csv) = &args.csv {
        outputs.write(csv, |out| out.write_all(front.points_csv().as_bytes()))?;
    }
    if output.json {
        output.print_json(&as_json(&front, &args.output))?;
    } else {
        output.print(report(&front, &args.output, "sogar"))?;
    }
    Ok(exit_of(&front))
}

/// Where the run stores finished work.
fn checkpoint(args: &SolveArgs) -> Result<Option<CheckpointSettings>> {
    let limit = args.checkpoint_limit.as_deref().map_or(Ok(DEFAULT_LIMIT), parse_bytes)?;
    Ok(args.checkpoint.clone().map(|folder| CheckpointSettings { folder, limit }))
}

/// Reads the inputs and prints notices about them. Keeps only the affected rows of the table.
pub fn prepare(input: &InputArgs, output: &Output) -> Result<Prepared> {
    let (config, folder, source) = input.config.resolve(&input.model)?;
    let table = tables::open(&input.table, &config.read_options()?)?;
    if let Some(folder) = &input.outcomes_cache {
        require_folder(folder)?;
    }
    let model = source.open(&*table, &config)?;
    let predictions = input.check_predictions.as_deref();
    let bars = Bars::waiting(output, "reading the table and scoring its rows");
    let prepared = Prepared::streamed(config, &folder, &*table, model, predictions);
    bars.clear();
    said(prepared?, input, output)
}

/// The same for a search that tells groups apart, which needs all rows in memory.
fn prepare_with_groups(input: &InputArgs, output: &Output) -> Result<(Prepared, Option<SearchedGroups>)> {
    let (config, _, _) = input.config.resolve(&input.model)?;
    if config.fairness.is_empty() {
        return Ok((prepare(input, output)?, None));
    }
    let prepared = prepare_everybody(input, output)?;
    let groups = searched_groups(&prepared, &tables::read(&input.table, &config.read_options()?)?)?;
    Ok((prepared, groups))
}

/// The same with all rows in memory, for commands that need more than the affected ones.
pub fn prepare_everybody(input: &InputArgs, output: &Output) -> Result<Prepared> {
    let (config, folder, source) = input.config.resolve(&input.model)?;
    let table = tables::read(&input.table, &config.read_options()?)?;
    if let Some(folder) = &input.outcomes_cache {
        require_folder(folder)?;
    }
    let model = source.open(&table, &config)?;
    let predictions = input.check_predictions.as_deref();
    let bars = Bars::waiting(output, "reading the table and scoring its rows");
    let prepared = Prepared::new(config, &folder, &table, model, predictions);
    bars.clear();
    said(prepared?, input, output)
}

/// Prints notices about the inputs.
fn said(mut prepared: Prepared, input: &InputArgs, output: &Output) -> Result<Prepared> {
    prepared.set_outcomes_cache(input.outcomes_cache.clone());
    prepared.set_verify_cache(input.verify_cache);
    for notice in prepared.notices() {
        output.notice(notice);
    }
    let configured = input.config.reading.config.is_some() || input.config.reading.preset.is_some();
    for warning in prepared.warnings(Voice::CommandLine, configured) {
        output.warning(warning);
    }
    if output.verbose {
        let info = prepared.model().predictor.info();
        output.notice(format!("model: {}, {}", info.format, info.description));
    }
    if !output.quiet {
        output.notice(sizes(&prepared));
        if let Some(text) = prepared.long_run(flag) {
            output.notice(text);
        }
    }
    Ok(prepared)
}

/// Reads the held-out table.
pub fn held_out(prepared: &Prepared, path: &Path) -> Result<HeldOut> {
    HeldOut::new(prepared, &tables::read(path, &prepared.config().read_options()?)?)
}

/// Solves a prepared problem with progress on stderr; Ctrl-C returns what was found so far.
pub fn solve(prepared: &Prepared, held_out: Option<&HeldOut>, output: &Output) -> Result<FrontFile> {
    solve_with(prepared, None, held_out, output)
}

fn solve_with(
    prepared: &Prepared,
    groups: Option<&SearchedGroups>,
    held_out: Option<&HeldOut>,
    output: &Output,
) -> Result<FrontFile> {
    for notice in held_out.map_or(&[][..], |held_out| &held_out.notices) {
        output.notice(notice);
    }
    let bars = Bars::new(output);
    let result = match groups {
        Some(groups) => Search(prepared).solve_by_group(groups, &bars, &interrupt::token()),
        None => Search(prepared).solve(&bars, &interrupt::token()),
    };
    bars.clear();
    let mut front = result?;
    if let Some(held_out) = held_out {
        front.holdout = Some(evaluate(&front, prepared, held_out)?);
        front.run.holdout_path = Some(held_out.path.display().to_string());
    }
    if front.status.is_early() {
        let gap = match front.certified_gap() {
            Some(gap) => format!("; certified gap {:.1} % (0 % would prove it complete)", 100.0 * gap),
            None => String::new(),
        };
        output.warning(format!("stopped early ({}): the front may lack points{gap}", front.status.name()));
    }
    Ok(front)
}

/// Fails if a sample is requested of a command that covers all people.
pub fn refuse_sample(prepared: &Prepared, command: &str) -> Result<()> {
    match prepared.sample() {
        None => Ok(()),
        Some(rows) => {
            let message = format!("`{command}` needs all affected people, but `sample` is {rows}");
            Err(Error::new(ErrorKind::Usage, message).help("leave out --sample, or `sample` under [limits]"))
        }
    }
}

/// Fails if rows have weights, for a command that counts every row as one person.
pub fn refuse_weights(prepared: &Prepared, command: &str) -> Result<()> {
    let Some(weights) = &prepared.table().weights else { return Ok(()) };
    let message =
        format!("`{command}` takes every row for one person, but `{}` gives weights", weights.column);
    Err(Error::new(ErrorKind::Usage, message).help(
        "repeat rows instead, or leave out --weight (`weight` under [data]) and ignore the column with --ignore",
    ))
}

/// Fails if numbers have special codes, for a command whose methods treat every number as an amount.
pub fn refuse_codes(prepared: &Prepared, command: &str) -> Result<()> {
    let Some(feature) = prepared.table().features.iter().find(|feature| !feature.codes.is_empty()) else {
        return Ok(());
    };
    let message =
        format!("`{command}` takes every number for an amount, but `{}` has special codes", feature.name);
    Err(Error::new(ErrorKind::Usage, message)
        .help("leave out `codes` (then methods may move people into them), or the rows that have one"))
}

/// The exit code of a front.
pub fn exit_of(front: &FrontFile) -> Exit {
    if front.status.is_early() { Exit::Stopped } else { Exit::Complete }
}

fn sizes(prepared: &Prepared) -> String {
    let table = prepared.table();
    let weights = match &table.weights {
        None => String::new(),
        Some(weights) => {
            let people = |units: u64| grouped(units as f64 / table.weight_unit() as f64);
            let (all, affected) = (people(prepared.reference().people), people(prepared.affected_people()));
            format!(" ({affected} of {all} people by `{}`)", weights.column)
        }
    };
    format!(
        "{} rows: {} have {}, which people hope for, {} are affected{weights}; {} splits, {} edits, {} actions",
        grouped(prepared.reference().rows),
        grouped(prepared.reference().rows - prepared.affected().len()),
        hoped_for(&prepared.classes().desired_names(), &prepared.config().model.outcomes),
        grouped(prepared.affected().len()),
        grouped(prepared.splits().len()),
        grouped(prepared.edits().len()),
        grouped(prepared.action_count()),
    )
}

fn as_json(front: &FrontFile, path: &Path) -> serde_json::Value {
    let mut said = json!({
        "status": front.status,
        "front": path,
        "rows": front.population.rows,
        "affected": front.population.affected,
        "desired": front.population.desired,
        "splits": front.counts.splits,
        "edits": front.counts.edits,
        "actions": front.counts.actions,
        "leaf_sets": front.run.leaf_sets,
        "points": front.points.len(),
        "seconds_outcomes": front.run.seconds_outcomes,
        "seconds_search": front.run.seconds_search,
        "certified_gap": front.certified_gap(),
        "sample": front.sample.as_ref().map(|sample| json!({
            "rows": sample.rows,
            "found": sample.found,
            "too_small": sample.too_small,
            "dominated": sample.dominated,
            "mean_distance": sample.mean_distance,
        })),
    });
    if let Some(fairness) = &front.fairness {
        said["fairness"] = json!({
            "grouping": fairness.grouping,
            "groups": fairness.groups,
            "epsilon": fairness.epsilon,
            "vectors": fairness.front.len(),
            "least_limit": fairness.least_limit,
        });
    }
    if let Some(weight) = &front.weight {
        said["weight"] = json!(weight);
    }
    said
}

/// The result as text: sizes, the trade-off, the summary with the lowest invalidity, and next steps.
pub fn report(front: &FrontFile, path: &Path, program: &str) -> Text {
    let people = front.people();
    let mut text = Text::from(outcome_text(front) + "\n");
    let what = match front.status {
        Status::Complete | Status::CompleteWithinEpsilon if front.fairness.is_some() => "the requested front",
        Status::Complete | Status::CompleteWithinEpsilon => "every summary that no other one dominates",
        Status::CompleteOnSample => "the best of those found on a sample",
        _ => "what was found before the search was stopped",
    };
    text += &format!(
        "{}: {what}, as trees of depth {} at most with groups of {} people or more.\n\
         {} splits, {} edits, {} actions, {} leaf sets; outcomes {}, search {}.\n\n",
        summaries(front.points.len()),
        front.limits.max_depth,
        front.limits.min_leaf,
        grouped(front.counts.splits),
        grouped(front.counts.edits),
        grouped(front.counts.actions),
        grouped(front.run.leaf_sets),
        seconds(front.run.seconds_outcomes),
        seconds(front.run.seconds_search),
    );
    if let Some(sample) = &front.sample {
        text += &format!(
            "Searched on a sample of {} people (groups of {} or more): {} summaries. On all people {} have too small a group and \
             {} are dominated; the others stand with their values there, {:.4} ± {:.4} away from those on the sample.\n\n",
            grouped(sample.rows),
            grouped(people.count(u64::from(sample.min_leaf))),
            grouped(sample.found),
            grouped(sample.too_small),
            grouped(sample.dominated),
            sample.mean_distance,
            sample.sd_distance,
        );
    }
    if let Some(fairness) = &front.fairness {
        text += fairness_text(front, fairness);
    }
    text += heading("The trade-off");
    text += trade_off(front);
    if let Ok(chosen) = select(front, By::Invalidity) {
        let point = &front.points[chosen];
        text += "\n";
        text += heading("The summary with the lowest invalidity");
        text += &format!(
            "It works for {:.1} % of the people at a mean cost of {:.3}.\n",
            100.0 * (1.0 - point.loss),
            point.cost
        );
        text += rules_text(front, &point.tree);
    }
    text += &format!("\nWritten to {}. Next:\n", path.display());
    let front_file = path.display();
    let next = [
        (format!("{program} show {front_file}"), "this summary as a tree"),
        (format!("{program} select {front_file} --by \"cost<=0.1\""), "another trade-off"),
        (format!("{program} evaluate {front_file} --holdout TABLE"), "the front on held-out rows"),
        (
            format!("{program} report {front_file}{}", compared(front)),
            "an interactive report, groups compared",
        ),
    ];
    let width = next.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    for (command, purpose) in next {
        text += &format!("  {command:width$}   {purpose}\n");
    }
    text
}

/// The flag that compares groups: not needed for protected features.
fn compared(front: &FrontFile) -> String {
    match &front.fairness {
        Some(fairness) => format!(" --group {:?}", fairness.grouping),
        None if protected(&front.config, &front.features).is_empty() => " --group COLUMN".to_owned(),
        None => String::new(),
    }
}

/// `1 summary`, `42 summaries`.
fn summaries(count: usize) -> String {
    format!("{} {}", grouped(count), if count == 1 { "summary" } else { "summaries" })
}

/// What the search found out about groups.
fn fairness_text(front: &FrontFile, fairness: &FairnessRef) -> String {
    let people = front.people();
    let groups: Vec<String> = fairness
        .groups
        .iter()
        .map(|group| {
            format!(
                "{} {}",
                visible(&group_title(front, &group.group)),
                grouped(people.count(group.affected))
            )
        })
        .collect();
    let found = match (fairness.epsilon > 0.0, front.status.is_early()) {
        (_, true) => {
            "summaries were found that do not beat each other in cost and in the loss of every group"
                .to_owned()
        }
        (false, false) => "summaries are not beaten in cost and in the loss of every group".to_owned(),
        (true, false) => format!(
            "summaries stand for all: no other one is better than its stand-in by more than {} in mean cost, or in the loss of a group",
            fairness.epsilon
        ),
    };
    let mut text = format!(
        "Groups by {}: {}. {} {found}.\n",
        visible(&grouping_title(front, &fairness.grouping)),
        groups.join(", "),
        grouped(fairness.front.len()),
    );
    text += &match (&front.config.fairness.max_gap, fairness.least_limit_text()) {
        (Some(limit), Some(least)) => {
            format!("Only doing nothing meets the limit `{}`; {least}.\n\n", visible(limit))
        }
        (Some(limit), None) => {
            format!("Below: the trade-off of cost and loss within the limit `{}`.\n\n", visible(limit))
        }
        (None, _) => {
            "Below: the trade-off of cost and the loss of the group that is worst off.\n\n".to_owned()
        }
    };
    text
}

/// Some points along the front, with bars.
fn trade_off(front: &FrontFile) -> String {
    let best = select(front, By::Invalidity).unwrap_or(0);
    let held_out = front.holdout.as_ref();
    let mut text = String::from("  point   mean cost   works for                        groups");
    text += if front.fairness.is_some() { "      gap   worst group" } else { "" };
    text += if held_out.is_some() { "   held-out cost (95 %)   works for (95 %)\n" } else { "\n" };
    for i in some_points(front, best) {
        let point = &front.points[i];
        let share = 1.0 - point.loss;
        let bar = "█".repeat((share * 20.0).round() as usize);
        text += &format!(
            "  {i:>5}   {:>9.3}   {:>6.1} % {bar:<20}  {:>6}",
            point.cost,
            100.0 * share,
            point.leaves
        );
        if let Some(fairness) = &front.fairness {
            let worst = fairness.losses_at(i).into_iter().fold(0.0, f64::max);
            text += &format!("   {:>6.3}   {:>9.1} %", fairness.gap_at(i), 100.0 * (1.0 - worst));
        }
        if let Some(held_out) = held_out {
            let (there, PointIntervals { works, cost, .. }) = (&held_out.points[i], held_out.interval(i));
            let cost = mean_text(there.cost, cost);
            text += &format!("   {cost:>20}   {:>16}", share_text(1.0 - there.loss, works));
        }
        text += if i == best { "   ← lowest invalidity\n" } else { "\n" };
    }
    text
}

/// At most nine points spread over the front, and `best`.
pub fn some_points(front: &FrontFile, best: usize) -> Vec<usize> {
    let last = front.points.len() - 1;
    let shown = 9.min(front.points.len());
    let mut points: Vec<usize> = (0..shown).map(|i| i * last / (shown.max(2) - 1)).chain([best]).collect();
    points.sort_unstable();
    points.dedup();
    points
}
