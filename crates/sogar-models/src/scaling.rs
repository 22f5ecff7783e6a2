//! The steps between a model column and the first layer or tree: the scalers of a pipeline.
//!
//! A scaler works on each column separately, so it is stored as a short list of steps per column, applied in exactly the
//! precision and order of the exported graph: `(x - mean) / deviation` in single precision is not the same number as
//! `x · weight + bias` with the scaler folded into the weights. A network applies the steps to its inputs. For trees the steps are
//! monotone, so a test of the scaled value is a test of the plain value at another threshold, which [`Scaling::largest_at_most`]
//! finds exactly.

/// The steps of one column, first to last. Empty: the value itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scaling {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step of a [`Scaling`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// Whether it is in single precision (otherwise in double).
    pub single: bool,
}

/// The operation of a [`Step`]. Constants are finite; multipliers and divisors are not zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operation {
    /// Rounds to single precision (if the step is single; otherwise nothing).
    Round,
    /// Adds a constant.
    Add(f64),
    /// Multiplies by a constant.
    Multiply(f64),
    /// Divides by a constant.
    Divide(f64),
    /// Subtracts the value from the constant.
    SubtractFrom(f64),
    /// Keeps the value within bounds.
    Clip(f64, f64),
    /// Replaces a missing value.
    FillMissing(f64),
}

impl Operation {
    /// Whether larger values stay larger (or equal).
    fn rises(self) -> bool {
        match self {
            Operation::Multiply(by) | Operation::Divide(by) => by > 0.0,
            Operation::SubtractFrom(_) => false,
            _ => true,
        }
    }

    /// Whether the constants make the step monotone, and never give NaN for a number.
    fn is_sound(self) -> bool {
        match self {
            Operation::Round => true,
            Operation::Add(by) | Operation::SubtractFrom(by) | Operation::FillMissing(by) => by.is_finite(),
            Operation::Multiply(by) | Operation::Divide(by) => by.is_finite() && by != 0.0,
            Operation::Clip(low, high) => low <= high,
        }
    }
}

impl Step {
    /// A step with constants rounded to its precision. `None` if a constant is invalid (infinite, or zero for a multiplier).
    pub fn new(operation: Operation, single: bool) -> Option<Step> {
        let round = |by: f64| if single { f64::from(by as f32) } else { by };
        let operation = match operation {
            Operation::Round => Operation::Round,
            Operation::Add(by) => Operation::Add(round(by)),
            Operation::Multiply(by) => Operation::Multiply(round(by)),
            Operation::Divide(by) => Operation::Divide(round(by)),
            Operation::SubtractFrom(from) => Operation::SubtractFrom(round(from)),
            Operation::Clip(low, high) => Operation::Clip(round(low), round(high)),
            Operation::FillMissing(by) => Operation::FillMissing(round(by)),
        };
        operation.is_sound().then_some(Step { operation, single })
    }

    fn apply(self, value: f64) -> f64 {
        match self.operation {
            // Comparisons need no rounding: both sides are single already.
            Operation::Clip(low, high) if value < low => low.min(high),
            Operation::Clip(_, high) if value > high => high,
            Operation::Clip(..) => value,
            Operation::FillMissing(by) => {
                if value.is_nan() {
                    by
                } else {
                    value
                }
            }
            Operation::Round if self.single => f64::from(value as f32),
            Operation::Round => value,
            operation if self.single => {
                let value = value as f32;
                f64::from(match operation {
                    Operation::Add(by) => value + by as f32,
                    Operation::Multiply(by) => value * by as f32,
                    Operation::Divide(by) => value / by as f32,
                    Operation::SubtractFrom(from) => from as f32 - value,
                    _ => value,
                })
            }
            Operation::Add(by) => value + by,
            Operation::Multiply(by) => value * by,
            Operation::Divide(by) => value / by,
            Operation::SubtractFrom(from) => from - value,
        }
    }
}

impl Scaling {
    /// Adds a step; see [`Step::new`].
    #[must_use]
    pub fn then(&self, step: Step) -> Scaling {
        let mut steps = self.steps.clone();
        steps.push(step);
        Scaling { steps }
    }

    /// The value after all steps.
    #[inline]
    pub fn apply(&self, value: f64) -> f64 {
        self.steps.iter().fold(value, |value, step| step.apply(value))
    }

