//! `sogar-lab bench`: the benchmark, which `make bench` runs.
//!
//! Solves the four data sets of the published protocol and their readable versions ([`problems`]), and in the same run times the
//! published leaf evaluation on the same problems ([`reference_kernel`]). Every problem runs in a process of its own
//! ([`mod@measure`]); the parent only collects what they found into Markdown tables ([`mod@report`]). How times grow with the size
//! of a problem is shown by [`growth`]. The columns are explained in `docs/BENCHMARKS.md`.

mod gpu;
mod growth;
mod leaf_sets;
mod measure;
mod network;
mod problems;
mod reference_kernel;
mod report;
mod variation;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, Subcommand};
use sogar::{Error, ErrorKind, Result};
use sogar_cli::output::Exit;

use measure::{Measurement, Task, measure};
use problems::{PRESETS, folder, plan};
use report::{holds, report};
use variation::Variation;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    /// Directory that scripts/paper_models.py wrote: [readable-]NAME/fold1/{train.csv,model.txt}
    #[arg(long, default_value = "target/paper")]
    paper: PathBuf,
    /// Presets
    #[arg(long, value_delimiter = ',', default_values = PRESETS)]
    datasets: Vec<String>,
    /// Depths [default: 2,3 and for German 4, with --time-limit 4 for all; with --quick: 2]
    #[arg(long, value_delimiter = ',')]
    depth: Vec<u32>,
    /// Runs of sogar for each problem [default: 3; with --quick: 1]
    #[arg(long)]
    runs: Option<usize>,
    /// Seconds for the reference kernel, in each of its two orders [default: 20; with --quick: 2]
    #[arg(long)]
    budget: Option<f64>,
    /// Seconds after which a search is stopped [default: none; with --growth: 120]
    #[arg(long)]
    time_limit: Option<f64>,
    /// Only the table that shows how times grow with rows, splits, actions and depth
    #[arg(long, conflicts_with = "network")]
    growth: bool,
    /// A short look: depth 2, one run, a small sample for the reference kernel
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

pub fn run(args: &BenchArgs) -> Result<Exit> {
    let good = match &args.command {
        Some(Internal::One(task)) => one(task).map(|()| true),
        None if args.network => dense_network(args),
        None if args.growth => grow(args).map(|()| true),
        None => all(args),
    }?;
    Ok(if good { Exit::Complete } else { Exit::Failed })
}

/// The child: one problem as JSON on stdout.
fn one(task: &Task) -> Result<()> {
    let measured = measure(task)?;
    let text = serde_json::to_string(&measured).map_err(|cause| failed("writing a measurement", &cause))?;
    print(&text)
}

/// The outcomes of a dense network. Says whether they reach their target.
fn dense_network(args: &BenchArgs) -> Result<bool> {
    let rates = network::measure(if args.quick { 8 } else { 32 })?;
    print(&rates.table())?;
    Ok(rates.holds())
}

/// The parent: one process after the other, then the tables on stdout. Says whether all checks hold.
fn all(args: &BenchArgs) -> Result<bool> {
    let mut measurements = Vec::new();
    for (name, depth) in plan(&args.datasets, &args.depth, args.quick, args.time_limit.is_some()) {
        measurements.extend(in_own_process(&Task {
            name,
            paper: args.paper.clone(),
            depth,
            runs: args.runs.unwrap_or(if args.quick { 1 } else { 3 }),
            budget: args.budget.unwrap_or(if args.quick { 2.0 } else { 20.0 }),
            time_limit: args.time_limit,
            alone: false,
            variation: Variation::default(),
        })?);
    }
    if measurements.is_empty() {
        say("nothing was measured");
        return Ok(true);
    }
    print(&report(&measurements))?;
    Ok(measurements.iter().all(holds))
}

/// The table of growth.
fn grow(args: &BenchArgs) -> Result<()> {
    let mut measured = Vec::new();
    for case in growth::cases(args.quick) {
        let found = in_own_process(&Task {
            name: case.preset.to_owned(),
            paper: args.paper.clone(),
            depth: case.depth,
            runs: args.runs.unwrap_or(1),
            budget: 0.0,
            time_limit: args.time_limit.or(Some(120.0)),
            alone: true,
            variation: case.variation.clone(),
        })?;
        measured.extend(found.map(|found| (case, found)));
    }
    print(&growth::table(&measured))
}

/// Measures a problem, unless its files are not there.
fn in_own_process(task: &Task) -> Result<Option<Measurement>> {
    let Task { name, depth, .. } = task;
    let folder = folder(name, &task.paper);
    if !folder.join("model.txt").is_file() {
        say(&format!("SKIPPED: {name}, there is no {}/model.txt", folder.display()));
        return Ok(None);
    }
    let flags: String = task.variation.flags().iter().map(|flag| format!(" {flag}")).collect();
    say(&format!("{name}, depth {depth}{flags} …"));
    let program = std::env::current_exe().map_err(|cause| failed("finding this program", &cause))?;
    let mut command = Command::new(program);
    command.args(["bench", "one"]).arg(&task.name).arg("--paper").arg::<&Path>(&task.paper);
    command.arg("--depth").arg(task.depth.to_string()).arg("--runs").arg(task.runs.to_string());
    command.arg("--budget").arg(task.budget.to_string()).args(task.variation.flags());
    if task.alone {
        command.arg("--alone");
    }
    if let Some(seconds) = task.time_limit {
        command.arg("--time-limit").arg(seconds.to_string());
    }
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|cause| failed("starting a process", &cause))?;
    if !output.status.success() {
        return Err(failed(&format!("{}, depth {}", task.name, task.depth), &output.status));
    }
    let found = serde_json::from_slice(&output.stdout);
    found.map(Some).map_err(|cause| failed("reading a measurement", &cause))
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
