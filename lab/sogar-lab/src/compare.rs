//! `sogar-lab compare`: sogar and the competing methods on one table, scored by the same code.

mod results;
mod text;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use sogar::evaluate::HeldOut;
use sogar::pipeline::{Prepared, Reporter};
use sogar::plot::{Look, Mark, front_svg, marks_svg};
use sogar::{Error, ErrorKind, Result};
use sogar_baselines::FitStatus;
use sogar_baselines::contest::{Contest, Entry};
use sogar_baselines::methods::{Method, choose};

use sogar_cli::args::InputArgs;
use sogar_cli::commands::plot::pixels;
use sogar_cli::commands::solve::{held_out, prepare_everybody, refuse_codes, refuse_sample, refuse_weights};
use sogar_cli::files::Outputs;
use sogar_cli::interrupt;
use sogar_cli::output::{Exit, Output};
use sogar_cli::progress::Bars;

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Which methods: all, or names such as sogar,cet,ares,globe-ce,glance,t-crex-0.9
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub methods: Vec<String>,
    /// Also score what was learned on the rows of this table
    #[arg(long, value_name = "TABLE")]
    pub holdout: Option<PathBuf>,
    /// Also say what each method learned
    #[arg(long)]
    pub describe: bool,
    /// Write the methods on the front as a figure (.svg, .png), or all results as JSON (.json); may be repeated
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Also write the table as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// A table, a model and what to do with them; the time limit is each method's own
    #[command(flatten)]
    pub input: InputArgs,
}

/// The format of an output file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Svg,
    Png,
    Json,
}

pub fn run(args: &CompareArgs, output: &Output) -> Result<Exit> {
    let methods = choose(&args.methods)?;
    let files: Vec<(&Path, Written)> =
        args.output.iter().map(|path| Ok((path.as_path(), written(path)?))).collect::<Result<_>>()?;
    let inputs = args.input.files();
    let mut outputs = Outputs::new(args.output.iter().chain(&args.csv))
        .folders(&args.input.outcomes_cache)
        .inputs(inputs.iter().chain(&args.holdout))
        .checked()?;
    let prepared = prepare_everybody(&args.input, output)?;
    refuse_sample(&prepared, "compare")?;
    refuse_weights(&prepared, "compare")?;
    refuse_codes(&prepared, "compare")?;
    let held_out = args.holdout.as_deref().map(|path| held_out(&prepared, path)).transpose()?;
    for notice in held_out.as_ref().map_or(&[][..], |held_out| &held_out.notices) {
        output.notice(notice);
    }
    let entries = contest(&prepared, held_out.as_ref(), &methods, output);
    interrupt::finish();
    if entries.iter().all(|entry| entry.score.is_none()) {
        return Err(nothing(&entries));
    }
    let results = results::as_json(&prepared, &entries);
    for (path, what) in files {
        let bytes = match what {
            Written::Json => format!("{results}\n").into_bytes(),
            Written::Svg => figure(&entries).into_bytes(),
            Written::Png => pixels(&figure(&entries), 2.0)?,
        };
        outputs.write(path, |out| out.write_all(&bytes))?;
    }
    if let Some(path) = &args.csv {
        let csv = results::as_csv(&entries);
        outputs.write(path, |out| out.write_all(csv.as_bytes()))?;
    }
    if output.json {
        output.print_json(&results)?;
    } else {
        output.print(text::text(&prepared, held_out.as_ref(), &entries, args.describe))?;
        for path in args.output.iter().chain(&args.csv) {
            output.print(format!("Written to {}.\n", path.display()))?;
        }
    }
    let early = |entry: &Entry| {
        matches!(entry.status, FitStatus::TimeLimit | FitStatus::MemoryLimit | FitStatus::Cancelled)
    };
    Ok(if entries.iter().any(early) || entries.len() < methods.len() {
        Exit::Stopped
    } else {
        Exit::Complete
    })
}

/// Runs one method after the other; Ctrl-C ends the running one, and none follows.
fn contest(
    prepared: &Prepared,
    held_out: Option<&HeldOut>,
    methods: &[&'static Method],
    output: &Output,
) -> Vec<Entry> {
    let cancel = interrupt::token();
    let contest = Contest {
        prepared,
        held_out,
        seed: prepared.config().seed,
        time_limit: prepared
            .config()
            .limits
            .time_limit
            .and_then(|limit| Duration::try_from_secs_f64(limit).ok()),
        cancel: &cancel,
    };
    let bars = Bars::new(output);
    let mut entries = Vec::with_capacity(methods.len());
    for (done, method) in methods.iter().enumerate() {
        if cancel.is_cancelled() {
            let left: Vec<&str> = methods[done..].iter().map(|method| method.name).collect();
            bars.clear();
            output.warning(format!("stopped early: {} did not run", left.join(", ")));
            break;
        }
        bars.checking(&format!("comparing: {}", method.title), done, methods.len());
        entries.push(contest.run(method, &bars));
    }
    bars.clear();
    entries
}

fn nothing(entries: &[Entry]) -> Error {
    let reason = entries.iter().find_map(Entry::reason).unwrap_or("every method was stopped");
    Error::new(ErrorKind::Population, format!("no method has a result: {reason}"))
        .help("name other methods with --methods")
}

/// The format that a file's name implies.
fn written(path: &Path) -> Result<Written> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("svg") => Ok(Written::Svg),
        Some("png") => Ok(Written::Png),
        Some("json") => Ok(Written::Json),
        _ => Err(Error::new(ErrorKind::Usage, "the file's name does not tell what to write")
            .file(path)
            .help("let it end in .svg or .png for the figure, in .json for the results")),
    }
}

/// The methods by cost and loss, on sogar's front if it took part.
fn figure(entries: &[Entry]) -> String {
    let mark = |entry: &Entry| {
        let score = entry.score?;
        Some(Mark { name: entry.method.title.to_owned(), cost: score.cost, loss: score.loss })
    };
    let front = entries.iter().find_map(|entry| entry.front.as_ref());
    let others = entries.iter().filter(|entry| entry.front.is_none());
    let look = Look { marks: others.filter_map(mark).collect(), ..Look::default() };
    match front {
        Some(front) => front_svg(front, &look),
        None => marks_svg(&look),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_tell_what_is_written() {
        assert_eq!(written(Path::new("a/b.SVG")).unwrap(), Written::Svg);
        assert_eq!(written(Path::new("b.json")).unwrap(), Written::Json);
        for bad in ["figure", "figure.pdf", ".svg"] {
            assert!(written(Path::new(bad)).is_err(), "{bad}");
        }
    }
}