    /// Whether larger values become larger (or equal) ones; otherwise smaller or equal ones.
    pub fn rises(&self) -> bool {
        self.steps.iter().filter(|step| !step.operation.rises()).count() % 2 == 0
    }

    /// If the scaling rises: the largest value that is at most `bound` after all steps. If it falls: the largest one that is
    /// *above* `bound`. All values up to it are on the same side. `None` if there is none.
    ///
    /// The steps are monotone, also as rounded, so bisecting the line of all doubles finds it in 64 steps.
    pub fn largest_at_most(&self, bound: f64) -> Option<f64> {
        let rises = self.rises();
        let holds = |value: f64| (self.apply(value) <= bound) == rises;
        let (mut low, mut high) = (place(f64::NEG_INFINITY), place(f64::INFINITY));
        if !holds(value_at(low)) {
            return None;
        }
        if holds(value_at(high)) {
            return Some(f64::INFINITY);
        }
        // Invariant: `low` holds, `high` does not.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if holds(value_at(middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(value_at(low))
    }
}

/// The position of a number on the line of all doubles: larger numbers have larger positions.
fn place(value: f64) -> i128 {
    let bits = value.to_bits();
    let magnitude = i128::from(bits & (u64::MAX >> 1));
    if value.is_sign_negative() { -1 - magnitude } else { magnitude }
}

/// The number at a position.
fn value_at(place: i128) -> f64 {
    let (sign, magnitude) = if place < 0 { (1u64 << 63, -1 - place) } else { (0, place) };
    f64::from_bits(sign | magnitude as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(operations: &[Operation]) -> Scaling {
        Scaling { steps: operations.iter().map(|&operation| Step::new(operation, true).unwrap()).collect() }
    }

    #[test]
    fn steps_follow_the_precision_of_the_graph() {
        let scaling = single(&[Operation::Round, Operation::Add(-0.1), Operation::Divide(0.3)]);
        let expected = (0.7f64 as f32 - 0.1f32) / 0.3f32;
        assert_eq!(scaling.apply(0.7), f64::from(expected));
        assert!(scaling.apply(f64::NAN).is_nan());
        assert_eq!(scaling.then(Step::new(Operation::FillMissing(2.0), true).unwrap()).apply(f64::NAN), 2.0);
        assert_eq!(single(&[Operation::Clip(0.0, 1.0)]).apply(7.0), 1.0);
    }

    #[test]
    fn unfit_constants_are_refused() {
        for operation in [
            Operation::Multiply(0.0),
            Operation::Divide(0.0),
            Operation::Add(f64::INFINITY),
            Operation::Multiply(f64::NAN),
            Operation::Multiply(1e-300),
            Operation::Clip(1.0, 0.0),
        ] {
            assert!(Step::new(operation, true).is_none(), "{operation:?}");
        }
    }

    #[test]
    fn the_line_of_doubles_is_in_order() {
        let numbers = [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY];
        for pair in numbers.windows(2) {
            assert!(place(pair[0]) < place(pair[1]), "{pair:?}");
            assert_eq!(value_at(place(pair[0])).to_bits(), pair[0].to_bits());
        }
    }

    #[test]
    fn thresholds_pulled_back_decide_like_scaled_values() {
        let scalings = [
            single(&[Operation::Round]),
            single(&[Operation::Round, Operation::Add(-3.7), Operation::Multiply(0.013)]),
            single(&[Operation::Round, Operation::Add(1e5), Operation::Divide(-17.3)]),
            single(&[Operation::Round, Operation::SubtractFrom(2.5)]),
            single(&[Operation::Round, Operation::Multiply(0.1), Operation::Clip(-1.0, 1.0)]),
            Scaling::default(),
        ];
        for scaling in scalings {
            for bound in [-1.0, -0.3, 0.0, 0.1f32 as f64, 0.99, 1.0, 2.0, f64::INFINITY, f64::NEG_INFINITY] {
                let largest = scaling.largest_at_most(bound);
                let mut values =
                    vec![f64::NEG_INFINITY, -1e300, -3.0, 0.0, 1e-40, 3.7, 1e5, 1e300, f64::INFINITY];
                values.extend(largest.iter().flat_map(|at| [at.next_down(), *at, at.next_up()]));
                for value in values {
                    let below = largest.is_some_and(|at| value <= at);
                    let expected = (scaling.apply(value) <= bound) == scaling.rises();
                    assert_eq!(below, expected, "{scaling:?}: {value} against {bound}");
                }
            }
        }
    }
}
