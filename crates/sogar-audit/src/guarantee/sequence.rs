//! Fixed-sequence testing, and how many people a test needs.

/// The result of testing points one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sequence {
    /// How many passed before the first failure: the first ones of the order.
    pub passed: usize,
    /// The first point that failed, and its p-value.
    pub failed: Option<(usize, f64)>,
}

/// Tests points in this order until one fails. The order must not depend on what the tests look at.
pub fn fixed_sequence(order: &[usize], level: f64, mut p_value: impl FnMut(usize) -> f64) -> Sequence {
    let mut found = Sequence { passed: 0, failed: None };
    for &point in order {
        let p = p_value(point);
        if p > level {
            found.failed = Some((point, p));
            break;
        }
        found.passed += 1;
    }
    found
}

/// About how many people a test needs whose p-value falls with their number; `None` if no number is enough. The p-value of a rate that
/// is not a whole number of people goes up and down a little, so fewer may be enough, too.
pub fn people_needed(p_value: impl Fn(u64) -> f64, level: f64) -> Option<u64> {
    let passes = |people: u64| p_value(people) <= level;
    let mut high = 1u64;
    while !passes(high) {
        high = high.checked_mul(2).filter(|&people| people < 1 << 40)?;
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if passes(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use sogar_base::binomial::{at_most, mean_at_most};

    use super::*;

    #[test]
    fn the_first_failure_ends_the_sequence() {
        let p = [0.9, 0.01, 0.2, 0.03, 0.001];
        let found = fixed_sequence(&[4, 3, 2, 1, 0], 0.05, |point| p[point]);
        assert_eq!(found, Sequence { passed: 2, failed: Some((2, 0.2)) });
        assert_eq!(fixed_sequence(&[0, 1], 0.05, |point| p[point]).passed, 0);
        assert_eq!(fixed_sequence(&[1, 4], 0.05, |point| p[point]).failed, None);
    }

    #[test]
    fn a_point_that_breaks_the_limit_passes_at_most_as_often_as_the_level() {
        // Sure points first, then one whose loss is just above the limit: the worst case.
        let (rates, people, draws) = ([0.0, 0.02, 0.100_001, 0.3], 200, 20_000);
        let mut draw = sogar_base::draw::Draw::new(1, 1);
        let mut broken = 0;
        for _ in 0..draws {
            let mut lost = [0u64; 4];
            for _ in 0..people {
                let luck = draw.below(1_000_000) as f64 / 1e6;
                lost.iter_mut().zip(rates).for_each(|(lost, rate)| *lost += u64::from(luck < rate));
            }
            let found = fixed_sequence(&[0, 1, 2, 3], 0.05, |point| at_most(lost[point], people, 0.1));
            broken += usize::from(found.passed > 2);
        }
        let share = broken as f64 / draws as f64;
        assert!((0.02..=0.053).contains(&share), "{share}");
    }

    #[test]
    fn the_number_of_people_is_the_smallest_that_passes() {
        let of_rate = |rate: f64| {
            people_needed(|people| at_most((rate * people as f64).ceil() as u64, people, 0.1), 0.05)
        };
        // Without any loss: 0.9^n ≤ 0.05.
        assert_eq!(of_rate(0.0), Some(29));
        assert_eq!(people_needed(|_| 1.0, 0.05), None);
        let needed = of_rate(0.07).unwrap();
        assert!((200..500).contains(&needed), "{needed}");
        // A mean of 0 is tested as a count of 0 is.
        assert_eq!(people_needed(|people| mean_at_most(0.0, people, 0.1), 0.05), Some(29));
    }
}
