//! `sogar schema`: JSON Schemas of the configuration and of the result file.

use sogar::Result;
use sogar::config::Config;
use sogar::summary::FrontFile;

use crate::args::{SchemaArgs, SchemaOf};
use crate::output::{Exit, Output};

pub fn run(args: &SchemaArgs, output: &Output) -> Result<Exit> {
    let schema = match args.of {
        SchemaOf::Config => Config::schema(),
        SchemaOf::Front => FrontFile::schema(),
    };
    output.print(format!("{schema:#}\n"))?;
    Ok(Exit::Complete)
}
