//! The audit of a front across groups of people (SPEC §7): is recourse costlier or rarer for some groups?
//!
//! A single summary may treat two groups alike by luck. So every measure is computed at every point of the front: per group the
//! mean cost, the loss and the invalidity of its affected people, and the gap to everyone else, with intervals that show how much
//! the figures would vary with other people from the same groups. The audit also reports the classifier's own rates, and the
//! people whom no admissible action reaches.
//!
//! `routed_people` routes every affected person through every tree, [`grouping`] defines the groups, `measures` and `intervals`
//! are the statistics, [`mod@unreachable`] finds what keeps people out of reach, and [`Condition`] judges the result.
//! `partitioned_audit` audits a held-out table that no process holds whole, from the results of [`part()`] and [`reach_of_part`]
//! on parts of it.

mod assemble;
mod bias_audit;
mod condition;
mod export;
mod further;
mod further_audit;
pub mod grouping;
mod holdout_columns;
mod intervals;
mod measures;
mod part;
mod partitioned_audit;
mod rates;
mod reach;
mod result;
mod routed_people;
pub mod scan;
mod searched_groups;
pub mod unreachable;
mod weighted_population;

pub use bias_audit::{BiasAudit, BiasAuditRequest, Category, CategoryTable, RateKind, bias_audit};
pub use condition::{Condition, GapLimit, Verdict};
pub use further::FurtherMeasure;
pub use grouping::{Grouping, Groups, LearnedGrouping, View};
pub use part::part;
pub use partitioned_audit::{PartitionedAudit, columns_for_leader};
pub use reach::{ReachFound, reach_of_part, reach_of_reference};
pub use result::{
    Audit, BlockedBy, FurtherAudit, GroupAudit, GroupingAudit, MeasureAudit, MeasureName, Measures,
    PopulationAudit,
};
pub use routed_people::RoutedPeople;
pub use scan::{Scan, ScanMeasure, ScanRequest, Subgroup};
pub use searched_groups::{protected, searched_groups, with_protected};
pub use weighted_population::WeightedPopulation;

use sogar_solver::CancelToken;

use assemble::{Assembly, InReach};
use holdout_columns::HoldoutColumns;
use scan::Scanner;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::describe::grouped;
use sogar_front::evaluate::HeldOut;
use sogar_front::summary::FrontFile;
use sogar_prepare::prepared::{Prepared, Reporter};
use sogar_table::table::Table;
use unreachable::{Individual, Unreachable};

/// Default number of bootstrap draws.
pub const DRAWS: usize = 1000;
/// Limit of draws: more only take time.
const MOST_DRAWS: usize = 1_000_000;
/// Default smallest number of affected people for a statement about a group.
pub const MIN_GROUP: usize = 10;

/// The note if held-out people were not searched.
const NOT_SEARCHED: &str = "Held-out people were not searched for those out of reach.";

/// The settings of an audit.
#[derive(Debug, Clone)]
pub struct AuditRequest {
    /// How people are grouped.
    pub groups: Vec<Grouping>,
    /// The column with the true labels; `None`: the one of the front's configuration, if it names one.
    pub label: Option<String>,
    /// Bootstrap draws for intervals of means over the front; with 0 they are computed like those of single points.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// Groups with fewer affected people in them, or outside them, get no statement.
    pub min_group: usize,
    /// Whether to look for people whom no action reaches, which needs the outcomes of every action.
    pub unreachable: bool,
    /// Measures besides cost, loss, invalidity and the cost of success; with any of them, individual recourse is measured too.
    pub measures: Vec<FurtherMeasure>,
    /// Whether intervals at single points hold for all groups of a grouping together, not for each alone.
    pub together: bool,
    /// A scan for subgroups.
    pub scan: Option<ScanRequest>,
}

impl Default for AuditRequest {
    fn default() -> Self {
        AuditRequest {
            groups: Vec::new(),
            label: None,
            draws: DRAWS,
            seed: 0,
            min_group: MIN_GROUP,
            unreachable: false,
            measures: Vec::new(),
            together: false,
            scan: None,
        }
    }
}

/// Held-out people.
pub enum Holdout<'a> {
    /// In a table in this process.
    Here(&'a HeldOut, &'a Table),
    /// In parts, all of which have reported.
    Partitioned(Box<PartitionedAudit>),
}

/// What an audit gets besides the front and its own table.
#[derive(Default)]
pub struct RemoteResults<'a> {
    /// Held-out people.
    pub holdout: Option<Holdout<'a>>,
    /// The people of the reference table who are out of reach, if other processes searched for them.
    pub reach: Option<ReachFound>,
}

