//! What an action must do for a person besides convincing the first model.
//!
//! The first model is the deployed one and decides who is affected. Models that were trained on other samples or later say how
//! far advice depends on it: of all models, at least `agree` must accept the edited row, the first among them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::encode::Encoder;
use crate::model::{LoadedModel, ModelInfo, Predictor, Rows};
use crate::plausibility::{Measure, Plausibility};
use crate::population::{Classes, is_desired};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::config::{Agree, ModelConfig};
use sogar_table::feature::Feature;

/// A further model, with its own columns.
#[derive(Clone)]
pub struct OtherModel {
    /// The model.
    pub predictor: Arc<dyn Predictor>,
    /// From features to its columns.
    pub encoder: Encoder,
    /// Its file.
    pub path: PathBuf,
    /// SHA-256 of its bytes.
    pub hash: String,
}

/// All that an action must do besides convincing the first model.
#[derive(Clone, Default)]
pub struct Requirements {
    /// Further models.
    pub others: Vec<OtherModel>,
    /// How many of them must accept.
    pub agree: usize,
    /// Per class, whether it is desired.
    pub desired: Vec<bool>,
    /// How usual edited rows are, and how usual they must be; `None` if the configuration sets no minimum.
    pub plausibility: Option<Plausibility>,
}

impl OtherModel {
    /// Matches a further model with the features of a table. It must have the classes of the first.
    pub fn new(
        model: &LoadedModel,
        first: &ModelInfo,
        features: &[Feature],
        config: &ModelConfig,
        columns: &[&str],
    ) -> Result<OtherModel> {
        let info = model.predictor.info();
        let named = !info.class_names.is_empty() && !first.class_names.is_empty();
        if info.classes != first.classes || (named && info.class_names != first.class_names) {
            let list = |info: &ModelInfo| match info.class_names.as_slice() {
                [] => format!("{} classes", info.classes),
                names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
            };
            let message =
                format!("this model has other classes than the first: {}, not {}", list(info), list(first));
            return Err(Error::new(ErrorKind::Model, message)
                .file(&model.path)
                .help("several models must predict the same classes, in the same order"));
        }
        let (encoder, _) = Encoder::match_table_columns(info, features, config, columns)
            .map_err(|error| error.file(&model.path))?;
        encoder
            .check_absent(info, model.predictor.tree_ensemble())
            .map_err(|error| error.file(&model.path))?;
        let (predictor, path, hash) = (model.predictor.clone(), model.path.clone(), model.hash.clone());
        Ok(OtherModel { predictor, encoder, path, hash })
    }

    /// Whether it accepts rows of feature values.
    pub fn accepts(&self, desired: &[bool], rows: &[Vec<f64>]) -> Result<Vec<bool>> {
        let mut block = Vec::with_capacity(rows.len() * self.encoder.columns.len());
        rows.iter().for_each(|row| self.encoder.encode_row(row, &mut block));
        let rows = Rows { values: &block, columns: self.encoder.columns.len() };
        let labels = self.predictor.predict(rows)?;
        Ok(labels.iter().map(|said| is_desired(desired, said.label)).collect())
    }
}

impl Requirements {
    /// The models beside the first, and how many of all must accept.
    pub(crate) fn new(
        model: &LoadedModel,
        classes: &Classes,
        features: &[Feature],
        config: &ModelConfig,
        columns: &[&str],
    ) -> Result<Requirements> {
        let of =
            |other: &LoadedModel| OtherModel::new(other, model.predictor.info(), features, config, columns);
        let others: Vec<OtherModel> = model.also.iter().map(of).collect::<Result<_>>()?;
        let all = others.len() + 1;
        let agree = config.agree.as_ref().map_or(Ok(all), |agree: &Agree| agree.of(all))?;
        // The first always accepts what counts.
        Ok(Requirements { others, agree: agree - 1, desired: classes.desired.clone(), plausibility: None })
    }

    /// Whether nothing is required.
    pub fn is_empty(&self) -> bool {
        !self.asks_others() && self.limiting_plausibility().is_none()
    }

    /// Whether further models have a say.
    pub fn asks_others(&self) -> bool {
        !self.others.is_empty() && self.agree > 0
    }

    /// The plausibility, if it excludes anything.
    pub fn limiting_plausibility(&self) -> Option<&Plausibility> {
        self.plausibility.as_ref().filter(|plausibility| plausibility.limits())
    }

    /// Whether a function of the user measures edited rows.
    pub fn calls_a_measure(&self) -> bool {
        self.limiting_plausibility().is_some_and(|found| matches!(found.measure, Measure::Function(_)))
    }

    /// Whether edited rows meet all requirements, for the people who had the rows before.
    pub fn hold(&self, before: &[Vec<f64>], after: &[Vec<f64>]) -> Result<Vec<bool>> {
        let mut holds = self.enough_accept(after)?;
        if let Some(plausibility) = self.limiting_plausibility() {
            let plausible = plausibility.hold(before, after)?;
            holds.iter_mut().zip(plausible).for_each(|(holds, plausible)| *holds &= plausible);
        }
        Ok(holds)
    }

    /// Whether enough of the further models accept rows of feature values.
    fn enough_accept(&self, rows: &[Vec<f64>]) -> Result<Vec<bool>> {
        let mut votes = vec![0usize; rows.len()];
        for other in self.others.iter().filter(|_| self.agree > 0) {
            let accepted = other.accepts(&self.desired, rows)?;
            votes.iter_mut().zip(accepted).for_each(|(votes, accepted)| *votes += usize::from(accepted));
        }
        Ok(votes.into_iter().map(|votes| votes >= self.agree).collect())
    }
}
