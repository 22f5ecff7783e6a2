//! Intervals of rates and of what compares two rates, and corrections for many tests.
//!
//! Counts are numbers of people. They need not be whole: a table with weights may hold half a person. Every interval is two-sided
//! and takes its confidence, such as [`CONFIDENCE`]. Distributions come from `statrs`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::checked_beta_reg;

/// The usual confidence of an interval.
pub const CONFIDENCE: f64 = 0.95;

/// An interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// From 0 to 1: a rate about which nothing is known.
    const UNKNOWN_RATE: Interval = Interval { low: 0.0, high: 1.0 };
}

/// The standard normal quantile at a probability between 0 and 1.
fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability.clamp(0.0, 1.0))
}

/// The z of a two-sided interval: 1.96 at 95 %.
fn two_sided(confidence: f64) -> f64 {
    normal_quantile(0.5 + confidence / 2.0)
}

/// Student's *t* of a two-sided interval; fewer than one degree of freedom counts as one.
pub fn student_quantile(confidence: f64, freedom: f64) -> f64 {
    // Beyond this the expansion around the normal quantile is exact to nine digits, and much faster.
    const MANY: f64 = 300.0;
    let n = freedom.max(1.0);
    if n <= MANY
        && let Ok(student) = StudentsT::new(0.0, 1.0, n)
    {
        return student.inverse_cdf(0.5 + confidence / 2.0);
    }
    let z = two_sided(confidence);
    z + (z.powi(3) + z) / (4.0 * n)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * n.powi(3))
}

/// The two-sided p-value of Student's *t*.
pub fn student_p(t: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom.max(1.0)) {
        Ok(student) if t.is_finite() => (2.0 * student.sf(t.abs())).min(1.0),
        _ if t.is_nan() => 1.0,
        _ => 0.0,
    }
}

/// Wilson's interval of a rate (the score test inverted). Without people it is from 0 to 1.
pub fn wilson(successes: f64, total: f64, confidence: f64) -> Interval {
    if total <= 0.0 {
        return Interval::UNKNOWN_RATE;
    }
    let z = two_sided(confidence);
    let rate = successes / total;
    let centre = rate + z * z / (2.0 * total);
    let half = z * (rate * (1.0 - rate) / total + z * z / (4.0 * total * total)).max(0.0).sqrt();
    let scale = 1.0 + z * z / total;
    // The ends of 0 and of everyone are exact, not off by a rounding error.
    let low = if successes <= 0.0 { 0.0 } else { ((centre - half) / scale).max(0.0) };
    let high = if successes >= total { 1.0 } else { ((centre + half) / scale).min(1.0) };
    Interval { low, high }
}

/// The interval of Clopper and Pearson: it covers the rate with at least this confidence whatever the rate is, so it is wider
/// than [`wilson`]. Without people it is from 0 to 1.
pub fn clopper_pearson(successes: f64, total: f64, confidence: f64) -> Interval {
    if total <= 0.0 {
        return Interval::UNKNOWN_RATE;
    }
    let tail = (1.0 - confidence) / 2.0;
    let failures = total - successes;
    let low = if successes <= 0.0 { 0.0 } else { beta_quantile(tail, successes, failures + 1.0) };
    let high = if failures <= 0.0 { 1.0 } else { beta_quantile(1.0 - tail, successes + 1.0, failures) };
    Interval { low, high }
}

/// A quantile of the beta distribution, by bisection of its distribution function: that needs no starting value and always ends.
fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    bisect(0.0, 1.0, |x| checked_beta_reg(a, b, x).unwrap_or(0.0) >= probability)
}

/// How many of `total` people must be within a limit before it is at least their quantile at `share`: the fewest at which the
/// upper and the lower limit of [`clopper_pearson`] for the share within it are at least `share`. The values at these two ranks
/// are the interval of the quantile, whatever the distribution. `None`: no number is enough.
pub fn quantile_ranks(total: f64, share: f64, confidence: f64) -> [Option<f64>; 2] {
    let tail = (1.0 - confidence) / 2.0;
    // A limit is at least the share if the beta distribution has at most its probability below the share.
    let below = |a: f64, b: f64| checked_beta_reg(a, b, share).unwrap_or(0.0);
    let upper = |x: f64| x >= total || below(x + 1.0, total - x) <= 1.0 - tail;
    let lower = |x: f64| x > 0.0 && below(x, total - x + 1.0) <= tail;
    [least(total, upper), least(total, lower)]
}

