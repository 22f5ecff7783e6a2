//! Splits, actions and edits as a result file writes them: by names of features and levels, so that they can be read without the table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bits, FrontFile};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_prepare::actions::{Change, Edit, Follower};
use sogar_table::binarize::{Split, Test, level_name};
use sogar_table::feature::{Feature, feature_index};

/// A value as a table writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A level's name.
    Level(String),
}

/// A split in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SplitRef {
    /// The feature's name.
    pub feature: String,
    /// `<=` or `=`.
    pub test: String,
    /// The threshold, the highest passing level, the category, or the special code of a number.
    pub value: Value,
    /// The split in words.
    pub text: String,
}

/// An action in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionRef {
    /// Its number among all actions of the problem.
    pub id: u32,
    /// Its edits.
    pub edits: Vec<EditRef>,
    /// The action in words.
    pub text: String,
    /// Which affected rows it flips, in the order of `affected_rows`.
    pub flips: Bits,
}

/// An edit of one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EditRef {
    /// The feature's name.
    pub feature: String,
    /// What happens to it.
    #[serde(flatten)]
    pub change: ChangeRef,
    /// Linked features that move with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub followers: Vec<FollowerRef>,
}

/// A change of a feature's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum ChangeRef {
    /// Adds `by` (ordinals: levels), within `[lo, hi]` and never against its sign.
    Shift {
        /// The signed amount.
        by: f64,
        /// Smallest value that the edit produces.
        lo: f64,
        /// Largest value that the edit produces.
        hi: f64,
    },
    /// Raises smaller values to `to`.
    #[serde(rename = "at_least")]
    AtLeast {
        /// The value.
        to: f64,
    },
    /// Brings larger values down to `to`.
    #[serde(rename = "at_most")]
    AtMost {
        /// The value.
        to: f64,
    },
    /// Sets a level, unless the row is at one of `not_from`.
    Set {
        /// The level.
        to: String,
        /// Levels from which this is forbidden.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_from: Vec<String>,
    },
    /// Sets a level on rows at the level `from`.
    Swap {
        /// The level that rows must be at.
        from: String,
        /// The level that they get.
        to: String,
    },
    /// Sets the other of two values.
    Flip,
}

/// A linked feature that moves with an edited one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FollowerRef {
    /// Its name.
    pub feature: String,
    /// Multiplies the change of the edited feature.
    pub factor: f64,
    /// Never below this value …
    pub lo: f64,
    /// … or above this one.
    pub hi: f64,
    /// Rounded to whole values.
    pub whole: bool,
}

impl ActionRef {
    /// Its edits on these features.
    pub fn edits(&self, features: &[Feature]) -> Result<Vec<Edit>> {
        self.edits.iter().map(|edit| edit.edit(features)).collect()
    }
}

impl FrontFile {
    /// The edits of all actions on these features.
    pub fn edits_of_actions(&self, features: &[Feature]) -> Result<Vec<Vec<Edit>>> {
        self.actions.iter().map(|action| action.edits(features)).collect()
    }
}

impl SplitRef {
    /// Describes a split.
    pub fn new(split: &Split, features: &[Feature]) -> Self {
        let feature = &features[split.feature];
        let level = |index: usize| Value::Level(level_name(feature, index).to_owned());
        let (test, value) = match split.test {
            Test::AtMost(edge) if feature.is_numeric() => ("<=", Value::Number(edge)),
            Test::AtMost(edge) => ("<=", level(edge as usize)),
            Test::Equals(index) => ("=", level(index)),
            Test::Is(code) => ("=", Value::Number(code)),
        };
        SplitRef { feature: feature.name.clone(), test: test.to_owned(), value, text: split.text(features) }
    }

    /// The split among these features.
    pub fn split(&self, features: &[Feature]) -> Result<Split> {
        let feature = feature_index(features, &self.feature)?;
        let level = |name: &str| level_of(&features[feature], name);
        let test = match (self.test.as_str(), &self.value) {
            ("<=", Value::Number(edge)) => Test::AtMost(*edge),
            ("<=", Value::Level(name)) => Test::AtMost(level(name)? as f64),
            ("=", Value::Level(name)) => Test::Equals(level(name)?),
            ("=", Value::Number(code)) if features[feature].is_code(*code) => Test::Is(*code),
            (other, _) => {
                return Err(Error::new(ErrorKind::ResultFile, format!("unknown test `{other}`")));
            }
        };
        Ok(Split { feature, test })
    }
}

impl EditRef {
    /// Describes an edit.
    pub fn new(edit: &Edit, features: &[Feature]) -> Self {
        let feature = &features[edit.feature];
        let level = |index: usize| level_name(feature, index).to_owned();
        let change = match &edit.change {
            Change::Shift { by, lo, hi, .. } => ChangeRef::Shift { by: *by, lo: *lo, hi: *hi },
            Change::AtLeast { to, .. } => ChangeRef::AtLeast { to: *to },
            Change::AtMost { to, .. } => ChangeRef::AtMost { to: *to },
            Change::Set { to, not_from } => ChangeRef::Set {
                to: level(*to),
                not_from: not_from.iter().map(|&from| level(from)).collect(),
            },
            Change::Swap { from, to } => ChangeRef::Swap { from: level(*from), to: level(*to) },
            Change::Flip => ChangeRef::Flip,
        };
        let followers = edit.followers.iter().map(|follower| FollowerRef {
            feature: features[follower.feature].name.clone(),
            factor: follower.factor,
            lo: follower.lo,
            hi: follower.hi,
            whole: follower.whole,
        });
        EditRef { feature: feature.name.clone(), change, followers: followers.collect() }
    }

    /// The edit of these features.
    pub fn edit(&self, features: &[Feature]) -> Result<Edit> {
        let feature = feature_index(features, &self.feature)?;
        let level = |name: &String| level_of(&features[feature], name);
        let change = match &self.change {
            ChangeRef::Shift { by, lo, hi } => {
                Change::Shift { by: *by, lo: *lo, hi: *hi, codes: features[feature].codes.clone() }
            }
            ChangeRef::AtLeast { to } => Change::AtLeast { to: *to, codes: features[feature].codes.clone() },
            ChangeRef::AtMost { to } => Change::AtMost { to: *to, codes: features[feature].codes.clone() },
            ChangeRef::Set { to, not_from } => {
                Change::Set { to: level(to)?, not_from: not_from.iter().map(level).collect::<Result<_>>()? }
            }
            ChangeRef::Swap { from, to } => Change::Swap { from: level(from)?, to: level(to)? },
            ChangeRef::Flip => Change::Flip,
        };
        let followers = self.followers.iter().map(|follower| {
            let feature = feature_index(features, &follower.feature)?;
            Ok(Follower {
                feature,
                codes: features[feature].codes.clone(),
                factor: follower.factor,
                lo: follower.lo,
                hi: follower.hi,
                whole: follower.whole,
            })
        });
        Ok(Edit { feature, change, followers: followers.collect::<Result<_>>()? })
    }
}

fn level_of(feature: &Feature, name: &str) -> Result<usize> {
    feature.level_index(name).ok_or_else(|| {
        Error::new(ErrorKind::ResultFile, format!("`{name}` is not a value of `{}`", feature.name))
    })
}
