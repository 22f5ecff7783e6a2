//! An independent verifier of result files: believes nothing that `front.json` says and everything that table, model and
//! configuration say.
//!
//! It shares the pipeline's *reading* (tables, features, models, edits) with `solve`, and none of its *search* or its *costs*: rows are
//! sent through every tree one by one, edited rows are scored by the model itself rather than by the fast decomposition and priced by
//! code of the verifier's own (`pricing`, with `kernel` and `quotes`), and completeness is tested by a plain search of its own
//! (`plain`). It runs within its own limits and draws from its own seed, whatever the file says. In the order of the report:
//!
//! | module | question |
//! |---|---|
//! | `origin` | are these the table, the model, the people and the problem that the file speaks of? |
//! | `classes` | are the classes called what model, label or configuration call them? |
//! | `admissible` | are splits and actions in use those of the configuration (`numbering`), and do actions flip whom they are said to? |
//! | `trees` | does every tree cost and lose what its point says, within the limits? |
//! | `on_sample` | is the sample what the seed draws, and are the points what becomes of its front on everybody? |
//! | `holdout` | does it cost and lose on the held-out rows what is said there? |
//! | `order` | are the points a front, and does the status go with the rest? |
//! | `completeness` | is a point missing? |

mod admissible;
mod classes;
mod completeness;
mod holdout;
mod hull;
mod kernel;
mod leaves;
mod numbering;
mod on_sample;
mod order;
mod origin;
mod plain;
mod pricing;
mod quotes;
mod sample;
mod stairs;
mod trees;
mod weights;

#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use self::pricing::Prices;
use self::trees::Walk;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::summary::{FrontFile, VERSION};
use sogar_prepare::model::Source;
use sogar_prepare::prepared::Reporter;

/// How a result is checked.
#[derive(Debug, Clone)]
pub struct Options {
    /// Time for the search for missing points; everything else is always done in full.
    pub time_limit: Duration,
    /// Where the held-out table is now; where it was when the front was made, unless it is set.
    pub holdout: Option<PathBuf>,
    /// Where draws begin. The default is drawn from the system, so that nobody can make a file that passes by it.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        // The standard library seeds its hash maps from the system.
        let seed = std::hash::RandomState::new().build_hasher().finish();
        Options { time_limit: Duration::from_secs(60), holdout: None, seed }
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
    /// The same of the sample that was searched. Nothing is claimed for everybody.
    ProvedOnSample,
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
    /// Texts of splits and actions that differ from what these do. Texts are for people to read; nothing else depends on them.
    pub text_differs: Vec<String>,
    /// Where draws began.
    pub seed: u64,
    /// About how many seconds a proof of completeness would take, where there is none.
    pub proof_seconds: Option<f64>,
}

impl Report {
    /// Whether everything that was looked at is as it should be.
    pub fn passed(&self) -> bool {
        self.findings.iter().all(|finding| finding.passed)
    }

    fn new(seed: u64) -> Self {
        Report {
            findings: Vec::new(),
            completeness: Completeness::NotTested,
            not_proved: Vec::new(),
            text_differs: Vec::new(),
            seed,
            proof_seconds: None,
        }
    }

    /// Why a result that passed is not proved; `None` if it is: complete for everybody, with nothing left open and no text that differs.
    pub fn unproved(&self) -> Option<String> {
        let completeness = match self.completeness {
            Completeness::Proved => None,
            Completeness::ProvedOnSample => Some("completeness is proved on a sample only"),
            Completeness::Sampled => Some("completeness was only sampled"),
            Completeness::NotClaimed => Some("the result does not claim to be complete"),
            Completeness::NotTested => Some("completeness was not tested"),
        };
        let open = self.not_proved.first().map(|what| format!("this is not proved: {what}"));
        let text = self.text_differs.first().map(|what| format!("a text differs: {what}"));
        completeness.map(str::to_owned).or(open).or(text)
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
/// use sogar_check::{Options, check};
/// use sogar_front::summary::FrontFile;
/// use sogar_prepare::model::Source;
///
/// let front = FrontFile::read("front.json".as_ref())?;
/// let model = Source::File("model.txt".into());
/// let report = check(&front, "people.csv".as_ref(), &model, Options::default(), &())?;
/// assert!(report.passed());
/// # Ok::<(), sogar_base::Error>(())
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
    let mut report = Report::new(options.seed);
    if front.version != VERSION {
        report.record("version", defect::<((), _)>("made under earlier rules; solve again"));
        return Ok(report);
    }
    let Some(prepared) = origin::reopen(front, table, model, &mut report)? else { return Ok(report) };
    let prices = match Prices::new(&prepared) {
        Ok(prices) => prices,
        Err(defect) => {
            report.record::<()>("costs", Err(defect));
            return Ok(report);
        }
    };
    let mut texts = Vec::new();
    let splits = report.record("splits", admissible::splits(front, &prepared, &mut texts));
    let actions = report.record("actions", admissible::actions(front, &prepared, &prices, &mut texts));
    report.text_differs = texts;
    if let (Some(splits), Some(actions)) = (&splits, &actions) {
        let rows: Vec<usize> = (0..prepared.affected.len()).collect();
        let least = u64::from(prepared.limits.min_leaf) * prepared.table.weight_unit();
        let walk = Walk { front, prepared: &prepared, splits, actions, rows: &rows, least };
        report.record("trees", trees::check(&walk, &front.points));
        if let Some(said) = &front.sample {
            report.record("sample", on_sample::check(said, &walk));
        }
        if let Some(said) = &front.holdout {
            match held_out_table(front, options) {
                Some(path) => {
                    let verdict = holdout::check(front, said, &path, &prepared, &prices, splits, actions);
                    report.record("held-out", verdict);
                }
                None => report.not_proved.push(
                    "the held-out block: its table is not where it was; say where it is now with --holdout"
                        .into(),
                ),
            }
        }
    }
    report.record("front", order::front(&front.points));
    report.record("status", order::status(front));
    if let (Some(actions), true) = (&actions, report.passed()) {
        let test = completeness::Test { front, prepared: &prepared, options, reporter };
        completeness::check(&test, actions, &prices, &mut report)?;
    }
    Ok(report)
}
