//! `sogar-lab bench`: the benchmark, which `make bench` runs.
//!
//! Solves data sets, generated tables and plain matrices ([`problems`]), and in the same run times the strongest plain program on the same problems
//! ([`plain`]) and, if wanted, another build of sogar ([`against`]). Every problem runs in its own process
//! ([`mod@measure`]); the parent only collects the results into Markdown tables ([`mod@report`]). [`growth`] shows how times grow
//! with the size of a problem, [`anytime`] how a search gets better while it runs, and [`ceiling`] what pruning could save at most.
//! `docs/BENCHMARKS.md` explains the columns.

mod against;
mod anytime;
mod ceiling;
mod gpu;
mod growth;
mod lattice;
mod matrices;
mod measure;
mod network;
mod plain;
mod problems;
mod report;
mod stopwatch;
mod variation;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::{Args, Subcommand};
use sogar::{Error, ErrorKind, Result};
use sogar_cli::output::Exit;

use measure::{Measurement, Part, Task, measure};
use problems::{Case, Places, is_matrix, missing, plan};
use report::{holds, report};
use variation::Variation;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    #[command(flatten)]
    places: Places,
    /// Presets, generated tables, `demo`, and plain matrices (`matrix-...`) [default: all]
    #[arg(long, value_delimiter = ',')]
    datasets: Vec<String>,
    /// Depths [default: those of each problem]
    #[arg(long, value_delimiter = ',')]
    depth: Vec<u32>,
    #[command(flatten)]
    variation: Variation,
    /// Runs of sogar for each problem, unless the first takes long [default: 3; with --quick: 1]
    #[arg(long)]
    runs: Option<usize>,
    /// Seconds for the plain program [default: 20; with --quick: 2]
    #[arg(long)]
    budget: Option<f64>,
    /// Seconds after which a search is stopped [default: 300; with --growth: 120]
    #[arg(long)]
    time_limit: Option<f64>,
    /// Another build of `sogar` to run on the same problems
    #[arg(long, value_name = "PROGRAM")]
    against: Option<PathBuf>,
    /// Only sogar (and --against), without the plain program
    #[arg(long)]
    alone: bool,
    /// Only the table that shows how times grow with rows, splits, actions and depth
    #[arg(long, group = "part")]
    growth: bool,
    /// Only how fronts and certified gaps get better while a search runs
    #[arg(long, group = "part")]
    anytime: bool,
    /// Only what pruning against the root's front could save, with perfect knowledge
    #[arg(long, group = "part")]
    ceiling: bool,
    /// A short look: depth 2, one run, a small sample for the plain program
    #[arg(long)]
    quick: bool,
    /// Only the outcomes of a dense network, beside matrix products of the same shapes
    #[arg(long, group = "part")]
    network: bool,
    #[command(subcommand)]
    command: Option<Internal>,
}

#[derive(Debug, Subcommand)]
enum Internal {
    /// Measures one problem and prints it as JSON: what the benchmark runs in processes of their own
    #[command(hide = true)]
    One {
        /// The task as JSON
        task: String,
    },
}

pub fn run(args: &BenchArgs) -> Result<Exit> {
    let good = match &args.command {
        Some(Internal::One { task }) => one(task).map(|()| true),
        None if args.network => dense_network(args),
        None if args.growth => grow(args).map(|()| true),
        None if args.anytime => over_time(args).map(|()| true),
        None if args.ceiling => ceilings(args).map(|()| true),
        None => all(args),
    }?;
    Ok(if good { Exit::Complete } else { Exit::Failed })
}

/// The child: one problem as JSON on stdout.
fn one(task: &str) -> Result<()> {
    let task: Task = serde_json::from_str(task).map_err(|cause| failed("reading a task", &cause))?;
    let measured = measure(&task)?;
    let text = serde_json::to_string(&measured).map_err(|cause| failed("writing a measurement", &cause))?;
    print(&text)
}

/// The outcomes of a dense network. Returns whether they reach their target.
fn dense_network(args: &BenchArgs) -> Result<bool> {
    let rates = network::measure(if args.quick { 8 } else { 32 })?;
    print(&rates.table())?;
    Ok(rates.holds())
}

