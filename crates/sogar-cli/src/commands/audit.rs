//! `sogar audit`: is recourse dearer, or rarer, for some groups?

mod text;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;
use sogar::audit::{Audit, AuditRequest, Condition, DRAWS, Grouping, MIN_GROUP, Verdict, audit};
use sogar::evaluate::{HeldOut, reopen_with};
use sogar::files::write_atomically;
use sogar::outcomes::is_scored;
use sogar::summary::FrontFile;
use sogar::table::hash_of;
use sogar::{Error, ErrorKind, Result};

use crate::args::{ModelFlags, file_of, text as any_text};
use crate::files::Outputs;
use crate::interrupt;
use crate::output::{Exit, Output};
use crate::progress::Bars;
use crate::tables;

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// The result file
    pub front: PathBuf,
    /// Group people by this column: sex, "sex×race" (or "sex*race"), "age<=25"; may be repeated
    #[arg(long, short, value_name = "GROUPS", allow_hyphen_values = true, value_parser = any_text, required_unless_present = "fail_on")]
    pub group: Vec<String>,
    /// The column with the true labels [default: the configuration's]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = any_text)]
    pub label: Option<String>,
    /// Exit with code 1 if this holds, e.g. "gap(invalidity, sex) > 0.05"; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub fail_on: Vec<String>,
    /// Also write the groups' figures at every point as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// The table that the front was made from [default: where it was then]
    #[arg(long, short, value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// A held-out table, which is audited too [default: the one that the front was evaluated on]
    #[arg(long, value_name = "TABLE")]
    pub holdout: Option<PathBuf>,
    /// Affected people below which nothing is said about a group
    #[arg(long, value_name = "N", default_value_t = MIN_GROUP)]
    pub min_group: usize,
    /// Bootstrap draws for the intervals of means over the front
    #[arg(long, value_name = "N", default_value_t = DRAWS)]
    pub draws: usize,
    /// Where the draws start [default: the configuration's seed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Whether to look for people whom no action reaches
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub unreachable: Unreachable,
    /// The model, if it is not where it was when the front was made
    #[command(flatten)]
    pub model: ModelFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unreachable {
    /// Unless the model would have to be asked about every edited row
    Auto,
    /// In any case
    Yes,
    /// Never
    No,
}

pub fn run(args: &AuditArgs, output: &Output) -> Result<Exit> {
    let conditions: Vec<Condition> = args.fail_on.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let groups = groups(&args.group, &conditions)?;
    let front = FrontFile::read(&args.front)?;
    let path = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let model = args.model.source_of(&front)?;
    let holdout = holdout_path(&front, args.holdout.as_deref(), output)?;
    let files = [&args.front, &path].into_iter().chain(model.file()).chain(&holdout);
    Outputs::new(&args.csv).inputs(files).checked()?;
    let (prepared, reference) = reopen_with(&front, &path, &model)?;
    let held_out = match holdout {
        Some(path) => {
            let table = tables::read(&path, &prepared.config.read_options()?)?;
            let held_out = HeldOut::new(&prepared, &table)?;
            held_out.notices.iter().for_each(|notice| output.notice(notice));
            Some((held_out, table))
        }
        None => None,
    };
    if let Some(condition) = conditions.iter().find(|condition| condition.holdout && held_out.is_none()) {
        let message = format!("`{}` needs held-out people", condition.text());
        return Err(Error::new(ErrorKind::Usage, message).help("give their table with --holdout TABLE"));
    }
    let asked = conditions.iter().any(Condition::needs_unreachable);
    let request = AuditRequest {
        groups,
        label: args.label.clone(),
        draws: args.draws,
        seed: args.seed.unwrap_or(prepared.config.seed),
        min_group: args.min_group,
        unreachable: match args.unreachable {
            Unreachable::Auto => asked || !is_scored(&*prepared.model.predictor),
            Unreachable::Yes => true,
            Unreachable::No => asked,
        },
    };
    let bars = Bars::new(output);
    let holdout = held_out.as_ref().map(|(held_out, table)| (held_out, table));
    let result = audit(&front, &prepared, &reference, holdout, &request, &bars, &interrupt::token());
    bars.clear();
    let audited = result?;
    let verdicts: Vec<Verdict> =
        conditions.iter().map(|condition| condition.judge(&audited)).collect::<Result<_>>()?;
    interrupt::finish();
    if let Some(csv) = &args.csv {
        write_atomically(csv, |out| out.write_all(audited.csv().as_bytes()))?;
    }
    print(&audited, &verdicts, output)?;
    Ok(if verdicts.iter().any(|verdict| verdict.holds) { Exit::Failed } else { Exit::Complete })
}

/// The groups that are asked for, and those of the conditions.
fn groups(named: &[String], conditions: &[Condition]) -> Result<Vec<Grouping>> {
    let mut groups: Vec<Grouping> = named.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    for condition in conditions {
        if !groups.iter().any(|known| known.is(condition.grouping.text())) {
            groups.push(condition.grouping.clone());
        }
    }
    Ok(groups)
}

/// The held-out table: the one that is given, else the one that the front was evaluated on, if it is still there.
pub fn holdout_path(front: &FrontFile, given: Option<&Path>, output: &Output) -> Result<Option<PathBuf>> {
    if let Some(path) = given {
        return Ok(Some(path.to_path_buf()));
    }
    let (Some(evaluated), Some(path)) = (&front.holdout, &front.run.holdout_path) else { return Ok(None) };
    if file_of(None, path, "--holdout")
        .and_then(|path| hash_of(&path))
        .is_ok_and(|hash| hash == evaluated.hash)
    {
        return Ok(Some(path.into()));
    }
    output.warning(format!(
        "the held-out table {path} is not there any more, or has changed: held-out people are left out (--holdout TABLE)"
    ));
    Ok(None)
}

fn print(audited: &Audit, verdicts: &[Verdict], output: &Output) -> Result<()> {
    if !output.json {
        return output.print(text::of(audited, verdicts));
    }
    let mut value =
        serde_json::to_value(audited).map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
    value["fail_on"] = json!(verdicts);
    output.print_json(&value)
}