/// The least number up to `most` that passes a test which larger ones pass too.
pub fn least(most: f64, passes: impl Fn(f64) -> bool) -> Option<f64> {
    match (passes(0.0), passes(most)) {
        (true, _) => Some(0.0),
        (false, true) => Some(bisect(0.0, most, passes)),
        (false, false) => None,
    }
}

/// Where a test that fails at `low` and passes at `high` begins to pass.
fn bisect(mut low: f64, mut high: f64, passes: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if passes(middle) { high = middle } else { low = middle }
    }
}

/// The interval of a difference of two independent rates, the first minus the second (Newcombe's, from two Wilson intervals).
/// Each is a pair of successes and total.
pub fn difference_of_rates(first: (f64, f64), second: (f64, f64), confidence: f64) -> Interval {
    if first.1 <= 0.0 || second.1 <= 0.0 {
        return Interval { low: -1.0, high: 1.0 };
    }
    let (p, q) = (first.0 / first.1, second.0 / second.1);
    let (a, b) = (wilson(first.0, first.1, confidence), wilson(second.0, second.1, confidence));
    Interval { low: p - q - (p - a.low).hypot(b.high - q), high: p - q + (a.high - p).hypot(q - b.low) }
}

/// The interval of a ratio of two independent rates, the first over the second (Koopman's: the score test inverted). It has no
/// upper end, infinity, where the second rate may be 0.
pub fn ratio_of_rates(first: (f64, f64), second: (f64, f64), confidence: f64) -> Interval {
    let ((x, m), (y, n)) = (first, second);
    if m <= 0.0 || n <= 0.0 || (x <= 0.0 && y <= 0.0) {
        return Interval { low: 0.0, high: f64::INFINITY };
    }
    let limit = two_sided(confidence).powi(2);
    // The ratio is rejected if the score statistic exceeds the limit. On either side of the estimate the statistic grows.
    let rejected = |log: f64| ratio_score(first, second, log.exp()) > limit;
    const FAR: f64 = 60.0;
    let estimate = (x / m / (y / n)).ln();
    let low = match x <= 0.0 {
        true => 0.0,
        // Where y = 0 the estimate is infinite; the statistic falls all the way.
        false => bisect(-FAR, estimate.min(FAR), |log| !rejected(log)).exp(),
    };
    let high = match y <= 0.0 {
        true => f64::INFINITY,
        false => bisect(estimate.max(-FAR), FAR, rejected).exp(),
    };
    Interval { low, high }
}

/// The score statistic of a ratio of rates: the squared deviation from it, over its variance under it.
fn ratio_score((x, m): (f64, f64), (y, n): (f64, f64), ratio: f64) -> f64 {
    // The likeliest second rate q with first rate ratio · q, a root of a quadratic.
    let a = (m + n) * ratio;
    let b = m * ratio + x + n + y * ratio;
    let c = x + y;
    // The smaller root, in the form that does not cancel.
    let q = (2.0 * c / (b + (b * b - 4.0 * a * c).max(0.0).sqrt())).clamp(0.0, 1.0);
    let p = (ratio * q).min(1.0);
    let deviation = x / m - ratio * y / n;
    let variance = p * (1.0 - p) / m + ratio * ratio * q * (1.0 - q) / n;
    if deviation == 0.0 { 0.0 } else { deviation * deviation / variance }
}

/// Holm's correction: p-values that hold for all tests of a family together. Their order is kept.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
    let mut adjusted = vec![0.0; values.len()];
    let mut so_far = 0.0f64;
    for (rank, &test) in order.iter().enumerate() {
        so_far = so_far.max((values[test] * (values.len() - rank) as f64).min(1.0));
        adjusted[test] = so_far;
    }
    adjusted
}

