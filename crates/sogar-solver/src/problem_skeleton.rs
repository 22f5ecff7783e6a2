//! A problem without its flips, as bytes. Flips are most of a problem and are computed in blocks of rows, possibly elsewhere; the
//! rest is small and goes to every process of a search.

use std::ops::Range;

use crate::bits::{BitTable, RowSet, words_for};
use crate::bound::{cheapest_flips, individual_bound};
use crate::cut_codec::ProblemDims;
use crate::front::Point;
use crate::problem::{Actions, Combine, Limits, Problem, ProblemError, ProblemParts};
use crate::varint::{DecodeError, Reader, put, put_words};

/// A problem without its flips.
#[derive(Debug, Clone)]
pub struct ProblemSkeleton {
    /// The parts; `flips` is empty.
    parts: ProblemParts,
}

impl ProblemSkeleton {
    /// The skeleton of these parts; drops their flips.
    pub fn new(parts: ProblemParts) -> ProblemSkeleton {
        ProblemSkeleton { parts: ProblemParts { flips: BitTable::new(0, 0), ..parts } }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.parts.rows
    }

    /// The actions.
    pub fn actions(&self) -> &Actions {
        &self.parts.actions
    }

    /// The dimensions against which finished subproblems are checked.
    pub fn dims(&self) -> ProblemDims {
        let ProblemParts { rows, splits, weights, actions, limits, .. } = &self.parts;
        let weight = |row: usize| weights.get(row).map_or(1, |&weight| weight as usize);
        ProblemDims {
            size: if weights.is_empty() { *rows } else { (0..*rows).map(weight).sum() },
            passing: splits
                .iter()
                .map(|split| if weights.is_empty() { split.count() } else { split.iter().map(weight).sum() })
                .collect(),
            actions: actions.len(),
            limits: *limits,
        }
    }

    /// The whole problem.
    pub fn problem(self, flips: BitTable) -> Result<Problem, ProblemError> {
        Problem::new(ProblemParts { flips, ..self.parts })
    }

    /// The cost of the cheapest working action for each of some rows, whose flips are given: one set for each action. `None` for
    /// rows that no action flips, or if the flips do not fit.
    pub fn cheapest_of_block(&self, rows: Range<usize>, flips: BitTable) -> Option<Vec<Option<u64>>> {
        let costs = self.parts.edit_costs.iter().map(|costs| costs.get(rows.clone()).map(<[u32]>::to_vec));
        let problem = Problem::new(ProblemParts {
            rows: rows.len(),
            splits: Vec::new(),
            edit_costs: costs.collect::<Option<_>>()?,
            combine: self.parts.combine,
            actions: self.parts.actions.clone(),
            flips,
            weights: Vec::new(),
            limits: Limits { max_depth: 0, max_leaves: 1, min_leaf: 1 },
        });
        Some(cheapest_flips(&problem.ok()?))
    }

    /// The front that no summary can beat, from the results of [`ProblemSkeleton::cheapest_of_block`] for all rows.
    pub fn bound(&self, cheapest: &[Option<u64>]) -> Option<Vec<Point>> {
        let weights = &self.parts.weights;
        let weight = |row: usize| weights.get(row).map_or(1, |&weight| u64::from(weight));
        (cheapest.len() == self.rows()).then(|| individual_bound(cheapest, weight))
    }

