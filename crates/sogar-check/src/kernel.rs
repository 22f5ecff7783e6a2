//! The smoothed distribution function of the cost `cet`, by its definition (SPEC §5): a Gaussian kernel estimate with Scott's
//! bandwidth, cumulated on a grid and linear in between. Kernels more than nine bandwidths away count as zero. A whole feature
//! has a grid of step 1, unless its range is 2¹⁷ or wider: then 128 points per bandwidth, evenly spaced, but at most 2²⁰ in all,
//! and the trapezoidal rule gives the sum over every whole number.

use super::pricing::ValueCounts;

const GRID: usize = 51;
const REACH: f64 = 9.0;
const TAIL: f64 = 1e-6;

/// The share of people at or below values.
pub(super) struct KernelCdf {
    start: f64,
    step: f64,
    shares: Vec<f64>,
}

impl KernelCdf {
    /// `None` if all values are equal. `whole`: values are whole numbers. A person counts `person` units.
    pub(super) fn new(counted: &ValueCounts, person: u64, whole: bool) -> Option<Self> {
        let people: Vec<(f64, f64)> =
            counted.values().map(|(value, count)| (value, count as f64 / person as f64)).collect();
        let (start, end) = (people.first()?.0, people.last()?.0);
        let count = counted.values().map(|(_, count)| count).sum::<u64>() as f64 / person as f64;
        let mean = people.iter().map(|(value, times)| times * value).sum::<f64>() / count;
        let variance =
            people.iter().map(|(value, times)| times * (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let bandwidth = variance.sqrt() * count.powf(-0.2);
        if !(bandwidth > 0.0 && end > start) {
            return None;
        }
        let wide = end - start >= 131_072.0;
        let gaps = match (whole, wide) {
            (false, _) => (GRID - 1) as f64,
            (true, false) => end - start,
            (true, true) => (128.0 * (end - start) / bandwidth).ceil().clamp(50.0, 1_048_575.0),
        };
        let (step, points) = ((end - start) / gaps, gaps as usize + 1);
        let near = REACH * bandwidth;
        let density = |point: usize| {
            let at = start + step * point as f64;
            let first = people.partition_point(|person| person.0 < at - near);
            let close = people[first..].iter().take_while(|person| person.0 <= at + near);
            close.map(|(value, times)| times * (-0.5 * ((at - value) / bandwidth).powi(2)).exp()).sum::<f64>()
        };
        let scale = 1.0 / (count * bandwidth * (2.0 * std::f64::consts::PI).sqrt());
        let densities: Vec<f64> = (0..points).map(density).collect();
        let mut sum = 0.0;
        let mut sums: Vec<f64> = Vec::with_capacity(points);
        for (point, density) in densities.iter().enumerate() {
            if whole && wide {
                let before = densities[point.saturating_sub(1)];
                sum += if point > 0 { step * (before + density) / 2.0 } else { 0.0 };
                sums.push((sum + (densities[0] + density) / 2.0) * scale);
            } else {
                sum += density * scale;
                sums.push(sum);
            }
        }
        let total = match sums.last() {
            Some(&last) if whole && wide => last,
            _ => densities.iter().sum::<f64>() * scale,
        };
        let shares = sums.into_iter().map(|sum| (TAIL + sum) / (total + 2.0 * TAIL)).collect();
        Some(KernelCdf { start, step, shares })
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let last = self.shares.len() - 1;
        let place = ((value - self.start) / self.step).clamp(0.0, last as f64);
        let below = place.floor() as usize;
        let above = (below + 1).min(last);
        self.shares[below] + (place - below as f64) * (self.shares[above] - self.shares[below])
    }
}
