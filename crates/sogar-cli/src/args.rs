//! The command line: subcommands and their flags. `args/settings.rs` turns flags into a configuration, `args/model.rs` into a
//! model.

mod model;
mod settings;
pub mod tables;

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use sogar::config::Config;

pub use model::{ModelFlags, file_of, is_stdin, model_files};
pub use settings::{ConfigFlags, ReadingFlags, text};

use crate::commands::audit::AuditArgs;
use crate::commands::data::DataArgs;
use crate::commands::diff::DiffArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::plot::PlotArgs;
use crate::commands::report::ReportArgs;
#[cfg(feature = "studio")]
use crate::commands::studio::StudioArgs;

/// What could the people that a classifier turned down do about it, and is that fair across groups?
#[derive(Debug, Parser)]
#[command(name = "sogar", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 complete; 1 a --fail-on condition holds; 2 usage or data error; 3 stopped early (time limit, one Ctrl-C or SIGTERM), \
                        with a valid partial result written; 4 refused before the start for memory; \
                        130 a second Ctrl-C or SIGTERM, nothing written."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// The command line parser: every flag takes a value such as `-1`, which is not a flag.
pub fn command() -> clap::Command {
    with_negative_numbers(Cli::command())
}

/// The same for any command line.
pub fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_value = |arg: &clap::Arg| !arg.is_positional() && arg.get_action().takes_values();
    command
        .mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_numbers)
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "General")]
pub struct GlobalArgs {
    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// No notices and no progress on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// More notices on stderr
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the embedded German Credit example
    Demo(DemoArgs),
    /// Find the exact front of recourse summaries for a table and a model
    Solve(SolveArgs),
    /// Moved to sogar-lab
    #[command(hide = true)]
    Compare(ElsewhereArgs),
    /// Moved to sogar-lab
    #[command(hide = true)]
    Experiment(ElsewhereArgs),
    /// Print the model's label and score of every row
    Predict(PredictArgs),
    /// Describe a model file
    Model(ModelArgs),
    /// Print a summary of a front: as a tree, as rules, for Graphviz, as JSON
    Show(ShowArgs),
    /// Choose points of a front
    Select(SelectArgs),
    /// Evaluate a front on held-out rows
    Evaluate(EvaluateArgs),
    /// Explain one person's decision: their group, the suggestion, the cheapest change that works for them
    Explain(ExplainArgs),
    /// Compare two fronts: who is turned down, the trade-off, the advice, the gaps between groups
    Diff(DiffArgs),
    /// Draw figures of a front as SVG or PNG
    Plot(PlotArgs),
    /// Compare recourse across groups of people along the whole front
    Audit(AuditArgs),
    /// Write an interactive report of a front: one HTML file, for people
    Report(ReportArgs),
    /// See the table, say what people can change, search and ask "what if", in the browser on this computer
    #[cfg(feature = "studio")]
    Studio(StudioArgs),
    /// Verify a front: every point, and that none is missing
    Check(CheckArgs),
    /// Write, check or print configuration files
    Config(ConfigArgs),
    /// Export the problem for other solvers
    Problem(ProblemArgs),
    /// Print a JSON Schema
    Schema(SchemaArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Public data sets by name
    Data(DataArgs),
    /// List the CPU and the GPUs that can do the heavy work
    Devices,
}

/// The arguments of a sogar-lab command.
#[derive(Debug, Args)]
pub struct ElsewhereArgs {
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub rest: Vec<String>,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Directory for the example's files and its result
    #[arg(long, short, value_name = "DIR", default_value = "sogar-demo")]
    pub output: PathBuf,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
}

#[derive(Debug, Args)]
pub struct SolveArgs {
    /// Also evaluate the front on the rows of this table
    #[arg(long, value_name = "TABLE")]
    pub holdout: Option<PathBuf>,
    /// The result file
    #[arg(long, short, value_name = "FILE", default_value = "front.json")]
    pub output: PathBuf,
    /// Also write the points as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Store finished work in this folder, and resume from it after a killed run
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// Largest size of the checkpoint, e.g. 500MB [default: 4GB]
    #[arg(long, value_name = "SIZE", requires = "checkpoint")]
    pub checkpoint_limit: Option<String>,
    #[command(flatten)]
    pub input: InputArgs,
}

#[derive(Debug, Args)]
pub struct PredictArgs {
    /// The table: CSV or Parquet
    pub table: PathBuf,
    /// Write the table `row,label,score` (or with --json the JSON) to this file [default: print it]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelFlags,
    #[command(flatten)]
    pub config: ReadingFlags,
}

#[derive(Debug, Args)]
pub struct ModelArgs {
    #[command(subcommand)]
    pub command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Format, size, columns, classes and threshold of a model file
    Inspect {
        /// The model file
        model: PathBuf,
    },
}

/// A table, a model and what to do with them.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// The table of people: CSV, Parquet, a folder of Parquet files, or - for standard input
    pub table: PathBuf,
    /// Store outcomes in this folder, and reuse them in later runs
    #[arg(long, value_name = "DIR")]
    pub outcomes_cache: Option<PathBuf>,
    /// Rows of stored outcomes to verify with a model command; those of model files are always verified
    #[arg(long, value_name = "N", default_value_t = sogar::pipeline::VERIFIED_ROWS)]
    pub verify_cache: u64,
    /// Compare the model's labels with this column of the table first, and stop on a difference
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = text)]
    pub check_predictions: Option<String>,
    #[command(flatten)]
    pub model: ModelFlags,
    #[command(flatten)]
    pub config: ConfigFlags,
}

