//! The nodes of `TreeEnsemble` (version 5 of the operator set), with leaves in separate lists.

use super::branches::{Branch, Mode, Place};
use super::damaged;
use super::ensembles::Branches;
use super::leaves::{LeafWeights, Weight};
use super::operators::Call;
use sogar_base::error::Result;

/// The branches, the roots, and the leaf weights.
pub(super) fn nodes(call: &mut Call<'_, '_>) -> Result<(Branches, Vec<Place>, LeafWeights)> {
    let splits = call.tensor_numbers("nodes_splits")?;
    let modes = call.tensor_numbers("nodes_modes")?;
    let values = call.tensor_numbers("leaf_weights")?;
    let attributes = &call.attributes;
    let columns = attributes.integers("nodes_featureids");
    let (holds, fails) =
        (attributes.integers("nodes_truenodeids"), attributes.integers("nodes_falsenodeids"));
    let (hold_leaves, fail_leaves) =
        (attributes.integers("nodes_trueleafs"), attributes.integers("nodes_falseleafs"));
    let missing = attributes.integers("nodes_missing_value_tracks_true");
    let outputs = attributes.integers("leaf_targetids");
    let count = splits.len();
    let lengths =
        [modes.len(), columns.len(), holds.len(), fails.len(), hold_leaves.len(), fail_leaves.len()];
    let fitting = lengths.iter().all(|&length| length == count)
        && (missing.is_empty() || missing.len() == count)
        && outputs.len() == values.len();
    if !fitting || count == 0 {
        return Err(damaged("the lists that describe a tree ensemble differ in length, or are empty"));
    }
    let place = |index: i64, is_leaf: i64| {
        let index = usize::try_from(index).ok();
        match is_leaf {
            0 => index.filter(|&index| index < count).map(Place::Branch),
            _ => index.filter(|&index| index < values.len()).map(Place::Leaf),
        }
        .ok_or_else(|| damaged("a node of a tree leads to one that is not there"))
    };
    let mut list = Vec::with_capacity(count);
    for index in 0..count {
        let mode = match modes[index] {
            0.0 => Mode::AtMost,
            1.0 => Mode::Below,
            2.0 => Mode::AtLeast,
            3.0 => Mode::Above,
            4.0 => Mode::Equal,
            5.0 => Mode::NotEqual,
            other => return Err(call.unsupported(&format!("with the test number {other}"))),
        };
        list.push(Branch {
            mode,
            column: usize::try_from(columns[index])
                .map_err(|_| damaged(format!("a tree tests column {}", columns[index])))?,
            value: splits[index],
            missing_holds: missing.get(index) == Some(&1),
            holds: place(holds[index], hold_leaves[index])?,
            fails: place(fails[index], fail_leaves[index])?,
        });
    }
    let mut roots = Vec::new();
    for &root in attributes.integers("tree_roots") {
        let root = usize::try_from(root).ok().filter(|&root| root < count);
        let root = root.ok_or_else(|| damaged("a tree's root is not there"))?;
        // A tree of one leaf is written as a node with both branches to it.
        let branch: &Branch = &list[root];
        roots.push(match (branch.holds, branch.fails) {
            (Place::Leaf(a), Place::Leaf(b)) if a == b => Place::Leaf(a),
            _ => Place::Branch(root),
        });
    }
    let mut weights = Vec::with_capacity(values.len());
    for (leaf, (&value, &output)) in values.iter().zip(outputs).enumerate() {
        let output =
            usize::try_from(output).map_err(|_| damaged(format!("a leaf adds to the output {output}")))?;
        weights.push(Weight { leaf, output, value });
    }
    let leaves = values.len();
    Ok((Branches { list, places: Default::default() }, roots, LeafWeights::new(weights, leaves)?))
}