    /// The skeleton as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let ProblemParts { rows, splits, edit_costs, combine, actions, weights, limits, .. } = &self.parts;
        let mut out = Vec::new();
        let combine = match combine {
            Combine::Max => 0,
            Combine::Sum => 1,
        };
        let Limits { max_depth, max_leaves, min_leaf } = *limits;
        for number in [*rows as u64, combine, max_depth.into(), max_leaves.into(), min_leaf.into()] {
            put(&mut out, number);
        }
        put(&mut out, splits.len() as u64);
        splits.iter().for_each(|split| put_words(&mut out, split.words()));
        put(&mut out, edit_costs.len() as u64);
        edit_costs.iter().flatten().for_each(|&cost| put(&mut out, cost.into()));
        put(&mut out, actions.len() as u64);
        for edits in actions.iter() {
            put(&mut out, edits.len() as u64);
            edits.iter().for_each(|&edit| put(&mut out, edit.into()));
        }
        put(&mut out, weights.len() as u64);
        weights.iter().for_each(|&weight| put(&mut out, weight.into()));
        out
    }

    /// Reads a skeleton. Building the problem checks that its parts fit each other.
    pub fn from_bytes(bytes: &[u8]) -> Result<ProblemSkeleton, DecodeError> {
        let mut reader = Reader::new(bytes);
        let any = u64::from(u32::MAX) + 1;
        let rows = reader.below(any)? as usize;
        let combine = if reader.below(2)? == 0 { Combine::Max } else { Combine::Sum };
        let (max_depth, max_leaves, min_leaf) = (reader.below(any)?, reader.below(any)?, reader.below(any)?);
        let mut splits = Vec::new();
        for _ in 0..reader.count()? {
            splits.push(RowSet::from_words(reader.words(words_for(rows))?));
        }
        let mut edit_costs = Vec::new();
        for _ in 0..reader.count()? {
            edit_costs.push((0..rows).map(|_| reader.below(any)).collect::<Result<_, _>>()?);
        }
        let mut actions = Actions::default();
        for _ in 0..reader.count()? {
            let edits: Vec<u32> =
                (0..reader.count()?).map(|_| reader.below(any)).collect::<Result<_, _>>()?;
            actions.push(&edits);
        }
        let weights = (0..reader.count()?).map(|_| reader.below(any)).collect::<Result<_, _>>()?;
        reader.end()?;
        let limits = Limits { max_depth, max_leaves, min_leaf };
        let flips = BitTable::new(0, 0);
        Ok(ProblemSkeleton {
            parts: ProblemParts { rows, splits, edit_costs, combine, actions, flips, weights, limits },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four rows, two edits and the action of both, which alone flips the third row; nothing flips the last.
    fn example() -> (ProblemSkeleton, BitTable) {
        let sets = [vec![], vec![0], vec![1], vec![2]].map(|rows| RowSet::from_rows(4, rows));
        let flips = BitTable::from_sets(4, &sets);
        let parts = ProblemParts {
            rows: 4,
            splits: vec![RowSet::from_rows(4, [0, 1])],
            edit_costs: vec![vec![5, 6, 7, 8], vec![1, 2, 9, 4]],
            combine: Combine::Max,
            actions: [vec![], vec![0], vec![1], vec![0, 1]].into_iter().collect(),
            flips: flips.clone(),
            weights: vec![1, 1, 2, 1],
            limits: Limits { max_depth: 1, max_leaves: 2, min_leaf: 1 },
        };
        (ProblemSkeleton::new(parts), flips)
    }

    #[test]
    fn the_bound_of_blocks_is_that_of_the_problem() {
        let (skeleton, flips) = example();
        let problem = skeleton.clone().problem(flips.clone()).unwrap();
        assert_eq!(cheapest_flips(&problem), [Some(5), Some(2), Some(9), None]);
        let cut = |rows: Range<usize>| {
            let sets: Vec<RowSet> = (0..flips.sets())
                .map(|set| {
                    RowSet::from_fn(rows.len(), |&row| flips.set(set)[0] >> (rows.start + row) & 1 == 1)
                })
                .collect();
            skeleton.cheapest_of_block(rows.clone(), BitTable::from_sets(rows.len(), &sets)).unwrap()
        };
        let cheapest = [cut(0..3), cut(3..4)].concat();
        assert_eq!(cheapest, cheapest_flips(&problem));
        let points: Vec<(u64, u64)> =
            skeleton.bound(&cheapest).unwrap().iter().map(|point| (point.cost, point.loss)).collect();
        assert_eq!(points, [(0, 5), (2, 4), (7, 3), (16, 2), (25, 1)]);
        assert_eq!(skeleton.bound(&cheapest[1..]), None);
        assert_eq!(skeleton.cheapest_of_block(2..9, flips), None);
    }
}
