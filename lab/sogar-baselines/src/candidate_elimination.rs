//! Finds the one of many candidate changes with which the model accepts the most people.
//!
//! GLOBE-CE needs this for sampled directions, GLANCE for the actions of a cluster, and both break ties by how far the accepted
//! people had to go. Scoring every candidate on everyone takes most of either method's time, and is mostly unnecessary: a
//! candidate that could not catch up with the leader even if it succeeded with everyone left is out. The rows come in a random
//! order, so that the first ones show early which candidates are promising. The winner is the same as if all had been scored.

use std::ops::Range;

use rand::seq::SliceRandom;
use sogar::error::Result;
use sogar_solver::stop::{Stop, StopReason};

use crate::black_box::{BlackBox, Moved};
use crate::chance::stream;
use crate::moves::Moves;

/// The fewest rows in a lap.
const LAP: usize = 64;
/// The most laps.
const LAPS: usize = 24;
/// Stage of the random order of rows.
const ORDER: u64 = 0x0072_6163_6500;

/// The inputs of an elimination.
pub(crate) struct CandidateElimination<'a> {
    pub black_box: &'a BlackBox<'a>,
    pub moves: &'a Moves<'a>,
    /// The people, one row after the other.
    pub people: &'a [f64],
    pub stop: &'a Stop,
}

/// The winner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Winner {
    pub candidate: usize,
    /// People whom it flips (so far, if the elimination was stopped).
    pub flips: usize,
    /// Why the elimination ended early, if it did.
    pub stopped: Option<StopReason>,
}

/// The result of a candidate so far.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    /// People who tried it.
    seen: usize,
    flips: usize,
    /// How far the accepted ones went.
    distance: f64,
}

impl CandidateElimination<'_> {
    /// The candidate that flips most people; on ties the one with the smallest sum of distances of those people, then the first.
    /// `apply(candidate, before, after)` writes the changed row into `after`, which starts as a copy of `before`. `None` without
    /// candidates.
    pub fn winner<F>(&self, candidates: usize, seed: u64, apply: F) -> Result<Option<Winner>>
    where
        F: Fn(usize, &[f64], &mut [f64]) + Sync,
    {
        let width = self.black_box.width();
        let all = self.people.len() / width.max(1);
        let mut order: Vec<usize> = (0..all).collect();
        order.shuffle(&mut stream(seed, ORDER, 0));
        let lap = all.div_ceil(LAPS).max(LAP);
        let mut tallies = vec![Tally::default(); candidates];
        let mut running: Vec<usize> = (0..candidates).collect();
        let mut start = 0;
        let (mut stopped, mut least) = (None, 0);
        while start < all && !running.is_empty() && stopped.is_none() {
            let rows = &order[start..(start + lap).min(all)];
            start += rows.len();
            stopped = self.lap(rows, &running, &mut tallies, &apply)?;
            if start == rows.len() && start < all && stopped.is_none() {
                // After the first lap the most promising candidate runs ahead, as the one to beat.
                if let Some(leader) = best(&tallies, &running) {
                    // Lap by lap like the others: sums of distances must not depend on which one ran ahead.
                    for rows in order[start..].chunks(lap) {
                        stopped = stopped.or(self.lap(rows, &[leader], &mut tallies, &apply)?);
                    }
                }
            }
            least = running.iter().map(|&candidate| tallies[candidate].flips).fold(least, usize::max);
            running.retain(|&candidate| {
                let tally = &tallies[candidate];
                tally.seen < all && tally.flips + (all - tally.seen) >= least
            });
        }
        // Finished candidates are compared first; only a stopped elimination may have none.
        let finished: Vec<usize> = (0..candidates).filter(|&c| tallies[c].seen == all).collect();
        let everybody: Vec<usize> = (0..candidates).collect();
        let winner = best(&tallies, if finished.is_empty() { &everybody } else { &finished });
        Ok(winner.map(|candidate| Winner { candidate, flips: tallies[candidate].flips, stopped }))
    }

    /// Candidates try more rows. If the elimination is stopped before all rows of a candidate were scored, the candidate keeps
    /// its old tally.
    fn lap<F>(
        &self,
        rows: &[usize],
        running: &[usize],
        tallies: &mut [Tally],
        apply: &F,
    ) -> Result<Option<StopReason>>
    where
        F: Fn(usize, &[f64], &mut [f64]) + Sync,
    {
        let at_once = self.black_box.rows_at_once();
        // As many candidates in a group as fill a batch; a long list of rows is cut instead.
        let group = (at_once / rows.len().max(1)).max(1);
        let tried =
            self.black_box.in_groups(running, group, |group| self.group(rows, group, at_once, apply))?;
        let mut stopped = None;
        for (group, tried) in running.chunks(group).zip(tried) {
            match tried {
                Group::Tried(tries) => {
                    for (&candidate, (flips, distance)) in group.iter().zip(tries) {
                        let tally = &mut tallies[candidate];
                        tally.seen += rows.len();
                        tally.flips += flips;
                        tally.distance += distance;
                    }
                }
                Group::Stopped(reason) => stopped = Some(reason),
            }
        }
        Ok(stopped)
    }

    fn group<F>(&self, rows: &[usize], group: &[usize], at_once: usize, apply: &F) -> Result<Group>
    where
        F: Fn(usize, &[f64], &mut [f64]) + Sync,
    {
        let mut tries = vec![(0, 0.0); group.len()];
        let mut questions = Questions::default();
        let mut after = Vec::new();
        for (place, &candidate) in group.iter().enumerate() {
            for &row in rows {
                let before = self.row(row);
                after.clear();
                after.extend_from_slice(before);
                apply(candidate, before, &mut after);
                // A person who does not move stays turned down.
                if !same(before, &after) {
                    questions.ask(place, before, &after);
                    if questions.places.len() == at_once {
                        if let Err(reason) = self.stop.check() {
                            return Ok(Group::Stopped(reason));
                        }
                        self.answer(&mut questions, &mut tries)?;
                    }
                }
            }
        }
        if let Err(reason) = self.stop.check() {
            return Ok(Group::Stopped(reason));
        }
        self.answer(&mut questions, &mut tries)?;
        Ok(Group::Tried(tries))
    }

    /// Scores the collected rows, and adds the answers to the tries.
    fn answer(&self, questions: &mut Questions, tries: &mut [(usize, f64)]) -> Result<()> {
        let flips = self.black_box.flips(&questions.moved)?;
        for ((&place, (before, after)), flips) in
            questions.places.iter().zip(questions.moved.pairs(self.black_box.width())).zip(flips)
        {
            if flips {
                tries[place].0 += 1;
                tries[place].1 += self.moves.distance(before, after);
            }
        }
        questions.places.clear();
        questions.moved.clear();
        Ok(())
    }

    fn row(&self, row: usize) -> &[f64] {
        let width = self.black_box.width();
        let values: Range<usize> = row * width..(row + 1) * width;
        &self.people[values]
    }
}

