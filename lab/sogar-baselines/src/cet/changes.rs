//! The changes that all people of one leaf could make: CET's candidates for a leaf's action.
//!
//! A number may be shifted as long as no one in the leaf leaves the reference table's range; a category may change only if the
//! whole leaf has the same one. Everything that the user forbids is left out here, so that no search has to check it.

use sogar::actions::{Change, Edit};
use sogar::config::{Direction, FeatureConfig};
use sogar::feature::Kind;
use sogar::pipeline::Prepared;

use crate::constraints::Constraints;
use crate::reach::Reach;

/// A shift smaller than this part of a step does not count.
const NO_SHIFT: f64 = 1e-9;
/// Steps in the range of a real number.
const STEPS: f64 = 50.0;

/// The changes of single features that a run allows.
pub(super) struct Changes<'a> {
    prepared: &'a Prepared,
    constraints: Constraints,
    /// Largest number of shifts of one feature.
    most_shifts: usize,
    ways: Vec<Way>,
}

/// How a feature may change.
enum Way {
    Not,
    Shift(Shifts),
    Swap,
}

/// The shifts of an ordered feature.
struct Shifts {
    /// Smallest and largest value in the reference table.
    ends: [f64; 2],
    /// The user's range within these.
    range: [f64; 2],
    direction: Option<Direction>,
    whole: bool,
}

impl<'a> Changes<'a> {
    pub fn new(prepared: &'a Prepared, most_shifts: usize) -> Changes<'a> {
        let reach = Reach::new(prepared.table());
        let default = FeatureConfig::default();
        let way = |(feature, description): (usize, &sogar::feature::Feature)| {
            let settings = prepared.config().features.get(&description.name).unwrap_or(&default);
            if settings.is_fixed() {
                return Way::Not;
            }
            if !description.is_ordered() {
                return Way::Swap;
            }
            let (lo, hi) = reach.ends(feature);
            let [least, most] = settings.range.unwrap_or([lo, hi]);
            if !(hi > lo && (hi - lo).is_finite()) {
                return Way::Not; // nowhere to go
            }
            Way::Shift(Shifts {
                ends: [lo, hi],
                range: [least.max(lo), most.min(hi)],
                direction: settings.direction,
                whole: !matches!(description.kind, Kind::Real),
            })
        };
        Changes {
            prepared,
            constraints: Constraints::new(prepared),
            most_shifts,
            ways: prepared.table().features.iter().enumerate().map(way).collect(),
        }
    }

    /// The edits that everyone in these rows of the reference table could make: features in table order, shifts ascending,
    /// categories in their order.
    pub fn of(&self, rows: &[usize]) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (feature, way) in self.ways.iter().enumerate() {
            let values = rows.iter().map(|&row| self.prepared.table().values[feature][row]);
            let changes = match way {
                Way::Not => Vec::new(),
                Way::Shift(shifts) => self.shifts(shifts, values),
                Way::Swap => self.swaps(feature, values),
            };
            let edit = |change| Edit { feature, change, followers: Vec::new() };
            edits.extend(changes.into_iter().map(edit));
        }
        edits
    }

    fn shifts(&self, shifts: &Shifts, values: impl Iterator<Item = f64>) -> Vec<Change> {
        // `min` and `max` of floats skip missing values.
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) = values.fold(start, |(least, most), value| (least.min(value), most.max(value)));
        if least > most {
            return Vec::new();
        }
        let [lo, hi] = shifts.range;
        let amounts = if shifts.whole {
            shifts.whole_amounts(least, most, self.most_shifts)
        } else {
            thinned(shifts.real_amounts(least, most), self.most_shifts)
        };
        amounts.into_iter().map(|by| Change::shift(by, lo, hi)).collect()
    }

    fn swaps(&self, feature: usize, mut values: impl Iterator<Item = f64>) -> Vec<Change> {
        let Some(from) = values.next() else { return Vec::new() };
        if !values.all(|value| value == from) {
            return Vec::new();
        }
        let levels = self.prepared.table().features[feature].levels().len();
        let allowed = |to: &usize| {
            *to as f64 != from && self.constraints.allows(feature, from, *to as f64) && from >= 0.0
        };
        (0..levels).filter(allowed).map(|to| Change::Swap { from: from as usize, to }).collect()
    }
}

