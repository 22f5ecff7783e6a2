//! Is a point missing? There must be no tree between two neighbours of a complete front. The check works from below: the plain
//! search computes the exact fronts of all trees of depth 0, 1, 2, … and compares them with the file.
//!
//! Reaching the full depth is a proof for every gap. If that would take too long, the result is exact for the depth that was
//! reached. Sampled searches at full depth ([`super::sample`]) and scalarisations ([`super::weights`]) then look further: the
//! former at every gap but over few splits, the latter over all splits but only at the convex part of the front.

use std::time::{Duration, Instant};

use sogar_solver::{CancelToken, RowSet};

use super::admissible::Action;
use super::by_group::{self, Groups};
use super::order::below;
use super::plain::{LeafFronts, Pair, Plain};
use super::plausible::Usual;
use super::pricing::Prices;
use super::weights::{self, Scalarisations, WEIGHTS, Weight};
use super::{Completeness, Options, Report, Verdict, defect, sample};
use sogar_base::error::{ErrorKind, Result};
use sogar_front::summary::{Claim, FrontFile};
use sogar_prepare::prepared::{Prepared, Reporter};

/// Limit of bytes for lists of row sets.
const MEMORY: usize = 1 << 30;
/// The share of the time at which the search for fronts ends …
const FRONTS: f64 = 0.6;
/// … and that at which the draws end; the rest is for scalarisations.
const DRAWN: f64 = 0.7;

/// Row sets between two reports of progress.
const BLOCK: usize = 256;

/// What the plain search covered.
pub(super) struct Reached {
    /// It covered all trees of at most this depth.
    pub depth: usize,
    /// Distinct leaf sets of these trees.
    pub leaf_sets: usize,
    /// Leaf fronts, for the samples.
    pub leaves: LeafFronts,
    /// The estimated cost of the whole search, from the time so far.
    pub whole: Option<Whole>,
}

/// The cost of a proof.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    /// Seconds.
    pub seconds: f64,
    /// Whether its row sets fit into the memory of a check.
    pub fits: bool,
}

/// The inputs of a test of completeness.
pub(super) struct Test<'a> {
    pub front: &'a FrontFile,
    pub prepared: &'a Prepared,
    pub usual: Option<&'a Usual<'a>>,
    pub groups: Option<&'a Groups<'a>>,
    pub options: &'a Options,
    pub reporter: &'a dyn Reporter,
}

