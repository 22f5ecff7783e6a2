//! One tree of a LightGBM text file.

use super::fields::Block;
use crate::ensemble::{Missing, Node, Test, Tree, ZERO_BAND};
use sogar_base::error::{Error, ErrorKind, Result};

const CATEGORICAL: u8 = 1;
const DEFAULT_LEFT: u8 = 2;

/// Reads and checks a tree over `columns` model columns.
pub(super) fn read(block: &Block<'_>, columns: usize) -> Result<Tree> {
    if block.find("is_linear").is_some_and(|field| field.value.trim() != "0") {
        let help = "train the model with `linear_tree=false` and save it again";
        return Err(Error::new(ErrorKind::Model, "linear trees (`linear_tree=true`) are not read").help(help));
    }
    let leaf_field = block.field("num_leaves")?;
    let leaf_count: usize = leaf_field.number()?;
    if leaf_count == 0 {
        return Err(leaf_field.error("a tree has at least one leaf"));
    }
    let value_field = block.field("leaf_value")?;
    let leaves: Vec<f64> = value_field.numbers(leaf_count)?;
    if leaves.iter().any(|value| !value.is_finite()) {
        return Err(value_field.error("a leaf's value is not a finite number"));
    }
    let nodes = if leaf_count == 1 { Vec::new() } else { read_nodes(block, leaf_count - 1, columns)? };
    // Files of some releases, and edited ones, lack the counts: contributions do without them.
    let covers =
        block.find("leaf_count").and_then(|field| field.numbers(leaf_count).ok()).unwrap_or_default();
    let tree = Tree { nodes, leaves, covers };
    check_shape(&tree).map_err(|message| block.error(message))?;
    Ok(tree)
}

fn read_nodes(block: &Block<'_>, count: usize, columns: usize) -> Result<Vec<Node>> {
    let split_feature = block.field("split_feature")?;
    let threshold = block.field("threshold")?;
    let decision_type = block.field("decision_type")?;
    let tested: Vec<usize> = split_feature.numbers(count)?;
    let thresholds: Vec<f64> = threshold.numbers(count)?;
    let types: Vec<u8> = decision_type.numbers(count)?;
    let left: Vec<i32> = block.field("left_child")?.numbers(count)?;
    let right: Vec<i32> = block.field("right_child")?.numbers(count)?;
    let sets = read_sets(block)?;

    let mut nodes = Vec::with_capacity(count);
    for index in 0..count {
        let column = tested[index];
        if column >= columns {
            return Err(
                split_feature.error(format!("column {column} is beyond the model's {columns} columns"))
            );
        }
        let test = if types[index] & CATEGORICAL != 0 {
            // The threshold of a categorical test is the number of its set.
            let set = thresholds[index];
            let words = (set >= 0.0 && set.fract() == 0.0).then(|| sets.get(set as usize)).flatten();
            let words =
                words.ok_or_else(|| threshold.error(format!("there is no set of categories {set}")))?;
            Test::InSet { words: words.clone() }
        } else {
            if thresholds[index].is_nan() {
                return Err(threshold.error("a threshold is not a number"));
            }
            let missing = match types[index] >> 2 {
                0 => Missing::AsZero,
                1 => Missing::ZeroIsMissing,
                2 => Missing::NaNIsMissing,
                _ => return Err(decision_type.error(format!("{} is not a known test", types[index]))),
            };
            Test::AtMost {
                threshold: beside_zero(thresholds[index]),
                missing,
                default_left: types[index] & DEFAULT_LEFT != 0,
            }
        };
        nodes.push(Node { column, test, left: left[index], right: right[index] });
    }
    Ok(nodes)
}

/// A threshold that decides like the library for values next to zero.
///
/// The library replaces values within [`ZERO_BAND`] of zero by zero before it walks the trees. So a threshold inside the band
/// separates the whole band from its neighbours, on the side where zero falls: moving the threshold to that end of the band has
/// the same effect on every value.
pub(super) fn beside_zero(threshold: f64) -> f64 {
    if (0.0..ZERO_BAND).contains(&threshold) {
        ZERO_BAND
    } else if (-ZERO_BAND..0.0).contains(&threshold) {
        (-ZERO_BAND).next_down()
    } else {
        threshold
    }
}

