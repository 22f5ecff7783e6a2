//! `sogar` on the command line: flags in, results on stdout, everything else on stderr.
//!
//! This crate is glue; the crates of the engine compute. Every subcommand has one file under [`commands`], and [`args`] turns
//! flags into a configuration. It is a library so that `sogar-lab` shares flags, messages and progress bars.

// Shared only with `sogar-lab`: the help texts of flags and commands document them.
#![allow(missing_docs)]

pub mod args;
pub mod commands;
pub mod datasets;
pub mod files;
pub mod interrupt;
pub mod output;
pub mod progress;
mod tables;

use std::io::Write;
use std::process::ExitCode;

use clap::FromArgMatches;
use sogar::markup::{steers, visible_lines};
use sogar::{Error, ErrorKind, Result};

use output::{Exit, Output};

/// Mesa's drivers complain on stderr about a missing display; this silences them.
#[cfg(all(feature = "gpu", target_os = "linux"))]
fn quieten_drivers() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() && std::env::var_os("NODEVICE_SELECT").is_none() {
        // SAFETY: this runs first; there are no other threads yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// Parses the arguments of this process. Help and version go to stdout with 0, usage errors to stderr with 2.
pub fn parsed<T: FromArgMatches>(command: clap::Command) -> std::result::Result<T, ExitCode> {
    #[cfg(all(feature = "gpu", target_os = "linux"))]
    quieten_drivers();
    let parsed = command.try_get_matches().and_then(|matches| T::from_arg_matches(&matches));
    parsed.map_err(|error| {
        let code = error.exit_code();
        // There is no way to report a closed pipe.
        let _ = if std::env::args_os().any(|arg| arg.to_string_lossy().contains(steers)) {
            // The message may repeat an argument with control characters: printed escaped, without colours.
            write!(std::io::stderr(), "{}", visible_lines(&error.render().to_string()))
        } else {
            error.print()
        };
        ExitCode::from(code as u8)
    })
}

/// Prints the error, if there is one, and returns the exit code.
pub fn ended(result: Result<Exit>, output: &Output) -> ExitCode {
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            output.error(&error);
            ExitCode::from(exit_code(&error))
        }
    }
}

/// The exit code of an error (SPEC §8).
fn exit_code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Memory | ErrorKind::Scorings => 4,
        _ => 2,
    }
}
