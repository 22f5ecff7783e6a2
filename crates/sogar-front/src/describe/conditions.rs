//! Describes the path to a leaf concisely: tests of one feature become one condition.
//!
//! A path may test the same feature several times (`age` at most 40, then `age` at least 30). Two bounds make an interval, the
//! tighter of two bounds on one side counts, and `is X` makes every `is not Y` superfluous. Numbers and ordinal levels are kept
//! as an interval, categories as a value or a list of excluded values.
//!
//! A [`Predicate`] is that without words, for texts in other languages; [`conditions`] are sentences in English.

use crate::summary::{FrontFile, Value};
use sogar_table::feature::{Feature, Kind};

use super::{spoken, spoken_amount};

/// What a path says about one feature, without words.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// The value is this one.
    Is(Value),
    /// The value is none of these.
    IsNot(Vec<Value>),
    /// The value is at most this.
    AtMost(Value),
    /// The value is at least this.
    AtLeast(Value),
    /// The value is between these, both included.
    Between(Value, Value),
    /// The value is above this.
    Above(Value),
    /// The value is above the first and at most the second.
    AboveAtMost(Value, Value),
    /// That, or one of these special codes.
    OrCode(Box<Predicate>, Vec<Value>),
}

/// What a path says about one feature.
struct Condition<'a> {
    name: &'a str,
    feature: Option<&'a Feature>,
    /// The value is above this edge (an index for ordinals) …
    above: Option<f64>,
    /// … and at most this one.
    at_most: Option<f64>,
    /// The value is this one.
    is: Option<Value>,
    /// The value is none of these.
    is_not: Vec<Value>,
}

/// The conditions of a path in words, one per feature, in the order in which the path first tests them.
pub fn conditions(front: &FrontFile, tests: &[(usize, bool)]) -> Vec<String> {
    found(front, tests).iter().map(Condition::text).collect()
}

/// The same without words: each feature by its name, and what the path says about it.
pub fn predicates(front: &FrontFile, tests: &[(usize, bool)]) -> Vec<(String, Predicate)> {
    found(front, tests).iter().map(|found| (found.name.to_owned(), found.predicate())).collect()
}

fn found<'a>(front: &'a FrontFile, tests: &[(usize, bool)]) -> Vec<Condition<'a>> {
    let mut found: Vec<Condition> = Vec::new();
    for &(split, passed) in tests {
        let split = &front.splits[split];
        let at = found.iter().position(|condition| condition.name == split.feature).unwrap_or_else(|| {
            found.push(Condition::new(front, &split.feature));
            found.len() - 1
        });
        found[at].add(&split.test, &split.value, passed);
    }
    found
}

/// Parts of a sentence: `a`, `a and b`, `a, b, and c`.
pub fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [init @ .., last] => format!("{}, and {last}", init.join(", ")),
    }
}

impl<'a> Condition<'a> {
    fn new(front: &'a FrontFile, name: &'a str) -> Self {
        let feature = front.features.iter().find(|feature| feature.name == name);
        Condition { name, feature, above: None, at_most: None, is: None, is_not: Vec::new() }
    }

    fn add(&mut self, test: &str, value: &'a Value, passed: bool) {
        match (value, passed) {
            (Value::Number(edge), _) if test == "<=" => self.bound(*edge, passed),
            (Value::Number(_), true) => self.is = Some(value.clone()),
            (Value::Number(_), false) => self.is_not.push(value.clone()),
            (Value::Level(level), _) if test == "<=" => {
                // Result files are checked when read: the level exists.
                let index = self.feature.and_then(|feature| feature.level_index(level));
                self.bound(index.map_or(f64::NAN, |index| index as f64), passed);
            }
            (Value::Level(_), true) => self.is = Some(value.clone()),
            (Value::Level(_), false) => self.is_not.push(value.clone()),
        }
    }

    fn bound(&mut self, edge: f64, passed: bool) {
        if passed {
            self.at_most = Some(self.at_most.map_or(edge, |known| known.min(edge)));
        } else {
            self.above = Some(self.above.map_or(edge, |known| known.max(edge)));
        }
    }

    fn text(&self) -> String {
        let name = self.feature.map_or_else(|| format!("`{}`", self.name), Feature::title);
        format!("{name} is {}", self.words(&self.predicate()))
    }

