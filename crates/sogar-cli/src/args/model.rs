//! The flags of the model: a file, or a command and how to run it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use sogar::config::{AnswerKind, Config, ModelConfig};
use sogar::model::{CommandLine, Source};
use sogar::summary::FrontFile;
use sogar::{Error, ErrorKind, Result};

use super::settings::{in_words_of_flags, set};

/// The model.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Model")]
pub struct ModelFlags {
    /// The model file (see `sogar model inspect`)
    #[arg(long, short, value_name = "FILE", conflicts_with = "model_command")]
    pub model: Option<PathBuf>,
    /// A command instead of a file: it reads rows as CSV and prints one answer per line
    #[arg(long, value_name = "COMMAND")]
    pub model_command: Option<String>,
    /// Further models, files or a folder of them: an action works only if the first model and enough of all accept (--agree)
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    pub also: Vec<PathBuf>,
    /// A command that says how usual rows are, instead of an isolation forest: it reads rows as CSV and prints a number per line, the
    /// larger the more usual (--min-plausibility)
    #[arg(long, value_name = "COMMAND")]
    pub plausibility_command: Option<String>,
    /// What the command answers [default: scores]
    #[arg(long, value_enum, value_name = "KIND")]
    pub model_answers: Option<AnswersName>,
    /// Time limit of the command for a batch of rows, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS")]
    pub model_timeout: Option<f64>,
    /// Rows in a batch for the command [default: 100000]
    #[arg(long, value_name = "ROWS")]
    pub model_batch: Option<u32>,
    /// Commands to run in parallel [default: 1]
    #[arg(long, value_name = "N")]
    pub model_jobs: Option<u32>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum AnswersName {
    /// A number; class 1 above the threshold (default 0.5)
    Scores,
    /// The name of a class
    Labels,
}

impl ModelFlags {
    /// Applies the flags to a configuration.
    pub fn apply(&self, model: &mut ModelConfig) {
        if self.model.is_some() {
            // A file overrides a command of the configuration.
            *model = ModelConfig {
                command: None,
                answers: None,
                timeout: None,
                batch: None,
                jobs: None,
                ..std::mem::take(model)
            };
        }
        set(&mut model.command, &self.model_command);
        set(&mut model.timeout, &self.model_timeout);
        set(&mut model.batch, &self.model_batch);
        set(&mut model.jobs, &self.model_jobs);
        if let Some(answers) = self.model_answers {
            model.answers = Some(match answers {
                AnswersName::Scores => AnswerKind::Scores,
                AnswersName::Labels => AnswerKind::Labels,
            });
        }
    }

    /// The model of a run with this configuration, which includes these flags.
    pub fn source(&self, config: &Config) -> Result<Source> {
        let command = CommandLine::of_plausibility(config)?;
        Ok(self.first(config)?.with(model_files(&self.also)?).measured_by(command))
    }

    fn first(&self, config: &Config) -> Result<Source> {
        if let Some(path) = &self.model {
            return Ok(Source::File(path.clone()));
        }
        CommandLine::of(&config.model)?.map(Source::Command).ok_or_else(|| {
            Error::new(ErrorKind::Usage, "no model is given")
                .help("name a file with --model FILE, or a command with --model-command COMMAND")
        })
    }

    /// The models of a result: from the flags, otherwise the files at their recorded paths. A command in a result file is never run.
    pub fn source_of(&self, front: &FrontFile) -> Result<Source> {
        let also = match self.also.as_slice() {
            [] => front
                .run
                .also_paths
                .iter()
                .map(|path| file_of(None, path, "--also"))
                .collect::<Result<_>>()?,
            given => model_files(given)?,
        };
        let mut config = front.config.clone();
        config.plausibility.command.clone_from(&self.plausibility_command);
        let command = CommandLine::of_plausibility(&config)?;
        if self.plausibility_command.is_some() && front.config.plausibility.command.is_none() {
            let message = "the plausibility of this result does not come from a command";
            return Err(Error::new(ErrorKind::Usage, message).help("leave --plausibility-command out"));
        }
        Ok(self.first_of(front)?.with(also).measured_by(command))
    }

    fn first_of(&self, front: &FrontFile) -> Result<Source> {
        let mut config = front.config.clone();
        self.apply(&mut config.model);
        if self.model_command.is_some() {
            config.check(None).map_err(|error| in_words_of_flags(&error))?;
            return self.first(&config);
        }
        if self.model.is_none() && front.config.model.command.is_some() {
            let message = "the model of this result is a command, which is only run if you give it";
            return Err(Error::new(ErrorKind::Usage, message)
                .help(format!("repeat it with --model-command; it was: {}", front.run.model_path)));
        }
        file_of(self.model.as_deref(), &front.run.model_path, "--model").map(Source::File)
    }
}

/// Model files: those that are given, and those in given folders in the order of their names.
pub fn model_files(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in given {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let fault = |cause: std::io::Error| {
            Error::new(ErrorKind::Usage, format!("the folder can't be read: {cause}")).file(path)
        };
        let entries = std::fs::read_dir(path).map_err(fault)?;
        let mut inside: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>().map_err(fault)?;
        let is_hidden =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        inside.retain(|path| path.is_file() && !is_hidden(path));
        inside.sort();
        if inside.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "there is no model in this folder")
                .file(path)
                .help("give model files, or a folder that has some"));
        }
        files.extend(inside);
    }
    Ok(files)
}

/// Size limit of files that only a result names, not the user.
const MOST_UNASKED: u64 = 16 << 30;

/// A file of a front: at the user's path, otherwise at the recorded one.
pub fn file_of(given: Option<&Path>, named: &str, flag: &str) -> Result<PathBuf> {
    let path = given.unwrap_or(Path::new(named));
    let fault =
        |message: &str, help: String| Err(Error::new(ErrorKind::Usage, message).file(path).help(help));
    if is_stdin(path) {
        let help = format!("give the same table as a file: {flag} FILE");
        return match given {
            Some(_) => fault("a table from standard input can't be compared with the result's", help),
            None => fault("the table of this result came from standard input", help),
        };
    }
    let Ok(metadata) = std::fs::metadata(path) else {
        let message = "the file that the front was made with is not there any more";
        return fault(message, format!("say where it is now with {flag}"));
    };
    if given.is_none() && metadata.is_file() && metadata.len() > MOST_UNASKED {
        let message = format!("the result names this file, which has more than {} GiB", MOST_UNASKED >> 30);
        return fault(&message, format!("if it is the right one, name it with {flag}"));
    }
    Ok(path.to_path_buf())
}

/// Whether a table's name stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
