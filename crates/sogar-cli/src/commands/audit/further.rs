//! Further measures as text: along the front and for individual recourse.

use sogar::audit::{FurtherAudit, GroupingAudit};

use super::text::{name, strings, table};
use crate::output::Text;

pub fn of(grouping: &GroupingAudit) -> Text {
    let mut text = Text::default();
    let head = ["group", "measure", "mean", "gap", "interval", "worse on", "clearly on", "widest (point)"];
    let mut rows = vec![strings(head)];
    let mut individual = vec![strings(["group", "measure", "value", "interval", "gap", "interval"])];
    for group in &grouping.groups {
        for (position, found) in group.further.iter().enumerate() {
            rows.push(along(if position == 0 { name(&group.shown) } else { String::new() }, found));
        }
        for (position, found) in group.individual.iter().enumerate() {
            individual.push(alone(if position == 0 { name(&group.shown) } else { String::new() }, found));
        }
    }
    if rows.len() > 1 {
        text += "\nFurther measures along the front (gap: the group minus everyone else; ks: distance of cost curves)\n";
        text += table(&rows, &[0, 1]);
    }
    if individual.len() > 1 {
        text += "\nIndividual recourse: everyone takes the cheapest action that works for them\n";
        text += table(&individual, &[0, 1]);
    }
    text
}

/// A number, "never" where a share is never reached, or a dash where nothing is defined.
fn number(value: Option<f64>, sign: bool) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value.is_infinite() => (if value > 0.0 { "never" } else { "others never" }).to_owned(),
        Some(value) if sign => format!("{value:+.3}"),
        Some(value) => format!("{value:.3}"),
    }
}

fn interval(low: Option<f64>, high: Option<f64>, sign: bool) -> String {
    let end = |end: f64| match (end.is_infinite(), sign) {
        (true, _) => "…".to_owned(),
        (false, true) => format!("{end:+.3}"),
        (false, false) => format!("{end:.3}"),
    };
    low.zip(high).map_or("–".to_owned(), |(low, high)| format!("[{}, {}]", end(low), end(high)))
}

fn at(list: &[Option<f64>], point: usize) -> Option<f64> {
    list.get(point).copied().flatten()
}

/// The measure; for `ks` with the budget where the curves are furthest apart.
fn measure(found: &FurtherAudit) -> String {
    match at(&found.at, found.widest) {
        Some(budget) => format!("{} (at {budget:.3})", found.measure),
        None => found.measure.clone(),
    }
}

fn along(group: String, found: &FurtherAudit) -> Vec<String> {
    let known: Vec<f64> = found.values.iter().flatten().copied().filter(|value| value.is_finite()).collect();
    let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
    vec![
        group,
        measure(found),
        number(mean, false),
        number(found.mean_gap, true),
        interval(found.mean_gap_low, found.mean_gap_high, true),
        format!("{:.1} %", 100.0 * found.share_worse),
        format!("{:.1} %", 100.0 * found.share_clearly_worse),
        format!("{} ({})", number(at(&found.gap, found.widest), true), found.widest),
    ]
}

fn alone(group: String, found: &FurtherAudit) -> Vec<String> {
    vec![
        group,
        measure(found),
        number(at(&found.values, 0), false),
        interval(at(&found.values_low, 0), at(&found.values_high, 0), false),
        number(at(&found.gap, 0), true),
        interval(at(&found.low, 0), at(&found.high, 0), true),
    ]
}
