//! Numbers of people, whether or not rows have weights.
//!
//! Without weights a row is a person. With weights everything is counted in units of them, and a person is `unit` units; whoever
//! shows a number of people asks here, and needs no second way of saying it.

use super::{Evaluation, FrontFile, WeightRef};
use crate::describe::grouped;

/// How many people a table has, and how they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct People {
    /// Units in one person.
    pub unit: u64,
    /// All rows, in units.
    pub all: u64,
    /// The affected rows, in units.
    pub affected: u64,
}

impl People {
    fn new(weight: Option<&WeightRef>, rows: usize, affected: usize) -> Self {
        match weight {
            Some(weight) => People { unit: weight.unit, all: weight.total, affected: weight.affected },
            None => People { unit: 1, all: rows as u64, affected: affected as u64 },
        }
    }

    /// The affected rows, in units.
    pub fn affected(self) -> u64 {
        self.affected
    }

    /// A number of units as a number of people.
    pub fn count(self, units: u64) -> f64 {
        units as f64 / self.unit as f64
    }

    /// A number of units as a number of people, to be read: `19,199` or `19,199.5`.
    pub fn text(self, units: u64) -> String {
        people_text(units, self.unit)
    }
}

/// A number of units as a number of people, to be read.
pub fn people_text(units: u64, unit: u64) -> String {
    let unit = unit.max(1);
    let whole = grouped(units / unit);
    match units % unit {
        0 => whole,
        rest => {
            let digits = unit.ilog10() as usize;
            let rest = format!("{rest:0digits$}");
            format!("{whole}.{}", rest.trim_end_matches('0'))
        }
    }
}

impl FrontFile {
    /// How many people the reference table has.
    pub fn people(&self) -> People {
        People::new(self.weight.as_ref(), self.population.rows, self.population.affected)
    }
}

impl Evaluation {
    /// How many people the held-out table has.
    pub fn people(&self) -> People {
        People::new(self.weight.as_ref(), self.rows, self.affected)
    }
}

impl WeightRef {
    /// Whether the block can be true.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let power = self.unit.checked_ilog10().is_some_and(|digits| 10u64.pow(digits) == self.unit);
        if !power || self.affected == 0 || self.affected > self.total {
            return Err("the weights of the rows are not possible".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_written_with_the_decimals_they_have() {
        assert_eq!(people_text(19_199, 1), "19,199");
        assert_eq!(people_text(191_995, 10), "19,199.5");
        assert_eq!(people_text(1_000_050, 1_000_000), "1.00005");
        assert_eq!(people_text(120, 100), "1.2");
        assert_eq!(people_text(300, 100), "3");
    }
}
