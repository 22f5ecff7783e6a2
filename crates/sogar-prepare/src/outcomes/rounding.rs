//! Bounds the distance of a library's own sum of trees from the true sum if it adds in single precision.
//!
//! Every addition rounds by at most half a unit in the last place of its result, and the intermediate results are bounded: after
//! tree `i` the sum lies between the sum of the smallest leaves and the sum of the largest leaves so far. The bound is far below
//! that of an arbitrary order of additions, because the first sums are small.

use crate::model::{Arithmetic, Tree, TreeEnsemble};

/// The unit round-off of single precision, slightly enlarged to cover the rounding of the bound's own computation.
const ROUND_OFF: f64 = f32::EPSILON as f64 / 2.0 * (1.0 + 1e-9);

/// The largest distance of an output of the library from the true one, beyond double precision; not finite if a sum could
/// overflow.
pub(super) fn of_library(ensemble: &TreeEnsemble) -> f64 {
    match ensemble.arithmetic {
        Arithmetic::Double => 0.0,
        Arithmetic::Single => {
            (0..ensemble.outputs).map(|output| of_output(ensemble, output)).fold(0.0, f64::max)
        }
    }
}

fn of_output(ensemble: &TreeEnsemble, output: usize) -> f64 {
    let base = ensemble.base.get(output).copied().unwrap_or(0.0);
    let constant = Some((base, base));
    let trees = ensemble.trees.iter().skip(output).step_by(ensemble.outputs.max(1)).map(range);
    let terms: Vec<(f64, f64)> = match ensemble.base_last {
        false => constant.into_iter().chain(trees).collect(),
        true => trees.chain(constant).collect(),
    };
    let (mut low, mut high, mut error, mut largest) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for (smallest_leaf, largest_leaf) in terms {
        low += smallest_leaf;
        high += largest_leaf;
        let sum = low.abs().max(high.abs()) + error;
        error += ROUND_OFF * sum;
        largest = largest.max(sum + error);
    }
    if largest >= f64::from(f32::MAX) {
        return f64::INFINITY;
    }
    match ensemble.divisor {
        1.0 => error,
        divisor => {
            let quotient = largest / divisor.abs();
            error / divisor.abs() + ROUND_OFF * quotient + f64::from(f32::MIN_POSITIVE)
        }
    }
}

/// The smallest and the largest leaf of a tree.
fn range(tree: &Tree) -> (f64, f64) {
    tree.leaves
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &leaf| (low.min(leaf), high.max(leaf)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Decision;

    fn ensemble(leaves: &[&[f32]], base: f64, base_last: bool) -> TreeEnsemble {
        let tree = |leaves: &&[f32]| Tree {
            nodes: vec![],
            leaves: leaves.iter().map(|&v| f64::from(v)).collect(),
            covers: vec![],
        };
        TreeEnsemble {
            trees: leaves.iter().map(tree).collect(),
            outputs: 1,
            base: vec![base],
            base_last,
            divisor: 1.0,
            arithmetic: Arithmetic::Single,
            decision: Decision::Raw { threshold: 0.0 },
        }
    }

    #[test]
    fn sums_in_single_precision_stay_within_the_bound() {
        // Leaf values that rounding hurts: thirds, sevenths, and a large base.
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 40) as f32 / (1u64 << 24) as f32 - 0.5) / 3.0
        };
        for (count, base) in [(3, 0.0), (50, 100.0), (400, -0.3)] {
            for base_last in [false, true] {
                let leaves: Vec<Vec<f32>> = (0..count).map(|_| vec![next()]).collect();
                let views: Vec<&[f32]> = leaves.iter().map(Vec::as_slice).collect();
                let base = f64::from(base as f32);
                let ensemble = ensemble(&views, base, base_last);
                let mut output = [0.0];
                ensemble.outputs_of(&[], &mut output);
                let truth = base + leaves.iter().map(|leaf| f64::from(leaf[0])).sum::<f64>();
                let (lost, bound) = ((output[0] - truth).abs(), of_library(&ensemble));
                assert!(lost <= bound && bound < 1e-2, "{lost} {bound}");
            }
        }
    }

    #[test]
    fn double_precision_loses_nothing_more_and_overflow_is_seen() {
        let mut large = ensemble(&[&[3e38], &[3e38], &[-3e38]], 0.0, false);
        assert_eq!(of_library(&large), f64::INFINITY);
        large.arithmetic = Arithmetic::Double;
        assert_eq!(of_library(&large), 0.0);
    }
}
