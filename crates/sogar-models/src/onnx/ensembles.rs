//! ONNX's tree ensembles: `TreeEnsembleClassifier` and `TreeEnsembleRegressor`, and `TreeEnsemble`, which replaces both from
//! version 5 of the operator set on.
//!
//! Sums are those of onnxruntime on one thread: in the precision of the inputs, tree by tree, the base value last. A leaf may add
//! to several classes; each class gets its own copy of the tree.

use super::branches::{Branch, Mode, Place, check_ends, shape};
use super::budget::Budget;
use super::damaged;
use super::leaves::{LeafWeights, Weight};
use super::operators::Call;
use super::value::Columns;
use crate::{Arithmetic, Tree};
use sogar_base::error::{Error, ErrorKind, Result};

/// The trees of one operator.
#[derive(Debug, Clone)]
pub(super) struct Trees {
    /// The trees of each output, in the order of summation.
    pub of_output: Vec<Vec<Tree>>,
    /// Added to each output last.
    pub base: Vec<f64>,
    pub divisor: f64,
    pub arithmetic: Arithmetic,
    pub answer: Answer,
    /// Whether the operator's scores are probabilities by softmax.
    pub softmax: bool,
}

/// The meaning of the trees' outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Numbers.
    Numbers,
    /// One output, the probability of the second of two classes.
    Probability,
    /// One output, positive for the second of two classes; whether its logistic function is the probability.
    Margin { logistic: bool },
    /// One output for each class.
    Classes,
}

impl Trees {
    pub fn outputs(&self) -> usize {
        self.of_output.len()
    }
}

/// Names of the classes in a classifier's attributes.
pub(super) fn class_names(call: &Call<'_, '_>, texts: &str, integers: &str) -> Vec<String> {
    let named = call.attributes.texts(texts);
    if named.is_empty() {
        call.attributes.integers(integers).iter().map(i64::to_string).collect()
    } else {
        named.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }
}

/// `TreeEnsembleClassifier`.
pub(super) fn classifier(call: &mut Call<'_, '_>, columns: &Columns, classes: usize) -> Result<Trees> {
    let post = call.attributes.text("post_transform")?;
    if !matches!(post, "" | "NONE" | "LOGISTIC" | "SOFTMAX") {
        return Err(call.unsupported(&format!("with the post-transform {post}")));
    }
    if classes < 2 {
        return Err(damaged("a tree classifier names fewer than two classes"));
    }
    let (branches, roots, leaf_count) = nodes(call)?;
    let mut weights = leaf_weights(call, "class", leaf_count, &branches.places)?;
    let base = call.numbers("base_values")?;
    let positive = weights.list.iter().all(|weight| weight.value >= 0.0);
    let one_sided = weights.list.iter().all(|weight| weight.output == weights.list[0].output);
    let (outputs, base, answer) = if classes == 2 && one_sided {
        let answer = match (positive, post) {
            (true, _) => Answer::Probability,
            (false, _) => Answer::Margin { logistic: post == "LOGISTIC" },
        };
        let of_first = weights.list.first().is_some_and(|weight| weight.output == 0);
        let base = match base[..] {
            [] => 0.0,
            [base] if of_first => base,
            [a, b] if a == 0.0 && b == 0.0 => 0.0,
            _ => return Err(call.unsupported("with a base value per class for one score")),
        };
        for weight in &mut weights.list {
            weight.output = 0;
        }
        (1, vec![base], answer)
    } else {
        let base = match base.len() {
            0 => vec![0.0; classes],
            _ if classes == 2 => return Err(call.unsupported("with two scored classes and base values")),
            count if count == classes => base,
            count => {
                return Err(damaged(format!(
                    "a tree classifier has {count} base values for {classes} classes"
                )));
            }
        };
        (classes, base, Answer::Classes)
    };
    let softmax = post == "SOFTMAX" && answer == Answer::Classes;
    let trees = assemble(call, &branches, &roots, &weights, outputs, columns)?;
    if answer == Answer::Classes && call.attributes.numbers("base_values", call.files)?.is_empty() {
        weights.check_every_output(outputs)?;
    }
    Ok(Trees { of_output: trees, base, divisor: 1.0, arithmetic: arithmetic(columns), answer, softmax })
}

