//! The order of people in the problem, and the way back to the table.
//!
//! The problem has like next to like, so that its bitsets have long runs. Only building and solving the problem use that order. Results,
//! checks and audits have the affected rows in the order of the table; [`Prepared::in_table_order`] translates.

use sogar_table::binarize::{all_splits, useful_splits};
use sogar_table::config::Config;

use super::Prepared;
use sogar_base::error::Result;

/// The affected rows in both orders.
pub(super) struct RowOrder {
    /// In the order of the problem.
    problem: Vec<usize>,
    /// In the order of the table.
    table: Vec<usize>,
    /// For each of `table` its position in `problem`.
    positions: Vec<usize>,
}

impl RowOrder {
    /// Of rows in the order of the problem.
    pub fn new(problem: Vec<usize>) -> RowOrder {
        let mut positions: Vec<usize> = (0..problem.len()).collect();
        positions.sort_unstable_by_key(|&position| problem[position]);
        let table = positions.iter().map(|&position| problem[position]).collect();
        RowOrder { problem, table, positions }
    }
}

impl Prepared {
    /// The affected rows (of [`Prepared::table`]), ascending.
    pub fn affected(&self) -> &[usize] {
        &self.order.table
    }

    /// The affected rows in the order in which the problem has them: like next to like.
    pub fn problem_rows(&self) -> &[usize] {
        &self.order.problem
    }

    /// What is known of each position in the problem of all affected people, in the order of [`Prepared::affected`].
    pub fn in_table_order<'a, T: 'a>(
        &'a self,
        of_position: impl Fn(usize) -> T + 'a,
    ) -> impl ExactSizeIterator<Item = T> + 'a {
        self.order.positions.iter().map(move |&position| of_position(position))
    }

    /// Where a row of [`Prepared::table`] stands in the reference table.
    pub fn place(&self, row: usize) -> usize {
        self.places.as_ref().map_or(row, |places| places[row])
    }

    /// Keeps one affected row in `every`, a smaller minimum leaf, and the splits that another configuration's bins make: for measurements.
    pub fn thin(&mut self, every: usize, bins: &Config) -> Result<()> {
        let every = every.max(1);
        let rows: Vec<usize> = self.problem_rows().iter().copied().step_by(every).collect();
        self.limits.min_leaf = (self.limits.min_leaf / u32::try_from(every).unwrap_or(u32::MAX)).max(1);
        let candidates = all_splits(&self.table, bins)?;
        (self.splits, self.passing) = useful_splits(&candidates, &self.table, &rows).into_iter().unzip();
        self.order = RowOrder::new(rows);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_have_the_same_rows() {
        let order = RowOrder::new(vec![5, 2, 9, 0]);
        assert_eq!(order.table, [0, 2, 5, 9]);
        assert_eq!(order.positions, [3, 1, 0, 2]);
    }
}
