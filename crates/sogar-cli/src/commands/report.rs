//! `sogar report`: a front as one interactive HTML file.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use sogar::Result;
use sogar::audit::{DRAWS, Grouping};
use sogar::describe::grouped;
use sogar::diff::price_of_equal_treatment;
use sogar::evaluate::{HeldOut, reopen_with};
use sogar::files::write_atomically;
use sogar::outcomes::is_scored;
use sogar::pipeline::Prepared;
use sogar::report::{MIN_N, Opened, ReportRequest, gather, markdown, page, static_page};
use sogar::select::By;
use sogar::summary::FrontFile;
use sogar::table::Table;

use super::audit::{ScanArgs, Unreachable, holdout_path, read_holdout};
use crate::args::{ModelFlags, file_of, text};
use crate::files::Outputs;
use crate::interrupt;
use crate::output::{Exit, Output};
use crate::progress::Bars;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The result file
    pub front: PathBuf,
    /// The file to write
    #[arg(
        long,
        short,
        value_name = "FILE",
        default_value_if("format", "md", "report.md"),
        default_value = "report.html"
    )]
    pub output: PathBuf,
    /// What to write: an interactive page, a page without scripts (to print and sign), or Markdown
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "interactive")]
    pub format: Format,
    /// Compare groups of people by this column: sex, "sex×race" (or "sex*race"), "age<=25"; may be repeated
    #[arg(long, short, value_name = "GROUPS", allow_hyphen_values = true, value_parser = text)]
    pub group: Vec<String>,
    /// The column with the true labels [default: the configuration's]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = text)]
    pub label: Option<String>,
    /// A summary with a name, by a criterion as in `select`; may be repeated [default: the usual ones]
    #[arg(long, value_name = "CRITERION")]
    pub by: Vec<String>,
    /// The report's title
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub title: Option<String>,
    /// Leave out figures about fewer people
    #[arg(long, value_name = "N", default_value_t = MIN_N)]
    pub min_n: usize,
    /// Name people by their rows in the table; then protect the report like the table
    #[arg(long)]
    pub include_rows: bool,
    /// The table that the front was made from [default: its recorded path]
    #[arg(long, short, value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// A held-out table [default: the one that the front was evaluated on]
    #[arg(long, value_name = "TABLE")]
    pub holdout: Option<PathBuf>,
    /// The front of the same run without protected features: adds the price of equal treatment
    #[arg(long, value_name = "FRONT")]
    pub sighted: Option<PathBuf>,
    /// Bootstrap draws for the intervals of means over the front
    #[arg(long, value_name = "N", default_value_t = DRAWS)]
    pub draws: usize,
    /// Whether to look for people whom no action reaches, and for what individual advice would cost
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub unreachable: Unreachable,
    #[command(flatten)]
    pub scan: ScanArgs,
    /// The model, if it has moved since the front was made
    #[command(flatten)]
    pub model: ModelFlags,
}

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One interactive HTML file
    Interactive,
    /// One HTML file without scripts, with a sign-off block
    Static,
    /// Markdown
    Md,
}

pub fn run(args: &ReportArgs, output: &Output) -> Result<Exit> {
    let groups: Vec<Grouping> = args.group.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let picks: Vec<By> = args.by.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let front = FrontFile::read(&args.front)?;
    let named = [&front.run.table_path, &front.run.model_path].into_iter().chain(&front.run.holdout_path);
    let named: Vec<PathBuf> = named.map(PathBuf::from).collect();
    let given = args.table.iter().chain(&args.holdout).chain(&args.model.model).chain(&args.sighted);
    Outputs::new([&args.output]).inputs(given.chain(&named).chain([&args.front])).checked()?;
    let price = match &args.sighted {
        Some(path) => Some(price_of_equal_treatment(&front, &FrontFile::read(path)?)?),
        None => None,
    };
    let files = files(args, &front, output)?;
    let opened = files.as_ref().map(Files::opened);
    let request = ReportRequest {
        title: args.title.clone(),
        groups,
        label: args.label.clone(),
        picks,
        min_n: args.min_n,
        include_rows: args.include_rows,
        reach: match args.unreachable {
            Unreachable::Auto => {
                files.as_ref().is_some_and(|files| !is_scored(&*files.prepared.model().predictor))
            }
            Unreachable::Yes => true,
            Unreachable::No => false,
        },
        draws: args.draws,
        seed: front.config.seed,
        price,
        scan: match &files {
            Some(files) => args.scan.request(&files.reference)?,
            None => None,
        },
    };
    let bytes = write(&front, opened, &request, args.format, &args.output, output)?;
    if output.json {
        output.print_json(&json!({
            "report": args.output, "bytes": bytes, "points": front.points.len(), "groups": args.group,
        }))?;
    } else {
        output.print(format!(
            "Written to {} ({} kB, {} {}).{}\n",
            args.output.display(),
            grouped(bytes.div_ceil(1000)),
            grouped(front.points.len()),
            if front.points.len() == 1 { "summary" } else { "summaries" },
            if args.format == Format::Md { "" } else { " Open it in a browser; it needs nothing else." }
        ))?;
    }
    Ok(Exit::Complete)
}

/// Collects what to show and writes the page. Returns its size.
pub fn write(
    front: &FrontFile,
    opened: Option<Opened<'_>>,
    request: &ReportRequest,
    format: Format,
    path: &Path,
    output: &Output,
) -> Result<usize> {
    let bars = Bars::new(output);
    let data = gather(front, opened, request, &bars, &interrupt::token());
    bars.clear();
    let data = data?;
    let text = match format {
        Format::Interactive => page(&data)?,
        Format::Static => static_page(&data),
        Format::Md => markdown(front, &data),
    };
    interrupt::finish();
    write_atomically(path, |out| out.write_all(text.as_bytes()))?;
    Ok(text.len())
}

/// The files of the front.
struct Files {
    prepared: Prepared,
    reference: Table,
    holdout: Option<(HeldOut, Table)>,
}

impl Files {
    fn opened(&self) -> Opened<'_> {
        let holdout = self.holdout.as_ref().map(|(held_out, table)| (held_out, table));
        Opened { prepared: &self.prepared, reference: &self.reference, holdout }
    }
}

/// Opens table and model. If no requested section needs them, a report without them is better than none.
fn files(args: &ReportArgs, front: &FrontFile, output: &Output) -> Result<Option<Files>> {
    let needed = !args.group.is_empty()
        || !args.scan.scan.is_empty()
        || args.include_rows
        || args.table.is_some()
        || args.holdout.is_some()
        || args.model.model.is_some()
        || args.model.model_command.is_some()
        || args.unreachable == Unreachable::Yes;
    match open(args, front, output) {
        Ok(files) => Ok(Some(files)),
        Err(error) if needed => Err(error),
        Err(error) => {
            output.notice(format!(
                "the report is made of the result file alone, without people out of reach and individual advice: {error}"
            ));
            Ok(None)
        }
    }
}

fn open(args: &ReportArgs, front: &FrontFile, output: &Output) -> Result<Files> {
    let path = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let model = args.model.source_of(front)?;
    let (prepared, reference) = reopen_with(front, &path, &model)?;
    let holdout = holdout_path(front, args.holdout.as_deref(), output)?;
    let holdout = holdout.map(|path| read_holdout(&path, &prepared, output)).transpose()?;
    Ok(Files { prepared, reference, holdout })
}
