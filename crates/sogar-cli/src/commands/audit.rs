//! `sogar audit`: is recourse costlier or rarer for some groups?

mod further;
mod scan;
mod text;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;
use sogar::audit::scan::{MAX_TERMS, PERMUTATIONS};
use sogar::audit::{
    Audit, AuditRequest, BiasAuditRequest, Condition, DRAWS, MIN_GROUP, RateKind, ScanRequest, Verdict,
    audit, bias_audit, protected,
};
use sogar::evaluate::{HeldOut, reopen_with};
use sogar::feature::FeatureTable;
use sogar::files::write_atomically;
use sogar::outcomes::is_scored;
use sogar::pipeline::Prepared;
use sogar::summary::FrontFile;
use sogar::table::{Table, hash_of};
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
    /// Group people by this column, as is always done for protected features: sex, "sex×race" (or "sex*race"), "age<=25"; may be repeated
    #[arg(long, short, value_name = "GROUPS", allow_hyphen_values = true, value_parser = any_text)]
    pub group: Vec<String>,
    /// A further measure: "reached(0.2)", "cost_to_reach(0.5)", "choices(0.5)" or ks; may be repeated
    #[arg(long, value_name = "MEASURE")]
    pub measure: Vec<String>,
    /// The column with the true labels [default: the configuration's]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = any_text)]
    pub label: Option<String>,
    /// Exit with code 1 if this holds, e.g. "gap(invalidity, sex) > 0.05" or "gap(loss, sex).low > 0"; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub fail_on: Vec<String>,
    /// Also write the groups' figures at every point as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// The table that the front was made from [default: its recorded path]
    #[arg(long, short, value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// A held-out table, which is audited too [default: the one that the front was evaluated on]
    #[arg(long, value_name = "TABLE")]
    pub holdout: Option<PathBuf>,
    /// Do not judge groups with fewer affected people
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
    #[command(flatten)]
    pub scan: ScanArgs,
    #[command(flatten)]
    pub form: FormArgs,
    /// The model, if it has moved since the front was made
    #[command(flatten)]
    pub model: ModelFlags,
}

/// A scan for subgroups that nobody named.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scan for subgroups")]
pub struct ScanArgs {
    /// Find the worst-off subgroups of these features, e.g. age,sex,job; may be repeated
    #[arg(long, value_name = "FEATURES", allow_hyphen_values = true, value_parser = any_text)]
    pub scan: Vec<String>,
    /// The most conditions of a subgroup
    #[arg(long, value_name = "N", default_value_t = MAX_TERMS)]
    pub max_terms: usize,
    /// What is compared: invalidity, loss, cost, cost_of_success or "reached(0.2)"
    #[arg(long, value_name = "MEASURE", default_value = "invalidity")]
    pub scan_measure: String,
    /// The point to scan, by its number in the front [default: the one with the lowest invalidity]
    #[arg(long, value_name = "N")]
    pub scan_point: Option<usize>,
    /// Shuffles for the p-value, each of which is scanned in full
    #[arg(long, value_name = "N", default_value_t = PERMUTATIONS)]
    pub permutations: usize,
}

impl ScanArgs {
    /// The scan, if one was requested. A name with commas that is a column is one name.
    pub fn request(&self, reference: &Table) -> Result<Option<ScanRequest>> {
        if self.scan.is_empty() {
            return Ok(None);
        }
        let names = self.scan.iter().flat_map(|text| match reference.column(text) {
            Some(_) => vec![text.clone()],
            None => {
                text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
            }
        });
        Ok(Some(ScanRequest {
            features: names.collect(),
            max_terms: self.max_terms,
            measure: self.scan_measure.parse()?,
            point: self.scan_point,
            permutations: self.permutations,
        }))
    }
}

