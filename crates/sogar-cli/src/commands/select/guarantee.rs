//! `sogar select --guarantee`: the cheapest point that keeps a limit among future people.

use std::path::{Path, PathBuf};

use serde_json::json;
use sogar::describe::{outcome_text, point_json, rules_text};
use sogar::evaluate::{HeldOut, reopen_with};
use sogar::guarantee::{GuaranteeRequest, check_confidence, guaranteed};
use sogar::markup::visible;
use sogar::summary::FrontFile;
use sogar::table::hash_of;
use sogar::{Error, ErrorKind, Result};

use crate::args::{SelectArgs, file_of, is_stdin};
use crate::commands::show::title;
use crate::output::{Exit, Output};
use crate::tables;

pub fn run(limit: &str, front: &FrontFile, args: &SelectArgs, output: &Output) -> Result<Exit> {
    let request = GuaranteeRequest {
        guarantee: limit.parse()?,
        confidence: args.confidence,
        groups: args.group.iter().map(|text| text.parse()).collect::<Result<_>>()?,
    };
    check_confidence(request.confidence)?;
    let (reference, calibration) = tables_of(front, args)?;
    let (prepared, fitted) = reopen_with(front, &reference, &args.model.source_of(front)?)?;
    let table = tables::read(&calibration, &prepared.config().read_options()?)?;
    let held_out = HeldOut::new(&prepared, &table)?;
    for notice in &held_out.notices {
        output.notice(notice);
    }
    let found = guaranteed(front, &prepared, &fitted, (&held_out, &table), &request)?;
    if let Some(warning) = found.warning() {
        output.warning(&warning);
    }
    if output.json {
        let mut pick = point_json(front, found.point);
        let details = serde_json::to_value(&found);
        pick["guarantee"] = details.map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
        output.print_json(&json!({ "picks": [pick] }))?;
        return Ok(Exit::Complete);
    }
    output.print(outcome_text(front) + "\n")?;
    output.print(format!("\nGuaranteed {}:\n", visible(&found.guarantee)))?;
    output.print(title(front, found.point) + rules_text(front, &front.points[found.point].tree))?;
    output.print(format!("\n{}", found.text()))?;
    Ok(Exit::Complete)
}

/// The fitted table and the calibration table. A table other than the fitted one, which its content tells, can only be the
/// calibration table.
fn tables_of(front: &FrontFile, args: &SelectArgs) -> Result<(PathBuf, PathBuf)> {
    let is_fitted = |path: &Path| !is_stdin(path) && hash_of(path).is_ok_and(|hash| hash == front.table.hash);
    match (&args.calibration, &args.table) {
        (None, Some(table)) if !is_fitted(table) => {
            Ok((file_of(None, &front.run.table_path, "--table")?, table.clone()))
        }
        (Some(calibration), table) => {
            Ok((file_of(table.as_deref(), &front.run.table_path, "--table")?, calibration.clone()))
        }
        (None, _) => Err(Error::new(ErrorKind::Usage, "a guarantee needs people to test it with")
            .help("give a table that neither search nor training has seen: --calibration TABLE")),
    }
}
