//! A command as a model: rows on its standard input, one answer per line on its standard output.
//!
//! The protocol is what the shortest script does by default. A process reads one CSV table with a header, the table's own columns
//! with categories by name, up to the end of its input. It prints one line per row, in order, and exits with 0. Each batch of
//! rows is a new process, so batches cannot get out of step, and a crash or a hang costs one batch and is distinguished from a
//! wrong answer. Batches are large, so the cost of starting a process does not matter.
//!
//! The command line is split into words as a shell would, but no shell is started. [`process`] runs it.

mod process;

use std::time::Duration;

use super::DEFAULT_THRESHOLD;
use super::readable::Readable;
use super::{Answers, Batching, Callback, LoadedModel, Rows};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::config::{AnswerKind, Config, ModelConfig};
use sogar_table::feature::{Reference, exact_number, label_names};
use sogar_table::table::TableSource;

pub use process::end_all;

/// Default time limit of a batch, in seconds.
pub(crate) const DEFAULT_TIMEOUT: f64 = 600.0;
/// Default number of rows per batch.
pub(crate) const DEFAULT_BATCH: u32 = 100_000;
/// Average length of answers, in bytes, beyond which they are not answers.
const LONGEST_ANSWER: u64 = 256;

/// A command line and how its answers are read.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandLine {
    text: String,
    words: Vec<String>,
    answers: AnswerKind,
    timeout: Duration,
    batching: Batching,
}

impl CommandLine {
    /// The command of a checked configuration, if it names one.
    pub fn of(config: &ModelConfig) -> Result<Option<CommandLine>> {
        let Some(text) = &config.command else { return Ok(None) };
        let seconds = config.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let timeout = Duration::try_from_secs_f64(seconds)
            .map_err(|_| fault("model.timeout must be a positive number of seconds"))?;
        let batching = Batching {
            rows: config.batch.unwrap_or(DEFAULT_BATCH).max(1) as usize,
            at_once: config.jobs.unwrap_or(1).max(1) as usize,
        };
        let answers = config.answers.unwrap_or_default();
        Ok(Some(CommandLine {
            words: sogar_table::config::words(text)?,
            text: text.clone(),
            answers,
            timeout,
            batching,
        }))
    }

    /// The command that says how usual rows are, if a checked configuration names one. It runs as the model's would.
    pub fn of_plausibility(config: &Config) -> Result<Option<CommandLine>> {
        let command = config.plausibility.command.clone();
        CommandLine::of(&ModelConfig { command, answers: None, ..config.model.clone() })
    }

    /// The command line as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What results hash. The script behind a command may change unnoticed; only its command line is known.
    pub fn identity(&self) -> Vec<u8> {
        format!("command\0{}\0{}", self.answers.name(), self.words.join("\0")).into_bytes()
    }

    /// The model for a table, whose columns the command will get. Does not start the command yet.
    pub fn open(&self, table: &dyn TableSource, config: &Config) -> Result<LoadedModel> {
        let (reference, _) = Reference::infer(table, config)?;
        let readable = Readable::new(&reference.features, table.header());
        let classes = match self.answers {
            AnswerKind::Scores => Vec::new(),
            AnswerKind::Labels => classes(table, config)?,
        };
        let (count, threshold) = match self.answers {
            AnswerKind::Scores => (2, Some(config.model.threshold.unwrap_or(DEFAULT_THRESHOLD))),
            AnswerKind::Labels if config.model.threshold.is_some() => {
                return Err(fault("a threshold has no effect on a command that answers labels")
                    .help("leave the threshold out, or let the command answer scores"));
            }
            AnswerKind::Labels => (classes.len() as u32, None),
        };
        let info = readable.info("command", format!("answers {}", self.answers.name()), count, threshold);
        let command = self.clone();
        let model = Callback::new(info, move |rows| {
            let output = command.ask(&readable, rows)?;
            read_answers(&output, rows.iter().len(), command.answers, &classes)
                .map_err(|error| error.file(&command.text))
        });
        Ok(model.batching(self.batching).into_model(&self.text, &self.identity()))
    }

