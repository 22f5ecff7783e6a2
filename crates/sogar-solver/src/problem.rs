//! The validated input of a search.
//!
//! Costs are stored per *edit*, never per action: an action's cost on a row is the maximum (or the sum) of its edits' costs, so a
//! table of edits × rows replaces one of actions × rows that would be a thousand times as large. A plain matrix of costs per
//! action is the special case in which every action is one edit of its own.

use thiserror::Error;

use crate::bits::{BitTable, RowSet, count_and, words_for};
use crate::weight_planes::WeightPlanes;

/// How the costs of an action's edits combine on one row. In both cases a cost never falls when an edit is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// The largest of them.
    Max,
    /// Their sum.
    Sum,
}

impl Combine {
    /// The combined cost of edits. Only this function defines it, apart from vectorised kernels.
    pub fn of(self, costs: impl Iterator<Item = u64>) -> u64 {
        costs.fold(0, |total, cost| self.with(total, cost))
    }

    /// A cost after adding a further edit.
    pub fn with(self, total: u64, cost: u64) -> u64 {
        match self {
            Combine::Max => total.max(cost),
            Combine::Sum => total + cost,
        }
    }
}

/// Limits of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest depth; 0 allows only a single leaf.
    pub max_depth: u32,
    /// Largest number of leaves.
    pub max_leaves: u32,
    /// Smallest number of rows in a leaf, by weight (at least 1).
    pub min_leaf: u32,
}

/// Actions as lists of edits, one after the other in one block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actions {
    edits: Vec<u32>,
    start: Vec<usize>,
}

impl Default for Actions {
    fn default() -> Self {
        Actions { edits: Vec::new(), start: vec![0] }
    }
}

impl Actions {
    /// Appends an action.
    pub fn push(&mut self, edits: &[u32]) {
        self.edits.extend_from_slice(edits);
        self.start.push(self.edits.len());
    }

    /// Number of actions.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The edits of an action.
    #[inline(always)]
    pub fn get(&self, action: usize) -> &[u32] {
        &self.edits[self.start[action]..self.start[action + 1]]
    }

    /// All actions in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|action| self.get(action))
    }
}

impl<E: AsRef<[u32]>> FromIterator<E> for Actions {
    fn from_iter<I: IntoIterator<Item = E>>(actions: I) -> Self {
        let mut list = Actions::default();
        for action in actions {
            list.push(action.as_ref());
        }
        list
    }
}

/// The unvalidated parts of a [`Problem`].
#[derive(Debug, Clone)]
pub struct ProblemParts {
    /// Number of affected rows.
    pub rows: usize,
    /// The rows that pass each split test.
    pub splits: Vec<RowSet>,
    /// `edit_costs[edit][row]`.
    pub edit_costs: Vec<Vec<u32>>,
    /// How edits combine.
    pub combine: Combine,
    /// The edits of each action, ascending; actions ordered by length, then lexicographically; action 0 is the identity (no
    /// edits). For every action, the one without its last edit is there too.
    pub actions: Actions,
    /// The rows that each action flips; the identity flips nobody.
    pub flips: BitTable,
    /// The weight of each row: in costs, in losses and in the size of a leaf. Empty: 1 each.
    pub weights: Vec<u32>,
    /// Limits of a tree.
    pub limits: Limits,
}

/// Why parts are not a valid problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// There are no rows.
    #[error("the problem has no rows")]
    NoRows,
    /// A bitset or cost column does not fit the number of rows.
    #[error("{what} {index} is not over {rows} rows")]
    WrongLength {
        /// Which kind of part.
        what: &'static str,
        /// Its position.
        index: usize,
        /// The number of rows it should be over.
        rows: usize,
    },
    /// Action 0 must be the identity.
    #[error("action 0 must have no edits and flip nobody")]
    NoIdentity,
    /// An action names an unknown edit, repeats one, is out of order, or its edits without the last are not an action.
    #[error(
        "action {0} has unknown or unsorted edits, stands out of order, or lacks the action without its last edit"
    )]
    BadAction(usize),
    /// There must be as many flip sets as actions.
    #[error("{actions} actions but {flips} flip sets")]
    FlipCount {
        /// Number of actions.
        actions: usize,
        /// Number of flip sets.
        flips: usize,
    },
    /// Limits that no tree can meet.
    #[error(
        "limits leave no tree: min leaf {min_leaf} with {rows} rows (by weight), max leaves {max_leaves}"
    )]
    Limits {
        /// The smallest allowed leaf.
        min_leaf: u32,
        /// The number of rows, by weight.
        rows: usize,
        /// The largest allowed number of leaves.
        max_leaves: u32,
    },
    /// A row of weight 0.
    #[error("row {0} has weight 0")]
    NoWeight(usize),
    /// More weight than 32 bits can count.
    #[error("the weights add up to {0}, but losses are counted in 32 bits")]
    WeightPlanes(u64),
    /// More cost than 64 bits can count.
    #[error("costs times weights may add up to more than 64 bits can count")]
    Costs,
    /// More parts than 32-bit indices can name.
    #[error("too many {0}")]
    TooMany(&'static str),
}

