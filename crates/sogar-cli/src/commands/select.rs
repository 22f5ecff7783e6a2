//! `sogar select`: points of a front by one or more criteria, or the one that is guaranteed to keep a limit.

mod guarantee;

use serde_json::{Value, json};
use sogar::Result;
use sogar::audit::{Audit, GapLimit, audit};
use sogar::describe::{outcome_text, point_json, rules_text};
use sogar::evaluate::reopen_with;
use sogar::markup::visible;
use sogar::select::{By, select};
use sogar::summary::FrontFile;

use super::show::title;
use crate::args::{SelectArgs, file_of};
use crate::interrupt;
use crate::output::{Exit, Output};
use crate::progress::Bars;

/// A criterion for a point.
enum Criterion {
    /// A criterion that needs only the front.
    By(By),
    /// A limit on a gap between groups, which needs people.
    Gap(GapLimit),
}

impl Criterion {
    fn parse(text: &str) -> Result<Criterion> {
        if GapLimit::is_meant(text) {
            text.parse().map(Criterion::Gap)
        } else {
            text.parse().map(Criterion::By)
        }
    }

    fn text(&self) -> String {
        match self {
            Criterion::By(by) => by.to_string(),
            Criterion::Gap(limit) => limit.text().to_owned(),
        }
    }
}

pub fn run(args: &SelectArgs, output: &Output) -> Result<Exit> {
    let front = FrontFile::read(&args.front)?;
    if let Some(limit) = &args.guarantee {
        return guarantee::run(limit, &front, args, output);
    }
    let criteria: Vec<Criterion> =
        args.by.iter().map(|text| Criterion::parse(text)).collect::<Result<_>>()?;
    let audited = audit_for(&criteria, &front, args, output)?;
    let choose = |criterion: &Criterion| match (criterion, &audited) {
        (Criterion::Gap(limit), Some(audited)) => limit.select(&front, audited),
        (Criterion::By(by), _) => select(&front, *by),
        (Criterion::Gap(_), None) => Ok(0), // never happens: such a criterion has its audit
    };
    let chosen: Vec<usize> = criteria.iter().map(choose).collect::<Result<_>>()?;
    let side = |by: &Criterion, point: usize| match (by, &audited) {
        (Criterion::Gap(limit), Some(audited)) => limit.side(audited, point),
        _ => None,
    };
    if output.json {
        let picks: Vec<Value> = criteria
            .iter()
            .zip(&chosen)
            .map(|(by, &point)| {
                let mut pick = point_json(&front, point);
                pick["by"] = json!(by.text());
                pick["side"] = json!(side(by, point));
                pick
            })
            .collect();
        output.print_json(&json!({ "picks": picks }))?;
        return Ok(Exit::Complete);
    }
    output.print(outcome_text(&front) + "\n")?;
    for (by, &point) in criteria.iter().zip(&chosen) {
        let side = side(by, point).map_or(String::new(), |side| format!(" ({})", visible(&side)));
        output.print(format!("\nBy {}{side}:\n", visible(&by.text())))?;
        output.print(title(&front, point) + rules_text(&front, &front.points[point].tree))?;
    }
    Ok(Exit::Complete)
}

/// The audit for limits on gaps: reads table and model only if there is such a limit.
fn audit_for(
    criteria: &[Criterion],
    front: &FrontFile,
    args: &SelectArgs,
    output: &Output,
) -> Result<Option<Audit>> {
    let limits = criteria.iter().filter_map(|criterion| match criterion {
        Criterion::Gap(limit) => Some(limit),
        Criterion::By(_) => None,
    });
    let request = GapLimit::request(limits, args.min_group);
    if request.groups.is_empty() {
        return Ok(None);
    }
    let path = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let (prepared, table) = reopen_with(front, &path, &args.model.source_of(front)?)?;
    let bars = Bars::new(output);
    let audited = audit(front, &prepared, &table, None, &request, &bars, &interrupt::token());
    bars.clear();
    audited.map(Some)
}
