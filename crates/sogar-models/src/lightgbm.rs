//! LightGBM's text format (`booster.save_model("model.txt")`), versions v3 and v4, and its JSON dump (`booster.dump_model()`),
//! which has the same contents.
//!
//! The file is untrusted input. No allocation relies on a count in the file: every array is as long as its text, and the counts
//! must agree with it. Trees are checked to be trees, so that following children always ends at a leaf.
//!
//! The parts: [`fields`] (lines and `key=value` blocks), [`header`] (what precedes the trees), [`tree`] (one
//! tree) and [`categories`] (the lists of pandas categories at the end); [`dump`] for the JSON file and [`nested`] for its
//! trees.

pub mod categories;
mod dump;
mod fields;
mod header;
mod nested;
mod tree;

use super::{Arithmetic, Decision, ModelInfo, Tree, TreeEnsemble, TreeModel};
use fields::{Block, Lines};
use header::Header;
use sogar_base::error::{Error, ErrorKind, Result};

/// Reads a model from the bytes of a file; see [`parse`].
pub fn parse_bytes(bytes: &[u8], threshold: Option<f64>) -> Result<TreeModel> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        damaged("the file is not UTF-8 text").row(line)
    })?;
    parse(text, threshold)
}

/// Reads a model from its text.
///
/// `threshold` replaces the decision threshold, which is 0.5 on the probability for `binary` and `cross_entropy`; a model of
/// another objective with one output needs it. Models with one output per class take the largest.
pub fn parse(text: &str, threshold: Option<f64>) -> Result<TreeModel> {
    let mut lines = Lines::of(text);
    let block = Block::header(&mut lines)?;
    let header = Header::read(&block)?;
    let decision = header.decision(threshold)?;
    let trees = read_trees(&mut lines, &header)?;
    let lists = categories::read(&mut lines)?;
    assemble("LightGBM text", header, decision, trees, lists)
}

/// Reads a model from the bytes of a JSON dump; see [`parse`] for the threshold.
pub fn parse_json(bytes: &[u8], threshold: Option<f64>) -> Result<TreeModel> {
    let dump::Contents { header, trees, lists } = dump::read(bytes)?;
    let decision = header.decision(threshold)?;
    assemble("LightGBM JSON", header, decision, trees, lists)
}

fn assemble(
    format: &str,
    header: Header,
    decision: Decision,
    trees: Vec<Tree>,
    lists: Vec<Vec<String>>,
) -> Result<TreeModel> {
    let outputs = header.trees_per_round;
    if trees.is_empty() {
        return Err(
            damaged("the model has no trees").help("train it for at least one round and save it again")
        );
    }
    if !trees.len().is_multiple_of(outputs) {
        let message = format!("{} trees are not whole rounds of {outputs} trees", trees.len());
        return Err(damaged(message));
    }
    let rounds = trees.len() / outputs;
    let divisor = if header.average_output { rounds as f64 } else { 1.0 };
    let ensemble = TreeEnsemble {
        trees,
        outputs,
        base: vec![0.0; outputs],
        base_last: false,
        divisor,
        arithmetic: Arithmetic::Double,
        decision,
    };
    let (categories, unplaced_categories) = categories::place(lists, &header.infos);
    let info = ModelInfo {
        format: format.into(),
        description: describe(&ensemble, &header),
        columns: header.columns,
        categories,
        unplaced_categories,
        classes: if outputs == 1 { 2 } else { u32::try_from(outputs).unwrap_or(u32::MAX) },
        class_names: Vec::new(),
        threshold: decision.threshold(),
    };
    Ok(TreeModel { info, ensemble })
}

/// The trees up to the line `end of trees`, as many as the header announces.
fn read_trees(lines: &mut Lines<'_>, header: &Header) -> Result<Vec<Tree>> {
    let mut trees = Vec::new();
    while let Some(block) = Block::tree(lines)? {
        trees.push(tree::read(&block, header.columns.len())?);
    }
    match header.tree_count {
        Some(count) if count != trees.len() => {
            Err(damaged(format!("the header announces {count} trees, the file has {}", trees.len())))
        }
        _ => Ok(trees),
    }
}

fn describe(ensemble: &TreeEnsemble, header: &Header) -> String {
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut parts = vec![
        count(ensemble.trees.len(), "tree", "trees"),
        count(ensemble.leaf_count(), "leaf", "leaves"),
        format!("objective {}", if header.objective.is_empty() { "unknown" } else { &header.objective }),
    ];
    if header.average_output {
        parts.push("averaged".into());
    }
    parts.join(", ")
}

/// The error for a file that LightGBM did not write.
fn damaged(message: impl Into<String>) -> Error {
    let help =
        "the file is damaged or was changed by hand; save it again with `booster.save_model(\"model.txt\")`";
    Error::new(ErrorKind::Model, message).help(help)
}
