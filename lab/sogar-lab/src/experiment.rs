//! `sogar-lab experiment`: repeats the published evaluation, or a part of it, and compares it with the published figures.

mod verify;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use clap::Args;
use serde_json::json;
use sogar::error::suggest;
use sogar::{Error, ErrorKind, Result};
use sogar_baselines::methods::choose;
use sogar_experiment::inputs::{data_sets, folds, kinds};
use sogar_experiment::{
    Cell, CellResult, Listener, Name, PATIENCE, Page, Paper, Protocol, Request, Runner, Store, Tables,
};

use sogar_cli::files::require_folder;
use sogar_cli::interrupt;
use sogar_cli::output::{Exit, Output, seconds};
use sogar_cli::progress::Bars;

#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// table1, timeouts, depth, sparsity, bins, hardware, generalization, audit, choice, hypotheses, or all; or verify: run stored cells again
    pub name: String,
    /// What is run, as a file in LAB/protocols; `variants` for every variant of `paper` [default: paper; with its variants for choice and hypotheses]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub protocol: Vec<String>,
    /// Folds of the ten, such as 1, 1,3 or 1-10 [default: 1-10; 1 with --quick, and for audit; 1,2 for choice and hypotheses]
    #[arg(long, value_name = "FOLDS")]
    pub folds: Option<String>,
    /// attrition, german, bank, adult or all [default: all; attrition,german with --quick; adult for audit]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub datasets: Vec<String>,
    /// lightgbm, xgboost, dnn or all [default: all for table1, generalization and hypotheses, else lightgbm]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub models: Vec<String>,
    /// Settings of what the experiment varies, such as 2 for depth or `10 s` for timeouts [default: all of them]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub settings: Vec<String>,
    /// Methods of table1 and audit, as in `sogar-lab compare`; `readings` adds further readings of them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub methods: Vec<String>,
    /// Seconds for a method, and for sogar's search unless the experiment varies them [default: 600, sogar unlimited; 10 with --quick]
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<f64>,
    /// One fold, two small data sets, and short limits: minutes instead of hours
    #[arg(long)]
    pub quick: bool,
    /// Where protocols are, and the cells that have been run
    #[arg(long, value_name = "DIR", default_value = "lab")]
    pub lab: PathBuf,
    /// Where finished cells are kept [default: LAB/cells]
    #[arg(long, value_name = "DIR")]
    pub cells: Option<PathBuf>,
    /// Where tables and models are: what `scripts/paper_models.py --out` was given
    #[arg(long, value_name = "DIR", default_value = "target/paper")]
    pub paper: PathBuf,
    /// Where tables are written
    #[arg(long, short, value_name = "DIR", default_value = "experiments")]
    pub out: PathBuf,
    /// Run nothing; write the tables of what is there
    #[arg(long)]
    pub tables_only: bool,
    /// A results page whose tables and figures are written anew, such as docs/EXPERIMENTS.md
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// The machine has nothing else to do, so tables may show the times of this run
    #[arg(long)]
    pub timed: bool,
    /// Cells that verify runs again, drawn by lot
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub sample: usize,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl ExperimentArgs {
    fn protocols(&self) -> PathBuf {
        self.lab.join("protocols")
    }

    fn cells(&self) -> PathBuf {
        self.cells.clone().unwrap_or_else(|| self.lab.join("cells"))
    }
}

pub fn run(args: &ExperimentArgs, output: &Output) -> Result<Exit> {
    if args.threads == Some(0) || args.time_limit.is_some_and(|limit| !limit.is_finite() || limit <= 0.0) {
        return Err(Error::new(ErrorKind::Usage, "--threads and --time-limit are numbers above 0"));
    }
    if args.name == "verify" {
        return verify::run(args, output);
    }
    let requests: Vec<Request> =
        Name::parse(&args.name)?.into_iter().map(|name| request(name, args)).collect::<Result<_>>()?;
    let paper = Paper::new(&args.paper);
    let cancel = interrupt::token();
    let runner = runner(args, &paper, &cancel);
    let mut store = Store::open(&args.cells())?;
    let mut plans: Vec<(&Request, Vec<Cell>)> =
        requests.iter().map(|request| (request, request.cells())).collect();
    only_settings(&args.settings, &mut plans)?;
    if !args.tables_only {
        // A cell with missing files would stop the experiment after hours: check all of them first.
        for (_, cells) in &plans {
            runner.missing(cells, &store)?;
        }
        require_folder(&args.cells())?;
    }
    require_folder(&args.out)?;
    let mut complete = true;
    let mut written = Vec::new();
    for (request, cells) in &plans {
        if !args.tables_only && complete {
            let missing = runner.missing(cells, &store)?.len();
            if !output.json {
                let (name, all) = (request.name.name(), cells.len());
                output.notice(format!("{name}: {all} cells, {missing} of them still to be run"));
            }
            let progress = Lines::new(output);
            complete = runner.run(cells, &mut store, &progress, &progress.bars)?;
            progress.bars.clear();
        }
        complete &= cells.iter().all(|cell| store.get(cell).is_some());
        let tables = Tables::new(request.name, cells, &store);
        written.extend(tables.write(&args.out)?);
        if !output.json && args.page.is_none() {
            output.print(tables.markdown() + "\n")?;
        }
    }
    if let Some(page) = &args.page {
        written.extend(Page::read(page)?.write(&store, &all_protocols(&args.protocols())?)?);
    }
    if output.json {
        output.print_json(&json!({ "complete": complete, "written": written }))?;
    } else {
        let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        output.print(format!("Written to {}.\n", files.join(", ")))?;
        if !complete && !args.tables_only {
            output.warning("not all cells have been run; the same command goes on from here");
        }
    }
    Ok(if complete || args.tables_only { Exit::Complete } else { Exit::Stopped })
}

