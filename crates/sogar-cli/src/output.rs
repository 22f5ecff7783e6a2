//! What people and programs read: results on stdout, notices and errors on stderr, exit codes.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use sogar::files::write_atomically;
use sogar::{Error, ErrorKind, Result};

use crate::args::GlobalArgs;

/// How a command ended (SPEC §8). Errors carry their own codes: 2, or 4 if refused for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Complete,
    /// Everything was done, and a condition holds that was to be reported as a failure.
    Failed,
    /// Stopped early, with a valid partial result.
    Stopped,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Complete => 0,
            Exit::Failed => 1,
            Exit::Stopped => 3,
        }
    }
}

/// Where a command's words go.
pub struct Output {
    /// Results as JSON.
    pub json: bool,
    /// No notices, no progress.
    pub quiet: bool,
    /// More notices.
    pub verbose: bool,
}

const BOLD: Style = Style::new().bold();

impl Output {
    /// Follows the global flags.
    pub fn new(args: &GlobalArgs) -> Self {
        Output { json: args.json, quiet: args.quiet, verbose: args.verbose }
    }

    /// Prints a result.
    pub fn print(&self, text: impl Display) -> Result<()> {
        let mut out = anstream::AutoStream::auto(io::stdout()).lock();
        match write!(out, "{text}").and_then(|()| out.flush()) {
            // Whoever reads us (`head`, a pager) has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(Error::new(ErrorKind::Output, format!("stdout can't be written: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Prints a result as JSON on one line.
    pub fn print_json(&self, value: &serde_json::Value) -> Result<()> {
        self.print(format!("{value}\n"))
    }

    /// Tells the user something on stderr.
    pub fn notice(&self, text: impl Display) {
        if !self.quiet {
            self.to_stderr(AnsiColor::Cyan.on_default(), "note", &text);
        }
    }

    /// Something that the user should look at, on stderr.
    pub fn warning(&self, text: impl Display) {
        self.to_stderr(AnsiColor::Yellow.on_default().bold(), "warning", &text);
    }

    /// An error with its remedy, on stderr.
    pub fn error(&self, error: &Error) {
        self.to_stderr(AnsiColor::Red.on_default().bold(), "error", error);
        if let Some(help) = error.remedy().filter(|help| !help.is_empty()) {
            self.to_stderr(AnsiColor::Green.on_default(), " help", &help);
        }
    }

    fn to_stderr(&self, style: Style, word: &str, text: &dyn Display) {
        let mut err = anstream::AutoStream::auto(io::stderr()).lock();
        // There is nowhere left to report that stderr is closed.
        let _ = writeln!(err, "{style}{word}:{style:#} {text}");
    }
}

/// Finds out before the work, rather than after it, that a result could not be written.
pub fn require_writable(path: &Path) -> Result<()> {
    if path.exists() && !path.is_file() && !path.is_dir() {
        return Ok(()); // a pipe or a device: a trial would be seen by whoever reads it
    }
    let mut reached = false;
    let trial = write_atomically(path, |_| {
        reached = true;
        Err(io::Error::other("a trial"))
    });
    match trial {
        Err(error) if !reached => Err(error),
        _ => Ok(()),
    }
}

/// Makes sure that a folder is there, and makes it if need be.
pub fn require_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|cause| {
        Error::new(ErrorKind::Output, format!("the folder can't be made: {}", cause.kind()))
            .file(path)
            .help("choose another folder")
    })
}

/// A heading.
pub fn heading(text: &str) -> String {
    format!("{BOLD}{text}{BOLD:#}\n")
}

/// Seconds for people: `0.42 s`, `3.1 s`, `2 min 5 s`.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{s:.2} s"),
        s if s < 60.0 => format!("{s:.1} s"),
        s => format!("{} min {} s", s.round() as u64 / 60, s.round() as u64 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_before_they_are_cut_into_minutes() {
        assert_eq!(seconds(0.416), "0.42 s");
        assert_eq!(seconds(3.12), "3.1 s");
        assert_eq!(seconds(119.7), "2 min 0 s");
        assert_eq!(seconds(125.2), "2 min 5 s");
    }

    #[test]
    fn a_trial_of_writing_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("front.json");
        require_writable(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        std::fs::write(&path, "old").unwrap();
        require_writable(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert!(require_writable(&folder.path().join("no/front.json")).is_err());
        assert!(require_writable(folder.path()).is_err());
    }
}
