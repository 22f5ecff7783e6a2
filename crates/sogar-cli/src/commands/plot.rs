//! `sogar plot`: figures of a front as SVG or PNG.

mod figure;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sogar::audit::{AuditRequest, GroupingAudit, MeasureName, audit};
use sogar::evaluate::reopen_with;
use sogar::files::read_bytes;
use sogar::plot::{
    Look, Upwards, disparity_svg, fairness_svg, front_svg, holdout_svg, name_of_search, timeouts_svg,
    tree_svg,
};
use sogar::summary::{Evaluation, FrontFile};
use sogar::{Error, ErrorKind, Result};

use super::show::position;
use crate::args::{ModelFlags, PointArgs, file_of, text};
use crate::interrupt;
use crate::output::{Exit, Output};
use crate::progress::Bars;
pub use figure::pixels;
use figure::{FigureArgs, mark};

#[derive(Debug, Args)]
pub struct PlotArgs {
    #[command(subcommand)]
    command: PlotCommand,
}

#[derive(Debug, Subcommand)]
enum PlotCommand {
    /// The front: mean cost against loss
    Front {
        /// The result file
        front: PathBuf,
        #[command(flatten)]
        axis: AxisArgs,
        /// Another result to show beside the front, such as "GLANCE=0.31,0.12" (cost, loss); may be repeated
        #[arg(long, value_name = "NAME=COST,LOSS")]
        mark: Vec<String>,
        #[command(flatten)]
        figure: FigureArgs,
    },
    /// The front beside the same summaries on held-out people
    Holdout {
        /// The result file, of `solve --holdout` unless --evaluation is given
        front: PathBuf,
        /// What `sogar evaluate --json` printed
        #[arg(long, value_name = "FILE")]
        evaluation: Option<PathBuf>,
        #[command(flatten)]
        axis: AxisArgs,
        #[command(flatten)]
        figure: FigureArgs,
    },
    /// Groups of people along the front, and the gap between them
    Disparity(GroupFigureArgs),
    /// Cost, loss and gap: the front coloured by the gap between groups, and the gap along it
    Fairness(GroupFigureArgs),
    /// What searches of different length found, one front each
    Timeouts {
        /// The result files, the longest search first
        #[arg(required = true)]
        fronts: Vec<PathBuf>,
        /// What a file's front is called, in their order [default: its status and time]
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
        name: Vec<String>,
        #[command(flatten)]
        axis: AxisArgs,
        #[command(flatten)]
        figure: FigureArgs,
    },
    /// A summary as a tree
    Tree {
        /// The result file
        front: PathBuf,
        #[command(flatten)]
        point: PointArgs,
        #[command(flatten)]
        figure: FigureArgs,
    },
}

#[derive(Debug, Args)]
struct GroupFigureArgs {
    /// The result file
    front: PathBuf,
    /// By what people are grouped, as in `sogar audit`: a column, or several such as "sex×race"
    #[arg(long, short, value_name = "GROUPING", allow_hyphen_values = true, value_parser = text)]
    group: String,
    /// What is compared [default: invalidity; for `fairness`: loss]
    #[arg(long, value_enum)]
    measure: Option<MeasureFlag>,
    /// The table that the front was made from [default: its recorded path]
    #[arg(long, short, value_name = "TABLE")]
    table: Option<PathBuf>,
    /// Leave out groups with fewer affected people
    #[arg(long, value_name = "N", default_value_t = sogar::audit::MIN_GROUP)]
    min_group: usize,
    #[command(flatten)]
    figure: FigureArgs,
    /// A title above the figure
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    title: Option<String>,
    /// The model, if it has moved since the front was made
    #[command(flatten)]
    model: ModelFlags,
}

