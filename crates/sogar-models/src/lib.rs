//! Models: anything that turns rows of numbers into labels.
//!
//! The pipeline uses a model only through [`Predictor`]. A predictor takes *model columns* (what the model was trained on);
//! `sogar-prepare` turns features into model columns. To add a format, write a reader that returns a `Predictor` and register it
//! in [`load`]; if it is a sum of trees, return a [`TreeEnsemble`] to get the fast outcome computation.

mod callback;
mod contributions;
mod decision;
mod ensemble;
pub mod lightgbm;
pub mod network;
pub mod onnx;
mod recognise;
pub mod scaling;
pub mod single;
mod tree_model;
pub mod xgboost;

pub use callback::{Answers, Batching, Callback, DEFAULT_THRESHOLD};
pub use contributions::{Contributions, Covers};
pub use decision::{Arithmetic, Decision};
pub use ensemble::{Missing, Node, Test, Tree, TreeEnsemble};
pub use network::{Activation, Closeness, DenseNetwork, Layer, NetworkDecision, NetworkModel};
pub use recognise::Format;
pub use scaling::Scaling;
pub use tree_model::TreeModel;

use std::path::Path;
use std::sync::Arc;

use onnx::ExternalFiles;
use sogar_base::error::Result;
use sogar_base::files::read_bytes;

/// Rows of model inputs, row by row in one block.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// `rows × columns` values; a missing value is NaN.
    pub values: &'a [f64],
    /// Number of model columns.
    pub columns: usize,
}

impl<'a> Rows<'a> {
    /// The rows one by one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [f64]> {
        self.values.chunks_exact(self.columns.max(1))
    }
}

/// A model's prediction for one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Index of the predicted class.
    pub label: u32,
    /// The score behind it: the probability of class 1 (two classes) or of the predicted class; for models without probabilities
    /// the raw output.
    pub score: f64,
}

/// The description of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// The format, e.g. `LightGBM text`.
    pub format: String,
    /// One line on its size, e.g. `100 trees, 1600 leaves`.
    pub description: String,
    /// Names of the model columns, in the model's order.
    pub columns: Vec<String>,
    /// Categories of model columns that carry category codes: `categories[column]` lists the texts whose
    /// positions are the codes (as pandas categoricals are stored by LightGBM); empty for plain numbers.
    pub categories: Vec<Vec<String>>,
    /// Lists of categories, in column order, that the file does not assign to columns (as LightGBM stores pandas' ordered
    /// categoricals); the table's text columns decide.
    pub unplaced_categories: Vec<Vec<String>>,
    /// Number of classes (2 for a score model).
    pub classes: u32,
    /// The names of the classes in the order of their indices, if the file has them; otherwise empty.
    pub class_names: Vec<String>,
    /// A score model predicts class 1 iff its score is greater than this.
    pub threshold: Option<f64>,
}

/// Labels and scores of rows.
pub trait Predictor: Send + Sync {
    /// The description of the model and its columns.
    fn info(&self) -> &ModelInfo;

    /// One prediction per row, in order.
    fn predict(&self, rows: Rows<'_>) -> Result<Vec<Prediction>>;

    /// How to call the model with many rows. [`Predictor::predict`] takes any number of them.
    fn batching(&self) -> Batching {
        Batching::default()
    }

    /// Whether scores are known to be probabilities.
    fn gives_probabilities(&self) -> bool {
        false
    }

    /// The model as a sum of trees, if it is one: enables outcomes without re-scoring.
    fn tree_ensemble(&self) -> Option<&TreeEnsemble> {
        None
    }

    /// The model as a dense network, if it is one: enables batched outcomes.
    fn dense_network(&self) -> Option<&DenseNetwork> {
        None
    }
}

/// A model from a file, or another model with an identity in place of the file.
#[derive(Clone)]
pub struct LoadedModel {
    /// The predictor.
    pub predictor: Arc<dyn Predictor>,
    /// The file; for a command the command line.
    pub path: std::path::PathBuf,
    /// SHA-256 of the file's bytes (and of the weight files beside it), in hexadecimal; for a command, of the command line.
    pub hash: String,
    /// Further models that must agree before an action works; they have none themselves.
    pub also: Vec<LoadedModel>,
    /// A function that says how usual rows are, in place of a forest: its score, the larger the more usual.
    pub usual: Option<Arc<LoadedModel>>,
}

impl LoadedModel {
    /// A model of its own.
    pub fn new(
        predictor: Arc<dyn Predictor>,
        path: impl Into<std::path::PathBuf>,
        hash: impl Into<String>,
    ) -> Self {
        LoadedModel { predictor, path: path.into(), hash: hash.into(), also: Vec::new(), usual: None }
    }
}

/// Reads a model file, recognised by its content. `threshold` replaces the model's own decision threshold.
///
/// ```no_run
/// let model = sogar_models::load("model.txt".as_ref(), None)?;
/// assert_eq!(model.predictor.info().format, "LightGBM text");
/// # Ok::<(), sogar_base::Error>(())
/// ```
pub fn load(path: &Path, threshold: Option<f64>) -> Result<LoadedModel> {
    let bytes = read_bytes(path)?;
    let mut files = ExternalFiles::beside(path);
    let predictor = from_bytes_and_files(&bytes, threshold, &mut files).map_err(|error| error.file(path))?;
    Ok(LoadedModel::new(predictor, path, files.hash_with(&bytes)))
}

/// The model in these bytes, recognised by their content; see [`load`].
pub fn from_bytes(bytes: &[u8], threshold: Option<f64>) -> Result<Arc<dyn Predictor>> {
    from_bytes_and_files(bytes, threshold, &mut ExternalFiles::none())
}

/// Like [`from_bytes`], with the files beside the model, in which ONNX may store weights.
fn from_bytes_and_files(
    bytes: &[u8],
    threshold: Option<f64>,
    files: &mut ExternalFiles,
) -> Result<Arc<dyn Predictor>> {
    match Format::of(bytes) {
        Format::Onnx => onnx::parse_bytes(bytes, threshold, files),
        Format::LightGbmText => Ok(Arc::new(lightgbm::parse_bytes(bytes, threshold)?)),
        Format::LightGbmJson => Ok(Arc::new(lightgbm::parse_json(bytes, threshold)?)),
        Format::XgBoostJson => Ok(Arc::new(xgboost::parse_json(bytes, threshold)?)),
        Format::XgBoostUbj => Ok(Arc::new(xgboost::parse_ubjson(bytes, threshold)?)),
        other => Err(other.refusal()),
    }
}
