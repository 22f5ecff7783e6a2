//! `sogar-lab`: sogar beside other methods, the published evaluation, the benchmark. Nothing that users of sogar need to build.

mod bench;
mod compare;
mod experiment;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use sogar_cli::args::{GlobalArgs, with_negative_numbers};
use sogar_cli::output::Output;
use sogar_cli::{ended, parsed};

/// The allocator of the command line, so that times and peaks are those of `sogar solve`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measure sogar: beside other methods, beside the published figures, beside a plain program
#[derive(Debug, Parser)]
#[command(name = "sogar-lab", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare sogar with other methods on a table: cost, loss, groups, time
    Compare(Box<compare::CompareArgs>),
    /// Run the published evaluation, or a part of it, beside the published figures
    Experiment(experiment::ExperimentArgs),
    /// Time sogar on data sets and generated tables, beside a plain program
    Bench(bench::BenchArgs),
}

fn main() -> ExitCode {
    let cli: Cli = match parsed(with_negative_numbers(Cli::command())) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let output = Output::new(&cli.global);
    let result = match &cli.command {
        Command::Compare(args) => compare::run(args, &output),
        Command::Experiment(args) => experiment::run(args, &output),
        Command::Bench(args) => bench::run(args),
    };
    ended(result, &output)
}

#[cfg(test)]
mod tests {
    use sogar_cli::args::tables::{compare_with_page, subcommand};

    use super::*;

    #[test]
    fn the_documented_flags_are_the_defined_ones() {
        let root = Cli::command();
        // `compare` takes the settings of `solve`.
        compare_with_page(|name| {
            subcommand(&root, name.strip_prefix("sogar-lab ")?).map(|command| (command, false))
        })
        .unwrap();
    }
}
