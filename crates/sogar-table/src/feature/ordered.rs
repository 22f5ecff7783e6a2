//! A column's sorted values with their weights: the basis of distribution functions and quantiles.

use super::Weights;

/// The distinct values of a column that are not missing, ascending, with their counts. With weights, a value counts as many times
/// as its rows have units, as if rows were repeated.
#[derive(Debug, Clone, PartialEq)]
pub struct Ordered {
    values: Vec<f64>,
    /// The cumulative weight up to each value, inclusive; empty if every value occurs once.
    up_to: Vec<u64>,
}

impl Ordered {
    /// Sorts a column's values. `weights` are those of its rows, if they differ.
    pub fn new(values: &[f64], weights: Option<&Weights>) -> Self {
        match weights {
            None => Ordered::counted(values.to_vec(), &[]),
            Some(weights) => {
                let times: Vec<u64> = (0..values.len()).map(|row| u64::from(weights.of_row(row))).collect();
                Ordered::counted(values.to_vec(), &times)
            }
        }
    }

    /// Sorts values that count `times` each; empty `times`: once.
    pub(super) fn counted(mut values: Vec<f64>, times: &[u64]) -> Self {
        if times.is_empty() {
            values.retain(|value| !value.is_nan());
            values.sort_unstable_by(f64::total_cmp);
            return Ordered::ascending(values.len(), |at| (values[at], 1));
        }
        let mut pairs: Vec<(f64, u64)> = values.into_iter().zip(times.iter().copied()).collect();
        pairs.retain(|(value, _)| !value.is_nan());
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Ordered::ascending(pairs.len(), |at| pairs[at])
    }

    /// Merges equal values, which are neighbours.
    fn ascending(count: usize, pair: impl Fn(usize) -> (f64, u64)) -> Self {
        let (mut values, mut up_to): (Vec<f64>, Vec<u64>) = (Vec::new(), Vec::new());
        let mut total = 0;
        for at in 0..count {
            let (value, times) = pair(at);
            total += times;
            if values.last() == Some(&value) {
                up_to.pop();
            } else {
                values.push(value);
            }
            up_to.push(total);
        }
        if total == values.len() as u64 {
            up_to.clear();
        }
        values.shrink_to_fit();
        up_to.shrink_to_fit();
        Ordered { values, up_to }
    }

    /// How many values there are, by weight.
    pub fn count(&self) -> u64 {
        self.up_to.last().copied().unwrap_or(self.values.len() as u64)
    }

    /// Its memory.
    pub fn bytes(&self) -> usize {
        8 * (self.values.len() + self.up_to.len())
    }

    /// The smallest and the largest value.
    pub fn ends(&self) -> Option<(f64, f64)> {
        Some((*self.values.first()?, *self.values.last()?))
    }

    /// The distinct values, ascending.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The number of distinct values.
    pub fn distinct(&self) -> usize {
        self.values.len()
    }

    /// The weight of the values up to this one.
    pub fn at_most(&self, value: f64) -> u64 {
        self.weight_of_first(self.values.partition_point(|&known| known <= value))
    }

    /// The weight of the values equal to this one.
    pub fn equal(&self, value: f64) -> u64 {
        self.at_most(value) - self.weight_of_first(self.values.partition_point(|&known| known < value))
    }

    fn weight_of_first(&self, values: usize) -> u64 {
        match values.checked_sub(1) {
            Some(last) if !self.up_to.is_empty() => self.up_to[last],
            _ => values as u64,
        }
    }

    /// The type-7 quantile (linear between order statistics); `None` without values.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let last = self.count().checked_sub(1)?;
        let position = share * last as f64;
        let below = position.floor() as u64;
        let above = (below + 1).min(last);
        let (low, high) = (self.at(below), self.at(above));
        Some(low + (position - below as f64) * (high - low))
    }

    /// The value at a position, counted by weight.
    fn at(&self, position: u64) -> f64 {
        if self.up_to.is_empty() {
            return self.values[position as usize];
        }
        self.values[self.up_to.partition_point(|&end| end <= position).min(self.values.len() - 1)]
    }

    /// The distinct values in order, each with its weight.
    pub fn iter(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        (0..self.values.len()).map(|position| {
            let weight = self.weight_of_first(position + 1) - self.weight_of_first(position);
            (self.values[position], weight)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Table};

    #[test]
    fn weights_count_as_repeated_rows_do() {
        let (values, times) = ([3.0, 1.0, f64::NAN, 2.0, 1.0], [2.0, 3.0, 9.0, 1.0, 4.0]);
        let table = Table::from_columns("", vec![Column::numbers("w", times.to_vec())]).unwrap();
        let weighted = Ordered::new(&values, Some(&Weights::read(&table, "w").unwrap()));
        let repeated: Vec<f64> =
            values.iter().zip(times).flat_map(|(&value, times)| vec![value; times as usize]).collect();
        let repeated = Ordered::new(&repeated, None);
        assert_eq!((weighted.count(), weighted.ends(), weighted.distinct()), (10, Some((1.0, 3.0)), 3));
        for value in [0.0, 1.0, 1.5, 2.0, 3.0, 4.0] {
            assert_eq!(weighted.at_most(value), repeated.at_most(value));
            assert_eq!(weighted.equal(value), repeated.equal(value));
        }
        for share in 0..=20 {
            let share = f64::from(share) / 20.0;
            assert_eq!(weighted.quantile(share), repeated.quantile(share));
        }
        assert_eq!(weighted, repeated);
        assert_eq!(Ordered::new(&[f64::NAN], None).quantile(0.5), None);
    }

    #[test]
    fn values_that_are_there_once_need_no_counts() {
        let ordered = Ordered::new(&[3.0, 1.0, 2.0], None);
        assert!(ordered.up_to.is_empty());
        assert_eq!(ordered.iter().collect::<Vec<_>>(), [(1.0, 1), (2.0, 1), (3.0, 1)]);
        let again = Ordered::new(&[3.0, 1.0, 2.0, 2.0], None);
        assert_eq!(again.iter().collect::<Vec<_>>(), [(1.0, 1), (2.0, 2), (3.0, 1)]);
        assert_eq!(
            Ordered::counted(vec![2.0, 1.0], &[1, 4]).iter().collect::<Vec<_>>(),
            [(1.0, 4), (2.0, 1)]
        );
    }
}