/// Audits a front on its own table, and on held-out people if there are any.
///
/// Unknown columns and labels are errors for the reference table. What a held-out table lacks is left out, with a note.
pub fn audit(
    front: &FrontFile,
    prepared: &Prepared,
    reference: &Table,
    holdout: Option<(&HeldOut, &Table)>,
    request: &AuditRequest,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Audit> {
    let holdout = holdout.map(|(held_out, table)| Holdout::Here(held_out, table));
    audit_with(front, prepared, reference, RemoteResults { holdout, reach: None }, request, reporter, cancel)
}

/// The requested groupings and the protected features, learned on the reference table, without duplicates.
fn rules_of(prepared: &Prepared, reference: &Table, request: &AuditRequest) -> Result<Vec<LearnedGrouping>> {
    searched_groups::rules(&request.groups, prepared, reference)
}

/// The same with results of other processes: held-out people in parts, or people out of reach. All parts must have been added.
pub fn audit_with(
    front: &FrontFile,
    prepared: &Prepared,
    reference: &Table,
    remote: RemoteResults<'_>,
    request: &AuditRequest,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Audit> {
    if request.draws > MOST_DRAWS {
        let message = format!("{} bootstrap draws are too many", grouped(request.draws));
        return Err(Error::new(ErrorKind::Usage, message)
            .help(format!("{} are the most; {DRAWS} are usual", grouped(MOST_DRAWS))));
    }
    let mut notes = Vec::new();
    let rules = rules_of(prepared, reference, request)?;
    let truth = rates::truth(prepared, reference, request.label.as_deref())?;
    let truth = truth.map_err(|note| notes.push(note)).ok();
    let people = RoutedPeople::reference(front, prepared)?;
    if !intervals::is_drawn(&people, request.draws) {
        notes.push(
            "There are too many people, by weight, to draw from: intervals of means over the front are computed as those of \
             single points are."
                .to_owned(),
        );
    }
    let view = View { columns: reference, features: prepared.table() };
    let groups = rules.iter().map(|rule| rule.apply(view)).collect::<Result<Vec<_>>>()?;
    let (individual, unreachable) = match (request.unreachable, remote.reach) {
        (true, None) => {
            let members = assemble::members(&people, &groups);
            let found = out_of_reach(prepared, &members, request, reporter, cancel, &mut notes)?;
            found.map_or((None, None), |(individual, unreachable)| (Some(individual), Some(unreachable)))
        }
        (true, Some(found)) => {
            if !request.measures.is_empty() {
                notes.push(
                    "Individual recourse was not measured: other processes looked for people out of reach."
                        .to_owned(),
                );
            }
            (None, Some(found.finish(prepared)?))
        }
        (false, _) => (None, None),
    };
    let assembly = Assembly { front, request };
    let reach = InReach { unreachable: unreachable.as_ref(), individual: individual.as_ref() };
    let audited = assembly.present(&people, &groups, truth.as_ref(), reach);
    let mut scanned = Vec::new();
    let held_out = match remote.holdout {
        Some(Holdout::Here(held_out, table)) => {
            let view = View { columns: table, features: &held_out.table };
            let seen = HoldoutColumns::new(prepared, view, &rules, request.label.as_deref())?;
            notes.extend(seen.notes);
            let people = RoutedPeople::held_out(front, prepared, held_out)?;
            let unreachable = match request.unreachable {
                true => unreachable::of_held_out(prepared, held_out, reporter, cancel)?,
                false => None,
            };
            if request.unreachable && unreachable.is_none() {
                notes.push(NOT_SEARCHED.to_owned());
            }
            let reach = InReach { unreachable: unreachable.as_ref(), individual: None };
            let audited = assembly.present(&people, &seen.groupings, seen.truth.as_ref(), reach);
            scanned.push((people, view));
            Some(audited)
        }
        Some(Holdout::Partitioned(divided)) => Some(divided.finish(&assembly, prepared, &mut notes)?),
        None => None,
    };
    let scan = match &request.scan {
        Some(scan) => {
            let scanner =
                Scanner { front, prepared, request: scan, seed: request.seed, min_group: request.min_group };
            let holdout = scanned.first().map(|(people, view)| (people, *view));
            scanner.run((&people, view), holdout, reporter, cancel)?
        }
        None => None,
    };
    for (population, whose) in [(Some(&audited), ""), (held_out.as_ref(), "Held-out people: ")] {
        if let Some(text) = population.and_then(|population| assemble::contradiction(population, whose)) {
            reporter.warning(&text);
            notes.push(text);
        }
    }
    notes.extend(assemble::warnings(front, &audited, held_out.as_ref(), request));
    Ok(Audit {
        status: front.status,
        points: front.points.len(),
        draws: request.draws,
        seed: request.seed,
        min_group: request.min_group,
        reference: audited,
        holdout: held_out,
        scan,
        notes,
    })
}

/// Individual recourse, and the people out of reach. A search that is too large or was stopped is left out, with a note.
fn out_of_reach(
    prepared: &Prepared,
    members: &[measures::Members],
    request: &AuditRequest,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
    notes: &mut Vec<String>,
) -> Result<Option<(Individual, Unreachable)>> {
    let effects = request.measures.iter().any(|measure| matches!(measure, FurtherMeasure::Choices(_)));
    let found = match unreachable::individual(prepared, members, effects, reporter, cancel) {
        Ok(Some(individual)) => unreachable::of_reference(prepared, &individual.costs, reporter, cancel)
            .map(|unreachable| Some((individual, unreachable))),
        other => other.map(|_| None),
    };
    match found {
        Err(error) if matches!(error.kind(), ErrorKind::Memory | ErrorKind::Scorings) => {
            notes.push(format!("People out of reach were not looked for: {error}."));
            Ok(None)
        }
        Ok(Some(found)) if !cancel.is_cancelled() => Ok(Some(found)),
        Ok(_) => {
            notes.push("The search for people out of reach was stopped.".to_owned());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
