//! Flags that override a configuration file.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use sogar::config::{ActionBudget, Agree, Bins, Config, CostKind};
use sogar::model::Source;
use sogar::{Error, ErrorKind, Result};

use super::ModelFlags;

/// A configuration file, and flags that override what it says about the table and the model.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Settings")]
pub struct ReadingFlags {
    /// Configuration file (`sogar config init TABLE` writes one)
    #[arg(long, short, value_name = "FILE", conflicts_with = "preset")]
    pub config: Option<PathBuf>,
    /// Ready configuration of a known data set (see `sogar config presets`)
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// The column with the true label; it is not a feature
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = text)]
    pub label: Option<String>,
    /// The column that says how many people each row stands for; it is not a feature
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = text)]
    pub weight: Option<String>,
    /// A column that is not a feature; may be repeated
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = text)]
    pub ignore: Vec<String>,
    /// Decision threshold of a score model [default: the model's own]
    #[arg(long, value_name = "SCORE")]
    pub threshold: Option<f64>,
    /// CSV delimiter [default: found from the header]
    #[arg(long, value_name = "CHAR", allow_hyphen_values = true, value_parser = text)]
    pub delimiter: Option<String>,
    /// Decimal sign of numbers in a CSV table: "." or "," [default: .]
    #[arg(long, value_name = "SIGN")]
    pub decimal: Option<String>,
    /// A text that means "missing"; may be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    pub missing: Vec<String>,
    /// Trim the spaces around cells
    #[arg(long)]
    pub trim: bool,
    /// Special codes of numeric columns, such as -9 for "refused to answer": -7,-8,-9
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    pub codes: Vec<f64>,
}