/// A validated search problem.
#[derive(Debug)]
pub struct Problem {
    pub(crate) rows: usize,
    pub(crate) splits: Vec<RowSet>,
    /// edits × rows
    pub(crate) edit_costs: Vec<u32>,
    pub(crate) edits: usize,
    pub(crate) combine: Combine,
    pub(crate) actions: Actions,
    pub(crate) flips: BitTable,
    pub(crate) limits: Limits,
    pub(crate) weights: Option<WeightPlanes>,
    /// The weight of all rows.
    pub(crate) size: usize,
    scale: u32,
    max_cost: u32,
}

impl Problem {
    /// Checks the parts and lays them out for the search.
    pub fn new(parts: ProblemParts) -> Result<Problem, ProblemError> {
        let ProblemParts { rows, splits, edit_costs, combine, actions, flips, weights, limits } = parts;
        if rows == 0 {
            return Err(ProblemError::NoRows);
        }
        if u32::try_from(rows).is_err() {
            return Err(ProblemError::TooMany("rows"));
        }
        if u32::try_from(actions.len()).is_err() || u32::try_from(splits.len()).is_err() {
            return Err(ProblemError::TooMany("actions or splits"));
        }
        let size = total_weight(&weights, rows)?;
        if limits.min_leaf == 0 || limits.min_leaf as usize > size || limits.max_leaves == 0 {
            return Err(ProblemError::Limits {
                min_leaf: limits.min_leaf,
                rows: size,
                max_leaves: limits.max_leaves,
            });
        }
        for (index, split) in splits.iter().enumerate() {
            check_words(split.words(), rows, "split", index)?;
        }
        for (index, column) in edit_costs.iter().enumerate() {
            if column.len() != rows {
                return Err(ProblemError::WrongLength { what: "cost column", index, rows });
            }
        }
        if actions.len() != flips.sets() {
            return Err(ProblemError::FlipCount { actions: actions.len(), flips: flips.sets() });
        }
        if flips.words_per_set() != words_for(rows) {
            return Err(ProblemError::WrongLength { what: "flip set", index: 0, rows });
        }
        if actions.is_empty() || !actions.get(0).is_empty() || flips.set(0).iter().any(|&word| word != 0) {
            return Err(ProblemError::NoIdentity);
        }
        for (index, action) in actions.iter().enumerate() {
            let sorted = action.windows(2).all(|pair| pair[0] < pair[1]);
            let known = action.iter().all(|&edit| (edit as usize) < edit_costs.len());
            let in_order = index == 0 || {
                let before = actions.get(index - 1);
                (before.len(), before) < (action.len(), action)
            };
            if !(sorted && known && in_order) {
                return Err(ProblemError::BadAction(index));
            }
            check_words(flips.set(index), rows, "flip set", index)?;
        }
        if let Some(orphan) = prefixes(&actions).iter().skip(1).position(Option::is_none) {
            return Err(ProblemError::BadAction(orphan + 1));
        }
        // No total exceeds the weight of all rows × (the most expensive edit × the longest action).
        let max_cost = edit_costs.iter().flatten().copied().max().unwrap_or(0);
        let longest = actions.get(actions.len() - 1).len().max(1) as u128;
        let most = u128::from(max_cost) * longest * size as u128;
        if u64::try_from(most).is_err() {
            return Err(ProblemError::Costs);
        }
        let scale = (0..64).find(|scale| most >> scale < u128::from(u32::MAX - 1)).unwrap_or(64);
        Ok(Problem {
            scale,
            max_cost,
            rows,
            splits,
            edits: edit_costs.len(),
            edit_costs: edit_costs.concat(),
            combine,
            actions,
            flips,
            limits,
            weights: WeightPlanes::new(weights),
            size,
        })
    }

    /// Number of affected rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The weight of all rows: their number, unless some count more than once.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The weight of a row.
    pub fn weight(&self, row: usize) -> u32 {
        self.weights.as_ref().map_or(1, |weights| weights.of_row(row))
    }

    /// The weight of a set of rows.
    pub fn weight_of(&self, rows: &RowSet) -> u64 {
        match &self.weights {
            Some(weights) => weights.of_set(rows.words()),
            None => rows.count() as u64,
        }
    }

    /// The weight of the rows that are in both sets.
    pub(crate) fn weight_of_both(&self, a: &[u64], b: &[u64]) -> u64 {
        match &self.weights {
            Some(weights) => weights.of_both(a, b),
            None => u64::from(count_and(a, b)),
        }
    }

    /// Number of splits.
    pub fn splits(&self) -> usize {
        self.splits.len()
    }

    /// Number of actions, the identity included.
    pub fn actions(&self) -> usize {
        self.actions.len()
    }

    /// Number of edits.
    pub fn edits(&self) -> usize {
        self.edits
    }

    /// How the costs of an action's edits combine.
    pub fn combine(&self) -> Combine {
        self.combine
    }

    /// The limits of a tree.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The rows that pass a split's test.
    pub fn split(&self, split: usize) -> &RowSet {
        &self.splits[split]
    }

