//! `sogar diff`: compares two fronts.

use std::path::{Path, PathBuf};

use clap::Args;
use sogar::audit::{Audit, AuditRequest, Grouping, MIN_GROUP, MeasureName, audit};
use sogar::describe::{group_title, grouped, grouping_title};
use sogar::diff::{Diff, Side, diff};
use sogar::evaluate::reopen_with;
use sogar::markup::visible;
use sogar::summary::{FrontFile, Status};
use sogar::{Error, ErrorKind, Result};

use crate::args::{ModelFlags, file_of, text as any_text};
use crate::interrupt;
use crate::output::{Exit, Output, Text, heading};
use crate::progress::Bars;

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The first result file
    pub a: PathBuf,
    /// The second result file
    pub b: PathBuf,
    /// Also compare the gaps between groups, as in `sogar audit`; may be repeated. Needs tables and models
    #[arg(long, short, value_name = "GROUPS", allow_hyphen_values = true, value_parser = any_text)]
    group: Vec<String>,
    /// The table of both fronts [default: where each was made from]
    #[arg(long, short, value_name = "TABLE")]
    table: Option<PathBuf>,
    /// The first front's model [default: its recorded path]
    #[arg(long, value_name = "FILE")]
    model_a: Option<PathBuf>,
    /// The second front's model [default: its recorded path]
    #[arg(long, value_name = "FILE")]
    model_b: Option<PathBuf>,
}

pub fn run(args: &DiffArgs, output: &Output) -> Result<Exit> {
    let groups: Vec<Grouping> = args.group.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let (a, b) = (FrontFile::read(&args.a)?, FrontFile::read(&args.b)?);
    let mut found = diff(&a, &b);
    if !groups.is_empty() {
        let audits = [(&a, &args.model_a, "--model-a"), (&b, &args.model_b, "--model-b")]
            .map(|(front, model, flag)| audited(front, args, model.as_deref(), flag, &groups, output));
        let [one, other] = audits;
        found = found.with_audits(&one?, &other?);
    }
    if output.json {
        let value =
            serde_json::to_value(&found).map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
        output.print_json(&value)?;
    } else {
        output.print(text(&found, &a))?;
    }
    Ok(Exit::Complete)
}

fn audited(
    front: &FrontFile,
    args: &DiffArgs,
    model: Option<&Path>,
    flag: &str,
    groups: &[Grouping],
    output: &Output,
) -> Result<Audit> {
    let path = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    if model.is_none() && front.config.model.command.is_none() {
        file_of(None, &front.run.model_path, flag)?;
    }
    let flags = ModelFlags { model: model.map(Path::to_path_buf), ..ModelFlags::default() };
    let (prepared, table) = reopen_with(front, &path, &flags.source_of(front)?)?;
    let request = AuditRequest {
        groups: groups.to_vec(),
        seed: front.config.seed,
        min_group: MIN_GROUP,
        ..AuditRequest::default()
    };
    let bars = Bars::new(output);
    let result = audit(front, &prepared, &table, None, &request, &bars, &interrupt::token());
    bars.clear();
    result
}

