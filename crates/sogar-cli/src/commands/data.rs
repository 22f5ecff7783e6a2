//! `sogar data`: public data sets by name. The only command that uses the network, and only in `download`.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
#[cfg(feature = "fetch")]
use std::time::Duration;

use crate::datasets::{self, CATALOGUE, Dataset, MAX_BYTES, Source};
use clap::{Args, Subcommand};
use sogar::{Error, ErrorKind, Result};

use crate::output::{Exit, Output};

/// Arguments of `sogar data`.
#[derive(Debug, Args)]
pub struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// List the data sets, their licences and where they come from
    List,
    /// Download a data set, verify its checksum and keep it; prints the path of the table
    Fetch {
        /// Name of the data set (see `sogar data list`)
        name: String,
        /// Import the publisher's file (or its zip archive) instead of downloading it
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Directory for the table [default: $SOGAR_CACHE, else the user's cache directory]
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
}

/// Runs `sogar data`.
pub fn run(args: &DataArgs, output: &Output) -> Result<Exit> {
    match &args.command {
        DataCommand::List if output.json => output.print_json(&list_as_json())?,
        DataCommand::List => output.print(list_as_text())?,
        DataCommand::Fetch { name, from, to } => {
            let dataset = datasets::find(name)?;
            let path = fetch(dataset, from.as_deref(), &cache_directory(to.as_deref())?)?;
            if output.json {
                output.print_json(&serde_json::json!({ "name": dataset.name, "table": path }))?;
            } else {
                output.print(format!("{}\n", path.display()))?;
            }
        }
    }
    Ok(Exit::Complete)
}

fn list_as_text() -> String {
    let entry = |dataset: &Dataset| {
        format!(
            "{}\n  {}\n  {} rows x {} columns; label `{}`, hoped for: `{}`{}\n  {}; {}\n  {}\n",
            dataset.name,
            dataset.title,
            dataset.rows,
            dataset.columns,
            dataset.label,
            dataset.desired,
            dataset.preset.map(|preset| format!("; preset `{preset}`")).unwrap_or_default(),
            dataset.licence,
            dataset.homepage,
            dataset.citation,
        )
    };
    CATALOGUE.iter().map(entry).collect::<Vec<_>>().join("\n")
}

fn list_as_json() -> serde_json::Value {
    let entries: Vec<serde_json::Value> = CATALOGUE
        .iter()
        .map(|dataset| {
            let url = match dataset.source {
                Source::Url(url) => Some(url),
                _ => None,
            };
            serde_json::json!({
                "name": dataset.name,
                "title": dataset.title,
                "file": dataset.file,
                "rows": dataset.rows,
                "columns": dataset.columns,
                "label": dataset.label,
                "desired": dataset.desired,
                "preset": dataset.preset,
                "licence": dataset.licence,
                "citation": dataset.citation,
                "homepage": dataset.homepage,
                "url": url,
                "sha256": dataset.sha256,
            })
        })
        .collect();
    serde_json::json!({ "datasets": entries })
}

fn fetch(dataset: &Dataset, from: Option<&Path>, directory: &Path) -> Result<PathBuf> {
    match (datasets::stored(dataset, directory), from) {
        (Some(path), None) => Ok(path),
        (_, from) => {
            let table = match from {
                Some(file) => dataset.import(&read(file)?).map_err(|error| error.file(file))?,
                None => import_download(dataset)?,
            };
            datasets::write(dataset, &table, directory)
        }
    }
}

fn import_download(dataset: &Dataset) -> Result<Vec<u8>> {
    match dataset.source {
        Source::Url(url) => dataset.import(&download(url)?).map_err(|error| error.file(url)),
        Source::ByHand { instructions } => Err(Error::new(
            ErrorKind::Usage,
            format!("`{}` cannot be downloaded automatically", dataset.name),
        )
        .help(format!("{instructions}\n{}", dataset.homepage))),
    }
}

#[cfg(not(feature = "fetch"))]
fn download(url: &str) -> Result<Vec<u8>> {
    Err(Error::new(
        ErrorKind::Usage,
        format!("{url} cannot be downloaded: this build has no feature `fetch`"),
    )
    .help("download it by other means and import it with `--from FILE`"))
}

/// The bytes behind an https address, within limits of time and size.
#[cfg(feature = "fetch")]
fn download(url: &str) -> Result<Vec<u8>> {
    let agent = ureq::Agent::config_builder()
        .https_only(true)
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_global(Some(Duration::from_secs(120)))
        .user_agent(concat!("sogar/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent();
    agent
        .get(url)
        .call()
        .and_then(|mut answer| answer.body_mut().with_config().limit(MAX_BYTES).read_to_vec())
        .map_err(|error| {
            Error::new(ErrorKind::Usage, format!("{url} cannot be downloaded: {error}"))
                .help("download it by other means and import it with `--from FILE`")
        })
}

/// Reads a local file, up to the size limit of data sets.
fn read(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Usage, format!("cannot be read: {error}"))
            .file(path)
            .help("give the publisher's file or zip archive")
    };
    let mut bytes = Vec::new();
    sogar::files::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::new(ErrorKind::Table, format!("larger than {} MiB", MAX_BYTES >> 20))
            .file(path)
            .help("this is not the publisher's file"));
    }
    Ok(bytes)
}

fn cache_directory(to: Option<&Path>) -> Result<PathBuf> {
    if let Some(directory) = to {
        return Ok(directory.to_path_buf());
    }
    if let Some(directory) = std::env::var_os("SOGAR_CACHE").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(directory));
    }
    // The folder of the user's caches differs between systems; a build that downloads nothing does without the library that knows it.
    #[cfg(feature = "fetch")]
    let caches = dirs::cache_dir();
    #[cfg(not(feature = "fetch"))]
    let caches: Option<PathBuf> = None;
    caches.map(|directory| directory.join("sogar")).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "no cache directory is known")
            .help("say where to put the table with `--to DIR` or SOGAR_CACHE")
    })
}
