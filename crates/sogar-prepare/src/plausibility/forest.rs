//! An isolation forest whose tests do not depend on the people of a node (SPEC §11).
//!
//! The usual isolation forest tests only what varies among the people of a node, so it never notices a *combination* that nobody has: below
//! "pregnant", sex does not vary and is not tested. Here a node may test any feature. The side that no drawn person takes is a leaf at
//! once, and a row that takes it has a short path.
//!
//! Leaf values are whole numbers, so a path length is the same in any order of summation, and the decomposition of tree sums around a row
//! ([`crate::outcomes`]) is exact.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sogar_base::draw::Draw;
use sogar_base::files::hexadecimal;
use sogar_table::feature::{Feature, Kind};

use crate::model::{Node, Test, Tree, TreeEnsemble};

/// Number of trees.
pub const TREES: usize = 100;
/// People drawn for a tree.
pub const DRAWS: usize = 256;
/// Largest depth of a leaf.
const DEPTH: usize = 8;
/// The random numbers of tree `t` are those of this stream plus `t`.
const FIRST_STREAM: u64 = 10_000;

/// A test of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Question {
    feature: usize,
    relation: Relation,
    /// The bits of the value that is compared with.
    value: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Relation {
    AtMost,
    Below,
    Equals,
    Missing,
}

/// A tree in preorder: an inner node is followed by its left and its right subtree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Entry {
    Split(Question),
    Leaf(u32),
}

/// The forest of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forest {
    trees: Vec<Vec<Entry>>,
}

/// The numbers that draw the trees: first of people, then of tests.
pub(crate) struct Drawn {
    streams: Vec<Draw>,
    /// Per tree the drawn people, as positions among all people in table order.
    pub people: Vec<Vec<u64>>,
}

impl Drawn {
    /// Draws the people of every tree among so many.
    pub fn new(seed: u64, people: u64) -> Drawn {
        let mut streams: Vec<Draw> =
            (0..TREES as u64).map(|tree| Draw::new(seed, FIRST_STREAM + tree)).collect();
        let people = streams
            .iter_mut()
            .map(|stream| (0..DRAWS).map(|_| stream.below(people.max(1) as usize) as u64).collect());
        Drawn { people: people.collect(), streams }
    }
}

impl Forest {
    /// The forest of the drawn people, whose rows are given tree by tree; `used` are the features that it may test.
    pub(crate) fn grow(drawn: Drawn, rows: &[Vec<Vec<f64>>], features: &[Feature], used: &[usize]) -> Forest {
        let trees = drawn.streams.into_iter().zip(rows).map(|(stream, rows)| {
            let mut growth = Growth { stream, rows, features, used, tree: Vec::new() };
            let all: Vec<usize> = (0..rows.len()).collect();
            growth.node(&all, 0);
            growth.tree
        });
        Forest { trees: trees.collect() }
    }

    /// The forest as a sum of trees, whose columns are the features.
    pub(crate) fn ensemble(&self, features: &[Feature]) -> TreeEnsemble {
        TreeEnsemble::sum_of(self.trees.iter().map(|tree| flat(tree, features)).collect())
    }

    /// SHA-256 of all trees.
    pub fn hash(&self, features: &[Feature]) -> String {
        let mut hash = Sha256::new();
        for entry in self.trees.iter().flatten() {
            let line = match entry {
                Entry::Leaf(value) => format!("{value}\n"),
                Entry::Split(Question { feature, relation, value }) => {
                    let name = &features[*feature].name;
                    match relation {
                        Relation::AtMost => format!("{name}\t<=\t{value:016x}\n"),
                        Relation::Below => format!("{name}\t<\t{value:016x}\n"),
                        Relation::Equals => format!("{name}\t=\t{value:016x}\n"),
                        Relation::Missing => format!("{name}\tmissing\n"),
                    }
                }
            };
            hash.update(line.as_bytes());
        }
        hexadecimal(&hash.finalize())
    }

    /// Whether every tree is whole and tests only these features: one from another process may not.
    pub fn fits(&self, features: &[Feature]) -> bool {
        let whole = |tree: &Vec<Entry>| {
            // The number of subtrees that are still to come is 0 at the end, and never before.
            let mut open = 1usize;
            tree.iter().all(|entry| {
                let there = open > 0;
                match entry {
                    Entry::Leaf(_) => open = open.saturating_sub(1),
                    Entry::Split(question) => {
                        open += 1;
                        return there && question.feature < features.len();
                    }
                }
                there
            }) && open == 0
        };
        self.trees.iter().all(whole)
    }
}

/// One tree while it grows.
struct Growth<'a> {
    stream: Draw,
    rows: &'a [Vec<f64>],
    features: &'a [Feature],
    used: &'a [usize],
    tree: Vec<Entry>,
}

