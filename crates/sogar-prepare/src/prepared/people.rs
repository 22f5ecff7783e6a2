//! Which affected people are searched: all of them, or a stratified sample.

use sogar_base::draw::Draw;
use sogar_solver::RowSet;

use super::Prepared;

/// The stream of random numbers that samples are drawn from.
const STREAM: u64 = 0x5a;

/// Affected people whose problem is posed: all of them, or a sample.
pub struct ProblemPopulation {
    /// Rows of the table, in the order in which the problem has them.
    pub rows: Vec<usize>,
    /// Who passes each split.
    pub splits: Vec<RowSet>,
    /// Fewest of them in a leaf, in units of weight.
    pub min_leaf: u32,
}

impl Prepared {
    /// All affected people.
    pub fn everybody(&self) -> ProblemPopulation {
        ProblemPopulation {
            rows: self.affected.clone(),
            splits: self.splits.iter().map(|(_, rows)| rows.clone()).collect(),
            min_leaf: self.min_leaf(),
        }
    }

    /// How much each of some rows counts; nothing where every row counts once.
    pub fn weights(&self, rows: &[usize]) -> Vec<u32> {
        match &self.table.weights {
            None => Vec::new(),
            Some(weights) => rows.iter().map(|&row| weights.of_row(row)).collect(),
        }
    }

    /// Those at some positions (ascending) of the affected rows.
    pub fn people(&self, positions: &[usize], min_leaf: u32) -> ProblemPopulation {
        let among = |all: &RowSet| RowSet::from_fn(positions.len(), |&at| all.contains(positions[at]));
        ProblemPopulation {
            rows: positions.iter().map(|&position| self.affected[position]).collect(),
            splits: self.splits.iter().map(|(_, rows)| among(rows)).collect(),
            min_leaf,
        }
    }

    /// The people that are searched: a stratified sample of the affected ones, or all of them.
    pub fn searched(&self) -> ProblemPopulation {
        match self.sample() {
            None => self.everybody(),
            Some(rows) => {
                let positions = self.drawn(rows);
                let rows = self.rows_at(&positions);
                // The same share of the sample as of all, by weight; a leaf of the sample has a row at least.
                let share = u128::from(self.min_leaf()) * u128::from(self.table.people_among(&rows));
                let min_leaf = share.div_ceil(u128::from(self.affected_people())).max(1) as u32;
                self.people(&positions, min_leaf)
            }
        }
    }

    /// The rows of those who are searched.
    pub fn searched_rows(&self) -> Vec<usize> {
        self.rows_at(&self.searched_positions())
    }

    /// Where those who are searched stand among the affected people, ascending.
    pub fn searched_positions(&self) -> Vec<usize> {
        self.sample().map_or_else(|| (0..self.affected.len()).collect(), |rows| self.drawn(rows))
    }

    fn rows_at(&self, positions: &[usize]) -> Vec<usize> {
        positions.iter().map(|&position| self.affected[position]).collect()
    }

    /// Positions of so many affected people, drawn one from each stretch of equal length.
    fn drawn(&self, rows: usize) -> Vec<usize> {
        let all = self.affected.len();
        let mut draw = Draw::new(self.config.seed, STREAM);
        let start = |stretch: usize| (stretch as u128 * all as u128 / rows as u128) as usize;
        (0..rows)
            .map(|stretch| start(stretch) + draw.below((start(stretch + 1) - start(stretch)).max(1)))
            .collect()
    }
}