#[derive(Debug, Args)]
struct AxisArgs {
    /// What is drawn upwards
    #[arg(long, value_enum, default_value = "loss")]
    upwards: UpwardsFlag,
    /// A title above the figure
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    title: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UpwardsFlag {
    /// The share of people without recourse
    Loss,
    /// The share of people for whom a summary works
    Works,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MeasureFlag {
    /// Mean cost
    Cost,
    /// Share of people without recourse
    Loss,
    /// Their sum
    Invalidity,
}

impl AxisArgs {
    fn look(&self) -> Look {
        let upwards = match self.upwards {
            UpwardsFlag::Loss => Upwards::Loss,
            UpwardsFlag::Works => Upwards::Works,
        };
        Look { title: self.title.clone(), upwards, marks: Vec::new() }
    }
}

pub fn run(args: &PlotArgs, output: &Output) -> Result<Exit> {
    match &args.command {
        PlotCommand::Front { front, axis, mark: marks, figure } => {
            figure.require([front])?;
            let marks = marks.iter().map(|text| mark(text)).collect::<Result<_>>()?;
            let look = Look { marks, ..axis.look() };
            figure.write(&front_svg(&FrontFile::read(front)?, &look), output)
        }
        PlotCommand::Holdout { front, evaluation, axis, figure } => {
            figure.require(std::iter::once(front).chain(evaluation))?;
            let front = FrontFile::read(front)?;
            let there = held_out(&front, evaluation.as_deref())?;
            figure.write(&holdout_svg(&front, &there, &axis.look())?, output)
        }
        PlotCommand::Disparity(args) => of_groups(args, MeasureFlag::Invalidity, disparity_svg, output),
        PlotCommand::Fairness(args) => of_groups(args, MeasureFlag::Loss, fairness_svg, output),
        PlotCommand::Timeouts { fronts, name, axis, figure } => {
            figure.require(fronts)?;
            if name.len() > fronts.len() {
                return Err(Error::new(ErrorKind::Usage, "there are more names than result files"));
            }
            let read: Vec<FrontFile> =
                fronts.iter().map(|path| FrontFile::read(path)).collect::<Result<_>>()?;
            if read.iter().any(|front| front.table.hash != read[0].table.hash || front.model != read[0].model)
            {
                output.warning("the fronts are not of the same table and model");
            }
            let names: Vec<String> = read
                .iter()
                .enumerate()
                .map(|(number, front)| name.get(number).cloned().unwrap_or_else(|| name_of_search(front)))
                .collect();
            let named: Vec<(&str, &FrontFile)> = names.iter().map(String::as_str).zip(&read).collect();
            figure.write(&timeouts_svg(&named, &axis.look())?, output)
        }
        PlotCommand::Tree { front, point, figure } => {
            figure.require([front])?;
            let front = FrontFile::read(front)?;
            let chosen = position(&front, point)?;
            figure.write(&tree_svg(&front, chosen), output)
        }
    }
}

/// The evaluation in a file, or the front's own.
fn held_out(front: &FrontFile, file: Option<&std::path::Path>) -> Result<Evaluation> {
    match file {
        Some(path) => serde_json::from_slice(&read_bytes(path)?).map_err(|cause| {
            Error::new(ErrorKind::ResultFile, format!("not an evaluation: {cause}"))
                .file(path)
                .help("write it with `sogar evaluate FRONT --holdout TABLE --json`")
        }),
        None => front.holdout.clone().ok_or_else(|| {
            Error::new(ErrorKind::Usage, "the front was not evaluated on held-out people").help(
                "solve with --holdout TABLE, or give what `sogar evaluate --json` prints with --evaluation FILE",
            )
        }),
    }
}

/// A figure of the groups of an audit.
type GroupFigure = fn(&FrontFile, &GroupingAudit, MeasureName, Option<&str>) -> Result<String>;

fn of_groups(
    args: &GroupFigureArgs,
    default: MeasureFlag,
    draw: GroupFigure,
    output: &Output,
) -> Result<Exit> {
    let front = FrontFile::read(&args.front)?;
    let path = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let model = args.model.source_of(&front)?;
    args.figure.require([&args.front, &path].into_iter().chain(model.file()))?;
    let request = AuditRequest {
        groups: vec![args.group.parse()?],
        min_group: args.min_group,
        seed: front.config.seed,
        ..AuditRequest::default()
    };
    let (prepared, table) = reopen_with(&front, &path, &model)?;
    let bars = Bars::new(output);
    let found = audit(&front, &prepared, &table, None, &request, &bars, &interrupt::token());
    bars.clear();
    let found = found?;
    let measure = match args.measure.unwrap_or(default) {
        MeasureFlag::Cost => MeasureName::Cost,
        MeasureFlag::Loss => MeasureName::Loss,
        MeasureFlag::Invalidity => MeasureName::Invalidity,
    };
    let groups = found.reference.groupings.first().ok_or_else(|| {
        Error::new(ErrorKind::Usage, "no groups were found").help("name a column with --group")
    })?;
    args.figure.write(&draw(&front, groups, measure, args.title.as_deref())?, output)
}
