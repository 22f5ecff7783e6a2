//! Rows that count more than once.
//!
//! A row of weight `w` stands for `w` equal rows: its cost, its loss and its place in a leaf count `w`-fold. Sets are bits, so
//! weights are stored as bits too: plane `b` holds the rows whose weight has bit `b`, and any total over a set is `Σ_b 2^b ·` the
//! plain total over `set ∩ plane_b`. So everything that counts and sums unweighted rows also works for weighted ones, exactly and
//! without products that could overflow; problems without weights are not affected.

use crate::bits::{RowSet, count_and};

/// The weights of a problem's rows, bit by bit.
#[derive(Debug, Clone)]
pub(crate) struct WeightPlanes {
    planes: Vec<RowSet>,
    of_row: Vec<u32>,
}

impl WeightPlanes {
    /// The weights in this order; `None` if every row counts once.
    pub fn new(weights: Vec<u32>) -> Option<WeightPlanes> {
        if weights.iter().all(|&weight| weight == 1) {
            return None;
        }
        let bits = u32::BITS - weights.iter().fold(0, |all, weight| all | weight).leading_zeros();
        let plane = |bit: u32| RowSet::from_fn(weights.len(), |&row| weights[row] >> bit & 1 == 1);
        Some(WeightPlanes { planes: (0..bits).map(plane).collect(), of_row: weights })
    }

    /// The weight of a row.
    pub fn of_row(&self, row: usize) -> u32 {
        self.of_row[row]
    }

    /// For each bit of a weight the rows that have it, lowest bit first.
    pub fn planes(&self) -> &[RowSet] {
        &self.planes
    }

    /// The weight of the rows in both sets.
    pub fn of_both(&self, a: &[u64], b: &[u64]) -> u64 {
        let both = |plane: &RowSet| -> u64 {
            let words = a.iter().zip(b).zip(plane.words());
            words.map(|((a, b), plane)| u64::from((a & b & plane).count_ones())).sum()
        };
        (0u32..).zip(&self.planes).map(|(bit, plane)| both(plane) << bit).sum()
    }

    /// The weight of the rows of a set.
    pub fn of_set(&self, set: &[u64]) -> u64 {
        (0u32..).zip(&self.planes).map(|(bit, plane)| u64::from(count_and(set, plane.words())) << bit).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_a_set_is_the_sum_of_its_rows() {
        let list: Vec<u32> = (0..130).map(|row| (row * 37 + 1) % 11 + 1).collect();
        let weights = WeightPlanes::new(list.clone()).unwrap();
        let (a, b) = (RowSet::from_fn(130, |row| row % 3 == 0), RowSet::from_fn(130, |row| row % 2 == 0));
        let sum = |set: &RowSet| set.iter().map(|row| u64::from(list[row])).sum::<u64>();
        assert_eq!(weights.of_set(a.words()), sum(&a));
        assert_eq!(weights.of_both(a.words(), b.words()), sum(&a.and(&b)));
        assert!(WeightPlanes::new(vec![1; 70]).is_none());
    }
}
