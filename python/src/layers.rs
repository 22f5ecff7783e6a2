//! Linear models and dense networks from Python objects.
//!
//! The Python side (`sogar/_models/_layers.py`) reads the objects; here the parts become a [`DenseNetwork`], with the engine's
//! own definition of its answer (inputs in single precision, sums in double).

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sogar::error::{Error, ErrorKind, Result};
use sogar::model::{Activation, DenseNetwork, Layer, LoadedModel, NetworkDecision, NetworkModel};

use crate::derived::scaling;
use crate::errors::OrRaise;
use crate::trees::entry;

/// The model of a dictionary from `sogar/_models/_layers.py`.
pub fn from_layers(py: Python<'_>, spec: &Bound<'_, PyDict>) -> PyResult<LoadedModel> {
    let columns: Vec<String> = entry(spec, "columns")?;
    let scalings: Vec<Vec<(String, Vec<f64>)>> = entry(spec, "scaling")?;
    let scalings = scalings.iter().map(|steps| scaling(steps)).collect::<Result<Vec<_>>>().or_raise(py)?;
    let layers: Vec<Bound<'_, PyDict>> = entry(spec, "layers")?;
    let layers = layers.iter().map(|layer| read_layer(py, layer)).collect::<PyResult<Vec<_>>>()?;
    let decision =
        read_decision(&entry::<String>(spec, "decision")?, entry(spec, "threshold")?).or_raise(py)?;
    let network = DenseNetwork { inputs: columns.len(), scaling: scalings, layers, decision };
    let info = network.info(&entry::<String>(spec, "format")?, columns);
    let model = NetworkModel::new(info, network).or_raise(py)?;
    let path = PathBuf::from(entry::<String>(spec, "name")?);
    Ok(LoadedModel::new(Arc::new(model), path, entry::<String>(spec, "hash")?))
}

fn fault<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Model, message))
}

fn read_layer(py: Python<'_>, spec: &Bound<'_, PyDict>) -> PyResult<Layer> {
    let weights: PyReadonlyArray2<'_, f32> = entry(spec, "weights")?;
    let bias: PyReadonlyArray1<'_, f32> = entry(spec, "bias")?;
    let weights = weights.as_array();
    let activation = match entry::<String>(spec, "activation")?.as_str() {
        "identity" => Ok(Activation::Identity),
        "relu" => Ok(Activation::Relu),
        "logistic" => Ok(Activation::Sigmoid),
        "tanh" => Ok(Activation::Tanh),
        other => fault(format!("there is no activation `{other}`")),
    };
    Ok(Layer {
        inputs: weights.ncols(),
        outputs: weights.nrows(),
        weights: weights.iter().copied().collect(),
        bias: bias.as_array().iter().copied().collect(),
        activation: activation.or_raise(py)?,
    })
}

fn read_decision(kind: &str, threshold: Option<f64>) -> Result<NetworkDecision> {
    match (kind, threshold) {
        ("sigmoid", Some(threshold)) => Ok(NetworkDecision::Sigmoid { threshold }),
        ("raw", Some(threshold)) => Ok(NetworkDecision::Raw { threshold }),
        ("softmax", None) => Ok(NetworkDecision::Softmax),
        _ => fault(format!("there is no decision `{kind}` of a network")),
    }
}
