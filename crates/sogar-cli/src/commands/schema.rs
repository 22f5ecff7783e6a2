//! `sogar schema`: JSON Schemas of the configuration, of the result file, and of the `--json` output of other commands.

use sogar::Result;
use sogar::audit::Audit;
use sogar::config::Config;
use sogar::diff::Diff;
use sogar::explain::Explanation;
use sogar::summary::FrontFile;

use crate::args::{SchemaArgs, SchemaOf};
use crate::output::{Exit, Output};

pub fn run(args: &SchemaArgs, output: &Output) -> Result<Exit> {
    let schema = match args.of {
        SchemaOf::Config => Config::schema(),
        SchemaOf::Front => FrontFile::schema(),
        SchemaOf::Audit => Audit::schema(),
        SchemaOf::Explanation => Explanation::schema(),
        SchemaOf::Diff => Diff::schema(),
    };
    output.print(format!("{schema:#}\n"))?;
    Ok(Exit::Complete)
}
