//! A summary on held-out people, with intervals.

use sogar_base::markup::visible;

use super::{conditions, grouped, joined};
use crate::intervals::{PointIntervals, share_text};
use crate::summary::{Evaluation, FrontFile};

/// How a point does on the held-out people of a front, and each of its groups; empty without held-out people.
pub fn held_out_text(front: &FrontFile, point: usize) -> String {
    front.holdout.as_ref().map_or(String::new(), |there| evaluated_text(front, there, point))
}

/// The same on the people of any evaluation.
pub fn evaluated_text(front: &FrontFile, there: &Evaluation, point: usize) -> String {
    let (people, found, intervals) = (there.people(), &there.points[point], there.interval(point));
    let PointIntervals { works, band, cost, leaves } = intervals;
    let cost = cost.map_or(String::new(), |cost| format!(" ({:.3}–{:.3})", cost.low, cost.high));
    let mut text = format!(
        "Held out, {} people: works for {} at a mean cost of {:.3}{cost}. For all points at once: {:.0}–{:.0} %.\n",
        people.text(people.affected),
        share_text(1.0 - found.loss, works),
        found.cost,
        100.0 * band.low,
        100.0 * band.high,
    );
    let Some(detail) = there.details.get(point).filter(|detail| detail.leaves.len() > 1) else { return text };
    let rules = front.points[point].tree.rules();
    for ((tests, leaf), (held_out, interval)) in rules.iter().zip(detail.leaves.iter().zip(leaves)) {
        if front.actions[leaf.action()].edits.is_empty() {
            continue;
        }
        let who = visible(&joined(&conditions(front, tests)));
        let share = held_out.flipped as f64 / held_out.rows.max(1) as f64;
        text += &match held_out.rows {
            0 => format!("  If {who}: nobody\n"),
            rows => format!(
                "  If {who}: works for {} of {} people, {}\n",
                grouped(people.count(held_out.flipped)),
                grouped(people.count(rows)),
                share_text(share, interval)
            ),
        };
    }
    text
}
