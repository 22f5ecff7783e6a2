//! A classification tree by Gini impurity (CART), exact in every comparison.
//!
//! Columns are those of the published methods: an ordered feature is one column, a category is one 0/1 column per level, a pair
//! of values is one 0/1 column. A split sends `column ≤ threshold` to the left, thresholds are midpoints of neighbouring values,
//! and ties go to the lowest column, then the lowest threshold. Impurities are compared as fractions of integers, so ties are
//! ties on every machine. A missing number is below no threshold.

use std::cmp::Ordering;
use std::ops::Range;

use sogar::feature::{Feature, Kind};
use sogar_solver::stop::{Stop, StopReason};

/// How the values of a feature become columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Axis {
    /// One column of numbers.
    Ordered,
    /// One 0/1 column for each of these levels.
    Levels(Range<usize>),
}

impl Axis {
    pub fn of(feature: &Feature) -> Axis {
        match &feature.kind {
            Kind::Real | Kind::Integer | Kind::Ordinal { .. } => Axis::Ordered,
            Kind::Categorical { levels, .. } => Axis::Levels(0..levels.len()),
            Kind::Binary { .. } => Axis::Levels(1..2),
        }
    }
}

/// Labelled points.
pub(crate) struct Points<'a> {
    /// One axis per feature.
    pub axes: &'a [Axis],
    /// `values[feature][point]`; a level is its index.
    pub values: &'a [Vec<f64>],
    /// One class per point.
    pub labels: &'a [u32],
    /// Number of classes.
    pub classes: usize,
}

/// The test of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Question {
    /// Left: at most `bound`.
    AtMost { feature: usize, bound: f64 },
    /// Left: another level.
    IsNot { feature: usize, level: usize },
}

impl Question {
    fn goes_left(&self, values: &[Vec<f64>], point: u32) -> bool {
        match *self {
            Question::AtMost { feature, bound } => values[feature][point as usize] <= bound,
            Question::IsNot { feature, level } => values[feature][point as usize] != level as f64,
        }
    }
}

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Points of each class.
    pub counts: Vec<usize>,
    /// The test and the positions of the left and the right child.
    pub split: Option<(Question, [usize; 2])>,
}

/// A tree: the root first, then the left subtree, then the right one.
pub(crate) struct Tree {
    pub nodes: Vec<Node>,
    /// Why it was not fully grown, if it was not.
    pub stopped: Option<StopReason>,
}

/// A node to be built: its points, and its place below its parent.
struct Waiting {
    members: Vec<u32>,
    parent: Option<(usize, usize)>,
}

/// Grows a tree until nodes are pure or cannot be split into parts of at least `min_leaf` points. If it must stop early, the
/// remaining nodes stay leaves.
pub(crate) fn grow(points: &Points<'_>, min_leaf: usize, stop: &Stop) -> Tree {
    let mut nodes: Vec<Node> = Vec::new();
    let mut stopped = None;
    // Without recursion: a tree may be as deep as there are points.
    let everything = Waiting { members: (0..points.labels.len() as u32).collect(), parent: None };
    let mut waiting = vec![everything];
    while let Some(Waiting { members, parent }) = waiting.pop() {
        let number = nodes.len();
        if let Some((parent, side)) = parent
            && let Some((_, children)) = &mut nodes[parent].split
        {
            children[side] = number;
        }
        let mut counts = vec![0; points.classes];
        for &point in &members {
            counts[points.labels[point as usize] as usize] += 1;
        }
        let pure = counts.contains(&members.len());
        stopped = stopped.or_else(|| stop.check().err());
        let question =
            if pure || stopped.is_some() { None } else { best_split(points, &members, &counts, min_leaf) };
        if let Some(question) = question {
            let (left, right) = members.iter().partition(|&&p| question.goes_left(points.values, p));
            waiting.push(Waiting { members: right, parent: Some((number, 1)) });
            waiting.push(Waiting { members: left, parent: Some((number, 0)) });
        }
        nodes.push(Node { counts, split: question.map(|question| (question, [0, 0])) });
    }
    Tree { nodes, stopped }
}

fn best_split(points: &Points<'_>, members: &[u32], counts: &[usize], min_leaf: usize) -> Option<Question> {
    let mut best = Best { purity: None, question: None, min_leaf: min_leaf.max(1) };
    for (feature, axis) in points.axes.iter().enumerate() {
        match axis {
            Axis::Ordered => try_thresholds(points, members, counts, feature, &mut best),
            Axis::Levels(levels) => try_levels(points, members, counts, (feature, levels), &mut best),
        }
    }
    best.question
}

fn try_thresholds(points: &Points<'_>, members: &[u32], counts: &[usize], feature: usize, best: &mut Best) {
    let value = |point: u32| points.values[feature][point as usize];
    let mut known: Vec<u32> = members.iter().copied().filter(|&point| !value(point).is_nan()).collect();
    known.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
    let mut left = Side::new(vec![0; counts.len()]);
    let mut right = Side::new(counts.to_vec());
    for (position, &point) in known.iter().enumerate() {
        let class = points.labels[point as usize] as usize;
        left.add(class);
        right.remove(class);
        let Some(&next) = known.get(position + 1) else { break };
        let (here, there) = (value(point), value(next));
        if here < there {
            best.offer(&left, &right, || Question::AtMost { feature, bound: midpoint(here, there) });
        }
    }
}

