//! Metarules: who is sent to which rule, as a readable tree of tests.
//!
//! The bounds of all rules cut the space into cells. Within a cell, each rule needs the same number of changes, so the chosen
//! rule is a function of the cell; a tree over the occupied cells, grown until it is pure, describes it exactly. Only occupied
//! cells are built: all of them would be exponentially many. (With constraints a cell may hold people who are sent to different
//! rules; then the most common is shown.)

use std::collections::{BTreeMap, BTreeSet};

use sogar::feature::{Feature, FeatureTable};
use sogar_solver::stop::{Stop, StopReason};

use super::region::{Region, Side, condition};
use crate::cart::{self, Axis, Points, Question, Tree};
use crate::contract::Guide;

/// The cuts of one feature.
#[derive(Default)]
struct Cuts {
    bounds: Vec<f64>,
    levels: BTreeSet<usize>,
}

impl Cuts {
    /// The cell of a value, as a number: how many bounds are below it, or its level if a rule depends on it.
    fn cell(&self, value: f64, levels: usize) -> u32 {
        if levels > 0 && self.bounds.is_empty() {
            let known = value >= 0.0 && self.levels.contains(&(value as usize));
            return if known { value as u32 } else { levels as u32 };
        }
        if value.is_nan() {
            return self.bounds.len() as u32;
        }
        self.bounds.partition_point(|&bound| bound < value) as u32
    }
}

fn all_cuts(regions: &[Region], features: usize) -> Vec<Cuts> {
    let mut cuts: Vec<Cuts> = (0..features).map(|_| Cuts::default()).collect();
    for (&feature, side) in regions.iter().flat_map(|region| &region.sides) {
        match side {
            Side::Between { lo, hi } => {
                cuts[feature].bounds.extend([*lo, *hi].iter().copied().filter(|bound| bound.is_finite()));
            }
            // Levels that some rules allow and others do not; if only one is allowed, that one suffices.
            Side::Levels(allowed) => {
                let count = |wanted: bool| allowed.iter().filter(|&&allowed| allowed == wanted).count();
                let telling = count(true) <= count(false);
                let levels = (0..allowed.len() - 1).filter(|&level| allowed[level] == telling);
                cuts[feature].levels.extend(levels);
            }
        }
    }
    for cut in &mut cuts {
        cut.bounds.sort_by(f64::total_cmp);
        cut.bounds.dedup();
    }
    cuts
}

/// The tree of tests for these rows, whose parts are given; and why it was cut short, if it was.
pub(super) fn metarules(
    regions: &[Region],
    table: &FeatureTable,
    rows: &[usize],
    parts: &[Option<u32>],
    stop: &Stop,
) -> (Guide, Option<StopReason>) {
    let cuts = all_cuts(regions, table.features.len());
    // Class 0 is "no proposal", class i + 1 is part i.
    let classes = regions.len() + 1;
    let class = |part: Option<u32>| part.map_or(0, |part| part as usize + 1);
    let mut cells: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
    for (&row, &part) in rows.iter().zip(parts) {
        let features = table.features.iter().zip(&table.values).zip(&cuts);
        let cell = features.map(|((feature, values), cut)| cut.cell(values[row], levels(feature))).collect();
        cells.entry(cell).or_insert_with(|| vec![0; classes])[class(part)] += 1;
    }
    let labels: Vec<u32> = cells.values().map(|counts| commonest(counts) as u32).collect();
    let values: Vec<Vec<f64>> = (0..table.features.len())
        .map(|feature| cells.keys().map(|cell| f64::from(cell[feature])).collect())
        .collect();
    let axes: Vec<Axis> = table.features.iter().map(Axis::of).collect();
    let points = Points { axes: &axes, values: &values, labels: &labels, classes };
    let tree = cart::grow(&points, 1, stop);
    (read(&tree, &cuts, &table.features), tree.stopped)
}

/// Number of levels to distinguish; none for ordered features.
fn levels(feature: &Feature) -> usize {
    if feature.is_ordered() { 0 } else { feature.levels().len() }
}

/// The first of the largest counts.
fn commonest(counts: &[usize]) -> usize {
    (1..counts.len()).fold(0, |best, class| if counts[class] > counts[best] { class } else { best })
}

/// Children come after their parents, so going backwards, every child is ready when its parent needs it.
fn read(tree: &Tree, cuts: &[Cuts], features: &[Feature]) -> Guide {
    let mut guides: BTreeMap<usize, Guide> = BTreeMap::new();
    for (number, node) in tree.nodes.iter().enumerate().rev() {
        let leaf = || Guide::Part((commonest(&node.counts) as u32).checked_sub(1));
        let guide = match node.split {
            None => leaf(),
            Some((question, [left, right])) => match (guides.remove(&left), guides.remove(&right)) {
                (Some(left), Some(right)) => ask(question, left, right, cuts, features),
                _ => leaf(),
            },
        };
        guides.insert(number, guide);
    }
    guides.remove(&0).unwrap_or(Guide::Part(None))
}

fn ask(question: Question, left: Guide, right: Guide, cuts: &[Cuts], features: &[Feature]) -> Guide {
    let (feature, side, yes, no) = match question {
        Question::AtMost { feature, bound } => {
            let hi = cuts[feature].bounds.get(bound as usize).copied().unwrap_or(f64::INFINITY);
            (feature, Side::Between { lo: f64::NEG_INFINITY, hi }, left, right)
        }
        Question::IsNot { feature, level } => {
            let only = (0..=levels(&features[feature])).map(|other| other == level).collect();
            (feature, Side::Levels(only), right, left)
        }
    };
    Guide::Ask { condition: condition(&features[feature], &side), yes: Box::new(yes), no: Box::new(no) }
}
