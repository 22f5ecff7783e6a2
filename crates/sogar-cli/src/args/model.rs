//! Which model: a file, or a command with how it is run.

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
    /// A command instead of a file: it gets rows as CSV and prints an answer a line
    #[arg(long, value_name = "COMMAND")]
    pub model_command: Option<String>,
    /// What the command answers [default: scores]
    #[arg(long, value_enum, value_name = "KIND")]
    pub model_answers: Option<AnswersName>,
    /// Seconds that the command may take for a batch of rows [default: 600]
    #[arg(long, value_name = "SECONDS")]
    pub model_timeout: Option<f64>,
    /// Rows that the command gets at a time [default: 100000]
    #[arg(long, value_name = "ROWS")]
    pub model_batch: Option<u32>,
    /// Commands that may run at the same time [default: 1]
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
    /// Lays the flags over a configuration.
    pub fn apply(&self, model: &mut ModelConfig) {
        if self.model.is_some() {
            // A file is meant, whatever the configuration says about a command.
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

    /// The model of a run with this configuration, in which these flags are contained.
    pub fn source(&self, config: &Config) -> Result<Source> {
        if let Some(path) = &self.model {
            return Ok(Source::File(path.clone()));
        }
        CommandLine::of(&config.model)?.map(Source::Command).ok_or_else(|| {
            Error::new(ErrorKind::Usage, "no model is given")
                .help("name a file with --model FILE, or a command with --model-command COMMAND")
        })
    }

    /// The model that a result was made with: what the flags say, else the file where it was. A command is never run
    /// because a file says so.
    pub fn source_of(&self, front: &FrontFile) -> Result<Source> {
        let mut config = front.config.clone();
        self.apply(&mut config.model);
        if self.model_command.is_some() {
            config.check(None).map_err(|error| in_words_of_flags(&error))?;
            return self.source(&config);
        }
        if self.model.is_none() && front.config.model.command.is_some() {
            let message = "the model of this result is a command, which is only run if you give it";
            return Err(Error::new(ErrorKind::Usage, message)
                .help(format!("repeat it with --model-command; it was: {}", front.run.model_path)));
        }
        file_of(self.model.as_deref(), &front.run.model_path, "--model").map(Source::File)
    }
}

/// Files that a result names, and no user, are not looked at beyond this size.
const MOST_UNASKED: u64 = 16 << 30;

/// A file that a front was made with: where the user says, else where the result says that it was.
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
