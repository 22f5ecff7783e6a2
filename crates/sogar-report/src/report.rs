//! The interactive report: a front, its trees and its audit in one self-contained HTML file.
//!
//! A front of thousands of trees is only useful if people can explore it. [`gather`] collects everything to show, `data` is the
//! contract with the page, and [`page()`] writes the file: plain HTML, CSS and JavaScript from `page/`, with the data beside them
//! and a Content-Security-Policy that allows only this code to run.
//!
//! The result file alone gives the front, its trees, its features and held-out figures. Table and model ([`Opened`]) add group
//! disparity, the groups in each leaf, people out of reach and the bound of individual recourse.

mod composition;
mod data;
mod document;
mod groups;
mod markdown;
mod nodes;
mod pack;
mod page;
mod picks;
mod setting;
mod static_page;
mod suppress;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use sogar_solver::{CancelToken, RowSet};

use sogar_audit::audit::grouping::{Grouping, Groups, View};
use sogar_audit::audit::unreachable::{self, individual_bound};
use sogar_audit::audit::{AuditRequest, MIN_GROUP, RoutedPeople, Scan, ScanRequest, audit, with_protected};
use sogar_audit::diff::PriceOfEqualTreatment;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::statistics::Interval;
use sogar_front::evaluate::{HeldOut, evaluate};
use sogar_front::intervals::PointIntervals;
use sogar_front::neighbours::neighbours;
use sogar_front::select::By;
use sogar_front::summary::{Evaluation, FrontFile, HeldOutLeaf, Node, PlausibilityRef, UsualRef};
use sogar_prepare::prepared::{Prepared, Reporter};
use sogar_table::table::Table;

use composition::Compositions;
use data::{ActionData, Data, FairnessData, Holdout, PeopleData, Points, Statement};
use nodes::NodeTable;
use pack::{Packed, bitset};

pub use markdown::markdown;
pub use page::{page, page_with, part};
pub use static_page::static_page;

/// Default smallest number of people of a figure.
pub const MIN_N: usize = 5;
/// How many real people are named for a leaf.
const NEIGHBOURS: usize = 3;
/// Number of points of a bound to keep: enough for a smooth line.
const BOUND_POINTS: usize = 400;

/// The settings of a report.
#[derive(Debug, Clone)]
pub struct ReportRequest {
    /// The title; `None`: from the table's name.
    pub title: Option<String>,
    /// How people are grouped.
    pub groups: Vec<Grouping>,
    /// The column with the true labels; `None`: the one of the front's configuration.
    pub label: Option<String>,
    /// Criteria of the named points; the usual ones if empty.
    pub picks: Vec<By>,
    /// Leaves out figures about fewer people.
    pub min_n: usize,
    /// Whether to name the rows of individual people.
    pub include_rows: bool,
    /// Whether to look for people whom no action reaches and for the cost of individual recourse, which needs the outcomes of
    /// every action.
    pub reach: bool,
    /// Bootstrap draws for intervals.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// What it costs that protected features divide nobody, from a comparison with a front that may.
    pub price: Option<PriceOfEqualTreatment>,
    /// A scan for subgroups.
    pub scan: Option<ScanRequest>,
}

impl Default for ReportRequest {
    fn default() -> Self {
        let audit = AuditRequest::default();
        ReportRequest {
            title: None,
            groups: Vec::new(),
            label: None,
            picks: Vec::new(),
            min_n: MIN_N,
            include_rows: false,
            reach: true,
            draws: audit.draws,
            seed: audit.seed,
            price: None,
            scan: None,
        }
    }
}

/// The files that a front was made from, opened again.
#[derive(Clone, Copy)]
pub struct Opened<'a> {
    /// Table and model.
    pub prepared: &'a Prepared,
    /// The table as it was read.
    pub reference: &'a Table,
    /// Held-out people.
    pub holdout: Option<(&'a HeldOut, &'a Table)>,
}