impl InputArgs {
    /// The input files, with the cost table of the configuration.
    pub fn files(&self) -> Vec<PathBuf> {
        let config = self.config.reading.config.as_deref();
        let costs = config.and_then(|path| cost_table(&Config::read(path).ok()?, path.parent()?));
        let models = self.model.model.iter().chain(&self.model.also);
        let given = std::iter::once(&self.table).chain(models).chain(&self.config.reading.config);
        given.cloned().chain(costs).collect()
    }
}

/// The cost table of a configuration, relative to a folder.
pub fn cost_table(config: &Config, folder: &Path) -> Option<PathBuf> {
    config.cost.table.as_ref().map(|table| folder.join(table))
}

/// Which point of a front.
#[derive(Debug, Args)]
pub struct PointArgs {
    /// The point by its number in the front, 0 being the cheapest
    #[arg(long, short, value_name = "N", conflicts_with = "by")]
    pub point: Option<usize>,
    /// The point by a criterion: invalidity, knee, "cost<=0.2", "loss<=0.1" or weight=2
    #[arg(long, value_name = "CRITERION", default_value = "invalidity")]
    pub by: String,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The result file
    pub front: PathBuf,
    #[command(flatten)]
    pub point: PointArgs,
    /// How to print the summary
    #[arg(long, short, value_enum, default_value = "tree")]
    pub format: ShowFormat,
    /// Also name this many real people who are nearest to an edited person of each group
    #[arg(long, value_name = "N")]
    pub neighbours: Option<usize>,
    /// The table of the front, for --neighbours [default: the recorded one]
    #[arg(long, value_name = "TABLE", requires = "neighbours")]
    pub table: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Indented text
    Tree,
    /// One sentence per group
    Rules,
    /// Graphviz
    Dot,
    /// JSON
    Json,
}

