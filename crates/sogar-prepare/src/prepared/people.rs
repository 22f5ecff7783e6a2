//! Which affected people are searched: all of them, or a stratified sample.

use sogar_base::draw::Draw;
use sogar_solver::RowSet;

use super::Prepared;

/// The stream of random numbers that samples are drawn from.
const STREAM: u64 = 0x5a;

/// The affected people of a problem: all of them, or a sample.
pub struct ProblemPopulation {
    /// Rows of the table, in the order of the problem.
    pub rows: Vec<usize>,
    /// Who passes each split.
    pub splits: Vec<RowSet>,
    /// Smallest weight of a leaf, in units.
    pub min_leaf: u32,
}

impl Prepared {
    /// All affected people.
    pub fn everybody(&self) -> ProblemPopulation {
        ProblemPopulation {
            rows: self.problem_rows().to_vec(),
            splits: self.passing.clone(),
            min_leaf: self.min_leaf(),
        }
    }

    /// The weights of some rows; empty if every row counts once.
    pub fn weights(&self, rows: &[usize]) -> Vec<u32> {
        match &self.table.weights {
            None => Vec::new(),
            Some(weights) => rows.iter().map(|&row| weights.of_row(row)).collect(),
        }
    }

    /// The people at some positions (ascending) of the problem of everybody.
    fn people(&self, positions: &[usize], min_leaf: u32) -> ProblemPopulation {
        let among = |all: &RowSet| RowSet::from_fn(positions.len(), |&at| all.contains(positions[at]));
        ProblemPopulation {
            rows: self.rows_at(positions),
            splits: self.passing.iter().map(among).collect(),
            min_leaf,
        }
    }

    /// The people to search: a stratified sample of the affected ones, or all of them.
    pub fn searched(&self) -> ProblemPopulation {
        match self.sample() {
            None => self.everybody(),
            Some(rows) => {
                let positions = self.drawn(rows);
                let rows = self.rows_at(&positions);
                // The same share of the sample as of all, by weight; a leaf of the sample has at least one row.
                let share = u128::from(self.min_leaf()) * u128::from(self.table.people_among(&rows));
                let min_leaf = share.div_ceil(u128::from(self.affected_people())).max(1) as u32;
                self.people(&positions, min_leaf)
            }
        }
    }

    /// The rows of the people to search, in the order of their problem.
    pub fn searched_rows(&self) -> Vec<usize> {
        self.rows_at(&self.searched_positions())
    }

    /// The people to search, as a set of the problem of all affected people.
    pub fn searched_set(&self) -> RowSet {
        let positions = self.searched_positions();
        RowSet::from_fn(self.affected().len(), |at| positions.binary_search(at).is_ok())
    }

    /// The positions of the people to search in the problem of all affected people, ascending.
    fn searched_positions(&self) -> Vec<usize> {
        self.sample().map_or_else(|| (0..self.affected().len()).collect(), |rows| self.drawn(rows))
    }

    fn rows_at(&self, positions: &[usize]) -> Vec<usize> {
        positions.iter().map(|&position| self.problem_rows()[position]).collect()
    }

    /// Positions of this many affected people, one drawn from each stretch of equal length.
    fn drawn(&self, rows: usize) -> Vec<usize> {
        let all = self.affected().len();
        let mut draw = Draw::new(self.config.seed, STREAM);
        let start = |stretch: usize| (stretch as u128 * all as u128 / rows as u128) as usize;
        (0..rows)
            .map(|stretch| start(stretch) + draw.below((start(stretch + 1) - start(stretch)).max(1)))
            .collect()
    }
}
