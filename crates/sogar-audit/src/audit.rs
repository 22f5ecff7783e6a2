//! The audit of a front across groups of people (SPEC §7): is recourse dearer, or rarer, for some?
//!
//! A single summary may treat two groups alike by luck. So every measure is taken at every point of the front: per group the mean
//! cost, the loss and the invalidity of its affected people, and the gap to everyone else, with intervals that say how far other
//! people from the same groups might have led elsewhere. Beside it stand the classifier's own rates, and the people whom no
//! admissible action reaches.
//!
//! [`routed_people`] takes every affected person through every tree, [`grouping`] says who belongs together, `measures` and `intervals`
//! are the statistics, [`mod@unreachable`] asks what keeps people out of reach, and [`condition`] judges the result. `partitioned_audit` audits
//! held-out people whose table nobody has in one piece, from what [`part()`] and [`reach_of_part`] say about parts of it.

mod assemble;
pub mod condition;
mod export;
pub mod grouping;
mod holdout_columns;
mod intervals;
mod measures;
mod part;
mod partitioned_audit;
mod rates;
mod reach;
mod result;
pub mod routed_people;
pub mod unreachable;
mod weighted_population;

pub use condition::{Condition, GapLimit, Verdict};
pub use grouping::{Grouping, Groups, LearnedGrouping, View};
pub use part::part;
pub use partitioned_audit::{PartitionedAudit, columns_for_leader};
pub use reach::{ReachFound, reach_of_part, reach_of_reference};
pub use result::{
    Audit, BlockedBy, GroupAudit, GroupingAudit, MeasureAudit, MeasureName, Measures, PopulationAudit,
};
pub use routed_people::RoutedPeople;
pub use weighted_population::WeightedPopulation;

use sogar_solver::CancelToken;

use assemble::Assembly;
use holdout_columns::HoldoutColumns;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::describe::grouped;
use sogar_front::evaluate::HeldOut;
use sogar_front::summary::FrontFile;
use sogar_prepare::prepared::{Prepared, Reporter};
use sogar_table::table::Table;
use unreachable::Unreachable;

/// Bootstrap draws unless something else is asked for.
pub const DRAWS: usize = 1000;
/// Draws beyond which nothing is gained but time.
const MOST_DRAWS: usize = 1_000_000;
/// Affected people below which nothing is said about a group, unless something else is asked for.
pub const MIN_GROUP: usize = 10;

/// What is said where held-out people were not searched.
const NOT_SEARCHED: &str = "Held-out people were not searched for those out of reach.";

/// What an audit is asked.
#[derive(Debug, Clone)]
pub struct AuditRequest {
    /// By what people are grouped.
    pub groups: Vec<Grouping>,
    /// The column with the true labels; `None`: the one of the front's configuration, if it names one.
    pub label: Option<String>,
    /// Bootstrap draws for intervals of means over the front; with 0 they are computed as those of single points are.
    pub draws: usize,
    /// Where the draws start.
    pub seed: u64,
    /// Nothing is said of groups with fewer affected people, nor of those with fewer affected people outside them.
    pub min_group: usize,
    /// Whether to look for people whom no action reaches, which asks the model about every action.
    pub unreachable: bool,
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
        }
    }
}

/// Held-out people.
pub enum Holdout<'a> {
    /// In a table that is here.
    Here(&'a HeldOut, &'a Table),
    /// In parts, who were all heard.
    Partitioned(Box<PartitionedAudit>),
}

/// What an audit is given beside the front and its own table.
#[derive(Default)]
pub struct RemoteResults<'a> {
    /// Held-out people.
    pub holdout: Option<Holdout<'a>>,
    /// The people of the reference table who are out of reach, where others have searched for them.
    pub reach: Option<ReachFound>,
}

/// Audits a front on the table that it was made from, and on held-out people where there are any.
///
/// Unknown columns and labels are errors for the reference table. What a held-out table lacks is left out, and said in the notes.
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

/// The ways of grouping people that are asked for, learned on the reference table, each once.
fn rules_of(prepared: &Prepared, reference: &Table, request: &AuditRequest) -> Result<Vec<LearnedGrouping>> {
    let view = View { columns: reference, features: &prepared.table };
    let mut rules: Vec<LearnedGrouping> = Vec::new();
    for grouping in &request.groups {
        let rule = grouping.learn(view, &prepared.config)?;
        if rules.iter().all(|known| known.name() != rule.name()) {
            rules.push(rule);
        }
    }
    Ok(rules)
}

/// The same with what others have found: held-out people whose table is in parts, or people out of reach. All parts must have been added.
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
    let unreachable = match (request.unreachable, remote.reach) {
        (true, None) => out_of_reach(prepared, reporter, cancel, &mut notes)?,
        (true, Some(found)) => Some(found.finish(prepared)?),
        (false, _) => None,
    };
    let view = View { columns: reference, features: &prepared.table };
    let groups = rules.iter().map(|rule| rule.apply(view)).collect::<Result<Vec<_>>>()?;
    let assembly = Assembly { front, request };
    let audited = assembly.present(&people, &groups, truth.as_ref(), unreachable.as_ref());
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
            Some(assembly.present(&people, &seen.groupings, seen.truth.as_ref(), unreachable.as_ref()))
        }
        Some(Holdout::Partitioned(divided)) => Some(divided.finish(&assembly, prepared, &mut notes)?),
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
        notes,
    })
}

/// The people out of reach; what is too much to compute, or was stopped, is left out with a note.
fn out_of_reach(
    prepared: &Prepared,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
    notes: &mut Vec<String>,
) -> Result<Option<Unreachable>> {
    let found = match unreachable::cheapest(prepared, reporter, cancel) {
        Ok(Some(cheapest)) => unreachable::of_reference(prepared, &cheapest, reporter, cancel).map(Some),
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
