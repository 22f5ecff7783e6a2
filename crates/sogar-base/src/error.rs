//! One error type for the whole pipeline: what went wrong, where, and what to do about it.
//!
//! Every message a user can see is built here from the same parts, so that the command line and the Python package say the same:
//! `german.csv, row 12, column `age`: …` and then a line of help. Names and cells in it are untrusted: a message never controls
//! the terminal.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::markup::{visible, visible_lines};

/// The result of a pipeline step.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of error; decides the exit code of the command line and the exception of Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A wrong command-line flag or API argument.
    Usage,
    /// Wrong contents of a table.
    Table,
    /// A wrong configuration file.
    Config,
    /// A model that cannot be used, or does not fit the table.
    Model,
    /// A wrong affected population (nobody or everybody turned down, too few rows, …).
    Population,
    /// The work would not fit into the memory limit; nothing was started.
    Memory,
    /// The model would have to score more rows than allowed; nothing was started.
    Scorings,
    /// A file could not be written.
    Output,
    /// A result file is damaged, or belongs to another table or model.
    ResultFile,
    /// A checkpoint is damaged, in use, or from another run.
    Checkpoint,
}

/// An error with its location and a remedy.
#[derive(Debug, Clone)]
pub struct Error(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    kind: ErrorKind,
    message: String,
    file: Option<PathBuf>,
    row: Option<usize>,
    column: Option<String>,
    help: Option<String>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// A new error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = told(&message.into());
        Error(Box::new(Parts {
            kind,
            message,
            file: None,
            row: None,
            column: None,
            help: None,
            source: None,
        }))
    }

    /// Names the file of the error.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.0.file = Some(path.as_ref().to_path_buf());
        self
    }

    /// Names the line of a file, counted from 1 as an editor does (a CSV header is line 1).
    #[must_use]
    pub fn row(mut self, line: usize) -> Self {
        self.0.row = Some(line);
        self
    }

    /// Names the column or feature.
    #[must_use]
    pub fn column(mut self, name: impl Into<String>) -> Self {
        self.0.column = Some(name.into());
        self
    }

    /// Adds a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(told(&help.into()));
        self
    }

    /// Extends the remedy.
    #[must_use]
    pub fn more_help(self, more: &str) -> Self {
        let help = match self.remedy() {
            None | Some("") => more.to_owned(),
            Some(help) => format!("{help}; {more}"),
        };
        self.help(help)
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The remedy, if one is known.
    pub fn remedy(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Stores the underlying error for [`source`](std::error::Error::source).
    #[must_use]
    pub fn caused_by(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(cause));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut place = Vec::new();
        if let Some(file) = &self.0.file {
            place.push(visible(&file.display().to_string()));
        }
        if let Some(row) = self.0.row {
            place.push(format!("line {row}"));
        }
        if let Some(column) = &self.0.column {
            place.push(format!("column `{}`", visible(column)));
        }
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Errors of one input, collected so that users can correct all of them at once.
#[derive(Debug, Default)]
pub struct Faults(Vec<Error>);

/// A message that cannot control a terminal. A line that would look like one of the program's own is indented.
fn told(message: &str) -> String {
    let own = ["error", "warning", "note", "help"];
    let lines = visible_lines(message);
    let mut told = String::with_capacity(lines.len());
    for (number, line) in lines.split('\n').enumerate() {
        let start = line.trim_start().to_ascii_lowercase();
        match own.iter().any(|word| start.starts_with(word)) {
            _ if number == 0 => {}
            true => told.push_str("\n    "),
            false => told.push('\n'),
        }
        told.push_str(line);
    }
    told
}

impl Faults {
    /// Adds an error.
    pub fn add(&mut self, fault: Error) {
        self.0.push(fault);
    }

    /// Adds the error of a result, or returns its value.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|fault| self.add(fault)).ok()
    }

    /// Whether there is none so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails if there are any: with the only one unchanged, or with all of them, one per line.
    pub fn finish(mut self) -> Result<()> {
        match self.0.pop() {
            None => Ok(()),
            Some(last) => Err(self.and(last)),
        }
    }

    /// All of them and one more as a single error.
    pub fn and(mut self, last: Error) -> Error {
        if self.0.is_empty() {
            return last;
        }
        self.0.push(last);
        // An error may itself stand for several.
        let lines = self.0.iter().flat_map(|fault| {
            let text = fault.to_string();
            match text.split_once(" faults:\n") {
                Some((_, several)) => several.lines().map(ToOwned::to_owned).collect(),
                None => {
                    let help = fault.remedy().filter(|help| !help.is_empty());
                    vec![format!("  - {text}{}", help.map(|help| format!(" ({help})")).unwrap_or_default())]
                }
            }
        });
        let lines: Vec<String> = lines.collect();
        Error::new(self.0[0].kind(), format!("{} faults:\n{}", lines.len(), lines.join("\n")))
    }
}

/// "did you mean …?" for an unknown name, or the whole list if it is short.
pub fn suggest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(name) = known.iter().find(|name| name.trim() == wanted.trim() && **name != wanted) {
        let shown = name.escape_debug();
        return match name.trim() == *name {
            true => format!("did you mean `{shown}`, without spaces around it?"),
            false => {
                format!("`{shown}` has spaces around it: write them too, or set `trim = true` under [data]")
            }
        };
    }
    let nearest = known
        .iter()
        .map(|name| (strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase()), *name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((score, name)) if score > 0.75 => format!("did you mean `{name}`?"),
        _ if known.len() <= 12 => format!("known names: {}", known.join(", ")),
        _ => format!("{} names are known, `{}` … `{}`", known.len(), known[0], known[known.len() - 1]),
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn the_cause_is_kept() {
        let cause = std::io::Error::other("disk on fire");
        let error = Error::new(ErrorKind::Usage, "could not be read").caused_by(cause);
        assert_eq!(error.source().map(ToString::to_string), Some("disk on fire".to_owned()));
        assert!(Error::new(ErrorKind::Usage, "x").source().is_none());
    }
}
