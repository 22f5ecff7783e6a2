//! Edits and actions (SPEC §4): what a person could change, and all sets of at most k such changes.

mod amounts;
pub(crate) mod budget;
mod idle;
mod sets;
mod targets;

pub use idle::Idle;
pub(crate) use sets::Clashes;
pub use sets::{all_actions, count_actions};

use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_base::text::{spoken, spoken_amount};
use sogar_table::binarize::{Binning, binning, level_name};
use sogar_table::config::{Config, Direction, EditStyle, FeatureConfig, NumberRule};
use sogar_table::feature::{Distributions, Feature, Kind, feature_index};

/// A change of one feature.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Moves the value by `by`, within `[lo, hi]`, never against the sign of `by`, and neither from nor to a special code.
    Shift {
        /// The signed amount.
        by: f64,
        /// Smallest value that the edit produces.
        lo: f64,
        /// Largest value that the edit produces.
        hi: f64,
        /// Special codes of the feature.
        codes: Vec<f64>,
    },
    /// Raises smaller values to `to`, except special codes.
    AtLeast {
        /// The value.
        to: f64,
        /// Special codes of the feature.
        codes: Vec<f64>,
    },
    /// Brings larger values down to `to`, except special codes.
    AtMost {
        /// The value.
        to: f64,
        /// Special codes of the feature.
        codes: Vec<f64>,
    },
    /// Sets the level `to`, unless the row is at one of `not_from`.
    Set {
        /// The target level.
        to: usize,
        /// Levels from which this transition is forbidden.
        not_from: Vec<usize>,
    },
    /// Sets the level `to` on rows at the level `from`.
    Swap {
        /// The level that rows must be at.
        from: usize,
        /// The target level.
        to: usize,
    },
    /// Sets the other of two values.
    Flip,
}

/// A linked feature that follows an edited one.
#[derive(Debug, Clone, PartialEq)]
pub struct Follower {
    /// The feature that follows.
    pub feature: usize,
    /// Multiplies the change of the edited feature.
    pub factor: f64,
    /// The change never goes below this value …
    pub lo: f64,
    /// … or above this one.
    pub hi: f64,
    /// Whether the follower takes only whole values.
    pub whole: bool,
    /// Special codes of the follower; no move starts or ends at one.
    pub codes: Vec<f64>,
}

/// A change of one feature with the moves of linked features.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The feature that is edited.
    pub feature: usize,
    /// The change.
    pub change: Change,
    /// Linked features that move with it.
    pub followers: Vec<Follower>,
}

/// `value + by` within `[lo, hi]`, never moved against the sign of `by`.
fn shift(value: f64, by: f64, lo: f64, hi: f64) -> f64 {
    let moved = (value + by).max(lo).min(hi);
    if by > 0.0 { moved.max(value) } else { moved.min(value) }
}

/// Where a number moves to. It stays if it is not an amount, or if the new value would not be one.
fn moved(value: f64, codes: &[f64], to: impl Fn(f64) -> f64) -> f64 {
    if value.is_nan() || codes.contains(&value) {
        return value;
    }
    let moved = to(value);
    if codes.contains(&moved) { value } else { moved }
}

impl Change {
    /// A shift of a feature without special codes.
    pub fn shift(by: f64, lo: f64, hi: f64) -> Change {
        Change::Shift { by, lo, hi, codes: Vec::new() }
    }

    /// The new value; the same value if the change has no effect. Missing numbers and special codes stay unchanged.
    pub fn apply(&self, value: f64) -> f64 {
        match self {
            Change::Shift { by, lo, hi, codes } => moved(value, codes, |value| shift(value, *by, *lo, *hi)),
            Change::AtLeast { to, codes } => moved(value, codes, |value| value.max(*to)),
            Change::AtMost { to, codes } => moved(value, codes, |value| value.min(*to)),
            Change::Set { to, not_from } => {
                if not_from.iter().any(|&from| value == from as f64) {
                    value
                } else {
                    *to as f64
                }
            }
            Change::Swap { from, to } => {
                if value == *from as f64 {
                    *to as f64
                } else {
                    value
                }
            }
            Change::Flip => match value {
                0.0 => 1.0,
                1.0 => 0.0,
                other => other,
            },
        }
    }
}

impl Follower {
    /// The new value if the edited feature changes by `change`. Missing numbers and special codes stay unchanged.
    pub fn apply(&self, value: f64, change: f64) -> f64 {
        moved(value, &self.codes, |value| {
            let moved = shift(value, self.factor * change, self.lo, self.hi);
            if self.whole { moved.round() } else { moved }
        })
    }
}

