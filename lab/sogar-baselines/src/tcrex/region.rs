//! A rule of T-CREx: a box in the space of features, with the shortest way into it.

use std::collections::BTreeMap;

use sogar::describe::spoken;
use sogar::feature::{Feature, FeatureTable, Kind, format_number};

use crate::cart::{Question, Tree};
use crate::constraints::Constraints;

/// A box, and what the reference table has in it.
#[derive(Debug, Clone)]
pub(super) struct Region {
    /// The bounded features.
    pub sides: BTreeMap<usize, Side>,
    /// Rows of the reference table inside.
    pub rows: usize,
    /// Those of them that have the desired outcome.
    pub desired: usize,
    /// For each bounded feature, where people outside go.
    entries: BTreeMap<usize, Entry>,
}

/// What a box allows of one feature.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Side {
    /// `(lo, hi]`. A missing number lies above every number, as in the tree.
    Between { lo: f64, hi: f64 },
    /// Whether each level is allowed; the last entry stands for unknown levels.
    Levels(Vec<bool>),
}

#[derive(Debug, Clone, PartialEq)]
enum Entry {
    /// The reference table's smallest and largest value inside.
    Ends { smallest: Option<f64>, largest: Option<f64> },
    /// The allowed levels, the most common among the rule's rows first.
    Commonest(Vec<usize>),
}

impl Side {
    fn contains(&self, value: f64) -> bool {
        match self {
            Side::Between { hi, .. } if value.is_nan() => *hi == f64::INFINITY,
            Side::Between { lo, hi } => *lo < value && value <= *hi,
            Side::Levels(allowed) => {
                let known = if value >= 0.0 { allowed.get(value as usize) } else { None };
                known.or(allowed.last()).copied().unwrap_or(false)
            }
        }
    }
}

/// The largest valid boxes: valid nodes without a valid ancestor. Boxes of one tree are either disjoint or one is an ancestor of
/// the other, and a child never equals its parent, so these are exactly the valid boxes that lie in no other valid box. In the
/// order of the tree's nodes.
pub(super) fn maximal_regions(
    tree: &Tree,
    reference: &FeatureTable,
    valid: impl Fn(&[usize]) -> bool,
) -> Vec<Region> {
    let mut regions = Vec::new();
    let mut waiting = vec![(0, BTreeMap::new())];
    while let Some((number, sides)) = waiting.pop() {
        let Some(node) = tree.nodes.get(number) else { continue };
        if valid(&node.counts) {
            regions.push(Region::new(sides, node.counts.iter().sum(), node.counts[1], reference));
        } else if let Some((question, [left, right])) = node.split {
            waiting.push((right, narrowed(&sides, question, false, &reference.features)));
            waiting.push((left, narrowed(&sides, question, true, &reference.features)));
        }
    }
    regions
}

