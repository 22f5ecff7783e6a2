//! `sogar studio`: a local application in the browser.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use sogar::{Error, ErrorKind, Result};
use sogar_studio::{Given, ModelOf, Server, Session, TableOf, open_browser};

use crate::args::{ModelFlags, ReadingFlags, is_stdin};
use crate::interrupt;
use crate::output::{Exit, Output};
use crate::progress::Bars;

#[derive(Debug, Args)]
pub struct StudioArgs {
    /// The table [default: dropped on the page]
    pub table: Option<PathBuf>,
    /// Print the address, and open no browser
    #[arg(long)]
    pub no_browser: bool,
    #[command(flatten)]
    pub model: ModelFlags,
    #[command(flatten)]
    pub reading: ReadingFlags,
}

pub fn run(args: &StudioArgs, output: &Output) -> Result<Exit> {
    if args.table.as_deref().is_some_and(is_stdin) {
        let error =
            Error::new(ErrorKind::Usage, "the studio reads its table more than once, so it must be a file");
        return Err(error.help("save it first: PROGRAM > people.csv"));
    }
    let (config, folder) = args.reading.settings(&args.model)?;
    let has_model = args.model.model.is_some() || config.model.command.is_some();
    let model = has_model.then(|| args.model.source(&config).map(ModelOf::Source)).transpose()?;
    let complete = args.reading.config.is_some() || args.reading.preset.is_some();
    let given = Given { table: args.table.clone().map(TableOf::File), model, config, complete, folder };
    let session = Session::new(given)?;
    let cancel = interrupt::token();
    let bars = Bars::waiting(output, "reading the table and scoring its rows");
    let opened = session.open();
    bars.clear();
    opened?;
    let server = Server::new(session)?;
    let address = server.address();
    if output.json {
        output.print_json(&json!({ "address": address }))?;
    } else {
        output.print(format!(
            "The studio is at {address}\nThe address is a secret of this computer. Ctrl-C ends the studio.\n"
        ))?;
    }
    if !args.no_browser {
        let address = address.clone();
        // Some systems wait until the browser is closed.
        std::thread::spawn(move || open_browser(&address));
    }
    server.serve(&cancel)?;
    Ok(Exit::Complete)
}
