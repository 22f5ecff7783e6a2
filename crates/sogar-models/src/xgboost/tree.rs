//! One tree: from arrays with an entry per node to inner nodes and leaves.
//!
//! A tree is followed from its root, and only reached nodes are kept: pruned nodes remain in the arrays.

use super::schema;
use crate::ensemble::{Missing, Node, Test, Tree};
use crate::single::largest_below;

/// XGBoost counts categories in single precision and treats this number and larger ones as none.
const END_OF_CATEGORIES: i64 = 1 << 24;

/// Reads and checks a tree over `columns` model columns: one tree, or one per output if leaves are vectors. `weight` is the
/// factor of the tree in `dart`.
pub(super) fn read(
    raw: &schema::Tree,
    weight: Option<f32>,
    columns: usize,
    outputs: usize,
) -> Result<Vec<Tree>, String> {
    check_lengths(raw)?;
    let size = if raw.has_vectors() { outputs } else { 1 };
    if raw.has_vectors() && raw.tree_param.size_leaf_vector.parse() != Ok(outputs) {
        return Err(format!("leaves have {} values for {outputs} outputs", raw.tree_param.size_leaf_vector));
    }
    if size > 1 && size > raw.leaf_weights.len().max(raw.base_weights.len()) {
        return Err(format!("there are no leaves with {size} values"));
    }
    let sets = CategorySets::of(raw)?;
    let mut nodes: Vec<Node> = Vec::new();
    let mut leaves: Vec<Vec<f64>> = vec![Vec::new(); size];
    let mut covers: Vec<f64> = Vec::new();
    let mut seen = vec![false; raw.left_children.len()];
    // A node of the file, and where its number goes: the parent's position and side.
    let mut open: Vec<(i32, Option<(usize, bool)>)> = vec![(0, None)];
    while let Some((at, parent)) = open.pop() {
        let index = usize::try_from(at).ok().filter(|&index| index < seen.len());
        let index = index.ok_or_else(|| format!("there is no node {at}"))?;
        if std::mem::replace(&mut seen[index], true) {
            return Err(format!("node {at} has two parents"));
        }
        let number = if raw.left_children[index] < 0 {
            let number = !leaves.first().map_or(0, Vec::len) as i64;
            for (output, leaves) in leaves.iter_mut().enumerate() {
                leaves.push(leaf_value(raw, index, output, size, weight)?);
            }
            // If a node has none, the lengths differ, and none is used.
            covers.extend(raw.sum_hessian.get(index).copied().flatten().map(f64::from));
            number
        } else {
            let place = nodes.len();
            nodes.push(Node {
                column: column(raw, index, columns)?,
                test: test(raw, index, &sets)?,
                left: 0,
                right: 0,
            });
            open.push((raw.right_children[index], Some((place, false))));
            open.push((raw.left_children[index], Some((place, true))));
            place as i64
        };
        let number = i32::try_from(number).map_err(|_| "the tree is too large".to_string())?;
        match parent {
            Some((place, true)) => nodes[place].left = number,
            Some((place, false)) => nodes[place].right = number,
            None => {}
        }
    }
    Ok(leaves
        .into_iter()
        .map(|leaves| Tree { nodes: nodes.clone(), leaves, covers: covers.clone() })
        .collect())
}

fn check_lengths(raw: &schema::Tree) -> Result<(), String> {
    let count = raw.left_children.len();
    let lengths = [
        ("right_children", raw.right_children.len()),
        ("split_indices", raw.split_indices.len()),
        ("split_conditions", raw.split_conditions.len()),
        ("default_left", raw.default_left.len()),
        // Absent before categories could be tested.
        ("split_type", if raw.split_type.is_empty() { count } else { raw.split_type.len() }),
    ];
    match lengths.iter().find(|(_, length)| *length != count) {
        Some((name, length)) => Err(format!("{count} nodes have {length} entries in `{name}`")),
        None => Ok(()),
    }
}