impl Growth<'_> {
    fn node(&mut self, here: &[usize], depth: usize) {
        if here.len() <= 1 || depth == DEPTH {
            self.tree.push(Entry::Leaf(leaf_value(depth, here.len())));
            return;
        }
        let feature = self.used[self.stream.below(self.used.len())];
        let value = self.rows[self.stream.below(self.rows.len())][feature];
        let relation = match &self.features[feature].kind {
            Kind::Categorical { .. } | Kind::Binary { .. } => Relation::Equals,
            _ if value.is_nan() => Relation::Missing,
            _ if self.features[feature].is_code(value) => Relation::Equals,
            _ if self.stream.below(2) == 0 => Relation::AtMost,
            _ => Relation::Below,
        };
        let question = Question { feature, relation, value: value.to_bits() };
        self.tree.push(Entry::Split(question));
        let test = question.test(self.features);
        let (left, right): (Vec<usize>, Vec<usize>) =
            here.iter().partition(|&&row| test.passes(self.rows[row][feature]));
        self.node(&left, depth + 1);
        self.node(&right, depth + 1);
    }
}

impl Question {
    /// The test on the feature's value. Missing values, codes and unknown levels pass no test of an amount.
    fn test(self, features: &[Feature]) -> Test {
        let value = f64::from_bits(self.value);
        let within = |high: f64| {
            let mut low = f64::NEG_INFINITY;
            let mut ranges = Vec::new();
            let mut codes = features[self.feature].codes.clone();
            codes.sort_by(f64::total_cmp);
            for code in codes.into_iter().filter(|code| *code <= high) {
                ranges.push((low, code.next_down()));
                low = code;
            }
            ranges.push((low, high));
            ranges.retain(|(low, high)| low < high);
            Test::Within { ranges, default_left: false }
        };
        match self.relation {
            Relation::AtMost => within(value),
            Relation::Below => within(value.next_down()),
            Relation::Equals if value.is_nan() => Test::Within { ranges: Vec::new(), default_left: true },
            Relation::Equals => {
                Test::Within { ranges: vec![(value.next_down(), value)], default_left: false }
            }
            Relation::Missing => Test::Within { ranges: Vec::new(), default_left: true },
        }
    }
}

/// The value of a leaf with this many drawn people, in thousandths of a step.
fn leaf_value(depth: usize, people: usize) -> u32 {
    let expected = match people {
        0 | 1 => 0.0,
        more => {
            let harmonic: f64 = (1..more).map(|i| 1.0 / i as f64).sum();
            2.0 * harmonic - 2.0 * (more - 1) as f64 / more as f64
        }
    };
    (1000.0 * (depth as f64 + expected)).round() as u32
}

/// A tree in the form that the outcomes of tree sums use.
fn flat(entries: &[Entry], features: &[Feature]) -> Tree {
    let mut tree = Tree { nodes: Vec::new(), leaves: Vec::new(), covers: Vec::new() };
    // Where the number of the next subtree is to be written: a node, and whether it is its right child.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for entry in entries {
        let number = match entry {
            Entry::Leaf(value) => {
                tree.leaves.push(f64::from(*value));
                !(tree.leaves.len() as i32 - 1)
            }
            Entry::Split(question) => {
                let (column, test) = (question.feature, question.test(features));
                tree.nodes.push(Node { column, test, left: 0, right: 0 });
                tree.nodes.len() as i32 - 1
            }
        };
        if let Some((parent, right)) = open.pop() {
            let parent = &mut tree.nodes[parent];
            *(if right { &mut parent.right } else { &mut parent.left }) = number;
        }
        if number >= 0 {
            open.extend([(number as usize, true), (number as usize, false)]);
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaf_values_are_those_of_the_specification() {
        assert_eq!(leaf_value(3, 0), 3000);
        assert_eq!(leaf_value(3, 1), 3000);
        assert_eq!(leaf_value(0, 2), 1000);
        assert_eq!(leaf_value(8, 3), 9667); // 8 + 2 · 1.5 − 2 · 2/3
        assert_eq!(leaf_value(0, 256), 10249);
    }

    #[test]
    fn codes_and_missing_values_pass_no_test_of_an_amount() {
        let mut feature = Feature::new("x", Kind::Integer);
        feature.codes = vec![-9.0, 4.0];
        let question = |relation, value: f64| Question { feature: 0, relation, value: value.to_bits() };
        let at_most = question(Relation::AtMost, 5.0).test(std::slice::from_ref(&feature));
        for (value, passes) in
            [(5.0, true), (6.0, false), (4.0, false), (-9.0, false), (-8.0, true), (-50.0, true)]
        {
            assert_eq!(at_most.passes(value), passes, "{value}");
        }
        assert!(!at_most.passes(f64::NAN));
        let below = question(Relation::Below, 5.0).test(std::slice::from_ref(&feature));
        assert!(!below.passes(5.0) && below.passes(3.0) && !below.passes(4.0));
        let code = question(Relation::Equals, 4.0).test(std::slice::from_ref(&feature));
        assert!(code.passes(4.0) && !code.passes(3.0) && !code.passes(f64::NAN));
        let missing = question(Relation::Missing, f64::NAN).test(std::slice::from_ref(&feature));
        assert!(missing.passes(f64::NAN) && !missing.passes(4.0));
    }
}
