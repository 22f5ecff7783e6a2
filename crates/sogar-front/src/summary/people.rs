//! Numbers of people, with or without weights.
//!
//! Without weights a row is a person. With weights, everything is counted in units, and a person is `unit` units. All code that
//! shows a number of people uses this module for both cases.

use serde::Serializer;

use super::{Evaluation, FrontFile, WeightRef};
use crate::describe::grouped;

/// How many people a table has, and in which unit they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeopleCounts {
    /// Units in one person.
    pub unit: u64,
    /// All rows, in units.
    pub all: u64,
    /// The affected rows, in units.
    pub affected: u64,
}

impl PeopleCounts {
    fn new(weight: Option<&WeightRef>, rows: usize, affected: usize) -> Self {
        match weight {
            Some(weight) => PeopleCounts { unit: weight.unit, all: weight.total, affected: weight.affected },
            None => PeopleCounts { unit: 1, all: rows as u64, affected: affected as u64 },
        }
    }

    /// A number of units as a number of people.
    pub fn count(self, units: u64) -> f64 {
        units as f64 / self.unit as f64
    }

    /// A number of units as a number of people in text: `19,199` or `19,199.5`.
    pub fn text(self, units: u64) -> String {
        grouped(self.count(units))
    }

    /// The share of people that the model turns down.
    pub fn adverse_rate(self) -> f64 {
        self.affected as f64 / self.all as f64
    }
}

/// Serialises a number of people: as an integer if it is whole, as in every result without decimal weights.
pub fn as_count<S: Serializer>(count: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    if count.fract() == 0.0 && (0.0..=LARGEST).contains(count) {
        serializer.serialize_u64(*count as u64)
    } else {
        serializer.serialize_f64(*count)
    }
}

/// The same for an optional number.
pub fn as_count_if_any<S: Serializer>(count: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match count {
        Some(count) => as_count(count, serializer),
        None => serializer.serialize_none(),
    }
}

impl FrontFile {
    /// How many people the reference table has.
    pub fn people(&self) -> PeopleCounts {
        PeopleCounts::new(self.weight.as_ref(), self.population.rows, self.population.affected)
    }
}

impl Evaluation {
    /// How many people the held-out table has.
    pub fn people(&self) -> PeopleCounts {
        PeopleCounts::new(self.weight.as_ref(), self.rows, self.affected)
    }
}

impl WeightRef {
    /// Whether the block is consistent.
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
        let text = |units, unit| PeopleCounts { unit, all: 1, affected: 1 }.text(units);
        assert_eq!(text(19_199, 1), "19,199");
        assert_eq!(text(191_995, 10), "19,199.5");
        assert_eq!(text(1_000_050, 1_000_000), "1.00005");
        assert_eq!(text(1_234_567_120, 100), "12,345,671.2");
        assert_eq!(text(300, 100), "3");
    }

    #[test]
    fn whole_numbers_of_people_are_written_without_a_point() {
        #[derive(serde::Serialize)]
        struct Some(
            #[serde(serialize_with = "as_count")] f64,
            #[serde(serialize_with = "as_count_if_any")] Option<f64>,
        );
        let json = |some: &Some| serde_json::to_string(some).unwrap();
        assert_eq!(json(&Some(12.0, None)), "[12,null]");
        assert_eq!(json(&Some(12.5, Option::Some(3.0))), "[12.5,3]");
    }
}