/// `TreeEnsembleRegressor`.
pub(super) fn regressor(call: &mut Call<'_, '_>, columns: &Columns) -> Result<Trees> {
    let (branches, roots, leaf_count) = nodes(call)?;
    let weights = leaf_weights(call, "target", leaf_count, &branches.places)?;
    let base = call.numbers("base_values")?;
    numbers(call, &branches, &roots, &weights, base, columns)
}

/// `TreeEnsemble` (version 5).
pub(super) fn ensemble(call: &mut Call<'_, '_>, columns: &Columns) -> Result<Trees> {
    let (branches, roots, weights) = super::version_5::nodes(call)?;
    numbers(call, &branches, &roots, &weights, Vec::new(), columns)
}

/// An ensemble whose outputs are numbers.
fn numbers(
    call: &mut Call<'_, '_>,
    branches: &Branches,
    roots: &[Place],
    weights: &LeafWeights,
    base: Vec<f64>,
    columns: &Columns,
) -> Result<Trees> {
    let targets = call.attributes.integer("n_targets").unwrap_or(1);
    let outputs = usize::try_from(targets).unwrap_or(0);
    if outputs == 0 || outputs > weights.list.len().max(1) {
        return Err(damaged(format!(
            "a tree ensemble announces {targets} targets, which its leaves do not have"
        )));
    }
    let post =
        call.transform("post_transform", &["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"])?;
    let softmax = match post {
        "NONE" => false,
        "SOFTMAX" if outputs > 1 => true,
        _ => return Err(call.unsupported(&format!("with the post-transform {post}"))),
    };
    let divisor = match call.transform("aggregate_function", &["AVERAGE", "SUM", "MIN", "MAX"])? {
        "AVERAGE" if base.iter().all(|&base| base == 0.0) => roots.len() as f64,
        "SUM" => 1.0,
        _ if roots.len() == 1 => 1.0,
        other => return Err(call.unsupported(&format!("that takes the {other} of its trees"))),
    };
    let base = match base.len() {
        0 => vec![0.0; outputs],
        count if count == outputs => base,
        count => {
            return Err(damaged(format!("a tree ensemble has {count} base values for {outputs} targets")));
        }
    };
    let of_output = assemble(call, branches, roots, weights, outputs, columns)?;
    let arithmetic = arithmetic(columns);
    Ok(Trees { of_output, base, divisor, arithmetic, answer: Answer::Numbers, softmax })
}

fn arithmetic(columns: &Columns) -> Arithmetic {
    if columns.single { Arithmetic::Single } else { Arithmetic::Double }
}

/// The inner nodes of all trees, and the converted place of each of the file's nodes.
pub(super) struct Branches {
    pub list: Vec<Branch>,
    pub places: std::collections::BTreeMap<(i64, i64), Place>,
}

/// The nodes of versions 1 to 3: branches, roots, number of leaves.
fn nodes(call: &mut Call<'_, '_>) -> Result<(Branches, Vec<Place>, usize)> {
    let values = call.numbers("nodes_values")?;
    let attributes = &call.attributes;
    let trees = attributes.integers("nodes_treeids");
    let ids = attributes.integers("nodes_nodeids");
    let columns = attributes.integers("nodes_featureids");
    let modes = attributes.texts("nodes_modes");
    let holds = attributes.integers("nodes_truenodeids");
    let fails = attributes.integers("nodes_falsenodeids");
    let missing = attributes.integers("nodes_missing_value_tracks_true");
    let count = trees.len();
    let lengths = [ids.len(), columns.len(), modes.len(), holds.len(), fails.len(), values.len()];
    if count == 0
        || lengths.iter().any(|&length| length != count)
        || !(missing.is_empty() || missing.len() == count)
    {
        return Err(damaged(
            "the lists that describe the nodes of a tree ensemble differ in length, or are empty",
        ));
    }
    let mut places = std::collections::BTreeMap::new();
    let (mut roots, mut leaves, mut inner) = (Vec::new(), 0, 0);
    for index in 0..count {
        let place = if modes[index] == b"LEAF" {
            leaves += 1;
            Place::Leaf(leaves - 1)
        } else {
            inner += 1;
            Place::Branch(inner - 1)
        };
        let id = (trees[index], ids[index]);
        if places.insert(id, place).is_some() {
            return Err(damaged(format!("node {} of tree {} is there twice", id.1, id.0)));
        }
        // The first node of a tree is its root.
        if index == 0 || trees[index - 1] != trees[index] {
            roots.push(place);
        }
    }
    let mut list = Vec::with_capacity(inner);
    for index in 0..count {
        let mode = match modes[index] {
            b"LEAF" => continue,
            b"BRANCH_LEQ" => Mode::AtMost,
            b"BRANCH_LT" => Mode::Below,
            b"BRANCH_GTE" => Mode::AtLeast,
            b"BRANCH_GT" => Mode::Above,
            b"BRANCH_EQ" => Mode::Equal,
            b"BRANCH_NEQ" => Mode::NotEqual,
            other => {
                return Err(call.unsupported(&format!("with the test {}", String::from_utf8_lossy(other))));
            }
        };
        let child = |id: i64| {
            places.get(&(trees[index], id)).copied().ok_or_else(|| {
                damaged(format!(
                    "node {} of tree {} leads to node {id}, which is not there",
                    ids[index], trees[index]
                ))
            })
        };
        list.push(Branch {
            mode,
            column: usize::try_from(columns[index])
                .map_err(|_| damaged(format!("a tree tests column {}", columns[index])))?,
            value: values[index],
            missing_holds: missing.get(index) == Some(&1),
            holds: child(holds[index])?,
            fails: child(fails[index])?,
        });
    }
    Ok((Branches { list, places }, roots, leaves))
}