/// Keeps the cells with these settings; without any, all of them.
fn only_settings(wanted: &[String], plans: &mut [(&Request, Vec<Cell>)]) -> Result<()> {
    let labels = plans.iter().flat_map(|(_, cells)| cells).map(|cell| cell.setting.label.as_str());
    let known: BTreeSet<&str> = labels.filter(|label| !label.is_empty()).collect();
    if let Some(name) = wanted.iter().find(|name| !known.contains(name.as_str())) {
        return Err(Error::new(ErrorKind::Usage, format!("no cell has the setting `{name}`"))
            .help(suggest(name, known)));
    }
    for (_, cells) in plans.iter_mut().filter(|_| !wanted.is_empty()) {
        cells.retain(|cell| wanted.contains(&cell.setting.label));
    }
    Ok(())
}

fn runner<'a>(args: &ExperimentArgs, paper: &'a Paper, cancel: &'a sogar::CancelToken) -> Runner<'a> {
    Runner { paper, folder: args.out.clone(), threads: args.threads, timed: args.timed, cancel }
}

fn all_protocols(folder: &Path) -> Result<Vec<Arc<Protocol>>> {
    Ok(Protocol::all(folder)?.into_iter().map(Arc::new).collect())
}

/// The protocols of an experiment: those named, or the published one, with its candidates or variants where these are compared.
fn protocols(name: Name, args: &ExperimentArgs) -> Result<Vec<Arc<Protocol>>> {
    let folder = args.protocols();
    let usual: &[&str] = match name {
        Name::Choice | Name::Hypotheses => &["paper", "variants"],
        _ => &["paper"],
    };
    let given: Vec<&str> = args.protocol.iter().map(String::as_str).collect();
    let mut found: Vec<Arc<Protocol>> = Vec::new();
    for chosen in if given.is_empty() { usual } else { &given } {
        if *chosen == "variants" {
            let wanted = |protocol: &Arc<Protocol>| {
                protocol.base.is_some() && (name != Name::Choice || protocol.candidate)
            };
            found.extend(all_protocols(&folder)?.into_iter().filter(wanted));
        } else {
            found.push(Arc::new(Protocol::read(&folder, chosen)?));
        }
    }
    Ok(found)
}

fn request(name: Name, args: &ExperimentArgs) -> Result<Request> {
    let or = |given: &[String], usual: &[&str]| {
        let usual = || usual.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        if given.is_empty() { usual() } else { given.to_vec() }
    };
    let all_models = matches!(name, Name::Table1 | Name::Generalization | Name::Hypotheses);
    let data: &[&str] = match name {
        _ if args.quick => &["attrition", "german"],
        Name::Audit => &["adult"],
        _ => &["all"],
    };
    let usual_folds = match name {
        _ if args.quick => "1",
        Name::Audit => "1",
        Name::Choice | Name::Hypotheses => "1,2",
        _ => "1-10",
    };
    Ok(Request {
        name,
        data: data_sets(&or(&args.datasets, data))?,
        kinds: kinds(&or(&args.models, if all_models { &["all"] } else { &["lightgbm"] }))?,
        folds: folds(args.folds.as_deref().unwrap_or(usual_folds))?,
        methods: choose(&args.methods)?,
        protocols: protocols(name, args)?,
        patience: args.time_limit.unwrap_or(if args.quick { QUICK } else { PATIENCE }),
        time_limit: args.time_limit.or(args.quick.then_some(QUICK)),
        quick: args.quick,
        seed: args.seed,
    })
}

/// Seconds for each method in a quick run.
const QUICK: f64 = 10.0;

/// A line on stderr for each finished cell, with the estimated remaining time.
struct Lines<'a> {
    output: &'a Output,
    bars: Bars<'a>,
    start: Instant,
    /// Cells finished so far, and all.
    counts: Mutex<(usize, usize)>,
}

impl<'a> Lines<'a> {
    fn new(output: &'a Output) -> Self {
        Lines { output, bars: Bars::new(output), start: Instant::now(), counts: Mutex::default() }
    }
}

impl Listener for Lines<'_> {
    fn begins(&self, _: &Cell, done: usize, all: usize) {
        if let Ok(mut counts) = self.counts.lock() {
            *counts = (done, all);
        }
    }

    fn finished(&self, cell: &Cell, result: &CellResult) {
        self.bars.clear();
        let (before, all) = self.counts.lock().map_or((0, 0), |counts| *counts);
        let done = before + 1;
        let left = self.start.elapsed().as_secs_f64() / done as f64 * (all - done) as f64;
        let found = match result.train {
            Some(train) => format!("invalidity {:.3}", train.invalidity()),
            None => "no result".to_owned(),
        };
        let rest = if done < all { format!("; about {} left", seconds(left)) } else { String::new() };
        self.output.notice(format!(
            "[{done}/{all}] {}: {found}, {}{rest}",
            cell.title(),
            seconds(result.seconds)
        ));
    }
}