    /// The output of the command for these rows.
    fn ask(&self, readable: &Readable, rows: Rows<'_>) -> Result<Vec<u8>> {
        let input = as_csv(readable, rows)
            .map_err(|cause| Error::new(ErrorKind::Model, format!("the rows can't be written: {cause}")))?;
        let most = (rows.iter().len() as u64 + 256) * LONGEST_ANSWER;
        process::ask(&self.words, input, most, self.timeout).map_err(|error| error.file(&self.text))
    }
}

fn fault(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message)
}

/// The classes that a command's labels may name.
fn classes(table: &dyn TableSource, config: &Config) -> Result<Vec<String>> {
    if !config.model.classes.is_empty() {
        return Ok(config.model.classes.clone());
    }
    match label_names(table, config)? {
        Some(labels) if labels.values.len() > 1 => Ok(labels.values),
        _ => Err(fault("the classes that the command may answer with are not known").help(
            "list them: `classes = [\"no\", \"yes\"]` under [model], or name the label column (--label)",
        )),
    }
}

/// The rows as CSV with a header.
fn as_csv(readable: &Readable, rows: Rows<'_>) -> std::result::Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::with_capacity(rows.values.len() * 6));
    writer.write_record(readable.names())?;
    for row in rows.iter() {
        for (column, &value) in row.iter().enumerate() {
            writer.write_field(readable.cell(column, value).as_bytes())?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.into_inner().map_err(|cause| cause.into_error().into())
}

/// One answer per line; trailing blank lines do not count.
fn read_answers(output: &[u8], rows: usize, kind: AnswerKind, classes: &[String]) -> Result<Answers> {
    let fault = |message: String| Error::new(ErrorKind::Model, message);
    let text =
        std::str::from_utf8(output).map_err(|_| fault("the command's answers are not UTF-8 text".into()))?;
    let mut lines: Vec<&str> = text.lines().collect();
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    // A line that is not an answer (a header, a warning) explains a wrong count better than the count does.
    let odd = |line: usize, what: String| {
        Err(fault(format!("line {} of the command's answers is {what}", line + 1))
            .help(format!("it must print one {} a row on standard output, and nothing else", kind.one())))
    };
    let answers = match kind {
        AnswerKind::Scores => {
            let mut scores = Vec::with_capacity(lines.len());
            for (line, text) in lines.iter().enumerate() {
                match text.trim().parse::<f64>() {
                    Ok(score) if !score.is_nan() => scores.push(score),
                    _ => return odd(line, format!("`{}`, not a number", shortened(text))),
                }
            }
            Answers::Scores(scores)
        }
        AnswerKind::Labels => {
            let mut labels = Vec::with_capacity(lines.len());
            for (line, text) in lines.iter().enumerate() {
                match class_of(classes, text) {
                    Some(label) => labels.push(label as u32),
                    None => {
                        let known = classes.join(", ");
                        return odd(line, format!("`{}`, not a class ({known})", shortened(text)));
                    }
                }
            }
            Answers::Labels(labels)
        }
    };
    if lines.len() != rows {
        return Err(fault(format!("the command gave {} answers to {rows} rows", lines.len())).help(format!(
            "it must print one {} a row, in order, and read its input to the end",
            kind.one()
        )));
    }
    Ok(answers)
}

/// The class that an answer names: by its exact text, otherwise by the only text or number that is the same without surrounding
/// blanks.
fn class_of(classes: &[String], answer: &str) -> Option<usize> {
    let alike = |class: &str| {
        class.trim() == answer.trim()
            || exact_number(class).is_some_and(|number| exact_number(answer) == Some(number))
    };
    classes.iter().position(|class| class == answer).or_else(|| {
        let mut found = (0..classes.len()).filter(|&class| alike(&classes[class]));
        found.next().filter(|_| found.next().is_none())
    })
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 60 { text.to_owned() } else { text.chars().take(60).chain(['…']).collect() }
}

#[cfg(test)]
mod tests;
