//! Flags, and how they are laid over a configuration file.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use sogar::config::{Bins, Config, CostKind};
use sogar::{Error, ErrorKind, Result};

use crate::commands::data::DataArgs;

/// What could the people that a classifier turned down do about it, and is that fair across groups?
#[derive(Debug, Parser)]
#[command(name = "sogar", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 complete; 2 usage or data error; 3 stopped early (time or memory limit, or one Ctrl-C), \
                        with a valid partial result written; 4 refused before the start for memory; \
                        130 a second Ctrl-C, nothing written."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
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
    /// Print a summary of a front: as a tree, as rules, for Graphviz, as JSON
    Show(ShowArgs),
    /// Choose points of a front
    Select(SelectArgs),
    /// Evaluate a front on held-out rows
    Evaluate(EvaluateArgs),
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
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Directory for the example's files and its result
    #[arg(long, short, value_name = "DIR", default_value = "sogar-demo")]
    pub output: PathBuf,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<u32>,
}

#[derive(Debug, Args)]
pub struct SolveArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Also evaluate the front on the rows of this table
    #[arg(long, value_name = "TABLE")]
    pub holdout: Option<PathBuf>,
    /// The result file
    #[arg(long, short, value_name = "FILE", default_value = "front.json")]
    pub output: PathBuf,
    /// Also write the points as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// A table, a model and what to do with them.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// The table: CSV or Parquet, the people whose outcomes are looked at
    pub table: PathBuf,
    /// The model: a LightGBM text file
    #[arg(long, short, value_name = "FILE")]
    pub model: PathBuf,
    /// Compare the model's labels with this column of the table first, and stop on a difference
    #[arg(long, value_name = "COLUMN")]
    pub check_predictions: Option<String>,
    #[command(flatten)]
    pub config: ConfigFlags,
}

/// Flags that override a configuration file.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Settings")]
pub struct ConfigFlags {
    /// Configuration file (`sogar config init TABLE` writes one)
    #[arg(long, short, value_name = "FILE", conflicts_with = "preset")]
    pub config: Option<PathBuf>,
    /// Ready configuration of a known data set (see `sogar config presets`)
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// The column with the true label; it is not a feature
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// A desired label value; may be repeated [default: class 1]
    #[arg(long, value_name = "VALUE")]
    pub desired: Vec<String>,
    /// A column that is not a feature; may be repeated
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// A feature that no action changes; may be repeated
    #[arg(long, value_name = "FEATURE")]
    pub immutable: Vec<String>,
    /// Bins of numeric features: a number, `auto` or `quantile:B`
    #[arg(long, value_name = "BINS")]
    pub bins: Option<String>,
    /// The recourse cost
    #[arg(long, value_enum)]
    pub cost: Option<CostName>,
    /// Decision threshold of a score model [default: the model's own]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    pub threshold: Option<f64>,
    /// Largest depth of a tree [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_depth: Option<u32>,
    /// Largest number of leaves [default: 2^depth]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_leaves: Option<u32>,
    /// Fewest affected rows in a leaf [default: 50, or an eighth of them]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub min_leaf: Option<u32>,
    /// Most edits in an action [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_edits: Option<u32>,
    /// Stop the search after this many seconds and give what was found
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// Memory that the run may use, e.g. 4GB [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<String>,
    /// Threads [default: all cores]; the result does not depend on it
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// Seed of everything random; the search itself is not
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// CSV delimiter [default: found from the header]
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<String>,
    /// A text that means "missing"; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub missing: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CostName {
    /// Maximum percentile shift
    Mps,
    /// Maximum percentile shift as the authors of CET compute it
    Cet,
    /// Total log percentile shift
    Logshift,
    /// Range-normalised distance
    L1,
    /// The table named in the configuration
    Table,
}

