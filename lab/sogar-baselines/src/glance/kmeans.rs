//! k-means over people: numbers unscaled, categories as one-hot columns.
//!
//! It follows the library that the authors use: careful seeding with several candidates per centre, ten starts of which the
//! tightest counts, at most 300 rounds, an end when the centres hardly move. Two things make it fast. One-hot columns are never
//! written out: the squared distance to a centre needs one entry per category. And the triangle inequality (Hamerly, 2010) shows
//! that most people stay with their centre, without looking at the others.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rayon::prelude::*;
use sogar_solver::stop::{Stop, StopReason};

use crate::chance::stream;
use crate::moves::Moves;

/// Starts, of which the best counts.
const STARTS: usize = 10;
/// Limit of rounds of a start.
const ROUNDS: usize = 300;
/// A start ends when the centres together move less than this share of the columns' mean variance.
const STILL: f64 = 1e-4;
/// Stage of the draws.
const STARTING: u64 = 0x6b6d_6561_6e73;

/// People as k-means sees them.
pub(super) struct Points {
    rows: usize,
    /// Numbers, centred and with missing ones in the middle: `numbers` per row.
    values: Vec<f64>,
    numbers: usize,
    /// Positions of one-hot columns that are 1: `categories` per row.
    ones: Vec<usize>,
    categories: usize,
    /// Number of one-hot columns.
    columns: usize,
    /// Mean variance of the columns.
    variance: f64,
}

impl Points {
    /// The people, one row after the other.
    pub fn new(people: &[f64], moves: &Moves<'_>) -> Points {
        let width = moves.features.len();
        let rows = people.len() / width.max(1);
        let column = |feature: usize| people.iter().skip(feature).step_by(width).copied();
        let (ordered, unordered): (Vec<usize>, Vec<usize>) = (0..width).partition(|&f| moves.is_ordered(f));
        let mut points = Points {
            rows,
            values: vec![0.0; rows * ordered.len()],
            numbers: ordered.len(),
            ones: vec![0; rows * unordered.len()],
            categories: unordered.len(),
            columns: 0,
            variance: 0.0,
        };
        let mut variances = 0.0;
        for (place, &feature) in ordered.iter().enumerate() {
            let known = || column(feature).filter(|value| !value.is_nan());
            let mean = known().sum::<f64>() / known().count().max(1) as f64;
            for (row, value) in column(feature).enumerate() {
                let value = if value.is_nan() { 0.0 } else { value - mean };
                points.values[row * ordered.len() + place] = value;
                variances += value * value / rows as f64;
            }
        }
        for (place, &feature) in unordered.iter().enumerate() {
            let levels = moves.features[feature].levels().len();
            let mut counts = vec![0usize; levels + 1];
            for (row, value) in column(feature).enumerate() {
                // Anything that is not a level has its own column.
                let level = if value >= 0.0 { (value as usize).min(levels) } else { levels };
                points.ones[row * unordered.len() + place] = points.columns + level;
                counts[level] += 1;
            }
            points.columns += levels + 1;
            let share = |count: &usize| *count as f64 / rows.max(1) as f64;
            variances += counts.iter().map(share).map(|share| share * (1.0 - share)).sum::<f64>();
        }
        points.variance = variances / (points.numbers + points.columns).max(1) as f64;
        points
    }

    fn values(&self, row: usize) -> &[f64] {
        &self.values[row * self.numbers..(row + 1) * self.numbers]
    }

    fn ones(&self, row: usize) -> &[usize] {
        &self.ones[row * self.categories..(row + 1) * self.categories]
    }
}

/// Centres of clusters, dense: numbers, then one-hot columns.
#[derive(Clone, Default)]
struct Centers {
    values: Vec<f64>,
    width: usize,
    numbers: usize,
    /// For each centre the squares of its one-hot part, plus the person's own: one per category.
    squares: Vec<f64>,
}

impl Centers {
    fn new(points: &Points) -> Centers {
        let width = points.numbers + points.columns;
        Centers { width, numbers: points.numbers, ..Centers::default() }
    }

