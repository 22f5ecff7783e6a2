//! `sogar config`: write, check and list configurations.

use std::path::Path;

use serde_json::json;
use sogar::config::{Config, presets};
use sogar::files::write_atomically;
use sogar::model::load;
use sogar::table::{ReadOptions, Table};
use sogar::{Error, ErrorKind, Result};

use crate::args::{ConfigArgs, ConfigCommand};
use crate::output::{Exit, Output};

pub fn run(args: &ConfigArgs, output: &Output) -> Result<Exit> {
    match &args.command {
        ConfigCommand::Init { table, model, output: file, force } => {
            init(table, model.as_deref(), file.as_deref(), *force, output)?;
        }
        ConfigCommand::Check { config, table } => check(config, table.as_deref(), output)?,
        ConfigCommand::Presets { name } => print_presets(name.as_deref(), output)?,
    }
    Ok(Exit::Complete)
}

fn init(path: &Path, model: Option<&Path>, file: Option<&Path>, force: bool, output: &Output) -> Result<()> {
    let table = Table::read(path, &ReadOptions::default())?;
    let model = model.map(|model| load(model, None)).transpose()?;
    let text = Config::init(&table, &path.display().to_string(), model.as_ref(), &[])?;
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
    let config = Config::read(path)?;
    let table = table.map(|table| Table::read(table, &config.read_options()?)).transpose()?;
    let notices = config.check(table.as_ref()).map_err(|error| error.file(path))?;
    if output.json {
        return output.print_json(&json!({ "valid": true, "notices": notices }));
    }
    for notice in &notices {
        output.notice(notice);
    }
    output.print(format!("{} is valid\n", path.display()))
}

fn print_presets(name: Option<&str>, output: &Output) -> Result<()> {
    if let Some(name) = name {
        Config::preset(name)?; // an unknown name is answered with the nearest one
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
