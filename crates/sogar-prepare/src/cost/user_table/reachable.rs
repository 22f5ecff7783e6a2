//! Which changes of a feature's value can happen: those that some edit makes to a value of the reference table.
//!
//! A linked feature may move by any change that edits make to any value of the edited feature, regardless of the row: a row of
//! the cost table is refused only if no combination of values could lead there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::actions::{Change, Edit, Follower};
use sogar_table::feature::{Distributions, Ordered};

pub(super) struct Reachable<'a> {
    reference: &'a dyn Distributions,
    edits: &'a [Edit],
    known: BTreeMap<usize, Changes>,
}

/// How a feature's values change.
struct Changes {
    values: Arc<Ordered>,
    own: Vec<Change>,
    /// Followers of other features, with the changes that edits make to those.
    following: Vec<(Follower, Vec<f64>)>,
    /// The reachable values, by their bits; `None` if there are too many to list.
    targets: Option<BTreeSet<u64>>,
}

/// Limit of pairs of a value and a change for listing every target.
const MOST_PAIRS: usize = 1 << 24;

impl<'a> Reachable<'a> {
    pub fn new(reference: &'a dyn Distributions, edits: &'a [Edit]) -> Self {
        Reachable { reference, edits, known: BTreeMap::new() }
    }

    /// Whether an edit changes a feature from one value (`None`: any) to another; if not, why.
    pub fn check(&mut self, feature: usize, from: Option<f64>, to: Option<f64>) -> Result<(), &'static str> {
        let (reference, edits) = (self.reference, self.edits);
        let changes = self.known.entry(feature).or_insert_with(|| Changes::new(reference, edits, feature));
        if changes.own.is_empty() && changes.following.is_empty() {
            return Err("no edit changes the feature");
        }
        if from.is_some_and(|from| changes.values.equal(from) == 0) {
            return Err("no row of the table has the first value");
        }
        let happens = match (from, to) {
            (Some(from), to) => changes.from(from).any(|reached| match to {
                Some(to) => reached == to && reached != from,
                None => reached != from,
            }),
            (None, Some(to)) => changes.targets.as_ref().is_none_or(|known| known.contains(&to.to_bits())),
            (None, None) => changes.targets.as_ref().is_none_or(|known| !known.is_empty()),
        };
        happens.then_some(()).ok_or("no edit leads there")
    }
}

impl Changes {
    fn new(reference: &dyn Distributions, edits: &[Edit], feature: usize) -> Changes {
        let own =
            edits.iter().filter(|edit| edit.feature == feature).map(|edit| edit.change.clone()).collect();
        let mut following = Vec::new();
        for edit in edits {
            for follower in edit.followers.iter().filter(|follower| follower.feature == feature) {
                let values = reference.distribution(edit.feature);
                let change = |(value, _): (f64, u64)| edit.change.apply(value) - value;
                let mut amounts: Vec<f64> = values.iter().map(change).filter(|&by| by != 0.0).collect();
                amounts.sort_unstable_by(f64::total_cmp);
                amounts.dedup();
                following.push((follower.clone(), amounts));
            }
        }
        let values = reference.distribution(feature);
        let mut changes = Changes { values, own, following, targets: None };
        let ways =
            changes.own.len() + changes.following.iter().map(|(_, amounts)| amounts.len()).sum::<usize>();
        if ways.saturating_mul(changes.values.distinct()) <= MOST_PAIRS {
            let values = changes.values.iter().map(|(value, _)| value);
            let targets = values.flat_map(|from| changes.from(from).filter(move |&to| to != from));
            changes.targets = Some(targets.map(|to| (to + 0.0).to_bits()).collect());
        }
        changes
    }

    /// The values that a value can change to, itself included.
    fn from(&self, value: f64) -> impl Iterator<Item = f64> + '_ {
        let own = self.own.iter().map(move |change| change.apply(value));
        let following = self.following.iter().flat_map(move |(follower, amounts)| {
            amounts.iter().map(move |&change| follower.apply(value, change))
        });
        own.chain(following)
    }
}