impl Shifts {
    /// How far all people between `least` and `most` may go within `[lo, hi]`.
    fn room(&self, [lo, hi]: [f64; 2], least: f64, most: f64) -> [f64; 2] {
        [lo - least, hi - most]
    }

    /// Steps of one. There may be very many of them, so they are thinned out before they are built.
    fn whole_amounts(&self, least: f64, most: f64, at_most: usize) -> Vec<f64> {
        let [from, to] = self.room(self.range, least, most);
        let (mut from, mut to) = (from.ceil(), to.floor());
        match self.direction {
            Some(Direction::Increase) => from = from.max(1.0),
            Some(Direction::Decrease) => to = to.min(-1.0),
            None => {}
        }
        if from > to {
            return Vec::new();
        }
        let has_zero = from <= 0.0 && to >= 0.0;
        let count = (to - from) as u64 + u64::from(!has_zero);
        let amount = |index: u64| {
            let amount = from + index as f64;
            if has_zero && amount >= 0.0 { amount + 1.0 } else { amount }
        };
        kept(count, at_most).map(amount).collect()
    }

    /// Steps of a part of the range, from the furthest downwards to the furthest upwards; from the first step if there is only
    /// the way up.
    fn real_amounts(&self, least: f64, most: f64) -> Vec<f64> {
        let step = (self.ends[1] - self.ends[0]) / STEPS;
        let slack = NO_SHIFT * step;
        let [down, up] = self.room(self.ends, least, most);
        let start = if self.direction == Some(Direction::Increase) { step } else { down };
        let [from, to] = self.room(self.range, least, most);
        let amounts = (0..).map(|i: u32| start + f64::from(i) * step).take_while(|by| *by <= up + slack);
        let amounts = amounts.filter(|by| by.abs() > slack && *by >= from - slack && *by <= to + slack);
        amounts.filter(|by| self.direction != Some(Direction::Decrease) || *by < 0.0).collect()
    }
}

/// At most `most` equispaced positions out of `count`, both ends included.
fn kept(count: u64, most: usize) -> impl Iterator<Item = u64> {
    let most = most as u64;
    let position = move |i: u64| match most {
        _ if count <= most => i,
        1 => 0,
        _ => (u128::from(i) * u128::from(count - 1) / u128::from(most - 1)) as u64,
    };
    (0..count.min(most)).map(position)
}

