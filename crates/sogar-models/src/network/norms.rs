//! Upper bounds of matrix norms, proven and reasonably tight.
//!
//! Rounding errors pass through a layer by its weights. Bounding each layer by its spectral norm keeps the error bound of a
//! five-layer network some thousand times tighter than sums of absolute weights would: the largest singular value of 50 × 50
//! random weights of size `s` is about `14·s`, the absolute sum of a row `40·s`.

use super::Layer;

/// Limit of multiply-adds for one bound: a fraction of a second.
const EFFORT: f64 = 1e9;
/// Limit of entries of a matrix to copy for it.
const LARGEST: usize = 10_000_000;

/// Covers the rounding of all computations here in double precision: relative errors are below `rows · columns · 2^-52`, which
/// [`LayerNorms::of`] keeps below this.
const ROUNDING: f64 = 1.0 + 1e-6;

/// The effect of a layer on the error of its inputs, and the size of its sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerNorms {
    /// An upper bound of the spectral norm of the weights.
    pub weights: f64,
    /// An upper bound of the spectral norm of the weights' absolute values.
    pub absolute: f64,
    /// Euclidean norm of the bias.
    pub bias: f64,
    /// Largest Euclidean norm of one output's weights.
    pub widest_row: f64,
    /// Largest bias.
    pub largest_bias: f64,
}

impl LayerNorms {
    /// The norms of a layer.
    pub fn of(layer: &Layer) -> LayerNorms {
        let norm = |values: &[f32]| values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        let largest = |largest: f64, bias: &f32| largest.max(f64::from(bias.abs()));
        LayerNorms {
            weights: spectral(&layer.weights, layer.inputs, |weight| weight),
            absolute: spectral(&layer.weights, layer.inputs, f32::abs),
            bias: norm(&layer.bias) * ROUNDING,
            widest_row: layer.weights.chunks(layer.inputs.max(1)).map(norm).fold(0.0, f64::max) * ROUNDING,
            largest_bias: layer.bias.iter().fold(0.0, largest),
        }
    }
}

/// An upper bound of the largest singular value of a matrix, given row by row, after applying a function to its entries.
///
/// With `G = W·Wᵀ` (or `Wᵀ·W`, whichever is smaller), `‖W‖² = ‖G‖ ≤ ‖G^(2^p)‖_F^(1/2^p)`, which is at most `n^(1/2^(p+1))` times
/// too large. The powers come from squaring a matrix that is first divided by its norm.
fn spectral(matrix: &[f32], columns: usize, function: fn(f32) -> f32) -> f64 {
    let columns = columns.max(1);
    let rows = matrix.len() / columns;
    let cheap = cheap_bound(matrix, columns);
    let side = rows.min(columns);
    let too_large = matrix.len() > LARGEST || side as f64 * matrix.len() as f64 > EFFORT;
    // The Frobenius norm of a single row or column is its norm.
    if cheap == 0.0 || !cheap.is_finite() || side == 1 || too_large {
        return cheap;
    }
    let matrix: Vec<f64> = matrix.iter().map(|&value| f64::from(function(value))).collect();
    let mut gram = gram(&matrix, rows, columns);
    let squarings = (EFFORT / (side as f64).powi(3)).min(6.0) as usize;
    let (mut logarithm, mut share) = (0.0, 1.0);
    for step in 0..=squarings {
        let norm = gram.iter().map(|value| value * value).sum::<f64>().sqrt();
        if !(norm > 0.0 && norm.is_finite()) {
            return cheap;
        }
        logarithm += share * norm.ln();
        share /= 2.0;
        if step < squarings {
            gram.iter_mut().for_each(|value| *value /= norm);
            gram = square(&gram, side);
        }
    }
    cheap.min((logarithm / 2.0).exp() * ROUNDING)
}

/// The smaller of the Frobenius norm and the root of the largest absolute row sum times the largest absolute column sum. Neither
/// depends on signs.
fn cheap_bound(matrix: &[f32], columns: usize) -> f64 {
    let frobenius = matrix.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    let mut column_sums = vec![0.0; columns];
    let mut largest_row = 0.0f64;
    for row in matrix.chunks_exact(columns) {
        column_sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(value.abs()));
        largest_row = largest_row.max(row.iter().map(|value| f64::from(value.abs())).sum());
    }
    let largest_column = column_sums.iter().fold(0.0f64, |largest, &sum| largest.max(sum));
    frobenius.min((largest_row * largest_column).sqrt()) * ROUNDING
}

/// `W·Wᵀ` or `Wᵀ·W`, the smaller one.
fn gram(matrix: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    if columns <= rows {
        let mut gram = vec![0.0; columns * columns];
        for row in matrix.chunks_exact(columns) {
            for (&left, out) in row.iter().zip(gram.chunks_exact_mut(columns)) {
                out.iter_mut().zip(row).for_each(|(out, right)| *out += left * right);
            }
        }
        return gram;
    }
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    let rows = || matrix.chunks_exact(columns);
    rows().flat_map(|a| rows().map(move |b| product(a, b))).collect()
}

fn square(matrix: &[f64], side: usize) -> Vec<f64> {
    let mut out = vec![0.0; side * side];
    for (row, out) in matrix.chunks_exact(side).zip(out.chunks_exact_mut(side)) {
        for (&left, right) in row.iter().zip(matrix.chunks_exact(side)) {
            out.iter_mut().zip(right).for_each(|(out, right)| *out += left * right);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_norms_are_bounded_closely() {
        let norm = |matrix: &[f32], columns| spectral(matrix, columns, |value| value);
        let close =
            |bound: f64, norm: f64| assert!(bound >= norm && bound < 1.05 * norm, "{bound} for {norm}");
        // A rotation stretched to singular values of 10 and 5.
        close(norm(&[6.0, -4.0, 8.0, 3.0], 2), 10.0);
        close(spectral(&[1.0, -1.0, 1.0, 1.0], 2, f32::abs), 2.0);
        close(norm(&[3.0, 4.0], 2), 5.0);
        close(norm(&[3.0, 4.0], 1), 5.0);
        let identity: Vec<f32> = (0..2500).map(|i| f32::from(u8::from(i % 51 == 0))).collect();
        close(norm(&identity, 50), 1.0);
        assert_eq!(norm(&[0.0; 6], 3), 0.0);
        assert_eq!(norm(&[], 3), 0.0);
    }

    #[test]
    fn no_vector_grows_by_more_than_the_bound() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as f64 / f64::from(1u32 << 30) - 1.0
        };
        for (rows, columns) in [(50, 50), (3, 40), (40, 3), (1, 7), (17, 20)] {
            let matrix: Vec<f32> = (0..rows * columns).map(|_| random() as f32).collect();
            let bound = spectral(&matrix, columns, |value| value);
            let mut vector: Vec<f64> = (0..columns).map(|_| random()).collect();
            let mut growth = 0.0;
            // Power iteration finds the largest growth from below.
            for _ in 0..200 {
                let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                vector.iter_mut().for_each(|x| *x /= length);
                let product = |row: &[f32]| row.iter().zip(&vector).map(|(&a, b)| f64::from(a) * b).sum();
                let image: Vec<f64> = matrix.chunks(columns).map(product).collect();
                growth = image.iter().map(|x| x * x).sum::<f64>().sqrt();
                vector = (0..columns)
                    .map(|column| {
                        (0..rows).map(|row| f64::from(matrix[row * columns + column]) * image[row]).sum()
                    })
                    .collect();
            }
            assert!(growth <= bound && bound < 1.1 * growth, "{rows}×{columns}: {growth} {bound}");
        }
    }
}
