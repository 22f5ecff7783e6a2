//! `sogar problem export`: the problem's splits, costs and flips for other solvers.

use sogar::Result;
use sogar::export::write_npz;

use super::solve::prepare;
use crate::args::{ProblemArgs, ProblemCommand};
use crate::interrupt;
use crate::output::{Exit, Output};
use crate::progress::Bars;

pub fn run(args: &ProblemArgs, output: &Output) -> Result<Exit> {
    let ProblemCommand::Export { input, output: path } = &args.command;
    let prepared = prepare(input, output)?;
    let bars = Bars::new(output.quiet || output.json);
    let problem = prepared.problem(&bars, &interrupt::token());
    bars.clear();
    let problem = problem?;
    if !problem.finished {
        output.warning("stopped before the outcomes were known: nothing written");
        return Ok(Exit::Stopped);
    }
    write_npz(&prepared, &problem, path)?;
    if output.json {
        output.print_json(&serde_json::json!({ "problem": path, "actions": problem.actions.len() }))?;
    } else {
        output.print(format!("Written to {}.\n", path.display()))?;
    }
    Ok(Exit::Complete)
}
