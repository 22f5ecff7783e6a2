//! How much each column moved the output of a sum of trees: exact Shapley values, in the *path-dependent* variant of TreeSHAP.
//!
//! A tree defines what it expects of a row of which only some columns are known: at a test of an unknown column it takes both
//! sides, in proportion to the rows that took them in training (the *covers*). The Shapley values of that game are what LightGBM
//! (`pred_contrib`), XGBoost (`pred_contribs`) and the package shap (`feature_perturbation="tree_path_dependent"`) compute.
//!
//! **One idea.** A leaf of value `v` below tests of `d` columns pays `v · Π over known j of o_j · Π over unknown j of z_j`, where
//! `o_j` is 1 if the row passes all tests of column `j` towards the leaf and else 0, and `z_j` is the product of their shares. The
//! Shapley weight of a set of `s` of the other columns is `s! (d−1−s)! / d! = ∫₀¹ tˢ (1−t)^(d−1−s) dt`, so the value of column `i` is
//!
//! ```text
//! v · (o_i − z_i) · ∫₀¹ Π over j ≠ i of (z_j (1−t) + o_j t) dt
//! ```
//!
//! The integrand is a polynomial of degree `d − 1`, which Gauss and Legendre's rule of `⌈d/2⌉` nodes integrates exactly. All of its
//! factors are positive, so nothing cancels, however deep the tree: the usual recursion divides polynomials instead.

use std::collections::BTreeMap;

use super::{Rows, Tree, TreeEnsemble};

/// The shares of rows that the tests of an ensemble send to either side.
#[derive(Debug, Clone, PartialEq)]
pub struct Covers {
    /// For each tree and inner node, the share of the rows of the left child.
    left: Vec<Vec<f64>>,
}

/// What the columns contributed to a weighted sum of outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Contributions {
    /// What is expected of a row of which nothing is known.
    pub expected: f64,
    /// One number per model column; with `expected` they add up to the sum of outputs.
    pub columns: Vec<f64>,
}

impl TreeEnsemble {
    /// The covers that the model's file records, if it does for every tree.
    pub fn covers(&self) -> Option<Covers> {
        let known = |tree: &Tree| tree.nodes.is_empty() || tree.covers.len() == tree.leaves.len();
        self.trees
            .iter()
            .all(known)
            .then(|| Covers { left: self.trees.iter().map(|tree| shares(tree, &tree.covers)).collect() })
    }

    /// The covers of these rows, for a file without them.
    pub fn covers_of(&self, rows: Rows<'_>) -> Covers {
        let counted = |tree: &Tree| {
            let mut counts = vec![0.0; tree.leaves.len()];
            for row in rows.iter() {
                counts[tree.leaf_of(row)] += 1.0;
            }
            shares(tree, &counts)
        };
        Covers { left: self.trees.iter().map(counted).collect() }
    }

    /// What each of the row's columns contributed to the sum of the outputs, each times its weight.
    pub fn contributions(&self, covers: &Covers, row: &[f64], weights: &[f64]) -> Contributions {
        let mut found = Contributions {
            expected: self.base.iter().zip(weights).map(|(base, weight)| base * weight).sum(),
            columns: vec![0.0; row.len()],
        };
        for (number, (tree, left)) in self.trees.iter().zip(&covers.left).enumerate() {
            let weight = weights.get(number % self.outputs).copied().unwrap_or(0.0);
            if weight != 0.0 {
                add_tree(tree, left, row, weight, &mut found);
            }
        }
        found.expected /= self.divisor;
        found.columns.iter_mut().for_each(|column| *column /= self.divisor);
        found
    }
}

/// The share of the left child of every inner node. Where no row came, both sides are equally likely.
fn shares(tree: &Tree, covers: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; tree.nodes.len()];
    let of = |child: i32, sums: &[f64]| match child {
        inner @ 0.. => sums.get(inner as usize).copied(),
        leaf => covers.get(!leaf as usize).copied(),
    };
    let mut left = vec![0.5; tree.nodes.len()];
    for node in from_below(tree) {
        let (one, other) = (of(tree.nodes[node].left, &sums), of(tree.nodes[node].right, &sums));
        let (one, other) = (one.unwrap_or(0.0).max(0.0), other.unwrap_or(0.0).max(0.0));
        sums[node] = one + other;
        if sums[node] > 0.0 && sums[node].is_finite() {
            left[node] = one / sums[node];
        }
    }
    left
}

/// The inner nodes, children before their parents.
fn from_below(tree: &Tree) -> Vec<usize> {
    let mut order = Vec::with_capacity(tree.nodes.len());
    let mut open = if tree.nodes.is_empty() { vec![] } else { vec![0i32] };
    while let Some(at) = open.pop() {
        order.push(at as usize);
        let node = &tree.nodes[at as usize];
        open.extend([node.left, node.right].into_iter().filter(|&child| child >= 0));
    }
    order.reverse();
    order
}

