//! One error type for the whole pipeline: what went wrong, where, and what to do about it.
//!
//! Every message a user can meet is built here from the same parts, so that the command line and the Python
//! package say the same thing: `german.csv, row 12, column `age`: …` and then a line of help.

use std::fmt;
use std::path::{Path, PathBuf};

/// The result of a pipeline step.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of thing was wrong; decides the exit code and the Python exception class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A command-line flag or an API argument.
    Usage,
    /// A table's contents.
    Table,
    /// A configuration file.
    Config,
    /// A model file, or a model that does not fit the table.
    Model,
    /// The affected population (nobody or everybody turned down, too few rows, …).
    Population,
    /// The work would not fit into the memory limit; nothing was started.
    Memory,
    /// The model would have to score more rows than allowed; nothing was started.
    Scorings,
    /// A file that could not be written.
    Output,
    /// A result file that is damaged or does not belong to the given table or model.
    ResultFile,
    /// A checkpoint that is damaged, in use, or of another run.
    Checkpoint,
}

/// An error with its place and a remedy.
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    file: Option<PathBuf>,
    row: Option<usize>,
    column: Option<String>,
    help: Option<String>,
}

impl Error {
    /// A new error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), file: None, row: None, column: None, help: None }
    }

    /// Names the file in which the trouble is.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.file = Some(path.as_ref().to_path_buf());
        self
    }

    /// Names the line of a file, counted from 1 as an editor does (a CSV header is line 1).
    #[must_use]
    pub fn row(mut self, line: usize) -> Self {
        self.row = Some(line);
        self
    }

    /// Names the column or feature.
    #[must_use]
    pub fn column(mut self, name: impl Into<String>) -> Self {
        self.column = Some(name.into());
        self
    }

    /// Says what the user can do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The remedy, where one is known.
    pub fn remedy(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The process's exit code for this error (SPEC §8).
    pub fn exit_code(&self) -> i32 {
        match self.kind {
            ErrorKind::Memory | ErrorKind::Scorings => 4,
            _ => 2,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut place = Vec::new();
        if let Some(file) = &self.file {
            place.push(file.display().to_string());
        }
        if let Some(row) = self.row {
            place.push(format!("line {row}"));
        }
        if let Some(column) = &self.column {
            place.push(format!("column `{column}`"));
        }
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// "did you mean …?" for a name that does not exist, or the whole list where it is short.
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
