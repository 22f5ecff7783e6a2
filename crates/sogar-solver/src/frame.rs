//! A problem without its flips, as bytes. Flips are most of a problem and are found in blocks of rows, elsewhere perhaps; the rest
//! is small and goes to everybody who takes part in a search.

use crate::bits::{BitTable, RowSet, words_for};
use crate::problem::{Actions, Combine, Limits, Problem, ProblemError, ProblemParts};
use crate::record::Shape;
use crate::wire::{Reader, RecordError, put, put_words};

/// All of a problem but whom each action flips.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The parts; `flips` is empty.
    parts: ProblemParts,
}

impl Frame {
    /// The frame of these parts, whose flips are dropped.
    pub fn new(parts: ProblemParts) -> Frame {
        Frame { parts: ProblemParts { flips: BitTable::new(0, 0), ..parts } }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.parts.rows
    }

    /// The actions.
    pub fn actions(&self) -> &Actions {
        &self.parts.actions
    }

    /// What finished subproblems are checked against.
    pub fn shape(&self) -> Shape {
        let ProblemParts { rows, splits, weights, actions, limits, .. } = &self.parts;
        let weight = |row: usize| weights.get(row).map_or(1, |&weight| weight as usize);
        Shape {
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

    /// The frame as bytes.
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

    /// Reads a frame. That its parts fit each other is checked where the problem is made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Frame, RecordError> {
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
        Ok(Frame {
            parts: ProblemParts { rows, splits, edit_costs, combine, actions, flips, weights, limits },
        })
    }
}
