//! The columns of CET's linear surrogates: a number is one column, a pair of values one 0/1 column, a category one 0/1 column per
//! level.

use sogar::feature::FeatureTable;

use crate::cart::Axis;

/// The columns of all features, in the features' order.
pub(super) struct Columns {
    axes: Vec<Axis>,
    /// The first column of each feature.
    first: Vec<usize>,
    /// Standard deviation of each column in the reference table; 0 for constant ones (and beyond the range of floats).
    pub sd: Vec<f64>,
}

impl Columns {
    pub fn new(reference: &FeatureTable) -> Columns {
        let axes: Vec<Axis> = reference.features.iter().map(Axis::of).collect();
        let (mut first, mut sd) = (Vec::new(), Vec::new());
        for (axis, values) in axes.iter().zip(&reference.values) {
            first.push(sd.len());
            match axis {
                Axis::Ordered => sd.push(deviation(values.iter().copied().filter(|value| !value.is_nan()))),
                Axis::Levels(levels) => sd.extend(levels.clone().map(|level| {
                    deviation(values.iter().map(|&value| f64::from(u8::from(value == level as f64))))
                })),
            }
        }
        Columns { axes, first, sd }
    }

    /// Number of columns.
    pub fn count(&self) -> usize {
        self.sd.len()
    }

    /// Whether a feature is one column of numbers.
    pub fn is_ordered(&self, feature: usize) -> bool {
        self.axes[feature] == Axis::Ordered
    }

    /// The column that contains a feature's value, or is 1 for it; none for the smaller of two values, and for levels that the
    /// reference table does not have.
    pub fn of(&self, feature: usize, value: f64) -> Option<usize> {
        match &self.axes[feature] {
            Axis::Ordered => Some(self.first[feature]),
            Axis::Levels(levels) => {
                let level = (value >= 0.0).then_some(value as usize).filter(|level| levels.contains(level));
                level.map(|level| self.first[feature] + level - levels.start)
            }
        }
    }

    /// The change of a linear function with these slopes when a feature's value changes.
    pub fn change(&self, slopes: &[f64], feature: usize, from: f64, to: f64) -> f64 {
        if self.is_ordered(feature) {
            let change = to - from;
            return if change.is_nan() { 0.0 } else { slopes[self.first[feature]] * change };
        }
        let slope = |value: f64| self.of(feature, value).map_or(0.0, |column| slopes[column]);
        slope(to) - slope(from)
    }
}

/// The population's standard deviation.
fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count();
    if count == 0 {
        return 0.0;
    }
    let mean = values.clone().sum::<f64>() / count as f64;
    // A column of one value has none, regardless of how its mean is rounded.
    let first = values.clone().next().unwrap_or(mean);
    if values.clone().all(|value| value == first) {
        return 0.0;
    }
    let deviation = (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count as f64).sqrt();
    if deviation.is_finite() { deviation } else { 0.0 }
}
