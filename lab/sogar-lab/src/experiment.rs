//! `sogar-lab experiment`: the published evaluation, or a part of it, run again and laid beside the published figures.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde_json::json;
use sogar::config::CostKind;
use sogar::{Error, ErrorKind, Result};
use sogar_baselines::experiment::inputs::{classifiers, data_sets, folds};
use sogar_baselines::experiment::{
    Cell, CellResult, Listener, Name, PATIENCE, Paper, Request, Runner, Tables,
};
use sogar_baselines::methods::choose;

use sogar_cli::files::require_folder;
use sogar_cli::interrupt;
use sogar_cli::output::{Exit, Output, seconds};
use sogar_cli::progress::Bars;

#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// table1, timeouts, depth, sparsity, bins, hardware, generalization, audit, or all
    pub name: String,
    /// Folds of the ten, such as 1, 1,3 or 1-10 [default: 1-10; 1 with --quick, and for audit]
    #[arg(long, value_name = "FOLDS")]
    pub folds: Option<String>,
    /// attrition, german, bank, adult or all [default: all; attrition,german with --quick; adult for audit]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub datasets: Vec<String>,
    /// lightgbm, xgboost, dnn or all [default: all for table1 and generalization, else lightgbm]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub models: Vec<String>,
    /// Methods of table1, as in `sogar-lab compare`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub methods: Vec<String>,
    /// The recourse cost; both variants with mps,cet
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mps")]
    pub cost: Vec<CostVariant>,
    /// Seconds for a method, and for sogar's search unless the experiment varies them [default: 3600, sogar unlimited; 60 with --quick]
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<f64>,
    /// One fold, two small data sets, and short limits: minutes instead of hours
    #[arg(long)]
    pub quick: bool,
    /// Where tables and models are: what `scripts/paper_models.py --out` was given
    #[arg(long, value_name = "DIR", default_value = "target/paper")]
    pub paper: PathBuf,
    /// Where finished cells are kept, and tables are written
    #[arg(long, short, value_name = "DIR", default_value = "experiments")]
    pub out: PathBuf,
    /// Run nothing; write the tables of what is there
    #[arg(long)]
    pub tables_only: bool,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CostVariant {
    /// Maximum percentile shift
    Mps,
    /// Maximum percentile shift as the authors of CET compute it
    Cet,
}

pub fn run(args: &ExperimentArgs, output: &Output) -> Result<Exit> {
    let requests: Vec<Request> =
        Name::parse(&args.name)?.into_iter().map(|name| request(name, args)).collect::<Result<_>>()?;
    if args.threads == Some(0) || args.time_limit.is_some_and(|limit| !limit.is_finite() || limit <= 0.0) {
        return Err(Error::new(ErrorKind::Usage, "--threads and --time-limit are numbers above 0"));
    }
    let paper = Paper::new(&args.paper);
    let cancel = interrupt::token();
    let runner = Runner { paper: &paper, folder: args.out.clone(), threads: args.threads, cancel: &cancel };
    // A cell without its files would stop the experiment after hours: all are looked for first.
    let plans: Vec<(&Request, Vec<Cell>)> =
        requests.iter().map(|request| (request, request.cells())).collect();
    for (_, cells) in &plans {
        runner.kept(cells)?;
    }
    require_folder(&runner.cells())?;
    let mut complete = true;
    let mut written = Vec::new();
    for (request, cells) in &plans {
        let kept = runner.kept(cells)?;
        if !args.tables_only && complete {
            let missing = kept.iter().filter(|kept| kept.is_none()).count();
            if !output.json {
                output.notice(format!(
                    "{}: {} cells, {missing} of them still to be run",
                    request.name.name(),
                    cells.len()
                ));
            }
            let progress = Lines::new(output);
            complete = runner.run(cells, &progress, &progress.bars)?;
            progress.bars.clear();
        }
        let results = runner.kept(cells)?;
        complete &= results.iter().all(Option::is_some);
        let tables = Tables::new(request.name, cells, &results);
        written.extend(tables.write(&args.out)?);
        if !output.json {
            output.print(tables.markdown() + "\n")?;
        }
    }
    if output.json {
        output.print_json(&json!({ "complete": complete, "written": written }))?;
    } else {
        let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        output.print(format!("Written to {}.\n", files.join(", ")))?;
        if !complete {
            output.warning("not all cells have been run; the same command goes on from here");
        }
    }
    Ok(if complete { Exit::Complete } else { Exit::Stopped })
}

fn request(name: Name, args: &ExperimentArgs) -> Result<Request> {
    let or = |given: &[String], usual: &[&str]| {
        let usual = || usual.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        if given.is_empty() { usual() } else { given.to_vec() }
    };
    let all_models = matches!(name, Name::Table1 | Name::Generalization);
    let data: &[&str] = match name {
        _ if args.quick => &["attrition", "german"],
        Name::Audit => &["adult"],
        _ => &["all"],
    };
    let usual_folds = if args.quick || name == Name::Audit { "1" } else { "1-10" };
    let costs = args.cost.iter().map(|cost| match cost {
        CostVariant::Mps => CostKind::Mps,
        CostVariant::Cet => CostKind::Cet,
    });
    Ok(Request {
        name,
        data: data_sets(&or(&args.datasets, data))?,
        models: classifiers(&or(&args.models, if all_models { &["all"] } else { &["lightgbm"] }))?,
        folds: folds(args.folds.as_deref().unwrap_or(usual_folds))?,
        costs: costs.collect(),
        methods: choose(&args.methods)?,
        patience: args.time_limit.unwrap_or(if args.quick { 60.0 } else { PATIENCE }),
        time_limit: args.time_limit,
        quick: args.quick,
        seed: args.seed,
    })
}

/// A line on stderr for each finished cell, with the time that the rest may take.
struct Lines<'a> {
    output: &'a Output,
    bars: Bars<'a>,
    start: Instant,
    /// Cells finished before the one that runs, and all.
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
        let found = match result.score {
            Some(score) => format!("invalidity {:.3}", score.invalidity),
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