    fn words(&self, predicate: &Predicate) -> String {
        let named = |values: &[Value]| values.iter().map(value_text).collect::<Vec<_>>();
        match predicate {
            Predicate::Is(value) => self.amount(value),
            Predicate::IsNot(values) => match named(values).as_slice() {
                [] => String::new(),
                [one] => format!("not {one}"),
                [init @ .., last] => format!("neither {} nor {last}", init.join(", ")),
            },
            Predicate::AtMost(most) => format!("at most {}", self.amount(most)),
            Predicate::AtLeast(least) => format!("at least {}", self.amount(least)),
            Predicate::Between(least, most) => {
                format!("between {} and {}", value_text(least), self.amount(most))
            }
            Predicate::Above(edge) => format!("above {}", self.amount(edge)),
            Predicate::AboveAtMost(edge, most) => {
                format!("above {} and at most {}", value_text(edge), self.amount(most))
            }
            Predicate::OrCode(amount, codes) => {
                format!("{}, or the code {}", self.words(amount), named(codes).join(" or "))
            }
        }
    }

    /// A value with the feature's unit.
    fn amount(&self, value: &Value) -> String {
        let text = value_text(value);
        self.feature.map_or(text.clone(), |feature| feature.with_unit(text))
    }

    fn predicate(&self) -> Predicate {
        if let Some(value) = &self.is {
            return Predicate::Is(value.clone());
        }
        // A code fails every `at most`. So a value that is at most something is not a code; a value that is not may be one.
        if self.above.is_none() && self.at_most.is_none() {
            return self.excluded();
        }
        let interval = match self.feature.map(|feature| &feature.kind) {
            Some(Kind::Ordinal { levels }) => self.level_interval(levels),
            Some(Kind::Integer) => {
                // Edges lie between whole numbers, so both ends can be given as whole numbers inside the interval.
                let least = self.above.map(|edge| edge.floor() + 1.0);
                interval(least, self.at_most.map(f64::floor), Value::Number)
            }
            _ => match (self.above, self.at_most) {
                (None, most) => Predicate::AtMost(Value::Number(most.unwrap_or(f64::INFINITY))),
                (Some(edge), None) => Predicate::Above(Value::Number(edge)),
                (Some(edge), Some(most)) => Predicate::AboveAtMost(Value::Number(edge), Value::Number(most)),
            },
        };
        let other: Vec<Value> = self.other_codes().map(Value::Number).collect();
        match other.is_empty() {
            true => interval,
            false => Predicate::OrCode(Box::new(interval), other),
        }
    }

    /// Codes that the value may have besides an amount: all that were not tested, if the value is not at most anything.
    fn other_codes(&self) -> impl Iterator<Item = f64> {
        let codes = self.feature.map_or(&[][..], |feature| feature.codes.as_slice());
        let open = self.at_most.is_none();
        codes.iter().copied().filter(move |code| open && !self.is_not.contains(&Value::Number(*code)))
    }

    /// With two values it is the other one; with more it is none of the tested ones.
    fn excluded(&self) -> Predicate {
        if let Some(Kind::Binary { levels }) = self.feature.map(|feature| &feature.kind)
            && let ([one, two], [not]) = (levels.as_slice(), self.is_not.as_slice())
        {
            let other = if Value::Level(one.clone()) == *not { two } else { one };
            return Predicate::Is(Value::Level(other.clone()));
        }
        Predicate::IsNot(self.is_not.clone())
    }

    fn level_interval(&self, levels: &[String]) -> Predicate {
        let last = levels.len().saturating_sub(1) as f64;
        // An end of the scale is not a bound, unless it is the only value left.
        let (mut least, mut most) = (self.above.map(|level| level + 1.0), self.at_most);
        if least == Some(last) {
            most = most.or(least);
        }
        if most == Some(0.0) {
            least = least.or(most);
        }
        interval(least, most, |index| Value::Level(levels.get(index as usize).cloned().unwrap_or_default()))
    }
}

/// A value in a sentence.
fn value_text(value: &Value) -> String {
    match value {
        Value::Number(number) => spoken_amount(*number),
        Value::Level(level) => spoken(level),
    }
}

/// A closed interval.
fn interval(least: Option<f64>, most: Option<f64>, value: impl Fn(f64) -> Value) -> Predicate {
    match (least, most) {
        (None, most) => Predicate::AtMost(value(most.unwrap_or(f64::INFINITY))),
        (Some(least), None) => Predicate::AtLeast(value(least)),
        (Some(least), Some(most)) if least == most => Predicate::Is(value(least)),
        (Some(least), Some(most)) => Predicate::Between(value(least), value(most)),
    }
}
