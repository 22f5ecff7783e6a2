//! An independent verifier of result files: trusts nothing in `front.json`, and only table, model and configuration.
//!
//! It shares the *reading* of the pipeline (tables, features, models, edits) with `solve`, but not its *search* or its *costs*.
//! It sends rows through every tree one by one. The model itself scores edited rows, instead of the fast decomposition, and the
//! verifier's own code prices them (`pricing`, with `kernel` and `quotes`). Its own plain search (`plain`) tests completeness. It
//! runs within its own limits and draws from its own seed, regardless of the file. In the order of the report:
//!
//! | module | question |
//! |---|---|
//! | `origin` | are these the table, the model, the people and the problem of the file? |
//! | `classes` | do the classes have the names of model, label or configuration? |
//! | `admissible` | are splits and actions in use those of the configuration (`numbering`), and do actions flip the recorded people? |
//! | `plausible` | how usual edited rows are, if the configuration asks for it |
//! | `trees` | does every tree have the cost and loss of its point, within the limits? |
//! | `on_sample` | is the sample what the seed draws, and do the points follow from its front on all people? |
//! | `holdout` | are cost and loss on the held-out rows right? |
//! | `by_group` | are the groups, their losses and the choice of points right, if the search distinguished groups? |
//! | `order` | are the points a front, and is the status consistent? |
//! | `completeness` | is a point missing? |

mod admissible;
mod by_group;
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
mod plausible;
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

use self::plausible::Usual;
use self::pricing::Prices;
use self::trees::Walk;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::summary::{FrontFile, VERSION};
use sogar_prepare::model::Source;
use sogar_prepare::prepared::Reporter;

/// Options of a check.
#[derive(Debug, Clone)]
pub struct Options {
    /// Time for the search for missing points; everything else is always done in full.
    pub time_limit: Duration,
    /// The path of the held-out table; by default the recorded one.
    pub holdout: Option<PathBuf>,
    /// Seed of the draws. The default comes from the system, so that no one can tailor a file to it.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        // The standard library seeds its hash maps from the system.
        let seed = std::hash::RandomState::new().build_hasher().finish();
        Options { time_limit: Duration::from_secs(60), holdout: None, seed }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// Whether it passed.
    pub passed: bool,
    /// What was compared, with counts; or the defect.
    pub text: String,
}

/// How far the completeness of a front is established.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Completeness {
    /// A plain search found the same points and no others.
    Proved,
    /// The same, up to the accuracy epsilon that the result states.
    ProvedWithinEpsilon,
    /// The same on the sample that was searched. Nothing is claimed for all people.
    ProvedOnSample,
    /// No missing point was found among the trees that were covered.
    Sampled,
    /// The file does not claim to be complete.
    NotClaimed,
    /// Not tested, because of a defect, or too little memory or time.
    NotTested,
}

/// The results of a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The checks, in order. After a defect in a basis of all others, the rest is left out.
    pub findings: Vec<Finding>,
    /// How far completeness is established.
    pub completeness: Completeness,
    /// What the findings do not prove.
    pub not_proved: Vec<String>,
    /// Texts of splits and actions that differ from their meaning. Texts are only for display.
    pub text_differs: Vec<String>,
    /// The seed of the draws.
    pub seed: u64,
    /// The estimated seconds of a proof of completeness, if there is none.
    pub proof_seconds: Option<f64>,
}

impl Report {
    /// Whether all checks passed.
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

    /// Why a result that passed is not proved; `None` if it is: complete for all people, with nothing left open and no differing
    /// text.
    pub fn unproved(&self) -> Option<String> {
        let completeness = match self.completeness {
            Completeness::Proved | Completeness::ProvedWithinEpsilon => None,
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

    /// Records a verdict; returns the value of a passed check.
    fn record<T>(&mut self, check: &'static str, verdict: Verdict<(T, String)>) -> Option<T> {
        let (passed, text, found) = match verdict {
            Ok((found, text)) => (true, text, Some(found)),
            Err(Defect(text)) => (false, text, None),
        };
        self.findings.push(Finding { check, passed, text });
        found
    }
}

/// A defect, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Defect(String);

type Verdict<T> = std::result::Result<T, Defect>;

fn defect<T>(text: impl Into<String>) -> Verdict<T> {
    Err(Defect(text.into()))
}

/// If a step of the pipeline fails on a result's own configuration, the result has a defect.
impl From<Error> for Defect {
    fn from(error: Error) -> Self {
        Defect(error.to_string())
    }
}

/// Fails unless the file's value is the computed one.
fn same<T: PartialEq + std::fmt::Display>(what: &str, said: T, found: T) -> Verdict<()> {
    if said == found { Ok(()) } else { defect(format!("{what} is {said} in the file and should be {found}")) }
}

/// Checks a result against the table and the model that it came from.
///
/// An error means that the check could not run (a file is missing); the report describes defects of the result itself.
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

/// The held-out table: the user's path, otherwise the recorded one, if the file exists.
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
    let Some((prepared, read)) = origin::reopen(front, table, model, &mut report)? else { return Ok(report) };
    let groups = match by_group::groups(front, &prepared, &read) {
        Ok(None) => None,
        Ok(Some((groups, text))) => report.record("groups", Ok((groups, text))),
        Err(defect) => report.record("groups", Err(defect)),
    };
    drop(read);
    let prices = match Prices::new(&prepared) {
        Ok(prices) => prices,
        Err(defect) => {
            report.record::<()>("costs", Err(defect));
            return Ok(report);
        }
    };
    let usual = Usual::new(&prepared)?;
    let mut texts = Vec::new();
    let splits = report.record("splits", admissible::splits(front, &prepared, &mut texts));
    let actions = report
        .record("actions", admissible::actions(front, &prepared, (&prices, usual.as_ref()), &mut texts));
    report.text_differs = texts;
    if let (Some(splits), Some(actions)) = (&splits, &actions) {
        let rows: Vec<usize> = (0..prepared.affected().len()).collect();
        let least = u64::from(prepared.limits().min_leaf) * prepared.table().weight_unit();
        let walk = Walk { front, prepared: &prepared, splits, actions, rows: &rows, least };
        report.record("trees", trees::check(&walk, &front.points));
        if usual.is_some() || front.plausibility.is_some() {
            report.record("plausibility", Usual::check(front, usual.as_ref(), &walk));
        }
        if let Some(groups) = &groups {
            report.record("fairness", by_group::points(&walk, groups));
        }
        if let Some(said) = &front.sample {
            report.record("sample", on_sample::check(said, &walk));
        }
        if let Some(said) = &front.holdout {
            match held_out_table(front, options) {
                Some(path) => {
                    let verdict = holdout::check(
                        front,
                        said,
                        &path,
                        &prepared,
                        (&prices, usual.as_ref()),
                        splits,
                        actions,
                    );
                    report.record("held-out", verdict);
                }
                None => report.not_proved.push(
                    "the held-out block: its table is not where it was; say where it is now with --holdout"
                        .into(),
                ),
            }
        }
    }
    if front.config.fairness.minimax.is_none() {
        report.record("front", order::front(&front.points));
    }
    report.record("status", order::status(front));
    if let (Some(actions), true) = (&actions, report.passed()) {
        let test = completeness::Test {
            front,
            prepared: &prepared,
            usual: usual.as_ref(),
            groups: groups.as_ref(),
            options,
            reporter,
        };
        completeness::check(&test, actions, &prices, &mut report)?;
    }
    Ok(report)
}