    /// The edits of an action.
    #[inline(always)]
    pub fn edits_of(&self, action: usize) -> &[u32] {
        self.actions.get(action)
    }

    /// The cost of an edit on every row, without weights.
    #[inline(always)]
    pub fn edit_cost(&self, edit: usize) -> &[u32] {
        &self.edit_costs[edit * self.rows..(edit + 1) * self.rows]
    }

    /// For every action the action without its last edit. [`Problem::new`] ensured that it exists.
    pub(crate) fn parents(&self) -> Vec<u32> {
        prefixes(&self.actions).into_iter().map(|parent| parent.unwrap_or(0)).collect()
    }

    /// The rows that an action flips, as words.
    #[inline(always)]
    pub fn flips_of(&self, action: usize) -> &[u64] {
        self.flips.set(action)
    }

    /// Whether any action flips any row. If not, every tree has the loss of all rows and no tree costs less than nothing: "no
    /// change" is the whole front.
    pub fn flips_anyone(&self) -> bool {
        (1..self.actions()).any(|action| self.flips_of(action).iter().any(|&word| word != 0))
    }

    /// How many low bits totals of cost must drop to stay below 2^32 − 1.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// The largest cost of an edit on a row.
    pub(crate) fn max_cost(&self) -> u32 {
        self.max_cost
    }

    /// The cost of an action on one row, without weights.
    pub fn cost(&self, action: usize, row: usize) -> u64 {
        let costs = self.edits_of(action).iter().map(|&edit| u64::from(self.edit_cost(edit as usize)[row]));
        self.combine.of(costs)
    }

    /// The cost of an action over a set of rows, by weight.
    pub fn cost_over(&self, action: usize, rows: &RowSet) -> u64 {
        let columns: Vec<&[u32]> =
            self.edits_of(action).iter().map(|&edit| self.edit_cost(edit as usize)).collect();
        let cost = |row: usize| self.combine.of(columns.iter().map(|column| u64::from(column[row])));
        rows.iter().map(|row| u64::from(self.weight(row)) * cost(row)).sum()
    }

    /// How many of a set of rows an action flips, by weight.
    pub fn flipped_among(&self, action: usize, rows: &RowSet) -> u64 {
        self.weight_of_both(rows.words(), self.flips_of(action))
    }

    /// Whether an action flips a row.
    pub fn flips(&self, action: usize, row: usize) -> bool {
        self.flips.contains(action, row)
    }
}

/// The weight of all rows. Losses are counted in 32 bits; the two largest numbers are reserved.
fn total_weight(weights: &[u32], rows: usize) -> Result<usize, ProblemError> {
    if weights.is_empty() {
        return Ok(rows);
    }
    if weights.len() != rows {
        return Err(ProblemError::WrongLength { what: "list of weights", index: 0, rows });
    }
    if let Some(row) = weights.iter().position(|&weight| weight == 0) {
        return Err(ProblemError::NoWeight(row));
    }
    let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
    if total >= u64::from(u32::MAX - 1) {
        return Err(ProblemError::WeightPlanes(total));
    }
    Ok(total as usize)
}

fn check_words(words: &[u64], rows: usize, what: &'static str, index: usize) -> Result<(), ProblemError> {
    let stray = !rows.is_multiple_of(64) && words.last().is_some_and(|last| last >> (rows % 64) != 0);
    if words.len() != words_for(rows) || stray {
        return Err(ProblemError::WrongLength { what, index, rows });
    }
    Ok(())
}

/// For every action the position of the action without its last edit. Actions are sorted by length, then lexicographically, so
/// these prefixes come in order too: one pointer suffices.
fn prefixes(actions: &Actions) -> Vec<Option<u32>> {
    let mut candidate = 0;
    (0..actions.len())
        .map(|action| {
            let (_, prefix) = actions.get(action).split_last()?;
            while (actions.get(candidate).len(), actions.get(candidate)) < (prefix.len(), prefix) {
                candidate += 1;
            }
            (actions.get(candidate) == prefix).then_some(candidate as u32)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row that counts `weight` times, and an action of two edits that cost it this much each.
    fn one_row(cost: u32, weight: u32) -> Result<Problem, ProblemError> {
        Problem::new(ProblemParts {
            rows: 1,
            splits: Vec::new(),
            edit_costs: vec![vec![cost]; 2],
            combine: Combine::Sum,
            actions: [vec![], vec![0], vec![1], vec![0, 1]].into_iter().collect(),
            flips: BitTable::new(4, 1),
            weights: vec![weight],
            limits: Limits { max_depth: 0, max_leaves: 1, min_leaf: 1 },
        })
    }

    #[test]
    fn totals_that_64_bits_cannot_hold_are_refused() {
        assert!(one_row(u32::MAX / 2, u32::MAX - 2).is_ok());
        assert_eq!(one_row(u32::MAX, u32::MAX - 2).err(), Some(ProblemError::Costs));
        assert_eq!(one_row(1, u32::MAX).err(), Some(ProblemError::WeightPlanes(u64::from(u32::MAX))));
        assert_eq!(one_row(1, 0).err(), Some(ProblemError::NoWeight(0)));
    }
}
