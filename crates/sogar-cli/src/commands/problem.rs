//! `sogar problem export`: the problem's splits, costs and flips for other solvers.

use sogar::export::write_npz;
use sogar::pipeline::Search;
use sogar::{Error, ErrorKind, Result};

use super::solve::{prepare, refuse_sample};
use crate::args::{ProblemArgs, ProblemCommand};
use crate::files::Outputs;
use crate::interrupt;
use crate::output::{Exit, Output};
use crate::progress::Bars;

pub fn run(args: &ProblemArgs, output: &Output) -> Result<Exit> {
    let ProblemCommand::Export { input, output: path } = &args.command;
    if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("npz")) {
        return Err(Error::new(ErrorKind::Usage, "problems are written as NumPy archives, named .npz")
            .file(path)
            .help(format!("write {}", path.with_extension("npz").display())));
    }
    Outputs::new([path]).folders(&input.outcomes_cache).inputs(&input.files()).checked()?;
    let prepared = prepare(input, output)?;
    refuse_sample(&prepared, "problem export")?;
    let bars = Bars::new(output);
    let problem = Search(&prepared).problem(&bars, &interrupt::token());
    bars.clear();
    let problem = problem?;
    if !problem.finished {
        output.warning("stopped before the outcomes were known: nothing written");
        return Ok(Exit::Stopped);
    }
    interrupt::finish();
    write_npz(&prepared, &problem, path)?;
    if output.json {
        output.print_json(&serde_json::json!({
            "problem": path,
            "affected": prepared.affected().len(),
            "splits": prepared.splits().len(),
            "edits": prepared.edits().len(),
            "actions": problem.actions.len(),
        }))?;
    } else {
        output.print(format!("Written to {}; read it with `numpy.load`.\n", path.display()))?;
    }
    Ok(Exit::Complete)
}