fn narrowed(
    sides: &BTreeMap<usize, Side>,
    question: Question,
    left: bool,
    features: &[Feature],
) -> BTreeMap<usize, Side> {
    let mut sides = sides.clone();
    match question {
        Question::AtMost { feature, bound } => {
            let whole = Side::Between { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
            if let Side::Between { lo, hi } = sides.entry(feature).or_insert(whole) {
                *(if left { hi } else { lo }) = bound;
            }
        }
        Question::IsNot { feature, level } => {
            let whole = Side::Levels(vec![true; features[feature].levels().len() + 1]);
            if let Side::Levels(allowed) = sides.entry(feature).or_insert(whole) {
                for (other, allowed) in allowed.iter_mut().enumerate() {
                    *allowed &= (other != level) == left;
                }
            }
        }
    }
    sides
}

impl Region {
    fn new(sides: BTreeMap<usize, Side>, rows: usize, desired: usize, reference: &FeatureTable) -> Region {
        let members: Vec<usize> = (0..reference.rows)
            .filter(|&row| sides.iter().all(|(&f, side)| side.contains(reference.values[f][row])))
            .collect();
        let entry = |(&feature, side): (&usize, &Side)| {
            let values = &reference.values[feature];
            let entry = match side {
                Side::Between { .. } => {
                    let inside =
                        || values.iter().copied().filter(|value| !value.is_nan() && side.contains(*value));
                    Entry::Ends { smallest: inside().reduce(f64::min), largest: inside().reduce(f64::max) }
                }
                Side::Levels(allowed) => {
                    let mut counts = vec![0usize; allowed.len()];
                    for &row in &members {
                        if let Some(count) = counts.get_mut(values[row] as usize) {
                            *count += 1;
                        }
                    }
                    let mut levels: Vec<usize> =
                        (0..counts.len()).filter(|&level| counts[level] > 0).collect();
                    levels.sort_by_key(|&level| std::cmp::Reverse(counts[level])); // stable: lower levels first
                    Entry::Commonest(levels)
                }
            };
            (feature, entry)
        };
        let entries = sides.iter().map(entry).collect();
        Region { sides, rows, desired, entries }
    }

    /// Number of features that lie outside.
    pub fn outside(&self, row: &[f64]) -> usize {
        self.sides.iter().filter(|&(&feature, side)| !side.contains(row[feature])).count()
    }

    /// The new values that lead a row into the box; `None` if the constraints do not allow them.
    pub fn way_in(&self, row: &[f64], constraints: Option<&Constraints>) -> Option<Vec<(usize, f64)>> {
        let allowed = |feature: usize, to: f64| {
            constraints.is_none_or(|constraints| constraints.allows(feature, row[feature], to))
        };
        let mut to = Vec::new();
        for (&feature, side) in &self.sides {
            if side.contains(row[feature]) {
                continue;
            }
            let value = match (side, self.entries.get(&feature)?) {
                (Side::Between { lo, .. }, Entry::Ends { smallest, largest }) => {
                    (if row[feature] <= *lo { *smallest } else { *largest })
                        .filter(|&to| allowed(feature, to))
                }
                (_, Entry::Commonest(levels)) => {
                    levels.iter().map(|&level| level as f64).find(|&to| allowed(feature, to))
                }
                _ => None,
            };
            to.push((feature, value?));
        }
        Some(to)
    }

    /// The box in words, one condition per bound.
    pub fn conditions(&self, features: &[Feature]) -> Vec<String> {
        self.sides.iter().map(|(&feature, side)| condition(&features[feature], side)).collect()
    }
}

/// A bound in words.
pub(super) fn condition(feature: &Feature, side: &Side) -> String {
    let name = &feature.name;
    match side {
        Side::Between { lo, hi } => {
            let (low, high) = match &feature.kind {
                Kind::Ordinal { levels } => {
                    let level = |at: f64| levels.get(at as usize).map_or("?", String::as_str);
                    let low = format!("at least {}", spoken(level((lo.floor() + 1.0).max(0.0))));
                    (low, format!("at most {}", spoken(level(hi.floor().max(0.0)))))
                }
                _ => (format!("> {}", format_number(*lo)), format!("≤ {}", format_number(*hi))),
            };
            match (lo.is_finite(), hi.is_finite()) {
                (true, true) => format!("`{name}` {low} and {high}"),
                (true, false) => format!("`{name}` {low}"),
                (false, true) => format!("`{name}` {high}"),
                (false, false) => format!("`{name}` anything"),
            }
        }
        Side::Levels(allowed) => {
            let named = |wanted: bool| -> Vec<String> {
                let levels = feature.levels().iter().zip(allowed);
                levels.filter(|(_, allowed)| **allowed == wanted).map(|(level, _)| spoken(level)).collect()
            };
            let (inside, outside) = (named(true), named(false));
            if inside.len() <= outside.len() {
                format!("`{name}` is {}", inside.join(" or "))
            } else {
                format!("`{name}` is not {}", outside.join(" or "))
            }
        }
    }
}
