//! A column's values in order, each counted as often as its row does: what distribution functions and quantiles are read from.

use super::Weights;

/// The values of a column that are not missing, ascending. With weights a value stands for as many equal ones as its row has
/// units, so that everything is as if rows were repeated.
#[derive(Debug, Clone, PartialEq)]
pub struct Ordered {
    values: Vec<f64>,
    /// The weight of all values up to each, itself included; empty where every row counts once.
    up_to: Vec<u64>,
}

impl Ordered {
    /// Brings a column's values in order. `weights` are those of its rows, where they differ.
    pub fn new(values: &[f64], weights: Option<&Weights>) -> Self {
        let Some(weights) = weights else {
            let mut values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
            values.sort_by(f64::total_cmp);
            return Ordered { values, up_to: Vec::new() };
        };
        let mut pairs: Vec<(f64, u32)> = (0..values.len())
            .filter(|&row| !values[row].is_nan())
            .map(|row| (values[row], weights.of_row(row)))
            .collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut total = 0;
        let up_to = pairs.iter().map(|&(_, weight)| {
            total += u64::from(weight);
            total
        });
        Ordered { up_to: up_to.collect(), values: pairs.into_iter().map(|(value, _)| value).collect() }
    }

    /// How many values there are, by weight.
    pub fn count(&self) -> u64 {
        self.up_to.last().copied().unwrap_or(self.values.len() as u64)
    }

    /// The smallest and the largest value.
    pub fn ends(&self) -> Option<(f64, f64)> {
        Some((*self.values.first()?, *self.values.last()?))
    }

    /// How many different values there are.
    pub fn distinct(&self) -> usize {
        let steps = self.values.windows(2).filter(|pair| pair[0] != pair[1]).count();
        steps + usize::from(!self.values.is_empty())
    }

    /// How many are at most this value, by weight.
    pub fn at_most(&self, value: f64) -> u64 {
        self.weight_of_first(self.values.partition_point(|&known| known <= value))
    }

    /// How many are exactly this value, by weight.
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

    /// The value at a position among all that are counted.
    fn at(&self, position: u64) -> f64 {
        if self.up_to.is_empty() {
            return self.values[position as usize];
        }
        self.values[self.up_to.partition_point(|&end| end <= position).min(self.values.len() - 1)]
    }

    /// The values in order, each with its weight.
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
        assert_eq!(Ordered::new(&[f64::NAN], None).quantile(0.5), None);
    }
}
