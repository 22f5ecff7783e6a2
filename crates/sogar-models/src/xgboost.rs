//! XGBoost's own formats, JSON and UBJSON (`booster.save_model("model.json")` or `"model.ubj"`), of releases 1, 2 and 3.
//!
//! Both encode the same document ([`schema`]); [`ubjson`] reads the binary one. It contains the trees ([`tree`]), the start
//! values and the decision ([`objective`]) and the names of categories ([`categories`]). Everything is in single precision, as in
//! the library: outputs equal those of `booster.predict(..., output_margin=True)` of release 3 on a CPU bit by bit.
//!
//! The file is untrusted input. No allocation relies on a count in the file, nothing recurses with its contents, and trees are
//! checked to be trees.

mod categories;
mod not_a_number;
mod objective;
mod schema;
mod tree;
mod ubjson;

use super::{Arithmetic, ModelInfo, Tree, TreeEnsemble, TreeModel};
use not_a_number::without_nan;
use objective::Objective;
use schema::{Document, Forest, Learner};
use sogar_base::error::{Error, ErrorKind, Result};

/// Limit of columns of a model without column names: the file contains only their number.
const MOST_NAMELESS_COLUMNS: usize = 1 << 20;

/// Reads a model from the bytes of a JSON file.
///
/// `threshold` replaces the decision threshold: 0.5 on the probability for `binary:logistic`, 0 on the margin for
/// `binary:hinge` and `binary:logitraw` (there 0.5 if scikit-learn's interface saved the file, as its `predict` does); a
/// model that predicts a number needs it, and one with an output per class has none.
pub fn parse_json(bytes: &[u8], threshold: Option<f64>) -> Result<TreeModel> {
    let document: Document = serde_json::from_slice(&without_nan(bytes))
        .map_err(|error| damaged(format!("the file is not what XGBoost writes: {error}")))?;
    read(document, "XGBoost JSON", threshold)
}

/// Reads a model from the bytes of a UBJSON file; see [`parse_json`].
pub fn parse_ubjson(bytes: &[u8], threshold: Option<f64>) -> Result<TreeModel> {
    let document: Document = ubjson::from_slice(bytes)
        .map_err(|error| damaged(format!("the file is not what XGBoost writes: {error}")))?;
    read(document, "XGBoost UBJSON", threshold)
}

fn read(document: Document, format: &str, threshold: Option<f64>) -> Result<TreeModel> {
    let release = document.version.first().copied().unwrap_or(0);
    if !(1..=3).contains(&release) {
        let message = format!("release {release} of XGBoost is not known");
        let help =
            "files of the releases 1, 2 and 3 are read; load the model with such a release and save it again";
        return Err(Error::new(ErrorKind::Model, message).help(help));
    }
    let learner = document.learner;
    let (forest, weights) = forest(&learner)?;
    let outputs = output_count(&learner)?;
    let objective = Objective::of(&learner, outputs, threshold)?;
    let columns = column_names(&learner)?;
    let used = rounds_in_use(&learner, forest, outputs)?;
    let trees = read_trees(forest, weights, used.trees, outputs, columns.len())?;
    let base = objective.start_values(&learner.learner_model_param.base_score, outputs)?;
    let ensemble = TreeEnsemble {
        trees,
        outputs,
        base,
        base_last: false,
        divisor: 1.0,
        arithmetic: Arithmetic::Single,
        decision: objective.decision,
    };
    let info = ModelInfo {
        format: format.into(),
        description: describe(&ensemble, &learner, &used),
        categories: categories::read(forest, columns.len())?,
        columns,
        unplaced_categories: Vec::new(),
        classes: if outputs == 1 { 2 } else { u32::try_from(outputs).unwrap_or(u32::MAX) },
        class_names: Vec::new(),
        threshold: ensemble.decision.threshold(),
    };
    Ok(TreeModel { info, ensemble })
}

/// The trees and, for `dart`, their weights.
fn forest(learner: &Learner) -> Result<(&Forest, &[f32])> {
    let booster = &learner.gradient_booster;
    let (forest, weights) = match booster.name.as_str() {
        "gbtree" => (booster.model.as_ref(), &[][..]),
        "dart" => (booster.gbtree.as_ref().and_then(|inner| inner.model.as_ref()), &booster.weight_drop[..]),
        "gblinear" => {
            let help = "train with `booster=\"gbtree\"`, or pass the model as a command that scores rows \
                        (`--model-command`)";
            return Err(
                Error::new(ErrorKind::Model, "XGBoost's linear models (`gblinear`) are not read").help(help)
            );
        }
        other => return Err(damaged(format!("there is no booster called `{other}`"))),
    };
    let forest = forest.ok_or_else(|| damaged("the file has no trees"))?;
    if booster.name == "dart" && weights.len() != forest.trees.len() {
        let message = format!("{} trees have {} weights", forest.trees.len(), weights.len());
        return Err(damaged(message));
    }
    Ok((forest, weights))
}

/// Number of outputs: one per class if there are several.
fn output_count(learner: &Learner) -> Result<usize> {
    let param = &learner.learner_model_param;
    let classes = number(&param.num_class, "num_class")?.max(1);
    let targets = number(&param.num_target, "num_target")?.max(1);
    if targets > 1 {
        let message = format!("the model predicts {targets} targets at once, not a class");
        let help = "train one model per target: `binary:logistic` or `multi:softprob`";
        return Err(Error::new(ErrorKind::Model, message).help(help));
    }
    Ok(classes)
}

