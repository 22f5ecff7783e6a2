//! How usual the people of a summary are, before and after its advice.

use sogar_base::markup::visible;

use super::{conditions, joined};
use crate::summary::{FrontFile, UsualRef};

/// `less usual are 48 % of real people before the change, 43 % after it`.
fn shares(usual: UsualRef) -> String {
    format!(
        "{:.0} % of real people are less usual before the change, {:.0} % after it",
        100.0 * usual.before,
        100.0 * usual.after
    )
}

/// How usual those are for whom a point works, group by group; empty if the front does not know.
pub fn plausibility_text(front: &FrontFile, point: usize) -> String {
    let Some(block) = &front.plausibility else { return String::new() };
    let rules = front.points[point].tree.rules();
    let leaves = rules.iter().zip(&block.points[point]).filter_map(|(rule, usual)| Some((rule, (*usual)?)));
    let mut text = String::new();
    for ((tests, _), usual) in leaves {
        text += &match tests.as_slice() {
            [] => format!("  Everybody: {}\n", shares(usual)),
            tests => format!("  If {}: {}\n", visible(&joined(&conditions(front, tests))), shares(usual)),
        };
    }
    if text.is_empty() { text } else { format!("How usual are the people for whom it works?\n{text}") }
}