/// The form of the result.
#[derive(Debug, Args)]
#[command(next_help_heading = "Form")]
pub struct FormArgs {
    /// What to print; a bias audit is about the model alone, on the table or on --holdout
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// For a bias audit: what rates count
    #[arg(long, value_enum, value_name = "RATE", default_value = "selection")]
    pub rate: Rate,
    /// For a bias audit: where the data come from
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = any_text)]
    pub source: Option<String>,
    /// For a bias audit: since when the tool has been in use
    #[arg(long, value_name = "DATE", value_parser = any_text)]
    pub in_use_since: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables of rates, gaps and people out of reach
    Text,
    /// Selection rates and impact ratios by category, as New York City's Local Law 144 describes them (Markdown)
    BiasAudit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rate {
    /// People with a desired outcome
    Selection,
    /// People with a score above the median
    Scoring,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unreachable {
    /// Unless the model would have to score every edited row
    Auto,
    /// In any case
    Yes,
    /// Never
    No,
}

pub fn run(args: &AuditArgs, output: &Output) -> Result<Exit> {
    let conditions: Vec<Condition> = args.fail_on.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let mut request = AuditRequest {
        groups: args.group.iter().map(|text| text.parse()).collect::<Result<_>>()?,
        measures: args.measure.iter().map(|text| text.parse()).collect::<Result<_>>()?,
        label: args.label.clone(),
        draws: args.draws,
        min_group: args.min_group,
        ..AuditRequest::default()
    };
    conditions.iter().for_each(|condition| request.include(condition));
    let front = FrontFile::read(&args.front)?;
    let nothing = request.groups.is_empty() && args.scan.scan.is_empty();
    if nothing && protected(&front.config, &front.features).is_empty() {
        return Err(Error::new(ErrorKind::Usage, "there are no groups to compare: no feature is protected")
            .help("name a column with --group, for example --group sex"));
    }
    let path = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let model = args.model.source_of(&front)?;
    let holdout = holdout_path(&front, args.holdout.as_deref(), output)?;
    let files = [&args.front, &path].into_iter().chain(model.file()).chain(&holdout);
    Outputs::new(&args.csv).inputs(files).checked()?;
    let (prepared, reference) = reopen_with(&front, &path, &model)?;
    let held_out = holdout.map(|path| read_holdout(&path, &prepared, output)).transpose()?;
    if args.form.format == Format::BiasAudit {
        let held_out = held_out.as_ref().filter(|_| args.holdout.is_some());
        let people =
            held_out.map_or((&reference, prepared.table()), |(held_out, table)| (table, held_out.table()));
        return print_bias_audit(args, &front, (&prepared, &reference), people, output);
    }
    if let Some(condition) = conditions.iter().find(|condition| condition.holdout && held_out.is_none()) {
        let message = format!("`{}` needs held-out people", condition.text());
        return Err(Error::new(ErrorKind::Usage, message).help("give their table with --holdout TABLE"));
    }
    request.seed = args.seed.unwrap_or(prepared.config().seed);
    request.scan = args.scan.request(&reference)?;
    request.unreachable |= match args.unreachable {
        Unreachable::Auto => !is_scored(&*prepared.model().predictor),
        Unreachable::Yes => true,
        Unreachable::No => false,
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

fn print_bias_audit(
    args: &AuditArgs,
    front: &FrontFile,
    (prepared, reference): (&Prepared, &Table),
    people: (&Table, &FeatureTable),
    output: &Output,
) -> Result<Exit> {
    let request = BiasAuditRequest {
        groups: args.group.iter().map(|text| text.parse()).collect::<Result<_>>()?,
        rate: match args.form.rate {
            Rate::Selection => RateKind::Selection,
            Rate::Scoring => RateKind::Scoring,
        },
        source: args.form.source.clone(),
        in_use_since: args.form.in_use_since.clone(),
    };
    let found = bias_audit(front, prepared, reference, people, &request)?;
    if output.json {
        output.print_json(&json!(found))?
    } else {
        output.print(found.markdown())?
    }
    Ok(Exit::Complete)
}

/// Reads a held-out table and prints its notices.
pub fn read_holdout(path: &Path, prepared: &Prepared, output: &Output) -> Result<(HeldOut, Table)> {
    let table = tables::read(path, &prepared.config().read_options()?)?;
    let held_out = HeldOut::new(prepared, &table)?;
    held_out.notices.iter().for_each(|notice| output.notice(notice));
    Ok((held_out, table))
}

/// The held-out table: the given one, otherwise the one that the front was evaluated on, if it still exists.
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
