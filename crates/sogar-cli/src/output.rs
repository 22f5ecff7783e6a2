//! Output for people and programs: results on stdout, notices and errors on stderr, exit codes.

use std::fmt::Display;
use std::io::{self, Write};
use std::ops::{Add, AddAssign};

use anstyle::{AnsiColor, Style};
use sogar::markup::{visible_json, visible_lines};
use sogar::{Error, ErrorKind, Result};

use crate::args::GlobalArgs;

/// How a command ended (SPEC §8). Errors carry their own codes: 2, or 4 if refused for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Complete,
    /// Everything was done, and a condition holds that counts as a failure.
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

/// Where a command prints.
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
    pub fn print(&self, text: impl Into<Text>) -> Result<()> {
        self.to_stdout(&text.into().0)
    }

    fn to_stdout(&self, text: &str) -> Result<()> {
        let mut out = anstream::AutoStream::auto(io::stdout()).lock();
        match write!(out, "{text}").and_then(|()| out.flush()) {
            // The reader (`head`, a pager) has closed the pipe.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(Error::new(ErrorKind::Output, format!("stdout can't be written: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Prints a result as JSON on one line.
    pub fn print_json(&self, value: &serde_json::Value) -> Result<()> {
        self.to_stdout(&visible_json(&format!("{value}\n")))
    }

    /// Prints a notice to stderr.
    pub fn notice(&self, text: impl Display) {
        if !self.quiet {
            self.to_stderr(AnsiColor::Cyan.on_default(), "note", &text);
        }
    }

    /// Prints a warning to stderr.
    pub fn warning(&self, text: impl Display) {
        self.to_stderr(AnsiColor::Yellow.on_default().bold(), "warning", &text);
    }

    /// Prints an error with its remedy to stderr.
    pub fn error(&self, error: &Error) {
        self.to_stderr(AnsiColor::Red.on_default().bold(), "error", error);
        if let Some(help) = error.remedy().filter(|help| !help.is_empty()) {
            self.to_stderr(AnsiColor::Green.on_default(), " help", &help);
        }
    }

    fn to_stderr(&self, style: Style, word: &str, text: &dyn Display) {
        // Further lines are indented, so that none looks like a separate message.
        let text = visible_lines(&text.to_string()).replace("\n  ", "\n").replace('\n', "\n  ");
        let mut err = anstream::AutoStream::auto(io::stderr()).lock();
        // If stderr is closed, there is nowhere to report it.
        let _ = writeln!(err, "{style}{word}:{style:#} {text}");
    }
}

/// Text for a terminal. Control characters in it are escaped, because names and values come from tables, models and result files.
/// Only [`heading`] adds styles.
#[derive(Debug, Default)]
pub struct Text(String);

impl<T: AsRef<str>> From<T> for Text {
    fn from(text: T) -> Text {
        Text(visible_lines(text.as_ref()))
    }
}

impl<T: Into<Text>> AddAssign<T> for Text {
    fn add_assign(&mut self, more: T) {
        self.0 += &more.into().0;
    }
}

impl<T: Into<Text>> Add<T> for Text {
    type Output = Text;

    fn add(mut self, more: T) -> Text {
        self += more;
        self
    }
}

/// A heading.
pub fn heading(text: &str) -> Text {
    Text(format!("{BOLD}{}{BOLD:#}\n", visible_lines(text)))
}

/// Seconds in readable form: `0.42 s`, `3.1 s`, `2 min 5 s`.
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
    fn headings_alone_are_styled() {
        let hostile = "\u{1b}[1ma\u{1b}[0m\u{202e}\u{9b}2J";
        let text = heading(hostile) + hostile;
        let seen = "\\u{1b}[1ma\\u{1b}[0m\\u{202e}\\u{9b}2J";
        assert_eq!(text.0, format!("\u{1b}[1m{seen}\u{1b}[0m\n{seen}"));
    }
}
