//! Is a point missing? Between any two neighbours of a complete front there must be no tree, and this is looked at from below: the
//! exact fronts of all trees of depth 0, 1, 2, … are made by the plain search and held against the file.
//!
//! Reaching the full depth is a proof for every gap. Where that would take too long, what was reached is exact for its depth, and
//! sampled searches at full depth ([`super::sample`]) and scalarisations ([`super::weights`]) look further: the former at every gap but
//! over few splits, the latter over all splits but at the convex part of the front alone.

use std::time::{Duration, Instant};

use sogar_solver::{CancelToken, RowSet};

use super::admissible::Action;
use super::order::below;
use super::origin::stopped_before_outcomes;
use super::plain::{LeafFronts, Pair, Plain};
use super::weights::{self, Scalarisations, WEIGHTS, Weight};
use super::{Completeness, Options, Report, Verdict, defect, sample};
use crate::error::{ErrorKind, Result};
use crate::pipeline::{Prepared, Reporter};
use crate::summary::{FrontFile, Status};

/// The most that lists of row sets may take, in bytes.
const MEMORY: usize = 1 << 30;
/// The share of the time after which the search for fronts ends …
const FRONTS: f64 = 0.6;
/// … and that after which the draws end; the rest is for scalarisations.
const DRAWN: f64 = 0.7;

/// Row sets between two reports of progress.
const BLOCK: usize = 256;

/// What the plain search reached.
pub(super) struct Reached {
    /// All trees of this depth at most were looked at.
    pub depth: usize,
    /// Distinct leaf sets behind them.
    pub leaf_sets: usize,
    /// Leaf fronts, for the samples.
    pub leaves: LeafFronts,
}

