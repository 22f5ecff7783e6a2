//! A smoothed distribution function of a feature in the reference table.
//!
//! **Grids.** A real feature has 51 points. An integer feature has a point at every whole number of its range, up to 2¹⁷ of them.
//! In a wider range the points are evenly spaced from the smallest to the largest value, at most a 128th of the bandwidth apart,
//! but at most 2²⁰ of them, and the trapezoidal rule gives the sum over every whole number up to each of them. The estimate is
//! smooth at that scale, so costs differ from those of the full grid by less than a hundred-thousandth, and memory and time are
//! bounded for every range.

use rayon::prelude::*;

use sogar_table::feature::Ordered;

/// The smoothed distribution function of the authors of CET: a Gaussian kernel estimate cumulated on a grid, linear in between.
#[derive(Debug)]
pub(super) struct SmoothCdf {
    start: f64,
    step: f64,
    values: Vec<f64>,
}

/// Points of the grid of a real feature.
const GRID: usize = 51;
/// Most points of a grid of step 1.
const MOST_WHOLE: f64 = (1 << 17) as f64;
/// Points per bandwidth of the grid of a wider range, and most of them.
const PER_BANDWIDTH: f64 = 128.0;
const MOST_POINTS: f64 = (1 << 20) as f64;
/// Kernels further away than this many bandwidths are below the precision of the sum.
const REACH: f64 = 9.0;
/// Added to either tail.
const TAIL: f64 = 1e-6;

impl SmoothCdf {
    /// `None` if there is no spread to estimate from. `whole`: values are whole numbers. A row counts as many times as it has a
    /// `unit` of weight.
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
        let range = end - start;
        let every_number = whole && range < MOST_WHOLE;
        let intervals = match whole {
            true if every_number => range,
            true => (PER_BANDWIDTH * range / bandwidth).ceil().clamp((GRID - 1) as f64, MOST_POINTS - 1.0),
            false => (GRID - 1) as f64,
        };
        let (step, points) = (range / intervals, intervals as usize + 1);
        let kernel = |distance: f64| (-0.5 * (distance / bandwidth).powi(2)).exp();
        // Whole numbers have few distinct distances.
        let kernels: Vec<f64> = match every_number {
            true => (0..=(REACH * bandwidth).min(range) as usize).map(|lag| kernel(lag as f64)).collect(),
            false => Vec::new(),
        };
        let at_distance = |distance: f64| match kernels.get(distance.abs() as usize) {
            Some(&known) => known,
            None => kernel(distance),
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
                    .map(|(value, times)| times * at_distance(at - value))
                    .sum()
            })
            .collect();
        let scale = 1.0 / (count * bandwidth * (2.0 * std::f64::consts::PI).sqrt());
        let (sums, total) = if whole && !every_number {
            let sums = by_trapezoids(&density, step, scale);
            let total = sums.last().copied().unwrap_or(0.0);
            (sums, total)
        } else {
            (running(&density, scale), density.iter().sum::<f64>() * scale)
        };
        let values = sums.into_iter().map(|sum| (TAIL + sum) / (total + 2.0 * TAIL)).collect();
        Some(SmoothCdf { start, step, values })
    }

    /// Memory that it takes.
    pub fn bytes(&self) -> usize {
        8 * self.values.len()
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

/// The sums up to each point of a grid.
fn running(density: &[f64], scale: f64) -> Vec<f64> {
    let mut sum = 0.0;
    density
        .iter()
        .map(|density| {
            sum += density * scale;
            sum
        })
        .collect()
}

/// The sums over every whole number up to each point of a grid with that step: the integral by the trapezoidal rule, and half of
/// either end.
fn by_trapezoids(density: &[f64], step: f64, scale: f64) -> Vec<f64> {
    let (mut integral, mut before) = (0.0, density.first().copied().unwrap_or(0.0));
    let first = before;
    density
        .iter()
        .enumerate()
        .map(|(point, &density)| {
            if point > 0 {
                integral += step * (before + density) / 2.0;
            }
            before = density;
            (integral + (first + density) / 2.0) * scale
        })
        .collect()
}
