//! Advice under later models: of the people for whom an action works today, how many would a retrained model still accept?

use schemars::JsonSchema;
use serde::Serialize;
use sogar_base::error::Result;
use sogar_prepare::prepared::Prepared;
use sogar_prepare::require::OtherModel;

use super::HeldOut;
use super::sums::{Effects, of_points};
use crate::summary::{FrontFile, HeldOutLeaf};

/// People for whom advice works today, and those among them whom a later model accepts (with weights: in units).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Survived {
    /// For whom it works today.
    pub works: u64,
    /// For whom it still works.
    pub survives: u64,
}

impl Survived {
    /// The share of advice that survives.
    pub fn share(self) -> f64 {
        if self.works == 0 { 1.0 } else { self.survives as f64 / self.works as f64 }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Survived) -> Survived {
        Survived { works: self.works + other.works, survives: self.survives + other.survives }
    }
}

/// The front under one later model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Survival {
    /// The model's file.
    pub model: String,
    /// SHA-256 of its bytes.
    pub hash: String,
    /// Each point, with the leaves of its tree from left to right.
    pub points: Vec<Vec<Survived>>,
}

impl Survival {
    /// All leaves of a point together.
    pub fn of_point(&self, point: usize) -> Survived {
        self.points[point].iter().fold(Survived::default(), |sum, leaf| sum.and(*leaf))
    }
}

/// The share of advice that survives each of some later models, on the people of another table.
pub fn survival(
    front: &FrontFile,
    prepared: &Prepared,
    held_out: &HeldOut,
    later: &[OtherModel],
) -> Result<Vec<Survival>> {
    if later.is_empty() {
        return Ok(Vec::new());
    }
    let actions = front.edits_of_actions(&prepared.table().features)?;
    let today: Effects = held_out.apply(prepared, &actions)?;
    let leaves = |effects: &Effects| -> Result<Vec<Vec<HeldOutLeaf>>> {
        Ok(of_points(front, prepared, held_out, effects)?.into_iter().map(|sums| sums.leaves).collect())
    };
    let works = leaves(&today)?;
    later
        .iter()
        .map(|model| {
            let accepted = held_out.accepted(prepared, model, &actions)?;
            let both: Effects = today
                .iter()
                .zip(&accepted)
                .map(|(today, later)| {
                    let pairs = today.iter().zip(later);
                    pairs.map(|(&(cost, flipped), &accepted)| (cost, flipped && accepted)).collect()
                })
                .collect();
            let survives = leaves(&both)?;
            let points = works.iter().zip(&survives).map(|(works, survives)| {
                let pairs = works.iter().zip(survives);
                pairs.map(|(a, b)| Survived { works: a.flipped, survives: b.flipped }).collect()
            });
            Ok(Survival {
                model: model.path.display().to_string(),
                hash: model.hash.clone(),
                points: points.collect(),
            })
        })
        .collect()
}
