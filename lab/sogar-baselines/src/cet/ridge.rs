//! Weighted ridge regression with a free intercept, over points that are mostly zeros.
//!
//! Every point adds to a matrix of products and is dropped; the slopes then solve one small system of equations. A point is given
//! by its non-zero columns, at most one per feature, so that adding one takes time proportional to its pairs of features,
//! regardless of the number of levels.

/// The sums that the slopes depend on.
pub(super) struct Ridge {
    columns: usize,
    /// `products[i * columns + j]` for j ≤ i.
    products: Vec<f64>,
    sums: Vec<f64>,
    with_answer: Vec<f64>,
    weight: f64,
    answers: f64,
}

impl Ridge {
    pub fn new(columns: usize) -> Ridge {
        Ridge {
            columns,
            products: vec![0.0; columns * columns],
            sums: vec![0.0; columns],
            with_answer: vec![0.0; columns],
            weight: 0.0,
            answers: 0.0,
        }
    }

    /// Adds a point: its non-zero columns, ascending, and the answer there.
    pub fn add(&mut self, point: &[(usize, f64)], answer: f64, weight: f64) {
        self.weight += weight;
        self.answers += weight * answer;
        for (position, &(column, value)) in point.iter().enumerate() {
            let weighted = weight * value;
            self.sums[column] += weighted;
            self.with_answer[column] += weighted * answer;
            let products = &mut self.products[column * self.columns..][..=column];
            for &(other, value) in &point[..=position] {
                products[other] += weighted * value;
            }
        }
    }

    /// The slopes that minimise the weighted squares of the residuals plus `penalty[column]` times the squared slopes.
    pub fn slopes(mut self, penalty: &[f64]) -> Vec<f64> {
        let size = self.columns;
        if size == 0 || self.weight <= 0.0 {
            return vec![0.0; size];
        }
        // Centred, so that the intercept drops out.
        for (i, penalty) in penalty.iter().enumerate() {
            let mean = self.sums[i] / self.weight;
            self.with_answer[i] -= mean * self.answers;
            for j in 0..=i {
                self.products[i * size + j] -= mean * self.sums[j];
            }
            self.products[i * size + i] += penalty;
        }
        solve(&mut self.products, &mut self.with_answer);
        self.with_answer
    }
}

/// Solves a symmetric system, given by its lower triangle, in place (Cholesky). An unknown that the equations do not determine is
/// 0.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    /// A pivot that shrank by this much is rounding noise.
    const NOTHING_LEFT: f64 = 1e-12;
    let size = right.len();
    for i in 0..size {
        let (above, row) = matrix.split_at_mut(i * size);
        for j in 0..i {
            let known = &above[j * size..][..=j];
            let sum: f64 = row[..j].iter().zip(known).map(|(a, b)| a * b).sum();
            // A pivot of infinity makes the column, and the unknown, 0.
            row[j] = (row[j] - sum) / known[j];
        }
        let pivot = row[i] - row[..i].iter().map(|value| value * value).sum::<f64>();
        row[i] = if pivot > NOTHING_LEFT * row[i].abs() { pivot.sqrt() } else { f64::INFINITY };
        let sum: f64 = row[..i].iter().zip(right.iter()).map(|(a, b)| a * b).sum();
        right[i] = (right[i] - sum) / row[i];
    }
    for i in (0..size).rev() {
        let sum: f64 = (i + 1..size).map(|j| matrix[j * size + i] * right[j]).sum();
        right[i] = (right[i] - sum) / matrix[i * size + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(points: &[(&[f64], f64, f64)], penalty: f64) -> Vec<f64> {
        let columns = points[0].0.len();
        let mut ridge = Ridge::new(columns);
        for &(point, answer, weight) in points {
            let entries: Vec<(usize, f64)> =
                point.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect();
            ridge.add(&entries, answer, weight);
        }
        ridge.slopes(&vec![penalty; columns])
    }

    fn close(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-9, "{found} instead of {wanted}");
        }
    }

    #[test]
    fn a_plane_is_found_whatever_the_weights_and_the_intercept() {
        let plane = |x: f64, y: f64| 7.0 + 2.0 * x - 3.0 * y;
        let spots = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 5.0]];
        let points: Vec<(&[f64], f64, f64)> =
            spots.iter().zip([1.0, 0.5, 2.0, 0.1]).map(|(p, w)| (&p[..], plane(p[0], p[1]), w)).collect();
        close(&fitted(&points, 0.0), &[2.0, -3.0]);
    }

    #[test]
    fn the_penalty_shrinks_slopes_but_not_the_intercept() {
        // Around the mean ½ the squares of x add up to ½ and the products with y to ½: ½ / (½ + 1).
        close(&fitted(&[(&[0.0], 10.0, 1.0), (&[1.0], 11.0, 1.0)], 1.0), &[1.0 / 3.0]);
        // A weight of 3 is the same point three times: 0.75 / (0.75 + 1).
        close(&fitted(&[(&[0.0], 0.0, 1.0), (&[1.0], 1.0, 3.0)], 1.0), &[0.75 / 1.75]);
    }

    #[test]
    fn columns_that_say_nothing_get_no_slope() {
        close(&fitted(&[(&[0.0, 5.0], 0.0, 1.0), (&[1.0, 5.0], 1.0, 1.0)], 0.0), &[1.0, 0.0]);
        // The second column repeats the first.
        close(&fitted(&[(&[0.0, 0.0], 0.0, 1.0), (&[1.0, 1.0], 1.0, 1.0)], 0.0), &[1.0, 0.0]);
        close(&fitted(&[(&[1.0], 1.0, 0.0)], 1.0), &[0.0]);
        assert!(Ridge::new(0).slopes(&[]).is_empty());
    }
}
