//! Items and changes in words.

use sogar::actions::{Change, Edit};
use sogar::describe::{spoken, spoken_number};
use sogar::feature::{Feature, Kind};

use super::items::{Item, Test};
use crate::reach::Reach;

/// An item's test in words: `between 3 and 5`. `ends` are the feature's smallest and largest value.
fn said(item: &Item, feature: &Feature, ends: (f64, f64)) -> String {
    let (lo, hi) = match item.test {
        Test::Is(level) => return value(feature, level as f64),
        Test::Between { lo, hi } => (lo, hi),
    };
    let least = lo.is_finite().then_some(lo);
    if matches!(feature.kind, Kind::Real) {
        return match (least, hi.is_finite()) {
            (Some(least), true) => {
                format!("at least {} and below {}", value(feature, least), value(feature, hi))
            }
            (Some(least), false) => format!("at least {}", value(feature, least)),
            (None, _) => format!("below {}", value(feature, hi)),
        };
    }
    // Whole numbers and levels: both ends are given as values inside the interval; a single remaining value is named.
    let most = hi.is_finite().then_some(hi - 1.0);
    let least = least.or(Some(ends.0).filter(|&smallest| most == Some(smallest)));
    let most = most.or(Some(ends.1).filter(|&largest| least == Some(largest)));
    match (least, most) {
        (Some(least), Some(most)) if least == most => value(feature, least),
        (Some(least), Some(most)) => {
            format!("between {} and {}", value(feature, least), value(feature, most))
        }
        (Some(least), None) => format!("at least {}", value(feature, least)),
        (None, Some(most)) => format!("at most {}", value(feature, most)),
        (None, None) => "anything".to_owned(),
    }
}

fn value(feature: &Feature, value: f64) -> String {
    if feature.is_numeric() { spoken_number(value) } else { spoken(&feature.value_text(value)) }
}

/// An item as a condition: `` `age` is at least 41``.
pub(super) fn condition(item: &Item, reach: &Reach<'_>, features: &[Feature]) -> String {
    let feature = &features[item.feature];
    format!("`{}` is {}", feature.name, said(item, feature, reach.ends(item.feature)))
}

/// A change of one feature: ``raise `income` to 30000``.
pub(super) fn change(edit: &Edit, to: f64, features: &[Feature]) -> String {
    let feature = &features[edit.feature];
    match edit.change {
        Change::Shift { by, .. } => {
            let verb = if by > 0.0 { "raise" } else { "lower" };
            format!("{verb} `{}` to {}", feature.name, value(feature, to))
        }
        _ => edit.text(features),
    }
}

/// An item of the default rule in words: ``bring `age` to at least 41``. People for whom it already holds do nothing.
pub(super) fn aim(item: &Item, reach: &Reach<'_>, features: &[Feature]) -> String {
    let feature = &features[item.feature];
    match item.test {
        Test::Is(level) => format!("set `{}` to {}", feature.name, value(feature, level as f64)),
        Test::Between { .. } => {
            format!("bring `{}` to {}", feature.name, said(item, feature, reach.ends(item.feature)))
        }
    }
}
