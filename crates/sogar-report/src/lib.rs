//! A front as pictures: one interactive page, and figures.

pub mod plot;
pub mod report;