    fn len(&self) -> usize {
        self.squares.len()
    }

    fn center(&self, center: usize) -> &[f64] {
        &self.values[center * self.width..(center + 1) * self.width]
    }

    fn push_point(&mut self, points: &Points, row: usize) {
        self.values.extend_from_slice(points.values(row));
        self.values.resize(self.values.len() + points.columns, 0.0);
        let start = self.len() * self.width + self.numbers;
        points.ones(row).iter().for_each(|one| self.values[start + one] = 1.0);
        self.squares.push(2.0 * points.categories as f64);
    }

    /// Squared distance of a person to a centre.
    #[inline]
    fn squared(&self, points: &Points, row: usize, center: usize) -> f64 {
        let (values, shares) = self.center(center).split_at(self.numbers);
        let numbers: f64 = points.values(row).iter().zip(values).map(|(a, b)| (a - b) * (a - b)).sum();
        let shared: f64 = points.ones(row).iter().map(|&one| shares[one]).sum();
        numbers + (self.squares[center] - 2.0 * shared).max(0.0)
    }

    /// Distance between two centres, the second one possibly from another time.
    fn between(&self, center: usize, others: &Centers, other: usize) -> f64 {
        let squares = self.center(center).iter().zip(others.center(other)).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    }

    /// The nearest centre with its distance, the first on ties, and the distance of the second nearest.
    fn nearest(&self, points: &Points, row: usize) -> (usize, f64, f64) {
        let (mut nearest, mut first, mut second) = (0, f64::INFINITY, f64::INFINITY);
        for center in 0..self.len() {
            let squared = self.squared(points, row, center);
            if squared < first {
                (nearest, second, first) = (center, first, squared);
            } else if squared < second {
                second = squared;
            }
        }
        (nearest, first.sqrt(), second.sqrt())
    }

    /// The means of the clusters' people; a cluster without people keeps its centre.
    fn means(&self, points: &Points, owners: &[usize]) -> Centers {
        let mut sums = vec![0.0; self.values.len()];
        let mut counts = vec![0usize; self.len()];
        for (row, &owner) in owners.iter().enumerate() {
            counts[owner] += 1;
            let (values, shares) =
                sums[owner * self.width..(owner + 1) * self.width].split_at_mut(self.numbers);
            values.iter_mut().zip(points.values(row)).for_each(|(sum, value)| *sum += value);
            points.ones(row).iter().for_each(|&one| shares[one] += 1.0);
        }
        let mut means = self.clone();
        for (center, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let range = center * self.width..(center + 1) * self.width;
            for (mean, sum) in means.values[range.clone()].iter_mut().zip(&sums[range]) {
                *mean = sum / count as f64;
            }
            let shares = &means.center(center)[self.numbers..];
            let squares = shares.iter().map(|share| share * share).sum::<f64>() + points.categories as f64;
            means.squares[center] = squares;
        }
        means
    }
}

/// The people of each cluster, by position; no cluster is empty. `None` if it was stopped before the first start was finished,
/// and the reason if it was stopped at all.
pub(super) fn cluster(
    points: &Points,
    clusters: usize,
    seed: u64,
    stop: &Stop,
) -> (Option<Vec<Vec<usize>>>, Option<StopReason>) {
    let starts = (0..STARTS).into_par_iter().map(|start| {
        let mut rng = stream(seed, STARTING, start as u64);
        let centers = seeds(points, clusters, &mut rng, stop)?;
        settle(points, centers, stop)
    });
    let mut best: Option<(f64, Vec<usize>)> = None;
    let mut stopped = None;
    for start in starts.collect::<Vec<_>>() {
        match start {
            Ok((spread, owners)) if best.as_ref().is_none_or(|(least, _)| spread < *least) => {
                best = Some((spread, owners));
            }
            Ok(_) => {}
            Err(reason) => stopped = Some(reason),
        }
    }
    let members = best.map(|(_, owners)| {
        let mut members = vec![Vec::new(); owners.iter().max().map_or(0, |last| last + 1)];
        owners.iter().enumerate().for_each(|(row, &owner)| members[owner].push(row));
        members.retain(|members| !members.is_empty());
        members
    });
    (members, stopped)
}

