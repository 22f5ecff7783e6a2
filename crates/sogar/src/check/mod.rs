//! An independent verifier of result files: believes nothing that `front.json` says and everything that table, model and
//! configuration say.
//!
//! It shares the pipeline's *reading* (tables, features, models, edits, costs) with `solve`, and none of its *search*: rows are
//! sent through every tree one by one, edited rows are scored by the model itself rather than by the fast decomposition, and
//! completeness is tested by a plain search of its own (`plain`). In the order of the report:
//!
//! | module | question |
//! |---|---|
//! | `origin` | are these the table, the model, the people and the problem that the file speaks of? |
//! | `admissible` | are splits and actions in use those of the configuration, and do actions flip whom they are said to? |
//! | `trees` | does every tree cost and lose what its point says, within the limits? |
//! | `holdout` | does it cost and lose on the held-out rows what is said there? |
//! | `order` | are the points a front, and does the status go with the rest? |
//! | `completeness` | is a point missing? |

mod admissible;
mod completeness;
mod holdout;
mod hull;
mod leaves;
mod order;
mod origin;
mod plain;
mod sample;
mod stairs;
mod trees;
mod weights;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::model::Source;
use crate::pipeline::Reporter;
use crate::summary::FrontFile;

/// How a result is checked.
#[derive(Debug, Clone)]
pub struct Options {
    /// Time for the search for missing points; everything else is always done in full.
    pub time_limit: Duration,
    /// Where the held-out table is now; where it was when the front was made, unless it is set.
    pub holdout: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options { time_limit: Duration::from_secs(60), holdout: None }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at, in a word.
    pub check: &'static str,
    /// Whether it is as it should be.
    pub passed: bool,
    /// What was compared, with counts; or the defect.
    pub text: String,
}

/// How far the completeness of a front is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Completeness {
    /// A plain search found the same points and no others.
    Proved,
    /// No missing point was found among the trees that were looked at.
    Sampled,
    /// The file does not claim to be complete.
    NotClaimed,
    /// It was not tested, because of a defect, or for want of memory or time.
    NotTested,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// What was looked at, in order. After a defect in what everything else rests on, the rest is left out.
    pub findings: Vec<Finding>,
    /// How far completeness is known.
    pub completeness: Completeness,
    /// What the findings do not prove.
    pub not_proved: Vec<String>,
}

impl Report {
    /// Whether everything that was looked at is as it should be.
    pub fn passed(&self) -> bool {
        self.findings.iter().all(|finding| finding.passed)
    }

    /// The first defect as an error.
    pub fn defect(&self) -> Option<Error> {
        let first = self.findings.iter().find(|finding| !finding.passed)?;
        Some(
            Error::new(ErrorKind::ResultFile, format!("{}: {}", first.check, first.text))
                .help("do not rely on this result; write it anew with `sogar solve`"),
        )
    }

    /// Records a verdict; gives what a passed check found out.
    fn record<T>(&mut self, check: &'static str, verdict: Verdict<(T, String)>) -> Option<T> {
        let (passed, text, found) = match verdict {
            Ok((found, text)) => (true, text, Some(found)),
            Err(Defect(text)) => (false, text, None),
        };
        self.findings.push(Finding { check, passed, text });
        found
    }
}

/// What is wrong, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Defect(String);

type Verdict<T> = std::result::Result<T, Defect>;

fn defect<T>(text: impl Into<String>) -> Verdict<T> {
    Err(Defect(text.into()))
}

/// A step of the pipeline that fails on a result's own configuration is a defect of the result.
impl From<Error> for Defect {
    fn from(error: Error) -> Self {
        Defect(error.to_string())
    }
}

/// Fails unless what the file says is what was found.
fn same<T: PartialEq + std::fmt::Display>(what: &str, said: T, found: T) -> Verdict<()> {
    if said == found { Ok(()) } else { defect(format!("{what} is {said} in the file and should be {found}")) }
}

/// Checks a result against the table and the model that it came from.
///
/// An error means that the check could not be made (a file is not there); what is wrong with the result itself is told by
/// the report.
///
/// ```no_run
/// use sogar::{check, model::Source, summary::FrontFile};
///
/// let front = FrontFile::read("front.json".as_ref())?;
/// let model = Source::File("model.txt".into());
/// let report = check::check(&front, "people.csv".as_ref(), &model, check::Options::default(), &())?;
/// assert!(report.passed());
/// # Ok::<(), sogar::Error>(())
/// ```
pub fn check(
    front: &FrontFile,
    table: &Path,
    model: &Source,
    options: Options,
    reporter: &dyn Reporter,
) -> Result<Report> {
    let pool = rayon::ThreadPoolBuilder::new()
        .build()
        .map_err(|cause| Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}")))?;
    pool.install(|| check_here(front, table, model, &options, reporter))
}

/// The held-out table: where the user says, else where it was, if a file is there.
fn held_out_table(front: &FrontFile, options: &Options) -> Option<PathBuf> {
    let was = || front.run.holdout_path.as_ref().map(PathBuf::from).filter(|path| path.exists());
    options.holdout.clone().or_else(was)
}

fn check_here(
    front: &FrontFile,
    table: &Path,
    model: &Source,
    options: &Options,
    reporter: &dyn Reporter,
) -> Result<Report> {
    let mut report =
        Report { findings: Vec::new(), completeness: Completeness::NotTested, not_proved: Vec::new() };
    let Some(prepared) = origin::reopen(front, table, model, &mut report)? else { return Ok(report) };
    let splits = report.record("splits", admissible::splits(front, &prepared));
    let actions = report.record("actions", admissible::actions(front, &prepared));
    if let (Some(splits), Some(actions)) = (&splits, &actions) {
        report.record("trees", trees::check(front, &prepared, splits, actions));
        if let Some(said) = &front.holdout {
            match held_out_table(front, options) {
                Some(path) => {
                    let verdict = holdout::check(front, said, &path, &prepared, splits, actions);
                    report.record("held-out", verdict);
                }
                None => report.not_proved.push(
                    "the held-out block: its table is not where it was; say where it is now with --holdout"
                        .into(),
                ),
            }
        }
    }
    report.record("front", order::front(front));
    report.record("status", order::status(front));
    if let (Some(actions), true) = (&actions, report.passed()) {
        completeness::check(front, &prepared, actions, options, reporter, &mut report)?;
    }
    Ok(report)
}