fn thinned(amounts: Vec<f64>, most: usize) -> Vec<f64> {
    kept(amounts.len() as u64, most).map(|position| amounts[position as usize]).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::prepared;

    use super::*;

    /// Shifts of a feature for rows with these values of `x`, which is 1..=10.
    fn amounts(config: &str, values: &[usize]) -> Vec<f64> {
        let table = "x\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        let prepared = prepared(table, config, |row| row[0] >= 5.0);
        let rows: Vec<usize> = values.iter().map(|value| value - 1).collect();
        let amount = |edit: &Edit| match edit.change {
            Change::Shift { by, .. } => by,
            _ => f64::NAN,
        };
        Changes::new(&prepared, 50).of(&rows).iter().map(amount).collect()
    }

    #[test]
    fn nobody_leaves_the_range() {
        assert_eq!(amounts("", &[2, 4]), [-1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(amounts("", &[1, 10]), [0.0; 0]);
        assert_eq!(amounts("", &[10]), [-9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0]);
    }

    #[test]
    fn directions_and_ranges_limit_shifts() {
        let increase = "[features]\nx.direction = \"increase\"";
        assert_eq!(amounts(increase, &[2, 4]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(amounts(increase, &[10]), [0.0; 0]);
        let decrease = "[features]\nx.direction = \"decrease\"";
        assert_eq!(amounts(decrease, &[3, 4]), [-2.0, -1.0]);
        let range = "[features]\nx.range = [1.5, 6.5]";
        assert_eq!(amounts(range, &[3, 4]), [-1.0, 1.0, 2.0]);
        assert_eq!(amounts(range, &[8]), [-6.0, -5.0, -4.0, -3.0, -2.0], "into the range only");
        assert_eq!(amounts(range, &[1, 8]), [0.0; 0]);
        assert_eq!(amounts("[features]\nx.range = [1, 99]", &[8]).last(), Some(&2.0));
    }

    #[test]
    fn real_numbers_go_in_fiftieths_of_the_range() {
        let table = "x,y\n0,0.5\n10,0\n20,100.5\n99.5,1\n100,50\n";
        let run = |config: &str, row: usize| {
            let prepared = prepared(table, config, |row| row[0] >= 50.0);
            let edits = Changes::new(&prepared, 50).of(&[row]);
            let x = edits.iter().filter(|edit| edit.feature == 0);
            x.filter_map(|edit| if let Change::Shift { by, .. } = edit.change { Some(by) } else { None })
                .collect::<Vec<f64>>()
        };
        let free = run("", 1);
        assert_eq!((free.len(), free[0], free[4], free[5], free[49]), (50, -10.0, -2.0, 2.0, 90.0));
        let up = run("[features]\nx.direction = \"increase\"", 1);
        assert_eq!((up.len(), up[0], up[44]), (45, 2.0, 90.0));
        let down = run("[features]\nx = { direction = \"decrease\", range = [5, 100] }", 2);
        assert_eq!(down, [-14.0, -12.0, -10.0, -8.0, -6.0, -4.0, -2.0]);
    }

    #[test]
    fn too_many_shifts_are_thinned_out_evenly() {
        assert_eq!(kept(5, 50).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let positions: Vec<u64> = kept(99, 50).collect();
        assert_eq!((positions.len(), positions[0], positions[1], positions[49]), (50, 0, 2, 98));
        assert_eq!(kept(10, 1).collect::<Vec<_>>(), [0]);
        assert_eq!(kept(0, 50).count(), 0);
        assert_eq!(kept(u64::MAX, 3).collect::<Vec<_>>(), [0, (u64::MAX - 1) / 2, u64::MAX - 1]);
    }

    #[test]
    fn categories_change_only_where_the_whole_leaf_has_the_same_one() {
        let table = "c,b,x\nu,0,1\nu,1,2\nv,1,3\nw,0,4\nu,0,5\n";
        let config = "[features]\nc.forbid = [[\"u\", \"w\"]]\nx.immutable = true\n";
        let prepared = prepared(table, config, |row| row[2] >= 4.0);
        let changes = Changes::new(&prepared, 50);
        let edits = |rows: &[usize]| -> Vec<(usize, Change)> {
            changes.of(rows).into_iter().map(|edit| (edit.feature, edit.change)).collect()
        };
        assert_eq!(edits(&[0, 1]), [(0, Change::Swap { from: 0, to: 1 })], "u → w is forbidden, b differs");
        assert_eq!(edits(&[1, 2]), [(1, Change::Swap { from: 1, to: 0 })]);
        let alone = edits(&[2]);
        assert_eq!(alone.len(), 3, "{alone:?}");
        assert_eq!(edits(&[0, 2]), []);
    }

    #[test]
    fn missing_numbers_are_passed_over_and_cannot_be_shifted_alone() {
        let table = "x,y\n,1\n2,2\n3,3\n4,4\n";
        let prepared = prepared(table, "[features]\ny.immutable = true\n", |row| row[1] >= 3.0);
        let changes = Changes::new(&prepared, 50);
        assert!(changes.of(&[0]).is_empty());
        assert_eq!(changes.of(&[0, 1]).len(), 2, "2 → 3, 4");
    }
}