impl Edit {
    /// Applies the edit, followers included, to a row of feature values.
    pub fn apply(&self, row: &mut [f64]) {
        let before = row[self.feature];
        let after = self.change.apply(before);
        row[self.feature] = after;
        let change = after - before;
        if change == 0.0 || change.is_nan() {
            return;
        }
        for follower in &self.followers {
            let value = &mut row[follower.feature];
            *value = follower.apply(*value, change);
        }
    }

    /// The features that the edit can change.
    pub fn touched(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.feature).chain(self.followers.iter().map(|follower| follower.feature))
    }

    /// The edit in words, e.g. ``increase `age` by 8``.
    pub fn text(&self, features: &[Feature]) -> String {
        let feature = &features[self.feature];
        let name = feature.title();
        match &self.change {
            Change::Shift { by, .. } => {
                let verb = if *by > 0.0 { "increase" } else { "decrease" };
                let amount = spoken_amount(by.abs());
                match feature.kind {
                    Kind::Ordinal { .. } if by.abs() == 1.0 => format!("{verb} {name} by one level"),
                    Kind::Ordinal { .. } => format!("{verb} {name} by {amount} levels"),
                    _ => format!("{verb} {name} by {}", feature.with_unit(amount)),
                }
            }
            Change::AtLeast { to, .. } => {
                format!("raise {name} to at least {}", feature.with_unit(spoken_amount(*to)))
            }
            Change::AtMost { to, .. } => {
                format!("bring {name} down to at most {}", feature.with_unit(spoken_amount(*to)))
            }
            Change::Set { to, .. } => format!("set {name} to {}", spoken(level_name(feature, *to))),
            Change::Swap { from, to } => {
                let (from, to) = (spoken(level_name(feature, *from)), spoken(level_name(feature, *to)));
                format!("change {name} from {from} to {to}")
            }
            Change::Flip => {
                let (one, other) = (spoken(level_name(feature, 0)), spoken(level_name(feature, 1)));
                format!("switch {name} between {one} and {other}")
            }
        }
    }
}

