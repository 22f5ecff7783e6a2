//! `sogar select`: points of a front by one or more criteria.

use serde_json::{Value, json};
use sogar::Result;
use sogar::audit::{Audit, AuditRequest, GapLimit, audit};
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

/// What a point is chosen by.
enum Criterion {
    /// Something that the front alone can tell.
    By(By),
    /// A limit on a gap between groups, for which people are needed.
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
    let criteria: Vec<Criterion> =
        args.by.iter().map(|text| Criterion::parse(text)).collect::<Result<_>>()?;
    let audited = audit_for(&criteria, &front, args, output)?;
    let choose = |criterion: &Criterion| match (criterion, &audited) {
        (Criterion::Gap(limit), Some(audited)) => limit.select(&front, audited),
        (Criterion::By(by), _) => select(&front, *by),
        (Criterion::Gap(_), None) => Ok(0), // not met: such a criterion brings its audit
    };
    let chosen: Vec<usize> = criteria.iter().map(choose).collect::<Result<_>>()?;
    if output.json {
        let picks: Vec<Value> = criteria
            .iter()
            .zip(&chosen)
            .map(|(by, &point)| {
                let mut pick = point_json(&front, point);
                pick["by"] = json!(by.text());
                pick
            })
            .collect();
        output.print_json(&json!({ "picks": picks }))?;
        return Ok(Exit::Complete);
    }
    output.print(outcome_text(&front) + "\n")?;
    for (by, &point) in criteria.iter().zip(&chosen) {
        output.print(format!("\nBy {}:\n", visible(&by.text())))?;
        output.print(title(&front, point) + rules_text(&front, &front.points[point].tree))?;
    }
    Ok(Exit::Complete)
}

/// The audit that limits on gaps need: table and model are read only if there is such a limit.
fn audit_for(
    criteria: &[Criterion],
    front: &FrontFile,
    args: &SelectArgs,
    output: &Output,
) -> Result<Option<Audit>> {
    let limits = criteria.iter().filter_map(|criterion| match criterion {
        Criterion::Gap(limit) => Some(limit.grouping().clone()),
        Criterion::By(_) => None,
    });
    let groups: Vec<_> = limits.collect();
    if groups.is_empty() {
        return Ok(None);
    }
    let path = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let (prepared, table) = reopen_with(front, &path, &args.model.source_of(front)?)?;
    let request = AuditRequest { groups, draws: 0, min_group: args.min_group, ..AuditRequest::default() };
    let bars = Bars::new(output);
    let audited = audit(front, &prepared, &table, None, &request, &bars, &interrupt::token());
    bars.clear();
    audited.map(Some)
}
