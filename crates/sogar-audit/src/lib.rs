//! What a front means: for groups of people, for one person, compared with another front.

pub mod audit;
pub mod diff;
pub mod explain;
pub mod guarantee;