/// An action in words: its edits joined, with a capital letter.
pub fn action_text(edits: &[&Edit], features: &[Feature]) -> String {
    if edits.is_empty() {
        return "No change".to_owned();
    }
    let texts: Vec<String> = edits.iter().map(|edit| edit.text(features)).collect();
    let joined = match texts.as_slice() {
        [one] => one.clone(),
        [init @ .., last] => format!("{}, and {last}", init.join(", ")),
        [] => String::new(),
    };
    let mut letters = joined.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Every edit that the configuration allows, in the order of SPEC §4.
pub fn all_edits(table: &dyn Distributions, config: &Config) -> Result<Vec<Edit>> {
    let mut edits = Vec::new();
    for (feature, description) in table.features().iter().enumerate() {
        let default = FeatureConfig::default();
        let settings = config.features.get(&description.name).unwrap_or(&default);
        if settings.is_fixed() {
            continue;
        }
        let changes = match &description.kind {
            Kind::Real | Kind::Integer | Kind::Ordinal { .. } => shifts(table, feature, settings, config)?,
            Kind::Categorical { missing, .. } => category_changes(description, settings, *missing)?,
            Kind::Binary { .. } => category_changes(description, settings, None)?,
        };
        let followers = followers(table, &description.name, config)?;
        edits.extend(changes.into_iter().map(|change| Edit {
            feature,
            change,
            followers: followers.clone(),
        }));
    }
    Ok(edits)
}

fn shifts(
    table: &dyn Distributions,
    feature: usize,
    settings: &FeatureConfig,
    config: &Config,
) -> Result<Vec<Change>> {
    let Some(bins) = binning(table, feature, config)? else { return Ok(Vec::new()) };
    let [lo, hi] = settings.range.unwrap_or([bins.min, bins.max]);
    let distribution = table.distribution(feature);
    let codes = &table.features()[feature].codes;
    let leads_alike = |one: &Change, other: &Change| {
        distribution.iter().all(|(value, _)| one.apply(value).to_bits() == other.apply(value).to_bits())
    };
    let mut changes: Vec<Change> = Vec::new();
    for amount in amounts::amounts(table, feature, &bins, Some(settings), config, None) {
        for by in [amount, -amount] {
            let allowed = match settings.direction {
                Some(Direction::Increase) => by > 0.0,
                Some(Direction::Decrease) => by < 0.0,
                None => true,
            };
            let change = Change::Shift { by, lo, hi, codes: codes.clone() };
            // Two shifts with the same result for everyone are one edit; a shift that moves no one is dropped.
            let moves =
                distribution.iter().any(|(value, _)| change.apply(value).to_bits() != value.to_bits());
            // A shift that no one can make in full would promise more than it does.
            let full = config.numbers.unwrap_or_default() == NumberRule::Bins
                || distribution
                    .iter()
                    .any(|(value, _)| (lo..=hi).contains(&value) && (lo..=hi).contains(&(value + by)));
            if allowed && moves && full && !changes.iter().any(|known| leads_alike(known, &change)) {
                changes.push(change);
            }
        }
    }
    let description = &table.features()[feature];
    let values = targets::values(description, settings, &bins, &distribution)?;
    for change in targets::changes(description, settings, &values) {
        let moves = distribution.iter().any(|(value, _)| change.apply(value).to_bits() != value.to_bits());
        if moves && !changes.iter().any(|known| leads_alike(known, &change)) {
            changes.push(change);
        }
    }
    Ok(changes)
}

/// How many values of a number are targets.
pub(crate) fn target_count(
    table: &dyn Distributions,
    feature: usize,
    settings: &FeatureConfig,
    bins: &Binning,
) -> Result<u64> {
    let values = targets::values(&table.features()[feature], settings, bins, &table.distribution(feature))?;
    Ok(values.len() as u64)
}

/// Limit of swaps of one feature: no search could use more.
const MOST_SWAPS: usize = 1 << 20;

fn category_changes(
    feature: &Feature,
    settings: &FeatureConfig,
    missing: Option<usize>,
) -> Result<Vec<Change>> {
    let levels = feature.levels();
    let index = |level: &String| {
        levels.iter().position(|known| known == level).ok_or_else(|| {
            Error::new(ErrorKind::Config, format!("`{level}` is not a value of this feature"))
                .column(&feature.name)
                .help(suggest(level, levels.iter().map(String::as_str)))
        })
    };
    let mut targets: Vec<usize> = match &settings.targets {
        Some(targets) => targets.iter().map(index).collect::<Result<_>>()?,
        None => (0..levels.len()).filter(|&level| Some(level) != missing).collect(),
    };
    targets.sort_unstable();
    targets.dedup();
    let mut forbidden = Vec::new();
    for [from, to] in &settings.forbid {
        forbidden.push((index(from)?, index(to)?));
    }
    forbidden.sort_unstable();
    forbidden.dedup();
    let blocked = |from: usize, to: usize| forbidden.binary_search(&(from, to)).is_ok();
    let pairs = levels.len().saturating_mul(targets.len());
    Ok(match settings.edits.unwrap_or(EditStyle::Set) {
        EditStyle::Set => targets
            .into_iter()
            .map(|to| Change::Set {
                to,
                not_from: forbidden.iter().filter(|pair| pair.1 == to).map(|pair| pair.0).collect(),
            })
            .collect(),
        EditStyle::Swap if pairs > MOST_SWAPS => {
            let message =
                format!("{pairs} swaps are too many: from {} values to {}", levels.len(), targets.len());
            return Err(Error::new(ErrorKind::Config, message)
                .column(&feature.name)
                .help("limit them with `targets`, or use edits = \"set\""));
        }
        EditStyle::Swap => (0..levels.len())
            .flat_map(|from| targets.iter().map(move |&to| (from, to)))
            .filter(|&(from, to)| from != to && !blocked(from, to))
            .map(|(from, to)| Change::Swap { from, to })
            .collect(),
        EditStyle::Flip if levels.len() == 2 => vec![Change::Flip],
        EditStyle::Flip => {
            return Err(Error::new(ErrorKind::Config, "only a feature with two values can be flipped")
                .column(&feature.name)
                .help("use edits = \"set\" or \"swap\""));
        }
    })
}

fn followers(table: &dyn Distributions, name: &str, config: &Config) -> Result<Vec<Follower>> {
    let links = config.links.iter().filter(|link| link.from == name);
    links
        .map(|link| {
            let feature = feature_index(table.features(), &link.to)?;
            let bins = binning(table, feature, config)?;
            let (min, max) = bins.map_or((f64::NEG_INFINITY, f64::INFINITY), |bins| (bins.min, bins.max));
            let [lo, hi] = config.features.get(&link.to).and_then(|f| f.range).unwrap_or([min, max]);
            let whole = !matches!(table.features()[feature].kind, Kind::Real);
            let codes = table.features()[feature].codes.clone();
            Ok(Follower { feature, factor: link.factor, lo, hi, whole, codes })
        })
        .collect()
}