fn column(raw: &schema::Tree, index: usize, columns: usize) -> Result<usize, String> {
    let column = raw.split_indices[index];
    usize::try_from(column)
        .ok()
        .filter(|&column| column < columns)
        .ok_or_else(|| format!("column {column} is beyond the model's {columns} columns"))
}

fn leaf_value(
    raw: &schema::Tree,
    index: usize,
    output: usize,
    size: usize,
    weight: Option<f32>,
) -> Result<f64, String> {
    let value = if !raw.has_vectors() {
        raw.split_conditions.get(index)
    } else if raw.leaf_weights.is_empty() {
        raw.base_weights.get(index.saturating_mul(size).saturating_add(output))
    } else {
        let place = usize::try_from(raw.right_children[index]).unwrap_or(usize::MAX);
        raw.leaf_weights.get(place.saturating_mul(size).saturating_add(output))
    };
    let value = value.ok_or_else(|| format!("leaf {index} has no value"))?;
    // `dart` multiplies in single precision, before it adds.
    let value = value.map(|value| weight.map_or(value, |weight| value * weight));
    match value {
        Some(value) if value.is_finite() => Ok(f64::from(value)),
        _ => Err("a leaf's value is not a finite number".into()),
    }
}

fn test(raw: &schema::Tree, index: usize, sets: &CategorySets) -> Result<Test, String> {
    let default_left = raw.default_left[index].0;
    match raw.split_type.get(index).copied().unwrap_or(0) {
        0 => {
            let threshold = raw.split_conditions[index].filter(|threshold| !threshold.is_nan());
            let threshold = threshold.ok_or("a threshold is not a number")?;
            // Values are narrowed to single precision and pass if below the threshold.
            let threshold = largest_below(threshold).unwrap_or(f64::NEG_INFINITY);
            Ok(Test::AtMost { threshold, missing: Missing::NaNIsMissing, default_left })
        }
        1 => Ok(Test::NoneOf { categories: sets.of_node(raw, index)?.into(), default_left }),
        other => Err(format!("{other} is not a kind of test")),
    }
}

/// Which categories the categorical nodes test.
struct CategorySets {
    /// `(node, where its categories begin, their number)`, by node.
    ranges: Vec<(i64, i64, i64)>,
}

impl CategorySets {
    fn of(raw: &schema::Tree) -> Result<CategorySets, String> {
        let (nodes, starts, sizes) = (&raw.categories_nodes, &raw.categories_segments, &raw.categories_sizes);
        if nodes.len() != starts.len() || nodes.len() != sizes.len() {
            return Err("the sets of categories do not fit their nodes".into());
        }
        let mut ranges: Vec<(i64, i64, i64)> =
            nodes.iter().zip(starts).zip(sizes).map(|((&node, &start), &size)| (node, start, size)).collect();
        ranges.sort_unstable();
        match ranges.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(format!("node {} has two sets of categories", pair[0].0)),
            None if sizes
                .iter()
                .try_fold(0i64, |sum, &size| sum.checked_add(size))
                .is_none_or(|sum| usize::try_from(sum).map_or(true, |sum| sum > raw.categories.len())) =>
            {
                Err("the sets of categories overlap".into())
            }
            None => Ok(CategorySets { ranges }),
        }
    }

    fn of_node(&self, raw: &schema::Tree, index: usize) -> Result<Vec<u32>, String> {
        let missing = || format!("node {index} has no set of categories");
        let position = self.ranges.binary_search_by_key(&(index as i64), |range| range.0);
        let (_, start, size) = self.ranges[position.map_err(|_| missing())?];
        let (start, size) = (usize::try_from(start).ok(), usize::try_from(size).ok());
        let range = start.zip(size).and_then(|(start, size)| Some(start..start.checked_add(size)?));
        let categories = range.and_then(|range| raw.categories.get(range)).ok_or_else(missing)?;
        let mut set = Vec::with_capacity(categories.len());
        for &category in categories {
            if !(0..END_OF_CATEGORIES).contains(&category) {
                return Err(format!("{category} is not a category"));
            }
            set.push(category as u32);
        }
        set.sort_unstable();
        set.dedup();
        Ok(set)
    }
}