/// A column on the path to a leaf: whether the row goes there, and which share of the rows would.
#[derive(Debug, Clone, Copy)]
struct Factor {
    goes: bool,
    share: f64,
}

impl Factor {
    fn at(self, t: f64) -> f64 {
        self.share * (1.0 - t) + if self.goes { t } else { 0.0 }
    }
}

/// What to do next on the way through a tree.
enum Walk {
    /// Visit a child through a test of this column.
    Enter { child: i32, column: usize, goes: bool, share: f64 },
    /// Back above that test: the column's earlier factor.
    Leave { column: usize, before: Option<Factor> },
}

/// Adds one tree, whose leaves count `weight` times.
fn add_tree(tree: &Tree, left: &[f64], row: &[f64], weight: f64, found: &mut Contributions) {
    let mut path: BTreeMap<usize, Factor> = BTreeMap::new();
    let mut rules: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    let mut leaf = |leaf: usize, path: &BTreeMap<usize, Factor>, found: &mut Contributions| {
        let value = weight * tree.leaves[leaf];
        found.expected += value * path.values().map(|factor| factor.share).product::<f64>();
        let rule = rules.entry(path.len().div_ceil(2)).or_insert_with_key(|&nodes| gauss_legendre(nodes));
        for &(t, width) in rule.iter() {
            let all: f64 = path.values().map(|factor| factor.at(t)).product();
            for (&column, factor) in path {
                let own = factor.at(t);
                // Nodes lie inside of (0, 1): a factor is 0 only if it is 0 for every t, and then the column pays nothing.
                if own > 0.0 {
                    let difference = f64::from(u8::from(factor.goes)) - factor.share;
                    found.columns[column] += value * width * difference * all / own;
                }
            }
        }
    };
    if tree.nodes.is_empty() {
        return leaf(0, &path, found);
    }
    let mut open = Vec::new();
    let children = |node: usize, open: &mut Vec<Walk>| {
        let at = &tree.nodes[node];
        let (column, passes) = (at.column, at.test.passes(row[at.column]));
        open.push(Walk::Enter { child: at.right, column, goes: !passes, share: 1.0 - left[node] });
        open.push(Walk::Enter { child: at.left, column, goes: passes, share: left[node] });
    };
    children(0, &mut open);
    while let Some(next) = open.pop() {
        match next {
            Walk::Leave { column, before: Some(factor) } => drop(path.insert(column, factor)),
            Walk::Leave { column, before: None } => drop(path.remove(&column)),
            Walk::Enter { child, column, goes, share } => {
                let before = path.get(&column).copied();
                let above = before.unwrap_or(Factor { goes: true, share: 1.0 });
                let factor = Factor { goes: above.goes && goes, share: above.share * share };
                // No path leads there, whether features are known or not: all leaves below contribute nothing.
                if !factor.goes && factor.share == 0.0 {
                    continue;
                }
                path.insert(column, factor);
                open.push(Walk::Leave { column, before });
                match child {
                    inner @ 0.. => children(inner as usize, &mut open),
                    end => leaf(!end as usize, &path, found),
                }
            }
        }
    }
}

