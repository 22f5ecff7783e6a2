//! The document that XGBoost saves, as far as predictions depend on it. Everything else in the file is skipped.
//!
//! Parameters are text, arrays have one entry per node. Fields of only some releases have defaults.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

#[derive(serde::Deserialize)]
pub(super) struct Document {
    pub version: Vec<u32>,
    pub learner: Learner,
}

#[derive(serde::Deserialize)]
pub(super) struct Learner {
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
    #[serde(default)]
    pub feature_names: Vec<String>,
    pub gradient_booster: Booster,
    pub learner_model_param: LearnerParam,
    pub objective: ObjectiveName,
}

#[derive(serde::Deserialize)]
pub(super) struct LearnerParam {
    pub base_score: String,
    #[serde(default)]
    pub num_class: String,
    pub num_feature: String,
    #[serde(default)]
    pub num_target: String,
}

#[derive(serde::Deserialize)]
pub(super) struct ObjectiveName {
    pub name: String,
}

#[derive(serde::Deserialize)]
pub(super) struct Booster {
    pub name: String,
    #[serde(default)]
    pub model: Option<Forest>,
    /// `dart` wraps a `gbtree`.
    #[serde(default)]
    pub gbtree: Option<InnerBooster>,
    #[serde(default)]
    pub weight_drop: Vec<f32>,
}

#[derive(serde::Deserialize)]
pub(super) struct InnerBooster {
    pub model: Option<Forest>,
}

#[derive(serde::Deserialize)]
pub(super) struct Forest {
    #[serde(default)]
    pub gbtree_model_param: ForestParam,
    /// The output of each tree.
    #[serde(default)]
    pub tree_info: Vec<i64>,
    #[serde(default)]
    pub trees: Vec<Tree>,
    /// The first tree of each round, and the number of trees.
    #[serde(default)]
    pub iteration_indptr: Vec<i64>,
    #[serde(default)]
    pub cats: Categories,
}

#[derive(Default, serde::Deserialize)]
pub(super) struct ForestParam {
    #[serde(default)]
    pub num_parallel_tree: String,
}

/// The names or numbers of category codes, one entry per column (release 3.1 and later).
#[derive(Default, serde::Deserialize)]
pub(super) struct Categories {
    #[serde(default)]
    pub enc: Vec<ColumnCategories>,
}

#[derive(serde::Deserialize)]
pub(super) struct ColumnCategories {
    /// Where each text begins among the bytes of all texts, and their end; absent for numbers.
    pub offsets: Option<Vec<i64>>,
    /// The bytes of the texts, or the numbers.
    #[serde(default)]
    pub values: Vec<Number>,
}

/// A node without children is a leaf.
#[derive(serde::Deserialize)]
pub(super) struct Tree {
    pub left_children: Vec<i32>,
    pub right_children: Vec<i32>,
    pub split_indices: Vec<i64>,
    /// Thresholds of inner nodes, values of leaves; `None` stands for "not a number" in JSON.
    pub split_conditions: Vec<Option<f32>>,
    pub default_left: Vec<Flag>,
    /// 1 if a category is tested.
    #[serde(default)]
    pub split_type: Vec<u8>,
    #[serde(default)]
    pub categories: Vec<i64>,
    #[serde(default)]
    pub categories_nodes: Vec<i64>,
    #[serde(default)]
    pub categories_segments: Vec<i64>,
    #[serde(default)]
    pub categories_sizes: Vec<i64>,
    /// Values of all nodes, if leaves are vectors.
    #[serde(default)]
    pub base_weights: Vec<Option<f32>>,
    /// Values of the leaves, if they are vectors (release 3.2 and later); a leaf's right child is its position.
    #[serde(default)]
    pub leaf_weights: Vec<Option<f32>>,
    /// The weight of the training rows of each node, for contributions.
    #[serde(default)]
    pub sum_hessian: Vec<Option<f32>>,
    #[serde(default)]
    pub tree_param: TreeParam,
}

#[derive(Default, serde::Deserialize)]
pub(super) struct TreeParam {
    #[serde(default)]
    pub size_leaf_vector: String,
}

impl Learner {
    /// Whether scikit-learn's interface (`XGBClassifier`) saved the file; it adds a mark.
    pub fn saved_by_scikit_learn(&self) -> bool {
        self.attributes.contains_key("scikit_learn")
    }
}

impl Tree {
    /// Whether a leaf has a value per class (`multi_strategy="multi_output_tree"`).
    pub(crate) fn has_vectors(&self) -> bool {
        !matches!(self.tree_param.size_leaf_vector.as_str(), "" | "0" | "1")
    }
}

/// A boolean, which release 1.0 writes as such and later ones as 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;

        impl Visitor<'_> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a truth value, 0 or 1")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Flag, E> {
                Ok(Flag(value != 0))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Flag, E> {
                Ok(Flag(value != 0))
            }
        }
        deserializer.deserialize_any(FlagVisitor)
    }
}

/// A number of either kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Whole(i64),
    Real(f64),
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;

        impl Visitor<'_> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number")
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
                Ok(i64::try_from(value).map_or(Number::Real(value as f64), Number::Whole))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Whole(value))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number::Real(value))
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}
