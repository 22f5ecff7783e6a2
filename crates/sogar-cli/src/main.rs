//! The binary `sogar`.

use std::process::ExitCode;

use sogar_cli::args::{Cli, Command, command};
use sogar_cli::output::Output;
use sogar_cli::{commands, ended, parsed};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli: Cli = match parsed(command()) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let output = Output::new(&cli.global);
    let result = match &cli.command {
        Command::Demo(args) => commands::demo::run(args, &output),
        Command::Solve(args) => commands::solve::run(args, &output),
        Command::Compare(_) => commands::lab::run("compare"),
        Command::Experiment(_) => commands::lab::run("experiment"),
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
        #[cfg(feature = "studio")]
        Command::Studio(args) => commands::studio::run(args, &output),
        Command::Check(args) => commands::check::run(args, &output),
        Command::Config(args) => commands::config::run(args, &output),
        Command::Problem(args) => commands::problem::run(args, &output),
        Command::Schema(args) => commands::schema::run(args, &output),
        Command::Completions(args) => commands::completions::run(args, &output),
        Command::Data(args) => commands::data::run(args, &output),
        Command::Devices => commands::devices::run(&output),
    };
    ended(result, &output)
}
