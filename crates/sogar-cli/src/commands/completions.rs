//! `sogar completions`: what a shell needs to complete the command line.

use clap::CommandFactory;
use sogar::Result;

use crate::args::{Cli, CompletionsArgs};
use crate::output::{Exit, Output};

pub fn run(args: &CompletionsArgs, output: &Output) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sogar", &mut script);
    output.print(String::from_utf8_lossy(&script))?;
    Ok(Exit::Complete)
}
