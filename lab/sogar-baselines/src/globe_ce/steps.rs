//! How far along a direction: the largest multiple worth trying, and the smallest one that works for each person.

use sogar::error::Result;
use sogar_solver::stop::{Stop, StopReason};

use super::cells::Cells;
use super::direction::Direction;
use crate::black_box::{BlackBox, Moved};
use crate::moves::{Moves, changes};

/// The direction is lengthened until this share of people is accepted …
const COVERAGE: f64 = 0.999;
/// … or until it is this long.
const LONGEST: f64 = 100.0;
/// Bisection steps for the smallest sufficient length.
const HALVINGS: usize = 200;
/// Smallest number of distinct steps of one person to score together.
const AHEAD: usize = 16;

/// New values by feature.
pub(super) type Changes = Vec<(usize, f64)>;

/// People who follow a direction.
pub(super) struct Crowd<'a> {
    black_box: &'a BlackBox<'a>,
    moves: &'a Moves<'a>,
    direction: &'a Direction,
    /// One row after the other.
    people: &'a [f64],
    /// All rows, those whom the last length did not help first: the next length that is too short fails on them.
    order: Vec<usize>,
}

impl<'a> Crowd<'a> {
    /// These people.
    pub fn new(
        black_box: &'a BlackBox<'a>,
        moves: &'a Moves<'a>,
        direction: &'a Direction,
        people: &'a [f64],
    ) -> Crowd<'a> {
        let rows = people.len() / black_box.width().max(1);
        Crowd { black_box, moves, direction, people, order: (0..rows).collect() }
    }

    fn row(&self, row: usize) -> &'a [f64] {
        let width = self.black_box.width();
        &self.people[row * width..(row + 1) * width]
    }

    /// The multiple up to which it is worth going: doubled from 1 until nearly everyone is accepted, then reduced as far as that
    /// holds. Also why the search ended early, if it did.
    pub fn longest(&mut self, stop: &Stop) -> Result<(f64, Option<StopReason>)> {
        let all = self.order.len();
        let fewest = |enough: &dyn Fn(f64) -> bool| {
            (0..=all).find(|&rows| enough(rows as f64 / all.max(1) as f64)).unwrap_or(all)
        };
        let (at_least, more_than) = (fewest(&|share| share >= COVERAGE), fewest(&|share| share > COVERAGE));
        let mut high = 1.0;
        loop {
            if let Err(reason) = stop.check() {
                return Ok((high, Some(reason)));
            }
            if self.accepted_at(high, at_least)? || high >= LONGEST {
                break;
            }
            high *= 2.0;
        }
        let mut low = high / 2.0;
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if high <= 1.0 || middle <= low || middle >= high {
                break; // nothing shorter counts, or numbers end here
            }
            if let Err(reason) = stop.check() {
                return Ok((high.max(1.0), Some(reason)));
            }
            if self.accepted_at(middle, more_than)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok((high.max(1.0), None))
    }

    /// Whether at least this many people are accepted at a multiple of the direction.
    fn accepted_at(&mut self, times: f64, least: usize) -> Result<bool> {
        let spare = self.order.len() - least;
        let mut turned_down = Vec::new();
        let (mut start, mut batch) = (0, (self.black_box.rows_at_once() / 16).max(1));
        let mut moved = Moved::default();
        let mut after = Vec::new();
        while start < self.order.len() && turned_down.len() <= spare {
            let rows = &self.order[start..(start + batch).min(self.order.len())];
            moved.clear();
            for &row in rows {
                let before = self.row(row);
                after.clear();
                after.extend_from_slice(before);
                self.direction.follow(self.moves, times, before, &mut after);
                moved.push(before, &after);
            }
            let flips = self.black_box.flips(&moved)?;
            turned_down.extend(rows.iter().zip(flips).filter(|(_, flips)| !flips).map(|(&row, _)| row));
            start += rows.len();
            batch = (4 * batch).min(16 * self.black_box.rows_at_once());
        }
        let enough = turned_down.len() <= spare;
        if !enough {
            let mut last = vec![false; self.order.len()];
            turned_down.iter().for_each(|&row| last[row] = true);
            self.order.retain(|&row| !last[row]);
            turned_down.append(&mut self.order);
            self.order = turned_down;
        }
        Ok(enough)
    }
}

/// For each person the changes at the first of `scalars` equal steps from 0 to `longest` that works; `None`: none does.
pub(super) fn smallest_steps(
    crowd: &Crowd<'_>,
    cells: &Cells,
    longest: f64,
    scalars: usize,
) -> Result<Vec<Option<Changes>>> {
    let rows: Vec<usize> = (0..crowd.order.len()).collect();
    let group = (crowd.black_box.rows_at_once() / AHEAD).max(1);
    let walk = Walk { crowd, cells, longest, scalars };
    let found = crowd.black_box.in_groups(&rows, group, |rows| walk.smallest(rows))?;
    Ok(found.into_iter().flatten().collect())
}

/// The path along the direction in equal steps.
struct Walk<'a> {
    crowd: &'a Crowd<'a>,
    cells: &'a Cells,
    longest: f64,
    scalars: usize,
}

/// A person for whom no step has worked so far.
struct Walker<'a> {
    place: usize,
    before: &'a [f64],
    /// Their last scored position: two steps that must get the same answer are scored once.
    at: Vec<f64>,
    next: usize,
}

impl Walk<'_> {
    fn times(&self, step: usize) -> f64 {
        let last = self.scalars - 1;
        if step == last { self.longest } else { step as f64 * (self.longest / last as f64) }
    }

    fn smallest(&self, rows: &[usize]) -> Result<Vec<Option<Changes>>> {
        let mut found = vec![None; rows.len()];
        let start = |(place, &row): (usize, &usize)| {
            let before = self.crowd.row(row);
            Walker { place, before, at: before.to_vec(), next: 0 }
        };
        let mut walkers: Vec<Walker<'_>> = rows.iter().enumerate().map(start).collect();
        let (mut moved, mut places) = (Moved::default(), Vec::new());
        while !walkers.is_empty() {
            let ahead = (self.crowd.black_box.rows_at_once() / walkers.len()).max(AHEAD);
            for walker in &mut walkers {
                self.go(walker, ahead, &mut moved, &mut places);
            }
            let flips = self.crowd.black_box.flips(&moved)?;
            let pairs = moved.pairs(self.crowd.black_box.width());
            for ((&place, (before, after)), flips) in places.iter().zip(pairs).zip(flips) {
                if flips && found[place].is_none() {
                    found[place] = Some(changes(before, after));
                }
            }
            walkers.retain(|walker| walker.next < self.scalars && found[walker.place].is_none());
            moved.clear();
            places.clear();
        }
        Ok(found)
    }

    /// Advances a person until there are `ahead` distinct positions to score.
    fn go(&self, walker: &mut Walker<'_>, ahead: usize, moved: &mut Moved, places: &mut Vec<usize>) {
        let mut asked = 0;
        let mut after = walker.before.to_vec();
        while walker.next < self.scalars && asked < ahead {
            after.copy_from_slice(walker.before);
            let times = self.times(walker.next);
            self.crowd.direction.follow(self.crowd.moves, times, walker.before, &mut after);
            if !self.cells.alike(&walker.at, &after) {
                moved.push(walker.before, &after);
                places.push(walker.place);
                walker.at.copy_from_slice(&after);
                asked += 1;
            }
            walker.next += 1;
        }
    }
}
