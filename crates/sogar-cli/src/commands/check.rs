//! `sogar check`: verifies a result.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sogar::check::{Completeness, Options, Report, check};
use sogar::summary::FrontFile;
use sogar::{Error, ErrorKind, Result};

use crate::args::{CheckArgs, Required, file_of};
use crate::output::{Exit, Output, Text, heading};
use crate::progress::Bars;

pub fn run(args: &CheckArgs, output: &Output) -> Result<Exit> {
    let time_limit = Duration::try_from_secs_f64(args.time_limit).map_err(|_| {
        Error::new(ErrorKind::Usage, "--time-limit is not a number of seconds, 0 or more")
            .help("give seconds, for example --time-limit 600")
    })?;
    let front = FrontFile::read(&args.front)?;
    let table = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let was = front.run.holdout_path.as_deref().filter(|path| Path::new(path).exists());
    let holdout = match (&args.holdout, was) {
        (None, None) => None,
        (given, was) => Some(file_of(given.as_deref(), was.unwrap_or_default(), "--holdout")?),
    };
    let model = args.model.source_of(&front)?;
    let bars = Bars::new(output);
    let mut options = Options { time_limit, holdout, ..Options::default() };
    options.seed = args.seed.unwrap_or(options.seed);
    let result = check(&front, &table, &model, options, &bars);
    bars.clear();
    let report = result?;
    if output.json {
        output.print_json(&json!({
            "passed": report.passed(),
            "completeness": report.completeness,
            "checks": report.findings,
            "not_proved": report.not_proved,
            "text_differs": report.text_differs,
            "seed": report.seed,
            "proof_seconds": report.proof_seconds,
        }))?;
    } else {
        output.print(text(&report))?;
    }
    if let Some(defect) = report.defect() {
        return Err(defect.file(&args.front));
    }
    match report.unproved().filter(|_| args.require == Some(Required::Proved)) {
        Some(why) => {
            output.warning(format!("--require proved: {why}"));
            Ok(Exit::Failed)
        }
        None => Ok(Exit::Complete),
    }
}

fn text(report: &Report) -> Text {
    let width = report.findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    let mut text = Text::default();
    for finding in &report.findings {
        let mark = if finding.passed { '✓' } else { '✗' };
        text += &format!("{mark} {:width$}  {}\n", finding.check, finding.text);
    }
    for what in &report.not_proved {
        text += &format!("· {:width$}  {what}\n", "not proved");
    }
    for what in &report.text_differs {
        text += &format!("· {:width$}  {what}\n", "text differs");
    }
    text += "\n";
    let verdict = match (report.passed(), report.completeness) {
        (false, _) if report.findings[0].check == "version" => "The result can't be verified any more.",
        (false, _) => "The result is not what it says it is.",
        (true, Completeness::ProvedWithinEpsilon) => {
            "The result is right, and complete within its epsilon: every point is true, and every summary has a stand-in within epsilon."
        }
        (true, Completeness::Proved) => {
            "The result is right, and complete: every point is true, and no point is missing."
        }
        (true, Completeness::ProvedOnSample) => {
            "The result is right, and complete on its sample: every point is true, and none is missing there."
        }
        (true, Completeness::Sampled) => {
            "Every point is true, and none dominates another; no missing point was found in the sample."
        }
        (true, Completeness::NotTested) => {
            "Every point is true, and none dominates another; whether a point is missing was not tested."
        }
        (true, _) => "Every point is true, and none dominates another.",
    };
    text + heading(verdict)
}