/// Collects what a report shows. Without table and model, that is what the result file alone provides.
pub fn gather(
    front: &FrontFile,
    opened: Option<Opened<'_>>,
    request: &ReportRequest,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<Data> {
    let mut data = from_file(front, request)?;
    if let Some(opened) = opened {
        add_people(&mut data, front, opened, request, reporter, cancel)?;
    } else if !request.groups.is_empty() || request.include_rows || request.scan.is_some() {
        return Err(Error::new(ErrorKind::Usage, "groups and single people need the table and the model")
            .help("say where they are with --table and --model"));
    }
    (data.headline, data.verdict) = verdict::verdict(front, &data);
    if let Some(price) = &request.price {
        data.verdict.push(Statement { about: "price", text: price.text() });
    }
    data.printed = static_page::body(front, &data);
    Ok(data)
}

/// What the result file alone provides.
fn from_file(front: &FrontFile, request: &ReportRequest) -> Result<Data> {
    let table = setting::table(front);
    let nodes = NodeTable::new(front, |point, leaf, node| stored(front, request.min_n, point, leaf, node));
    Ok(Data {
        title: request.title.clone().unwrap_or_else(|| format!("Recourse report: {}", table.name)),
        headline: String::new(),
        verdict: Vec::new(),
        made: setting::made(front),
        status: front.status,
        certified_gap: front.certified_gap(),
        table,
        model: setting::model(front),
        population: setting::population(front),
        cost: setting::cost(front),
        limits: front.limits,
        counts: front.counts,
        features: setting::features(front),
        exclusions: setting::exclusions(front),
        splits: front.splits.clone(),
        actions: front
            .actions
            .iter()
            .map(|action| ActionData {
                id: action.id,
                text: action.text.clone(),
                edits: action.edits.clone(),
            })
            .collect(),
        nodes: nodes.nodes,
        points: Points {
            cost_sum: front.points.iter().map(|point| point.cost_sum).collect(),
            loss_count: front.points.iter().map(|point| point.loss_count).collect(),
            tree: nodes.roots,
        },
        picks: picks::picks(front, &request.picks)?,
        fairness: fairness(front, request.min_n)?,
        holdout: front.holdout.as_ref().map(|there| holdout(there, request.min_n)),
        plausibility: front.plausibility.as_ref().map(|block| plausibility(front, block, request.min_n)),
        neighbours: BTreeMap::new(),
        individual: None,
        bound: front.bound.as_deref().map(thinned),
        groupings: Vec::new(),
        compositions: Vec::new(),
        scan: None,
        unreachable: None,
        people: None,
        gaps: Vec::new(),
        notes: Vec::new(),
        reproduce: setting::reproduce(front, request),
        min_n: request.min_n,
        printed: String::new(),
    })
}

/// What is stored of a leaf: only its action if it has too few people.
fn stored(front: &FrontFile, min_n: usize, point: usize, leaf: usize, node: &Node) -> Vec<u64> {
    match node {
        Node::Leaf { action, .. } if composition::is_small(front, min_n, point, leaf) => vec![*action as u64],
        Node::Leaf { action, rows, flipped, cost_sum } => vec![*action as u64, *rows, *flipped, *cost_sum],
        Node::Split { .. } => Vec::new(),
    }
}

/// How usual the people of each leaf are, unless they are few.
fn plausibility(front: &FrontFile, block: &PlausibilityRef, min_n: usize) -> Vec<Vec<Option<[f64; 2]>>> {
    let of_point = |(point, leaves): (usize, &Vec<Option<UsualRef>>)| {
        let shown = leaves.iter().enumerate().map(|(leaf, usual)| {
            usual
                .filter(|_| !composition::is_small(front, min_n, point, leaf))
                .map(|usual| [usual.before, usual.after])
        });
        shown.collect()
    };
    block.points.iter().enumerate().map(of_point).collect()
}

fn fairness(front: &FrontFile, min_n: usize) -> Result<Option<FairnessData>> {
    let limit = front.config.fairness.goal()?.and_then(|goal| goal.max_gap);
    let limit = limit.map(|limit| limit.digits as f64 / limit.one() as f64);
    let found = front.fairness.clone();
    let found = found.and_then(|found| suppress::fairness(found, min_n as u64 * front.people().unit));
    Ok(found.map(|found| FairnessData { found, limit }))
}

/// The front on held-out people; leaves out leaves with fewer than `min_n` of them.
fn holdout(evaluation: &Evaluation, min_n: usize) -> Holdout {
    let people = evaluation.people();
    // More digits are not shown.
    let short = |share: f64| (1e4 * share).round() / 1e4;
    let intervals: Vec<PointIntervals> =
        (0..evaluation.points.len()).map(|point| evaluation.interval(point)).collect();
    let leaf = |(leaf, interval): (&HeldOutLeaf, &Interval)| {
        let share = leaf.flipped as f64 / leaf.rows.max(1) as f64;
        let enough = leaf.rows > 0 && people.count(leaf.rows) >= min_n as f64;
        enough.then_some([short(share), short(interval.low), short(interval.high)])
    };
    Holdout {
        works: intervals
            .iter()
            .map(|found| [found.works.low, found.works.high, found.band.low, found.band.high].map(short))
            .collect(),
        cost: intervals
            .iter()
            .map(|found| {
                found.cost.filter(|cost| cost.high.is_finite()).map(|cost| [cost.low, cost.high].map(short))
            })
            .collect(),
        leaves: evaluation
            .details
            .iter()
            .zip(&intervals)
            .map(|(detail, found)| detail.leaves.iter().zip(&found.leaves).map(leaf).collect())
            .collect(),
        hash: evaluation.hash.clone(),
        rows: people.count(people.all),
        affected: people.count(people.affected),
        person: (people.unit > 1).then_some(people.unit),
        cost_sum: evaluation.points.iter().map(|point| point.cost_sum).collect(),
        loss_count: evaluation.points.iter().map(|point| point.loss_count).collect(),
        mean_distance: evaluation.mean_distance,
        sd_distance: evaluation.sd_distance,
    }
}

/// Some points of a bound, including its ends.
fn thinned(bound: &[[u64; 2]]) -> Vec<[u64; 2]> {
    let last = bound.len().saturating_sub(1);
    let shown = BOUND_POINTS.min(bound.len());
    (0..shown).map(|i| bound[i * last / (shown.max(2) - 1)]).collect()
}

/// Adds what table and model provide: groups, leaves by group, people out of reach, individual recourse.
fn add_people(
    data: &mut Data,
    front: &FrontFile,
    opened: Opened<'_>,
    request: &ReportRequest,
    reporter: &dyn Reporter,
    cancel: &CancelToken,
) -> Result<()> {
    let Opened { prepared, reference, holdout: held_out } = opened;
    let asked = AuditRequest {
        groups: request.groups.clone(),
        label: request.label.clone(),
        draws: request.draws,
        seed: request.seed,
        unreachable: false, // computed below, with the individual bound
        scan: request.scan.clone(),
        min_group: MIN_GROUP.max(request.min_n),
        ..AuditRequest::default()
    };
    let audited = audit(front, prepared, reference, held_out, &asked, reporter, cancel)?;
    let people = RoutedPeople::reference(front, prepared)?;
    if let Some((held_out, table)) = held_out
        && data.holdout.as_ref().is_none_or(|known| known.hash != table.hash)
    {
        data.holdout = Some(holdout(&evaluate(front, prepared, held_out)?, request.min_n));
    }

    let view = View { columns: reference, features: prepared.table() };
    let mut groupings: Vec<Groups> = Vec::new();
    for grouping in with_protected(&request.groups, prepared)? {
        let groups = grouping.learn(view, prepared.config())?.apply(view)?;
        // The audit also lists each grouping once.
        if groupings.iter().all(|known| known.name != groups.name) {
            groupings.push(groups);
        }
    }
    let members: Vec<Vec<RowSet>> =
        groupings.iter().map(|groups| people.by_group(&groups.of_row, groups.names.len())).collect();

    let cheapest = match request.reach {
        true => unreachable::cheapest(prepared, reporter, cancel)?,
        false => None,
    };
    let out_of_reach = match &cheapest {
        Some(cheapest) => Some(unreachable::of_reference(prepared, cheapest, reporter, cancel)?),
        None => None,
    };
    data.individual = cheapest.as_ref().map(|cheapest| {
        let bound = individual_bound(cheapest, |person| people.weight(person));
        let bound: Vec<[u64; 2]> = bound.iter().map(|point| [point.cost, point.loss]).collect();
        thinned(&bound)
    });
    data.unreachable = out_of_reach.as_ref().map(|found| {
        let (count, blocked_by) = found.among(|_| true, &people);
        suppress::unreachable(count, blocked_by, data.population.affected, request.min_n)
    });
    if let (Some(bound), Some(found)) = (&mut data.individual, &data.unreachable) {
        let (unit, people) = (people.person, front.people());
        suppress::individual(bound, found, request.min_n as u64 * unit, people.affected);
    }
    data.groupings = groups::groupings(&audited, &people, &members, out_of_reach.as_ref(), request.min_n);
    data.gaps = groups::gaps_in_loss(&audited, &data.groupings);
    // Names between backticks are for terminals.
    data.notes = audited.notes.iter().map(|note| note.replace('`', "")).collect();
    data.scan = audited.scan.map(|scan| without_small(scan, request.min_n));

    if !members.is_empty() {
        let shown: Vec<Vec<bool>> = data
            .groupings
            .iter()
            .map(|grouping| grouping.reference.groups.iter().map(|group| group.affected.is_some()).collect())
            .collect();
        let compositions = Compositions::new(front, &people, &members, &shown, request.min_n);
        let nodes = NodeTable::new(front, |point, leaf, node| {
            let mut numbers = stored(front, request.min_n, point, leaf, node);
            if numbers.len() > 1 {
                numbers.push(compositions.of_leaf(point, leaf) as u64);
            }
            numbers
        });
        (data.nodes, data.points.tree) = (nodes.nodes, nodes.roots);
        data.compositions = compositions.shown();
    }
    if request.include_rows {
        data.people = Some(single_people(front, &people, &groupings));
        let points: BTreeSet<usize> = data.picks.iter().map(|pick| pick.point).collect();
        let points: Vec<usize> = points.into_iter().collect();
        let near = neighbours(front, prepared.table(), prepared.affected(), &points, NEIGHBOURS)?;
        data.neighbours = points.into_iter().zip(near).collect();
    }
    Ok(())
}

/// A scan without subgroups of few people, here or among the held-out.
fn without_small(mut scan: Scan, min_n: usize) -> Scan {
    let enough = |count: f64| count == 0.0 || count >= min_n as f64;
    scan.found.retain(|subgroup| enough(subgroup.affected));
    for subgroup in &mut scan.found {
        subgroup.holdout = subgroup.holdout.take().filter(|held| enough(held.affected));
    }
    scan
}

/// All affected people, by row.
fn single_people(front: &FrontFile, people: &RoutedPeople, groupings: &[Groups]) -> PeopleData {
    PeopleData {
        rows: people.affected.iter().map(|row| row + 1).collect(),
        passes: (0..front.splits.len()).map(|split| bitset(people.passes(split), people.count())).collect(),
        flips: (0..front.actions.len()).map(|action| bitset(people.flips(action), people.count())).collect(),
        costs: (0..front.actions.len())
            .map(|action| {
                let costs: Vec<u64> = (0..people.count()).map(|person| people.cost(action, person)).collect();
                Packed::whole(&costs)
            })
            .collect(),
        groups: groupings
            .iter()
            .map(|groups| people.affected.iter().map(|&row| groups.of_row[row] as usize).collect())
            .collect(),
    }
}
