//! From a table and a model to the affected people, for tables in memory, files that are read in parts, and partitions of data
//! frames.
//!
//! The table is read twice. The first pass goes column by column: it finds the features and the counts of their values, from
//! which bins, edits and costs are made. The second pass goes through parts of rows: the model labels all rows, and the affected
//! rows, or all, are kept. Of other rows, only a hash of the model's predictions remains.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use super::Prepared;
use super::build::{Classified, labelled, without_predictions};
use crate::class_order::NameCheck;
use crate::encode::Encoder;
use crate::model::LoadedModel;
use crate::plausibility::Plausibility;
use crate::population::{Classes, Comparison, some_but_not_all};
use crate::predict::HashOfPredictions;
use crate::predict::{predict_table, rows_at_once};
use crate::require::Requirements;
use sogar_base::error::{Faults, Result};
use sogar_table::config::Config;
use sogar_table::feature::{FeatureTable, Reference, declare_shown, label_names, label_values};
use sogar_table::table::{Table, TableSource};

/// Which rows to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Everybody,
    Affected,
}

impl Prepared {
    /// Runs all stages up to the problem's size, and keeps all rows. `folder` has the files named in the configuration.
    /// `predictions` names a column with the model's labels, to be compared first.
    pub fn new(
        config: Config,
        folder: &Path,
        table: &Table,
        model: LoadedModel,
        predictions: Option<&str>,
    ) -> Result<Prepared> {
        Prepared::from_source(config, folder, table, model, predictions, Keep::Everybody)
    }

    /// The same from a table that need not fit into memory. Keeps only the affected rows.
    pub fn streamed(
        config: Config,
        folder: &Path,
        source: &dyn TableSource,
        model: LoadedModel,
        predictions: Option<&str>,
    ) -> Result<Prepared> {
        Prepared::from_source(config, folder, source, model, predictions, Keep::Affected)
    }

    fn from_source(
        config: Config,
        folder: &Path,
        source: &dyn TableSource,
        model: LoadedModel,
        predictions: Option<&str>,
        keep: Keep,
    ) -> Result<Prepared> {
        let header = source.header();
        let mut config = without_predictions(config, header, predictions)?;
        let mut notices = header.check_renamed(&config, &model.predictor.info().columns)?;
        declare_shown(source, &mut config, &model.predictor.info().columns, &mut notices)?;
        notices.extend(config.check(None)?);
        let mut faults = Faults::default();
        // A missing label is reported together with other missing names.
        let is_there = config.data.label.as_ref().is_some_and(|label| header.column(label).is_some());
        let labels = if is_there { faults.take(label_names(source, &config)).flatten() } else { None };
        faults.take(config.check_label(labels.as_ref()));
        let (reference, seen) = match Reference::infer(source, &config) {
            Ok(inferred) => inferred,
            Err(error) => return Err(faults.and(error)),
        };
        notices.extend(seen.notices);
        faults.take(config.check_features(&reference.features, &mut notices));
        faults.finish()?;
        let columns: Vec<&str> = header.names().collect();
        let info = model.predictor.info();
        let (encoder, more) =
            Encoder::match_table_columns(info, &reference.features, &config.model, &columns)
                .map_err(|error| error.file(&model.path))?;
        notices.extend(more);
        encoder
            .check_absent(info, model.predictor.tree_ensemble())
            .map_err(|error| error.file(&model.path))?;
        let classes = Classes::new(info, labels.as_ref(), &config)?;
        let required = Requirements::new(&model, &classes, &reference.features, &config.model, &columns)?;
        let judge = Classifier {
            config: &config,
            reference: &reference,
            model: &model,
            encoder: &encoder,
            classes: &classes,
        };
        let names = NameCheck::new(info, labels.as_ref(), &config);
        let kept = judge.classify(source, predictions, keep, names)?;
        let (scale, usual) = (reference.scale.clone(), model.usual.clone());
        let mut prepared = Prepared::finish(Classified {
            folder: folder.to_path_buf(),
            table_path: header.path.clone(),
            table_hash: header.hash.clone(),
            affected: kept.affected,
            table: kept.table,
            places: kept.places,
            opposite: kept.opposite,
            predictions_hash: kept.predictions_hash,
            seconds_per_row: kept.seconds / header.rows.max(1) as f64,
            model,
            encoder,
            required,
            classes,
            reference,
            notices,
            unfit: seen.unfit,
            config,
        })?;
        let features = &prepared.table.features;
        prepared.required.plausibility =
            Plausibility::new(source, features, scale.as_ref(), &prepared.config, usual.as_deref())?;
        Ok(prepared)
    }
}

