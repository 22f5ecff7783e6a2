//! Is a point missing? Between any two neighbours of a complete front there must be no tree, and this is looked at from below: the
//! exact fronts of all trees of depth 0, 1, 2, … are made by the plain search and held against the file.
//!
//! Reaching the full depth is a proof for every gap. Where that would take too long, what was reached is exact for its depth, and
//! sampled searches at full depth ([`super::sample`]) look further. (Weighted sums alone would not do: they see only the convex
//! part of a front; and they are no cheaper, since looking at a leaf's actions is what takes the time.)

use std::time::Instant;

use sogar_solver::{CancelToken, RowSet};

use super::admissible::Action;
use super::order::below;
use super::origin::stopped_before_outcomes;
use super::plain::{LeafFronts, Pair, Plain};
use super::{Completeness, Options, Report, Verdict, defect, sample};
use crate::error::{ErrorKind, Result};
use crate::pipeline::{Prepared, Reporter};
use crate::summary::{FrontFile, Status};

/// The most that lists of row sets may take, in bytes.
const MEMORY: usize = 1 << 30;
/// The share of the time left that the next depth may take; the rest is for samples.
const SHARE: f64 = 0.75;

/// What the plain search reached.
struct Reached {
    /// All trees of this depth at most were looked at.
    depth: usize,
    /// Distinct leaf sets behind them.
    leaf_sets: usize,
    /// Leaf fronts, for the samples.
    leaves: LeafFronts,
}

/// Tests completeness, or for a stopped run its bound.
pub(super) fn check(
    front: &FrontFile,
    prepared: &Prepared,
    used: &[Action],
    options: Options,
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
    let deadline = Instant::now().checked_add(options.time_limit);
    let plain = Plain::new(problem, prepared.edits.len(), prepared.cost.combine(), deadline);
    let searched = match search(front, prepared, &plain) {
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
    }
    Ok(())
}

/// Depth by depth, each held against the file. `None` if not even single leaves could be looked at in time.
fn search(front: &FrontFile, prepared: &Prepared, plain: &Plain<'_>) -> Verdict<Option<Reached>> {
    let splits: Vec<usize> = (0..prepared.splits.len()).collect();
    let most_sets = MEMORY / (8 * prepared.affected.len().div_ceil(64) + 64);
    let mut leaves = LeafFronts::new();
    let mut levels: Vec<Vec<RowSet>> = vec![vec![plain.root()]];
    let mut reached: Option<(usize, usize)> = None;
    let depth = prepared.limits.max_depth as usize;
    loop {
        let level = levels.len() - 1;
        let (start, known) = (Instant::now(), leaves.len());
        if !levels.last().is_none_or(|sets| plain.add_leaves(sets, &mut leaves)) {
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
        let affordable = ((SHARE * left / each.max(1e-9)) as usize).min(most_sets);
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
