//! How a search gets better while it runs: the area that its front dominates over time, and the certified gap of runs that are stopped early.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use sogar::{Progress, Result};
use sogar_solver::{Observer, Point, Problem, SearchStatus};

use super::measure::solver;

/// Shares of the time to completion after which a run is stopped.
pub const STOPPED_AT: [f64; 2] = [0.05, 0.5];

/// One problem.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Anytime {
    /// Seconds to completion.
    pub seconds: f64,
    /// The mean over that time of the front's area, as a share of the final one.
    pub mean_area: f64,
    /// Seconds until the area is 99 % of the final one.
    pub nearly: f64,
    /// The certified gap after these shares of the time.
    pub gaps: [f64; 2],
}

/// Every front that the search could give, and when.
struct Fronts {
    start: Instant,
    seen: Mutex<Vec<(f64, Vec<Point>)>>,
}

impl Observer for Fronts {
    fn progress(&self, _: Progress) {}

    fn improved(&self, front: &[Point]) {
        let now = self.start.elapsed().as_secs_f64();
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push((now, front.to_vec()));
    }
}

/// Measures a problem; `None` if it is not complete within the time limit.
pub fn anytime(
    problem: &Problem,
    threads: usize,
    memory: usize,
    limit: Option<f64>,
) -> Result<Option<Anytime>> {
    let fronts = Fronts { start: Instant::now(), seen: Mutex::default() };
    let outcome = solver(threads, memory, limit)?.solve(problem, &fronts);
    let seconds = fronts.start.elapsed().as_secs_f64();
    if outcome.status != SearchStatus::Complete {
        return Ok(None);
    }
    let rows = problem.size() as u64;
    let max_cost = outcome.bound.iter().map(|point| point.cost).max().unwrap_or(0);
    let whole = area(&outcome.bound, max_cost, rows).max(1) as f64;
    let seen = fronts.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    let shares: Vec<(f64, f64)> =
        seen.iter().map(|(at, front)| (*at, area(front, max_cost, rows) as f64 / whole)).collect();
    let mut gaps = [0.0; 2];
    for (gap, share) in gaps.iter_mut().zip(STOPPED_AT) {
        let stopped = solver(threads, memory, Some(share * seconds))?.solve(problem, &());
        let found: Vec<Point> =
            stopped.front.iter().map(|solution| Point { cost: solution.cost, loss: solution.loss }).collect();
        *gap = certified_gap(&found, &stopped.bound, rows);
    }
    let nearly = shares.iter().find(|(_, share)| *share >= 0.99).map_or(seconds, |(at, _)| *at);
    Ok(Some(Anytime { seconds, mean_area: mean(&shares, seconds), nearly, gaps }))
}

/// The mean of a step function that is 0 before its first step.
fn mean(steps: &[(f64, f64)], end: f64) -> f64 {
    let ends = steps.iter().skip(1).map(|step| step.0).chain([end]);
    let total: f64 = steps.iter().zip(ends).map(|((from, share), to)| (to - from) * share).sum();
    total / end
}

/// The share of the bound's area that a front lacks, as in a front file.
fn certified_gap(front: &[Point], bound: &[Point], rows: u64) -> f64 {
    let max_cost = front.iter().chain(bound).map(|point| point.cost).max().unwrap_or(0);
    let possible = area(bound, max_cost, rows);
    match possible {
        0 => 0.0,
        _ => (possible - area(front, max_cost, rows).min(possible)) as f64 / possible as f64,
    }
}

/// The area that a front (cost ascending, loss descending) dominates below (max_cost, rows).
fn area(front: &[Point], max_cost: u64, rows: u64) -> u128 {
    let ends = front.iter().skip(1).map(|point| point.cost).chain([max_cost]);
    let part = |(point, end): (&Point, u64)| {
        u128::from(end.min(max_cost).saturating_sub(point.cost)) * u128::from(rows.saturating_sub(point.loss))
    };
    front.iter().zip(ends).map(part).sum()
}

/// One line for every problem.
pub fn table(measured: &[(String, Option<Anytime>)]) -> String {
    let mut text = String::from(
        "| problem | search (s) | mean area | 99 % of the area after (s) | gap at 5 % of the time | gap at 50 % | ratio |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
    );
    for (name, found) in measured {
        text += &match found {
            None => format!("| {name} | stopped | – | – | – | – | – |\n"),
            Some(Anytime { seconds, mean_area, nearly, gaps: [early, late] }) => format!(
                "| {name} | {seconds:.2} | {:.2} % | {nearly:.2} | {:.1} % | {:.1} % | {:.2} |\n",
                100.0 * mean_area,
                100.0 * early,
                100.0 * late,
                late / early
            ),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(list: &[(u64, u64)]) -> Vec<Point> {
        list.iter().map(|&(cost, loss)| Point { cost, loss }).collect()
    }

    #[test]
    fn areas_and_gaps_are_those_of_the_staircase() {
        let front = points(&[(0, 10), (2, 4), (5, 0)]);
        assert_eq!(area(&front, 10, 10), 3 * 6 + 5 * 10);
        assert_eq!(certified_gap(&front, &front, 10), 0.0);
        // Above (0, 10), (5, 0) the bound has 10 · 5 within cost 10; the front lacks the 3 · 6 of its second point.
        assert_eq!(certified_gap(&points(&[(0, 10), (10, 0)]), &front, 10), 1.0);
    }

    #[test]
    fn what_is_found_early_counts_longer() {
        assert_eq!(mean(&[(0.0, 1.0)], 4.0), 1.0);
        assert_eq!(mean(&[(1.0, 0.5), (2.0, 1.0)], 4.0), (0.5 + 2.0) / 4.0);
    }
}