#[derive(Debug, Args)]
pub struct SelectArgs {
    /// The result file
    pub front: PathBuf,
    /// A criterion: invalidity, knee, "cost<=0.2", "loss<=0.1", weight=2 or "gap(invalidity, sex)<=0.05"; may be repeated
    #[arg(long, value_name = "CRITERION", default_value = "invalidity", conflicts_with = "guarantee")]
    pub by: Vec<String>,
    /// The cheapest point that keeps a limit among future people: "loss<=0.1" (or "cost<=0.2": the point of lowest loss)
    #[arg(long, value_name = "LIMIT")]
    pub guarantee: Option<String>,
    /// How sure the guarantee must be, between 0 and 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, requires = "guarantee", conflicts_with = "by")]
    pub confidence: f64,
    /// People whom neither search nor training has seen, to test the guarantee with
    #[arg(long, value_name = "TABLE", requires = "guarantee", conflicts_with = "by")]
    pub calibration: Option<PathBuf>,
    /// Groups that must all meet the guarantee, such as sex; may be repeated
    #[arg(
        long,
        value_name = "GROUP",
        requires = "guarantee",
        conflicts_with = "by",
        allow_hyphen_values = true,
        value_parser = text
    )]
    pub group: Vec<String>,
    /// For limits on gaps and guarantees: the table that the front was made from [default: its recorded path]. With --guarantee and
    /// without --calibration, any other table is the calibration table
    #[arg(long, short, value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// For limits on gaps: affected people below which a group does not count
    #[arg(long, value_name = "N", default_value_t = sogar::audit::MIN_GROUP)]
    pub min_group: usize,
    /// For limits on gaps and guarantees: the model, if it has moved since the front was made
    #[command(flatten)]
    pub model: ModelFlags,
}

#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// The result file
    pub front: PathBuf,
    /// The table with the held-out rows
    #[arg(long, value_name = "TABLE")]
    pub holdout: PathBuf,
    #[command(flatten)]
    pub point: PointArgs,
    /// Later models, files or a folder of them: the share of advice that they still accept
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    pub later: Vec<PathBuf>,
    /// Exit with 1 if this holds for the chosen point: "loss > band" (more than chance allows), "loss > 0.1", "cost > 0.3"; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub fail_on: Vec<String>,
    /// The table that the front was made from [default: its recorded path]
    #[arg(long, short, value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// Also write the points as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// The model, if it has moved since the front was made
    #[command(flatten)]
    pub model: ModelFlags,
}

/// What a check must come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Required {
    /// Every point is true, no summary is missing, and nothing is left open
    Proved,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The result file
    pub front: PathBuf,
    /// The table that the front was made from [default: its recorded path]
    #[arg(long, short, value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// The held-out table that the front was evaluated on [default: its recorded path]
    #[arg(long, value_name = "TABLE")]
    pub holdout: Option<PathBuf>,
    /// Time for the search for missing points; everything else is always done in full
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub time_limit: f64,
    /// Exit with 1 unless everything is proved, completeness included
    #[arg(long, value_name = "VERDICT")]
    pub require: Option<Required>,
    /// Random seed [default: drawn from the system, and printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The model, if it has moved since the front was made
    #[command(flatten)]
    pub model: ModelFlags,
}

#[derive(Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Write a commented starting configuration for a table
    Init {
        /// The table
        table: PathBuf,
        /// The model file: its columns, classes and predictions tell more than the table alone
        #[arg(long, short, value_name = "FILE")]
        model: Option<PathBuf>,
        /// CSV delimiter [default: found from the header]
        #[arg(long, value_name = "CHAR", allow_hyphen_values = true)]
        delimiter: Option<String>,
        /// Decimal sign of numbers in a CSV table: "." or "," [default: .]
        #[arg(long, value_name = "SIGN")]
        decimal: Option<String>,
        /// The file to write [default: print it]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
    /// Check a configuration, by itself or against a table
    Check {
        /// The configuration
        config: PathBuf,
        /// The table that it is for
        #[arg(long, short, value_name = "TABLE")]
        table: Option<PathBuf>,
    },
    /// List the ready configurations, or print one
    Presets {
        /// The preset to print
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct ProblemArgs {
    #[command(subcommand)]
    pub command: ProblemCommand,
}

#[derive(Debug, Subcommand)]
pub enum ProblemCommand {
    /// Write splits, costs and flips of a problem for other solvers
    Export {
        #[command(flatten)]
        input: InputArgs,
        /// The file to write (.npz)
        #[arg(long, short, value_name = "FILE", default_value = "problem.npz")]
        output: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// The kind of file
    #[arg(value_enum)]
    pub of: SchemaOf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// `sogar.toml`
    Config,
    /// `front.json`
    Front,
    /// `sogar audit --json`
    Audit,
    /// `sogar explain --json`
    Explanation,
    /// `sogar diff --json`
    Diff,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