fn column_names(learner: &Learner) -> Result<Vec<String>> {
    let count = number(&learner.learner_model_param.num_feature, "num_feature")?;
    let names = &learner.feature_names;
    if names.is_empty() {
        if count > MOST_NAMELESS_COLUMNS {
            let help = format!("models without column names are read up to {MOST_NAMELESS_COLUMNS} columns");
            return Err(damaged(format!("the model claims {count} columns")).help(help));
        }
        return Ok((0..count).map(|column| format!("f{column}")).collect());
    }
    if names.len() != count {
        return Err(damaged(format!("{} names are there, but `num_feature` is {count}", names.len())));
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(damaged(format!("the column name `{}` stands twice", pair[0]))),
        None => Ok(names.clone()),
    }
}

/// The part of the model that predicts.
struct Used {
    trees: usize,
    /// Rounds in use, if early stopping left more in the file.
    stopped: Option<usize>,
}

/// With early stopping, the file has rounds after the best one. `Booster.predict` uses them all; scikit-learn's interface stops
/// at the best one. Each leaves a mark in the files that it saves.
fn rounds_in_use(learner: &Learner, forest: &Forest, outputs: usize) -> Result<Used> {
    let all = Used { trees: forest.trees.len(), stopped: None };
    let Some(best) = learner.attributes.get("best_iteration").filter(|_| learner.saved_by_scikit_learn())
    else {
        return Ok(all);
    };
    let rounds = best.parse::<usize>().ok().and_then(|best| best.checked_add(1));
    let rounds = rounds.ok_or_else(|| damaged(format!("`best_iteration` is `{best}`, which is no round")))?;
    let per_round = number(&forest.gbtree_model_param.num_parallel_tree, "num_parallel_tree")?.max(1);
    let vectors = forest.trees.first().is_some_and(schema::Tree::has_vectors);
    let end = match forest.iteration_indptr.get(rounds) {
        Some(&end) => usize::try_from(end).unwrap_or(usize::MAX),
        None => rounds.saturating_mul(per_round).saturating_mul(if vectors { 1 } else { outputs }),
    };
    Ok(if end < all.trees { Used { trees: end, stopped: Some(rounds) } } else { all })
}

/// The trees, round by round with one tree per output, each output's trees in the library's order.
fn read_trees(
    forest: &Forest,
    weights: &[f32],
    used: usize,
    outputs: usize,
    columns: usize,
) -> Result<Vec<Tree>> {
    if forest.tree_info.len() != forest.trees.len() {
        let message = format!("{} trees have {} outputs", forest.trees.len(), forest.tree_info.len());
        return Err(damaged(message));
    }
    if forest.trees.is_empty() || used == 0 {
        return Err(
            damaged("the model has no trees").help("train it for at least one round and save it again")
        );
    }
    if outputs > forest.trees.len() && !forest.trees.iter().all(schema::Tree::has_vectors) {
        return Err(damaged(format!("{} trees cannot serve {outputs} classes", forest.trees.len())));
    }
    let mut of_output: Vec<Vec<Tree>> = Vec::new();
    for (number, (raw, &output)) in forest.trees.iter().zip(&forest.tree_info).take(used).enumerate() {
        let in_tree = |message: String| damaged(format!("tree {number}: {message}"));
        let weight = weights.get(number).copied();
        let trees = tree::read(raw, weight, columns, outputs).map_err(in_tree)?;
        let first = if raw.has_vectors() { Some(0) } else { usize::try_from(output).ok() };
        let first = first.filter(|first| first + trees.len() <= outputs);
        let first = first.ok_or_else(|| in_tree(format!("there is no output {output}")))?;
        if of_output.len() < first + trees.len() {
            of_output.resize_with(first + trees.len(), Vec::new);
        }
        for (list, tree) in of_output[first..].iter_mut().zip(trees) {
            list.push(tree);
        }
    }
    let rounds = of_output.first().map_or(0, Vec::len);
    if of_output.len() != outputs || of_output.iter().any(|trees| trees.len() != rounds) {
        return Err(damaged("the classes do not have the same number of trees"));
    }
    let mut lists: Vec<_> = of_output.into_iter().map(Vec::into_iter).collect();
    Ok((0..rounds).flat_map(|_| lists.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>()).collect())
}

fn describe(ensemble: &TreeEnsemble, learner: &Learner, used: &Used) -> String {
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut parts = vec![
        count(ensemble.trees.len(), "tree", "trees"),
        count(ensemble.leaf_count(), "leaf", "leaves"),
        format!("objective {}", learner.objective.name),
    ];
    if learner.gradient_booster.name == "dart" {
        parts.push("dart".into());
    }
    if let Some(rounds) = used.stopped {
        parts.push(format!("up to round {rounds}, where training stopped early"));
    }
    parts.join(", ")
}

/// A parameter, which the file stores as text; an absent one is 0.
fn number(text: &str, name: &str) -> Result<usize> {
    match text {
        "" => Ok(0),
        _ => text.parse().map_err(|_| damaged(format!("`{name}` is `{text}`, which is no count"))),
    }
}

/// The error for a file that XGBoost did not write.
fn damaged(message: impl Into<String>) -> Error {
    let help =
        "the file is damaged or was changed by hand; save it again with `booster.save_model(\"model.json\")`";
    Error::new(ErrorKind::Model, message).help(help)
}
