//! The affected people of a table and everyone's weights, without a front.

use sogar_solver::RowSet;

use sogar_table::feature::Weights;

/// The affected rows of a table, identified by their positions among each other, and the weights of all rows.
#[derive(Debug, Clone)]
pub struct WeightedPopulation {
    /// Rows of the table.
    pub rows: usize,
    /// Units of weight in one person: 1 unless weights have decimals.
    pub person: u64,
    /// How many people each row of the table stands for, if not one.
    pub(super) weights: Option<Weights>,
    /// The affected rows, ascending.
    pub affected: Vec<usize>,
    /// Units in a cost of 1.
    pub unit: u64,
}

impl WeightedPopulation {
    /// How many rows of the table are affected.
    pub fn count(&self) -> usize {
        self.affected.len()
    }

    /// The weight of a row of the table, in units.
    pub fn weight_of_row(&self, row: usize) -> u64 {
        self.weights.as_ref().map_or(1, |weights| u64::from(weights.of_row(row)))
    }

    /// The weight of a person, in units.
    pub fn weight(&self, position: usize) -> u64 {
        self.weight_of_row(self.affected[position])
    }

    /// The weight of some people, in units.
    pub fn weight_of(&self, people: &RowSet) -> u64 {
        match self.weights {
            None => people.count() as u64,
            Some(_) => people.iter().map(|position| self.weight(position)).sum(),
        }
    }

    /// The weight of all affected people, in units.
    pub fn weight_of_all(&self) -> u64 {
        (0..self.count()).map(|position| self.weight(position)).sum()
    }

    /// The weight of all rows of the table, in units.
    pub fn weight_of_table(&self) -> u64 {
        self.weights.as_ref().map_or(self.rows as u64, Weights::total)
    }

    /// Units of weight as people.
    pub fn people(&self, units: u64) -> f64 {
        units as f64 / self.person as f64
    }
}
