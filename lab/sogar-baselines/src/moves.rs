//! How a person may move, for methods that propose their own values.
//!
//! GLOBE-CE and GLANCE add amounts to numbers and set categories. This module decides the result, so that the user allows every
//! proposal: immutable features stay, numbers keep to the user's range and to the reference table's values and never go against a
//! direction, whole numbers stay whole, and a category changes only if the transition is allowed. Both methods also measure
//! distance in the same way: tenths of a number's range, one for a category.

use sogar::config::Direction;
use sogar::feature::{Feature, FeatureTable, Kind};
use sogar::pipeline::Prepared;

use crate::constraints::Constraints;
use crate::reach::Reach;

/// The moves that a run allows.
pub(crate) struct Moves<'a> {
    pub features: &'a [Feature],
    constraints: Constraints,
    ways: Vec<Way>,
}

/// The moves of one feature.
struct Way {
    /// Whether the values are numbers or ordered levels.
    ordered: bool,
    /// Whether they are whole.
    whole: bool,
    /// The ends of moves of ordered values; reversed if there are none.
    ends: (f64, f64),
    /// A tenth of the reference table's range; 0 for constants and categories.
    tenth: f64,
    direction: Option<Direction>,
    /// Whether anyone could move at all.
    free: bool,
}

impl<'a> Moves<'a> {
    /// The moves that the configuration and the reference table of a run allow.
    pub fn new(prepared: &'a Prepared) -> Moves<'a> {
        let constraints = Constraints::new(prepared);
        let reach = Reach::new(prepared.table());
        let features = &prepared.table().features;
        let ways = features.iter().enumerate().map(|(index, feature)| {
            let settings = prepared.config().features.get(&feature.name);
            let fixed = settings.is_some_and(sogar::config::FeatureConfig::is_fixed);
            let (ordered, whole) = (feature.is_ordered(), !matches!(feature.kind, Kind::Real));
            let (min, max) = reach.ends(index);
            let [lo, hi] = settings.and_then(|settings| settings.range).unwrap_or([min, max]);
            let (lo, hi) = (lo.max(min), hi.min(max));
            let ends = if whole { (lo.ceil(), hi.floor()) } else { (lo, hi) };
            let free = !fixed
                && if ordered { lo <= hi && min < max } else { has_transition(&constraints, index, feature) };
            Way {
                ordered,
                whole,
                ends,
                tenth: if ordered && min < max { (max - min) / 10.0 } else { 0.0 },
                direction: settings.and_then(|settings| settings.direction),
                free,
            }
        });
        let ways = ways.collect();
        Moves { features, constraints, ways }
    }

    /// The features in which anyone could move.
    pub fn free(&self) -> Vec<usize> {
        (0..self.ways.len()).filter(|&feature| self.ways[feature].free).collect()
    }

    /// Whether a feature's values are numbers or ordered levels.
    pub fn is_ordered(&self, feature: usize) -> bool {
        self.ways[feature].ordered
    }

    /// Whether a feature's values are whole numbers or levels.
    pub fn is_whole(&self, feature: usize) -> bool {
        self.ways[feature].whole
    }

    /// A tenth of the range of an ordered feature.
    pub fn tenth(&self, feature: usize) -> f64 {
        self.ways[feature].tenth
    }

    /// The direction that an ordered feature must keep to.
    pub fn direction(&self, feature: usize) -> Option<Direction> {
        self.ways[feature].direction
    }

    /// The values that moves from a value of an ordered feature may lead to: `None` if there are none.
    pub fn span(&self, feature: usize, from: f64) -> Option<(f64, f64)> {
        let way = &self.ways[feature];
        let (mut lo, mut hi) = way.ends;
        match way.direction {
            Some(Direction::Increase) => lo = lo.max(if way.whole { from.ceil() } else { from }),
            Some(Direction::Decrease) => hi = hi.min(if way.whole { from.floor() } else { from }),
            None => {}
        }
        (way.free && !from.is_nan() && lo <= hi).then_some((lo, hi))
    }

    /// The levels that a person at a level may have afterwards, their own included.
    pub fn levels(&self, feature: usize, from: f64) -> Vec<usize> {
        let levels = 0..self.features[feature].levels().len();
        levels.filter(|&level| self.allows(feature, from, level as f64)).collect()
    }

    /// Whether a change may set a level, from any other.
    pub fn is_target(&self, feature: usize, level: usize) -> bool {
        // The level after the last stands for unknown categories; no transition from it is forbidden.
        let nowhere = self.features[feature].levels().len() as f64;
        self.allows(feature, nowhere, level as f64)
    }

    /// Whether a category may change like this.
    pub fn allows(&self, feature: usize, from: f64, to: f64) -> bool {
        self.constraints.allows(feature, from, to)
    }

    /// An ordered value, moved by an amount as far as it may go.
    pub fn shifted(&self, feature: usize, from: f64, by: f64) -> f64 {
        let way = &self.ways[feature];
        let against = match way.direction {
            Some(Direction::Increase) => by < 0.0,
            Some(Direction::Decrease) => by > 0.0,
            None => false,
        };
        if !way.free || against || from.is_nan() || by.is_nan() || by == 0.0 {
            return from;
        }
        let (lo, hi) = way.ends;
        let to = from + by;
        let to = (if way.whole { to.round() } else { to }).max(lo).min(hi);
        if by > 0.0 { to.max(from) } else { to.min(from) }
    }

    /// A category set to a level, if that is allowed.
    pub fn set(&self, feature: usize, from: f64, to: f64) -> f64 {
        if self.ways[feature].free && self.allows(feature, from, to) { to } else { from }
    }

    /// The distance between two people: tenths of the range for numbers, 1 for a category. A number and a missing one are as far
    /// apart as two categories.
    pub fn distance(&self, one: &[f64], other: &[f64]) -> f64 {
        let apart = |(way, (&a, &b)): (&Way, (&f64, &f64))| {
            if a == b || (a.is_nan() && b.is_nan()) {
                0.0
            } else if !way.ordered || a.is_nan() || b.is_nan() {
                1.0
            } else if way.tenth > 0.0 {
                (a - b).abs() / way.tenth
            } else {
                0.0
            }
        };
        self.ways.iter().zip(one.iter().zip(other)).map(apart).sum()
    }
}

/// Whether any category of a feature may become another one.
fn has_transition(constraints: &Constraints, index: usize, feature: &Feature) -> bool {
    let levels = feature.levels().len();
    let allows = |from: usize, to: usize| constraints.allows(index, from as f64, to as f64);
    // From an unknown category (the last one plus one) every target can be reached.
    let mut targets = (0..levels).filter(|&to| allows(levels, to));
    targets.any(|to| (0..levels).any(|from| from != to && allows(from, to)))
}

/// Rows of a table, one after the other.
pub(crate) fn people(table: &FeatureTable, rows: &[usize]) -> Vec<f64> {
    let values = rows.iter().flat_map(|&row| table.values.iter().map(move |column| column[row]));
    values.collect()
}

/// The features in which two rows differ, with the new values.
pub(crate) fn changes(before: &[f64], after: &[f64]) -> Vec<(usize, f64)> {
    let pairs = before.iter().zip(after).enumerate();
    pairs.filter(|(_, (a, b))| a != b && !b.is_nan()).map(|(feature, (_, &to))| (feature, to)).collect()
}