/// First centres: people far from those chosen before are likelier, and of several candidates the one that leaves the smallest
/// distance counts. Fewer than requested if there are not as many distinct people.
fn seeds(points: &Points, clusters: usize, rng: &mut ChaCha8Rng, stop: &Stop) -> Result<Centers, StopReason> {
    let mut centers = Centers::new(points);
    if points.rows == 0 {
        return Ok(centers);
    }
    let candidates = 2 + (clusters as f64).ln().max(0.0) as usize;
    centers.push_point(points, rng.random_range(0..points.rows));
    let mut nearest: Vec<f64> = (0..points.rows).map(|row| centers.squared(points, row, 0)).collect();
    while centers.len() < clusters {
        stop.check()?;
        let total: f64 = nearest.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            break;
        }
        let mut best: Option<(f64, usize, Vec<f64>)> = None;
        for _ in 0..candidates {
            let chosen = drawn(&nearest, rng.random::<f64>() * total);
            let mut alone = Centers::new(points);
            alone.push_point(points, chosen);
            let with: Vec<f64> = nearest
                .iter()
                .enumerate()
                .map(|(row, &old)| old.min(alone.squared(points, row, 0)))
                .collect();
            let left = with.iter().sum();
            if best.as_ref().is_none_or(|(least, _, _)| left < *least) {
                best = Some((left, chosen, with));
            }
        }
        if let Some((_, chosen, with)) = best {
            centers.push_point(points, chosen);
            nearest = with;
        }
    }
    Ok(centers)
}

/// The row at which the cumulative weight passes `at`; never one without weight, unless all are without.
fn drawn(weights: &[f64], at: f64) -> usize {
    let mut sum = 0.0;
    let mut last = 0;
    for (row, &weight) in weights.iter().enumerate() {
        sum += weight;
        if weight > 0.0 {
            last = row;
            if sum > at {
                break;
            }
        }
    }
    last
}

/// Moves centres to the means of their people, and people to their nearest centres, until (almost) nothing changes. Returns the
/// sum of squared distances, and each row's cluster.
fn settle(points: &Points, mut centers: Centers, stop: &Stop) -> Result<(f64, Vec<usize>), StopReason> {
    stop.check()?;
    let mut owners = vec![0; points.rows];
    // Upper and lower bounds of the distance: from the own centre, and from every other one.
    let (mut own, mut other) = (vec![0.0; points.rows], vec![0.0; points.rows]);
    for row in 0..points.rows {
        (owners[row], own[row], other[row]) = centers.nearest(points, row);
    }
    for _ in 0..ROUNDS {
        stop.check()?;
        let means = centers.means(points, &owners);
        let steps: Vec<f64> =
            (0..centers.len()).map(|center| centers.between(center, &means, center)).collect();
        centers = means;
        let longest = steps.iter().copied().fold(0.0, f64::max);
        let apart = |center: usize| {
            let others = (0..centers.len()).filter(|&other| other != center);
            others.map(|other| centers.between(center, &centers, other)).fold(f64::INFINITY, f64::min)
        };
        let apart: Vec<f64> = (0..centers.len()).map(apart).collect();
        let mut changed = false;
        for row in 0..points.rows {
            own[row] += steps[owners[row]];
            other[row] -= longest;
            let safe = other[row].max(apart[owners[row]] / 2.0);
            if own[row] <= safe {
                continue;
            }
            own[row] = centers.squared(points, row, owners[row]).sqrt();
            if own[row] <= safe {
                continue;
            }
            let (nearest, first, second) = centers.nearest(points, row);
            changed |= nearest != owners[row];
            (owners[row], own[row], other[row]) = (nearest, first, second);
        }
        let moved: f64 = steps.iter().map(|step| step * step).sum();
        if !changed || moved <= STILL * points.variance {
            break;
        }
    }
    let spread = owners.iter().enumerate().map(|(row, &owner)| centers.squared(points, row, owner)).sum();
    Ok((spread, owners))
}

