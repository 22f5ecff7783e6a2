//! ONNX files: dense networks, linear models and tree ensembles, as exported from PyTorch, Keras, JAX, scikit-learn, LightGBM and
//! XGBoost.
//!
//! The file is read without an ONNX runtime, because the fast outcome computations need the layers and trees themselves. It is
//! untrusted input: every length is checked against the available bytes ([`wire`]), other files are read only beside the model
//! ([`ExternalFiles`]), and the cost of following the graph is limited ([`budget`]).
//!
//! The parts, in processing order: [`wire`] and [`proto`] (bytes into messages), [`tensor`] (constants), [`graph`] (the walk from
//! inputs to outputs), [`operators`] (the result of each operator; with [`columns`], [`arithmetic`], [`linear`], [`chain`] for
//! networks and [`ensembles`], [`branches`], [`leaves`], [`version_5`] for trees), and [`answer`] (which output decides, and
//! how).

mod answer;
mod arithmetic;
mod attributes;
mod branches;
mod budget;
mod chain;
mod columns;
mod ensembles;
mod external;
mod graph;
mod leaves;
mod linear;
mod operators;
mod proto;
#[cfg(feature = "onnx-runtime")]
mod runtime;
mod tensor;
mod value;
mod version_5;
mod wire;

use std::sync::Arc;

pub use external::ExternalFiles;

use super::Predictor;
use budget::Budget;
use proto::{Graph, Model};
use sogar_base::error::{Error, ErrorKind, Result};

/// Reads a model from the bytes of a file; `files` are those beside it, for external weights.
///
/// `threshold` replaces the decision threshold on the score of class 1. Without one, the file's own labels decide; a model with a
/// single number that is not a probability needs it.
pub fn parse_bytes(
    bytes: &[u8],
    threshold: Option<f64>,
    files: &mut ExternalFiles,
) -> Result<Arc<dyn Predictor>> {
    let model = Model::read(bytes)?;
    check_operator_sets(&model)?;
    let graph = Graph::read(model.graph.ok_or_else(|| damaged("the file has no graph"))?)?;
    let mut budget = Budget::of(bytes.len());
    let mut walked = graph::walk(&graph, files, &mut budget)?;
    let chosen = match answer::choose(&walked.outputs) {
        Ok(chosen) => chosen,
        Err(unread) => {
            let columns = named_columns(walked.columns, &model)?;
            return otherwise(unread, bytes, &graph, columns, threshold);
        }
    };
    // Values share their parts; dropping unused ones avoids copies.
    walked.outputs.clear();
    let columns = named_columns(walked.columns, &model)?;
    chosen.predictor(columns, threshold, &mut budget)
}

/// A graph with unsupported operators: a black box for an ONNX runtime, if there is one.
#[cfg(feature = "onnx-runtime")]
fn otherwise(
    unread: Error,
    bytes: &[u8],
    graph: &Graph<'_>,
    columns: Vec<String>,
    threshold: Option<f64>,
) -> Result<Arc<dyn Predictor>> {
    // If the runtime does not support it either, users need to know which operator made it a black box.
    runtime::predictor(bytes, graph, columns, threshold).map_err(|error| match error.kind() {
        ErrorKind::Usage => error,
        _ => Error::new(ErrorKind::Model, format!("{unread}; {error}"))
            .help(error.remedy().unwrap_or_default().to_owned()),
    })
}

#[cfg(not(feature = "onnx-runtime"))]
fn otherwise(
    unread: Error,
    _bytes: &[u8],
    _graph: &Graph<'_>,
    _columns: Vec<String>,
    _threshold: Option<f64>,
) -> Result<Arc<dyn Predictor>> {
    Err(unread)
}

/// Refuses operator sets in which the operators had another meaning.
fn check_operator_sets(model: &Model<'_>) -> Result<()> {
    const OLDEST: i64 = 7;
    match model.operator_sets.iter().find(|(domain, _)| domain.is_empty() || *domain == "ai.onnx") {
        Some((_, version)) if *version < OLDEST => {
            let message = format!(
                "the model uses version {version} of ONNX's operators; {OLDEST} is the oldest that is read"
            );
            Err(Error::new(ErrorKind::Model, message).help("export the model again with a newer `opset`"))
        }
        _ => Ok(()),
    }
}

/// Names in the file's metadata under `feature_names` (a JSON list, or separated by commas).
fn named_columns(columns: Vec<String>, model: &Model<'_>) -> Result<Vec<String>> {
    let Some((_, text)) = model.metadata.iter().find(|(key, _)| *key == "feature_names") else {
        return Ok(columns);
    };
    let names: Vec<String> = match serde_json::from_str(text) {
        Ok(names) => names,
        Err(_) => text.split(',').map(|name| name.trim().to_string()).collect(),
    };
    if names.len() == columns.len() {
        return Ok(names);
    }
    let message = format!(
        "the file's metadata `feature_names` lists {} names, but the model has {} columns",
        names.len(),
        columns.len()
    );
    Err(Error::new(ErrorKind::Model, message)
        .help("write one name for each of the model's columns, in its order"))
}

/// The error for a file that exporters do not write.
fn damaged(message: impl Into<String>) -> Error {
    let help = "the file is damaged or was changed by hand; export the model again";
    Error::new(ErrorKind::Model, message).help(help)
}
