//! Exact tests of a rate, and of the mean of bounded numbers: p-values that hold for every sample size.

use statrs::distribution::{DiscreteCDF, Hypergeometric};
use statrs::function::beta::checked_beta_reg;

/// `P(X ≤ successes)` for `X` binomial with `trials` and `rate`.
pub fn at_most(successes: u64, trials: u64, rate: f64) -> f64 {
    if successes >= trials || rate <= 0.0 {
        return 1.0;
    }
    if rate >= 1.0 {
        return 0.0;
    }
    // A tail of the binomial is a tail of the beta distribution.
    checked_beta_reg((trials - successes) as f64, successes as f64 + 1.0, 1.0 - rate).unwrap_or(1.0)
}

/// `P(X ≥ successes)` for `X` binomial with `trials` and `rate`.
pub fn at_least(successes: u64, trials: u64, rate: f64) -> f64 {
    if successes == 0 || rate >= 1.0 {
        return 1.0;
    }
    if successes > trials || rate <= 0.0 {
        return 0.0;
    }
    checked_beta_reg(successes as f64, (trials - successes) as f64 + 1.0, rate).unwrap_or(1.0)
}

/// The p-value of Hoeffding and Bentkus for "the mean of numbers between 0 and 1 is above `limit`", where `trials` independent ones
/// add up to `sum` (Bates et al., Distribution-free risk-controlling prediction sets, 2021).
pub fn mean_at_most(sum: f64, trials: u64, limit: f64) -> f64 {
    if trials == 0 || limit <= 0.0 {
        return 1.0;
    }
    if limit >= 1.0 {
        return 0.0;
    }
    let n = trials as f64;
    let mean = (sum / n).clamp(0.0, 1.0);
    let entropy = |part: f64, of: f64| if part > 0.0 { part * (part / of).ln() } else { 0.0 };
    let below = mean.min(limit);
    let hoeffding = (-n * (entropy(below, limit) + entropy(1.0 - below, 1.0 - limit))).exp();
    let bentkus = std::f64::consts::E * at_most(sum.ceil().max(0.0) as u64, trials, limit);
    hoeffding.min(bentkus).min(1.0)
}

/// Fisher's one-sided p-value for "the rate is not higher than before": `now` of `now_of` against `before` of `before_of`.
pub fn risen(now: u64, now_of: u64, before: u64, before_of: u64) -> f64 {
    if now == 0 {
        return 1.0;
    }
    match Hypergeometric::new(now_of + before_of, now + before, now_of) {
        Ok(urn) => urn.sf(now - 1).clamp(0.0, 1.0),
        Err(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() <= 1e-12, "{found} is not {wanted}");
    }

    #[test]
    fn tails_are_sums_of_the_binomial_distribution() {
        for (trials, rate) in [(1u64, 0.3f64), (7, 0.5), (40, 0.05), (150, 0.9)] {
            let mut term = (1.0 - rate).powi(trials as i32);
            let mut below = 0.0;
            for successes in 0..=trials {
                close(at_least(successes, trials, rate), 1.0 - below);
                below += term;
                close(at_most(successes, trials, rate), below.min(1.0));
                term *= (trials - successes) as f64 / (successes + 1) as f64 * rate / (1.0 - rate);
            }
        }
        assert_eq!((at_most(3, 5, 0.0), at_most(3, 5, 1.0), at_most(5, 5, 1.0)), (1.0, 0.0, 1.0));
        assert_eq!((at_least(0, 5, 0.0), at_least(1, 5, 0.0), at_least(6, 5, 0.5)), (1.0, 0.0, 0.0));
    }

    #[test]
    fn means_of_bounded_numbers_are_never_surer_than_rates() {
        for (sum, trials, limit) in [(3.0, 100, 0.1), (0.0, 30, 0.1), (40.0, 400, 0.15), (10.0, 10, 0.5)] {
            let (mean, rate) = (mean_at_most(sum, trials, limit), at_most(sum as u64, trials, limit));
            assert!(mean >= rate - 1e-12 && mean <= (rate * std::f64::consts::E).min(1.0), "{mean} {rate}");
        }
        assert!(mean_at_most(3.2, 100, 0.1) <= mean_at_most(3.9, 100, 0.1));
        assert_eq!(
            (mean_at_most(0.0, 0, 0.1), mean_at_most(0.0, 9, 0.0), mean_at_most(9.0, 9, 1.0)),
            (1.0, 1.0, 0.0)
        );
    }

    #[test]
    fn fisher_agrees_with_scipy() {
        // scipy.stats.fisher_exact([[8, 2], [1, 5]], alternative="greater")
        close(risen(8, 10, 1, 6), 0.024_475_524_475_524_48);
        assert_eq!(risen(0, 10, 3, 6), 1.0);
    }
}
