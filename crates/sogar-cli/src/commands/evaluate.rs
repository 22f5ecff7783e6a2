//! `sogar evaluate`: a front on held-out rows.

use std::path::Path;

use serde_json::json;
use sogar::Result;
use sogar::describe::{conditions, evaluated_text, grouped, joined};
use sogar::evaluate::{Condition, HeldOut, Survival, Survived, Verdict, evaluate, reopen, survival};
use sogar::files::write_atomically;
use sogar::intervals::{PointIntervals, mean_text};
use sogar::model::load;
use sogar::require::OtherModel;
use sogar::statistics::Interval;
use sogar::summary::{Evaluation, FrontFile};

use super::show::position;
use super::solve::some_points;
use crate::args::{EvaluateArgs, file_of, model_files};
use crate::files::Outputs;
use crate::output::{Exit, Output, Text, heading};
use crate::tables;

pub fn run(args: &EvaluateArgs, output: &Output) -> Result<Exit> {
    let front = FrontFile::read(&args.front)?;
    let conditions: Vec<Condition> = args.fail_on.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let chosen = position(&front, &args.point)?;
    let model = args.model.source_of(&front)?;
    let reference = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let files = [&args.front, &args.holdout, &reference];
    let models = args.later.iter().chain(model.file());
    Outputs::new(&args.csv).inputs(files.into_iter().chain(models)).checked()?;
    let prepared = reopen(&front, &reference, &model)?;
    let table = tables::read(&args.holdout, &prepared.config().read_options()?)?;
    let held_out = HeldOut::new(&prepared, &table)?;
    for notice in &held_out.notices {
        output.notice(notice);
    }
    let evaluation = evaluate(&front, &prepared, &held_out)?;
    let verdicts: Vec<Verdict> = conditions
        .iter()
        .map(|condition| condition.judge(&front, &evaluation, chosen))
        .collect::<Result<_>>()?;
    let later: Vec<OtherModel> = model_files(&args.later)?
        .iter()
        .map(|path| prepared.other_model(&load(path, prepared.config().model.threshold)?))
        .collect::<Result<_>>()?;
    let survival = survival(&front, &prepared, &held_out, &later)?;
    if let Some(csv) = &args.csv {
        write_csv(&front, &evaluation, csv)?;
    }
    if output.json {
        let mut value = evaluation.with_intervals()?;
        value["point"] = json!(chosen);
        value["fail_on"] = json!(verdicts);
        if !survival.is_empty() {
            value["later"] = json!(survival);
        }
        output.print_json(&value)?;
    } else {
        output.print(text(&front, &evaluation, chosen))?;
        output.print(survived(&front, &survival, chosen))?;
        output.print(judged(&verdicts))?;
    }
    Ok(if verdicts.iter().any(|verdict| verdict.holds) { Exit::Failed } else { Exit::Complete })
}

fn text(front: &FrontFile, evaluation: &Evaluation, chosen: usize) -> Text {
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
    text += "              mean cost                     works for\n";
    text += heading(
        "  point   reference   held out (95 %)   reference   held out   95 % interval   all points at once",
    );
    for i in some_points(front, chosen) {
        let (reference, held_out) = (&front.points[i], &evaluation.points[i]);
        let PointIntervals { works, band, cost, .. } = evaluation.interval(i);
        let mark = if i == chosen { "   ← chosen" } else { "" };
        let range =
            |interval: Interval| format!("{:.1}–{:.1} %", 100.0 * interval.low, 100.0 * interval.high);
        text += &format!(
            "  {i:>5}   {:>9.3}   {:>15}   {:>7.1} %   {:>6.1} %   {:>13}   {:>18}{mark}\n",
            reference.cost,
            mean_text(held_out.cost, cost),
            100.0 * (1.0 - reference.loss),
            100.0 * (1.0 - held_out.loss),
            range(works),
            range(band),
        );
    }
    text + format!("\nPoint {chosen}. {}", evaluated_text(front, evaluation, chosen))
}

/// How much of the advice later models still accept, at the chosen point.
fn survived(front: &FrontFile, survival: &[Survival], chosen: usize) -> Text {
    let mut shares: Vec<f64> = survival.iter().map(|one| one.of_point(chosen).share()).collect();
    shares.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (shares.first(), shares.last()) else { return Text::from("") };
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let models =
        if shares.len() == 1 { "1 later model".to_owned() } else { format!("{} later models", shares.len()) };
    let ends = match least < most {
        true => format!(" ({:.1} % under the worst, {:.1} % under the best)", 100.0 * least, 100.0 * most),
        false => String::new(),
    };
    let mut text = Text::from(format!(
        "Under {models}, {:.1} % of the advice that works still works{ends}.\n",
        100.0 * mean
    ));
    for (number, (tests, leaf)) in front.points[chosen].tree.rules().iter().enumerate() {
        let all = survival.iter().fold(Survived::default(), |sum, one| sum.and(one.points[chosen][number]));
        if all.works > 0 {
            let who = match conditions(front, tests).as_slice() {
                [] => "Everybody".to_owned(),
                parts => format!("If {}", joined(parts)),
            };
            text +=
                &format!("  {who}: {:.1} % ({})\n", 100.0 * all.share(), front.actions[leaf.action()].text);
        }
    }
    text
}

fn judged(verdicts: &[Verdict]) -> Text {
    let mut text = Text::from("");
    for verdict in verdicts {
        let mark = if verdict.holds { "✗ fails" } else { "✓ passes" };
        let band = match verdict.against {
            Some("holdout") => " (the front's held-out people; 5 % per call, all points at once)",
            Some(_) => " (the fitted table; 5 % per call, all points at once)",
            None => "",
        };
        text += &format!(
            "{mark}: {}: {:.4} against {:.4}{band}\n",
            verdict.condition, verdict.value, verdict.limit
        );
    }
    text
}

fn write_csv(front: &FrontFile, evaluation: &Evaluation, path: &Path) -> Result<()> {
    write_atomically(path, |out| {
        writeln!(
            out,
            "point,cost,loss,invalidity,holdout_cost,holdout_loss,holdout_invalidity,\
             holdout_works_low,holdout_works_high,holdout_band_low,holdout_band_high,\
             holdout_cost_low,holdout_cost_high"
        )?;
        for (i, (there, here)) in front.points.iter().zip(&evaluation.points).enumerate() {
            let (a, b) =
                ((there.cost, there.loss, there.invalidity), (here.cost, here.loss, here.invalidity));
            let PointIntervals { works, band, cost, .. } = evaluation.interval(i);
            write!(out, "{i},{},{},{},{},{},{}", a.0, a.1, a.2, b.0, b.1, b.2)?;
            let cost = cost.map_or(",".to_owned(), |cost| format!("{},{}", cost.low, cost.high));
            writeln!(out, ",{},{},{},{},{cost}", works.low, works.high, band.low, band.high)?;
        }
        Ok(())
    })
}
