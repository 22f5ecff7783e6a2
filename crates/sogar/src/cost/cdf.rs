//! A smoothed distribution function of a feature in the reference table.

use rayon::prelude::*;

use crate::feature::Ordered;

/// The smoothed distribution function that the authors of CET use: a Gaussian kernel estimate summed up on a grid,
/// linear in between.
#[derive(Debug)]
pub(super) struct SmoothCdf {
    start: f64,
    step: f64,
    values: Vec<f64>,
}

/// Points of the grid of a real feature.
const GRID: usize = 51;
/// Kernels further away than this many bandwidths are below the precision of the sum.
const REACH: f64 = 9.0;
/// What is added to either tail.
const TAIL: f64 = 1e-6;

impl SmoothCdf {
    /// `None` where there is no spread to estimate from. `whole`: a grid of step 1.
    /// A row counts as many times as it has a `unit` of weight.
    pub fn new(values: &Ordered, unit: u64, whole: bool) -> Option<Self> {
        let times = |weight: u64| weight as f64 / unit as f64;
        let count = times(values.count());
        let mean = values.iter().map(|(value, weight)| times(weight) * value).sum::<f64>() / count;
        let squares = values.iter().map(|(value, weight)| times(weight) * (value - mean).powi(2));
        let variance = squares.sum::<f64>() / (count - 1.0);
        let bandwidth = variance.sqrt() * count.powf(-0.2);
        let (start, end) = values.ends()?;
        if !(bandwidth > 0.0 && end > start) {
            return None;
        }
        let (step, points) = if whole {
            (1.0, (end - start).floor() as usize + 1)
        } else {
            ((end - start) / (GRID - 1) as f64, GRID)
        };
        let distinct: Vec<(f64, f64)> = values.iter().map(|(value, weight)| (value, times(weight))).collect();
        let density: Vec<f64> = (0..points)
            .into_par_iter()
            .map(|i| {
                let at = start + step * i as f64;
                let from = distinct.partition_point(|(value, _)| *value < at - REACH * bandwidth);
                distinct[from..]
                    .iter()
                    .take_while(|(value, _)| *value <= at + REACH * bandwidth)
                    .map(|(value, times)| times * (-0.5 * ((at - value) / bandwidth).powi(2)).exp())
                    .sum()
            })
            .collect();
        let scale = 1.0 / (count * bandwidth * (2.0 * std::f64::consts::PI).sqrt());
        let total: f64 = density.iter().sum::<f64>() * scale;
        let mut sum = 0.0;
        let values = density
            .iter()
            .map(|density| {
                sum += density * scale;
                (TAIL + sum) / (total + 2.0 * TAIL)
            })
            .collect();
        Some(SmoothCdf { start, step, values })
    }

    /// The share of people at or below a value.
    pub fn at(&self, value: f64) -> f64 {
        let last = self.values.len() - 1;
        let position = ((value - self.start) / self.step).clamp(0.0, last as f64);
        let below = position.floor() as usize;
        let above = (below + 1).min(last);
        self.values[below] + (position - below as f64) * (self.values[above] - self.values[below])
    }
}