/// Flags that override a configuration file.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Settings")]
pub struct ConfigFlags {
    #[command(flatten)]
    pub reading: ReadingFlags,
    /// The label value that people hope for; may be repeated [default: one with a good name, as `approved`; else class 1, with a warning]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, value_parser = text)]
    pub desired: Vec<String>,
    /// A feature that no action changes; may be repeated
    #[arg(long, value_name = "FEATURE", allow_hyphen_values = true, value_parser = text)]
    pub immutable: Vec<String>,
    /// A feature that no action changes and no tree splits on (age, sex, …); may be repeated
    #[arg(long, value_name = "FEATURE", allow_hyphen_values = true, value_parser = text)]
    pub protected: Vec<String>,
    /// Of all models, how many must accept before an action works, the first among them: a number or `all` [default: all]
    #[arg(long, value_name = "K", requires = "also")]
    pub agree: Option<String>,
    /// Bins of numeric features: a number, `auto`, `all` (every value) or `quantile:B` [default: 10]
    #[arg(long, value_name = "BINS")]
    pub bins: Option<String>,
    /// The recourse cost [default: mps]
    #[arg(long, value_enum, value_name = "KIND")]
    pub cost: Option<CostName>,
    /// Largest depth of a tree [default: 3]
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u32>,
    /// Largest number of leaves [default: 2^depth]
    #[arg(long, value_name = "N")]
    pub max_leaves: Option<u32>,
    /// Fewest affected rows in a leaf [default: 50, or an eighth of them]
    #[arg(long, value_name = "N")]
    pub min_leaf: Option<u32>,
    /// Most edits in an action [default: 3, or fewer for the budget of actions]
    #[arg(long, value_name = "N")]
    pub max_edits: Option<u32>,
    /// Budget of actions, a number or `all`: beyond it, numbers get fewer steps, then actions get fewer edits [default: 200000]
    #[arg(long, value_name = "N")]
    pub actions: Option<String>,
    /// Search on a sample of this many affected rows, then evaluate what was found on all of them
    #[arg(long, value_name = "N")]
    pub sample: Option<u32>,
    /// The front under a limit on the gap between groups, e.g. "loss, sex <= 0.05"
    #[arg(long, value_name = "LIMIT", conflicts_with = "minimax")]
    pub max_gap: Option<String>,
    /// The trade-off of cost and the loss of the worst-off group, by these groups: sex, "sex×race", "age<=25"
    #[arg(long, value_name = "GROUPS", allow_hyphen_values = true, value_parser = text)]
    pub minimax: Option<String>,
    /// Accuracy of --max-gap and --minimax: nothing is better by more than this in mean cost or the loss of a group [default: 0, complete]
    #[arg(long, value_name = "SHARE")]
    pub epsilon: Option<f64>,
    /// Affected people that every group of --max-gap or --minimax must have [default: 10]
    #[arg(long, value_name = "N")]
    pub min_group: Option<u32>,
    /// The share of real people who must be less usual than an edited row, unless it is at least as usual as the person's own; 0 only
    /// shows plausibility [default: not computed]
    #[arg(long, value_name = "SHARE")]
    pub min_plausibility: Option<f64>,
    /// Refuse to score more edited rows than this [default: no limit]
    #[arg(long, value_name = "N")]
    pub max_scorings: Option<u64>,
    /// Time limit for outcomes, in seconds; after it only "no change" is known
    #[arg(long, value_name = "SECONDS")]
    pub outcomes_time_limit: Option<f64>,
    /// Time limit for the search (outcomes not included), in seconds; the result is what was found by then
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<f64>,
    /// Memory that the run may use, e.g. 4GB [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<String>,
    /// Threads [default: all cores]; the result does not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
    /// Where the heavy work is done: auto, cpu, gpu or gpu:N (`sogar devices` lists them); the result does not depend on it [default: auto]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Seed of everything random; the search itself is not [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
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

/// A text from a table, which may begin with `-`. If it looks like a flag, it is parsed as the next flag: the value is missing.
pub fn text(value: &str) -> std::result::Result<String, String> {
    match value.strip_prefix("--").and_then(|rest| rest.chars().next()) {
        Some(letter) if letter.is_ascii_lowercase() => {
            Err(format!("this looks like a flag: the value before `{value}` is missing"))
        }
        _ => Ok(value.to_owned()),
    }
}

/// Sets the value of a flag, if given.
pub fn set<T: Clone>(target: &mut Option<T>, flag: &Option<T>) {
    if flag.is_some() {
        target.clone_from(flag);
    }
}

impl ReadingFlags {
    /// The configuration of these flags, and the model.
    pub fn resolve(&self, model: &ModelFlags) -> Result<(Config, Source)> {
        let (config, _) = self.settings(model)?;
        let source = model.source(&config)?;
        Ok((config, source))
    }

    /// The configuration of these flags, and the folder that its file names are relative to.
    pub fn settings(&self, model: &ModelFlags) -> Result<(Config, PathBuf)> {
        self.resolve_with(|config| model.apply(&mut config.model))
    }

    /// The configuration with these flags and then `more` applied.
    fn resolve_with(&self, more: impl Fn(&mut Config)) -> Result<(Config, PathBuf)> {
        let (config, folder) = match (&self.config, &self.preset) {
            (Some(path), _) => {
                let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
                (Config::read(path)?, folder)
            }
            (None, Some(name)) => (Config::preset(name)?, PathBuf::new()),
            (None, None) => (Config::default(), PathBuf::new()),
        };
        // First the file alone, so that only its own errors are attributed to it.
        config.check(None).map_err(|error| match &self.config {
            Some(path) => error.file(path),
            None => error,
        })?;
        let mut changed = config.clone();
        self.apply(&mut changed);
        more(&mut changed);
        changed.check(None).map_err(|error| in_words_of_flags(&error))?;
        Ok((changed, folder))
    }

