//! Candidate rules and their individual scores: whom each covers, whom it fails, what it costs.
//!
//! A candidate is a frequent set of items (its *condition*) with a way from it. Candidates with the same condition are neighbours
//! and cover the same people.

use std::ops::Range;

use rayon::prelude::*;
use sogar_solver::Combine;
use sogar_solver::bits::{BitTable, count_and};
use sogar_solver::stop::{Stop, StopReason};

use super::changes::{Changes, Way};
use super::flips::{Flips, ones};
use super::itemsets::{Itemsets, cover};

/// Conditions per task.
const TASK: usize = 32;

/// Tasks between two checks of the clock.
const TASKS: usize = 64;

/// A rule that may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Its proposal.
    pub action: u32,
    /// People that it covers but does not flip.
    pub failed: u32,
    /// Sum of costs over the people that it covers.
    pub cost: u64,
}

/// Candidates with the same condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    /// The frequent set.
    pub set: u32,
    /// Number of affected people that meet it: never 0.
    pub people: u32,
    /// Its candidates.
    pub candidates: Range<usize>,
}

/// All candidates, in order: by condition, then by target set.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    pub conditions: Vec<Condition>,
    pub list: Vec<Candidate>,
    pub stopped: Option<StopReason>,
    /// Whether there are more than fit, so that those with many conditions were left out.
    pub too_many: bool,
}

/// The inputs of scoring.
pub(super) struct Scoring<'a> {
    pub itemsets: &'a Itemsets,
    pub changes: &'a Changes,
    pub flips: &'a Flips,
    /// The affected rows that meet each item.
    pub met: &'a BitTable,
    /// `costs[edit][affected row]`.
    pub costs: &'a [Vec<u32>],
    pub combine: Combine,
}

impl Candidates {
    /// Every candidate that covers someone, up to about `most` of them.
    pub fn all(scoring: &Scoring<'_>, most: usize, stop: &Stop) -> Candidates {
        let mut all = Candidates::default();
        let sets: Vec<usize> = (0..scoring.itemsets.len()).step_by(TASK).collect();
        for tasks in sets.chunks(TASKS) {
            if let Err(reason) = stop.check() {
                all.stopped = Some(reason);
                break;
            }
            if all.list.len() >= most {
                all.too_many = true;
                break;
            }
            let task = |&start: &usize| {
                let mut some = Candidates::default();
                let mut room = Room::default();
                for set in start..(start + TASK).min(scoring.itemsets.len()) {
                    scoring.add(set, &mut room, &mut some);
                }
                some
            };
            for some in tasks.par_iter().map(task).collect::<Vec<_>>() {
                let before = all.list.len();
                all.list.extend_from_slice(&some.list);
                all.conditions.extend(some.conditions.into_iter().map(|mut condition| {
                    let Range { start, end } = condition.candidates;
                    condition.candidates = start + before..end + before;
                    condition
                }));
            }
        }
        all
    }
}

/// Scratch memory of a task.
#[derive(Default)]
struct Room {
    rows: Vec<u64>,
    ways: Vec<Way>,
    members: Vec<usize>,
    /// For each edit in use, its cost for each member.
    columns: Vec<(u32, Vec<u32>)>,
}

impl Scoring<'_> {
    fn add(&self, set: usize, room: &mut Room, to: &mut Candidates) {
        let items = self.itemsets.get(set);
        self.changes.ways_from(items, self.itemsets, &mut room.ways);
        room.ways.retain(|way| (way.action as usize) < self.flips.known);
        if room.ways.is_empty() {
            return;
        }
        cover(self.met, items, &mut room.rows);
        room.members.clear();
        room.members.extend(ones(&room.rows));
        if room.members.is_empty() {
            return;
        }
        room.columns.clear();
        let start = to.list.len();
        for way in &room.ways {
            let edits = self.changes.actions.get(way.action as usize);
            let flipped = count_and(&room.rows, self.flips.table.set(way.action as usize));
            let columns: Vec<usize> =
                edits.iter().map(|&edit| self.column(edit, &room.members, &mut room.columns)).collect();
            let columns: Vec<&[u32]> = columns.iter().map(|&column| &room.columns[column].1[..]).collect();
            to.list.push(Candidate {
                action: way.action,
                failed: room.members.len() as u32 - flipped,
                cost: total(&columns, self.combine),
            });
        }
        let people = room.members.len() as u32;
        to.conditions.push(Condition { set: set as u32, people, candidates: start..to.list.len() });
    }

    /// The column of an edit's costs, made on first use.
    fn column(&self, edit: u32, members: &[usize], columns: &mut Vec<(u32, Vec<u32>)>) -> usize {
        columns.iter().position(|(of, _)| *of == edit).unwrap_or_else(|| {
            let costs = &self.costs[edit as usize];
            columns.push((edit, members.iter().map(|&row| costs[row]).collect()));
            columns.len() - 1
        })
    }

    /// The cost of an action on some rows, and how many of them it flips.
    pub fn outcome(&self, action: u32, rows: &[u64]) -> (u64, u64) {
        let edits = self.changes.actions.get(action as usize);
        let columns: Vec<Vec<u32>> = edits
            .iter()
            .map(|&edit| ones(rows).map(|row| self.costs[edit as usize][row]).collect())
            .collect();
        let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let flipped = count_and(rows, self.flips.table.set(action as usize));
        (total(&columns, self.combine), u64::from(flipped))
    }
}

/// The sum over people of the combined cost of the edits; one column per edit.
fn total(columns: &[&[u32]], combine: Combine) -> u64 {
    match (columns, combine) {
        ([], _) => 0,
        (_, Combine::Sum) => columns.iter().map(|column| sum(column.iter().copied())).sum(),
        ([one], Combine::Max) => sum(one.iter().copied()),
        ([one, two], Combine::Max) => sum(one.iter().zip(*two).map(|(&one, &two)| one.max(two))),
        ([one, two, three], Combine::Max) => {
            sum(one.iter().zip(*two).zip(*three).map(|((&one, &two), &three)| one.max(two).max(three)))
        }
        ([first, rest @ ..], Combine::Max) => {
            let largest = |at: usize| rest.iter().fold(first[at], |largest, column| largest.max(column[at]));
            sum((0..first.len()).map(largest))
        }
    }
}

fn sum(costs: impl Iterator<Item = u32>) -> u64 {
    costs.map(u64::from).sum()
}
