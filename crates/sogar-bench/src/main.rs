//! The benchmark of sogar: `make bench`.
//!
//! Solves the four data sets of the published protocol, and in the same run times the published leaf evaluation on the
//! same problems ([`yardstick`]). Every problem runs in a process of its own ([`mod@measure`]); the parent only collects what
//! they found into Markdown tables ([`mod@report`]). The columns are explained in `docs/BENCHMARKS.md`.

mod leaf_sets;
mod measure;
mod network;
mod report;
mod yardstick;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::{Parser, Subcommand};
use sogar::{Error, ErrorKind, Result};

use measure::{Measurement, Task, measure};
use report::{holds, report};

/// What the command line itself allocates with, so that times and peaks are those of `sogar solve`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Benchmark sogar on the data sets of the published protocol, beside the published leaf evaluation
#[derive(Debug, Parser)]
#[command(name = "sogar-bench", args_conflicts_with_subcommands = true)]
struct Args {
    /// Directory that scripts/paper_models.py wrote: NAME/fold1/{train.csv,model.txt}
    #[arg(long, default_value = "target/paper")]
    paper: PathBuf,
    /// Data sets
    #[arg(long, value_delimiter = ',', default_value = "german,attrition,bank,adult")]
    datasets: Vec<String>,
    /// Depths [default: 2,3; with --quick: 2]
    #[arg(long, value_delimiter = ',')]
    depth: Vec<u32>,
    /// Runs of sogar for each problem [default: 3; with --quick: 1]
    #[arg(long)]
    runs: Option<usize>,
    /// Seconds for the yardstick, in each of its two orders [default: 20; with --quick: 2]
    #[arg(long)]
    budget: Option<f64>,
    /// Seconds after which a search is stopped
    #[arg(long)]
    time_limit: Option<f64>,
    /// A short look: depth 2, one run, a small sample for the yardstick
    #[arg(long)]
    quick: bool,
    /// Only the outcomes of a dense network, beside matrix products of the same shapes
    #[arg(long)]
    network: bool,
    #[command(subcommand)]
    command: Option<Internal>,
}

#[derive(Debug, Subcommand)]
enum Internal {
    /// Measures one problem and prints it as JSON: what the benchmark runs in processes of their own
    #[command(hide = true)]
    One(Task),
}

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match &args.command {
        Some(Internal::One(task)) => one(task).map(|()| true),
        None if args.network => dense_network(&args),
        None => all(&args),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {error}"));
            if let Some(help) = error.remedy() {
                say(&format!("help: {help}"));
            }
            ExitCode::FAILURE
        }
    }
}

/// The child: one problem as JSON on stdout.
fn one(task: &Task) -> Result<()> {
    let measured = measure(task)?;
    let text = serde_json::to_string(&measured).map_err(|cause| failed("writing a measurement", &cause))?;
    print(&text)
}

/// The outcomes of a dense network. Says whether they reach their target.
fn dense_network(args: &Args) -> Result<bool> {
    let rates = network::measure(if args.quick { 8 } else { 32 })?;
    print(&rates.table())?;
    Ok(rates.holds())
}

/// The parent: one process after the other, then the tables on stdout. Says whether all checks hold.
fn all(args: &Args) -> Result<bool> {
    let default_depths: &[u32] = if args.quick { &[2] } else { &[2, 3] };
    let depths = if args.depth.is_empty() { default_depths } else { &args.depth };
    let mut measurements = Vec::new();
    for &depth in depths {
        for name in &args.datasets {
            let folder = args.paper.join(name).join("fold1");
            if !folder.join("model.txt").is_file() {
                say(&format!("SKIPPED: {name}, there is no {}/model.txt", folder.display()));
                continue;
            }
            say(&format!("{name}, depth {depth} …"));
            measurements.push(in_own_process(&Task {
                name: name.clone(),
                paper: args.paper.clone(),
                depth,
                runs: args.runs.unwrap_or(if args.quick { 1 } else { 3 }),
                budget: args.budget.unwrap_or(if args.quick { 2.0 } else { 20.0 }),
                time_limit: args.time_limit,
            })?);
        }
    }
    if measurements.is_empty() {
        say("nothing was measured");
        return Ok(true);
    }
    print(&report(&measurements))?;
    Ok(measurements.iter().all(holds))
}

fn in_own_process(task: &Task) -> Result<Measurement> {
    let program = std::env::current_exe().map_err(|cause| failed("finding this program", &cause))?;
    let mut command = Command::new(program);
    command.arg("one").arg(&task.name).arg("--paper").arg::<&Path>(&task.paper);
    command.arg("--depth").arg(task.depth.to_string()).arg("--runs").arg(task.runs.to_string());
    command.arg("--budget").arg(task.budget.to_string());
    if let Some(seconds) = task.time_limit {
        command.arg("--time-limit").arg(seconds.to_string());
    }
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|cause| failed("starting a process", &cause))?;
    if !output.status.success() {
        return Err(failed(&format!("{}, depth {}", task.name, task.depth), &output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|cause| failed("reading a measurement", &cause))
}

fn failed(what: &str, cause: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Usage, format!("{what}: {cause}"))
}

fn print(text: &str) -> Result<()> {
    writeln!(std::io::stdout().lock(), "{text}").map_err(|cause| failed("writing to stdout", &cause))
}

/// Progress, on stderr; nobody minds if it can't be written.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