/// What is needed to find out who is affected.
struct Classifier<'a> {
    config: &'a Config,
    reference: &'a Reference,
    model: &'a LoadedModel,
    encoder: &'a Encoder,
    classes: &'a Classes,
}

/// The rows that are kept.
struct KeptRows {
    table: FeatureTable,
    /// The affected ones among them.
    affected: Vec<usize>,
    /// Their positions in the table; `None`: the same positions.
    places: Option<Vec<usize>>,
    predictions_hash: String,
    /// How few rows agree with the label, if it is the opposite of what the model predicts.
    opposite: Option<f64>,
    /// How long the model took.
    seconds: f64,
}

impl Classifier<'_> {
    /// Labels all rows and keeps those that are wanted.
    fn classify(
        &self,
        source: &dyn TableSource,
        predictions: Option<&str>,
        keep: Keep,
        mut names: Option<NameCheck<'_>>,
    ) -> Result<KeptRows> {
        let features = &self.reference.features;
        let scale = self.reference.scale.as_ref();
        let mut columns: Vec<&str> = features.iter().flat_map(|feature| feature.columns.names()).collect();
        columns.extend(scale.map(|scale| scale.column.as_str()));
        columns.extend(predictions);
        columns.extend(names.as_ref().and(self.config.data.label.as_deref()));
        let as_label = predictions.map(|column| labelled(self.config, column));
        let mut comparison = Comparison::default();
        let mut hash = HashOfPredictions::default();
        let mut weights = scale.map(sogar_table::feature::Scale::none);
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); features.len()];
        let (mut turned_down, mut rows, mut seconds) = (Vec::new(), 0, 0.0);
        let predictor = &*self.model.predictor;
        source.each_part(&columns, rows_at_once(predictor), &mut |part: &Table| {
            let (seen, _) = FeatureTable::apply(features, part, self.config)?;
            let start = Instant::now();
            let predicted = predict_table(predictor, self.encoder, &seen)?;
            seconds += start.elapsed().as_secs_f64();
            if let Some(as_label) = &as_label
                && let Some(claimed) = label_values(part, as_label)?
            {
                comparison.add(&predicted, self.classes, &claimed);
            }
            if let Some(names) = &mut names
                && let Some(labels) = label_values(part, self.config)?
            {
                names.add(&predicted, &labels);
            }
            hash.add(&predicted);
            let affected = self.classes.turned_down(&predicted);
            turned_down.extend(affected.iter().map(|row| rows + row));
            let kept = if keep == Keep::Affected { affected } else { (0..part.rows).collect() };
            for (values, seen) in values.iter_mut().zip(&seen.values) {
                values.extend(kept.iter().map(|&row| seen[row]));
            }
            if let (Some(weights), Some(scale)) = (&mut weights, scale) {
                let all = scale.part(part)?;
                weights.append(kept.iter().map(|&row| all.of_row(row)));
            }
            rows += part.rows;
            Ok(ControlFlow::Continue(()))
        })?;
        if let Some(column) = predictions {
            comparison.finish(column).map_err(|error| error.file(&source.header().path))?;
        }
        let opposite = names.map(|names| names.finish(self.config)).transpose()?.flatten();
        some_but_not_all(turned_down.len(), rows, self.classes)?;
        values.iter_mut().for_each(Vec::shrink_to_fit);
        let (affected, places, rows) = match keep {
            Keep::Everybody => (turned_down, None, rows),
            Keep::Affected => {
                ((0..turned_down.len()).collect(), Some(turned_down.clone()), turned_down.len())
            }
        };
        let table = FeatureTable { features: features.clone(), values, rows, weights };
        Ok(KeptRows { table, affected, places, predictions_hash: hash.finish(), opposite, seconds })
    }
}
