//! `sogar` on the command line: flags in, results on stdout, everything else on stderr.
//!
//! This crate is glue. What is computed lives in the crates `sogar` and `sogar-solver`; here every subcommand has
//! one file under `commands/`, and `args.rs` turns flags into a configuration.

mod args;
mod commands;
mod files;
mod interrupt;
mod output;
mod progress;
mod tables;

use std::io::Write;
use std::process::ExitCode;

use clap::FromArgMatches;
use sogar::markup::{steers, visible_lines};

use args::{Cli, Command};
use output::Output;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Mesa's drivers complain on stderr about a missing display where there is nothing to display on; this is how they are told.
#[cfg(all(feature = "gpu", target_os = "linux"))]
fn quieten_drivers() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() && std::env::var_os("NODEVICE_SELECT").is_none() {
        // SAFETY: the first thing that the program does; there are no other threads yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

fn main() -> ExitCode {
    #[cfg(all(feature = "gpu", target_os = "linux"))]
    quieten_drivers();
    let parsed = args::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout with 0, usage errors to stderr with 2; a closed pipe is not our business.
            let code = error.exit_code();
            let _ = if std::env::args_os().any(|arg| arg.to_string_lossy().contains(steers)) {
                // An argument that would steer the terminal is repeated in the message: as text, then, and without colours.
                write!(std::io::stderr(), "{}", visible_lines(&error.render().to_string()))
            } else {
                error.print()
            };
            return ExitCode::from(code as u8);
        }
    };
    let output = Output::new(&cli.global);
    let result = match &cli.command {
        Command::Demo(args) => commands::demo::run(args, &output),
        Command::Solve(args) => commands::solve::run(args, &output),
        Command::Compare(args) => commands::compare::run(args, &output),
        Command::Experiment(args) => commands::experiment::run(args, &output),
        Command::Predict(args) => commands::predict::run(args, &output),
        Command::Model(args) => commands::model::run(args, &output),
        Command::Show(args) => commands::show::run(args, &output),
        Command::Select(args) => commands::select::run(args, &output),
        Command::Evaluate(args) => commands::evaluate::run(args, &output),
        Command::Explain(args) => commands::explain::run(args, &output),
        Command::Audit(args) => commands::audit::run(args, &output),
        Command::Diff(args) => commands::diff::run(args, &output),
        Command::Plot(args) => commands::plot::run(args, &output),
        Command::Report(args) => commands::report::run(args, &output),
        Command::Check(args) => commands::check::run(args, &output),
        Command::Config(args) => commands::config::run(args, &output),
        Command::Problem(args) => commands::problem::run(args, &output),
        Command::Schema(args) => commands::schema::run(args, &output),
        Command::Completions(args) => commands::completions::run(args, &output),
        Command::Data(args) => commands::data::run(args, &output),
        Command::Devices => commands::devices::run(&output),
    };
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            output.error(&error);
            ExitCode::from(error.exit_code() as u8)
        }
    }
}