/// The sets of the tree's categorical tests, as 32-bit words.
fn read_sets(block: &Block<'_>) -> Result<Vec<Vec<u32>>> {
    let count: usize = match block.find("num_cat") {
        Some(field) => field.number()?,
        None => 0,
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    let boundary_field = block.field("cat_boundaries")?;
    let word_field = block.field("cat_threshold")?;
    let boundaries: Vec<usize> = boundary_field.numbers(count.saturating_add(1))?;
    let words: Vec<u32> = word_field.numbers(boundaries.last().copied().unwrap_or(0))?;
    if boundaries.first() != Some(&0) {
        return Err(boundary_field.error("the first set does not begin at 0"));
    }
    let set = |pair: &[usize]| words.get(pair[0]..pair[1]).map(<[u32]>::to_vec);
    let sets: Option<Vec<Vec<u32>>> = boundaries.windows(2).map(set).collect();
    sets.ok_or_else(|| boundary_field.error("the sets overlap"))
}

/// Every node and leaf is reached from the root exactly once: no cycles, nothing shared, nothing unused.
fn check_shape(tree: &Tree) -> std::result::Result<(), String> {
    let mut node_seen = vec![false; tree.nodes.len()];
    let mut leaf_seen = vec![false; tree.leaves.len()];
    let mut open = vec![if tree.nodes.is_empty() { !0 } else { 0i32 }];
    while let Some(at) = open.pop() {
        let (index, seen, what) =
            if at < 0 { (!at, &mut leaf_seen, "leaf") } else { (at, &mut node_seen, "node") };
        match seen.get_mut(index as usize) {
            None => return Err(format!("there is no {what} {index}")),
            Some(true) => return Err(format!("{what} {index} has two parents")),
            Some(seen) => *seen = true,
        }
        if at >= 0 {
            let node = &tree.nodes[at as usize];
            open.extend([node.right, node.left]);
        }
    }
    if node_seen.iter().chain(&leaf_seen).all(|&seen| seen) {
        Ok(())
    } else {
        Err("a part of the tree is not connected to its root".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_next_to_zero_decide_as_if_values_there_were_zero() {
        let snapped = |value: f64| if value.abs() <= ZERO_BAND { 0.0 } else { value };
        let points = [-1.0, -ZERO_BAND, -ZERO_BAND / 2.0, -0.0, 0.0, ZERO_BAND / 2.0, ZERO_BAND, 1.0];
        let near = points.iter().flat_map(|p: &f64| [p.next_down(), *p, p.next_up()]);
        for threshold in near.clone() {
            for value in near.clone() {
                assert_eq!(
                    value <= beside_zero(threshold),
                    snapped(value) <= threshold,
                    "{value} {threshold}"
                );
            }
        }
    }

    fn node(left: i32, right: i32) -> Node {
        Node { column: 0, test: Test::InSet { words: vec![] }, left, right }
    }

    #[test]
    fn only_trees_pass_the_shape_check() {
        let shape = |nodes: Vec<Node>, leaves: usize| {
            check_shape(&Tree { nodes, leaves: vec![0.0; leaves], covers: vec![] })
        };
        assert!(shape(vec![], 1).is_ok());
        assert!(shape(vec![node(1, !0), node(!1, !2)], 3).is_ok());
        assert!(shape(vec![node(0, !0), node(!1, !2)], 3).is_err(), "a cycle at the root");
        assert!(shape(vec![node(!0, !1), node(1, !2)], 3).is_err(), "a cycle beside the root");
        assert!(shape(vec![node(1, !0), node(!1, !1)], 3).is_err(), "a shared leaf");
        assert!(shape(vec![node(7, !0), node(!1, !2)], 3).is_err(), "a child out of range");
        assert!(shape(vec![node(1, i32::MIN), node(!1, !2)], 3).is_err(), "a leaf out of range");
    }
}