impl BenchArgs {
    fn task(&self, case: Case, part: Part, time_limit: f64) -> Task {
        Task {
            case,
            places: self.places.clone(),
            runs: self.runs.unwrap_or(if self.quick || part != Part::WithPlain { 1 } else { 3 }),
            budget: self.budget.unwrap_or(if self.quick { 2.0 } else { 20.0 }),
            time_limit: Some(self.time_limit.unwrap_or(time_limit)),
            part,
            against: self.against.clone(),
        }
    }

    fn cases(&self) -> Vec<Case> {
        plan(&self.datasets, &self.depth, &self.variation, self.quick)
    }

    /// The named problems, or some defaults.
    fn cases_or(&self, defaults: &[(&str, u32)]) -> Vec<Case> {
        match self.datasets.is_empty() {
            true => defaults.iter().map(|&(name, depth)| Case::new(name, depth)).collect(),
            false => self.cases(),
        }
    }
}

/// The parent: one process after the other, then the tables on stdout. Returns whether all checks hold.
fn all(args: &BenchArgs) -> Result<bool> {
    let part = if args.alone { Part::Alone } else { Part::WithPlain };
    let mut measurements = Vec::new();
    for case in args.cases() {
        measurements.extend(in_own_process(&args.task(case, part, 300.0))?);
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
        let found = in_own_process(&args.task(case.problem.clone(), Part::Alone, 120.0))?;
        measured.extend(found.map(|found| (case, found)));
    }
    print(&growth::table(&measured))
}

/// How searches get better while they run.
fn over_time(args: &BenchArgs) -> Result<()> {
    let mut measured = Vec::new();
    for case in args.cases_or(&[("paper-bank", 4), ("paper-adult", 4), ("numeric12", 3), ("numeric24", 2)]) {
        let name = case.text();
        let found = in_own_process(&args.task(case, Part::Anytime, 600.0))?;
        measured.extend(found.map(|found| (name, found.anytime)));
    }
    print(&anytime::table(&measured))
}

/// What pruning could save.
fn ceilings(args: &BenchArgs) -> Result<()> {
    let mut measured = Vec::new();
    let mut cases = args.cases_or(&[
        ("paper-german", 3),
        ("paper-attrition", 3),
        ("paper-bank", 3),
        ("paper-adult", 3),
        ("numeric12", 3),
    ]);
    if args.datasets.is_empty() {
        let small = |cost: Option<&str>, min_leaf| Variation {
            cost: cost.map(str::to_owned),
            min_leaf: Some(min_leaf),
            ..Variation::default()
        };
        for variation in [small(None, 20), small(Some("cet"), 15)] {
            cases.push(Case { name: "paper-attrition".to_owned(), depth: 3, variation });
        }
    }
    for case in cases {
        let name = case.text();
        match in_own_process(&args.task(case, Part::Ceiling, 600.0))?.map(|found| found.ceiling) {
            Some(Some(found)) => measured.push((name, found)),
            Some(None) => say(&format!("{name}: too many sets to list, or weights")),
            None => {}
        }
    }
    print(&ceiling::table(&measured))
}

/// Measures a problem, unless its files are missing.
fn in_own_process(task: &Task) -> Result<Option<Measurement>> {
    if !is_matrix(&task.case.name) && task.places.files(&task.case.name).is_none() {
        say(&missing(&task.places, &task.case.name));
        return Ok(None);
    }
    say(&format!("{} …", task.case.text()));
    let program = std::env::current_exe().map_err(|cause| failed("finding this program", &cause))?;
    let text = serde_json::to_string(task).map_err(|cause| failed("writing a task", &cause))?;
    let output = Command::new(program).args(["bench", "one", &text]).stderr(Stdio::inherit()).output();
    let output = output.map_err(|cause| failed("starting a process", &cause))?;
    if !output.status.success() {
        return Err(failed(&task.case.text(), &output.status));
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

/// Progress on stderr; write errors are ignored.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
