//! Figures as SVG, the kinds that a paper has: a front, a front beside held-out people, groups along a front, searches of different
//! length, and a summary as a tree.
//!
//! Each is a function from results to the text of an SVG file: no fonts are measured, no clock is asked, so the same result
//! gives the same bytes everywhere. `png` (behind the feature of that name) makes pixels of them.

mod axes;
mod chart;
mod disparity;
mod lettering;
#[cfg(feature = "png")]
mod png;
mod svg;
#[cfg(test)]
mod tests;
mod tradeoff;
mod tree;

pub use disparity::disparity_svg;
#[cfg(feature = "png")]
pub use png::png;
pub use tradeoff::{Look, Mark, Upwards, front_svg, holdout_svg, marks_svg, name_of_search, timeouts_svg};
pub use tree::tree_svg;