    fn apply(&self, config: &mut Config) {
        set(&mut config.data.label, &self.label);
        set(&mut config.data.weight, &self.weight);
        set(&mut config.data.delimiter, &self.delimiter);
        set(&mut config.data.decimal, &self.decimal);
        set(&mut config.model.threshold, &self.threshold);
        if !self.missing.is_empty() {
            config.data.missing.clone_from(&self.missing);
        }
        config.data.trim |= self.trim;
        if !self.codes.is_empty() {
            config.data.codes.clone_from(&self.codes);
        }
        config.data.ignore.extend(self.ignore.iter().cloned());
    }
}

impl ConfigFlags {
    /// The configuration of the flags, the folder that its file names are relative to, and the model.
    pub fn resolve(&self, model: &ModelFlags) -> Result<(Config, PathBuf, Source)> {
        let (config, folder) = self.reading.resolve_with(|config| {
            self.apply(config);
            model.apply(&mut config.model);
            set(&mut config.plausibility.command, &model.plausibility_command);
        })?;
        let source = model.source(&config)?;
        Ok((config, folder, source))
    }

    fn apply(&self, config: &mut Config) {
        if let Some(agree) = &self.agree {
            config.model.agree =
                Some(agree.parse().map_or_else(|_| Agree::Named(agree.clone()), Agree::Count));
        }
        set(&mut config.limits.max_depth, &self.max_depth);
        set(&mut config.limits.max_leaves, &self.max_leaves);
        set(&mut config.limits.min_leaf, &self.min_leaf);
        set(&mut config.limits.max_edits, &self.max_edits);
        if let Some(actions) = &self.actions {
            let budget =
                actions.parse().map_or_else(|_| ActionBudget::Named(actions.clone()), ActionBudget::Count);
            config.limits.actions = Some(budget);
        }
        set(&mut config.limits.sample, &self.sample);
        set(&mut config.fairness.max_gap, &self.max_gap);
        set(&mut config.fairness.minimax, &self.minimax);
        set(&mut config.fairness.epsilon, &self.epsilon);
        set(&mut config.fairness.min_group, &self.min_group);
        set(&mut config.plausibility.min_plausibility, &self.min_plausibility);
        set(&mut config.limits.max_scorings, &self.max_scorings);
        set(&mut config.limits.outcomes_time_limit, &self.outcomes_time_limit);
        set(&mut config.limits.time_limit, &self.time_limit);
        set(&mut config.limits.memory_limit, &self.memory_limit);
        set(&mut config.limits.threads, &self.threads);
        set(&mut config.limits.device, &self.device);
        if !self.desired.is_empty() {
            config.data.desired.clone_from(&self.desired);
        }
        for name in &self.immutable {
            config.features.entry(name.clone()).or_default().immutable = Some(true);
        }
        for name in &self.protected {
            config.features.entry(name.clone()).or_default().protected = Some(true);
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

/// An error that names `--max-depth` instead of `limits.max_depth`.
pub fn in_words_of_flags(error: &Error) -> Error {
    let [mut message, mut remedy] = [error.to_string(), error.remedy().unwrap_or_default().to_owned()];
    for key in [
        "max_depth",
        "max_leaves",
        "min_leaf",
        "max_edits",
        "actions",
        "sample",
        "max_scorings",
        "outcomes_time_limit",
        "time_limit",
        "memory_limit",
        "threads",
        "device",
    ] {
        message = message.replace(&format!("limits.{key}"), &format!("--{}", key.replace('_', "-")));
    }
    for (key, flag) in [
        ("model.threshold", "--threshold"),
        ("model.command", "--model-command"),
        ("model.answers", "--model-answers"),
        ("model.timeout", "--model-timeout"),
        ("model.batch", "--model-batch"),
        ("model.jobs", "--model-jobs"),
        ("model.agree", "--agree"),
        ("data.delimiter", "--delimiter"),
        ("data.decimal", "--decimal"),
        ("data.weight", "--weight"),
        ("data.codes", "--codes"),
        ("fairness.max_gap", "--max-gap"),
        ("fairness.minimax", "--minimax"),
        ("fairness.epsilon", "--epsilon"),
        ("fairness.min_group", "--min-group"),
        ("plausibility.min_plausibility", "--min-plausibility"),
        ("plausibility.command", "--plausibility-command"),
    ] {
        message = message.replace(key, flag);
        remedy = remedy.replace(key, flag);
    }
    Error::new(ErrorKind::Usage, message).help(remedy)
}