/// The leaf weights of versions 1 to 3, from the lists whose names begin with `prefix`.
fn leaf_weights(
    call: &mut Call<'_, '_>,
    prefix: &str,
    leaves: usize,
    places: &std::collections::BTreeMap<(i64, i64), Place>,
) -> Result<LeafWeights> {
    let values = call.numbers(&format!("{prefix}_weights"))?;
    let list_of = |what: &str| call.attributes.integers(&format!("{prefix}_{what}"));
    let (trees, nodes, outputs) = (list_of("treeids"), list_of("nodeids"), list_of("ids"));
    if [trees.len(), nodes.len(), outputs.len()].iter().any(|&length| length != values.len())
        || values.is_empty()
    {
        return Err(damaged(
            "the lists that describe the leaves of a tree ensemble differ in length, or are empty",
        ));
    }
    let mut list = Vec::with_capacity(values.len());
    for (index, &value) in values.iter().enumerate() {
        let leaf = match places.get(&(trees[index], nodes[index])) {
            Some(&Place::Leaf(leaf)) => leaf,
            _ => {
                let (node, tree) = (nodes[index], trees[index]);
                return Err(damaged(format!(
                    "a weight belongs to node {node} of tree {tree}, which is not a leaf"
                )));
            }
        };
        let output = usize::try_from(outputs[index])
            .map_err(|_| damaged(format!("a leaf adds to the output {}", outputs[index])))?;
        list.push(Weight { leaf, output, value });
    }
    LeafWeights::new(list, leaves)
}

/// The trees of each output.
fn assemble(
    call: &mut Call<'_, '_>,
    branches: &Branches,
    roots: &[Place],
    weights: &LeafWeights,
    outputs: usize,
    columns: &Columns,
) -> Result<Vec<Vec<Tree>>> {
    check_ends(&branches.list)?;
    if weights.list.iter().any(|weight| weight.output >= outputs) {
        return Err(damaged(format!("a leaf adds to an output beyond the {outputs} that there are")));
    }
    let budget: &mut Budget = call.budget;
    budget.take(outputs, 1)?;
    let mut of_output = vec![Vec::new(); outputs];
    for &root in roots {
        let shape = shape(root, &branches.list, columns, budget)?;
        for (output, leaves) in weights.of_tree(&shape.leaves, budget)? {
            budget.take(shape.nodes.len() + 1, 4)?;
            of_output[output].push(Tree { nodes: shape.nodes.clone(), leaves, covers: Vec::new() });
        }
    }
    // Rounds of one tree for each output: outputs with fewer trees add nothing.
    let rounds = of_output.iter().map(Vec::len).max().unwrap_or(0);
    budget.take(outputs, rounds)?;
    for trees in &mut of_output {
        trees.resize(rounds, Tree { nodes: Vec::new(), leaves: vec![0.0], covers: Vec::new() });
    }
    if rounds == 0 {
        return Err(Error::new(ErrorKind::Model, "the model has no trees")
            .help("train the model and export it again"));
    }
    Ok(of_output)
}
