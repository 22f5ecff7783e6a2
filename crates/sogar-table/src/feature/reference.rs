//! The reference table as bins, edits and costs see it: features and their distributions, without rows.

use std::sync::Arc;

use super::infer::{Inferred, inferred};
use super::look::Streamed;
use super::{Feature, FeatureTable, Ordered, Scale, codes};
use crate::config::Config;
use crate::table::TableSource;
use sogar_base::error::Result;

/// How the values of features are distributed among people.
pub trait Distributions {
    /// The features.
    fn features(&self) -> &[Feature];
    /// A feature's values in order, each with the weight of its rows.
    fn distribution(&self, feature: usize) -> Arc<Ordered>;
    /// The weight of all rows, in units.
    fn people(&self) -> u64;
    /// Units in the weight of one person.
    fn weight_unit(&self) -> u64;
}

impl Distributions for FeatureTable {
    fn features(&self) -> &[Feature] {
        &self.features
    }

    fn distribution(&self, feature: usize) -> Arc<Ordered> {
        Arc::new(self.ordered(feature))
    }

    fn people(&self) -> u64 {
        self.people()
    }

    fn weight_unit(&self) -> u64 {
        self.weight_unit()
    }
}

/// All people of the reference table, without their rows.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The features in table order.
    pub features: Vec<Feature>,
    /// Number of rows.
    pub rows: usize,
    /// The scale of the weights; `None`: every row is one person.
    pub scale: Option<Scale>,
    distributions: Vec<Arc<Ordered>>,
}

impl Distributions for Reference {
    fn features(&self) -> &[Feature] {
        &self.features
    }

    fn distribution(&self, feature: usize) -> Arc<Ordered> {
        self.distributions[feature].clone()
    }

    fn people(&self) -> u64 {
        self.scale.as_ref().map_or(self.rows as u64, |scale| scale.total)
    }

    fn weight_unit(&self) -> u64 {
        self.scale.as_ref().map_or(1, |scale| u64::from(scale.unit))
    }
}

impl Reference {
    /// All people of a table in memory.
    pub fn of(table: &FeatureTable) -> Reference {
        Reference {
            features: table.features.clone(),
            rows: table.rows,
            scale: table.weights.as_ref().map(Scale::from),
            distributions: (0..table.features.len()).map(|feature| table.distribution(feature)).collect(),
        }
    }

    /// The same for a table that is read in parts: infers its features and returns notices for the user. Holds at most one column
    /// in memory at a time.
    pub fn infer(source: &dyn TableSource, config: &Config) -> Result<(Reference, Inferred)> {
        let scale = config.data.weight.as_deref().map(|column| Scale::read(source, column)).transpose()?;
        let mut distributions = Vec::new();
        let look = Streamed { source, scale: scale.as_ref() };
        let (features, seen) = inferred(&look, config, &mut |feature, values, counts| {
            let values =
                if feature.codes.is_empty() { values } else { codes::without(&values, &feature.codes) };
            distributions.push(Arc::new(Ordered::counted(values, counts.times())));
        })?;
        Ok((Reference { features, rows: source.header().rows, scale, distributions }, seen))
    }
}