/// Tests completeness, or for a stopped run its bound.
pub(super) fn check(
    front: &FrontFile,
    prepared: &Prepared,
    used: &[Action],
    options: &Options,
    reporter: &dyn Reporter,
    report: &mut Report,
) -> Result<()> {
    let claimed = front.status == Status::Complete;
    let (name, tested) = if claimed {
        ("completeness", "completeness was not tested")
    } else {
        ("bound", "the bound was not tested")
    };
    if !claimed {
        report.completeness = Completeness::NotClaimed;
    }
    if front.sample.is_some() {
        report.not_proved.push(
            "that no better summary exists: the search was made on a sample, whose front is not recorded"
                .into(),
        );
        return Ok(());
    }
    if stopped_before_outcomes(front) {
        return Ok(());
    }
    let made = match prepared.problem(reporter, &CancelToken::new()) {
        Err(error) if error.kind() == ErrorKind::Memory => {
            report.not_proved.push(format!("{tested}: {error}"));
            return Ok(());
        }
        made => made?,
    };
    let problem = &made.problem;
    if report.record("outcomes", sample::outcomes(front, prepared, problem, used)).is_none() {
        return Ok(());
    }
    // From here on the time counts: before it there was nothing to give up.
    let start = Instant::now();
    let after = |share: f64| {
        let time = Duration::try_from_secs_f64(share * options.time_limit.as_secs_f64()).ok()?;
        start.checked_add(time)
    };
    let mut plain = Plain::new(problem, prepared.edits.len(), prepared.cost.combine(), after(FRONTS));
    let searched = match search(front, prepared, &plain, reporter) {
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
    let depth = prepared.limits.max_depth as usize;
    let proved = searched.depth == depth;
    let all = format!(
        "{} leaf sets x {} actions, all {} splits",
        searched.leaf_sets,
        problem.actions(),
        problem.splits()
    );
    if !claimed {
        let text = format!("holds for all trees of depth {} at most ({all})", searched.depth);
        report.record(name, Ok(((), text)));
        if !proved {
            report.not_proved.push(format!("that the bound holds for all trees of depth {depth}"));
            plain.set_deadline(after(1.0));
            scalarisations(front, prepared, &plain, &searched, reporter, report);
        }
        return Ok(());
    }
    let gaps = front.points.len().saturating_sub(1);
    if proved {
        report.completeness = Completeness::Proved;
        let text = format!(
            "proved: a plain search of its own ({all}) finds these {} points and no others, so all {gaps} gaps are empty",
            front.points.len()
        );
        report.record(name, Ok(((), text)));
        return Ok(());
    }
    plain.set_deadline(after(DRAWN));
    let fronts = sample::sub_searches(front, prepared, &plain, &searched.leaves);
    let verdict = fronts.iter().try_for_each(|found| none_missing(front, found, depth)).map(|()| {
        let text = format!(
            "sampled: in all {gaps} gaps there is no tree of depth {} at most ({all}), and none of depth {depth} over the \
             splits of {} draws (seed {})",
            searched.depth,
            fronts.len(),
            prepared.config.seed
        );
        ((), text)
    });
    if report.record(name, verdict).is_some() {
        report.completeness = Completeness::Sampled;
        report.not_proved.push(format!(
            "that no tree of depth {depth} over other splits lies in a gap; a higher --time-limit lets the plain search go \
             deeper"
        ));
        if fronts.len() < sample::DRAWS {
            let missed = sample::DRAWS - fronts.len();
            report.not_proved.push(format!("the time limit came before {missed} of {} draws", sample::DRAWS));
        }
        plain.set_deadline(after(1.0));
        scalarisations(front, prepared, &plain, &searched, reporter, report);
    }
    Ok(())
}

/// The scalarisations of trees that are deeper than those whose fronts were found.
pub(super) fn scalarisations(
    front: &FrontFile,
    prepared: &Prepared,
    plain: &Plain<'_>,
    searched: &Reached,
    reporter: &dyn Reporter,
    report: &mut Report,
) {
    let seed = prepared.config.seed;
    let weights = Weight::drawn(seed, front.cost.unit);
    let mut search = Scalarisations::new(plain, weights.clone(), &searched.leaves, seed, MEMORY);
    let all = prepared.splits.len();
    let progress = |depth: usize, done: usize| {
        reporter.checking(&format!("scalarisations, depth {depth}"), done, all);
    };
    let Some(reached) = search.search(searched.depth + 1, progress) else {
        report.not_proved.push("time or memory ended before any scalarisation went deeper".into());
        return;
    };
    let depth = prepared.limits.max_depth as usize;
    let complete = reached.depth == depth;
    let sampled = match reached.first_tests {
        0 => String::new(),
        some => format!(
            ", and over those of depth {} that begin with one of {some} drawn splits (of {all})",
            reached.depth + 1
        ),
    };
    let verdict = none_better(front, &weights, &reached, complete).map(|()| {
        let text = format!(
            "{WEIGHTS} scalarisations (seed {seed}) over all trees of depth {} at most{sampled}, on all {} rows: no tree is \
             better than the front; they see its convex part only",
            reached.depth,
            prepared.affected.len()
        );
        ((), text)
    });
    if report.record("scalarisations", verdict).is_some() && !complete {
        report
            .not_proved
            .push(format!("scalarisations over the other trees of depth {depth}: time or memory ended"));
    }
}

/// By no weighting is a tree better than all points of the front (of a stopped run: of its bound). Where all trees were looked at,
/// no point is better than all of them either.
pub(super) fn none_better(
    front: &FrontFile,
    weights: &[Weight],
    reached: &weights::Reached,
    complete: bool,
) -> Verdict<()> {
    let pairs: Vec<Pair> = match &front.bound {
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

/// Depth by depth, each held against the file. `None` if not even single leaves could be looked at in time.
fn search(
    front: &FrontFile,
    prepared: &Prepared,
    plain: &Plain<'_>,
    reporter: &dyn Reporter,
) -> Verdict<Option<Reached>> {
    let splits: Vec<usize> = (0..prepared.splits.len()).collect();
    let most_sets = MEMORY / (8 * prepared.affected.len().div_ceil(64) + 64);
    let mut leaves = LeafFronts::new();
    let mut levels: Vec<Vec<RowSet>> = vec![vec![plain.root()]];
    let mut reached: Option<(usize, usize)> = None;
    let depth = prepared.limits.max_depth as usize;
    loop {
        let level = levels.len() - 1;
        let (start, known) = (Instant::now(), leaves.len());
        let sets = levels.last().map_or(&[][..], Vec::as_slice);
        let progress = |done| reporter.checking(&format!("plain search, depth {level}"), done, sets.len());
        if !sets.chunks(BLOCK).enumerate().all(|(block, sets)| {
            progress(block * BLOCK);
            plain.add_leaves(sets, &mut leaves)
        }) {
            break;
        }
        let Some(found) = plain.front(&levels, &splits, &leaves) else { break };
        none_missing(front, &found, level)?;
        if level == depth && front.status == Status::Complete {
            none_beyond(front, &found)?;
        }
        reached = Some((level, leaves.len()));
        if level == depth {
            break;
        }
        // What the sets of this level took tells how many of the next the time is good for: those are smaller.
        let each = start.elapsed().as_secs_f64() / (leaves.len() - known).max(1) as f64;
        let left = plain.time_left().as_secs_f64();
        let affordable = ((left / each.max(1e-9)) as usize).min(most_sets);
        let Some(next) = levels.last().and_then(|sets| plain.level(sets, &splits, affordable)) else { break };
        levels.push(next);
    }
    Ok(reached.map(|(depth, leaf_sets)| Reached { depth, leaf_sets, leaves }))
}

/// Every pair that a tree attains is matched or beaten by the file's front (of a stopped run: by its bound).
pub(super) fn none_missing(front: &FrontFile, attained: &[Pair], depth: usize) -> Verdict<()> {
    for &(cost, loss) in attained {
        let pair = (cost, loss as u64);
        if let Some(bound) = &front.bound {
            if !below(bound, pair) {
                return defect(format!(
                    "a tree of depth {depth} at most attains cost_sum {cost} and loss_count {loss}, below the bound"
                ));
            }
            continue;
        }
        // Points are in order: the last one that is no dearer has the least loss of those.
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

/// Every point of the file is on the exact front.
fn none_beyond(front: &FrontFile, exact: &[Pair]) -> Verdict<()> {
    for (number, point) in front.points.iter().enumerate() {
        if !exact.contains(&(point.cost_sum, point.loss_count as usize)) {
            return defect(format!("point {number} is not on the front that the plain search finds"));
        }
    }
    Ok(())
}