impl ConfigFlags {
    /// The configuration that the flags amount to, and the folder that its file names are relative to.
    pub fn resolve(&self) -> Result<(Config, PathBuf)> {
        let (config, folder) = match (&self.config, &self.preset) {
            (Some(path), _) => {
                let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
                (Config::read(path)?, folder)
            }
            (None, Some(name)) => (Config::preset(name)?, PathBuf::new()),
            (None, None) => (Config::default(), PathBuf::new()),
        };
        // First the file alone, so that it is blamed for what is its own fault only.
        config.check(None).map_err(|error| match &self.config {
            Some(path) => error.file(path),
            None => error,
        })?;
        let mut changed = config.clone();
        self.apply(&mut changed);
        changed.check(None).map_err(|error| in_words_of_flags(&error))?;
        Ok((changed, folder))
    }

    fn apply(&self, config: &mut Config) {
        fn set<T: Clone>(target: &mut Option<T>, flag: &Option<T>) {
            if flag.is_some() {
                target.clone_from(flag);
            }
        }
        set(&mut config.data.label, &self.label);
        set(&mut config.data.delimiter, &self.delimiter);
        set(&mut config.model.threshold, &self.threshold);
        set(&mut config.limits.max_depth, &self.max_depth);
        set(&mut config.limits.max_leaves, &self.max_leaves);
        set(&mut config.limits.min_leaf, &self.min_leaf);
        set(&mut config.limits.max_edits, &self.max_edits);
        set(&mut config.limits.time_limit, &self.time_limit);
        set(&mut config.limits.memory_limit, &self.memory_limit);
        set(&mut config.limits.threads, &self.threads);
        if !self.desired.is_empty() {
            config.data.desired.clone_from(&self.desired);
        }
        if !self.missing.is_empty() {
            config.data.missing.clone_from(&self.missing);
        }
        config.data.ignore.extend(self.ignore.iter().cloned());
        for name in &self.immutable {
            config.features.entry(name.clone()).or_default().immutable = Some(true);
        }
        if let Some(bins) = &self.bins {
            config.bins = bins.parse().map_or_else(|_| Bins::Named(bins.clone()), Bins::Count);
        }
        if let Some(seed) = self.seed {
            config.seed = seed;
        }
        if let Some(cost) = self.cost {
            config.cost.kind = match cost {
                CostName::Mps => CostKind::Mps,
                CostName::Cet => CostKind::Cet,
                CostName::Logshift => CostKind::Logshift,
                CostName::L1 => CostKind::L1,
                CostName::Table => CostKind::Table,
            };
        }
    }
}

/// An error that speaks of `limits.max_depth` where the user wrote `--max-depth`.
fn in_words_of_flags(error: &Error) -> Error {
    let mut message = error.to_string();
    for key in ["max_depth", "max_leaves", "min_leaf", "max_edits", "time_limit", "memory_limit", "threads"] {
        message = message.replace(&format!("limits.{key}"), &format!("--{}", key.replace('_', "-")));
    }
    for (key, flag) in [("model.threshold", "--threshold"), ("data.delimiter", "--delimiter")] {
        message = message.replace(key, flag);
    }
    Error::new(ErrorKind::Usage, message).help(error.remedy().unwrap_or_default())
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
    /// A criterion: invalidity, knee, "cost<=0.2", "loss<=0.1" or weight=2; may be repeated
    #[arg(long, value_name = "CRITERION", default_value = "invalidity")]
    pub by: Vec<String>,
}

#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// The result file
    pub front: PathBuf,
    /// The table with the held-out rows
    #[arg(long, short, value_name = "TABLE")]
    pub table: PathBuf,
    /// The model [default: where it was when the front was made]
    #[arg(long, short, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// The table that the front was made from [default: where it was then]
    #[arg(long, value_name = "TABLE")]
    pub reference: Option<PathBuf>,
    /// Also write the points as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The result file
    pub front: PathBuf,
    /// The table that the front was made from [default: where it was then]
    #[arg(long, short, value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// The model [default: where it was when the front was made]
    #[arg(long, short, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Time for the search for missing points; everything else is always done in full
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, allow_negative_numbers = true)]
    pub time_limit: f64,
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
    /// Of which file
    #[arg(value_enum)]
    pub of: SchemaOf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// `sogar.toml`
    Config,
    /// `front.json`
    Front,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
