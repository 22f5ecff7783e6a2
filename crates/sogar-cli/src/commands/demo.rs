//! `sogar demo`: solves the embedded German Credit example in one command.

use sogar::Result;
use sogar::config::Config;
use sogar::files::write_atomically;
use sogar::pipeline::Prepared;
use sogar::report::{Opened, ReportRequest};
use sogar::table::Table;
use sogar::{Error, ErrorKind, model};

use crate::args::DemoArgs;
use crate::commands::report::{Format, write as write_report};
use crate::commands::solve::{exit_of, report, solve};
use crate::interrupt;
use crate::output::{Exit, Output};

/// How the report groups people.
const GROUPS: [&str; 2] = ["status_sex", "age<=25"];

/// The example's files, as in `examples/german`.
const FILES: [(&str, &str); 4] = [
    ("german.csv", include_str!("../../../../examples/german/german.csv")),
    ("model.txt", include_str!("../../../../examples/german/model.txt")),
    ("sogar.toml", include_str!("../../../../examples/german/sogar.toml")),
    ("CITATION.md", include_str!("../../../../examples/german/CITATION.md")),
];

pub fn run(args: &DemoArgs, output: &Output) -> Result<Exit> {
    let folder = &args.output;
    std::fs::create_dir_all(folder).map_err(|cause| {
        Error::new(ErrorKind::Output, format!("the folder can't be made: {}", cause.kind()))
            .file(folder)
            .help("choose another folder with -o")
    })?;
    for (name, contents) in FILES {
        write_atomically(&folder.join(name), |out| out.write_all(contents.as_bytes()))?;
    }
    let mut config = Config::read(&folder.join("sogar.toml"))?;
    config.limits.threads = args.threads;
    let table = Table::read(&folder.join("german.csv"), &config.read_options()?)?;
    let model = model::load(&folder.join("model.txt"), config.model.threshold)?;
    let prepared = Prepared::new(config, folder, &table, model, None)?;
    let front = solve(&prepared, None, output)?;
    let path = folder.join("front.json");
    interrupt::finish();
    front.write(&path)?;
    let page = folder.join("report.html");
    let groups = GROUPS.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let request = ReportRequest { groups, seed: front.config.seed, ..ReportRequest::default() };
    let opened = Opened { prepared: &prepared, reference: &table, holdout: None };
    write_report(&front, Some(opened), &request, Format::Interactive, &page, output)?;
    if output.json {
        output.print_json(&serde_json::json!({
            "status": front.status, "front": path, "points": front.points.len(), "report": page,
        }))?;
    } else {
        output.print("German Credit: 1,000 applications for a loan, decided by a LightGBM model.\n")?;
        let program = program();
        output.print(report(&front, &path, &program))?;
        output.print(format!(
            "\nThe example's table, model and configuration are in {0}. On your own data:\n  \
             {2} config init TABLE --model MODEL -o sogar.toml\n  \
             {2} solve TABLE --model MODEL --config sogar.toml\n\
             \nThe interactive report, to be opened in a browser:\n  {1}\n",
            folder.display(),
            page.display(),
            program,
        ))?;
    }
    Ok(exit_of(&front))
}

/// How to call this program: `sogar` if the shell finds it under that name, otherwise its path.
fn program() -> String {
    let Ok(own) = std::env::current_exe() else { return "sogar".to_owned() };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&folders).map(|folder| folder.join("sogar"));
    if found.any(|path| path.canonicalize().is_ok_and(|path| Some(path) == own.canonicalize().ok())) {
        return "sogar".to_owned();
    }
    let here = std::env::current_dir().unwrap_or_default();
    own.strip_prefix(here).unwrap_or(&own).display().to_string()
}