/// The result of a group's lap: flips and distance of each candidate, or why it was not finished.
enum Group {
    Tried(Vec<(usize, f64)>),
    Stopped(StopReason),
}

/// Queries that wait for a full batch, with the positions of their owners.
#[derive(Default)]
struct Questions {
    moved: Moved,
    places: Vec<usize>,
}

impl Questions {
    fn ask(&mut self, place: usize, before: &[f64], after: &[f64]) {
        self.moved.push(before, after);
        self.places.push(place);
    }
}

/// Whether two rows are the same, missing values included.
pub(crate) fn same(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
}

/// The best of some candidates.
fn best(tallies: &[Tally], candidates: &[usize]) -> Option<usize> {
    let better = |new: &Tally, old: &Tally| {
        new.flips > old.flips || (new.flips == old.flips && new.distance < old.distance)
    };
    candidates.iter().copied().reduce(|old, new| if better(&tallies[new], &tallies[old]) { new } else { old })
}

#[cfg(test)]
mod tests {
    use crate::moves::people;
    use crate::testing::prepared;

    use super::*;

    /// 400 rows of x and y; accepted from x = 300 on.
    fn run() -> sogar::pipeline::Prepared {
        let rows: String = (0..400).map(|x| format!("{x},{}\n", (x * 37) % 101)).collect();
        // Consecutive numbers look like an id, unless declared otherwise.
        prepared(&format!("x,y\n{rows}"), "[features.x]\nimmutable = false\n", |row| row[0] >= 300.0)
    }

    /// The winner among shifts of x.
    fn winner(shifts: &[f64], stop: &Stop) -> Winner {
        let prepared = run();
        let (black_box, moves) = (BlackBox::new(&prepared), Moves::new(&prepared));
        let people = people(prepared.table(), prepared.problem_rows());
        let elimination =
            CandidateElimination { black_box: &black_box, moves: &moves, people: &people, stop };
        let apply = |c: usize, before: &[f64], after: &mut [f64]| {
            after[0] = moves.shifted(0, before[0], shifts[c]);
        };
        elimination.winner(shifts.len(), 5, apply).unwrap().unwrap()
    }

    #[test]
    fn most_flips_win_then_the_shorter_way_then_the_first() {
        let stop = Stop::default();
        let won = |candidate, flips| Winner { candidate, flips, stopped: None };
        assert_eq!(winner(&[10.0, 250.0, 249.0, -5.0], &stop), won(1, 250));
        assert_eq!(
            winner(&[10.0, 350.0, 320.0, 320.0], &stop),
            won(2, 300),
            "all flip; 320 is the shorter way"
        );
        assert_eq!(winner(&[0.0, -1.0, 0.0], &stop), won(0, 0), "nobody flips: the first");
    }

    #[test]
    fn the_winner_is_that_of_a_full_count() {
        let shifts: Vec<f64> = (0..97).map(|i| f64::from((i * 53) % 97) * 2.0).collect();
        let won = winner(&shifts, &Stop::default());
        assert_eq!((shifts[won.candidate], won.flips), (192.0, 192));
    }

    #[test]
    fn a_stopped_race_has_a_winner_and_a_reason() {
        let stop = Stop::default();
        stop.cancel.cancel();
        let won = winner(&[1.0, 2.0], &stop);
        assert_eq!(won, Winner { candidate: 0, flips: 0, stopped: Some(StopReason::Cancelled) });
    }

    #[test]
    fn nobody_wins_without_candidates() {
        let prepared = run();
        let (black_box, moves) = (BlackBox::new(&prepared), Moves::new(&prepared));
        let elimination = CandidateElimination {
            black_box: &black_box,
            moves: &moves,
            people: &[],
            stop: &Stop::default(),
        };
        assert_eq!(elimination.winner(0, 0, |_, _, _| {}).unwrap(), None);
    }
}