fn try_levels(
    points: &Points<'_>,
    members: &[u32],
    counts: &[usize],
    (feature, levels): (usize, &Range<usize>),
    best: &mut Best,
) {
    let mut at_level = vec![vec![0usize; counts.len()]; levels.len()];
    for &point in members {
        let value = points.values[feature][point as usize];
        if value >= levels.start as f64 && value < levels.end as f64 {
            at_level[value as usize - levels.start][points.labels[point as usize] as usize] += 1;
        }
    }
    for (level, here) in levels.clone().zip(at_level) {
        let elsewhere = counts.iter().zip(&here).map(|(all, here)| all - here).collect();
        let (left, right) = (Side::new(elsewhere), Side::new(here));
        best.offer(&left, &right, || Question::IsNot { feature, level });
    }
}

/// Half-way between two values, and always below the larger one.
fn midpoint(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    if low <= middle && middle < high { middle } else { low }
}

/// One side of a split.
struct Side {
    counts: Vec<usize>,
    size: usize,
    /// Sum of the squared counts.
    squares: u128,
}

impl Side {
    fn new(counts: Vec<usize>) -> Side {
        let squares = counts.iter().map(|&count| (count as u128).pow(2)).sum();
        Side { size: counts.iter().sum(), counts, squares }
    }

    fn add(&mut self, class: usize) {
        self.squares += 2 * self.counts[class] as u128 + 1;
        self.counts[class] += 1;
        self.size += 1;
    }

    fn remove(&mut self, class: usize) {
        self.squares -= 2 * self.counts[class] as u128 - 1;
        self.counts[class] -= 1;
        self.size -= 1;
    }
}

/// The best split so far.
struct Best {
    purity: Option<Purity>,
    question: Option<Question>,
    min_leaf: usize,
}

impl Best {
    fn offer(&mut self, left: &Side, right: &Side, question: impl FnOnce() -> Question) {
        if left.size < self.min_leaf || right.size < self.min_leaf {
            return;
        }
        let purity = Purity::new(left, right);
        if self.purity.as_ref().is_none_or(|best| purity.compare(best) == Ordering::Greater) {
            self.purity = Some(purity);
            self.question = Some(question());
        }
    }
}

/// Σ over the sides of Σ counts²/size, as a fraction: the larger, the smaller the weighted Gini impurity.
struct Purity {
    above: u128,
    below: u128,
}

impl Purity {
    fn new(left: &Side, right: &Side) -> Purity {
        let (l, r) = (left.size as u128, right.size as u128);
        Purity { above: left.squares * r + right.squares * l, below: l * r }
    }

    fn compare(&self, other: &Purity) -> Ordering {
        match (self.above.checked_mul(other.below), other.above.checked_mul(self.below)) {
            (Some(ours), Some(theirs)) => ours.cmp(&theirs),
            // Tens of millions of rows; a float is good enough then.
            _ => {
                let quotient = |purity: &Purity| purity.above as f64 / purity.below as f64;
                quotient(self).total_cmp(&quotient(other))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(
        axes: &[Axis],
        values: &[Vec<f64>],
        labels: &[u32],
        min_leaf: usize,
    ) -> Vec<Option<Question>> {
        let points = Points { axes, values, labels, classes: 3 };
        let tree = grow(&points, min_leaf, &Stop::default());
        tree.nodes.iter().map(|node| node.split.map(|(question, _)| question)).collect()
    }

    #[test]
    fn ties_go_to_the_lowest_column_then_the_lowest_threshold() {
        let values = vec![vec![1.0, 2.0, 3.0], vec![3.0, 2.0, 1.0]];
        let found = questions(&[Axis::Ordered, Axis::Ordered], &values, &[0, 1, 0], 1);
        assert_eq!(found[0], Some(Question::AtMost { feature: 0, bound: 1.5 }));
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn three_classes_and_levels_are_told_apart() {
        let values = vec![vec![0.0, 1.0, 2.0, 2.0, 3.0]];
        let found = questions(&[Axis::Levels(0..3)], &values, &[0, 1, 2, 2, 0], 1);
        // Level 2 is pure; of the rest, level 1 is; 3 is a level that has no column.
        assert_eq!(found[0], Some(Question::IsNot { feature: 0, level: 2 }));
        assert_eq!(found[1], Some(Question::IsNot { feature: 0, level: 1 }));
        assert_eq!(found[2..], [None, None, None]);
    }

    #[test]
    fn a_missing_number_goes_right_and_small_leaves_are_not_made() {
        let values = vec![vec![1.0, 2.0, f64::NAN, f64::NAN]];
        let found = questions(&[Axis::Ordered], &values, &[0, 1, 1, 1], 1);
        assert_eq!(found, [Some(Question::AtMost { feature: 0, bound: 1.5 }), None, None]);
        assert_eq!(questions(&[Axis::Ordered], &values, &[0, 1, 1, 1], 2), [None]);
    }

    #[test]
    fn a_midpoint_is_always_below_the_larger_value() {
        let next = 1.0f64.next_up();
        assert_eq!(midpoint(1.0, next), 1.0);
        assert!(midpoint(f64::MIN, f64::MAX) == 0.0 && midpoint(4.0, 7.0) == 5.5);
    }

    #[test]
    fn a_stopped_tree_is_a_tree() {
        let cancel = sogar_solver::CancelToken::new();
        cancel.cancel();
        let points =
            Points { axes: &[Axis::Ordered], values: &[vec![1.0, 2.0]], labels: &[0, 1], classes: 2 };
        let tree = grow(&points, 1, &Stop { deadline: None, cancel });
        assert_eq!((tree.nodes.len(), tree.stopped), (1, Some(StopReason::Cancelled)));
    }
}