#[cfg(test)]
mod tests {
    use crate::moves::people;
    use crate::testing::{german, prepared};

    use super::*;

    /// All rows but the last, the only one that the model accepts.
    fn points(table: &str) -> Points {
        let prepared = prepared(table, "", |row| row[0] == 999.0);
        let rows: Vec<usize> = (0..prepared.table().rows - 1).collect();
        Points::new(&people(prepared.table(), &rows), &Moves::new(&prepared))
    }

    fn clusters(points: &Points, count: usize) -> Vec<Vec<usize>> {
        let (members, stopped) = cluster(points, count, 1, &Stop::default());
        assert_eq!(stopped, None);
        let mut members = members.unwrap();
        members.sort();
        members
    }

    #[test]
    fn people_who_are_close_are_together() {
        let points = points("x,c\n1,a\n100,a\n2,a\n101,b\n3,b\n50,c\n999,a\n");
        assert_eq!(clusters(&points, 3), [vec![0, 2, 4], vec![1, 3], vec![5]]);
        assert_eq!(clusters(&points, 1), [vec![0, 1, 2, 3, 4, 5]]);
    }

    #[test]
    fn categories_are_two_columns_apart() {
        let points = points("x,c\n1,a\n1,b\n2,b\n999,a\n");
        let mut centers = Centers::new(&points);
        centers.push_point(&points, 0);
        let squared: Vec<f64> = (0..3).map(|row| centers.squared(&points, row, 0)).collect();
        assert_eq!(squared, [0.0, 2.0, 3.0]);
    }

    #[test]
    fn there_are_no_more_clusters_than_different_people() {
        let points = points("x,c\n1,a\n1,a\n2,b\n2,b\n1,a\n999,a\n");
        assert_eq!(clusters(&points, 5), [vec![0, 1, 4], vec![2, 3]]);
    }

    #[test]
    fn missing_and_huge_numbers_do_no_harm() {
        let points = points("x,y,c\n,1e300,a\n2,-1e300,a\n3,0,b\n,1,b\n999,1,a\n");
        assert_eq!(clusters(&points, 3).iter().map(Vec::len).sum::<usize>(), 4);
    }

    /// The rounds with bounds end where plain rounds end.
    #[test]
    fn bounds_change_nothing() {
        let prepared = german();
        let points = Points::new(&people(prepared.table(), prepared.problem_rows()), &Moves::new(&prepared));
        let mut centers = seeds(&points, 20, &mut stream(3, STARTING, 0), &Stop::default()).unwrap();
        let (spread, owners) = settle(&points, centers.clone(), &Stop::default()).unwrap();
        let mut plain = vec![0; points.rows];
        for _ in 0..ROUNDS {
            let now: Vec<usize> = (0..points.rows).map(|row| centers.nearest(&points, row).0).collect();
            let means = centers.means(&points, &now);
            let moved: f64 = (0..20).map(|c| centers.between(c, &means, c).powi(2)).sum();
            let done = now == plain || moved <= STILL * points.variance;
            (plain, centers) = (now, means);
            if done {
                break;
            }
        }
        let sum: f64 = (0..points.rows).map(|row| centers.nearest(&points, row).1.powi(2)).sum();
        assert!((spread - sum).abs() <= 1e-9 * sum, "{spread} {sum}");
        let last: Vec<usize> = (0..points.rows).map(|row| centers.nearest(&points, row).0).collect();
        assert_eq!(owners, last);
    }

    #[test]
    fn stopping_gives_a_reason() {
        let stop = Stop::default();
        stop.cancel.cancel();
        let (members, stopped) = cluster(&points("x,y\n1,1\n2,1\n3,1\n999,1\n"), 2, 0, &stop);
        assert_eq!((members, stopped), (None, Some(StopReason::Cancelled)));
    }
}
