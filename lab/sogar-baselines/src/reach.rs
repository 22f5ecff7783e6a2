//! Applies a proposal of any method to a person.
//!
//! Numbers stay within the reference table's smallest and largest value, whole numbers stay whole, a category is one change, and
//! impossible changes (of a missing number, to an unknown level) are skipped.

use sogar::error::{Error, ErrorKind, Result};
use sogar::feature::{Feature, FeatureTable, Kind};

/// The ends of the reference table's values, feature by feature.
pub struct Reach<'a> {
    features: &'a [Feature],
    ends: Vec<(f64, f64)>,
}

impl Reach<'_> {
    /// The reach of a reference table's values.
    pub fn new(reference: &FeatureTable) -> Reach<'_> {
        // `min` and `max` of floats skip missing values.
        let ends = |values: &Vec<f64>| {
            let start = (f64::INFINITY, f64::NEG_INFINITY);
            values.iter().fold(start, |(lo, hi), &value| (lo.min(value), hi.max(value)))
        };
        Reach { features: &reference.features, ends: reference.values.iter().map(ends).collect() }
    }

    /// Smallest and largest value of a feature; reversed if every value is missing.
    pub fn ends(&self, feature: usize) -> (f64, f64) {
        self.ends[feature]
    }

    /// The person after the change.
    pub fn apply(&self, before: &[f64], to: &[(usize, f64)]) -> Result<Vec<f64>> {
        let mut after = before.to_vec();
        for &(feature, value) in to {
            if feature >= self.features.len() {
                let message = format!("a proposal changes feature {feature}, which does not exist");
                return Err(Error::new(ErrorKind::Usage, message));
            }
            after[feature] = self.value(feature, before[feature], value);
        }
        Ok(after)
    }

    /// The result of changing one value.
    pub fn value(&self, feature: usize, before: f64, to: f64) -> f64 {
        let description = &self.features[feature];
        if to.is_nan() || (description.is_ordered() && before.is_nan()) {
            return before;
        }
        let (lo, hi) = self.ends[feature];
        match description.kind {
            Kind::Real => to.max(lo).min(hi),
            Kind::Integer | Kind::Ordinal { .. } => to.round().max(lo).min(hi),
            Kind::Categorical { .. } | Kind::Binary { .. } => {
                let exists = to >= 0.0 && to.fract() == 0.0 && to < description.levels().len() as f64;
                if exists { to } else { before }
            }
        }
    }
}
