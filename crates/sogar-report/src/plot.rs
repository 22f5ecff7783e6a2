//! Figures as SVG, as papers need them: a front, a front beside held-out people, groups along a front, cost, loss and gap, searches of different
//! length, and a summary as a tree; and plain points.
//!
//! Each is a function from results to the text of an SVG file. It measures no fonts and reads no clock, so the same result gives
//! the same bytes everywhere. `png` (behind the feature of that name) rasterises them.

mod axes;
mod chart;
mod curves;
mod disparity;
mod fairness;
mod lettering;
#[cfg(feature = "png")]
mod png;
mod svg;
#[cfg(test)]
mod tests;
mod tradeoff;
mod tree;

pub use curves::{Curve, curves_svg, lines_svg};
pub use disparity::disparity_svg;
pub use fairness::{fairness_svg, gaps, gaps_svg};
#[cfg(feature = "png")]
pub use png::png;
pub use tradeoff::{Look, Mark, Upwards, front_svg, holdout_svg, marks_svg, name_of_search, timeouts_svg};
pub use tree::tree_svg;