fn text(diff: &Diff, front: &FrontFile) -> Text {
    let mut text = sides(diff);
    if let Some(people) = diff.people {
        text += section("Who is turned down");
        text += &format!(
            "  by both {}, by the first alone {}, by the second alone {}, by neither {}\n",
            grouped(people.both),
            grouped(people.only_a),
            grouped(people.only_b),
            grouped(people.neither)
        );
    }
    if let Some(front) = &diff.front {
        text += section("The trade-off: people without recourse at the same mean cost");
        text += "  mean cost    first   second   percentage points\n";
        for at in &front.at {
            let (a, b) = (100.0 * at.a, 100.0 * at.b);
            text += &format!("  {:>9.2}  {a:>5.1} %  {b:>5.1} %   {:>+17.1}\n", at.cost, b - a);
        }
        text += &format!(
            "  The first has the lower loss at {:.1} % of the costs, the second at {:.1} %; on average the second's differs by {:+.1} percentage points.\n",
            100.0 * front.a_lower,
            100.0 * front.b_lower,
            100.0 * front.mean_difference
        );
    }
    if let Some(price) = &diff.price_of_equal_treatment {
        text += section("The price of equal treatment");
        text += &format!("  {}\n", visible(&price.text()));
    }
    text += section("What the advice changes (share of people, averaged over the front)");
    text += "    first   second   percentage points\n";
    for used in diff.features.iter().take(10) {
        text += &format!(
            "  {:>5.1} %  {:>5.1} %   {:>+17.1}   {}\n",
            100.0 * used.a,
            100.0 * used.b,
            100.0 * (used.b - used.a),
            visible(&grouping_title(front, &used.feature))
        );
    }
    let more = diff.features.len().saturating_sub(10);
    if more > 0 {
        text += &format!("  … and {more} more\n");
    }
    let actions = &diff.actions;
    text += &format!(
        "  Of the actions in use, {} are in both fronts, {} in the first alone, {} in the second alone.\n",
        grouped(actions.both),
        grouped(actions.only_a),
        grouped(actions.only_b)
    );
    text += groups(diff, front);
    if !diff.settings.is_empty() {
        text += section("Settings that differ");
        for setting in diff.settings.iter().take(20) {
            text += &format!("  {}: {} → {}\n", visible(&setting.key), short(&setting.a), short(&setting.b));
        }
        let more = diff.settings.len().saturating_sub(20);
        if more > 0 {
            text += &format!("  … and {more} more\n");
        }
    }
    if !diff.notes.is_empty() {
        text += section("Notes");
        text += diff.notes.iter().map(|note| format!("  {}\n", visible(note))).collect::<String>();
    }
    text
}

fn section(title: &str) -> Text {
    Text::from("\n") + heading(title)
}

fn sides(diff: &Diff) -> Text {
    let mut text = heading(&format!(
        "  {:<6}{:>14}   {:>9}   {:>17}   {:<13}   model",
        "", "affected", "summaries", "lowest invalidity", "cost + loss"
    ));
    for (name, side) in [("first", &diff.a), ("second", &diff.b)] {
        let Side { affected, rows, points, invalidity, cost, loss, status, model, .. } = side;
        let stopped = match status {
            Status::Complete => "",
            Status::CompleteOnSample => ", found on a sample",
            Status::CompleteWithinEpsilon => ", complete within epsilon",
            _ => ", stopped early",
        };
        let people = format!("{} of {}", grouped(affected), grouped(rows));
        text += &format!(
            "  {name:<6}{people:>14}   {:>9}   {invalidity:>17.3}   {cost:.3} + {loss:.3}   {}{stopped}\n",
            grouped(points),
            visible(model)
        );
    }
    let same = |same: bool| if same { "the same" } else { "different" };
    text += &format!("  Tables: {}. Models: {}.\n", same(diff.same_table), same(diff.same_model));
    text
}

fn groups(diff: &Diff, front: &FrontFile) -> Text {
    if diff.groups.is_empty() {
        return Text::default();
    }
    let mut text =
        section("Mean gaps over the front (group minus everyone else; above 0 is worse for the group)");
    text += "                 first                       second\n";
    for group in &diff.groups {
        text += &format!(
            "  {} = {} ({} and {} affected)\n",
            visible(&grouping_title(front, &group.grouping)),
            visible(&group_title(front, &group.group)),
            grouped(group.affected_a),
            grouped(group.affected_b)
        );
        let Some(gaps) = &group.gaps else {
            text += "    too small for a statement\n";
            continue;
        };
        for measure in MeasureName::ALL {
            let gap = gaps.get(measure);
            text += &format!(
                "    {:<10} {:>+7.3} [{:+.3}, {:+.3}]   {:>+7.3} [{:+.3}, {:+.3}]\n",
                measure.name(),
                gap.a,
                gap.interval_a[0],
                gap.interval_a[1],
                gap.b,
                gap.interval_b[0],
                gap.interval_b[1]
            );
        }
    }
    text
}

/// A setting's value, shortened.
fn short(value: &serde_json::Value) -> String {
    const MOST: usize = 60;
    let text = if value.is_null() { "not set".to_owned() } else { visible(&value.to_string()) };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
