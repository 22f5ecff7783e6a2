//! The way to a leaf in as few words as it takes: tests of one feature become one condition.
//!
//! A path may ask about the same feature several times (`age` at most 40, then `age` at least 30). Two bounds make
//! an interval, of two bounds on one side the tighter counts, and `is X` makes every `is not Y` superfluous. Numbers
//! and ordinal levels are kept as an interval, categories as a value or a list of values that it is not.

use crate::summary::{FrontFile, Value};
use sogar_table::feature::{Feature, Kind, format_number};

use super::{spoken, spoken_number};

/// What a path says about one feature.
struct Condition<'a> {
    name: &'a str,
    feature: Option<&'a Feature>,
    /// The value is above this edge (an index for ordinals) …
    above: Option<f64>,
    /// … and at most this one.
    at_most: Option<f64>,
    /// The value is this one.
    is: Option<String>,
    /// The value is none of these.
    is_not: Vec<String>,
}

/// The conditions of a path, one per feature, in the order in which the path first asks about them.
pub fn conditions(front: &FrontFile, tests: &[(usize, bool)]) -> Vec<String> {
    let mut found: Vec<Condition> = Vec::new();
    for &(split, passed) in tests {
        let split = &front.splits[split];
        let at = found.iter().position(|condition| condition.name == split.feature).unwrap_or_else(|| {
            found.push(Condition::new(front, &split.feature));
            found.len() - 1
        });
        found[at].add(&split.test, &split.value, passed);
    }
    found.iter().map(Condition::text).collect()
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
            (Value::Number(code), true) => self.is = Some(format_number(*code)),
            (Value::Number(code), false) => self.is_not.push(format_number(*code)),
            (Value::Level(level), _) if test == "<=" => {
                // Result files are checked when read: the level exists.
                let index = self.feature.and_then(|feature| feature.level_index(level));
                self.bound(index.map_or(f64::NAN, |index| index as f64), passed);
            }
            (Value::Level(level), true) => self.is = Some(level.clone()),
            (Value::Level(level), false) => self.is_not.push(level.clone()),
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
        format!("`{}` is {}", self.name, self.predicate())
    }

    fn predicate(&self) -> String {
        if let Some(level) = &self.is {
            return spoken(level);
        }
        // A special code is not at most anything, so whoever is at most something has none; whoever is not may have one.
        if self.above.is_none() && self.at_most.is_none() {
            return self.excluded();
        }
        let interval = match self.feature.map(|feature| &feature.kind) {
            Some(Kind::Ordinal { levels }) => self.level_interval(levels),
            Some(Kind::Integer) => self.whole_interval(),
            _ => self.real_interval(),
        };
        let other: Vec<String> = self.other_codes().map(format_number).collect();
        match other.as_slice() {
            [] => interval,
            codes => format!("{interval}, or the code {}", codes.join(" or ")),
        }
    }

    /// Codes that the value may have beside an amount: all that were not asked about, if it is not at most anything.
    fn other_codes(&self) -> impl Iterator<Item = f64> {
        let codes = self.feature.map_or(&[][..], |feature| feature.codes.as_slice());
        let open = self.at_most.is_none();
        codes.iter().copied().filter(move |code| open && !self.is_not.contains(&format_number(*code)))
    }

    /// Of two values it is the other one; of more it is not those that were asked about.
    fn excluded(&self) -> String {
        if let Some(Kind::Binary { levels }) = self.feature.map(|feature| &feature.kind)
            && let [one, two] = levels.as_slice()
        {
            return spoken(if *one == self.is_not[0] { two } else { one });
        }
        let names: Vec<String> = self.is_not.iter().map(|level| spoken(level)).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!("not {one}"),
            [init @ .., last] => format!("neither {} nor {last}", init.join(", ")),
        }
    }

    /// Whole numbers are cut between two of them, so both ends can be said with whole numbers that belong to it.
    fn whole_interval(&self) -> String {
        let least = self.above.map(|edge| edge.floor() + 1.0);
        let most = self.at_most.map(f64::floor);
        interval(least, most, format_number)
    }

    fn level_interval(&self, levels: &[String]) -> String {
        let last = levels.len().saturating_sub(1) as f64;
        // One end of the scale is no bound, unless it is the only value left.
        let (mut least, mut most) = (self.above.map(|level| level + 1.0), self.at_most);
        if least == Some(last) {
            most = most.or(least);
        }
        if most == Some(0.0) {
            least = least.or(most);
        }
        interval(least, most, |index| {
            levels.get(index as usize).map_or_else(String::new, |level| spoken(level))
        })
    }

    fn real_interval(&self) -> String {
        match (self.above, self.at_most) {
            (None, None) => String::new(),
            (None, Some(most)) => format!("at most {}", spoken_number(most)),
            (Some(edge), None) => format!("above {}", spoken_number(edge)),
            (Some(edge), Some(most)) => {
                format!("above {} and at most {}", spoken_number(edge), spoken_number(most))
            }
        }
    }
}

/// An interval with both ends in it.
fn interval(least: Option<f64>, most: Option<f64>, text: impl Fn(f64) -> String) -> String {
    match (least, most) {
        (None, None) => String::new(),
        (None, Some(most)) => format!("at most {}", text(most)),
        (Some(least), None) => format!("at least {}", text(least)),
        (Some(least), Some(most)) if least == most => text(least),
        (Some(least), Some(most)) => format!("between {} and {}", text(least), text(most)),
    }
}
