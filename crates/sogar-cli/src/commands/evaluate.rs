//! `sogar evaluate`: a front on held-out rows.

use std::path::Path;

use sogar::describe::grouped;
use sogar::evaluate::{HeldOut, evaluate, reopen};
use sogar::files::write_atomically;
use sogar::select::{By, select};
use sogar::summary::{Evaluation, FrontFile};
use sogar::{Error, ErrorKind, Result};

use super::solve::some_points;
use crate::args::{EvaluateArgs, file_of};
use crate::files::Outputs;
use crate::output::{Exit, Output, Text, heading};
use crate::tables;

pub fn run(args: &EvaluateArgs, output: &Output) -> Result<Exit> {
    let front = FrontFile::read(&args.front)?;
    let model = args.model.source_of(&front)?;
    let reference = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let files = [&args.front, &args.holdout, &reference];
    Outputs::new(&args.csv).inputs(files.into_iter().chain(model.file())).checked()?;
    let prepared = reopen(&front, &reference, &model)?;
    let table = tables::read(&args.holdout, &prepared.config.read_options()?)?;
    let held_out = HeldOut::new(&prepared, &table)?;
    for notice in &held_out.notices {
        output.notice(notice);
    }
    let evaluation = evaluate(&front, &prepared, &held_out)?;
    if let Some(csv) = &args.csv {
        write_csv(&front, &evaluation, csv)?;
    }
    if output.json {
        let value = serde_json::to_value(&evaluation)
            .map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
        output.print_json(&value)?;
    } else {
        output.print(text(&front, &evaluation))?;
    }
    Ok(Exit::Complete)
}

fn text(front: &FrontFile, evaluation: &Evaluation) -> Text {
    let (there, here) = (evaluation.people(), front.people());
    let mut text = Text::from(format!(
        "{} of {} held-out people are turned down ({} of {} in the reference table).\n",
        there.text(there.affected),
        there.text(there.all),
        here.text(here.affected),
        here.text(here.all),
    ));
    text += &format!(
        "Mean distance between a summary's (cost, loss) on the two tables: {:.3} ± {:.3} over {} summaries.\n\n",
        evaluation.mean_distance,
        evaluation.sd_distance,
        grouped(front.points.len())
    );
    text += "              mean cost               works for\n";
    text += heading("  point   reference   held out   reference   held out");
    let best = select(front, By::Invalidity).unwrap_or(0);
    for i in some_points(front, best) {
        let (reference, held_out) = (&front.points[i], &evaluation.points[i]);
        let mark = if i == best { "   ← lowest invalidity" } else { "" };
        text += &format!(
            "  {i:>5}   {:>9.3}   {:>8.3}   {:>7.1} %   {:>6.1} %{mark}\n",
            reference.cost,
            held_out.cost,
            100.0 * (1.0 - reference.loss),
            100.0 * (1.0 - held_out.loss),
        );
    }
    text
}

fn write_csv(front: &FrontFile, evaluation: &Evaluation, path: &Path) -> Result<()> {
    write_atomically(path, |out| {
        writeln!(out, "point,cost,loss,invalidity,holdout_cost,holdout_loss,holdout_invalidity")?;
        for (i, (there, here)) in front.points.iter().zip(&evaluation.points).enumerate() {
            let (a, b) =
                ((there.cost, there.loss, there.invalidity), (here.cost, here.loss, here.invalidity));
            writeln!(out, "{i},{},{},{},{},{},{}", a.0, a.1, a.2, b.0, b.1, b.2)?;
        }
        Ok(())
    })
}