/// Tests completeness, or for a stopped run its bound: on all people, or on the sample that was searched.
pub(super) fn check(
    test: &Test<'_>,
    used: &[Action],
    prices: &Prices<'_>,
    report: &mut Report,
) -> Result<()> {
    let Test { front, prepared, usual, groups, options, reporter } = *test;
    let claim = front.claim();
    let (name, tested) = if claim.is_complete() {
        ("completeness", "completeness was not tested")
    } else {
        ("bound", "the bound was not tested")
    };
    if front.status.is_early() {
        report.completeness = Completeness::NotClaimed;
    }
    if front.sample.is_some() {
        report
            .not_proved
            .push("that everybody has no better summary: the search was made on a sample".into());
    }
    if front.stopped_before_outcomes() {
        return Ok(());
    }
    let made = match prepared.searched_problem(reporter, &CancelToken::new()) {
        Err(error) if error.kind() == ErrorKind::Memory => {
            report.not_proved.push(format!("{tested}: {error}"));
            return Ok(());
        }
        made => made?,
    };
    if !made.finished {
        report.not_proved.push(format!("{tested}: the outcomes were stopped"));
        return Ok(());
    }
    let problem = &made.problem;
    let outcomes = sample::outcomes(front, (prepared, usual), problem, used, options.seed);
    let outcomes = report.record("outcomes", outcomes);
    let costs = report.record("costs", sample::costs(prepared, problem, prices));
    if outcomes.is_none() || costs.is_none() {
        return Ok(());
    }
    // The time limit starts here: everything before is always done.
    let start = Instant::now();
    let after = |share: f64| {
        let time = Duration::try_from_secs_f64(share * options.time_limit.as_secs_f64()).ok()?;
        start.checked_add(time)
    };
    if let Some(groups) = groups {
        by_group::completeness(front, groups, prepared, problem, after(1.0), reporter, report);
        return Ok(());
    }
    let mut plain = Plain::new(problem, prepared.edits().len(), prices.combine(), after(FRONTS));
    let searched = match search(claim, &plain, reporter) {
        Ok(Some(reached)) => reached,
        Ok(None) => {
            report.not_proved.push(format!("{tested}: the time limit came first"));
            return Ok(());
        }
        Err(found) => {
            report.record::<()>(name, Err(found));
            return Ok(());
        }
    };
    let depth = prepared.limits().max_depth as usize;
    let proved = searched.depth == depth;
    let longer = searched.whole.filter(|_| !proved).map_or_else(String::new, |whole| longer(whole, report));
    let on = if front.sample.is_some() { "on the sample, " } else { "" };
    let all = format!(
        "{} leaf sets x {} actions, all {} splits",
        searched.leaf_sets,
        problem.actions(),
        problem.splits()
    );
    if !claim.is_complete() {
        let text = format!("{on}holds for all trees of depth {} at most ({all})", searched.depth);
        report.record(name, Ok(((), text)));
        if !proved {
            report.not_proved.push(format!("that the bound holds for all trees of depth {depth}{longer}"));
            plain.set_deadline(after(1.0));
            scalarisations(test, &plain, &searched, report);
        }
        return Ok(());
    }
    let (points, gaps) = (claim.points.len(), claim.points.len().saturating_sub(1));
    if proved {
        report.completeness =
            if front.sample.is_some() { Completeness::ProvedOnSample } else { Completeness::Proved };
        let text = format!(
            "proved: {on}a plain search of its own ({all}) finds these {points} points and no others, so all {gaps} gaps are empty"
        );
        report.record(name, Ok(((), text)));
        return Ok(());
    }
    plain.set_deadline(after(DRAWN));
    let fronts = sample::sub_searches(front, prepared, &plain, &searched.leaves, options.seed);
    let verdict = fronts.iter().try_for_each(|found| none_missing(claim, found, depth)).map(|()| {
        let text = format!(
            "sampled: {on}in all {gaps} gaps there is no tree of depth {} at most ({all}), and none of depth {depth} over the \
             splits of {} draws (seed {})",
            searched.depth,
            fronts.len(),
            options.seed
        );
        ((), text)
    });
    if report.record(name, verdict).is_some() {
        report.completeness = Completeness::Sampled;
        report
            .not_proved
            .push(format!("that no tree of depth {depth} over other splits lies in a gap{longer}"));
        if fronts.len() < sample::DRAWS {
            let missed = sample::DRAWS - fronts.len();
            report.not_proved.push(format!("the time limit came before {missed} of {} draws", sample::DRAWS));
        }
        plain.set_deadline(after(1.0));
        scalarisations(test, &plain, &searched, report);
    }
    Ok(())
}

