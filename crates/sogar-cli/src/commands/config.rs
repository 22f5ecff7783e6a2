//! `sogar config`: write, check and list configurations.

use std::path::{Path, PathBuf};

use serde_json::json;
use sogar::config::Config;
use sogar::config::presets;
use sogar::files::write_atomically;
use sogar::init::starting_file;
use sogar::model::load;
use sogar::{Error, ErrorKind, Result};

use crate::args::{ConfigArgs, ConfigCommand};
use crate::files::Outputs;
use crate::output::{Exit, Output};
use crate::tables;

pub fn run(args: &ConfigArgs, output: &Output) -> Result<Exit> {
    match &args.command {
        ConfigCommand::Init { table, model, delimiter, decimal, output: file, force } => {
            let mut given = Config::default();
            (given.data.delimiter, given.data.decimal) = (delimiter.clone(), decimal.clone());
            init(table, model.as_deref(), &given, file.as_deref(), *force, output)?;
        }
        ConfigCommand::Check { config, table } => check(config, table.as_deref(), output)?,
        ConfigCommand::Presets { name } => print_presets(name.as_deref(), output)?,
    }
    Ok(Exit::Complete)
}

fn init(
    path: &Path,
    model: Option<&Path>,
    given: &Config,
    file: Option<&Path>,
    force: bool,
    output: &Output,
) -> Result<()> {
    let inputs: Vec<PathBuf> = [Some(path), model].into_iter().flatten().map(Path::to_path_buf).collect();
    if let Some(file) = file.filter(|file| file.exists()) {
        Outputs::new([file]).inputs(&inputs).checked()?;
    }
    let table = tables::read(path, &given.read_options()?)?;
    let model = model.map(|model| load(model, None)).transpose()?;
    let text = starting_file(&table, &path.display().to_string(), model.as_ref(), given)?;
    let Some(file) = file else { return output.print(text) };
    if file.exists() && !force {
        return Err(Error::new(ErrorKind::Output, "this file exists already")
            .file(file)
            .help("choose another name, or overwrite it with --force"));
    }
    write_atomically(file, |out| out.write_all(text.as_bytes()))?;
    output.notice(format!(
        "wrote {}; next: answer its questions, say what people can't change, then `sogar solve`",
        file.display()
    ));
    Ok(())
}

fn check(path: &Path, table: Option<&Path>, output: &Output) -> Result<()> {
    let checked = notices(path, table);
    if output.json {
        // The verdict of a check is its result, positive or not; the error is also printed to stderr.
        let error = |error: &Error| json!({ "message": error.to_string(), "help": error.remedy() });
        output.print_json(&json!({
            "valid": checked.is_ok(),
            "notices": checked.as_deref().unwrap_or_default(),
            "errors": checked.as_ref().err().map(error).into_iter().collect::<Vec<_>>(),
        }))?;
        return checked.map(drop);
    }
    for notice in &checked? {
        output.notice(notice);
    }
    output.print(format!("{} is valid\n", path.display()))
}

fn notices(path: &Path, table: Option<&Path>) -> Result<Vec<String>> {
    let config = Config::read(path)?;
    let table = table.map(|table| tables::read(table, &config.read_options()?)).transpose()?;
    let mut notices = match &table {
        Some(table) => table.check_renamed(&config, &[])?,
        None => Vec::new(),
    };
    notices.extend(config.check(table.as_ref()).map_err(|error| error.file(path))?);
    Ok(notices)
}

fn print_presets(name: Option<&str>, output: &Output) -> Result<()> {
    if let Some(name) = name {
        Config::preset(name)?; // the error for an unknown name suggests the nearest one
        let text = presets().iter().find(|preset| preset.name == name).map_or("", |preset| preset.text);
        return output.print(text);
    }
    if output.json {
        let list: Vec<_> =
            presets().iter().map(|p| json!({ "name": p.name, "description": p.description })).collect();
        return output.print_json(&json!({ "presets": list }));
    }
    for preset in presets() {
        output.print(format!("{:16} {}\n", preset.name, preset.description))?;
    }
    Ok(())
}
