//! Changes of one feature that make an item hold, if the configuration allows them.
//!
//! An interval is entered from below at its lower end and from above just below its upper end; a level is set. So there are few
//! changes, and the cost of each for each person is computed once.

use sogar::actions::{Change, Edit};
use sogar::feature::{FeatureTable, Kind};

use super::items::{Item, Items, Test};
use crate::constraints::Constraints;
use crate::reach::Reach;

/// All changes of one feature.
#[derive(Debug, Clone)]
pub(super) struct Moves {
    /// The changes, by feature. They apply to everyone on the right side of the target, and to no one else.
    pub edits: Vec<Edit>,
    /// Where each leads.
    to: Vec<f64>,
    /// For each item the changes that make it hold: for people below, for people above. A level has the same one twice.
    into: Vec<[Option<u32>; 2]>,
    /// `between[from][to − first item of the feature]`: the change that leads from one item to another.
    between: Vec<Vec<Option<u32>>>,
    first: Vec<usize>,
}

impl Moves {
    /// The changes that the configuration allows.
    pub fn new(items: &Items, reference: &FeatureTable, constraints: &Constraints) -> Moves {
        let reach = Reach::new(reference);
        let first: Vec<usize> = items.list.iter().map(|item| items.of_feature[item.feature].start).collect();
        let mut moves =
            Moves { edits: Vec::new(), to: Vec::new(), into: Vec::new(), between: Vec::new(), first };
        for item in &items.list {
            let description = &reference.features[item.feature];
            let whole = !matches!(description.kind, Kind::Real);
            let into = match item.test {
                Test::Is(level) => {
                    let levels = 0..description.levels().len();
                    let allowed = |from: usize| constraints.allows(item.feature, from as f64, level as f64);
                    let (from, not_from): (Vec<usize>, Vec<usize>) = levels.partition(|&from| allowed(from));
                    let any = from.iter().any(|&from| from != level);
                    let edit =
                        any.then(|| moves.push(item, level as f64, Change::Set { to: level, not_from }));
                    [edit; 2]
                }
                Test::Between { .. } => [true, false].map(|from_below| {
                    let to = reach.value(item.feature, 0.0, item.entry(from_below, whole)?);
                    let (by, from) =
                        if from_below { (1.0, f64::NEG_INFINITY) } else { (-1.0, f64::INFINITY) };
                    let allowed = constraints.allows(item.feature, from, to);
                    allowed.then(|| moves.push(item, to, Change::shift(by, to, to)))
                }),
            };
            moves.into.push(into);
        }
        moves.between =
            (0..items.list.len()).map(|from| moves.leading_from(items, from, constraints)).collect();
        moves
    }

    fn push(&mut self, item: &Item, to: f64, change: Change) -> u32 {
        self.edits.push(Edit { feature: item.feature, change, followers: Vec::new() });
        self.to.push(to);
        (self.edits.len() - 1) as u32
    }

    fn leading_from(&self, items: &Items, from: usize, constraints: &Constraints) -> Vec<Option<u32>> {
        let Item { feature, test } = items.list[from];
        let lead = |to: usize| match (test, items.list[to].test) {
            _ if to == from => None,
            (Test::Is(one), Test::Is(other)) if !constraints.allows(feature, one as f64, other as f64) => {
                None
            }
            _ => self.into[to][usize::from(to < from)],
        };
        items.of_feature[feature].clone().map(lead).collect()
    }

    /// The change that leads people at one item to another item of the same feature, if it is allowed.
    pub fn between(&self, from: u32, to: u32) -> Option<u32> {
        let from = from as usize;
        self.between[from][to as usize - self.first[from]]
    }

    /// Whether any change makes the item hold.
    pub fn leads_to(&self, item: u32) -> bool {
        self.into[item as usize].iter().any(Option::is_some)
    }

    /// Whether any change leads from the item to another one.
    pub fn leads_from(&self, item: u32) -> bool {
        self.between[item as usize].iter().any(Option::is_some)
    }

    /// The change that makes an item hold for this value; none if it already holds or is not allowed.
    pub fn towards(&self, item: u32, items: &Items, value: f64) -> Option<u32> {
        let [from_below, from_above] = self.into[item as usize];
        match items.list[item as usize].test {
            Test::Between { lo, .. } if value < lo => from_below,
            Test::Between { hi, .. } if value >= hi => from_above,
            Test::Between { .. } => None,
            Test::Is(_) => from_below.filter(|&edit| {
                self.edits[edit as usize].change.apply(value) != value // NaN: a gap that may not be filled
                    && !value.is_nan()
            }),
        }
    }

    /// The feature of a change, and its new value.
    pub fn target(&self, edit: u32) -> (usize, f64) {
        (self.edits[edit as usize].feature, self.to[edit as usize])
    }
}