/// The cost of a proof, in words and in the report.
fn longer(Whole { seconds, fits }: Whole, report: &mut Report) -> String {
    report.proof_seconds = Some(seconds);
    let time = match seconds {
        ..1.5 => "a second".to_owned(),
        ..90.0 => format!("{seconds:.0} seconds"),
        ..5400.0 => format!("{:.0} minutes", seconds / 60.0),
        ..172_800.0 => format!("{:.0} hours", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    };
    if !fits {
        return format!("; a proof would take about {time} here, and more memory than a check uses");
    }
    // The plain search gets a share of the time; half as much again, because this is an estimate.
    format!("; a proof would take about {time} here: --time-limit {:.0}", (1.5 * seconds / FRONTS).ceil())
}

/// The scalarisations of trees that are deeper than those with known fronts.
pub(super) fn scalarisations(test: &Test<'_>, plain: &Plain<'_>, searched: &Reached, report: &mut Report) {
    let Test { front, prepared, options, reporter, .. } = *test;
    let seed = options.seed;
    let weights = Weight::drawn(seed, front.cost.unit);
    let mut search = Scalarisations::new(plain, weights.clone(), &searched.leaves, seed, MEMORY);
    let all = prepared.splits().len();
    let progress = |depth: usize, done: usize| {
        reporter.checking(&format!("scalarisations, depth {depth}"), done, all);
    };
    let Some(reached) = search.search(searched.depth + 1, progress) else {
        report.not_proved.push("time or memory ended before any scalarisation went deeper".into());
        return;
    };
    let depth = prepared.limits().max_depth as usize;
    let complete = reached.depth == depth;
    let sampled = match reached.first_tests {
        0 => String::new(),
        some => format!(
            ", and over those of depth {} that begin with one of {some} drawn splits (of {all})",
            reached.depth + 1
        ),
    };
    let verdict = none_better(front.claim(), &weights, &reached, complete).map(|()| {
        let text = format!(
            "{WEIGHTS} scalarisations (seed {seed}) over all trees of depth {} at most{sampled}, on all {} rows: no tree is \
             better than the front; they see its convex part only",
            reached.depth,
            plain.problem().rows()
        );
        ((), text)
    });
    if report.record("scalarisations", verdict).is_some() && !complete {
        report
            .not_proved
            .push(format!("scalarisations over the other trees of depth {depth}: time or memory ended"));
    }
}

/// Checks that no weighting makes a tree better than all points of the front (of a stopped run: of its bound). If all trees were
/// covered, no point may be better than all of them either.
pub(super) fn none_better(
    front: Claim<'_>,
    weights: &[Weight],
    reached: &weights::Reached,
    complete: bool,
) -> Verdict<()> {
    let pairs: Vec<Pair> = match front.bound {
        Some(bound) => bound.iter().map(|&[cost, loss]| (cost, loss as usize)).collect(),
        None => front.points.iter().map(|point| (point.cost_sum, point.loss_count as usize)).collect(),
    };
    let claimed = if front.bound.is_some() { "the bound allows" } else { "every point" };
    for (weight, &(cost, loss)) in weights.iter().zip(&reached.best) {
        let w = weight.of_cost();
        let (least, best) = (weight.value((cost, loss)), pairs.iter().map(|&pair| weight.value(pair)).min());
        if best.is_none_or(|best| least < best) {
            return defect(format!(
                "with the weight {w:.4} of cost, a tree with cost_sum {cost} and loss_count {loss} is better than {claimed}"
            ));
        }
        if complete && front.bound.is_none() && best.is_some_and(|best| best < least) {
            return defect(format!("with the weight {w:.4} of cost, a point is better than every tree"));
        }
    }
    Ok(())
}

/// Compares depth by depth with the file. `None` if time ran out even for single leaves.
fn search(front: Claim<'_>, plain: &Plain<'_>, reporter: &dyn Reporter) -> Verdict<Option<Reached>> {
    let problem = plain.problem();
    let splits: Vec<usize> = (0..problem.splits()).collect();
    let most_sets = MEMORY / (8 * problem.rows().div_ceil(64) + 64);
    let mut leaves = LeafFronts::new();
    let mut levels: Vec<Vec<RowSet>> = vec![vec![plain.root()]];
    let mut reached: Option<(usize, usize)> = None;
    let depth = problem.limits().max_depth as usize;
    let begin = Instant::now();
    // The time per row set, on the slowest level.
    let mut each = 0.0f64;
    loop {
        let level = levels.len() - 1;
        let (start, known) = (Instant::now(), leaves.len());
        let sets = levels.last().map_or(&[][..], Vec::as_slice);
        let progress = |done| reporter.checking(&format!("plain search, depth {level}"), done, sets.len());
        let all = sets.chunks(BLOCK).enumerate().all(|(block, sets)| {
            progress(block * BLOCK);
            plain.add_leaves(sets, &mut leaves)
        });
        let took = |new: usize| start.elapsed().as_secs_f64() / new.max(1) as f64;
        let new = leaves.len() - known;
        if !all {
            each = if new > 0 { took(new) } else { each };
            break;
        }
        let Some(found) = plain.front(&levels, &splits, &leaves) else { break };
        none_missing(front, &found, level)?;
        if level == depth && front.is_complete() {
            none_beyond(front, &found)?;
        }
        reached = Some((level, leaves.len()));
        if level == depth {
            break;
        }
        // The time of this level tells how many sets of the next level fit into the limit: those are smaller.
        each = took(new);
        let left = plain.time_left().as_secs_f64();
        let affordable = ((left / each.max(1e-9)) as usize).min(most_sets);
        let Some(next) = levels.last().and_then(|sets| plain.level(sets, &splits, affordable)) else { break };
        levels.push(next);
    }
    let Some((depth, leaf_sets)) = reached else { return Ok(None) };
    let (sets, largest) = still(plain, &levels, &splits, depth);
    let whole =
        Whole { seconds: begin.elapsed().as_secs_f64() + each * sets, fits: largest <= most_sets as f64 };
    Ok(Some(Reached { depth, leaf_sets, leaves, whole: Some(whole) }))
}

/// Number of sets of the last level that are sampled for the number of sets they split into.
const LOOKED_AT: usize = 32;

/// The estimated number of remaining row sets, and of those on the largest level. A set behind k + 1 splits is usually reached
/// from k + 1 sets behind k splits, and each of these has two sides for every split that leaves both large enough.
fn still(plain: &Plain<'_>, levels: &[Vec<RowSet>], splits: &[usize], done: usize) -> (f64, f64) {
    let depth = plain.problem().limits().max_depth as usize;
    let listed: usize = levels.iter().skip(done + 1).map(Vec::len).sum();
    let Some(last) = levels.last().filter(|sets| !sets.is_empty()) else { return (0.0, 0.0) };
    let looked_at: Vec<&RowSet> = last.iter().step_by(last.len().div_ceil(LOOKED_AT)).collect();
    let sides = |set: &&RowSet| splits.iter().filter(|&&split| plain.sides(set, split).is_some()).count();
    let children = 2.0 * looked_at.iter().map(sides).sum::<usize>() as f64 / looked_at.len() as f64;
    let (mut sets, mut all) = (last.len() as f64, listed as f64);
    let mut largest = sets;
    for level in levels.len()..=depth {
        sets *= children / level as f64;
        largest = largest.max(sets);
        all += sets;
    }
    (all, largest)
}

/// Checks that the file's front (of a stopped run: its bound) matches or beats every pair that a tree attains.
pub(super) fn none_missing(front: Claim<'_>, attained: &[Pair], depth: usize) -> Verdict<()> {
    for &(cost, loss) in attained {
        let pair = (cost, loss as u64);
        if let Some(bound) = front.bound {
            if !below(bound, pair) {
                return defect(format!(
                    "a tree of depth {depth} at most attains cost_sum {cost} and loss_count {loss}, below the bound"
                ));
            }
            continue;
        }
        // Points are sorted: the last one that is not more expensive has the smallest loss of those.
        let after = front.points.partition_point(|point| point.cost_sum <= cost);
        let matched = after.checked_sub(1).is_some_and(|last| front.points[last].loss_count <= pair.1);
        if !matched {
            let place = match (after.checked_sub(1), front.points.get(after)) {
                (Some(last), Some(_)) => format!("between points {last} and {after}"),
                (Some(last), None) => format!("behind point {last}"),
                (None, _) => "before the first point".to_owned(),
            };
            return defect(format!(
                "a point is missing {place}: a tree of depth {depth} at most attains cost_sum {cost} and loss_count {loss}"
            ));
        }
    }
    Ok(())
}

/// Checks that every point of the file is on the exact front.
fn none_beyond(front: Claim<'_>, exact: &[Pair]) -> Verdict<()> {
    for (number, point) in front.points.iter().enumerate() {
        if !exact.contains(&(point.cost_sum, point.loss_count as usize)) {
            return defect(format!("point {number} is not on the front that the plain search finds"));
        }
    }
    Ok(())
}
