//! Means and standard deviations over folds.

use serde::Serialize;

/// A mean with its spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanSd {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; `None` of a single value.
    pub sd: Option<f64>,
}

impl MeanSd {
    /// Of a sample: divided by n − 1.
    pub fn of(values: &[f64]) -> Option<MeanSd> {
        let sd = (values.len() > 1).then(|| (squares(values) / (values.len() - 1) as f64).sqrt());
        (!values.is_empty()).then(|| MeanSd { mean: mean(values), sd })
    }

    /// Of a whole population: divided by n.
    pub fn of_all(values: &[f64]) -> MeanSd {
        let count = values.len().max(1) as f64;
        MeanSd { mean: mean(values), sd: Some((squares(values) / count).sqrt()) }
    }

    /// `0.123 ± 0.045`, with this many digits.
    pub fn text(&self, digits: usize) -> String {
        match self.sd {
            Some(sd) => format!("{:.digits$} ± {sd:.digits$}", self.mean),
            None => format!("{:.digits$}", self.mean),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_deviations() {
        let found = MeanSd::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((found.mean, found.sd), (2.0, Some(1.0)));
        assert_eq!(found.text(2), "2.00 ± 1.00");
        assert_eq!(MeanSd::of(&[0.5]).unwrap().text(3), "0.500");
        assert_eq!(MeanSd::of(&[]), None);
        assert_eq!(MeanSd::of_all(&[1.0, 3.0]).sd, Some(1.0));
    }
}