/// The nodes in (0, 1) and weights of the rule that integrates polynomials of degree below `2n` exactly.
fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let degree = n as f64;
    (0..n)
        .map(|index| {
            // Newton's method on the Legendre polynomial, from the usual approximation of its roots.
            let mut x = (std::f64::consts::PI * (index as f64 + 0.75) / (degree + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..100 {
                let (mut last, mut value) = (1.0, x);
                for k in 2..=n {
                    let k = k as f64;
                    (last, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * last) / k);
                }
                slope = degree * (x * value - last) / (x * x - 1.0);
                let step = value / slope;
                x -= step;
                if step.abs() < 1e-15 {
                    break;
                }
            }
            ((1.0 + x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Missing, Node, Test};

    fn node(column: usize, threshold: f64, left: i32, right: i32) -> Node {
        let test = Test::AtMost { threshold, missing: Missing::NaNIsMissing, default_left: true };
        Node { column, test, left, right }
    }

    fn ensemble(trees: Vec<Tree>) -> TreeEnsemble {
        TreeEnsemble { base: vec![0.25], divisor: 2.0, ..TreeEnsemble::sum_of(trees) }
    }

    /// What the trees expect of a row of which only the columns in `known` are known.
    fn expected(model: &TreeEnsemble, covers: &Covers, row: &[f64], known: u32) -> f64 {
        fn below(tree: &Tree, left: &[f64], at: i32, row: &[f64], known: u32) -> f64 {
            let Ok(index) = usize::try_from(at) else { return tree.leaves[!at as usize] };
            let node = &tree.nodes[index];
            let side = |child| below(tree, left, child, row, known);
            match known >> node.column & 1 == 1 {
                true if node.test.passes(row[node.column]) => side(node.left),
                true => side(node.right),
                false => left[index] * side(node.left) + (1.0 - left[index]) * side(node.right),
            }
        }
        let start = |tree: &Tree| if tree.nodes.is_empty() { !0 } else { 0 };
        let sum = model
            .trees
            .iter()
            .zip(&covers.left)
            .map(|(tree, left)| below(tree, left, start(tree), row, known))
            .sum::<f64>();
        (model.base[0] + sum) / model.divisor
    }

    /// Shapley values by their definition: all sets of columns.
    fn by_definition(model: &TreeEnsemble, covers: &Covers, row: &[f64]) -> Vec<f64> {
        let count = row.len() as u32;
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        (0..count)
            .map(|column| {
                (0..1u32 << count)
                    .filter(|set| set >> column & 1 == 0)
                    .map(|set| {
                        let size = set.count_ones();
                        let weight = factorial(size) * factorial(count - size - 1) / factorial(count);
                        let with = expected(model, covers, row, set | 1 << column);
                        weight * (with - expected(model, covers, row, set))
                    })
                    .sum()
            })
            .collect()
    }

    /// A full tree whose tests and covers come from a small generator.
    fn random_tree(seed: &mut u64, depth: u32, columns: usize, zeros: bool) -> Tree {
        let mut next = |below: u64| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) % below
        };
        let inner = (1i32 << depth) - 1;
        let child = |at: i32| if at < inner { at } else { !(at - inner) };
        let nodes = (0..inner)
            .map(|at| {
                let (column, threshold) = (next(columns as u64) as usize, next(4) as f64);
                node(column, threshold, child(2 * at + 1), child(2 * at + 2))
            })
            .collect();
        let leaves: Vec<f64> = (0..=inner).map(|_| next(100) as f64 - 50.0).collect();
        let covers = leaves.iter().map(|_| next(9) as f64 + if zeros { -3.0 } else { 1.0 }).collect();
        Tree { nodes, leaves, covers }
    }

    #[test]
    fn contributions_are_the_shapley_values_by_definition() {
        let mut seed = 1;
        for round in 0..60u32 {
            let columns = 1 + round as usize % 6;
            let trees = (0..3).map(|tree| random_tree(&mut seed, tree + round % 4, columns, round % 3 == 0));
            let model = ensemble(trees.collect());
            let covers = model.covers().unwrap();
            let row: Vec<f64> = (0..columns)
                .map(|c| if c == 5 { f64::NAN } else { f64::from((round * 7 + c as u32) % 5) })
                .collect();
            let found = model.contributions(&covers, &row, &[1.0]);
            for (column, wanted) in by_definition(&model, &covers, &row).into_iter().enumerate() {
                assert!((found.columns[column] - wanted).abs() < 1e-10, "round {round}, column {column}");
            }
            assert!((found.expected - expected(&model, &covers, &row, 0)).abs() < 1e-10);
            let mut output = [0.0];
            model.outputs_of(&row, &mut output);
            let sum = found.expected + found.columns.iter().sum::<f64>();
            assert!((sum - output[0]).abs() < 1e-9, "{sum} {output:?}");
        }
    }

    #[test]
    fn deep_trees_lose_no_digits_and_no_stack() {
        // A chain of 1,000 tests of 90 columns.
        let depth = 1_000;
        let nodes = (0..depth)
            .map(|at| {
                node(
                    at as usize % 90,
                    0.5 - f64::from(at) / 1e4,
                    if at + 1 < depth { at + 1 } else { !depth },
                    !at,
                )
            })
            .collect();
        let leaves: Vec<f64> = (0..=depth).map(|leaf| f64::from(leaf % 7) - 3.0).collect();
        let covers = leaves.iter().map(|leaf| leaf.abs() + 1.0).collect();
        let model = ensemble(vec![Tree { nodes, leaves, covers }]);
        let row: Vec<f64> = (0..90).map(|column| if column == 77 { 0.4 } else { -1.0 }).collect();
        let found = model.contributions(&model.covers().unwrap(), &row, &[1.0]);
        let mut output = [0.0];
        model.outputs_of(&row, &mut output);
        assert!((found.expected + found.columns.iter().sum::<f64>() - output[0]).abs() < 1e-9);
    }

    #[test]
    fn covers_of_rows_are_their_shares() {
        let tree = Tree {
            nodes: vec![node(0, 1.0, !0, 1), node(1, 0.0, !1, !2)],
            leaves: vec![1.0, 2.0, 4.0],
            covers: vec![],
        };
        let model = ensemble(vec![tree]);
        assert_eq!(model.covers(), None);
        let values = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 5.0];
        let covers = model.covers_of(Rows { values: &values, columns: 2 });
        assert_eq!(covers.left, [[0.75, 0.0]]);
    }
}