/// A quantile of sorted values, linear between them.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = share * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (position - below as f64) * (sorted[above] - sorted[below]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_is(found: Interval, low: f64, high: f64, digits: i32) {
        let near = |a: f64, b: f64| (a - b).abs() <= 0.51 * 10f64.powi(-digits);
        assert!(near(found.low, low) && near(found.high, high), "{found:?} is not [{low}, {high}]");
    }

    // python/tests/test_assurance.py and tests/python/test_audit.py compare with scipy on fronts.

    #[test]
    fn intervals_of_rates_are_those_of_newcombe_1998() {
        for (successes, total, [a, b], [c, d]) in [
            (81.0, 263.0, [0.2553, 0.3662], [0.2527, 0.3676]),
            (15.0, 148.0, [0.0624, 0.1605], [0.0578, 0.1617]),
            (0.0, 20.0, [0.0, 0.1611], [0.0, 0.1684]),
            (1.0, 29.0, [0.0061, 0.1718], [0.0009, 0.1776]),
        ] {
            assert_is(wilson(successes, total, CONFIDENCE), a, b, 4);
            assert_is(clopper_pearson(successes, total, CONFIDENCE), c, d, 4);
            let failing = wilson(total - successes, total, CONFIDENCE);
            assert_is(Interval { low: 1.0 - failing.high, high: 1.0 - failing.low }, a, b, 4);
        }
        assert_eq!(wilson(0.0, 0.0, CONFIDENCE), Interval::UNKNOWN_RATE);
        assert_eq!(clopper_pearson(0.0, 0.0, CONFIDENCE), Interval::UNKNOWN_RATE);
    }

    #[test]
    fn differences_and_ratios_of_rates_are_those_of_the_literature() {
        assert_is(difference_of_rates((56.0, 70.0), (48.0, 80.0), CONFIDENCE), 0.0524, 0.3339, 4);
        assert_is(ratio_of_rates((36.0, 40.0), (16.0, 80.0), CONFIDENCE), 2.94, 7.15, 2);
        let one = ratio_of_rates((30.0, 90.0), (40.0, 70.0), CONFIDENCE);
        let other = ratio_of_rates((40.0, 70.0), (30.0, 90.0), CONFIDENCE);
        assert!((one.low * other.high - 1.0).abs() < 1e-9 && (one.high * other.low - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_ratio_to_a_rate_that_may_be_nothing_has_no_upper_end() {
        assert_eq!(ratio_of_rates((3.0, 10.0), (0.0, 10.0), CONFIDENCE).high, f64::INFINITY);
        assert!(ratio_of_rates((3.0, 10.0), (0.0, 10.0), CONFIDENCE).low > 0.0);
        let nobody = ratio_of_rates((0.0, 10.0), (3.0, 10.0), CONFIDENCE);
        assert!(nobody.low == 0.0 && nobody.high.is_finite(), "{nobody:?}");
        let nothing = Interval { low: 0.0, high: f64::INFINITY };
        assert_eq!(ratio_of_rates((0.0, 10.0), (0.0, 10.0), CONFIDENCE), nothing);
        assert_eq!(ratio_of_rates((0.0, 0.0), (1.0, 10.0), CONFIDENCE), nothing);
        let all = ratio_of_rates((10.0, 10.0), (10.0, 10.0), CONFIDENCE);
        assert!(all.low < 1.0 && all.high > 1.0, "{all:?}");
    }

    #[test]
    fn quantiles_of_student_are_those_of_the_tables_and_join_smoothly() {
        for (freedom, table) in
            [(1.0, 12.7062), (5.0, 2.5706), (10.0, 2.2281), (30.0, 2.0423), (1e9, 1.95996)]
        {
            let found = student_quantile(CONFIDENCE, freedom);
            assert!((found - table).abs() < 1e-4, "{freedom}: {found}");
            assert!((student_p(found, freedom) - 0.05).abs() < 1e-6, "{freedom}");
        }
        let step = student_quantile(CONFIDENCE, 300.0) - student_quantile(CONFIDENCE, 300.000_001);
        assert!(step.abs() < 1e-8, "{step}");
        assert_eq!((student_p(f64::INFINITY, 3.0), student_p(f64::NAN, 3.0)), (0.0, 1.0));
    }

    #[test]
    fn holm_corrects_the_smallest_most_and_keeps_the_order() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        let wanted = [0.03, 0.06, 0.06, 0.02];
        assert!(adjusted.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{adjusted:?}");
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
